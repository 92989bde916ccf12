"""A service with an empty store for each test, and a folder of files to load."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.load.test_repeated_loads import World, a_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An empty service and a folder of files."""
    with a_world(tmp_path) as world:
        yield world
