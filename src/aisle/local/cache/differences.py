"""Counts that found something else than the books had, and losses, kept apart from the log with what each is worth: so
that no list of them looks at all that was logged.

Of counts those are kept that the service does not say were approved. `gone` are those that the log takes back itself;
what this host knows beyond the log lies over it (aisle.local.reads.exceptions). interface: Store product log entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs.amounts import number
from aisle.jobs.store_time import utc
from aisle.local.cache.prices import prices_of
from aisle.local.cache.products import names
from aisle.local.cache.schema_log import COUNTED, REASON, UNDONE
from aisle.local.db import fetch
from aisle.tuples import NamedTuple
from aisle.undone import UNDO

REVIEWED = "2"
"""interface: review_status, in the numbers of our own service."""

MOST = Decimal(10) ** 15
"""What one difference is worth at most in the sum."""

_UNPRICED = """
SELECT d.key, d.product_number, d.size FROM json_each(?) e
JOIN difference d ON d.product_number = e.value AND d.priced = 0
"""
_TABLES = ("difference", "loss")
"""What is kept of entries that another one may take back."""

_TAKEN_BACK = """
UPDATE {table} SET gone = 1 WHERE gone = 0 AND key IN (
  SELECT d.key FROM json_each(?1) e JOIN {table} d ON d.number_name = e.value AND d.number_name <> ''
  UNION SELECT d.key FROM json_each(?1) e JOIN {table} d ON d.moment_name = e.value AND d.moment_name <> ''
)
"""
_GONE_BEFORE = """
UPDATE {table} SET gone = 1 WHERE gone = 0 AND key IN (SELECT value FROM json_each(?))
AND EXISTS (SELECT 1 FROM back b WHERE b.name IN (number_name, moment_name))
"""


class Logged(NamedTuple):
    """What is needed of an entry of the log."""

    key: str
    at: str
    product_number: str
    app_user_name: str
    raw: str


Told = Sequence[tuple[Logged, Mapping[str, Any]]]
"""Entries, with all that they say."""


def difference_of(entry: Mapping[str, Any], user: str) -> Decimal | None:
    """How much more was counted than the books had; None where nobody has to look at it."""
    if entry.get("counted_quantity") is None or str(entry.get("review_status")) == REVIEWED:
        return None
    counted, expected = number(entry["counted_quantity"]), entry.get("expected_quantity")
    difference = number(entry.get("quantity")) if expected is None else counted - number(expected)
    if not difference or (not user and expected is not None and not number(expected)):
        return None  # stock that came with a load of the store was counted by nobody
    return difference


def price_said(entry: Mapping[str, Any]) -> Any:
    """The price that an entry has itself; None where it says none."""
    return next((entry[each] for each in ("store_products_price", "price") if entry.get(each)), None)


def name_of(product: str, place: str, user: str, said: str) -> str:
    """What tells an entry from all others, by its number or by its moment, as one that takes it back says it; empty
    without either."""
    moment = utc(said) if "T" in said else ""
    return "\n".join((moment, product, place.casefold(), user) if moment else (said, product)) if said else ""


def backs_of(entry: Mapping[str, Any], user: str) -> str:
    """The name of the entry that this one takes back; empty where it takes none back."""
    reference = str(entry.get("reference") or "")
    if not reference.startswith(UNDO):
        return ""
    product, place = (str(entry.get(name) or "") for name in ("product_number", "location_code"))
    return name_of(product, place, user, reference[len(UNDO) :])


def keep_told(connection: apsw.Connection, rows: Iterable[Logged]) -> None:
    """Takes up what these entries, new in the log, say of differences and losses. What they said before went with
    them."""
    told = [(row, json.loads(row.raw)) for row in rows if any(word in row.raw for word in (COUNTED, UNDONE, REASON))]
    backs = [(row.key, back) for row, entry in told if (back := backs_of(entry, row.app_user_name))]
    found, lost = list(_differences(told)), list(_losses(told))
    words = {code: said for _, entry in told if (said := _words(entry)) and (code := _reason(entry)) is not None}
    many = connection.executemany
    many("INSERT OR REPLACE INTO back (key, name) VALUES (?, ?)", backs)
    many(
        "INSERT INTO difference (key, number_name, moment_name, at, product_number, size, priced, worth)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        found,
    )
    many("INSERT INTO loss (key, number_name, moment_name, at, reason, quantity) VALUES (?, ?, ?, ?, ?, ?)", lost)
    many("INSERT OR REPLACE INTO loss_reason (reason, words) VALUES (?, ?)", words.items())
    for table, fresh in zip(_TABLES, (found, lost), strict=True):
        if backs:
            connection.execute(_TAKEN_BACK.format(table=table), (names(back for _, back in backs),))
        if fresh:
            connection.execute(_GONE_BEFORE.format(table=table), (names(row[0] for row in fresh),))
    revalue(connection, {row[4] for row in found})


def _named(row: Logged, entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """Its key, and what tells it from all others by its number and by its moment."""
    place, user = str(entry.get("location_code") or ""), row.app_user_name
    id_ = "" if row.key.startswith("#") else row.key
    by_number, by_moment = (name_of(row.product_number, place, user, said) for said in (id_, row.at))
    return row.key, by_number, by_moment


def _differences(told: Told) -> Iterator[tuple[Any, ...]]:
    for row, entry in told:
        difference = difference_of(entry, row.app_user_name)
        if difference is not None:
            price = price_said(entry)
            worth, size = 0.0 if price is None else _worth(difference, price), float(abs(difference))
            yield *_named(row, entry), row.at, row.product_number, size, int(price is not None), worth


def _losses(told: Told) -> Iterator[tuple[Any, ...]]:
    for row, entry in told:
        code, lost = _reason(entry), lost_of(entry)
        if code is not None and lost > 0 and row.at:
            yield *_named(row, entry), row.at, code, float(min(MOST, lost))


def lost_of(entry: Mapping[str, Any]) -> Decimal:
    """How much less there is since an entry; a shortage of an order is no loss."""
    if str(entry.get("source") or "") == "short":
        return Decimal(0)
    counted, expected = entry.get("counted_quantity"), entry.get("expected_quantity")
    if counted is not None and expected is not None:
        return number(expected) - number(counted)
    return -number(entry.get("quantity"))


def _reason(entry: Mapping[str, Any]) -> str | None:
    code = entry.get("reason_code")
    return None if code is None else str(code)


def _words(entry: Mapping[str, Any]) -> str:
    return str(entry.get("reason_code_description") or "")


def _worth(size: Decimal | float, price: Any) -> float:
    return float(min(MOST, abs(number(size) * number(price))))


def revalued(connection: apsw.Connection, products: tuple[str, ...]) -> tuple[str, ...]:
    """These products, that changed or are gone: what differences of them are worth may have changed with them."""
    revalue(connection, products)
    return products


def revalue(connection: apsw.Connection, products: Iterable[str]) -> None:
    """Brings what differences of these products are worth to what they cost now."""
    waiting = fetch(connection, "SELECT 1 FROM difference INDEXED BY difference_unpriced WHERE priced = 0 LIMIT 1")
    found = fetch(connection, _UNPRICED, names(products)) if waiting else []
    if not found:
        return
    prices = prices_of(connection, {str(product) for _, product, _ in found})
    connection.executemany(
        "UPDATE difference SET worth = ?1 WHERE key = ?2 AND worth <> ?1",
        [(_worth(size, prices.get(product) or 0), key) for key, product, size in found],
    )
