"""The page of open orders: what a search leaves behind."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Changed, Closed, Context, Query, Rows, SignOut, Start
from aisle.jobs.shell.home_orders_and_menu import MORE_MENU, HomeJob, HomeState, OpenOrderRow
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, add_goods, goods_progress_in_list
from aisle.jobs.supervisor.order_action_job import OrderActionJob, OrderActionState
from aisle.jobs.supervisor.order_board_list import BOARD, OrdersState
from aisle.jobs.supervisor.order_rows import parse_order_row
from aisle.jobs.view import ASK, INFO, WRONG, ListView, Verdict, msg
from aisle.scan.grammar_and_meaning_types import Back, Choice, Command, Meaning, Text, TypedText
from aisle.stored_messages import store_message
from aisle.tui.message_text import MessageWriter

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z")
ROW = {"order_number": "4101", "is_claimed": False}


def test_first_number_after_empty_search_picks_next_open_order() -> None:
    job = HomeJob()
    state = job.handle(HomeState(), Text("xyzzy"), CONTEXT).state
    state = job.handle(state, Rows("orders", (), 0), CONTEXT).state
    turn = job.handle(state, Rows("products", (), 0), CONTEXT)
    assert turn.verdict == Verdict(WRONG, msg("count.unknown", text="xyzzy", code="xyzzy"))
    (query,) = turn.effects
    assert isinstance(query, Query)
    assert not query.args.get("search")
    state = job.handle(turn.state, Rows("orders", (ROW,), 1), CONTEXT).state
    assert job.handle(state, Choice(1), CONTEXT).effects == (Start("pick", {"order_number": "4101"}),)


@pytest.mark.parametrize(
    ("search", "opens"),
    [("99", False), ("58999", False), ("w589", False), ("k", False), ("w58999", True), ("4128", True), ("knox", True)],
)
def test_digits_that_are_a_part_of_a_number_open_no_order_by_themselves(search: str, opens: bool) -> None:
    job = HomeJob()
    row = {**ROW, "order_number": "4128", "reference": "W58999", "customer_name": "René Knox"}
    turn = job.handle(job.handle(HomeState(), Text(search), CONTEXT).state, Rows("orders", (row,), 1), CONTEXT)
    pick = Start("pick", {"order_number": "4128"})
    if opens:
        assert turn.effects == (pick,)
    else:
        assert (turn.effects, turn.verdict) == ((), Verdict(ASK, msg("home.found_picked", text=search, order="4128")))
        assert job.handle(turn.state, Choice(1), CONTEXT).effects == (pick,)


def test_done_opens_what_is_not_settled_only_where_there_is_any() -> None:
    job = HomeJob()
    turn = job.handle(HomeState(), Command("d"), CONTEXT)
    assert (turn.effects, turn.verdict) == ((), Verdict(INFO, msg("home.none_unconfirmed")))
    assert job.handle(HomeState(unconfirmed=1), Command("d"), CONTEXT).effects == (Start("unconfirmed", {}),)


def test_orders_assigned_to_user_are_notified_once_and_marked() -> None:
    job = HomeJob()
    turn = job.handle(HomeState(), Changed("outbox", ""), CONTEXT)
    queries = {effect.id: effect for effect in turn.effects if isinstance(effect, Query)}
    assert (queries["assigned_orders"].args, queries["orders"].args["user"]) == ({"user": "ann"}, "ann")
    given = Rows("assigned_orders", ({"order_number": "4101", "by": "Carla", "at": "now"},), 1)
    turn = job.handle(turn.state, given, CONTEXT)
    assert turn.verdict == Verdict(ASK, msg("home.assigned", order="4101", who="Carla"))
    state = job.handle(turn.state, Text("xyzzy"), CONTEXT).state
    assert job.handle(state, given, CONTEXT).verdict is None
    rows = ({**ROW, "assigned_to": "ann", "assigned_by": "Carla"}, {**ROW, "order_number": "4102", "is_priority": True})
    view = job.view(job.handle(turn.state, Rows("orders", rows, 2), CONTEXT).state)
    assert isinstance(view, ListView)
    assert [row.cells[1].id for row in view.rows] == ["home.assigned_by", "home.priority"]


@pytest.mark.parametrize(
    ("letter", "answer", "due", "otherwise"),
    [
        ("c", "recounts", Start("exceptions", {"kind": "recounts"}), Start("count", {})),
        ("e", "expiry_checks", Start("expiry", {}), Start("expiry", {})),
    ],
)
def test_work_that_is_due_is_counted_and_opened_by_its_letter(
    letter: str, answer: str, due: Start, otherwise: Start
) -> None:
    job = HomeJob()
    turn = job.handle(HomeState(), Changed("outbox", ""), CONTEXT)
    assert answer in {effect.id for effect in turn.effects if isinstance(effect, Query)}
    assert job.handle(turn.state, Command(letter), CONTEXT).effects == (otherwise,)
    state = job.handle(turn.state, Rows(answer, (), 2), CONTEXT).state
    assert [hint.text.args for hint in job.view(state).key_hints if hint.letter == letter] == [(("count", 2),)]
    assert job.handle(state, Command(letter), CONTEXT).effects == (due,)


def test_an_order_that_was_rejected_under_the_hands_is_open_again() -> None:
    job = HomeJob()
    turn = job.handle(HomeState(), Closed("pick", {"rejected": "4101"}), CONTEXT)
    assert "rejected_order" in [effect.id for effect in turn.effects if isinstance(effect, Query)]
    rejected = {**ROW, "is_rejected": True, "is_active": True}
    state = job.handle(turn.state, Rows("rejected_order", (rejected,), 1), CONTEXT)
    assert state.verdict is None
    state = job.handle(state.state, Text("smith"), CONTEXT)
    assert state.state.rejected_order == "4101", "a search does not end the watch"
    state = job.handle(state.state, Rows("rejected_order", ({**rejected, "is_rejected": False},), 1), CONTEXT)
    assert state.verdict == Verdict(INFO, msg("home.reopened", order="4101"))
    assert not state.state.rejected_order


def test_orders_that_were_never_read_are_not_none() -> None:
    job = HomeJob()
    turn = job.handle(HomeState(), Choice(1), CONTEXT)
    (query,) = turn.effects
    assert isinstance(query, Query)
    awaited = job.handle(turn.state, Rows(query.id, ({"list": "headers"}, {"list": "logs"}), 2), CONTEXT)
    assert awaited.verdict == Verdict(WRONG, msg("home.loading"))
    none = job.handle(turn.state, Rows(query.id, ({"list": "logs"},), 1), CONTEXT)
    assert none.verdict == Verdict(WRONG, msg("home.nothing"))


SIGN_OUT = Choice([effect for _, effect in MORE_MENU].index(SignOut()) + 1)


@pytest.mark.parametrize(("said", "page"), [(Command("o"), 0), (SIGN_OUT, 1)])
def test_sign_out_with_unsent_operations_needs_second_entry(said: Meaning, page: int) -> None:
    job = HomeJob()
    turn = job.handle(HomeState(menu_page=page), said, CONTEXT)
    (query,) = turn.effects
    assert isinstance(query, Query)
    assert job.handle(turn.state, Rows(query.id, (), 0), CONTEXT).effects == (SignOut(),)
    told = job.handle(turn.state, Rows(query.id, (), 3), CONTEXT)
    assert (told.effects, told.verdict) == ((), Verdict(ASK, msg("home.unsent", count=3)))
    typed = job.handle(told.state, TypedText("o"), CONTEXT).state
    assert job.handle(typed, said, CONTEXT).effects == (SignOut(),)
    after = job.handle(told.state, Back(), CONTEXT).state
    assert SignOut() not in job.handle(after._replace(menu_page=page), said, CONTEXT).effects


def test_who_signs_out_is_told_once_what_he_has_in_hand() -> None:
    job = HomeJob()
    turn = job.handle(HomeState(), Command("o"), CONTEXT)
    (query,) = turn.effects
    assert isinstance(query, Query)
    assert query.args == {"user": CONTEXT.user, "now": CONTEXT.now}
    rows = ({"order_number": "4111", "count": Decimal(2)}, {"order_number": "4101", "count": Decimal(1)})
    told = job.handle(turn.state, Rows(query.id, rows, 0), CONTEXT)
    assert told.verdict == Verdict(ASK, msg("home.in_hand", count=Decimal(3), orders="4111, 4101"))
    both = job.handle(turn.state, Rows(query.id, rows, 7), CONTEXT)
    assert both.verdict == Verdict(ASK, msg("home.in_hand_unsent", count=Decimal(3), orders="4111, 4101", unsent=7))
    assert job.handle(told.state, Command("o"), CONTEXT).effects == (SignOut(),)


def test_the_letter_that_signs_out_is_named() -> None:
    assert "o" in [hint.letter for hint in HomeJob().view(HomeState()).key_hints]


CHEESE = (("kg", Decimal("0.5")),)
MEASURED = {
    "pieces": Decimal(5),
    "picked_pieces": Decimal(2),
    "measured": [
        {
            "unit": "kg", "quantity": Decimal(2), "picked_quantity": Decimal("0.5"), "missing": Decimal("1.5"),
            "lines": 1, "complete_lines": 0,
        }
    ],
}  # fmt: skip
"""Sums of an order with four pieces and two kilograms."""


@pytest.mark.parametrize(
    ("measured", "told"),
    [
        (MEASURED, (GoodsSum(Decimal(2), CHEESE), GoodsSum(Decimal(4), (("kg", Decimal(2)),)))),
        ({}, (GoodsSum(Decimal("3.5")), GoodsSum(Decimal("6.5")))),
    ],
)
def test_how_far_an_order_is_has_no_sum_of_kilos_and_pieces(
    measured: dict[str, Any], told: tuple[GoodsSum, GoodsSum]
) -> None:
    row: Any = {
        **ROW,
        "status": "open",
        "total_quantity": Decimal("6.5"),
        "picked_quantity": Decimal("3.5"),
        **measured,
    }
    state = HomeJob().handle(HomeState(), Rows("orders", (row,), 1), CONTEXT).state
    home = HomeJob().view(state).rows[0].cells[3]
    board = BOARD.view(OrdersState(rows=(parse_order_row(row, CONTEXT),), total=1)).rows[0].cells[3]
    assert home == board == goods_progress_in_list(*told)
    acting = OrderActionState(orders=("4101", "4102"))
    acting = OrderActionJob().handle(acting, Rows("look", (row, {**row, "order_number": "4102"}), 2), CONTEXT).state
    assert (acting.goods.picked, acting.goods.ordered) == tuple(add_goods((goods, goods)) for goods in told)


@pytest.mark.parametrize(
    ("status", "due"),
    [("open", "moment.late"), ("picked", "moment.late"), ("rejected", "moment"), ("finished", "moment")],
)
def test_an_order_that_nobody_has_to_pick_is_not_late(status: str, due: str) -> None:
    row: Any = {**ROW, "status": status, "pickup_date": "2026-11-19"}
    assert parse_order_row(row, CONTEXT).due.id == due


def test_an_order_that_somebody_has_says_as_well_when_it_is_due() -> None:
    due = msg("moment", at="2026-11-20T13:30:00")
    row = OpenOrderRow("4101", "J. Jansen", due, 1, Decimal(2), Decimal(0))
    ways = {
        "Ben has it · 20 Nov 13:30": row._replace(is_claimed=True, claimed_by="Ben"),
        "Ben left it, 9:41 · 20 Nov 13:30": row._replace(
            claimed_by="Ben", abandoned_at=msg("clock", at="2026-11-20T09:41:00")
        ),
        "priority · 20 Nov 13:30": row._replace(is_priority=True),
        "Claimed": row._replace(is_claimed=True, due=msg("moment", at="")),
        "priority": row._replace(is_priority=True, due=msg("moment", at="")),
    }
    view = HomeJob().view(HomeState(rows=tuple(ways.values())))
    assert isinstance(view, ListView)
    said = [MessageWriter().write(each.cells[1]) for each in view.rows]
    assert [text.replace("20 Nov 9:41", "9:41") for text in said] == list(ways)


def test_a_count_that_is_booked_otherwise_after_its_page_closed_is_told_once() -> None:
    amounts = {"shown": Decimal(-1), "booked": Decimal(-4)}
    row = {"key": "X.0", "label": "Oat drink", **amounts}
    job, answer = HomeJob(), Rows("booked_otherwise", (row,), 1)
    asked = job.handle(HomeState(), Changed("log", ""), CONTEXT).effects
    assert [each.name for each in asked if isinstance(each, Query)] == ["counts_booked_otherwise"]
    turn = job.handle(HomeState(), answer, CONTEXT)
    assert turn.verdict
    assert MessageWriter().write(turn.verdict.text).replace("\u2212", "-") == "Oat drink: -4 booked, not -1"
    assert job.handle(turn.state, answer, CONTEXT).verdict is None


def test_what_the_count_itself_has_told_is_not_told_again() -> None:
    row = {"key": "X.0", "label": "Oat drink", "shown": Decimal(-1), "booked": Decimal(-4)}
    job = HomeJob()
    asked = job.handle(HomeState(), Closed("count"), CONTEXT).effects
    (query,) = (each for each in asked if isinstance(each, Query) and each.name == "counts_booked_otherwise")
    turn = job.handle(HomeState(), Rows(query.id, (row,), 1), CONTEXT)
    assert turn.verdict is None
    assert job.handle(turn.state, Rows("booked_otherwise", (row,), 1), CONTEXT).verdict is None


def test_who_lost_the_race_for_a_hand_over_is_told_once_who_gave_it_away() -> None:
    why = store_message("stored_reason.handed_over_by", order="4101", who="Ben")
    body = {"orders": {"order_number": "4101", "is_active": False}}
    row = {"op_id": "1", "user": "ann", "why": why, "body": body}
    job, answer = HomeJob(), Rows("refused_hand_overs", (row,), 1)
    asked = job.handle(HomeState(), Changed("refusal", ""), CONTEXT).effects
    assert "refused_hand_overs" in [each.id for each in asked if isinstance(each, Query)]
    turn = job.handle(HomeState(), answer, CONTEXT)
    assert turn.verdict == Verdict(WRONG, msg("stored_reason.handed_over_by", order="4101", who="Ben"))
    assert job.handle(turn.state, answer, CONTEXT).verdict is None
