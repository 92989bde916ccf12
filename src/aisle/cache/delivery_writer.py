"""Writing of deliveries and receipts.

`delivery_receipt_quantities` stores with each delivery whether it is received in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from aisle.cache.delete_unnamed_codes import barcodes_of_delivery, delete_unnamed_codes
from aisle.cache.delivery_parsing import DeliveryLineRow, DeliveryRow, ReceiptRow
from aisle.cache.delivery_receipt_quantities import update_received
from aisle.cache.product_writer import Code, changed_rows, delete_codes, encode_keys, insert_codes, unseen_sql
from aisle.host.database import fetch
from aisle.jobs import store_time
from aisle.scan.grammar_types import DELIVERY, PRODUCT
from aisle.search_text import natural_key

NO_DATE = "~"
"""Sort value after every day."""


def write_deliveries(connection: apsw.Connection, rows: Sequence[DeliveryRow], read_began: float) -> tuple[str, ...]:
    """Write deliveries inside a transaction. Return the numbers of those that changed.

    `read_began`: time at which the read began (seconds since 1970). Rows of a later read are never overwritten by an
    earlier one.
    """
    keys = encode_keys(row.order_number for row in rows)
    stored = {
        str(name): rest
        for name, *rest in fetch(
            connection,
            "SELECT d.order_number, d.read_began, d.raw, d.codes FROM json_each(?) e"
            " JOIN delivery d ON d.order_number = e.value",
            keys,
        )
    }
    before: dict[str, list[str]] = {}
    for name, text in fetch(
        connection,
        "SELECT l.order_number, l.raw FROM json_each(?) e JOIN delivery_line l ON l.order_number = e.value"
        " ORDER BY l.order_number, l.line_number",
        keys,
    ):
        before.setdefault(str(name), []).append(str(text))
    changed = []
    for row in {row.order_number: row for row in rows}.values():
        old = stored.get(row.order_number)
        if old is not None and read_began < old[0]:
            continue
        lines = sorted(row.lines, key=lambda line: line.line_number)
        if old is not None and old[1] == row.raw and before.get(row.order_number, []) == [line.raw for line in lines]:
            connection.execute(
                "UPDATE delivery SET read_began = ? WHERE order_number = ?", (read_began, row.order_number)
            )
            continue
        _write_delivery(connection, row, lines, read_began, "" if old is None else str(old[2]))
        changed.append(row.order_number)
    update_received(connection, changed)
    return tuple(changed)


_UPSERT_DELIVERY = """
INSERT INTO delivery (order_number, expected, due, sort, text, codes, read_began, raw) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (order_number) DO UPDATE SET expected = excluded.expected, due = excluded.due, text = excluded.text,
  codes = excluded.codes, read_began = excluded.read_began, raw = excluded.raw
"""


def _write_delivery(
    connection: apsw.Connection, row: DeliveryRow, lines: Sequence[DeliveryLineRow], read_began: float, codes: str
) -> None:
    name, many = row.order_number, connection.executemany
    if codes != row.codes:
        delete_codes(connection, _delivery_codes(name, codes))
        insert_codes(connection, _delivery_codes(name, row.codes))
    connection.execute(
        _UPSERT_DELIVERY,
        (name, row.expected, _due_time(row.expected), natural_key(name), row.text, row.codes, read_began, row.raw),
    )
    barcodes = barcodes_of_delivery(connection, name)
    connection.execute("DELETE FROM delivery_line WHERE order_number = ?", (name,))
    delete_unnamed_codes(connection, barcodes)  # so that a corrected number of base units is inserted
    many(
        "INSERT INTO delivery_line (order_number, line_number, product_number, quantity, received, raw)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        lines,
    )
    many(
        "INSERT OR IGNORE INTO code (code, kind, key, factor) VALUES (?, ?, ?, ?)",
        sorted({(code, PRODUCT, product, factor) for code, product, factor in row.product_codes}),
    )


def _due_time(expected: str) -> str:
    """Return the expected time of a delivery in the store's zone."""
    return store_time.to_local_text(expected) or NO_DATE


def recompute_due_times(connection: apsw.Connection) -> int:
    """Recompute the expected times in the zone of this process. Return how many changed."""
    rows = fetch(connection, "SELECT id, expected, due FROM delivery")
    changed = [(new, id_) for id_, expected, due in rows if (new := _due_time(str(expected))) != due]
    connection.executemany("UPDATE delivery SET due = ? WHERE id = ?", changed)
    return len(changed)


def write_receipts(connection: apsw.Connection, rows: Sequence[ReceiptRow]) -> tuple[str, ...]:
    """Write receipts inside a transaction. Return the numbers of the deliveries whose receipt changed."""
    fresh = changed_rows(connection, "receipt", "order_number", {row.order_number: row for row in rows})
    connection.executemany(
        "INSERT INTO receipt (order_number, kind, import_id, raw, text) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (order_number) DO UPDATE SET kind = excluded.kind, import_id = excluded.import_id,"
        " raw = excluded.raw, text = excluded.text",
        fresh,
    )
    changed = tuple(row.order_number for row in fresh)
    update_received(connection, changed)
    return changed


def delete_deliveries(connection: apsw.Connection, numbers: Iterable[str]) -> tuple[str, ...]:
    """Delete deliveries with their lines, receipts and codes. Return those that existed."""
    rows = fetch(
        connection,
        "SELECT d.order_number, d.codes FROM json_each(?) e JOIN delivery d ON d.order_number = e.value",
        encode_keys(numbers),
    )
    for name, codes in rows:
        delete_codes(connection, _delivery_codes(str(name), str(codes)))
        for table in ("delivery", "delivery_line", "receipt"):
            connection.execute(f"DELETE FROM {table} WHERE order_number = ?", (name,))  # noqa: S608 - names of our own
    return tuple(str(name) for name, _ in rows)


def find_unseen_deliveries(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """Return the cached deliveries that a complete pass has not seen."""
    sql = f"SELECT d.order_number FROM delivery d WHERE {unseen_sql('delivery', 'd.order_number')}"  # noqa: S608
    rows = fetch(connection, sql, generation)
    return tuple(str(name) for (name,) in rows)


def delete_unseen_receipts(connection: apsw.Connection, seen: Iterable[str]) -> tuple[str, ...]:
    """Delete and return the receipts that a complete pass has not seen and whose delivery is not cached either."""
    deleted = fetch(
        connection,
        "SELECT r.order_number FROM receipt r"
        " WHERE NOT EXISTS (SELECT 1 FROM delivery d WHERE d.order_number = r.order_number)"
        " AND r.order_number NOT IN (SELECT value FROM json_each(?))",
        encode_keys(seen),
    )
    connection.executemany("DELETE FROM receipt WHERE order_number = ?", deleted)
    return tuple(str(name) for (name,) in deleted)


def delete_orphan_codes(connection: apsw.Connection) -> None:
    """Delete the codes of products that are not cached and that no delivery or order line names any more."""
    connection.execute(
        "DELETE FROM code WHERE kind = ?"
        " AND NOT EXISTS (SELECT 1 FROM product p WHERE p.product_number = code.key)"
        " AND NOT EXISTS (SELECT 1 FROM delivery_line d WHERE d.product_number = code.key)"
        " AND NOT EXISTS (SELECT 1 FROM line l WHERE l.product_number = code.key)",
        (PRODUCT,),
    )


def _delivery_codes(name: str, codes: str) -> list[Code]:
    """Return the codes of a delivery."""
    return [(code, DELIVERY, name) for code in codes.split("\n") if code]
