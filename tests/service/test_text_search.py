"""Searches of products find what their texts hold, whatever index helps."""

from __future__ import annotations

import re
from typing import Any

import apsw
import asyncpg
import pytest

from aisle.search_text import search_variants
from aisle.service.db.database_interface import Transaction
from aisle.service.db.list_query_builder import filter_query, like_pattern, search_filter
from aisle.service.db.schema_and_search_index import (
    POSTGRES_PRODUCT_INDEX,
    match_expression,
    narrow_by_index,
    search_key,
)
from aisle.service.db.sqlite_connection_and_transaction import _to_sqlite
from aisle.service.db.statements import stock, stores_and_products
from aisle.service.db.statements import stock as stock_sql
from tests.service.postgres import Server
from tests.service.world import World

NAMES = (
    "Ab",
    "Abc",
    "abcdef",
    "ABCDEFG hij",
    'a%b_c\\d "quoted" it\'s',
    "Crème brûlée, Größe 7",
    "日本の緑茶 静岡県産",
    "🍏🍎 apples 🍏🍎",
    "tab\tand AND or NOT near*",
    "long " + "0123456789" * 95 + " the end",
    "long " + "0123456789" * 95 + " other end",
)
TEXTS = {f"N{n}": search_key((name, f"{n}")) for n, name in enumerate(NAMES)}


def _asked() -> list[str]:
    asked = {text[at : at + size] for text in TEXTS.values() for size in (1, 3, 5, 6, 7, 13) for at in (0, 4, 9)}
    asked |= {text[at : at + 7] for text in TEXTS.values() for at in (505, 511, 512, 517, len(text) - 7)}
    asked |= {TEXTS["N9"], "abd", "abcdeg", "bcdefgh", "9012345678901235", "the enda", "the end\n", "茶の"}
    return sorted(text for text in asked if text.strip() == text and text)


async def _found(world: World, text: str) -> tuple[int, list[str]]:
    answer = await world.get("/products", search_text=text, page_size=100)
    return answer["total_record_count"], [record["product_number"] for record in answer["records"]]


async def test_a_search_finds_what_holds_its_text_and_nothing_else(world: World) -> None:
    goods = [{"product_number": f"N{n}", "product_name": name, "barcode": f"{n}"} for n, name in enumerate(NAMES)]
    await world.post("/products", {"products": goods})
    old = {one: row for one, row in (await _texts(world)).items() if one not in TEXTS}
    for text in _asked():
        ways = [way.split() for way in search_variants(text)]
        fits = sorted(
            number
            for number, said in (TEXTS | old).items()
            if not ways or any(all(word in said for word in words) for words in ways)
        )
        assert await _found(world, text) == (len(fits), fits), text


async def _texts(world: World) -> dict[str, str]:
    return dict(world.service.database.read_now(lambda tx: tx.all("SELECT product_number, search FROM product")))


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        *((text, ["N1", "N2"]) for text in ("7up", "7-up", "7.UP")),
        *(
            (text, ["N1"])
            for text in ("lemonade 7-up", "up lemonade", "7up lemon", "1.5l 7up", "15L lem", "c&a", "ca 7")
        ),
        *((text, ["N3"]) for text in ("rod", "rød", "smor", "brod smør", "aeble", "lodz", "orhus", "strasse ro")),
        *((text, ["N4"]) for text in ("dark tea", "tea da", "9.99", "999 tea", "dark-tea")),
        *((text, []) for text in ("tea lemonade", "rod 7up", "7-xp")),
    ],
)
async def test_words_are_found_in_any_order_with_and_without_punctuation(
    world: World, text: str, fits: list[str]
) -> None:
    """As a session finds them."""
    names = {
        "N1": "Lemonade 7-Up 1.5l c&a",
        "N2": "7UP zero",
        "N3": "Rød Smør Brød Æbler Łódź Ørhus Straße",
        "N4": "Tea 9.99 dark",
    }
    goods = [{"product_number": one, "product_name": name, "barcode": one} for one, name in names.items()]
    await world.post("/products", {"products": goods})
    assert await _found(world, text) == (len(fits), fits)


async def test_a_search_follows_what_products_become(world: World) -> None:
    async def named(name: str) -> None:
        await world.post("/products", {"products": [{"product_number": "N", "product_name": name, "barcode": "1"}]})

    await named("Nettle tea")
    assert await _found(world, "nettle") == (1, ["N"])
    await named("Lemon balm")
    assert await _found(world, "nettle") == (0, [])
    assert await _found(world, "emon b") == (1, ["N"])
    await world.post("/products/prices", {"products": [{"product_number": "N", "price": 2}]})
    assert await _found(world, "lemon balm") == (1, ["N"])
    assert (await world.send("DELETE", "/products", {"product_numbers": ["N"]})).status_code == 200
    assert await _found(world, "lemon") == (0, [])
    await named("Lemon verbena")
    assert await _found(world, "lemon") == (1, ["N"])
    assert await _found(world, "balm") == (0, [])


@pytest.mark.sqlite
async def test_catalogue_change_by_others_is_found_before_index_update(world: World) -> None:
    connection = apsw.Connection(str(world.path))
    connection.execute("UPDATE product SET search = 'gunpowder' WHERE product_number = 'P2'")
    connection.close()
    waiting = "SELECT product_number FROM product_waiting"
    assert world.service.database.read_now(lambda tx: tx.all(waiting)) == [("P2",)]
    assert await _found(world, "gunpowder") == (1, ["P2"])
    await world.post("/products", {"products": [{"product_number": "N", "product_name": "Sencha", "barcode": "1"}]})
    assert world.service.database.read_now(lambda tx: tx.all(waiting)) == []
    assert await _found(world, "gunpowder") == (1, ["P2"])
    assert await _found(world, "sencha") == (1, ["N"])


def test_a_search_is_narrowed_where_it_looks_through_the_catalogue() -> None:
    lists: tuple[tuple[str, dict[str, str], bool], ...] = (
        (stores_and_products.PRODUCT_LIST, stores_and_products.PRODUCT_FILTERS, True),
        (stores_and_products.PRODUCT_COUNT, stores_and_products.PRODUCT_FILTERS, True),
        (stock.STOCK_KEYS_CATALOGUE, stock.STOCK_FILTERS, True),
        (stock.STOCK_COUNT_CATALOGUE, stock.STOCK_FILTERS, True),
        (stock_sql.GOODS_AT_LOCATION, stock_sql.GOODS_AT_LOCATION_FILTERS, False),
    )
    asked = {
        "tea": "tea", "te": "", "tea time": "time tea", "tea 1": "tea", "1 te": "", "t-ea": "",
        "5g": "5g =5=g", "tea x5": "tea x5", "10": "", "5 g": "",
        "tea-time 1": "time tea teatime", "a% \\": "", "one two three four five six": "three four five one",
    }  # fmt: skip
    for head, filters, narrow in lists:
        for text, words in asked.items():
            query = filter_query(head, filters, {"store": "S", **search_filter("search", text)})
            said = narrow_by_index(_to_sqlite(query.sql), query.args)
            by = [str(query.args[int(place) - 1]) for place in re.findall(r"words_of\(\?(\d+)\)", said)]
            assert by == ([like_pattern(word) for word in words.split()] if narrow else []), text


def test_words_are_few_and_cover_both_ends() -> None:
    text = "".join(chr(97 + n % 26) + str(n) for n in range(2000))
    words = match_expression(like_pattern(text)).replace('"', "").split()
    assert len(words) <= 14
    pieces = [bytes.fromhex(word).decode() for word in words]
    assert (pieces[0], pieces[-1]) == (text[:6], text[-6:])
    assert all(piece in text for piece in pieces)
    assert match_expression(like_pattern("%_\\")) == f'"{b"%_".hex()}5c" *'


async def test_the_index_is_what_a_search_goes_by(world: World, engine: str) -> None:
    query = filter_query(
        stores_and_products.PRODUCT_LIST, stores_and_products.PRODUCT_FILTERS, search_filter("search", "tea time")
    )

    async def plan(tx: Transaction) -> list[Any]:
        if engine in ("sqlite", "twice"):
            return await tx.all("EXPLAIN QUERY PLAN " + query.sql, *query.args)
        await tx.run("SET LOCAL enable_seqscan = off")
        return await tx.all("EXPLAIN " + query.sql.replace("$1", "'%time%'").replace("$2", "'%tea%'"))

    said = str(world.service.database.read_now(plan))
    assert "VIRTUAL TABLE" in said if engine in ("sqlite", "twice") else "product_gram" in said


async def test_without_the_extension_there_is_no_index_and_no_harm(server: Server) -> None:
    connection = await asyncpg.connect(server.url())
    change = connection.transaction()
    await change.start()
    try:
        await connection.execute("DROP EXTENSION IF EXISTS pg_trgm CASCADE")
        await connection.execute("CREATE ROLE nobody_much; CREATE SCHEMA narrow AUTHORIZATION nobody_much")
        await connection.execute("SET LOCAL search_path = narrow; SET LOCAL ROLE nobody_much")
        await connection.execute("CREATE TABLE product (search TEXT)")
        await connection.execute(POSTGRES_PRODUCT_INDEX)
        assert await connection.fetchval("SELECT count(*) FROM pg_indexes WHERE schemaname = 'narrow'") == 0
    finally:
        await change.rollback()
        await connection.close()


async def test_a_measure_is_found_however_it_was_written(world: World) -> None:
    names = ("Salt 200g", "Salt 200 g", "Salt 200 GR.", "Salt 1200 g", "Rice 5 kg", "Rice 15 kg", "Tea 6 x 1,5 l")
    goods = [{"product_number": f"M{n}", "product_name": name, "barcode": f"{n}"} for n, name in enumerate(names)]
    await world.post("/products", {"products": goods})
    asked = {"200g": "012", "salt 200G": "012", "200 g salt": "0123", "5kg": "4", "15KG": "5", "1.5l": "6", "5l": ""}
    for text, fits in asked.items():
        assert (await _found(world, text))[1] == [f"M{n}" for n in fits], text
