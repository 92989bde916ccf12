"""A home folder and its databases for each test."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_folder import StoreFolder
from aisle.outbox.operation_queue import open_outbox
from tests.local.kit import STORE


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """The home of the store at the embedded service."""
    return StoreFolder(aisle_home, "embedded", STORE)


@pytest.fixture
def outbox_db(home: StoreFolder) -> Iterator[apsw.Connection]:
    """The precious database of that home."""
    connection = open_outbox(home.folder)
    yield connection
    connection.close()


@pytest.fixture
def cache_db(home: StoreFolder) -> Iterator[apsw.Connection]:
    """The cache of that home, as the courier holds it."""
    connection = open_cache(home.folder, writer=True)
    yield connection
    connection.close()


@pytest.fixture
def cache(cache_db: apsw.Connection) -> CacheWriter:
    """The writer's side of the cache."""
    return CacheWriter(cache_db, STORE)


@pytest.fixture
def reads(home: StoreFolder, outbox_db: apsw.Connection, cache: CacheWriter) -> Iterator[CacheReader]:
    """The reader's side of the cache, with the outbox over it."""
    opened = CacheReader(home, outbox_db)
    yield opened
    opened.close()
