"""Any sequence of scans and commands: nothing raises, no unit is lost or doubled, there is always a way on and back."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle import named_tuple_json
from aisle.jobs.job import Changed, Close, Closed, Event, Resumed, Rows
from aisle.jobs.move.move_state_and_rows import MoveState
from aisle.jobs.view import Msg, Step
from aisle.messages.messages_of_language import message_lengths, parse_message
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    Back,
    Choice,
    Command,
    Match,
    Quantity,
    Scan,
    UnknownCode,
)
from tests.jobs.move_runner import BAG, Hand, Store, small_store
from tests.run_length import tries
from tests.run_once import shared

PRODUCTS = ("P1", "P2", "P3", "P4", "P5", "P6", "P7", BAG)
PLACES = ("A-1", "A-2", "B-1", "PU")
ORDERS = ("4101", "4102", "4103", "4199")
WALKS, STEPS = tries(200, 2500), 45
REACHED = tries(2, 100)


def thing(kind: str, key: str, quantity: str = "1") -> Scan:
    return Scan((Match(kind, key, key, Decimal(quantity), quantity != "1", key),))


def a_store(random: Random) -> Store:
    if random.random() < 0.15:
        goods: dict[Any, int] = {("P1", "", 1, "", 0): 5, ("P1", "", 2, "", 0): 2, ("P5", "", 1, "4101", 3): 1}
        return Store(goods, {("4101", 1): ("P1", 3), ("4101", 3): ("P5", 2)}, ())
    store = small_store()
    store.goods["P4", "B-1", 1, "4101", 2] += 2
    store.goods["P4", "B-1", 1, "4102", 1] += 1
    store.lines["4103", 1] = ("P1", 40)
    store.codes = (*store.codes, "3")
    return store


def an_event(random: Random, hand: Hand) -> Event:
    """What somebody might do next; what the step offers is likelier than what it does not."""
    open_ = hand.job.accepts(hand.state)
    if hand.state.choices and hand.state.choices[0].kind == "held" and random.random() < 0.5:
        return Quantity(Decimal(random.choice(["2", "3"])))
    if open_.choices and random.random() < 0.55:
        return Choice(random.randint(1, open_.choices))
    roll = random.random()
    if roll < 0.30:
        return thing(PRODUCT, random.choice(PRODUCTS), random.choice(["1", "1", "1", "2", "0.5", "12"]))
    if roll < 0.52:
        return thing(LOCATION, random.choice(PLACES)) if hand.store.codes else thing(PRODUCT, "P1")
    if roll < 0.60:
        return thing(ORDER, random.choice(ORDERS))
    if roll < 0.82:
        return Command(random.choice(open_.command_letters)) if open_.command_letters else Back()
    if roll < 0.88:
        return Quantity(Decimal(random.choice(["0", "1", "2", "3", "9", "1.5", "4101"]))) if open_.quantity else Back()
    if roll < 0.92:
        return Back()
    refused = {"op_id": str(random.random()), "user": "ann", "why": "No.", "label": "P1", "body": []}
    events: list[Event] = [
        UnknownCode("?"),
        Resumed(),
        Closed("count"),
        Changed("outbox", ""),
        Changed("location", ""),
        thing(PERSON, "bob"),
        Command("z"),
        Choice(9),
        Quantity(Decimal(1)),
        Rows("refused_operations", (refused,), 1),
        Rows("target", ({"order_number": "4101", "is_active": True, "lines_known": False},), 1),
    ]
    return random.choice(events)


SCRIPTS: tuple[tuple[Event | str, ...], ...] = (
    (thing(ORDER, "4101"), thing(PRODUCT, "P5"), thing(ORDER, "4101"), Choice(1)),
    (thing(LOCATION, "A-1"), thing(PRODUCT, "P3", "3"), thing(LOCATION, "A-2"), "gone", Command("u")),
    (thing(LOCATION, "A-1"), thing(PRODUCT, "P3", "3"), thing(LOCATION, "A-2"), "less", Command("u")),
    (thing(LOCATION, "A-1"), thing(PRODUCT, "P1", "3"), Quantity(Decimal(1)), Command("u")),
    (thing(LOCATION, "A-1"), thing(PRODUCT, "P1"), Quantity(Decimal(3)), Choice(1)),
    (Command("c"), thing(LOCATION, "A-1"), thing(PRODUCT, "P1", "3"), Command("d"), Quantity(Decimal(2))),
    (Command("c"), thing(LOCATION, "A-1"), thing(PRODUCT, "P1", "3"), Command("d"), thing(PRODUCT, "P1", "12")),
)
"""What nobody comes upon by chance; `gone` and `less` happen to the goods of the last movement, `awaited` to the lines
of its order."""
PLACELESS: tuple[Event | str, ...] = (thing(PRODUCT, "P1"), thing(ORDER, "4101"), "awaited", Command("u"))
"""The same where there are no places."""


def scripted(random: Random, hand: Hand, script: list[Event | str]) -> Event:
    """The next event of the script, or of chance where there is none."""
    if not script and not hand.state.in_hand and random.random() < (0.06 if hand.store.codes else 0.3):
        script += random.choice(SCRIPTS) if hand.store.codes else PLACELESS
    if script and isinstance(script[0], str) and hand.sent:
        what = script.pop(0)
        hand.store.awaited = what == "awaited"
        kept = 1 if what == "less" else 0
        for spot in [spot for spot in hand.store.goods if spot[:2] == ("P3", "A-2") and what != "awaited"]:
            hand.store.goods[spot] = min(kept, hand.store.goods[spot])
    event = script.pop(0) if script else None
    return an_event(random, hand) if event is None or isinstance(event, str) else event


def somebody_else(random: Random, hand: Hand) -> None:
    """Goods vanish, or are found, where somebody works."""
    spot = random.choice([*hand.store.goods])
    hand.store.goods[spot] = max(0, hand.store.goods[spot] + random.choice([-9, -2, 3]))


def moved(hand: Hand, since: int) -> Counter[str]:
    """Units in the operations after the first so many."""
    units: Counter[str] = Counter()
    for write in hand.sent[since:]:
        for item in write.body:
            units[item["product_number"]] += item["quantity"]
    return units


def complete(message: Msg) -> bool:
    """Every argument that a sentence wants is given."""
    wanted = {piece.name for sentence in message_lengths(message.id) for piece in parse_message(sentence) if piece.name}
    return wanted <= {name for name, _ in message.args} and all(
        complete(value) for _, value in message.args if isinstance(value, Msg)
    )


def check(hand: Hand) -> Step:
    """What holds at every step; the view of it."""
    view, open_ = hand.view, hand.job.accepts(hand.state)
    assert view.name == hand.job.step_name(hand.state)
    assert view.name in hand.job.steps
    assert open_.choices == len(view.choices)
    assert view.prompt.id.startswith("prompt.choose_or_") == bool(open_.quantity and open_.choices)
    assert (view.choice_letters, len(set(open_.choice_letters))) == (
        open_.choice_letters,
        open_.choices if open_.quantity or open_.choice_letters else 0,
    )
    assert all(part.quantity > 0 for part in hand.state.in_hand)
    assert hand.state.phase != "put" or hand.state.current_goods
    assert all(hint.letter == "b" or hint.letter in open_.command_letters for hint in view.key_hints)
    said = [view.title, view.prompt, *view.choices, *(line.text for line in view.lines)]
    said += [text for fact in view.labelled_values for text in fact]
    assert all(complete(message) for message in said), said
    if hand.verdict:
        assert complete(hand.verdict.text), hand.verdict
    return view


def leave(hand: Hand) -> None:
    """Back is always a way out, within a few steps."""
    for _ in range(12):
        hand.feed(Choice(1) if hand.state.phase == "leave" else Back())
        if isinstance(hand.effects[-1], Close):
            return
    raise AssertionError(hand.state)


def put_all_away(hand: Hand) -> None:
    """What is in hand can always be brought somewhere."""
    for _ in range(60):
        if not hand.state.in_hand:
            return
        open_ = hand.job.accepts(hand.state)
        if hand.state.choices and hand.state.choices[0].kind == "amount":
            hand.feed(Choice(1))  # what digits are is settled before anything else
        elif hand.state.phase == "load" and not (hand.state.choices and hand.state.pending_scan):
            hand.feed(Command("d"))
        elif hand.state.phase in ("pool", "leave") or (hand.state.choices and hand.state.choices[0].kind == "drop"):
            hand.feed(Back() if hand.state.phase == "pool" else Choice(2 if hand.state.phase == "leave" else 1))
        elif hand.state.choices and hand.state.choices[0].kind == "fit_order":
            hand.feed(Back())
        elif hand.state.choices:
            hand.feed(Choice(1 if hand.state.choices[0].kind == "fit" else open_.choices))
            if isinstance(hand.effects[-1], Close):
                return
        elif not hand.store.codes:
            hand.say("k", *("1", "2"), "d")
        else:
            used = {part.location for part in hand.state.goods_to_put_down}
            hand.feed(thing(LOCATION, next(place for place in ("A-2", "B-1", "PU", "A-1") if place not in used)))
    raise AssertionError(hand.state)


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """What all walks reached; one process walks for all of them."""
    return shared(tmp_path_factory, "move_any", lambda _: _walked())


def _walked() -> Counter[str]:
    """How often each step and each verdict was reached on all walks, each of them checked at every step."""
    random = Random(20261120)
    seen: Counter[str] = Counter()
    for walk in range(WALKS):
        store = a_store(random)
        ways_in: list[dict[str, str]] = [{}, {}, {"product_number": "P1"}, {"location_code": "A-1"}]
        hand = Hand(store, **random.choice(ways_in if store.codes else ways_in[:3]))
        script: list[Event | str] = []
        for step in range(STEPS):
            if random.random() < 0.02:
                somebody_else(random, hand)
            before, history, sent, count = hand.held, len(hand.state.history), len(hand.sent), len(hand.verdicts)
            undoing = hand.state.is_undoing
            event = scripted(random, hand, script)
            hand.feed(event)
            view = check(hand)
            units = moved(hand, sent)
            if units:
                back = event == Command("u") or (undoing and isinstance(event, Choice))
                assert hand.held == before + units if back else before == hand.held + units, (event, hand.state)
            elif hand.held != before:
                assert history != len(hand.state.history) or history == 50 or not hand.held, (event, hand.state)
            seen[view.name] += 1
            seen.update(verdict.text.id for verdict in hand.verdicts[count:])
            if (walk + step) % 9 == 0:
                assert named_tuple_json.from_text(MoveState, named_tuple_json.to_text(hand.state)) == hand.state
            if isinstance(hand.effects[-1], Close):
                break
        else:
            (leave if walk % 2 else put_all_away)(hand)
    return seen


def test_no_walk_raises_loses_a_unit_or_stands_without_a_way(reached: Counter[str]) -> None:
    assert sum(reached.values()) > WALKS


def test_each_step_and_verdict_was_reached_often(reached: Counter[str]) -> None:
    from pathlib import Path
    from re import findall

    import aisle.jobs.move.job

    folder = Path(aisle.jobs.move.job.__file__).parent
    text = "".join((folder / f"{name}.py").read_text() for name in ("job", "take_goods", "put_goods", "goods_in_hand"))
    told = set(findall(r'reply\([^"]*"(move\.\w+)"', text)) | set(findall(r'id_ = "(move\.\w+)"', text))
    wanted = (told | {*aisle.jobs.move.job.MoveJob.steps}) - {"move.moved_on_many"}  # several goods moved on: rare
    assert {id_: reached[id_] for id_ in wanted if reached[id_] < REACHED} == {}
