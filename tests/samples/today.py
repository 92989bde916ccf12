"""Samples of today's figures."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from aisle.jobs.row_types.exceptions_clearance_and_today import TodayHoursRow, TodayTerminalsRow
from aisle.jobs.supervisor.today import Aisle, TodayJob, TodayState
from aisle.jobs.supervisor.today_tiles import TileFigure
from aisle.jobs.view import WRONG, Frame, LinkState, Verdict, msg, raw
from aisle.stored_messages import store_message
from tests.samples.log import log_row

NOW = "2026-11-20T15:30:00+00:00"
MOMENT = 1795188600.0

FIGURES: Any = {
    "orders_open": 41,
    "orders_partial": 3,
    "orders_picked": 17,
    "orders_rejected": 2,
    "orders_in": 28,
    "seen_all_day": True,
    "unread": (),
    "lacking": (),
    "left_out": (),
    "due": 52,
    "due_done": 31,
    "late": 4,
    **{f"work_{kind}": count for kind, count in (("pick", 213), ("count", 48), ("move", 19), ("short", 5))},
    "link": "live",
    "last_ok": MOMENT - 3,
    "why": "",
    "read_at": MOMENT - 7200,
    "courier_at": MOMENT - 2,
    "outbox": {"queued": 2, "needs_person": 1},
}


def _frame(state: TodayState, link: LinkState, verdict: Verdict | None = None) -> Frame:
    return Frame(TodayJob().view(state), link, verdict, "", "0042", "Fred", 3 if verdict else 0)


def _state(**fields: Any) -> TodayState:
    changed: TodayState = TodayState(now=NOW)._replace(**fields)
    return changed


def _figures(text: str) -> Frame:
    return _frame(_state(figures=FIGURES), LinkState("live", 3.0, 2, 1))


TILE_FIGURES = (
    ("late", 7),
    ("stuck", 1),
    ("unclaimed", 2),
    ("short", 1),
    ("ready", 0),
    ("differences", 4),
    ("negative_stock", 1),
    ("deliveries", 2),
    ("excess_receipts", 1),
    ("entries_to_review", 3),
    ("expiry_checks", 6),
)


def _people(text: str) -> tuple[TodayHoursRow, ...]:
    people: list[TodayHoursRow] = []
    for at, name in enumerate(("Anna Bakker", "Ben Okafor", "Öztürk", "Dee")):
        hours = {hour: {"count": hour % 3, "pick": (hour * 7 + at * 5) % 19} for hour in range(8 + at, 16)}
        people.append({"user": f"U{at}", "name": text or name, "is_here": at == 3, "hours": hours})
    return tuple(people)


def _desk(text: str) -> Frame:
    tiles = tuple((id_, TileFigure(total, raw(text or "4101, late 28 Nov"))) for id_, total in TILE_FIGURES)
    people, aisles = _people(text), _aisles(text)
    latest = tuple(
        log_row(f"{at}", NOW, description=text or name, difference=Decimal(-at), work="pick", user_name=text or "Anna")
        for at, name in enumerate(("Honey Heather 250 g", "Honey Runny 250 g", "Tea"), 1)
    )
    state = _state(figures=FIGURES, tiles=tiles, people=people, aisles=aisles, latest=latest, tile=1)
    state = state._replace(options=state.options._replace(is_desk=True))
    return _frame(state, LinkState("live", 3.0))


def _offline(text: str) -> Frame:
    link = {"link": "offline", "why": text or store_message("stored_reason.not_reached"), "courier_at": MOMENT - 400.0}
    data = {**FIGURES, **link, "seen_all_day": False, "last_ok": MOMENT - 900}
    verdict = Verdict(WRONG, msg("today.unknown", text=text or "8710000000012"))
    return _frame(_state(figures=data), LinkState("offline", 900.0, 2, 1), verdict)


def _loading(text: str) -> Frame:
    return _frame(_state(), LinkState("none"))


def _hours(text: str) -> Frame:
    return _frame(_state(phase="hours", people=_people(text)), LinkState("live", 3.0))


def _no_hours(text: str) -> Frame:
    return _frame(_state(phase="hours"), LinkState("syncing", 30.0))


def _aisles(text: str) -> tuple[Aisle, ...]:
    found = []
    for at, name in enumerate(("PR", "A", "B", "C", "D", "E", "F", "FR", "BR")):
        counts = tuple(max(0, (at * 31 + place * 17) % 23 - 8) for place in range(8 + at * 5 % 34))
        found.append(Aisle(text or name, counts, text or f"{name}-03"))
    return tuple(found)


def _map(text: str) -> Frame:
    return _frame(_state(phase="locations", aisles=_aisles(text)), LinkState("live", 3.0))


def _empty_map(text: str) -> Frame:
    return _frame(
        _state(phase="locations", map_kind="short", aisles=(Aisle(text or "A", (0, 0, 0)),)),
        LinkState("offline", 900.0),
    )


def _terminal_row(terminal: str, name: str, job: str, since: str, idle_s: float | None) -> TodayTerminalsRow:
    last = 0.0 if idle_s is None else datetime.fromisoformat(NOW).timestamp() - idle_s
    at = datetime.fromisoformat(since).timestamp()
    return {"terminal": terminal, "user": name, "name": name, "job": job, "since": at, "last": last}


def _terminals(text: str) -> Frame:
    rows = (
        _terminal_row(text or "dock", text or "Anna Bakker", "pick", "2026-11-20T14:10:00+00:00", 4),
        _terminal_row(text or "/dev/pts/3", text or "Ben Okafor", "count", "2026-11-20T13:02:00+00:00", 340),
        _terminal_row(text or "desk", text or "Fred Harper", text or "receive", "2026-11-20T08:00:00+00:00", 0),
        _terminal_row(text or "spare", "", "", "2026-11-19T18:00:00+00:00", None),
    )
    return _frame(_state(phase="terminals", rows=rows, total=4), LinkState("live", 3.0))


def _nobody(text: str) -> Frame:
    return _frame(_state(phase="terminals"), LinkState("live", 3.0))


TODAY_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("today", "pulse", _figures),
    ("today", "tiles", _desk),
    ("today", "offline", _offline),
    ("today", "loading", _loading),
    ("today.hours", "people", _hours),
    ("today.hours", "none", _no_hours),
    ("today.locations", "map", _map),
    ("today.locations", "none", _empty_map),
    ("today.terminals", "four", _terminals),
    ("today.terminals", "none", _nobody),
)
"""Screen, state and builder of each sample."""
