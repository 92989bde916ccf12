"""HTTP transport; the only module that imports httpx.

Reads and writes have separate connections. A write never uses one that the service may be closing: a write that dies
with its connection is in doubt. Redirects are not followed, the environment is ignored, and every call has a total
timeout.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from functools import lru_cache, partial
from typing import Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

import httpx

from aisle.caller_addresses import is_loopback
from aisle.client.responses_and_errors import (
    CERTIFICATE_ERROR,
    NotSent,
    OutcomeUnknown,
    Response,
    ResponseTooLong,
    ResponseTooSlow,
)
from aisle.errors import SettingsError
from aisle.terminal_text import clean

Transport = httpx.AsyncBaseTransport

for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)  # at INFO they log whole URLs: order numbers, names, searches

_NOT_SENT_ERRORS = (
    httpx.InvalidURL,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
)


_DEFAULT_HEADERS = ((b"Accept-Encoding", b"gzip, deflate"), (b"Connection", b"keep-alive"))
_URL_CACHE_SIZE = 256
"""Number of parsed URLs that are cached: a store's orders are read repeatedly, and writes use few URLs."""


MAX_RESPONSE_BYTES = 32 << 20
"""Bytes of a response that are read at most, after decompression."""
MAX_REFUSAL_BYTES = 256 << 10
"""Bytes that are read of a response that is no 2xx: its errors are kept while the link is checked."""
SMALL_RESPONSE_BYTES = 2 << 20
"""Bytes of a response above which it is read alone, so that several long ones do not take memory together."""
_CHUNK_BYTES = 64 << 10
"""Bytes that are decompressed at a time."""
_MAX_LENGTH_DIGITS = 20
"""Digits of a declared length that are read; more are too long anyway."""


class Timeouts(NamedTuple):
    """Timeouts in seconds, per socket operation.

    `total` limits a call from its connection on, also if the response arrives slowly. It begins anew once another long
    response has been read.
    """

    connect: float = 3.0
    read: float = 10.0
    write: float = 10.0
    pool: float = 2.0
    total: float = 30.0


def preload() -> None:
    """Load what the first request would load, which takes 40 ms. For callers with idle time."""
    import anyio._backends._asyncio  # noqa: F401
    import httpcore  # noqa: F401


def asgi_transport(app: Any) -> Transport:
    """Return a transport to an ASGI app in this process. The caller runs its lifespan; an exception in the app is a
    500.
    """
    return httpx.ASGITransport(app=app, raise_app_exceptions=False)


class _ConnectionPool:
    """Connection pool behind a semaphore, so that no request waits inside the pool until a timeout.

    It is httpx's transport without its client: cookies, redirects, logins and merged defaults are not needed, and cost
    a quarter of a request.
    """

    def __init__(self, size: int, keepalive: float) -> None:
        self._limits = httpx.Limits(max_connections=size, max_keepalive_connections=size, keepalive_expiry=keepalive)
        self.slots = asyncio.Semaphore(size)
        self._transport: Transport | None = None

    def transport(self, sender: HttpSender) -> Transport:
        if self._transport is None:
            self._transport = sender.transport or httpx.AsyncHTTPTransport(
                verify=sender.tls(), limits=self._limits, trust_env=False
            )
        return self._transport

    async def aclose(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()


class HttpSender:
    """Sender of requests to one service. It returns responses whatever their status."""

    def __init__(
        self,
        base_url: str,
        *,
        timeouts: Timeouts,
        transport: Transport | None = None,
        ca_file: str = "",
        allow_plain_http: bool = False,
    ) -> None:
        self.base_url = _check_base_url(base_url, allow_plain_http)
        self.timeouts = timeouts
        self.transport = transport
        self._ca_file = ca_file
        self._tls: ssl.SSLContext | None = None
        self._url = lru_cache(_URL_CACHE_SIZE)(httpx.URL)
        limits = httpx.Timeout(connect=timeouts.connect, read=timeouts.read, write=timeouts.write, pool=timeouts.pool)
        self._extensions = {"timeout": limits.as_dict()}
        self._reads = _ConnectionPool(8, 30.0)
        self._writes = _ConnectionPool(4, 2.0)
        self._large = asyncio.Semaphore(1)
        """Turn of the one response that is longer than SMALL_RESPONSE_BYTES."""

    def tls(self) -> ssl.SSLContext:
        """Return the TLS context: usual authorities, or those of `ca_file` only. Load none if TLS is not used."""
        if self._tls is None:
            if not self.base_url.startswith("https:") or self.transport is not None:
                self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            elif self._ca_file:
                self._tls = _load_ca_file(self._ca_file)
            else:
                self._tls = httpx.create_ssl_context(trust_env=False)
        return self._tls

    async def send(
        self, method: str, target: str, *, headers: Mapping[str, str], body: bytes | None, write: bool
    ) -> Response:
        """Send one request once. Raise NotSent or OutcomeUnknown, for a read also ResponseTooLong.

        A cancelled call stays cancelled.
        """
        lane = self._writes if write else self._reads
        async with lane.slots:
            try:
                async with asyncio.timeout(self.timeouts.total) as whole:
                    request = self._request(method, target, headers, body)
                    response = await lane.transport(self).handle_async_request(request)
                    try:
                        async with AsyncExitStack() as held:
                            content = await _read_body(response, partial(self._begin_large, held, whole))
                    finally:
                        await response.aclose()
            except _NOT_SENT_ERRORS as error:
                advice = "Renew its certificate, or ca_file" if CERTIFICATE_ERROR in str(error) else "Check base_url"
                raise NotSent(
                    f"The service at {self.base_url} cannot be reached: {_describe_error(error)}. {advice}."
                ) from error
            except (httpx.HTTPError, OSError) as error:
                if whole.expired():
                    raise ResponseTooSlow(
                        f"The answer of the service at {self.base_url} did not end in {self.timeouts.total:g} s."
                    ) from error
                raise OutcomeUnknown(
                    f"No answer came from the service at {self.base_url}: {_describe_error(error)}."
                ) from error
            except zlib.error as error:
                raise OutcomeUnknown(
                    f"The answer of {self.base_url} cannot be decompressed: {_describe_error(error)}."
                ) from error
            except ResponseTooLong as error:
                if write:  # whatever the response is, it may have been carried out
                    raise OutcomeUnknown(str(error)) from error
                raise
        return Response(response.status_code, _lower_case_headers(response.headers), content)

    async def _begin_large(self, held: AsyncExitStack, whole: asyncio.Timeout) -> None:
        """Wait until no other long response is being read, which is not the time of this one."""
        whole.reschedule(None)
        await held.enter_async_context(self._large)
        whole.reschedule(asyncio.get_running_loop().time() + self.timeouts.total)

    def _request(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> httpx.Request:
        raw = [
            *_DEFAULT_HEADERS,
            *((name.encode(), value.encode()) for name, value in headers.items()),
        ]  # UTF-8, for names
        url = self._url(self.base_url + target)
        return httpx.Request(method, url, headers=raw, content=body, extensions=self._extensions)

    async def certificate_until(self) -> float | None:
        """See `Client.certificate_until`."""
        if not self.base_url.startswith("https:") or self.transport is not None:
            return None
        parts = urlsplit(self.base_url)
        async with asyncio.timeout(self.timeouts.connect):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 443, ssl=self.tls())
        writer.transport.abort()
        return ssl.cert_time_to_seconds(writer.get_extra_info("peercert")["notAfter"])

    async def aclose(self) -> None:
        """Close all connections."""
        await self._reads.aclose()
        await self._writes.aclose()


async def _read_body(response: httpx.Response, begin_large: Callable[[], Awaitable[object]]) -> bytes:
    """Read the body and decompress it as it arrives. Raise ResponseTooLong above MAX_RESPONSE_BYTES.

    Of a response that is no 2xx only the start is read. `begin_large` waits until no other long response is being read.
    """
    is_refusal = not 200 <= response.status_code < 300
    if response.is_stream_consumed and is_refusal:
        return response.content[:MAX_REFUSAL_BYTES]
    if response.is_stream_consumed:
        return response.content if len(response.content) <= MAX_RESPONSE_BYTES else _raise_too_long()
    declared = response.headers.get("content-length", "")
    if (
        not is_refusal
        and declared.isascii()
        and declared.isdecimal()
        and int(declared[:_MAX_LENGTH_DIGITS]) > MAX_RESPONSE_BYTES
    ):
        _raise_too_long()
    decoder = _DECODERS.get(response.headers.get("content-encoding", "").strip().lower(), _IdentityDecoder)()
    content, is_large = bytearray(), False
    assert isinstance(response.stream, httpx.AsyncByteStream)
    async for raw in response.stream:
        for part in decoder.decode(raw):
            content += part
            if is_refusal and len(content) >= MAX_REFUSAL_BYTES:
                return bytes(content[:MAX_REFUSAL_BYTES])
            if len(content) > MAX_RESPONSE_BYTES:
                content.clear()  # or the error's traceback would hold it
                _raise_too_long()
            if len(content) > SMALL_RESPONSE_BYTES and not is_large:
                await begin_large()
                is_large = True
    return bytes(content)


def _raise_too_long() -> NoReturn:
    raise ResponseTooLong(f"The service's answer is longer than {MAX_RESPONSE_BYTES >> 20} MiB, and was not read.")


class _IdentityDecoder:
    """Decoder of an uncompressed body."""

    def decode(self, raw: bytes) -> Iterator[bytes]:
        """Yield the same bytes."""
        yield raw


class _InflateDecoder(_IdentityDecoder):
    """Decoder of a compressed body, in small pieces, so that little input cannot become large output at once."""

    def __init__(self, bits: int) -> None:
        self._zlib = zlib.decompressobj(bits)
        self._may_be_raw = bits == zlib.MAX_WBITS

    def decode(self, raw: bytes) -> Iterator[bytes]:
        """Yield the decompressed pieces. Raise zlib.error."""
        while True:
            try:
                part = self._zlib.decompress(raw, _CHUNK_BYTES)
            except zlib.error:
                if not self._may_be_raw:
                    raise
                self._may_be_raw = False  # some services send `deflate` without its header
                self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
                continue
            self._may_be_raw = False
            yield part
            raw = self._zlib.unconsumed_tail
            if not raw and len(part) < _CHUNK_BYTES:
                return


_DECODERS: dict[str, Callable[[], _IdentityDecoder]] = {
    "gzip": lambda: _InflateDecoder(zlib.MAX_WBITS | 16),
    "x-gzip": lambda: _InflateDecoder(zlib.MAX_WBITS | 16),
    "deflate": lambda: _InflateDecoder(zlib.MAX_WBITS),
}


def _lower_case_headers(headers: httpx.Headers) -> dict[str, str]:
    """Return headers with names in lower case. Plain unique ones skip httpx's detection of the encoding."""
    try:
        plain = {name.decode("ascii").lower(): value.decode("ascii") for name, value in headers.raw}
    except UnicodeDecodeError:
        plain = {}
    return plain if len(plain) == len(headers.raw) else {name.lower(): value for name, value in headers.items()}


def _describe_error(error: BaseException) -> str:
    kind = type(error).__name__
    return f"{kind} ({clean(str(error))})" if str(error) else kind


def _check_base_url(base_url: str, allow_plain_http: bool) -> str:
    try:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
    except ValueError as error:
        raise SettingsError(f"base_url {base_url!r} is no address: {error}.") from error
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or parts.username:
        raise SettingsError(f"base_url {base_url!r} has to look like https://service.example or https://host/prefix.")
    if parts.scheme == "http" and not allow_plain_http and not (is_loopback(host) or host.endswith(".localhost")):
        raise SettingsError(
            f"base_url {base_url!r} would send the token unencrypted. Use https://, or set allow_plain_http = true."
        )
    return base_url.rstrip("/")


def _load_ca_file(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # includes ssl.SSLError
        raise SettingsError(f"The certificates in ca_file {ca_file!r} cannot be read: {error}.") from error
