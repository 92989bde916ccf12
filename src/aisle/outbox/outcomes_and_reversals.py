"""Outcomes of sent operations, recorded, and reversals of what the service refused, which are withdrawn.

`courier/push/decide_after_send` decides the outcome; this module stores it. Operations that reverse a refused
operation, or a log entry that was never sent, are withdrawn.

The refused operation changed nothing, so its reversal must change nothing either. Counts and losses need
no reversal: their undo names its entry (`aisle.courier.push.pre_push_checks`), which is found here while it is unsent.

Goods that are put back reverse the last pick of their line at the same location and pool, or else its last one. A pick
reverses goods put back only at the same location and pool: elsewhere it changes the stock of another location.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from aisle.host.database import transaction
from aisle.jobs.job import Json, Write
from aisle.jobs.store_time import to_utc_text
from aisle.named_tuple_json import to_text
from aisle.operation_body_types import UNDO_PREFIX, is_undo
from aisle.outbox.merge_and_rebase import (
    BASE,
    CARRIED_OVER_S,
    EXCESS,
    PICKED,
    added_excess,
    excess_query,
    has_base,
    is_excess,
    is_kept_in_location,
    lines_of_operation,
    merge_answers,
    parse_carried_lines,
    picked_change,
    reduce_excess,
    write_of_line,
)
from aisle.outbox.operation_record import (
    CLOSE,
    CONFIRM,
    CREATE_LOGS,
    CREATE_MOVEMENT,
    QUEUED,
    REFUSE,
    RETRY,
    UPDATE_ORDER,
    Operation,
    author_of_operation,
    intent_of_operation,
    new_id,
    superseded_reason,
)
from aisle.outbox.operation_table import UNFINISHED_STATES, OperationRows, encode_evidence
from aisle.outbox.replay_after_restore import parse_superseded_lines, superseded_line
from aisle.row_values import to_decimal
from aisle.stored_messages import NO_MESSAGE, StoredMessage, read_message, store_message

if TYPE_CHECKING:
    from aisle.operation_body_types import LineExcess, LineUpdate, LogEntry, MovementEnd, MovementEntry

    Changes = dict[Hashable, Decimal]
    """Quantity by what it changes; that of its reversal has the other sign."""
    Sources = Mapping[Hashable, "Source"]
    """Source by what is changed."""


_LATER_OF_JOB = """
SELECT * FROM operation WHERE n > ? AND job_id = ? AND state NOT IN ('rejected', 'closed') ORDER BY n
"""

_REFUSED_OF_JOB = """
SELECT * FROM operation WHERE live = 1 AND state = 'rejected' AND job_id = ? ORDER BY n DESC
"""
"""Refused operations of a job, the youngest first."""


_UNCONFIRMED_OF_JOB = f"""
SELECT DISTINCT o.* FROM json_each(?) e JOIN operation_lane l ON l.lane = e.value JOIN operation o ON o.n = l.n
WHERE o.job_id = ? AND o.state IN ({UNFINISHED_STATES}, 'rejected') ORDER BY o.n DESC
"""  # noqa: S608 - states of our own
"""Operations of a job in these lanes, the youngest first."""

_DEPENDENT = "SELECT * FROM operation WHERE depends_on = ? AND depends_on <> '' AND state = 'queued' ORDER BY n"


_UNSENT_LOGS = """
SELECT o.* FROM operation_lane l JOIN operation o ON o.n = l.n
WHERE l.lane = ? AND o.operation = ? AND o.state = 'queued' AND o.attempts = 0 AND o.n < ? ORDER BY o.n DESC
"""


class WithdrawnReversals(OperationRows):
    """Queue from which reversals of refused operations are withdrawn."""

    def _withdraw_reversals(self, op: Operation, changes: Changes, write: Write | None = None) -> tuple[Changes, Json]:
        """Withdraw what the same job has queued to reverse refused changes of an operation.

        Return the changes that nothing reversed, and the body that is left of a new `write` of that job.
        """
        later = self._select(_LATER_OF_JOB, op.n, op.job_id) if op.job_id and changes else []
        bodies, left = without_reversals(changes, sources_of(op), [*later, *([write] if write else [])])
        for each, body in zip(later, bodies, strict=False):
            if body == each.body:
                continue
            if body is None:
                self._withdraw(each.op_id)
            else:
                self._db.execute("UPDATE operation SET body = ? WHERE op_id = ?", (to_text(body), each.op_id))
        return left, bodies[-1] if write else None

    def _withdraw(self, op_id: str) -> None:
        """Close an operation that only reverses what the service refused."""
        self._apply_event(op_id, REFUSE, why=store_message("stored_reason.undoes_refused"))
        self._apply_event(op_id, CLOSE)

    def _keep_what_is_left(self, op: Operation, changes: Changes, left: Changes) -> None:
        """Store what is left of a refused operation; close it if nothing is."""
        if left == changes:
            return
        if left and is_excess(op):
            reduce_excess(self._db, op, *left.values())
            return
        body = body_left(op, left)
        evidence = encode_evidence({**self.get(op.op_id).evidence, UNREVERSED: body})
        self._db.execute("UPDATE operation SET evidence = ? WHERE op_id = ?", (evidence, op.op_id))
        if body is None:
            self._apply_event(op.op_id, CLOSE)

    def _without_refused(self, write: Write, job_id: str) -> Write | None:
        """Return a new write without what reverses refused operations of its job; None if nothing is left of it.

        The person does not know of these refusals yet. Who knows of excess of a pick puts that back first.
        """
        for refused in map(as_left, self._select(_REFUSED_OF_JOB, job_id) if job_id else ()):
            changes = changes_of(refused)
            is_known = refused.op_id in write.told or is_kept_in_location(refused)
            if is_known or changes.keys().isdisjoint(changes_of(write)):
                continue
            left, body = self._withdraw_reversals(refused, changes, write)
            self._keep_what_is_left(refused, changes, left)
            if body is None:
                return None
            write = write._replace(body=body)
        return write

    def _find_undo_before(self, write: Write, job_id: str) -> str:
        """Return the op_id of the unconfirmed undo whose goods a new write of its job books again; empty for none.

        A refused undo that the person knows of does not count. The undo of such a booking depends on it in turn.
        """
        goods = undone_goods(write) if job_id else {}
        lanes = to_text([lane for lane in write.lanes if lane.startswith("product/")])
        earlier = self._select(_UNCONFIRMED_OF_JOB, lanes, job_id) if goods else []
        for op in earlier:
            left = undone_goods(op)
            for each in earlier:
                if each.depends_on == op.op_id:
                    left = {key: left[key] + undone_goods(each).get(key, 0) for key in left}
            booked_again = (key for key, quantity in goods.items() if quantity * left.get(key, 0) < 0)
            if op.op_id not in write.told and any(op.depends_on or left[key] > 0 for key in booked_again):
                return op.op_id
        return ""

    def _refuse_dependent(self, op_id: str, reason: str) -> None:
        """Refuse the operations that depend on a refused one, and so on; none of them was sent."""
        why = store_message("stored_reason.follows_refused_undo", why=read_message(reason))
        for each in self._select(_DEPENDENT, op_id):
            self._apply_event(each.op_id, REFUSE, why=why)
            self._refuse_dependent(each.op_id, reason)

    def _withdraw_unsent_entries(self, op_id: str) -> None:
        """Take log entries that were never sent out of their operations, and their undos out of this new one."""
        undo = self.get(op_id)
        entries: list[LogEntry] = undo.body["storeproductlog"] if undo.operation == CREATE_LOGS else []
        for entry in entries:
            unsent = self._select(_UNSENT_LOGS, f"product/{entry['product_number']}", CREATE_LOGS, undo.n)
            for op in unsent:
                at = find_undone_entry(op, entry, undo)
                if at >= 0 and self._take_out(op, at, undo.op_id):
                    undo = self.get(op_id)
                    self._take_out(undo, undo.body["storeproductlog"].index(entry), op.op_id)
                    break

    def _take_out(self, op: Operation, at: int, counterpart: str) -> bool:
        """Take a log entry out of an operation; close it if none is left. Return False if its bytes are frozen."""
        entries = op.body["storeproductlog"]
        if len(entries) == 1:
            self._apply_event(op.op_id, CLOSE, superseded_by=counterpart)
        elif op.sent_body is None:
            body = {**op.body, "storeproductlog": [*entries[:at], *entries[at + 1 :]]}
            self._db.execute("UPDATE operation SET body = ? WHERE op_id = ?", (to_text(body), op.op_id))
        return len(entries) == 1 or op.sent_body is None

    def _withdraw_excess(self, op: Operation, lines: Sequence[LineExcess]) -> list[LineExcess]:
        """Return the excess without what its picker has taken back before it was known."""
        kept: list[LineExcess] = []
        for line in lines:
            key = line_key(op.body["orders"]["order_number"], int(line["line_number"]))
            left = self._withdraw_reversals(op, {key: to_decimal(line["left"])})[0].get(key)
            if left:
                kept.append({**line, "left": left})
        return kept


_QUEUED_IN_LANE = """
SELECT o.* FROM operation_lane l JOIN operation o ON o.n = l.n
WHERE l.lane = ? AND o.state = 'queued' AND o.sent_body IS NULL
"""


class OperationOutcomes(WithdrawnReversals):
    """Recorder of what becomes of operations that leave the queue."""

    def confirm(self, op_id: str, answer: str = "", evidence: Json = None, excess: Sequence[LineExcess] = ()) -> None:
        """Record that the service has it. The operation stays overlaid until it is read back.

        Quantities that no line could take (`excess`, or found before sending) are stored for a person.
        """
        superseded, carried = parse_superseded_lines(answer), parse_carried_lines(answer)
        with transaction(self._db):
            before = self.get(op_id)
            is_repeated, known_answer = before.confirmed_at is not None, before.answer
            kept_answer = merge_answers(known_answer, answer) if is_repeated else answer
            self._apply_event(op_id, CONFIRM, answer=kept_answer, why=NO_MESSAGE, evidence=encode_evidence(evidence))
            op = self.get(op_id)
            lines = excess or op.evidence.get(EXCESS, ())
            if is_repeated:  # the excess reported the first time is settled
                lines = added_excess(known_answer, excess)
            self._keep_excess(op, self._withdraw_excess(op, lines_of_operation(op, lines)))
            for line in lines_of_operation(op, superseded):
                write = write_of_line(op, superseded_line(op, line))
                self._insert_refused(op, write, superseded_reason(line["line_number"]))
            if carried:
                self._query_excess_later(op, carried)

    def _query_excess_later(self, op: Operation, lines: frozenset[int]) -> None:
        """Queue a later query for these lines, which hold excess for other hosts, unless one is queued already."""
        write = excess_query(op, lines)
        if write is None:
            return
        waiting = self._select(_QUEUED_IN_LANE, write.lanes[0])
        if any(each.body == write.body for each in waiting):
            return
        op_id = new_id(self._random)
        self._insert(op_id, intent_of_operation(op, write), author_of_operation(op), self._clock())
        self._db.execute("UPDATE operation SET not_before = ? WHERE op_id = ?", (self._clock() + CARRIED_OVER_S, op_id))

    def refuse(self, op_id: str, reason: StoredMessage, evidence: Json = None) -> None:
        """Record the refusal with a reason for people; the operation leaves the overlay.

        `evidence`: the read that shows why it was not sent. An answer from before a restore is deleted, because a
        refused operation with an answer is excess. What waits unsent and reverses it is withdrawn.
        """
        with transaction(self._db):
            op = self.get(op_id)
            changes = changes_of(op)
            left, _ = self._withdraw_reversals(op, changes)
            if left != changes:
                reason = store_message("stored_reason.undone_before_refusal", why=read_message(reason))
            self._apply_event(op_id, REFUSE, why=reason, evidence=encode_evidence(evidence), answer="")
            self._keep_what_is_left(op, changes, left)
            self._refuse_dependent(op_id, reason)

    def retry_later(self, op_id: str, reason: StoredMessage, not_before: float, *, was_not_sent: bool = False) -> None:
        """Return it to queued, to be sent again with the same bytes, not before that time.

        With `was_not_sent` the attempt does not count.
        """
        self._transition(op_id, RETRY, why=reason, not_before=not_before, sent=-int(was_not_sent))

    def postpone(self, op_id: str, reason: StoredMessage, not_before: float) -> None:
        """Delay a queued operation until that time, because something needed before sending is unknown."""
        with transaction(self._db):
            self._db.execute(
                "UPDATE operation SET not_before = ?, last_error = ? WHERE op_id = ? AND state = 'queued'",
                (not_before, reason, op_id),
            )

    def mark_read_back(self, *op_ids: str) -> None:
        """Remove confirmed operations from the overlay in one commit: they are cached now, or appear nowhere in it."""
        with transaction(self._db):
            for op_id in op_ids:
                self._db.execute(
                    "UPDATE operation SET read_back_at = ?, live = 0 WHERE op_id = ? AND state = 'done' AND live = 1",
                    (self._clock(), op_id),
                )
                if self._db.changes():
                    self._remove_from_lanes(op_id)


_FIELDS_OF_PICK: Final = {
    "line_number", "product_number", BASE, PICKED, "is_picked", "preferred_location_code", "stock_pool",
}  # fmt: skip
_FIELDS_OF_HEADER: Final = {"order_number", "order_lines", "is_picked"}
_RECEIPT: Final = "is_from_receipt"

UNREVERSED: Final = "unreversed"
"""Name in the evidence of a refused operation for its body without what was undone."""


def line_key(order: str, line: int) -> Hashable:
    """Return the key of the picked quantity of an order line."""
    return order, line


class Source(NamedTuple):
    """Source of picked goods."""

    location: str = ""
    """In lower case; empty if not named, or part of the key."""
    pool: int = 0
    """0 if not named."""

    def is_other(self, other: Source) -> bool:
        """Return whether both name a location, or both a pool, and not the same."""
        return any(mine and its and mine != its for mine, its in zip(self, other, strict=True))


def sources_of(op: Operation | Write) -> Sources:
    """Return the source of each change of an operation, as far as it names one."""
    return {key: source for key, _, part in _parts(op) if (source := _source_of(part)) != Source()}


def _source_of(part: Json) -> Source:
    """Return where an order line was picked; other parts have no such fields."""
    return Source(str(part.get("preferred_location_code") or "").casefold(), int(to_decimal(part.get("stock_pool"))))


def changes_of(op: Operation | Write) -> Changes:
    """Return the quantities that an operation moves, picks or receives."""
    changes: Changes = {}
    for key, quantity, _ in _parts(op):
        changes[key] = changes.get(key, Decimal(0)) + quantity
    return {key: quantity for key, quantity in changes.items() if quantity}


def without_reversals(
    refused: Changes, sources: Sources, later: Sequence[Operation | Write]
) -> tuple[list[Json], Changes]:
    """Return the bodies of later operations without what reverses refused changes, and what of these is left.

    A reversal undoes the latest change first. A body is None if nothing is left of it. Sent operations keep theirs.
    `sources`: those of the refused changes.
    """
    stacks = {
        key: [_Change(quantity, sources.get(key, Source()), is_refused=True)] for key, quantity in refused.items()
    }
    left = dict(refused)
    bodies = [_without_reversal(op, stacks, left) for op in later]
    return bodies, {key: quantity for key, quantity in left.items() if quantity}


def body_left(op: Operation, left: Changes) -> Json:
    """Return the body of a refused operation with the changes that are left; None if nothing is left of it."""
    rest = dict(left)
    reversed_keys = {key for key, quantity in changes_of(op).items() if left.get(key) != quantity}
    kept: list[tuple[Json, Decimal | None]] = []
    for key, quantity, part in _parts(op):
        if key not in reversed_keys:
            kept.append((part, None))
            continue
        available = rest.get(key, Decimal(0))
        change = min(abs(quantity), abs(available)).copy_sign(quantity) if quantity * available > 0 else Decimal(0)
        rest[key] = available - change
        kept.append((_line_left(part, change), None) if op.operation == UPDATE_ORDER else (part, change))
    return _body_of(op, kept)


def find_undone_entry(op: Operation, undo: LogEntry, undoing: Operation) -> int:
    """Return the index of the log entry that `undo`, of the operation `undoing`, names by its time; -1 for none."""
    moment = str(undo.get("reference") or "").removeprefix(UNDO_PREFIX)
    if not is_undo(undo) or "T" not in moment or op.store != undoing.store:
        return -1
    wanted = _identity_of(undo, undoing), to_utc_text(moment)
    entries = [
        (_pools_of(entry), at)
        for at, entry in enumerate(op.body["storeproductlog"])
        if (_identity_of(entry, op), to_utc_text(str(entry.get("scanned_datetime") or ""))) == wanted
        and not is_undo(entry)
    ]
    pools = _pools_of(undo)
    same = [at for each, at in entries if each == pools] or [at for each, at in entries if not (each and pools)]
    return same[0] if same else -1


def _identity_of(entry: LogEntry, op: Operation) -> tuple[str, str, str]:
    user = str(entry.get("app_user_name") or op.app_user)
    return str(entry.get("product_number")), str(entry.get("location_code") or "").casefold(), user


def _pools_of(entry: LogEntry) -> frozenset[str]:
    return frozenset(name for name in entry if name.startswith("stock_pool_"))


def as_left(op: Operation) -> Operation:
    """Return a refused operation with what is left of it; any other as it is."""
    return op._replace(body=op.evidence[UNREVERSED]) if op.evidence.get(UNREVERSED) else op


def undone_goods(op: Operation | Write) -> Changes:
    """Return the goods that an undo makes available to be booked again; negative for goods that are booked.

    Updates of orders have none: a pick that cannot be lowered is excess, which its picker is told.
    """
    goods: Changes = {}
    for key, quantity in _undone_parts(op):
        goods[key] = goods.get(key, Decimal(0)) + quantity
    return goods


def _undone_parts(op: Operation | Write) -> Iterator[tuple[Hashable, Decimal]]:
    """Yield goods by product, and by delivery or by the place from which they are moved, with their quantities."""
    if op.operation == CREATE_MOVEMENT:
        for item in op.body:
            is_undone = _is_undone(item)
            end = item.get("to_location") if is_undone else item.get("from_location")
            quantity = to_decimal(item["quantity"])
            yield (item["product_number"], _end_of(end)), quantity if is_undone else -quantity
    elif op.operation == CREATE_LOGS and op.query.get(_RECEIPT):
        for row in op.body["storeproductlog"]:
            yield (row["product_number"], row.get("reference")), -to_decimal(row.get("quantity"))
    elif op.operation == CREATE_LOGS:
        for row in op.body["storeproductlog"]:
            quantity = abs(to_decimal(row.get("quantity")))
            yield row["product_number"], quantity if is_undo(row) else -quantity


def _is_undone(item: MovementEntry) -> bool:
    """Return whether a moved item undoes an earlier one, or takes goods of an order into hand again."""
    target = item.get("to_location") or {}
    return "undone_datetime" in item or (not target.get("location_code") and "customer_order_number" in target)


class _Change(NamedTuple):
    quantity: Decimal
    source: Source
    is_refused: bool


def _without_reversal(op: Operation | Write, stacks: dict[Hashable, list[_Change]], left: Changes) -> Json:
    """Add the changes of an operation to the stacks; return its body without what reverses refused changes."""
    is_unsent = isinstance(op, Write) or (op.state == QUEUED and op.sent_body is None)
    kept: list[tuple[Json, Decimal | None]] = []
    for key, quantity, part in _parts(op):
        withdrawn = _push(stacks[key], quantity, _source_of(part)) if key in stacks else Decimal(0)
        if withdrawn and is_unsent:
            left[key] += withdrawn
            kept.append((part, quantity - withdrawn))
        else:
            kept.append((part, None))
    return op.body if all(quantity is None for _, quantity in kept) else _body_of(op, kept)


def _push(stack: list[_Change], quantity: Decimal, source: Source) -> Decimal:
    """Push a change, or remove what it reverses. Return the quantity that reverses a refused change."""
    withdrawn = Decimal(0)
    while quantity and (index := _find_reversed(stack, quantity, source)) is not None:
        latest = stack.pop(index)
        part = min(abs(latest.quantity), abs(quantity)).copy_sign(quantity)
        quantity -= part
        withdrawn += part if latest.is_refused else 0
        if latest.quantity + part:
            stack.insert(index, latest._replace(quantity=latest.quantity + part))
    if quantity:
        stack.append(_Change(quantity, source, is_refused=False))
    return withdrawn


def _find_reversed(stack: Sequence[_Change], quantity: Decimal, source: Source) -> int | None:
    """Return the index of the latest change that a quantity undoes, in whole or in part."""
    opposite = [index for index, each in enumerate(stack) if each.quantity * quantity < 0]
    same = [index for index in opposite if not source.is_other(stack[index].source)]
    found = same or (opposite if quantity < 0 else [])
    return found[-1] if found else None


def _parts(op: Operation | Write) -> Iterator[tuple[Hashable, Decimal, Json]]:
    """Yield the parts of an operation that have a quantity, each with its key and the quantity."""
    if op.operation == CREATE_MOVEMENT:
        for item in op.body:
            key, sign = _way_of(item)
            yield key, sign * to_decimal(item["quantity"]), item
    elif op.operation == CREATE_LOGS and op.query.get(_RECEIPT):
        for row in op.body["storeproductlog"]:
            names = ("product_number", "reference", "line_number", "location_code", "pool_location")
            yield tuple(row.get(name) for name in names), to_decimal(row.get("quantity")), row
    elif op.operation == UPDATE_ORDER:
        order = op.body["orders"]
        for line in order.get("order_lines") or ():
            quantity = picked_change(line) if has_base(line) else Decimal(0)
            yield line_key(order["order_number"], int(line["line_number"])), quantity, line


def _way_of(item: MovementEntry) -> tuple[Hashable, int]:
    """Return the way of a moved item, the same in both directions, and its direction.

    Pools count only if both ends are the same location.
    """
    source, target = item.get("from_location") or {}, item.get("to_location") or {}
    ends = _end_of(source), _end_of(target)
    if ends[0] == ends[1]:
        ends = (*ends[0], str(source.get("stock_pool"))), (*ends[1], str(target.get("stock_pool")))
    return (item["product_number"], min(ends), max(ends)), 1 if ends[0] <= ends[1] else -1


def _end_of(end: MovementEnd | None) -> tuple[str, ...]:
    names = ("location_code", "customer_order_number", "customer_order_line_number")
    return tuple(str((end or {}).get(name) or "") for name in names)


def _body_of(op: Operation | Write, parts: list[tuple[Json, Decimal | None]]) -> Json:
    """Return the body with the new quantities of these parts; None if nothing is left of it."""
    if op.operation == UPDATE_ORDER:
        return _update_of(op, parts)
    is_movement = op.operation == CREATE_MOVEMENT  # its quantities have no sign
    left = [
        part if quantity is None else {**part, "quantity": abs(quantity) if is_movement else quantity}
        for part, quantity in parts
        if quantity != 0
    ]
    if is_movement:
        return left or None
    return {**op.body, "storeproductlog": left} if left else None


def _update_of(op: Operation | Write, parts: list[tuple[LineUpdate, Decimal | None]]) -> Json:
    order = op.body["orders"]
    lines = [_with_change(line, change) for line, change in parts]
    is_header_empty = order.keys() <= _FIELDS_OF_HEADER and not order.get("is_picked")
    is_nothing = is_header_empty and all(map(_changes_nothing, lines))
    return None if is_nothing else {**op.body, "orders": {**order, "order_lines": lines}}


def _with_change(line: LineUpdate, change: Decimal | None) -> LineUpdate:
    return line if change is None else {**line, BASE: Decimal(line[PICKED]) - change}


def _line_left(line: LineUpdate, change: Decimal) -> LineUpdate:
    """Return a refused line with the change that is left. A pick that was undone does not close its line."""
    kept: LineUpdate = {**line, PICKED: Decimal(line[BASE]) + change}
    if not change:
        kept.pop("is_picked", None)
    return kept


def _changes_nothing(line: LineUpdate) -> bool:
    is_pick = has_base(line) and line.keys() <= _FIELDS_OF_PICK and not line.get("is_picked")
    return is_pick and not picked_change(line)
