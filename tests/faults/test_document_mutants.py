"""Known mistakes at foreign services are noticed, and nothing is noticed without them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random

import httpx
import pytest

from tests.faults import document_mutants as mutants
from tests.faults import shop as shops
from tests.faults.document_host import ORDER, Foreign, foreign
from tests.faults.document_service import Document, Ways
from tests.faults.goods import CODES
from tests.faults.hostile_service import Hostile, Moods
from tests.faults.link import LATE, Fault

Mutant = Callable[[], AbstractContextManager[None]]
Scene = Callable[[Path], Awaitable[None]]


async def _behind_what_was_found(folder: Path) -> None:
    """A pick is late; another one waits until it is found."""
    async with foreign(folder, make=lambda _, clock: Document(Ways(), clock)) as shop:
        anna = shop.host.person("dock-1", "anna")
        _first(shop, "PUT", Fault(LATE, 15.0))
        anna.say(ORDER, CODES["P1"])
        await shop.step(1)
        anna.say(CODES["P1"])
        await shop.step(100)
        assert shop.rests(shop.host), "it still waits"


async def _late_and_nothing_new(folder: Path) -> None:
    """An undone pick is late; what is picked meanwhile stays picked."""
    async with foreign(folder, make=lambda _, clock: Document(Ways(), clock)) as shop:
        anna = shop.host.person("dock-1", "anna")
        anna.say(ORDER)
        await shop.step(30)
        _first(shop, "PUT", Fault(LATE, 60.0))
        anna.say(CODES["P1"], "u")
        await shop.step(3)
        anna.say(CODES["P1"])
        await shop.step(30)
        await shop.quiet()
        assert shop.transport.orders[ORDER]["lines"][1]["picked_quantity"] == 1, "a late request undid it"
        shop.check()


async def _in_a_circle(folder: Path) -> None:
    """The last page of each list names the first one as the next."""
    moods = Moods(loops=True)
    async with foreign(folder, make=lambda _, clock: Hostile(Ways(), clock, Random(1), moods)) as shop:
        await shop.quiet()
        shop.check()


async def _nonsense(folder: Path) -> None:
    """The list of orders makes no sense for a while."""
    async with foreign(folder, make=lambda _, clock: Hostile(Ways(), clock, Random(1), Moods())) as shop:
        assert isinstance(shop.transport, Hostile)
        shop.transport.always = ("list-customer-orders", "no page")
        await shop.step(300)
        assert shop.host.query("order", order_number=ORDER), "it was dropped"


async def _late_and_absent(folder: Path) -> None:
    """A movement is late at a service where movements are found again."""
    async with foreign(folder, make=lambda _, clock: Document(Ways(), clock)) as shop:
        anna = shop.host.person("dock-1", "anna")
        for fault in (Fault(), Fault(LATE, 60.0)):
            _first(shop, "POST", fault)
            anna.open("home.move")
            anna.say("A-1", CODES["P1"], "A-2")
            await shop.step(200)
        await shop.quiet()
        shop.check()
        assert shop.transport.lying["P1", "A-2"] == 2


async def _other_lines(folder: Path) -> None:
    """One of two lines is picked at a service that forgets the lines that an update does not name."""
    async with foreign(folder, make=lambda _, clock: Document(Ways(forgets_lines=True), clock)) as shop:
        shop.host.person("dock-1", "anna").say(ORDER, CODES["P1"])
        await shop.quiet()
        assert len(shop.transport.orders[ORDER]["lines"]) == 2, "a line is gone"
        shop.check()


def _first(shop: Foreign, method: str, fault: Fault) -> None:
    """The next write by this method meets this."""
    happens = iter([fault])

    def plan(request: httpx.Request) -> Fault:
        return next(happens, Fault()) if request.method == method else Fault()

    shop.host.line.plan = plan


SCENES = (
    (mutants.resent_without_looking, _late_and_absent, "more than once"),
    (mutants.found_and_told_nobody, _behind_what_was_found, "it still waits"),
    (mutants.absence_believed_at_once, _late_and_absent, "more than once"),
    (mutants.own_lines_alone, _other_lines, "a line is gone"),
    (mutants.as_it_was_is_found, _late_and_nothing_new, "a late request undid it"),
    (mutants.circles_followed, _in_a_circle, "at work without end"),
    (mutants.nonsense_is_an_empty_page, _nonsense, "it was dropped"),
)


@pytest.mark.parametrize(("mutant", "scene", "said"), SCENES, ids=lambda each: getattr(each, "__name__", ""))
async def test_a_scene_with_a_mistake_does_not_pass(
    memory: Path, monkeypatch: pytest.MonkeyPatch, mutant: Mutant, scene: Scene, said: str
) -> None:
    await scene(memory / "right")
    monkeypatch.setattr(shops, "_MOST_TURNS", 3_000)
    with mutant(), pytest.raises(AssertionError, match=said):
        await scene(memory / "wrong")
