"""State of the link to the service, which every screen shows, and its lines in the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import Literal, NamedTuple

from aisle.client.errors import (
    CERTIFICATE_ERROR,
    ClientError,
    RateLimited,
    ServerError,
    StatusError,
    TransportError,
    Unauthorized,
)
from aisle.client.response_and_json_limits import Response
from aisle.courier.backoff_and_list_pauses import RandomSource, backoff_s
from aisle.courier.clock_skew_and_steady_clock import ClockSkew
from aisle.courier.operator_notices import OperatorNotices
from aisle.courier.request_failure_messages import reason_of
from aisle.courier.service_features import Features, features_of_headers
from aisle.errors import SettingsError
from aisle.stored_messages import NO_MESSAGE, StoredMessage

LIVE = "live"
SYNCING = "syncing"
PARTIAL = "partial"
"""State: everything is read, except lists that cannot be."""
OFFLINE = "offline"
TOKEN_REFUSED = "refused"
"""State: the service responds, and refuses the token."""

LINK_HEARTBEAT_S = 10.0
"""Seconds between two heartbeats if nothing else changes."""
MIN_CHECK_S, MAX_CHECK_S = 1.0, 15.0
_MIN_PAUSE_S, _MAX_PAUSE_S = 1.0, 60.0


def bounded_pause(asked_s: float) -> float:
    """Return the seconds of a pause that the service asks for, within bounds: its value may be garbage.

    A service that needs a longer one asks again.
    """
    return min(max(asked_s, _MIN_PAUSE_S), _MAX_PAUSE_S)


REQUEST_ERRORS = (ClientError, SettingsError)
"""Exceptions of a call; SettingsError if the token file cannot be read."""


class LinkStatus(NamedTuple):
    """Link as sessions read it. Times are seconds since 1970; `last_ok` is 0 if there never was a response."""

    state: str
    reason: str
    last_ok: float
    heartbeat: float


@dataclass(eq=False)
class ServiceLink:
    """State of the link, updated by every response and error.

    `save_status` stores it; `on_up` is called when the link returns, and when keys are announced again.
    """

    save_status: Callable[[LinkStatus], None]
    on_up: Callable[[], None]
    _: KW_ONLY
    clock: Callable[[], float]
    random_source: RandomSource

    def __post_init__(self) -> None:
        self.features: Features | None = None
        """Features that the service announces; None until it has responded."""
        self.last_ok = 0.0
        self.keys_announced_at = -inf
        """Time at which keys were announced last, in seconds since 1970."""
        self._clock_skew = ClockSkew(self.clock)
        self._state = OFFLINE
        self._reason = NO_MESSAGE
        self._syncing = False
        self._missing: tuple[str, ...] = ()
        self._paused_until = 0.0
        self._failures = 0
        self._last_status: LinkStatus | None = None

    @property
    def state(self) -> str:
        """One of the five states above."""
        if self._state == LIVE and self._syncing:
            return SYNCING
        return PARTIAL if self._state == LIVE and self._missing else self._state

    @property
    def reason(self) -> str:
        """Reason for the state; for `PARTIAL`, the lists that cannot be read."""
        return ", ".join(self._missing) if self.state == PARTIAL else self._reason

    @property
    def cause(self) -> StoredMessage:
        """Last reason for which the link or the token was lost."""
        return self._reason

    @property
    def is_up(self) -> bool:
        """True if the last request got a response."""
        return self._state == LIVE

    @property
    def can_write(self) -> bool:
        """True if writes can be sent: the service responds and has not asked for a pause."""
        return self._state == LIVE and self.features is not None and self.clock() >= self._paused_until

    @property
    def has_keys(self) -> bool:
        """True if the service announces that it keeps keys."""
        return self.features is not None and self.features.idempotency

    @property
    def skew_s(self) -> float:
        """Seconds that this host's clock is ahead of the service's; 0 if it is right or nothing is known."""
        return self._clock_skew.skew_s

    @property
    def pause_s(self) -> float:
        """Seconds left of the pause that the service asked for."""
        return max(0.0, self._paused_until - self.clock())

    def record_response(self, response: Response) -> None:
        """Update the state by a response; the client passes every one."""
        found, is_genuine = features_of_headers(response.headers), _is_from_service(response)
        had_keys = self.has_keys
        if found is not None:
            self.features = found
            self.keys_announced_at = self.clock() if found.idempotency else self.keys_announced_at
        elif is_genuine and (self.features is None or _is_list_response(response)):
            self.features = Features()  # a list without the header revokes them; others may come from a proxy
        if response.status == 401:
            self.record_refusal(reason_of(response))
        elif is_genuine:
            self.last_ok = self.clock()
            self._clock_skew.record_response(response.headers)
            self._failures = 0
            self._set_state(LIVE, NO_MESSAGE)
        if self.has_keys and not had_keys:
            self.on_up()

    def record_error(self, error: Exception) -> None:
        """Update the state by the exception of a call."""
        if isinstance(error, TransportError | ServerError):
            self._failures += 1
            self._set_state(OFFLINE, reason_of(error))
        elif isinstance(error, Unauthorized):
            self.record_refusal(reason_of(error))
        elif isinstance(error, RateLimited):
            self.pause(error.retry_after)
        elif isinstance(error, SettingsError):
            self.record_refusal(reason_of(error))

    def record_check_error(self, error: Exception) -> None:
        """Update the state by the exception of the request that checks the link.

        A status error counts as refusal then, because no other request would succeed.
        """
        if isinstance(error, StatusError) and not isinstance(error, ServerError | RateLimited):
            self.record_refusal(reason_of(error))
        else:
            self.record_error(error)

    def record_refusal(self, reason: StoredMessage) -> None:
        """Record that the service refuses the token."""
        self._failures += 1
        self._set_state(TOKEN_REFUSED, reason)

    def pause(self, seconds: float | None) -> None:
        """Pause requests for `seconds`, or for a backoff if None."""
        self._failures += 1
        wait = self.check_wait_s() if seconds is None else bounded_pause(seconds)
        self._paused_until = max(self._paused_until, self.clock() + wait)

    def check_wait_s(self) -> float:
        """Return the seconds until the service is checked again, at most `MAX_CHECK_S`; they grow by `backoff_s`."""
        return backoff_s(self._failures, self.random_source(), MIN_CHECK_S, MAX_CHECK_S)

    def set_syncing(self, on: bool, missing: tuple[str, ...] = ()) -> None:
        """Record that a full sync begins or ends; `missing` are the lists that could not be read."""
        self._syncing, self._missing = on, missing
        self.write_status()

    def write_status(self, *, force: bool = False) -> None:
        """Store the status if it changed, if the last heartbeat is old, or if `force` is set."""
        before, moment = self._last_status, self.clock()
        changed = before is None or (before.state, before.reason) != (self.state, self.reason)
        if before is None or changed or force or moment - before.heartbeat >= LINK_HEARTBEAT_S:
            self._last_status = LinkStatus(self.state, self.reason, self.last_ok, moment)
            self.save_status(self._last_status)

    def _set_state(self, state: str, reason: StoredMessage) -> None:
        comes_up = state == LIVE and self._state != LIVE
        self._state, self._reason = state, reason
        self.write_status()
        if comes_up:
            self.on_up()


def _is_list_response(response: Response) -> bool:
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and isinstance(body.get("list", body.get("records")), list)


def _is_from_service(response: Response) -> bool:
    """Return whether the service sent this response; a gateway or captive portal sends HTML and announces nothing."""
    return response.status == 204 or (response.is_success and response.content.lstrip()[:1] in (b"{", b"["))


LinkProblem = Literal["", "link", "token", "certificate"]


class LinkLog:
    """Log of changes of the link: compares each status with the one before."""

    def __init__(self, operator_notices: OperatorNotices, clock: Callable[[], float]) -> None:
        self._operator_notices = operator_notices
        self._clock = clock
        self._problem: LinkProblem = ""
        self._since = 0.0

    def record(self, status: LinkStatus, cause: StoredMessage) -> None:
        """Log a change of the link and its cause. Nothing is logged before the first request."""
        if status.state == OFFLINE and status.reason == NO_MESSAGE:
            return
        lost = _problem_of(status)
        if lost == self._problem:
            return
        now = self._clock()
        if self._problem and not (self._problem != "link" and lost == "link"):
            self._operator_notices.add(f"{self._problem} regained after {now - self._since:.0f} s")
        if lost:
            self._operator_notices.add(f"{lost} lost:", cause)
        self._problem, self._since = lost, now


def _problem_of(status: LinkStatus) -> LinkProblem:
    """Return the kind of problem; empty if there is none."""
    if status.state == TOKEN_REFUSED:
        return "token"
    if status.state != OFFLINE:
        return ""
    return "certificate" if CERTIFICATE_ERROR in status.reason else "link"
