"""The list of deliveries by itself: no terminal, no file, no network."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle import named_tuple_json
from aisle.jobs.job import Changed, Close, Closed, Event, LocalNote, Opened, Query, Refresh, Resumed, Start, Write
from aisle.jobs.supervisor.deliveries import DeliveriesJob, DeliveriesState
from aisle.jobs.view import DetailView, ListView, Verdict, msg
from aisle.scan.grammar_and_meaning_types import (
    PERSON,
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
from tests.jobs.receive_runner import CONTEXT, Row, Store, thing
from tests.jobs.test_move_sequences import complete
from tests.run_length import tries

WALKS, STEPS, REACHED = tries(50, 700), 30, tries(5, 100)


class Books(Store):
    """The deliveries of the store, and two receipts."""

    def receipts(self, args: Mapping[str, Any]) -> list[Row]:
        sums: Row = {"supplier_name": "", "status": "", "received_quantity": None, "shipped_quantity": None}
        sums |= {"lines": 0, "complete_lines": 0, "is_mixed": False}
        found = [
            {"order_number": "D-9", "kind": "1", "at": "2026-11-19", **sums},
            {"order_number": "T-7", "kind": "2", "at": "", **sums},
        ]
        return [row for row in found if args["kind"] in ("", row["kind"])]

    def receipt_kinds(self, _: Mapping[str, Any]) -> list[Row]:
        return [{"kind": "1", "count": 1}, {"kind": "2", "count": 1}]

    def excess_receipts(self, args: Mapping[str, Any]) -> list[Row]:
        number = args["order_number"]
        return [
            {
                **line,
                "key": f"{number}/{at}",
                "note_key": f"{number}/{at}",
                "order_number": number,
                "to_review": [str(at)],
            }
            for at, line in enumerate(self.deliveries.get(number, ()), 1)
            if line["quantity"] is not None and line["received"] > line["quantity"]
        ]

    def deliveries_(self, args: Mapping[str, Any]) -> list[Row]:
        heads = [self._head(number) for number in self.deliveries]
        words = str(args.get("search") or "").casefold().split()
        found = [each for each in heads if all(word in str(each).casefold() for word in words)]
        wanted = args.get("state")
        return [each for each in found if not wanted or (each["state"] == "received") == (wanted == "received")]


class Hand:
    """Somebody at the list."""

    def __init__(self) -> None:
        self.store = Books()
        self.job = DeliveriesJob()
        self.state: DeliveriesState = self.job.begin()
        self.effects: list[Any] = []
        self.verdicts: list[Verdict] = []
        self.feed(Opened({}))

    @property
    def keys(self) -> list[str]:
        """The rows of the list."""
        view = self.job.view(self.state)
        assert isinstance(view, ListView)
        return [row.key for row in view.rows]

    def feed(self, event: Event) -> str:
        """One event and its answers; the last verdict."""
        self.effects = []
        queue: deque[Event] = deque([event])
        while queue:
            turn = self.job.handle(self.state, queue.popleft(), CONTEXT)
            self.state = turn.state
            self.verdicts += [turn.verdict] if turn.verdict else []
            for effect in turn.effects:
                self.effects.append(effect)
                if isinstance(effect, Query):
                    name = "deliveries_" if effect.name == "deliveries" else effect.name
                    queue.append(self.store.answer(effect._replace(name=name)))
        return self.verdicts[-1].text.id if self.verdicts else ""


def test_delivery_list_switches_between_open_complete_all_and_receipts() -> None:
    hand = Hand()
    assert hand.keys == ["D-1", "D-2", "D-3"]
    shown = []
    for _ in range(7):
        told = hand.feed(Command("v"))
        shown.append((told, hand.keys))
    assert shown == [
        ("deliveries.title_late", ["D-1", "D-2", "D-3"]),
        ("deliveries.title_received", ["D-9"]),
        ("deliveries.title_all", ["D-1", "D-2", "D-3", "D-9"]),
        ("deliveries.title_receipts", ["D-9", "T-7"]),
        ("deliveries.title_kind", ["D-9"]),
        ("deliveries.title_kind", ["T-7"]),
        ("deliveries.title_open", ["D-1", "D-2", "D-3"]),
    ]


def test_excess_of_a_delivery_is_accepted_at_once_and_undone() -> None:
    hand = Hand()
    for line in hand.store.deliveries["D-1"]:
        line["received"] = Decimal(99)
    lines = len(hand.store.deliveries["D-1"])
    hand.feed(Choice(1))
    for letter, told, status in (("e", "excess.lines_accepted", 2), ("u", "excess.undone", 1)):
        assert hand.feed(Command(letter)) == told
        notes = [effect.text for effect in hand.effects if isinstance(effect, LocalNote)]
        assert notes == ["99" if status == 2 else ""] * lines
        (write,) = (effect for effect in hand.effects if isinstance(effect, Write))
        assert [each["review_status"] for each in write.body["reviews"]] == [status] * lines
    assert "e" in {hint.letter for hint in hand.job.view(hand.state).key_hints}


def test_what_has_all_come_is_not_late() -> None:
    hand = Hand()
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert {row.cells[-1].id for row in view.rows} == {"moment.late"}
    for _ in range(2):
        hand.feed(Command("v"))
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert [(row.key, row.cells[-1].id) for row in view.rows] == [("D-9", "moment")]


def test_delivery_opens_by_number_scan_or_product() -> None:
    for way in (Choice(2), thing("D-2"), thing("P5")):
        hand = Hand()
        hand.feed(way)
        assert hand.job.step_name(hand.state) == "deliveries.page"
        assert hand.state.delivery is not None
        assert [line["line_number"] for line in hand.state.delivery["lines"]] == [10, 20]
        assert Refresh("delivery", "D-2") in hand.effects
        hand.feed(Choice(1))
        assert hand.effects == [Start("receive", {"deliveries": ["D-2"], "code": "D-2"})]
        hand.feed(thing("P5"))
        assert [(each.job, each.args["product_number"]) for each in hand.effects] == [("look_up", "P5")]
        hand.feed(Back())
        assert hand.job.step_name(hand.state) == "deliveries"


def test_what_has_all_come_is_not_offered_to_be_received() -> None:
    hand = Hand()
    hand.feed(Command("v"))
    hand.feed(Command("v"))
    hand.feed(Choice(1))
    view = hand.job.view(hand.state)
    assert isinstance(view, DetailView)
    assert (hand.state.delivery_number, view.choices) == ("D-9", ())


def test_late_delivery_says_how_it_ends() -> None:
    hand = Hand()
    hand.feed(Choice(2))
    view = hand.job.view(hand.state)
    assert isinstance(view, DetailView)
    assert view.lines[-1].text == msg("deliveries.how_late_ends")


@pytest.mark.parametrize("text", ["2026-11-30", "2026-11-29T23:00:00.000Z", "2026-11-30T00:00:00Z"])
def test_page_of_a_delivery_shows_a_day_without_its_midnight(text: str, in_zone: Callable[[str], None]) -> None:
    in_zone("Europe/Paris")
    hand = Hand()
    hand.feed(Choice(2))
    assert hand.state.delivery is not None
    view = hand.job.view(hand.state._replace(delivery={**hand.state.delivery, "datetime_expected": text}))
    assert isinstance(view, DetailView)
    shown = [row for block in view.blocks for row in block.rows if row[0] == msg("head.expected_on")]
    assert shown == [(msg("head.expected_on"), msg("moment", at="2026-11-30"))]


def test_words_filter_and_what_is_not_here_is_asked_for() -> None:
    hand = Hand()
    hand.feed(TypedText("of d-3"))
    assert hand.keys == ["D-3"]
    hand.feed(Text("of d-1"))
    assert hand.keys == ["D-1"]
    hand.feed(Back())
    assert len(hand.keys) == 3
    assert hand.feed(UnknownCode("8700000000001")) == "receive.no_delivery"
    assert Refresh("delivery", "8700000000001") in hand.effects
    assert hand.feed(thing("P9")) == "deliveries.no_delivery_expects"
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


def an_event(random: Random, hand: Hand) -> Event:
    """What somebody might do next."""
    open_ = hand.job.accepts(hand.state)
    if open_.choices and random.random() < 0.25:
        return Choice(random.randint(1, open_.choices))
    person = Scan((Match(PERSON, "bob", "Bob"),))
    events: list[Event] = [
        *(Command(letter) for letter in open_.command_letters),
        *(thing(code) for code in ("D-1", "D-9", "D-404", "P5", "P9", "C-3")),
        *(CursorKey(key) for key in ("up", "down", "enter", "pagedown")),
        *(
            TypedText("of"),
            Text("supplier"),
            Text("zzz"),
            UnknownCode("999"),
            UnknownCode("998"),
            Back(),
            Back(),
            person,
            Choice(9),
        ),
        *(Resumed(), Closed("receive"), Changed("delivery", "D-1"), Changed("outbox", "")),
    ]
    return random.choice(events)


def test_no_walk_raises_or_stands_without_a_way_and_all_is_met_often() -> None:
    random, seen = Random(20261120), Counter[str]()
    for walk in range(WALKS):
        hand = Hand()
        for step in range(STEPS):
            count = len(hand.verdicts)
            hand.feed(an_event(random, hand))
            view, open_ = hand.job.view(hand.state), hand.job.accepts(hand.state)
            assert view.name == hand.job.step_name(hand.state)
            offered = view.numbered_rows if isinstance(view, ListView) else len(view.choices)
            assert offered == open_.choices
            assert all(hint.letter == "b" or hint.letter in open_.command_letters for hint in view.key_hints)
            assert all(complete(verdict.text) for verdict in hand.verdicts[count:])
            seen.update([view.name, *(verdict.text.id for verdict in hand.verdicts[count:])])
            if (walk + step) % 7 == 0:
                assert complete(view.title)
                assert named_tuple_json.from_text(DeliveriesState, named_tuple_json.to_text(hand.state)) == hand.state
            if any(isinstance(effect, Close) for effect in hand.effects):
                break
        for _ in range(3):
            hand.feed(Back())
        assert isinstance(hand.effects[-1], Close)
    wanted = {*DeliveriesJob.steps, "count.unknown", "deliveries.no_delivery_expects", "page.not_this"}
    wanted |= {"today.unknown", "deliveries.title_late", "receive.no_delivery"}
    assert {id_: seen[id_] for id_ in wanted if seen[id_] < REACHED} == {}
