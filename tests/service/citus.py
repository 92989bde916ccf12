"""A schema split by store: what an operator does once on Citus, before the tables are large.

Foreign keys are taken off before and put back after, for Citus takes those between tables that lie together only when
both are split already.
"""

from __future__ import annotations

import os
from contextlib import closing

from aisle.service.db.database_interface import Transaction
from aisle.service.db.postgres_database import PostgresDatabase
from tests.service.postgres import execute
from tests.service.test_shards import REFERENCE, TENANT

DSN = os.environ.get("AISLE_TEST_CITUS_DSN", "")


def opened(dsn: str) -> tuple[str, PostgresDatabase]:
    """A fresh schema of that database, made and split; its address, and the storage over it."""
    schema = f"aisle_{os.getpid()}"
    execute(dsn, f"DROP SCHEMA IF EXISTS {schema} CASCADE", f"CREATE SCHEMA {schema}")
    url = f"{dsn}{'&' if '?' in dsn else '?'}search_path={schema},public"
    PostgresDatabase(url, timeout_s=60).close()
    split(url)
    return url, PostgresDatabase(url, timeout_s=60)


def split(url: str) -> None:
    """Every store's rows go where its number sends them; what is the chain's goes everywhere."""
    with closing(PostgresDatabase(url, timeout_s=60)) as storage:
        keys = storage.read_now(foreign_keys)
        made = storage.read_now(_tables)
    first, *others = sorted(TENANT & made)
    execute(
        url,
        *(f"ALTER TABLE {table} DROP CONSTRAINT {name}" for table, name, _ in keys),
        *(f"SELECT create_reference_table('{table}')" for table in sorted(REFERENCE)),
        f"SELECT create_distributed_table('{first}', 'store_number')",
        *(
            f"SELECT create_distributed_table('{table}', 'store_number', colocate_with => '{first}')"
            for table in others
        ),
        *(f"ALTER TABLE {table} ADD CONSTRAINT {name} {said}" for table, name, said in keys),
    )


async def _tables(tx: Transaction) -> set[str]:
    return {row[0] for row in await tx.all("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")}


async def foreign_keys(tx: Transaction) -> list[tuple[str, str, str]]:
    """The table, name and text of each."""
    rows = await tx.all(
        """SELECT conrelid::regclass::text, conname::text, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2"""
    )
    return [(str(table), str(name), str(said)) for table, name, said in rows]
