"""A filled service for each test; when the test ends its books have to be in order.

Tests that ask for `world` run over SQLite, and those of `BOTH` over PostgreSQL too, by default with one case of a
table. In the long runs all do, but for those that are about SQLite itself (`sqlite`); and over SQLite with all that is
written done once in vain before, as after a lost connection. AISLE_TEST_CITUS_DSN names a PostgreSQL with Citus, whose
schema they may make.
"""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aisle.service.db import sqlite_database
from aisle.service.db.postgres_database import PostgresDatabase
from tests.conftest import started_or_skipped
from tests.service import citus, postgres
from tests.service.database_restore import Copy, copy_of, put_back
from tests.service.world import World, filled

BOTH = frozenset(
    {
        "test_clearance",
        "test_codes",
        "test_deliveries",
        "test_every_field",
        "test_multi_store_lists",
        "test_log_fields",
        "test_text_search",
        "test_idempotency",
        "test_line_rejections",
        "test_lists",
        "test_movements",
        "test_goods_under_way",
        "test_orders",
        "test_recounts",
        "test_restores",
        "test_retention",
        "test_round_trips",
        "test_scope",
        "test_multi_item_requests",
        "test_undo_across_counts",
        "test_undone_counts",
    }
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Which engines a test runs over."""
    if "engine" not in metafunc.fixturenames:
        return
    engines: list[Any] = ["sqlite"]
    if not metafunc.definition.get_closest_marker("sqlite"):
        both = metafunc.module.__name__.rpartition(".")[2] in BOTH
        long = os.environ.get("AISLE_FULL") == "1"
        engines += ["postgres"] if both else [pytest.param("postgres", marks=pytest.mark.full)] if long else []
        engines += ["citus"] if citus.DSN else []
        engines += [pytest.param("twice", marks=pytest.mark.full)] if long else []
    metafunc.parametrize("engine", engines)


_ON_POSTGRES: set[tuple[Path, str]] = set()
"""The tests of which a case over PostgreSQL was collected."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave further cases of a test over PostgreSQL to the long runs: they ask it for the same statements."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return
    if os.environ.get("AISLE_FULL") == "1" or item.callspec.params.get("engine") != "postgres":
        return
    test = (item.path, item.originalname)
    if test in _ON_POSTGRES:
        item.add_marker(pytest.mark.full)
    _ON_POSTGRES.add(test)


@pytest.fixture(autouse=True)
def _reads_are_short_by_their_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the time that a busy machine gives them: what is done on the loop is the same in each run."""
    monkeypatch.setattr(sqlite_database, "monotonic", lambda: 0.0)
    monkeypatch.setattr(sqlite_database, "thread_time", lambda: 0.0)


@pytest.fixture
def mortal() -> Iterator[postgres.Server]:
    """One of the test's own, for it will die."""
    made = started_or_skipped()
    yield made
    made.end()


@pytest.fixture(scope="session")
def _shared(server: postgres.Server) -> Iterator[tuple[str, PostgresDatabase]]:
    url = server.fresh()
    storage = PostgresDatabase(url, timeout_s=60)
    yield url, storage
    storage.close()


@pytest.fixture(scope="session")
def _split() -> Iterator[tuple[str, PostgresDatabase]]:
    url, storage = citus.opened(citus.DSN)
    yield url, storage
    storage.close()


_filled_copies: dict[str, tuple[Copy, str]] = {}
"""By address: the rows of a filled service, and the secret of an admin."""


async def filled_on(url: str, storage: PostgresDatabase) -> World:
    """Return a filled service over this database: it is filled once, then its rows are put back."""
    if url in _filled_copies:
        rows, secret = _filled_copies[url]
        put_back(storage, rows)
        return World(url, storage, secret=secret)
    postgres.emptied(storage)
    made = World(url, storage)
    await made.fill()
    _filled_copies[url] = copy_of(storage), made.secret
    return made


@pytest_asyncio.fixture
async def world(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[World]:
    """Four stores, five products, five places in S1, no stock."""
    if engine == "sqlite":
        made = await filled(tmp_path)
    elif engine == "twice":
        made = World(tmp_path, twice=True)
        await made.fill()
    else:
        made = await filled_on(*request.getfixturevalue("_shared" if engine == "postgres" else "_split"))
    yield made
    await made.close()
