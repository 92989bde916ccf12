"""Any sequence of scans and commands: nothing raises, no unit is lost or doubled, there is always a way on and back."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from random import Random
from re import findall
from typing import Any

import pytest

import aisle.jobs.receive.job
from aisle import named_tuple_json
from aisle.jobs.job import Changed, Close, Closed, Event, Resumed, Rows
from aisle.jobs.receive.receive_state_and_differences import ReceiveState
from aisle.jobs.view import ListView
from aisle.scan.grammar_and_meaning_types import (
    PERSON,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Quantity,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from tests.jobs.receive_runner import Hand, Store, thing
from tests.jobs.test_move_sequences import complete
from tests.run_length import tries
from tests.run_once import shared

CODES = (
    *("P1", "P1", "P2", "P3", "P4", "P5", "P9", "D-1", "D-2", "D-9", "C-1", "C-2", "C-3", "A-1", "A-1", "A-2", "7"),
    *("P6", "P6", "D-4", "D-4"),
)
TAKEN = {"pick.picked", "receive.taken_alone", "receive.taken_extra"} | {
    "receive.taken_more",
    "receive.taken_extra_more",
}
WALKS, STEPS = tries(95, 1700), 40
REACHED = tries(4, 100)


def an_event(random: Random, hand: Hand) -> Event:
    """What somebody might do next; what the step offers is likelier than what it does not."""
    open_ = hand.job.accepts(hand.state)
    item, asked = hand.state.in_hand, hand.state.pending_scan
    more = bool(item and asked and item.quantity and item.product == asked.key)
    if random.random() < (0.9 if hand.state.is_drop_warned else 0.6 if more else 0.1 if asked else 0.0):
        return Back()
    if open_.choices and random.random() < (0.15 if hand.state.phase == "delivery" and not hand.state.choices else 0.5):
        return Choice(random.randint(1, open_.choices))
    roll = random.random()
    if roll < 0.45:
        return thing(random.choice(CODES), random.choice(["1", "1", "1", "2", "0.5", "6"]))
    if roll < 0.60:
        return Quantity(Decimal(random.choice(["0", "1", "2", "5", "7", "1.5", "12"]))) if open_.quantity else Back()
    if roll < 0.80:
        return Command(random.choice(open_.command_letters)) if open_.command_letters else Back()
    if roll < 0.82:
        return Back()
    entries = [{"reference": hand.state.delivery_number, "scanned_datetime": "never"}]
    refused = {
        "op_id": str(random.random()),
        "user": "ann",
        "why": "No.",
        "label": "P1",
        "body": {"storeproductlog": entries},
    }
    events: list[Event] = [
        UnknownCode("999"),
        UnknownCode("999"),
        Text("of d-2"),
        Text("supplier"),
        Text("zzz"),
        TypedText("sup"),
        Resumed(),
        Closed("look_up"),
        Changed("outbox", ""),
        Changed("delivery", "D-1"),
        Scan((Match(PERSON, "bob", "Bob"),)),
        Command("z"),
        CursorKey("down"),
        CursorKey("enter"),
        CursorKey("pagedown"),
        Choice(9),
        Quantity(Decimal(1)),
        Quantity(Decimal(7)),
        Rows("refused_operations", (refused,), 1),
        Rows("again", (), 0),
    ]
    return random.choice(events)


SCRIPTS: tuple[tuple[Event, ...], ...] = (
    (thing("D-3"), thing("P5", "3"), thing("A-1")),
    (thing("D-3"), thing("P5", "3"), Command("d")),
    (thing("D-1"), thing("P1"), Back(), Choice(1)),
    (thing("D-1"), thing("P2"), Back(), Choice(2)),
    (UnknownCode("999"),),
    (Text("supplier"),),
    (thing("P9"),),
    (thing("D-2"), thing("P9"), Choice(1), thing("A-1"), thing("P9")),
    (thing("C-3"),),
    (thing("D-4"), thing("P6", "5"), thing("A-1")),
    (thing("D-4"), thing("P6", "5"), Command("l"), Command("d")),
)
"""What is seldom come upon by chance."""


def scripted(random: Random, hand: Hand, script: list[Event]) -> Event:
    """The next event of the script, or of chance where there is none."""
    if not script and not hand.state.delivery_number and not hand.state.choices and random.random() < 0.3:
        script += random.choice(SCRIPTS)
    return script.pop(0) if script else an_event(random, hand)


def check(hand: Hand) -> None:
    """What holds at every step."""
    view, open_, state = hand.view, hand.job.accepts(hand.state), hand.state
    assert view.name == hand.job.step_name(state)
    assert view.name in hand.job.steps
    offered = view.numbered_rows if isinstance(view, ListView) and not view.choices else len(view.choices)
    assert open_.choices == offered, (state, view)
    assert all(hint.letter == "b" or hint.letter in open_.command_letters for hint in view.key_hints)
    assert state.in_hand is None or state.in_hand.quantity >= 0
    if state.delivery_number:
        for product in {line.product for line in state.lines}:
            mine = sum((line.received for line in state.lines if line.product == product), Decimal(0))
            assert mine == hand.store.received(state.delivery_number, product), (product, state)


def check_words(hand: Hand) -> None:
    """Whatever is said has all that its sentences want."""
    view = hand.view
    said = [view.title, view.prompt, *view.choices, *(hint.text for hint in view.key_hints)]
    if isinstance(view, ListView):
        said += [cell for row in view.rows for cell in row.cells]
    else:
        said += [line.text for line in view.lines] + [text for fact in view.labelled_values for text in fact]
    assert all(complete(message) for message in said), said
    assert all(complete(verdict.text) for verdict in hand.verdicts[-3:]), hand.verdicts[-3:]


def is_closed(hand: Hand) -> bool:
    """Whether the job is over."""
    return any(isinstance(effect, Close) for effect in hand.effects)


def leave(hand: Hand) -> None:
    """Back is always a way out, within a few steps."""
    for _ in range(12):
        hand.feed(Choice(1) if hand.state.phase == "leave" else Back())
        if is_closed(hand):
            return
    raise AssertionError(hand.state)


def finish(hand: Hand) -> None:
    """What is in hand can always be booked, and the delivery closed."""
    for _ in range(12):
        if not hand.state.delivery_number or is_closed(hand):
            return
        hand.feed(
            Choice(1) if hand.state.phase in ("check", "leave") else Back() if hand.state.choices else Command("d")
        )
        if hand.state.phase == "lines":
            hand.feed(Back())
    raise AssertionError(hand.state)


def in_hand(hand: Hand) -> Decimal:
    """How much is counted and not booked."""
    return hand.state.in_hand.quantity if hand.state.in_hand else Decimal(0)


def booked(hand: Hand) -> Decimal:
    """How much is booked in all deliveries."""
    return sum((much for much in hand.store.booked.values()), Decimal(0))


def one_walk(random: Random, seen: Counter[str], walk: int) -> None:
    ways_in: tuple[dict[str, Any], ...] = (
        {},
        {},
        {"deliveries": ["D-1"], "code": "C-1"},
        {"deliveries": ["D-2", "D-3"], "code": "C-3"},
    )
    store = Store()
    store.announce_unsaid()
    hand, script = Hand(store, **random.choice(ways_in)), list[Event]()
    for step in range(STEPS):
        before, count, sent = in_hand(hand) + booked(hand), len(hand.verdicts), len(hand.sent)
        event = scripted(random, hand, script)
        hand.feed(event)
        check(hand)
        if (walk + step) % 4 == 0:
            check_words(hand)
        after, new = in_hand(hand) + booked(hand), hand.verdicts[count:]
        ids = {verdict.text.id for verdict in new}
        if len(hand.sent) > sent and event != Command("u") and not ids & TAKEN:
            assert after in (before, before - in_hand(hand)) or "receive.dropped" in ids, (event, ids)
        if isinstance(event, Scan) and ids & TAKEN:
            assert after - before == event.matches[0].quantity, (event, ids)
        if not ids and not hand.sent[sent:]:
            assert after == before or not hand.state.delivery_number, event
        seen[hand.view.name] += 1
        seen.update(verdict.text.id for verdict in new)
        if (walk + step) % 9 == 0:
            assert named_tuple_json.from_text(ReceiveState, named_tuple_json.to_text(hand.state)) == hand.state
        if is_closed(hand):
            return
    (leave if walk % 2 else finish)(hand)


OF_TWO_PEOPLE = {"receive.received_meanwhile", "receive.surplus", "receive.surplus_in_hand"}
"""Verdicts that no walk of one person reaches: see tests.jobs.test_receive_quantities."""


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """What all walks reached; one process walks for all of them."""
    return shared(tmp_path_factory, "receive_any", lambda _: _walked())


def _walked() -> Counter[str]:
    """How often each step and each verdict was reached on all walks, each of them checked at every step."""
    random = Random(20261120)
    seen: Counter[str] = Counter()
    for walk in range(WALKS):
        one_walk(random, seen, walk)
    return seen


def test_no_walk_raises_loses_a_unit_or_stands_without_a_way(reached: Counter[str]) -> None:
    assert sum(reached.values()) > WALKS


def test_each_step_and_verdict_was_reached_often(reached: Counter[str]) -> None:
    folder = Path(aisle.jobs.receive.job.__file__).parent
    modules = (
        "job",
        "receive_state_and_differences",
        "handle_scans_and_quantities",
        "open_delivery_and_put_away",
    )
    text = "".join((folder / f"{name}.py").read_text() for name in modules)
    told = set(findall(r'reply\([^"]*"(receive\.\w+)"', text)) | set(findall(r'"(receive\.\w+)" (?:if|else)', text))
    told |= set(findall(r'else "(receive\.\w+)"', text))
    wanted = (told | set(aisle.jobs.receive.job.ReceiveJob.steps)) - OF_TWO_PEOPLE
    assert len(wanted) > 35
    assert {id_: reached[id_] for id_ in wanted if reached[id_] < REACHED} == {}
