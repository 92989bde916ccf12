"""Headers of a request that no operation documents: token, key, time, person, versions. Others: `parameter_values`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import parse_qsl

from starlette.requests import Request

from aisle.service.domain.timestamps import format_timestamp, parse_timestamp, subtract_seconds
from aisle.service.errors import bad_request
from aisle.service.http.parameter_values import MAX_TEXT_LENGTH, check_length
from aisle.service.operation_context import Replay, WriteHeaders

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
