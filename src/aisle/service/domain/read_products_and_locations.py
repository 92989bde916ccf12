"""Products and locations of one store, read once per operation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from aisle.service.db.statements import stores_and_products
from aisle.service.db.statements import stores_and_products as locations_sql
from aisle.service.domain.quantities_times_and_json import parse_json_object
from aisle.service.errors import unprocessable
from aisle.service.operation_context import Context, Store

NO_LOCATION = ""


class Product(NamedTuple):
    """Product of the catalogue in a store. `is_ranged`: the store has a row for it."""

    number: str
    name: str
    barcode: str
    is_stock: bool
    allow_decimal: bool
    is_ranged: bool
    price: str = ""
    own_price: str = ""
    """Prices of the catalogue and of the store, as JSON numbers; '' is none."""
    item: str = "{}"
    cost_center: str = ""
    """Cost center of the store, read with each product to save a query."""

    def catalogue_value(self, name: str) -> Any:
        """Return a field of the catalogue, or None. The JSON is parsed only if it contains the name."""
        return parse_json_object(self.item).get(name) if f'"{name}":' in self.item else None


class Location(NamedTuple):
    """Location of a store. Locations compare in walking order."""

    walk_order: int
    sort_key: str
    code: str
    seq: int
    default_pool: int | None
    tags: str = "[]"

    @property
    def pool(self) -> int:
        """Pool of goods at this location if none is named."""
        return self.default_pool or 1


class StoreCatalogue:
    """Data of one operation's store. Each product and location is read once."""

    def __init__(self, ctx: Context, store: Store) -> None:
        self.ctx = ctx
        self.store = store
        self._products: dict[str, Product] = {}
        self._locations: dict[str, Location] = {}
        self._has_locations: bool | None = None

    async def load(self, product_numbers: Iterable[str], location_codes: Iterable[str] = ()) -> None:
        """Read many products and locations in one query each."""
        numbers = sorted({number for number in product_numbers if number not in self._products})
        if numbers:
            for row in await self.ctx.tx.all(stores_and_products.STORE_PRODUCTS, self.store.number, numbers):
                is_stock = row[3] if row[6] is None else row[6]
                fields = (bool(is_stock), bool(row[4]), row[5] is not None, row[7], row[8] or "", row[9], row[10])
                self._products[row[0]] = Product(row[0], row[1], row[2], *fields)
        wanted = sorted({code for code in location_codes if code and code not in self._locations})
        if wanted:
            for code, seq, order, pool, key, tags in await self.ctx.tx.all(
                locations_sql.LOCATIONS, self.store.number, wanted
            ):
                self._locations[code] = Location(order, key, code, seq, pool, tags)

    async def get_product(self, number: str, field: str) -> Product:
        """Return the product. Raise Refusal (422) if the catalogue has none with this number."""
        if number not in self._products:
            await self.load([number])
            if number not in self._products:
                raise unprocessable(f"There is no product {number}.", field)
        return self._products[number]

    async def get_location(self, code: str, field: str) -> Location:
        """Return the location. Raise Refusal (422) if it does not exist; use never creates locations."""
        location = await self.find_location(code)
        if location is None:
            raise unprocessable(f"There is no location {code}.", field)
        return location

    async def find_location(self, code: str) -> Location | None:
        """Return the location, or None."""
        if code not in self._locations:
            await self.load((), [code])
        return self._locations.get(code)

    async def has_locations(self) -> bool:
        """Return True if this store has any location."""
        if self._has_locations is None:
            self._has_locations = await self.ctx.tx.one(locations_sql.LOCATION_EXISTS, self.store.number) is not None
        return self._has_locations

    async def range_products(self, product_numbers: Iterable[str], *, with_stock_only: bool = False) -> None:
        """Create the store's rows where they are missing, for those of these products that were found."""
        found = [self._products[number] for number in dict.fromkeys(product_numbers) if number in self._products]
        missing = [one.number for one in found if not one.is_ranged and (one.is_stock or not with_stock_only)]
        if not missing:
            return
        seq = await self.ctx.next_numbers(self.store.number, "store_product", len(missing))
        rows = [
            (self.store.number, number, seq + n, self.store.ordinal, self.ctx.now) for n, number in enumerate(missing)
        ]
        await self.ctx.tx.run_many(stores_and_products.STORE_PRODUCT_ADD, rows)
        for number in missing:
            self._products[number] = self._products[number]._replace(is_ranged=True)
            self.ctx.mark_changed(self.store.number, "product", number)
