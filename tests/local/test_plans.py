"""What is asked with every scan must not become slower with the history: no statement reads a whole precious table."""

import re
from typing import Any

import apsw
import pytest

from aisle.local.cache.writer import Cache
from aisle.local.outbox.outbox import Outbox
from aisle.local.reads.overlay import Overlay
from aisle.local.reads.reads import Reads
from tests.local.goods import order, product, store


def test_what_waits_is_found_by_its_index(outbox_db: apsw.Connection) -> None:
    asked: list[str] = []

    def note(told: dict[str, Any]) -> None:
        asked.append(told["sql"])

    outbox_db.trace_v2(apsw.SQLITE_TRACE_STMT, note)
    Overlay(outbox_db).orders()
    Outbox(outbox_db).pending_effects()
    Outbox(outbox_db).counts()
    outbox_db.trace_v2(0, None)
    queries = [sql for sql in asked if sql.startswith("SELECT") and "operation" in sql]
    assert len(queries) == 3
    for sql in queries:
        plan = [row[3] for row in outbox_db.execute(f"EXPLAIN QUERY PLAN {sql}")]
        assert not [step for step in plan if step.startswith("SCAN") and "INDEX operation_live" not in step], sql


@pytest.mark.parametrize("text", ["q", "qu", "quince", "quince dar", "31", "3141", "31415926535", "q-1", "quin-cey"])
@pytest.mark.parametrize("read", ["search", "orders", "stores"])
def test_no_letter_of_a_search_reads_a_whole_table(cache: Cache, reads: Reads, read: str, text: str) -> None:
    """What has its index is asked of that, or goes along one that ends with its first hundred."""
    cache.put_products([product("1", "Quince")])
    cache.put_orders([order("1", customer_name="Quincey")], lines_known=False, read_began=1.0)
    cache.put_stores([store("1", "Quincy")])
    asked: list[str] = []
    reads.query(read, {})
    reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    reads.query(read, {"search": text})
    reads._cache.trace_v2(0, None)
    statements = [sql.strip() for sql in asked if sql.strip().startswith("SELECT")]
    plans = [
        row[3]
        for sql in statements
        for row in reads._cache.execute(
            f"EXPLAIN QUERY PLAN {sql}",
            [None] * sql.count("?") if "?" in sql else dict.fromkeys(re.findall(r":(\w+)", sql)),
        )
    ]
    assert plans
    assert not {"SCAN p", "SCAN product", "SCAN o", "SCAN orders", "SCAN store"}.intersection(plans)
