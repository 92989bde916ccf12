"""The program dies by SIGKILL at every step of a pick: the next start stands on the same step, nothing lost or doubled.

The service counts its calls: every write that it carried out is in its book, with key and bytes.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aisle.host.leader_lock import LeaderLock
from aisle.host.store_and_database_folders import StoreFolder
from tests.bench.generated_store import ean13
from tests.run_length import tries
from tests.terminal.harness import python
from tests.terminal.lifeline import processes_under
from tests.terminal.picker import START_S, Picker
from tests.terminal.service_process import Served, counting_service, read_book
from tests.terminal.shop import Line, Shop, door, on_this_host

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

ORDER = "KILL-1"
UP = "PU-01"


class Scene(NamedTuple):
    """A shop at an address, a book of all writes there, and how to start the app on it."""

    home: Path
    shop: Shop
    book: Path
    served: Served
    open: Callable[[], Picker]

    def courier(self) -> int:
        """The process id of the courier that is at work; 0 for none."""
        holder = LeaderLock(StoreFolder(self.home, self.served.url, self.shop.store).lock).read_leader()
        return holder.pid if holder and holder.pid in processes_under(self.home.parent) else 0

    def outbox(self, sql: str) -> list[Any]:
        """Rows of this host's outbox."""
        return on_this_host(self.home, sql, self.served.url)


@pytest.fixture
def scene(demo_home: Path, shop: Shop, picker: Pick, tmp_path: Path) -> Iterator[Scene]:
    """The demo store with one more order: three of one product, one of another, at two places."""
    first, second = shop.goods(2)
    shop.add_order(ORDER, [(first["product_number"], 3), (second["product_number"], 1)])
    book = tmp_path / "book"
    with counting_service(demo_home, book) as served:
        service = ("--base-url", served.url, "--token-file", str(demo_home / "embedded.token"))
        door("sync", *service)
        yield Scene(demo_home, shop, book, served, lambda: picker(*service, "--verified"))


Steps = list[tuple[str, str]]
EVERY = tries(4, 1)
"""By default the program is killed at every fourth step: none where a letter is typed at once afterwards, which a busy
host reads together with its Enter."""


def steps(lines: list[Line]) -> Steps:
    """What is entered at each step, and what then has to stand on the screen, before and after the kill."""
    first, second = lines
    return [
        ("", "Scan your badge"),
        ("anna", f"{ORDER} ! Jan 2020"),
        (ORDER, f"Scan location {first.place}"),
        (first.place, "Scan the product"),
        (first.code, "Scan 2 more"),
        (f"5*{first.code}", "r Pick the 2 still needed"),
        ("r", f"Scan location {second.place}"),
        (second.place, "0 picked"),
        (second.code, "Put down: scan where"),
        (UP, "Scan the next order"),
        ("b", "Open orders"),
    ]


@pytest.mark.parametrize(
    "both", [pytest.param(False, marks=pytest.mark.full), True], ids=["the session", "the session and the courier"]
)
def test_killed_at_each_step(scene: Scene, both: bool) -> None:
    lines = scene.shop.lines(ORDER)
    entered = []
    app = scene.open()
    app.shows("Sign in", "live")
    for number, (text, expected) in enumerate(steps(lines)):
        if text:
            app.enter(text)
            entered.append(text)
        app.shows(expected)
        if number % EVERY:
            continue
        before = app.told()
        app.terminal.kill(signal.SIGKILL)
        assert app.terminal.wait_exit() == -signal.SIGKILL
        if both and (courier := scene.courier()):
            os.kill(courier, signal.SIGKILL)
        app = scene.open()
        app.shows(expected)
        if number:
            at_home = expected.startswith((ORDER, "Open orders"))
            stands = "5 is too many" if "still needed" in expected else "Back where you left off"
            app.shows("Signed in: Anna Berg" if at_home else stands)
        same(app, before)
    app.shows("live", "all sent")
    settled(scene, entered, {1: Decimal(3), 2: Decimal(1)})
    assert {line.moved for line in scene.shop.lines(ORDER)} == {Decimal(3), Decimal(1)}


def test_a_terminal_without_a_name_is_its_device(demo_home: Path, picker: Pick) -> None:
    """Killed and started again there, it still belongs to who signed in; the next one over belongs to nobody."""
    twice = ("sh", "-c", '"$@"; exec "$@"', "sh", *python("-m", "aisle"))
    app = picker(argv=twice, env={"AISLE_TERMINAL": None})
    app.shows("Scan your badge", "live")
    app.enter("anna")
    app.enter("4101")
    app.shows("Scan the product")
    ((pid, device),) = on_this_host(demo_home, "SELECT pid, terminal FROM session")
    assert f"/dev/{device.replace('-', '/')}" == os.readlink(f"/proc/{pid}/fd/0")
    os.kill(pid, signal.SIGKILL)
    app.shows("Back where you left off", "Scan the product")
    picker(env={"AISLE_TERMINAL": None}).shows("Scan your badge")


def same(app: Picker, before: list[str]) -> None:
    """The screen says what it said before, word for word; only the list of stops to come may have more room."""
    app.terminal.wait_for(lambda _: [line for line in before if line not in app.glance()] == [], START_S)


def settled(scene: Scene, entered: list[str], picked: dict[int, Decimal]) -> None:
    """Journal, outbox and service tell the same story: each input once, each write once, whatever died."""
    raws = scene.outbox("SELECT raw FROM event WHERE raw <> '' ORDER BY seq")
    assert [raw for (raw,) in raws] == entered
    assert scene.shop.picked(ORDER) == picked
    scene.shop.balances()
    operations = dict(scene.outbox("SELECT op_id, state FROM operation WHERE superseded_by = ''"))
    assert set(operations.values()) == {"done"}
    book = read_book(scene.book)
    assert {written.key for written in book} == set(operations)
    assert {written.status for written in book} == {200}
    assert len({(written.key, written.body) for written in book}) == len(operations)


@pytest.mark.full
def test_an_answer_that_never_came_is_asked_for_again_under_its_key(scene: Scene) -> None:
    """Session and courier die while the service has done the work and has not said so."""
    first = scene.shop.lines(ORDER)[0]
    app = scene.open()
    app.sign_in()
    app.shows(ORDER)
    app.enter(ORDER)
    app.enter(first.place)
    app.shows("all sent")
    scene.served.hold()
    app.enter(first.code)
    app.terminal.wait_for(lambda _: len(read_book(scene.book)) == 2, START_S)
    courier = scene.courier()
    os.kill(courier, signal.SIGKILL)
    app.terminal.kill(signal.SIGKILL)
    app.terminal.wait_exit()
    assert scene.outbox("SELECT state FROM operation ORDER BY n") == [("done",), ("sending",)]
    scene.served.release()
    app = scene.open()
    app.shows("1 picked", "live", "all sent")
    settled(scene, ["anna", ORDER, first.place, first.code], {1: Decimal(1), 2: Decimal(0)})
    assert list(Counter(written.key for written in read_book(scene.book)).values()) == [1, 2]


def test_killed_in_the_middle_of_a_burst(scene: Scene) -> None:
    burst(scene, 4)


@pytest.mark.full
def test_killed_in_the_middle_of_many_bursts(scene: Scene) -> None:
    burst(scene, 100)


SCANNED = "SELECT raw FROM event WHERE raw LIKE '%*%' ORDER BY seq"


def grown(scene: Scene, app: Picker, known: int) -> None:
    """Waits until the journal has more of these scans than were known."""
    app.terminal.wait_for(lambda _: len(scene.outbox(SCANNED)) > known, START_S)


def burst(scene: Scene, rounds: int) -> None:
    """Scans fly in when the program dies: what it had said stands, what stands was scanned, and in that order."""
    code, size = ean13("952777000001"), 20
    scene.shop.add_product("BURST", "Burst of scans", code, "A-01-1")
    scene.shop.add_order("BURST-1", [("BURST", 99_000)])
    app = scene.open()
    app.sign_in()
    app.shows("BURST-1")
    app.enter("BURST-1")
    app.enter("A-01-1")
    kept: list[str] = []
    for number in range(rounds):
        before, scans = len(app.seen()), [f"{1 + (number + index) % 3}*{code}" for index in range(3 * size)]
        for part in (scans[:size], scans[size : 2 * size], scans[2 * size :]):
            app.terminal.write("".join(scan + "\r" for scan in part).encode())
        if number % 3 == 1:
            grown(scene, app, len(kept))
        elif number % 3 == 2:
            app.answered(before + 1)
        app.terminal.kill(signal.SIGKILL)
        app.terminal.wait_exit()
        told = [seen["raw"] for seen in app.seen()[before:]]
        raws = [str(raw) for (raw,) in scene.outbox(SCANNED)]
        fresh = raws[len(kept) :]
        assert raws[: len(kept)] == kept
        assert fresh == scans[: len(fresh)]
        assert told == fresh[: len(told)]
        kept = raws
        total = sum(int(raw.partition("*")[0]) for raw in kept)
        app = scene.open()
        app.shows(f"{total} of 99000")
    app.shows("live", "all sent")
    assert scene.shop.picked("BURST-1") == {1: Decimal(total)}
    scene.shop.balances()
