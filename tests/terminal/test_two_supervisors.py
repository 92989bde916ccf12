"""Two supervisors and three pickers at once, in real terminals: no action is lost, each conflict is told.

Everybody types as soon as he has an answer. What was told at the screens is compared with the books at the end.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aisle.service.demo.seed import SUPERVISOR_PIN
from tests.run_length import tries
from tests.terminal.picker import HANDS_S, KEY_S, READING_S, START_S, Picker, Seen
from tests.terminal.shop import Shop, on_this_host
from tests.terminal.test_batch_supervisor import desk
from tests.terminal.test_clearance import typed
from tests.terminal.test_entry_counts import open_job
from tests.terminal.test_order_board import numbered

pytestmark = [pytest.mark.pty, pytest.mark.full]

Pick = Callable[..., Picker]
Script = Generator[str | re.Pattern[str], Any, None]
"""Yields what is typed, and gets its answer; or what has to be on the screen, and gets the match."""

PICKERS = ("anna", "ben", "chloë")
PEOPLE = {"anna": "U1", "ben": "U2", "chloë": "U3"}
TOLD_S = 20.0
"""So long a picker may go on before he is told; a screen looks by itself every five seconds."""

WAYS = {
    "claim": "Claim",
    "reject": "Reject",
    "priority": "Prioritise",
    "no_priority": "No priority",
    "split": "Give to another",
    "release": "Release",
    "reopen": "Reopen",
}
PROMPT = re.compile("Choose a number|b: back")

CONCERNS = ("claim", "reject", "split", "priority", "no_priority")
"""What is told to whoever has the order in hand; a release where the claim was his own."""

LAID = ("pick.put_down", "session.dropped", "pick.nothing_in_hand")
"""What is said where nothing is to be put down any more."""

WORDS = """
    taken_over join reassigned removed_with_goods rejected priority
    priority_batch no_priority released
"""

DONE = "order_actions.done_"
"""Beginning of the ids of what is said of a deed that was done."""

DONE_ELSEWHERE = {
    "pick.handed_over_now": "hand_over",
    "home.reopened": "reopen",
    "pick.no_priority": "no_priority",
    "pick.reopened": "reopen_line",
}
"""Deeds by the ids of what is said of them and of other things."""

REFUSALS = """
    already_claimed already_priority already_rejected line_closed line_full line_open no_line
    not_claimed not_in_batch not_priority not_rejected nothing_picked order_finished order_rejected
"""

NOT_DONE = frozenset(f"order_actions.{word}" for word in REFUSALS.split()) | {"pick.left_done", "order.absent"}
"""How a supervisor is told why a deed was not done."""

NEWS = frozenset(f"pick.{word}" for word in WORDS.split())
"""How a picker is told of a deed."""


def is_done(verdict: str) -> bool:
    """Whether a supervisor is told that one deed was done."""
    return verdict in DONE_ELSEWHERE or (verdict.startswith(DONE) and verdict != f"{DONE}count")


_HELD = """
SELECT h.order_number, s.terminal, j.job_id, j.user FROM order_in_work h JOIN job j ON j.job_id = h.job_id
JOIN session s ON s.session_id = j.session_id WHERE j.closed IS NULL
"""

TYPED_AGAIN_S = 5.0
"""So long without an answer a line is typed once more."""

SCAN_LENGTH = 6
"""Least digits of a code that a scanner sends; shorter numbers are typed."""

SECONDS = tries(20, 300)
"""How long they are at it; a test with a home of its own hears no AISLE_FULL any more."""


class Deed(NamedTuple):
    """One thing that a supervisor did, as his screen says."""

    kind: str
    order: str
    verdict: str
    at: float
    holders: tuple[tuple[str, str], ...]
    """Who had it in hand just before: job_id and app user."""
    target: str = ""
    """The app user that it went to."""


class World:
    """What everybody has been told so far."""

    def __init__(self, home: Path, orders: list[str], codes: list[str], seed: int) -> None:
        self.home, self.orders, self.codes = home, orders, codes
        self.rng = random.Random(seed)
        self.until = 0.0
        self.taken: Counter[str] = Counter()
        self.deeds: list[Deed] = []

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.until

    def held(self) -> list[tuple[str, str, str, str]]:
        return [tuple(row) for row in on_this_host(self.home, _HELD)]


def picks(world: World, terminal: str) -> Script:
    """Picks the next order, puts it down, and so on."""
    seen: Seen = yield "1"
    while not (world.over and seen["step"] == "home"):
        step = seen["step"]
        if step in ("pick.product", "pick.location") and seen["verdict"] not in ("pick.not_here", "session.dropped"):
            mine = {row[0] for row in world.held() if row[1] == terminal}
            seen = yield world.rng.choice(world.codes) if world.rng.random() < 0.97 else "b"
            if seen["verdict"] in ("pick.picked", "pick.all_picked"):
                assert len(mine) == 1, mine
                world.taken[mine.pop()] += 1
        elif step == "pick.done" and seen["verdict"] not in LAID:
            seen = yield "PU-03"
            if seen["verdict"].startswith("pick.put_down_at"):  # goods of a rejected order lie there, as on a shelf
                seen = yield "1"
        elif step == "pick.return" and seen["verdict"] == "pick.choice_put_back":
            seen = yield "b"
        else:
            seen = yield {"home": "1", "pick.return": "o"}.get(step, "b")


def rules(world: World, me: str) -> Script:
    """Opens an order that somebody has in hand, or any, and does something to it."""
    while not world.over:
        held = [row[0] for row in world.held()]
        order = world.rng.choice(held if held and world.rng.random() < 0.7 else world.orders)
        yield order
        yield re.compile(f"Order {order}\\b")
        text = (yield PROMPT).string
        found = [(kind, match[1]) for kind, word in WAYS.items() if (match := re.search(f"(\\d) {word}", text))]
        if found:
            kind, number = world.rng.choice([each for each in found if each[0] != "reject"] * 4 + found)
            yield from does(world, order, kind, number)
        yield "b"


def does(world: World, order: str, kind: str, number: str) -> Script:
    """One deed, with what it asks; what was said in between is the answer of the last input."""
    target = world.rng.choice(PICKERS) if kind in ("claim", "split") else ""
    more = {"reject": ["1", "1"], "reopen": ["1"], "release": ["1"]}.get(kind, [target] if target else [])
    held = world.held()
    seen: Seen = {}
    for text in (number, *more):
        held, at = world.held(), time.time()
        seen = yield text
        if seen["step"] == "order" and seen["verdict"]:
            break
    if seen["verdict"] not in NOT_DONE and not is_done(seen["verdict"]):
        return  # the page had changed under the finger: nothing was done, and nothing was said to be
    if is_done(seen["verdict"]):
        kind = DONE_ELSEWHERE.get(seen["verdict"]) or seen["verdict"].removeprefix(DONE)
    holders = tuple((job, user) for number, _, job, user in held if number == order)
    world.deeds.append(Deed(kind, order, seen["verdict"], at, holders, PEOPLE.get(target, "")))


class Actor:
    """Somebody with a script at a terminal: never waits for anybody else, and is never faster than hands and eyes."""

    def __init__(self, app: Picker, script: Script) -> None:
        self.app, self.script = app, script
        self.waits: re.Pattern[str] | None = None
        self.keys: deque[bytes] = deque()
        """What is still to send of the input: key by key, or a scan in one write."""
        self.next_key_at = time.monotonic()
        self.sent = ""
        self.since = time.monotonic()
        self.answered = len(app.seen())
        self.done = False
        self._go(lambda: next(script))

    def _go(self, on: Callable[[], str | re.Pattern[str]]) -> None:
        try:
            wanted = on()
        except StopIteration:
            self.done = True
            return
        self.since = time.monotonic()
        self.waits = wanted if isinstance(wanted, re.Pattern) else None
        if isinstance(wanted, str):
            self.sent = wanted
            self._send()

    def _send(self) -> None:
        """Sends the input: a code at once, other text key by key, and later after a refusal."""
        is_scan = len(self.sent) >= SCAN_LENGTH and self.sent.isdecimal()
        self.keys.extend([f"{self.sent}\r".encode()] if is_scan else [key.encode() for key in f"{self.sent}\r"])
        seen = self.app.seen()
        is_refused = bool(seen) and seen[-1]["kind"] in ("Unknown", "UnknownCode", "Refused", "Text")
        self.next_key_at = time.monotonic() + (READING_S if is_refused else HANDS_S)

    def step(self) -> None:
        """Reads the screen; goes on where there is an answer."""
        self.app.terminal.pump(0.005)
        if self.keys:
            if time.monotonic() >= self.next_key_at:
                self.app.terminal.write(self.keys.popleft())
                self.next_key_at = time.monotonic() + KEY_S
        elif self.waits:
            if match := self.waits.search(" ".join(self.app.terminal.text.split())):
                self._go(lambda: self.script.send(match))
        else:
            seen = self.app.seen()
            if len(seen) > self.answered:
                self.answered += 1
                self._go(lambda: self.script.send(seen[self.answered - 1]))
            elif time.monotonic() > self.next_key_at + TYPED_AGAIN_S:
                self._send()  # a page opened while it was typed: the line is not taken
        patience = time.monotonic() - self.since
        assert patience < START_S, f"no answer for {patience:.0f} s:\n{self.app.terminal.text}"


def test_two_supervisors_and_three_pickers_at_once(shop: Shop, demo_home: Path, picker: Pick) -> None:
    goods = shop.goods(3)
    orders = [f"TWO-{n}" for n in range(1, 6 + SECONDS)]
    for order in orders:
        shop.add_order(order, [(row["product_number"], 3) for row in goods])
    world = World(demo_home, orders, [str(row["barcode"]) for row in goods], 11)
    actors = []
    for name in PICKERS:
        app = picker(columns=80, rows=24, env={"AISLE_TERMINAL": f"hand-{name}"})
        app.sign_in(name)
        app.shows("live", "TWO-1")
        actors.append((app, picks(world, f"hand-{name}")))
    for number, name in enumerate(("fred", "grace"), 1):
        app = desk(picker, name, f"desk-{number}")
        if name == "fred":  # the demo store knows a PIN of him, and none of her
            give_pin(app)
        actors.append((app, rules(world, name)))
    world.until = time.monotonic() + SECONDS
    at_work = [Actor(*each) for each in actors]
    while not all(actor.done for actor in at_work):
        for actor in at_work:
            if actor.done:
                actor.app.terminal.pump(0.001)
            else:
                actor.step()
    for actor in at_work:
        actor.app.shows("all sent")
    check(world, shop)


def give_pin(app: Picker) -> None:
    """From the board home, to the PIN, and back; it is good for all that follows."""
    app.go_home()
    open_job(app, "More", "home")
    app.take(numbered(app, "Chain"), "home", "")
    app.take(numbered(app, "PIN"), "pin", "pin.prompt")
    typed(app, SUPERVISOR_PIN, "****")
    app.shows("PIN accepted")
    open_job(app, "More", "home")
    app.take(numbered(app, "Orders"), "orders", "")


def check(world: World, shop: Shop) -> None:
    """The books have all that was told, and who was concerned was told."""
    kinds = Counter(deed.verdict for deed in world.deeds)
    print(f"{sum(world.taken.values())} picks, {dict(kinds.most_common())}")
    states = Counter(state for (state,) in on_this_host(world.home, "SELECT state FROM operation"))
    assert set(states) <= {"done", "rejected", "closed"}, states
    _no_deed_is_lost(world)
    _no_pick_is_lost(world, shop)
    told = [_is_told(world, deed, job) for deed in world.deeds for job, user in deed.holders if _matters(deed, user)]
    assert not any(told), "\n".join(each for each in told if each)
    print(f"{len(told)} conflicts, each told to whom it concerns")
    shop.balances()


def _no_deed_is_lost(world: World) -> None:
    """Each deed that was told is an operation of its own, or a remark."""
    sql = "SELECT body, created_at FROM operation WHERE operation = 'update-customer-order'"
    said = [(json.loads(body)["orders"], at) for body, at in on_this_host(world.home, sql)]
    field = {"reject": ("is_rejected", True), "reopen": ("is_rejected", False), "release": ("is_claimed", False)}
    field |= {"claim": ("is_claimed", True), "split": ("is_claimed", True)}
    for deed in world.deeds:
        if deed.kind in field and is_done(deed.verdict):
            name, value = field[deed.kind]
            assert any(
                body["order_number"] == deed.order and body.get(name) is value and at >= deed.at - 1
                for body, at in said
            ), deed


def _no_pick_is_lost(world: World, shop: Shop) -> None:
    """What was scanned into an order that was never rejected is what the service has of it, and what it refused."""
    rejected = {deed.order for deed in world.deeds if deed.kind in ("reject", "reopen")}
    left: Counter[str] = Counter()
    for body, answer in on_this_host(
        world.home, "SELECT body, answer FROM operation WHERE state IN ('rejected', 'closed') AND answer <> ''"
    ):
        order = json.loads(body).get("orders", {}) if body.startswith("{") else {}
        left[str(order.get("order_number"))] += int(float(json.loads(answer).get("left") or 0))
    for order in world.orders:
        if order not in rejected:
            have = int(sum(shop.picked(order).values()))
            assert have + left[order] == world.taken[order], (order, have, left[order], world.taken[order])


def _matters(deed: Deed, user: str) -> bool:
    told = is_done(deed.verdict)
    return told and deed.kind in CONCERNS and deed.target != user


def _is_told(world: World, deed: Deed, job: str) -> str:
    """Empty where the one who had the order in hand was told, or had left it; else what was not told."""
    sql = f"SELECT at, event, verdict FROM event WHERE job_id = '{job}' AND at >= {deed.at - 1}"
    events = on_this_host(world.home, sql)
    for at, event, verdict in events:
        if f'order/{deed.order}"' in event and verdict in NEWS and at <= deed.at + TOLD_S:
            return ""
    closed = on_this_host(world.home, f"SELECT closed FROM job WHERE job_id = '{job}'")
    if closed and closed[0][0] and closed[0][0] <= deed.at + TOLD_S:
        return ""
    seen = "\n".join(f"  {at - deed.at:+.1f} s {event} {verdict}" for at, event, verdict in events[:20])
    return f"{deed} was not told:\n{seen}"
