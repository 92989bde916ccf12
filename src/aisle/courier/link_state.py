"""State of the link to the service on every screen, messages about failed requests, and notices for operators."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import Literal, NamedTuple

from aisle.client.responses_and_errors import (
    CERTIFICATE_ERROR,
    ClientError,
    Forbidden,
    InvalidResponse,
    NotSent,
    RateLimited,
    Response,
    ServerError,
    StatusError,
    TransportError,
    Unauthorized,
    UnsuccessfulResult,
    message_of,
)
from aisle.courier.clock_skew_and_clock_jump import ClockSkew
from aisle.courier.pauses_and_wake_event import RandomSource, backoff_s
from aisle.courier.service_features_and_lists import Features, features_of_headers
from aisle.errors import SettingsError
from aisle.host.database import is_disk_full
from aisle.outbox.operation_record import NO_STORE, NO_TOKEN
from aisle.stored_messages import NO_MESSAGE, StoredMessage, store_message, store_text
from aisle.terminal_text import ELLIPSIS, clean

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


MAX_NOTICES = 100
MAX_PER_MINUTE, MAX_LENGTH = 100, 500
"""Notices of one minute, and characters of one: a service may name endless failures with endless texts."""


class Notice(NamedTuple):
    """One notice."""

    at: float
    """Seconds since 1970."""
    text: str
    reason: StoredMessage = NO_MESSAGE
    """Reason stored with the row it is about; it follows the text."""

    def to_line(self, translate: Callable[[str], str]) -> str:
        """Return the notice as one line; `translate` renders the stored reason."""
        return clean(f"{self.text} {translate(self.reason)}".strip()) if self.reason else self.text


class OperatorNotices:
    """Newest notices of a courier, with clean text. Each is passed once to `on_notice`."""

    def __init__(self, clock: Callable[[], float], on_notice: Callable[[Notice], None] | None = None) -> None:
        self.recent: deque[Notice] = deque(maxlen=MAX_NOTICES)
        self._clock = clock
        self._minute_began = self._count = 0.0
        """Time of the first notice of the present minute, and the number of notices since."""
        self._on_notice = on_notice

    def add(self, text: str, reason: StoredMessage = NO_MESSAGE) -> None:
        """Add a notice, unless it repeats the last one or the minute has too many."""
        whole = clean(text)
        shown = whole if len(whole) <= MAX_LENGTH else whole[: MAX_LENGTH - 1] + ELLIPSIS
        if self.recent and self.recent[-1][1:] == (shown, reason):
            return
        now = self._clock()
        if not 0 <= now - self._minute_began < 60:
            self._minute_began, self._count = now, 0
        self._count += 1
        if self._count <= MAX_PER_MINUTE:
            self._keep(Notice(now, shown, reason))
        elif self._count == MAX_PER_MINUTE + 1:
            self._keep(Notice(now, "Further notices of this minute are left out."))

    def _keep(self, notice: Notice) -> None:
        self.recent.append(notice)
        if self._on_notice:
            self._on_notice(notice)


QUIET_S = 60.0
"""Seconds without a failure after which room counts: the rest of a full disk still takes small writes."""


class DiskLog:
    """Log of the errors that a full disk causes. `has_room` tells whether the disk takes more."""

    def __init__(
        self, operator_notices: OperatorNotices, clock: Callable[[], float], has_room: Callable[[], bool]
    ) -> None:
        self._operator_notices = operator_notices
        self._clock = clock
        self._has_room = has_room
        self._full_since: float | None = None
        self._failed_at = 0.0

    def record(self, error: Exception) -> bool:
        """Return whether the disk is full and the error comes of it. The first one is logged."""
        if not is_disk_full(error):
            return False
        self._failed_at = self._clock()
        if self._full_since is None:
            self._full_since = self._failed_at
            self._operator_notices.add("disk full")
        return True

    def check(self) -> None:
        """Log that there is room again."""
        if self._full_since is None or self._clock() - self._failed_at < QUIET_S or not self._has_room():
            return
        self._operator_notices.add(f"disk regained after {self._clock() - self._full_since:.0f} s")
        self._full_since = None


MAX_MESSAGE_LENGTH = 300
"""Characters of a service's message that are kept."""


def reason_of(result: Response | Exception) -> StoredMessage:
    """Return why a request failed, for the operation's row. Text that is not the service's is never included.

    Details of the exception go into the message's `detail`.
    """
    if isinstance(result, Response):
        return _reason_of_response(result)
    if isinstance(result, Forbidden) and (nearest := _nearest_store(result)):
        return store_message(NO_STORE, detail=nearest)
    if isinstance(result, StatusError):
        return _text_or_status(result.message, result.status)
    if isinstance(result, UnsuccessfulResult):
        return _text_or_status(result.message, 200)
    found = (text_id for kind, text_id in _ID_BY_ERROR if isinstance(result, kind))
    return store_message(next(found, "stored_reason.not_valid"), detail=str(result)[:MAX_MESSAGE_LENGTH])


_ID_BY_ERROR = (
    (NotSent, "stored_reason.not_reached"),
    (InvalidResponse, "stored_reason.unreadable"),
    (ClientError, "stored_reason.no_answer"),
    (SettingsError, NO_TOKEN),
)
"""Message for each kind of error; the first that fits is taken."""


def _text_or_status(message: str, status: int) -> StoredMessage:
    """Return the service's own text; its status if it gave none."""
    text = message[:MAX_MESSAGE_LENGTH]
    return store_text(text) if text else store_message("stored_reason.status_rejected", status=status)


def _nearest_store(refusal: Forbidden) -> str:
    """Return the store numbers that our own service suggests; empty if it suggests none."""
    try:
        nearest = Response(refusal.status, {}, refusal.content).json()["nearest"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    named = [text for text in nearest if isinstance(text, str)] if isinstance(nearest, list) else []
    return " / ".join(named)[:MAX_MESSAGE_LENGTH]


def is_service_refusal(error: Exception) -> bool:
    """Return whether the service itself refused the request, so that the link needs no check."""
    return (
        isinstance(error, StatusError)
        and not isinstance(error, ServerError | RateLimited)
        and Response(error.status, {}, error.content).is_json_object
    )


def unread_reason(error: Exception) -> StoredMessage:
    """Return why a list could not be read: always with its status, and with the service's message if there is one."""
    if isinstance(error, TransportError):
        return store_message("stored_reason.no_answer_in_time", detail=str(error)[:MAX_MESSAGE_LENGTH])
    if not isinstance(error, StatusError):
        return reason_of(error)
    if not Response(error.status, {}, error.content).is_json_object:
        return store_message("stored_reason.status_unexpected", status=error.status)
    if message := error.message[:MAX_MESSAGE_LENGTH]:
        return store_message("stored_reason.status_with_text", status=error.status, why=message)
    return reason_of(error)


def _reason_of_response(response: Response) -> StoredMessage:
    if not response.is_json_object:
        return store_message("stored_reason.status_unexpected", status=response.status)
    return _hand_over_by_other(response) or _text_or_status(message_of(response), response.status)


def _hand_over_by_other(response: Response) -> StoredMessage | None:
    """Return who had handed the order over, if our own service refused it therefore."""
    match response.json().get("handed_over"):
        case {"order_number": str(order), "by": str(who)}:
            order, who = order[:MAX_MESSAGE_LENGTH], who[:MAX_MESSAGE_LENGTH]
            return store_message("stored_reason.handed_over_by", order=order, who=who)
    return None
