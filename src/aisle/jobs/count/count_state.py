"""The state of a count, its arithmetic, and the operations it sends.

Interface: Create store product logs. What is counted is a place, or one product over all its places; each pair of
product and pool at a place is one item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs import message, refusals
from aisle.jobs.job import Context, Policy, Query, Write
from aisle.jobs.quantities import to_decimal
from aisle.jobs.view import INFO, WRONG, Msg, Verdict, msg, raw
from aisle.jobs.walk_order import NO_WALK_ORDER
from aisle.scan.meaning import DELIVERY, ORDER, PERSON, REFERENCE, Match
from aisle.undo_reference import UNDO_PREFIX

MAX_UNDO = 100
"""So many entries can be undone, last first."""

MAX_PRODUCTS = 200
"""Products of a place that are read when it is opened; of a stockroom the others come when they are scanned, and all of
them when it is done."""

ENTRIES_PER_OPERATION = 20
"""Entries of one operation."""

UNCOUNTABLE_KINDS = (ORDER, REFERENCE, DELIVERY, PERSON)
"""What digits may be the number of, and nothing is counted of."""

LOG_SOURCE = "aisle"
"""What the entries of the log name as their origin."""


class CountLine(NamedTuple):
    """What is counted: one product in one pool at one place. Quantities are in base units."""

    location: str
    """Empty: at no place."""
    product: str
    label: str
    pool: int = 0
    """0 where nobody knows any pools: the place's own."""
    expected: Decimal = Decimal(0)
    """By the books, what is held for customers included; as it was when it was counted."""
    held: Decimal = Decimal(0)
    """For customers; on a tour of places what is in hand for them beside `expected`."""
    allows_decimals: bool = False
    unit: str = ""
    price: Decimal = Decimal(0)
    counted: Decimal | None = None
    counted_at: str = ""
    """The moment of its last scan or entry, ISO 8601 UTC."""
    needs_recount: bool = False
    """It has to be counted a second time."""
    is_recounted: bool = False
    """It was counted a second time."""
    is_left_as_is: bool = False
    """It was not found, and its books stay as they are."""
    is_expected_unknown: bool = False
    """Nobody says how many there should be: `expected` is no figure, and there is no difference."""

    @property
    def difference(self) -> Decimal:
        """Counted less expected; 0 while it is not counted, and where nobody says what is expected."""
        return Decimal(0) if self.counted is None or self.is_expected_unknown else self.counted - self.expected

    @property
    def value(self) -> Decimal:
        """What the difference is worth; 0 where no price is known."""
        return self.difference * self.price

    @property
    def is_missing(self) -> bool:
        """The books have it and nobody has said what became of it."""
        return self.counted is None and bool(self.expected) and not self.is_left_as_is


class UndoStep(NamedTuple):
    """What an item stood at before an entry, for undo."""

    location: str
    product: str
    pool: int
    counted: Decimal | None = None
    counted_at: str = ""


class Pool(NamedTuple):
    """A stock pool of the store by its number."""

    number: int
    name: str


class CountTarget(NamedTuple):
    """What is counted when this count is sent: a `place`, or a `product` over its places; or what digits mean: a
    `quantity`, one of these, or one of `NO_USE`."""

    kind: str
    key: str
    label: str = ""
    walk_order: Decimal = NO_WALK_ORDER
    """Where it lies on the way."""


class SentSummary(NamedTuple):
    """What went out, for the message about it."""

    label: str
    """The place, or the product."""
    line_count: int
    differing_count: int


class StockChange(NamedTuple):
    """What one entry of a sent count changed the stock by."""

    product: str
    location: str
    pool: int
    quantity: Decimal
    counted_at: str
    """The moment of the entry."""
    label: str = ""


class SentCount(NamedTuple):
    """The count that was sent last, to be taken back."""

    label: str
    """The place, or the product."""
    changes: tuple[StockChange, ...] = ()
    unknown_count: int = 0
    """So many products were counted of which nobody had said how many there were: that cannot be taken back."""


class CountState(NamedTuple):
    """A count in hand."""

    phase: str = "start"
    """`start`, `list`, `count`, `missing`, `recount`, `summary`, `pool` or `leave`."""
    mode: str = ""
    """`place` or `product`."""
    location: str = ""
    product: str = ""
    """The product whose places are counted one after the other."""
    label: str = ""
    default_pool: int = 0
    """The place's default pool; 0 where none is known."""
    chosen_pool: int = 0
    """The pool that was chosen for what follows; 0 for none."""
    lines: tuple[CountLine, ...] = ()
    current_index: int = -1
    """Index of the item whose quantity is open."""
    recount_quantity: Decimal | None = None
    """What the second count of the item has come to."""
    history: tuple[UndoStep, ...] = ()
    next_target: CountTarget | None = None
    plan: tuple[CountTarget, ...] = ()
    """The list: what is still to be counted after this, in the order of feet."""
    typed_number: Decimal | None = None
    """Digits that are looked up: a quantity, or the number of something."""
    choices: tuple[CountTarget, ...] = ()
    """Numbered ways on."""
    pending_scan: Match | None = None
    """A scan of a product that has still to be looked up."""
    sent: SentSummary | None = None
    """What was sent last."""
    first_row: int = 0
    """Rows of the summary that are scrolled away."""
    pools: tuple[Pool, ...] = ()
    closes_after_send: bool = False
    """Opened for one place or product: closes when that is sent."""
    only_product: str = ""
    """Of the place that is open this product alone is counted."""
    has_unread_lines: bool = False
    """More lies there by the books than was read."""
    product_count: int = 0
    """So many products lie there by the books, as far as it was read."""
    is_expected_unknown: bool = False
    """The service has not said of anything how much there is."""
    last_sent: SentCount | None = None
    is_blind: bool = False
    ordered_recounts: int = 0
    """Counts that were ordered and that nobody has made."""
    are_locations_unknown: bool = False
    """The service has not said of any goods at which place they lie."""

    @property
    def current_line(self) -> CountLine | None:
        """The item whose quantity is open."""
        return self.lines[self.current_index] if 0 <= self.current_index < len(self.lines) else None

    @property
    def counted_lines(self) -> tuple[CountLine, ...]:
        """All that was counted."""
        return tuple(item for item in self.lines if item.counted is not None)

    @property
    def differing_lines(self) -> tuple[CountLine, ...]:
        """Those of them that are not as the books say; the dearest first."""
        found = [item for item in self.lines if item.difference]
        return tuple(sorted(found, key=lambda item: (-abs(item.value), -abs(item.difference), item.label)))

    @property
    def question_index(self) -> int:
        """Index of the item that is asked about: not scanned, or to be counted again; -1 for none."""
        for index, item in enumerate(self.lines):
            if item.is_missing if self.phase == "missing" else item.needs_recount:
                return index
        return -1


def exceeds_threshold(line: CountLine, policy: Policy) -> bool:
    """Whether a difference is so large that it has to be counted again; a threshold of 0 is none."""
    units, value = abs(line.difference), abs(line.value)
    share = policy.recount_percent
    return bool(
        (policy.recount_units and units > policy.recount_units)
        or (share and line.expected and units * 100 > share * abs(line.expected))
        or (policy.recount_value and value > policy.recount_value)
    )


# The books


def query_location(id_: str, location: str, only_product: str = "") -> Query:
    """Asks what the books have at a place, or of one product there."""
    return Query(
        id_,
        "place",
        {"location_code": location, **({"product_number": only_product} if only_product else {"size": MAX_PRODUCTS})},
    )


def parse_location_lines(row: Mapping[str, Any]) -> tuple[CountLine, ...]:
    """The items of a place (row of the read `place`), by name."""
    code, default = str(row.get("location_code") or ""), parse_default_pool(row)
    return tuple(item for product in row.get("products") or () for item in _parse_lines(product, code, default))


def with_location(state: CountState, row: Mapping[str, Any]) -> CountState:
    """The place that is open with what was read of it."""
    items = parse_location_lines(row)
    read = len({item.product for item in items})
    total = int(to_decimal(row.get("total"), Decimal(read)))
    partly = total > read and not state.only_product
    unsaid = bool(row.get("unsaid"))
    lying = total if partly else read
    unnamed = bool(row.get("unnamed"))
    state = state._replace(
        lines=items, default_pool=parse_default_pool(row), has_unread_lines=partly, product_count=lying
    )
    return state._replace(is_expected_unknown=unsaid, are_locations_unknown=unnamed)


def _parse_lines(product: Mapping[str, Any], location: str, default_pool: int) -> list[CountLine]:
    held = sum((to_decimal(each.get("quantity")) for each in product.get("held") or ()), Decimal(0))
    base = CountLine(
        location=location,
        product=str(product["product_number"]),
        label=str(product.get("description") or product["product_number"]),
        allows_decimals=bool(product.get("allow_decimal")),
        unit=str(product.get("unit") or ""),
        price=to_decimal(product.get("price")),
        held=held,
    )
    pools = _quantities_by_pool(product.get("pools"))
    if not pools:
        quantity = product.get("quantity")
        return [base._replace(pool=default_pool, expected=to_decimal(quantity), is_expected_unknown=quantity is None)]
    main = default_pool if default_pool in pools else min(pools)
    return [
        base._replace(pool=pool, expected=pools[pool], held=held if pool == main else Decimal(0))
        for pool in sorted(pools)
    ]


def _quantities_by_pool(pools: Any) -> dict[int, Decimal]:
    """Quantities by pool, whether they come as a mapping or as rows with a name."""
    if isinstance(pools, Mapping):
        return {int(pool): to_decimal(quantity) for pool, quantity in pools.items() if to_decimal(quantity)}
    return {int(row["pool"]): to_decimal(row.get("quantity")) for row in pools or () if to_decimal(row.get("quantity"))}


def parse_default_pool(row: Mapping[str, Any]) -> int:
    """The default pool of a place; 0 where none is known."""
    return int(to_decimal(row.get("default_stock_pool")))


def parse_product_lines(row: Mapping[str, Any]) -> tuple[CountLine, ...]:
    """The items of a product (row of the read `product`): place after place in the walk, then what lies at no place.

    What was picked for orders and not put down lies at no place either. Where there are places it is in somebody's
    tote, and nobody finds it on a tour of them.
    """
    head = {
        "product_number": row["product_number"],
        "description": row.get("product_name"),
        "allow_decimal": row.get("allow_decimal"),
        "unit": row.get("unit"),
        "price": row.get("price"),
    }
    places = [each for each in row.get("places") or () if each.get("location_code")]
    items = [
        item
        for each in places
        for item in _parse_lines({**head, **each}, str(each["location_code"]), parse_default_pool(each))
    ]
    total, hand = _quantities_by_pool(row.get("pools")), to_decimal(row.get("in_hand"))
    (loose,) = _parse_lines({**head, "quantity": row.get("most_likely_quantity")}, "", 0)
    if (loose.is_expected_unknown and not total) or any(
        item.is_expected_unknown for item in items
    ):  # what lies at no place cannot be reckoned
        return (*items, loose._replace(expected=Decimal(0), is_expected_unknown=True))
    if not total:
        known = sum((item.expected for item in items), Decimal(0))
        return (*items, _without_in_hand(loose._replace(expected=loose.expected - known), hand, bool(items)))
    rest: list[CountLine] = []
    for pool in sorted({*total, *(item.pool for item in items)}):
        said = total.get(pool, Decimal(0)) - _expected_in_pool(items, pool)
        left = loose._replace(pool=pool, expected=said, is_expected_unknown=False)
        rest.append(_without_in_hand(left, hand, bool(items)))
        hand -= rest[-1].held  # nobody knows from which pools it was taken
    return (*items, *([item for item in rest if item.expected or item.held] or rest[:1]))


def _without_in_hand(line: CountLine, in_hand: Decimal, is_separate: bool) -> CountLine:
    """What lies at no place, and how much of it is in hand for orders: `apart` where that is not to be found there."""
    held = min(in_hand, max(Decimal(0), line.expected))
    return line._replace(expected=line.expected - held if is_separate else line.expected, held=held)


def _expected_in_pool(items: Iterable[CountLine], pool: int) -> Decimal:
    return sum((item.expected for item in items if item.pool == pool), Decimal(0))


def with_new_expected(state: CountState, fresh: Iterable[CountLine]) -> CountState:
    """The books of all items as they are now: what was counted keeps the figure that it was counted against."""
    found = {line_key(item): item for item in fresh}
    items = []
    for item in state.lines:
        now = found.pop(line_key(item), None)
        if item.counted is None and not (now is None and state.has_unread_lines):
            books = (now.expected, now.held, now.price) if now else (Decimal(0), Decimal(0), item.price)
            unsaid = now.is_expected_unknown if now else state.is_expected_unknown
            item = item._replace(expected=books[0], held=books[1], price=books[2], is_expected_unknown=unsaid)
        items.append(item)
    return state._replace(lines=(*items, *found.values()))


def line_key(line: CountLine) -> tuple[str, str, int]:
    """What tells two items apart."""
    return line.location.casefold(), line.product, line.pool


# What tells questions apart


def parse_pools(rows: tuple[Mapping[str, Any], ...]) -> tuple[Pool, ...]:
    """The pools of the store (rows of the read `store`), by number."""
    pools = (rows[0] if rows else {}).get("pools") or {}
    named = sorted((int(number), str(name)) for number, name in pools.items())
    return tuple(Pool(number, name) for number, name in named)


def pool_name(pools: Iterable[Pool], number: int) -> str:
    """The store's name for a pool; its number where it has none."""
    return next((pool.name for pool in pools if pool.number == number and pool.name), str(number))


def missing_in_pools(state: CountState, index: int) -> tuple[int, ...]:
    """This item and the others of its product at its place that nobody has said anything of: one question for all."""
    same = (state.lines[index].location.casefold(), state.lines[index].product)
    alike = (at for at, item in enumerate(state.lines) if (item.location.casefold(), item.product) == same)
    return tuple(at for at in alike if at == index or state.lines[at].is_missing)


def count_missing(state: CountState) -> int:
    """How many products are not scanned, each at each of its places."""
    return len({(item.location.casefold(), item.product) for item in state.lines if item.is_missing})


def label_with_pools(state: CountState, *indexes: int) -> Msg:
    """A product by its name, and by these pools where the books have it at the place in several."""
    item = state.lines[indexes[0]]
    alike = [other for other in state.lines if (other.location, other.product) == (item.location, item.product)]
    if len(alike) < 2:
        return raw(item.label)
    pools = ", ".join(pool_name(state.pools, state.lines[index].pool) for index in indexes)
    return msg("count.in_pool", label=item.label, pool=pools)


# Entries


def find_line(state: CountState, product: str) -> int:
    """Index of the item that a scan of this product belongs to, in the pool that is counted; -1 for none.

    Without a chosen pool it is the place's default one, unless the books have the product in another one alone.
    """
    mine = [
        index for index, item in enumerate(state.lines) if item.product == product and item.location == state.location
    ]
    wanted = state.chosen_pool or state.default_pool or 1
    for index in mine:
        if state.lines[index].pool in ((wanted,) if state.chosen_pool else (wanted, 0)):
            return index
    return mine[0] if len(mine) == 1 and not state.chosen_pool else -1


def new_line(state: CountState, product: str, label: str) -> CountLine:
    """A product of which the books know nothing here, in the pool that is counted."""
    return CountLine(
        state.location,
        product,
        label,
        state.chosen_pool or state.default_pool,
        is_expected_unknown=state.is_expected_unknown,
    )


def set_counted(state: CountState, index: int, counted: Decimal, now: str) -> CountState:
    """The item now stands at `counted`; what it stood at goes into the history."""
    item = state.lines[index]
    before = UndoStep(item.location, item.product, item.pool, item.counted, item.counted_at)
    changed = item._replace(
        counted=counted, counted_at=now, is_left_as_is=False, needs_recount=False, is_recounted=False
    )
    return replace_line(state, index, changed)._replace(
        current_index=index, history=(*state.history, before)[-MAX_UNDO:]
    )


def replace_line(state: CountState, index: int, line: CountLine) -> CountState:
    """The state with another item at this index."""
    return state._replace(lines=(*state.lines[:index], line, *state.lines[index + 1 :]))


def undo_entry(state: CountState) -> tuple[CountState, CountLine | None]:
    """The state before the last entry, and the item as it was after it; None when there is nothing to undo."""
    if not state.history:
        return state, None
    before = state.history[-1]
    for index, item in enumerate(state.lines):
        if (item.location, item.product, item.pool) == (before.location, before.product, before.pool):
            back = item._replace(
                counted=before.counted, counted_at=before.counted_at, is_recounted=False, needs_recount=False
            )
            state = replace_line(state, index, back)._replace(history=state.history[:-1], current_index=index)
            return state._replace(location=item.location) if state.mode == "product" else state, item
    return state._replace(history=state.history[:-1]), None


# What is sent


def log_write(
    entries: list[dict[str, Any]], products: Iterable[str], store: str, user: str, *, is_count: bool = False
) -> Write:
    """The operation for these entries of the log, in the lanes of their products."""
    lanes = tuple(sorted({f"product/{product}" for product in products}))
    query = {"appUserName": user, "is_counted_quantity": is_count}
    return Write("create-store-product-logs", lanes, {"store_number": store}, query, {"storeproductlog": entries})


def count_writes(state: CountState, context: Context) -> tuple[Write, ...]:
    """The operations that tell the service what was counted; a count is never merged with another."""
    entries = [(item.product, _log_entry(state, item, context.user)) for item in _store_total_last(state.counted_lines)]
    return tuple(
        log_write(
            [entry for _, entry in part], [product for product, _ in part], context.store, context.user, is_count=True
        )
        for part in (
            entries[first : first + ENTRIES_PER_OPERATION] for first in range(0, len(entries), ENTRIES_PER_OPERATION)
        )
    )


def sent_count(label: str, state: CountState) -> SentCount:
    """This count as it is taken back once it is sent."""
    return SentCount(label, stock_changes(state), sum(item.is_expected_unknown for item in state.counted_lines))


def no_undo_verdict(sent: SentCount) -> Verdict:
    """Says why nothing of a sent count can be taken back."""
    if sent.unknown_count:
        return Verdict(WRONG, msg("count.cannot_take_back", what=sent.label))
    return Verdict(INFO, msg("count.none_to_take_back", what=sent.label))


def stock_changes(state: CountState) -> tuple[StockChange, ...]:
    """What this count changes the stock by when it is sent."""
    return tuple(
        StockChange(item.product, item.location, item.pool, item.difference, _counted_at(state, item), item.label)
        for item in _store_total_last(state.counted_lines)
        if item.difference
    )


def _counted_at(state: CountState, line: CountLine) -> str:
    """When it was counted; a total of the store is not told before its last part."""
    return line.counted_at if line.location else max([line.counted_at, *(other.counted_at for other in state.lines)])


def without_refused(sent: SentCount, rows: refusals.RefusalRows) -> tuple[SentCount, Mapping[str, Any] | None]:
    """A sent count without what the service refused of it, and the last refusal."""
    found = [(each, refusals.refused_entry(rows, each.product, each.counted_at)) for each in sent.changes]
    last = next((row for _, row in reversed(found) if row), None)
    return sent._replace(changes=tuple(each for each, row in found if row is None)), last


def reversing_writes(sent: SentCount, context: Context) -> tuple[Write, ...]:
    """The operations that take a sent count back."""
    parts = (
        sent.changes[first : first + ENTRIES_PER_OPERATION]
        for first in range(0, len(sent.changes), ENTRIES_PER_OPERATION)
    )
    return tuple(
        log_write(
            [_reversing_entry(each, context) for each in part],
            [each.product for each in part],
            context.store,
            context.user,
        )
        for part in parts
    )


def undo_message(sent: SentCount) -> Msg:
    """Says what taking a sent count back changes: the stock of which products, or of one product at which places."""
    tour = len({each.location for each in sent.changes}) > 1
    changes = []
    for each in sent.changes:
        key, label = (
            (each.location, each.location) if tour and each.location else (each.product, each.label or each.product)
        )
        changes.append(message.GoodsAmount(key, label, -each.quantity, is_change=True))
    told = message.goods_message("count.taken_back", "count.taken_back_many", changes, what=sent.label)
    return msg("count.taken_back_partly", told=told, count=sent.unknown_count) if sent.unknown_count else told


def _reversing_entry(change: StockChange, context: Context) -> dict[str, Any]:
    return {
        "product_number": change.product,
        **({"location_code": change.location} if change.location else {}),
        f"stock_pool_{change.pool}" if change.pool else "quantity": -change.quantity,
        "reference": UNDO_PREFIX + change.counted_at,
        "scanned_datetime": context.now,
        "app_user_name": context.user,
        "source": LOG_SOURCE,
    }


def _store_total_last(items: tuple[CountLine, ...]) -> list[CountLine]:
    """What lies at no place comes last: it is told as the store's total, the places included."""
    return sorted(items, key=lambda item: not item.location)


def _log_entry(state: CountState, line: CountLine, user: str) -> dict[str, Any]:
    counted, expected = line.counted or Decimal(0), line.expected
    if not line.location:
        others = [other for other in state.lines if other.location and _is_part_of(other, line)]
        known = sum((other.expected if other.counted is None else other.counted for other in others), Decimal(0))
        if state.mode == "product":  # what is in hand for orders is of the store, and not of this stop
            known += line.held
        counted, expected = counted + known, expected + known
    place = {"location_code": line.location} if line.location else {}
    bare = line.pool in (0, state.default_pool if state.mode == "place" and line.location else 0)
    quantity = "counted_quantity" if bare else f"stock_pool_{line.pool}"
    return {
        "product_number": line.product,
        **place,
        quantity: counted,
        **({} if line.is_expected_unknown else {"expected_quantity": expected}),
        "scanned_datetime": _counted_at(state, line),
        "app_user_name": user,
        "source": LOG_SOURCE,
    }


def _is_part_of(line: CountLine, total: CountLine) -> bool:
    """Whether a place's item belongs to the total that `other` stands for; a total of no pool holds them all."""
    return line.product == total.product and total.pool in (0, line.pool)
