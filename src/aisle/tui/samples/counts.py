"""Samples of counting, losses and the counting log, for the registry of screens."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from aisle.jobs.count.counting import Before, Counting, Item, Next, Pool
from aisle.jobs.count.job import CountJob
from aisle.jobs.count.log import CountLogJob
from aisle.jobs.count.log_state import Entry, Log
from aisle.jobs.count.losing import Losing, Said, reasons
from aisle.jobs.count.loss import LossJob
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, Link, Verdict, View, msg
from aisle.scan.meaning import Meaning
from aisle.settings import REASONS

POOLS = (Pool(1, "Shop floor"), Pool(2, "Online"), Pool(3, "Reserve"))

BOOKS = (
    ("4001", "Cola Zero 33 cl can, tray of 24", "12", "0.95"),
    ("4002", "Orange lemonade 1.5 l", "6", "2.10"),
    ("4107", "Crisps, natural, 250 g", "8", "1.79"),
    ("5231", "Crème fraîche 200 g", "3", "1.25"),
    ("7714", "Wholemeal bread", "4", "2.45"),
)
"""Number, name, quantity by the books, price."""

MOMENT = "2026-11-20T09:41:00Z"


def _frame(view: View, verdict: Verdict | None, link: Link, serial: int = 0, typed: str = "") -> Frame:
    return Frame(view, link, verdict, typed, "0042", "Anna", serial)


def _items(text: str, counted: tuple[int | None, ...] = ()) -> tuple[Item, ...]:
    filled = (*counted, *(None for _ in range(len(BOOKS) - len(counted))))
    return tuple(
        Item(
            "A-03-12",
            number,
            text or label,
            1,
            Decimal(quantity),
            Decimal(2) if number == "4001" else Decimal(0),
            price=Decimal(price),
            counted=None if have is None else Decimal(have),
            at=MOMENT,
        )
        for (number, label, quantity, price), have in zip(BOOKS, filled, strict=True)
    )


def _counting(text: str, *counted: int | None) -> Counting:
    history = (Before("A-03-12", "4001", 1),) if counted else ()
    items = _items(text, counted)
    return Counting("count", "place", "A-03-12", items=items, at=len(counted) - 1, history=history, pools=POOLS)


def _tour(text: str) -> Counting:
    places = (("A-03-12", 12, 11), ("B-01-02", 6, None), ("R-11-01", 48, None), ("", 5, None))
    items = tuple(
        _items(text)[0]._replace(place=place, expected=Decimal(books), counted=None if have is None else Decimal(have))
        for place, books, have in places
    )
    label = text or BOOKS[0][1]
    return Counting("count", "product", "B-01-02", "4001", label, items=items, at=1, pools=POOLS)


def _start(text: str) -> Frame:
    verdict = Verdict(GOOD, msg("count.sent_differing", what=text or "A-03-12", count=5, differing=2))
    return _frame(CountJob().view(Counting()), verdict, Link("live", 5.0, 1), 9)


def _only(text: str) -> Frame:
    items = _counting(text).items[:1]
    state = _counting(text)._replace(items=items, at=0, only=items[0].product, label=items[0].label, history=())
    verdict = Verdict(ASK, msg("count.how_many_at", label=items[0].label, place="A-03-12"))
    return _frame(CountJob().view(state), verdict, Link("live", 12.0), 14)


def _product(text: str) -> Frame:
    state = _counting(text, 11)
    verdict = Verdict(
        GOOD, msg("count.counted_of", label=state.items[0].label, counted=Decimal(11), expected=Decimal(12))
    )
    return _frame(CountJob().view(state), verdict, Link("live", 12.0), 14)


def _blind(text: str) -> Frame:
    state = _counting(text, 11, 6)._replace(blind=True)
    verdict = Verdict(WRONG, msg("count.unknown", code=text or "8710000000042"))
    return _frame(CountJob().view(state), verdict, Link("offline", 300.0, 2), 15, "8")


def _at_place(text: str) -> Frame:
    text_ = msg("count.sent_and", what="A-03-11", differing=0, next=msg("count.at_place", place="A-03-12", count=5))
    return _frame(CountJob().view(_counting(text)), Verdict(GOOD, text_), Link("live", 3.0, 1), 16)


def _stop(text: str) -> Frame:
    state = _tour(text)
    verdict = Verdict(GOOD, msg("count.at_stop", place="B-01-02", label=state.label))
    return _frame(CountJob().view(state), verdict, Link("live", 12.0), 17)


def _other(text: str) -> Frame:
    other = text or BOOKS[1][1]
    state = _tour(text)._replace(ways=(Next("product", "4002", other),))
    verdict = Verdict(ASK, msg("count.other_product", label=other, mine=state.label))
    return _frame(CountJob().view(state), verdict, Link("live", 12.0), 18)


def _list(text: str) -> Frame:
    todo = tuple(Next("place", text or code, text or code) for code in ("A-03-11", "A-03-12", "A-03-13", "B-01-02"))
    label = text or BOOKS[3][1]
    state = Counting("list", todo=(*todo, Next("product", "5231", label)), place="B-01-02")
    verdict = Verdict(GOOD, msg("count.listed", what=text or "B-01-02", count=5))
    return _frame(CountJob().view(state), verdict, Link("live", 12.0), 17)


def _list_start(text: str) -> Frame:
    verdict = Verdict(INFO, msg("count.making_list"))
    return _frame(CountJob().view(Counting("list")), verdict, Link("live", 12.0), 17)


def _number(text: str) -> Frame:
    ways = (Next("quantity", "3012"), Next("place", "3012", text or "3012"))
    state = _counting(text, 11, 6)._replace(ways=ways)
    verdict = Verdict(ASK, msg("count.number_of_place", value=Decimal(3012), what=text or "3012"))
    return _frame(CountJob().view(state), verdict, Link("live", 12.0), 18)


def _missing_stop(text: str) -> Frame:
    state = _tour(text)._replace(phase="missing", at=-1)
    verdict = Verdict(ASK, msg("count.missing_at", label=state.label, place="B-01-02"))
    return _frame(CountJob().view(state), verdict, Link("live", 12.0), 18)


def _missing(text: str) -> Frame:
    state = _counting(text, 12, 6)._replace(phase="missing", at=-1)
    verdict = Verdict(ASK, msg("count.missing", label=text or BOOKS[2][1], place="A-03-12"))
    return _frame(CountJob().view(state), verdict, Link("offline", 900.0, 4), 19)


def _recount(text: str) -> Frame:
    state = _counting(text, 12, 60, 8, 3, 4)._replace(phase="recount", at=-1)
    items = tuple(item._replace(again=item.product == "4002") for item in state.items)
    verdict = Verdict(ASK, msg("count.again", label=text or BOOKS[1][1]))
    return _frame(CountJob().view(state._replace(items=items)), verdict, Link("live", 4.0), 20)


def _summary(text: str) -> Frame:
    state = _counting(text, 10, 6, 0, 4, 4)._replace(phase="summary", at=-1)
    verdict = Verdict(ASK, msg("count.differ_value", count=3, units=Decimal(-9), value="-14.97"))
    return _frame(CountJob().view(state), verdict, Link("live", 4.0), 21)


def _pool(text: str) -> Frame:
    pools = tuple(pool._replace(name=text or pool.name) for pool in POOLS)
    state = _counting(text, 11)._replace(phase="pool", pools=pools)
    return _frame(CountJob().view(state), Verdict(ASK, msg("count.which_pool")), Link("live", 4.0), 22)


def _leave(text: str) -> Frame:
    state = _counting(text, 11, 6)._replace(phase="leave")
    return _frame(CountJob().view(state), Verdict(ASK, msg("count.leave", count=2)), Link("live", 4.0), 23)


def _losing(text: str, phase: str, quantity: int = 0) -> Losing:
    item = _items(text)[0]
    spots = (item, item._replace(place="R-11-01", expected=Decimal(48)), item._replace(place="", expected=Decimal(5)))
    chosen = item if phase != "product" else None
    return Losing(phase, "", 1, chosen, spots, Decimal(quantity), reasons=reasons(REASONS))


def _loss_product(text: str) -> Frame:
    state = _losing(text, "product")._replace(place="A-03-12")
    said = Said(_items(text)[0], Decimal(-2), "2026-11-20T09:00:00Z")
    verdict = Verdict(GOOD, msg("loss.lost", quantity=Decimal(2), label=text or BOOKS[0][1], reason=text or "Damaged"))
    return _frame(LossJob().view(state._replace(sent=(said,))), verdict, Link("live", 4.0, 1), 24)


def _loss_place(text: str) -> Frame:
    verdict = Verdict(ASK, msg("loss.where", label=text or BOOKS[0][1]))
    return _frame(LossJob().view(_losing(text, "place", 1)), verdict, Link("live", 4.0), 25)


def _loss_quantity(text: str) -> Frame:
    verdict = Verdict(GOOD, msg("loss.how_many", label=text or BOOKS[0][1], quantity=Decimal(2)))
    return _frame(LossJob().view(_losing(text, "quantity", 2)), verdict, Link("live", 4.0), 26)


def _loss_number(text: str) -> Frame:
    state = _losing(text, "quantity", 1)._replace(number=Meaning("location", "12", text or "12"), typed=Decimal(12))
    verdict = Verdict(ASK, msg("count.number_of_place", value=Decimal(12), what=text or "12"))
    return _frame(LossJob().view(state), verdict, Link("live", 4.0), 26)


def _loss_over(text: str) -> Frame:
    state = _losing(text, "quantity", 500)._replace(chosen=reasons(REASONS)[0], figures=True)
    verdict = Verdict(ASK, msg("loss.over", quantity=Decimal(500), label=text or BOOKS[0][1], books=Decimal(12)))
    return _frame(LossJob().view(state), verdict, Link("live", 4.0), 26)


def _loss_reason(text: str) -> Frame:
    state = _losing(text, "reason", 2)
    if text:
        state = state._replace(reasons=tuple(reason._replace(words=text) for reason in state.reasons))
    verdict = Verdict(ASK, msg("loss.why", quantity=Decimal(2), label=text or BOOKS[0][1]))
    return _frame(LossJob().view(state), verdict, Link("offline", 4000.0, 3), 27)


def _entries(text: str) -> tuple[Entry, ...]:
    words = ("noted", "sent", "confirmed", "refused", "unclear")
    entries = []
    for index, ((number, label, quantity, _), word) in enumerate(zip(BOOKS, words, strict=True)):
        counted = Decimal(quantity) - index
        at, user = f"2026-11-20T09:{41 - index * 7:02}:00", text or "U1"
        entry = Entry(f"{index}", f"{index}", at, user, number, text or label, "A-03-12", 1, counted, Decimal(-index))
        entries.append(entry._replace(word=word))
    loss = Entry(
        "9",
        "9",
        "2026-11-20T08:02:00",
        "U1",
        "4002",
        text or BOOKS[1][1],
        "",
        1,
        None,
        Decimal(-2),
        "Damaged",
        undone=True,
    )
    return (*entries, loss)


def _log(text: str) -> Frame:
    state = Log(rows=_entries(text), total=6, cursor=1)
    return _frame(CountLogJob().view(state), None, Link("live", 4.0, 2), 0)


def _log_entry(text: str) -> Frame:
    entry = _entries(text)[3]._replace(why=text or "Stock of 5231 is counted by somebody else")
    return _frame(CountLogJob().view(Log(entry=entry)), None, Link("live", 4.0, 0, 1), 0)


def _log_undo(text: str) -> Frame:
    entry = _entries(text)[2]
    verdict = Verdict(ASK, msg("count_log.sure", label=entry.label, quantity=-(entry.difference or Decimal(0))))
    return _frame(CountLogJob().view(Log(entry=entry, asking=True)), verdict, Link("live", 4.0), 28)


COUNTS: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("count.start", "sent", _start),
    ("count.list", "empty", _list_start),
    ("count.list", "some", _list),
    ("count.product", "counted", _product),
    ("count.product", "one", _only),
    ("count.product", "number", _number),
    ("count.product", "blind", _blind),
    ("count.product", "next", _at_place),
    ("count.stop", "tour", _stop),
    ("count.stop", "other", _other),
    ("count.missing", "asked", _missing),
    ("count.missing", "place", _missing_stop),
    ("count.recount", "asked", _recount),
    ("count.summary", "differing", _summary),
    ("count.pool", "asked", _pool),
    ("count.leave", "asked", _leave),
    ("loss.product", "sent", _loss_product),
    ("loss.place", "asked", _loss_place),
    ("loss.quantity", "scanned", _loss_quantity),
    ("loss.quantity", "number", _loss_number),
    ("loss.quantity", "over", _loss_over),
    ("loss.reason", "asked", _loss_reason),
    ("count_log", "mine", _log),
    ("count_log.entry", "refused", _log_entry),
    ("count_log.undo", "asked", _log_undo),
)
"""Screen, state and how it is built, for each sample."""
