"""What is asked with every scan must not become slower with the history: no statement reads a whole precious table."""

from typing import Any

import apsw

from aisle.local.outbox.outbox import Outbox
from aisle.local.reads.overlay import Overlay


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
