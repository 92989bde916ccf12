"""What an operation needs before it goes: what has to be read for it, and the form in which this service is told it."""

from __future__ import annotations

from typing import Any, Protocol

import apsw

from aisle.client.errors import AnswerError, NotFound, Refused
from aisle.courier.features import Features
from aisle.courier.link import Link
from aisle.courier.notices import Notices
from aisle.courier.send.checking import Checker
from aisle.courier.send.sharing import (
    Fitted,
    fitted,
    is_fitted,
    lines_of,
    object_to,
    object_to_settings,
    spare_line,
    with_all_lines,
)
from aisle.courier.topics import ORDER, touched
from aisle.local.outbox.operation import SETTINGS, UPDATE, Operation
from aisle.local.outbox.probes import OMITTED_LINES, YES, Probes
from aisle.local.outbox.remainder import LEFT


class Orders(Protocol):
    """Whoever reads an order again, into the cache."""

    async def order(self, number: str) -> list[dict[str, Any]]:
        """Its row, if there is one. Raises ClientError."""


class Readying:
    """The last look at an operation; its methods are among the `Ears` of the delivery."""

    def __init__(
        self, orders: Orders, checker: Checker, probes: Probes, link: Link, notices: Notices, cache: apsw.Connection
    ) -> None:
        self._orders = orders
        self._checker = checker
        self._probes = probes
        self._link = link
        self._notices = notices
        self._cache = cache

    async def before(self, op: Operation) -> dict[str, Any] | None:
        """A service that does not say what changed is asked for the order before it is written to.

        One that keeps no keys is also asked for what a doubt would have to be judged by.
        """
        features = self._link.features
        if features is None:
            return None
        orders = None if features.changes else await self._look_before_all(op, features)
        is_again = op.replayed_at is not None and features.known_keys  # the service knows what was said later
        if op.operation == SETTINGS and op.first_sent_at is None and not is_again:
            return await self._look_at_settings(op)
        if features.idempotency:
            return None
        evidence = await self._checker.before(op, orders)
        if "denied" in op.evidence:
            evidence["denied"] = op.evidence["denied"]
        object_to(op, evidence, lines_of(self._cache, op) if op.operation == UPDATE else ())
        return evidence

    def fit(self, op: Operation, features: Features) -> Fitted:
        """The operation as this service has to be told it; the operation itself where nothing has to be fitted."""
        if is_fitted(op, features):
            fit = fitted(op, lines_of(self._cache, op))
        else:
            fit = Fitted(op, tuple(op.evidence.get(LEFT, ())))  # fitted before, and sent again as it was
        known = self._probes.get(OMITTED_LINES)
        if op.operation == UPDATE and not features.idempotency and known != YES:
            lines = lines_of(self._cache, op)
            spared = spare_line(fit.op, lines) if known == "" and self._checker.may_spare(op) else None
            fit = fit._replace(op=with_all_lines(fit.op, lines, spared), spared=spared)
        return fit

    async def _look_at_settings(self, op: Operation) -> dict[str, Any]:
        """What the store says of a product just before it is said anew; nobody is written over unseen."""
        evidence = await self._checker.settings_before(op)
        object_to_settings(op, evidence["before"]["product"])
        return evidence

    async def _look_before_all(self, op: Operation, features: Features) -> list[dict[str, Any]] | None:
        """The order of an update as it stands; None where it could not be read.

        Raises AnswerError where an update would have to be written blindly: another try may read it.
        """
        found = None
        for topic in touched(op):
            if topic.topic == ORDER:
                try:
                    found = await self._orders.order(topic.key)
                    if f"{ORDER}/{topic.key}" in op.lanes:  # what was confirmed of it was so before this was read
                        self._checker.read_back(topic.key, found)
                except (AnswerError, NotFound, Refused) as error:
                    self._notices.add(f"order {topic.key} cannot be read: {error}")
                    if isinstance(error, AnswerError) and op.operation == UPDATE and not features.idempotency:
                        raise
        return found
