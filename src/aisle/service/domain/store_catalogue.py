"""Products and places of one store, read once for an operation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from aisle.service.context import Context, Store
from aisle.service.db.statements import products, stores
from aisle.service.domain.json_text import parse_json_object
from aisle.service.errors import unprocessable

NO_LOCATION = ""


class Product(NamedTuple):
    """A product of the catalogue as a store sees it. `ranged`: the store has a row for it."""

    number: str
    name: str
    barcode: str
    is_stock: bool
    allow_decimal: bool
    is_ranged: bool
    price: str = ""
    own_price: str = ""
    """Prices of the catalogue and of the store's own, as JSON numbers; '' for none."""
    item: str = "{}"
    cost_center: str = ""
    """The store's; read with each product, so that no further question is asked for it."""

    def catalogue_value(self, name: str) -> Any:
        """What the catalogue says under this name, or None. Most products say nothing: then nothing is read."""
        return parse_json_object(self.item).get(name) if f'"{name}":' in self.item else None


class Location(NamedTuple):
    """A place of a store. Places compare in walking order."""

    walk_order: int
    sort_key: str
    code: str
    seq: int
    default_pool: int | None
    tags: str = "[]"

    @property
    def pool(self) -> int:
        """The pool that goods here belong to when nobody says which."""
        return self.default_pool or 1


class StoreCatalogue:
    """What one operation knows of its store; asks the database for each product and place once."""

    def __init__(self, ctx: Context, store: Store) -> None:
        self.ctx = ctx
        self.store = store
        self._products: dict[str, Product] = {}
        self._locations: dict[str, Location] = {}
        self._has_locations: bool | None = None

    async def load(self, product_numbers: Iterable[str], location_codes: Iterable[str] = ()) -> None:
        """Read many at once; what is asked for later costs nothing."""
        numbers = sorted({number for number in product_numbers if number not in self._products})
        if numbers:
            for row in await self.ctx.tx.all(products.STORE_PRODUCTS, self.store.number, numbers):
                is_stock = row[3] if row[6] is None else row[6]
                said = (bool(is_stock), bool(row[4]), row[5] is not None, row[7], row[8] or "", row[9], row[10])
                self._products[row[0]] = Product(row[0], row[1], row[2], *said)
        wanted = sorted({code for code in location_codes if code and code not in self._locations})
        if wanted:
            for code, seq, order, pool, key, tags in await self.ctx.tx.all(stores.LOCATIONS, self.store.number, wanted):
                self._locations[code] = Location(order, key, code, seq, pool, tags)

    async def get_product(self, number: str, field: str) -> Product:
        """The product. Raises Refusal (422) when the catalogue has none of this number."""
        if number not in self._products:
            await self.load([number])
            if number not in self._products:
                raise unprocessable(f"There is no product {number}.", field)
        return self._products[number]

    async def get_location(self, code: str, field: str) -> Location:
        """The place. Raises Refusal (422) when the store has none of this code: places are never made by use."""
        place = await self.find_location(code)
        if place is None:
            raise unprocessable(f"There is no location {code}.", field)
        return place

    async def find_location(self, code: str) -> Location | None:
        """The place, or None."""
        if code not in self._locations:
            await self.load((), [code])
        return self._locations.get(code)

    async def has_locations(self) -> bool:
        """Whether this store keeps locations at all."""
        if self._has_locations is None:
            self._has_locations = await self.ctx.tx.one(stores.LOCATION_EXISTS, self.store.number) is not None
        return self._has_locations

    async def range_products(self, product_numbers: Iterable[str]) -> None:
        """Make sure that the store has a row for each of these known products."""
        missing = [number for number in dict.fromkeys(product_numbers) if not self._products[number].is_ranged]
        if not missing:
            return
        seq = await self.ctx.next_numbers(self.store.number, "store_product", len(missing))
        rows = [
            (self.store.number, number, seq + n, self.store.ordinal, self.ctx.now) for n, number in enumerate(missing)
        ]
        await self.ctx.tx.run_many(products.STORE_PRODUCT_ADD, rows)
        for number in missing:
            self._products[number] = self._products[number]._replace(is_ranged=True)
            self.ctx.mark_changed(self.store.number, "product", number)
