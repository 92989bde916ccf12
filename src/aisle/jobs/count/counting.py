"""The state of a count, its arithmetic, and the operations it sends.

Interface: Create store product logs. What is counted is a place, or one product over all its places; each pair of
product and pool at a place is one item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.base import Policy, Query, Write
from aisle.jobs.feet import LAST
from aisle.jobs.view import Msg, msg, raw
from aisle.scan.meaning import DELIVERY, ORDER, PERSON, REFERENCE, Meaning
from aisle.tuples import NamedTuple

HISTORY = 100
"""So many entries can be undone, last first."""

MOST = 200
"""Products of a place that are read when it is opened; of a stockroom the others come when they are scanned, and all of
them when it is done."""

BATCH = 20
"""Entries of one operation."""

NO_USE = (ORDER, REFERENCE, DELIVERY, PERSON)
"""What digits may be the number of, and nothing is counted of."""

SOURCE = "aisle"
"""What the entries of the log name as their origin."""


class Item(NamedTuple):
    """What is counted: one product in one pool at one place. Quantities are in base units."""

    place: str
    """Empty: at no place."""
    product: str
    label: str
    pool: int = 0
    """0 where nobody knows any pools: the place's own."""
    expected: Decimal = Decimal(0)
    """By the books, what is held for customers included; as it was when it was counted."""
    held: Decimal = Decimal(0)
    """For customers; on a tour of places what is in hand for them beside `expected`."""
    decimal: bool = False
    unit: str = ""
    price: Decimal = Decimal(0)
    counted: Decimal | None = None
    at: str = ""
    """The moment of its last scan or entry, ISO 8601 UTC."""
    again: bool = False
    """It has to be counted a second time."""
    checked: bool = False
    """It was counted a second time."""
    left: bool = False
    """It was not found, and its books stay as they are."""
    unsaid: bool = False
    """Nobody says how many there should be: `expected` is no figure, and there is no difference."""

    @property
    def difference(self) -> Decimal:
        """Counted less expected; 0 while it is not counted, and where nobody says what is expected."""
        return Decimal(0) if self.counted is None or self.unsaid else self.counted - self.expected

    @property
    def value(self) -> Decimal:
        """What the difference is worth; 0 where no price is known."""
        return self.difference * self.price

    @property
    def missing(self) -> bool:
        """The books have it and nobody has said what became of it."""
        return self.counted is None and bool(self.expected) and not self.left


class Before(NamedTuple):
    """What an item stood at before an entry, for undo."""

    place: str
    product: str
    pool: int
    counted: Decimal | None = None
    at: str = ""


class Pool(NamedTuple):
    """A stock pool of the store by its number."""

    number: int
    name: str


class Next(NamedTuple):
    """What is counted when this count is sent: a `place`, or a `product` over its places; or what digits mean: a
    `quantity`, one of these, or one of `NO_USE`."""

    kind: str
    key: str
    label: str = ""
    order: Decimal = LAST
    """Where it lies on the way."""


class Sent(NamedTuple):
    """What went out, for the message about it."""

    what: str
    """The place, or the product."""
    items: int
    differing: int


class Change(NamedTuple):
    """What one entry of a sent count changed the stock by."""

    product: str
    place: str
    pool: int
    quantity: Decimal
    at: str
    """The moment of the entry."""
    label: str = ""


class Gone(NamedTuple):
    """The count that was sent last, to be taken back."""

    what: str
    """The place, or the product."""
    changes: tuple[Change, ...] = ()
    unsaid: int = 0
    """So many products were counted of which nobody had said how many there were: that cannot be taken back."""


class Counting(NamedTuple):
    """A count in hand."""

    phase: str = "start"
    """`start`, `list`, `count`, `missing`, `recount`, `summary`, `pool` or `leave`."""
    mode: str = ""
    """`place` or `product`."""
    place: str = ""
    product: str = ""
    """The product whose places are counted one after the other."""
    label: str = ""
    default: int = 0
    """The place's default pool; 0 where none is known."""
    pool: int = 0
    """The pool that was chosen for what follows; 0 for none."""
    items: tuple[Item, ...] = ()
    at: int = -1
    """Index of the item whose quantity is open."""
    second: Decimal | None = None
    """What the second count of the item has come to."""
    history: tuple[Before, ...] = ()
    then: Next | None = None
    todo: tuple[Next, ...] = ()
    """The list: what is still to be counted after this, in the order of feet."""
    typed: Decimal | None = None
    """Digits that are looked up: a quantity, or the number of something."""
    ways: tuple[Next, ...] = ()
    """Numbered ways on."""
    pending: Meaning | None = None
    """A scan of a product that has still to be looked up."""
    sent: Sent | None = None
    """What was sent last."""
    first: int = 0
    """Rows of the summary that are scrolled away."""
    pools: tuple[Pool, ...] = ()
    once: bool = False
    """Opened for one place or product: closes when that is sent."""
    only: str = ""
    """Of the place that is open this product alone is counted."""
    partly: bool = False
    """More lies there by the books than was read."""
    lying: int = 0
    """So many products lie there by the books, as far as it was read."""
    unsaid: bool = False
    """The service has not said of anything how much there is."""
    gone: Gone | None = None
    blind: bool = False
    asked: int = 0
    """Counts that were ordered and that nobody has made."""
    unnamed: bool = False
    """The service has not said of any goods at which place they lie."""

    @property
    def item(self) -> Item | None:
        """The item whose quantity is open."""
        return self.items[self.at] if 0 <= self.at < len(self.items) else None

    @property
    def counted(self) -> tuple[Item, ...]:
        """All that was counted."""
        return tuple(item for item in self.items if item.counted is not None)

    @property
    def differing(self) -> tuple[Item, ...]:
        """Those of them that are not as the books say; the dearest first."""
        found = [item for item in self.items if item.difference]
        return tuple(sorted(found, key=lambda item: (-abs(item.value), -abs(item.difference), item.label)))

    @property
    def question(self) -> int:
        """Index of the item that is asked about: not scanned, or to be counted again; -1 for none."""
        for index, item in enumerate(self.items):
            if item.missing if self.phase == "missing" else item.again:
                return index
        return -1


def passes(item: Item, policy: Policy) -> bool:
    """Whether a difference is so large that it has to be counted again; a threshold of 0 is none."""
    units, value = abs(item.difference), abs(item.value)
    share = policy.recount_share
    return bool(
        (policy.recount_units and units > policy.recount_units)
        or (share and item.expected and units * 100 > share * abs(item.expected))
        or (policy.recount_value and value > policy.recount_value)
    )


# The books


def at_place(id_: str, place: str, only: str = "") -> Query:
    """Asks what the books have at a place, or of one product there."""
    return Query(id_, "place", {"location_code": place, **({"product_number": only} if only else {"size": MOST})})


def place_items(row: Mapping[str, Any]) -> tuple[Item, ...]:
    """The items of a place (row of the read `place`), by name."""
    code, default = str(row.get("location_code") or ""), pool_of(row)
    return tuple(item for product in row.get("products") or () for item in _items(product, code, default))


def opened(state: Counting, row: Mapping[str, Any]) -> Counting:
    """The place that is open with what was read of it."""
    items = place_items(row)
    read = len({item.product for item in items})
    total = int(number(row.get("total"), Decimal(read)))
    partly = total > read and not state.only
    unsaid = bool(row.get("unsaid"))
    lying = total if partly else read
    unnamed = bool(row.get("unnamed"))
    state = state._replace(items=items, default=pool_of(row), partly=partly, lying=lying)
    return state._replace(unsaid=unsaid, unnamed=unnamed)


def _items(product: Mapping[str, Any], place: str, default: int) -> list[Item]:
    held = sum((number(each.get("quantity")) for each in product.get("held") or ()), Decimal(0))
    base = Item(
        place=place,
        product=str(product["product_number"]),
        label=str(product.get("description") or product["product_number"]),
        decimal=bool(product.get("allow_decimal")),
        unit=str(product.get("unit") or ""),
        price=number(product.get("price")),
        held=held,
    )
    pools = _by_pool(product.get("pools"))
    if not pools:
        quantity = product.get("quantity")
        return [base._replace(pool=default, expected=number(quantity), unsaid=quantity is None)]
    main = default if default in pools else min(pools)
    return [
        base._replace(pool=pool, expected=pools[pool], held=held if pool == main else Decimal(0))
        for pool in sorted(pools)
    ]


def _by_pool(pools: Any) -> dict[int, Decimal]:
    """Quantities by pool, whether they come as a mapping or as rows with a name."""
    if isinstance(pools, Mapping):
        return {int(pool): number(quantity) for pool, quantity in pools.items() if number(quantity)}
    return {int(row["pool"]): number(row.get("quantity")) for row in pools or () if number(row.get("quantity"))}


def pool_of(row: Mapping[str, Any]) -> int:
    """The default pool of a place; 0 where none is known."""
    return int(number(row.get("default_stock_pool")))


def product_items(row: Mapping[str, Any]) -> tuple[Item, ...]:
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
    items = [item for each in places for item in _items({**head, **each}, str(each["location_code"]), pool_of(each))]
    total, hand = _by_pool(row.get("pools")), number(row.get("in_hand"))
    (loose,) = _items({**head, "quantity": row.get("most_likely_quantity")}, "", 0)
    if (loose.unsaid and not total) or any(item.unsaid for item in items):  # what lies at no place cannot be reckoned
        return (*items, loose._replace(expected=Decimal(0), unsaid=True))
    if not total:
        known = sum((item.expected for item in items), Decimal(0))
        return (*items, _without(loose._replace(expected=loose.expected - known), hand, bool(items)))
    rest: list[Item] = []
    for pool in sorted({*total, *(item.pool for item in items)}):
        said = total.get(pool, Decimal(0)) - _sum_of(items, pool)
        left = loose._replace(pool=pool, expected=said, unsaid=False)
        rest.append(_without(left, hand, bool(items)))
        hand -= rest[-1].held  # nobody knows from which pools it was taken
    return (*items, *([item for item in rest if item.expected or item.held] or rest[:1]))


def _without(loose: Item, hand: Decimal, apart: bool) -> Item:
    """What lies at no place, and how much of it is in hand for orders: `apart` where that is not to be found there."""
    held = min(hand, max(Decimal(0), loose.expected))
    return loose._replace(expected=loose.expected - held if apart else loose.expected, held=held)


def _sum_of(items: Iterable[Item], pool: int) -> Decimal:
    return sum((item.expected for item in items if item.pool == pool), Decimal(0))


def refreshed(state: Counting, fresh: Iterable[Item]) -> Counting:
    """The books of all items as they are now: what was counted keeps the figure that it was counted against."""
    found = {key(item): item for item in fresh}
    items = []
    for item in state.items:
        now = found.pop(key(item), None)
        if item.counted is None and not (now is None and state.partly):
            books = (now.expected, now.held, now.price) if now else (Decimal(0), Decimal(0), item.price)
            unsaid = now.unsaid if now else state.unsaid
            item = item._replace(expected=books[0], held=books[1], price=books[2], unsaid=unsaid)
        items.append(item)
    return state._replace(items=(*items, *found.values()))


def key(item: Item) -> tuple[str, str, int]:
    """What tells two items apart."""
    return item.place.casefold(), item.product, item.pool


# What tells questions apart


def pools_of(rows: tuple[Mapping[str, Any], ...]) -> tuple[Pool, ...]:
    """The pools of the store (rows of the read `store`), by number."""
    pools = (rows[0] if rows else {}).get("pools") or {}
    named = sorted((int(number), str(name)) for number, name in pools.items())
    return tuple(Pool(number, name) for number, name in named)


def pool_name(pools: Iterable[Pool], number: int) -> str:
    """The store's name for a pool; its number where it has none."""
    return next((pool.name for pool in pools if pool.number == number and pool.name), str(number))


def missing_with(state: Counting, index: int) -> tuple[int, ...]:
    """This item and the others of its product at its place that nobody has said anything of: one question for all."""
    same = (state.items[index].place.casefold(), state.items[index].product)
    alike = (at for at, item in enumerate(state.items) if (item.place.casefold(), item.product) == same)
    return tuple(at for at in alike if at == index or state.items[at].missing)


def questions(state: Counting) -> int:
    """How many products are not scanned, each at each of its places."""
    return len({(item.place.casefold(), item.product) for item in state.items if item.missing})


def named(state: Counting, *indexes: int) -> Msg:
    """A product by its name, and by these pools where the books have it at the place in several."""
    item = state.items[indexes[0]]
    alike = [other for other in state.items if (other.place, other.product) == (item.place, item.product)]
    if len(alike) < 2:
        return raw(item.label)
    pools = ", ".join(pool_name(state.pools, state.items[index].pool) for index in indexes)
    return msg("count.in_pool", label=item.label, pool=pools)


# Entries


def find(state: Counting, product: str) -> int:
    """Index of the item that a scan of this product belongs to, in the pool that is counted; -1 for none.

    Without a chosen pool it is the place's default one, unless the books have the product in another one alone.
    """
    mine = [index for index, item in enumerate(state.items) if item.product == product and item.place == state.place]
    wanted = state.pool or state.default or 1
    for index in mine:
        if state.items[index].pool in ((wanted,) if state.pool else (wanted, 0)):
            return index
    return mine[0] if len(mine) == 1 and not state.pool else -1


def new_item(state: Counting, product: str, label: str) -> Item:
    """A product of which the books know nothing here, in the pool that is counted."""
    return Item(state.place, product, label, state.pool or state.default, unsaid=state.unsaid)


def put(state: Counting, index: int, counted: Decimal, now: str) -> Counting:
    """The item now stands at `counted`; what it stood at goes into the history."""
    item = state.items[index]
    before = Before(item.place, item.product, item.pool, item.counted, item.at)
    changed = item._replace(counted=counted, at=now, left=False, again=False, checked=False)
    return replaced(state, index, changed)._replace(at=index, history=(*state.history, before)[-HISTORY:])


def replaced(state: Counting, index: int, item: Item) -> Counting:
    """The state with another item at this index."""
    return state._replace(items=(*state.items[:index], item, *state.items[index + 1 :]))


def undo(state: Counting) -> tuple[Counting, Item | None]:
    """The state before the last entry, and the item as it was after it; None when there is nothing to undo."""
    if not state.history:
        return state, None
    before = state.history[-1]
    for index, item in enumerate(state.items):
        if (item.place, item.product, item.pool) == (before.place, before.product, before.pool):
            back = item._replace(counted=before.counted, at=before.at, checked=False, again=False)
            state = replaced(state, index, back)._replace(history=state.history[:-1], at=index)
            return state._replace(place=item.place) if state.mode == "product" else state, item
    return state._replace(history=state.history[:-1]), None


# What is sent


def logs(
    entries: list[dict[str, Any]], products: Iterable[str], store: str, user: str, *, counted: bool = False
) -> Write:
    """The operation for these entries of the log, in the lanes of their products."""
    lanes = tuple(sorted({f"product/{product}" for product in products}))
    query = {"appUserName": user, "is_counted_quantity": counted}
    return Write("create-store-product-logs", lanes, {"store_number": store}, query, {"storeproductlog": entries})
