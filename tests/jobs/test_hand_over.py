"""Hand-over by itself: no terminal, no file, no network."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle import named_tuple_json
from aisle.jobs.hand_over.hand_over_state_and_writes import HandOverState
from aisle.jobs.hand_over.job import HandOverJob
from aisle.jobs.job import Changed, Close, Context, Event, Opened, Policy, Query, Rows, Write
from aisle.jobs.names_in_messages import at_location
from aisle.jobs.view import msg
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, PRODUCT, Back, Choice, Command, Match, Quantity, Scan
from tests.run_length import tries

Row = dict[str, Any]

LATER = "2026-11-30T10:05:00Z"


class World:
    """A service of one order: stock by product and location, goods of its lines by location, "" for in hand."""

    def __init__(self) -> None:
        self.order: Row = {"order_number": "O1", "customer_name": "Ann Lee", "is_active": True, "is_rejected": False}
        self.ordered = {1: ("P1", Decimal(2)), 2: ("P2", Decimal(3)), 3: ("P3", Decimal(1)), 4: ("P4", Decimal(2))}
        self.closed = {1, 2, 3}
        self.held = {(1, "PU-1"): Decimal(2), (2, "PU-1"): Decimal(1), (2, "PU-2"): Decimal(1), (2, ""): Decimal(1)}
        self.held[3, ""] = Decimal(1)
        self.stock = {(f"P{n}", "A-1"): Decimal(5) for n in range(1, 5)}
        self.gone: dict[str, Decimal] = {}
        self.units: dict[int, str] = {}
        self.locations = [{"location_code": "A-1"}]
        """Locations of each product, as far as they are known."""

    def picked(self, line: int) -> Decimal:
        return sum((quantity for (each, _), quantity in self.held.items() if each == line), Decimal(0))

    def sums(self) -> dict[str, Decimal]:
        """Quantity of each product, wherever it is."""
        found: dict[str, Decimal] = dict(self.gone)
        for (line, _), quantity in self.held.items():
            product = self.ordered[line][0]
            found[product] = found.get(product, Decimal(0)) + quantity
        for (product, _), quantity in self.stock.items():
            found[product] = found.get(product, Decimal(0)) + quantity
        return found

    def figures(self) -> tuple[Any, ...]:
        """All that an undo restores."""
        held, stock = ({key: each for key, each in of.items() if each} for of in (self.held, self.stock))
        return held, stock, set(self.closed)

    def row(self) -> Row:
        lines = [self._line(line, product, ordered) for line, (product, ordered) in self.ordered.items()]
        picked = sum((each["picked_quantity"] for each in lines), Decimal(0))
        return {**self.order, "is_picked": len(self.closed) == 4, "picked_quantity": picked, "lines": lines}

    def _line(self, line: int, product: str, ordered: Decimal) -> Row:
        put_down = [
            {"location_code": place, "quantity": quantity}
            for (each, place), quantity in self.held.items()
            if each == line and place and quantity
        ]
        return {
            "line_number": line, "product_number": product, "description": f"Product {product}", "quantity": ordered,
            "picked_quantity": self.picked(line), "is_picked": line in self.closed, "put_down": put_down,
            "locations": self.locations, "preferred_location_code": None,
            "unit": self.units.get(line, ""), "allow_decimal": line in self.units,
        }  # fmt: skip

    def apply(self, write: Write) -> None:
        if write.operation == "create-movement":
            for item in write.body:
                self._add(item["product_number"], item["from_location"], -item["quantity"])
                self._add(item["product_number"], item["to_location"], item["quantity"])
            return
        body = write.body["orders"]
        for line in body.get("order_lines", ()):
            number, change = line["line_number"], line["picked_quantity"] - line["base_picked_quantity"]
            self._change(self.held, (number, ""), change)
            self._change(self.stock, (line["product_number"], line.get("preferred_location_code", "A-1")), -change)
            (self.closed.add if line["is_picked"] else self.closed.discard)(number)
            assert line["picked_quantity"] == self.picked(number)
        if not body.get("is_active", True):
            self.order["is_active"] = False
            for (line, _), quantity in self.held.items():
                self._change(self.gone, self.ordered[line][0], quantity)
            self.held.clear()

    def _add(self, product: str, end: Row, quantity: Decimal) -> None:
        line = end.get("customer_order_line_number")
        key = (line, end.get("location_code", "")) if line else (product, end.get("location_code", ""))
        self._change(self.held if line else self.stock, key, quantity)

    @staticmethod
    def _change(of: dict[Any, Decimal], key: Any, quantity: Decimal) -> None:
        of[key] = of.get(key, Decimal(0)) + quantity
        assert of[key] >= 0, key


class Hand:
    """Somebody at the counter, with a service that takes everything at once."""

    def __init__(self, policy: Policy | None = None, *, opened: Row | None = None, features: tuple[str, ...] = ("x",)):
        self.context = Context(store="0001", user="ann", now="2026-11-30T10:00:00Z", policy=policy or Policy())
        self.job, self.world, self.features = HandOverJob(), World(), features
        self.state: HandOverState = self.job.begin()
        self.effects: list[Any] = []
        self.writes: list[Write] = []
        self.refused: list[Row] = []
        self.told = msg("session.dropped")
        self.feed(Opened(opened or {}))

    def feed(self, *events: Event) -> str:
        """The message id of the last verdict that these events lead to."""
        said, self.effects = "", []
        queue = deque(events)
        while queue:
            turn = self.job.handle(self.state, queue.popleft(), self.context)
            self.state, said = turn.state, turn.verdict.text.id if turn.verdict else said
            self.told = turn.verdict.text if turn.verdict else self.told
            self.effects += turn.effects
            writes = [each for each in turn.effects if isinstance(each, Write)]
            self.writes += writes
            for write in writes:
                assert not write.needs_supervisor
                self.world.apply(write)
            queue.extendleft([Changed("outbox", "")] * bool(writes))
            queue.extendleft(self._answer(each) for each in turn.effects if isinstance(each, Query))
            assert self.job.view(self.state).name == self.job.step_name(self.state) in self.job.steps
            assert named_tuple_json.from_text(HandOverState, named_tuple_json.to_text(self.state)) == self.state
        return said

    def _answer(self, query: Query) -> Rows:
        row = self.world.row()
        if query.name == "order":
            return Rows(query.id, (row,) if query.args["order_number"] == "O1" else (), 1)
        if query.name == "features":
            return Rows(query.id, ({"features": self.features},), 1)
        if query.name == "refused_operations":
            return Rows(query.id, tuple(self.refused), len(self.refused))
        board = {**row, "status": "partial", "put_down_at": ["PU-1"], "short": 0, "seen_at": "", "pickup_date": ""}
        words, is_listed = str(query.args["search"]).casefold(), self.world.order["is_active"]
        found = (board,) if is_listed and "partial" in query.args["status"] and words in "o1 ann lee" else ()
        return Rows(query.id, found, len(found))

    def scan(self, key: str, kind: str = PRODUCT) -> str:
        return self.feed(Scan((Match(kind, key, key, code=key),)))

    def later(self) -> None:
        """The goods are fetched."""
        self.context = self.context._replace(now=LATER)

    def after(self, seconds: float) -> None:
        """Time goes on."""
        now = datetime.fromisoformat(self.context.now) + timedelta(seconds=seconds)
        self.context = self.context._replace(now=now.isoformat())

    def label(self, weight: str) -> str:
        """The label of a weighed product is scanned."""
        return self.feed(Scan((Match(PRODUCT, "P1", "P1", Decimal(weight), is_explicit=True, code="P1"),)))

    @property
    def step(self) -> str:
        return self.job.step_name(self.state)


@pytest.mark.parametrize(("key", "kind"), [("O1", ORDER), ("PU-1", LOCATION), ("PU-2", LOCATION)])
def test_two_scans_hand_an_order_over(key: str, kind: str) -> None:
    hand = Hand()
    hand.world.closed.add(4)
    hand.scan("O1", ORDER)
    assert (hand.step, hand.writes) == ("hand_over.order", [])
    hand.later()
    assert hand.scan(key, kind) == "hand_over.done"
    (write,) = hand.writes
    assert write.body == {"orders": {"order_number": "O1", "is_active": False}}
    assert hand.step == "hand_over"
    assert hand.feed(Command("u")) == "hand_over.no_undo"
    assert len(hand.writes) == 1


@pytest.mark.parametrize("pause", [0, 0.5, 1, 1.5, 2, 2.9])
def test_a_label_that_is_read_on_and_on_hands_nothing_over(pause: float) -> None:
    hand = Hand()
    hand.world.closed.add(4)
    hand.scan("O1", ORDER)
    for _ in range(10):
        hand.after(pause)
        assert hand.scan("O1", ORDER) == "hand_over.scan_again"
    assert (hand.step, hand.writes) == ("hand_over.order", [])
    hand.after(3)
    assert hand.scan("O1", ORDER) == "hand_over.done"


def test_reads_at_a_question_begin_the_guard_time_again() -> None:
    hand = Hand()
    hand.scan("O1", ORDER)
    hand.feed(Choice(2))
    hand.after(10)
    hand.scan("O1", ORDER)
    hand.feed(Back())
    hand.after(1)
    assert hand.scan("O1", ORDER) == "hand_over.scan_again"


@pytest.mark.parametrize(("key", "kind"), [("O1", ORDER), ("PU-1", LOCATION)])
def test_reads_that_go_on_after_the_hand_over_open_nothing(key: str, kind: str) -> None:
    hand = Hand()
    hand.world.closed.add(4)
    hand.scan("O1", ORDER)
    hand.later()
    hand.scan(key, kind)
    for _ in range(3):
        hand.after(2)
        assert (hand.scan(key, kind), hand.step) == ("pick.handed_over_now", "hand_over")


@pytest.mark.parametrize(
    ("key", "kind", "said"),
    [
        ("A-1", LOCATION, "pick.put_down"),
        ("P9", PRODUCT, "pick.not_here"),
        ("P4", PRODUCT, "pick.not_here"),
        ("O2", ORDER, "hand_over.left"),
    ],
)
def test_other_scans_hand_nothing_over(key: str, kind: str, said: str) -> None:
    hand = Hand()
    hand.scan("O1", ORDER)
    hand.later()
    assert hand.scan(key, kind) == said
    assert hand.writes == []


def test_missing_goods_are_asked_about_first() -> None:
    hand = Hand()
    hand.scan("O1", ORDER)
    hand.feed(Choice(1))
    assert hand.step == "hand_over.confirm"
    assert hand.scan("O1", ORDER) == "count.answer_first"
    assert (hand.feed(Choice(2)), hand.writes) == ("session.dropped", [])
    assert hand.feed(Choice(1), Choice(1)) == "hand_over.done"


def test_goods_are_checked_if_the_store_wants_it() -> None:
    hand = Hand(Policy(check_hand_over=True))
    hand.world.closed.add(4)
    hand.scan("O1", ORDER)
    hand.later()
    assert [hand.scan(key) for key in ("P1", "P1", "P1")] == [
        "hand_over.checked", "hand_over.checked", "hand_over.too_many"
    ]  # fmt: skip
    hand.scan("PU-1", LOCATION)
    assert (hand.step, hand.writes) == ("hand_over.confirm", [])
    hand.feed(Choice(2))
    assert hand.feed(Command("u")) == "hand_over.check_undone"
    said = [hand.scan(key) for key in ("P1", "P2", "P2", "P2", "P3")]
    assert said[-1] == "hand_over.all_checked"
    assert hand.scan("O1", ORDER) == "hand_over.done"


def test_who_has_begun_to_scan_is_asked_about_the_rest() -> None:
    hand = Hand()
    hand.world.closed.add(4)
    hand.scan("O1", ORDER)
    hand.scan("P1")
    assert hand.scan("PU-1", LOCATION) == ""
    assert (hand.step, hand.writes) == ("hand_over.confirm", [])
    assert (hand.scan("P2"), hand.step) == ("hand_over.checked", "hand_over.order"), "they were asked for"
    hand.feed(Command("u"), Command("u"))
    assert hand.scan("PU-1", LOCATION) == "hand_over.done", "no scan is left"


def test_a_weighed_line_is_checked_by_the_weights_of_its_labels() -> None:
    hand = Hand(Policy(check_hand_over=True))
    hand.world.ordered = {1: ("P1", Decimal("1.5"))}
    hand.world.held = {(1, "PU-1"): Decimal("1.5")}
    hand.world.units = {1: "kg"}
    hand.scan("O1", ORDER)
    said = [hand.label(weight) for weight in ("0.7", "0.9", "0.8")]
    assert said == ["hand_over.checked", "hand_over.too_many", "hand_over.all_checked"]


@pytest.mark.parametrize("choices", [(Choice(1),), (Choice(2),), (Choice(2), Choice(2)), (Choice(2), Choice(1))])
def test_undo_at_a_question_drops_it(choices: tuple[Choice, ...]) -> None:
    hand = Hand()
    hand.scan("O1", ORDER)
    hand.feed(*choices)
    assert hand.step != "hand_over.order"
    assert (hand.feed(Command("u")), hand.step, hand.writes) == ("session.dropped", "hand_over.order", [])
    assert hand.job.accepts(HandOverState(step="quantity", order="O1")).command_letters == "u"


def test_what_the_customer_does_not_want_goes_back_and_the_rest_is_handed_over() -> None:
    hand = Hand()
    before, sums = hand.world.figures(), hand.world.sums()
    hand.scan("O1", ORDER)
    hand.feed(Choice(2))
    assert hand.step == "hand_over.goods"
    hand.scan("P2")
    assert hand.feed(Quantity(Decimal(4), "4")) == "hand_over.too_many"
    hand.feed(Quantity(Decimal(2), "2"))
    assert hand.step == "hand_over.location"
    assert hand.scan("P2") == "count.answer_first"
    assert hand.scan("A-2", LOCATION) == "hand_over.put_back"
    assert hand.world.stock["P2", "A-2"] == 2
    assert hand.world.picked(2) == 1
    assert hand.feed(Command("u")) == "hand_over.put_back_undone"
    assert hand.world.figures()[:2] == before[:2]
    hand.feed(Choice(2), Choice(3))
    assert (hand.step, hand.world.picked(3)) == ("hand_over.location", Decimal(1))
    assert hand.scan("A-2", LOCATION) == "hand_over.put_back"
    assert hand.world.picked(3) == 0
    hand.world.closed.add(4)
    hand.later()
    assert hand.feed(Changed("order", "O1"), Scan((Match(LOCATION, "PU-1", "PU-1", code="PU-1"),))) == "hand_over.done"
    assert hand.world.gone == {"P1": 2, "P2": 3, "P3": 0}
    assert hand.world.sums() == sums


def test_goods_put_down_and_in_hand_go_back_to_the_named_location_and_are_taken_from_there_again() -> None:
    hand = Hand()
    before = hand.world.figures()
    hand.scan("O1", ORDER)
    hand.feed(Choice(2))
    hand.scan("P2")
    hand.feed(Quantity(Decimal(3), "3"))
    assert hand.scan("A-2", LOCATION) == "hand_over.put_back"
    assert hand.world.stock["P2", "A-2"] == 3
    assert hand.world.stock["P2", "A-1"] == 5
    assert hand.feed(Command("u")) == "hand_over.put_back_undone"
    assert hand.world.figures()[:2] == before[:2]


@pytest.mark.parametrize("location", ["A-1", "A-2"])
def test_goods_that_were_never_put_down_go_back_to_a_location_that_is_named(location: str) -> None:
    hand = Hand()
    before = hand.world.figures()
    hand.scan("O1", ORDER)
    hand.feed(Choice(2), Choice(3))
    hand.feed(Choice(1)) if location == "A-1" else hand.scan(location, LOCATION)
    assert dict(hand.told.args)["place"] == at_location(location)
    assert hand.world.stock["P3", location] == (6 if location == "A-1" else 1)
    assert hand.feed(Command("u")) == "hand_over.put_back_undone"
    assert hand.world.figures()[:2] == before[:2]


def test_goods_without_a_known_location_go_back_unasked() -> None:
    hand = Hand()
    hand.world.locations = []
    hand.scan("O1", ORDER)
    assert hand.feed(Choice(2), Choice(3)) == "hand_over.put_back"
    assert hand.world.picked(3) == 0


def test_a_job_opened_for_an_order_closes_with_it() -> None:
    hand = Hand(opened={"order_number": "O1"})
    assert hand.feed(Back()) == ""
    (close,) = (each for each in hand.effects if isinstance(each, Close))
    assert close.verdict
    assert close.verdict.text.id == "hand_over.left"


@pytest.mark.parametrize(
    ("search", "features", "said"),
    [
        ("lee", (), "order.title"),
        ("zoe", (), "hand_over.nobody"),
        ("06 1234 5678", (), "hand_over.no_phones"),
        ("06 1234 5678", ("x",), "hand_over.nobody"),
    ],
)
def test_a_search_says_what_this_service_cannot_know(search: str, features: tuple[str, ...], said: str) -> None:
    hand = Hand(features=features)
    assert hand.job.page(hand.state).handle_text(hand.state, search, hand.context).effects
    turn = hand.job.page(hand.state).handle_text(hand.state, search, hand.context)
    hand.state = turn.state
    assert hand.feed(hand._answer(next(each for each in turn.effects if isinstance(each, Query)))) == said
    assert (hand.step == "hand_over.order") == (said == "order.title")


def test_a_refused_hand_over_is_reported_once() -> None:
    hand = Hand()
    body = {"orders": {"order_number": "O1", "is_active": False}}
    hand.refused = [
        {"op_id": "1", "user": "ann", "why": "no", "body": {"orders": {"order_number": "O1", "is_claimed": True}}},
        {"op_id": "2", "user": "ben", "why": "no", "body": body},
        {"op_id": "3", "user": "ann", "why": "no", "body": body},
    ]
    assert hand.feed(Changed("refusal", "")) == "hand_over.refused"
    assert hand.feed(Changed("refusal", "")) == ""
    assert hand.state.reported_refusals == ("3",)


def test_refused_put_back_is_reported_once_and_not_undone() -> None:
    hand = Hand()
    hand.scan("O1", ORDER)
    hand.feed(Choice(2))
    hand.scan("P2")
    hand.feed(Quantity(Decimal(2), "2"))
    assert hand.scan("A-2", LOCATION) == "hand_over.put_back"
    write = hand.writes[-1]
    row = {"op_id": "1", "user": "ann", "why": "no", "label": "P1", "body": write.body}
    hand.refused = [{**row, "op_id": "2", "user": "ben"}]
    assert hand.feed(Changed("refusal", "")) == ""
    hand.refused = [row]
    assert hand.feed(Changed("refusal", "")) == "receive.refused"
    assert hand.feed(Changed("refusal", "")) == ""
    assert not hand.job.can_undo(hand.state)


def test_who_has_the_order_open_is_told_that_somebody_else_gave_it_away() -> None:
    hand = Hand()
    hand.scan("O1", ORDER)
    hand.world.order["is_active"] = False
    assert hand.feed(Changed("order", "O1")) == "pick.handed_over_now"
    assert hand.feed(Changed("order", "O1")) == ""


def test_no_sequence_loses_goods_and_undo_restores_them() -> None:
    events: list[Event] = [
        *(Choice(n) for n in range(1, 5)),
        *(Scan((Match(PRODUCT, f"P{n}", f"P{n}", code=f"P{n}"),)) for n in range(1, 5)),
        *(Scan((Match(LOCATION, code, code, code=code),)) for code in ("PU-1", "A-1", "A-2")),
        Scan((Match(ORDER, "O1", "O1", code="O1"),)),
        *(Quantity(Decimal(n), str(n)) for n in (1, 2, 3)),
        Back(),
        Command("u"),
    ]
    for seed in range(tries(60, 1500)):
        random, hand = Random(seed), Hand(Policy(check_hand_over=seed % 3 == 0))
        before, sums = hand.world.figures(), hand.world.sums()
        for _ in range(30):
            hand.feed(random.choice(events))
            hand.later()
            assert hand.world.sums() == sums, seed
        while hand.world.order["is_active"] and hand.job.can_undo(hand.state):
            hand.state = hand.state._replace(step="order", order="O1") if hand.step == "hand_over" else hand.state
            hand.feed(Back()) if hand.step not in ("hand_over", "hand_over.order") else hand.feed(Command("u"))
        if hand.world.order["is_active"]:
            assert hand.world.figures() == before, seed
