"""The embedded service's database at any size: one store that was filled through the interface, times a number.

Each copy of a product has a number, a barcode, a place, a count in the log and legs in the ledger of its own, so that
the books are in order; orders and deliveries stay those of the first.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw
import httpx

from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.db import open_database
from aisle.service.db.schema_and_search_index import index_waiting_products, natural_sort_key
from aisle.service.open_service_and_admin_token import Service
from tests.bench import generated_store, grown_cache
from tests.grow.__main__ import opened
from tests.grow.store import FIRST, filled, founded
from tests.service.world import API, START

LOWEST = 1_000_000
"""The number of the shop's first product."""


def made(folder: Path, base: int, orders: int) -> Path:
    """A database of one store with so many products, all of it written through the interface."""
    path = folder / "service.db"
    if (folder / "made").exists():
        return path
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    goods = [each._replace(place=grown_cache.place(index)) for index, each in enumerate(generated_store.products(base))]

    async def fill() -> None:
        async with opened(service) as client:
            await founded(client, goods, 1)
            await ranged(client, goods)
            await filled(client, goods, orders, 7)

    with closing(Service(open_database(path), ServiceOptions(lambda: START))) as service:
        asyncio.run(fill())
    (folder / "made").touch()
    return path


async def ranged(client: httpx.AsyncClient, goods: Sequence[generated_store.Product]) -> None:
    """The first store's places and products, nothing of which is counted yet."""
    places = [
        {"store_number": FIRST, "location_code": code, "location_order": number}
        for number, code in enumerate(sorted({each.place for each in goods}))
    ]
    products = [{"product_number": each.number} for each in goods]
    for path, body in (
        ("/aisle/v1/locations", {"locations": places}),
        (f"{API}/stores/{FIRST}/storeproducts", {"store_products": products}),
    ):
        answer = await client.post(path, json=body)
        assert answer.status_code == 200, answer.text


def multiplied(source: Path, folder: Path, base: int, times: int) -> Path:
    """That database with so many times its products; made once."""
    path = folder / source.name
    if (folder / "made").exists():
        return path
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    shutil.copyfile(source, path)
    with closing(apsw.Connection(str(path))) as connection:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -500000", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.create_scalar_function("key_of", _key, 1)
        connection.execute("ATTACH ? AS first", (str(source),))
        connection.execute(_NAMED)
        connection.execute("BEGIN")
        given = _given(connection, base)
        for copy in range(1, times):
            connection.executemany(_NAME, (_named(index, base * copy) for index in range(base)))
            for statement in _COPIES:
                connection.execute(statement, {**given, "shift": base * copy, "copy": copy})
        connection.execute(_COUNTED, {**given, "copies": times - 1})
        index_waiting_products(connection)
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    (folder / "made").touch()
    return path


def _key(*code: apsw.SQLiteValue) -> str:
    return natural_sort_key(str(code[0]))


def _named(index: int, shift: int) -> tuple[str, ...]:
    """A product of the first store and its copy: number, barcode and place of each."""
    return tuple(
        text
        for each in (index, index + shift)
        for text in (str(LOWEST + each), generated_store.ean13(f"40{each:010d}"), grown_cache.place(each))
    )


def _given(connection: apsw.Connection, base: int) -> dict[str, int | str]:
    """What was given in the first store, which the numbers of its copies go on from."""
    counters: dict[tuple[str, str], int] = {
        (store, name): value for store, name, value in connection.execute("SELECT * FROM counter")
    }
    return {
        "store": FIRST,
        "base": base,
        "logs": counters[FIRST, "log"],
        "places": counters[FIRST, "location"],
        "changes": counters[FIRST, "change"],
        "goods": counters["*", "change"],
    }


_NAMED = "CREATE TEMP TABLE named (product_number TEXT PRIMARY KEY, code, place, number, its_code, its_place)"
_NAME = "INSERT OR REPLACE INTO named VALUES (?, ?, ?, ?, ?, ?)"


def _its(column: str) -> str:
    """A text of the first, as its copy has it."""
    return f"replace(replace({column}, code, its_code), product_number, number)"


_COPIES = (
    f"""INSERT INTO product SELECT number, product_name, its_code, category_code, parent_category_code, is_active,
            is_stock, allow_decimal, price, attention_code, {_its("search")}, {_its("entry")}, {_its("item")},
            modified_on, deleted_on, group_code, {_its("detail")}
        FROM named CROSS JOIN first.product USING (product_number)""",
    "INSERT INTO product_code SELECT its_code, number FROM named",
    f"""INSERT INTO store_product SELECT store_number, number, seq + :shift, ordinal, is_stock, is_replenishment, price,
            attention_codes, item, {_its("data")}, modified_on, stock_modified_on, counted_on, loss_by, receipt_by,
            stock_modified_day
        FROM first.store_product CROSS JOIN named USING (product_number) ORDER BY seq""",
    """INSERT INTO location SELECT store_number, its_place, seq + :places * :copy, location_order + :places * :copy,
            default_stock_pool, tags, key_of(its_place), replace(search, lower(place), lower(its_place)), created_on,
            carrier_code
        FROM (SELECT DISTINCT place, its_place FROM named) JOIN first.location ON location_code = place""",
    """INSERT INTO leg SELECT store_number, op_id || '-' || :copy, leg, kind, number, its_place, pool, order_number,
            line_number, quantity, recorded_on, occurred_on
        FROM first.leg CROSS JOIN named USING (product_number) WHERE kind = 'count'""",
    """INSERT INTO balance SELECT store_number, number, its_place, pool, order_number, line_number, quantity
        FROM first.leg CROSS JOIN named USING (product_number) WHERE kind = 'count'""",
    """INSERT INTO last_count SELECT store_number, number, its_place, pool, counted_on
        FROM first.anchor CROSS JOIN named USING (product_number)""",
    f"""INSERT INTO stock_log SELECT store_number, :logs + :shift - :base + seq, ordinal, op_id || '-' || :copy,
            number, reference, reason_code, review_status, created_on, updated_on,
            replace({_its("item")}, place, its_place), data
        FROM first.stock_log CROSS JOIN named USING (product_number) WHERE seq <= :base ORDER BY seq""",
    """INSERT INTO change SELECT store_number, topic, number,
            row_number() OVER (PARTITION BY store_number ORDER BY seq) + :base * (:copy - 1)
                + CASE store_number WHEN '*' THEN :goods ELSE :changes END
        FROM first.change CROSS JOIN named ON product_number = change_key WHERE topic = 'product'""",
)
"""Each table that a product has rows in; `shift` is how far the copy's numbers are from the first's."""

_COUNTED = """UPDATE counter SET value = value + :copies * CASE name WHEN 'location' THEN :places ELSE :base END
    WHERE name IN ('store_product', 'log', 'location', 'change')"""
