"""Any sequence of scans, commands and changes over one to four orders: nothing raises, is lost or doubled, and from
everywhere there is a way on and a way back. The steps and verdicts that were reached are counted.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aisle import named_tuple_json
from aisle.jobs.job import Changed, Close, Closed, Context, Event, Opened, Policy, Query, Resumed, Rows, Start, Write
from aisle.jobs.pick.job import PickJob
from aisle.jobs.pick.open_question_and_choices import open_choices
from aisle.jobs.pick.pick_state import PickState
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Back,
    Choice,
    Command,
    Match,
    Quantity,
    Scan,
    Text,
    UnknownCode,
)
from tests.jobs.pick_runner import CONTEXT, line
from tests.run_length import tries

ORDERS = ("O1", "O2", "O3", "O4")
PRODUCTS = ("P1", "P2", "P3", "P4", "X1", "X2", "X3", "X4", "X5", "X6", "X7")
PLACES = ("A-1", "A-2", "B-1", "PU-1", "PU-2", "SHELF", "POOL")

STRANGERS: dict[str, dict[str, Any]] = {
    "X1": {"is_template": True},
    "X2": {"deprecation_date": "20200101", "referral": "P1", "referral_label": "One"},
    "X3": {"deprecation_date": "20200101"},
    "X4": {"wholes": [{"product_number": "P2", "label": "Two"}]},
    "X5": {"parts": [{"product_number": "P1", "label": "One"}]},
    "X6": {"orders": [{"order_number": "O9", "customer_name": ""}]},
    "X7": {"is_active": False},
}

EXAMPLES = tries(25, 150)
CHOOSE_OR_TYPE = ("prompt.choose_or_many", "prompt.choose_or_how_many")

CHANGES = ("come", "reject", "finish", "claim", "more", "pick")
"""What somebody else does to an order."""

VERDICTS: Counter[str] = Counter()
STEPS: Counter[str] = Counter()


def lines_of(order: str) -> dict[int, dict[str, Any]]:
    """What an order wants: products that others want too, at the same and at other places, weighed and closed ones."""
    n = int(order[1:])
    given = [
        line(1, "P1", 2 + n % 3, preferred_location_code="A-1", stock_pool=1, picking_stock_pool_array=["1", "2"]),
        line(2, "P2", 1, preferred_location_code="A-2" if n % 2 else "a-2"),
    ]
    if n % 2:
        given.append(line(3, "P3", 2, allow_decimal=True, unit="kg", preferred_location_code="A-2"))
    if n == 4:
        given[0].update(picked_quantity=1, moved_quantity=1)
    if n == 2:
        given += [line(3, "P1", 2, preferred_location_code="B-1"), line(4, "P4", 1, picked_quantity=1)]
    return {each["line_number"]: {"picked_quantity": 0, "moved_quantity": 0, **each} for each in given}


class World:
    """The service as the job's writes and other people leave it; the job beside it, closed or not."""

    def __init__(self, count: int, verified: bool, *, late: bool = False, verify_totes: bool = False) -> None:
        self.context: Context = CONTEXT._replace(policy=Policy(verified=verified, verify_totes=verify_totes))
        self.job = PickJob()
        self.state: PickState = self.job.begin()
        self.orders = {order: lines_of(order) for order in (*ORDERS, "O9")}
        self.heads: dict[str, dict[str, Any]] = {order: {"is_active": True} for order in self.orders}
        self.heads["O1"]["lines_known"] = not late
        self.back: defaultdict[str, Decimal] = defaultdict(Decimal)
        self.closed = False
        self.feed(Opened({"orders": list(ORDERS[:count])}))

    def feed(self, event: Event) -> None:
        """One event and all that follows from it, as a session does it."""
        waiting = [event]
        while waiting and not self.closed:
            turn = self.job.handle(self.state, waiting.pop(0), self.context)
            self.state = turn.state
            if turn.verdict:
                VERDICTS[turn.verdict.text.id] += 1
            for effect in turn.effects:
                if isinstance(effect, Write):
                    self.write(effect)
                elif isinstance(effect, Close):
                    self.closed = True
                    VERDICTS[effect.verdict.text.id if effect.verdict else ""] += 1
                elif isinstance(effect, Start):
                    waiting.append(Closed(effect.job))
            waiting = [*(self.answer(each) for each in reversed(turn.effects) if isinstance(each, Query)), *waiting]
        STEPS[self.job.step_name(self.state)] += 1

    def answer(self, query: Query) -> Rows:
        """What the cache says."""
        row: dict[str, Any] | None
        if query.name == "order_to_pick":
            number, lines = query.args["order_number"], self.orders.get(query.args["order_number"])
            row = None if lines is None else {"order_number": number, **self.heads[number], "lines": [*lines.values()]}
        elif query.name == "unexpected_product":
            row = STRANGERS.get(query.args["product_number"])
        elif query.name == "stock_at_location":
            row = {"pools": {"3": 5}} if query.args["location_code"] == "POOL" else None
        elif query.name == "location_use":
            row = {"goods": 2, "tags": [], "is_used": False} if query.args["location_code"] == "SHELF" else None
        else:
            row = None
        return Rows(query.id, (row,) if row else (), len(row or ()))

    def write(self, write: Write) -> None:
        """Carries an operation out, and looks whether it may be."""
        if write.operation == "create-movement":
            for item in write.body:
                self.move(item)
            return
        body = write.body["orders"]
        number = body["order_number"]
        self.heads[number].update({name: body[name] for name in ("is_rejected", "is_picked") if name in body})
        for said in body.get("order_lines", ()):
            mine = self.orders[number][said["line_number"]]
            assert said["base_picked_quantity"] == mine["picked_quantity"]
            assert mine["moved_quantity"] <= said["picked_quantity"] <= mine["quantity"]
            mine.update(picked_quantity=said["picked_quantity"], is_picked=said["is_picked"])
        if "is_picked" in body:
            assert body["is_picked"] == all(is_full(each) for each in self.orders[number].values())

    def move(self, item: dict[str, Any]) -> None:
        """Goods of a line from the hand to a place, or back."""
        source, target = item["from_location"], item["to_location"]
        assert ("location_code" in source) != ("location_code" in target)
        if "customer_order_number" not in source:
            self.put_back(item["product_number"], item["quantity"] * (1 if "location_code" in target else -1))
            return
        mine = self.orders[source["customer_order_number"]][source["customer_order_line_number"]]
        mine["moved_quantity"] += item["quantity"] * (1 if "location_code" in target else -1)
        assert 0 <= mine["moved_quantity"] <= mine["picked_quantity"]

    def put_back(self, product: str, quantity: Decimal) -> None:
        """Goods of rejected orders: what was in the hand when they were rejected, and no more than that."""
        self.back[product] += quantity
        rejected = [self.orders[order].values() for order, head in self.heads.items() if head.get("is_rejected")]
        mine = [each for lines in rejected for each in lines if each["product_number"] == product]
        assert 0 <= self.back[product] <= sum(each["picked_quantity"] - each["moved_quantity"] for each in mine)

    def check(self) -> None:
        """What must always be true."""
        state, job = self.state, self.job
        assert named_tuple_json.from_text(PickState, named_tuple_json.to_text(state)) == state
        assert state.phase == "wait" or len({each.stop_key for each in state.lines}) == stops_in_a_row(state)
        for each in state.lines:
            mine = self.orders[each.order][each.line]
            assert (each.picked, each.moved) == (mine["picked_quantity"], mine["moved_quantity"])
            assert 0 <= each.moved <= each.picked <= each.ordered
            assert each.is_closed == (bool(mine.get("is_picked")) and each.picked < each.ordered)
        view = job.view(state)
        assert view.prompt.id
        assert view.name == job.step_name(state)
        assert view.name in job.steps
        open_ = job.accepts(state)
        assert len(view.choices) == open_.choices
        assert (view.prompt.id in CHOOSE_OR_TYPE) == bool(open_.quantity and open_.choices)
        if state.totes and all(tote.has_lines for tote in state.totes):
            assert (state.current_line is None) == all(not each.is_open for each in state.lines)
            assert state.current_line is None or state.current_line.is_open
        if state.is_batch and state.current_line:
            assert any(each.role == "tote" for each in view.lines)


def is_full(row: dict[str, Any]) -> bool:
    return bool(row.get("is_picked")) or row["picked_quantity"] >= row["quantity"]


def stops_in_a_row(state: PickState) -> int:
    """How many stops there are when lines of one stop are counted as long as they follow each other."""
    stops = [each.stop_key for each in state.lines]
    return sum(at == 0 or stops[at - 1] != stop for at, stop in enumerate(stops))


def thing(kind: str, key: str, quantity: str) -> Scan:
    """One code with one meaning."""
    return Scan((Match(kind, key, key, Decimal(quantity), quantity != "1", key),))


def answer_of(kind: str, order: str, empty: bool) -> Closed:
    """What the page for a shortage answers."""
    why = {"code": "2", "text": "Not found", "empty": empty, "order_number": order}
    return Closed("shortage", {"kind": kind, "location": "B-1", "pool": 2, "label": "One", **why})


products = st.builds(thing, st.just(PRODUCT), st.sampled_from(PRODUCTS), st.sampled_from(["1", "2", "0.5", "7", "12"]))
wanted = st.builds(thing, st.just(PRODUCT), st.sampled_from(PRODUCTS[:4]), st.sampled_from(["1", "2", "3"]))
places = st.builds(thing, st.just(LOCATION), st.sampled_from(PLACES), st.just("1"))
others = st.builds(
    thing, st.sampled_from([ORDER, REFERENCE, PERSON]), st.sampled_from(["O1", "O2", "O9", "bob"]), st.just("1")
)
twice = st.builds(
    lambda a, b: Scan((Match(PRODUCT, a, a, code="9"), Match(PRODUCT, b, b, code="9"))),
    st.sampled_from(PRODUCTS),
    st.sampled_from(PRODUCTS),
)
answers = st.builds(
    answer_of,
    st.sampled_from(["elsewhere", "found", "short", "short", "reject"]),
    st.sampled_from(ORDERS),
    st.booleans(),
)
commands = st.builds(Command, st.sampled_from("nusuz"))
changes = st.tuples(st.sampled_from(CHANGES), st.sampled_from(ORDERS))
events = st.one_of(
    wanted,
    wanted,
    wanted,
    products,
    places,
    others,
    twice,
    answers,
    commands,
    commands,
    changes,
    st.builds(Quantity, st.integers(0, 9).map(Decimal)),
    st.builds(Choice, st.integers(1, 4)),
    st.builds(Choice, st.integers(1, 2)),
    st.builds(UnknownCode, st.sampled_from(["?", "5", "TOTE"])),
    st.just(Text("words")),
    st.just(Resumed()),
    st.just(Changed("order", "")),
    st.just(Back()),
)


def change(world: World, what: str, order: str) -> None:
    """Somebody else does something to an order, and the job hears of it."""
    lines, head = world.orders[order], world.heads[order]
    if what == "come":
        head["lines_known"] = True
    elif what == "reject":
        head["is_rejected"] = True
    elif what == "finish":
        head["is_active"] = False
    elif what == "claim":
        head.update(is_claimed=True, claimed_by="bob")
    elif what == "more":
        kept = lines.get(9, {}) if head.get("is_rejected") else {}
        lines[9] = kept or {
            "picked_quantity": 0,
            "moved_quantity": 0,
            **line(9, "P4", 2, preferred_location_code="A-1"),
        }
    else:
        lines[2]["picked_quantity"] = lines[2]["quantity"]
    world.feed(Changed("order", order))


def act(world: World, event: Any) -> None:
    """An event for the job, or a change that somebody else makes."""
    if isinstance(event, tuple) and not hasattr(event, "_fields"):
        change(world, *event)
    else:
        world.feed(event)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.integers(1, 4), st.booleans(), st.booleans(), st.booleans(), st.lists(events, max_size=40))
def test_any_sequence(count: int, verified: bool, verify_totes: bool, late: bool, sequence: list[Any]) -> None:
    world = World(count, verified, late=late, verify_totes=verify_totes)
    for event in sequence:
        if world.closed:
            break
        act(world, event)
        if not world.closed:
            world.check()
    leave(world)


def leave(world: World) -> None:
    """From everywhere a few steps back lead out."""
    for _ in range(6 + len(world.state.totes_to_verify)):
        if world.closed:
            return
        ways = ("leave", "label_unreadable")
        leaving = [at for at, way in enumerate(open_choices(world.state), 1) if way.kind in ways]
        world.feed(Choice(leaving[0]) if leaving else Back())
    assert world.closed


def finish(world: World) -> None:
    """From everywhere the work can be brought to its end: each stop is scanned as the screen asks for it."""
    for _ in range(80):
        state = world.state
        is_done = state.current_line is None and not state.to_return and state.phase == "done"
        if world.closed or (is_done and not state.asks_for_tote):
            return
        if state.to_return:
            world.feed(Choice(next(at for at, way in enumerate(open_choices(state), 1) if way.kind == "put_back")))
        elif state.asks_for_tote:
            world.feed(thing(ORDER, state.totes_to_verify[0], "1"))
        elif state.needs_location and state.current_line:
            world.feed(thing(LOCATION, state.current_line.location, "1"))
        elif state.current_line and state.current_line.allows_decimals and state.is_quantity_open:
            current = state.current_line
            world.feed(Quantity(current.remaining if state.is_pack_asked else current.ordered))
        elif state.current_line:
            world.feed(thing(PRODUCT, state.current_line.product, str(state.current_line.remaining)))
        if not world.closed:
            world.check()
    raise AssertionError("no way on")


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.integers(1, 4), st.booleans(), st.booleans(), st.lists(events, max_size=15))
def test_the_work_can_always_be_finished(count: int, verified: bool, verify_totes: bool, sequence: list[Any]) -> None:
    world = World(count, verified, verify_totes=verify_totes)
    for event in sequence:
        if world.closed:
            return
        act(world, event)
    if not world.closed and world.state.choices:
        world.feed(Back())
    finish(world)


WORDS = """
    opened batch_opened picked picked_for_tote picked_for_totes tote_full batch_all_picked all_picked set_totes
    unchanged full more_than_ordered total_more_than_ordered moved weigh
    location_first_scan at_location wrong_location wrong_pool location_changed later undone
    nothing_to_undo reopened short elsewhere not_here not_in_batch template ended replaced not_sold
    part_of is_set for_other other_order this_order joined which_product person
    no_quantity leave_batch left left_batch waiting left_done left_batch_done left_not_put_down
    left_not_put_down_batch changed removed_with_goods
    prompt_return choice_put_back put_down put_down_totes put_down_undone put_down_at_source
    put_down_at_stock nothing_in_hand rejected handed_over_now
    comes_later fewer_than_picked in_tote verify_tote_first prompt_verify_tote
    picked_with_shortage batch_picked_with_shortage
"""

REACHED = frozenset(f"pick.{word}" for word in WORDS.split()) | {
    "count.unknown",
    "input.whole_number_only",
    "pair",
    "session.dropped",
    "pick.choice_tote",
    "locations.last_location",
}
"""Verdicts that a walk by chance leads to."""

ENOUGH, WALKS, LENGTH = tries(1, 50), 15_000, 40
"""How often each is to be reached, within so many walks of so many inputs."""

STRANGE = (UnknownCode("?"), UnknownCode("5"), Text("words"), Resumed(), Changed("order", ""))


def somewhere(rng: random.Random, state: PickState) -> Any:
    """What somebody might do next: mostly what the screen asks for."""
    dice = rng.random()
    if dice < 0.6 and state.asks_for_tote:
        return thing(ORDER, state.totes_to_verify[0], "1")
    if dice < 0.35 and state.current_line:
        if state.needs_location and rng.random() < 0.8:
            return thing(LOCATION, state.current_line.location, "1")
        return thing(
            PRODUCT, state.current_line.product, rng.choice(("1", "1", "2", str(state.current_line.remaining)))
        )
    if dice < 0.45 and open_choices(state):
        return Choice(rng.randint(1, len(open_choices(state))))
    if dice < 0.5:
        return thing(PRODUCT, rng.choice(PRODUCTS), rng.choice(("1", "2", "0.5", "12")))
    if dice < 0.58:
        return thing(LOCATION, rng.choice(PLACES), "1")
    if dice < 0.62:
        return thing(rng.choice((ORDER, REFERENCE, PERSON)), rng.choice(("O1", "O2", "O9")), "1")
    if dice < 0.64:
        return Scan(tuple(Match(PRODUCT, rng.choice(PRODUCTS[:4]), code="9") for _ in range(2)))
    if dice < 0.66:
        return answer_of(
            rng.choice(("elsewhere", "short", "short", "reject", "reject")), state.order or "O1", rng.random() < 0.5
        )
    if dice < 0.82:
        return Command(rng.choice("nuuus"))
    if dice < 0.85:
        mine = [tote.order for tote in state.totes] or ORDERS
        return rng.choice((*CHANGES, "reject", "finish", "finish")), rng.choice(mine)
    if dice < 0.93:
        return Quantity(Decimal(rng.randint(0, 9)))
    return rng.choice(STRANGE) if dice < 0.97 else Back()


def test_walks_by_chance_reach_every_step_and_verdict_often() -> None:
    rng = random.Random(20261120)
    VERDICTS.clear()
    STEPS.clear()
    for _ in range(WALKS):
        if all(VERDICTS[id_] >= ENOUGH for id_ in REACHED) and all(STEPS[step] >= ENOUGH for step in PickJob.steps):
            break
        is_late, verifies_totes = rng.random() < 0.1, rng.random() < 0.1
        world = World(rng.choice((1, 1, 2, 4)), rng.random() < 0.4, late=is_late, verify_totes=verifies_totes)
        for _ in range(LENGTH):
            if not world.closed:
                act(world, somewhere(rng, world.state))
    assert not {id_: VERDICTS[id_] for id_ in REACHED if VERDICTS[id_] < ENOUGH}
    assert not {step: STEPS[step] for step in PickJob.steps if STEPS[step] < ENOUGH}
