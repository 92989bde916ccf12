"""Samples of picking, for the registry of screens."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial

from aisle.jobs.pick.gather import WalkJob
from aisle.jobs.pick.gather_state import Chosen, Gathering
from aisle.jobs.pick.history import LAID, Back, Before, Did
from aisle.jobs.pick.job import PickJob
from aisle.jobs.pick.picking import Picking, Tote, Way, with_takes, with_tote
from aisle.jobs.pick.walk import Take
from aisle.jobs.view import ASK, GOOD, WRONG, Frame, Link, Verdict, View, msg

PRODUCTS = (
    ("4001", "Cola Zero 33 cl can, tray of 24", "A-03-12", 6, 2),
    ("4002", "Orange lemonade 1.5 l", "A-03-14", 2, 0),
    ("4107", "Crisps, natural, 250 g", "A-04-01", 1, 0),
    ("5230", "Whole milk 1 l", "C-01-02", 12, 0),
    ("5231", "Crème fraîche 200 g", "C-01-03", 3, 0),
    ("7714", "Wholemeal bread", "D-11-10", 1, 0),
)
"""Number, name, place, quantity, picked."""


def _frame(view: View, verdict: Verdict | None, link: Link, typed: str = "", serial: int = 0) -> Frame:
    return Frame(view, link, verdict, typed, "0042", "Anna", serial)


def _takes(text: str) -> tuple[Take, ...]:
    zero = Decimal(0)
    return tuple(
        Take(
            line, number, text or name, Decimal(of), Decimal(picked), zero, place, 3, False, "", Decimal("1.25"), False
        )
        for line, (number, name, place, of, picked) in enumerate(PRODUCTS, 1)
    )


def _picking(text: str) -> Picking:
    history = (Did((Before("100042", 1, Decimal(1)),)),)
    tote = Tote("100042", "A", text or "J. Jansen", here=True)
    takes = tuple(take._replace(order="100042") for take in _takes(text))
    return Picking((tote,), "walk", takes=takes, at=0, place="A-03-12", held=True, history=history)


def _pick_product(text: str) -> Frame:
    verdict = Verdict(GOOD, msg("pick.taken", label=text or PRODUCTS[0][1], done=Decimal(2), of=Decimal(6)))
    return _frame(PickJob().view(_picking(text)), verdict, Link("live", 12.0, 1), serial=14)


def _pick_over(text: str) -> Frame:
    state = _picking(text)._replace(ways=(Way("take_rest", "4001"),))
    label = text or PRODUCTS[0][1]
    verdict = Verdict(ASK, msg("pick.over", label=label, quantity=Decimal(12), rest=Decimal(4)))
    return _frame(PickJob().view(state), verdict, Link("offline", 300.0, 12, 1), serial=15)


def _pick_place(text: str) -> Frame:
    state = _picking(text)._replace(verified=True, place="", held=False, ways=(Way("look_up", "4711"),))
    label = text or PRODUCTS[1][1]
    verdict = Verdict(WRONG, msg("pick.not_here", label=label, code=text or "8710000000042", order="100042"))
    return _frame(PickJob().view(state), verdict, Link("offline", 90000.0, 3), typed=text or "8712", serial=99)


def _pick_wait(text: str) -> Frame:
    state = Picking((Tote("100042", "A", text),))
    return _frame(PickJob().view(state), None, Link("syncing", -1.0, 0, 0, 900), serial=1)


def _pick_done(text: str) -> Frame:
    state = _picking(text)
    takes = tuple(take._replace(picked=take.of) for take in state.takes)
    state = state._replace(takes=takes, at=-1, phase="done", held=False)
    verdict = Verdict(GOOD, msg("pick.all_taken", order="100042"))
    return _frame(PickJob().view(state), verdict, Link("live", 1.0, 2), serial=26)


ORDERS = (("100042", "J. Jansen"), ("100051", "Bakery The Little Corner"), ("100073", "Öztürk & Sons"))
"""The orders of a round, and whose they are."""


def _round(text: str) -> Picking:
    """Three orders: all want the first product, each one of the others."""
    totes = tuple(
        Tote(order, letter, text or who, "Ripe ones, please" if letter == "B" else "", here=True)
        for letter, (order, who) in zip("ABC", ORDERS, strict=True)
    )
    lines = _takes(text)
    takes = [
        lines[0]._replace(order=order, of=Decimal(of), picked=Decimal(picked), line=9)
        for (order, _), of, picked in zip(ORDERS, (3, 4, 2), (3, 1, 0), strict=True)
    ]
    takes += [line._replace(order=ORDERS[index % 3][0]) for index, line in enumerate(lines[1:])]
    history = (Did((Before("100051", 9, Decimal(0)),)),)
    state = Picking(totes, "walk", many=True, history=history)
    return with_takes(state, takes)._replace(held=True)


def _round_stop(text: str) -> Frame:
    label, one = text or PRODUCTS[0][1], Decimal(1)
    verdict = Verdict(GOOD, msg("pick.taken_tote", label=label, quantity=one, tote="B", done=one, of=Decimal(4)))
    return _frame(PickJob().view(_round(text)), verdict, Link("live", 12.0, 1), serial=14)


def _round_place(text: str) -> Frame:
    state = _round(text)._replace(verified=True, held=False)
    told = msg("pick.round_opened", count=3, lines=8, stops=6)
    return _frame(PickJob().view(state), Verdict(GOOD, told), Link("live", 2.0), serial=1)


def _round_foreign(text: str) -> Frame:
    ways = (Way("join", text or "100099"), Way("look_up", "4711"))
    verdict = Verdict(WRONG, msg("pick.for_other", label=text or "Oat drink 1 l", other=text or "100099"))
    return _frame(PickJob().view(_round(text)._replace(ways=ways)), verdict, Link("offline", 900.0, 7), serial=15)


def _round_done(text: str) -> Frame:
    state = _round(text)
    state = with_takes(state, [take._replace(picked=take.of) for take in state.takes])
    taken = msg("pick.taken_tote", label=text or PRODUCTS[5][1], quantity=Decimal(1), tote="C", done=Decimal(1), of=1)
    verdict = Verdict(GOOD, msg("pick.round_taken", count=3, what=taken))
    return _frame(PickJob().view(state), verdict, Link("live", 1.0, 3), serial=31)


def _round_back(text: str) -> Frame:
    back = tuple(
        Back("B", "rejected", number, text or label, Decimal(of), place) for number, label, place, of, _ in PRODUCTS[:3]
    )
    state = _round(text)._replace(back=back, held=False)
    told = msg("pick.out_hand", what=msg("pick.out_rejected", tote="B", order="100051"), count=9)
    return _frame(PickJob().view(state), Verdict(WRONG, told), Link("live", 1.0, 3), serial=20)


def _round_fewer(text: str) -> Frame:
    ways = (Way("set", "P1", quantity=Decimal(1)), Way("set", "P1", quantity=Decimal(5)))
    told = msg("pick.fewer", label=text or PRODUCTS[1][1], quantity=Decimal(1), done=Decimal(4), of=Decimal(9))
    state = _round(text)._replace(ways=ways)
    return _frame(PickJob().view(state), Verdict(ASK, told), Link("live", 2.0), serial=21)


def _pick_back_done(text: str) -> Frame:
    number, label, place, of, _ = PRODUCTS[0]
    back = Back("A", "rejected", number, text or label, Decimal(of), place, order=text or "100042")
    state = Picking((), phase="done", history=(Did(back=(back,)),))
    return _frame(PickJob().view(state), Verdict(GOOD, msg("pick.put_back_done")), Link("live", 1.0), serial=9)


def _round_wait(text: str) -> Frame:
    ways = (Way("take_over", text or "100051"), Way("leave_out", text or "100051"))
    state = Picking(tuple(tote._replace(here=tote.letter == "A") for tote in _round(text).totes), many=True, ways=ways)
    told = {"order": text or "100051", "who": text or "Ben Okafor", "terminal": text or "handheld-2"}
    at = msg("moment", at="2026-11-20T10:32:00Z")
    verdict = Verdict(ASK, msg("pick.claimed_at", at=at, done=Decimal(2), of=Decimal(5), **told))
    return _frame(PickJob().view(state), verdict, Link("live", 4.0), serial=5)


def _pick_free(text: str) -> Frame:
    order = text or "100042"
    tote = _round(text).totes[0]._replace(order=order, here=False)
    state = Picking((tote,), ways=(Way("open_free", order),))
    verdict = Verdict(ASK, msg("pick.free_now", order=order, choice=1))
    return _frame(PickJob().view(state), verdict, Link("live", 4.0), serial=6)


def _pick_taken_over(text: str) -> Frame:
    who = text or "Ben Okafor"
    ways = (Way("both", "100042", who), Way("hand_over", "100042", who, quantity=Decimal(2)))
    verdict = Verdict(ASK, msg("pick.taken_over", order="100042", who=who, count=2))
    state = _picking(text)._replace(over=ways)
    state = with_tote(state, state.totes[0]._replace(beside=(who,)))
    return _frame(PickJob().view(state), verdict, Link("live", 4.0), serial=8)


def _pick_aside(text: str) -> Frame:
    """Work went on since somebody took the order over: a letter brings the question back."""
    who = text or "Ben Okafor"
    state = _picking(text)._replace(over=(Way("both", "100042", who), Way("hand_over", "100042", who)), aside=True)
    state = with_tote(state, state.totes[0]._replace(beside=(who,)))._replace(pools=((3, text or "Online"),))
    verdict = Verdict(GOOD, msg("pick.taken", label=text or PRODUCTS[0][1], done=Decimal(2), of=Decimal(6)))
    return _frame(PickJob().view(state), verdict, Link("live", 4.0), serial=9)


def _pick_given(text: str) -> Frame:
    """A supervisor gives an order of another walk."""
    ways = (Way("take_in", text or "100051"), Way("later"))
    verdict = Verdict(ASK, msg("pick.given", order=text or "100051", who=text or "Carla Fernandes"))
    return _frame(PickJob().view(_picking(text)._replace(over=ways)), verdict, Link("live", 4.0), serial=8)


def _given_away(text: str) -> Frame:
    """An order was given to somebody else, with goods in its tote."""
    number, label, place, of, _ = PRODUCTS[0]
    back = (
        Back("B", "given", number, text or label, Decimal(of), place, order="100051", line=_picking(text).takes[0]),
    )
    out = msg("pick.out_given", tote="B", order="100051", who=text or "Ben Okafor")
    told = Verdict(WRONG, msg("pick.out_hand", what=out, count=Decimal(of)))
    return _frame(PickJob().view(_round(text)._replace(back=back)), told, Link("live", 4.0), serial=8)


def _put_by_another(text: str, place: str = "PU-01") -> Frame:
    """Somebody else said that goods lie at a place which are in this hand; empty where nobody knows at which."""
    number, label, _, of, _ = PRODUCTS[0]
    back = (Back("B", LAID, number, text or label, Decimal(of), place, order="100051", line=_picking(text).takes[0]),)
    told = Verdict(WRONG, msg("pick.back_laid_unsaid", order=text or "100051", count=of))
    if place:
        told = Verdict(WRONG, msg("pick.back_laid", order=text or "100051", count=of, place=place))
    state = _picking(text)._replace(totes=(), takes=(), phase="done", back=back)
    return _frame(PickJob().view(state), told, Link("live", 4.0), serial=8)


def _pick_left_over(text: str) -> Frame:
    number, label, place, of, _ = PRODUCTS[0]
    back = (Back("A", "left_over", number, text or label, Decimal(2), place, "OP"),)
    args = {"label": text or label, "who": text or "Ben Okafor"}
    told = msg("pick.left_over_by", done=Decimal(of), of=Decimal(of), count=2, **args)
    state = _picking(text)._replace(back=back)
    return _frame(PickJob().view(state), Verdict(WRONG, told), Link("live", 4.0), serial=8)


def _gathered(text: str, count: int = 3) -> Gathering:
    """Orders of a round to be; the last one is only just scanned."""
    names = (*ORDERS, ("100099", ""), ("100104", "M. Okafor"), ("100108", "De Vries"))
    spots = (("a", "b", "c"), ("b", "c"), ("c", "d"), ("a",), ("e", "b"), ("d", "f"))
    return Gathering(
        tuple(
            Chosen(
                order,
                text or who,
                f"2026-11-{20 + index}T09:30:00",
                3 + index,
                Decimal(9),
                tuple((place, place, 0, "") for place in spots[index]),
                known=index < 5,
            )
            for index, (order, who) in enumerate(names[:count])
        )
    )


def _walk_fresh(text: str) -> Frame:
    return _frame(WalkJob().view(Gathering()), None, Link("live", 4.0))


def _walk_added(text: str) -> Frame:
    given = {"tote": "C", "order": text or "100073", "pickup": "2026-11-22T09:30:00"}
    verdict = Verdict(GOOD, msg("walk.added", lines=5, saved=3, **given))
    return _frame(WalkJob().view(_gathered(text)), verdict, Link("live", 12.0, 1), serial=3)


def _walk_out(text: str) -> Frame:
    state = _gathered(text, 6)._replace(taking_out=True)
    return _frame(WalkJob().view(state), Verdict(ASK, msg("walk.which_out")), Link("offline", 900.0), serial=6)


PICKS: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("pick.wait", "syncing", _pick_wait),
    ("pick.wait", "claimed", _round_wait),
    ("pick.wait", "free", _pick_free),
    ("pick.place", "wrong", _pick_place),
    ("pick.place", "round", _round_place),
    ("pick.product", "taken", _pick_product),
    ("pick.product", "over", _pick_over),
    ("pick.product", "taken_over", _pick_taken_over),
    ("pick.product", "aside", _pick_aside),
    ("pick.product", "given", _pick_given),
    ("pick.back", "given", _given_away),
    ("pick.back", "laid", _put_by_another),
    ("pick.back", "laid_unsaid", partial(_put_by_another, place="")),
    ("pick.back", "left_over", _pick_left_over),
    ("pick.product", "round", _round_stop),
    ("pick.product", "foreign", _round_foreign),
    ("pick.product", "fewer", _round_fewer),
    ("pick.done", "in_hand", _pick_done),
    ("pick.done", "round", _round_done),
    ("pick.back", "rejected", _round_back),
    ("pick.back", "done", _pick_back_done),
    ("walk", "fresh", _walk_fresh),
    ("walk", "added", _walk_added),
    ("walk", "out", _walk_out),
)
"""Screen, state, and how it is built."""
