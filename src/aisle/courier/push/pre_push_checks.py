"""Checks before a send: what an operation depends on is read, stale ones are refused, updates and undos adapted.

Quantities of an update are rebased; its other lines are repeated unchanged.

An undo waits behind the entry that it names, because both are in the lane of their product. Just before it is sent the
log is read, so that the undo reverses exactly what was booked, and nothing that somebody counted since.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, Protocol

import apsw

from aisle.cache.log_entries_and_undo import Booked, booked_for_undo
from aisle.cache.order_overlay import is_line_complete
from aisle.cache.people_and_claim_queries import announces_features
from aisle.client.paging import Row
from aisle.client.responses_and_errors import InvalidRequest, InvalidResponse, NotFound
from aisle.courier.link_state import OperatorNotices, ServiceLink
from aisle.courier.notify import ORDER, topics_of_operation
from aisle.courier.push.reconciler import Reconciler
from aisle.courier.service_features_and_lists import Features
from aisle.errors import ContractError
from aisle.host.database import fetch
from aisle.operation_body_types import is_undo
from aisle.outbox.merge_and_rebase import BASE, EXCESS, PICKED, RebasedLine, has_base, is_picked, rebase_line
from aisle.outbox.observed_behaviour import KEEPS_OMITTED_LINES, YES, ObservedBehaviour
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import (
    CREATE_LOGS,
    UPDATE_ORDER,
    UPDATE_STORE_PRODUCTS,
    Operation,
    setting_changed_reason,
)
from aisle.row_values import to_decimal
from aisle.store_product_settings import BASE_VALUES, IS_NEAREST, parse_update_values, replaces_later_date
from aisle.stored_messages import LATER_COUNT, StoredMessage, store_message

if TYPE_CHECKING:
    from aisle.operation_body_types import LineExcess, LineUpdate, LogEntry
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


class AdaptedOperation(NamedTuple):
    """Operation as it is to be sent, with the lines that cannot take all of it."""

    op: Operation
    excess_lines: tuple[LineExcess, ...] = ()
    omitted_line: LineUpdate | None = None
    """Untouched line that is left out to see whether the service keeps it, as needed to send it again."""


def needs_adapting(op: Operation, features: Features) -> bool:
    """Return whether the operation has to be rebased here, because the service does not do it."""
    lines = op.body["orders"].get("order_lines") or () if op.operation == UPDATE_ORDER else ()
    return not features.pick_base and any(map(has_base, lines))


def adapt_to_lines(op: Operation, lines: Sequence[Row]) -> AdaptedOperation:
    """Return the update with absolute quantities, added to the current state of the lines; pure."""
    order = op.body["orders"]
    current_lines = {line["line_number"]: dict(line) for line in lines}
    adapted, excess = [], []
    for change in order["order_lines"]:
        line = current_lines.get(change["line_number"])
        fields = {name: value for name, value in change.items() if name != BASE}
        if line is not None and has_base(change):
            of, moved = to_decimal(line.get("quantity")), to_decimal(line.get("moved_quantity"))
            now = rebase_line(change, to_decimal(line.get(PICKED)), of, moved)
            fields |= {PICKED: now.picked, "is_picked": is_picked(change, now, of)}
            excess += [_excess_line(line, change, now)] if now.excess else []
        if line is not None:
            line |= fields
        adapted.append(fields)
    adapted_order = {**order, "order_lines": adapted}
    done = all(map(is_line_complete, current_lines.values()))
    if current_lines and (done or "is_picked" in order):
        adapted_order["is_picked"] = done
    return AdaptedOperation(op._replace(body={**op.body, "orders": adapted_order}), tuple(excess))


def with_all_lines(op: Operation, lines: Sequence[Row], omitted_line: LineUpdate | None = None) -> Operation:
    """Return the update with the order's other lines unchanged, for a service that deletes lines not named; pure.

    `omitted_line` may be left out, to see whether the service keeps it.
    """
    order = op.body["orders"]
    changes = order.get("order_lines") or ()
    named = {change["line_number"] for change in changes} | ({omitted_line["line_number"]} if omitted_line else set())
    others = [_unchanged_line(line) for line in lines if line["line_number"] not in named]
    return op._replace(body={**op.body, "orders": {**order, "order_lines": [*changes, *others]}}) if others else op


def _unchanged_line(line: Row) -> LineUpdate:
    return {
        "line_number": line["line_number"],
        "product_number": str(line.get("product_number") or ""),
        PICKED: to_decimal(line.get(PICKED)),
    }


def line_to_omit(op: Operation, lines: Sequence[Row]) -> LineUpdate | None:
    """Return an untouched line that can be left out to see whether the service deletes it; None if there is none.

    It contains what is needed to restore it. Other lines are named in the update.
    """
    named = {change["line_number"] for change in op.body["orders"].get("order_lines") or ()}
    for line in reversed(lines):
        is_touched = line.get("is_picked") or to_decimal(line.get(PICKED)) or to_decimal(line.get("moved_quantity"))
        if line["line_number"] not in named and len(lines) > 1 and line.get("quantity") and not is_touched:
            return {**_unchanged_line(line), "quantity": to_decimal(line["quantity"])}
    return None


def _excess_line(line: Row, change: Row, now: RebasedLine) -> LineExcess:
    by: LineExcess = {"picked_username": str(line["picked_username"])} if line.get("picked_username") else {}
    return {
        "line_number": change["line_number"],
        "product_number": str(change.get("product_number") or ""),
        "quantity": to_decimal(line.get("quantity")),
        PICKED: now.picked,
        "moved_quantity": to_decimal(line.get("moved_quantity")),
        "left": now.excess,
        **by,
    }


@dataclass(eq=False)
class UndoAsBooked:
    """Adaptation of undos to what the service booked."""

    read_log: Callable[[], Awaitable[None]]
    """Read of the new entries of the service's log into the cache. Raise ClientError."""
    outbox: OperationQueue
    cache: apsw.Connection
    outbox_db: apsw.Connection
    on_refused: Callable[[Operation, StoredMessage], None]
    on_changed: Callable[[], None]
    """Callback if an undo was changed, so that stock on screens changes."""

    async def adapt(self, op: Operation) -> Operation | None:
        """Return the operation with what it has to reverse; None if nothing is left to send.

        Entries that somebody counted since are refused with that reason. Raise ClientError.
        """
        entries: list[LogEntry] = op.body.get("storeproductlog") or [] if op.operation == CREATE_LOGS else []
        if op.sent_body is not None or not any(map(is_undo, entries)):
            return op
        await self.read_log()
        booked = [self._booked(op, entry) for entry in entries]
        counted = [(entry, each) for entry, each in zip(entries, booked, strict=True) if each.later_count is not None]
        remaining = [entry for entry, each in zip(entries, booked, strict=True) if each.later_count is None]
        takes_back_dates = announces_features(self.cache)
        left = [each for each in booked if each.later_count is None]
        adapted = list(_reversals(remaining, left, takes_back_dates=takes_back_dates))
        if adapted == entries:
            return op
        later_count = counted[-1][1].later_count if counted else None
        reason = store_message(LATER_COUNT, counted=later_count or Decimal(0))
        remaining_op = self.outbox.keep_entries(op.op_id, adapted, [entry for entry, _ in counted], reason)
        if counted:
            self.on_refused(op, reason)
        self.on_changed()
        return remaining_op

    def _booked(self, op: Operation, entry: LogEntry) -> Booked:
        if not is_undo(entry):
            return Booked(None)
        return booked_for_undo(self.cache, self.outbox_db, entry, op.app_user)


def _reversals(entries: list[LogEntry], booked: list[Booked], *, takes_back_dates: bool) -> Iterator[LogEntry]:
    """Yield the entries that reverse what was booked; one that the log does not have stays as it is.

    `takes_back_dates`: the service takes back the date of an undone count, even of one that changed no stock.
    """
    for entry, each in zip(entries, booked, strict=True):
        field = next((name for name in entry if name.startswith("stock_pool_")), "quantity")
        is_known = each.change is not None
        reversal: LogEntry = {**entry, field: -(each.change or 0)} if is_known else entry  # type: ignore[misc]  # a field of the entry
        if to_decimal(reversal.get(field)) or (takes_back_dates and (each.is_count or not is_known)):
            yield reversal
