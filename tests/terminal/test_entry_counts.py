"""How many hands each job takes, counted in a real terminal from the first byte to the finished state.

S is a scan, C an entry (characters and Enter), K a single key. The tests of first orders, batches, shortages, moves,
counts and resumes count the hands of their own jobs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Line, Shop
from tests.terminal.test_count import goods_at
from tests.terminal.test_move import empty_place

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]
Note = Callable[[str, object], None]

ENTER, BACKSPACE = b"\r", b"\x7f"


class Hands:
    """Somebody at work whose every byte is counted."""

    def __init__(self, app: Picker) -> None:
        self.app = app
        self.did: Counter[str] = Counter()
        self.keys = 0
        """Keys pressed: those of entries, Enter included, and the single ones."""

    def scan(self, code: str, step: str, verdict: str) -> None:
        """One pull of the trigger."""
        self.did["S"] += 1
        self.app.take(code, step, verdict)

    def enter(self, text: str, step: str, verdict: str) -> None:
        """Something typed, and Enter."""
        self.did["C"] += 1
        self.keys += len(text) + 1
        self.app.take(text, step, verdict, typed=text.isdecimal())

    def key(self, key: bytes) -> None:
        """One key by itself."""
        self.did["K"] += 1
        self.keys += 1
        self.app.rest()
        self.app.terminal.write(key)


@pytest.fixture
def begin(picker: Pick, record_property: Note) -> Any:
    """Starts the app, signs in, waits for these words, and hands over; says at the end what it took."""
    opened: list[Hands] = []

    def start(*shown: str, flags: tuple[str, ...] = ()) -> Hands:
        app = picker(*flags)
        app.sign_in("BADGE-U2")
        app.shows("live", *shown)
        opened.append(Hands(app))
        return opened[-1]

    yield start
    for hands in opened:
        record_property("hands", dict(hands.did))
        record_property("keys", hands.keys)


Begin = Callable[..., Hands]


@pytest.fixture
def five(shop: Shop) -> list[Line]:
    """The lines of the order FIVE: one piece each, at five places."""
    shop.add_order("FIVE", [(row["product_number"], 1) for row in shop.goods(5)])
    return shop.lines("FIVE")


def picked(hands: Hands, shop: Shop, *orders: str) -> None:
    """The service has them whole, and nothing was finished or sent twice."""
    hands.app.terminal.wait_for(lambda _: all(shop.is_picked(order) for order in orders), START_S)
    assert all(shop.order(order)["is_active"] for order in orders)
    shop.balances()


def open_job(app: Picker, name: str, step: str) -> None:
    """From home, by its number in the menu."""
    words = app.shows(name).replace("\n", " ").split(name)[0].split()
    app.take(next(word for word in reversed(words) if word.isdigit()), step, "")


def test_each_job_undoes_with_one_entry_and_a_look_in_its_middle_costs_one_and_a_key(
    shop: Shop, five: list[Line], begin: Begin
) -> None:
    place, (first, *_) = goods_at(shop, 5)
    before = shop.balances()
    hands = begin("FIVE")
    look_in_the_middle_of_each_job_and_back(hands, five)
    hands.did.clear()
    undo_in_each_job(hands, five, place, first["barcode"], empty_place(shop))
    assert hands.did == {"C": 4}
    hands.app.shows("all sent")
    assert shop.picked("FIVE")[five[0].number] == 0
    assert shop.balances() == before


def look_in_the_middle_of_each_job_and_back(hands: Hands, five: list[Line]) -> None:
    """From home it is a scan, in a job a scan and a key before it; a key leads back."""
    app = hands.app
    hands.scan(five[0].code, "look_up.product", "")
    assert hands.did == {"S": 1}
    hands.key(BACKSPACE)
    app.shows("Open orders")
    assert hands.did == {"S": 1, "K": 1}
    ways = (
        ("", "pick.product", "0 picked"),
        ("Count", "count.start", "Today's counts"),
        ("Move", "move.from", "comes from"),
    )
    for job, step, shown in ways:
        if job:
            open_job(app, job, step)
        else:
            app.take("FIVE", step, "pick.opened")
        app.shows(shown)
        before = app.told()
        hands.did.clear()
        hands.scan(f"?{five[1].code}", "look_up.product", "")  # the `?` is typed, the rest is scanned
        hands.did["C"] += 1
        app.shows(f"Product {five[1].product}")
        assert hands.did == {"S": 1, "C": 1}
        hands.key(BACKSPACE)
        app.stands_at(before)
        assert hands.did == {"S": 1, "C": 1, "K": 1}
        app.go_home()


def undo_in_each_job(hands: Hands, five: list[Line], place: str, code: str, to: str) -> None:
    """One entry each."""
    app = hands.app
    app.take("FIVE", "pick.product", "pick.opened")
    app.take(five[0].code, "pick.product", "pick.picked")
    hands.enter("u", "pick.product", "pick.undone")
    app.go_home()
    open_job(app, "Count", "count.start")
    app.take(place, "count.product", "count.at_location")
    app.take(code, "count.product", "count.counted_of")
    hands.enter("u", "count.product", "count.undone_all")
    app.enter("b")
    app.take("1", "adjust.product", "")
    app.take(place, "adjust.product", "adjust.at_location")
    app.take(code, "adjust.quantity", "count.counted")
    app.take("d", "adjust.reason", "adjust.which_reason")
    app.take("1", "adjust.product", "adjust.lost")
    hands.enter("u", "adjust.product", "adjust.undone")
    app.go_home()
    open_job(app, "Move", "move.from")
    app.take(place, "move.take", "count.at_location")
    app.take(code, "move.take", "move.taken")
    app.take(to, "move.take", "move.moved")
    hands.enter("u", "move.take", "move.undone")
