"""Whether the service can be reached, and since when it cannot: what every screen shows, and what the loops go by."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from aisle.client.answer import Answer
from aisle.client.errors import ClientError, RateLimited, ServerError, StatusError, TransportError, Unauthorized
from aisle.courier.ahead import Compared
from aisle.courier.backoff import Roll, backoff
from aisle.courier.features import Features, read_features
from aisle.courier.telling import told_of
from aisle.errors import SettingsError
from aisle.local.told import NOTHING, Told
from aisle.tuples import NamedTuple

LIVE = "live"
SYNCING = "syncing"
PARTIAL = "partial"
"""All is read, except lists that do not come."""
OFFLINE = "offline"
REFUSED = "refused"
"""The service answers, and does not let us in."""

BEAT_S = 10.0
"""Seconds between two signs of life, where nothing else changes."""
PROBE_FIRST_S, PROBE_LONGEST_S = 1.0, 15.0
LONGEST_S = 3600.0
"""For no longer is a service left alone, whatever patience it asks for: nobody could tell its words from rubbish."""


TROUBLE = (ClientError, SettingsError)
"""What a call can end in; the second when the token's file cannot be read."""


class Status(NamedTuple):
    """The link as sessions read it. Times are seconds since 1970; `last_ok` is 0 when there never was an answer."""

    state: str
    why: str
    last_ok: float
    beat: float


class Link:
    """Follows every answer and every failure. `save` writes the status; `up` is called when writes may go again."""

    def __init__(
        self, save: Callable[[Status], None], up: Callable[[], None], *, clock: Callable[[], float], roll: Roll
    ) -> None:
        self.features: Features | None = None
        """What the service announces; None until it has answered."""
        self.last_ok = 0.0
        self.announced = -inf
        """When it was announced last, in seconds since 1970."""
        self._save = save
        self._up = up
        self._clock = clock
        self._compared = Compared(clock)
        self._roll = roll
        self._state = OFFLINE
        self._why = NOTHING
        self._syncing = False
        self._missing: tuple[str, ...] = ()
        self._held_until = 0.0
        self._failures = 0
        self._written: Status | None = None

    @property
    def state(self) -> str:
        """One of the five words."""
        if self._state == LIVE and self._syncing:
            return SYNCING
        return PARTIAL if self._state == LIVE and self._missing else self._state

    @property
    def why(self) -> str:
        """What is the matter; of a part, the lists that do not come."""
        return ", ".join(self._missing) if self.state == PARTIAL else self._why

    @property
    def cause(self) -> Told:
        """Why the link or the token is lost, or was."""
        return self._why

    @property
    def is_up(self) -> bool:
        """True while the last answer was one."""
        return self._state == LIVE

    @property
    def may_send(self) -> bool:
        """True while writes can be sent: the last answer was one, and the service has not asked for patience."""
        return self._state == LIVE and self.features is not None and self._clock() >= self._held_until

    @property
    def ahead_s(self) -> float:
        """Seconds that this host's clock is ahead of the service's; 0 where it is right, or nobody knows."""
        return self._compared.ahead_s

    @property
    def held_s(self) -> float:
        """Seconds of patience that the service asked for and that are not over."""
        return max(0.0, self._held_until - self._clock())

    def heard(self, answer: Answer) -> None:
        """Any answer at all; the client shows each of them."""
        found, genuine = read_features(answer.headers), _is_from_the_service(answer)
        if found is not None:
            self.features, self.announced = found, self._clock()
        elif genuine and (self.features is None or _is_a_list(answer)):
            self.features = Features()  # what was announced is not taken back by an answer that says nothing
        if answer.status == 401:
            self.refused(told_of(answer))
        elif genuine:
            self.last_ok = self._clock()
            self._compared.hear(answer.headers)
            self._failures = 0
            self._turn(LIVE, NOTHING)

    def failed(self, error: Exception) -> None:
        """A call ended in this error."""
        if isinstance(error, TransportError | ServerError):
            self._failures += 1
            self._turn(OFFLINE, told_of(error))
        elif isinstance(error, Unauthorized):
            self.refused(told_of(error))
        elif isinstance(error, RateLimited):
            self.hold(error.retry_after)
        elif isinstance(error, SettingsError):
            self.refused(told_of(error))

    def probe_failed(self, error: Exception) -> None:
        """Asking whether the service is there ended in this error: nothing else can be asked for either."""
        if isinstance(error, StatusError) and not isinstance(error, ServerError | RateLimited):
            self.refused(told_of(error))
        else:
            self.failed(error)

    def refused(self, why: Told) -> None:
        """The token does not open the door."""
        self._failures += 1
        self._turn(REFUSED, why)

    def hold(self, seconds: float | None) -> None:
        """The service asked for patience."""
        self._failures += 1
        wait = self.probe_wait() if seconds is None else min(seconds, LONGEST_S)
        self._held_until = max(self._held_until, self._clock() + wait)

    def probe_wait(self) -> float:
        """Seconds until the service is asked again whether it is there."""
        return backoff(self._failures, self._roll(), PROBE_FIRST_S, PROBE_LONGEST_S)

    def syncing(self, on: bool, missing: tuple[str, ...] = ()) -> None:
        """A full sync begins or ends; without the lists that could not be read."""
        self._syncing, self._missing = on, missing
        self.beat()

    def beat(self, *, now: bool = False) -> None:
        """Writes the status when it has changed, when the last sign of life is old, or now."""
        before, moment = self._written, self._clock()
        changed = before is None or (before.state, before.why) != (self.state, self.why)
        if before is None or changed or now or moment - before.beat >= BEAT_S:
            self._written = Status(self.state, self.why, self.last_ok, moment)
            self._save(self._written)

    def _turn(self, state: str, why: Told) -> None:
        rises = state == LIVE and self._state != LIVE
        self._state, self._why = state, why
        self.beat()
        if rises:
            self._up()


def _is_a_list(answer: Answer) -> bool:
    try:
        body = answer.json()
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and isinstance(body.get("list", body.get("records")), list)


def _is_from_the_service(answer: Answer) -> bool:
    """A gateway's error page or a hotel's welcome page announces nothing, and means nothing by it."""
    return answer.status == 204 or (answer.is_success and answer.content.lstrip()[:1] in (b"{", b"["))
