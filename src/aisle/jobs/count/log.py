"""What was counted, lost and found today: by this person or by everyone, with what became of each entry.

Interface: Store product logs. Entries of this host are here at once; those of others come with the service's log. A
count is taken back by a log of the opposite difference, after a question.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import goods, window
from aisle.jobs.amounts import number, said
from aisle.jobs.base import (
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Opened,
    Query,
    Resumed,
    Rows,
    Turn,
    Wish,
    Write,
    whole,
)
from aisle.jobs.count import counting, log_view
from aisle.jobs.count.log_state import Entry, Log
from aisle.jobs.count.losing import reasons
from aisle.jobs.numbers import what_is
from aisle.jobs.view import ASK, INFO, WRONG, Verdict, View, msg, signed, undone
from aisle.jobs.window import room
from aisle.scan.meaning import PRODUCT, Back, Choice, Command, Open, Text, Thing, Unknown
from aisle.undone import UNDO

Result = Turn[Log]


class CountLogJob:
    """The log of today."""

    name = "count_log"
    steps: tuple[str, ...] = ("count_log", "count_log.entry", "count_log.undo")
    version = 2
    journalled = True

    def begin(self) -> Log:
        """What this person did."""
        return Log()

    def open(self, state: Log) -> Open:
        """Rows are numbered; `n` and `p` turn the page, `e` shows everyone's entries or mine."""
        if state.entry is None:
            return Open(choices=window.numbered_rows(state), letters=f"e{window.letters(state)}", finds=True)
        return Open(choices=len(log_view.choices(state)), by_hand=state.asking)

    def prefers(self, state: Log) -> tuple[str, ...]:
        """Products filter."""
        return (PRODUCT,)

    def at(self, state: Log) -> str:
        """The list, one entry, or the question about it."""
        if state.entry is None:
            return "count_log"
        return "count_log.undo" if state.asking else "count_log.entry"

    def step(self, state: Log, event: Event, context: Context) -> Result:
        """A scan or words filter, the cursor marks, a number opens."""
        match event:
            case Rows("count_log", rows, _):
                return window.answered(state, event, tuple(_entry(row, context) for row in rows), context, _query)
            case Rows("entry", rows, _):
                return Turn(_renewed(state, _entry(rows[0], context))) if rows else Turn(state)
            case Opened():
                return Turn(state, (_query(state, context), Wish("logs")))
            case Changed() | Closed() | Resumed():
                return Turn(state, (*_refresh(state, context), *_wish(event)))
            case Back():
                return _back(state, context)
            case Choice(choice) if state.entry is not None and choice <= len(log_view.choices(state)):
                return _chosen(state, state.entry, choice, context)
        if state.entry is not None:
            return Turn(state)
        return _listed(state, event, context)

    def view(self, state: Log) -> View:
        """The list, or one entry."""
        return log_view.view(state)


def _query(state: Log, context: Context) -> Query:
    args = {
        "user": context.user if state.mine else "",
        "product_number": state.product,
        "search": state.typed or state.search,
        "now": context.now,
        "first": state.first,
        "size": room(context),
    }
    return Query("count_log", "count_log", args, live=True)


def _query_one(entry: Entry, context: Context) -> Query:
    """Part of the journal: what was open is open again after a restart."""
    return Query("entry", "count_log", {"key": entry.key, "now": context.now})


def _refresh(state: Log, context: Context) -> tuple[Query, ...]:
    return (_query(state, context), *((_query_one(state.entry, context),) if state.entry else ()))


def _wish(event: Event) -> tuple[Wish, ...]:
    """Whatever changes in the store may have left an entry in its log; the log itself is not asked for again."""
    return () if isinstance(event, Changed) and event.topic in ("log", "outbox") else (Wish("logs"),)


def _renewed(state: Log, entry: Entry) -> Log:
    return state._replace(entry=entry, asking=state.asking and entry.undoable)


def _entry(row: Mapping[str, Any], context: Context) -> Entry:
    counted, code = row.get("counted_quantity"), row.get("reason_code")
    words = {reason.code: reason.words for reason in reasons(context.policy.reasons)}
    return Entry(
        key=str(row["key"]),
        id=str(row.get("id") or ""),
        at=str(row.get("at") or ""),
        user=str(row.get("app_user_name") or ""),
        product=str(row.get("product_number") or ""),
        label=str(row.get("description") or row.get("product_number") or ""),
        place=str(row.get("location_code") or ""),
        pool=int(number(row.get("pool"))),
        counted=None if counted is None else number(counted),
        difference=said(row.get("difference")),
        reason=str(row.get("reason") or ("" if code is None else words.get(int(number(code)), whole(number(code))))),
        word=str(row.get("word") or "confirmed"),
        why=str(row.get("why") or ""),
        undone=bool(row.get("undone")),
    )


def _listed(state: Log, event: Event, context: Context) -> Result:
    match event:
        case Thing(meanings) if meanings[0].kind == PRODUCT:
            meaning = meanings[0]
            state = Log(state.mine, meaning.key, meaning.label or meaning.key)
        case Thing(meanings):
            return Turn(state, (), Verdict(WRONG, msg("count_log.not_this", what=what_is(meanings[0]))))
        case Text(text) | Unknown(text):
            state = Log(state.mine, search=text)
        case Command("e"):
            state = Log(not state.mine, state.product, state.label, state.search)
        case _:
            return window.said(state, event, context, _query, _open, "e")
    return Turn(state, (_query(state, context),))


def _open(state: Log, entry: Entry, context: Context) -> Result:
    return Turn(state, (_query_one(entry, context),))


def _back(state: Log, context: Context) -> Result:
    if state.asking:
        return Turn(state._replace(asking=False), (), Verdict(INFO, msg("count.dropped")))
    if state.entry is not None:
        return Turn(state._replace(entry=None))
    if state.product or state.search:
        state = Log(state.mine)
        return Turn(state, (_query(state, context),))
    return Turn(state, (Close(),))


def _chosen(state: Log, entry: Entry, choice: int, context: Context) -> Result:
    if not state.asking:
        asked = Verdict(ASK, msg("count_log.sure", label=entry.label, quantity=-_changed(entry)))
        return Turn(state._replace(asking=True), (), asked)
    if choice == 2:
        return Turn(state._replace(asking=False), (), Verdict(INFO, msg("count.dropped")))
    change = signed(-_changed(entry))
    told = undone(msg("count_log.undone", label=entry.label, change=change, where=goods.at(entry.place)))
    state = state._replace(entry=entry._replace(undone=True), asking=False)
    return Turn(state, (_opposite(entry, context), _query(state, context)), told)


def _changed(entry: Entry) -> Decimal:
    """What an entry that can be taken back has changed the stock by."""
    assert entry.difference is not None
    return entry.difference


def _opposite(entry: Entry, context: Context) -> Write:
    """The log that takes an entry back; its reference names the entry, so that nobody does it twice."""
    log = {
        "product_number": entry.product,
        **({"location_code": entry.place} if entry.place else {}),
        f"stock_pool_{entry.pool}" if entry.pool else "quantity": -_changed(entry),
        "reference": f"{UNDO}{entry.id}",
        "scanned_datetime": context.now,
        "app_user_name": context.user,
        "source": counting.SOURCE,
    }
    return counting.logs([log], [entry.product], context.store, context.user)
