"""README's table of pages and operations, held to the code: each page opens from home by what stands there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import aisle
from aisle.contract.operations import OPERATIONS
from tests.terminal.picker import Picker

ROOT = Path(__file__).parents[2]
SOURCE = Path(aisle.__file__).parent
ROOMS = ("courier", "jobs", "local")
"""Where a page's operations are asked for."""

OPENS = {
    "pick": "pick.product",
    "look up": "look_up.list",
    "locations": "locations.list",
    "count, losses": "count.start",
    "move": "move.from",
    "batch": "batch",
    "receive": "receive.delivery",
    "orders": "orders",
    "exceptions": "exceptions",
    "log": "log",
    "stores": "stores",
    "products": "products",
    "today": "today",
    "clear locations": "clearance",
    "goods to move": "clearance_tasks",
    "expiry checks": "expiry",
    "replenish": "replenishment",
    "hand over": "hand_over",
}
"""The step that each page begins with."""


class Page(NamedTuple):
    """A row of the table."""

    name: str
    keys: tuple[str, ...]
    operations: frozenset[str]


def table() -> Iterator[Page]:
    """README's rows."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.split("## Which page has what", 1)[1].split("\n## ", 1)[0]
    for row in re.findall(r"^\| (?!Page)(.+) \|$", section, re.MULTILINE):
        name, keys, operations = (cell.strip() for cell in f"{row} ".split("|"))
        yield Page(
            name.strip("`"), tuple(re.findall(r"`(\w+)`", keys)), frozenset(re.findall(r"`([a-z-]+)`", operations))
        )


PAGES = tuple(table())


def asked_for() -> set[str]:
    """The operations that a room behind the pages names, as the interface does or as the client's method."""
    text = "\n".join(file.read_text(encoding="utf-8") for room in ROOMS for file in (SOURCE / room).rglob("*.py"))
    return {name for name in OPERATIONS if f'"{name}"' in text or re.search(rf"\.{name.replace('-', '_')}\b", text)}


def test_every_operation_has_one_place() -> None:
    listed = [name for page in PAGES for name in page.operations]
    assert sorted(listed) == sorted(OPERATIONS)


def test_listed_operations_are_called_by_their_page() -> None:
    said = {name for page in PAGES if not page.name.startswith("aisle ") for name in page.operations}
    assert said - asked_for() == set()
    left_to_the_shell = {name for page in PAGES if page.name.startswith("aisle ") for name in page.operations}
    # The courier can look for what created an order, whoever put that into the outbox; no page does.
    created = {"create-customer-orders-one-store", "create-customer-orders-several-stores"}
    assert left_to_the_shell & asked_for() <= created


def test_the_folder_loader_sends_what_is_said_to_be_its() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in (SOURCE / "client" / "csv_load").rglob("*.py"))
    (page,) = (page for page in PAGES if page.name == "aisle load")
    assert {name for name in page.operations if name.replace("-", "_") not in text and name not in text} == set()


@pytest.mark.pty
def test_each_page_opens_from_home(demo_home: Path, picker: Callable[..., Picker]) -> None:
    app = picker(columns=80, rows=24)
    app.sign_in("BADGE-U6")
    app.shows("live")
    opened = {}
    for page in PAGES:
        if not page.keys:
            continue
        for key in page.keys:
            seen = app.type(key) if len(key) > 1 else app.enter(key)
        opened[page.name] = seen["step"]
        app.go_home()
    assert opened == OPENS
