"""Today: the store's pulse. Orders, work by the hour and by person, a map of where it happens, every terminal here.

It is live: whatever changes is asked for again, as sums that cost next to nothing. Figures come from the store's log;
what only this host knows says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from aisle.jobs import window
from aisle.jobs.amounts import number
from aisle.jobs.base import Changed, Close, Closed, Context, Effect, Event, Opened, Query, Resumed, Rows, Turn, Wish
from aisle.jobs.desk import today_view
from aisle.jobs.desk.today_state import KINDS, PHASES, Aisle, Person, Terminal, Today
from aisle.jobs.view import View
from aisle.jobs.window import leafed
from aisle.scan.meaning import Back, Choice, Command, Move, Open

WISH_S = 15
"""The store's log is asked for again at most so often."""

Result = Turn[Today]


class TodayJob:
    """The pulse, and the pages behind it."""

    name = "today"
    steps: tuple[str, ...] = ("today", *(f"today.{phase}" for phase in PHASES))
    version = 1
    journalled = False

    def begin(self) -> Today:
        """Nothing read."""
        return Today()

    def open(self, state: Today) -> Open:
        """Numbers lead to the pages, or choose what a map is of."""
        letters = window.letters(state) if state.phase == "terminals" else window.LETTERS
        return Open(choices=len(today_view.choices(state)), letters=letters)

    def prefers(self, state: Today) -> tuple[str, ...]:
        """Nothing is scanned here."""
        return ()

    def at(self, state: Today) -> str:
        """One of `steps`."""
        return "today" if state.phase == "pulse" else f"today.{state.phase}"

    def view(self, state: Today) -> View:
        """The page that is open."""
        return today_view.view(state)

    def step(self, state: Today, event: Event, context: Context) -> Result:
        """See the functions below."""
        match event:
            case Opened() | Resumed() | Closed() | Changed():
                return _refreshed(state._replace(now=context.now), context)
            case Rows(id_, rows, total):
                return Turn(_read(state, id_, rows, total, context))
            case Back() if state.phase != "pulse":
                return _refreshed(state._replace(phase="pulse", page=0, first=0, cursor=-1), context)
            case Back():
                return Turn(state, (Close(),))
            case Choice(choice) if choice <= len(today_view.choices(state)):
                return _chosen(state, choice, context)
            case Command("n" | "p" as key) | Move(key) if state.phase == "terminals" and key != "enter":
                return _refreshed(window.turned(state, key, window.room(context)), context)
            case Command("n" | "p" as key) | Move(key):
                return Turn(state._replace(page=leafed(state.page, key)))
        return window.unheard(state, event)


def _refreshed(state: Today, context: Context) -> Result:
    """Asks for what the page shows, and now and then for what the service has logged since."""
    effects: list[Effect] = [_query(state, context)]
    if not state.wished or _seconds(state.wished, context.now) >= WISH_S:
        state = state._replace(wished=context.now)
        effects.append(Wish("logs"))
    return Turn(state, tuple(effects))


def _seconds(since: str, now: str) -> float:
    return abs((datetime.fromisoformat(now) - datetime.fromisoformat(since)).total_seconds())


def _query(state: Today, context: Context) -> Query:
    match state.phase:
        case "hours":
            return Query("hours", "today_hours", {"now": context.now}, live=True)
        case "places":
            return Query("places", "today_places", {"now": context.now, "kind": state.kind}, live=True)
        case "terminals":
            return Query("terminals", "today_terminals", {}, live=True)
    return Query("today", "today", {"now": context.now}, live=True)


def _read(state: Today, id_: str, rows: tuple[Mapping[str, Any], ...], total: int, context: Context) -> Today:
    match id_:
        case "today" if rows:
            return state._replace(pulse=tuple(rows[0].items()))
        case "hours":
            return state._replace(people=tuple(_person(row) for row in rows))
        case "places":
            return state._replace(aisles=aisles_of(rows))
        case "terminals":
            at_work = tuple(_terminal(row, context.now) for row in rows)
            first = state.first if state.first < total else 0
            shown = at_work[first : first + window.room(context)]
            return state._replace(rows=shown, total=total, first=first)
    return state


def _person(row: Mapping[str, Any]) -> Person:
    hours = tuple(
        (int(hour), tuple(sorted((str(kind), int(count)) for kind, count in kinds.items())))
        for hour, kinds in sorted(row["hours"].items())
    )
    return Person(str(row["name"] or row["user"]), bool(row["here"]), hours)


def _terminal(row: Mapping[str, Any], now: str) -> Terminal:
    at = datetime.fromisoformat(now).timestamp()
    last = float(row["last"])
    since = datetime.fromtimestamp(float(row["since"]), UTC).isoformat(timespec="seconds")
    return Terminal(
        str(row["terminal"]), str(row["name"]), str(row["job"]), since, max(0.0, at - last) if last else -1.0
    )


_FIRST = re.compile(r"[^\W\d_]+|\d+")


def aisle_of(code: str) -> str:
    """The aisle that the code of a place begins with: `A` of `A-03-12` and of `A0312`, `03` of `03-12`."""
    found = _FIRST.search(code)
    return found.group().upper() if found else code


def aisles_of(rows: tuple[Mapping[str, Any], ...]) -> tuple[Aisle, ...]:
    """Places under the aisles that they stand in; aisles in the order in which feet first come to them."""
    found: dict[str, list[tuple[str, int]]] = {}
    for row in rows:
        found.setdefault(aisle_of(str(row["place"])), []).append((str(row["place"]), int(number(row["n"]))))
    aisles = []
    for name, places in found.items():
        place, most = max(places, key=lambda each: each[1])
        aisles.append(Aisle(name, tuple(count for _, count in places), place if most else ""))
    return tuple(aisles)


def _chosen(state: Today, choice: int, context: Context) -> Result:
    if state.phase == "pulse":
        return _refreshed(state._replace(phase=PHASES[choice - 1], page=0, first=0, cursor=-1), context)
    if state.phase == "places":
        return _refreshed(state._replace(kind=KINDS[choice - 1], aisles=(), page=0), context)
    return Turn(state)
