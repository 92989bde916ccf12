"""Client of a service: requests, retries of reads, pages, checked results. Writes are never retried here."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeVar
from urllib.parse import quote

from aisle import __version__
from aisle.client.paging import (
    Envelope,
    IdCursor,
    PageCursor,
    PageNumberCursor,
    Row,
    check_cursor,
    rows_of,
    smaller_pages,
)
from aisle.client.responses_and_errors import (
    MAX_JSON_MEMORY,
    ClientError,
    InvalidRequest,
    InvalidResponse,
    PagingLoop,
    RateLimited,
    Response,
    ResponseTooLong,
    ResponseTooSlow,
    StatusError,
    TooMuchMemory,
    TransportError,
    UnsuccessfulResult,
    memory_needed,
    status_error,
    to_int64,
)
from aisle.contract.operations import Operation, ParamLocation
from aisle.contract.request_encoding import (
    QueryValue,
    build_path,
    encode_body,
    encode_headers,
    encode_json,
    encode_query,
    get_operation,
)
from aisle.errors import ContractError, SettingsError
from aisle.terminal_text import clean

if TYPE_CHECKING:
    from aisle.client.transport import Timeouts, Transport


_TRANSIENT_STATUSES = frozenset({408, 429, 502, 503, 504})


class RetryPolicy(NamedTuple):
    """Retry limits of a read; times in seconds."""

    tries: int = 3
    first_wait: float = 0.5
    longest_wait: float = 8.0
    longest_retry_after: float = 120.0
    waits_for_rate_limit: bool = True
    """True if a rate limit (429) is waited for; False if the caller has other work meanwhile."""


def wait_before_retry(error: ClientError, tries: int, random_fraction: float, policy: RetryPolicy) -> float | None:
    """Return the seconds before the next try; None to give up.

    `tries` were made so far. `random_fraction` in [0, 1) gives full jitter, so that many clients do not return
    together. Retry-After is the minimum; one above the policy's limit is left to the caller.
    """
    is_transient = (isinstance(error, TransportError) and not isinstance(error, ResponseTooSlow)) or (
        isinstance(error, StatusError) and error.status in _TRANSIENT_STATUSES
    )
    if (
        not is_transient
        or tries >= policy.tries
        or (isinstance(error, RateLimited) and not policy.waits_for_rate_limit)
    ):
        return None
    jitter = random_fraction * min(policy.longest_wait, policy.first_wait * 2.0 ** (tries - 1))
    retry_after_s = error.retry_after if isinstance(error, StatusError) else None
    if retry_after_s is None:
        return jitter
    return retry_after_s + jitter if retry_after_s <= policy.longest_retry_after else None


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Return a Retry-After header as seconds from `now` (Unix time); None if it is no number and no HTTP date."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


V = TypeVar("V")
Query = Mapping[str, QueryValue]
Page = tuple[list[Row], Envelope]
_TOO_LARGE = 413
_PAGE_SIZE = 1000
"""Rows of a page of `rows`."""
_MAX_TARGET = 60_000
"""Characters of a path with its query that can be sent."""
_MAX_EXTENSION_PAGES = 200
"""Pages of a list that only our own service has; the rows of all may need `MAX_JSON_MEMORY`."""
EXTENSION_PREFIX = "/aisle/v1/"


def _query_of_next_page(name: str, page: Sequence[Row]) -> Query:
    """Return the parameter that names the last row of a page. Raise LookupError or ValueError if it has none."""
    if name != "people":
        return {"after": max(to_int64(row["id"]) or 0 for row in page)}
    check_cursor("list-people", str(page[-1]["user"]))
    return {"after_user": page[-1]["user"]}


class Client:
    """Client of one service with one token.

    `request` sends and returns bytes, `pages` and `rows` read lists, and `call` returns JSON.
    """

    def __init__(
        self,
        base_url: str,
        token: str | Callable[[], str] = "",
        *,
        token_header: str = "Bearer {token}",  # noqa: S107 - a template, not a secret
        transport: Transport | None = None,
        timeouts: Timeouts | None = None,
        retry: RetryPolicy = RetryPolicy(),  # noqa: B008 - a tuple
        ca_file: str = "",
        allow_plain_http: bool = False,
        on_response: Callable[[Response], None] | None = None,
        language: str = "",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random_source: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Store the settings. Raise SettingsError for an invalid address or template.

        A function as `token` is called for each request (`sign_in_and_token_file` reads that of a host). `token_header`
        is the Authorization value with `{token}` in it. `timeouts`: see aisle.client.transport; None for the defaults.
        `on_response` receives every response. Reads that take a language (`accept_language`, `Accept-Language`) ask for
        `language` unless the caller gives one.
        """
        if "{token}" not in token_header:
            raise SettingsError(f"token_header {token_header!r} has no {{token}} in it.")
        from aisle.client.transport import (  # imports httpx, which a standby of the courier does not need
            HttpSender,
            Timeouts,
        )

        self._sender = HttpSender(
            base_url,
            timeouts=timeouts or Timeouts(),
            transport=transport,
            ca_file=ca_file,
            allow_plain_http=allow_plain_http,
        )
        self._token = token
        self._token_header = token_header
        self._retry = retry
        self._on_response = on_response
        self._language = language
        self._sleep = sleep
        self._random_source = random_source
        self._now = now

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sender.base_url!r}, token=***)"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._sender.aclose()

    async def certificate_until(self) -> float | None:
        """Return until when the certificate is good that this host is shown, in seconds since 1970; None without TLS.

        It is that of the service, or of a balancer before it. Raise OSError if there is no connection.
        """
        return await self._sender.certificate_until()

    # --- Raw requests

    async def request(
        self,
        name: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        token: str | None = None,
    ) -> Response:
        """Send one operation once, with exactly these bytes. Return the response whatever its status.

        `path` and `query` have wire names; `headers` may have undocumented ones; `token` replaces the client's own.
        Raise ContractError before anything is sent; NotSent, OutcomeUnknown or ResponseTooLong after. `outcome_of`
        judges.
        """
        op = get_operation(name)
        target = _request_target(op, path or {}, query or {})
        return await self._send(op.method, target, _check_headers(op, headers or {}), body, op.write, token)

    async def request_extension(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
        body: object = None,
        token: str | None = None,
    ) -> Response:
        """Send a request that only our own service knows, below /aisle/v1/, once. Return the response whatever its
        status.

        `path` is already encoded; `body` is bytes, or anything that can be encoded (`encode_segment` and `encode_json`
        of `contract/request_encoding`).
        """
        parts = path.split("/")
        if not path.startswith(EXTENSION_PREFIX) or "?" in path or "#" in path or not {".", ".."}.isdisjoint(parts):
            raise ContractError(f"{path!r} is no path of an extension.")
        pairs = [f"{quote(key, safe='')}={quote(_query_text(value), safe='')}" for key, value in (query or {}).items()]
        target = f"{path}?{'&'.join(pairs)}" if pairs else path
        data = body if body is None or isinstance(body, bytes) else encode_json(body)
        return await self._send(method, target, headers or {}, data, method != "GET", token)

    async def extension_list(
        self, path: str, name: str, has_page: Callable[[Response], bool] = lambda response: response.is_success
    ) -> tuple[Response, list[Row]]:
        """Read all pages of a list that only our own service has, with its rows under `name` and perhaps `more`.

        Return the last response and the rows. The first response without a page ends the list. Raise InvalidResponse
        for a page that cannot be read or that repeats, and for too many rows.
        """
        rows: list[Row] = []
        query: Query = {}
        room = _Room()
        for _ in range(_MAX_EXTENSION_PAGES):
            response = await self.request_extension("GET", path, query=query)
            if not has_page(response):
                return response, rows
            room.take(f"list-{name}", response.content)
            try:
                body = response.json()
                page = [dict(row) for row in body[name]]
                following = _query_of_next_page(name, page) if body.get("more") else {}
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
                raise InvalidResponse(f"The answer to list-{name} holds no {name}.") from error
            rows += page
            if not following:
                return response, rows
            if following == query:
                break
            query = following
        raise InvalidResponse(f"The {name} do not end.")

    # --- Pages

    async def pages(
        self,
        name: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
        by: Literal["page", "id"] = "page",
        scroll: bool = False,
    ) -> AsyncGenerator[tuple[list[Row], Envelope], None]:
        """Yield raw rows and envelope of each page of a list.

        `by="id"` pages with `from_id`, if the list has it. With `scroll`, each request repeats the `scroll_id` of the
        page before: a service that supports it repeats and omits no row; others ignore it. Raise PagingLoop after the
        last page if pages do not end, and InvalidResponse for one that cannot be read.
        """
        op = get_operation(name)
        if op.paging is None or (by == "id" and not any(param.name == "from_id" for param in op.params)):
            raise ContractError(f"{name} cannot be paged by {by}.")
        cursor: PageCursor = IdCursor(op, query or {}) if by == "id" else PageNumberCursor(op, query or {})
        more = True
        while more:
            rows, envelope = await self._read_page(
                op, path, cursor.query, headers, cursor.scroll_id if scroll else None
            )
            try:
                more = cursor.advance(rows, envelope)
            except PagingLoop:
                yield rows, envelope  # the page itself was read
                raise
            yield rows, envelope
            del envelope, rows  # frees this page before the next one is read

    async def first_page(
        self, name: str, *, path: Mapping[str, str] | None = None, query: Query | None = None
    ) -> tuple[list[Row], Envelope]:
        """Return only the first page of a list, as `pages` yields it; for reads of one row by its number."""
        op = get_operation(name)
        if op.paging is None:
            raise ContractError(f"{name} has no pages.")
        return await self._read_page(op, path, PageNumberCursor(op, query or {}).query)

    async def _read_page(
        self,
        op: Operation,
        path: Mapping[str, str] | None,
        query: Query,
        headers: Mapping[str, str] | None = None,
        scroll_id: str | None = None,
        room: _Room | None = None,
    ) -> tuple[list[Row], Envelope]:
        room = room or _Room()
        try:
            return self._parse_page(
                op, await self._read_with_retry(op, path or {}, query, headers or {}, scroll_id), room
            )
        except (InvalidRequest, ResponseTooLong) as error:
            parts = smaller_pages(op, query) if isinstance(error, ResponseTooLong) or error.status == _TOO_LARGE else []
            if not parts:
                raise
        return await self._read_in_parts(op, path, parts, headers, scroll_id, room)

    def _parse_page(self, op: Operation, response: Response, room: _Room) -> tuple[list[Row], Envelope]:
        room.take(op.name, response.content)
        envelope = _parse_json(op, response)
        return rows_of(op, envelope), envelope

    async def _read_in_parts(
        self,
        op: Operation,
        path: Mapping[str, str] | None,
        parts: Sequence[dict[str, QueryValue]],
        headers: Mapping[str, str] | None,
        scroll_id: str | None,
        room: _Room,
    ) -> tuple[list[Row], Envelope]:
        """Read a page that is too long for one response as smaller pages. Its envelope leads to the page after it."""
        found: list[Row] = []
        pages: Envelope = {}
        for part in parts:
            rows, pages = await self._read_page(op, path, part, headers, scroll_id, room)
            found += rows
            if not rows or ("next_page" in pages and pages["next_page"] is None):
                break
            next_scroll_id = pages.get("scroll_id")
            if isinstance(next_scroll_id, str):
                check_cursor(op.name, next_scroll_id)
            scroll_id = next_scroll_id if scroll_id is not None and isinstance(next_scroll_id, str) else None
        size = sum(int(part["page_size"] or 0) for part in parts)
        if len(parts) == 1:  # by id
            return found, pages if "next_page" in pages or len(found) < size else {**pages, "next_page": ""}
        following = pages.get("next_page")
        if isinstance(following, int) and not isinstance(following, bool):
            pages = {**pages, "next_page": (following - 1) // len(parts) + 1}
        return found, {**pages, "page_size": size} if "page_size" in pages else pages

    async def rows(
        self, name: str, *, path: Mapping[str, str] | None = None, query: Query | None = None
    ) -> AsyncGenerator[Row, None]:
        """Yield the raw rows of all pages of a list. Raise as `pages`."""
        async with aclosing(self.pages(name, path=path, query={"page_size": _PAGE_SIZE, **(query or {})})) as pages:
            async for rows, _ in pages:
                for row in rows:
                    yield row

    # --- Calls

    async def call(self, name: str, body: object = None, **values: QueryValue) -> Any:
        """Send an operation, and return the JSON of its result.

        `values` are its parameters, with the interface's names. A read is retried. `flush` is never sent: it deletes
        what the body does not name. Raise ContractError before anything is sent; ClientError after.
        """
        op, places = get_operation(name), dict[ParamLocation, dict[str, Any]](path={}, query={}, header={})
        if values.get("flush") is not None:
            raise ContractError(f"{name} is not called with flush.")
        where = {param.name: param.where for param in op.params}
        for key, value in values.items():
            places[where.get(key, "query")][key] = value
        headers = encode_headers(op, places["header"])
        if not op.write:
            return _parse_result(op, await self._read_with_retry(op, places["path"], places["query"], headers))
        target = _request_target(op, places["path"], places["query"])
        response = await self._send(op.method, target, headers, encode_body(op, body), True, None)
        return _parse_result(op, self._check_response(op.name, response))

    async def _read_with_retry(
        self,
        op: Operation,
        path: Mapping[str, str],
        query: Query,
        headers: Mapping[str, str],
        scroll_id: str | None = None,
    ) -> Response:
        """Send a read, and retry it if that may help. Raise the last try's error."""
        target = _request_target(op, path, self._with_language(op, "query", "accept_language", query))
        if scroll_id:
            target += f"{'&' if '?' in target else '?'}scroll_id={quote(scroll_id, safe='')}"
        documented = _check_headers(op, self._with_language(op, "header", "Accept-Language", headers))
        tries = 0
        while True:
            tries += 1
            try:
                return self._check_response(op.name, await self._send(op.method, target, documented, None, False, None))
            except ClientError as error:
                wait = wait_before_retry(error, tries, self._random_source(), self._retry)
                if wait is None:
                    raise
            await self._sleep(wait)

    def _with_language(
        self, op: Operation, where: Literal["query", "header"], name: str, values: Mapping[str, V]
    ) -> Mapping[str, V | str]:
        """Return the values, with the language added if the operation takes one and none is given."""
        if (
            not self._language
            or values.get(name) is not None
            or all(param.name != name for param in op.params_in(where))
        ):
            return values
        return {**values, name: self._language}

    def _check_response(self, operation: str, response: Response) -> Response:
        if response.is_success:
            return response
        raise status_error(operation, response, parse_retry_after(response.headers.get("retry-after"), self._now()))

    async def _send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, write: bool, token: str | None
    ) -> Response:
        if len(target) > _MAX_TARGET:
            raise ContractError(f"The address of a request has {len(target):,} characters; no service takes it.")
        sent = {"Accept": "application/json", "User-Agent": f"aisle/{__version__}"}
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update(self._authorization(token))
        for name, value in headers.items():
            if not (name.isascii() and name.isprintable() and value.isprintable()):
                raise ContractError(f"The header {name!r} cannot be sent: it has to be printable.")
            sent[name] = value
        response = await self._sender.send(method, target, headers=sent, body=body, write=write)
        if self._on_response is not None and not (token is not None and response.status == 401):
            self._on_response(response)  # a refused user token is not about the client's own token
        return response

    def _authorization(self, token: str | None) -> dict[str, str]:
        if token is None:
            token = self._token if isinstance(self._token, str) else self._token()
        if not token:
            return {}
        value = self._token_header.replace("{token}", token)
        if not (value.isascii() and value.isprintable()):
            raise SettingsError("The token cannot be sent: it holds characters other than printable ASCII.")
        return {"Authorization": value}


class _Room:
    """Memory for one page that may be read in parts, or for all pages of a list that is used whole."""

    def __init__(self) -> None:
        self._left = MAX_JSON_MEMORY

    def take(self, name: str, content: bytes) -> None:
        """Take what a part needs; one that is too long alone is never kept.

        Raise InvalidResponse if the parts together need too much.
        """
        needed = memory_needed(content)
        if needed > MAX_JSON_MEMORY:
            return
        self._left -= needed
        if self._left < 0:
            raise InvalidResponse(f"The pages or parts of {name} are too long together.")


def _request_target(op: Operation, path: Mapping[str, str], query: Query) -> str:
    text = encode_query(op, query)
    return f"{build_path(op, path)}?{text}" if text else build_path(op, path)


def _check_headers(op: Operation, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers; those that the interface names are checked and encoded."""
    documented = {param.name for param in op.params_in("header")}
    named = {name: value for name, value in headers.items() if name in documented}
    return {**headers, **encode_headers(op, named)}


def _parse_json(op: Operation, response: Response) -> Any:
    """Return the body of a response. Raise InvalidResponse if it is no JSON, ResponseTooLong if it needs too much."""
    try:
        return response.json()
    except TooMuchMemory as error:
        raise ResponseTooLong(f"The answer to {op.name} is too long: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidResponse(f"The answer to {op.name} is not JSON: {clean(str(error))}.") from error


def _parse_result(op: Operation, response: Response) -> Any:
    """Return the body of a response. Raise UnsuccessfulResult for `success: false`, InvalidResponse if it is none."""
    result = {} if response.status == 204 else _parse_json(op, response)
    if isinstance(result, list) != op.result_array:
        raise InvalidResponse(f"The answer to {op.name} does not fit the interface.")
    if op.paging:
        rows_of(op, result)
    if isinstance(result, dict) and result.get("success") is False:
        raise UnsuccessfulResult(op.name, response)
    return result


def _query_text(value: QueryValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


async def pages_by_count(
    client: Client, name: str, *, path: Mapping[str, str] | None = None, query: Mapping[str, QueryValue]
) -> AsyncGenerator[Page, None]:
    """Yield rows and envelope of each page, as `Client.pages`.

    If a page's link to the next one does not advance, the next page is requested by number; an empty page is the end.
    Raise PagingLoop if a page repeats the one before it, or if pages never end.
    """
    number, before = 1, None
    while True:
        page_count = 0
        try:
            async with aclosing(client.pages(name, path=path, query={**query, "page_start": number})) as pages:
                async for page in pages:
                    page_count += 1
                    yield page
                    del page  # frees the page before the next one arrives
            return
        except PagingLoop as error:
            if _is_no_progress(error.rows, before, page_count):
                raise
            if not error.rows:
                return
            number, before = number + page_count, error.rows


def _is_no_progress(rows: Sequence[Any], before: Sequence[Any] | None, page_count: int) -> bool:
    """Return True if the last page brought neither new rows nor the end."""
    return page_count > 1 if not rows else rows == before
