"""Job that shows the chain's stores and switches this terminal to another store."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.jobs import pages
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Json,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    SwitchStore,
    Turn,
)
from aisle.jobs.pages import page_size, turn_page
from aisle.jobs.quantities import name_of
from aisle.jobs.supervisor.store_record import (
    ADDRESS,
    FIELDS,
    ORGANISATION,
    TECHNICAL,
    ListedStore,
    OrderingSlot,
    Printer,
    Store,
    StoreField,
    StoresState,
    parse_store,
    parse_store_row,
)
from aisle.jobs.view import (
    BACK,
    INFO,
    PAGE_HINTS,
    WRONG,
    Block,
    DetailView,
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
    raw,
)
from aisle.scan.meaning import Accepts, Back, Choice, Command, CursorKey, Scan, Text, UnknownCode

TITLES = {
    "all": "stores.title_all",
    "near": "stores.title_near",
    "warehouse": "stores.title_warehouse",
    "visited": "stores.title_visited",
}

EMPTY_TEXTS = {
    "all": "stores.empty_all",
    "near": "stores.empty_near",
    "warehouse": "stores.empty_warehouse",
    "visited": "stores.empty_visited",
}

YES_NO = {"yes": "stores.yes", "no": "stores.no"}

DAYS = (
    *("day.sunday", "day.monday", "day.tuesday", "day.wednesday"),
    *("day.thursday", "day.friday", "day.saturday", "day.sunday"),
)
"""Days of an ordering schema: Monday is 1, Sunday 0 or 7."""

TIME_FIELDS = ("store_next_ordering_datetime", "store_next_delivery_datetime", "last_order_line_exported_on")


def list_title(state: StoresState) -> Msg:
    """Return the title of the list."""
    return msg("stores.title_change") if state.is_switching and state.subset == "all" else msg(TITLES[state.subset])


def list_view(state: StoresState) -> ListView:
    """Return the numbered list of stores."""
    text = state.typed or state.search
    return pages.list_view(
        state,
        "stores",
        list_title(state),
        msg("stores.prompt_change" if state.is_switching else "stores.prompt"),
        (msg("head.store"), msg("head.number"), msg("stores.head_what"), msg("stores.head_area")),
        tuple(_store_row(each) for each in state.rows),
        KeyHint("v", msg("stores.next_subset")),
        empty=msg("stores.no_match", text=text) if text else msg(EMPTY_TEXTS[state.subset]),
        may_have_more=state.may_have_more,
    )


def _store_row(store: ListedStore) -> Row:
    return Row(store.number, (raw(store.name or store.number), raw(store.number), _store_kind(store), raw(store.area)))


def _store_kind(store: ListedStore) -> Msg:
    if store.is_current:
        return msg("stores.current")
    if store.unsent:
        return msg("stores.unsent", count=store.unsent)
    if store.is_warehouse:
        return msg("stores.warehouse")
    return msg("stores.near") if store.is_nearby else raw("")


def can_switch(state: StoresState) -> bool:
    """Return True if this person may switch this terminal to the store on the page."""
    return bool(state.store and state.store.may_switch and not state.store.is_current)


def store_choices(state: StoresState) -> tuple[Msg, ...]:
    """Return the choices of the store page."""
    return (msg("stores.choice_switch"),) if can_switch(state) else ()


def page_view(state: StoresState) -> DetailView:
    """Return the page of one store with all its data."""
    store = state.store
    return DetailView(
        name="stores.page",
        title=msg("stores.title_of", store=state.store_number),
        prompt=msg("stores.prompt_choices" if store_choices(state) else "stores.prompt_page"),
        lines=_lines(store, state.store_number) if store else (Line("note", msg("stores.loading")),),
        blocks=_blocks(store) if store else (),
        page=state.page,
        choices=store_choices(state),
        key_hints=(*PAGE_HINTS, BACK),
    )


def _lines(store: Store, number: str) -> tuple[Line, ...]:
    """Return the lines on the kind of store and on work there from this terminal."""
    lines = [Line("product", raw(store.name or number))]
    what = msg("stores.is_warehouse" if store.is_warehouse else "stores.is_store")
    lines.append(Line("note", msg("stores.in_area", what=what, area=store.area) if store.area else what))
    if store.is_current:
        lines.append(Line("note", msg("stores.is_current")))
    elif store.unsent_there:
        lines.append(Line("note", msg("stores.unsent_there", count=store.unsent_there)))
    elif not store.may_switch:
        lines.append(Line("note", msg("stores.role_denied")))
    return tuple(lines)


def _blocks(store: Store) -> tuple[Block, ...]:
    """Return the blocks of the page, the most used ones first. A block says so if the service gave no details."""
    untold: tuple[tuple[Msg, ...], ...] = ()
    if store.details_state != "yes":
        untold = (
            (msg("stores.details_refused" if store.details_state == "refused" else "stores.details_not_requested"),),
        )
    found = (
        Block(msg("stores.address"), _field_rows(store, ADDRESS)),
        Block(msg("stores.hours"), tuple((raw(key), raw(value)) for key, value in store.opening_hours)),
        Block(msg("stores.ordering"), tuple(_ordering_row(each) for each in store.ordering_schema)),
        Block(msg("look_up.pools"), tuple((raw(pool), raw(name)) for pool, name in store.pools)),
        Block(msg("stores.printers"), tuple(_printer_row(each) for each in store.printers)),
        Block(msg("stores.organisation"), _field_rows(store, ORGANISATION)),
        Block(msg("stores.technical"), _field_rows(store, TECHNICAL)),
        Block(msg("stores.free_fields"), tuple((raw(key), raw(value)) for key, value in store.free_fields)),
        Block(msg("stores.more_fields"), untold),
    )
    return tuple(block for block in found if block.rows)


def _field_rows(store: Store, fields: Mapping[str, str]) -> tuple[tuple[Msg, ...], ...]:
    """Return these fields; the technical ones include the fields that the interface does not define."""
    facts = [fact for fact in store.fields if fact.name in fields or (fields is TECHNICAL and not fact.is_known)]
    return tuple((field_label(fact), format_store_field(fact)) for fact in facts)


def field_label(field: StoreField) -> Msg:
    """Return the name of a field."""
    return msg(FIELDS[field.name]) if field.is_known else raw(field.name)


def format_store_field(field: StoreField) -> Msg:
    """Return the value of a field."""
    if field.name in TIME_FIELDS:
        return msg("moment", at=field.value)
    return msg(YES_NO[field.value]) if field.value in YES_NO else raw(field.value)


def _ordering_row(slot: OrderingSlot) -> tuple[Msg, ...]:
    day = int(slot.day) if slot.day.isdecimal() else -1
    cells = [msg(DAYS[day]) if 0 <= day < len(DAYS) else raw(slot.day), raw(slot.time)]
    if slot.delivery_offset:
        cells.append(
            msg("stores.delivered_after", count=int(slot.delivery_offset))
            if slot.delivery_offset.isdecimal()
            else raw(slot.delivery_offset)
        )
    if slot.ordering_offset not in ("", "0"):
        cells.append(msg("stores.ordered_earlier", days=slot.ordering_offset))
    cells += [msg("stores.category", category=slot.category)] if slot.category else []
    cells += [msg("stores.weeks", weeks=slot.weeks)] if slot.weeks else []
    return tuple(cells)


def _printer_row(printer: Printer) -> tuple[Msg, ...]:
    cells = [raw(printer.name or printer.address)]
    cells += [raw(text) for text in (printer.address if printer.name else "", printer.description) if text]
    return (*cells, msg("stores.bluetooth")) if printer.is_bluetooth else tuple(cells)


def switch_choices(state: StoresState) -> tuple[Msg, ...]:
    """Return the choices of the question to switch."""
    if not state.store:
        return ()
    stay = msg("stores.stay")
    return (msg("stores.confirm_switch", store=state.store_number), stay) if can_switch(state) else (stay,)


def switch_view(state: StoresState) -> Step:
    """Return the question to switch, with its consequences."""
    store = state.store
    return Step(
        name="stores.change",
        title=msg("stores.title_change"),
        prompt=msg("stores.prompt_confirm" if can_switch(state) else "stores.prompt_stay"),
        lines=_switch_lines(store, state.store_number) if store else (Line("note", msg("stores.loading")),),
        labelled_values=_unsent_values(store) if store else (),
        choices=switch_choices(state),
        key_hints=(BACK,),
    )


def _switch_lines(store: Store, number: str) -> tuple[Line, ...]:
    lines = [Line("location", raw(number)), Line("product", raw(store.name or number))]
    if store.is_current:
        return (*lines, Line("note", msg("stores.is_current")))
    if not store.may_switch:
        return (*lines, Line("note", msg("stores.role_denied")))
    if store.unsent or store.open_jobs:
        lines.append(Line("note", msg("stores.switch_effect", waiting=store.unsent, jobs=len(store.open_jobs))))
    else:
        lines.append(Line("note", msg("stores.switch_no_effect")))
    return tuple(lines) if store.has_data_there else (*lines, Line("note", msg("stores.no_data_yet")))


def _unsent_values(store: Store) -> tuple[LabelledValue, ...]:
    """Return the operations and jobs that remain in this store, and those that wait in the other one."""
    counts = (
        ("stores.fact_unsent", store.unsent),
        ("stores.fact_jobs", len(store.open_jobs)),
        ("stores.fact_there_unsent", store.unsent_there),
        ("stores.fact_there_jobs", len(store.open_jobs_there)),
    )
    return tuple(LabelledValue(msg(label), msg("number", value=count)) for label, count in counts if count)


SUBSETS = ("all", "near", "warehouse", "visited")
"""Subsets of the list, in the order in which `v` shows them."""

Result = Turn[StoresState]


class StoresJob(Job[StoresState]):
    """Job that shows the stores of the chain."""

    name = "stores"
    steps: tuple[str, ...] = ("stores", "stores.page", "stores.change")
    version = 1
    journalled = False

    def begin(self) -> StoresState:
        """Return the state with all stores."""
        return StoresState()

    def accepts(self, state: StoresState) -> Accepts:
        """Accept numbers for rows and choices; `v` shows the next subset."""
        if state.is_asking_switch:
            return Accepts(choices=len(switch_choices(state)), typed_only=True)
        if state.store_number:
            return Accepts(choices=len(store_choices(state)), command_letters=pages.PAGE_LETTERS)
        return Accepts(
            choices=pages.numbered_rows(state), command_letters=f"v{pages.page_letters(state)}", follows_typing=True
        )

    def prefers(self, state: StoresState) -> tuple[str, ...]:
        """Prefer nothing, because no code names a store."""
        return ()

    def step_name(self, state: StoresState) -> str:
        """Return one of `steps`."""
        return "stores.change" if state.is_asking_switch else "stores.page" if state.store_number else "stores"

    def view(self, state: StoresState) -> View:
        """Return the list, the page or the question."""
        if state.is_asking_switch:
            return switch_view(state)
        return page_view(state) if state.store_number else list_view(state)

    def handle(self, state: StoresState, event: Event, context: Context) -> Result:
        """Return the next state. Words search, numbers choose."""
        match event:
            case Opened(args):
                state = state._replace(is_switching=bool(args.get("change")))
                return Turn(state, _refresh(state, context))
            case Rows(id_, rows, _):
                return _handle_rows(state, event, id_, rows, context)
            case Resumed() | Closed() | Changed("store" | "outbox" | "person"):
                return Turn(state, _refresh(state, context))
            case Scan(meanings):
                return Turn(state, (), Verdict(WRONG, msg("stores.not_this", what=name_of(meanings[0]))))
            case Back():
                return _go_back(state, context)
        if state.is_asking_switch:
            return _handle_answer(state, event)
        return (
            _handle_page_input(state, event, context)
            if state.store_number
            else _handle_list_input(state, event, context)
        )


def _refresh(state: StoresState, context: Context) -> tuple[Effect, ...]:
    return (_query(state, context), *([_query_store(state.store_number, context)] if state.store_number else []))


def _query(state: StoresState, context: Context) -> Query:
    args = {
        "search": state.typed or state.search,
        "show": state.subset,
        "first": state.first,
        "size": page_size(context),
    }
    return Query("list", "stores", args, is_live=True)


def _query_store(number: str, context: Context) -> Query:
    args = {"store_number": number, "user": context.user, "terminal": context.terminal}
    return Query("one", "store_page", args, is_live=True)


def _handle_rows(state: StoresState, answer: Rows, id_: str, rows: tuple[Json, ...], context: Context) -> Result:
    if id_ == "list":
        turn = pages.handle_rows(
            state._replace(may_have_more=answer.may_have_more),
            answer,
            tuple(parse_store_row(row) for row in rows),
            context,
            _query,
        )
        if turn.effects or not state.open_single_hit:
            return turn
        hit, fresh = _single_hit(turn.state), turn.state._replace(open_single_hit=False)
        return _open_store(fresh, hit, context) if hit else Turn(fresh)
    if id_ == "one" and rows:
        return Turn(state._replace(store=parse_store(rows[0])))
    if id_ == "one":
        closed = state._replace(store_number="", store=None, is_asking_switch=False)
        return Turn(
            closed, (_query(closed, context),), Verdict(WRONG, msg("stores.store_removed", store=state.store_number))
        )
    return Turn(state)


def _single_hit(state: StoresState) -> ListedStore | None:
    """Return the only store found, or the one with exactly the typed number."""
    named = [row for row in state.rows if row.number == state.search.strip()]
    return state.rows[0] if state.total == 1 and state.rows and not state.may_have_more else named[0] if named else None


def _open_store(state: StoresState, row: ListedStore, context: Context) -> Result:
    """Open the page of a store, or at once the question to switch to it."""
    state = state._replace(store_number=row.number, store=None, page=0, typed="", is_asking_switch=state.is_switching)
    return Turn(state, (_query_store(row.number, context), Refresh("store", row.number)))


def _handle_page_input(state: StoresState, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice) if choice <= len(store_choices(state)):
            return Turn(state._replace(is_asking_switch=True), (_query_store(state.store_number, context),))
        case Command("n" | "p" as key) | CursorKey(key):
            return Turn(state._replace(page=turn_page(state.page, key)))
        case UnknownCode(text) | Text(text):
            found = StoresState(state.subset, text, is_switching=state.is_switching, open_single_hit=True)
            return Turn(found, (_query(found, context),))
    return Turn(state)


def _handle_answer(state: StoresState, event: Event) -> Result:
    match event:
        case Choice(1) if can_switch(state):
            is_back = bool(state.store and state.store.is_home_store)
            return Turn(state, (SwitchStore(state.store_number, needs_supervisor=not is_back),))
        case Choice():
            return _decline_switch(state)
        case UnknownCode(text) | Text(text):
            return Turn(state, (), Verdict(WRONG, msg("stores.choose", text=text)))
    return Turn(state)


def _decline_switch(state: StoresState) -> Result:
    if state.is_switching:
        return Turn(state, (Close(Verdict(INFO, msg("session.dropped"))),))
    return Turn(state._replace(is_asking_switch=False), (), Verdict(INFO, msg("session.dropped")))


def _handle_list_input(state: StoresState, event: Event, context: Context) -> Result:
    match event:
        case Text(text) | UnknownCode(text):
            found = StoresState(state.subset, text, is_switching=state.is_switching, open_single_hit=True)
            return Turn(found, (_query(found, context),))
        case Command("v"):
            show = SUBSETS[(SUBSETS.index(state.subset) + 1) % len(SUBSETS)]
            state = StoresState(show, state.search, is_switching=state.is_switching)
            return Turn(state, (_query(state, context),), Verdict(INFO, list_title(state)))
    return pages.handle_list_input(state, event, context, _query, _open_store, "v")


def _go_back(state: StoresState, context: Context) -> Result:
    if state.is_asking_switch and not state.is_switching:
        return Turn(state._replace(is_asking_switch=False))
    if state.store_number:
        closed = state._replace(store_number="", store=None, is_asking_switch=False)
        return Turn(closed, (_query(closed, context),))
    if state.search or state.typed:
        fresh = StoresState(state.subset, is_switching=state.is_switching)
        return Turn(fresh, (_query(fresh, context),))
    return Turn(state, (Close(),))
