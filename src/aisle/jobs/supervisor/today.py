"""Job that shows the figures of the day, work by hour, activity by aisle and location, and terminals."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from aisle.jobs import pages, store_time
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
    Turn,
)
from aisle.jobs.pages import turn_page
from aisle.jobs.quantities import to_decimal
from aisle.jobs.stored_message import left_out_rows, read_message, unreadable_list
from aisle.jobs.view import BACK, PAGE_HINTS, Block, Chart, DetailView, Line, ListView, Msg, Row, Series, View, msg, raw
from aisle.scan.meaning import Accepts, Back, Choice, Command, CursorKey

if TYPE_CHECKING:
    from aisle.jobs.row_types.supervisor import TodayHoursRow, TodayLocationsRow, TodayRow, TodayTerminalsRow

PHASES = ("hours", "locations", "terminals")
"""Pages that the numbers of the first page open."""

MAP_KINDS = ("pick", "short", "move")
"""Kinds of activity that the map can show."""


class Person(NamedTuple):
    """Work of a person by hour of the day."""

    name: str
    is_only_here: bool = False
    """True if the person is known only on this host."""
    hours: tuple[tuple[int, tuple[tuple[str, int], ...]], ...] = ()

    def count_of(self, kind: str) -> int:
        """Return the total of one kind of work."""
        return sum(count for _, kinds in self.hours for name, count in kinds if name == kind)


class Aisle(NamedTuple):
    """Locations of one aisle, in walking order."""

    name: str
    counts: tuple[int, ...]
    busiest: str = ""
    """Location with the highest count."""


class Terminal(NamedTuple):
    """Terminal in use on this host."""

    terminal: str
    name: str
    job: str
    since: str
    idle_s: float
    """Seconds since the last input; below 0 if unknown."""


class TodayState(NamedTuple):
    """State of the four pages."""

    phase: str = "figures"
    """`figures` (the figures), or one of `PHASES`."""
    map_kind: str = MAP_KINDS[0]
    now: str = ""
    figures: tuple[tuple[str, Any], ...] = ()
    """Fields of the query `today`."""
    people: tuple[Person, ...] = ()
    aisles: tuple[Aisle, ...] = ()
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Terminal, ...] = ()
    total: int = 0
    page: int = 0
    refreshed_at: str = ""


LINK_NAMES = {
    "live": "link.live",
    "partial": "link.partial",
    "syncing": "link.syncing",
    "offline": "link.offline",
    "refused": "link.refused",
    "none": "link.starting",
}
ONLINE_LINKS = ("live", "partial", "syncing")
MAP_NAMES = {"pick": "today.of_picks", "short": "today.of_shorts", "move": "today.of_moves"}
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
    "clearance_request": "home.clearance",
    "adjust": "home.count",
    "my_entries": "home.count",
    "shortage": "home.pick",
    "unconfirmed": "home.unconfirmed",
    "clearance": "home.clearance",
    "clearance_tasks": "home.clearance_tasks",
}
"""Names of the jobs, as on the pages that open them."""
TERMINAL_HEADS = ("today.head_terminal", "today.head_user", "today.head_job", "today.head_last", "today.head_since")
WORK_KINDS = (("count", "today.work_count"), ("move", "today.work_move"), ("short", "today.work_short"))
LATE_COURIER_S = 30.0
ORDER_LIST = "headers"
"""Name of the list of orders in the sync."""


def page_view(state: TodayState) -> View:
    """Return the screen of the open page."""
    match state.phase:
        case "hours":
            return _hours_view(state)
        case "locations":
            return _map_view(state)
        case "terminals":
            return _terminals_view(state)
    return _figures_view(state)


def page_choices(state: TodayState) -> tuple[Msg, ...]:
    """Return the choices: the other pages, or the kinds of activity of the map."""
    if state.phase == "figures":
        return (msg("today.to_hours"), msg("today.to_locations"), msg("today.to_terminals"))
    return tuple(msg(id_) for id_ in MAP_NAMES.values()) if state.phase == "locations" else ()


def _figures_view(state: TodayState) -> DetailView:
    values = cast("TodayRow", dict(state.figures))
    return DetailView(
        name="today",
        title=msg("today.title"),
        prompt=msg("today.prompt"),
        lines=(Line("quantity", _headline(values)),),
        blocks=_blocks(values, state.now) if values else (),
        page=state.page,
        choices=page_choices(state),
        key_hints=(*PAGE_HINTS, BACK),
    )


def _blocks(values: TodayRow, now: str) -> tuple[Block, ...]:
    """Return the blocks of figures. Figures of the orders are left out until the order list was read once."""
    figures = () if ORDER_LIST in values.get("unread", ()) else (_order_block(values), _work_block(values))
    reasons = _link_reasons(values)
    why = (Block(msg("today.why"), tuple((each,) for each in reasons), is_compact=True),) if reasons else ()
    return (*figures, _state_block(values, now), *why)


def _link_reasons(values: TodayRow) -> tuple[Msg, ...]:
    """Return what is wrong with the link: unreadable lists and unusable rows, or the reported reason."""
    rest = tuple(left_out_rows(rows) for rows in values.get("left_out", ()))
    if values["link"] == "partial":
        return (*(unreadable_list(lack) for lack in values.get("lacking", ())), *rest)
    return ((read_message(str(values["why"])),) if values["why"] else ()) + rest


def _headline(values: TodayRow) -> Msg:
    if not values:
        return msg("today.nothing_yet")
    if ORDER_LIST in values.get("unread", ()):
        return msg("list.loading", what=msg("list.orders"))
    return msg("today.headline", done=values["due_done"], count=values["due"], late=values["late"])


def _figure_rows(*rows: tuple[str, Any]) -> tuple[tuple[Msg, ...], ...]:
    return tuple((msg(id_), value if isinstance(value, Msg) else msg("number", value=value)) for id_, value in rows)


def _order_block(values: TodayRow) -> Block:
    new_orders = msg("number" if values["seen_all_day"] else "today.since_start", value=values["orders_in"])
    rows = _figure_rows(
        ("today.orders_in", new_orders),
        ("today.orders_open", values["orders_open"]),
        ("today.orders_in_progress", values["orders_partial"]),
        ("today.orders_picked", values["orders_picked"]),
        ("today.orders_late", values["late"]),
    )
    return Block(msg("today.orders"), rows, is_compact=True)


def _work_block(values: TodayRow) -> Block:
    counts = {"count": values["work_count"], "move": values["work_move"], "short": values["work_short"]}
    rows = [(id_, counts[kind]) for kind, id_ in WORK_KINDS]
    picks = msg("today.lines_pieces", count=values["work_pick"], pieces=abs(values["pieces_pick"]))
    outbox: dict[str, int] = values["outbox"]
    waiting = sum(outbox.get(name, 0) for name in ("queued", "sending", "in_doubt"))
    in_doubt = sum(outbox.get(name, 0) for name in ("needs_person", "rejected"))
    here = msg("today.here_only", count=waiting, doubtful=in_doubt)
    return Block(
        msg("today.work"), _figure_rows(("today.work_pick", picks), *rows, ("today.waiting", here)), is_compact=True
    )


def _age_text(at: float, now: str) -> Msg:
    return msg("link.age_never") if not at else msg("today.ago", seconds=str(max(0.0, _timestamp(now) - at)))


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
        ("today.cache", msg("today.cache_rows", orders=values["rows_orders"], products=values["rows_product"])),
        ("today.file", msg("today.megabytes", size=(Decimal(values["size"]) / 1_000_000).quantize(Decimal("0.1")))),
    ]
    return Block(msg("today.state"), _figure_rows(*rows), is_compact=True)


# By hour


def _hours_view(state: TodayState) -> Chart:
    """Return a chart with a row for each person and a column for each hour, from the first hour with work."""
    busy = [hour for person in state.people for hour, _ in person.hours]
    span = range(min(busy), max(busy) + 1) if busy else range(0)
    midnight = store_time.start_of_today(state.now).astimezone(UTC) if state.now else None
    hours = ((midnight + timedelta(hours=hour)).astimezone().hour if midnight else hour for hour in span)
    axis = tuple(msg("number", value=hour) for hour in hours)
    picks, counts = (sum(person.count_of(kind) for person in state.people) for kind in ("pick", "count"))
    return Chart(
        name="today.hours",
        title=msg("today.title_hours"),
        prompt=msg("order.prompt_read"),
        series=tuple(_person_series(person, span) for person in state.people),
        axis=axis,
        lines=(Line("note", msg("today.totals", picks=picks, counts=counts)),) if busy else (),
        page=state.page,
        empty=msg("today.no_work"),
        key_hints=(*PAGE_HINTS, BACK),
    )


def _person_series(person: Person, span: range) -> Series:
    by_hour = {hour: sum(count for _, count in kinds) for hour, kinds in person.hours}
    values = tuple(Decimal(by_hour.get(hour, 0)) for hour in span)
    label_id = "today.person_here" if person.is_only_here else "today.person"
    counts = {"picks": person.count_of("pick"), "counts": person.count_of("count"), "moves": person.count_of("move")}
    return Series(msg(label_id, who=person.name, **counts), values, sum(values, Decimal(0)))


# By location


def _map_view(state: TodayState) -> Chart:
    """Return a map with a row for each aisle, its locations in walking order, darker for more activity."""
    totals = [Decimal(sum(aisle.counts)) for aisle in state.aisles]
    most = max(state.aisles, key=lambda aisle: max(aisle.counts, default=0), default=None)
    lines: tuple[Line, ...] = ()
    if most and most.busiest:
        where = msg("today.busiest_location", place=most.busiest, count=max(most.counts), total=sum(totals, Decimal(0)))
        lines = (Line("note", where),)
    return Chart(
        name="today.locations",
        title=msg("today.title_locations", what=msg(MAP_NAMES[state.map_kind])),
        prompt=msg("today.prompt_map"),
        series=tuple(
            Series(raw(aisle.name), tuple(map(Decimal, aisle.counts)), total)
            for aisle, total in zip(state.aisles, totals, strict=True)
        )
        if any(totals)
        else (),
        axis=(),
        lines=lines,
        page=state.page,
        empty=msg("today.no_locations"),
        choices=page_choices(state),
        key_hints=(*PAGE_HINTS, BACK),
        is_heat_map=True,
    )


# Terminals


def _terminals_view(state: TodayState) -> ListView:
    return pages.list_view(
        state,
        "today.terminals",
        msg("today.title_terminals"),
        msg("order.prompt_read"),
        tuple(msg(id_) for id_ in TERMINAL_HEADS),
        tuple(Row(each.terminal, _terminal_cells(each)) for each in state.rows),
        empty=msg("today.no_terminals"),
        numbered=0,
    )


def _terminal_cells(row: Terminal) -> tuple[Msg, ...]:
    who = raw(row.name) if row.name else msg("today.nobody")
    job = msg(JOB_NAMES[row.job]) if row.job in JOB_NAMES else raw(row.job) if row.job else msg("today.at_home")
    last = msg("today.ago", seconds=str(row.idle_s)) if row.idle_s >= 0 else msg("link.age_never")
    return (raw(row.terminal), who, job, last, msg("moment", at=row.since))


LOG_REFRESH_S = 15
"""Seconds between two refreshes of the store's log."""

Result = Turn[TodayState]


class TodayJob(Job[TodayState]):
    """Job that shows the figures of the day and the pages behind them."""

    name = "today"
    steps: tuple[str, ...] = ("today", *(f"today.{phase}" for phase in PHASES))
    version = 1
    journalled = False

    def begin(self) -> TodayState:
        """Return the state before the first query."""
        return TodayState()

    def accepts(self, state: TodayState) -> Accepts:
        """Accept numbers for the pages or for the activity that the map shows."""
        letters = pages.page_letters(state) if state.phase == "terminals" else pages.PAGE_LETTERS
        return Accepts(choices=len(page_choices(state)), command_letters=letters)

    def prefers(self, state: TodayState) -> tuple[str, ...]:
        """Prefer nothing, because no scan is accepted here."""
        return ()

    def step_name(self, state: TodayState) -> str:
        """Return one of `steps`."""
        return "today" if state.phase == "figures" else f"today.{state.phase}"

    def view(self, state: TodayState) -> View:
        """Return the screen of the open page."""
        return page_view(state)

    def handle(self, state: TodayState, event: Event, context: Context) -> Result:
        """Return the next state."""
        match event:
            case Opened() | Resumed() | Closed() | Changed():
                return _refresh(state._replace(now=context.now), context)
            case Rows(id_, rows, total):
                return Turn(_with_rows(state, id_, rows, total, context))
            case Back() if state.phase != "figures":
                return _refresh(state._replace(phase="figures", page=0, first=0, cursor=-1), context)
            case Back():
                return Turn(state, (Close(),))
            case Choice(choice) if choice <= len(page_choices(state)):
                return _handle_choice(state, choice, context)
            case Command("n" | "p" as key) | CursorKey(key) if state.phase == "terminals" and key != "enter":
                return _refresh(pages.move_or_turn(state, key, pages.page_size(context)), context)
            case Command("n" | "p" as key) | CursorKey(key):
                return Turn(state._replace(page=turn_page(state.page, key)))
        return pages.reject_input(state, event)


def _refresh(state: TodayState, context: Context) -> Result:
    """Query what the page shows, and refresh the log from time to time."""
    effects: list[Effect] = [_query(state, context)]
    if not state.refreshed_at or _seconds(state.refreshed_at, context.now) >= LOG_REFRESH_S:
        state = state._replace(refreshed_at=context.now)
        effects.append(Refresh("logs"))
    return Turn(state, tuple(effects))


def _seconds(since: str, now: str) -> float:
    return abs((datetime.fromisoformat(now) - datetime.fromisoformat(since)).total_seconds())


def _query(state: TodayState, context: Context) -> Query:
    match state.phase:
        case "hours":
            return Query("hours", "today_hours", {"now": context.now}, is_live=True)
        case "locations":
            return Query("locations", "today_locations", {"now": context.now, "kind": state.map_kind}, is_live=True)
        case "terminals":
            return Query("terminals", "today_terminals", {}, is_live=True)
    return Query("today", "today", {"now": context.now}, is_live=True)


def _with_rows(state: TodayState, id_: str, rows: tuple[Json, ...], total: int, context: Context) -> TodayState:
    match id_:
        case "today" if rows:
            return state._replace(figures=tuple(rows[0].items()))
        case "hours":
            return state._replace(people=tuple(_parse_person(row) for row in rows))
        case "locations":
            return state._replace(aisles=group_by_aisle(rows))
        case "terminals":
            at_work = tuple(_parse_terminal(row, context.now) for row in rows)
            first = state.first if state.first < total else 0
            shown = at_work[first : first + pages.page_size(context)]
            return state._replace(rows=shown, total=total, first=first)
    return state


def _parse_person(row: TodayHoursRow) -> Person:
    hours = tuple(
        (int(hour), tuple(sorted((str(kind), int(count)) for kind, count in kinds.items())))
        for hour, kinds in sorted(row["hours"].items())
    )
    return Person(str(row["name"] or row["user"]), bool(row["is_here"]), hours)


def _parse_terminal(row: TodayTerminalsRow, now: str) -> Terminal:
    at = datetime.fromisoformat(now).timestamp()
    last = float(row["last"])
    since = datetime.fromtimestamp(float(row["since"]), UTC).isoformat(timespec="seconds")
    return Terminal(
        str(row["terminal"]), str(row["name"]), str(row["job"]), since, max(0.0, at - last) if last else -1.0
    )


_AISLE_PART = re.compile(r"[^\W\d_]+|\d+")


def aisle_of(code: str) -> str:
    """Return the aisle of a location code: `A` for `A-03-12` and `A0312`, `03` for `03-12`."""
    found = _AISLE_PART.search(code)
    return found.group().upper() if found else code


def group_by_aisle(rows: tuple[TodayLocationsRow, ...]) -> tuple[Aisle, ...]:
    """Group locations by aisle. Aisles are in the order of their first location."""
    found: dict[str, list[tuple[str, int]]] = {}
    for row in rows:
        found.setdefault(aisle_of(str(row["location"])), []).append((str(row["location"]), int(to_decimal(row["n"]))))
    aisles = []
    for name, places in found.items():
        place, most = max(places, key=lambda each: each[1])
        aisles.append(Aisle(name, tuple(count for _, count in places), place if most else ""))
    return tuple(aisles)


def _handle_choice(state: TodayState, choice: int, context: Context) -> Result:
    if state.phase == "figures":
        return _refresh(state._replace(phase=PHASES[choice - 1], page=0, first=0, cursor=-1), context)
    if state.phase == "locations":
        return _refresh(state._replace(map_kind=MAP_KINDS[choice - 1], aisles=(), page=0), context)
    return Turn(state)
