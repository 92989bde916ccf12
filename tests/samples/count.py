"""Samples of counting, losses and the counting log."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from aisle.jobs.adjust import AdjustJob
from aisle.jobs.adjust_state_view_and_undo import AdjustState, SentAdjustment, parse_reasons
from aisle.jobs.count.count_state import CountLine, CountState, CountTarget, UndoStep
from aisle.jobs.count.job import CountJob
from aisle.jobs.count.sent_count_types import StockChange
from aisle.jobs.names_in_messages import Pool
from aisle.jobs.typed_numbers_dates_and_letters import QuantityQuestion
from aisle.jobs.undo_todays_entries import Entry, MyEntriesJob, MyEntriesState
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, LinkState, Verdict, View, msg
from aisle.scan.grammar_and_meaning_types import Match
from aisle.settings.setting_definitions import LOSS_REASONS

POOLS = (Pool(1, "Shop floor"), Pool(2, "Online"), Pool(3, "Reserve"))

EXPECTED = (
    ("4001", "Cola Zero 33 cl can, tray of 24", "12", "0.95"),
    ("4002", "Orange lemonade 1.5 l", "6", "2.10"),
    ("4107", "Crisps, natural, 250 g", "8", "1.79"),
    ("5231", "Crème fraîche 200 g", "3", "1.25"),
    ("7714", "Wholemeal bread", "4", "2.45"),
)
"""Product number, name, expected quantity, price."""

MOMENT = "2026-11-20T09:41:00Z"


def _frame(view: View, verdict: Verdict | None, link: LinkState, serial: int = 0, typed: str = "") -> Frame:
    return Frame(view, link, verdict, typed, "0042", "Anna", serial)


def _count_lines(text: str, counted: tuple[int | None, ...] = ()) -> tuple[CountLine, ...]:
    filled = (*counted, *(None for _ in range(len(EXPECTED) - len(counted))))
    return tuple(
        CountLine(
            "A-03-12",
            number,
            text or label,
            1,
            Decimal(quantity),
            Decimal(2) if number == "4001" else Decimal(0),
            price=Decimal(price),
            counted=None if have is None else Decimal(have),
            counted_at=MOMENT,
        )
        for (number, label, quantity, price), have in zip(EXPECTED, filled, strict=True)
    )


def _count_state(text: str, *counted: int | None) -> CountState:
    history = (UndoStep("A-03-12", "4001", 1),) if counted else ()
    items = _count_lines(text, counted)
    return CountState(
        "count", "location", "A-03-12", lines=items, current_index=len(counted) - 1, history=history, pools=POOLS
    )


def _product_count(text: str) -> CountState:
    places = (("A-03-12", 12, 11), ("B-01-02", 6, None), ("R-11-01", 48, None), ("", 5, None))
    items = tuple(
        _count_lines(text)[0]._replace(
            location=place, expected=Decimal(books), counted=None if have is None else Decimal(have)
        )
        for place, books, have in places
    )
    label = text or EXPECTED[0][1]
    return CountState("count", "product", "B-01-02", "4001", label, lines=items, current_index=1, pools=POOLS)


def _change(product: str, quantity: int) -> StockChange:
    """A loss or find an hour after the count."""
    return StockChange(product, "A-03-12", 1, Decimal(quantity), "2026-11-20T10:41:00Z")


def _start(text: str) -> Frame:
    verdict = Verdict(GOOD, msg("count.sent_differing", what=text or "A-03-12", count=5, differing=2))
    return _frame(CountJob().view(CountState()), verdict, LinkState("live", 5.0, 1), 9)


def _only(text: str) -> Frame:
    items = _count_state(text).lines[:1]
    state = _count_state(text)._replace(
        lines=items, current_index=0, only_product=items[0].product, label=items[0].label, history=()
    )
    verdict = Verdict(ASK, msg("count.how_many_at", label=items[0].label, place="A-03-12"))
    return _frame(CountJob().view(state), verdict, LinkState("live", 12.0), 14)


def _product(text: str) -> Frame:
    state = _count_state(text, 11)
    verdict = Verdict(
        GOOD, msg("count.counted_of", label=state.lines[0].label, counted=Decimal(11), expected=Decimal(12))
    )
    return _frame(CountJob().view(state), verdict, LinkState("live", 12.0), 14)


def _blind(text: str) -> Frame:
    state = _count_state(text, 11, 6)._replace(is_blind=True, stock_changes=(_change("4002", 1),))
    verdict = Verdict(WRONG, msg("count.unknown", code=text or "8710000000042"))
    return _frame(CountJob().view(state), verdict, LinkState("offline", 300.0, 2), 15, "8")


def _at_location(text: str) -> Frame:
    text_ = msg("count.sent_and", what="A-03-11", differing=0, next=msg("count.at_location", place="A-03-12", count=5))
    return _frame(CountJob().view(_count_state(text)), Verdict(GOOD, text_), LinkState("live", 3.0, 1), 16)


def _stop(text: str) -> Frame:
    state = _product_count(text)
    verdict = Verdict(GOOD, msg("count.at_stop", place="B-01-02", label=state.label))
    return _frame(CountJob().view(state), verdict, LinkState("live", 12.0), 17)


def _other(text: str) -> Frame:
    other = text or EXPECTED[1][1]
    state = _product_count(text)._replace(choices=(CountTarget("product", "4002", other),))
    verdict = Verdict(ASK, msg("count.other_product", label=other, mine=state.label))
    return _frame(CountJob().view(state), verdict, LinkState("live", 12.0), 18)


def _plan(text: str) -> Frame:
    todo = tuple(
        CountTarget("location", text or code, text or code) for code in ("A-03-11", "A-03-12", "A-03-13", "B-01-02")
    )
    label = text or EXPECTED[3][1]
    state = CountState("list", plan=(*todo, CountTarget("product", "5231", label)), location="B-01-02")
    verdict = Verdict(GOOD, msg("count.listed", what=text or "B-01-02", count=5))
    return _frame(CountJob().view(state), verdict, LinkState("live", 12.0), 17)


def _empty_plan(text: str) -> Frame:
    verdict = Verdict(INFO, msg("count.to_list"))
    return _frame(CountJob().view(CountState("list")), verdict, LinkState("live", 12.0), 17)


def _number(text: str) -> Frame:
    question = QuantityQuestion(Decimal(3012), (Match("location", "3012", text or "3012"),))
    state = _count_state(text, 11, 6)._replace(question=question)
    verdict = Verdict(
        ASK, msg("count.number_of_other", value=Decimal(3012), what=msg("record_name.location", what=text or "3012"))
    )
    return _frame(CountJob().view(state), verdict, LinkState("live", 12.0), 18)


def _missing_stop(text: str) -> Frame:
    state = _product_count(text)._replace(phase="missing", current_index=-1)
    verdict = Verdict(ASK, msg("count.missing_at", label=state.label, place="B-01-02"))
    return _frame(CountJob().view(state), verdict, LinkState("live", 12.0), 18)


def _missing(text: str) -> Frame:
    state = _count_state(text, 12, 6)._replace(phase="missing", current_index=-1)
    verdict = Verdict(ASK, msg("count.missing", label=text or EXPECTED[2][1], place="A-03-12"))
    return _frame(CountJob().view(state), verdict, LinkState("offline", 900.0, 4), 19)


def _recount(text: str) -> Frame:
    state = _count_state(text, 12, 60, 8, 3, 4)._replace(phase="recount", current_index=-1)
    items = tuple(item._replace(needs_recount=item.product == "4002") for item in state.lines)
    verdict = Verdict(ASK, msg("count.recount_needed", label=text or EXPECTED[1][1]))
    return _frame(CountJob().view(state._replace(lines=items)), verdict, LinkState("live", 4.0), 20)


def _summary(text: str) -> Frame:
    state = _count_state(text, 10, 6, 0, 4, 4)._replace(phase="summary", current_index=-1)
    state = state._replace(stock_changes=(_change("4001", -2), _change("7714", 1)))
    verdict = Verdict(ASK, msg("count.differ_value", count=3, units=Decimal(-9), value="-14.97"))
    return _frame(CountJob().view(state), verdict, LinkState("live", 4.0), 21)


def _pool(text: str) -> Frame:
    pools = tuple(pool._replace(name=text or pool.name) for pool in POOLS)
    state = _count_state(text, 11)._replace(phase="pool", pools=pools)
    return _frame(CountJob().view(state), Verdict(ASK, msg("count.which_pool")), LinkState("live", 4.0), 22)


def _leave(text: str) -> Frame:
    state = _count_state(text, 11, 6)._replace(phase="leave")
    return _frame(CountJob().view(state), Verdict(ASK, msg("count.leave", count=2)), LinkState("live", 4.0), 23)


def _adjust_state(text: str, phase: str, quantity: int = 0) -> AdjustState:
    item = _count_lines(text)[0]
    spots = (
        item,
        item._replace(location="R-11-01", expected=Decimal(48)),
        item._replace(location="", expected=Decimal(5)),
    )
    chosen = item if phase != "product" else None
    return AdjustState(phase, "", 1, chosen, spots, Decimal(quantity), reasons=parse_reasons(LOSS_REASONS))


def _adjust_product(text: str) -> Frame:
    state = _adjust_state(text, "product")._replace(location="A-03-12")
    sent = SentAdjustment(_count_lines(text)[0], Decimal(-2), "2026-11-20T09:00:00Z")
    verdict = Verdict(
        GOOD, msg("adjust.lost", quantity=Decimal(2), label=text or EXPECTED[0][1], reason=text or "Damaged")
    )
    return _frame(AdjustJob().view(state._replace(sent=(sent,))), verdict, LinkState("live", 4.0, 1), 24)


def _adjust_location(text: str) -> Frame:
    verdict = Verdict(ASK, msg("adjust.which_location", label=text or EXPECTED[0][1]))
    return _frame(AdjustJob().view(_adjust_state(text, "location", 1)), verdict, LinkState("live", 4.0), 25)


def _adjust_quantity(text: str) -> Frame:
    verdict = Verdict(GOOD, msg("count.counted", label=text or EXPECTED[0][1], counted=Decimal(2)))
    return _frame(AdjustJob().view(_adjust_state(text, "quantity", 2)), verdict, LinkState("live", 4.0), 26)


def _adjust_number(text: str) -> Frame:
    state = _adjust_state(text, "quantity", 1)._replace(
        question=QuantityQuestion(Decimal(12), (Match("location", "12", text or "12"),))
    )
    verdict = Verdict(
        ASK, msg("count.number_of_other", value=Decimal(12), what=msg("record_name.location", what=text or "12"))
    )
    return _frame(AdjustJob().view(state), verdict, LinkState("live", 4.0), 26)


def _adjust_exceeded(text: str) -> Frame:
    state = _adjust_state(text, "quantity", 500)._replace(
        chosen_reason=parse_reasons(LOSS_REASONS)[0], has_expected=True
    )
    books, place = {"books": Decimal(12), "result": Decimal(-488)}, msg("raw", text=text or "A-03-12")
    label = text or EXPECTED[0][1]
    verdict = Verdict(ASK, msg("adjust.exceeds_expected", quantity=Decimal(500), label=label, place=place, **books))
    return _frame(AdjustJob().view(state), verdict, LinkState("live", 4.0), 26)


def _adjust_reason(text: str) -> Frame:
    state = _adjust_state(text, "reason", 2)
    if text:
        state = state._replace(reasons=tuple(reason._replace(text=text) for reason in state.reasons))
    verdict = Verdict(ASK, msg("adjust.which_reason", quantity=Decimal(2), label=text or EXPECTED[0][1]))
    return _frame(AdjustJob().view(state), verdict, LinkState("offline", 4000.0, 3), 27)


def _entries(text: str) -> tuple[Entry, ...]:
    words = ("queued", "sending", "confirmed", "refused", "in_doubt")
    entries = []
    for index, ((number, label, quantity, _), word) in enumerate(zip(EXPECTED, words, strict=True)):
        counted = Decimal(quantity) - index
        at, user = f"2026-11-20T09:{41 - index * 7:02}:00", text or "U1"
        entry = Entry(f"{index}", f"{index}", at, user, number, text or label, "A-03-12", 1, counted, Decimal(-index))
        entries.append(entry._replace(state=word))
    loss = Entry(
        "9",
        "9",
        "2026-11-20T08:02:00",
        "U1",
        "4002",
        text or EXPECTED[1][1],
        "",
        1,
        None,
        Decimal(-2),
        "Damaged",
        is_undone=True,
    )
    return (*entries, loss)


def _my_entries(text: str) -> Frame:
    state = MyEntriesState(rows=_entries(text), total=6, cursor=1)
    return _frame(MyEntriesJob().view(state), None, LinkState("live", 4.0, 2), 0)


def _my_entry(text: str) -> Frame:
    entry = _entries(text)[3]._replace(why=text or "Stock of 5231 is counted by somebody else")
    return _frame(MyEntriesJob().view(MyEntriesState(entry=entry)), None, LinkState("live", 4.0, 0, 1), 0)


def _my_entry_undo(text: str) -> Frame:
    entry = _entries(text)[2]
    verdict = Verdict(ASK, msg("my_entries.ask_undo", label=entry.label, quantity=-(entry.difference or Decimal(0))))
    return _frame(
        MyEntriesJob().view(MyEntriesState(entry=entry, is_asking_undo=True)), verdict, LinkState("live", 4.0), 28
    )


COUNT_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("count.start", "sent", _start),
    ("count.list", "empty", _empty_plan),
    ("count.list", "some", _plan),
    ("count.product", "counted", _product),
    ("count.product", "one", _only),
    ("count.product", "number", _number),
    ("count.product", "blind", _blind),
    ("count.product", "next", _at_location),
    ("count.stop", "tour", _stop),
    ("count.stop", "other", _other),
    ("count.missing", "asked", _missing),
    ("count.missing", "location", _missing_stop),
    ("count.recount", "asked", _recount),
    ("count.summary", "differing", _summary),
    ("count.pool", "asked", _pool),
    ("count.leave", "asked", _leave),
    ("adjust.product", "sent", _adjust_product),
    ("adjust.location", "asked", _adjust_location),
    ("adjust.quantity", "scanned", _adjust_quantity),
    ("adjust.quantity", "number", _adjust_number),
    ("adjust.quantity", "over", _adjust_exceeded),
    ("adjust.reason", "asked", _adjust_reason),
    ("my_entries", "mine", _my_entries),
    ("my_entries.entry", "refused", _my_entry),
    ("my_entries.undo", "asked", _my_entry_undo),
)
"""Screen, state and builder of each sample."""
