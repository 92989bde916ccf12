"""Job that shows the figures of the day, work by hour, activity by aisle and location, and terminals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from aisle.jobs import list_cursor_and_search, store_time
from aisle.jobs.job import Context, Effect, Event, Query, Refresh, Rows, Turn
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.list_page_base_class import Column, ListPage
from aisle.jobs.names_in_messages import awaited_list, left_out_rows, unreadable_list
from aisle.jobs.pages_and_page_job import Action, DetailPage, Page, PagedPage, PageJob
from aisle.jobs.row_types.exceptions_clearance_and_today import (
    TodayHoursRow,
    TodayLocationsRow,
    TodayRow,
    TodayTerminalsRow,
)
from aisle.jobs.row_types.log import LogRow
from aisle.jobs.supervisor import today_tiles
from aisle.jobs.supervisor.log_list import LogFilter, change_message, entry_label, why_message
from aisle.jobs.supervisor.log_list import query_arguments as log_arguments
from aisle.jobs.supervisor.today_tiles import TileFigure, TileSource
from aisle.jobs.view import Block, Chart, Dashboard, DetailView, Line, Msg, Series, Tile, msg, number_message, raw
from aisle.scan.grammar_and_meaning_types import CursorKey
from aisle.stored_messages import read_message

MAP_NAMES = {"pick": msg("today.work_pick"), "short": msg("orders.field_shorts"), "move": msg("today.work_move")}


class Aisle(NamedTuple):
    """Locations of one aisle, in walking order."""

    name: str
    counts: tuple[int, ...]
    busiest: str = ""
    """Location with the highest count."""


class TodayState(NamedTuple):
    """State of the four pages."""

    phase: str = "figures"
    """`figures`, `hours`, `locations` or `terminals`."""
    map_kind: str = "pick"
    now: str = ""
    figures: TodayRow | None = None
    people: tuple[TodayHoursRow, ...] = ()
    aisles: tuple[Aisle, ...] = ()
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[TodayTerminalsRow, ...] = ()
    total: int = 0
    page: int = 0
    refreshed_at: str = ""
    tiles: tuple[tuple[str, TileFigure], ...] = ()
    """Figures of the tiles that have come, by the id of their query."""
    tile: int = -1
    """Index of the tile that Enter opens; -1 until an arrow chooses one."""
    latest: tuple[LogRow, ...] = ()
    """Latest entries of the log, the youngest first."""


Result = Turn[TodayState]

LOG_REFRESH_S = 15
"""Seconds between two refreshes of the store's log."""


def _refresh(state: TodayState, context: Context) -> Result:
    """Query what the page shows, and refresh the log from time to time."""
    state = state._replace(options=state.options._replace(is_desk=context.is_desk))
    effects: list[Effect] = [PAGES[state.phase].query(state, context)]
    if state.phase == "figures":
        effects += today_tiles.tile_queries(context)
    if state.phase == "figures" and context.is_desk:
        effects.append(_query_latest(context))
        effects += (page.query(state, context) for page in (PAGES["hours"], PAGES["locations"], TERMINALS))
    if not state.refreshed_at or abs(_timestamp(context.now) - _timestamp(state.refreshed_at)) >= LOG_REFRESH_S:
        state = state._replace(refreshed_at=context.now)
        effects.append(Refresh("logs"))
    return Turn(state, tuple(effects))


def _show_page(phase: str, state: TodayState, context: Context) -> Result:
    return _refresh(state._replace(phase=phase, page=0, first=0, cursor=-1), context)


# Figures

TILE_STEPS = {"left": -1, "up": -1, "right": 1, "down": 1}
"""Tiles that each arrow goes on by."""

LINK_NAMES = {
    "live": "link.live",
    "partial": "link.partial",
    "syncing": "link.syncing",
    "offline": "link.offline",
    "refused": "link.refused",
    "none": "link.starting",
}
ONLINE_LINKS = ("live", "partial", "syncing")
LATE_COURIER_S = 30.0
ORDER_LIST, LOG_LIST = "headers", "logs"
"""Names of the list of orders and of the store's log in the sync."""


class FiguresPage(DetailPage[TodayState]):
    """Figures of the day."""

    name = "today"
    title_text = msg("home.today")
    prompt_text = msg("unconfirmed.choose")

    def lines(self, state: TodayState) -> tuple[Line, ...]:
        return (Line("quantity", _headline(state.figures) if state.figures else msg("today.nothing_yet")),)

    def blocks(self, state: TodayState) -> tuple[Block, ...]:
        return _blocks(state.figures, state.now) if state.figures else ()

    def view(self, state: TodayState) -> DetailView:
        return super().view(state)._replace(dashboard=_dashboard(state)._replace(cursor=state.tile))

    def handle_other_input(self, state: TodayState, event: Event, context: Context) -> Result:
        """Choose a tile by an arrow and open it by Enter, where tiles are shown."""
        if context.is_desk and isinstance(event, CursorKey):
            if event.key == "enter" and state.tile >= 0:
                return self.actions(state)[state.tile].run(state, context)
            if event.key in TILE_STEPS:
                last = len(_shown_sources(state)) - 1
                return Turn(state._replace(tile=max(0, min(last, state.tile + TILE_STEPS[event.key]))))
        return super().handle_other_input(state, event, context)

    def actions(self, state: TodayState) -> tuple[Action[TodayState], ...]:
        sources = zip(_tiles(state), _shown_sources(state).values(), strict=True)
        return (
            *(Action(today_tiles.tile_choice(tile), partial(_open_list, source)) for tile, source in sources),
            Action(msg("today.to_hours"), partial(_show_page, "hours")),
            Action(msg("today.to_locations"), partial(_show_page, "locations")),
            Action(msg("today.to_terminals"), partial(_show_page, "terminals")),
        )

    def query(self, state: TodayState, context: Context) -> Query:
        return Query("today", "today", {"now": context.now}, is_live=True)


def _tiles(state: TodayState) -> tuple[Tile, ...]:
    figures = dict(state.tiles)
    unread = _unread_lists(state)
    return tuple(today_tiles.make_tile(id_, figures.get(id_), unread) for id_ in _shown_sources(state))


def _shown_sources(state: TodayState) -> dict[str, TileSource]:
    return today_tiles.shown_sources(is_desk=state.options.is_desk)


def _unread_lists(state: TodayState) -> tuple[str, ...]:
    return state.figures["unread"] if state.figures else ()


MAX_LATEST = 9
"""Entries of the log that a dashboard shows."""


def _query_latest(context: Context) -> Query:
    args = {**log_arguments(LogFilter(), context.now), "search": "", "first": 0, "size": 2 * MAX_LATEST}
    return Query("latest", "log", args, is_live=True)


def _without_pairs(entries: Sequence[LogRow]) -> tuple[LogRow, ...]:
    """Return the latest entries, without those that only take picked goods into the hand."""
    return tuple(entry for entry in entries if entry["work"] != "in_hand")[:MAX_LATEST]


def _latest_row(entry: LogRow) -> tuple[Msg, ...]:
    who = entry["user_name"] or entry["app_user_name"]
    return (
        raw(entry_label(entry)),
        change_message(entry),
        msg("log.at_time", at=entry["at"]),
        why_message(entry, ()),
        raw(who),
    )


def _open_list(source: TileSource, state: TodayState, context: Context) -> Result:
    return Turn(state, (source.opens,))


def _dashboard(state: TodayState) -> Dashboard:
    hours, map_ = HOURS.picks_chart(state), MAP.view(state._replace(map_kind="pick"))
    map_ = map_._replace(title=msg("today.map_of_picks"), lines=(), choices=(), key_hints=())
    last = {row["user"]: row["last"] for row in state.rows if row["last"]}
    people = tuple(
        (
            raw(person["name"] or person["user"]),
            msg("today.person_picks", count=_count_of(person, "pick")),
            msg("today.person_shorts", count=_count_of(person, "short")),
            _age_text(last[person["user"]], state.now) if person["user"] in last else raw(""),
        )
        for person in state.people
    )
    if LOG_LIST in _unread_lists(state):
        loading = Block(msg("today.people"), ((awaited_list(LOG_LIST),),))
        return Dashboard(_tiles(state), (), (loading,))
    blocks = (Block(msg("today.people"), people),) if people else ()
    charts = (hours, map_) if any(_count_of(person, "pick") for person in state.people) else ()
    latest = (Block(msg("today.latest"), tuple(_latest_row(entry) for entry in state.latest)),) if state.latest else ()
    return Dashboard(_tiles(state), charts, blocks, latest)


def _blocks(values: TodayRow, now: str) -> tuple[Block, ...]:
    """Return the blocks of figures. Figures of the orders are left out until the order list was read once."""
    figures = () if ORDER_LIST in values["unread"] else (_order_block(values), _work_block(values))
    reasons = _link_reasons(values)
    why = (Block(msg("today.why"), tuple((each,) for each in reasons), is_compact=True),) if reasons else ()
    return (*figures, _state_block(values, now), *why)


def _link_reasons(values: TodayRow) -> tuple[Msg, ...]:
    rest = tuple(left_out_rows(rows) for rows in values["left_out"])
    if values["link"] == "partial":
        return (*(unreadable_list(lack) for lack in values["lacking"]), *rest)
    return ((read_message(str(values["why"])),) if values["why"] else ()) + rest


def _headline(values: TodayRow) -> Msg:
    if ORDER_LIST in values["unread"]:
        return awaited_list(ORDER_LIST)
    return msg("today.headline", done=values["due_done"], count=values["due"], late=values["late"])


def _figure_rows(*rows: tuple[str, int | Msg]) -> tuple[tuple[Msg, ...], ...]:
    return tuple((msg(id_), value if isinstance(value, Msg) else msg("number", value=value)) for id_, value in rows)


def _order_block(values: TodayRow) -> Block:
    """Return the orders by state. How many are new today is unknown on the day on which this host reads them first."""
    new_today = (("today.orders_in", values["orders_in"]),) if values["seen_all_day"] else ()
    rows = _figure_rows(
        *new_today,
        ("today.orders_open", values["orders_open"]),
        ("today.orders_in_progress", values["orders_partial"]),
        ("today.orders_picked", values["orders_picked"]),
        ("today.orders_rejected", values["orders_rejected"]),
        ("today.orders_late", values["late"]),
    )
    return Block(msg("today.orders"), rows, is_compact=True)


def _work_block(values: TodayRow) -> Block:
    outbox = values["outbox"]
    waiting = sum(outbox.get(name, 0) for name in ("queued", "sending", "in_doubt"))
    in_doubt = sum(outbox.get(name, 0) for name in ("needs_person", "rejected"))
    here = msg("today.here_only", count=waiting, doubtful=in_doubt)
    work = {
        "today.work_pick": values["work_pick"],
        "today.work_count": values["work_count"],
        "today.work_move": values["work_move"],
        "orders.field_shorts": values["work_short"],
    }
    unknown = number_message(None) if LOG_LIST in values["unread"] else None
    rows = _figure_rows(*((id_, unknown or count) for id_, count in work.items()), ("today.waiting", here))
    return Block(msg("today.work"), rows, is_compact=True)


def _age_text(at: float, now: str) -> Msg:
    return msg("age.never") if not at else msg("today.ago", seconds=str(max(0.0, _timestamp(now) - at)))


def _timestamp(now: str) -> float:
    return datetime.fromisoformat(now).timestamp() if now else 0.0


def _state_block(values: TodayRow, now: str) -> Block:
    link = msg(LINK_NAMES.get(values["link"], "link.starting"))
    silent = _timestamp(now) - values["courier_at"]
    works = bool(values["courier_at"]) and silent < LATE_COURIER_S
    courier = "today.courier_works" if works else "today.courier_stopped"
    if not works and values["courier_at"] and values["link"] in ONLINE_LINKS:  # last reported state
        link = msg("link.stuck", seconds=str(silent))
    rows = [
        ("today.link", link),
        ("today.last_contact", _age_text(values["last_ok"], now)),
        ("today.courier", msg(courier)),
        ("today.read", _age_text(values["read_at"], now)),
    ]
    return Block(msg("today.state"), _figure_rows(*rows), is_compact=True)


# By hour


class HoursPage(PagedPage[TodayState]):
    """Chart with a row for each person and a column for each hour, from the first hour with work."""

    name = "today.hours"

    def view(self, state: TodayState) -> Chart:
        busy = [hour for person in state.people for hour in person["hours"]]
        span = range(min(busy), max(busy) + 1) if busy else range(0)
        picks, counts = (sum(_count_of(person, kind) for person in state.people) for kind in ("pick", "count"))
        return Chart(
            name=self.name,
            title=msg("today.to_hours"),
            prompt=msg("order.prompt_read"),
            series=tuple(_person_series(person, span) for person in state.people),
            axis=_hour_names(span, state.now),
            lines=(Line("note", msg("today.totals", picks=picks, counts=counts)),) if busy else (),
            page=state.page,
            empty=msg("list.empty"),
            key_hints=self.key_hints(state),
        )

    def picks_chart(self, state: TodayState) -> Chart:
        """Return the chart of the picks of all people."""
        picks: dict[int, int] = {}
        for person in state.people:
            for hour, kinds in person["hours"].items():
                picks[hour] = picks.get(hour, 0) + kinds.get("pick", 0)
        span = range(min(picks), max(picks) + 1) if picks else range(0)
        values = tuple(Decimal(picks.get(hour, 0)) for hour in span)
        title = msg("today.picks_by_hour")
        series = (Series(title, values, sum(values, Decimal(0))),)
        return Chart(self.name, title, title, series, _hour_names(span, state.now))

    def query(self, state: TodayState, context: Context) -> Query:
        return Query("hours", "today_hours", {"now": context.now}, is_live=True)

    def go_back(self, state: TodayState, context: Context) -> Result:
        return _show_page("figures", state, context)


def _hour_names(hours: range, now: str) -> tuple[Msg, ...]:
    """Return the hour of the clock for each hour since midnight of the store."""
    midnight = store_time.start_of_today(now).astimezone(UTC) if now else None
    clock = ((midnight + timedelta(hours=hour)).astimezone().hour if midnight else hour for hour in hours)
    return tuple(msg("number", value=hour) for hour in clock)


def _count_of(person: TodayHoursRow, kind: str) -> int:
    return sum(kinds.get(kind, 0) for kinds in person["hours"].values())


def _person_series(person: TodayHoursRow, span: range) -> Series:
    hours = person["hours"]
    values = tuple(Decimal(sum(hours[hour].values()) if hour in hours else 0) for hour in span)
    label_id = "today.person_here" if person["is_here"] else "today.person"
    picks, counts, moves, shorts = (_count_of(person, kind) for kind in ("pick", "count", "move", "short"))
    name = person["name"] or person["user"]
    label = msg(label_id, who=name, picks=picks, counts=counts, moves=moves, shorts=shorts)
    return Series(label, values, sum(values, Decimal(0)))


# By location


class MapPage(PagedPage[TodayState]):
    """Map with a row for each aisle, its locations in walking order, darker for more activity."""

    name = "today.locations"

    def view(self, state: TodayState) -> Chart:
        totals = [Decimal(sum(aisle.counts)) for aisle in state.aisles]
        most = max(state.aisles, key=lambda aisle: max(aisle.counts, default=0), default=None)
        lines: tuple[Line, ...] = ()
        if most and most.busiest:
            total = sum(totals, Decimal(0))
            where = msg("today.busiest_location", place=most.busiest, count=max(most.counts), total=total)
            lines = (Line("note", where),)
        series = (
            Series(raw(aisle.name), tuple(map(Decimal, aisle.counts)), total)
            for aisle, total in zip(state.aisles, totals, strict=True)
        )
        return Chart(
            name=self.name,
            title=msg("today.title_locations", what=MAP_NAMES[state.map_kind]),
            prompt=msg("unconfirmed.choose"),
            series=tuple(series) if any(totals) else (),
            axis=(),
            lines=lines,
            page=state.page,
            empty=msg("list.empty"),
            choices=self.choices(state),
            key_hints=self.key_hints(state),
            is_heat_map=True,
        )

    def actions(self, state: TodayState) -> tuple[Action[TodayState], ...]:
        return tuple(Action(name, partial(_show_map, kind)) for kind, name in MAP_NAMES.items())

    def query(self, state: TodayState, context: Context) -> Query:
        return Query("locations", "today_locations", {"now": context.now, "kind": state.map_kind}, is_live=True)

    def go_back(self, state: TodayState, context: Context) -> Result:
        return _show_page("figures", state, context)


def _show_map(kind: str, state: TodayState, context: Context) -> Result:
    return _refresh(state._replace(map_kind=kind, aisles=(), page=0), context)


_AISLE_PART = re.compile(r"[^\W\d_]+|\d+")


def aisle_of(code: str) -> str:
    """Return the aisle of a location code: `A` for `A-03-12` and `A0312`, `03` for `03-12`."""
    found = _AISLE_PART.search(code)
    return found.group().upper() if found else code


def group_by_aisle(rows: tuple[TodayLocationsRow, ...]) -> tuple[Aisle, ...]:
    """Group locations by aisle. Aisles are in the order of their first location."""
    found: dict[str, list[tuple[str, int]]] = {}
    for row in rows:
        found.setdefault(aisle_of(row["location"]), []).append((row["location"], row["n"]))
    aisles = []
    for name, places in found.items():
        place, most = max(places, key=lambda each: each[1])
        aisles.append(Aisle(name, tuple(count for _, count in places), place if most else ""))
    return tuple(aisles)


# Terminals

JOB_NAMES = {
    "pick": "home.pick",
    "look_up": "home.look_up",
    "locations": "home.locations",
    "count": "home.count",
    "move": "home.move",
    "batch": "home.batch",
    "receive": "home.receive",
    "log": "home.log",
    "scanner_test": "home.scanner_test",
    "orders": "home.orders",
    "clearance_request": "clearance.title",
    "adjust": "home.count",
    "my_entries": "home.count",
    "expiry": "home.expiry",
    "hand_over": "order_actions.hand_over",
    "shortage": "home.pick",
    "unconfirmed": "home.unconfirmed",
    "clearance": "clearance.title",
    "clearance_tasks": "home.clearance_tasks",
    "deliveries": "log.all",
    "exceptions": "home.exceptions",
    "help": "hint.help",
    "home": "today.at_home",
    "note": "note.title",
    "order": "home.orders",
    "order_actions": "home.orders",
    "palette": "palette.title",
    "pin": "home.pin",
    "products": "home.products",
    "sign_in": "sign_in.title",
    "store_product": "unconfirmed.choice_open_store_product",
    "stores": "home.stores",
    "today": "home.today",
}
"""Names of all jobs, as on the pages that open them."""


class TerminalList(ListPage[TodayState, TodayTerminalsRow]):
    """List of the terminals in use on this host. Its rows open nothing."""

    name = "today.terminals"
    title_text = msg("today.to_terminals")
    prompt_text = msg("order.prompt_read")
    no_rows_text = msg("list.empty")
    key = itemgetter("terminal")

    def all_columns(self, state: TodayState) -> tuple[Column[TodayTerminalsRow], ...]:
        return (
            Column(msg("today.head_terminal"), lambda row: raw(row["terminal"]), sort="terminal"),
            Column(
                msg("unconfirmed.head_user"),
                lambda row: raw(row["name"]) if row["name"] else msg("today.nobody"),
                sort="name",
            ),
            Column(msg("today.head_job"), _job_name, sort="job"),
            Column(msg("today.head_last"), lambda row: _age_text(row["last"], state.now), sort="last"),
            Column(msg("today.head_since"), lambda row: msg("moment", at=_iso_time(row["since"])), sort="since"),
        )

    def numbered_rows(self, state: TodayState) -> int:
        return 0

    def query(self, state: TodayState, context: Context) -> Query:
        return Query("terminals", "today_terminals", self.sort_arguments(state), is_live=True)

    def handle_rows(self, state: TodayState, answer: Rows, context: Context) -> Result:
        """Show the rows of the window. The answer has all terminals."""
        first = state.first if state.first < answer.total else 0
        shown = answer.rows[first : first + list_cursor_and_search.page_size(context)]
        return Turn(state._replace(rows=shown, total=answer.total, first=first))

    def open_row(self, state: TodayState, row: TodayTerminalsRow, context: Context) -> Result:
        return Turn(state)

    def go_back(self, state: TodayState, context: Context) -> Result:
        return _show_page("figures", state, context)


def _job_name(row: TodayTerminalsRow) -> Msg:
    job = row["job"] or "home"
    return msg(JOB_NAMES[job]) if job in JOB_NAMES else raw(job)  # of another version


def _iso_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


HOURS, MAP, TERMINALS = HoursPage(), MapPage(), TerminalList()
PAGES: dict[str, FiguresPage | HoursPage | MapPage | TerminalList] = {
    "figures": FiguresPage(),
    "hours": HOURS,
    "locations": MAP,
    "terminals": TERMINALS,
}


class TodayJob(PageJob[TodayState]):
    """Job that shows the figures of the day and the pages behind them."""

    name = "today"
    lists = ("logs", "headers", "lines", "changes")
    own_steps = ("today.terminals",)
    state_type = TodayState
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    journalled = False

    def page(self, state: TodayState) -> Page[TodayState]:
        return PAGES[state.phase]

    def query_again(self, state: TodayState, context: Context) -> Result:
        return _refresh(state._replace(now=context.now), context)

    def handle_rows(self, state: TodayState, answer: Rows, context: Context) -> Result:
        match answer.id:
            case "today" if answer.rows:
                return Turn(state._replace(figures=answer.rows[0]))
            case "latest":
                return Turn(state._replace(latest=_without_pairs(answer.rows)))
            case "hours":
                return Turn(state._replace(people=answer.rows))
            case "locations":
                return Turn(state._replace(aisles=group_by_aisle(answer.rows)))
            case "terminals":
                return TERMINALS.handle_rows(state, answer, context)
            case id_ if id_ in today_tiles.SOURCES:
                figures = {**dict(state.tiles), id_: today_tiles.SOURCES[id_].figure(answer, context)}
                return Turn(state._replace(tiles=tuple(figures.items())))
        return Turn(state)
