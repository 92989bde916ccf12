"""A count where the service does not say how much there is: no expected figure, no difference, on no page and in no
operation."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Policy
from aisle.jobs.view import Frame, LinkState
from aisle.tui.layout.screen import layout_screen
from tests.jobs.test_count import Hand

STRICT = Policy(recount_units=Decimal(1), recount_value=Decimal(1), recount_percent=Decimal(1))
UNSAID: dict[str, dict[str, Any]] = {
    "nothing": {"product_name": "Tea"},
    "no quantity": {"product_name": "Tea", "most_likely_quantity": None, "locations": [], "pools": []},
    "a price": {"product_name": "Tea", "price": Decimal("2.50"), "most_likely_quantity": None},
    "a place alone": {"product_name": "Tea", "locations": [{"location_code": "A-1", "quantity": None, "pools": {}}]},
}


class Blank(Hand):
    """At a service that has not said of anything how much there is."""

    def _answer(self, query: Any) -> Any:
        answer = super()._answer(query)
        return answer._replace(rows=tuple({**row, "is_stock_unknown": True} for row in answer.rows))


def _drawn(hand: Hand) -> str:
    lines = layout_screen(Frame(hand.job.view(hand.state), LinkState("live")), 80, 24).lines
    return " ".join(" ".join("".join(text for text, _ in line) for line in lines).split())


def _says_no_figure(hand: Hand) -> bool:
    shown = hand.shown()
    return "count.expected" not in shown and "count.of_expected" not in shown and "count.counted_so_far_of" not in shown


@pytest.mark.parametrize("policy", [STRICT, Policy(recount_units=Decimal(0), recount_value=Decimal(0))])
@pytest.mark.parametrize("known", UNSAID)
def test_a_product_of_which_nobody_says_how_much_there_is(known: str, policy: Policy) -> None:
    hand = Hand({}, {"P7": UNSAID[known]}, policy)
    hand.scan("P7", kind="product")
    assert hand.state.lines
    assert _says_no_figure(hand)
    hand.scan("P7")
    hand.type(17)
    assert _says_no_figure(hand)
    assert "Expected" not in _drawn(hand)
    while not hand.writes:
        assert _says_no_figure(hand)
        hand.say("d") if "d" in hand.job.accepts(hand.state).command_letters else hand.type(1)
    (entry, *_) = hand.entries
    assert "expected_quantity" not in entry
    assert 17 in (entry.get("counted_quantity"), entry.get("stock_pool_1"))
    assert hand.state.sent is None or hand.state.sent.differing_count == 0


@pytest.mark.parametrize("quantity", [1, 3, 17])
def test_a_place_of_a_store_whose_stock_was_never_read(quantity: int) -> None:
    hand = Blank({"A-1": []}, {}, STRICT)
    hand.place("A-1")
    hand.scan("P7")
    if quantity != 1:
        hand.type(quantity)
    assert _says_no_figure(hand)
    hand.say("d")
    assert hand.writes, "nothing differs, so nothing is asked"
    (entry,) = hand.entries
    assert "expected_quantity" not in entry
    assert entry["counted_quantity"] == quantity


def test_where_the_service_says_none_none_is_expected() -> None:
    hand = Hand({}, {"P7": {"product_name": "Tea", "most_likely_quantity": Decimal(0)}})
    hand.scan("P7")
    hand.type(3)
    while not hand.writes:
        hand.say("d") if "d" in hand.job.accepts(hand.state).command_letters else hand.type(1)
    assert hand.entries[0]["expected_quantity"] == 0


# Taking a count back


def _sent(policy: Policy = Policy(recount_units=Decimal(0), recount_value=Decimal(0)), *, known: bool = False) -> Hand:  # noqa: B008
    """A place was counted, of whose products nobody says how many there are; but of the first, where it is known."""
    first = Decimal(5) if known else None
    rows: list[dict[str, Any]] = [
        {"product_number": "P1", "description": "Tea", "quantity": first, "pools": {}},
        {"product_number": "P2", "description": "Salt", "quantity": None, "pools": {}},
    ]
    hand = Hand({"A-1": rows}, {}, policy)
    hand.place("A-1")
    for product, quantity in (("P1", 7), ("P2", 17)):
        hand.scan(product)
        hand.type(quantity)
    while not hand.writes:
        hand.say("d") if "d" in hand.job.accepts(hand.state).command_letters else hand.type(1)
    return hand


def test_count_without_previous_figures_has_no_undo_and_says_so() -> None:
    hand = _sent()
    sent = len(hand.writes)
    assert hand.say("u") == "count.cannot_undo"
    assert len(hand.writes) == sent
    assert hand.verdict is not None
    assert hand.verdict.kind == "wrong"


def test_of_a_count_in_part_without_figures_that_part_is_left_and_said() -> None:
    hand = _sent(known=True)
    sent = len(hand.writes)
    assert hand.say("u") == "count.sent_undone_partly"
    (write,) = hand.writes[sent:]
    (entry,) = write.body["storeproductlog"]
    assert (entry["product_number"], entry["quantity"]) == ("P1", -2)
    assert hand.verdict is not None
    assert dict(hand.verdict.text.args)["count"] == 1


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr"])
@pytest.mark.parametrize("size", [(80, 24), (40, 20), (20, 16)])
@pytest.mark.parametrize("known", [False, True])
def test_what_cannot_be_taken_back_is_said_in_every_language(language: str, size: tuple[int, int], known: bool) -> None:
    hand = _sent(known=known)
    hand.say("u")
    frame = Frame(hand.job.view(hand.state), LinkState("live"), hand.verdict, language=language)
    drawn = " ".join("".join(text for text, _ in line) for line in layout_screen(frame, *size).lines)
    assert "count." not in drawn
    assert "±" not in drawn
