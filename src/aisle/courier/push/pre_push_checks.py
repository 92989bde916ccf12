"""Checks before a send: what an operation depends on is read, and stale operations are refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

import apsw

from aisle.client.errors import InvalidRequest, InvalidResponse, NotFound
from aisle.client.paging import Row
from aisle.courier.link_state import ServiceLink
from aisle.courier.operator_notices import OperatorNotices
from aisle.courier.push.adapt_update_to_service import (
    AdaptedOperation,
    adapt_to_lines,
    line_to_omit,
    needs_adapting,
    with_all_lines,
)
from aisle.courier.push.reconciler import Reconciler
from aisle.courier.service_features import Features
from aisle.courier.topics import ORDER, topics_of_operation
from aisle.errors import ContractError
from aisle.host.database import fetch
from aisle.outbox.excess import EXCESS
from aisle.outbox.observed_behaviour import KEEPS_OMITTED_LINES, YES, ObservedBehaviour
from aisle.outbox.operation_record import UPDATE_ORDER, UPDATE_STORE_PRODUCTS, Operation
from aisle.outbox.stored_reasons import setting_changed_reason
from aisle.store_product_settings import BASE_VALUES, IS_NEAREST, parse_update_values, replaces_later_date
from aisle.stored_messages import StoredMessage, store_message

if TYPE_CHECKING:
    from aisle.outbox.operation_record import Evidence, ServiceState


class StaleOperation(ContractError):
    """Update that must not be sent, because somebody else changed the order. `evidence` is what was read."""

    def __init__(self, reason: StoredMessage, evidence: Evidence) -> None:
        super().__init__(reason)
        self.reason = reason
        self.evidence = evidence


def check_order_unchanged(op: Operation, evidence: Evidence, lines: Sequence[Row]) -> None:
    """Raise StaleOperation if a service without checks would reopen or end a closed order, or change another line.

    `evidence` was read before the send; `lines` are the order's lines at that time.
    """
    order = op.body["orders"] if op.operation == UPDATE_ORDER else {}
    is_end = order.get("is_active") is False
    if is_end and (op.first_sent_at is not None or op.replayed_at is not None):
        return  # it may have ended the order itself
    if not is_end and not order.get("order_lines"):
        return
    now: ServiceState = evidence.get("before") or {}
    seen: Evidence = {"after": now}
    number, head = order["order_number"], now["order"]["head"] if now.get("order") else {}
    if is_end and head.get("is_active") is not False:
        return
    if head.get("is_rejected"):
        raise StaleOperation(store_message("stored_reason.order_rejected", order=number), seen)
    if head.get("is_active") is False:
        raise StaleOperation(store_message("stored_reason.order_finished", order=number), seen)
    products = {line["line_number"]: str(line.get("product_number") or "") for line in lines}
    for line in order["order_lines"]:
        product, sent_product = products.get(line["line_number"], ""), str(line.get("product_number") or "")
        if product and sent_product and product != sent_product:
            at = {"line": line["line_number"], "order": number}
            raise StaleOperation(
                store_message("stored_reason.line_changed", now=product, ours=sent_product, **at), seen
            )


def check_settings_unchanged(op: Operation, current: dict[str, dict[str, str]], *, keeps_dates: bool) -> None:
    """Raise StaleOperation if somebody else changed a store's setting of a product since it was read here.

    `current` is the stock list just before the send. Of two expiry dates the nearer one wins; a service that
    `keeps_dates` decides that itself.
    """
    for item in op.body:
        number, base, ours = str(item.get("product_number")), item.get(BASE_VALUES) or {}, parse_update_values(item)
        now = current.get(number, {})
        if replaces_later_date(item, now) or (keeps_dates and IS_NEAREST in item):
            continue
        for name, seen in base.items():
            if name in now and now[name] not in (seen, ours.get(name)):
                why = setting_changed_reason(name, number, now[name], seen)
                raise StaleOperation(why, {"before": {"product": {number: base}}, "after": {"product": current}})


def cached_lines(cache: apsw.Connection, op: Operation) -> list[Row]:
    """Return the lines of the operation's order as the service showed them last."""
    number = str(op.body["orders"]["order_number"])
    rows = fetch(cache, "SELECT line_number, raw FROM line WHERE order_number = ? ORDER BY line_number", number)
    return [{**json.loads(raw, parse_float=Decimal), "line_number": line} for line, raw in rows]


class OrderReader(Protocol):
    """Reader of orders into the cache."""

    async def read_order(self, number: str) -> list[Row]:
        """Return the order's row, if there is one. Raise ClientError."""


@dataclass(eq=False)
class PrePushChecks:
    """Last checks of an operation; `PushCallbacks` refers to its methods."""

    orders: OrderReader
    reconciler: Reconciler
    observations: ObservedBehaviour
    link: ServiceLink
    operator_notices: OperatorNotices
    cache: apsw.Connection

    async def evidence_before(self, op: Operation) -> Evidence | None:
        """Read what is needed before a send; None for nothing.

        A service without a change feed is asked for the order before it is written to. One without keys is also asked
        for the evidence that a later doubt would need.
        """
        features = self.link.features
        if features is None:
            return None
        orders = None if features.changes else await self._read_order(op, features)
        is_again = op.replayed_at is not None and features.known_keys  # the service knows what was sent later
        if op.operation == UPDATE_STORE_PRODUCTS and op.first_sent_at is None and not is_again:
            return await self._check_settings(op, keeps_dates=features.expiry_dates)
        if features.idempotency:
            return None
        evidence = await self.reconciler.evidence_before(op, orders)
        if "reads_without_effect" in op.evidence:
            evidence["reads_without_effect"] = op.evidence["reads_without_effect"]
        check_order_unchanged(op, evidence, cached_lines(self.cache, op) if op.operation == UPDATE_ORDER else ())
        return evidence

    def adapt(self, op: Operation, features: Features) -> AdaptedOperation:
        """Return the operation adapted to this service; the operation itself if nothing has to change."""
        if needs_adapting(op, features):
            fit = adapt_to_lines(op, cached_lines(self.cache, op))
        else:
            fit = AdaptedOperation(op, tuple(op.evidence.get(EXCESS, ())))  # adapted before, and resent unchanged
        observed = self.observations.get(KEEPS_OMITTED_LINES)
        if op.operation == UPDATE_ORDER and not features.idempotency and observed != YES:
            lines = cached_lines(self.cache, op)
            omitted = line_to_omit(fit.op, lines) if observed == "" and self.reconciler.may_omit_line(op) else None
            fit = fit._replace(op=with_all_lines(fit.op, lines, omitted), omitted_line=omitted)
        return fit

    async def _check_settings(self, op: Operation, *, keeps_dates: bool) -> Evidence:
        """Read a product's settings just before they are written, so that nobody's change is overwritten."""
        evidence = await self.reconciler.settings_before(op)
        check_settings_unchanged(op, evidence["before"]["product"], keeps_dates=keeps_dates)
        return evidence

    async def _read_order(self, op: Operation, features: Features) -> list[Row] | None:
        """Read the order of an update; None if it could not be read.

        Raise InvalidResponse if the update would have to be written blindly: another try may read it.
        """
        found = None
        for topic in topics_of_operation(op):
            if topic.name == ORDER:
                try:
                    found = await self.orders.read_order(topic.key)
                    if f"{ORDER}/{topic.key}" in op.lanes:  # what was confirmed of it came before this read
                        self.reconciler.check_read_back(topic.key, found)
                except (InvalidResponse, NotFound, InvalidRequest) as error:
                    self.operator_notices.add(f"order {topic.key} cannot be read: {error}")
                    if isinstance(error, InvalidResponse) and op.operation == UPDATE_ORDER and not features.idempotency:
                        raise
        return found
