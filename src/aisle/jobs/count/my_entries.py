"""My entries: the list of today's log entries, and the page to undo one."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import pages, stored_message
from aisle.jobs.adjust_state import parse_reasons
from aisle.jobs.count import count_state
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Job,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Turn,
    Write,
    format_number,
)
from aisle.jobs.pages import page_size
from aisle.jobs.quantities import name_of, to_decimal, to_decimal_or_none
from aisle.jobs.stored_message import read_message
from aisle.jobs.view import (
    ASK,
    BACK,
    INFO,
    STATE_WORDS,
    WRONG,
    KeyHint,
    LabelledValue,
    Line,
    ListView,
    Msg,
    Row,
    Step,
    Verdict,
    View,
    msg,
    number_message,
    raw,
    signed_message,
    undo_verdict,
)
from aisle.scan.meaning import PRODUCT, Accepts, Back, Choice, Command, Scan, Text, UnknownCode
from aisle.undo_reference import UNDO_PREFIX

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import MyEntriesRow


class Entry(NamedTuple):
    """One log entry, of this host or from the service."""

    key: str
    id: str = ""
    """Id from the service; empty while unknown."""
    at: str = ""
    user: str = ""
    product: str = ""
    label: str = ""
    location: str = ""
    pool: int = 0
    counted: Decimal | None = None
    difference: Decimal | None = Decimal(0)
    """Change of stock; None if unknown."""
    reason: str = ""
    state: str = "confirmed"
    """State of the operation; a key of `STATE_WORDS`."""
    why: str = ""
    is_undone: bool = False
    later_count: Decimal | None = None
    """Quantity of a later count there, which stands instead of this one; None without one."""

    @property
    def can_be_undone(self) -> bool:
        """True if the service has the entry, it changed stock and it was not undone."""
        return bool(self.id and self.difference and self.state == "confirmed" and not self.is_undone)


class MyEntriesState(NamedTuple):
    """Window of the list; `entry` is the one whose page is open."""

    only_mine: bool = True
    product: str = ""
    label: str = ""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Entry, ...] = ()
    total: int = 0
    entry: Entry | None = None
    is_asking_undo: bool = False
    """True while the undo of the entry has to be confirmed."""


def view_entries(state: MyEntriesState) -> View:
    """Return the view of the list, or of one entry."""
    return _list_view(state) if state.entry is None else _entry_step(state, state.entry)


def entry_choices(state: MyEntriesState) -> tuple[Msg, ...]:
    """Return the choices on the page of an entry."""
    if state.entry is None or not state.entry.can_be_undone:
        return ()
    return (
        (msg("my_entries.confirm_undo"), msg("my_entries.keep")) if state.is_asking_undo else (msg("my_entries.undo"),)
    )


def _list_view(state: MyEntriesState) -> ListView:
    label = msg("my_entries.title_mine" if state.only_mine else "my_entries.title_all")
    if state.product:
        label = msg("my_entries.title_product", label=state.label)
    text = state.typed or state.search
    return pages.list_view(
        state,
        "my_entries",
        label,
        msg("my_entries.prompt"),
        (msg("head.product"), msg("head.state"), msg("head.counted"), msg("head.location"), msg("head.time")),
        tuple(_entry_row(entry) for entry in state.rows),
        KeyHint("e", msg("my_entries.toggle_user")),
        empty=msg("my_entries.no_match", text=text) if text else msg("my_entries.empty"),
    )


def _entry_row(entry: Entry) -> Row:
    return Row(
        entry.key,
        (
            raw(entry.label),
            _state_message(entry),
            _format_amount(entry),
            raw(entry.location),
            msg("clock", at=entry.at),
        ),
    )


def _format_amount(entry: Entry) -> Msg:
    if entry.difference is None:
        return number_message(entry.counted)
    by = signed_message(entry.difference)
    return by if entry.counted is None else msg("my_entries.counted", counted=entry.counted, difference=by)


def _state_message(entry: Entry) -> Msg:
    if entry.is_undone:
        return msg("operation_state.undone")
    return msg(STATE_WORDS[entry.state] if entry.later_count is None else "my_entries.counted_again")


def _entry_step(state: MyEntriesState, entry: Entry) -> Step:
    lines = [
        Line(
            "location", msg("count.location", place=entry.location) if entry.location else msg("count.without_location")
        )
    ]
    lines += [Line("product", raw(entry.label)), Line("quantity", _format_amount(entry))]
    if entry.why:
        lines.append(Line("note", read_message(entry.why)))
    if entry.later_count is not None:
        lines.append(Line("note", msg("my_entries.later_count", counted=entry.later_count)))
    facts = [
        LabelledValue(msg("head.state"), _state_message(entry)),
        LabelledValue(msg("head.time"), msg("clock", at=entry.at)),
    ]
    facts.append(LabelledValue(msg("head.user"), raw(entry.user)))
    if entry.reason:
        facts.append(LabelledValue(msg("head.reason"), raw(entry.reason)))
    if entry.pool:
        facts.append(LabelledValue(msg("label.pool"), msg("number", value=entry.pool)))
    facts.append(LabelledValue(msg("label.product_number"), raw(entry.product)))
    return Step(
        name="my_entries.undo" if state.is_asking_undo else "my_entries.entry",
        title=msg("my_entries.title_entry"),
        prompt=msg("count.prompt_number" if entry_choices(state) else "my_entries.prompt_entry"),
        lines=tuple(lines),
        labelled_values=tuple(facts),
        choices=entry_choices(state),
        key_hints=(BACK,),
    )


Result = Turn[MyEntriesState]


class MyEntriesJob(Job[MyEntriesState]):
    """Job for today's log."""

    name = "my_entries"
    steps: tuple[str, ...] = ("my_entries", "my_entries.entry", "my_entries.undo")
    version = 1
    journalled = True

    def begin(self) -> MyEntriesState:
        """Return the state with the user's own entries."""
        return MyEntriesState()

    def accepts(self, state: MyEntriesState) -> Accepts:
        """Return the accepted inputs: row numbers, `n` and `p` for pages, `e` for all entries or own ones."""
        if state.entry is None:
            return Accepts(
                choices=pages.numbered_rows(state), command_letters=f"e{pages.page_letters(state)}", follows_typing=True
            )
        return Accepts(choices=len(entry_choices(state)), typed_only=state.is_asking_undo)

    def prefers(self, state: MyEntriesState) -> tuple[str, ...]:
        """Return products: a scan filters the list."""
        return (PRODUCT,)

    def step_name(self, state: MyEntriesState) -> str:
        """Return the step: the list, one entry, or the question about it."""
        if state.entry is None:
            return "my_entries"
        return "my_entries.undo" if state.is_asking_undo else "my_entries.entry"

    def handle(self, state: MyEntriesState, event: Event, context: Context) -> Result:
        """Handle an event: scans and text filter, cursor keys mark, a number opens an entry."""
        match event:
            case Rows("my_entries", rows, _):
                return pages.handle_rows(
                    state, event, tuple(_parse_entry(row, context) for row in rows), context, _query
                )
            case Rows("entry", rows, _):
                return Turn(_with_entry(state, _parse_entry(rows[0], context))) if rows else Turn(state)
            case Opened():
                return Turn(state, (_query(state, context), Refresh("logs")))
            case Changed() | Closed() | Resumed():
                return Turn(state, (*_refresh(state, context), *_request_refresh(event)))
            case Back():
                return _go_back(state, context)
            case Choice(choice) if state.entry is not None and choice <= len(entry_choices(state)):
                return _answer_undo(state, state.entry, choice, context)
        if state.entry is not None:
            return Turn(state)
        return _handle_list_input(state, event, context)

    def view(self, state: MyEntriesState) -> View:
        """Return the view of the list, or of one entry."""
        return view_entries(state)


def _query(state: MyEntriesState, context: Context) -> Query:
    args = {
        "user": context.user if state.only_mine else "",
        "product_number": state.product,
        "search": state.typed or state.search,
        "now": context.now,
        "first": state.first,
        "size": page_size(context),
    }
    return Query("my_entries", "my_entries", args, is_live=True)


def _query_entry(entry: Entry, context: Context) -> Query:
    """Return the query for the open entry; it is part of the journal, so the page is open after a restart."""
    return Query("entry", "my_entries", {"key": entry.key, "now": context.now})


def _refresh(state: MyEntriesState, context: Context) -> tuple[Query, ...]:
    return (_query(state, context), *((_query_entry(state.entry, context),) if state.entry else ()))


def _request_refresh(event: Event) -> tuple[Refresh, ...]:
    """Return the refresh of the log, unless the log itself changed."""
    return () if isinstance(event, Changed) and event.topic in ("log", "outbox") else (Refresh("logs"),)


def _with_entry(state: MyEntriesState, entry: Entry) -> MyEntriesState:
    return state._replace(entry=entry, is_asking_undo=state.is_asking_undo and entry.can_be_undone)


def _parse_entry(row: MyEntriesRow, context: Context) -> Entry:
    counted, code = row.get("counted_quantity"), row.get("reason_code")
    reason_texts = {reason.code: reason.text for reason in parse_reasons(context.policy.adjustment_reasons)}
    return Entry(
        key=str(row["key"]),
        id=str(row.get("id") or ""),
        at=str(row.get("at") or ""),
        user=str(row.get("app_user_name") or ""),
        product=str(row.get("product_number") or ""),
        label=str(row.get("description") or row.get("product_number") or ""),
        location=str(row.get("location_code") or ""),
        pool=int(to_decimal(row.get("pool"))),
        counted=None if counted is None else to_decimal(counted),
        difference=to_decimal_or_none(row.get("difference")),
        reason=str(
            row.get("reason")
            or ("" if code is None else reason_texts.get(int(to_decimal(code)), format_number(to_decimal(code))))
        ),
        state=str(row.get("outcome") or "confirmed"),
        why=str(row.get("why") or ""),
        is_undone=bool(row.get("undone")),
        later_count=to_decimal_or_none(row.get("later_count")),
    )


def _handle_list_input(state: MyEntriesState, event: Event, context: Context) -> Result:
    match event:
        case Scan(matches) if matches[0].kind == PRODUCT:
            match = matches[0]
            state = MyEntriesState(state.only_mine, match.key, match.label or match.key)
        case Scan(matches):
            return Turn(state, (), Verdict(WRONG, msg("my_entries.not_this", what=name_of(matches[0]))))
        case Text(text) | UnknownCode(text):
            state = MyEntriesState(state.only_mine, search=text)
        case Command("e"):
            state = MyEntriesState(not state.only_mine, state.product, state.label, state.search)
        case _:
            return pages.handle_list_input(state, event, context, _query, _open_entry, "e")
    return Turn(state, (_query(state, context),))


def _open_entry(state: MyEntriesState, entry: Entry, context: Context) -> Result:
    return Turn(state, (_query_entry(entry, context),))


def _go_back(state: MyEntriesState, context: Context) -> Result:
    if state.is_asking_undo:
        return Turn(state._replace(is_asking_undo=False), (), Verdict(INFO, msg("count.dropped")))
    if state.entry is not None:
        return Turn(state._replace(entry=None))
    if state.product or state.search:
        state = MyEntriesState(state.only_mine)
        return Turn(state, (_query(state, context),))
    return Turn(state, (Close(),))


def _answer_undo(state: MyEntriesState, entry: Entry, choice: int, context: Context) -> Result:
    if not state.is_asking_undo:
        verdict = Verdict(ASK, msg("my_entries.ask_undo", label=entry.label, quantity=-_stock_change(entry)))
        return Turn(state._replace(is_asking_undo=True), (), verdict)
    if choice == 2:
        return Turn(state._replace(is_asking_undo=False), (), Verdict(INFO, msg("count.dropped")))
    change = signed_message(-_stock_change(entry))
    done = undo_verdict(
        msg("my_entries.undone", label=entry.label, change=change, where=stored_message.at_location(entry.location))
    )
    state = state._replace(entry=entry._replace(is_undone=True), is_asking_undo=False)
    return Turn(state, (_reversing_write(entry, context), _query(state, context)), done)


def _stock_change(entry: Entry) -> Decimal:
    """Return the stock change of an entry that can be undone."""
    assert entry.difference is not None
    return entry.difference


def _reversing_write(entry: Entry, context: Context) -> Write:
    """Return the operation that reverses an entry; its reference names the entry, so that it is undone only once."""
    log = count_state.stock_change_entry(entry.product, entry.location, entry.pool, -_stock_change(entry), context)
    log["reference"] = f"{UNDO_PREFIX}{entry.id}"
    return count_state.log_write([log], [entry.product], context.store, context.user)
