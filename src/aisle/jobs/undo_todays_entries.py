"""Today's log entries of this person, of all or of one product: their list, and the page to undo one."""

from __future__ import annotations

from decimal import Decimal
from operator import attrgetter
from typing import NamedTuple

from aisle.jobs import log_writes_and_refusals, names_in_messages
from aisle.jobs.adjust_state_view_and_undo import parse_reasons
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Context,
    Effect,
    Query,
    Refresh,
    Rows,
    Turn,
    format_number,
    reply,
)
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.list_page_base_class import Column, ListPage
from aisle.jobs.pages_and_page_job import Action, FormPage, Page, PageJob, refuse
from aisle.jobs.row_types.log import MyEntriesRow
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import (
    ASK,
    INFO,
    STATE_WORDS,
    LabelledValue,
    Line,
    Msg,
    Step,
    msg,
    number_message,
    raw,
    signed_message,
    undo_verdict,
)
from aisle.row_values import to_decimal, to_decimal_or_none
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match
from aisle.stored_messages import read_message


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
    is_not_used: bool = False
    """True if the service does not use this count, because it had a later one."""
    keeps_date: bool = False
    """True if its service keeps the date of this count when it is undone."""
    absorbed: Decimal = Decimal(0)
    """What this count took back of changes that came late; its undo lets them change the stock again."""

    @property
    def can_be_undone(self) -> bool:
        """True if the service has the entry, it was not undone, and nobody counted since.

        Without a change of stock only a count has something to undo, which is its date.
        """
        stands = not self.is_undone and self.later_count is None and not self.is_not_used
        is_dated = self.counted is not None and self.difference is not None and not self.keeps_date
        return bool(self.id and (self.difference or is_dated) and self.state == "confirmed" and stands)


class MyEntriesState(NamedTuple):
    """Window of the list; `entry` is the one whose page is open."""

    only_mine: bool = True
    product: str = ""
    label: str = ""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[Entry, ...] = ()
    total: int = 0
    entry: Entry | None = None
    is_asking_undo: bool = False
    """True while the undo of the entry has to be confirmed."""


Result = Turn[MyEntriesState]
Actions = tuple[Action[MyEntriesState], ...]

# List


def _format_amount(entry: Entry) -> Msg:
    if entry.difference is None:
        return number_message(entry.counted)
    by = signed_message(entry.difference)
    return by if entry.counted is None else msg("exceptions.counted", counted=entry.counted, difference=by)


def _state_message(entry: Entry) -> Msg:
    if entry.is_undone:
        return msg("operation_state.undone")
    if entry.later_count is not None and entry.state == "confirmed":
        return msg("my_entries.counted_again")
    return msg("my_entries.not_used" if entry.is_not_used else STATE_WORDS[entry.state])


class EntryList(ListPage[MyEntriesState, Entry]):
    """List of the entries of today: the person's own, all, or those of one product."""

    name = "my_entries"
    prompt_text = msg("my_entries.prompt")
    query_name = "my_entries"
    follows_typing = True
    columns = (
        Column(msg("head.product"), lambda row: raw(row.label)),
        Column(msg("head.state"), _state_message),
        Column(msg("head.counted"), _format_amount),
        Column(msg("head.location"), lambda row: raw(row.location)),
        Column(msg("head.time"), lambda row: msg("clock", at=row.at)),
    )
    no_rows_text = msg("list.empty")
    key = attrgetter("key")

    def title(self, state: MyEntriesState) -> Msg:
        if state.product:
            return msg("my_entries.title_product", label=state.label)
        return msg("my_entries.title_mine" if state.only_mine else "my_entries.title_all")

    def arguments(self, state: MyEntriesState, context: Context) -> Args:
        user = context.user if state.only_mine else ""
        return {"user": user, "product_number": state.product, "now": context.now}

    def parse_rows(self, answer: Rows, context: Context) -> tuple[Entry, ...]:
        return tuple(_parse_entry(row, context) for row in answer.rows)

    def actions(self, state: MyEntriesState) -> Actions:
        return (Action(msg("my_entries.toggle_user"), self._toggle_user, "e"),)

    def _toggle_user(self, state: MyEntriesState, context: Context) -> Result:
        return self.restart(state._replace(only_mine=not state.only_mine), context)

    def handle_text(self, state: MyEntriesState, text: str, context: Context) -> Result:
        return super().handle_text(state._replace(product="", label=""), text, context)

    def open_row(self, state: MyEntriesState, row: Entry, context: Context) -> Result:
        return Turn(state, (_query_entry(row, context),))

    def go_back(self, state: MyEntriesState, context: Context) -> Result:
        if state.product or state.search:
            return self.restart(state._replace(product="", label="", search=""), context)
        return Turn(state, (Close(),))


def _query_entry(entry: Entry, context: Context) -> Query:
    """Return the query for the open entry; it is part of the journal, so the page is open after a restart."""
    return Query("entry", "my_entries", {"key": entry.key, "now": context.now})


def _parse_entry(row: MyEntriesRow, context: Context) -> Entry:
    counted, code = row.get("counted_quantity"), row.get("reason_code")
    reason_texts = {reason.code: reason.text for reason in parse_reasons(context.policy.adjustment_reasons)}
    return Entry(
        key=str(row["key"]),
        id=str(row.get("id") or ""),
        at=str(row.get("at") or ""),
        user=str(row.get("user_name") or row.get("app_user_name") or ""),
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
        is_not_used=bool(row.get("is_not_used")),
        keeps_date=bool(row.get("keeps_date")),
        absorbed=to_decimal(row.get("absorbed")),
    )


# Entry


class EntryPage(FormPage[MyEntriesState]):
    """Page of one entry."""

    name = "my_entries.entry"
    title_text = msg("my_entries.title_entry")

    def prompt(self, state: MyEntriesState) -> Msg:
        return msg("unconfirmed.choose" if self.choices(state) else "order.prompt_read")

    def lines(self, state: MyEntriesState) -> tuple[Line, ...]:
        entry = _entry_of(state)
        place = msg("raw", text=entry.location) if entry.location else msg("count.without_location")
        lines = [Line("location", place), Line("product", raw(entry.label)), Line("quantity", _format_amount(entry))]
        if entry.why:
            lines.append(Line("note", read_message(entry.why)))
        if entry.later_count is not None:
            lines.append(Line("note", msg("my_entries.later_count", label=entry.label, counted=entry.later_count)))
        return tuple(lines)

    def step(self, state: MyEntriesState) -> Step:
        entry = _entry_of(state)
        facts = (
            (msg("head.state"), _state_message(entry)),
            (msg("head.time"), msg("clock", at=entry.at)),
            (msg("head.user"), raw(entry.user)),
            *(((msg("head.reason"), raw(entry.reason)),) if entry.reason else ()),
            *(((msg("label.pool"), msg("number", value=entry.pool)),) if entry.pool else ()),
            (msg("label.product_number"), raw(entry.product)),
        )
        return super().step(state)._replace(labelled_values=tuple(LabelledValue(*fact) for fact in facts))

    def actions(self, state: MyEntriesState) -> Actions:
        return (Action(msg("hint.undo"), _ask_undo),) if _entry_of(state).can_be_undone else ()

    def go_back(self, state: MyEntriesState, context: Context) -> Result:
        return Turn(state._replace(entry=None))


class UndoPage(EntryPage):
    """Question whether to undo the entry."""

    name = "my_entries.undo"
    typed_only = True

    def actions(self, state: MyEntriesState) -> Actions:
        if not _entry_of(state).can_be_undone:
            return ()
        return (Action(msg("order_actions.yes"), _undo), Action(msg("order_actions.no"), self.go_back))

    def go_back(self, state: MyEntriesState, context: Context) -> Result:
        return reply(state._replace(is_asking_undo=False), INFO, "session.dropped")


def _entry_of(state: MyEntriesState) -> Entry:
    assert state.entry is not None, "the pages of an entry open with it"
    return state.entry


def _ask_undo(state: MyEntriesState, context: Context) -> Result:
    entry = _entry_of(state)
    return reply(
        state._replace(is_asking_undo=True),
        ASK,
        "my_entries.ask_undo",
        label=entry.label,
        quantity=_change_by_undo(entry),
    )


def _undo(state: MyEntriesState, context: Context) -> Result:
    entry = _entry_of(state)
    change, where = signed_message(_change_by_undo(entry)), names_in_messages.at_location(entry.location)
    text = msg("adjust.undone", label=entry.label, change=change, where=where)
    done = undo_verdict(text if _change_by_undo(entry) else msg("count.sent_undone_same", what=entry.label))
    state = state._replace(entry=entry._replace(is_undone=True), is_asking_undo=False)
    log = log_writes_and_refusals.stock_change_entry(
        entry.product, entry.location, entry.pool, -_stock_change(entry), context, undoes=entry.id
    )
    return Turn(state, (*log_writes_and_refusals.log_writes([log], context), LIST.query(state, context)), done)


def _change_by_undo(entry: Entry) -> Decimal:
    return -_stock_change(entry) - entry.absorbed


def _stock_change(entry: Entry) -> Decimal:
    assert entry.difference is not None
    return entry.difference


LIST, ENTRY, UNDO = EntryList(), EntryPage(), UndoPage()


class MyEntriesJob(PageJob[MyEntriesState]):
    """Job for today's log."""

    name = "my_entries"
    lists = ("logs",)
    state_type = MyEntriesState
    steps: tuple[str, ...] = ("my_entries", "my_entries.entry", "my_entries.undo")
    preferred_kinds = (PRODUCT,)

    def page(self, state: MyEntriesState) -> Page[MyEntriesState]:
        if state.entry is None:
            return LIST
        return UNDO if state.is_asking_undo else ENTRY

    def handle_opened(self, state: MyEntriesState, args: Args, context: Context) -> Result:
        return Turn(state, (LIST.query(state, context), Refresh("logs")))

    def queries(self, state: MyEntriesState, context: Context) -> tuple[Effect, ...]:
        return (LIST.query(state, context), *((_query_entry(state.entry, context),) if state.entry else ()))

    def query_again(self, state: MyEntriesState, context: Context) -> Result:
        return Turn(state, (*self.queries(state, context), Refresh("logs")))

    def handle_changed(self, state: MyEntriesState, event: Changed, context: Context) -> Result:
        """Query again, and refresh the log unless the log itself changed."""
        if event.topic in ("log", "outbox"):
            return Turn(state, self.queries(state, context))
        return self.query_again(state, context)

    def handle_rows(self, state: MyEntriesState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("my_entries"):
                return LIST.handle_rows(state, answer, context)
            case Rows("entry", (row, *_)):
                entry = _parse_entry(row, context)
                is_asking = state.is_asking_undo and entry.can_be_undone
                return Turn(state._replace(entry=entry, is_asking_undo=is_asking))
        return Turn(state)

    def handle_scan(self, state: MyEntriesState, matches: tuple[Match, ...], context: Context) -> Result:
        """Filter the list by a scanned product."""
        match = matches[0]
        if state.entry is not None:
            return super().handle_scan(state, matches, context)
        if match.kind != PRODUCT:
            return refuse(state, msg("page.not_this", what=name_of(match)))
        filtered = state._replace(product=match.key, label=match.label or match.key, search="")
        return LIST.restart(filtered, context)
