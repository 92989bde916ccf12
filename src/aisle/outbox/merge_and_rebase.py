"""Merging of two writes into one, addition of what two people pick on one line, and the excess of updates.

An update line has the picker's result, `picked_quantity`, and the quantity found before, `base_picked_quantity`. Only
the difference is applied to the current line. Lines without a base are absolute, as in the interface.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

import apsw

from aisle.jobs.job import Write
from aisle.named_tuple_json import from_text, to_text
from aisle.outbox.operation_record import REFUSED, UPDATE_ORDER, Operation
from aisle.row_values import MAX_DIGITS, to_decimal
from aisle.stored_messages import StoredMessage, store_message

if TYPE_CHECKING:
    from aisle.operation_body_types import LineExcess, LineUpdate, OrderUpdate


_SOURCE_FIELDS = ("preferred_location_code", "stock_pool")
"""Fields of a line that name the source of its goods."""


def can_merge(earlier: Write, later: Write) -> bool:
    """Return whether both have the same merge key and target, and pick no line from two locations."""
    same = (earlier.merge_key, earlier.operation, earlier.path, earlier.query) == (
        later.merge_key,
        later.operation,
        later.path,
        later.query,
    )
    return (
        bool(later.merge_key)
        and same
        and (earlier.user, earlier.needs_supervisor) == (later.user, later.needs_supervisor)
        and not (later.operation == UPDATE_ORDER and _picks_from_another_location(earlier, later))
    )


def _picks_from_another_location(earlier: Write, later: Write) -> bool:
    """Return whether a line is picked from different locations: quantities are absolute, so one would get all of it."""
    before, after = _source_locations(earlier), _source_locations(later)
    return any(before[line] != after[line] for line in before.keys() & after.keys())


def _source_locations(write: Write) -> dict[Any, tuple[Any, ...]]:
    lines = write.body["orders"].get("order_lines") or ()
    return {line["line_number"]: tuple(line.get(name) for name in _SOURCE_FIELDS) for line in lines}


def merge_writes(earlier: Write, later: Write) -> Write:
    """Return one write with the effect and the lanes of both.

    Update customer order: fields of the order and of each line (by `line_number`) are merged, the later ones winning;
    picked quantities are added up (see `merge_and_rebase`). Any other body is replaced by the later one.
    """
    body = later.body
    if later.operation == UPDATE_ORDER:
        body = {**earlier.body, **later.body, "orders": _merge_orders(earlier.body["orders"], later.body["orders"])}
    return later._replace(lanes=tuple(dict.fromkeys((*earlier.lanes, *later.lanes))), body=body)


def _merge_orders(earlier: OrderUpdate, later: OrderUpdate) -> OrderUpdate:
    order: OrderUpdate = {**earlier, **later}
    if "order_lines" in order:
        order["order_lines"] = _merge_lines(earlier.get("order_lines") or (), later.get("order_lines") or ())
    return order


def _merge_lines(earlier: Sequence[LineUpdate], later: Sequence[LineUpdate]) -> list[LineUpdate]:
    lines: dict[int, LineUpdate] = {}
    for line in (*earlier, *later):
        lines[line["line_number"]] = merge_line_updates(lines.get(line["line_number"], {}), line)
    return list(lines.values())


def product_lanes(write: Write) -> frozenset[str]:
    """Return the lanes of the products that an order's lines pick.

    A count or movement in these lanes separates two writes. A merged write happens when its later part does, but a
    count in between was made after the earlier part.
    """
    if write.operation != UPDATE_ORDER:
        return frozenset()
    lines = write.body["orders"].get("order_lines") or ()
    return frozenset(f"product/{line['product_number']}" for line in lines)


def merge_batch(writes: Sequence[Write]) -> tuple[list[Write], list[int]]:
    """Return the writes of a batch after merging, and for each given write the index of the one that carries it.

    A write is merged into an earlier one only if no write between them shares its lanes or those of its products. The
    merged write takes the position of the later one.
    """
    merged: list[Write] = []
    carriers: list[int] = []
    for write in writes:
        index = _merge_candidate_index(merged, write)
        if index < 0:
            merged.append(write)
            carriers.append(len(merged) - 1)
            continue
        merged.append(merge_writes(merged.pop(index), write))
        last = len(merged) - 1
        carriers = [last if at == index else at - (at > index) for at in carriers]
        carriers.append(last)
    return merged, carriers


def _merge_candidate_index(writes: Sequence[Write], write: Write) -> int:
    if not write.merge_key:
        return -1
    for index in range(len(writes) - 1, -1, -1):
        if can_merge(writes[index], write):
            between = {lane for other in writes[index + 1 :] for lane in other.lanes}
            return index if between.isdisjoint({*writes[index].lanes, *product_lanes(writes[index])}) else -1
    return -1


BASE: Final = "base_picked_quantity"
PICKED: Final = "picked_quantity"


class RebasedLine(NamedTuple):
    """Result for a line. `excess` exceeds the line: it is in a person's hand and recorded nowhere."""

    picked: Decimal
    excess: Decimal


def has_base(line: LineUpdate) -> bool:
    """Return whether an update line states the quantity found before."""
    return BASE in line and PICKED in line


def picked_change(line: LineUpdate) -> Decimal:
    """Return the change by the picker, of a line with a base."""
    return Decimal(line[PICKED]) - Decimal(line[BASE])


def rebase_line(line: LineUpdate, current: Decimal, ordered: Decimal, moved: Decimal = Decimal(0)) -> RebasedLine:
    """Apply the change to a line at `current` of the `ordered` quantity, `moved` of it at a location."""
    unlimited = current + picked_change(line)
    picked = max(min(unlimited, max(current, ordered)), min(current, moved))
    return RebasedLine(picked, unlimited - picked)


def is_picked(line: LineUpdate, rebased: RebasedLine, ordered: Decimal) -> bool:
    """Return whether the line counts as picked: it is full, or the picker knowingly closed it short."""
    return rebased.picked >= ordered or (bool(line.get("is_picked")) and Decimal(line[PICKED]) < ordered)


def merge_line_updates(earlier: LineUpdate, later: LineUpdate) -> LineUpdate:
    """Merge two updates of one line: field by field, with the changes of both added up."""
    line: LineUpdate = {**earlier, **later}
    if PICKED not in later or BASE not in line:
        return line
    if not has_base(later):
        del line[BASE]  # the result is absolute
    elif has_base(earlier):
        change = picked_change(earlier) + picked_change(later)
        line[PICKED] = max(Decimal(later[PICKED]), Decimal(earlier[BASE]) + change)
        line[BASE] = line[PICKED] - change
    elif PICKED in earlier:
        line[PICKED] = Decimal(earlier[PICKED]) + picked_change(later)
        del line[BASE]
    return line


Line = TypeVar("Line", "LineExcess", "LineUpdate")

EXCESS: Final = "left"
"""Name of the excess in the evidence read before an operation was sent."""


CARRIED: Final = "carried"
"""Name of the lines in an answer that hold excess for other hosts."""


CARRIED_OVER, CARRIED_OVER_S = "carried", 600.0
"""Lane of queries for the excess of lines; seconds after a restore before such a query, for other hosts to return."""

MAX_LINES, _MAX_LINE_NUMBER, _MAX_TEXT = 1_000, 10**9, 200
"""Most lines of an answer, smallest number that no line has, and most characters of a value."""

REQUIRED_FIELDS = ("line_number", "product_number", PICKED)
"""Fields of a line with excess that a report to a person needs."""

_FIELDS = (*REQUIRED_FIELDS, EXCESS, "picked_username", "picked_name", "quantity", "moved_quantity")


def line_of_excess(line: LineExcess) -> LineUpdate:
    """Return the update that the service did not carry out."""
    picked = to_decimal(line[PICKED])
    order_line: LineUpdate = {"line_number": line["line_number"], "product_number": line["product_number"]}
    return order_line | {BASE: picked, PICKED: picked + to_decimal(line["left"])}


def reduce_excess(db: apsw.Connection, op: Operation, left: Decimal) -> None:
    """Reduce excess to what is left of it, inside the caller's transaction."""
    line: LineExcess = from_text(Any, op.answer) | {EXCESS: left}
    order = {**op.body["orders"], "order_lines": [line_of_excess(line)]}
    db.execute(
        "UPDATE operation SET body = ?, answer = ?, last_error = ? WHERE op_id = ?",
        (to_text({"orders": order}), to_text(dict(line)), excess_reason_of(line), op.op_id),
    )


def write_of_line(op: Operation, order_line: LineUpdate) -> Write:
    """Return a write with one line of the order of an operation."""
    order = {"order_number": op.body["orders"]["order_number"], "order_lines": [order_line]}
    return Write(op.operation, op.lanes, op.path, {}, {"orders": order})


def is_excess(op: Operation) -> bool:
    """Return whether a refused operation is the excess of another one."""
    return op.state == REFUSED and bool(op.answer)


def is_kept_in_location(op: Operation) -> bool:
    """Return whether excess is goods that are at a location and were not taken back from there."""
    return is_excess(op) and to_decimal(from_text(Any, op.answer)[EXCESS]) < 0


def parse_excess(content: bytes | str) -> tuple[LineExcess, ...]:
    """Return the lines with excess from an answer of our own service; none if it has none or is malformed."""
    rows = lines_of_answer(content, EXCESS)
    return tuple(row for row in rows if to_decimal(row.get(EXCESS)) and has_required_fields(row))


def parse_carried_lines(content: bytes | str) -> frozenset[int]:
    """Return the lines for which an answer of our own service announces excess held for other hosts."""
    return frozenset(row["line_number"] for row in lines_of_answer(content, CARRIED))


def has_required_fields(row: LineExcess) -> bool:
    """Return whether a line of an answer has what a report to a person needs."""
    return all(row.get(name) is not None for name in REQUIRED_FIELDS)


def lines_of_answer(content: bytes | str, name: str) -> list[LineExcess]:
    """Return the lines in a field of an answer of our own service, each with its number and without extreme values."""
    try:
        rows = json.loads(content, parse_float=Decimal)[name]
    except (ValueError, ArithmeticError, TypeError, KeyError, RecursionError):
        return []
    lines = [_usable_line(row) for row in rows[:MAX_LINES] if isinstance(row, dict)] if isinstance(rows, list) else []
    return [line for line in lines if "line_number" in line]


def _usable_line(row: dict[str, Any]) -> LineExcess:
    line = {name: row[name] for name in _FIELDS if _is_usable(row.get(name))}
    number = to_decimal(line.pop("line_number", None))
    if 0 < number < _MAX_LINE_NUMBER and number == int(number):  # `int` of a million digits takes minutes
        line["line_number"] = int(number)
    return cast("LineExcess", line)


def _is_usable(value: object) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite() and -MAX_DIGITS <= value.adjusted() <= MAX_DIGITS
    return isinstance(value, str | int) and len(text := str(value)) <= _MAX_TEXT and text.isprintable()


def lines_of_operation(op: Operation, lines: Iterable[Line]) -> list[Line]:
    """Return the lines of an answer that the operation has, each once: the answer may name any."""
    order = op.body["orders"] if op.operation == UPDATE_ORDER else {}
    own = {int(line["line_number"]) for line in order.get("order_lines") or ()}
    return list({number: line for line in lines if (number := int(line["line_number"])) in own}.values())


def excess_query(op: Operation, lines: frozenset[int]) -> Write | None:
    """Return the update that asks later which excess of these lines remains; it changes no quantity.

    Return None if the confirmed operation has none of these lines with a base.
    """
    if op.operation != UPDATE_ORDER:
        return None
    order = op.body["orders"]
    picked = [line for line in order.get("order_lines") or () if has_base(line) and int(line["line_number"]) in lines]
    if not picked:
        return None
    names = ("line_number", "product_number", PICKED)
    rows = [{**{name: line[name] for name in names}, BASE: line[PICKED]} for line in picked]
    body = {"orders": {"order_number": order["order_number"], "order_lines": rows}}
    return Write(op.operation, (f"{CARRIED_OVER}/{order['order_number']}",), op.path, {}, body)


def added_excess(earlier_answer: str, lines: Sequence[LineExcess]) -> list[LineExcess]:
    """Return the excess beyond that of an earlier answer to the same operation."""
    reported = {row["line_number"]: to_decimal(row[EXCESS]) for row in parse_excess(earlier_answer)}
    added: list[LineExcess] = [
        {**row, "left": to_decimal(row["left"]) - reported.get(row["line_number"], 0)} for row in lines
    ]
    return [row for row in added if row[EXCESS]]


def merge_answers(earlier: str, current: str) -> str:
    """Return the answer to store for an operation confirmed again, with all excess reported so far.

    It is then not reported again after the next restore.
    """
    rows = {row["line_number"]: row for row in (*parse_excess(earlier), *parse_excess(current))}
    if rows:
        from aisle.contract.request_encoding import encode_json  # only the courier merges, sessions need no contract

        return encode_json({EXCESS: list(rows.values())}).decode()
    return current if current.startswith("{") else earlier or current


def excess_reason_of(line: LineExcess) -> StoredMessage:
    """Return the message on excess of a pick: too many in hand, or (negative) not taken back from a location."""
    excess, by = to_decimal(line.get("left")), {"who": user} if (user := str(line.get("picked_username") or "")) else {}
    args: dict[str, int | Decimal] = {"line": int(line["line_number"]), "picked": to_decimal(line.get(PICKED))}
    args |= {"of": to_decimal(line.get("quantity")), "left": abs(excess)}
    if excess > 0:
        return store_message("stored_reason.surplus_by" if by else "stored_reason.surplus", **args, **by)
    args["moved"] = to_decimal(line.get("moved_quantity"))
    return store_message("stored_reason.not_put_back_by" if by else "stored_reason.not_put_back", **args, **by)
