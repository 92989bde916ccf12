"""Values of the parameters in path, query and headers, typed; unknown ones and invalid codes are refused."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes

from starlette.requests import Request

from aisle.contract.operations import Param
from aisle.service.domain.quantities_times_and_json import (
    INT64_LIMIT,
    format_timestamp,
    parse_timestamp,
    subtract_seconds,
)
from aisle.service.errors import Refusal, bad_request, unprocessable
from aisle.service.operation_context import ParamValues, Replay, WriteHeaders

MAX_TEXT_LENGTH = 1_000
"""Maximum number of characters of a text without a limit of its own."""


_INTEGER = re.compile(r"([+-]?)([0-9]+)(\.0*)?", re.ASCII)


# Longest query that is cached; most requests use the same few.
_CACHED_LENGTH = 64


MAX_DIGITS = 20
"""Maximum number of digits that are parsed; a longer number exceeds every limit."""


MAX_PAGE_NUMBER = 1 << 40


_MAX_VALUES = {"page_start": MAX_PAGE_NUMBER, "page_number": MAX_PAGE_NUMBER}


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


_MAX_NAME_LENGTH = 80


_MIN_PREFIX_LENGTH = 3


_MAX_NAMED = 5


_UNKNOWN_PARAMETER = "There is no such parameter here."


_OTHER_POSITIONS = {"header": "It is a header of this operation.", "path": "It stands in the path of this operation."}


MAX_CODE_LENGTH = 1000
"""Maximum number of characters of a code, and so of a part of a path."""


_BLANKS_OF_ENDS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b\u2060\ufeff"
"""Blanks that are taken for none at the ends of a key, also those that nobody sees."""
_INVALID_CODES = ("", ".", "..")


def check_length(text: str, name: str, max_length: int) -> None:
    """Raise Refusal (400) if the text of a header or parameter is too long."""
    if len(text) > max_length:
        raise bad_request(f"This has {len(text):,} characters; at most {max_length:,} are taken here.", name)


def path_values(request: Request) -> dict[str, str]:
    """Return the path's parameters, each decoded once. The middleware has checked that they can be decoded."""
    return {name: unquote_to_bytes(value).decode() for name, value in request.path_params.items()}


def query_values(query: bytes, params: Sequence[Param], *, lenient: bool = False) -> ParamValues:
    """Return the documented query parameters with their types. A lenient service ignores others.

    Raise Refusal (400) if one is invalid, missing or repeated.
    """
    try:
        pairs = _short_query(query) if len(query) <= _CACHED_LENGTH else _query(query)
    except ValueError:
        raise bad_request("The query is not valid UTF-8, or too long.") from None
    given: dict[str, str] = {}
    known = {param.name: param for param in params if param.where == "query"}
    for name, text in pairs:
        if name in known and name in given:
            raise bad_request("This parameter is there more than once.", name)
        given[name] = text
    if not lenient and not given.keys() <= known.keys():
        raise UnknownParameters([name for name in given if name not in known], params)
    for name, param in known.items():
        if param.required and name not in given:
            raise bad_request("This parameter is needed.", name)
    ours = {known[name]: text for name, text in given.items() if name in known}
    return {param.name: _value(param, text) for param, text in ours.items() if _is_given(param, text)}


def _query(query: bytes) -> tuple[tuple[str, str], ...]:
    return tuple(parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100))


_short_query = lru_cache(maxsize=1000)(_query)


def header_values(headers: Mapping[str, str], params: Iterable[Param]) -> ParamValues:
    """Return the documented header parameters with their types. Raise Refusal (400) if one is invalid."""
    sent = [param for param in params if param.where == "header" and param.name.lower() in headers]
    given = {param: headers[param.name.lower()] for param in sent}
    return {param.name: _value(param, text) for param, text in given.items() if _is_given(param, text)}


def _is_given(param: Param, text: str) -> bool:
    """Return False for an empty text, which counts as absent. Empty numbers and booleans are refused later."""
    return text != "" or param.type != "string"


def _value(param: Param, text: str) -> Any:
    if "\0" in text:
        raise bad_request("A NUL character cannot be used.", param.name)
    check_length(text, param.name, param.max_length or MAX_TEXT_LENGTH)
    if param.type == "boolean":
        if text.lower() not in _BOOLEANS:
            raise bad_request(f"{text!r} is neither true nor false.", param.name)
        return _BOOLEANS[text.lower()]
    return parse_integer(text, param.name) if param.type == "number" else text


def parse_integer(text: str, field: str) -> int:
    """Parse an integer of a query. Raise Refusal (400) if it is invalid or out of range."""
    parts = _INTEGER.fullmatch(text)
    if parts is None:
        raise bad_request(f"{text!r} is not a whole number.", field)
    sign, digits = parts[1], parts[2].lstrip("0") or "0"
    largest = _MAX_VALUES.get(field, INT64_LIMIT)
    if len(digits) <= MAX_DIGITS and int(digits) <= largest:
        return int(sign + digits)
    if sign == "-":
        least = 1 if field in _MAX_VALUES else -INT64_LIMIT
        raise bad_request(f"This number is too small: {least} is the smallest that is taken.", field)
    raise bad_request(f"This number is too large: {largest} is the largest that is taken.", field)


def is_valid_code(text: str) -> bool:
    """Return True if a path can contain this number or code."""
    return text not in _INVALID_CODES and len(text) <= MAX_CODE_LENGTH


def check_code(text: str, subject: str, field: str) -> None:
    """Raise Refusal (422) if no path can contain the code, or it has blanks at its ends, which no scanner sends.

    `subject` is such as "the number of a product".
    """
    if not is_valid_code(text):
        reason = "." if text in _INVALID_CODES else f": it has at most {MAX_CODE_LENGTH} characters."
        raise unprocessable(f"This cannot be {subject}{reason}", field)
    check_ends(text, field)


def check_ends(text: str, field: str) -> None:
    """Raise Refusal (422) if a key has blanks at its ends, visible or not. It would differ from another by them."""
    bare = text.strip(_BLANKS_OF_ENDS)
    if bare != text:
        raise unprocessable(f"{text!r} has blanks at its ends; send {bare!r}.", field)


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar, or None.

    Case and separators are ignored. Few letters may differ, or the name may be a prefix.
    """
    normalized_names, normalized = (
        {_normalize_name(one): one for one in known},
        _normalize_name(name[:_MAX_NAME_LENGTH]),
    )
    close = get_close_matches(normalized, normalized_names, n=1, cutoff=0.6)
    close = close or sorted(
        (one for one in normalized_names if len(normalized) >= _MIN_PREFIX_LENGTH and one.startswith(normalized)),
        key=len,
    )
    return normalized_names[close[0]] if close else None


def _normalize_name(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


class UnknownParameters(Refusal):
    """Refusal (400) of unknown query parameters. Only its body looks for similar ones, which takes milliseconds."""

    def __init__(self, names: Sequence[str], params: Sequence[Param]) -> None:
        super().__init__(400, _UNKNOWN_PARAMETER, names[0][:_MAX_NAME_LENGTH])
        self._names = names[:_MAX_NAMED]
        self._params = params

    def body(self) -> bytes:
        """See Refusal."""
        errors = [
            {"field": name[:_MAX_NAME_LENGTH], "message": _describe_unknown_parameter(name, self._params)}
            for name in self._names
        ]
        self.message = errors[0]["message"]
        self.extra["errors"] = errors
        return super().body()


def _describe_unknown_parameter(name: str, params: Sequence[Param]) -> str:
    known = [param.name for param in params if param.where == "query"]
    close = nearest_name(name, known)
    if close and _normalize_name(close) == _normalize_name(name):
        return f"{_UNKNOWN_PARAMETER} The nearest is {close}."
    for param in params:
        if param.where in _OTHER_POSITIONS and _normalize_name(param.name) == _normalize_name(name):
            return f"{_UNKNOWN_PARAMETER} {_OTHER_POSITIONS[param.where]}"
    if close:
        return f"{_UNKNOWN_PARAMETER} The nearest is {close}."
    return (
        f"{_UNKNOWN_PARAMETER} Known are {', '.join(known)}."
        if known
        else f"{_UNKNOWN_PARAMETER} This operation takes none."
    )


_DAYS_KEPT = 7
_REPLAY_DAYS_KEPT = 31
# Headers that change the effect of a request.
_FINGERPRINT_HEADERS = ("container_override", "if-match", "aisle-occurred-at", "aisle-app-user", "aisle-terminal")


def bearer_token(headers: Mapping[str, str]) -> str:
    """Return the token of the Authorization header. The word Bearer before it is optional."""
    value = headers.get("authorization", "").strip()
    scheme, _, rest = value.partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else value


class HeaderRule(NamedTuple):
    """Header whose value has a pattern, and the message for another value."""

    name: str
    pattern: str
    message: str

    def match(self, headers: Mapping[str, str]) -> re.Match[str] | None:
        """Return the match of the value; None without the header. Raise Refusal (400) if it is malformed."""
        value = headers.get(self.name.lower())
        if value is None:
            return None
        match = re.fullmatch(self.pattern, value.strip())
        if match is None:
            raise bad_request(self.message, self.name)
        return match


IDEMPOTENCY_KEY = HeaderRule(
    "Idempotency-Key", '"?([A-Za-z0-9_-]{16,64})"?', 'The key is 16 to 64 of A-Z a-z 0-9 _ -, in quotes: "…".'
)
CLOCK_AHEAD = HeaderRule(
    "Aisle-Clock-Ahead",
    r"[+-]?[0-9]{1,10}(\.[0-9]{1,6})?",
    "How far a clock is ahead is a number of seconds, such as -20.5.",
)
CONFIRMED_KEYS = HeaderRule(
    "Aisle-Follows",
    "[A-Za-z0-9_-]{16,64}(,[A-Za-z0-9_-]{16,64}){0,7}",
    "These are up to 8 keys, with commas between them.",
)
REPLAY = HeaderRule(
    "Aisle-Replay",
    r"(all|[0-9]{1,12}:-?[0-9]{1,9}(\.[0-9]{1,3})?(,[0-9]{1,12}:-?[0-9]{1,9}(\.[0-9]{1,3})?)*)",
    'This is "all", or what found no room by line: "1:2,3:-1".',
)
LOG_READ = HeaderRule("Aisle-Log-Read", "[0-9]{1,16}", "This is the id of the last log entry that was read.")
IF_MATCH = HeaderRule("If-Match", r'"[^",]*"( *, *"[^",]*")*', 'A version is written in quotes, as ETag has it: "12".')


def write_headers(headers: Mapping[str, str], now: float) -> WriteHeaders:
    """Return the headers of a write. Raise Refusal (400) if one is malformed."""
    key, ahead, follows = (rule.match(headers) for rule in (IDEMPOTENCY_KEY, CLOCK_AHEAD, CONFIRMED_KEYS))
    log_read = LOG_READ.match(headers)
    skew = float(ahead[0]) if ahead else 0.0
    return WriteHeaders(
        key[1] if key else None,
        _occurred_on(headers, now, skew),
        _header_text(headers, "Aisle-App-User"),
        _header_text(headers, "Aisle-Terminal"),
        _accepted_versions(headers),
        skew,
        tuple(follows[0].split(",")) if follows else (),
        _replay(headers),
        int(log_read[0]) if log_read else None,
    )


def _occurred_on(headers: Mapping[str, str], now: float, clock_skew: float) -> str:
    """Return the time of the event, limited to the last week; empty without the header."""
    value = headers.get("aisle-occurred-at")
    if value is None:
        return ""
    timestamp = parse_timestamp(value, "Aisle-Occurred-At", UTC)
    return clamp_occurred_on(timestamp, now, clock_skew, is_replay="aisle-replay" in headers)


def clamp_occurred_on(timestamp: str, now: float, clock_skew: float = 0.0, *, is_replay: bool = False) -> str:
    """Correct a time by the clock skew and limit it to the last week; after a restore, to the last month."""
    timestamp = subtract_seconds(timestamp, clock_skew) if clock_skew else timestamp
    days = _REPLAY_DAYS_KEPT if is_replay else _DAYS_KEPT
    return min(max(timestamp, format_timestamp(now - days * 86400)), format_timestamp(now))


def _replay(headers: Mapping[str, str]) -> Replay | None:
    """Return the data of a write that is repeated after a restore."""
    match = REPLAY.match(headers)
    if match is None:
        return None
    pairs = () if match[0] == "all" else (pair.split(":") for pair in match[0].split(","))
    return Replay({int(line): int(Decimal(unapplied) * 1000) for line, unapplied in pairs})


def _accepted_versions(headers: Mapping[str, str]) -> frozenset[str] | None:
    """Return the versions of `If-Match`; None is any."""
    match = IF_MATCH.match(headers) if headers.get("if-match", "*").strip() != "*" else None
    return frozenset(part.strip().strip('"') for part in match[0].split(",")) if match else None


def _header_text(headers: Mapping[str, str], name: str) -> str | None:
    """Return the text of a header: UTF-8 if it is valid, otherwise Latin-1. Raise Refusal (400) if it is too long."""
    value = headers.get(name.lower(), "").strip()
    with suppress(UnicodeError):
        value = value.encode("latin-1").decode()
    check_length(value, name, MAX_TEXT_LENGTH)
    return value or None


def fingerprint(request: Request, body: bytes, headers: Mapping[str, str]) -> str:
    """Return a hash of all that changes the effect of a request, including headers; empty for one without a key."""
    if "idempotency-key" not in headers:
        return ""
    pairs = sorted(parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True))
    sent_headers = [(name, headers[name]) for name in _FINGERPRINT_HEADERS if name in headers]
    head = json.dumps([request.method, request.scope["path"], pairs, sent_headers])
    return hashlib.sha256(head.encode() + b"\0" + body).hexdigest()
