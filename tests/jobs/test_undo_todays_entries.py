"""The counting log by itself: no terminal, no file, no network."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle import named_tuple_json
from aisle.jobs.job import Changed, Close, Context, Event, Opened, Query, Refresh, Resumed, Rows, Write
from aisle.jobs.undo_todays_entries import MyEntriesJob, MyEntriesState
from aisle.jobs.view import ListView, Step, Verdict, raw
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    PRODUCT,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from tests.run_length import tries

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z", window_rows=2)

Row = dict[str, Any]


def entry(number: int, product: str = "P1", user: str = "ann", **more: Any) -> Row:
    """A row as the read `my_entries` gives it."""
    return {
        "key": f"OP.{number}",
        "id": str(number),
        "at": f"2026-11-20T09:{number:02}:00Z",
        "app_user_name": user,
        "product_number": product,
        "description": f"Product {product}",
        "location_code": "A-1",
        "pool": 1,
        "counted_quantity": Decimal(number),
        "difference": Decimal(number - 5),
        "reason_code": None,
        "outcome": "confirmed",
        "undone": False,
        **more,
    }


class Hand:
    """Runs the job as a session does, on rows that it may change."""

    def __init__(self, *rows: Row) -> None:
        self.rows = list(rows)
        self.job = MyEntriesJob()
        self.state: MyEntriesState = self.job.begin()
        self.effects: list[Any] = []
        self.verdict: Verdict | None = None
        self.feed(Opened({}))

    def feed(self, event: Event) -> str:
        """The message id of the last verdict that one event leads to."""
        told = ""
        events: list[Event] = [event]
        while events:
            turn = self.job.handle(self.state, events.pop(), CONTEXT)
            self.state = turn.state
            self.effects += turn.effects
            self.verdict = turn.verdict or self.verdict
            told = turn.verdict.text.id if turn.verdict else told
            events += [self._answer(effect) for effect in turn.effects if isinstance(effect, Query)]
        return told

    def _answer(self, query: Query) -> Rows:
        args = query.args
        assert query.is_live == ("key" not in args)
        found = [
            row
            for row in self.rows
            if args.get("key", row["key"]) == row["key"]
            and args.get("user", "") in ("", row["app_user_name"])
            and args.get("product_number", "") in ("", row["product_number"])
            and args.get("search", "").casefold() in row["description"].casefold()
        ]
        first = args.get("first", 0)
        return Rows(query.id, tuple(found[first : first + args.get("size", 9)]), len(found))

    @property
    def shown(self) -> list[str]:
        """The keys of the rows on the screen."""
        view = self.job.view(self.state)
        assert isinstance(view, ListView)
        return [row.key for row in view.rows]

    @property
    def writes(self) -> list[Write]:
        """What it sent."""
        return [effect for effect in self.effects if isinstance(effect, Write)]


def test_it_asks_for_the_log_and_shows_mine_or_everyones() -> None:
    hand = Hand(entry(1), entry(2, user="ben"), entry(3, "P2"))
    assert Refresh("logs") in hand.effects
    assert hand.shown == ["OP.1", "OP.3"]
    hand.feed(Command("e"))
    assert hand.shown == ["OP.1", "OP.2", "OP.3"]
    hand.feed(Command("e"))
    hand.feed(Scan((Match(PRODUCT, "P2", "Product P2"),)))
    assert hand.shown == ["OP.3"]
    hand.feed(Back())
    hand.feed(TypedText("p1"))
    assert hand.shown == ["OP.1"]
    hand.feed(Text("p2"))
    assert hand.shown == ["OP.3"]
    assert hand.feed(Scan((Match(LOCATION, "A-1"),))) == "page.not_this"
    hand.feed(Back())
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


@pytest.mark.parametrize(("name", "shown"), [("Anna Berg", "Anna Berg"), ("", "ann")])
def test_entry_says_who_counted(name: str, shown: str) -> None:
    hand = Hand(entry(1, user_name=name))
    hand.feed(Choice(1))
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert raw(shown) in [each.value for each in view.labelled_values]


def test_scan_and_text_at_an_entry_are_answered() -> None:
    hand = Hand(entry(1))
    hand.feed(Choice(1))
    for _ in range(2):
        assert hand.feed(Scan((Match(PRODUCT, "P2", "Product P2"),))) == "page.scan_not_used"
        assert hand.feed(Text("p2")) == "today.unknown"
        hand.feed(Choice(1))


def test_pages_cursor_and_numbers_lead_to_an_entry() -> None:
    hand = Hand(*(entry(number) for number in range(1, 8)))
    assert hand.shown == ["OP.1", "OP.2", "OP.3"]
    hand.feed(Command("n"))
    assert hand.shown == ["OP.4", "OP.5", "OP.6"]
    hand.feed(Choice(2))
    assert hand.state.entry is not None
    assert (hand.state.entry.key, hand.job.step_name(hand.state)) == ("OP.5", "my_entries.entry")
    hand.feed(Back())
    hand.feed(Command("n"))
    hand.feed(Command("n"))
    hand.feed(CursorKey("end"))
    hand.feed(CursorKey("enter"))
    assert hand.state.entry is not None
    assert hand.state.entry.key == "OP.7"


def test_a_count_is_taken_back_by_its_opposite_after_a_question() -> None:
    hand = Hand(entry(3, pool=4))
    hand.feed(Choice(1))
    assert hand.feed(Choice(1)) == "my_entries.ask_undo"
    assert hand.job.step_name(hand.state) == "my_entries.undo"
    assert hand.feed(Choice(2)) == "session.dropped"
    hand.feed(Choice(1))
    assert hand.feed(Choice(1)) == "adjust.undone"
    (write,) = hand.writes
    assert write.query == {"appUserName": "ann", "is_counted_quantity": False}
    assert write.lanes == ("product/P1",)
    assert write.body["storeproductlog"] == [
        {
            "product_number": "P1",
            "location_code": "A-1",
            "stock_pool_4": Decimal(2),
            "reference": "undo-3",
            "scanned_datetime": "2026-11-20T10:00:00Z",
            "app_user_name": "ann",
            "source": "aisle",
        }
    ]
    assert hand.job.accepts(hand.state).choices == 0


def test_unconfirmed_or_unchanged_entry_cannot_be_undone() -> None:
    unchanged = {"difference": Decimal(0), "keeps_date": True}
    for more in ({"outcome": "queued"}, {"id": ""}, unchanged, {"undone": True}):
        hand = Hand(entry(3, **more))
        hand.feed(Choice(1))
        assert hand.job.accepts(hand.state).choices == 0
        hand.feed(Choice(1))
        assert not hand.writes


def test_a_count_that_changed_no_stock_is_undone_for_its_date() -> None:
    hand = Hand(entry(3, difference=Decimal(0), keeps_date=False))
    hand.feed(Choice(1))
    assert hand.feed(Choice(1)) == "my_entries.ask_undo"
    assert hand.feed(Choice(1)) == "count.sent_undone_same"
    [log] = hand.writes[-1].body["storeproductlog"]
    assert (log.get("quantity", log.get("stock_pool_1")), log["reference"]) == (0, "undo-3")


def test_what_becomes_of_an_entry_reaches_the_screen() -> None:
    hand = Hand(entry(3, outcome="queued"))
    hand.feed(Choice(1))
    hand.rows[0] = entry(3, outcome="refused", why="Counted by somebody else")
    asked = len([effect for effect in hand.effects if effect == Refresh("logs")])
    hand.feed(Changed("log", ""))
    hand.feed(Changed("outbox", ""))
    assert len([effect for effect in hand.effects if effect == Refresh("logs")]) == asked
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert "Counted by somebody else" in repr(view.lines)
    hand.rows[0] = entry(3)
    hand.feed(Changed("product", "P1"))
    assert len([effect for effect in hand.effects if effect == Refresh("logs")]) == asked + 1
    hand.feed(Choice(1))
    hand.rows[0] = entry(3, undone=True)
    hand.feed(Changed("log", "3"))
    assert hand.job.step_name(hand.state) == "my_entries.entry"


def test_a_reason_is_said_in_the_words_of_the_table() -> None:
    hand = Hand(
        entry(1, reason_code=1, counted_quantity=None),
        entry(2, reason_code=77, counted_quantity=None),
        entry(3, reason_code=77, reason="Chewed"),
    )
    assert [each.reason for each in hand.state.rows] == ["Damaged", "77", "Chewed"]


def test_no_sequence_raises_and_every_step_is_reached() -> None:
    reached: Counter[str] = Counter()
    for seed in range(tries(50, 100)):
        random = Random(seed)
        rows = [
            entry(
                n,
                random.choice(["P1", "P2"]),
                random.choice(["ann", "ben"]),
                outcome=random.choice(["confirmed", "sending"]),
            )
            for n in range(random.randint(0, 8))
        ]
        hand = Hand(*rows)
        for _ in range(60):
            open_ = hand.job.accepts(hand.state)
            others: list[Event] = [
                Back(),
                Resumed(),
                Changed("log", ""),
                UnknownCode("?"),
                TypedText("p"),
                CursorKey("down"),
            ]
            ways = [random.choice([*others, CursorKey("enter"), Text("p2"), Scan((Match(PRODUCT, "P1"),))])]
            ways += [Choice(random.randint(1, open_.choices))] * 3 if open_.choices else []
            ways += [Command(random.choice(open_.command_letters))] if open_.command_letters else []
            hand.feed(random.choice(ways))
            reached[hand.job.step_name(hand.state)] += 1
            view, open_ = hand.job.view(hand.state), hand.job.accepts(hand.state)
            assert view.name == hand.job.step_name(hand.state)
            numbered = view.numbered_rows if isinstance(view, ListView) else len(view.choices)
            assert numbered == open_.choices
            assert {hint.letter for hint in view.key_hints} <= {*open_.command_letters, "b"}
            assert named_tuple_json.from_text(MyEntriesState, named_tuple_json.to_text(hand.state)) == hand.state
        for _ in range(4):
            hand.feed(Back())
        assert any(isinstance(effect, Close) for effect in hand.effects)
    assert {name: reached[name] for name in MyEntriesJob.steps if reached[name] < 100} == {}


def test_count_without_previous_figure_has_no_difference_and_no_undo() -> None:
    hand = Hand(entry(7, difference=None))
    hand.feed(Choice(1))
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert view.choices == ()
    assert [line.text.id for line in view.lines if line.role == "quantity"] == ["number"]
    hand.feed(Choice(1))
    hand.feed(Choice(1))
    assert not [effect for effect in hand.effects if isinstance(effect, Write)]


def test_count_that_a_later_one_replaced_says_so() -> None:
    hand = Hand(entry(9, later_count=Decimal(8)), entry(7))
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert [row.cells[1].id for row in view.rows] == ["my_entries.counted_again", "operation_state.confirmed"]
    hand.feed(Choice(1))
    step = hand.job.view(hand.state)
    assert isinstance(step, Step)
    assert "my_entries.later_count" in [line.text.id for line in step.lines]
    assert not step.choices, "an undo would change the later count"
