"""Whether the service can be reached, and since when it cannot: what every screen shows, and what the loops go by."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from aisle.client.errors import ClientError, RateLimited, ServerError, StatusError, TransportError, Unauthorized
from aisle.client.response import Response
from aisle.courier.clock import ClockSkew
from aisle.courier.response_outcome import reason_of
from aisle.courier.schedule import RandomSource, backoff_s
from aisle.courier.service_features import Features, features_of_headers
from aisle.errors import SettingsError
from aisle.outbox.outcome_reasons import NO_MESSAGE, StoredMessage

LIVE = "live"
SYNCING = "syncing"
PARTIAL = "partial"
"""All is read, except lists that do not come."""
OFFLINE = "offline"
REFUSED = "refused"
"""The service answers, and does not let us in."""

HEARTBEAT_S = 10.0
"""Seconds between two signs of life, where nothing else changes."""
MIN_CHECK_S, MAX_CHECK_S = 1.0, 15.0
MAX_PAUSE_S = 3600.0
"""For no longer is a service left alone, whatever patience it asks for: nobody could tell its words from rubbish."""


REQUEST_ERRORS = (ClientError, SettingsError)
"""What a call can end in; the second when the token's file cannot be read."""


class LinkStatus(NamedTuple):
    """The link as sessions read it. Times are seconds since 1970; `last_ok` is 0 when there never was an answer."""

    state: str
    reason: str
    last_ok: float
    heartbeat: float


class LinkState:
    """Follows every answer and every failure. `save` writes the status; `up` is called when writes may go again."""

    def __init__(
        self,
        save_status: Callable[[LinkStatus], None],
        on_up: Callable[[], None],
        *,
        clock: Callable[[], float],
        random_source: RandomSource,
    ) -> None:
        self.features: Features | None = None
        """What the service announces; None until it has answered."""
        self.last_ok = 0.0
        self.announced_at = -inf
        """When it was announced last, in seconds since 1970."""
        self._save_status = save_status
        self._on_up = on_up
        self._clock = clock
        self._clock_skew = ClockSkew(clock)
        self._random_source = random_source
        self._state = OFFLINE
        self._reason = NO_MESSAGE
        self._syncing = False
        self._missing: tuple[str, ...] = ()
        self._paused_until = 0.0
        self._failures = 0
        self._last_status: LinkStatus | None = None

    @property
    def state(self) -> str:
        """One of the five words."""
        if self._state == LIVE and self._syncing:
            return SYNCING
        return PARTIAL if self._state == LIVE and self._missing else self._state

    @property
    def reason(self) -> str:
        """What is the matter; of a part, the lists that do not come."""
        return ", ".join(self._missing) if self.state == PARTIAL else self._reason

    @property
    def cause(self) -> StoredMessage:
        """Why the link or the token is lost, or was."""
        return self._reason

    @property
    def is_up(self) -> bool:
        """True while the last answer was one."""
        return self._state == LIVE

    @property
    def can_write(self) -> bool:
        """True while writes can be sent: the last answer was one, and the service has not asked for patience."""
        return self._state == LIVE and self.features is not None and self._clock() >= self._paused_until

    @property
    def skew_s(self) -> float:
        """Seconds that this host's clock is ahead of the service's; 0 where it is right, or nobody knows."""
        return self._clock_skew.skew_s

    @property
    def pause_s(self) -> float:
        """Seconds of patience that the service asked for and that are not over."""
        return max(0.0, self._paused_until - self._clock())

    def record_response(self, response: Response) -> None:
        """Any answer at all; the client shows each of them."""
        found, genuine = features_of_headers(response.headers), _is_from_service(response)
        if found is not None:
            self.features, self.announced_at = found, self._clock()
        elif genuine and (self.features is None or _is_list_response(response)):
            self.features = Features()  # what was announced is not taken back by an answer that says nothing
        if response.status == 401:
            self.record_refusal(reason_of(response))
        elif genuine:
            self.last_ok = self._clock()
            self._clock_skew.record_response(response.headers)
            self._failures = 0
            self._set_state(LIVE, NO_MESSAGE)

    def record_error(self, error: Exception) -> None:
        """A call ended in this error."""
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
        """Asking whether the service is there ended in this error: nothing else can be asked for either."""
        if isinstance(error, StatusError) and not isinstance(error, ServerError | RateLimited):
            self.record_refusal(reason_of(error))
        else:
            self.record_error(error)

    def record_refusal(self, reason: StoredMessage) -> None:
        """The token does not open the door."""
        self._failures += 1
        self._set_state(REFUSED, reason)

    def pause(self, seconds: float | None) -> None:
        """The service asked for patience."""
        self._failures += 1
        wait = self.check_wait_s() if seconds is None else min(seconds, MAX_PAUSE_S)
        self._paused_until = max(self._paused_until, self._clock() + wait)

    def check_wait_s(self) -> float:
        """Seconds until the service is asked again whether it is there."""
        return backoff_s(self._failures, self._random_source(), MIN_CHECK_S, MAX_CHECK_S)

    def set_syncing(self, on: bool, missing: tuple[str, ...] = ()) -> None:
        """A full sync begins or ends; without the lists that could not be read."""
        self._syncing, self._missing = on, missing
        self.write_status()

    def write_status(self, *, force: bool = False) -> None:
        """Writes the status when it has changed, when the last sign of life is old, or now."""
        before, moment = self._last_status, self._clock()
        changed = before is None or (before.state, before.reason) != (self.state, self.reason)
        if before is None or changed or force or moment - before.heartbeat >= HEARTBEAT_S:
            self._last_status = LinkStatus(self.state, self.reason, self.last_ok, moment)
            self._save_status(self._last_status)

    def _set_state(self, state: str, reason: StoredMessage) -> None:
        rises = state == LIVE and self._state != LIVE
        self._state, self._reason = state, reason
        self.write_status()
        if rises:
            self._on_up()


def _is_list_response(response: Response) -> bool:
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and isinstance(body.get("list", body.get("records")), list)


def _is_from_service(response: Response) -> bool:
    """A gateway's error page or a hotel's welcome page announces nothing, and means nothing by it."""
    return response.status == 204 or (response.is_success and response.content.lstrip()[:1] in (b"{", b"["))
