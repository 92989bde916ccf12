"""A restore of the service: what it has lost is found by the keys that it confirmed here, and sent again under them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aisle.client.errors import AnswerError, status_error
from aisle.contract.wire import encode_segment
from aisle.courier.features import Features
from aisle.courier.link import Link
from aisle.courier.notices import Notices
from aisle.courier.pull.single import Pull
from aisle.courier.send.deliver import KEY_RESERVE_S
from aisle.local.outbox.outbox import Outbox
from aisle.local.outbox.restores import NOTICED

KNOWN = 20
"""So many of the keys that were confirmed last are named at each look at what changed."""
AT_ONCE = 200
"""So many keys are asked for in one request."""
AGAIN_S = 60.0
"""So long it is not asked again for all of them, where that came to nothing."""
ASKED = "keys_asked"
"""Says in the cache that the service was asked for all keys since the cache is there."""


class Restores:
    """What of this host's work the service has lost."""

    def __init__(
        self,
        pull: Pull,
        outbox: Outbox,
        link: Link,
        notices: Notices,
        *,
        forget: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """`forget` is told of each operation that is not confirmed any more."""
        self._pull = pull
        self._outbox = outbox
        self._link = link
        self._notices = notices
        self._forget = forget
        self._clock = clock
        self._tried = float("-inf")
        """When it was last asked for all keys."""

    @property
    def _features(self) -> Features:
        return self._link.features or Features()

    @property
    def _kept_since(self) -> float:
        """What was sent since then under a key the service has to know."""
        return self._clock() - self._features.keys_kept_s + KEY_RESERVE_S

    def known(self) -> Sequence[str]:
        """The keys that were confirmed last; none for a service that cannot be asked for them."""
        return self._outbox.newest_keys(self._kept_since, KNOWN) if self._features.known_keys else ()

    async def ask_once(self) -> bool:
        """Whether something is missing, looked for where nobody knows how far the service had come: the cache is new.

        Raises ClientError; then it is asked again.
        """
        now = self._clock()
        if not self._features.known_keys or self._pull.cache.cursor(ASKED) or abs(now - self._tried) < AGAIN_S:
            return False
        self._tried = now
        lost = await self._lost()
        if lost:
            self._say_again(lost)
        self._pull.cache.set_cursor(ASKED, True)
        return bool(lost)

    async def say_again(self) -> None:
        """Sends again what the service has lost. Raises ClientError, and has done nothing."""
        if self._features.known_keys:
            self._say_again(await self._lost())
        else:  # a service of ours from before it could be asked
            self._say(self._outbox.replay_since(self._kept_since, self._kept_since, NOTICED).again)

    def _say_again(self, lost: Sequence[str]) -> None:
        for op_id in lost:
            self._forget(op_id)
        self._say(self._outbox.replay(lost, NOTICED))

    def _say(self, count: int) -> None:
        self._notices.add(f"The service was put back from an earlier copy: {count} operations are sent again.")

    async def _lost(self) -> list[str]:
        """The keys of all that was confirmed and that the service does not know."""
        lost: list[str] = []
        path = f"/aisle/v1/stores/{encode_segment(self._pull.store)}/keys"
        for keys in self._outbox.kept_keys(self._kept_since, AT_ONCE):
            answer = await self._pull.client.extension("GET", path, query={"keys": ",".join(keys)})
            if not answer.is_success:
                raise status_error("list-unknown-keys", answer)
            try:
                unknown = {str(key) for key in answer.json()["unknown"]}
            except (ValueError, TypeError, KeyError) as error:
                raise AnswerError("The answer to list-unknown-keys holds no keys.") from error
            lost += [key for key in keys if key in unknown]
        return lost
