"""Job that shows the chain's stores and switches this terminal to another store. Interface: Store, Create stores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from aisle.jobs.job import Args, Close, Context, Effect, Query, Refresh, Rows, SwitchStore, Turn, reply
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.list_page_base_class import Column, SearchPage, next_of
from aisle.jobs.pages_and_page_job import Action, DetailPage, FormPage, Page, PageJob, refuse
from aisle.jobs.row_types.people_stores_and_features import StorePageRow, StoresRow
from aisle.jobs.store_time import day_or_time
from aisle.jobs.supervisor.service_fields_and_values import (
    YES_NO,
    Cells,
    field_name,
    field_rows,
    format_field,
    free_field_rows,
    list_of_mappings,
)
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import INFO, WRONG, Block, LabelledValue, Line, Msg, Step, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import Match


class StoresState(NamedTuple):
    """State of the list, of the page of one store, and of the question to switch to it."""

    subset: str = "all"
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[StoresRow, ...] = ()
    total: int = 0
    store_number: str = ""
    """Store whose page is open; empty for the list."""
    store: StorePageRow | None = None
    page: int = 0
    is_switching: bool = False
    """True if the job was opened to switch the store. A row chosen from the list then opens the question at once."""
    is_asking_switch: bool = False
    """True while the person is asked to confirm the switch."""
    open_single_hit: bool = False
    """True after a search that was ended with Enter. A single hit, or the store with exactly that number, opens at
    once."""
    may_have_more: bool = False
    """True if more than `total` stores may match."""


Result = Turn[StoresState]

# List


class Subset(NamedTuple):
    """Part of the list, with its title and the text if it is empty."""

    title: Msg
    empty: Msg


SUBSETS = {
    "all": Subset(msg("stores.title_all"), msg("stores.loading")),
    "near": Subset(msg("look_up.nearby"), msg("list.empty")),
    "warehouse": Subset(msg("stores.title_warehouse"), msg("list.empty")),
    "visited": Subset(msg("stores.title_visited"), msg("list.empty")),
}
"""Subsets of the list, in the order in which `v` shows them."""


def _store_kind(row: StoresRow) -> Msg:
    if row["is_current"]:
        return msg("stores.current")
    if row["waiting"]:
        return msg("stores.unsent", count=row["waiting"])
    if row["is_warehouse"]:
        return msg("stores.warehouse")
    return msg("stores.near") if row["near"] else raw("")


class StoreList(SearchPage[StoresState, StoresRow]):
    """List of stores."""

    name = "stores"
    query_name = "stores"
    columns = (
        Column(msg("head.store"), lambda row: raw(row["store_name"] or row["store_number"])),
        Column(msg("head.number"), lambda row: raw(row["store_number"])),
        Column(msg("stores.head_what"), _store_kind),
        Column(msg("stores.head_area"), lambda row: raw(row["area"])),
    )
    key = itemgetter("store_number")

    def title(self, state: StoresState) -> Msg:
        if state.is_switching and state.subset == "all":
            return msg("home.change_store")
        return SUBSETS[state.subset].title

    def prompt(self, state: StoresState) -> Msg:
        return msg("stores.prompt_change" if state.is_switching else "stores.prompt")

    def empty_text(self, state: StoresState) -> Msg:
        return super().empty_text(state) if state.typed or state.search else SUBSETS[state.subset].empty

    def arguments(self, state: StoresState, context: Context) -> Args:
        return {"show": state.subset}

    def actions(self, state: StoresState) -> tuple[Action[StoresState], ...]:
        return (Action(msg("stores.next_subset"), self._show_next_subset, "v"),)

    def _show_next_subset(self, state: StoresState, context: Context) -> Result:
        state = state._replace(subset=next_of(list(SUBSETS), state.subset))
        return self.restart(state, context, self.title(state))

    def single_hit(self, state: StoresState) -> StoresRow | None:
        """Return the only store found, or the one with exactly the typed number."""
        named = (row for row in state.rows if row["store_number"] == state.search.strip())
        return super().single_hit(state) or next(named, None)

    def open_row(self, state: StoresState, row: StoresRow, context: Context) -> Result:
        """Open the page of a store, or at once the question to switch to it."""
        number = row["store_number"]
        state = state._replace(store_number=number, store=None, page=0, typed="", is_asking_switch=state.is_switching)
        return Turn(state, (_query_store(number, context), Refresh("store", number)))


def _query_store(number: str, context: Context) -> Query:
    args = {"store_number": number, "user": context.user, "terminal": context.terminal}
    return Query("store_page", "store_page", args, is_live=True)


# Page of one store

ADDRESS = (
    "store.address", "store.postal_code", "store.city", "store.country_name", "store.country_code",
    "store.phone_number", "store.contact_details",
)  # fmt: skip
ORGANISATION = (
    "store.store_next_ordering_datetime", "store.store_next_delivery_datetime", "store.area_description",
    "store.area_id", "store.area_manager_user_id", "store.store_type_description", "store.store_type_code",
    "store.legal_entity", "store.cost_center", "store.price_line_id", "store.is_active",
    "store.is_active_data_exchange",
)  # fmt: skip
TECHNICAL = (
    "store.id", "store.store_gln", "store.invent_location", "store.last_order_line_exported_on",
    "store.local_server_path", "store.esl_server_path", "store.ip_range_begin", "store.ip_range_end",
)  # fmt: skip
"""Labels of the fields with one value, in the order of their importance to people."""

_KNOWN_FIELDS = {
    *map(field_name, (*ADDRESS, *ORGANISATION, *TECHNICAL)),
    *("store_number", "store_name", "is_warehouse", "pools", "opening_hours", "ordering_schema", "store_printers"),
    *("free_fields", "details", "read_at", "is_current", "may_switch", "back", "waiting", "jobs"),
    *("there_known", "there_waiting", "there_jobs"),
}

_TIME_FIELDS = ("store_next_ordering_datetime", "store_next_delivery_datetime", "last_order_line_exported_on")

_POOL_FIELD = re.compile(r"store_?stock_?pool_?(\d+)", re.IGNORECASE)
"""Name of a stock pool as a field of its own, in both spellings that services use."""

_DAYS = (
    *("day.sunday", "day.monday", "day.tuesday", "day.wednesday"),
    *("day.thursday", "day.friday", "day.saturday", "day.sunday"),
)
"""Days of an ordering schema: Monday is 1, Sunday 0 or 7."""


class StorePage(DetailPage[StoresState]):
    """Page of one store with all its data."""

    name = "stores.page"

    def title(self, state: StoresState) -> Msg:
        return msg("stores.title_of", store=state.store_number)

    def prompt(self, state: StoresState) -> Msg:
        return msg("unconfirmed.choose" if _can_switch(state) else "order.prompt_read")

    def lines(self, state: StoresState) -> tuple[Line, ...]:
        return _lines(state.store, state.store_number) if state.store else (Line("note", msg("stores.loading")),)

    def blocks(self, state: StoresState) -> tuple[Block, ...]:
        return store_blocks(state.store) if state.store else ()

    def actions(self, state: StoresState) -> tuple[Action[StoresState], ...]:
        return (Action(msg("stores.choice_switch"), _ask_switch),) if _can_switch(state) else ()

    def handle_text(self, state: StoresState, text: str, context: Context) -> Result:
        return LIST.handle_text(_without_store(state), text, context)

    def go_back(self, state: StoresState, context: Context) -> Result:
        closed = _without_store(state)
        return Turn(closed, (LIST.query(closed, context),))


def _without_store(state: StoresState) -> StoresState:
    return state._replace(store_number="", store=None, is_asking_switch=False)


def _can_switch(state: StoresState) -> bool:
    return bool(state.store and state.store["may_switch"] and not state.store["is_current"])


def _ask_switch(state: StoresState, context: Context) -> Result:
    return Turn(state._replace(is_asking_switch=True), (_query_store(state.store_number, context),))


def _lines(store: StorePageRow, number: str) -> tuple[Line, ...]:
    is_warehouse = store.get("is_warehouse") in (True, 1, "true")
    area = store.get("area_description") or store.get("area_id")
    what = msg("stores.is_warehouse" if is_warehouse else "stores.is_store")
    lines = (
        Line("product", raw(store.get("store_name") or number)),
        Line("note", msg("pick.join", what=what, more=str(area)) if area else what),
    )
    if store["is_current"]:
        return (*lines, Line("note", msg("stores.is_current")))
    if store["there_waiting"]:
        return (*lines, Line("note", msg("stores.unsent_there", count=store["there_waiting"])))
    return lines if store["may_switch"] else (*lines, Line("note", msg("clearance.role_denied")))


def store_blocks(store: StorePageRow) -> tuple[Block, ...]:
    """Return the blocks of the page, the most used ones first. A block says so if the service gave no details."""
    missing: tuple[Cells, ...] = () if store["details"] == "yes" else ((msg("look_up.nearby_refused"),),)
    pools = tuple((raw(str(pool)), raw(format_field(name))) for pool, name in store["pools"].items())
    return (
        Block(msg("order.address"), field_rows(store, ADDRESS, _field_message)),
        Block(msg("stores.hours"), free_field_rows(store.get("opening_hours"))),
        Block(msg("stores.ordering"), tuple(map(_ordering_cells, list_of_mappings(store.get("ordering_schema"))))),
        Block(msg("look_up.pools"), pools),
        Block(msg("stores.printers"), tuple(map(_printer_cells, list_of_mappings(store.get("store_printers"))))),
        Block(msg("stores.organisation"), field_rows(store, ORGANISATION, _field_message)),
        Block(msg("stores.technical"), (*field_rows(store, TECHNICAL, _field_message), *_unknown_field_rows(store))),
        Block(msg("stores.free_fields"), free_field_rows(store.get("free_fields"))),
        Block(msg("home.more"), missing),
    )


def _field_message(name: str, text: str) -> Msg:
    return msg("moment", at=day_or_time(text)) if name in _TIME_FIELDS else YES_NO.get(text, raw(text))


def _unknown_field_rows(store: Mapping[str, object]) -> Iterable[Cells]:
    """Return the fields that the interface does not define, except those that only repeat the list of pools."""
    pools = {str(pool): format_field(name) for pool, name in dict(store["pools"]).items()}  # type: ignore[call-overload]
    for name in sorted(store.keys() - _KNOWN_FIELDS):
        text, pool = format_field(store[name]), _POOL_FIELD.fullmatch(name)
        if text and not (pool and pools.get(str(int(pool[1]))) == text):
            yield raw(name), _field_message(name, text)


def _ordering_cells(row: Mapping[str, Any]) -> Cells:
    names = ("day", "time", "delivery_offset", "ordering_offset", "category_code", "week_numbers")
    day, time, delivery_offset, ordering_offset, category, weeks = (format_field(row.get(name)) for name in names)
    number = int(day) if day.isdecimal() else -1
    cells = [msg(_DAYS[number]) if 0 <= number < len(_DAYS) else raw(day), raw(time)]
    if delivery_offset.isdecimal():
        cells.append(msg("stores.delivered_after", count=int(delivery_offset)))
    elif delivery_offset:
        cells.append(raw(delivery_offset))
    if ordering_offset not in ("", "0"):
        cells.append(msg("stores.ordered_earlier", days=ordering_offset))
    cells += [msg("stores.category", category=category)] if category else []
    cells += [msg("stores.weeks", weeks=weeks)] if weeks else []
    return tuple(cells)


def _printer_cells(row: Mapping[str, Any]) -> Cells:
    about = filter(None, (format_field(row.get(name)) for name in ("vendor", "printer_type", "printer_serial")))
    texts = (format_field(row.get("printer_name")), format_field(row.get("printer_ip")), " ".join(about))
    first, *more = [raw(text) for text in texts if text] or [raw("")]
    return (first, *more, msg("stores.bluetooth")) if row.get("is_bluetooth") is True else (first, *more)


# Question to switch


class SwitchQuestion(FormPage[StoresState]):
    """Question to switch to the store, with the consequences."""

    name = "stores.change"
    title_text = msg("home.change_store")
    typed_only = True

    def prompt(self, state: StoresState) -> Msg:
        return msg("stores.prompt_confirm" if _can_switch(state) else "unconfirmed.choose")

    def lines(self, state: StoresState) -> tuple[Line, ...]:
        store, number = state.store, state.store_number
        if store is None:
            return (Line("note", msg("stores.loading")),)
        named = Line("location", raw(number)), Line("product", raw(store.get("store_name") or number))
        return (*named, *(Line("note", note) for note in _switch_notes(store)))

    def actions(self, state: StoresState) -> tuple[Action[StoresState], ...]:
        switch = Action(msg("stores.confirm_switch", store=state.store_number), _switch)
        stay = Action(msg("stores.stay"), _decline_switch)
        return () if state.store is None else (switch, stay) if _can_switch(state) else (stay,)

    def step(self, state: StoresState) -> Step:
        return super().step(state)._replace(labelled_values=_unsent_values(state.store) if state.store else ())

    def handle_text(self, state: StoresState, text: str, context: Context) -> Result:
        return refuse(state, msg("order_actions.not_usable_here"))

    def go_back(self, state: StoresState, context: Context) -> Result:
        if state.is_switching:
            return PAGE.go_back(state, context)
        return Turn(state._replace(is_asking_switch=False))


def _switch_notes(store: StorePageRow) -> Iterable[Msg]:
    if store["is_current"] or not store["may_switch"]:
        yield msg("stores.is_current" if store["is_current"] else "clearance.role_denied")
        return
    jobs = set(store["jobs"])
    if store["waiting"] or jobs:
        yield msg("stores.switch_effect", waiting=store["waiting"], jobs=len(jobs))
    else:
        yield msg("stores.switch_no_effect")
    if not store["there_known"]:
        yield msg("stores.no_data_yet")


def _unsent_values(store: StorePageRow) -> tuple[LabelledValue, ...]:
    counts = (
        (msg("today.waiting"), store["waiting"]),
        (msg("stores.fact_jobs"), len(set(store["jobs"]))),
        (msg("stores.fact_there_unsent"), store["there_waiting"]),
        (msg("stores.fact_there_jobs"), len(set(store["there_jobs"]))),
    )
    return tuple(LabelledValue(label, msg("number", value=count)) for label, count in counts if count)


def _switch(state: StoresState, context: Context) -> Result:
    """Switch to the store. Anybody may switch a terminal back to its own store, not only a supervisor."""
    is_back = bool(state.store and state.store["back"])
    return Turn(state, (SwitchStore(state.store_number, needs_supervisor=not is_back),))


def _decline_switch(state: StoresState, context: Context) -> Result:
    verdict = Verdict(INFO, msg("session.dropped"))
    if state.is_switching:
        return Turn(state, (Close(verdict),))
    return Turn(state._replace(is_asking_switch=False), (), verdict)


LIST, PAGE, QUESTION = StoreList(), StorePage(), SwitchQuestion()


class StoresJob(PageJob[StoresState]):
    """Job that shows the stores of the chain."""

    name = "stores"
    lists = ("stores",)
    state_type = StoresState
    steps: tuple[str, ...] = ("stores", "stores.page", "stores.change")
    journalled = False
    topics = ("store", "outbox", "person")

    def page(self, state: StoresState) -> Page[StoresState]:
        return QUESTION if state.is_asking_switch else PAGE if state.store_number else LIST

    def handle_opened(self, state: StoresState, args: Args, context: Context) -> Result:
        return self.query_again(state._replace(is_switching=bool(args.get("change"))), context)

    def queries(self, state: StoresState, context: Context) -> tuple[Effect, ...]:
        one = (_query_store(state.store_number, context),) if state.store_number else ()
        return (LIST.query(state, context), *one)

    def handle_rows(self, state: StoresState, answer: Rows, context: Context) -> Result:
        if answer.id == LIST.query_name:
            return LIST.handle_rows(state, answer, context)
        if answer.rows:
            return Turn(state._replace(store=answer.rows[0]))
        closed = _without_store(state)
        return reply(closed, WRONG, "stores.store_removed", LIST.query(closed, context), store=state.store_number)

    def handle_scan(self, state: StoresState, matches: tuple[Match, ...], context: Context) -> Result:
        return refuse(state, msg("stores.not_this", what=name_of(matches[0])))
