"""Ledger of one operation: balances and their legs, and the origins of held goods (README: Stock)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from aisle.service.db.database_interface import Statement
from aisle.service.db.statements import stock as sql
from aisle.service.db.statements import stores_and_products as products_sql
from aisle.service.domain.quantities_times_and_json import QUANTITY_LIMIT, THOUSANDTHS_PER_UNIT
from aisle.service.domain.read_products_and_locations import NO_LOCATION, StoreCatalogue
from aisle.service.errors import conflict
from aisle.service.operation_context import Context

if TYPE_CHECKING:
    from aisle.service.domain.order_line import OrderLine


_LineKey = tuple[str, int]


class LocationQuantity(NamedTuple):
    """Quantity of a location and pool."""

    location: str
    pool: int
    quantity: int
    named_location: str = ""
    """Location that the picker named; goods that its books lacked come from none."""


class HeldGoods(NamedTuple):
    """Goods held for a line: their origin, and where they are. The picker has those without location."""

    seq: int
    origin_location: str
    origin_pool: int
    location: str
    pool: int
    quantity: int
    named_location: str

    @property
    def origin(self) -> LocationQuantity:
        """Origin and quantity."""
        return LocationQuantity(self.origin_location, self.origin_pool, self.quantity, self.named_location)

    def is_from(self, location: str, pool: int | None) -> bool:
        """Return True if they were picked at this location, and from this pool if one is given."""
        return location in (self.origin_location, self.named_location) and pool in (None, self.origin_pool)


class HeldGoodsOrigins:
    """Origins of held goods in one operation in one store. `seq` of a line increases in the order of picking."""

    def __init__(self, ctx: Context, store: str) -> None:
        self._ctx = ctx
        self._store = store
        self._held: dict[_LineKey, dict[int, HeldGoods]] = {}
        self._stored: dict[_LineKey, dict[int, HeldGoods]] = {}
        self._changed_lines: dict[_LineKey, None] = {}
        """Lines with changes to write."""

    async def load_order(self, order: str, lines: Iterable[OrderLine]) -> None:
        """Read the goods held for all lines of an order, before the first of them is used."""
        for line in lines:
            self._held[line.key], self._stored[line.key] = {}, {}
        for number, *row in await self._ctx.tx.all(sql.ORIGINS_OF_ORDER, self._store, order):
            held = HeldGoods(*row)
            for rows in (self._held, self._stored):
                rows.setdefault((order, number), {})[held.seq] = held

    async def held_for_line(self, line: OrderLine) -> list[HeldGoods]:
        """Return all goods held for a line, in the order of picking."""
        if line.key not in self._held:
            rows = await self._ctx.tx.all(sql.ORIGINS_OF_LINE, self._store, *line.key)
            self._stored[line.key] = {row[0]: HeldGoods(*row) for row in rows}
            self._held[line.key] = dict(self._stored[line.key])
        return list(self._held[line.key].values())

    async def add(self, line: OrderLine, origin: LocationQuantity, held_key: StockKey) -> None:
        """Add goods that a line holds now, with their origin. The caller posts the legs."""
        await self.held_for_line(line)
        # The number follows the stored ones too: a stored row that was removed must be deleted, not changed.
        n = max((*self._held[line.key], *self._stored[line.key]), default=0) + 1
        self._held[line.key][n] = HeldGoods(n, *origin[:2], held_key.location, held_key.pool, *origin[2:])
        self._changed_lines[line.key] = None

    async def reduce(self, line: OrderLine, held: HeldGoods, quantity: int) -> None:
        """Reduce one row of held goods by a quantity."""
        await self.held_for_line(line)
        self._changed_lines[line.key] = None
        if quantity == held.quantity:
            del self._held[line.key][held.seq]
        else:
            self._held[line.key][held.seq] = held._replace(quantity=held.quantity - quantity)

    async def delete_lines(self, order: str, lines: Iterable[int]) -> None:
        """Remove all goods held for these lines of an order."""
        for line in lines:
            self._held[(order, line)], self._stored[(order, line)] = {}, {}
            self._changed_lines.pop((order, line), None)
            await self._ctx.tx.run(sql.ORIGINS_OF_LINE_DELETE, self._store, order, line)

    async def delete_order(self, order: str) -> None:
        """Remove all goods held for an order."""
        for key in [key for key in self._held if key[0] == order]:
            self._held[key], self._stored[key] = {}, {}
            self._changed_lines.pop(key, None)
        await self._ctx.tx.run(sql.ORIGINS_OF_ORDER_DELETE, self._store, order)

    def pending_statements(self) -> list[Statement]:
        """Return the statements to write, and treat them as written."""
        statements: list[Statement] = []
        for key in self._changed_lines:
            rows, stored = self._held[key], self._stored[key]
            statements += [(sql.ORIGIN_DELETE, (self._store, *key, n)) for n in stored if n not in rows]
            for n, row in rows.items():
                if n not in stored:
                    statements.append((sql.ORIGIN_ADD, (self._store, *key, *row)))
                elif row != stored[n]:
                    statements.append((sql.ORIGIN_SET, (self._store, *key, n, row.quantity)))
            self._stored[key] = dict(rows)
        self._changed_lines.clear()
        return statements


LegKind = Literal["pick", "unpick", "move", "count", "change", "undo", "receipt", "finish", "release", "absorbed"]


class StockKey(NamedTuple):
    """Key of a balance: location or none, pool, and order line or free."""

    location: str
    pool: int
    order: str = ""
    line: int = 0

    @property
    def is_free(self) -> bool:
        """True if the goods belong to no order line."""
        return not self.order


_NO_OWNER = ("", 0)
"""Owner of free stock."""
StockQuantities = dict[StockKey, int]


class _Leg(NamedTuple):
    """Row of `leg` in the order of `LEG_ADD`."""

    store_number: str
    op_id: str
    number: int
    kind: LegKind
    product_number: str
    location: str
    pool: int
    order: str
    line: int
    quantity: int
    created_on: str
    occurred_on: str


class AbsorbedKey(NamedTuple):
    """Key of the absorbed legs of an operation; `occurred_on` is the time of what they absorb."""

    product: str
    location: str
    pool: int
    occurred_on: str


class Ledger:
    """Writer of the legs of one operation in one store."""

    def __init__(self, catalogue: StoreCatalogue) -> None:
        self.catalogue = catalogue
        self.ctx = catalogue.ctx
        self.store = catalogue.store.number
        self.occurred_on = catalogue.ctx.occurred_on
        self.has_negative_balance = False
        self.origins = HeldGoodsOrigins(catalogue.ctx, self.store)
        self.orders_to_save: dict[str, None] = {}
        """Orders with changed goods of lines, for `save_changed_orders`."""
        self._stock: dict[tuple[str, str, int], StockQuantities] = {}
        """Balances by product and order line or none, including this operation's changes.

        Held balances of 0 are removed.
        """
        self._stored_quantities: dict[tuple[str, StockKey], int | None] = {}
        """Stored balances that this operation has changed; None is no row."""
        self._owners: defaultdict[str, dict[tuple[str, str, int], None]] = defaultdict(dict)
        """Keys of `_stock` by product."""
        self._complete: set[str] = set()
        """Products whose stock was read for all owners."""
        self._legs: defaultdict[str, list[_Leg]] = defaultdict(list)
        """Legs to write, by product."""
        self._product_updates: defaultdict[str, dict[str, str | None]] = defaultdict(dict)
        """Values by product, by the statement that writes them."""
        self._last_counts: dict[str, dict[tuple[str, int], str]] = {}
        """Time of the last count of each location and pool, by product."""
        self._last_counts_unread: set[str] = set()
        """Products whose free stock was read, but not yet their last counts."""
        self._new_counts: dict[tuple[str, str, int], str] = {}
        self._changed_products: dict[str, None] = {}
        self._late_changes: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._absorbed: defaultdict[AbsorbedKey, int] = defaultdict(int)
        """Sums of the absorbed legs, for the log."""

    async def load_free_stock(self, product_numbers: Iterable[str]) -> None:
        """Read the free stock of many products in one query."""
        wanted = sorted({number for number in product_numbers if number and (number, *_NO_OWNER) not in self._stock})
        if not wanted:
            return
        for number in wanted:
            self._set_stock((number, *_NO_OWNER), {})
        self._last_counts_unread.update(wanted)
        for product, location, pool, quantity in await self.ctx.tx.all(sql.FREE_OF_PRODUCTS, self.store, wanted):
            self._stock[(product, *_NO_OWNER)][StockKey(location, pool)] = quantity

    async def free_stock(self, product: str) -> Mapping[StockKey, int]:
        """Return the free stock of a product, by key."""
        return dict(await self._load_stock(product, _NO_OWNER))

    async def held_for_line(self, line: OrderLine) -> Mapping[StockKey, int]:
        """Return the goods held for an order line, by key."""
        return dict(await self._load_stock(line.product_number, line.key))

    async def held_for_order(self, order: str, lines: Iterable[OrderLine]) -> list[tuple[str, StockKey, int]]:
        """Return the goods held for an order: product, key and quantity, sorted by line, location and pool."""
        owned = {(line.product_number, *line.key) for line in lines}
        if not owned <= self._stock.keys():
            await self.write_pending()
            for owner in owned:
                self._set_stock(owner, {})
            for line, product, location, pool, quantity in await self.ctx.tx.all(sql.HELD_FOR_ORDER, self.store, order):
                owner = (product, order, line)
                if owner not in self._stock:
                    self._set_stock(owner, {})
                self._stock[owner][StockKey(location, pool, order, line)] = quantity
        found = [
            (owner[0], stock_key, quantity) for owner in owned for stock_key, quantity in self._stock[owner].items()
        ]
        return sorted(found, key=lambda one: (one[1].line, one[1].location, one[1].pool))

    async def held_for_active_orders(self) -> list[tuple[str, StockKey, int]]:
        """Return the goods held for all active orders, sorted by order, line, location and pool."""
        await self.write_pending()
        rows = await self.ctx.tx.all(sql.HELD_FOR_ACTIVE_ORDERS, self.store)
        held = [(str(product), StockKey(*place), int(quantity)) for product, *place, quantity in rows]
        for product, key, _ in held:
            self._set_stock((product, key.order, key.line), {})
        for product, key, quantity in held:
            self._stock[product, key.order, key.line][key] = quantity
        return held

    async def load_balances(self, product_numbers: Iterable[str]) -> None:
        """Read all stock of many products in one query."""
        wanted = sorted({number for number in product_numbers if number and number not in self._complete})
        if not wanted:
            return
        await self.write_pending()
        for number in wanted:
            for owner in {(number, *_NO_OWNER): None, **self._owners[number]}:
                self._set_stock(owner, {})
        for product, *place, quantity in await self.ctx.tx.all(sql.BALANCES_OF_PRODUCTS, self.store, wanted):
            stock_key = StockKey(*place)
            owner = (product, stock_key.order, stock_key.line)
            if owner not in self._stock:
                self._set_stock(owner, {})
            self._stock[owner][stock_key] = quantity
        self._complete.update(wanted)
        self._last_counts_unread.update(wanted)

    async def balances(self, product: str) -> Mapping[StockKey, int]:
        """Return all stock of a product, by key."""
        await self.load_balances([product])
        return {key: quantity for owner in self._owners[product] for key, quantity in self._stock[owner].items()}

    async def changes_after(self, product: str, occurred_on: str) -> list[tuple[str, int, int]]:
        """Return what changed the product's stock later than this: location, pool and quantity."""
        stored = await self.ctx.tx.all(sql.LEGS_AFTER, self.store, product, occurred_on)
        changes = [(location, pool, quantity) for location, pool, quantity in stored]
        pending = [leg for leg in self._legs.get(product, ()) if leg.occurred_on > occurred_on]
        return changes + [(leg.location, leg.pool, leg.quantity) for leg in pending]

    async def goods_under_way(self, product: str, moment: str) -> list[tuple[str, int, int]]:
        """Return what had left a location then and not arrived, unless it was counted in between: location, pool and
        quantity, which is negative."""
        found = []
        for left_on, location, pool, quantity in await self.ctx.tx.all(sql.LEGS_UNDER_WAY, self.store, product, moment):
            if not await self.is_counted_since(product, StockKey(location, pool), left_on):
                found.append((location, pool, quantity))
        return found

    async def post(
        self, kind: LegKind, product: str, stock_key: StockKey, quantity: int, occurred_on: str = ""
    ) -> None:
        """Add `quantity` thousandths, which may be negative, to a balance. Note if it becomes negative.

        Goods that are moved may have left before (`occurred_on`). Until they arrive they belong to the store's total.
        """
        if quantity == 0:
            return
        occurred_on = occurred_on or self.occurred_on
        was_negative = self.has_negative_balance
        await self._post_leg(kind, product, stock_key, quantity, occurred_on)
        if occurred_on < self.ctx.now and await self.is_counted_since(product, stock_key, occurred_on):
            await self._absorb(product, stock_key.location, stock_key.pool, quantity, occurred_on)
            self.has_negative_balance = was_negative
        elif self.occurred_on < self.ctx.now:
            self._late_changes[(product, stock_key.pool)] += quantity

    async def transfer(
        self, kind: LegKind, product: str, source: StockKey, target: StockKey, quantity: int, left_on: str = ""
    ) -> None:
        """Move a quantity from one balance to another. It may have left the first one before (`left_on`)."""
        await self.post(kind, product, source, -quantity, left_on)
        await self.post(kind, product, target, quantity)

    def record_count(self, product: str, location: str, pool: int) -> None:
        """Record a count of free stock. Earlier changes that arrive later are absorbed."""
        key = (product, location, pool)
        self._new_counts[key] = max(self._new_counts.get(key, ""), self.occurred_on)
        last = self._product_updates[products_sql.STORE_PRODUCT_COUNTED_SET].get(product) or ""
        self.update_product(products_sql.STORE_PRODUCT_COUNTED_SET, product, max(last, self.occurred_on))
        if product in self._last_counts:
            self._set_last_count(*key, self.occurred_on)

    async def last_count(self, product: str, location: str, pool: int) -> str:
        """Return the time of the last count of free stock that stands; empty without one."""
        if product not in self._last_counts:
            await self._load_last_counts(product)
        return self._last_counts[product].get((location, pool), "")

    async def is_counted_since(self, product: str, stock_key: StockKey, occurred_on: str) -> bool:
        """Return True if the free stock of this pool was counted at the location later than this."""
        if not stock_key.location:
            return False
        return await self.last_count(product, stock_key.location, stock_key.pool) > occurred_on

    async def take_back_count(self, product: str, location: str, pool: int, counted_on: str, before: str) -> None:
        """Let the count `before` be the last one, or none (''). What only the later one absorbed counts again.

        A count of the whole store that stands absorbs in turn what precedes it. The product was last counted when any
        count of it that stands was made.
        """
        await self.write_pending()
        await self.ctx.tx.run(sql.LAST_COUNT_TAKE_BACK, before, self.store, product, location, pool, counted_on)
        counts = self._last_counts[product]
        counts[(location, pool)] = before
        self._product_updates[products_sql.STORE_PRODUCT_COUNTED_SET].pop(product, None)
        last = max(counts.values()) or None
        await self.ctx.tx.run(products_sql.STORE_PRODUCT_COUNT_TAKE_BACK, self.store, product, last)
        self.ctx.mark_changed(self.store, "product", product)
        args = (self.store, product, location, pool, before, counted_on)
        for occurred_on, absorbed in await self.ctx.tx.all(sql.ABSORBED_BETWEEN, *args):
            await self._absorb(product, location, pool, absorbed, occurred_on)
            if location and await self.last_count(product, NO_LOCATION, pool) > occurred_on:
                await self._absorb(product, NO_LOCATION, pool, -absorbed, occurred_on)

    def update_product(self, statement: str, product: str, value: str | None) -> None:
        """Set a column of the store's product at the end of the operation; the last value counts."""
        self._product_updates[statement][product] = value

    async def close_entry(self) -> None:
        """Close an entry of the operation. Absorb changes that precede a count of the whole store."""
        for (product, pool), quantity in list(self._late_changes.items()):
            if quantity and await self.last_count(product, NO_LOCATION, pool) > self.occurred_on:
                await self._absorb(product, NO_LOCATION, pool, quantity, self.occurred_on)
        self._late_changes.clear()

    async def defer_writes(self) -> None:
        """Close the operation: defer its writes to the end, and report each product with changed stock or columns."""
        await self.close_entry()
        for statement, values in self._product_updates.items():
            await self.ctx.tx.run_many(statement, [(self.store, *row) for row in values.items()])
        updated = {product: None for values in self._product_updates.values() for product in values}
        self._product_updates.clear()
        self.ctx.defer_all(self._pending_statements())
        changed = [(self.store, product, self.ctx.now) for product in self._changed_products]
        self.ctx.defer(products_sql.STORE_PRODUCT_STOCK_CHANGED_SET, changed)
        for product in {**self._changed_products, **updated}:
            self.ctx.mark_changed(self.store, "product", product)
        self._changed_products.clear()

    async def write_pending(self) -> None:
        """Write the pending rows. Required before the database sums legs or balances."""
        if statements := self._pending_statements():
            await self.ctx.tx.run_batch(statements)

    def pop_negative_flag(self) -> bool:
        """Return True if a balance became negative since the last call."""
        flag, self.has_negative_balance = self.has_negative_balance, False
        return flag

    def pop_absorbed(self) -> dict[AbsorbedKey, int]:
        """Return the thousandths absorbed since the last call."""
        absorbed = {key: quantity for key, quantity in self._absorbed.items() if quantity}
        self._absorbed.clear()
        return absorbed

    def _pending_statements(self) -> list[Statement]:
        """Return the statements to write, and treat them as written. An empty free balance keeps its row."""
        statements: list[Statement] = [(sql.LEG_ADD, leg) for legs in self._legs.values() for leg in legs]
        for (product, stock_key), stored in self._stored_quantities.items():
            now = self._stock[(product, stock_key.order, stock_key.line)].get(stock_key)
            if now is None and stored is not None:
                statements.append((sql.BALANCE_DELETE, (self.store, product, *stock_key, stored)))
                if stock_key.location:
                    args = (self.store, product, *stock_key, self.ctx.now)
                    statements.append((sql.ASSIGNMENT_DONE_SET, args))
            elif now is not None and now != stored:
                statements.append((sql.BALANCE_ADD, (self.store, product, *stock_key, now - (stored or 0))))
        statements += [
            (sql.LAST_COUNT_SET, (self.store, *stock_key, counted_on))
            for stock_key, counted_on in self._new_counts.items()
        ]
        self._new_counts, self._stored_quantities = {}, {}
        self._legs.clear()
        return statements + self.origins.pending_statements()

    async def _load_stock(self, product: str, owner: tuple[str, int]) -> StockQuantities:
        key = (product, *owner)
        if key in self._stock:
            return self._stock[key]
        if owner == _NO_OWNER:
            await self.load_free_stock([product])
        else:
            rows = await self.ctx.tx.all(sql.HELD_FOR_LINE, self.store, *owner)
            self._set_stock(key, {StockKey(location, pool, *owner): held for location, pool, held in rows})
        return self._stock[key]

    def _set_stock(self, owner: tuple[str, str, int], stock: StockQuantities) -> None:
        self._stock[owner] = stock
        self._owners[owner[0]][owner] = None

    async def _post_leg(
        self, kind: LegKind, product: str, stock_key: StockKey, quantity: int, occurred_on: str
    ) -> None:
        stock = await self._load_stock(product, (stock_key.order, stock_key.line))
        self.ctx.leg_count += 1
        number, place = self.ctx.leg_count, (stock_key.location, stock_key.pool, stock_key.order, stock_key.line)
        when = (self.ctx.now, occurred_on)
        leg = _Leg(self.store, self.ctx.op_id, number, kind, product, *place, quantity, *when)
        self._legs[product].append(leg)
        self._stored_quantities.setdefault((product, stock_key), stock.get(stock_key))
        before = stock.get(stock_key, 0)
        balance = stock[stock_key] = before + quantity
        if abs(balance) > max(QUANTITY_LIMIT * THOUSANDTHS_PER_UNIT, abs(before)):
            raise conflict(f"There would be more than {QUANTITY_LIMIT:,} of product {product} in one place.")
        if balance == 0 and not stock_key.is_free:
            del stock[stock_key]
        if balance < 0 and quantity < 0:
            self.has_negative_balance = True
        self._changed_products[product] = None

    async def _absorb(self, product: str, location: str, pool: int, quantity: int, occurred_on: str) -> None:
        """Undo a change of free stock that a later count includes."""
        await self._post_leg("absorbed", product, StockKey(location, pool), -quantity, occurred_on)
        self._absorbed[AbsorbedKey(product, location, pool, occurred_on)] -= quantity

    async def _load_last_counts(self, product: str) -> None:
        """Read the last counts of this product and of all whose free stock was read, since they will be needed."""
        wanted = sorted((self._last_counts_unread | {product}) - self._last_counts.keys())
        self._last_counts_unread.clear()
        self._last_counts |= {number: {} for number in wanted}
        for row in await self.ctx.tx.all(sql.LAST_COUNTS_OF_PRODUCTS, self.store, wanted):
            self._set_last_count(*row)
        for key, counted_on in self._new_counts.items():
            if key[0] in wanted:
                self._set_last_count(*key, counted_on)

    def _set_last_count(self, product: str, location: str, pool: int, counted_on: str) -> None:
        counts = self._last_counts[product]
        counts[(location, pool)] = max(counts.get((location, pool), ""), counted_on)
