"""How many hands each job takes, counted in a real terminal from the first byte to the finished state.

S is a scan, C an entry (characters and Enter), K a single key. One test for each row of the table. Those whose job has
another test that counts its hands at a terminal (first order, batch, shortage, move, count, resume) are long runs.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Line, Shop
from tests.terminal.test_count import goods_at, logs
from tests.terminal.test_move import empty_place
from tests.terminal.test_shortage import number_of

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


@pytest.mark.full
def test_an_order_of_five_lines_product_only(shop: Shop, five: list[Line], begin: Begin) -> None:
    hands = begin("FIVE")
    hands.scan("FIVE", "pick.product", "pick.opened")
    for line in five[:-1]:
        hands.scan(line.code, "pick.product", "pick.picked")
    hands.scan(five[-1].code, "pick.done", "pick.all_picked")
    picked(hands, shop, "FIVE")
    assert hands.did == {"S": 1 + 5}


@pytest.mark.full
def test_an_order_of_five_lines_each_place_verified(shop: Shop, five: list[Line], begin: Begin) -> None:
    hands = begin("FIVE", flags=("--verified",))
    hands.scan("FIVE", "pick.location", "pick.opened")
    for line in five:
        hands.scan(line.place, "pick.product", "pick.at_location")
        last = line is five[-1]
        hands.scan(line.code, "pick.done" if last else "pick.location", "pick.all_picked" if last else "pick.picked")
    picked(hands, shop, "FIVE")
    assert hands.did == {"S": 1 + 10}


@pytest.mark.full
def test_two_orders_in_one_walk(shop: Shop, begin: Begin) -> None:
    """A product that both want is scanned once for each tote, at one stop; each take names its tote."""
    first, both, last = shop.goods(3)
    shop.add_order("ROUND-1", [(first["product_number"], 1), (both["product_number"], 1)])
    shop.add_order("ROUND-2", [(both["product_number"], 1), (last["product_number"], 1)])
    hands = begin("ROUND-1", "ROUND-2")
    open_job(hands.app, "Round", "batch")
    hands.scan("ROUND-1", "batch", "batch.added")
    hands.scan("ROUND-2", "batch", "batch.added")
    hands.enter("g", "pick.product", "pick.batch_opened")
    wanted = {"A": shop.lines("ROUND-1"), "B": shop.lines("ROUND-2")}
    takes = sorted((line.place, tote, line.code) for tote, lines in wanted.items() for line in lines)
    assert len({place for place, _, _ in takes}) == 3
    left = Counter(tote for _, tote, _ in takes)
    for _, tote, code in takes:
        left[tote] -= 1
        told = "pick.picked_for_tote" if left[tote] else "pick.tote_full" if left.total() else "pick.batch_all_picked"
        hands.scan(code, "pick.product" if left.total() else "pick.done", told)
        hands.app.shows(f"→ {tote}" if left.total() else "All picked")
    picked(hands, shop, "ROUND-1", "ROUND-2")
    assert hands.did == {"S": 2 + 4, "C": 1}


@pytest.mark.full
def test_twelve_of_a_line(shop: Shop, begin: Begin) -> None:
    shop.add_product("DOZEN", "A dozen", "2000000000015", "A-01-1")
    shop.add_order("TWELVE", [("DOZEN", 12)])
    hands = begin("TWELVE")
    hands.app.take("TWELVE", "pick.product", "pick.opened")
    hands.scan("2000000000015", "pick.product", "pick.picked")
    hands.enter("12", "pick.done", "pick.all_picked")
    picked(hands, shop, "TWELVE")
    assert hands.did == {"S": 1, "C": 1}


@pytest.mark.full
def test_a_shortage(shop: Shop, five: list[Line], begin: Begin) -> None:
    hands = begin("FIVE")
    hands.app.take("FIVE", "pick.product", "pick.opened")
    hands.enter("s", "shortage.choices", "shortage.opened")
    hands.enter(number_of(hands.app, "Damaged"), "pick.product", "pick.short")
    hands.app.terminal.wait_for(lambda _: any(line["is_picked"] for line in shop.order("FIVE")["lines"]), START_S)
    assert hands.did == {"C": 2}


@pytest.mark.full
def test_a_product_is_moved_and_the_next_from_the_same_place(shop: Shop, begin: Begin) -> None:
    place, (first, second, *_) = goods_at(shop, 5)
    to, before = empty_place(shop), shop.balances()
    hands = begin()
    open_job(hands.app, "Move", "move.from")
    hands.scan(place, "move.take", "move.at_location")
    hands.scan(first["barcode"], "move.take", "move.taken")
    hands.scan(to, "move.take", "move.moved")
    assert hands.did == {"S": 3}
    hands.did.clear()
    hands.scan(second["barcode"], "move.take", "move.taken")
    hands.scan(to, "move.take", "move.moved")
    assert hands.did == {"S": 2}
    hands.app.shows("all sent")
    lying = next(row for row in shop.ask("list-locations", page_size=500)["list"] if row["location_code"] == to)
    assert sum(entry["quantity"] for entry in lying["stock"]) == 2
    assert shop.balances() == before


@pytest.mark.full
def test_a_place_with_five_products_is_counted(shop: Shop, begin: Begin) -> None:
    place, rows = goods_at(shop, 5)
    hands = begin()
    open_job(hands.app, "Count", "count.start")
    hands.scan(place, "count.product", "count.at_location")
    for row in rows:
        hands.scan(row["barcode"], "count.product", "count.counted_of")
        hands.enter(str(int(row["here"])), "count.product", "count.counted_of")
    hands.enter("d", "count.start", "count.sent")
    assert hands.did == {"S": 1 + 5, "C": 5 + 1}
    hands.app.terminal.wait_for(lambda _: len(logs(shop)) == 5, START_S)
    shop.balances()


def test_a_look_from_home_and_in_the_middle_of_each_job_and_back(shop: Shop, five: list[Line], begin: Begin) -> None:
    hands = begin("FIVE")
    app = hands.app
    hands.scan(five[0].code, "look_up.product", "")
    assert hands.did == {"S": 1}
    hands.key(BACKSPACE)
    app.shows("Open orders")
    assert hands.did == {"S": 1, "K": 1}
    ways = (
        ("", "pick.product", "0 of 1"),
        ("Count", "count.start", "counted today"),
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


def test_each_job_undoes_last_step_with_one_entry(shop: Shop, five: list[Line], begin: Begin) -> None:
    place, (first, *_) = goods_at(shop, 5)
    before = shop.balances()
    hands = begin("FIVE")
    app = hands.app
    app.take("FIVE", "pick.product", "pick.opened")
    app.take(five[0].code, "pick.product", "pick.picked")
    hands.enter("u", "pick.product", "pick.undone")
    app.go_home()
    open_job(app, "Count", "count.start")
    app.take(place, "count.product", "count.at_location")
    app.take(first["barcode"], "count.product", "count.counted_of")
    hands.enter("u", "count.product", "count.undone_all")
    app.enter("b")
    app.take("1", "adjust.product", "")
    app.take(place, "adjust.product", "adjust.at_location")
    app.take(first["barcode"], "adjust.quantity", "adjust.how_many")
    app.take("d", "adjust.reason", "adjust.which_reason")
    app.take("1", "adjust.product", "adjust.lost")
    hands.enter("u", "adjust.product", "adjust.undone")
    app.go_home()
    open_job(app, "Move", "move.from")
    app.take(place, "move.take", "move.at_location")
    app.take(first["barcode"], "move.take", "move.taken")
    app.take(empty_place(shop), "move.take", "move.moved")
    hands.enter("u", "move.take", "move.undone")
    assert hands.did == {"C": 4}
    app.shows("all sent")
    assert shop.picked("FIVE")[five[0].number] == 0
    assert shop.balances() == before


@pytest.mark.full
def test_resume_after_kill_takes_no_entry(shop: Shop, five: list[Line], begin: Begin, picker: Pick) -> None:
    hands = begin("FIVE")
    hands.app.take("FIVE", "pick.product", "pick.opened")
    hands.app.take(five[0].code, "pick.product", "pick.picked")
    shown = hands.app.told()
    hands.app.terminal.kill(signal.SIGKILL)
    hands.app.terminal.wait_exit()
    again = Hands(picker())
    again.app.shows("Back where you left off")
    again.app.stands_at(shown)
    assert again.did == {}
    again.app.take(five[1].code, "pick.product", "pick.picked")
    again.app.terminal.wait_for(lambda _: shop.picked("FIVE")[five[1].number] == 1, START_S)
