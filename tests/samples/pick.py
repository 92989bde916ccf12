"""Samples of picking."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial

from aisle.jobs.collect_batch import BatchJob, BatchOrder, BatchState
from aisle.jobs.names_in_messages import Pool
from aisle.jobs.pick.job import PickJob
from aisle.jobs.pick.pick_line import PickLine
from aisle.jobs.pick.pick_state import (
    PUT_DOWN_BY_OTHER,
    GoodsToReturn,
    LineBefore,
    PickChoice,
    PickState,
    Tote,
    UndoStep,
    with_tote,
)
from aisle.jobs.pick.stops_and_goods_in_hand import with_lines
from aisle.jobs.sums_of_goods_and_progress import GoodsSum
from aisle.jobs.view import ASK, GOOD, WRONG, Frame, LinkState, Verdict, View, msg

PRODUCTS = (
    ("4001", "Cola Zero 33 cl can, tray of 24", "A-03-12", 6, 2),
    ("4002", "Orange lemonade 1.5 l", "A-03-14", 2, 0),
    ("4107", "Crisps, natural, 250 g", "A-04-01", 1, 0),
    ("5230", "Whole milk 1 l", "C-01-02", 12, 0),
    ("5231", "Crème fraîche 200 g", "C-01-03", 3, 0),
    ("7714", "Wholemeal bread", "D-11-10", 1, 0),
)
"""Product number, name, location, quantity, picked quantity."""


def _frame(view: View, verdict: Verdict | None, link: LinkState, typed: str = "", serial: int = 0) -> Frame:
    return Frame(view, link, verdict, typed, "0042", "Anna", serial)


def _pick_lines(text: str) -> tuple[PickLine, ...]:
    zero = Decimal(0)
    return tuple(
        PickLine(
            line, number, text or name, Decimal(of), Decimal(picked), zero, place, 3, False, "", Decimal("1.25"), False
        )
        for line, (number, name, place, of, picked) in enumerate(PRODUCTS, 1)
    )


def _pick_state(text: str) -> PickState:
    history = (UndoStep((LineBefore("100042", 1, Decimal(1)),)),)
    tote = Tote("100042", "A", text or "J. Jansen", has_lines=True)
    lines = tuple(line._replace(order="100042") for line in _pick_lines(text))
    return PickState(
        (tote,), "picking", lines=lines, current_index=0, location="A-03-12", is_quantity_open=True, history=history
    )


def _pick_product(text: str) -> Frame:
    verdict = Verdict(GOOD, msg("pick.picked", label=text or PRODUCTS[0][1], done=Decimal(2), of=Decimal(6)))
    return _frame(PickJob().view(_pick_state(text)), verdict, LinkState("live", 12.0, 1), serial=14)


def _pick_over(text: str) -> Frame:
    state = _pick_state(text)._replace(choices=(PickChoice("take_rest", "4001"),))
    label = text or PRODUCTS[0][1]
    verdict = Verdict(ASK, msg("pick.more_than_ordered", label=label, quantity=Decimal(12), rest=Decimal(4)))
    return _frame(PickJob().view(state), verdict, LinkState("offline", 300.0, 12, 1), serial=15)


def _pick_location(text: str) -> Frame:
    state = _pick_state(text)._replace(
        verifies_locations=True, location="", is_quantity_open=False, choices=(PickChoice("look_up", "4711"),)
    )
    label = text or PRODUCTS[1][1]
    verdict = Verdict(WRONG, msg("pick.not_here", label=label, code=text or "8710000000042", order="100042"))
    return _frame(PickJob().view(state), verdict, LinkState("offline", 90000.0, 3), typed=text or "8712", serial=99)


def _pick_wait(text: str) -> Frame:
    state = PickState((Tote("100042", "A", text),))
    return _frame(PickJob().view(state), None, LinkState("syncing", -1.0, 0, 0, 900), serial=1)


def _pick_done(text: str) -> Frame:
    state = _pick_state(text)
    lines = tuple(line._replace(picked=line.ordered) for line in state.lines)
    state = state._replace(lines=lines, current_index=-1, phase="done", is_quantity_open=False)
    verdict = Verdict(GOOD, msg("pick.all_picked", order="100042"))
    return _frame(PickJob().view(state), verdict, LinkState("live", 1.0, 2), serial=26)


ORDERS = (("100042", "J. Jansen"), ("100051", "Bakery The Little Corner"), ("100073", "Öztürk & Sons"))
"""Orders of a batch, with their customers."""


def _batch_state(text: str) -> PickState:
    """Return a batch of three orders: all need the first product, and each one of the others."""
    totes = tuple(
        Tote(order, letter, text or who, "Ripe ones, please" if letter == "B" else "", has_lines=True)
        for letter, (order, who) in zip("ABC", ORDERS, strict=True)
    )
    lines = _pick_lines(text)
    all_lines = [
        lines[0]._replace(order=order, ordered=Decimal(of), picked=Decimal(picked), line=9)
        for (order, _), of, picked in zip(ORDERS, (3, 4, 2), (3, 1, 0), strict=True)
    ]
    all_lines += [line._replace(order=ORDERS[index % 3][0]) for index, line in enumerate(lines[1:])]
    history = (UndoStep((LineBefore("100051", 9, Decimal(0)),)),)
    state = PickState(totes, "picking", is_batch=True, history=history)
    return with_lines(state, all_lines)._replace(is_quantity_open=True)


def _batch_stop(text: str) -> Frame:
    label, one = text or PRODUCTS[0][1], Decimal(1)
    verdict = Verdict(GOOD, msg("pick.picked_for_tote", label=label, quantity=one, tote="B", done=one, of=Decimal(4)))
    return _frame(PickJob().view(_batch_state(text)), verdict, LinkState("live", 12.0, 1), serial=14)


def _batch_tote(text: str) -> Frame:
    """Show the scan of a tote that is asked for after a take, and a product scanned instead."""
    state = _batch_state(text)
    totes = tuple(tote._replace(code=f"TOTE-{number}") for number, tote in enumerate(state.totes, 7))
    state = state._replace(totes=totes, totes_to_verify=("100051",))
    message = msg("pick.verify_tote_first", what=text or PRODUCTS[1][1], tote="B TOTE-8")
    return _frame(PickJob().view(state), Verdict(WRONG, message), LinkState("live", 12.0, 1), serial=14)


def _batch_location(text: str) -> Frame:
    state = _batch_state(text)._replace(verifies_locations=True, is_quantity_open=False)
    message = msg("pick.batch_opened", count=3, lines=8, stops=6)
    return _frame(PickJob().view(state), Verdict(GOOD, message), LinkState("live", 2.0), serial=1)


def _batch_foreign_product(text: str) -> Frame:
    choices = (PickChoice("join", text or "100099"), PickChoice("look_up", "4711"))
    verdict = Verdict(WRONG, msg("pick.for_other", label=text or "Oat drink 1 l", other=text or "100099"))
    return _frame(
        PickJob().view(_batch_state(text)._replace(choices=choices)), verdict, LinkState("offline", 900.0, 7), serial=15
    )


def _batch_done(text: str) -> Frame:
    state = _batch_state(text)
    state = with_lines(state, [line._replace(picked=line.ordered) for line in state.lines])
    taken = msg(
        "pick.picked_for_tote", label=text or PRODUCTS[5][1], quantity=Decimal(1), tote="C", done=Decimal(1), of=1
    )
    verdict = Verdict(GOOD, msg("pick.batch_all_picked", count=3, what=taken))
    return _frame(PickJob().view(state), verdict, LinkState("live", 1.0, 3), serial=31)


def _batch_return(text: str) -> Frame:
    back = tuple(
        GoodsToReturn("B", "rejected", number, text or label, Decimal(of), place)
        for number, label, place, of, _ in PRODUCTS[:3]
    )
    state = _batch_state(text)._replace(to_return=back, is_quantity_open=False)
    message = msg(
        "pick.removed_with_goods", what=msg("pair", name="B", value=msg("pick.rejected", order="100051")), count=9
    )
    return _frame(PickJob().view(state), Verdict(WRONG, message), LinkState("live", 1.0, 3), serial=20)


def _batch_fewer(text: str) -> Frame:
    choices = (PickChoice("set", "P1", quantity=Decimal(1)), PickChoice("set", "P1", quantity=Decimal(5)))
    message = msg(
        "pick.fewer_than_picked", label=text or PRODUCTS[1][1], quantity=Decimal(1), done=Decimal(4), of=Decimal(9)
    )
    state = _batch_state(text)._replace(choices=choices)
    return _frame(PickJob().view(state), Verdict(ASK, message), LinkState("live", 2.0), serial=21)


def _pick_returned(text: str) -> Frame:
    number, label, place, of, _ = PRODUCTS[0]
    back = GoodsToReturn("A", "rejected", number, text or label, Decimal(of), place, order=text or "100042")
    state = PickState((), phase="done", history=(UndoStep(returned=(back,)),))
    return _frame(PickJob().view(state), Verdict(GOOD, msg("pick.choice_put_back")), LinkState("live", 1.0), serial=9)


def _batch_wait(text: str) -> Frame:
    choices = (PickChoice("take_over", text or "100051"), PickChoice("leave_out", text or "100051"))
    state = PickState(
        tuple(tote._replace(has_lines=tote.letter == "A") for tote in _batch_state(text).totes),
        is_batch=True,
        choices=choices,
    )
    claim = {"order": text or "100051", "who": text or "Ben Okafor", "terminal": text or "handheld-2"}
    at = msg("moment", at="2026-11-20T10:32:00Z")
    verdict = Verdict(ASK, msg("pick.claimed_at", at=at, done=Decimal(2), of=Decimal(5), **claim))
    return _frame(PickJob().view(state), verdict, LinkState("live", 4.0), serial=5)


def _pick_free(text: str) -> Frame:
    order = text or "100042"
    tote = _batch_state(text).totes[0]._replace(order=order, has_lines=False)
    state = PickState((tote,), choices=(PickChoice("open_free", order),))
    verdict = Verdict(ASK, msg("pick.free_now", order=order, choice=1))
    return _frame(PickJob().view(state), verdict, LinkState("live", 4.0), serial=6)


def _pick_taken_over(text: str) -> Frame:
    who = text or "Ben Okafor"
    choices = (PickChoice("both", "100042", who), PickChoice("hand_over", "100042", who, quantity=Decimal(2)))
    verdict = Verdict(ASK, msg("pick.taken_over", order="100042", who=who, count=2))
    state = _pick_state(text)._replace(take_over_choices=choices)
    state = with_tote(state, state.totes[0]._replace(other_pickers=(who,)))
    return _frame(PickJob().view(state), verdict, LinkState("live", 4.0), serial=8)


def _pick_postponed(text: str) -> Frame:
    """Show a pick that went on after somebody took the order over; a letter asks the question again."""
    who = text or "Ben Okafor"
    state = _pick_state(text)._replace(
        take_over_choices=(PickChoice("both", "100042", who), PickChoice("hand_over", "100042", who)), is_postponed=True
    )
    state = with_tote(state, state.totes[0]._replace(other_pickers=(who,)))._replace(pools=(Pool(3, text or "Online"),))
    verdict = Verdict(GOOD, msg("pick.picked", label=text or PRODUCTS[0][1], done=Decimal(2), of=Decimal(6)))
    return _frame(PickJob().view(state), verdict, LinkState("live", 4.0), serial=9)


def _pick_assigned(text: str) -> Frame:
    """Show an order of another batch that a supervisor assigns."""
    choices = (PickChoice("take_in", text or "100051"), PickChoice("later"))
    verdict = Verdict(ASK, msg("pick.assigned", order=text or "100051", who=text or "Carla Fernandes"))
    return _frame(
        PickJob().view(_pick_state(text)._replace(take_over_choices=choices)), verdict, LinkState("live", 4.0), serial=8
    )


def _pick_reassigned(text: str) -> Frame:
    """Show an order that was assigned to somebody else, with goods in its tote."""
    number, label, place, of, _ = PRODUCTS[0]
    back = (
        GoodsToReturn(
            "B", "assigned", number, text or label, Decimal(of), place, order="100051", line=_pick_state(text).lines[0]
        ),
    )
    out = msg("pair", name="B", value=msg("pick.reassigned", order="100051", who=text or "Ben Okafor"))
    verdict = Verdict(WRONG, msg("pick.removed_with_goods", what=out, count=Decimal(of)))
    return _frame(
        PickJob().view(_batch_state(text)._replace(to_return=back)), verdict, LinkState("live", 4.0), serial=8
    )


def _put_down_by_other(text: str, location: str = "PU-01") -> Frame:
    """Show goods in hand that somebody else recorded as put down at a location; empty if that is unknown."""
    number, label, _, of, _ = PRODUCTS[0]
    back = (
        GoodsToReturn(
            "B",
            PUT_DOWN_BY_OTHER,
            number,
            text or label,
            Decimal(of),
            location,
            order="100051",
            line=_pick_state(text).lines[0],
        ),
    )
    verdict = Verdict(WRONG, msg("pick.put_down_by_other", order=text or "100051", count=of))
    if location:
        verdict = Verdict(WRONG, msg("pick.put_down_by_other_at", order=text or "100051", count=of, place=location))
    state = _pick_state(text)._replace(totes=(), lines=(), phase="done", to_return=back)
    return _frame(PickJob().view(state), verdict, LinkState("live", 4.0), serial=8)


def _pick_surplus(text: str) -> Frame:
    number, label, place, of, _ = PRODUCTS[0]
    back = (GoodsToReturn("A", "left_over", number, text or label, Decimal(2), place, "OP"),)
    args = {"label": text or label, "who": text or "Ben Okafor"}
    message = msg("pick.surplus_by", done=Decimal(of), of=Decimal(of), count=2, **args)
    state = _pick_state(text)._replace(to_return=back)
    return _frame(PickJob().view(state), Verdict(WRONG, message), LinkState("live", 4.0), serial=8)


def _new_batch_state(text: str, count: int = 3) -> BatchState:
    """Return the orders of a new batch; the last one was just scanned."""
    names = (*ORDERS, ("100099", ""), ("100104", "M. Okafor"), ("100108", "De Vries"))
    spots = (("a", "b", "c"), ("b", "c"), ("c", "d"), ("a",), ("e", "b"), ("d", "f"))
    return BatchState(
        tuple(
            BatchOrder(
                order,
                text or who,
                f"2026-11-{20 + index}T09:30:00",
                3 + index,
                GoodsSum(Decimal(9)),
                tuple((place, place, 0, "") for place in spots[index]),
                has_lines=index < 5,
            )
            for index, (order, who) in enumerate(names[:count])
        )
    )


def _new_batch_empty(text: str) -> Frame:
    return _frame(BatchJob().view(BatchState()), None, LinkState("live", 4.0))


def _new_batch_added(text: str) -> Frame:
    given = {"tote": "C", "order": text or "100073", "pickup": "2026-11-22T09:30:00"}
    verdict = Verdict(GOOD, msg("batch.added", lines=5, saved=3, **given))
    return _frame(BatchJob().view(_new_batch_state(text)), verdict, LinkState("live", 12.0, 1), serial=3)


def _new_batch_remove(text: str) -> Frame:
    state = _new_batch_state(text, 6)._replace(is_removing=True)
    return _frame(
        BatchJob().view(state), Verdict(ASK, msg("batch.prompt_remove")), LinkState("offline", 900.0), serial=6
    )


PICK_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("pick.wait", "syncing", _pick_wait),
    ("pick.wait", "claimed", _batch_wait),
    ("pick.wait", "free", _pick_free),
    ("pick.location", "wrong", _pick_location),
    ("pick.location", "round", _batch_location),
    ("pick.product", "taken", _pick_product),
    ("pick.product", "over", _pick_over),
    ("pick.product", "taken_over", _pick_taken_over),
    ("pick.product", "aside", _pick_postponed),
    ("pick.product", "given", _pick_assigned),
    ("pick.return", "given", _pick_reassigned),
    ("pick.return", "laid", _put_down_by_other),
    ("pick.return", "laid_unsaid", partial(_put_down_by_other, location="")),
    ("pick.return", "left_over", _pick_surplus),
    ("pick.product", "round", _batch_stop),
    ("pick.tote", "round", _batch_tote),
    ("pick.product", "foreign", _batch_foreign_product),
    ("pick.product", "fewer", _batch_fewer),
    ("pick.done", "in_hand", _pick_done),
    ("pick.done", "round", _batch_done),
    ("pick.return", "rejected", _batch_return),
    ("pick.return", "done", _pick_returned),
    ("batch", "fresh", _new_batch_empty),
    ("batch", "added", _new_batch_added),
    ("batch", "out", _new_batch_remove),
)
"""Screen, state and builder of each sample."""
