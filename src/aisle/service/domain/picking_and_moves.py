"""Picking: goods leave locations for an order line and return (README: Pick rises, Pick falls); movements.

Moves that a clearance assigns to people: `handlers/movements_and_clearances`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from aisle.contract.request_bodies import ExactNumber
from aisle.contract.request_bodies.extension_bodies import ExtendedLineUpdate
from aisle.service.db.statements import stock as sql
from aisle.service.domain.ledger import HeldGoods, Ledger, LocationQuantity, StockKey
from aisle.service.domain.log_and_audit_writer import FINISH_SOURCE, IN_HAND_SOURCE, LogWriter
from aisle.service.domain.order_line import OrderLine
from aisle.service.domain.orders import save_changed_line
from aisle.service.domain.quantities_times_and_json import (
    format_quantity,
    parse_thousandths,
    parse_whole_number,
    to_json_number,
)
from aisle.service.domain.read_products_and_locations import NO_LOCATION, Location, Product
from aisle.service.errors import conflict, unprocessable


def plan_pick(
    free: Mapping[StockKey, int],
    locations: Sequence[Location],
    pools: Sequence[int],
    quantity: int,
    only_location: str | None = None,
) -> list[LocationQuantity]:
    """Return the sources of `quantity`: pool by pool, in each along the walking order, then at no location.

    With `only_location`, use that location only. Goods beyond the recorded stock come from no location in the first
    pool, which becomes negative.
    """
    codes = [location.code for location in locations] if only_location is None else [only_location]
    if only_location is None:
        codes.append(NO_LOCATION)
    sources: list[LocationQuantity] = []
    for pool in pools:
        for code in codes:
            part = min(quantity, max(0, free.get(StockKey(code, pool), 0)))
            if part:
                sources.append(LocationQuantity(code, pool, part))
                quantity -= part
    if quantity:
        sources.append(LocationQuantity(NO_LOCATION, pools[0], quantity, only_location or NO_LOCATION))
    return sources


async def increase_pick(
    ledger: Ledger, line: OrderLine, quantity: int, location: Location | None = None, pool: int | None = None
) -> list[LocationQuantity]:
    """Pick `quantity` for the line, from the given location and pool or along the walking order."""
    free = await ledger.free_stock(line.product_number)
    pools = line.picking_pools(pool)
    walk: list[Location] = []
    if location is None:
        walk = await locations_in_walk_order(ledger, (key.location for key, available in free.items() if available > 0))
        # The location that the order's creator prefers comes first.
        walk.sort(key=lambda one: (one.code != line.preferred_location_code, one))
    sources = plan_pick(free, walk, pools, quantity, location.code if location else None)
    for source in sources:
        await _pick_into_hand(ledger, line, source)
    line.picked_quantity += quantity
    return sources


async def decrease_pick(
    ledger: Ledger, line: OrderLine, quantity: int, location: Location | None = None, pool: int | None = None
) -> list[LocationQuantity]:
    """Put `quantity` of the picker's goods back where they came from, the last picked first.

    With a location and pool, those picked there go first, and the rest goes there too. Raise Refusal (409) if some of
    it was put down at a location already.
    """
    stack = await goods_held_at(ledger, line)
    in_hand = sum(one.quantity for one in stack)
    if quantity > in_hand:
        raise conflict(
            f"Line {line.line_number}: {format_quantity(line.moved_quantity)} moved, move them back first.",
            line=line.as_json(),
        )
    returned = []
    for one in _last_picked_first(stack, location, pool):
        part = min(quantity, one.quantity)
        if part == 0:
            break
        await ledger.origins.reduce(line, one, part)
        source, target = StockKey(NO_LOCATION, one.pool, *line.key), StockKey(one.origin_location, one.origin_pool)
        if location and not one.is_from(location.code, pool):
            target = StockKey(location.code, pool or one.origin_pool)
        await ledger.transfer("unpick", line.product_number, source, target, part)
        returned.append(LocationQuantity(target.location, target.pool, part))
        quantity -= part
        line.picked_quantity -= part
    return returned


def _last_picked_first(stack: Sequence[HeldGoods], location: Location | None, pool: int | None) -> list[HeldGoods]:
    """Return goods in the order in which they go back: those picked at a named location come first."""
    latest = stack[::-1]
    if location is None:
        return list(latest)
    return sorted(latest, key=lambda one: not one.is_from(location.code, pool))


async def goods_held_at(ledger: Ledger, line: OrderLine, location: str = NO_LOCATION) -> list[HeldGoods]:
    """Return the goods held for a line at a location, in the order of picking. The picker has those with none."""
    return [one for one in await ledger.origins.held_for_line(line) if one.location == location]


async def remove_held(
    ledger: Ledger, line: OrderLine, quantity: int, pool: int | None = None, location: str = NO_LOCATION
) -> list[HeldGoods]:
    """Take up to `quantity` of a line's held goods at a location, optionally of one pool. The caller posts the legs.

    Of the picker's goods the first picked goes first; of goods put down, the last. Return them in the order of picking.
    """
    held = [one for one in await goods_held_at(ledger, line, location) if pool in (None, one.pool)]
    used = []
    for one in reversed(held) if location else held:
        part = min(quantity, one.quantity)
        if part == 0:
            break
        await ledger.origins.reduce(line, one, part)
        used.append(one._replace(quantity=part))
        quantity -= part
    return used[::-1] if location else used


async def adjust_origin(ledger: Ledger, line: OrderLine, held_key: StockKey, quantity: int) -> None:
    """Adjust held goods without known origin. The caller posts the legs."""
    if quantity > 0:
        await ledger.origins.add(line, LocationQuantity(NO_LOCATION, held_key.pool, quantity), held_key)
    else:
        await remove_held(ledger, line, -quantity, held_key.pool, held_key.location)


async def locations_in_walk_order(ledger: Ledger, location_codes: Iterable[str]) -> list[Location]:
    """Return these locations in walking order, without "no location"."""
    wanted = {code for code in location_codes if code}
    await ledger.catalogue.load((), wanted)
    return sorted(filter(None, [await ledger.catalogue.find_location(code) for code in wanted]))


async def _pick_into_hand(ledger: Ledger, line: OrderLine, source_quantity: LocationQuantity) -> None:
    source = StockKey(source_quantity.location, source_quantity.pool)
    target = StockKey(NO_LOCATION, source_quantity.pool, *line.key)
    await ledger.transfer("pick", line.product_number, source, target, source_quantity.quantity)
    await ledger.origins.add(line, source_quantity, target)


_MAX_POOL_DIGITS = 20
"""Maximum length of a pool's text; a longer one is invalid."""


def parse_pool(value: Any, field: str) -> int:
    """Parse the number of a stock pool from a number or text. Raise Refusal (422) if there is no such pool."""
    text = str(value).strip()
    if text.isdecimal() and text.isascii() and len(text) <= _MAX_POOL_DIGITS and 1 <= int(text) <= 10:
        return int(text)
    pool = parse_whole_number(value, field) if not isinstance(value, str) else 0
    if not 1 <= pool <= 10:
        raise unprocessable(f"There is no stock pool {value}; there are 1 to 10.", field)
    return pool


class PickedLine(TypedDict, total=False):
    """Fields of a new or changed line that say what is picked."""

    picked_quantity: ExactNumber
    is_picked: bool


class RebasedUpdate(NamedTuple):
    """Line update with a base, applied to the current line. `unapplied` is the quantity that does not fit."""

    body: ExtendedLineUpdate
    unapplied: int


def rebase_update(
    line: OrderLine, body: ExtendedLineUpdate, field: str, *, whole: bool, additional: int = 0
) -> RebasedUpdate:
    """Apply the sender's change to the current line, which others may have changed meanwhile.

    The sender changed `base_picked_quantity` to `picked_quantity`. The difference counts, limited by the quantity put
    down and the ordered quantity. `additional` is picked as well. Raise Refusal (422) for impossible numbers.
    """
    if "picked_quantity" not in body:
        raise unprocessable("A base needs a picked_quantity.", f"{field}.base_picked_quantity")
    sent = parse_thousandths(body["picked_quantity"], f"{field}.picked_quantity", whole=whole)
    base = parse_thousandths(body["base_picked_quantity"], f"{field}.base_picked_quantity", whole=whole)
    if sent < 0 or base < 0:
        raise unprocessable("Less than nothing cannot be picked.", f"{field}.picked_quantity")
    wanted = line.picked_quantity + sent - base + additional
    most = 0 if line.is_rejected else max(line.picked_quantity, line.quantity)
    now = max(min(wanted, most), min(line.picked_quantity, line.moved_quantity))
    is_full_for_sender = body.get("is_picked") and sent >= line.quantity
    changed: ExtendedLineUpdate = {**body, "picked_quantity": to_json_number(now)}
    del changed["base_picked_quantity"]
    if is_full_for_sender:  # It follows from the quantity, and does not mean "closed short".
        del changed["is_picked"]
    return RebasedUpdate(changed, wanted - now)


async def set_picked_quantity(
    ledger: Ledger,
    logs: LogWriter,
    line: OrderLine,
    body: PickedLine,
    field: str,
    location: Location | None = None,
    pool: int | None = None,
    return_to: Location | None = None,
) -> bool:
    """Bring a line to the picked quantity of a request. Return True if goods were picked.

    `is_picked` without a quantity means the full quantity for an untouched line, otherwise that it is closed short.
    `location` and `pool` are the source of the goods; to `return_to` and the pool they go back. Raise Refusal: 409 if
    more than ordered or already moved, 422 for an invalid quantity.
    """
    product = await ledger.catalogue.get_product(line.product_number, f"{field}.product_number")
    closed = body.get("is_picked")
    target = _target_quantity(line, body, f"{field}.picked_quantity", whole=not product.allow_decimal)
    held = sum((await ledger.held_for_line(line)).values())
    tracked = product.is_stock and not line.from_warehouse
    changed = target != line.picked_quantity
    delivered = line.delivered_quantity if tracked else 0  # For a finished order of which a restore has lost picks.
    is_raised = tracked and target > held + delivered
    if is_raised:
        await ledger.catalogue.range_products([product.number])
        await _log_pick(
            logs, line, "pick", await increase_pick(ledger, line, target - held - delivered, location, pool), -1
        )
    elif target < held + delivered:
        back = min(held, held + delivered - target)
        if back:
            await _log_pick(logs, line, "unpick", await decrease_pick(ledger, line, back, return_to, pool), 1)
        await _reverse_delivered(logs, line, held + delivered - target - back, location, pool)
    line.picked_quantity = target
    if changed:
        line.picked_by = ledger.ctx.app_user or ledger.ctx.principal.name
    line.is_picked = line.is_fully_picked or (closed if closed is not None else line.is_picked and not changed)
    return is_raised


async def _reverse_delivered(
    logs: LogWriter, line: OrderLine, quantity: int, location: Location | None, pool: int | None
) -> None:
    """Reverse the delivery of goods that were put back before the hand-over, although the message arrives later."""
    if not quantity:
        return
    key = StockKey(location.code if location else NO_LOCATION, pool or line.stock_pool)
    await logs.ledger.post("finish", line.product_number, key, quantity)
    line.delivered_quantity -= quantity
    await logs.add_for_line(line, FINISH_SOURCE, quantity, key.location, key.pool)


def _target_quantity(line: OrderLine, body: PickedLine, field: str, *, whole: bool) -> int:
    """Return the picked quantity that a request results in, in thousandths."""
    target = line.picked_quantity
    if "picked_quantity" in body:
        target = parse_thousandths(body["picked_quantity"], field, whole=whole)
    elif body.get("is_picked") and line.picked_quantity == 0 and not line.is_picked:
        target = line.quantity
    if target < 0:
        raise unprocessable("Less than nothing cannot be picked.", field)
    if target > line.quantity:
        message = f"{format_quantity(target)} are more than the {format_quantity(line.quantity)} ordered."
        raise conflict(message, field, line=line.as_json())
    return target


async def _log_pick(
    logs: LogWriter, line: OrderLine, log_source: str, sources: list[LocationQuantity], sign: int
) -> None:
    """Add an entry for each location that goods left or returned to, and one without location for the picker."""
    flagged = logs.ledger.pop_negative_flag()
    for source in sources:
        quantity = sign * source.quantity
        await logs.add_for_line(line, log_source, quantity, source.location, source.pool, needs_review=flagged)
    in_hand = -sign * sum(source.quantity for source in sources)
    if in_hand:
        await logs.add_for_line(line, IN_HAND_SOURCE, in_hand)


class MovementEnd(NamedTuple):
    """End of a movement: location or none, pool or any, order line or free."""

    location: Location | None
    pool: int | None
    line: OrderLine | None

    @property
    def location_code(self) -> str:
        return self.location.code if self.location else NO_LOCATION

    def stock_key(self, pool: int) -> StockKey:
        """Return the key of the balance for goods of this pool."""
        return StockKey(self.location_code, pool, *self.line.key) if self.line else StockKey(self.location_code, pool)


class MovedQuantities(NamedTuple):
    """Thousandths of a movement that left the order's picker, and those that left the named source."""

    from_hand: int
    from_source: int


async def move_goods(
    ledger: Ledger,
    product: Product,
    source: MovementEnd,
    target: MovementEnd,
    quantity: int,
    *,
    allow_overage: bool,
    field: str,
    left_on: str = "",
) -> MovedQuantities:
    """Move goods, which may have left the source before (`left_on`). Return the quantities by origin.

    Raise Refusal: 409 if there are too few, 422 if nothing would move.
    """
    if _is_same_end(source, target):
        raise unprocessable("From and to are the same.", field)
    same_line = source.line is not None and target.line is not None and source.line.key == target.line.key
    from_hand = 0
    if target.line and target.location and source.line is None:
        for held in await remove_held(ledger, target.line, quantity):
            hand = StockKey(NO_LOCATION, held.pool, *target.line.key)
            to = target.stock_key(target.pool or held.pool)
            await ledger.transfer("move", product.number, hand, to, held.quantity)
            await ledger.origins.add(target.line, held.origin, to)
            from_hand += held.quantity
    rest = quantity - from_hand
    picked_after = 0
    if target.line and not same_line:
        held_before = sum((await ledger.held_for_line(target.line)).values())
        picked_after = target.line.picked_after(held_before, rest)
        if picked_after > target.line.quantity:
            raise conflict(
                f"Line {target.line.line_number} is for {format_quantity(target.line.quantity)} and has"
                f" {format_quantity(target.line.picked_quantity)}; {format_quantity(rest)} more are too many.",
                field,
                line=target.line.as_json(),
            )
    for planned in await _plan_sources(ledger, product, source, target, rest, allow_overage, field, left_on):
        await _transfer_goods(ledger, product, source, target, planned, left_on)
    if not same_line and rest:
        _set_picked(source.line, source.line.picked_quantity - rest if source.line else 0)
        _set_picked(target.line, picked_after)
    for line in {end.line.key: end.line for end in (source, target) if end.line}.values():
        await save_changed_line(ledger, line)
    if source.line is None and target.line is None and source.location is None and target.location:
        await _remove_put_backs(ledger, product.number, quantity)
    return MovedQuantities(from_hand, rest)


async def _plan_sources(
    ledger: Ledger,
    product: Product,
    source: MovementEnd,
    target: MovementEnd,
    quantity: int,
    allow_overage: bool,
    field: str,
    left_on: str,
) -> list[LocationQuantity]:
    """Return the pools from which `quantity` leaves: the named one, otherwise the default pool, then by number.

    Who counted the source after the goods had left did not find them there.
    """
    if quantity == 0:
        return []
    balances = await (ledger.held_for_line(source.line) if source.line else ledger.free_stock(product.number))
    quantities = {key.pool: held for key, held in balances.items() if key == source.stock_key(key.pool)}
    pools = [source.pool] if source.pool else _pools_default_first(source, target, quantities)
    plan = []
    for pool in pools:
        part = min(quantity, max(0, quantities.get(pool, 0)))
        if part:
            plan.append(LocationQuantity(source.location_code, pool, part))
            quantity -= part
    if pools and left_on and await ledger.is_counted_since(product.number, source.stock_key(pools[0]), left_on):
        allow_overage = True
    if quantity and (source.line is not None or not allow_overage or not pools):
        available = sum(max(0, quantities.get(pool, 0)) for pool in pools)
        raise conflict(f"Only {format_quantity(available)} of {product.number} can be moved from there.", field)
    if quantity:
        plan.append(LocationQuantity(source.location_code, pools[0], quantity))
    return plan


def _pools_default_first(source: MovementEnd, target: MovementEnd, quantities: Mapping[int, int]) -> list[int]:
    first = source.location.pool if source.location else 1
    # Goods that are in the target pool already do not change pool within one location.
    stays = target.pool if source.stock_key(1) == target.stock_key(1) else None
    return [pool for pool in dict.fromkeys((first, *sorted(quantities))) if pool != stays]


async def _transfer_goods(
    ledger: Ledger, product: Product, source: MovementEnd, target: MovementEnd, planned: LocationQuantity, left_on: str
) -> None:
    pool = target.pool or planned.pool
    origins = await _origins_of_source(ledger, source, planned)
    await ledger.transfer(
        "move", product.number, source.stock_key(planned.pool), target.stock_key(pool), planned.quantity, left_on
    )
    if source.line and source.location and target.line is None:
        args = (product.number, source.location.code, planned.pool, *source.line.key, planned.quantity)
        await ledger.ctx.tx.run(sql.ASSIGNMENT_MOVED_SET, ledger.store, *args, ledger.ctx.now)
    if target.line:
        for origin in origins:
            await ledger.origins.add(target.line, origin, target.stock_key(pool))


async def _origins_of_source(ledger: Ledger, source: MovementEnd, planned: LocationQuantity) -> list[LocationQuantity]:
    """Return the origins of goods that leave the source: the source itself, unless they are held for a line."""
    if source.line is None:
        return [planned]
    known = [
        one.origin
        for one in await remove_held(ledger, source.line, planned.quantity, planned.pool, source.location_code)
    ]
    rest = planned.quantity - sum(origin.quantity for origin in known)
    return [LocationQuantity(NO_LOCATION, planned.pool, rest), *known] if rest else known


def _set_picked(line: OrderLine | None, quantity: int) -> None:
    if line:
        line.picked_quantity = quantity
        line.is_picked = line.is_fully_picked


def _is_same_end(source: MovementEnd, target: MovementEnd) -> bool:
    keys = [end.line.key if end.line else None for end in (source, target)]
    pool_stays = target.pool is None or source.pool == target.pool
    return source.location_code == target.location_code and keys[0] == keys[1] and pool_stays


async def _remove_put_backs(ledger: Ledger, product: str, quantity: int) -> None:
    """Remove put-away goods of a rejected order from the list of goods to put back."""
    for seq, listed in await ledger.ctx.tx.all(sql.PUT_BACKS_OF_PRODUCT, ledger.store, product):
        if quantity <= 0:
            break
        if listed <= quantity:
            await ledger.ctx.tx.run(sql.PUT_BACK_DELETE, ledger.store, seq)
        else:
            await ledger.ctx.tx.run(sql.PUT_BACK_SET, ledger.store, seq, listed - quantity)
        quantity -= listed
