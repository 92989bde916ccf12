"""A clearance by itself: who may, what is chosen, what confirms, what is told of its end, and the goods it moves."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs import JOBS
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Opened,
    Query,
    RawInput,
    Request,
    Requested,
    Rows,
    Start,
    Write,
)
from aisle.jobs.move.clearance_tasks import ClearanceTasksJob
from aisle.jobs.move.job import MoveJob
from aisle.jobs.move.move_state_and_rows import ASSIGNMENT_PREFIX
from aisle.jobs.shell.pin import MIN_TYPED_PACE_MS, is_typed
from aisle.jobs.supervisor.request_clearance_by_location_tag import ClearanceJob, ClearanceRequestJob
from aisle.jobs.view import DetailView
from aisle.named_tuple_json import from_text, to_text
from aisle.scan.decoder import Decoder
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    PRODUCT,
    Back,
    Choice,
    Command,
    Match,
    Quantity,
    Scan,
    Text,
    UnknownCode,
)
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.job_context_and_query_answers import raw_input

CONTEXT = Context(store="0001", user="U6", now="2026-11-20T10:00:00Z")
WHO = {"is_known": True, "people": True, "listed": True, "role": "supervisor"}
TASK = {
    "id": "7",
    "product_number": "P1",
    "label": "Cola",
    "location_code": "BR-01",
    "quantity": Decimal(6),
    "order_number": "O1",
    "line_number": 2,
    "tag": "backroom",
    "since": "2026-11-20T09:00:00Z",
}


class Hand:
    """Somebody at one of the pages; `rows` are the answers to its queries by their names."""

    def __init__(self, name: str, args: Mapping[str, Any] | None = None, **rows: Any) -> None:
        self.job = JOBS[name]
        self.state = self.job.begin()
        self.rows: dict[str, list[dict[str, Any]]] = {
            "clearance_permission": [WHO],
            "tags": [{"tag": "backroom", "locations": 8}, {"tag": "cold", "locations": 3}],
            "held_by_category": [
                {"category_code": code, "lines": 2, "quantity": Decimal(5)} for code in ("110", "120")
            ],
            "assignments": [TASK],
            **rows,
        }
        self.effects: list[Any] = []
        self.told = ""
        self.feed(Opened(args or {}))

    def feed(self, event: Event) -> str:
        """One event and its answers; what was said."""
        self.effects, self.told = [], ""
        queue: deque[Event] = deque([event])
        while queue:
            turn = self.job.handle(self.state, queue.popleft(), CONTEXT)
            self.state = turn.state
            self.told = turn.verdict.text.id if turn.verdict else self.told
            for effect in turn.effects:
                self.effects.append(effect)
                if isinstance(effect, Query):
                    is_moved = effect.args.get("operation", "create-movement") == "create-movement"
                    rows = self.rows.get(effect.name, []) if is_moved else []
                    queue.append(Rows(effect.id, tuple(rows), len(rows)))
                elif isinstance(effect, Request):
                    queue.append(Requested("a1"))
        assert self.job.view(self.state).name == self.job.step_name(self.state) in self.job.steps
        assert from_text(type(self.state), to_text(self.state)) == self.state
        return self.told

    @property
    def page(self) -> Any:
        """What is on the screen."""
        return self.job.view(self.state)

    def of(self, kind: type) -> list[Any]:
        """The effects of this kind that followed from the last event."""
        return [effect for effect in self.effects if isinstance(effect, kind)]


def typed(text: str, pace_ms: int = 2 * MIN_TYPED_PACE_MS, **fields: Any) -> RawInput:
    """What a person types."""
    return RawInput(text, "cr", 9 * MIN_TYPED_PACE_MS, **{"meaning": UnknownCode(text), "pace_ms": pace_ms, **fields})


def test_a_tag_and_categories_are_chosen_typed_and_handed_on() -> None:
    hand = Hand("clearance")
    assert [row.key for row in hand.page.rows] == ["backroom", "cold"]
    assert hand.feed(Choice(1)) == "clearance.all"
    assert hand.feed(Choice(2)) == "clearance.some"
    hand.feed(Command("d"))
    (start,) = hand.of(Start)
    assert start == Start("clearance_request", {"tag": "backroom", "categories": ["120"], "lines": 2, "people": True})
    hand.feed(Closed("clearance_request"))
    assert [row.key for row in hand.page.rows] == ["110", "120"]
    hand.feed(Back())
    hand.feed(Text("COLD"))
    assert hand.state.tag == "cold"
    hand.feed(Command("d"))
    assert hand.of(Start)[0].args["categories"] == []


def test_category_is_a_known_one_or_typed_when_none_is_known() -> None:
    hand = Hand("clearance")
    assert hand.feed(UnknownCode("96385074")) == "clearance.not_this"
    hand.feed(Choice(1))
    assert hand.feed(UnknownCode("96385074")) == "clearance.not_this"
    for said in (UnknownCode("310"), Text("dairy")):
        assert hand.feed(said) == "clearance.no_such"
    assert hand.state.chosen == ()
    assert hand.feed(UnknownCode("110")) == "clearance.some"
    bare = Hand("clearance", held_by_category=[])
    bare.feed(Choice(1))
    assert bare.feed(UnknownCode("96385074")) == "clearance.not_this"
    assert bare.feed(UnknownCode("1")) == "input.no_choice"
    assert not bare.state.chosen
    assert bare.feed(Text("310")) == "clearance.some"
    bare.feed(Closed("clearance_request"))
    assert [row.key for row in bare.page.rows] == ["310"], "what was typed stays"


@pytest.mark.parametrize("role", ["staff", "integration", ""])
def test_nobody_else_chooses_anything(role: str) -> None:
    hand = Hand("clearance", clearance_permission=[{**WHO, "role": role}])
    assert hand.page.rows == ()
    assert hand.page.empty.id == "clearance.role_denied"
    assert hand.feed(Text("backroom")) == "clearance.role_denied"
    assert hand.state.tag == ""


def test_without_service_no_choice_and_without_people_token_decides() -> None:
    unheard = Hand(
        "clearance", clearance_permission=[{"is_known": False, "people": False, "listed": False, "role": ""}]
    )
    assert unheard.feed(Text("backroom")) == "stores.loading"
    there = Hand("clearance", clearance_permission=[{"is_known": True, "people": False, "listed": False, "role": ""}])
    there.feed(Choice(1))
    there.feed(Command("d"))
    assert there.of(Start)[0].args["people"] is False


@pytest.mark.parametrize(
    ("heard", "told"),
    [
        (typed("backroo"), "clearance_request.prompt_confirm"),
        (typed("Backroom"), "clearance_request.prompt_confirm"),
        (typed("backroom", pace_ms=MIN_TYPED_PACE_MS - 1), "input.scan_not_accepted"),
        (typed("]Q0backroom"), "clearance_request.prompt_confirm"),
        (typed("backroom", dropped="\x02"), "input.scan_not_accepted"),
        (
            RawInput("backroom", "paste", 99, meaning=UnknownCode("backroom"), pace_ms=99),
            "input.scan_not_accepted",
        ),
        (
            RawInput("backroom", "tab", 99, meaning=UnknownCode("backroom"), pace_ms=99),
            "input.scan_not_accepted",
        ),
        (typed("1", meaning=Choice(1)), "clearance_request.prompt_confirm"),
        (typed("7391"), "clearance_request.prompt_confirm"),
        (typed("73o1"), "clearance_request.prompt_confirm"),
    ],
)
def test_only_the_typed_tag_confirms(heard: RawInput, told: str) -> None:
    hand = Hand("clearance_request", {"tag": "backroom"})
    assert hand.feed(heard) == told
    assert (hand.state.phase, hand.of(Request)) == ("confirm", [])


@pytest.mark.parametrize("people", [True, False])
@pytest.mark.parametrize(("tag", "wanted"), [("7", "7 7 7"), ("CC", "CC CC"), ("BIN", "BIN")])
def test_short_tag_is_confirmed_with_longer_typed_text(tag: str, wanted: str, people: bool) -> None:
    hand = Hand("clearance_request", {"tag": tag, "people": people})
    assert dict(hand.page.prompt.args)["tag"] == wanted
    if tag != wanted:
        assert hand.feed(typed(tag)) in ("clearance_request.prompt_confirm", "clearance_request.prompt_confirm")
    assert hand.feed(typed(wanted, pace_ms=0)) == "input.scan_not_accepted"
    assert (hand.state.phase, hand.of(Request)) == ("confirm", [])
    hand.feed(typed(wanted))
    assert hand.state.phase == "wait"


@pytest.mark.parametrize(
    ("pieces", "is_hand"),
    [
        ((("back", 0.15), ("room", 0.15)), False),
        ((("b", 0.2), ("ackroom", 0.2)), False),
        ((("backroom", 0.9),), False),
        ((("ba", 0.1), ("ck", 0.1), ("ro", 0.1), ("om", 0.1)), False),
        (tuple((key, 0.02) for key in "backroom"), False),
        (tuple((key, 0.12) for key in "backroom"), True),
        ((*((key, 0.12) for key in "backro"), ("om", 0.12)), True),
    ],
)
def test_a_scan_in_pieces_is_not_typed_whatever_lies_between_them(
    pieces: tuple[tuple[str, float], ...], is_hand: bool
) -> None:
    decoder, at = Decoder(), 1.0
    for text, pause in pieces:
        decoder.feed(text.encode(), at)
        at += pause
    (line,) = decoder.feed(b"\r", at + 0.3)
    assert isinstance(line, Line)
    assert is_typed(raw_input(line, UnknownCode("backroom"))) == is_hand


def test_what_may_be_a_pin_is_hidden_wherever_it_is_typed() -> None:
    hand = Hand("clearance_request", {"tag": "backroom"})
    assert hand.job.is_secret_text(hand.state, "7391")
    assert not hand.job.is_secret_text(hand.state, "backr")
    hand.state = hand.state._replace(phase="done", outcome="expired")
    assert hand.job.is_secret_text(hand.state, "7391")
    assert not hand.job.is_secret_text(hand.state, "2"), "a choice, which is told again after a death"
    hand.state = hand.state._replace(phase="confirm", tag="2024")
    assert not hand.job.is_secret_text(hand.state, "202")
    assert hand.job.is_secret_text(hand.state, "2025")


def asked(**rows: Any) -> Hand:
    """A clearance that is under way."""
    hand = Hand("clearance_request", {"tag": "backroom", "categories": ["110"], "lines": 2}, **rows)
    assert hand.feed(typed("backroom")) == "pin.asked"
    (ask,) = hand.of(Request)
    assert (ask.kind, ask.body) == ("clearance", {"tag": "backroom", "categories": ["110"]})
    assert (ask.needs_supervisor, ask.secret) == (True, ""), "the PIN is asked for by its own page"
    assert hand.state.phase == "wait"
    assert hand.job.is_secret(hand.state), "who mistyped it types it again"
    return hand


@pytest.mark.parametrize(
    ("state", "answer", "told", "how"),
    [
        ("answered", {"how": "done", "fresh": 1}, "clearance_request.new_tasks", "done"),
        ("answered", {"how": "done", "fresh": None}, "clearance_request.done", "done"),
        ("answered", {"how": "refused", "why": "No."}, "store_product.refused", "refused"),
        ("answered", {"how": "role", "why": ""}, "clearance_request.role_denied", "role"),
        ("answered", {"how": "not_sent", "why": "down"}, "clearance_request.not_sent", "not_sent"),
        ("expired", {}, "clearance_request.expired", "expired"),
        ("unknown", {}, "clearance_request.unknown", "unknown"),
    ],
)
def test_how_it_ended_is_told_and_what_was_made_is_shown(state: str, answer: Any, told: str, how: str) -> None:
    hand = asked(request_state=[{"state": "requested", "answer": {}}])
    assert hand.feed(Changed("outbox", "")) == ""
    assert hand.feed(typed("2468")) == "clearance_request.prompt_wait"
    hand.rows["request_state"] = [{"state": "started", "answer": {}}]
    hand.feed(Changed("outbox", ""))
    assert hand.state.is_running
    hand.rows["request_state"] = [{"state": state, "answer": answer}]
    assert hand.feed(Changed("outbox", "")) == told
    assert (hand.state.outcome, hand.state.lists_tasks, hand.state.total) == (how, True, 1)
    view = hand.page
    assert isinstance(view, DetailView)
    assert any(msg.args == (("text", "Cola"),) for block in view.blocks for row in block.rows for msg in row)
    assert len(view.choices) == (1 if how == "done" else 2)
    hand.feed(RawInput(meaning=Choice(1)))
    assert hand.of(Close) == [Close(start=Start("clearance_tasks", {"tag": "backroom"}))]


def test_expired_pin_is_asked_again_from_tag_step() -> None:
    hand = asked(request_state=[{"state": "answered", "answer": {"how": "pin", "why": ""}}])
    assert hand.feed(Changed("outbox", "")) == "clearance_request.pin_expired"
    assert hand.state.phase == "confirm"
    hand.rows["request_state"] = [{"state": "expired", "answer": {}}]
    hand.feed(typed("backroom"))
    hand.feed(Changed("outbox", ""))
    hand.feed(RawInput(meaning=Choice(2)))
    assert (hand.state.phase, hand.of(Request)) == ("confirm", [])


def test_leaving_while_it_is_under_way_takes_nothing_back() -> None:
    hand = asked(request_state=[{"state": "started", "answer": {}}])
    hand.feed(Back())
    (close,) = hand.of(Close)
    assert close.verdict.text.id == "clearance_request.continues"


def test_at_a_service_of_the_document_alone_it_cannot_be_listed() -> None:
    there = [{**WHO, "people": False, "listed": False}]
    hand = Hand("clearance_request", {"tag": "backroom", "people": False}, clearance_permission=there, assignments=[])
    hand.feed(typed("backroom"))
    assert hand.of(Request)[0].secret == ""
    hand.rows["request_state"] = [{"state": "unknown", "answer": {}}]
    hand.feed(Changed("outbox", ""))
    said = {msg.id for block in hand.page.blocks for row in block.rows for msg in row}
    assert {"clearance_tasks.unlisted", "clearance_request.find_out_there"} <= said


# The goods to be moved


def test_what_somebody_else_is_at_is_asked_about_before_it_is_taken() -> None:
    hand = Hand("clearance_tasks", {"tag": "backroom"}, assignments=[TASK | {"taken_user": "U2", "taken_by": "Ben"}])
    assert hand.feed(Choice(1)) == "clearance_tasks.taken_by_other"
    assert hand.of(Start) == []
    assert hand.feed(Choice(1)) == "clearance_tasks.started"
    (start,) = hand.of(Start)
    assert (start.job, start.args["task"]["id"]) == ("move", "7")
    mine = Hand("clearance_tasks", assignments=[TASK | {"taken_user": "U6", "taken_by": "Fred"}])
    assert mine.feed(Scan((Match(LOCATION, "BR-01"),))) == "clearance_tasks.started"
    assert mine.feed(Scan((Match(PRODUCT, "P9"),))) == "clearance_tasks.not_here"


@pytest.mark.parametrize("page", ["clearance_tasks", "home"])
def test_move_refused_after_job_end_is_reported_to_its_author(page: str) -> None:
    refused = {"op_id": "m1", "user": "U6", "why": "Only 0 of 300024 can be moved", "label": "Cola", "body": []}
    others = {**refused, "op_id": "m2", "user": "U7"}
    hand = Hand(page)
    assert hand.feed(Closed("move")) == ""
    hand.rows["refused_operations"] = [others]
    assert hand.feed(Changed("outbox", "")) == ""
    hand.rows["refused_operations"] = [refused, others]
    assert hand.feed(Changed("outbox", "")) == "receive.refused"
    assert hand.feed(Changed("outbox", "")) == "", "once"
    earlier = Hand(page, refused_operations=[refused])
    assert earlier.feed(Closed("move")) == "", "the move job has told it"
    assert earlier.feed(Changed("outbox", "")) == ""


def test_where_nothing_can_be_listed_it_is_said() -> None:
    hand = Hand("clearance_tasks", clearance_permission=[{**WHO, "listed": False}], assignments=[])
    assert hand.page.empty.id == "clearance_tasks.unlisted"
    assert Hand("clearance_tasks", assignments=[]).page.empty.id == "list.empty"


def moving() -> Hand:
    """The move job, opened for the assignment."""
    tasks = Hand("clearance_tasks")
    tasks.feed(Choice(1))
    return Hand("move", tasks.of(Start)[0].args, store=[{}], locations=[{}])


def scan(kind: str, key: str, **fields: Any) -> Scan:
    return Scan((Match(kind, key, key, code=key, **fields),))


def test_three_scans_move_what_was_assigned_and_the_job_closes() -> None:
    hand = moving()
    assert hand.job.orders_in_work(hand.state) == (f"{ASSIGNMENT_PREFIX}7",)
    assert hand.feed(scan(PRODUCT, "P1")) == "move.task_first"
    assert hand.feed(scan(LOCATION, "A-01")) == "move.task_location"
    assert hand.feed(scan(LOCATION, "br-01")) == "move.task_here"
    assert hand.feed(scan(PRODUCT, "P2")) == "move.task_product"
    assert hand.feed(scan(PRODUCT, "P1", quantity=Decimal(7), is_explicit=True)) == "move.not_so_many"
    assert hand.feed(scan(PRODUCT, "P1")) == "move.task_taken"
    assert hand.feed(scan(LOCATION, "A-01")) == "move.moved"
    (write,), (close,) = hand.of(Write), hand.of(Close)
    (item,) = write.body
    line = {"customer_order_number": "O1", "customer_order_line_number": 2}
    assert item["from_location"] == {"location_code": "BR-01", **line}
    assert item["to_location"] == {"location_code": "A-01"}
    assert (item["quantity"], close.verdict.text.id) == (6, "move.moved")


@pytest.mark.parametrize("location", ["BR-01", "br-01"])
def test_goods_of_a_task_do_not_stay_where_they_are_to_leave(location: str) -> None:
    hand = moving()
    hand.feed(scan(LOCATION, "BR-01"))
    hand.feed(scan(PRODUCT, "P1"))
    assert hand.feed(scan(LOCATION, location)) == "move.same_location"
    assert hand.of(Write) == []
    assert hand.feed(scan(LOCATION, "A-01")) == "move.moved"


def test_a_part_of_it_can_be_moved_and_taken_back() -> None:
    hand = moving()
    hand.feed(scan(LOCATION, "BR-01"))
    hand.feed(scan(PRODUCT, "P1"))
    assert hand.feed(Quantity(Decimal(2))) == "move.taken"
    hand.feed(Command("u"))
    hand.feed(Command("u"))
    assert (hand.state.in_hand, hand.of(Write)) == ((), [])


def left(hand: Hand, quantity: int | None) -> str:
    """What is said when so much is left of the task, or when that is unknown."""
    hand.rows["assignment_left"] = [] if quantity is None else [{"quantity": Decimal(quantity)}]
    return hand.feed(Changed("assignment", ""))


def test_an_open_task_follows_what_others_move() -> None:
    hand = moving()
    assert (left(hand, None), left(hand, 6)) == ("", "")
    assert left(hand, 4) == "move.task_here"
    assert Decimal(4) in [value for line in hand.page.lines for _, value in line.text.args]
    hand.feed(scan(LOCATION, "BR-01"))
    assert left(hand, 3) == "move.task_here"
    assert hand.feed(scan(PRODUCT, "P1", quantity=Decimal(4), is_explicit=True)) == "move.not_so_many"
    hand.feed(scan(PRODUCT, "P1"))
    assert [part.quantity for part in hand.state.in_hand] == [3]
    assert (left(hand, 5), left(hand, 3)) == ("", "")
    assert left(hand, 1) == "move.not_so_many", "more is in hand"


@pytest.mark.parametrize("is_started", [False, True])
def test_an_open_task_that_others_did_takes_no_goods(is_started: bool) -> None:
    hand = moving()
    if is_started:
        hand.feed(scan(LOCATION, "BR-01"))
    assert left(hand, 0) == "clearance_tasks.not_here"
    assert left(hand, 0) == ""
    assert hand.feed(scan(LOCATION, "BR-01")) == "clearance_tasks.not_here"
    assert hand.feed(scan(PRODUCT, "P1")) == "clearance_tasks.not_here"
    assert hand.state.in_hand == ()


def test_the_jobs_are_what_the_table_says() -> None:
    assert isinstance(JOBS["clearance"], ClearanceJob)
    assert isinstance(JOBS["clearance_request"], ClearanceRequestJob)
    assert isinstance(JOBS["clearance_tasks"], ClearanceTasksJob)
    assert isinstance(JOBS["move"], MoveJob)
