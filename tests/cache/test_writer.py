"""The cache writer: bulk rows, codes, sweeps, cursors, the change feed, other schema versions."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aisle.barcode_numbers import lookup_keys
from aisle.cache import writer as writer_module
from aisle.cache.order_writer import NO_PICKUP_DATE
from aisle.cache.reader import ALL_TOPICS, CacheReader
from aisle.cache.schema import CACHE_TABLES, CHANGE_TOPICS, FEED_ENTRIES, MAX_KEYED_CHANGES, SCHEMA_VERSION
from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.errors import StorageError
from aisle.host.database import empty_database, fetch, schema_version
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_queue import open_outbox
from aisle.search_text import index_text, natural_key, normalise_text, search_variants
from tests.cache.service_rows import line, location, order, person, product, put_orders, stock, store
from tests.run_length import tries

CASE = {"unit_quantity": 12, "unit_barcode": "14006381333938", "unit_name": "case"}


def codes(db: apsw.Connection) -> dict[tuple[str, str, str], str]:
    return {(code, kind, key): factor for code, kind, key, factor in fetch(db, "SELECT * FROM code")}


def found(reads: CacheReader, code: str) -> set[tuple[str, str, int]]:
    return {(hit.kind, hit.key, int(hit.factor)) for hit in reads.find(lookup_keys(code))}


def index_is_whole(db: apsw.Connection) -> bool:
    """Whether the search index says the same as the table that it is made of; raises where it does not."""
    db.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
    return True


# Products and stock


def test_every_code_of_a_product_leads_to_it(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products(
        [
            product(
                "A-1",
                barcode="4006381333931",
                barcodes_array="0012345678905; 4006381333948|ABC",
                units=[CASE, {"unit_quantity": 0, "unit_barcode": "999111"}, "nonsense"],
                purchase_unit_barcode="PAL-1",
                purchase_unit_quantity=480,
            )
        ]
    )
    one, twelve, pallet = {("product", "A-1", 1)}, {("product", "A-1", 12)}, {("product", "A-1", 480)}
    assert found(reads, "4006381333931") == found(reads, "a-1") == found(reads, "abc") == one
    assert found(reads, "12345678905") == found(reads, "0012345678905") == found(reads, "012345678905") == one
    assert found(reads, "4006381333948") == one
    assert found(reads, "14006381333938") == twelve
    assert found(reads, "pal-1") == pallet
    assert found(reads, "999111") == set()


def test_the_first_meaning_of_a_code_wins_in_a_product(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("1", barcode="4006381333931", units=[{**CASE, "unit_barcode": "4006381333931"}])])
    assert found(reads, "4006381333931") == {("product", "1", 1)}


def test_one_code_may_mean_several_things(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("77", "Seven", barcode="4006381333931"), product("78", barcode="4006381333931")])
    cache.write_orders(
        [order("77", customer_name="Ada Moss", reference="4006381333931")], lines_known=False, read_began=1
    )
    cache.write_locations([location("77")])
    assert {(hit.kind, hit.key, hit.label) for hit in reads.find(["77"])} == {
        ("product", "77", "Seven"),
        ("order", "77", "Ada Moss"),
        ("location", "77", "77"),
    }
    assert {(hit.kind, hit.key) for hit in reads.find(["4006381333931"])} == {
        ("product", "77"),
        ("product", "78"),
        ("reference", "77"),
    }


def test_candidates_come_in_the_order_of_the_keys_and_name_theirs(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("000123"), product("123", allow_decimal=True)])
    hits = reads.find(["000123", "123", "nothing"])
    assert [(hit.code, hit.key, hit.allow_decimal) for hit in hits] == [
        ("000123", "000123", False),
        ("123", "000123", False),
        ("123", "123", True),
    ]


def test_a_product_that_changes_its_codes_leaves_none_behind(cache: CacheWriter, cache_db: apsw.Connection) -> None:
    cache.write_products([product("1", "Oat bar", barcode="4006381333931", units=[CASE])])
    cache.write_products([product("1", "Oat biscuit", barcode="4006381333948", units=[{**CASE, "unit_quantity": 24}])])
    assert codes(cache_db) == {
        ("1", "product", "1"): "1",
        ("4006381333948", "product", "1"): "1",
        ("14006381333938", "product", "1"): "24",
    }
    assert index_is_whole(cache_db)


@given(steps=st.lists(st.sampled_from(["catalogue", "other", "stock", "gone from it", "gone from stock"]), max_size=7))
def test_catalogue_and_stock_list_may_come_in_any_order(steps: list[str]) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(CACHE_TABLES).fetchall()
    cache = CacheWriter(connection, "0001")
    in_catalogue = in_stock = ""
    for generation, step in enumerate(steps, 1):
        if step in ("catalogue", "other"):
            in_catalogue = "111" if step == "catalogue" else "222"
            cache.write_products([product("1", f"Name {in_catalogue}", barcode=in_catalogue)], generation)
        elif step == "stock":
            in_stock = "333"
            cache.write_stock(
                [stock("1", barcode="333", product_description="Stock name", places={"A": 1})], generation
            )
        elif step == "gone from it":
            in_catalogue = ""
            cache.delete_unseen("product", generation)
        else:
            in_stock = ""
            cache.delete_unseen("stock", generation)
    expected = {in_catalogue, in_stock, "1" if in_catalogue or in_stock else ""} - {""}
    assert {code for code, _, _ in codes(connection)} == expected
    assert index_is_whole(connection)
    assert len(fetch(connection, "SELECT * FROM stock_location")) == (1 if in_stock else 0)
    assert len(fetch(connection, "SELECT * FROM product")) == (1 if expected else 0)
    connection.close()


def test_stock_alone_makes_a_product_known(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_stock([stock("5", barcode="4006381333931", product_description="Green tea")])
    assert [hit.label for hit in reads.find(["4006381333931"])] == ["Green tea"]
    cache.write_products([product("5", "Green tea 20 bags", barcode="4006381333931")])
    assert [hit.label for hit in reads.find(["4006381333931"])] == ["Green tea 20 bags"]
    cache.write_stock([stock("5", 3, barcode="4006381333931", product_description="Green tea")])
    assert [hit.label for hit in reads.find(["5"])] == ["Green tea 20 bags"]


def test_locations_are_those_of_the_last_entry_and_none_without_them(cache: CacheWriter, reads: CacheReader) -> None:
    def places() -> list[Any]:
        rows, _ = reads.query("product", {"product_number": "1"})
        return [(place["location_code"], int(place["quantity"])) for place in rows[0]["locations"]]

    cache.write_stock([stock("1", 9, places={"A": 5, "B": 4})])
    assert places() == [("A", 5), ("B", 4)]
    assert cache.write_stock([stock("1", 9)]).changed == ("1",)
    assert places() == []
    cache.write_stock([stock("1", 8, places={"B": 8})])
    assert places() == [("B", 8)]
    assert cache.write_stock([stock("1", 8, places={})]).changed == ("1",)
    assert places() == []


def test_rows_that_make_no_sense_are_handed_back(cache: CacheWriter) -> None:
    bad = [{}, "text", product(""), None, stock("1", quantity="many"), stock("1", store_number="0002")]  # type: ignore[arg-type]
    result = cache.write_stock([stock("7"), *bad, stock("8", quantity="2.5")])  # type: ignore[arg-type]
    assert result.keys == ("7", "8")
    assert [skipped.row for skipped in result.skipped] == bad
    assert [skipped.reason for skipped in result.skipped] == [
        "product_number is missing",
        "a row has to be an object, not str",
        "product_number is missing",
        "a row has to be an object, not NoneType",
        "most_likely_quantity is no number: 'many'",
        "it belongs to store 0002",
    ]


def test_half_characters_do_not_keep_a_page_out(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("1", "Oat \ud83d bar"), product("2", "Tea", free_fields=[{"value": "\udc00"}])])
    put_orders(cache, order("7", line(1, description="x\ud800"), comment="y\udfff"))
    assert [hit.label for hit in reads.find(["1", "2"])] == ["Oat \ufffd bar", "Tea"]
    (row,), _ = reads.query("order", {"order_number": "7"})
    assert (row["comment"], row["lines"][0]["description"]) == ("y\ufffd", "x\ufffd")


def test_a_row_that_stands_there_twice_counts_once(cache: CacheWriter, cache_db: apsw.Connection) -> None:
    cache.write_products([product("1", "old"), product("1", "new")])
    cache.write_stock([stock("2", 1, barcode="5"), stock("2", 2, barcode="6")])
    assert fetch(cache_db, "SELECT product_number, name FROM product ORDER BY 1") == [("1", "new"), ("2", "")]
    assert fetch(cache_db, "SELECT quantity FROM stock") == [(2,)]
    assert index_is_whole(cache_db)


def test_what_has_not_changed_is_not_written(cache: CacheWriter, cache_db: apsw.Connection) -> None:
    goods = [product(str(number)) for number in range(50)]
    entries = [stock(str(number), places={"A": 1}) for number in range(50)]
    cache.write_products(goods)
    cache.write_stock(entries)
    before = cache_db.total_changes()
    assert cache.write_products(goods).changed == ()
    assert cache.write_stock(entries).changed == ()
    assert cache_db.total_changes() == before


# Sweeps


def test_a_sweep_drops_what_a_complete_pass_has_not_seen(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product(str(number)) for number in range(5)], generation=1)
    cache.write_locations([location(code) for code in "AB"], generation=1)
    assert (cache.delete_unseen("product", 1), cache.delete_unseen("location", 1)) == (0, 0)
    cache.write_products([product(str(number)) for number in range(3)], generation=2)
    cache.write_products([product("9")])
    cache.write_locations([location("B")], generation=2)
    assert (cache.delete_unseen("product", 2), cache.delete_unseen("location", 2)) == (3, 1)
    assert [bool(reads.find([code])) for code in "01239"] == [True, True, True, False, False]
    assert (reads.find(["a"]), [hit.key for hit in reads.find(["b"])]) == ([], ["B"])


def test_orders_that_a_pass_has_not_met_are_asked_for_first(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_orders([order("1"), order("2", is_active=False), order("3")], lines_known=False, read_began=1)
    cache.write_orders([order("3")], lines_known=False, read_began=2, generation=7)
    assert cache.find_unseen_orders(7) == ("1",)
    cache.write_orders([order("1", is_active=False)], lines_known=True, read_began=3)
    assert cache.find_unseen_orders(7) == ()
    cache.delete_absent_orders(["2", "none"], read_began=9)
    assert reads.find(["2"]) == []
    assert cache.delete_unseen("order", 7) == 0


# Orders


def test_a_slow_read_never_overwrites_a_later_one(cache: CacheWriter, reads: CacheReader) -> None:
    def picked() -> tuple[Any, Any]:
        (row,), _ = reads.query("order", {"order_number": "1"})
        return row["customer_name"], [int(line["picked_quantity"]) for line in row["lines"]]

    cache.write_orders([order("1", line(1, picked=2), customer_name="new")], lines_known=True, read_began=20)
    stale = cache.write_orders([order("1", line(1, picked=1), customer_name="old")], lines_known=True, read_began=19)
    assert (stale.changed, picked()) == ((), ("new", [2]))
    cache.write_orders([order("1", customer_name="newer")], lines_known=False, read_began=30)
    assert picked() == ("newer", [2])
    lines = cache.write_orders([order("1", line(1, picked=3), customer_name="old")], lines_known=True, read_began=25)
    assert (lines.changed, picked()) == (("1",), ("newer", [3]))


def test_headers_tell_which_lines_to_read(cache: CacheWriter) -> None:
    orders = [order("1", line(1)), order("2", line(1))]
    assert cache.write_orders(orders, lines_known=False, read_began=1).changed == ("1", "2")
    assert cache.write_orders(orders[:1], lines_known=True, read_began=2).changed == ("1",)
    assert cache.write_orders(orders, lines_known=False, read_began=3).changed == ()
    assert cache.write_orders([order("1", line(1), status_id=2)], lines_known=False, read_began=4).changed == ("1",)
    assert cache.write_orders([order("1", line(1), status_id=2)], lines_known=True, read_began=5).changed == ()


def test_an_order_whose_lines_make_no_sense_is_handed_back(cache: CacheWriter) -> None:
    bad = [order("1", line(1), line(1)), {**order("2"), "lines": "none"}, order("3", {**line(1), "line_number": None})]
    result = put_orders(cache, *bad, order("4"))
    assert result.keys == ("4",)
    assert [skipped.reason for skipped in result.skipped] == [
        "a line_number stands there twice",
        "lines is no list",
        "line_number is None",
    ]


def test_an_order_changes_its_reference(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_orders([order("1", reference="R-7")], lines_known=False, read_began=1)
    assert found(reads, "r-7") == {("reference", "1", 1)}
    cache.write_orders([order("1", reference="R-8")], lines_known=False, read_began=2)
    assert (found(reads, "R-7"), found(reads, "R-8")) == (set(), {("reference", "1", 1)})


# People, stores


def test_people_are_replaced_as_a_whole(cache: CacheWriter, reads: CacheReader) -> None:
    assert cache.write_people([person("U1", "Anna Berg"), person("U2", "Chloë Martin")]).changed == ("U1", "U2")
    assert found(reads, "BADGE-U1") == found(reads, "u1") == {("person", "U1", 1)}
    assert cache.write_people([person("U1", "Anna Berg"), person("U2", "Chloë Martin")]).changed == ()
    assert cache.write_people([person("U2", "Chloë Moss")]).changed == ("U2", "U1")
    assert found(reads, "BADGE-U1") == set()
    assert [hit.label for hit in reads.find(["badge-u2"])] == ["Chloë Moss"]


def test_stores_are_kept_by_number(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_stores([store("0001", "High Street", storeStockPool1="Shop floor", storeStockPool3="Web")])
    cache.write_stores([store("0900", "Depot", isWarhouse=True)])
    (mine,), _ = reads.query("store", {})
    assert (mine["store_name"], mine["is_warehouse"]) == ("High Street", False)
    assert mine["pools"] == {"1": "Shop floor", "3": "Web"}
    (depot,), _ = reads.query("store", {"store_number": "0900"})
    assert depot["is_warehouse"] is True
    assert reads.query("store", {"store_number": "9"}) == ([], 0)


# State


def test_cursor_and_rows_are_one_transaction(cache: CacheWriter, cache_db: apsw.Connection) -> None:
    assert cache.cursor("stock") is None
    with cache.transaction():
        cache.write_stock([stock("1")])
        cache.set_cursor("stock", {"page": 3, "from_id": 77})
    assert cache.cursor("stock") == {"page": 3, "from_id": 77}
    with pytest.raises(TypeError), cache.transaction():
        cache.set_cursor("stock", [cache.write_stock([stock("2")]), object()])
    assert fetch(cache_db, "SELECT product_number FROM product") == [("1",)]
    assert cache.cursor("stock") == {"page": 3, "from_id": 77}


def test_the_change_feed_tells_what_is_new(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_stock([stock("1")])
    since, everything = reads.changes(0)
    assert {key for _, key in everything} == {""}
    assert {topic for topic, _ in everything} == set(CHANGE_TOPICS)
    assert reads.changes(since) == (since, [])
    cache.write_stock([stock("1", 3), stock("2")])
    cache.write_orders([order("7")], lines_known=False, read_began=1)
    cache.write_stock([stock("1", 4)])
    after, changes = reads.changes(since)
    assert changes == [("product", "1"), ("product", "2"), ("order", "7")]
    cache.write_products([product(str(number)) for number in range(MAX_KEYED_CHANGES + 1)])
    assert reads.changes(after)[1] == [("product", "")]


def test_many_small_changes_are_told_as_topics(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_orders([order("1")], lines_known=False, read_began=1)
    since, _ = reads.changes(0)
    for number in range(MAX_KEYED_CHANGES + 1):
        cache.write_stock([stock(str(number))])
    cache.write_orders([order("2")], lines_known=False, read_began=1)
    assert reads.changes(since)[1] == [("product", ""), ("order", "")]


def test_whoever_slept_too_long_hears_that_everything_changed(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_stock([stock("1")])
    since, _ = reads.changes(0)
    for first in range(0, FEED_ENTRIES + MAX_KEYED_CHANGES, MAX_KEYED_CHANGES):
        cache.write_stock([stock(f"{first}-{number}") for number in range(MAX_KEYED_CHANGES)])
    assert reads.changes(since)[1] == reads.changes(0)[1]
    assert fetch(cache._db, "SELECT count(*) FROM change") == [(FEED_ENTRIES,)]


def test_the_link_is_told(cache: CacheWriter, reads: CacheReader) -> None:
    assert reads.link(100.0)[:2] == ("none", -1.0)
    cache.set_link(LinkRow(state="syncing", done=10, total=400, server="http://x", features="idempotency=30d"))
    cache.set_link(LinkRow(done=20))
    cache.set_link(LinkRow(state="live", last_ok=90.0))
    link = reads.link(100.0)
    assert (link.state, link.age_s, link.done, link.total) == ("live", 10.0, 20, 400)


# The file


def test_a_cache_of_an_older_version_is_made_anew(home: StoreFolder) -> None:
    old = open_cache(home.folder, writer=True)
    CacheWriter(old, "0001").write_products([product("1")])
    old.execute(f"PRAGMA user_version={SCHEMA_VERSION - 1}").fetchall()
    with pytest.raises(StorageError, match=r"cache\.db is of another version"):
        open_cache(home.folder, writer=False)
    fresh = open_cache(home.folder, writer=True)
    assert schema_version(fresh) == SCHEMA_VERSION
    assert fetch(fresh, "SELECT * FROM product") == []
    old.close()


@pytest.mark.parametrize("content", [b"no database at all" * 300, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_cache_is_made_anew(home: StoreFolder, content: bytes) -> None:
    home.folder.mkdir()
    home.cache.write_bytes(content)
    fresh = open_cache(home.folder, writer=True)
    assert CacheWriter(fresh, "0001").write_products([product("1")]).changed == ("1",)
    assert fetch(fresh, "PRAGMA integrity_check") == [("ok",)]


def test_a_reader_never_makes_the_file(home: StoreFolder, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="not there yet"):
        open_cache(home.folder, writer=False)
    assert not home.cache.exists()


def test_session_finds_new_cache_and_follows_recreated_one(home: StoreFolder, outbox_db: apsw.Connection) -> None:
    reads = CacheReader(home, outbox_db)
    assert (reads.find(["1"]), reads.query("orders", {}), reads.changes(0)[0]) == ([], ([], 0), 0)
    assert reads.link(5.0).state == "none"
    first = open_cache(home.folder, writer=True)
    CacheWriter(first, "0001").write_products([product("1", "one")])
    assert [hit.label for hit in reads.find(["1"])] == ["one"]
    since, changes = reads.changes(0)
    assert changes
    first.execute("PRAGMA user_version=0").fetchall()
    empty_database(home.cache)
    assert reads.find(["1"]) == []
    second = open_cache(home.folder, writer=True)
    CacheWriter(second, "0001").write_products([product("1", "again")])
    assert [hit.label for hit in reads.find(["1"])] == ["again"]
    assert reads.changes(since)[1] == reads.changes(0)[1]
    reads.close()


def test_a_cache_of_a_newer_program_is_never_emptied(home: StoreFolder, cache: CacheWriter, reads: CacheReader) -> None:
    """Whoever opens it to write is an older program then, and may have won the lock."""
    cache.write_products([product("1")])
    cache._db.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}").fetchall()
    for writer in (True, False):
        with pytest.raises(
            StorageError, match=f"cache.db is of version {SCHEMA_VERSION + 1}; this aisle knows {SCHEMA_VERSION}"
        ) as no:
            open_cache(home.folder, writer=writer)
        assert no.value.kind == "newer"
    assert schema_version(cache._db) == SCHEMA_VERSION + 1
    cache._db.execute(f"PRAGMA user_version={SCHEMA_VERSION}").fetchall()
    assert [hit.label for hit in reads.find(["1"])] == ["Product 1"]
    cache._db.execute(f"PRAGMA user_version={SCHEMA_VERSION - 1}").fetchall()
    with closing(open_cache(home.folder, writer=True)) as anew:
        assert schema_version(anew) == SCHEMA_VERSION
        assert anew.execute("SELECT count(*) FROM product").fetchall() == [(0,)], "an older one's is made anew"


def test_cache_may_be_replaced_while_one_moment_is_held(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("1")])
    with reads.one_moment():
        reads._reopen()
        assert reads.find(["1"])
    assert reads.find(["1"])


def test_version_stays_while_there_is_no_cache(tmp_path: Path) -> None:
    home = StoreFolder(tmp_path, "embedded", "0001")
    with closing(open_outbox(home.folder)) as outbox, closing(CacheReader(home, outbox)) as reads:
        assert reads.cache_version() == reads.cache_version()


def test_a_reader_that_lost_its_place_is_told_of_absent_orders(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("1")])
    position, _ = reads.changes(0)
    cache.delete_absent_orders(["9"], read_began=9.0)
    named = {topic for topic, _ in reads.changes(position)[1]}
    assert named
    assert named <= {topic for topic, _ in reads.changes(0)[1]}


def test_a_cache_of_a_newer_program_is_not_read(home: StoreFolder, cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("1")])
    assert reads.find(["1"])
    since, _ = reads.changes(0)
    cache._db.execute("PRAGMA user_version=999").fetchall()
    assert reads.changes(since) == (0, list(ALL_TOPICS))
    assert reads.find(["1"]) == []
    cache._db.execute(f"PRAGMA user_version={SCHEMA_VERSION}").fetchall()
    assert reads.find(["1"])


# Text


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Müsli-Riegel „50 %“", "musli riegel 50"),
        ("  Kellogg’s   CORN_flakes ", "kelloggs corn flakes"),
        ("Straße ﬁne №5", "strasse fine no5"),
        ("Ελλάδα Київ 日本 한국", "ελλαδα киів 日本 한국"),
        ("[/b] \x1b[31m", "b 31m"),
        ("Smør, rød ÆBLE œuf Łódź Đurđevac þór ħ ŧ ŋ ı Ǿ ẞ", "smor rod aeble oeuf lodz durdevac thor h t n i o ss"),
        ("", ""),
    ],
)
def test_text_is_folded_as_people_type_it(text: str, folded: str) -> None:
    assert normalise_text(text) == folded


def test_a_text_is_kept_as_it_may_be_typed() -> None:
    assert index_text("7-Up c&a 1.5 l “ok” L'Or_a") == "7 up c a 1 5 l ok lor a 7up ca 15 lora =1.5=l"
    assert index_text("Kö-Ln A/B a/b & b-") == "ko ln a b a b b koln ab"
    assert index_text("Tea 1") == "tea 1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nuts 200g, 200 G", ["=200=g"]),
        ("Tea 250 gr 1,5 L 0.75lt", ["=250=g", "=1.5=l", "=0.75=l"]),
        ("6x330ml 6 x 33 cl", ["=330=ml", "=33=cl"]),
        ("15 kg", ["=15=kg"]),
        ("x25g A12m 1/2 l ½ l 1.5.200 g 1234567 g 5 m2 5 gx 5-g 5  g ٣ kg kg", []),
    ],
)
def test_a_measure_is_one_word(text: str, expected: list[str]) -> None:
    assert [word for word in index_text(text).split() if "=" in word] == expected
    assert not expected or search_variants(text)[-1].split()[-len(expected) :] == expected


def test_search_with_measure_matches_with_and_without_accents() -> None:
    assert search_variants("M&M's 200g") == ("m ms 200g", "m ms =200=g", "mms =200=g")
    assert search_variants("7-Up 1.5l, c&a") == ("7 up 1 5l c a", "7 up c a =1.5=l", "7up ca =1.5=l")


@given(st.lists(st.sampled_from(["1", "42", "123456", "1234567", ".", ",", " ", "x", "g", "kg", "l", "/", "_", "é"])))
@example(["1234567", " ", "g"])
@example(["1", ".", "1234567", "g"])
def test_a_measure_is_found_as_if_it_were_tried_from_each_digit(pieces: list[str]) -> None:
    text = "".join(pieces)
    tried = re.finditer(r"([0-9]{1,6}(?:[.,][0-9]{1,3})?) ?(g|kg|l)(?![^\W_])", text)
    own = [each for each in tried if not re.search(r"([^\W_x]|[^0-9]x|^x|[0-9][.,/])$", text[: each.start()])]
    assert [word for word in index_text(text).split() if "=" in word] == list(
        dict.fromkeys(f"={each[1].replace(',', '.')}={each[2]}" for each in own)
    )


@given(st.text(max_size=30))
@example("a-5l-b c'd-5 l-e/f 5g")
def test_what_is_sought_is_in_the_text_that_was_typed(text: str) -> None:
    said = f" {index_text(text)} "
    assert all(all(word in said for word in way.split()) for way in search_variants(text))
    assert all(way in said for way in search_variants(text)[:1])


@given(st.text(max_size=30))
def test_folding_settles(text: str) -> None:
    once = normalise_text(text)
    assert normalise_text(once) == once
    assert "%" not in once
    assert '"' not in once
    assert "  " not in once


def test_codes_sort_as_people_do() -> None:
    codes = ["B1", "A-10", "A-2-10", "a-11", "B-1", "A-02-1", "A-2"]
    assert sorted(codes, key=natural_key) == ["A-2", "A-02-1", "A-2-10", "A-10", "a-11", "B-1", "B1"]


TEXT = st.text(st.characters(exclude_categories=()), max_size=5)
ANYTHING = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | TEXT, st.lists, max_leaves=4)
FIELDS = st.sampled_from(
    ["lines", "barcode", "units", "barcodes_array", "store_locations", "is_active", "location_order", "name"]
)
NAMED = {"product_number": "1", "order_number": "1", "location_code": "1", "user": "1", "storeNo": "1"}


@settings(max_examples=tries(15, 40))
@given(st.dictionaries(FIELDS, ANYTHING, max_size=4))
def test_no_row_does_more_than_be_refused(fields: dict[str, Any]) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(CACHE_TABLES).fetchall()
    cache = CacheWriter(connection, "0001")
    for put in (cache.write_products, cache.write_stock, cache.write_locations, cache.write_stores, cache.write_people):
        result = put([{**fields, **NAMED}])
        assert len(result.keys) + len(result.skipped) == 1
    orders = put_orders(cache, {**fields, **NAMED})
    assert len(orders.keys) + len(orders.skipped) == 1
    connection.close()


def test_the_log_of_a_long_sync_is_moved_into_the_cache_by_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "WAL_PAGES", 60)
    with closing(open_cache(tmp_path, writer=True)) as connection:
        cache = CacheWriter(connection, "0042")
        for first in range(0, 1200, 100):
            cache.write_products([product(f"P{number}") for number in range(first, first + 100)])
        assert (tmp_path / "cache.db-wal").stat().st_size < (tmp_path / "cache.db").stat().st_size


@pytest.mark.parametrize("date", ["2026-03-05", ""])
def test_the_pickup_date_of_a_line_is_corrected_though_the_header_stays(
    cache: CacheWriter, cache_db: apsw.Connection, date: str
) -> None:
    for at, each in enumerate(("9999-12-31", date), 1):
        cache.write_orders([order("1", line(1, "P1", pickup_date=each), pickup_date="")], True, at)
    assert fetch(cache_db, "SELECT pickup FROM orders") == [(date or NO_PICKUP_DATE,)]
