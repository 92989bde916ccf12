"""The floor of a full sync: the least that ends with the same things in a database of the same kind."""

import json
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

SCHEMA = """
CREATE TABLE product (
 id INTEGER PRIMARY KEY, product_number TEXT NOT NULL UNIQUE, name TEXT, brand TEXT, barcode TEXT, unit TEXT,
 allow_decimal INTEGER, text TEXT, raw TEXT
);
CREATE TABLE stock (product_number TEXT PRIMARY KEY, quantity NUMERIC, barcode TEXT, raw TEXT) WITHOUT ROWID;
CREATE TABLE place (product_number TEXT, n INTEGER, location_code TEXT, PRIMARY KEY (product_number, n)) WITHOUT ROWID;
CREATE TABLE code (
 code TEXT, kind TEXT, key TEXT, factor TEXT, PRIMARY KEY (code, kind, key)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5 (
 text, content = 'product', content_rowid = 'id', columnsize = 0, tokenize = 'trigram case_sensitive 1'
);
"""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def floor_rate(pages: Sequence[bytes], database: Path) -> float:
    """Rows a second of processor time for reading these pages into a new database, by one thread.

    It parses the JSON of each page and inserts its rows by `executemany`, all in one transaction (WAL, NORMAL): the
    columns that people look by, the row itself as JSON, a row for each place, number and barcode in an index of codes,
    and the folded words in a trigram index with the cache's own options. Nothing else: no request, no look at what is
    there already, no check of what comes, no mark of what was seen, no position to go on from. The log goes into the
    database at the end, as a sync leaves it.
    """
    began, rows = time.process_time(), 0
    with closing(apsw.Connection(str(database))) as connection:
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.execute("PRAGMA synchronous=NORMAL").fetchall()
        connection.wal_autocheckpoint(0)
        connection.execute(SCHEMA)
        connection.execute("BEGIN IMMEDIATE")
        for page in pages:
            body = json.loads(page)
            if "records" in body:
                rows += _insert_products(connection, body["records"])
            else:
                rows += _insert_stock(connection, body["list"])
        connection.execute("COMMIT")
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    return rows / (time.process_time() - began)


def _insert_products(connection: apsw.Connection, records: Sequence[dict[str, Any]]) -> int:
    first = 1 + int(connection.execute("SELECT ifnull(max(id), 0) FROM product").get)
    rows = (_row(id_, each) for id_, each in enumerate(records, first))
    connection.executemany("INSERT INTO product VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    connection.execute("INSERT INTO search (rowid, text) SELECT id, text FROM product WHERE id >= ?", (first,))
    connection.executemany("INSERT INTO code VALUES (?, 'product', ?, '1')", _codes(records))
    return len(records)


def _row(id_: int, each: dict[str, Any]) -> tuple[Any, ...]:
    number, name, barcode = each["product_number"], each["product_name"], each.get("barcode", "")
    brand, unit = each.get("brand_description", ""), each.get("base_unit_name", "")
    text = f" {_fold(f'{name} {brand} {number} {barcode}')}"
    return id_, number, name, brand, barcode, unit, each.get("allow_decimal", False), text, _encode(each)


def _codes(records: Sequence[dict[str, Any]]) -> Iterable[tuple[str, str]]:
    for each in records:
        yield each["product_number"], each["product_number"]
        if each.get("barcode"):
            yield each["barcode"], each["product_number"]


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def _insert_stock(connection: apsw.Connection, entries: Sequence[dict[str, Any]]) -> int:
    connection.executemany(
        "INSERT INTO stock VALUES (?, ?, ?, ?)",
        (
            (each["product_number"], each["most_likely_quantity"], each.get("barcode", ""), _encode(each))
            for each in entries
        ),
    )
    connection.executemany(
        "INSERT INTO place VALUES (?, ?, ?)",
        (
            (each["product_number"], n, place["store_location_code"])
            for each in entries
            for n, place in enumerate(each.get("store_locations", ()))
        ),
    )
    return len(entries)
