"""Sums of goods in pieces and measures, and the progress of orders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from aisle.jobs.view import Msg, join_messages, msg
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderHeader

K = TypeVar("K")


def order_progress(row: OrderHeader) -> tuple[Decimal, Decimal]:
    """Return (picked, ordered) of an order for its bar, where a measured line counts as one piece. What is written
    is `order_goods`."""
    if "pieces" in row:
        return to_decimal(row["picked_pieces"]), to_decimal(row["pieces"])
    return to_decimal(row.get("picked_quantity")), to_decimal(row.get("total_quantity"))


class GoodsSum(NamedTuple):
    """Sum of goods: counted ones in pieces, beside them measured ones by unit, because kilos and pieces do not add
    up."""

    pieces: Decimal = Decimal(0)
    measured: tuple[tuple[str, Decimal], ...] = ()
    """Units with their quantities, none of them 0."""

    @property
    def is_nothing(self) -> bool:
        """Whether it is a sum of no goods."""
        return not self.pieces and not self.measured


def sum_by_key(quantities: Iterable[tuple[K, Decimal]]) -> dict[K, Decimal]:
    """Return the sum of the quantities with each key, in the order in which the keys come."""
    sums: dict[K, Decimal] = {}
    for key, quantity in quantities:
        sums[key] = sums.get(key, Decimal(0)) + quantity
    return sums


def sum_goods(goods: Iterable[tuple[Decimal, str | None]]) -> GoodsSum:
    """Return the sum of quantities, each with its unit if it is measured, or None if it is in pieces."""
    sums = sum_by_key((unit, quantity) for quantity, unit in goods)
    pieces = sums.pop(None, Decimal(0))
    return GoodsSum(pieces, tuple((unit, quantity) for unit, quantity in sums.items() if unit is not None and quantity))


def add_goods(sums: Iterable[GoodsSum]) -> GoodsSum:
    """Return the sum of sums."""
    return sum_goods(
        part for each in sums for part in ((each.pieces, None), *((quantity, unit) for unit, quantity in each.measured))
    )


def goods_text(goods: GoodsSum) -> Decimal | Msg:
    """Return "15 pieces, 1.5 kg"; only the number if all goods are in pieces."""
    if not goods.measured:
        return goods.pieces
    text = join_messages([msg("beside", one=quantity, other=unit) for unit, quantity in goods.measured])
    return msg("goods.sum", count=goods.pieces, measured=text) if goods.pieces else text


def named_goods(goods: GoodsSum) -> Msg:
    """Return the same, with the word for pieces in any case."""
    text = goods_text(goods)
    return text if isinstance(text, Msg) else msg("goods.pieces", count=text)


class OrderGoods(NamedTuple):
    """Goods of one or several orders."""

    picked: GoodsSum = GoodsSum()
    ordered: GoodsSum = GoodsSum()
    missing: GoodsSum = GoodsSum()
    """Not picked; of a measured line nothing, if it is complete within its tolerance."""


def order_goods(row: OrderHeader) -> OrderGoods:
    """Return the goods of an order."""
    picked, ordered = order_progress(row)
    measured = row.get("measured", ())
    picked -= sum(each["complete_lines"] for each in measured)
    ordered -= sum(each["lines"] for each in measured)
    return OrderGoods(
        sum_goods([(picked, None), *((to_decimal(each["picked_quantity"]), each["unit"]) for each in measured)]),
        sum_goods([(ordered, None), *((to_decimal(each["quantity"]), each["unit"]) for each in measured)]),
        sum_goods([(ordered - picked, None), *((to_decimal(each["missing"]), each["unit"]) for each in measured)]),
    )


def add_order_goods(goods: Iterable[OrderGoods]) -> OrderGoods:
    """Return the goods of several orders together."""
    found = list(goods)
    return OrderGoods(
        add_goods(each.picked for each in found),
        add_goods(each.ordered for each in found),
        add_goods(each.missing for each in found),
    )


def goods_progress(picked: GoodsSum, ordered: GoodsSum) -> Msg:
    """Return how far an order is, as every page says it."""
    return msg("progress.of", done=goods_text(picked), total=goods_text(ordered))


def goods_progress_in_list(picked: GoodsSum, ordered: GoodsSum) -> Msg:
    """Return the same for a column; a narrow one shows the pieces, and `+` for the goods by measure beside them."""
    if not ordered.pieces or not ordered.measured:
        return goods_progress(picked, ordered)
    pieces = msg("progress.of", done=picked.pieces, total=ordered.pieces)
    return msg("progress.in_list", pieces=pieces, done=goods_text(picked), total=goods_text(ordered))


class LineQuantity(NamedTuple):
    """Announced and received quantity of a line of a delivery."""

    announced: Decimal | None
    """None if the delivery does not give it."""
    received: Decimal
    is_for_order: bool = False

    @property
    def excess(self) -> Decimal:
        """Quantity received beyond the announced one; negative if goods are missing."""
        return Decimal(0) if self.announced is None else self.received - self.announced


def received_after(lines: Sequence[LineQuantity], quantity: Decimal, named: int | None = None) -> list[Decimal]:
    """Return the received quantities of a product's lines after a receipt or undo (negative), as our service books it.

    The line at index `named` comes first, then those that lack goods; of these, if one is named, those for orders. The
    excess goes to the named line or the last one. An undo takes goods from the last lines first, those for orders last;
    the excess of other lines then fills the gaps.
    """
    order = list(range(len(lines)))[:: -1 if quantity < 0 else 1]
    if named is not None or quantity < 0:
        order.sort(key=lambda at: (at != named, lines[at].is_for_order == (quantity < 0)))
    after = list(lines)
    for at in order:
        part = (
            max(quantity, -after[at].received) if quantity < 0 else min(quantity, _open_quantity(after[at], quantity))
        )
        after[at] = after[at]._replace(received=after[at].received + part)
        quantity -= part
    rest_at = len(lines) - 1 if named is None else named
    after[rest_at] = after[rest_at]._replace(received=after[rest_at].received + quantity)
    return [line.received for line in _level_excess(after)]


def _open_quantity(line: LineQuantity, quantity: Decimal) -> Decimal:
    """Return the part of the quantity that a line takes; all of it if the line announces no quantity."""
    return quantity if line.announced is None else max(Decimal(0), -line.excess)


def _level_excess(lines: list[LineQuantity]) -> list[LineQuantity]:
    for target in sorted(range(len(lines)), key=lambda at: not lines[at].is_for_order):
        for source in range(len(lines)):
            part = min(lines[source].excess, -lines[target].excess)
            if part > 0:
                for at, change in ((source, -part), (target, part)):
                    lines[at] = lines[at]._replace(received=lines[at].received + change)
    return lines
