"""What is not settled: refused by the service, of doubtful fate, or on its way; a person works it off, one by one.

Nothing is decided silently: each entry says what was meant, by whom, what both sides say, and what can be done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs import window
from aisle.jobs.base import (
    AGAIN,
    ARRIVED,
    BY_HAND,
    DIFFERENCE,
    OVERAGE,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Opened,
    Query,
    Resumed,
    Rows,
    Settle,
    Start,
    Turn,
    Wish,
)
from aisle.jobs.desk.doubts_state import (
    COUNT,
    FIRST,
    LOOK,
    OTHER_ORDER,
    PUT_BACK,
    SETTING,
    Doubt,
    Doubts,
    Item,
    Side,
    ways_of,
)
from aisle.jobs.desk.doubts_view import HOW, choices_of, page_of
from aisle.jobs.fate import WORDS
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, View, msg
from aisle.jobs.window import room
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PRODUCT,
    Back,
    Choice,
    Command,
    Meaning,
    Move,
    Open,
    Text,
    Thing,
    Unknown,
)

_ASK = {AGAIN: "doubts.ask_again", BY_HAND: "doubts.ask_by_hand"}
_SAID = {
    ARRIVED: "doubts.said_arrived",
    AGAIN: "doubts.said_again",
    OVERAGE: "doubts.said_overage",
    DIFFERENCE: "doubts.said_difference",
    BY_HAND: "doubts.said_by_hand",
}

Result = Turn[Doubts]


class DoubtsJob:
    """The list, an entry, and what has to be asked before something is settled."""

    name = "doubts"
    steps: tuple[str, ...] = ("doubts", "doubts.entry", "doubts.again", "doubts.by_hand")
    version = 3
    journalled = True

    def begin(self) -> Doubts:
        """Nothing read yet."""
        return Doubts()

    def open(self, state: Doubts) -> Open:
        """Rows and ways out are numbered; how something was settled may be said in words."""
        if state.entry is None:
            return Open(choices=window.numbered_rows(state), letters=window.letters(state))
        return Open(choices=len(choices_of(state)), letters="np", search=state.asking == BY_HAND, by_hand=True)

    def prefers(self, state: Doubts) -> tuple[str, ...]:
        """An order, a product or a place finds the entry that speaks of it."""
        return (ORDER, PRODUCT, LOCATION)

    def at(self, state: Doubts) -> str:
        """The list, one entry, or a question about it."""
        if state.entry is None:
            return "doubts"
        return f"doubts.{state.asking}" if state.asking else "doubts.entry"

    def step(self, state: Doubts, event: Event, context: Context) -> Result:
        """A number opens an entry, then chooses a way out."""
        match event:
            case Rows("doubts", rows, _):
                return window.answered(state, event, tuple(_doubt(row) for row in rows), context, _query)
            case Rows("doubt", rows, _):
                return _fresh(state, rows)
            case Rows("chosen", rows, _):
                return Turn(state._replace(entry=_doubt(rows[0]), page=0) if rows else state)
            case Opened() | Closed() | Resumed() | Changed():
                return Turn(state, _look(state, context))
            case Back():
                return _back(state, context)
            case Text(text) | Unknown(text) if state.asking != BY_HAND:
                return Turn(state, (), Verdict(WRONG, msg("doubts.unknown", text=text)))
        return _list(state, event, context) if state.entry is None else _entry(state, state.entry, event)

    def view(self, state: Doubts) -> View:
        """The page of the step."""
        return page_of(state, self.at(state))


def _look(state: Doubts, context: Context) -> tuple[Effect, ...]:
    return (_query(state, context), *((_query_one(state.entry),) if state.entry else ()))


def _query_one(doubt: Doubt) -> Query:
    return Query("doubt", "doubts", {"op_id": doubt.op_id}, live=True)


def _query(state: Doubts, context: Context) -> Query:
    return window.search("doubts", "doubts", {}, state.first, room(context))


def _fresh(state: Doubts, rows: tuple[Mapping[str, Any], ...]) -> Result:
    """The entry on the page has gone on, or is over: found late, or settled by somebody else."""
    if state.entry is None:
        return Turn(state)
    if not rows:
        return Turn(state._replace(entry=None, asking="", page=0), (), Verdict(INFO, msg("doubts.over")))
    now = _doubt(rows[0])
    if now.word != state.entry.word:
        return Turn(
            state._replace(entry=now, asking=""), (), Verdict(INFO, msg("doubts.went_on", word=msg(WORDS[now.word])))
        )
    return Turn(state._replace(entry=now))


def _back(state: Doubts, context: Context) -> Result:
    if state.asking:
        return Turn(state._replace(asking=""))
    if state.entry is not None:
        state = state._replace(entry=None, page=0)
        return Turn(state, (_query(state, context),))
    return Turn(state, (Close(),))


def _list(state: Doubts, event: Event, context: Context) -> Result:
    if isinstance(event, Thing):
        return _of(state, event.meanings[0], context)
    return window.said(state, event, context, _query, _chosen)


def _chosen(state: Doubts, doubt: Doubt, context: Context) -> Result:
    """What was chosen from a window is asked for again by name, so that the journal knows what it was."""
    return Turn(state, (Query("chosen", "doubts", {"op_id": doubt.op_id}),))


def _of(state: Doubts, meaning: Meaning, context: Context) -> Result:
    """The first entry in sight that speaks of what was scanned."""
    for doubt in state.rows:
        places = {place for item in doubt.items for place in (item.source, item.target)}
        products = {item.product for item in doubt.items}
        named = {ORDER: {doubt.order}, PRODUCT: products, LOCATION: places}.get(meaning.kind, set())
        if meaning.key in named:
            return _chosen(state, doubt, context)
    return Turn(state, (), Verdict(INFO, msg("doubts.none_of", label=meaning.label or meaning.key)))


def _entry(state: Doubts, doubt: Doubt, event: Event) -> Result:
    match event:
        case Choice(number) if state.asking == AGAIN:
            return _settled(state, doubt, AGAIN) if number == 1 else Turn(state._replace(asking=""))
        case Choice(number) if state.asking == BY_HAND:
            return _settled(state, doubt, BY_HAND, HOW[number - 1])
        case Text(text) if state.asking == BY_HAND:
            return _settled(state, doubt, BY_HAND, text)
        case Choice(number) if number <= len(ways_of(doubt)):
            return _way(state, doubt, ways_of(doubt)[number - 1])
        case Command("n" | "p" as key) | Move(key) if not state.asking:
            return Turn(state._replace(page=window.leafed(state.page, key)))
    return Turn(state)


def _way(state: Doubts, doubt: Doubt, way: str) -> Result:
    if way == COUNT:
        return Turn(state, (Start("count", {"location_code": doubt.place}),))
    if way == LOOK:
        return Turn(state, (Start("pick", {"order_number": doubt.order, "looks": True}),))
    if way == SETTING:
        return Turn(state, (Start("store_product", {"product_number": doubt.product}),))
    if way == FIRST:
        first = Doubt(doubt.waits_for, "unclear")
        return Turn(state._replace(entry=first, page=0), (_query_one(first),))
    if way in (PUT_BACK, OTHER_ORDER):
        return _settled(state, doubt, BY_HAND, way)
    if way in (ARRIVED, OVERAGE, DIFFERENCE):
        return _settled(state, doubt, way)
    return Turn(state._replace(asking=way), (), Verdict(ASK, msg(_ASK[way])))


def _settled(state: Doubts, doubt: Doubt, how: str, note: str = "") -> Result:
    """It leaves the list at once; what both sides say is read anew, so that the screens show it."""
    rows = tuple(row for row in state.rows if row.op_id != doubt.op_id)
    state = state._replace(rows=rows, total=max(len(rows), state.total - 1), entry=None, asking="", page=0, cursor=-1)
    wishes = [Wish("order", doubt.order)] if doubt.order else []
    wishes += [Wish("product", item.product) for item in doubt.items[:4] if item.product]
    return Turn(state, (Settle(doubt.op_id, how, note), *wishes), Verdict(GOOD, msg(_SAID[how])))


def _doubt(row: Mapping[str, Any]) -> Doubt:
    return Doubt(
        op_id=str(row["op_id"]),
        word=str(row["word"]),
        asked=bool(row["asked"]),
        kind=str(row["kind"]),
        operation=str(row["operation"]),
        who=str(row["who"]),
        at=str(row["at"]),
        why=str(row["why"]),
        verdict=str(row["verdict"]),
        looks=str(row["looks"]),
        items=tuple(_item(item) for item in row["items"]),
        sides=tuple(Side(**side) for side in row["sides"]),
        ways=tuple(str(way) for way in row["ways"]),
        order=str(row["order"]),
        place=str(row["place"]),
        product=str(row["product"]),
        waits_for=str(row["waits_for"]),
        principal=str(row.get("principal") or ""),
        pin=str(row.get("pin") or ""),
    )


def _item(row: Mapping[str, Any]) -> Item:
    return Item(
        product=str(row["product_number"]),
        label=str(row["label"]),
        quantity=row["quantity"],
        line=int(row["line"] or 0),
        source=str(row["from"]),
        target=str(row["to"]),
    )
