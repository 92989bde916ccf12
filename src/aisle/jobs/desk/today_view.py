"""What the pages of today show."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from aisle.jobs import window
from aisle.jobs.desk.today_state import Person, Terminal, Today
from aisle.jobs.lists import left_out, unreadable
from aisle.jobs.told import words
from aisle.jobs.view import BACK, PAGES, Block, Chart, Detail, Line, ListWindow, Msg, Row, Series, View, msg, raw

LINKS = {
    "live": "link.live",
    "partial": "link.partial",
    "syncing": "link.syncing",
    "offline": "link.offline",
    "refused": "link.refused",
    "none": "link.none",
}
UP = ("live", "partial", "syncing")
MAPS = {"pick": "today.of_picks", "short": "today.of_shorts", "move": "today.of_moves"}
JOBS = {
    "pick": "home.pick",
    "lookup": "home.lookup",
    "browse": "home.browse",
    "count": "home.count",
    "move": "home.move",
    "walk": "home.walk",
    "receive": "home.receive",
    "logs": "home.logs",
    "doctor": "home.doctor",
    "orders": "home.orders",
    "clear": "home.clearance",
    "loss": "home.count",
    "count_log": "home.count",
    "short": "home.pick",
    "doubts": "home.doubts",
    "clearance": "home.clearance",
    "tasks": "home.tasks",
}
"""What jobs are called where they are opened."""
HEADS = ("today.head_terminal", "today.head_who", "today.head_job", "today.head_last", "today.head_since")
WORK = (("count", "today.work_count"), ("move", "today.work_move"), ("short", "today.work_short"))
LATE_COURIER_S = 30.0
ORDERS = "headers"
"""The list of orders, as the sync calls it."""


def view(state: Today) -> View:
    """The page that is open."""
    match state.phase:
        case "hours":
            return _hours(state)
        case "places":
            return _places(state)
        case "terminals":
            return _terminals(state)
    return _pulse(state)


def choices(state: Today) -> tuple[Msg, ...]:
    """The pages behind the first; of a map what it can show."""
    if state.phase == "pulse":
        return (msg("today.to_hours"), msg("today.to_places"), msg("today.to_terminals"))
    return tuple(msg(id_) for id_ in MAPS.values()) if state.phase == "places" else ()


def _pulse(state: Today) -> Detail:
    said = dict(state.pulse)
    return Detail(
        name="today",
        title=msg("today.title"),
        prompt=msg("today.prompt"),
        lines=(Line("quantity", _headline(said)),),
        blocks=_blocks(said, state.now) if said else (),
        page=state.page,
        choices=choices(state),
        hints=(*PAGES, BACK),
    )


def _blocks(said: dict[str, Any], now: str) -> tuple[Block, ...]:
    """Figures of what was never read are none."""
    figures = () if ORDERS in said.get("unread", ()) else (_orders(said), _work(said))
    told = _why(said)
    why = (Block(msg("today.why"), tuple((each,) for each in told), tight=True),) if told else ()
    return (*figures, _state(said, now), *why)


def _why(said: dict[str, Any]) -> tuple[Msg, ...]:
    """What is the matter with the link: the lists that cannot be read, and rows of them; or what was said."""
    rest = tuple(left_out(left) for left in said.get("left_out", ()))
    if said["link"] == "partial":
        return (*(unreadable(lack) for lack in said.get("lacking", ())), *rest)
    return ((words(str(said["why"])),) if said["why"] else ()) + rest


def _headline(said: dict[str, Any]) -> Msg:
    if not said:
        return msg("today.nothing_yet")
    if ORDERS in said.get("unread", ()):
        return msg("list.awaited", what=msg("list.headers"))
    return msg("today.headline", done=said["due_done"], count=said["due"], late=said["late"])


def _figures(*rows: tuple[str, Any]) -> tuple[tuple[Msg, ...], ...]:
    return tuple((msg(id_), value if isinstance(value, Msg) else msg("number", value=value)) for id_, value in rows)


def _orders(said: dict[str, Any]) -> Block:
    came = msg("number" if said["seen_all_day"] else "today.since_start", value=said["orders_in"])
    rows = _figures(
        ("today.orders_in", came),
        ("today.orders_open", said["orders_open"]),
        ("today.orders_partial", said["orders_partial"]),
        ("today.orders_picked", said["orders_picked"]),
        ("today.orders_late", said["late"]),
    )
    return Block(msg("today.orders"), rows, tight=True)


def _work(said: dict[str, Any]) -> Block:
    rows = [(id_, said[f"work_{kind}"]) for kind, id_ in WORK]
    picks = msg("today.lines_pieces", count=said["work_pick"], pieces=abs(said["pieces_pick"]))
    outbox: dict[str, int] = said["outbox"]
    waiting = sum(outbox.get(name, 0) for name in ("queued", "sending", "in_doubt"))
    doubtful = sum(outbox.get(name, 0) for name in ("needs_person", "rejected"))
    here = msg("today.here_only", count=waiting, doubtful=doubtful)
    return Block(msg("today.work"), _figures(("today.work_pick", picks), *rows, ("today.waiting", here)), tight=True)


def _age(at: float, now: str) -> Msg:
    return msg("link.age_never") if not at else msg("today.ago", seconds=str(max(0.0, _at(now) - at)))


def _at(now: str) -> float:
    return datetime.fromisoformat(now).timestamp() if now else 0.0


def _state(said: dict[str, Any], now: str) -> Block:
    link = msg(LINKS.get(said["link"], "link.none"))
    silent = _at(now) - said["courier_at"]
    works = bool(said["courier_at"]) and silent < LATE_COURIER_S
    courier = "today.courier_works" if works else "today.courier_gone"
    if not works and said["courier_at"] and said["link"] in UP:  # as it was, when somebody still looked
        link = msg("link.stuck", seconds=str(silent))
    rows = [
        ("today.link", link),
        ("today.heard", _age(said["last_ok"], now)),
        ("today.courier", msg(courier)),
        ("today.read", _age(said["read_at"], now)),
        ("today.cache", msg("today.cache_rows", orders=said["rows_orders"], products=said["rows_product"])),
        ("today.file", msg("today.megabytes", size=(Decimal(said["size"]) / 1_000_000).quantize(Decimal("0.1")))),
    ]
    return Block(msg("today.state"), _figures(*rows), tight=True)


# By the hour


def _hours(state: Today) -> Chart:
    """A row for each person, an hour in each column, from the first hour in which anybody did anything."""
    busy = [hour for person in state.people for hour, _ in person.hours]
    span = range(min(busy), max(busy) + 1) if busy else range(0)
    midnight = datetime.fromisoformat(state.now).astimezone().replace(hour=0) if state.now else None
    axis = tuple(msg("number", value=(midnight + timedelta(hours=hour)).hour if midnight else hour) for hour in span)
    picks, counts = (sum(person.of(kind) for person in state.people) for kind in ("pick", "count"))
    return Chart(
        name="today.hours",
        title=msg("today.title_hours"),
        prompt=msg("order.prompt_read"),
        series=tuple(_series(person, span) for person in state.people),
        axis=axis,
        lines=(Line("note", msg("today.in_all", picks=picks, counts=counts)),) if busy else (),
        page=state.page,
        empty=msg("today.no_work"),
        hints=(*PAGES, BACK),
    )


def _series(person: Person, span: range) -> Series:
    by_hour = {hour: sum(count for _, count in kinds) for hour, kinds in person.hours}
    values = tuple(Decimal(by_hour.get(hour, 0)) for hour in span)
    told = "today.person_here" if person.here else "today.person"
    counts = {"picks": person.of("pick"), "counts": person.of("count"), "moves": person.of("move")}
    return Series(msg(told, who=person.name, **counts), values, sum(values, Decimal(0)))


# Where


def _places(state: Today) -> Chart:
    """One row for each aisle, its places in the order of feet, the busier the darker."""
    totals = [Decimal(sum(aisle.counts)) for aisle in state.aisles]
    most = max(state.aisles, key=lambda aisle: max(aisle.counts, default=0), default=None)
    said: tuple[Line, ...] = ()
    if most and most.hottest:
        where = msg("today.hottest", place=most.hottest, count=max(most.counts), total=sum(totals, Decimal(0)))
        said = (Line("note", where),)
    return Chart(
        name="today.places",
        title=msg("today.title_places", what=msg(MAPS[state.kind])),
        prompt=msg("today.prompt_map"),
        series=tuple(
            Series(raw(aisle.name), tuple(map(Decimal, aisle.counts)), total)
            for aisle, total in zip(state.aisles, totals, strict=True)
        )
        if any(totals)
        else (),
        axis=(),
        lines=said,
        page=state.page,
        empty=msg("today.no_places"),
        choices=choices(state),
        hints=(*PAGES, BACK),
        heat=True,
    )


# Who


def _terminals(state: Today) -> ListWindow:
    return window.shown(
        state,
        "today.terminals",
        msg("today.title_terminals"),
        msg("order.prompt_read"),
        tuple(msg(id_) for id_ in HEADS),
        tuple(Row(each.terminal, _cells(each)) for each in state.rows),
        empty=msg("today.no_terminals"),
        numbered=0,
    )


def _cells(each: Terminal) -> tuple[Msg, ...]:
    who = raw(each.name) if each.name else msg("today.nobody")
    job = msg(JOBS[each.job]) if each.job in JOBS else raw(each.job) if each.job else msg("today.at_home")
    last = msg("today.ago", seconds=str(each.last)) if each.last >= 0 else msg("link.age_never")
    return (raw(each.terminal), who, job, last, msg("moment", at=each.since))
