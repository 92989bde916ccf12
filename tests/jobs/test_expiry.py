"""Expiry checks by themselves: no terminal, no file, no network."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle import named_tuple_json
from aisle.jobs.expiry.expiry_state import CHECK, DISCOUNT, EXPIRY, LIST, ExpiryState, day_message
from aisle.jobs.expiry.job import ExpiryJob
from aisle.jobs.job import Changed, Close, Closed, Context, Event, Opened, Policy, Query, Resumed, Rows, Start
from aisle.jobs.job import Write as Operation
from aisle.jobs.view import Frame, LinkState, ListView, Msg, Step, Verdict, msg
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
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
from aisle.store_product_settings import (
    FIELD_BY_NAME,
    LABEL_CHECK,
    LABEL_EXPIRY,
    UNDONE_EXPIRY,
    parse_entry_values,
    parse_update_values,
)
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.run_length import tries

Row = dict[str, Any]

LIVE = ("expiry_checks", "shown", "refused_checks", "standing")
"""Ids of the queries that are not journalled."""

DISCOUNTS = Policy(expiry_discount_days=Decimal(2))


def stocked(number: str, check: str = "", expiry: str = "", **more: Any) -> Row:
    """A product as the query `store_product` gives it."""
    dates = {"validate_expiry_datetime": f"{check}T00:00:00Z" if check else None}
    dates["last_expiry_datetime"] = f"{expiry}T00:00:00Z" if expiry else None
    spot = {"location_code": "A-1", "quantity": Decimal(3)}
    flags = {"is_ranged": True, "keeps_all": True, "may_edit": True}
    return {"product_number": number, "product_name": f"Product {number}", "price": Decimal(2), "locations": [spot]} | {
        **flags,
        **dates,
        **more,
    }


class Hand:
    """Somebody at the shelves on the 30th of November, with a service that takes everything at once."""

    def __init__(self, policy: Policy | None = None, **common: Any) -> None:
        self.context = Context(store="0001", user="ann", now="2026-11-30T10:00:00Z", policy=policy or Policy())
        self.job = ExpiryJob()
        self.state: ExpiryState = self.job.begin()
        self.rows = {
            "P1": stocked("P1", "2026-11-30", "2026-12-02", **common),
            "P2": stocked("P2", "2026-11-01", **common),
            "P3": stocked("P3", "2026-12-24", "2026-12-27", expiration_min_range=10, **common),
            "P4": stocked("P4", **{**common, "is_ranged": False}),
        }
        self.effects: list[Any] = []
        self.writes: list[Operation] = []
        self.journal: list[Event] = []
        self.refused: list[Row] = []
        self.dates: list[tuple[str, ...]] = []
        """Of each item that `sent` looked at: the dates of a label, or the date that it undoes."""
        self.detail: Msg | None = None
        self.verdict: Msg | None = None
        self.said: Verdict | None = None
        self.feed(Opened({}))

    def feed(self, *events: Event) -> str:
        """The message id of the last verdict that these events lead to."""
        said, self.effects = "", []
        queue = deque(events)
        while queue:
            event = queue.popleft()
            turn = self.job.handle(self.state, event, self.context)
            self.state, said = turn.state, turn.verdict.text.id if turn.verdict else said
            self.detail = turn.verdict.detail if turn.verdict else self.detail
            self.verdict = turn.verdict.text if turn.verdict else self.verdict
            self.said = turn.verdict or self.said
            self.effects += turn.effects
            queries = [each for each in turn.effects if isinstance(each, Query)]
            self._apply([each for each in turn.effects if isinstance(each, Operation)])
            if not (isinstance(event, Rows) and event.id in LIVE) and not isinstance(event, Changed):
                self.journal.append(event)
            queue.extendleft(map(self._answer, queries))
            assert self.job.view(self.state).name == self.job.step_name(self.state) in self.job.steps
            assert named_tuple_json.from_text(ExpiryState, named_tuple_json.to_text(self.state)) == self.state
        return said

    def _apply(self, writes: list[Operation]) -> None:
        self.writes += writes
        for write in writes:
            for item in write.body:
                stored = self.rows[item["product_number"]]
                stored |= {FIELD_BY_NAME[name].entry_name: item[name] or None for name in item if name in FIELD_BY_NAME}
        if writes and self.job.requery_after_write:
            self.feed(Changed("outbox", ""))

    def _answer(self, query: Query) -> Rows:
        if query.name == "store_product":
            row = self.rows.get(query.args["product_number"])
            return Rows(query.id, (dict(row),) if row else (), 1)
        if query.name == "checked_products":
            return Rows(query.id, tuple(self._dates(each) for each in query.args["products"]), 1)
        if query.name == "refused_operations":
            return Rows(query.id, tuple(self.refused), len(self.refused))
        due = [number for number, row in self.rows.items() if self._is_due(row, query.args["day"])]
        first = query.args["first"]
        rows = tuple(
            {"product_number": each, "product_name": each, "location_code": "A-1", "due": "2026-11-30", "expiry": ""}
            for each in due[first : first + query.args["size"]]
        )
        return Rows(query.id, rows, len(due))

    def _dates(self, number: str) -> Row:
        days = parse_entry_values(self.rows[number])
        return {"product_number": number, "due": days[CHECK], "expiry": days.get(EXPIRY, "")}

    def _is_due(self, row: Row, day: str) -> bool:
        return bool(row["validate_expiry_datetime"]) and row["validate_expiry_datetime"][:10] <= day

    def scan(self, key: str, expiry: str = "", kind: str = PRODUCT, code: str = "") -> str:
        """A label, perhaps with a date."""
        return self.feed(Scan((Match(kind, key, key, code=code or f"87123456789{key[-1]}0", expiry=expiry),)))

    def sent(self) -> list[Row]:
        """What was sent since the last look: product and values, as plain text."""
        found, self.writes = self.writes, []
        for write in found:
            assert (write.operation, write.path, write.query) == ("update-store-products", {"store_number": "0001"}, {})
            assert write.lanes == (f"product/{write.body[0]['product_number']}",)
            assert write.needs_supervisor == (DISCOUNT in write.body[0])
        items = [item for write in found for item in write.body]
        names = (LABEL_EXPIRY, LABEL_CHECK, UNDONE_EXPIRY)
        self.dates = [tuple(item[name][:10] for name in names if name in item) for item in items]
        return [
            {"product": item["product_number"], **values} for item in items if (values := parse_update_values(item))
        ]

    @property
    def step(self) -> str:
        return self.job.step_name(self.state)


LABEL_DAYS = {"today": "2026-11-30", "past": "2026-11-28", "far": "2031-01-01"}


def _label(number: str, day: str) -> Scan:
    """A label of a product, with its date."""
    return Scan((Match(PRODUCT, number, number, code=f"87123456789{number[-1]}0", expiry=day),))


def test_scan_and_date_are_all_there_is_to_a_check() -> None:
    hand = Hand()
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert (view.total, dict(view.title.args)) == (2, {"count": 2})
    assert hand.scan("P1") == "expiry.which_date"
    assert hand.feed(Text("0712")) == "expiry.saved"
    (write,) = hand.writes
    assert write.body == [
        {
            "product_number": "P1",
            "expiry_date_time": "2026-12-07T00:00:00Z",
            "validate_expiry_date_time": "2026-12-04T00:00:00Z",
            "base": {"expiry_date_time": "2026-12-02", "validate_expiry_date_time": "2026-11-30"},
            "is_nearest": True,
        }
    ]
    assert (hand.step, hand.state.total) == ("expiry", 1)


def test_label_with_its_date_is_one_scan() -> None:
    hand = Hand()
    assert hand.scan("P2", "2026-12-20") == "expiry.saved"
    assert hand.scan("P1") == "expiry.which_date"
    assert hand.scan("P1", "2026-12-09") == "expiry.saved"
    assert [(each["product"], each[EXPIRY], each[CHECK]) for each in hand.sent()] == [
        ("P2", "2026-12-20", "2026-12-17"),
        ("P1", "2026-12-09", "2026-12-06"),
    ]


@pytest.mark.parametrize(
    ("number", "policy", "day", "check"),
    [
        ("P1", Policy(), "2026-12-01", "2026-12-01"),
        ("P1", Policy(expiry_check_days=Decimal(0)), "2026-12-07", "2026-12-07"),
        ("P1", Policy(expiry_check_days=Decimal(30)), "2026-12-07", "2026-12-01"),
        ("P3", Policy(), "2026-12-27", "2026-12-17"),
    ],
)
def test_next_check_is_some_days_before_and_at_least_tomorrow(
    number: str, policy: Policy, day: str, check: str
) -> None:
    hand = Hand(policy)
    hand.scan(number)
    hand.feed(Text(day))
    assert hand.sent() == [{"product": number, EXPIRY: day, CHECK: check}]


@pytest.mark.parametrize(
    ("text", "asked"), [("2811", "expiry.is_past"), ("1.1.2031", "expiry.is_far"), ("+1097", "expiry.is_far")]
)
def test_unlikely_date_is_asked_back(text: str, asked: str) -> None:
    hand = Hand()
    hand.scan("P1")
    assert hand.feed(Text(text)) == asked
    assert hand.scan("P2") == "count.answer_first"
    assert hand.feed(Text("7 dec")) == "expiry.saved"  # the last date counts
    hand.scan("P2")
    assert hand.feed(Text(text), Choice(2)) == "session.dropped"
    assert hand.step == "expiry.date"
    assert [each[EXPIRY] for each in hand.sent()] == ["2026-12-07"]


TYPED_QUESTIONS: dict[str, Event] = {
    "today": Text("3011"),
    "past": Text("2811"),
    "far": Text("1.1.2031"),
    "code": UnknownCode("2012"),
    "number": Scan((Match(ORDER, "2012", "2012", code="2012"),)),
}
LABEL_QUESTIONS: dict[str, Event] = {name: _label("P1", day) for name, day in LABEL_DAYS.items()}
QUESTIONS: dict[str, Event] = TYPED_QUESTIONS | {f"label {name}": event for name, event in LABEL_QUESTIONS.items()}
"""What leads to a question about a date of P1."""

NEXT_PACKS: dict[str, Event] = {
    **{day: _label("P1", day) for day in ("2026-12-15", "2026-11-30", "2026-11-20", "2031-06-01")},
    "bare code": _label("P1", ""),
    "hidden date": Scan((Match(PRODUCT, "P1", "P1", code="8712345678910", may_hide_expiry=True),)),
    "date alone": UnknownCode("17261215"),
    "another product": _label("P2", "2026-12-15"),
}


@pytest.mark.every_case
@pytest.mark.parametrize("pack", NEXT_PACKS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_label_takes_a_question_away(question: str, pack: str) -> None:
    """Somebody scans the packs of a shelf one after the other; what is expired stays asked."""
    hand = Hand()
    if not question.startswith("label"):
        hand.scan("P1")
    hand.feed(QUESTIONS[question])
    before = hand.state
    assert hand.step == "expiry.confirm"
    assert hand.feed(NEXT_PACKS[pack]) == "count.answer_first"
    assert (hand.state, hand.sent()) == (before, [])


@pytest.mark.parametrize("typed", [Text("1512"), UnknownCode("1512"), Scan((Match(ORDER, "15", "15", code="15"),))])
@pytest.mark.parametrize("question", QUESTIONS)
def test_typed_date_replaces_only_a_typed_one(question: str, typed: Event) -> None:
    hand = Hand()
    if not question.startswith("label"):
        hand.scan("P1")
    hand.feed(QUESTIONS[question])
    before, said = hand.state, hand.feed(typed)
    if question.startswith("label"):
        assert said in ("count.answer_first", "page.not_this")
        assert (hand.state, hand.sent()) == (before, [])
    else:
        assert said in ("expiry.saved", "expiry.code_or_date", "expiry.number_of")


def test_question_about_a_label_is_answered_and_the_next_pack_taken() -> None:
    hand = Hand()
    hand.scan("P1", "2026-11-30")
    hand.scan("P1", "2026-12-15")
    hand.feed(Choice(2))
    assert hand.scan("P1", "2026-12-15") == "expiry.saved"


def test_label_of_the_past_century_is_past() -> None:
    hand = Hand()
    assert hand.scan("P1", "2077-12-24") == "expiry.is_past"
    assert hand.state.day == "1977-12-24"


def test_label_whose_date_a_scanner_hides_says_so() -> None:
    hand = Hand()
    label = Scan((Match(PRODUCT, "P1", "P1", code="8712345678910", may_hide_expiry=True),))
    assert [hand.feed(label), hand.feed(label), hand.step] == ["input.no_gs", "input.no_gs", "expiry.date"]


def test_far_date_is_sent_once_confirmed() -> None:
    hand = Hand(Policy(expiry_far_days=Decimal(30)))
    assert hand.scan("P1", "2027-01-01") == "expiry.is_far"
    assert hand.feed(Choice(1)) == "expiry.saved"
    assert hand.sent()[0][EXPIRY] == "2027-01-01"


@pytest.mark.parametrize("events", [(Text(text), Choice(1)) for text in ("3011", "+0", "28 nov")])
def test_expired_goods_become_a_loss_before_the_date_of_the_rest(events: tuple[Event, ...]) -> None:
    hand = Hand()
    hand.scan("P1")
    hand.feed(*events)
    (start,) = (each for each in hand.effects if isinstance(each, Start))
    assert (start.args["product_number"], start.args["expired_on"] <= "2026-11-30") == ("P1", True)
    assert hand.feed(Closed("adjust")) == "expiry.no_loss"
    assert hand.feed(*events, Closed("adjust", {"quantity": Decimal(2)})) == "expiry.no_loss", "found, not lost"
    hand.feed(*events, Closed("adjust", {"quantity": Decimal(-2), "sent": "loss"}))
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert view.lines[-1].text.id == "expiry.rest"
    assert hand.sent() == []
    hand.feed(Command("u"))
    assert hand.effects == [Start("adjust", {"undo": "loss"})]
    hand.feed(Closed("adjust"), *events, Closed("adjust", {"quantity": Decimal(-2), "sent": "loss"}), Text("+10"))
    assert hand.sent() == [{"product": "P1", EXPIRY: "2026-12-10", CHECK: "2026-12-07"}]
    assert hand.feed(Command("u")) == "expiry.undone"
    hand.feed(Command("u"))
    assert hand.effects == [Start("adjust", {"undo": "loss"})]


@pytest.mark.parametrize(
    ("product", "day", "told", "detail"),
    [
        ("P2", "2026-12-24", "expiry.saved", "expiry.which_date"),
        ("P3", "2027-01-15", "expiry.nearest_of", "expiry.which_date"),
        ("P2", "2026-11-30", "expiry.is_today", "expiry.not_checked"),
        ("P2", "2026-12-01", "expiry.which_discount", "expiry.not_checked"),
    ],
)
def test_the_label_of_another_product_leaves_the_open_question(product: str, day: str, told: str, detail: str) -> None:
    hand = Hand(DISCOUNTS)
    assert hand.scan("P1") == "expiry.which_date"
    assert hand.scan(product, day) == told
    assert hand.detail is not None
    assert (hand.detail.id, dict(hand.detail.args)["label"]) == (detail, "Product P1")
    assert hand.state.product is not None
    is_open = detail == "expiry.which_date"
    assert hand.state.product.number == ("P1" if is_open else product)
    if is_open:
        hand.feed(Text("0712"))
        assert dict(hand.state.sent[-1].after)[EXPIRY] == "2026-12-07"
        assert hand.state.sent[-1].product == "P1"


MILKS = tuple(f"Long Meadow Milk {kind} 1 l" for kind in ("Skimmed", "Semi-skimmed"))


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("day", ["", "2026-12-24", "2026-12-05"])
def test_what_is_said_keeps_what_tells_products_apart(columns: int, day: str) -> None:
    for name in MILKS:
        hand = Hand()
        hand.rows["P1"]["product_name"] = name
        hand.scan("P1", "2026-12-05")
        hand.scan("P1", day)
        frame = Frame(hand.job.view(hand.state), LinkState("live", 5.0), hand.said)
        shown = " ".join(" ".join(plain_lines(layout_screen(frame, columns, 20))).split())
        band = shown[shown.index("OK ") :]
        assert name in band, shown


def test_of_several_labels_the_nearest_date_stands() -> None:
    hand = Hand()
    days = ("2026-12-24", "2026-12-27", "2026-12-25", "2026-12-20")
    assert [hand.scan("P1", day) for day in days] == [
        *("expiry.saved", "expiry.nearest_of", "expiry.nearest_of", "expiry.saved")
    ]
    assert [each[EXPIRY] for each in hand.sent()] == ["2026-12-24", "2026-12-20"]
    assert hand.dates == [(), ("2026-12-27", "2026-12-24"), ("2026-12-25", "2026-12-22"), ()]
    assert hand.scan("P3", "2027-01-15") == "expiry.nearest_of"  # somebody else gave 27 December
    assert (hand.sent(), hand.dates) == ([], [("2027-01-15", "2027-01-05")])


def test_undo_takes_the_label_back_that_changed_nothing() -> None:
    hand = Hand()
    assert [hand.scan("P1", day) for day in ("2026-12-24", "2026-12-27")] == ["expiry.saved", "expiry.nearest_of"]
    hand.sent()
    assert (hand.feed(Command("u")), hand.sent(), hand.dates) == ("expiry.label_undone", [], [("2026-12-27",)])
    assert hand.scan("P1", "2026-12-25") == "expiry.nearest_of"
    assert hand.state.last_labels.labels == 2
    assert [hand.feed(Command("u")) for _ in range(3)] == [
        *("expiry.label_undone", "expiry.undone", "pick.nothing_to_undo")
    ]
    assert [each[EXPIRY] for each in hand.sent()] == ["2026-12-02"]
    assert hand.dates[1:] == [("2026-12-25",), ("2026-12-24",)]
    assert hand.scan("P3", "2027-01-15") == "expiry.nearest_of"  # somebody else gave 27 December
    assert (hand.feed(Command("u")), hand.sent()) == ("expiry.label_undone", [])


@pytest.mark.parametrize(
    ("check", "now", "undone"),
    [
        ("2026-12-24", "2026-12-27", "expiry.label_undone"),  # the date that stood
        ("2026-11-30", "2026-12-05", "expiry.label_undone"),  # the check before, until the service has the label's
        ("2026-12-07", "2026-12-10", "expiry.label_undone"),  # a nearer date was given
        ("2027-01-12", "2027-01-15", "expiry.undone"),  # the nearer date was undone
        ("2026-11-30", "", "expiry.changed_since"),
    ],
)
def test_label_is_kept_by_our_own_service(check: str, now: str, undone: str) -> None:
    """Whichever date stands later, nobody is told that the one on the label does not count."""
    hand = Hand()
    assert hand.scan("P3", "2027-01-15") == "expiry.nearest_of"
    hand.sent()
    hand.rows["P3"] = stocked("P3", check, now)
    assert hand.feed(Changed("product", "P3")) == ""
    assert hand.feed(Command("u")) == undone
    if undone == "expiry.label_undone":
        assert hand.verdict
        assert dict(hand.verdict.args)["day"] == day_message(now)
    assert (hand.sent(), hand.dates) == ([], [] if undone == "expiry.changed_since" else [("2027-01-15",)])


def test_who_scanned_a_label_at_another_service_is_told_once_when_its_check_is_due() -> None:
    hand = Hand(keeps_all=False)
    assert [hand.scan("P1", day) for day in ("2026-12-24", "2026-12-27")] == ["expiry.saved", "expiry.nearest_of"]
    assert [each[EXPIRY] for each in hand.sent()] == ["2026-12-24"]
    assert hand.feed(Changed("product", "P1")) == ""
    hand.state = hand.state._replace(sent=hand.state.sent[1:])
    hand.rows["P1"] = stocked("P1", "2026-11-30", keeps_all=False)
    assert [hand.feed(Changed("product", "P1")) for _ in range(2)] == ["expiry.not_checked", ""]
    assert (hand.feed(Command("u")), hand.sent(), hand.dates) == ("expiry.label_undone", [], [])


@pytest.mark.parametrize(
    ("given", "other", "told"),
    [
        ("2026-12-24", "2026-12-10", "expiry.other_date"),
        ("2026-12-10", "2026-12-24", "expiry.other_date"),
        ("2026-12-24", "2026-12-24", ""),
        ("", "2026-12-24", ""),
    ],
)
def test_who_gave_another_date_than_the_one_in_force_is_told_once(given: str, other: str, told: str) -> None:
    hand = Hand()
    hand.scan("P1", given)
    if not given:
        hand.feed(Choice(1))
    assert hand.feed(Changed("product", "P1")) == ""
    hand.rows["P1"] = stocked("P1", "2026-12-21", other)
    assert [hand.feed(Changed("product", "P1")) for _ in range(2)] == [told, ""]
    assert hand.feed(Command("u")) == ("expiry.undone" if given == other else "expiry.changed_since")
    assert hand.feed(Changed("product", "P1")) == ""


def test_date_of_a_later_check_is_no_date_of_the_same_check() -> None:
    hand = Hand()
    hand.scan("P1", "2026-12-24")
    hand.context = hand.context._replace(now="2026-12-21T10:00:00Z")
    hand.rows["P1"] = stocked("P1", "2026-12-22", "2026-12-23")
    assert hand.feed(Changed("product", "P1")) == ""


@pytest.mark.parametrize(("number", "said"), [(1, "expiry.saved"), (2, "session.dropped")])
def test_typed_date_later_than_one_that_stands_is_asked(number: int, said: str) -> None:
    hand = Hand()
    hand.scan("P1")
    hand.rows["P1"] = stocked("P1", "2026-12-20", "2026-12-23")  # somebody else, while the page is open
    hand.feed(Changed("product", "P1"))
    assert hand.job.view(hand.state).lines[-1].text == msg("expiry.known", day=day_message("2026-12-23"))  # type: ignore[union-attr]
    assert hand.feed(Text("2412")) == "expiry.is_later"
    assert hand.feed(Choice(number)) == said
    hand.scan("P1")
    assert hand.feed(Text("0912")) == "expiry.saved"
    assert hand.writes[-1].body[0]["is_nearest"]
    assert all("is_nearest" not in write.body[0] for write in hand.writes[:-1])
    assert [each[EXPIRY] for each in hand.sent()] == ["2026-12-24", "2026-12-09"][number - 1 :]


def test_refused_check_is_told_once_and_not_undone() -> None:
    hand = Hand()
    hand.scan("P1", "2026-12-20")
    body = hand.writes[-1].body
    hand.refused = [{"op_id": "1", "user": "ann", "why": "no", "label": "P1", "body": body, "left": {}}]
    other = {**hand.refused[0], "op_id": "2", "body": [{"product_number": "P1", "min": 4}]}
    hand.refused.append(other)
    assert [hand.feed(Changed("outbox", "")) for _ in range(2)] == ["receive.refused", ""]
    change = {"op_id": "1", "outcome": "refused", "fields": [(EXPIRY, "", "2026-12-20")], "why": "no"}
    hand.rows["P1"]["said"] = [change]
    hand.sent()
    assert hand.feed(Command("u")) == "receive.refused"
    assert (hand.sent(), hand.feed(Command("u"))) == ([], "pick.nothing_to_undo")


def test_no_goods_there_sets_the_next_check_alone() -> None:
    hand = Hand()
    hand.scan("P1")
    assert hand.feed(Choice(1)) == "expiry.saved_none"
    assert hand.detail == msg("expiry.date_stays", day=day_message("2026-12-02"))
    assert hand.sent() == [{"product": "P1", CHECK: "2026-12-03"}]


@pytest.mark.parametrize(
    ("events", "sent"),
    [
        ((Quantity(Decimal("1.5")),), [{DISCOUNT: "1.5"}]),
        ((Choice(1),), []),
        ((Quantity(Decimal(2)), Quantity(Decimal(0)), Quantity(Decimal(1))), [{DISCOUNT: "1"}]),
    ],
)
def test_discount_is_asked_where_the_setting_wants_it(events: tuple[Event, ...], sent: list[Row]) -> None:
    hand = Hand(DISCOUNTS)
    hand.scan("P1")
    assert hand.feed(Text("+2")) == "expiry.which_discount"
    assert hand.feed(*events) == "expiry.saved"
    dates = {"product": "P1", EXPIRY: "2026-12-02", CHECK: "2026-12-01"}
    assert hand.sent() == [dates, *({"product": "P1", **each} for each in sent)]
    hand.scan("P2")
    assert hand.feed(Text("+3")) == "expiry.saved"


def test_staff_are_told_of_a_discount_that_a_supervisor_sets() -> None:
    hand = Hand(DISCOUNTS, may_edit=False)
    hand.scan("P1")
    assert hand.feed(Text("+2")) == "expiry.saved"
    assert len(hand.writes) == 1


def test_number_of_something_is_no_date_without_asking() -> None:
    hand = Hand()
    hand.scan("P1")
    assert hand.scan("0712", kind=ORDER, code="0712") == "expiry.number_of"
    assert hand.feed(Choice(2)) == "session.dropped"
    assert hand.scan("0712", kind=ORDER, code="0712") == "expiry.number_of"
    assert hand.feed(Choice(1)) == "expiry.saved"
    hand.scan("P2")
    hand.scan("2811", kind=PRODUCT, code="2811")
    assert hand.feed(Choice(1)) == "expiry.is_past"  # it is asked, too
    assert hand.sent() == [{"product": "P1", EXPIRY: "2026-12-07", CHECK: "2026-12-04"}]


def test_two_digits_of_a_product_are_asked_as_a_day_and_u_leaves_the_question() -> None:
    hand = Hand(DISCOUNTS)
    hand.scan("P1")
    assert hand.scan("P2", code="31") == "expiry.number_of"
    assert hand.state.day == "2026-12-31"
    assert (hand.feed(Command("u")), hand.step) == ("session.dropped", "expiry.date")
    hand.feed(Text("+2"), Command("u"))
    assert (hand.step, hand.sent()) == ("expiry.date", [])
    assert hand.scan("P2", code="45") == "expiry.instead"


def test_a_number_that_is_no_date_opens_its_product() -> None:
    hand = Hand(DISCOUNTS)
    hand.scan("P1")
    assert hand.scan("P2", code="31") == "expiry.number_of"
    assert hand.feed(Choice(2)) == "expiry.instead"
    assert hand.state.product is not None
    assert (hand.state.product.number, hand.sent()) == ("P2", [])
    assert hand.scan("P2", code="31") == "expiry.number_of"
    assert hand.feed(Choice(2)) == "session.dropped", "it is open"


def test_undo_gives_back_the_values_before() -> None:
    hand = Hand()
    before = {number: dict(row) for number, row in hand.rows.items()}
    hand.scan("P1", "2026-12-20")
    hand.scan("P2", "2026-12-21")
    hand.scan("P2")
    hand.feed(Choice(1))
    assert [hand.feed(Command("u")) for _ in range(4)] == [*["expiry.undone"] * 3, "pick.nothing_to_undo"]
    assert hand.rows == before
    assert set(hand.sent()[-1]) == {"product", EXPIRY, CHECK}


def test_undo_changes_nothing_that_others_have_changed_since() -> None:
    hand = Hand()
    hand.scan("P1", "2026-12-20")
    hand.rows["P1"]["validate_expiry_datetime"] = "2027-01-01T00:00:00Z"
    hand.sent()
    assert hand.feed(Command("u")) == "expiry.changed_since"
    assert hand.sent() == []


def test_service_of_the_document_alone_undoes_only_what_it_shows() -> None:
    hand = Hand(keeps_all=False)
    hand.scan("P1")
    assert [line.text.id for line in hand.job.view(hand.state).lines][-1] == "expiry.not_known"  # type: ignore[union-attr]
    hand.feed(Text("2012"))
    hand.rows["P1"]["last_expiry_datetime"] = "2026-11-30T10:00:01Z"  # when it was checked
    hand.sent()
    assert hand.feed(Command("u")) == "expiry.undone_partly"
    assert hand.sent() == [{"product": "P1", CHECK: "2026-11-30"}]
    hand.rows["P2"]["validate_expiry_datetime"] = None
    hand.scan("P2", "2026-12-20")
    hand.sent()
    assert hand.feed(Command("u")) == "expiry.none_before"
    assert hand.sent() == []


def test_what_is_no_product_of_the_store_is_refused() -> None:
    hand = Hand()
    assert hand.scan("P4") == "store_product.not_ranged"
    assert hand.scan("A-1", kind=LOCATION) == "page.not_this"
    assert hand.feed(Text("tea")) == "count.unknown"
    hand.scan("P1")
    assert hand.feed(Text("soon")) == "expiry.no_date"
    assert hand.scan("P2") == "expiry.instead"
    assert hand.feed(Back()) == "expiry.not_checked"
    hand.feed(Choice(2))
    assert hand.state.product is not None
    assert hand.state.product.number == "P2"
    hand.feed(Back(), Back())
    assert any(isinstance(each, Close) for each in hand.effects)


def _event(random: Random, hand: Hand) -> Event:
    """What somebody might do next."""
    accepts = hand.job.accepts(hand.state)
    number = random.choice(("P1", "P2", "P3", "P4"))
    expiry = random.choice(("", "", "2026-12-20", "2026-11-20", "2031-01-01"))
    code = random.choice(("8712345678900", "8712345678900", "0712"))
    kind = random.choice((PRODUCT, PRODUCT, PRODUCT, LOCATION))
    common: list[Callable[[], Event]] = [
        lambda: Scan((Match(kind, number, number, code=code, expiry=expiry),)),
        lambda: Text(random.choice(("0712", "+5", "3011", "2811", "7 dec", "1.1.31", "tea", "+0"))),
        lambda: Choice(random.randint(1, max(1, accepts.choices))),
        lambda: Command(random.choice(accepts.command_letters or "u")),
        lambda: Quantity(Decimal(random.choice(("1", "1.5", "0", "9")))),
        Back,
        lambda: Closed("adjust", random.choice((None, {"quantity": Decimal(-1)}))),
        lambda: random.choice((Resumed(), Changed("product", "P1"), Closed("look_up"))),
    ]
    return random.choices(common, (30, 25, 15, 15, 5, 5, 8, 5))[0]()


@pytest.mark.parametrize("seed", range(tries(60, 1500)))
def test_any_sequence_sends_what_was_said_and_survives_a_kill(seed: int) -> None:
    """Each check that was saved sends one date; its undo the values before; a replay of the journal ends the same."""
    random = Random(seed)
    hand = Hand(random.choice((Policy(), DISCOUNTS)), keeps_all=random.random() < 0.8)
    for _ in range(40):
        before, product = {number: dict(row) for number, row in hand.rows.items()}, hand.state.product
        sent_before = hand.state.sent
        hand.writes = []
        said = hand.feed(_event(random, hand))
        changed = {number for number, row in hand.rows.items() if row != before[number]}
        writes = hand.sent()
        assert changed <= {each["product"] for each in writes}
        assert all(set(each) <= {"product", EXPIRY, CHECK, DISCOUNT} for each in writes)
        if said in ("expiry.saved", "expiry.saved_none"):
            last = hand.state.sent[-1]
            assert {name: value for each in writes for name, value in each.items()} == {
                "product": last.product,
                **dict(last.after),
            }
            assert dict(last.after)[CHECK] > "2026-11-30"
            assert dict(last.after).get(EXPIRY, "9999") > "2026-11-30"
            is_other = product is not None and product.number != last.product
            assert hand.state.phase == ("date" if is_other else LIST)
            assert not is_other or hand.state.product == product
        elif said in ("expiry.undone", "expiry.undone_partly"):
            values = dict(sent_before[-1].before)
            assert all(values[name] == value for each in writes for name, value in each.items() if name != "product")
        else:
            assert not writes
    again = ExpiryJob()
    state = again.begin()
    for event in hand.journal:
        state = again.handle(state, event, hand.context).state
    work = ("phase", "product", "day", "other", "found_expired", "sent")
    assert [getattr(state, name) for name in work] == [getattr(hand.state, name) for name in work]
