"""What was counted, lost and found today: by this person or by everyone, with what became of each entry.

Interface: Store product logs. Entries of this host are here at once; those of others come with the service's log. A
count is taken back by a log of the opposite difference, after a question.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs import window
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
from aisle.jobs.count import counting
from aisle.jobs.count.losing import reasons
from aisle.jobs.fate import WORDS
from aisle.jobs.pick.walk import number
from aisle.jobs.told import words
from aisle.jobs.view import (
    ASK,
    BACK,
    GOOD,
    INFO,
    WRONG,
    Fact,
    Hint,
    Line,
    ListWindow,
    Msg,
    Row,
    Step,
    Verdict,
    View,
    msg,
)
from aisle.jobs.window import room
from aisle.scan.meaning import PRODUCT, Back, Choice, Command, Open, Text, Thing, Unknown


class Entry(NamedTuple):
    """One entry of the log, of this host or of the service's."""

    key: str
    id: str = ""
    """The service's number; empty while it has not said one."""
    at: str = ""
    user: str = ""
    product: str = ""
    label: str = ""
    place: str = ""
    pool: int = 0
    counted: Decimal | None = None
    difference: Decimal = Decimal(0)
    """What it changed the stock by."""
    reason: str = ""
    word: str = "confirmed"
    """What has become of it; one of `fate.WORDS`."""
    why: str = ""
    undone: bool = False


class Log(NamedTuple):
    """A window on the log; with `entry` that one alone."""

    mine: bool = True
    product: str = ""
    label: str = ""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Entry, ...] = ()
    total: int = 0
    entry: Entry | None = None
    asking: bool = False
    """Whether the entry shall be taken back is the question."""


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
            return Open(choices=window.numbered_rows(state), letters=f"e{window.letters(state)}")
        return Open(choices=len(_choices(state)), by_hand=state.asking)

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
            case Choice(choice) if state.entry is not None and choice <= len(_choices(state)):
                return _chosen(state, state.entry, choice, context)
        if state.entry is not None:
            return Turn(state)
        return _listed(state, event, context)

    def view(self, state: Log) -> View:
        """The list, or one entry."""
        return _list(state) if state.entry is None else _one(state, state.entry)


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
    return state._replace(entry=entry, asking=state.asking and _undoable(entry))


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
        difference=number(row.get("difference")),
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
            return Turn(state, (), Verdict(WRONG, msg("count.not_this", what=meanings[0].label or meanings[0].key)))
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


def _choices(state: Log) -> tuple[Msg, ...]:
    if state.entry is None or not _undoable(state.entry):
        return ()
    return (msg("count_log.take_back"), msg("count_log.keep")) if state.asking else (msg("count_log.undo"),)


def _undoable(entry: Entry) -> bool:
    """It is known to the service, it changed something, and nobody has taken it back."""
    return bool(entry.id and entry.difference and entry.word == "confirmed" and not entry.undone)


def _chosen(state: Log, entry: Entry, choice: int, context: Context) -> Result:
    if not state.asking:
        asked = Verdict(ASK, msg("count_log.sure", label=entry.label, quantity=-entry.difference))
        return Turn(state._replace(asking=True), (), asked)
    if choice == 2:
        return Turn(state._replace(asking=False), (), Verdict(INFO, msg("count.dropped")))
    told = Verdict(GOOD, msg("count_log.undone", label=entry.label, quantity=-entry.difference))
    state = state._replace(entry=entry._replace(undone=True), asking=False)
    return Turn(state, (_opposite(entry, context), _query(state, context)), told)


def _opposite(entry: Entry, context: Context) -> Write:
    """The log that takes an entry back; its reference names the entry, so that nobody does it twice."""
    log = {
        "product_number": entry.product,
        **({"location_code": entry.place} if entry.place else {}),
        f"stock_pool_{entry.pool}" if entry.pool else "quantity": -entry.difference,
        "reference": f"{counting.UNDO}{entry.id}",
        "scanned_datetime": context.now,
        "app_user_name": context.user,
        "source": counting.SOURCE,
    }
    return counting.logs([log], [entry.product], context.store, context.user)


# Views


def _list(state: Log) -> ListWindow:
    label = msg("count_log.title_mine" if state.mine else "count_log.title_all")
    if state.product:
        label = msg("count_log.title_product", label=state.label)
    text = state.typed or state.search
    return window.shown(
        state,
        "count_log",
        label,
        msg("count_log.prompt"),
        (msg("head.product"), msg("head.state"), msg("head.counted"), msg("head.place"), msg("head.time")),
        tuple(_row(entry) for entry in state.rows),
        Hint("e", msg("count_log.whose")),
        empty=msg("count_log.none", text=text) if text else msg("count_log.empty"),
    )


def _row(entry: Entry) -> Row:
    return Row(
        entry.key,
        (
            msg("raw", text=entry.label),
            _state(entry),
            _amount(entry),
            msg("raw", text=entry.place),
            msg("clock", at=entry.at),
        ),
    )


def _amount(entry: Entry) -> Msg:
    signed = _signed(entry.difference)
    return signed if entry.counted is None else msg("count_log.counted", counted=entry.counted, difference=signed)


def _signed(value: Decimal) -> Msg:
    return msg("count.signed", sign="+" if value > 0 else "-" if value < 0 else "±", value=abs(value))


def _state(entry: Entry) -> Msg:
    return msg("word.taken_back") if entry.undone else msg(WORDS[entry.word])


def _one(state: Log, entry: Entry) -> Step:
    lines = [Line("place", msg("count.place", place=entry.place) if entry.place else msg("count.nowhere"))]
    lines += [Line("product", msg("raw", text=entry.label)), Line("quantity", _amount(entry))]
    if entry.why:
        lines.append(Line("note", words(entry.why)))
    facts = [Fact(msg("head.state"), _state(entry)), Fact(msg("head.time"), msg("clock", at=entry.at))]
    facts.append(Fact(msg("head.user"), msg("raw", text=entry.user)))
    if entry.reason:
        facts.append(Fact(msg("head.reason"), msg("raw", text=entry.reason)))
    if entry.pool:
        facts.append(Fact(msg("fact.pool"), msg("number", value=entry.pool)))
    facts.append(Fact(msg("fact.product_number"), msg("raw", text=entry.product)))
    return Step(
        name="count_log.undo" if state.asking else "count_log.entry",
        title=msg("count_log.title_entry"),
        prompt=msg("count.prompt_number" if _choices(state) else "count_log.prompt_entry"),
        lines=tuple(lines),
        facts=tuple(facts),
        choices=_choices(state),
        hints=(BACK,),
    )
