"""After a change of the time zone, cached days are computed again."""

from collections.abc import Callable
from contextlib import closing
from itertools import pairwise

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_folder import StoreFolder
from tests.cache import service_rows

ZONES = ["America/Los_Angeles", "Asia/Tokyo", "Europe/Amsterdam", "Pacific/Kiritimati", "UTC"]
SAID = [
    "2026-11-27",
    "2026-11-26",
    "2026-11-27T18:00:00",
    "2026-11-27 08:15",
    "2026-11-27T17:00:00Z",
    "2026-11-26T23:30:00.000Z",
    "2026-11-27T03:00:00+01:00",
    "2026-11-27T20:00:00-08:00",
    "2026-11-27T08:00:00Z",
    "soon",
    "",
]
InZone = Callable[[str], None]


def written(home: StoreFolder, *, of_line: bool) -> None:
    """The same rows of the service, read by a courier that begins now."""
    orders, deliveries, logs = [], [], []
    for number, when in enumerate(SAID):
        line = service_rows.line(1, "P1", 3) | ({"pickup_date": when} if of_line else {})
        orders.append(service_rows.order(f"O{number}", line, pickup_date="" if of_line else when))
        item = {"line_number": 1, "product_number": "P1", "quantity": 1}
        deliveries.append({"order_number": f"D{number}", "datetime_expected": when, "order_lines": [item]})
        logs.append({"id": f"L{number}", "product_number": "P1", "quantity": -1, "moved_on": when, "reason_code": 7})
    with closing(open_cache(home.folder, writer=True)) as connection:
        cache = CacheWriter(connection, home.store)
        cache.write_orders(orders, lines_known=True, read_began=1000.0)
        cache.write_deliveries(deliveries, 1000.0)
        cache.write_logs(logs, "")


def kept(home: StoreFolder) -> list[list[tuple[object, ...]]]:
    """All that a cache keeps of them."""
    tables = {
        "orders": "order_number, pickup",
        "delivery": "order_number, due",
        "due_tally": "status, day, n",
        "log": "key, at",
        "log_hour": "hour, kind, n",
        "log_tally": "hour, n",
        "loss_sum": "span, at, reason, n, quantity",
    }
    with closing(apsw.Connection(str(home.cache))) as connection:
        return [
            connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall()
            for table, columns in tables.items()
        ]


@pytest.mark.parametrize("of_line", [False, True], ids=["order", "line"])
@pytest.mark.parametrize(("before", "after"), [*pairwise(ZONES), *pairwise(ZONES[::-1])])
def test_a_cache_says_in_another_zone_what_one_says_that_was_made_there(
    before: str, after: str, of_line: bool, home: StoreFolder, in_zone: InZone
) -> None:
    in_zone(before)
    written(home, of_line=of_line)
    in_zone(after)
    written(home, of_line=of_line)
    changed = kept(home)
    home.cache.unlink()
    written(home, of_line=of_line)
    assert changed == kept(home)


def test_who_looks_at_the_cache_hears_that_days_are_others(
    home: StoreFolder, in_zone: InZone, reads: CacheReader
) -> None:
    in_zone("UTC")
    written(home, of_line=False)
    position = reads.changes(0)[0]
    in_zone("Asia/Tokyo")
    open_cache(home.folder, writer=True).close()
    assert {topic for topic, _ in reads.changes(position)[1]} == {"order", "delivery", "log"}
    position = reads.changes(0)[0]
    open_cache(home.folder, writer=True).close()
    assert reads.changes(position)[1] == []


def test_an_order_is_late_by_the_new_zone(home: StoreFolder, in_zone: InZone, reads: CacheReader) -> None:
    in_zone("UTC")
    written(home, of_line=False)

    def late() -> set[str]:
        rows, _ = reads.query("order_board", {"late": True, "now": "2026-11-27T16:30:00Z", "size": 50})
        return {str(row["order_number"]) for row in rows}

    assert late() == {"O1", "O3", "O5", "O6", "O8"}
    in_zone("Asia/Tokyo")
    open_cache(home.folder, writer=True).close()
    assert late() == {"O0", "O1", "O2", "O3", "O5", "O6", "O8"}
