"""A host for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.courier.document_host import Shop
from tests.courier.host import Host


@pytest.fixture
def host(aisle_home: Path) -> Iterator[Host]:
    """A host with an empty home, and a small store at our own service."""
    host = Host(aisle_home)
    host.fake.add_products(f"P{n}" for n in range(1, 8))
    host.fake.add_locations("A-1", "A-2", "B-1")
    for n in range(1, 6):
        host.fake.add_order(f"O{n}")
    yield host
    host.close()


@pytest.fixture
def shop(aisle_home: Path) -> Iterator[Shop]:
    """A host at a service of the document alone."""
    shop = Shop(aisle_home)
    yield shop
    shop.close()
