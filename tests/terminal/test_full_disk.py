"""The disk is full in the middle of a pick, and has room again: the alarm ends by itself, and the work goes on."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.terminal.picker import Picker
from tests.terminal.shop import Shop, settle

pytestmark = pytest.mark.pty

SIZE = 64 << 20
"""Bytes of the disk."""


@pytest.fixture
def demo_home(aisle_home: Path, demo_template: Path) -> Iterator[Path]:
    """A home with the demo store on a small disk of its own."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "tmpfs", str(aisle_home)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        settle(demo_template, aisle_home)
        yield aisle_home
    finally:
        subprocess.run(["umount", "-l", str(aisle_home)], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all the room."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as stream:
        for size in (1 << 20, 4096):
            try:
                while True:
                    stream.write(b"x" * size)
            except OSError:
                continue
    return filler


def test_a_disk_that_was_full_is_an_alarm_no_more(demo_home: Path, shop: Shop, picker: Callable[..., Picker]) -> None:
    shop.add_order("FULL-1", [(row["product_number"], 90) for row in shop.goods(2)])
    first, _ = shop.lines("FULL-1")
    app = picker(columns=80, rows=24)
    app.sign_in()
    app.shows("FULL-1")
    app.take("FULL-1", "pick.product", "pick.opened")
    app.take(first.code, "pick.product")
    app.shows("all sent")
    filler = fill(demo_home)
    taken = 1
    while app.enter(first.code)["verdict"] == "pick.picked":
        taken += 1
    assert app.seen()[-1]["verdict"] == "session.not_saved"
    app.shows("disk is full")
    filler.unlink()
    app.shows("Saving works again")
    app.take(first.code, "pick.product")
    app.shows("all sent")
    assert shop.picked("FULL-1")[first.number] == taken + 1
