"""The short job by itself: where else, how much around, when more comes, why; one digit decides."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle import named_tuple_json
from aisle.jobs.job import Changed, Close, Closed, Context, Event, Opened, Policy, Query, Refresh, Resumed, Rows, Start
from aisle.jobs.pick.shortage import ShortageJob, ShortageState
from aisle.jobs.pick.shortage_choices import MAX_NEAR, Reason, parse_reasons
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, DetailView, Msg, Verdict
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    RefusedInput,
    Scan,
    Text,
    UnknownCode,
)
from aisle.settings.setting_definitions import SHORTAGE_REASONS
from aisle.tui.layout.detail_view import detail_page
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.message_text import MessageWriter
from tests.run_length import tries

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z")

SHEET = {
    "product_number": "P1",
    "product_name": "Tea",
    "most_likely_quantity": 9,
    "most_likely_datetime": "2026-11-20T09:58:00Z",
    "next_delivery_datetime": "2026-11-21T07:00:00",
    "pools": [{"pool": 1, "name": "Floor", "quantity": 3}, {"pool": 2, "name": "", "quantity": 2}],
}
STORES = [
    {"store_name": "Fernhill", "quantity": 4, "is_warehouse": False},
    {"store_name": "Depot", "quantity": 480, "is_warehouse": True},
]


def spot(code: str, quantity: float = 5, pool: int = 1) -> dict[str, Any]:
    return {"location_code": code, "quantity": Decimal(str(quantity)), "pool": pool}


def painted(view: DetailView) -> list[str]:
    """The lines of the page."""
    page, _ = detail_page(view, LayoutBox(80, 24, MessageWriter()))
    return ["".join(text for text, _ in line) for line in page.lines]


class Shop:
    """What the cache has, as the reads tell it."""

    def __init__(self, *places: str) -> None:
        self.spots = [spot(code) for code in places]
        self.learnt: list[dict[str, Any]] = []
        self.sheet: list[dict[str, Any]] = [SHEET]
        self.around = [{"stores": STORES, "read_at": "2026-11-20T09:00:00Z", "refused": ""}]
        self.coming: list[dict[str, Any]] = []
        self.features: list[dict[str, Any]] = [{"features": ["line-reasons"]}]
        self.orders: list[dict[str, Any]] = []

    def answer(self, query: Query) -> Rows:
        rows = {
            "other_locations": self.spots,
            "short_reasons": self.learnt,
            "product": self.sheet,
            "surrounding": self.around,
            "features": self.features,
            "next_deliveries": self.coming,
            "order_to_pick": self.orders,
        }[query.name]
        return Rows(query.id, tuple(rows), len(rows))


def need(order: str = "O1", tote: str = "", rest: int = 4, line: int = 1) -> dict[str, Any]:
    return {"order_number": order, "line_number": line, "tote": tote, "rest": Decimal(rest)}


ARGS: dict[str, Any] = {
    "orders": [need()],
    "product_number": "P1",
    "label": "Tea",
    "location": "A-3",
    "pool": 1,
    "pools": [1, 2],
    "ordered": Decimal(6),
    "rest": Decimal(4),
    "decimal": False,
    "unit": "pc",
}


class Hand:
    """Opens the job as a pick does and answers its questions as a session does; the last question is answered first."""

    def __init__(self, shop: Shop, policy: Policy = CONTEXT.policy, keeps: bool = True, **args: Any) -> None:
        self.job = ShortageJob()
        self.shop = shop
        self.keeps = keeps
        """Whether each state goes through the journal's codec."""
        self.context = CONTEXT._replace(policy=policy)
        self.state: ShortageState = self.job.begin()
        self.effects: list[Any] = []
        self.journal: list[Event] = []
        self.verdict: Verdict | None = None
        self.feed(Opened({**ARGS, **args}))

    def feed(self, event: Event, live: bool = False) -> None:
        turn = self.job.handle(self.state, event, self.context)
        self.state = (
            named_tuple_json.from_text(ShortageState, named_tuple_json.to_text(turn.state))
            if self.keeps
            else turn.state
        )
        assert self.state == turn.state
        if not live:
            self.journal.append(event)
        self.verdict = turn.verdict or self.verdict
        self.effects += turn.effects
        for query in reversed([effect for effect in turn.effects if isinstance(effect, Query)]):
            self.feed(self.shop.answer(query), query.is_live)

    def say(self, event: Event) -> str:
        """The message id of the verdict to what somebody said."""
        self.effects, self.verdict = [], None
        self.feed(event)
        return self.verdict.text.id if self.verdict else ""

    def scan(self, key: str, kind: str = LOCATION) -> str:
        return self.say(Scan((Match(kind, key, f"Thing {key}", code=key),)))

    @property
    def answer(self) -> Any:
        """What the pick below is told; None while the page is open or where it was left without an answer."""
        closes = [effect for effect in self.effects if isinstance(effect, Close)]
        return closes[0].answer if closes else None

    @property
    def closed(self) -> bool:
        return any(isinstance(effect, Close) for effect in self.effects)

    @property
    def view(self) -> DetailView:
        return self.job.view(self.state)

    @property
    def ways(self) -> list[tuple[str, str]]:
        return [(way.kind, way.key) for way in self.state.choices]


WHY = [("reason", code) for code in ("20", "21", "22", "23", "24")]


def said(view: DetailView) -> list[str]:
    """The ids of all messages of a view, nested ones too."""
    cells = [view.title, view.prompt, *(line.text for line in view.lines), *view.choices]
    for block in view.blocks:
        cells += [block.title, *(cell for row in block.rows for cell in row)]
    return [one.id for cell in cells for one in nested(cell)]


def nested(message: Msg) -> list[Msg]:
    inner = [each for _, value in message.args if isinstance(value, Msg) for each in nested(value)]
    return [message, *inner]


def test_places_reasons_and_all_that_informs_are_there_at_once() -> None:
    hand = Hand(Shop("A-4", "A-2"))
    assert hand.ways == [("location", "A-4"), ("location", "A-2"), *WHY, ("reject", "")]
    assert hand.job.accepts(hand.state).choices == 8
    titles = [block.title.id for block in hand.view.blocks]
    assert titles == ["shortage.choices", "look_up.with_age", "look_up.expected_deliveries"]
    assert {"shortage.nearby", "shortage.expected_delivery", "shortage.missing", "look_up.warehouse"} <= set(
        said(hand.view)
    )
    around = next(line for line in hand.view.lines if line.text.id == "shortage.join").text.args[0][1]
    assert isinstance(around, Msg)
    assert dict(around.args) == {"quantity": Decimal(4)}
    assert [effect for effect in hand.effects if isinstance(effect, Refresh)] == [
        Refresh("product", "P1"),
        Refresh("surrounding", "P1"),
    ]


def test_delivery_with_product_is_named_before_stock_entry_date() -> None:
    shop = Shop("A-4")
    shop.coming = [{"order_number": "7005", "missing": Decimal(6), "datetime_expected": "2026-11-26T07:00:00Z"}]
    hand = Hand(shop)
    page = "\n".join(painted(hand.view))
    assert "6 on 7005, 26 Nov" in page
    assert {"look_up.expected_with", "look_up.delivery"} <= set(said(hand.view))
    shop.coming = [{"order_number": "7001", "missing": Decimal(2), "datetime_expected": ""}]
    hand.say(Changed("delivery", "7001"))
    assert "2 on 7001" in "\n".join(painted(hand.view))


def test_one_digit_takes_the_rest_elsewhere() -> None:
    hand = Hand(Shop("A-4", "A-2"))
    assert hand.say(Choice(2)) == "pick.elsewhere"
    assert hand.answer == {"kind": "elsewhere", "location": "A-2", "pool": 1}


def test_one_digit_closes_the_line_short_with_its_reason() -> None:
    hand = Hand(Shop("A-4"))
    assert hand.say(Choice(4)) == "shortage.closed"
    assert hand.answer == {"kind": "short", "code": "22", "text": "Damaged", "empty": False, "rest": "4"}
    hand = Hand(Shop())
    assert hand.say(Choice(1)) == "shortage.closed"
    assert (hand.answer["code"], hand.answer["empty"]) == ("20", True)


def test_a_reason_that_the_service_does_not_keep_is_said_to_stay_here() -> None:
    shop = Shop()
    shop.features = [{"features": []}]
    hand = Hand(shop)
    assert "shortage.reason_kept_on_host" in said(hand.view)
    assert hand.say(Choice(2)) == "shortage.closed_on_host"
    shop.features = []
    assert "shortage.reason_kept_on_host" not in said(Hand(shop).view)


def test_the_order_is_rejected_with_a_reason() -> None:
    hand = Hand(Shop("A-4"))
    assert hand.say(Choice(7)) == "shortage.which_reason"
    assert hand.job.step_name(hand.state) == "shortage.which_reason"
    assert hand.say(Choice(3)) == "shortage.confirm_reject"
    assert hand.answer is None
    assert hand.say(Back()) == "session.dropped"
    assert hand.say(Choice(3)) == "shortage.confirm_reject"
    assert [choice.args for choice in hand.view.choices] == [(("order", "O1"),)]
    assert hand.say(Choice(1)) == "shortage.rejected"
    assert hand.answer == {"kind": "reject", "code": "22", "text": "Damaged", "order_number": "O1"}


def test_of_several_orders_one_is_named_by_its_tote() -> None:
    hand = Hand(Shop(), orders=[need("O1", "T1"), need("O2", "T2"), need("O1", "T1", line=7)])
    assert "shortage.needed_by" in said(hand.view)
    assert hand.say(Choice(6)) == "shortage.which_order"
    assert [row[0].args for row in hand.view.blocks[0].rows] == [
        (("order", "O1"), ("tote", "T1")),
        (("order", "O2"), ("tote", "T2")),
    ]
    hand.say(Choice(2))
    assert hand.say(Back()) == "shortage.which_order"
    hand.say(Choice(2))
    assert hand.say(Choice(1)) == "shortage.confirm_reject"
    assert hand.say(Choice(1)) == "shortage.rejected"
    assert (hand.answer["order_number"], hand.answer["code"]) == ("O2", "20")


def test_back_goes_one_question_back_and_leaves_without_an_answer() -> None:
    hand = Hand(Shop())
    hand.say(Choice(6))
    assert hand.say(Back()) == "session.dropped"
    assert not hand.closed
    assert hand.say(Back()) == "session.dropped"
    assert hand.closed
    assert hand.answer is None


def test_a_place_with_stock_is_as_good_as_its_number() -> None:
    hand = Hand(Shop("A-4", "A-2"))
    assert hand.scan("a-2") == "pick.elsewhere"
    assert hand.answer["location"] == "A-2"


def test_where_nothing_is_known_it_can_be_taken_all_the_same() -> None:
    hand = Hand(Shop("A-4"))
    assert hand.scan("Z-9") == "shortage.no_stock_there"
    assert hand.verdict is not None
    assert hand.verdict.kind == ASK
    assert hand.job.accepts(hand.state).choices == len(hand.ways) + 1
    assert hand.view.blocks[0].numbered_rows == len(hand.ways)
    assert hand.say(Back()) == "session.dropped"
    hand.scan("Z-9")
    assert hand.say(Choice(len(hand.ways) + 1)) == "pick.elsewhere"
    assert hand.answer == {"kind": "elsewhere", "location": "Z-9", "pool": 1}
    assert hand.scan("A-3") == "shortage.same_location"


def test_the_product_itself_was_found_after_all() -> None:
    hand = Hand(Shop())
    thing = Scan((Match(ORDER, "P1"), Match(PRODUCT, "P1", "Tea", Decimal(2), code="871")))
    hand.say(thing)
    assert [effect for effect in hand.effects if isinstance(effect, Close)] == [Close(event_for_below=thing)]


@pytest.mark.parametrize(
    "between",
    [None, UnknownCode("X1"), Text("tea"), Scan((Match(PRODUCT, "P2"),)), Scan((Match(PERSON, "U1"),)), Command("n")],
)
def test_product_after_location_without_stock_names_that_location(between: Event | None) -> None:
    hand = Hand(Shop("A-4"))
    thing = Scan((Match(PRODUCT, "P1", "Tea"),))
    hand.scan("Z-9")
    if between:
        hand.say(between)
    hand.say(thing)
    (close,) = [effect for effect in hand.effects if isinstance(effect, Close)]
    assert close == Close(event_for_below=thing, answer={"kind": "found", "location": "Z-9", "pool": 1})


@pytest.mark.parametrize("between", [Back(), Scan((Match(LOCATION, "A-3"),))])
def test_location_that_is_taken_back_is_not_named(between: Event) -> None:
    hand = Hand(Shop("A-4"))
    thing = Scan((Match(PRODUCT, "P1", "Tea"),))
    hand.scan("Z-9")
    hand.say(between)
    hand.say(thing)
    assert [effect for effect in hand.effects if isinstance(effect, Close)] == [Close(event_for_below=thing)]


def test_anything_else_says_why_not() -> None:
    hand = Hand(Shop())
    assert hand.scan("P2", PRODUCT) == "shortage.other_product"
    hand.say(Choice(len(hand.ways) + 1))
    assert hand.effects == [Start("look_up", {"product_number": "P2"})]
    assert hand.scan("O7", ORDER) == "count.answer_first"
    assert hand.scan("ann", PERSON) == "count.answer_first"
    assert hand.say(UnknownCode("999")) == "count.unknown"
    assert hand.say(Text("tea")) == "count.unknown"
    hand.say(Choice(6))
    assert hand.scan("Z-9") == "count.answer_first"
    assert not hand.closed


def test_numbers_stay_where_they_are_while_the_page_is_open() -> None:
    shop = Shop("A-4")
    hand = Hand(shop)
    before = hand.ways
    shop.spots = [spot("A-1"), spot("A-2", 2)]
    shop.learnt = [{"code": "31", "text": "Spilt"}]
    hand.say(Changed("product", "P1"))
    assert hand.ways[: len(before)] == before
    assert sorted(hand.ways[len(before) :]) == [("location", "A-1"), ("location", "A-2"), ("reason", "31")]
    assert "shortage.none_there" in said(hand.view)
    assert hand.say(Choice(1)) == "shortage.no_stock_there"
    assert hand.say(Choice(len(hand.ways) + 1)) == "pick.elsewhere"
    assert hand.answer["location"] == "A-4"


def test_the_numbers_of_the_page_mean_the_same_beside_what_a_scan_led_to() -> None:
    hand = Hand(Shop("A-4"))
    count = len(hand.ways)
    assert hand.scan("P2", PRODUCT) == "shortage.other_product"
    assert hand.view.blocks[0].numbered_rows == count
    assert [choice.id for choice in hand.view.choices] == ["shortage.choice_product"]
    assert f"{count + 1} Look up P2" in painted(hand.view)
    assert hand.say(Choice(4)) == "shortage.closed"
    assert (hand.answer["text"], hand.state.offered) == ("Damaged", None)


def test_what_a_scan_led_to_keeps_its_number_when_a_way_is_heard_of() -> None:
    shop = Shop("A-4")
    hand = Hand(shop)
    offered = len(hand.ways) + 1
    hand.scan("P2", PRODUCT)
    shop.spots = [spot("A-4"), spot("A-1")]
    hand.say(Changed("product", "P1"))
    assert len(hand.ways) == offered - 1, "no other way comes before it"
    hand.say(Choice(offered))
    assert hand.effects[-1] == Start("look_up", {"product_number": "P2"})
    assert hand.ways[offered - 1] == ("location", "A-1"), "it comes when nothing is asked"


@pytest.mark.parametrize("phase", ["which_order", "which_reason"])
def test_orders_and_reasons_keep_their_numbers_too(phase: str) -> None:
    hand = Hand(Shop(), orders=[need("O1", "T1"), need("O2", "T2")][: 2 if phase == "which_order" else 1])
    hand.say(Choice(6))
    assert hand.job.step_name(hand.state) == f"shortage.{phase}"
    open_ = hand.job.accepts(hand.state).choices
    hand.scan("P2", PRODUCT)
    assert (hand.view.blocks[0].numbered_rows, hand.job.accepts(hand.state).choices) == (open_, open_ + 1)
    assert (
        hand.say(Choice(1))
        == {"which_order": "shortage.which_reason", "which_reason": "shortage.confirm_reject"}[phase]
    )


def test_many_places_leave_the_reasons_their_digits() -> None:
    hand = Hand(Shop(*(f"B-{n}" for n in range(12))))
    assert [kind for kind, _ in hand.ways[:9]] == ["location"] * MAX_NEAR + ["reason"] * 5 + ["reject"]
    assert hand.job.accepts(hand.state).choices == 18
    hand.say(Command("n"))
    assert hand.state.page == 1
    hand.say(Command("p"))
    hand.say(CursorKey("pagedown"))
    assert hand.view.page == 1
    assert hand.say(Choice(18)) == "pick.elsewhere"
    assert hand.answer["location"] == "B-11"


def test_without_places_and_with_nothing_known_reasons_are_left() -> None:
    shop = Shop()
    shop.sheet, shop.around, shop.features = [], [], []
    hand = Hand(shop, location="", orders=[], pools=None, pool=None, unit=None, label="")
    assert hand.ways == WHY[1:]
    assert hand.view.lines[0].text.args == (("text", "P1"),)
    assert hand.say(Choice(4)) == "shortage.closed"
    assert hand.answer["code"] == "24"


def test_what_is_measured_is_said_with_its_unit() -> None:
    assert "shortage.missing" in said(Hand(Shop(), decimal=True, unit="kg", rest=Decimal("0.250")).view)


def test_the_table_of_reasons() -> None:
    assert [reason.code for reason in parse_reasons(SHORTAGE_REASONS)] == ["20", "21", "22", "23", "24"]
    assert parse_reasons(("7  Gone ", "8 0 Bare", "text", "")) == (Reason("7", "Gone"), Reason("8", "Bare", True))
    assert parse_reasons(("nothing",)) == parse_reasons(SHORTAGE_REASONS)
    learnt: Any = [{"code": "7", "text": "other words"}, {"code": "X", "text": "Odd"}]
    assert parse_reasons(("7 Gone",), learnt) == (Reason("7", "Gone"), Reason("X", "Odd"))
    hand = Hand(Shop(), Policy(short_reasons=("7 Gone",)))
    assert hand.ways == [("reason", "7"), ("reject", "")]


def test_a_reason_that_nobody_names_any_more_stays_while_the_page_is_open() -> None:
    shop = Shop()
    shop.learnt = [{"code": "X", "text": "Odd"}]
    hand = Hand(shop, Policy(short_reasons=("7 Gone", "8 Bare")))
    shop.learnt = [{"code": "A", "text": "Other"}]
    hand.context = hand.context._replace(policy=Policy(short_reasons=("8 Crushed",)))
    hand.say(Resumed())
    assert [kind for kind, _ in hand.ways] == ["reason", "reason", "reason", "reject", "reason"]
    words = {reason.code: reason.text for reason in hand.state.reasons}
    assert list(words.items()) == [("7", "Gone"), ("8", "Crushed"), ("X", "Odd"), ("A", "Other")]
    assert hand.view


def test_a_resume_stands_on_the_same_numbers_though_the_shop_has_changed() -> None:
    shop = Shop("A-4", "A-2")
    hand = Hand(shop)
    hand.say(Choice(8))
    again = Hand(Shop())
    again.state = again.job.begin()
    for event in hand.journal:
        again.state = again.job.handle(again.state, event, CONTEXT).state
    assert (again.state.choices, again.state.phase) == (hand.state.choices, "which_reason")
    again.shop = shop
    again.say(Resumed())
    assert again.state == hand.state
    again.say(Closed("look_up"))
    assert again.state == hand.state


# Whatever happens

CODES = ("A-4", "B-1", "B-2", "B-3", "C-9")

EVENTS: tuple[Event, ...] = (
    *(Choice(number) for number in (1, 1, 2, 3, 4, 5, 6, 7, 8, 12, 19)),
    *(Scan((Match(LOCATION, key),)) for key in ("A-3", "A-4", "B-1", "Z-9")),
    *(Scan((Match(PRODUCT, key, code=key),)) for key in ("P1", "P2", "P3")),
    *(Scan((Match(kind, "X"),)) for kind in (ORDER, PERSON)),
    *(
        Command("n"),
        Command("p"),
        Command("x"),
        CursorKey("up"),
        UnknownCode("9"),
        Text("tea"),
        RefusedInput("input.no_choice_back", "77"),
    ),
    *(Back(), Changed("product", "P1"), Changed("order", ""), Closed("look_up"), Resumed()),
)

VERDICTS = {
    *(
        "shortage.opened",
        "pick.elsewhere",
        "shortage.closed",
        "shortage.closed_on_host",
        "shortage.rejected",
        "session.dropped",
    ),
    *(
        "shortage.which_order",
        "shortage.which_reason",
        "shortage.no_stock_there",
        "shortage.same_location",
        "shortage.other_product",
        "count.answer_first",
    ),
    *("count.answer_first", "count.unknown", "shortage.confirm_reject", "session.dropped"),
}

Pick = Callable[[Sequence[Any]], Any]
"""One of several."""


def some(pick: Pick) -> list[str]:
    return [code for code in CODES if pick((True, False))]


def run(pick: Pick, length: int, keeps: bool) -> Counter[str]:
    """One shortage from the first page to its end; the steps and verdicts that it came by."""
    shop = Shop(*some(pick))
    shop.features = pick(([{"features": ["line-reasons"]}], [{"features": []}], []))
    orders = [need(f"O{n}", f"T{n}") for n in range(pick((0, 1, 1, 3)))]
    hand = Hand(shop, keeps=keeps, orders=orders, location=pick(("", "A-3")))
    seen = Counter({"shortage.opened": 1})
    for _ in range(length):
        event, reject = pick(EVENTS), ("reject", "")
        if (
            pick((False, False, True))
            and hand.state.phase == "choices"
            and not hand.state.offered
            and reject in hand.ways
        ):
            event = Choice(hand.ways.index(reject) + 1)
        if isinstance(event, Changed):
            shop.spots = [spot(code) for code in some(pick)]
        before = hand.ways
        seen[hand.say(event)] += 1
        view = hand.view
        seen[view.name] += 1
        assert hand.ways[: len(before)] == before
        assert hand.state.choice_count >= 1
        assert sum(block.numbered_rows for block in view.blocks) + len(view.choices) == hand.state.choice_count
        assert hand.verdict is None or hand.verdict.kind in (GOOD, INFO, WRONG, ASK)
        if hand.closed:
            assert hand.answer is None or hand.answer["kind"] in ("elsewhere", "short", "reject", "found")
            return seen
    for _ in range(4):
        if not hand.closed:
            seen[hand.say(Back())] += 1
    assert hand.closed
    assert hand.answer is None
    return seen


@given(st.data())
def test_no_sequence_raises_and_there_is_always_a_way_on_and_back(data: st.DataObject) -> None:
    run(lambda several: data.draw(st.sampled_from(several)), data.draw(st.integers(0, 12)), keeps=True)


def test_each_step_and_verdict_is_reached_often() -> None:
    chance = random.Random(11)
    seen: Counter[str] = Counter()
    for _ in range(tries(450, 3600)):
        seen += run(chance.choice, 12, keeps=False)
    assert {name: seen[name] for name in (*ShortageJob.steps, *VERDICTS) if seen[name] < tries(10, 100)} == {}
    assert {id_ for id_ in seen if id_} == {*ShortageJob.steps, *VERDICTS}


def picked_by_others(picked: int, **more: Any) -> dict[str, Any]:
    """The order of which six pieces are needed, as the cache has it."""
    line = {"line_number": 1, "product_number": "P1", "quantity": Decimal(6), "picked_quantity": Decimal(picked)}
    return {"lines": [line], "lines_known": True} | more


@pytest.mark.parametrize("topic", ["order", "outbox"])
def test_the_page_follows_what_others_pick(topic: str) -> None:
    hand = Hand(Shop("B-1"))
    hand.shop.orders = [picked_by_others(4)]
    hand.feed(Changed(topic, "O1" if topic == "order" else ""))
    assert hand.verdict == Verdict(INFO, Msg("shortage.opened", (("rest", Decimal(2)), ("label", "Tea"))))
    assert dict(hand.view.lines[1].text.args)["rest"] == 2
    hand.feed(Choice(2))
    assert hand.answer is not None
    assert hand.answer["rest"] == "2"


def test_the_page_closes_once_nothing_is_missing() -> None:
    hand = Hand(Shop("B-1"))
    hand.shop.orders = [picked_by_others(6)]
    hand.feed(Changed("order", "O1"))
    assert hand.verdict is not None
    assert hand.verdict.text.id == "shortage.none_missing"
    assert hand.effects[-1] == Close()


@pytest.mark.parametrize("row", [None, picked_by_others(2), picked_by_others(6, lines_known=False)])
def test_the_page_stays_while_nothing_is_known_to_have_changed(row: dict[str, Any] | None) -> None:
    hand = Hand(Shop("B-1"))
    hand.shop.orders = [row] if row else []
    hand.feed(Changed("order", "O1"))
    assert dict(hand.view.lines[1].text.args)["rest"] == 4
    assert Close() not in hand.effects
