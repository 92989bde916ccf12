"""A database of any earlier schema is brought to the newest one with all that is in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.service.auth.tokens import generate_secret, hash_secret
from aisle.service.db.postgres_schema import to_postgres
from aisle.service.db.schema import MIGRATIONS, REBUILD_PRODUCT_CODES
from aisle.service.db.sqlite_schema import _to_sqlite
from tests.service.postgres import execute
from tests.service.world import LOGS, START, World

# Rows as the first schema had them; later ones only added columns, and left none without a value.
ROWS = (
    """INSERT INTO store (store_number, ordinal, store_name, is_warehouse, is_active, area_id, secondary_key, search,
        item, data)
    VALUES ('S1', 1, 'First', 0, 1, '', '', 'first', '{"storeNo":"S1","storeName":"First"}', '{}')""",
    """INSERT INTO product (product_number, product_name, barcode, category_code, parent_category_code, is_active,
        is_stock, allow_decimal, price, attention_code, search, entry, item, modified_on)
    VALUES ('P1', 'Tea', '1', 'hot', '', 1, 1, 0, '', '', 'tea', '{}',
        '{"product_number":"P1","product_name":"Tea","barcode":"1","category_code":"hot"}', '2026')""",
    "INSERT INTO product_code VALUES ('1', 'P1')",
    "INSERT INTO counter VALUES ('S1', 'store_product', 1), ('S1', 'order', 1), ('S1', 'line', 1), ('*', 'store', 1)",
    """INSERT INTO store_product (store_number, product_number, seq, ordinal, is_replenishment, price, attention_codes,
        item, data, modified_on) VALUES ('S1', 'P1', 1, 1, 0, '', '', '{}', '{}', '2026')""",
    """INSERT INTO location (store_number, location_code, seq, location_order, tags, sort_key, search, created_on)
    VALUES ('S1', 'A1', 1, 1, '[]', 'a1', 'a1', '2026')""",
    """INSERT INTO customer_order (store_number, order_number, seq, is_active, is_claimed, is_picked, is_rejected,
        status_id, fulfilment, reference, pickup_date, total_lines, total_quantity, total_delivered, fingerprint,
        search, item, data)
    VALUES ('S1', 'O1', 1, 1, 0, 0, 0, 2, 'partial', '', '', 1, 4000, 0, '', 'o1', '{"order_number":"O1"}', '{}')""",
    """INSERT INTO order_line (store_number, order_number, line_number, seq, product_number, quantity, picked, moved,
        delivered, is_picked, is_open, from_warehouse, stock_pool, pools, preferred_location_code, reference, item)
    VALUES ('S1', 'O1', 1, 1, 'P1', 4000, 1000, 1000, 0, 0, 1, 0, 1, '[]', '', '',
        '{"product_number":"P1","price":0}')""",
    "INSERT INTO balance VALUES ('S1', 'P1', 'A1', 1, '', 0, 5000), ('S1', 'P1', 'A1', 1, 'O1', 1, 1000)",
    """INSERT INTO leg VALUES ('S1', 'a', 0, 'count', 'P1', 'A1', 1, '', 0, 5000, '2026', '2026'),
        ('S1', 'b', 0, 'move', 'P1', 'A1', 1, 'O1', 1, 1000, '2026', '2026')""",
    """INSERT INTO stock_log VALUES ('S1', 1, 1, 'a', 'P1', '', NULL, 0, '2026', '2026',
        '{"product_number":"P1","store_number":"S1","location_code":"A1","quantity":6,"source":"count"}', '{}')""",
    "INSERT INTO counter VALUES ('S1', 'log', 1)",
)


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
async def test_an_earlier_database_is_brought_up_with_all_that_is_in_it(
    tmp_path: Path, engine: str, version: int, request: pytest.FixtureRequest
) -> None:
    secret = generate_secret()
    if engine == "sqlite":
        sqlite_of(tmp_path / "service.db", version, secret)
        world = World(tmp_path)
    else:
        url: str = request.getfixturevalue("server").fresh()
        postgres_of(url, version, secret)
        world = World(url)
    await world.client.aclose()
    world.client = world.open_client(secret)
    assert world.books() == {("P1", "A1", 1): 5, ("P1", "A1", 1, "O1", 1): 1}
    [line] = (await world.see("O1"))["lines"]
    assert (line["picked_quantity"], line["store_locations"][0]["quantity"]) == (1, 5)
    assert [row["storeNo"] for row in await world.rows("/stores")] == ["S1"]
    assert (await world.rows("/storeproducts/stock"))[0]["most_likely_quantity"] == 6
    assert [row["product_number"] for row in (await world.get("/products", barcode="1"))["records"]] == ["P1"]
    assert (await world.get("/products", search_text="tea"))["total_record_count"] == 1
    assert (await world.get("/products", search_text="team"))["total_record_count"] == 0
    found = await world.rows("/stores/S1/locations/A1/products", search_text="tea", advance_search=True)
    assert len(found) == 2
    await world.pick("O1", 1, "P1", 4)
    await world.update("O1", is_active=False)
    await world.post(LOGS, {"storeproductlog": [{"product_number": "P1", "location_code": "A1", "quantity": -2}]})
    assert (await world.send("DELETE", "/products", {"product_numbers": ["P1"]})).status_code == 200
    assert world.now == START
    await world.close()


# As earlier programs kept what is searched: with punctuation, and with letters that no accent makes.
_SAID = (
    "UPDATE product SET search = 'smør 7-up 1.5l\n1', detail = 'p1\nrødgrød a/b'",
    "UPDATE store SET search = 'ørsted c&a\ns1'",
    "UPDATE location SET search = 'a-1\ncold-room'",
    "UPDATE customer_order SET search = 'o1 łukasz smith-jones'",
)


async def test_what_earlier_programs_kept_for_searches_is_found_as_it_is_typed(
    tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    secret = generate_secret()
    if engine == "sqlite":
        sqlite_of(tmp_path / "service.db", 16, secret, _SAID)
        world = World(tmp_path)
    else:
        url: str = request.getfixturevalue("server").fresh()
        postgres_of(url, 16, secret, _SAID)
        world = World(url)
    await world.client.aclose()
    world.client = world.open_client(secret)
    asked = {
        "/products": ("smor", "SMØR", "7up smor", "7-up", "15l", "1.5 up"),
        "/stores/S1/locations/A1/products": ("rodgrod", "ab", "a/b p1"),
        "/stores": ("orsted", "ca", "s1 c&a"),
        "/stores/S1/locations": ("a1", "coldroom", "cold-room a-1"),
        "/stores/S1/orders/customerorders": ("lukasz", "smithjones", "jones smith o1"),
    }
    for path, texts in asked.items():
        for text in texts:
            answer = await world.get(path, search_text=text, **({"advance_search": True} if "A1" in path else {}))
            assert answer.get("records") or answer.get("list"), (path, text)
    await world.client.aclose()
    world.service.close()


async def test_measures_of_products_of_earlier_programs_are_found_however_they_are_written(
    tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    secret = generate_secret()
    said = (
        "UPDATE product SET product_name = 'Tea 1,5 kg', search = 'tea 1 5 kg 15\n1', detail = 'p1\ntea 1 5 kg 15'",
    )
    if engine == "sqlite":
        sqlite_of(tmp_path / "service.db", 17, secret, said)
        world = World(tmp_path)
    else:
        url: str = request.getfixturevalue("server").fresh()
        postgres_of(url, 17, secret, said)
        world = World(url)
    await world.client.aclose()
    world.client = world.open_client(secret)
    for text, found in (("1.5kg", 1), ("tea 1,5kg", 1), ("1.5 kg", 1), ("5kg", 0), ("11.5kg", 0)):
        assert (await world.get("/products", search_text=text))["total_record_count"] == found, text
        rows = await world.rows("/stores/S1/locations/A1/products", search_text=text, advance_search=True)
        assert bool(rows) == bool(found), text
    await world.client.aclose()
    world.service.close()


_CODED: dict[str, dict[str, Any]] = {
    "P2": {"barcode": "(01)04006381333931"},
    "P3": {"barcode": "ABC-7"},
    "P4": {"barcode": "*K-9*"},
    "P5": {"barcode": "", "barcodes_array": "0012345678905, 5901234-123457"},
    "P6": {"barcode": "", "units": [{"unit_barcode": "Box/1"}, {"unit_barcode": None}]},
    "P7": {"barcode": "", "purchase_unit_barcode": "\uff12\uff10\uff10\uff11"},
    "P8": {"barcode": "000000"},
}


def _product(number: str, said: dict[str, Any]) -> str:
    item = json.dumps({"product_number": number, **said})
    return f"""INSERT INTO product (product_number, product_name, barcode, category_code, parent_category_code,
        is_active, is_stock, allow_decimal, price, attention_code, search, entry, item, modified_on)
        VALUES ('{number}', 'Thing', '', '', '', 1, 1, 0, '', '', '', '{{}}', '{item}', '2026')"""


_ASKED = {
    "4006381333931": "P2",
    "abc-7": "P3",
    "ABC-7": "P3",
    "k-9": "P4",
    "12345678905": "P5",
    "0012345678905": "P5",
    "5901234123457": "P5",
    "box/1": "P6",
    "BOX/1": "P6",
    "2001": "P7",
    "0": "P8",
    "gone": None,
    "stale": None,
}


async def test_barcodes_of_earlier_programs_are_found_in_every_form(
    tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    """They were kept under one key, without zeros before it; the migration keeps them under all."""
    secret, before = generate_secret(), next(n for n, each in enumerate(MIGRATIONS) if REBUILD_PRODUCT_CODES in each)
    codes: dict[str, dict[str, Any]] = {**_CODED, "P9": {"barcode": "gone"}}
    said = [_product(number, item) for number, item in codes.items()]
    said += ["UPDATE product SET deleted_on = '2026' WHERE product_number = 'P9'"]
    said += ["INSERT INTO product_code VALUES ('stale', 'P3')"]
    if engine == "sqlite":
        sqlite_of(tmp_path / "service.db", before, secret, said)
        world = World(tmp_path)
    else:
        url: str = request.getfixturevalue("server").fresh()
        postgres_of(url, before, secret, said)
        world = World(url)
    await world.client.aclose()
    world.client = world.open_client(secret)
    found = {}
    for code in _ASKED:
        records = (await world.get("/products", barcode=code))["records"]
        found[code] = records[0]["product_number"] if records else None
    assert found == _ASKED
    await world.client.aclose()
    world.service.close()


async def test_orders_and_deliveries_of_earlier_programs_say_no_more_than_they_did(
    tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    """What the interface has no field for stands under `aisle` where there is any of it."""
    secret = generate_secret()
    order = """INSERT INTO customer_order (store_number, order_number, seq, is_active, is_claimed, is_picked,
        is_rejected, status_id, fulfilment, reference, pickup_date, total_lines, total_quantity, total_delivered,
        fingerprint, search, item, data)
        VALUES ('S1', 'O2', 2, 1, 0, 0, 0, 2, 'open', '', '', 0, 0, 0, '', 'o2', '{"order_number":"O2"}',
        '{"customer_city":"Ulm","file_name":null}')"""
    if engine == "sqlite":
        sqlite_of(tmp_path / "service.db", 20, secret, [order])
        world = World(tmp_path)
    else:
        url: str = request.getfixturevalue("server").fresh()
        postgres_of(url, 20, secret, [order])
        world = World(url)
    await world.client.aclose()
    world.client = world.open_client(secret)
    rows = await world.rows("/stores/S1/orders/customerorders")
    assert {row["order_number"]: row.get("aisle") for row in rows} == {"O1": None, "O2": {"customer_city": "Ulm"}}
    await world.client.aclose()
    world.service.close()


ENTRY = {"storeproductlog": [{"product_number": "P1", "location_code": "A1", "quantity": 2}]}
KEYS = [{"Idempotency-Key": f'"0123456789abcde{n}"'} for n in range(2)]


async def test_keys_of_the_first_schema_are_kept_under_their_store(
    tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    """They belonged to tokens, and came before what they did in the ledger."""
    first, second = "a" * 12, "b" * 12
    rows: list[tuple[str, Sequence[object]]] = [
        (_ANSWERED, ("S1", first, *await _answered(tmp_path))),
        # The same key under a second token, carried out by the old rule: the first answer is kept, and nothing breaks.
        (
            "INSERT INTO idempotency SELECT store_number, $1, request_key, fingerprint, status, body, '9999'"
            " FROM idempotency",
            (second,),
        ),
        *((_TOKENS, (token, token)) for token in (first, second)),
        *((_LEGS, (f"{token}/0123456789abcde{n}",)) for token in (first, second) for n in range(2)),
    ]
    doubled = (
        "UPDATE balance SET quantity = quantity + 8000 WHERE order_number = ''",
        "UPDATE stock_log SET item = replace(item, '\"quantity\":6', '\"quantity\":14')",
    )
    secret = generate_secret()
    if engine == "sqlite":
        sqlite_of(tmp_path / "service.db", 1, secret, doubled, rows)
        world = World(tmp_path)
    else:
        url: str = request.getfixturevalue("server").fresh()
        postgres_of(url, 1, secret, doubled, rows)
        world = World(url)
    async with world.open_client(secret) as client:
        again = [await world.send("POST", LOGS, ENTRY, headers=key, client=client) for key in KEYS]
    # Of the second key the answer is not known any more, but that it was carried out.
    assert [(one.status_code, "Idempotency-Replayed" in one.headers) for one in again] == [(200, True), (409, False)]
    assert world.books()[("P1", "A1", 1)] == 13
    await world.update("O1", is_active=False)
    await world.close()


async def _answered(tmp_path: Path) -> tuple[object, ...]:
    """What is kept under the first key, as the service of today keeps it."""
    (tmp_path / "other").mkdir()
    secret = generate_secret()
    sqlite_of(tmp_path / "other" / "service.db", len(MIGRATIONS), secret)
    world = World(tmp_path / "other")
    async with world.open_client(secret) as client:
        assert (await world.send("POST", LOGS, ENTRY, headers=KEYS[0], client=client)).status_code == 200
    kept = "SELECT request_key, fingerprint, status, body, created_on FROM idempotency"
    [row] = world.service.database.read_now(lambda tx: tx.all(kept))
    await world.client.aclose()
    world.service.close()
    return row


_ANSWERED = "INSERT INTO idempotency VALUES ($1, $2, $3, $4, $5, $6, $7)"
_TOKENS = "INSERT INTO token VALUES ($1, $2, 'x', 'admin', 1, '2026', NULL, '2026', NULL)"
_LEGS = "INSERT INTO leg VALUES ('S1', $1, 1, 'change', 'P1', 'A1', 1, '', 0, 2000, '2026', '2026')"
_TOKEN = (
    "INSERT INTO token (token_id, token_hash, name, role, all_stores, created_on)"
    " VALUES ($1, $2, 'old', 'admin', 1, '2026')"
)


def _statements(version: int) -> list[str]:
    return [text for migration in MIGRATIONS[:version] for text in migration]


def sqlite_of(
    path: Path,
    version: int,
    secret: str,
    more: Sequence[str] = (),
    rows: Sequence[tuple[str, Sequence[Any]]] = (),
) -> None:
    connection = apsw.Connection(str(path))
    connection.create_scalar_function("code_keys", lambda *_: "[]", 1)
    for name, given in (("refolded", 1), ("measured", 2)):
        connection.create_scalar_function(name, lambda *said: said[0], given)
    for statement in (*(_to_sqlite(one) for one in _statements(version)), *ROWS, *more):
        connection.execute(statement)
    for text, values in ((_TOKEN, ("t" * 12, hash_secret(secret))), *rows):
        connection.execute(text.replace("$", "?"), values)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def postgres_of(
    url: str,
    version: int,
    secret: str,
    more: Sequence[str] = (),
    rows: Sequence[tuple[str, Sequence[Any]]] = (),
) -> None:
    made = [to_postgres(statement) for statement in _statements(version)]
    numbers = [f"INSERT INTO schema_version VALUES ({number})" for number in range(1, version + 1)]
    table = "CREATE TABLE schema_version (version BIGINT PRIMARY KEY)"
    execute(
        url,
        ";".join([*made, table, *numbers, *ROWS, *more]),
        rows=[(_TOKEN, ("t" * 12, hash_secret(secret))), *rows],
    )
