"""What attacks are made on: a service's own HTTP interface, and the cache of a host."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import apsw
import pytest
import pytest_asyncio

from aisle.cache.writer import open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.service.auth import tokens_and_pins
from tests.service.world import World, filled
from tests.writes import STORE


@pytest.fixture(autouse=True)
def _cheap_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    """PINs are hashed quickly: attacks try many."""
    dummy = tokens_and_pins.DUMMY_HASH.replace(f"${tokens_and_pins._SCRYPT_COST}$", "$2$")
    monkeypatch.setattr(tokens_and_pins, "_SCRYPT_COST", 2)
    monkeypatch.setattr(tokens_and_pins, "DUMMY_HASH", dummy)


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Four stores, five products, five places in S1, no stock."""
    made = await filled(tmp_path)
    yield made
    await made.close()


@pytest.fixture
def cache_db(tmp_path: Path) -> Iterator[apsw.Connection]:
    """The cache of a host, as its courier holds it."""
    connection = open_cache(StoreFolder(tmp_path, "embedded", STORE).folder, writer=True)
    yield connection
    connection.close()
