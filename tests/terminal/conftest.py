"""What tests of the whole program ask for: homes with a store in them, pickers, services that can be killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.run_once import shared
from tests.terminal.harness import Terminal
from tests.terminal.picker import Picker
from tests.terminal.shop import Shop, made_once, settle


@pytest.fixture(scope="session")
def demo_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the demo store, its cache up to date; made once for all tests of all workers."""
    return shared(tmp_path_factory, "demo", lambda folder: made_once(folder / "home", ["sync"]))


@pytest.fixture
def demo_home(aisle_home: Path, demo_template: Path) -> Path:
    """This test's own copy of that home."""
    settle(demo_template, aisle_home)
    return aisle_home


@pytest.fixture
def shop(demo_home: Path) -> Iterator[Shop]:
    """The demo store's service; its books have to be in order at the end."""
    with Shop(demo_home / "service.db") as opened:
        yield opened


@pytest.fixture
def picker(terminal: Callable[..., Terminal], tmp_path: Path) -> Callable[..., Picker]:
    """Starts the app in a terminal; arguments as `Picker`'s."""
    number = count(1)

    def start(*arguments: str, **options: Any) -> Picker:
        return Picker(terminal, tmp_path / f"trace{next(number)}.jsonl", *arguments, **options)

    return start
