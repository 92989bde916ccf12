"""Home: one scan box, the open orders by pickup date, numbered commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs import refused, window
from aisle.jobs.base import (
    Changed,
    Closed,
    Context,
    Effect,
    Event,
    Opened,
    Query,
    Quit,
    Resumed,
    Rows,
    SignIn,
    SignOut,
    Start,
    Turn,
    UndoLast,
)
from aisle.jobs.house import home_view, leaving
from aisle.jobs.house.home_state import DESK, JOBS, LETTERED, MENU, MORE, PAGES, Home, Listed, listed_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, ListWindow, Verdict, msg
from aisle.scan.meaning import (
    DELIVERY,
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Back,
    Choice,
    Command,
    Echo,
    Meaning,
    Move,
    Open,
    Said,
    Text,
    Thing,
    Unknown,
)

LOW = 7
"""Rows of a list on a screen on which the menu takes more lines than the commands of other lists."""

Result = Turn[Home]


class HomeJob:
    """The page that everything starts from."""

    name = "home"
    steps: tuple[str, ...] = ("home",)
    version = 1
    journalled = False

    def begin(self) -> Home:
        """All open orders, nothing marked."""
        return Home()

    def open(self, state: Home) -> Open:
        """Numbered commands; what is neither of them nor a code finds orders."""
        return Open(choices=len(PAGES[state.page]), letters="dnopqru", search=True, finds=True)

    def prefers(self, state: Home) -> tuple[str, ...]:
        """Orders first: they are what home is for."""
        return (ORDER, REFERENCE, PERSON, PRODUCT, LOCATION, DELIVERY)

    def step(self, state: Home, event: Event, context: Context) -> Result:
        """A scan opens, words search, the cursor marks."""
        sure = state.leaving
        if isinstance(event, Said) and not isinstance(event, Echo):
            state = state._replace(leaving=False)
        match event:
            case Thing(meanings) if meanings[0].kind == DELIVERY:
                return Turn(_anew(state), (receives(meanings),))
            case Thing(meanings):
                return self._thing(state, meanings[0])
            case Rows():
                return self._answered(state, event, context)
            case Closed("pick", {"rejected": str(order)}):
                return self._shown(state._replace(lost=order), context)
            case Changed("refusal"):
                return Turn(state, (refused.refusals(state.since or context.now),))
            case Opened() | Closed() | Changed("order" | "outbox" | "delivery") | Resumed():
                state = state._replace(since=state.since or context.now)
                return self._shown(state, context, moved=isinstance(event, Closed) and event.job in ("move", "tasks"))
            case Echo(text):
                listed = window.typing(state, text, "doqru", len(PAGES[state.page]))
                return Turn(state) if listed is None else self._look(listed, context)
            case Text(text) | Unknown(text):
                return self._look(_anew(state)._replace(search=text, opening=True, doubts=state.doubts), context)
            case Back():
                return self._look(_anew(state)._replace(doubts=state.doubts), context)
            case Move(key):
                return self._move(state, key, context)
            case Command("n" | "p" as letter):
                return self._look(window.paged(state, letter, _size(context)), context)
            case Choice(number):
                return self._chosen(state, number, context, sure)
            case Command("r") if state.halfway:
                return Turn(_anew(state), (_resumed(state),))
            case Command("r"):
                return Turn(state, (), Verdict(INFO, msg("home.none_halfway")))
            case Command("u"):
                return Turn(state, (UndoLast(),))
            case Command("d") if not state.doubts:
                return Turn(state, (), Verdict(INFO, msg("home.none_open")))
            case Command("d" | "o" | "q" as letter):
                return _does(state, LETTERED[letter], context, sure)
        return Turn(state)

    def _answered(self, state: Home, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("orders"):
                return self._rows(state, answer, context)
            case Rows("products"):
                return self._products(state, answer, context)
            case Rows("given", rows, _):
                return _given(state, rows)
            case Rows("halfway", rows, _):
                return Turn(state._replace(halfway=tuple(str(row["order_number"]) for row in rows)))
            case Rows("trouble", _, total):
                return Turn(state._replace(doubts=total))
            case Rows("open"):
                told = leaving.told(answer)
                return Turn(state._replace(leaving=True), (), told) if told else Turn(_anew(state), (SignOut(),))
            case Rows("unread", rows, _):
                awaited = any(row["list"] == "headers" for row in rows)
                return Turn(state, (), Verdict(WRONG, msg("home.awaited" if awaited else "home.nothing")))
            case Rows("lost", rows, _):
                return _lost(state, rows)
            case Rows("refused" | "refused_before"):
                known, said = refused.news(state.refused, answer, context.user)
                return Turn(state._replace(refused=known), (), said)
        return Turn(state)

    def _shown(self, state: Home, context: Context, *, moved: bool = False) -> Result:
        """What is listed, what is unsettled, and what was said to whoever stands here, as it is now."""
        told = refused.refusals(state.since, heard=moved)
        given = Query("given", "given", {"user": context.user}, live=True)
        lost = (Query("lost", "order", {"order_number": state.lost}, live=True),) if state.lost else ()
        trouble = (Query("trouble", "trouble", {}, live=True), Query("halfway", "halfway", {}, live=True))
        return Turn(state, (_query(state, context), *trouble, given, told, *lost))

    def _thing(self, state: Home, meaning: Meaning) -> Result:
        if meaning.kind in (ORDER, REFERENCE):
            return Turn(_anew(state), (Start("pick", {"order_number": meaning.key}),))
        if meaning.kind == PERSON:
            name = meaning.label or meaning.key
            return Turn(_anew(state), (SignIn(meaning.key, name),), Verdict(GOOD, msg("sign_in.done", name=name)))
        if meaning.kind == PRODUCT:
            return Turn(_anew(state), (Start("lookup", {"product_number": meaning.key, "label": meaning.label}),))
        return Turn(_anew(state), (Start("browse", {"location_code": meaning.key}),))

    def _look(self, state: Home, context: Context) -> Result:
        return Turn(state, (_query(state, context),))

    def _rows(self, state: Home, answer: Rows, context: Context) -> Result:
        total, listed = answer.total, tuple(listed_of(row, context) for row in answer.rows)
        asked, state = state, window.arrived(state._replace(partly=answer.partly), listed, total)
        if window.is_behind(asked, answer):
            return self._look(state, context)
        if not state.opening:
            return Turn(state)
        state = state._replace(opening=False)
        is_only = total == 1 and listed and not state.partly
        if is_only and _is_meant(state.search, answer.rows[0]):
            return Turn(_anew(state), (Start("pick", {"order_number": listed[0].number}),))
        if is_only:
            return Turn(state, (), Verdict(ASK, msg("home.found_one", text=state.search, order=listed[0].number)))
        if total:
            found = "home.found_more" if state.partly else "home.found"
            return Turn(state, (), Verdict(ASK, msg(found, text=state.search, count=total)))
        return Turn(state, (Query("products", "search", {"search": state.search, "size": 1}, live=True),))

    def _products(self, state: Home, answer: Rows, context: Context) -> Result:
        """What is no order may be a product."""
        if not answer.total:
            told = Verdict(WRONG, window.not_found("home.not_found", state.search, answer.partly))
            # The open orders are on the screen again: the first number picks the next of them.
            return self._look(_anew(state)._replace(doubts=state.doubts), context)._replace(verdict=told)
        return Turn(_anew(state), (Start("lookup", {"search": state.search}),))

    def _move(self, state: Home, key: str, context: Context) -> Result:
        if key == "enter":
            listed = window.at_cursor(state)
            return _start(state, listed) if listed else Turn(state)
        return self._look(window.moved(state, key, _size(context)), context) if state.total else Turn(state)

    def _chosen(self, state: Home, number: int, context: Context, sure: bool) -> Result:
        if state.page:
            entries = DESK if state.page == len(PAGES) - 1 else MORE
            there = number <= len(entries)
            return _does(state, entries[number - 1][1], context, sure) if there else _turned(state)
        if number == len(MENU):
            return _turned(state)
        return Turn(_anew(state), (Start(JOBS[number], {}),)) if number in JOBS else self._pick_next(state)

    def _pick_next(self, state: Home) -> Result:
        if not state.rows:
            return Turn(state, (Query("unread", "unread", {}, live=True),))
        free = [listed for listed in state.rows if not (listed.taken or listed.lying)]
        return _start(state, window.at_cursor(state) or (free or state.rows)[0])

    def at(self, state: Home) -> str:
        """There is one page."""
        return self.name

    def view(self, state: Home) -> ListWindow:
        """The orders, and what can be done."""
        return home_view.view(state)


def receives(meanings: tuple[Meaning, ...]) -> Start:
    """A delivery was scanned, or a container, which may belong to several."""
    keys = [each.key for each in meanings if each.kind == DELIVERY]
    return Start("receive", {"deliveries": keys, "code": meanings[0].code or keys[0]})


def _resumed(state: Home) -> Start:
    """The delivery that was left half way goes on; of several the list."""
    if len(state.halfway) > 1:
        return Start("receive", {})
    return Start("receive", {"deliveries": list(state.halfway), "code": state.halfway[0]})


def _turned(state: Home) -> Result:
    return Turn(state._replace(page=state.page + 1))


def _anew(state: Home) -> Home:
    """All open orders again; what was told once is not told again."""
    return Home(given=state.given, since=state.since, refused=state.refused, halfway=state.halfway)


def _is_meant(search: str, row: Mapping[str, Any]) -> bool:
    """Whether the one order that was found opens at once: one letter may have been meant as a command, and digits that
    are a part of its numbers as anything."""
    if search.isalpha():
        return len(search) > 1
    whole = (str(row.get(field) or "") for field in ("order_number", "reference"))
    return not any(map(str.isdigit, search)) or search.casefold() in (name.casefold() for name in whole)


def _given(state: Home, rows: tuple[Mapping[str, Any], ...]) -> Result:
    """Orders of somebody's walk that are this person's now are told once each; they are the first of the list."""
    orders = tuple(str(row["order_number"]) for row in rows)
    fresh = [row for row in rows if str(row["order_number"]) not in state.given]
    state = state._replace(given=orders)
    if not fresh:
        return Turn(state)
    order, who = str(fresh[0]["order_number"]), str(fresh[0]["by"])
    if len(fresh) > 1:
        return Turn(state, (), Verdict(ASK, msg("home.given_many", count=len(fresh), who=who)))
    return Turn(state, (), Verdict(ASK, msg("home.given", order=order, who=who)))


def _lost(state: Home, rows: tuple[Mapping[str, Any], ...]) -> Result:
    """An order that was rejected while it was picked is open again."""
    row = rows[0] if rows else {}
    if not row or row.get("is_rejected") or not row.get("is_active", True):
        return Turn(state)
    return Turn(state._replace(lost=""), (), Verdict(INFO, msg("home.open_again", order=state.lost)))


def _does(state: Home, effect: Effect, context: Context, sure: bool) -> Result:
    if isinstance(effect, SignOut) and not sure:
        return Turn(state, (leaving.asked(context),))
    return Turn(state if isinstance(effect, Quit) else _anew(state), (effect,))


def _size(context: Context) -> int:
    """How many orders a page has: as many as are in sight over the menu, so that none falls between two pages."""
    return window.room(context) if context.rows > LOW else min(context.rows, context.sight)


def _query(state: Home, context: Context) -> Query:
    args = {
        "search": state.typed or state.search,
        "first": state.first,
        "size": _size(context),
        "user": context.user,
        "lying": True,
    }
    return Query("orders", "orders", args, live=True)


def _start(state: Home, listed: Listed) -> Result:
    return Turn(_anew(state), (Start("pick", {"order_number": listed.number}),))
