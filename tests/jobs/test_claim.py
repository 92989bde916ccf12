"""Two people, one order; one person, two terminals: asked, told, and no pick lost."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.claim import Claim, is_later, parse_claim
from aisle.jobs.job import Changed, Close, Context, Opened, Query, Resolve, Rows, Start
from aisle.jobs.pick.excess_and_goods_for_others import EXCESS_QUERY
from aisle.jobs.view import INFO, WRONG
from aisle.scan.grammar_and_meaning_types import LOCATION, Back, Choice, Command, Quantity
from tests.jobs.pick_runner import CONTEXT, Hand, line, order

ME = CONTEXT.user
BEFORE, LATER, LATEST = "2020-01-01T10:32:00Z", "2099-01-01T00:00:00.000Z", "2099-01-02T00:00:00Z"
BEN: dict[str, Any] = {"is_claimed": True, "claimed_by": "ben", "claimed_name": "Ben Okafor", "claimed_terminal": "t2"}
MINE: dict[str, Any] = {"is_claimed": True, "claimed_by": ME, "claimed_terminal": "t2", "claimed_on": BEFORE}
HERE = Context(user=ME, terminal="t1")


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"claimed_by": "ben"}, None),
        ({"is_claimed": True}, Claim()),
        ({**BEN, "claimed_on": BEFORE}, Claim("Ben Okafor", False, "t2", BEFORE)),
        ({"is_claimed": True, "claimed_by": "ben"}, Claim("ben")),
        ({**MINE, "claimed_terminal": "t1"}, None),
        ({"is_claimed": True, "claimed_by": ME}, None),
        (MINE, Claim(ME, True, "t2", BEFORE)),
        ({**MINE, "is_claim_active": True}, Claim(ME, True, "t2", BEFORE)),
        ({**MINE, "is_claim_active": False}, None),
        ({**BEN, "is_claim_active": False}, Claim("Ben Okafor", False, "t2", "")),
    ],
)
def test_whose_claim_stands_in_the_way(row: Any, found: Claim | None) -> None:
    assert parse_claim(row, HERE) == found


@pytest.mark.parametrize(
    ("one", "other", "later"),
    [
        (LATER, BEFORE, True),
        (BEFORE, LATER, False),
        ("2099-01-01T00:00:00.000000Z", LATER, False),
        ("2099-01-01T00:00:00.001Z", LATER, True),
        (LATER, "", True),
        ("", LATER, False),
        ("yesterday", "", False),
        ("2099-01-01", "2098-01-01T00:00:00Z", True),
    ],
)
def test_moments_are_compared_however_they_are_written(one: str, other: str, later: bool) -> None:
    assert is_later(one, other) is later


def test_opening_claims_once_and_leaving_with_nothing_picked_lets_go() -> None:
    hand = Hand(line(1, "P1", 2))
    hand.feed(order(line(1, "P1", 2), is_claimed=True, claimed_by=ME, claimed_on=LATER))
    assert hand.claims == [("1042", True)]
    hand.feed(Back())
    assert hand.claims == [("1042", True), ("1042", False)]
    assert isinstance(hand.effects[-1], Close)


def looking(**more: Any) -> Hand:
    """Somebody opens 1042 to look at it."""
    hand = Hand()
    hand.state, hand.effects = hand.job.begin(), []
    hand.feed(Opened({"order_number": "1042", "view_only": True}))
    hand.feed(order(line(1, "P1", 2), **more))
    return hand


def test_looking_at_an_order_claims_nothing_and_lets_go_of_nothing() -> None:
    hand = looking()
    assert hand.view.name == "pick.product"
    hand.feed(order(line(1, "P1", 2), **{**BEN, "claimed_on": LATER}))
    hand.feed(Back())
    assert (hand.claims, hand.updates) == ([], [])


def test_what_is_done_to_an_order_that_was_looked_at_claims_it_once() -> None:
    hand = looking()
    hand.scan("P1")
    hand.scan("P1")
    assert (hand.claims, len(hand.updates)) == ([("1042", True)], 2)
    assert hand.feed(order(line(1, "P1", 2, picked_quantity=2), **{**BEN, "claimed_on": LATER})) == "pick.taken_over"


def test_looking_at_somebody_elses_order_leaves_it_his() -> None:
    hand = looking(**BEN, claimed_on=BEFORE)
    hand.feed(Choice(1))
    hand.feed(order(line(1, "P1", 2), **BEN, claimed_on=BEFORE))
    assert (hand.view.name, hand.claims) == ("pick.product", [])


def test_rebase_excess_is_queried_since_own_claim() -> None:
    hand = Hand(line(1, "P1", 2))
    hand.feed(order(line(1, "P1", 2), **{**BEN, "claimed_on": LATER}))
    hand.feed(Choice(1))
    hand.feed(Changed("outbox", ""))
    asked = [effect for effect in hand.effects if isinstance(effect, Query) and effect.id == EXCESS_QUERY]
    assert asked[-1].args["since"] == CONTEXT.now


@pytest.mark.parametrize("terminal", ["t2", ""])
@pytest.mark.parametrize(
    ("since", "said"),
    [
        ("2026-11-20T08:20:00Z", "since 8:20"),
        ("2026-11-19T16:20:00Z", "since 19 Nov 16:20"),
        ("2025-11-20T08:20:00Z", "since 20 Nov 2025 8:20"),
    ],
)
def test_since_when_somebody_picks_has_its_day_where_that_is_not_today(
    since: str, said: str, terminal: str, in_zone: Callable[[str], None]
) -> None:
    in_zone("UTC")
    hand = Hand()
    hand.feed(order(line(1, "P1", 5), **{**BEN, "claimed_terminal": terminal, "claimed_on": since}))
    assert said in hand.told


def test_taking_over_picked_order_in_hand_claims_it() -> None:
    hand = Hand()
    full = line(1, "P1", 2, picked_quantity=2)
    assert hand.feed(order(full, **{**BEN, "claimed_on": BEFORE})) == "pick.claimed_at"
    hand.feed(Choice(1))
    assert hand.feed(order(full, **{**BEN, "claimed_on": BEFORE})) == "pick.join"
    assert "Order 1042 is picked" in hand.told
    assert hand.claims == [("1042", True)]


def test_holder_of_picked_order_is_told_who_took_it_over() -> None:
    hand = Hand(line(1, "P1", 1))
    assert hand.scan("P1") == "pick.all_picked"
    taken = order(line(1, "P1", 1, picked_quantity=1), **{**BEN, "claimed_on": LATER})
    assert hand.feed(taken) == "pick.taken_over"
    assert "Ben Okafor took over order 1042. You have 1 in hand" in hand.told
    assert [way.id for way in hand.view.choices] == ["pick.choice_both_pick", "pick.choice_leave_to_picker"]


@pytest.mark.parametrize("known", [{}, {"is_claim_active": False}], ids=["elsewhere", "left here"])
def test_put_down_order_is_not_offered_for_picking(known: dict[str, Any]) -> None:
    hand = Hand()
    hand.state, hand.effects = hand.job.begin(), []
    hand.feed(Opened({"order_number": "1042"}))
    full = line(1, "P1", 2, picked_quantity=2, moved_quantity=2)
    short = line(2, "P2", 2, picked_quantity=1, moved_quantity=1, is_picked=True)
    hand.feed(order(full, short, **{**BEN, "claimed_on": BEFORE}, **known))
    assert hand.effects[-1:] == [Close(start=Start("hand_over", {"order_number": "1042"}))]
    assert hand.claims == []


def test_what_is_begun_stays_claimed_and_what_is_picked_is_not_claimed() -> None:
    hand = Hand(line(1, "P1", 2))
    hand.scan("P1")
    hand.feed(Back())
    assert hand.claims == [("1042", True)]
    assert Hand(line(1, "P1", 2, picked_quantity=2)).claims == []


def test_own_order_is_not_claimed_again_and_can_be_released() -> None:
    hand = Hand(line(1, "P1", 2), is_claimed=True, claimed_by=ME, claimed_terminal="", claimed_on=BEFORE)
    assert hand.claims == []
    hand.feed(Back())
    assert hand.claims == [("1042", False)]


def test_somebody_else_s_order_is_asked_about_with_all_that_is_known() -> None:
    hand = Hand()
    claimed = {**BEN, "claimed_on": BEFORE, "picked_quantity": Decimal(2), "total_quantity": Decimal(5)}
    assert hand.feed(order(line(1, "P1", 5), **claimed)) == "pick.claimed_at"
    assert "Ben Okafor has been picking 1042 since" in hand.told
    assert "on t2: 2 of 5 picked" in hand.told
    assert hand.claims == []
    hand.feed(Choice(1))
    assert hand.feed(order(line(1, "P1", 5), **claimed)) == "pick.join"
    assert "Order 1042: 1 line to pick" in hand.told
    assert hand.claims == [("1042", True)]


def test_order_left_with_open_question_is_notified_and_reopened_by_key() -> None:
    hand = Hand()
    hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=BEFORE))
    assert hand.feed(order(line(1, "P1", 5))) == "pick.free_now"
    assert "Order 1042 is free now: 1 to pick it" in hand.told
    assert (hand.view.name, hand.choices(), hand.claims) == ("pick.wait", ["pick.choice_open_free"], [])
    assert hand.feed(order(line(1, "P1", 5))) == ""
    assert hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=LATER)) == "pick.claimed_at"
    assert hand.choices() == ["pick.choice_take_over"]
    assert hand.feed(order(line(1, "P1", 5))) == "pick.free_now"
    hand.feed(Choice(1))
    assert hand.feed(order(line(1, "P1", 5))) == "pick.opened"
    assert hand.claims == [("1042", True)]


def test_order_with_open_question_may_be_left_by_both() -> None:
    hand = Hand()
    hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=BEFORE))
    hand.feed(order(line(1, "P1", 5)))
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)
    assert hand.claims == []


def test_back_leaves_it_to_them() -> None:
    hand = Hand()
    assert hand.feed(order(line(1, "P1", 5), is_claimed=True)) == "pick.claimed_plain"
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)
    assert hand.claims == []


def test_own_order_on_live_terminal_is_asked_about() -> None:
    hand = Hand()
    assert hand.feed(order(line(1, "P1", 5), **MINE)) == "pick.claimed_by_you"
    assert Hand(line(1, "P1", 5), **{**MINE, "is_claim_active": False}).view.name == "pick.product"


def test_who_is_taken_over_is_told_once_and_may_go_on() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.scan("P1", "2")
    mine = line(1, "P1", 5, picked_quantity=2)
    assert hand.feed(order(mine, **BEN, claimed_on=LATER)) == "pick.taken_over"
    assert "Ben Okafor took over order 1042. You have 2 in hand" in hand.told
    assert hand.choices() == ["pick.choice_both_pick", "pick.choice_leave_to_picker"]
    hand.feed(Choice(1))
    assert hand.feed(order(mine, **BEN, claimed_on=LATER)) == ""
    hand.scan("P1")
    assert hand.sent == {1: 3}
    assert hand.feed(order(line(1, "P1", 5, picked_quantity=3), **BEN, claimed_on=LATEST)) == "pick.taken_over"
    hand.feed(Back())
    assert hand.view.name == "pick.product"
    hand.feed(Back())
    assert hand.claims == [("1042", True)]


def test_who_is_taken_over_may_scan_on_without_an_answer() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=LATER))
    assert hand.scan("P1") == "pick.picked"
    assert hand.feed(order(line(1, "P1", 5, picked_quantity=1), **BEN, claimed_on=LATER)) == ""
    assert hand.scan("P1", "9") == "pick.more_than_ordered"
    assert hand.choices() == ["pick.choice_pick_rest"]
    assert hand.scan("P1") == "pick.picked"
    assert hand.feed(Command("w")) == "pick.question_repeated"
    assert hand.choices() == ["pick.choice_both_pick", "pick.choice_leave_to_picker"]
    assert hand.feed(Choice(2)) == "pick.removed_with_goods"
    assert hand.choices() == ["pick.choice_handed_over", "pick.choice_put_back"]


def test_quantity_after_scan_does_not_release_taken_over_order() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=LATER))
    assert hand.job.accepts(hand.state).choices == 2
    assert hand.scan("P1") == "pick.picked"
    open_ = hand.job.accepts(hand.state)
    assert (open_.choices, open_.quantity, "w" in open_.command_letters) == (0, True, True)
    assert "w" in [hint.letter for hint in hand.view.key_hints]
    assert hand.feed(Quantity(Decimal(2), "2")) == "pick.picked"
    assert hand.sent == {1: 2}
    assert hand.feed(Command("w")) == "pick.question_repeated"
    open_ = hand.job.accepts(hand.state)
    assert (open_.choices, open_.quantity) == (2, False)
    assert hand.feed(Choice(1)) == "pick.both_pick"
    assert "w" not in hand.job.accepts(hand.state).command_letters


def test_who_leaves_an_order_is_not_asked_again_what_was_put_aside() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=LATER))
    hand.scan("P1")
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


def test_what_others_pick_meanwhile_does_not_cover_what_is_asked() -> None:
    hand = Hand(line(1, "P1", 5))
    assert hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=LATER)) == "pick.taken_over"
    assert hand.feed(order(line(1, "P1", 5, picked_quantity=2), **BEN, claimed_on=LATER)) == ""
    assert hand.choices() == ["pick.choice_both_pick", "pick.choice_leave_to_picker"]
    hand.feed(Choice(1))
    assert hand.feed(order(line(1, "P1", 5, picked_quantity=3), **BEN, claimed_on=LATER)) == "pick.changed"


def test_who_leaves_it_to_others_says_what_is_in_the_hand() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.scan("P1", "2")
    hand.feed(order(line(1, "P1", 5, picked_quantity=2), **BEN, claimed_on=LATER))
    assert hand.feed(Choice(2)) == "pick.removed_with_goods"
    assert hand.view.name == "pick.return"
    hand.feed(Choice(1))
    assert isinstance(hand.effects[-1], Close)


def test_an_order_that_its_picker_has_opened_elsewhere_goes_along() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.scan("P1")
    hand.feed(order(line(1, "P1", 5, picked_quantity=1), **{**MINE, "claimed_on": LATER, "is_claim_active": True}))
    close = hand.effects[-1]
    assert isinstance(close, Close)
    assert close.verdict is not None
    assert close.verdict.text.id == "pick.moved_to_terminal"


def test_what_is_older_than_our_claim_or_has_no_moment_is_no_news() -> None:
    hand = Hand(line(1, "P1", 5))
    assert hand.feed(order(line(1, "P1", 5), **BEN, claimed_on=BEFORE)) == ""
    assert hand.feed(order(line(1, "P1", 5), **BEN)) == ""
    assert hand.feed(order(line(1, "P1", 5), is_claimed=True)) == ""


def test_undo_takes_back_one_s_own_picks_alone() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.scan("P1", "2")
    hand.feed(order(line(1, "P1", 5, picked_quantity=3)))
    hand.feed(Command("u"))
    said = hand.updates[-1]["order_lines"][0]
    assert (said["base_picked_quantity"], said["picked_quantity"]) == (3, 1)


def refused(op_id: str, left: int, number: int = 1, user: str = CONTEXT.user) -> Rows:
    """What the service could not take of a line."""
    said = {"line_number": number, "left": Decimal(left), "picked_quantity": 3, "quantity": 3, "picked_username": "ben"}
    body = {"orders": {"order_number": "1042", "order_lines": []}}
    return Rows(
        EXCESS_QUERY, ({"op_id": op_id, "user": user, "body": body, "left": said, "why": "", "label": "P1"},), 1
    )


def test_what_found_no_room_is_to_be_put_back_and_then_settled() -> None:
    hand = Hand(line(1, "P1", 3))
    hand.feed(Changed("outbox", ""))
    assert any(isinstance(effect, Query) and effect.id == EXCESS_QUERY for effect in hand.effects)
    hand.scan("P1", "2")
    assert hand.feed(refused("OP", 2)) == "pick.surplus_by"
    assert "3 of 3 Product P1 already picked, some by ben; you have 2 too many" in hand.told
    assert hand.view.name == "pick.return"
    assert hand.scan("P1") != "pick.picked"
    assert hand.feed(Choice(1)) == "pick.choice_put_back"
    assert [effect.op_id for effect in hand.effects if isinstance(effect, Resolve)] == ["OP"]
    assert hand.feed(refused("OP", 2)) == ""
    assert hand.feed(refused("OTHER", 2, number=9)) == ""
    assert hand.feed(refused("LESS", -2)) == ""


@pytest.mark.parametrize("location", ["A-1", "B-9", "C-3"])
@pytest.mark.parametrize("is_last", [True, False])
def test_a_location_scanned_while_goods_are_to_be_put_back_changes_no_stop(location: str, is_last: bool) -> None:
    at_places = [{"preferred_location_code": place} for place in ("A-1", "B-9")]
    hand = Hand(line(1, "P1", 3, **at_places[0]), *([] if is_last else [line(2, "P2", 3, **at_places[1])]))
    hand.scan("P1", "3")
    hand.feed(refused("OP", 2))
    before, moves = hand.view.choices, hand.moves()
    hand.feed(order(line(1, "P1", 3, preferred_location_code="A-1")))
    assert hand.scan(location, kind=LOCATION) == "pick.prompt_return"
    assert hand.verdict is not None
    assert hand.verdict.kind == (INFO if location == "A-1" else WRONG)
    assert (hand.view.choices, hand.moves()) == (before, moves)


def test_first_picker_is_not_told_to_put_back_colleagues_excess() -> None:
    hand = Hand(line(1, "P1", 3))
    hand.scan("P1", "3")
    assert hand.feed(refused("OP", 3, user="ben")) == ""
    assert hand.state.to_return == ()
    assert sum(each.own_in_hand for each in hand.state.lines) == 3


def test_nobody_is_told_that_he_was_faster_himself() -> None:
    hand = Hand(line(1, "P1", 3))
    hand.context = hand.context._replace(user="ben")
    hand.scan("P1", "2")
    assert hand.feed(refused("OP", 2, user="ben")) == "pick.surplus"


def test_what_was_settled_elsewhere_is_asked_for_no_more() -> None:
    hand = Hand(line(1, "P1", 3))
    hand.scan("P1", "2")
    hand.feed(refused("OP", 2))
    hand.feed(Changed("outbox", ""))
    asked = [each for each in hand.effects if isinstance(each, Query) and each.id == EXCESS_QUERY]
    assert asked[-1].args["ops"] == ["OP"]
    assert hand.feed(refused("OP", 2)) == ""
    assert hand.view.name == "pick.return"
    assert hand.feed(Rows(EXCESS_QUERY, (), 0)) == "unconfirmed.resolved_meanwhile"
    assert hand.view.name == "pick.product"
    assert not [effect for effect in hand.effects if isinstance(effect, Resolve)]


def test_excess_resolved_elsewhere_closes_remaining_put_back_page() -> None:
    hand = Hand(line(1, "P1", 3))
    hand.scan("P1", "2")
    hand.feed(refused("OP", 2))
    hand.feed(order(line(1, "P1", 3, picked_quantity=3), is_active=False))
    hand.feed(Changed("outbox", ""))
    asked = [each for each in hand.effects if isinstance(each, Query) and each.id == EXCESS_QUERY]
    assert asked[-1].args["since"] == "9999"
    hand.feed(Rows(EXCESS_QUERY, (), 0))
    assert isinstance(hand.effects[-1], Close)


@pytest.mark.parametrize(
    ("scans", "excess", "undone"),
    [
        ((1, 1), 1, [(4, 3)]),
        ((1, 1), 2, []),
        ((2,), 1, [(4, 3)]),
        ((1, 1, 0), 1, [(4, 3)]),
    ],
)
def test_undo_gives_back_no_excess(scans: tuple[int, ...], excess: int, undone: list[tuple[int, int]]) -> None:
    """Of four pieces another picker has the rest; the service refused the excess of the own ones."""
    hand = Hand(line(1, "P1", 4))
    for number, quantity in enumerate(scans):
        if quantity:
            hand.scan("P1", str(quantity))
        if not number:
            hand.feed(order(line(1, "P1", 4, picked_quantity=4 - sum(scans[1:]))))
    hand.feed(order(line(1, "P1", 4, picked_quantity=4)))
    before = len(hand.updates)
    hand.feed(refused("OP", excess))
    assert hand.feed(Command("u")) == "pick.prompt_return"
    assert hand.feed(Choice(1)) == "pick.choice_put_back"
    for _ in scans:
        hand.feed(Command("u"))
    lines = [body["order_lines"][0] for body in hand.updates[before:]]
    assert [(each["base_picked_quantity"], each["picked_quantity"]) for each in lines] == undone
    assert hand.feed(Command("u")) == "pick.nothing_to_undo"
