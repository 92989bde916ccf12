"""After any sequence of files, of all kinds, the service has what the last file said; a refused row said nothing."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from aisle.client import Client
from aisle.service.open_service_and_admin_token import open_service
from tests.load.test_repeated_loads import World, a_world
from tests.run_length import tries
from tests.service import postgres

SEQUENCES = tries(2, 200)
"""On SQLite; by default one on PostgreSQL, in long runs a tenth of them."""
LOADS = 6

Key = tuple[str, ...]
Said = dict[tuple[str, Key], str]
"""Value by file and key."""

FIELDS: dict[str, tuple[str, tuple[tuple[str, ...], ...], str]] = {
    "stores.csv": ("store_number,is_warehouse,store_name", (("1",), ("2",)), "false"),
    "products.csv": ("product_number,product_name", (("P",), ("Q",), ("R",)), ""),
    "attributes.csv": ("product_number,size", (("P",), ("Q",), ("R",)), ""),
    "free_fields.csv": ("product_number,sort_order,key,value", (("P",), ("Q",), ("R",)), "1,k"),
    "prices.csv": ("product_number,price", (("P",), ("Q",), ("R",)), ""),
    "discount_prices.csv": ("product_number,discount_price", (("P",), ("Q",), ("R",)), ""),
    "locations.csv": ("store_number,location_code,location_order", (("1", "A"), ("1", "B"), ("2", "A")), ""),
    "people.csv": ("store_number,badge,user,name", (("1", "B1"), ("1", "B2")), "user"),
    "store_products.csv": ("store_number,product_number,max,min", (("1", "P"), ("1", "Q"), ("1", "R")), "900"),
    "stock.csv": ("store_number,product_number,location_code,quantity", (("1", "P", "A"), ("1", "Q", "B")), ""),
    "orders.csv": (
        "store_number,order_number,line_number,product_number,quantity",
        (("1", "O1"), ("1", "O2")),
        "1,P",
    ),
    "deliveries.csv": (
        "store_number,order_number,no_of_containers,line_number,product_number,quantity",
        (("1", "D1"), ("1", "D2")),
        "1,1,Q",
    ),
}
"""Columns, keys and what stands between key and value in a row."""
TEXTS = ("stores.csv", "products.csv", "attributes.csv", "free_fields.csv", "people.csv")
"""Files whose value is a text; that of the others is a number, which may be none."""
ONCE = ("orders.csv", "deliveries.csv")
"""Files whose records stay as they were loaded first: another one of the same number is refused."""
LATER = (*ONCE, "stock.csv")
"""Files of which the first load has one record alone."""


def row_of(file: str, key: Key, value: str) -> str:
    """Return a row."""
    between = FIELDS[file][2]
    between = f"U{key[-1]}" if between == "user" else between
    return ",".join((*key, *([between] if between else []), value))


def drawn(dice: Random, file: str) -> dict[Key, str]:
    """Draw what a file says; a number may be none, and its row is refused."""
    keys = [key for key in FIELDS[file][1] if dice.random() < 0.7] or [FIELDS[file][1][0]]
    if file in TEXTS:
        return {key: f"T{dice.randint(1, 4)}" for key in keys}
    return {key: "six" if dice.random() < 0.1 else str(dice.randint(1, 9)) for key in keys}


async def service_has(client: Client) -> Said:
    """Return what the service has, by file and key."""
    has: dict[tuple[str, Key], Any] = {}
    for row in (await client.call("list-stores"))["list"]:
        has["stores.csv", (row["storeNo"],)] = row["storeName"]
    for row in (await client.call("list-products", page_size=100))["records"]:
        key = (row["product_number"],)
        has["products.csv", key] = row.get("product_name")
        has["attributes.csv", key] = row.get("size")
        has["prices.csv", key] = row.get("price")
        has["discount_prices.csv", key] = row.get("promotion_price")
        has["free_fields.csv", key] = next((each["value"] for each in row.get("free_fields") or ()), None)
    for store in ("1", "2"):
        for row in (await client.call("list-locations", store_number=store))["list"]:
            has["locations.csv", (store, row["location_code"])] = row["location_order"]
    people = (await client.request_extension("GET", "/aisle/v1/stores/1/people")).json()["people"]
    has |= {("people.csv", ("1", row["badge"])): row["name"] for row in people}
    for row in (await client.call("list-store-products-stock", store_number="1"))["list"]:
        has["store_products.csv", ("1", row["product_number"])] = row.get("min")
        for place in FIELDS["stock.csv"][1]:
            if place[1] == row["product_number"]:  # each is at one place
                has["stock.csv", place] = row["most_likely_quantity"]
    orders = await client.call("list-customer-orders", store_number="1", show_lines=True)
    deliveries = await client.call("list-deliveries", store_number="1")
    for file, found in (("orders.csv", orders), ("deliveries.csv", deliveries)):
        for row in found["list"]:
            lines = row.get("lines") or row.get("order_lines") or ()
            has[file, ("1", row["order_number"])] = lines[0]["quantity"] if lines else None
    return {key: _text(value) for key, value in has.items() if value is not None}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{Decimal(str(value)).normalize():f}"


async def go_through(world: World, dice: Random) -> None:
    """Load one set of files after the other, and compare after each what the service has."""
    first = {file: dict.fromkeys(FIELDS[file][1], "T1" if file in TEXTS else "1") for file in FIELDS}
    said: Said = {}
    for load in range(LOADS):
        files = first if not load else {file: drawn(dice, file) for file in FIELDS if dice.random() < 0.4}
        world.clear()
        for file, values in files.items():
            world.write(file, FIELDS[file][0], *(row_of(file, key, value) for key, value in values.items()))
        recount = dice.random() < 0.5
        report = await world.load(recount=recount) if files else None
        if report is None:
            continue
        refused = {(row.file, row.line) for row in report.bad}
        kept = {(each.file, line) for each in report.files for line in each.already_loaded_rows}
        for file, values in files.items():
            for line, (key, value) in enumerate(values.items(), 2):
                is_refused = (file, line) in refused
                assert is_refused == (value == "six") or (is_refused and (file, key) in said), report.lines()
                assert is_refused <= (value == "six" or file in ONCE), report.lines()
                if (file, line) not in refused | kept:
                    said[file, key] = value
        async with world.client() as client:
            has = await service_has(client)
        wrong = {key: (has.get(key), value) for key, value in said.items() if has.get(key) != value}
        assert not wrong, (wrong, recount, report.lines())


@pytest.mark.every_case
@pytest.mark.parametrize("seed", range(SEQUENCES))
async def test_the_service_has_what_the_last_file_said(tmp_path: Path, seed: int) -> None:
    with a_world(tmp_path) as world:
        await go_through(world, Random(seed))


@pytest.mark.parametrize("seed", range(100, 100 + max(1, SEQUENCES // 10)))
async def test_so_has_one_on_postgresql(tmp_path: Path, server: postgres.Server, seed: int) -> None:
    with closing(open_service(server.fresh())) as service:
        await go_through(World(tmp_path, service.ensure_admin_token(tmp_path / "token"), service), Random(seed))
