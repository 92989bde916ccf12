"""Outermost ASGI middleware: checks headers, normalizes the path, adds the headers of answers, records requests.

`A%2F12` is one segment. The router gets the path encoded, and each parameter is decoded once.
"""

from __future__ import annotations

import re
import secrets
from functools import lru_cache
from time import monotonic
from urllib.parse import quote, unquote_to_bytes

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aisle.service.app_options_and_limits import (
    KEYS_KEPT_DAYS,
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    MAX_QUERY_BYTES,
    ServiceOptions,
)
from aisle.service.domain.timestamps import format_timestamp
from aisle.service.errors import PROBLEM_TYPE, Refusal, bad_request
from aisle.service.http.access_and_service_logs import REQUEST_RECORD, RequestNotes, RequestRecord
from aisle.service.http.parameter_values import is_valid_code

_FEATURES = (
    "occurred-at, clock-ahead, app-user, pick-place, pick-base, line-reasons, if-match, log-read,"
    " claims, changes, locations, people, sign-in, receipt-line, taken-time, undone-time, assignments, reviews,"
    " recounts, line-rejection, named-orders, log-entry, delivery-marks, aside, known-keys, tokens, audit,"
    " expiry-dates"
)


def features(keys_days: int, *, has_demo_store: bool = False) -> str:
    """Return the value of `Aisle-Features`: the extensions, and the days that answers are stored under keys."""
    return f"idempotency={keys_days}d, {_FEATURES}" + ", demo-store" * has_demo_store


FEATURES = features(KEYS_KEPT_DAYS)

# Longest segment that is cached; most requests use the same few.
_CACHED_LENGTH = 64
REQUEST_ID_HEADER = b"x-request-id"
"""Header with the id of a request in all logs. The client may set it, and the answer has it."""
_REQUEST_ID_PATTERN = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Headers with one meaning. If two differ, the request is ambiguous.
_SINGLE_VALUE_HEADERS = frozenset(
    {
        b"aisle-app-user",
        b"aisle-clock-ahead",
        b"aisle-follows",
        b"aisle-log-read",
        b"aisle-occurred-at",
        b"aisle-replay",
        b"aisle-terminal",
        b"appusername",
        b"authorization",
        b"container_override",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"if-match",
        b"transfer-encoding",
    }
)


class RequestMiddleware:
    """ASGI middleware around the whole app."""

    def __init__(self, app: ASGIApp, options: ServiceOptions) -> None:
        self.app = app
        self._announced = (
            b"aisle-features",
            features(options.keys_days, has_demo_store=options.has_demo_store).encode(),
        )
        self._record_request = options.record_request
        self._metrics = options.metrics
        self._clock = options.clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        client = scope.get("client")
        request_id = _request_id(scope)
        notes: RequestNotes = {"client": client[0] if client else "", "request": request_id}
        named = (REQUEST_ID_HEADER, request_id.encode())
        began, status, size = monotonic(), 0, 0

        async def announce(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], self._announced, named]
            else:
                size += len(message.get("body", b""))
            await send(message)

        if self._metrics:
            self._metrics.start_request()
        try:
            await self._check_and_forward({**scope, REQUEST_RECORD: notes}, receive, announce)
        finally:
            took = round((monotonic() - began) * 1000, 1)
            at, method = format_timestamp(self._clock()), scope["method"]
            record: RequestRecord = {"at": at, "method": method, "status": status, "ms": took, "bytes": size, **notes}
            if self._metrics:
                self._metrics.finish_request(record)
            if self._record_request:
                self._record_request(record)

    async def _check_and_forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the request and call the app. `scope` is a copy that may be changed."""
        try:
            _check_headers(scope)
            path = normalize_path(scope)
        except Refusal as refusal:
            # Its connection is closed, since parsers may disagree on what follows (RFC 9112, 6.1).
            headers = {"Connection": "close"}
            await Response(refusal.body(), refusal.status, headers, PROBLEM_TYPE)(scope, receive, send)
            return
        scope["path"] = path
        await self.app(scope, receive, send)


def _request_id(scope: Scope) -> str:
    """Return the request's own id if it is valid, otherwise a new one."""
    sent_id = next((value.decode("latin-1") for name, value in scope["headers"] if name == REQUEST_ID_HEADER), "")
    return sent_id if _REQUEST_ID_PATTERN.fullmatch(sent_id) else secrets.token_hex(8)


def _check_headers(scope: Scope) -> None:
    headers = scope["headers"]
    if len(headers) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
        raise Refusal(431, f"At most {MAX_HEADERS} headers of {MAX_HEADER_BYTES >> 10} KiB together are taken.")
    single_values: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in _SINGLE_VALUE_HEADERS and single_values.setdefault(name, value) != value:
            raise bad_request("This header is there twice, and says two things.", name.decode())
    _check_framing(single_values, scope["http_version"])
    if len(scope["query_string"]) > MAX_QUERY_BYTES:
        raise Refusal(414, f"A query has at most {MAX_QUERY_BYTES >> 10} KiB.")


def _check_framing(headers: dict[bytes, bytes], version: str) -> None:
    """Raise Refusal (400) for ambiguous framing, so that a proxy and this server see the same requests.

    Each HTTP parser accepts some of it.
    """
    if b"host" not in headers and version == "1.1":
        raise bad_request("A request says which host it is for.", "Host")
    if (coding := headers.get(b"transfer-encoding")) is not None:
        if b"content-length" in headers:
            raise bad_request("A body has a length, or comes in parts.", "Transfer-Encoding")
        if coding.lower() != b"chunked":
            raise bad_request("A body comes in parts, and in no other coding.", "Transfer-Encoding")


def normalize_path(scope: Scope) -> str:
    """Return the path with every segment encoded uniformly. Raise Refusal (400) for invalid segments."""
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    first, *parts = raw.split(b"/")
    if first or parts == [b""]:
        return "/"
    return "".join("/" + _normalize_segment(part) for part in parts)


def _normalize_segment(raw: bytes) -> str:
    return _encode_short_segment(raw) if len(raw) <= _CACHED_LENGTH else _encode_segment(raw)


def _encode_segment(raw: bytes) -> str:
    try:
        text = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise bad_request("The path is not valid UTF-8.") from None
    if not is_valid_code(text) or "\0" in text:
        raise bad_request("The path has a part that names nothing.")
    return quote(text, safe="")


_encode_short_segment = lru_cache(maxsize=2000)(_encode_segment)
