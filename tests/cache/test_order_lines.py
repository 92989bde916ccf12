"""The lines of an order that is read again and again: what is kept is what was read last, and only what differs is
written."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import fetch
from tests.cache.service_rows import line, order
from tests.run_length import tries

LINES = st.dictionaries(st.integers(1, 4), st.tuples(st.sampled_from(("P1", "P2")), st.integers(0, 2)), max_size=4)


def there(db: apsw.Connection) -> list[tuple[int, str, int]]:
    sql = "SELECT line_number, product_number, raw ->> 'picked_quantity' FROM line WHERE order_number = 'O1' ORDER BY 1"
    return [(int(number), str(product), int(picked)) for number, product, picked in fetch(db, sql)]


@settings(max_examples=tries(40, 1000), deadline=None)
@given(reads=st.lists(st.one_of(st.none(), LINES), min_size=1, max_size=5))
def test_the_lines_are_those_of_the_last_read(reads: list[dict[int, tuple[str, int]] | None]) -> None:
    with TemporaryDirectory() as folder, closing(open_cache(Path(folder), writer=True)) as db:
        cache, last = CacheWriter(db, "0001"), dict[int, tuple[str, int]]()
        cache.write_orders([order("O2", line(1, "P1"))], lines_known=True, read_began=1.0)
        for began, lines in enumerate(reads, 1):
            whole = order("O1", *(line(number, *of[:1], 3, of[1]) for number, of in (lines or {}).items()))
            before, known = last, began > 1
            last = last if lines is None else lines
            written = cache.write_orders([whole], lines_known=lines is not None, read_began=float(began))
            assert there(db) == sorted((number, *of) for number, of in last.items())
            if known and before != last:
                assert written.changed == ("O1",)
        assert fetch(db, "SELECT line_number FROM line WHERE order_number = 'O2'") == [(1,)]


def test_a_line_that_says_the_same_is_not_written_again(cache: CacheWriter, cache_db: apsw.Connection) -> None:
    lines = [line(number, f"P{number}") for number in range(1, 5)]
    cache.write_orders([order("O1", *lines)], lines_known=True, read_began=1.0)
    cache_db.execute("CREATE TEMP TABLE noted (line_number)")
    for event, row in (("INSERT", "new"), ("DELETE", "old")):
        cache_db.execute(
            f"CREATE TEMP TRIGGER noted_{event} AFTER {event} ON main.line"
            f" BEGIN INSERT INTO noted VALUES ({row}.line_number); END"
        )
    lines[1]["picked_quantity"] = 2
    cache.write_orders([order("O1", *lines[:3])], lines_known=True, read_began=2.0)
    assert {number for (number,) in fetch(cache_db, "SELECT line_number FROM noted")} == {2, 4}
    assert [number for number, *_ in there(cache_db)] == [1, 2, 3]


def test_an_order_whose_lines_are_gone_is_begun_by_nobody(cache: CacheWriter, cache_db: apsw.Connection) -> None:
    """Its header is what it was: some services forget the lines that an update does not name."""
    said = {"total_lines": 1, "total_quantity": 3}
    cache.write_orders([order("O1", line(1, "P1", 3, 2), **said)], True, 1.0)
    assert fetch(cache_db, "SELECT status, picked_quantity FROM orders") == [("partial", 2)]
    cache.write_orders([order("O1", **said)], True, 2.0)
    assert there(cache_db) == []
    assert fetch(cache_db, "SELECT status, picked_quantity FROM orders") == [("open", 0)]
