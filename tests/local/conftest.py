"""A home folder and its databases for each test."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from aisle.local.cache.writer import Cache, open_cache
from aisle.local.host.home import Home
from aisle.local.outbox.outbox import open_outbox
from aisle.local.reads.reads import Reads
from tests.local.kit import STORE


@pytest.fixture
def home(aisle_home: Path) -> Home:
    """The home of the store at the embedded service."""
    return Home(aisle_home, "embedded", STORE)


@pytest.fixture
def outbox_db(home: Home) -> Iterator[apsw.Connection]:
    """The precious database of that home."""
    connection = open_outbox(home.folder)
    yield connection
    connection.close()


@pytest.fixture
def cache_db(home: Home) -> Iterator[apsw.Connection]:
    """The cache of that home, as the courier holds it."""
    connection = open_cache(home.folder, writer=True)
    yield connection
    connection.close()


@pytest.fixture
def cache(cache_db: apsw.Connection) -> Cache:
    """The writer's side of the cache."""
    return Cache(cache_db, STORE)


@pytest.fixture
def reads(home: Home, outbox_db: apsw.Connection, cache: Cache) -> Iterator[Reads]:
    """The reader's side of the cache, with the outbox over it."""
    opened = Reads(home, outbox_db)
    yield opened
    opened.close()
