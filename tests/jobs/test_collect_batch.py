"""Gathering the orders of a round, without a terminal, a file or a network."""

from __future__ import annotations

from decimal import Decimal
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle import named_tuple_json
from aisle.jobs.collect_batch import BatchJob, BatchState
from aisle.jobs.job import Changed, Close, Closed, Context, Event, Opened, PrintTable, Query, Resumed, Rows, Start
from aisle.jobs.pick.pick_state import MAX_ORDERS
from aisle.jobs.printed_pick_list import TICKED_BOX, query_pick_list
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, named_goods
from aisle.jobs.view import ASK, GOOD, WRONG, DetailView, Verdict, raw
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    UnknownCode,
)
from tests.jobs.pick_runner import Hand as Round
from tests.jobs.pick_runner import line

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z")


def book(count: int = 30) -> dict[str, dict[str, Any]]:
    """Open orders by number; the first wants things at A-1 and A-2, the second at A-2 and A-3, and so on."""
    return {
        f"{4101 + n}": {
            "order_number": f"{4101 + n}",
            "customer_name": f"Customer {n}",
            "pickup_date": f"2026-11-{20 + n // 8}",
            "is_active": True,
            "lines_known": True,
            "total_lines": 2,
            "lines": [
                line(1, f"P{n}", 1 + n % 3, preferred_location_code=f"A-{n + 1}"),
                line(2, f"P{n + 1}", 2, preferred_location_code=f"A-{n + 2}"),
            ],
        }
        for n in range(count)
    }


class Hand:
    """Runs the job and answers what it asks, last asked first, as a session does."""

    def __init__(self, orders: dict[str, dict[str, Any]] | None = None) -> None:
        self.job = BatchJob()
        self.orders = book() if orders is None else orders
        self.given: list[dict[str, Any]] = []
        """Orders of other walks that are this person's."""
        self.state: BatchState = self.job.begin()
        self.effects: list[Any] = []
        self.verdict: Verdict | None = None
        self.feed(Opened({}))

    def feed(self, event: Event) -> str:
        """The message id of the last verdict to one event and to all answers that follow from it."""
        told, self.verdict = "", None
        waiting = [event]
        while waiting:
            turn = self.job.handle(self.state, waiting.pop(0), CONTEXT)
            self.state = turn.state
            self.effects += turn.effects
            self.verdict = turn.verdict or self.verdict
            for effect in turn.effects:
                if isinstance(effect, Query):
                    waiting.insert(0, self._answer(effect))
        if self.verdict:
            told = self.verdict.text.id
        return told

    def _answer(self, query: Query) -> Rows:
        if query.name == "orders":
            heads = [{**row, "lines": None} for row in self.orders.values()]
            first, size = query.args["first"], query.args["size"]
            return Rows(query.id, tuple(heads[first : first + size]), len(heads))
        if query.name == "assigned_orders":
            return Rows(query.id, tuple(self.given), len(self.given))
        row = self.orders.get(query.args["order_number"])
        return Rows(query.id, (row,) if row else (), 1)

    def scan(self, key: str, kind: str = ORDER) -> str:
        """A code that means one thing."""
        return self.feed(Scan((Match(kind, key, key, code=key),)))

    @property
    def gathered(self) -> list[str]:
        """The orders of the round, in the order of their totes."""
        return [each.order for each in self.state.orders]

    @property
    def view(self) -> DetailView:
        """What is on the screen."""
        return self.job.view(self.state)

    @property
    def start(self) -> Any:
        """What the job below is asked to open, once the job has closed."""
        close = self.effects[-1]
        assert isinstance(close, Close)
        return close.start


def test_orders_are_scanned_one_after_the_other_and_get_their_totes() -> None:
    hand = Hand()
    assert hand.scan("4101") == "batch.added"
    assert hand.verdict is not None
    assert dict(hand.verdict.text.args)["tote"] == "A"
    assert hand.scan("4102", REFERENCE) == "batch.added"
    assert dict(hand.verdict.text.args) == {
        "tote": "B",
        "order": "4102",
        "lines": 2,
        "pickup": "2026-11-20",
    }
    assert hand.gathered == ["4101", "4102"]
    assert hand.state.stop_count == 3
    hand.feed(Command("g"))
    assert hand.start == Start("pick", {"orders": ["4101", "4102"], "totes": {}, "sure": []})


def test_a_desk_prints_the_batch_and_a_handheld_does_not() -> None:
    hand = Hand()
    hand.scan("4101")
    hand.scan("4102")
    assert "P" not in hand.job.accepts(hand.state).command_letters
    turn = hand.job.handle(hand.state, Command("P"), CONTEXT._replace(is_desk=True))
    assert "P" in hand.job.accepts(turn.state).command_letters
    assert turn.effects == (query_pick_list(["4101", "4102"]),)
    rows = tuple({"order": hand.orders[number], "barcodes": {}} for number in ("4101", "4102"))
    (printed,) = hand.job.handle(turn.state, Rows("pick_list", rows, 2), CONTEXT).effects
    assert isinstance(printed, PrintTable)
    assert {cells[1] for cells in printed.rows} == {raw("A"), raw("B")}
    (one_left,) = hand.job.handle(turn.state, Rows("pick_list", rows[1:], 1), CONTEXT).effects
    assert isinstance(one_left, PrintTable)
    assert {cells[1] for cells in one_left.rows} == {raw("B")}, "the letter that the screen shows"
    hand.orders["4101"]["lines"][0]["picked_quantity"] = hand.orders["4101"]["lines"][0]["quantity"]
    (again,) = hand.job.handle(turn.state, Rows("pick_list", rows, 2), CONTEXT).effects
    assert isinstance(again, PrintTable)
    assert (len(again.rows), again.done) == (len(printed.rows), 1)
    assert [cells[0] for cells in again.rows].count(TICKED_BOX) == 1
    assert again.notes[-1].id == "pick_list.ticked"
    file = {"file": "aisle-pick-batch.txt", "count": 4, "why": "", "done": 1}
    verdict = hand.job.handle(turn.state, Rows("file_for_people", (file,), 1), CONTEXT).verdict
    assert verdict is not None
    assert (verdict.kind, verdict.text.id) == (GOOD, "pick_list.written")


def test_two_products_of_one_location_are_two_stops() -> None:
    orders = book()
    for number, product in (("4101", "P1"), ("4102", "P2")):
        (orders[number]["lines"][0]).update(product_number=product, preferred_location_code="A-1")
        orders[number]["lines"] = orders[number]["lines"][:1]
    hand = Hand(orders)
    hand.scan("4101")
    hand.scan("4102")
    round_ = Round(orders={number: orders[number]["lines"] for number in ("4101", "4102")})
    assert round_.verdict is not None
    assert hand.state.stop_count == dict(round_.verdict.text.args)["stops"] == 2


@pytest.mark.parametrize("said", [UnknownCode("5"), Scan((Match(PRODUCT, "5", "Five", code="5"),))])
def test_a_number_takes_the_next_open_orders_that_nobody_else_works_on(said: Event) -> None:
    orders = book()
    orders["4102"].update(is_claimed=True, claimed_by="bob")
    orders["4103"].update(is_claimed=True, claimed_by="ann")
    orders["4104"].update(is_claimed=True)
    hand = Hand(orders)
    hand.scan("4106")
    assert hand.feed(said) == "batch.added"
    assert hand.gathered == ["4106", "4101", "4103", "4105", "4107", "4108"]


def test_what_is_measured_stands_beside_the_pieces_of_a_round() -> None:
    orders = book(1)
    orders["4101"]["lines"].append(line(3, "CHEESE", Decimal("1.5"), allow_decimal=True, unit="kg"))
    hand = Hand(orders)
    hand.scan("4101")
    goods = GoodsSum(Decimal(1 + 2), (("kg", Decimal("1.5")),))
    assert dict(hand.view.lines[0].text.args)["goods"] == named_goods(goods)


def test_a_round_has_twenty_orders_at_most() -> None:
    hand = Hand()
    hand.feed(UnknownCode("99"))
    assert len(hand.gathered) == MAX_ORDERS
    assert hand.feed(UnknownCode("1")) == "batch.full"
    assert hand.scan("4130") == "batch.full"
    assert hand.gathered == list(book())[:MAX_ORDERS]


def test_nothing_is_left_to_take() -> None:
    hand = Hand(book(2))
    hand.feed(UnknownCode("2"))
    assert hand.feed(UnknownCode("3")) == "batch.none_left"


def test_one_is_taken_out_again_by_its_number_by_scanning_it_or_by_undo() -> None:
    hand = Hand()
    hand.feed(UnknownCode("4"))
    assert hand.feed(Command("t")) == "batch.prompt_remove"
    assert hand.job.accepts(hand.state).choices == 4
    assert [row[0].args[0][1] for row in hand.view.blocks[0].rows] == ["A", "B", "C", "D"]
    assert hand.feed(Choice(2)) == "batch.order_removed"
    assert hand.gathered == ["4101", "4103", "4104"]
    assert hand.scan("4103") == "batch.already_in_batch"
    assert hand.feed(Choice(1)) == "batch.order_removed"
    assert hand.feed(Command("u")) == "batch.order_removed"
    assert hand.gathered == ["4101"]
    hand.feed(Command("t"))
    assert hand.feed(Back()) == "session.dropped"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"is_rejected": True}, "pick.rejected"),
        ({"is_active": False}, "pick.handed_over_now"),
        ({"lines": []}, "pick.empty"),
        ({"lines": [line(1, "P1", 1, picked_quantity=1)]}, "pick.left_done"),
        ({"is_claimed": True, "claimed_by": "bob"}, "batch.claimed"),
        ({"is_claimed": True}, "batch.claimed_plain"),
    ],
)
def test_orders_that_cannot_be_picked_stay_out_and_say_why(change: dict[str, Any], told: str) -> None:
    orders = book(3)
    orders["4102"].update(change)
    hand = Hand(orders)
    hand.scan("4101")
    assert hand.scan("4102") == told
    assert hand.gathered == ["4101"]
    assert hand.scan("4999") == "pick.no_order"


def test_an_order_of_somebody_else_comes_in_when_that_is_meant() -> None:
    orders = book(3)
    orders["4102"].update(is_claimed=True, claimed_by="bob")
    hand = Hand(orders)
    hand.scan("4102")
    assert hand.feed(Choice(1)) == "batch.added"
    hand.feed(Command("g"))
    assert hand.start.args["sure"] == ["4102"]


def test_orders_claimed_together_get_a_choice_each() -> None:
    orders = book(4)
    hand = Hand(orders)
    for number in orders:
        hand.scan(number)
    for number in ("4101", "4103", "4104"):
        orders[number].update(is_claimed=True, claimed_by="bob")
    assert hand.feed(Changed("order", "")) == "batch.claimed"
    assert (hand.gathered, {way.key for way in hand.state.choices}) == (["4102"], {"4101", "4103", "4104"})
    first, second, left = (way.key for way in hand.state.choices)
    hand.feed(Choice(1))
    hand.feed(Choice(1))
    assert (hand.gathered, [way.key for way in hand.state.choices]) == (["4102", first, second], [left])
    hand.feed(Back())
    assert (hand.gathered, hand.state.choices) == (["4102", first, second], ())


def test_batch_claimed_by_others_asks_up_to_available_letters() -> None:
    orders = book(MAX_ORDERS)
    hand = Hand(orders)
    for number in orders:
        hand.scan(number)
        orders[number].update(is_claimed=True, claimed_by="bob")
    hand.feed(Changed("order", ""))
    for left in range(MAX_ORDERS, 0, -1):
        view = hand.job.view(hand.state)
        assert isinstance(view, DetailView)
        assert left - 1 <= len(view.choices) == len(view.choice_letters) <= left
        hand.feed(Choice(1))
    assert len(hand.gathered) == MAX_ORDERS


def test_a_code_after_an_order_is_that_of_its_tote() -> None:
    hand = Hand()
    assert hand.feed(UnknownCode("TOTE-1")) == "count.unknown"
    hand.scan("4101")
    assert hand.feed(UnknownCode("TOTE-1")) == "batch.tote"
    hand.scan("4102")
    assert hand.feed(Text("TOTE-1")) == "batch.tote_twice"
    assert hand.feed(Text("tote-1")) == "batch.tote_twice"
    hand.feed(Text("TOTE-2"))
    hand.feed(Command("g"))
    assert hand.start.args["totes"] == {"4101": "TOTE-1", "4102": "TOTE-2"}


def test_a_letter_of_the_round_stands_on_its_own_tote_alone() -> None:
    """Else the screen would send goods to `B` that lie in another tote on which there is a B."""
    hand = Hand()
    hand.scan("4101")
    assert hand.feed(UnknownCode("B")) == "count.unknown", "the next order has it"
    hand.scan("4102")
    assert hand.feed(UnknownCode("A")) == "batch.tote_twice"
    assert hand.feed(UnknownCode("B")) == "batch.tote"
    assert [each.tote_code for each in hand.state.orders] == ["", ""], "letters are given anew where one is taken out"
    assert hand.feed(UnknownCode("X")) == "batch.tote", "no round has so many"
    assert hand.state.orders[1].tote_code == "X"


@pytest.mark.parametrize("event", [UnknownCode, Text])
@pytest.mark.parametrize("code", ["TOTE-2", "NL-000123", "T0045", "KIST7", "00012345", "X12"])
def test_another_label_replaces_that_of_a_tote_only_when_confirmed(event: Any, code: str) -> None:
    hand = Hand()
    hand.scan("4101")
    assert hand.feed(UnknownCode("TOTE-1")) == "batch.tote"
    assert hand.feed(event("TOTE-1")) == "batch.tote", "the same again says so again"
    assert hand.feed(event(code)) == "batch.replace_label"
    assert hand.verdict
    assert hand.verdict.kind == ASK
    assert dict(hand.verdict.text.args) == {"tote": "A", "old": "TOTE-1", "code": code, "order": "4101"}
    assert hand.state.orders[0].tote_code == "TOTE-1"
    assert hand.view.choice_letters == "y"
    hand.feed(Back())
    assert hand.state.orders[0].tote_code == "TOTE-1"
    hand.feed(event(code))
    assert hand.feed(Choice(1)) == "batch.tote"
    assert hand.state.orders[0].tote_code == code


def test_a_label_in_question_is_not_that_of_an_order_that_was_handed_over_meanwhile() -> None:
    hand = Hand()
    hand.scan("4101")
    hand.feed(UnknownCode("TOTE-1"))
    hand.feed(UnknownCode("TOTE-2"))
    hand.given = [{"order_number": "4105", "by": "Ben"}]
    hand.feed(Changed("outbox", ""))
    hand.feed(Choice(1))
    assert [each.tote_code for each in hand.state.orders] == ["TOTE-1", ""]


@pytest.mark.parametrize(
    "code",
    [
        "9520O01100024",
        "95200X110024",
        "95200?11",
        pytest.param("A9520001100024", marks=pytest.mark.drawn),
        "010952000110002O10LOT7",
        "0109520001100024\x1d3012",
        "(01)0952000110002X",
        "003400000000000000O7",
        "https://shop.example/01/09520001100024",
        "WIFI:S:shop;T:WPA;P:x1;;",
        "WIFI:S:shop",
        "www.shop.example",
        "tel:+4930123456",
        "\ufffd1234567",
        "12*ABC45678",
    ],
)
@pytest.mark.parametrize("label", ["", "TOTE-1"])
def test_a_damaged_barcode_is_no_label(label: str, code: str) -> None:
    hand = Hand()
    hand.scan("4101")
    if label:
        hand.feed(UnknownCode(label))
    assert hand.feed(UnknownCode(code)) == "batch.no_label"
    assert hand.state.orders[0].tote_code == label
    assert not hand.state.choices


@pytest.mark.parametrize(
    "code", ["TOTE-1", "2024-00017", "K95200011", "95200011K", "8003095200011000241A", "RED 1", "ÄB-1"]
)
def test_a_first_label_is_taken(code: str) -> None:
    hand = Hand()
    hand.scan("4101")
    assert hand.feed(UnknownCode(code)) == "batch.tote"


def test_order_like_code_is_tote_only_when_confirmed() -> None:
    hand = Hand()
    hand.scan("4101")
    assert hand.feed(UnknownCode("5000")) == "batch.looks_like_order"
    assert hand.state.orders[0].tote_code == ""
    hand.feed(Back())
    assert hand.state.choices == ()
    hand.feed(Text("5000"))
    assert hand.feed(Choice(1)) == "batch.tote"
    assert hand.state.orders[0].tote_code == "5000"


def test_other_things_say_what_they_are() -> None:
    hand = Hand()
    assert hand.scan("P1234", PRODUCT) == "page.not_this"
    hand.feed(Choice(1))
    assert hand.effects[-1] == Start("look_up", {"product_number": "P1234"})
    assert hand.scan("A-1", LOCATION) == "page.not_this"
    assert hand.scan("bob", PERSON) == "page.not_this"


def test_back_drops_several_orders_only_when_it_is_meant() -> None:
    hand = Hand()
    hand.feed(UnknownCode("3"))
    assert hand.feed(Back()) == "batch.leave"
    assert hand.feed(Back()) == "session.dropped"
    hand.feed(Back())
    hand.feed(Choice(1))
    assert hand.start is None


def test_late_loaded_order_is_announced_and_can_start_earlier() -> None:
    orders = book(2)
    orders["4101"].update(lines_known=False, lines=None)
    hand = Hand(orders)
    assert hand.scan("4101") == "batch.order_loading"
    orders["4101"].update(book(2)["4101"])
    assert hand.feed(Changed("order", "4101")) == "batch.added"
    assert hand.feed(Resumed()) == ""
    assert hand.feed(Closed("look_up")) == ""


def test_pages_turn_by_letters_and_keys() -> None:
    hand = Hand()
    hand.feed(Command("n"))
    hand.feed(CursorKey("pagedown"))
    hand.feed(Command("p"))
    assert hand.view.page == 1


said = st.one_of(
    st.builds(
        lambda kind, key: Scan((Match(kind, key, key, Decimal(1), False, key),)),
        st.sampled_from([ORDER, REFERENCE, PRODUCT, LOCATION, PERSON]),
        st.sampled_from(["4101", "4102", "4103", "4104", "4109", "7", "9"]),
    ),
    st.builds(UnknownCode, st.sampled_from(["1", "3", "20", "99", "0", "TOTE", "47110815"])),
    st.builds(Choice, st.integers(1, 5)),
    st.builds(Command, st.sampled_from("tunpz")),
    st.builds(Changed, st.just("order"), st.sampled_from(["", "4101"])),
    st.just(Resumed()),
    st.just(Back()),
)


@given(st.lists(said, max_size=30))
def test_no_sequence_raises_doubles_an_order_or_leaves_no_way_on(sequence: list[Event]) -> None:
    orders = book(12)
    orders["4103"].update(is_claimed=True, claimed_by="bob")
    orders["4104"].update(is_rejected=True)
    hand = Hand(orders)
    for event in sequence:
        if any(isinstance(effect, Close | Start) for effect in hand.effects):
            break
        hand.feed(event)
        assert len(set(hand.gathered)) == len(hand.gathered) <= MAX_ORDERS
        assert "4104" not in hand.gathered
        assert hand.view.name == hand.job.step_name(hand.state)
        assert named_tuple_json.from_text(BatchState, named_tuple_json.to_text(hand.state)) == hand.state
        assert hand.verdict is None or hand.verdict.kind in (GOOD, WRONG, ASK, "info")
    for _ in range(3):
        if not isinstance(hand.effects[-1] if hand.effects else None, Close):
            hand.feed(Choice(1) if hand.state.choices and hand.state.choices[0].kind == "leave" else Back())
    assert any(isinstance(effect, Close) for effect in hand.effects)


def test_orders_of_another_walk_come_in_by_themselves_once() -> None:
    hand = Hand()
    hand.given = [{"order_number": "4103", "by": "Carla", "at": "2026-11-20T10:05:00.000Z"}]
    assert hand.feed(Changed("outbox", "")) == "batch.added"
    assert hand.gathered == ["4103"]
    hand.feed(Command("u"))
    hand.feed(Changed("outbox", ""))
    assert hand.gathered == []


def test_assigned_orders_without_free_tote_are_added_later() -> None:
    orders = book()
    hand = Hand({f"{number}": orders["4103"] | {"order_number": f"{number}"} for number in range(1, MAX_ORDERS + 3)})
    hand.given = [{"order_number": order, "by": by} for order, by in zip(hand.orders, cycle("AB"), strict=False)]
    hand.scan("1")
    hand.feed(Changed("outbox", ""))
    assert len(hand.gathered) == MAX_ORDERS
    hand.feed(Command("u"))
    hand.feed(Changed("outbox", ""))
    assert hand.gathered[-1] == str(MAX_ORDERS + 1)


@pytest.mark.parametrize("count", ["1", "2", "9", "12"])
@pytest.mark.parametrize("code", ["5000", "99999", "7"])
def test_a_number_while_something_is_asked_is_asked_back(count: str, code: str) -> None:
    hand = Hand()
    hand.scan("4101")
    hand.scan("4102")
    if code == "7":
        hand.scan("4101")
    else:
        hand.feed(UnknownCode(code))
    asked = hand.state.choices
    assert asked
    assert hand.feed(UnknownCode(count)) == "batch.confirm_count"
    assert len(hand.state.orders) == 2, "no order came in"
    assert hand.state.choices[: len(asked)] == asked, "what was asked keeps its letters"
    hand.feed(Choice(len(asked) + 1))
    assert len(hand.state.orders) == 2 + min(int(count), MAX_ORDERS - 2)
    assert hand.state.choices == asked, "it is still to be answered"


def test_the_last_number_beside_a_question_is_the_one_that_is_asked() -> None:
    hand = Hand()
    hand.scan("4101")
    hand.feed(UnknownCode("5000"))
    hand.feed(UnknownCode("9"))
    hand.feed(UnknownCode("2"))
    assert [(way.kind, way.key) for way in hand.state.choices] == [("is_tote", "5000"), ("many", "2")]
    assert hand.feed(Choice(1)) == "batch.tote"
    assert (len(hand.state.orders), hand.state.choices) == (1, ())
