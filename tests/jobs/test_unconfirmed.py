"""The list of what is not settled: each entry with its ways out, and nothing decided without a person saying so."""

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import (
    ARRIVED,
    CLOSED_BY_HAND,
    RESEND,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Opened,
    Query,
    Refresh,
    Resolve,
    Rows,
    Start,
)
from aisle.jobs.pages_and_page_job import COUNT_ID
from aisle.jobs.supervisor.unconfirmed import UnconfirmedJob, UnconfirmedState
from aisle.jobs.view import ASK, GOOD, INFO, DetailView, ListView, Step, Verdict
from aisle.scan.grammar_and_meaning_types import ORDER, PRODUCT, Back, Choice, CursorKey, Match, Scan, Text, UnknownCode
from aisle.scan.inputs_and_line_grouping import CHIP_KEY
from aisle.tui.message_text import MessageWriter

JOB = UnconfirmedJob()


def row(op_id: str, word: str = "in_doubt", **fields: Any) -> dict[str, Any]:
    item = {"product_number": "P1", "label": "Cola", "quantity": Decimal(2), "line": None, "from": "A-1", "to": "B-1"}
    side = {"subject": "P1", "location": "A-1", "before": "12", "ours": "-2", "after": "10"}
    told: dict[str, Any] = {
        "op_id": op_id, "outcome": word, "asked": word in ("in_doubt", "refused"), "operation": "create-movement",
        "kind": "move", "user": "U1", "terminal": "t", "at": "2026-11-20T09:41:00Z", "why": "no", "tries": 1,
        "absence_final_at": 0.0, "verdict": "unreadable", "items": [item], "sides": [side], "evidence": "there",
        "ways": [ARRIVED, RESEND, CLOSED_BY_HAND] if word == "in_doubt" else [CLOSED_BY_HAND]
        if word == "refused" else [],
        "order": "", "location": "A-1", "product": "P1", "waits_for": "", "principal": "", "pin": "",
    }  # fmt: skip
    return {**told, **fields}


class Hand:
    """A person at the list."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        self.rows = rows
        self.state: UnconfirmedState = JOB.begin()
        self.effects: tuple[Effect, ...] = ()
        self.verdict: Verdict | None = None
        self.does(Opened({}))
        self.does(Rows("unconfirmed", rows, len(rows)))

    def does(self, *events: Event) -> "Hand":
        for event in events:
            turn = JOB.handle(self.state, event, Context())
            self.state, self.effects = turn.state, turn.effects
            self.verdict = turn.verdict or self.verdict
            for asked in [each for each in turn.effects if isinstance(each, Query) and each.id == "chosen"]:
                self.does(Rows("chosen", tuple(row for row in self.rows if row["op_id"] == asked.args["op_id"]), 1))
        return self

    @property
    def at(self) -> str:
        assert JOB.view(self.state).name == JOB.step_name(self.state)
        return JOB.step_name(self.state)

    def asked(self) -> list[str]:
        return [effect.name for effect in self.effects if isinstance(effect, Query)]

    def settles(self) -> list[Resolve]:
        return [effect for effect in self.effects if isinstance(effect, Resolve)]


def test_it_asks_for_the_list_and_shows_it() -> None:
    hand = Hand(row("A"), row("B", "refused"), row("C", "queued"))
    view = JOB.view(hand.state)
    assert isinstance(view, ListView)
    assert [cells.cells[0].id for cells in view.rows] == [
        "operation_state.in_doubt",
        "operation_state.refused",
        "operation_state.queued",
    ]
    hand.does(Changed("outbox", ""))
    assert hand.asked() == ["unconfirmed"]


def test_an_entry_says_what_both_sides_say_and_its_ways_out() -> None:
    hand = Hand(row("A")).does(Choice(1))
    view = JOB.view(hand.state)
    assert isinstance(view, DetailView)
    assert hand.at == "unconfirmed.entry"
    assert [choice.id for choice in view.choices] == [
        "unconfirmed.choice_arrived", "unconfirmed.choice_resend", "unconfirmed.choice_close_by_hand",
        "move.choice_count",
    ]  # fmt: skip
    assert dict(view.blocks[0].rows[0][1].args) == {"before": "12", "after": "10"}
    assert "unconfirmed.evidence_present" in [line.text.id for line in view.lines]
    assert not hand.settles(), "looking settles nothing"


@pytest.mark.parametrize(
    ("before", "ours", "after", "said"),
    [
        ("1.25", "-0.5", "0.75", ("1,25>0,75", "-0,5")),
        ("1.25", "+0.5", "1.75", ("1,25>1,75", "+0,5")),
        (None, "=0.5", None, ("?>?", "=0,5")),
        ("12", "+3", "15", ("12>15", "+3")),
    ],
)
def test_figures_are_written_as_the_language_writes_them(
    before: str | None, ours: str, after: str | None, said: tuple[str, str]
) -> None:
    side = {"subject": "P1", "location": "A-1", "before": before, "ours": ours, "after": after}
    view = JOB.view(Hand(row("A", sides=[side])).does(Choice(1)).state)
    assert isinstance(view, DetailView)
    assert tuple(MessageWriter(language="de").write(cell, 0) for cell in view.blocks[0].rows[0][1:]) == said


def test_it_arrived() -> None:
    hand = Hand(row("A"), row("B")).does(Choice(1), Choice(1))
    assert hand.settles() == [Resolve("A", ARRIVED)]
    assert Refresh("product", "P1") in hand.effects
    assert [operation["op_id"] for operation in hand.state.rows] == ["B"], "it is off the list at once"
    assert (hand.at, hand.verdict and hand.verdict.kind) == ("unconfirmed", GOOD)


def test_sending_again_is_asked_about() -> None:
    hand = Hand(row("A")).does(Choice(1), Choice(2))
    assert (hand.at, hand.settles(), hand.verdict and hand.verdict.kind) == ("unconfirmed.resend", [], ASK)
    hand.does(Choice(2))
    assert (hand.at, hand.settles()) == ("unconfirmed.entry", [])
    hand.does(Choice(2), Back())
    assert (hand.at, hand.settles()) == ("unconfirmed.entry", [])
    hand.does(Choice(2), Choice(1))
    assert hand.settles() == [Resolve("A", RESEND)]


@pytest.mark.parametrize(
    ("said", "note"), [(Choice(1), "counted"), (Choice(3), "nothing"), (Text("asked Ben"), "asked Ben")]
)
def test_what_is_settled_by_hand_says_how(said: Event, note: str) -> None:
    hand = Hand(row("A", "refused")).does(Choice(1), Choice(1))
    assert hand.at == "unconfirmed.close_by_hand"
    assert isinstance(JOB.view(hand.state), Step)
    hand.does(said)
    assert hand.settles() == [Resolve("A", CLOSED_BY_HAND, note)]


def test_the_place_can_be_counted_and_the_order_opened() -> None:
    hand = Hand(row("A", "refused", order="O1")).does(Choice(1), Choice(2))
    assert hand.effects == (Start("count", {"location_code": "A-1"}),)
    hand.does(Choice(3))
    assert hand.effects == (Start("pick", {"order_number": "O1", "view_only": True}),)
    hand.does(Closed("pick"))
    assert hand.asked() == ["unconfirmed", "unconfirmed"]
    assert hand.at == "unconfirmed.entry", "back where it was"


@pytest.mark.parametrize("word", ["queued", "sending", "confirmed"])
def test_what_goes_on_by_itself_offers_nothing(word: str) -> None:
    hand = Hand(row("A", word)).does(Choice(1))
    view = JOB.view(hand.state)
    assert isinstance(view, DetailView)
    assert view.choices == ()
    hand.does(Choice(1))
    assert not hand.effects


def test_an_entry_that_goes_on_meanwhile_is_told() -> None:
    hand = Hand(row("A")).does(Choice(1), Choice(2))
    hand.does(Rows("open_entry", (row("A", "confirmed"),), 1))
    assert (hand.at, hand.verdict and hand.verdict.text.id) == ("unconfirmed.entry", "unconfirmed.state_changed")
    hand.does(Rows("open_entry", (), 0))
    assert (hand.at, hand.verdict and hand.verdict.kind) == ("unconfirmed", INFO)


def test_a_scan_finds_the_entry_that_speaks_of_it() -> None:
    hand = Hand(row("A", "refused", items=[], order="O1"), row("B"))
    hand.does(Scan((Match(PRODUCT, "P1", "Cola"),)))
    assert hand.state.entry is not None
    assert hand.state.entry["op_id"] == "B"
    hand.does(Back(), Scan((Match(ORDER, "O1", ""),)))
    assert hand.state.entry["op_id"] == "A"
    hand.does(Back(), Scan((Match(PRODUCT, "P9", "Tea"),)))
    assert (hand.at, hand.verdict and hand.verdict.text.id) == ("unconfirmed", "unconfirmed.none_for")


@pytest.mark.parametrize("question", [(), (Choice(2),)])
def test_scan_at_an_entry_or_question_is_answered(question: tuple[Event, ...]) -> None:
    hand = Hand(row("A")).does(Choice(1), *question)
    at = hand.at
    hand.does(Scan((Match(PRODUCT, "P1", "Cola"),)))
    assert (hand.at, hand.verdict and hand.verdict.text.id) == (at, "page.scan_not_used")


def test_unknown_code_closes_no_operation() -> None:
    hand = Hand(row("A")).does(Choice(1))
    hand.state = hand.state._replace(question=CLOSED_BY_HAND)
    hand.does(UnknownCode("99999"))
    assert (hand.at, hand.verdict and hand.verdict.text.id) == ("unconfirmed.close_by_hand", "count.unknown")


def test_what_a_store_says_of_a_product_is_shown_field_by_field() -> None:
    item = {"product_number": "P1", "label": "Cola", "quantity": None, "line": None, "from": "", "to": ""}
    sides = [
        {"subject": "min", "location": "", "before": "4", "ours": "6", "after": "5"},
        {"subject": "is_promotion", "location": "", "before": None, "ours": "yes", "after": ""},
    ]
    told = {"kind": "setting", "operation": "update-store-products", "items": [item], "sides": sides, "location": ""}
    hand = Hand(row("A", "refused", **told)).does(Choice(1))
    view = JOB.view(hand.state)
    assert isinstance(view, DetailView)
    assert view.lines[0].text.id == "unconfirmed.describe_store_product"
    assert [cells[0].id for cells in view.blocks[0].rows] == ["store_product.of_min", "products.title_promotion"]
    assert [choice.id for choice in view.choices] == [
        "unconfirmed.choice_close_by_hand",
        "unconfirmed.choice_open_store_product",
    ]
    hand.does(Choice(2))
    assert hand.effects == (Start("store_product", {"product_number": "P1"}),)


def test_back_leads_out() -> None:
    hand = Hand(row("A")).does(Choice(1), Back(), Back())
    assert hand.effects == (Close(),)


def test_chips_of_a_desk_leave_one_state_each() -> None:
    hand = Hand(row("A", "refused"), row("B", "queued"))
    assert "v" not in JOB.accepts(hand.state).command_letters
    desk = Context(is_desk=True)
    state = JOB.handle(JOB.begin(), Opened({}), desk).state
    for at, count in enumerate((2, 1, 0, 1, 0)):
        state = JOB.handle(state, Rows(f"{COUNT_ID}{at}", (), count), desk).state
    view = JOB.view(state)
    assert isinstance(view, ListView)
    assert [(chip.total, chip.is_active) for chip in view.chips] == [
        (2, True), (1, False), (0, False), (1, False), (0, False),
    ]  # fmt: skip
    turn = JOB.handle(state, CursorKey(f"{CHIP_KEY}1"), desk)
    assert turn.state.outcome == "refused"
    assert [query.args["outcome"] for query in turn.effects if isinstance(query, Query)] == ["refused"]
