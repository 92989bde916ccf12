"""State of a count and its arithmetic.

The target of a count is a location, or one product at all its locations. Each pair of product and pool at a location is
one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.jobs.count.sent_count import SentCount
from aisle.jobs.job import Policy, Query
from aisle.jobs.quantities_and_plausibility import to_decimal
from aisle.jobs.stock_pools import Pools, pool_name
from aisle.jobs.view import Msg, msg, raw
from aisle.jobs.walk_order import NO_WALK_ORDER
from aisle.scan.grammar_types import DELIVERY, ORDER, PERSON, REFERENCE, Match
from aisle.search_text import normalise_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationHeader, LocationRow
    from aisle.jobs.row_types.orders import LocationStockRow
    from aisle.jobs.row_types.products import ProductRow

MAX_UNDO = 100

MAX_PRODUCTS = 200
"""Number of products read when a location is opened. In a stockroom the others are read when they are scanned, and all
of them at the end."""


UNCOUNTABLE_KINDS = (ORDER, REFERENCE, DELIVERY, PERSON)
"""Kinds of records whose number may be typed but which cannot be counted."""


FOUND_BY_WORDS = "found"
"""Kind of a choice among the products here that have the typed words in their names."""


class ExpectedStock(NamedTuple):
    """Expected stock of a line, as `CountLine` has it."""

    expected: Decimal
    held: Decimal
    is_expected_unknown: bool


class CountLine(NamedTuple):
    """Count of one product in one pool at one location. Quantities are in base units."""

    location: str
    """Empty for stock at no location."""
    product: str
    label: str
    pool: int = 0
    """Pool; 0 for the location's own where pools are unknown."""
    expected: Decimal = Decimal(0)
    """Stock at the time of the last scan or entry, including goods held for customers."""
    held: Decimal = Decimal(0)
    """Quantity held for customers; when a product is counted at all locations, goods in hand beside `expected`."""
    allows_decimals: bool = False
    unit: str = ""
    price: Decimal = Decimal(0)
    counted: Decimal | None = None
    counted_at: str = ""
    """Time of the last scan or entry, ISO 8601 UTC."""
    needs_recount: bool = False
    is_recounted: bool = False
    is_left_as_is: bool = False
    """True if it was not found and its stock stays unchanged."""
    is_expected_unknown: bool = False
    """True if the stock is unknown: `expected` has no meaning, and there is no difference."""
    is_typed: bool = False
    """True if the counted quantity was typed and nothing was scanned since."""
    latest: ExpectedStock | None = None
    """Expected stock that was read since the last scan or entry; the next one is compared with it. None for none."""

    @property
    def difference(self) -> Decimal:
        """Counted less expected; 0 while not counted or if the stock is unknown."""
        return Decimal(0) if self.counted is None or self.is_expected_unknown else self.counted - self.expected

    @property
    def value(self) -> Decimal:
        """Value of the difference; 0 if the price is unknown."""
        return self.difference * self.price

    @property
    def is_missing(self) -> bool:
        """True if stock is expected but the line is neither counted nor left unchanged."""
        return self.counted is None and bool(self.expected) and not self.is_left_as_is


class UndoStep(NamedTuple):
    """State of a line before an entry, for undo."""

    location: str
    product: str
    pool: int
    counted: Decimal | None = None
    counted_at: str = ""
    stock: ExpectedStock | None = None
    """Expected stock that the earlier quantity is compared with."""


class CountTarget(NamedTuple):
    """Target of a count: a `location`, or a `product` at all its locations. As a choice it may also be a `quantity`,
    `FOUND_BY_WORDS`, or one of `UNCOUNTABLE_KINDS`."""

    kind: str
    key: str
    label: str = ""
    walk_order: Decimal = NO_WALK_ORDER
    added: int = 0
    """Serial number by which it was added to the list."""


class SentSummary(NamedTuple):
    """Summary of a count that was sent, for its message."""

    label: str
    """Location or product."""
    line_count: int
    differing_count: int


class CountState(NamedTuple):
    """State of the count job."""

    phase: str = "start"
    """`start`, `list`, `count`, `missing`, `recount`, `summary`, `pool` or `leave`."""
    mode: str = ""
    """`location` or `product`."""
    location: str = ""
    product: str = ""
    """Product that is counted location by location."""
    label: str = ""
    default_pool: int = 0
    """Default pool of the location; 0 if unknown."""
    chosen_pool: int = 0
    """Pool chosen for further entries; 0 for none."""
    lines: tuple[CountLine, ...] = ()
    current_index: int = -1
    """Index of the line whose quantity is open."""
    recount_quantity: Decimal | None = None
    """Result so far of the second count."""
    history: tuple[UndoStep, ...] = ()
    question_start: int = 0
    """Number of entries in the history when counting was finished: later ones answer questions."""
    next_target: CountTarget | None = None
    plan: tuple[CountTarget, ...] = ()
    """Targets still to be counted, in walking order."""
    typed_number: Decimal | None = None
    """Digits that are being looked up: a quantity or a record's number."""
    choices: tuple[CountTarget, ...] = ()
    pending_scan: Match | None = None
    """Scan of a product that is being looked up."""
    sent: SentSummary | None = None
    first_row: int = 0
    """Index of the first row shown in a list."""
    pools: Pools = ()
    closes_after_send: bool = False
    """True if the job was opened for one location or product and closes when that is sent."""
    only_product: str = ""
    """The only product counted at the open location; empty for all."""
    has_unread_lines: bool = False
    """True if the location has more stock lines than were read."""
    product_count: int = 0
    """Number of products in stock at the location, as far as known."""
    is_expected_unknown: bool = False
    """True if the service has reported no stock quantities at all."""
    last_sent: SentCount | None = None
    is_blind: bool = False
    ordered_recounts: int = 0
    """Number of ordered recounts that are not done."""
    are_locations_unknown: bool = False
    """True if the service has reported no stock locations at all."""
    has_moved_on: bool = False
    """True if the last input was a number that answered a question, so that the page went on to another quantity. The
    next number may be a correction, so it is asked about."""
    is_listed: bool = False
    """True if the target that is counted came from the list."""
    untaken: str = ""
    """Label of a scan whose question was not answered; the next verdict says that it is not taken."""

    @property
    def current_line(self) -> CountLine | None:
        """Line whose quantity is open."""
        return self.lines[self.current_index] if 0 <= self.current_index < len(self.lines) else None

    @property
    def counted_lines(self) -> tuple[CountLine, ...]:
        """All lines that are counted."""
        return tuple(item for item in self.lines if item.counted is not None)

    @property
    def differing_lines(self) -> tuple[CountLine, ...]:
        """Counted lines with a difference, highest value first."""
        differing = [item for item in self.lines if item.difference]
        return tuple(sorted(differing, key=lambda item: (-abs(item.value), -abs(item.difference), item.label)))

    @property
    def question_index(self) -> int:
        """Index of the line in question, because it was not scanned or needs a recount; -1 for none."""
        for index, item in enumerate(self.lines):
            if item.is_missing if self.phase == "missing" else item.needs_recount:
                return index
        return -1

    def list_again(self, sent: SentCount) -> CountState:
        """Return the state with an undone target of a list back on it, as the next one, unless it is counted now. If
        nothing is counted, the list is shown."""
        is_on_list = any((each.kind, each.key) == (sent.listed_kind, sent.listed_key) for each in self.plan)
        is_counted_now = self.phase != "start" and sent.listed_key in (self.location, self.product)
        if not sent.listed_key or is_on_list or is_counted_now:
            return self
        plan = (CountTarget(sent.listed_kind, sent.listed_key, sent.label), *self.plan)
        return self._replace(plan=plan, phase="list" if self.phase == "start" else self.phase)


def exceeds_threshold(line: CountLine, policy: Policy) -> bool:
    """Return True if the difference is so large that a recount is needed; a threshold of 0 is not applied."""
    units, value = abs(line.difference), abs(line.value)
    share = policy.recount_percent
    return bool(
        (policy.recount_units and units > policy.recount_units)
        or (share and line.expected and units * 100 > share * abs(line.expected))
        or (policy.recount_value and value > policy.recount_value)
    )


# Stock


def query_location(id_: str, location: str, only_product: str = "") -> Query:
    """Return the query for the stock at a location, or for one product there."""
    return Query(
        id_,
        "location",
        {"location_code": location, **({"product_number": only_product} if only_product else {"size": MAX_PRODUCTS})},
    )


def parse_location_lines(row: LocationRow) -> tuple[CountLine, ...]:
    """Return the lines of a location (row of the query `location`), by name."""
    code, default = str(row.get("location_code") or ""), parse_default_pool(row)
    return tuple(item for product in row.get("products") or () for item in _parse_lines(product, code, default))


def with_location(state: CountState, row: LocationRow) -> CountState:
    """Return the state with the stock read for the open location."""
    items = parse_location_lines(row)
    read = len({item.product for item in items})
    total = int(to_decimal(row.get("total"), Decimal(read)))
    has_unread = total > read and not state.only_product
    is_expected_unknown = bool(row.get("is_stock_unknown"))
    product_count = total if has_unread else read
    are_locations_unknown = bool(row.get("unnamed"))
    state = state._replace(
        lines=items, default_pool=parse_default_pool(row), has_unread_lines=has_unread, product_count=product_count
    )
    return state._replace(is_expected_unknown=is_expected_unknown, are_locations_unknown=are_locations_unknown)


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
    if isinstance(pools, Mapping):
        return {int(pool): to_decimal(quantity) for pool, quantity in pools.items() if to_decimal(quantity)}
    return {int(row["pool"]): to_decimal(row.get("quantity")) for row in pools or () if to_decimal(row.get("quantity"))}


def parse_default_pool(row: LocationHeader | LocationStockRow) -> int:
    """Return the default pool of a location; 0 if unknown."""
    return int(to_decimal(row.get("default_stock_pool")))


def parse_product_lines(row: ProductRow) -> tuple[CountLine, ...]:
    """Return the lines of a product (row of the read `product`): by location in walking order, then stock at no
    location. Goods in hand for orders are also at no location. If the product has locations, they are in a picker's
    tote, where this count cannot find them."""
    head = {
        "product_number": row["product_number"],
        "description": row.get("product_name"),
        "allow_decimal": row.get("allow_decimal"),
        "unit": row.get("unit"),
        "price": row.get("price"),
    }
    locations = [each for each in row.get("locations") or () if each.get("location_code")]
    items = [
        item
        for each in locations
        for item in _parse_lines({**head, **each}, str(each["location_code"]), parse_default_pool(each))
    ]
    total, in_hand = _quantities_by_pool(row.get("pools")), to_decimal(row.get("in_hand"))
    (loose,) = _parse_lines({**head, "quantity": row.get("most_likely_quantity")}, "", 0)
    # Stock at no location is the total less the stock of the locations.
    if (loose.is_expected_unknown and not total) or any(item.is_expected_unknown for item in items):
        return (*items, loose._replace(expected=Decimal(0), is_expected_unknown=True))
    if not total:
        known = sum((item.expected for item in items), Decimal(0))
        return (*items, _without_in_hand(loose._replace(expected=loose.expected - known), in_hand, bool(items)))
    rest: list[CountLine] = []
    for pool in sorted({*total, *(item.pool for item in items)}):
        expected = total.get(pool, Decimal(0)) - _expected_in_pool(items, pool)
        line = loose._replace(pool=pool, expected=expected, is_expected_unknown=False)
        rest.append(_without_in_hand(line, in_hand, bool(items)))
        in_hand -= rest[-1].held  # the pools it was picked from are unknown
    return (*items, *([item for item in rest if item.expected or item.held] or rest[:1]))


def _without_in_hand(line: CountLine, in_hand: Decimal, is_separate: bool) -> CountLine:
    """Set how much of the stock at no location is in hand for orders; if `is_separate`, it is not counted there."""
    held = min(in_hand, max(Decimal(0), line.expected))
    return line._replace(expected=line.expected - held if is_separate else line.expected, held=held)


def _expected_in_pool(items: Iterable[CountLine], pool: int) -> Decimal:
    return sum((item.expected for item in items if item.pool == pool), Decimal(0))


def with_new_expected(state: CountState, fresh: Iterable[CountLine]) -> CountState:
    """Update the expected stock of all lines; counted lines keep the figure they were counted against until they are
    counted again."""
    fresh_by_key = {line_key(item): item for item in fresh}
    items = []
    for item in state.lines:
        now = fresh_by_key.pop(line_key(item), None)
        if not (now is None and state.has_unread_lines):
            latest = expected_stock(now) if now else ExpectedStock(Decimal(0), Decimal(0), state.is_expected_unknown)
            item = (
                item._replace(price=now.price if now else item.price, **latest._asdict())
                if item.counted is None
                else item._replace(latest=latest)
            )
        items.append(item)
    return state._replace(lines=(*items, *fresh_by_key.values()))


def expected_stock(line: CountLine) -> ExpectedStock:
    """Return the expected stock that a line is compared with."""
    return ExpectedStock(line.expected, line.held, line.is_expected_unknown)


def line_key(line: CountLine) -> tuple[str, str, int]:
    """Return the key of a line: location, product, pool."""
    return line.location.casefold(), line.product, line.pool


# Lines in questions


def missing_in_pools(state: CountState, index: int) -> tuple[int, ...]:
    """Return the indexes of this line and the uncounted others of its product and location: one question for all."""
    same = (state.lines[index].location.casefold(), state.lines[index].product)
    same_product = (at for at, item in enumerate(state.lines) if (item.location.casefold(), item.product) == same)
    return tuple(at for at in same_product if at == index or state.lines[at].is_missing)


def count_missing(state: CountState) -> int:
    """Return the number of products not scanned, each at each of its locations."""
    return len({(item.location.casefold(), item.product) for item in state.lines if item.is_missing})


def label_with_pools(state: CountState, *indexes: int) -> Msg:
    """Return the product's label, with these pools if it has several at the location, or another than the usual one: a
    count must not go to a pool unnamed because picks emptied the pool of the record."""
    item = state.lines[indexes[0]]
    same_product = [other for other in state.lines if (other.location, other.product) == (item.location, item.product)]
    is_usual = item.pool in (0, state.default_pool or 1) or len(state.pools) < 2
    if len(same_product) < 2 and is_usual:
        return raw(item.label)
    pools = pool_name(state.pools, *(state.lines[index].pool for index in indexes))
    return msg("count.in_pool", label=item.label, pool=pools)


def name_with_pool(state: CountState, index: int) -> Msg:
    """Return the location of the line if a product is counted at several, else the product; with its pool if it has
    several there."""
    item, label = state.lines[index], label_with_pools(state, index)
    if state.mode != "product" or not item.location:
        return label
    pool = dict(label.args).get("pool")
    return msg("count.in_pool", label=item.location, pool=pool) if pool else raw(item.location)


# Entries


def next_stop(state: CountState) -> int:
    """Return the index of the next stop not counted, wrapping at the end; the current one if there is none."""
    count = len(state.lines)
    order = [(state.current_index + step) % count for step in range(1, count)]
    return next((index for index in order if state.lines[index].counted is None), state.current_index)


def find_line(state: CountState, product: str) -> int:
    """Return the index of the line that a scan of this product belongs to; -1 for none. The line that is asked stays
    asked. Otherwise the pool is the chosen one or the location's default. If the product is in one other pool only,
    that line is used."""
    asked = state.current_line
    if asked and (asked.product, asked.location) == (product, state.location):
        return state.current_index
    indexes = [
        index for index, item in enumerate(state.lines) if item.product == product and item.location == state.location
    ]
    pool = state.chosen_pool or state.default_pool or 1
    for index in indexes:
        if state.lines[index].pool in ((pool,) if state.chosen_pool else (pool, 0)):
            return index
    return indexes[0] if len(indexes) == 1 and not state.chosen_pool else -1


def new_line(state: CountState, product: str, label: str) -> CountLine:
    """Return a line for a product without stock here, in the pool that is counted."""
    return CountLine(
        state.location,
        product,
        label,
        state.chosen_pool or state.default_pool,
        is_expected_unknown=state.is_expected_unknown,
    )


def with_product_data(line: CountLine, row: ProductRow) -> CountLine:
    """Return the line with the unit and price of its product."""
    known = parse_product_lines(row)[0]
    return line._replace(allows_decimals=known.allows_decimals, unit=known.unit, price=known.price)


def find_lines_by_words(state: CountState, text: str) -> tuple[int, ...]:
    """Return the indexes of the lines here whose product's name has all words, the first line of each product."""
    words, found = normalise_text(text).split(), dict[str, int]()
    for index, item in enumerate(state.lines):
        if item.location == state.location and all(word in normalise_text(item.label) for word in words):
            found.setdefault(item.product, index)
    return tuple(found.values())


def set_counted(state: CountState, index: int, counted: Decimal, now: str) -> CountState:
    """Set the counted quantity of a line, compare it with the stock read last, and add its earlier state to the
    history."""
    item = state.lines[index]
    was = expected_stock(item)
    before = UndoStep(item.location, item.product, item.pool, item.counted, item.counted_at, was)
    changed = item._replace(
        counted=counted, counted_at=now, is_left_as_is=False, needs_recount=False, is_recounted=False, is_typed=False
    )
    changed = changed._replace(latest=None, **(item.latest or was)._asdict())
    return replace_line(state, index, changed)._replace(
        current_index=index, history=(*state.history, before)[-MAX_UNDO:]
    )


def replace_line(state: CountState, index: int, line: CountLine) -> CountState:
    """Return the state with another line at this index."""
    return state._replace(lines=(*state.lines[:index], line, *state.lines[index + 1 :]))


def undo_entry(state: CountState) -> tuple[CountState, CountLine | None]:
    """Undo the last entry; return the state, and the line before the undo or None if there was none."""
    if not state.history:
        return state, None
    before = state.history[-1]
    for index, item in enumerate(state.lines):
        if (item.location, item.product, item.pool) == (before.location, before.product, before.pool):
            restored = item._replace(counted=before.counted, counted_at=before.counted_at)
            restored = restored._replace(is_recounted=False, needs_recount=False, is_typed=False)
            latest = item.latest or expected_stock(item)
            if before.counted is None:
                restored = restored._replace(latest=None, **latest._asdict())
            elif before.stock:
                restored = restored._replace(latest=latest, **before.stock._asdict())
            state = replace_line(state, index, restored)._replace(history=state.history[:-1], current_index=index)
            return state._replace(location=item.location) if state.mode == "product" else state, item
    return state._replace(history=state.history[:-1]), None


# Operations
