"""What a supervisor has to settle: doubts of the outbox, differences of counts, stock that cannot be, orders on which
nothing happens, counts that were ordered. Each opens where it can be settled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs import window
from aisle.jobs.amounts import number
from aisle.jobs.base import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Opened,
    Query,
    Resumed,
    Rows,
    Start,
    Turn,
    Wish,
)
from aisle.jobs.desk import exceptions_review, exceptions_view, marking
from aisle.jobs.desk.exceptions_state import KINDS, Exceptions, Row
from aisle.jobs.desk.orders_rows import listed
from aisle.jobs.view import ASK, GOOD, INFO, Verdict, View, msg
from aisle.jobs.window import room
from aisle.scan.meaning import LOCATION, ORDER, PRODUCT, REFERENCE, Back, Choice, Command, Move, Open, Thing

MOST = 200
"""Differences that are approved at once."""

Result = Turn[Exceptions]


class ExceptionsJob:
    """From the summary to the place where each thing is settled."""

    name = "exceptions"
    steps: tuple[str, ...] = (
        "exceptions", "exceptions.differences", "exceptions.impossible", "exceptions.stuck", "exceptions.recounts",
        "exceptions.one", "exceptions.many",
    )  # fmt: skip
    version = 1
    journalled = False

    def begin(self) -> Exceptions:
        """Nothing read yet."""
        return Exceptions()

    def open(self, state: Exceptions) -> Open:
        """Rows are numbered, and what can be done with one."""
        if state.asking:
            return Open(choices=len(exceptions_view.choices(state)), by_hand=True)
        if not state.kind:
            return Open(choices=len(state.kinds), letters="n" if len(state.kinds) < len(KINDS) else "")
        letters = {"differences": "amer" + "u" * bool(state.approved), "recounts": "x"}.get(state.kind, "")
        return Open(choices=window.numbered_rows(state), letters=letters + window.letters(state))

    def prefers(self, state: Exceptions) -> tuple[str, ...]:
        """What the rows speak of."""
        return (ORDER, REFERENCE, PRODUCT, LOCATION)

    def at(self, state: Exceptions) -> str:
        """One of `steps`."""
        if state.asking:
            return "exceptions.many" if state.asking in ("approve", "recount") else "exceptions.one"
        return f"exceptions.{state.kind}" if state.kind else "exceptions"

    def view(self, state: Exceptions) -> View:
        """The page."""
        return exceptions_view.view(state, self.at(state))

    def step(self, state: Exceptions, event: Event, context: Context) -> Result:
        """News are read again; numbers open, back leads to the summary."""
        match event:
            case Opened(args):
                kind = str(args.get("kind") or "")
                state = state._replace(size=room(context), kind=kind, straight=bool(kind))
                return Turn(state, (*_look(state, context), Wish("logs"), Wish("orders")))
            case Rows():
                return _answered(state, event, context)
            case Changed("order" | "product" | "log" | "person" | "recount" | "outbox") | Closed() | Resumed():
                return Turn(state._replace(size=room(context)), _look(state, context))
            case Back():
                return _back(state, context)
            case Thing(meanings):
                return _thing(state, meanings[0].kind, meanings[0].key, meanings[0].label)
        if state.asking:
            return _decided(state, event, context) if isinstance(event, Choice) else window.unheard(state, event)
        return _said(state, event, context) if state.kind else _summary(state, event, context)


def _look(state: Exceptions, context: Context) -> tuple[Effect, ...]:
    minutes = {"now": context.now, "minutes": context.policy.stuck_minutes}
    summary = (Query("summary", "exceptions", minutes, live=True), Query("features", "features", {}, live=True))
    return (*summary, _list(state, context)) if state.kind else summary


def _list(state: Exceptions, context: Context) -> Query:
    args = {"now": context.now, "minutes": context.policy.stuck_minutes} if state.kind == "stuck" else {}
    return window.search("list", state.kind, args, state.first, room(context, bars=bool(args)))


def _answered(state: Exceptions, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("summary", rows, _) if rows:
            counts = tuple((kind, int(rows[0][kind])) for kind in KINDS)
            return Turn(state._replace(counts=counts, value=number(rows[0]["value"]), loaded=True))
        case Rows("features", rows, _):
            return Turn(state._replace(features=tuple(rows[0]["features"]) if rows else ()))
        case Rows("list", rows, _) if state.kind:
            came = window.answered(state, answer, tuple(_row(row, state.kind, context) for row in rows), context, _list)
            gone = state.asking not in ("", "approve", "recount") and not came.state.chosen
            return came._replace(state=came.state._replace(asking="")) if gone else came
        case Rows("marked", rows, _):
            return _do(state, tuple(_row(row, "differences", context) for row in rows), context)
        case Rows("all", rows, total):
            keys = tuple(str(row["key"]) for row in rows)
            return marking.all_of(state, keys, msg("exceptions.all_marked", count=len(keys), total=total))
    return Turn(state)


def _row(row: Mapping[str, Any], kind: str, context: Context) -> Row:
    if kind == "stuck":
        order = listed(row, context)
        return Row(order.number, order.who, order=order.number, listed=order)
    found = Row(
        key=str(row["key"]),
        label=str(row["label"]),
        product=str(row["product_number"]),
        place=str(row["location_code"]),
        order=str(row.get("order_number") or ""),
        who=str(row.get("who") or ""),
        at=str(row.get("at") or ""),
    )
    if kind == "impossible":
        return found._replace(kind=str(row["kind"]), quantity=number(row["quantity"]), of=number(row["of"]))
    if kind == "recounts":
        return found._replace(kind=str(row["kind"]))
    if kind == "differences":
        value = number(row["value"]) if row["known"] else None
        return found._replace(
            quantity=number(row["difference"]), of=number(row["counted"]), value=value, review=str(row["review_status"])
        )
    return found


# The summary


def _summary(state: Exceptions, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice) if choice <= len(state.kinds):
            return _kind(state, state.kinds[choice - 1], context)
        case Move("enter") if 0 <= state.cursor < len(KINDS):
            return _kind(state, KINDS[state.cursor], context)
        case Move(key):
            cursor, first = window.windowed(state.cursor, state.first, len(KINDS), state.size, key)
            return Turn(state._replace(cursor=cursor, first=first))
        case Command("n"):
            on = state.first + state.size
            return Turn(state._replace(first=on if on < len(KINDS) else 0, cursor=-1))
    return window.unheard(state, event)


def _kind(state: Exceptions, kind: str, context: Context) -> Result:
    if kind == "doubts":
        return Turn(state, (Start("doubts", {}),))
    if kind == "late":
        return Turn(state, (Start("orders", {"filter": {"state": "to_pick", "due": "late"}}),))
    state = state._replace(kind=kind, rows=(), total=dict(state.counts).get(kind, 0), first=0, cursor=-1)
    return Turn(state, (_list(state, context),))


# A list


def _said(state: Exceptions, event: Event, context: Context) -> Result:
    match event:
        case Choice() | Move() | Command("n" | "p"):
            return window.said(state, event, context, _list, _opened)
        case Command("a"):
            return Turn(state, (window.search("all", "differences", {}, 0, MOST),))
        case Command("m"):
            return marking.begun(state)
        case Command("u") if state.approved:
            return _taken_back(state, context)
        case Command("x"):
            return _withdrawn(
                state, context, window.at_cursor(state) or (state.rows[0] if len(state.rows) == 1 else None)
            )
        case Command("e" | "r" as letter):
            return _many(state, "approve" if letter == "e" else "recount")
    return window.unheard(state, event)


def _opened(state: Exceptions, row: Row, context: Context) -> Result:
    """Where it can be settled; or it is marked, where that is what numbers do."""
    if state.marking:
        return Turn(state._replace(marked=marking.toggled(state.marked, row.key)))
    if state.kind == "differences":
        return Turn(state._replace(asking=row.key))
    if row.order:
        return Turn(state, (Start("order", {"order_number": row.order}),))
    return Turn(state, (_count(row),))


def _count(row: Row) -> Start:
    """The count that settles it: at its place, or of the product wherever it lies."""
    args = {"location_code": row.place, "product_number": row.product, "label": row.label}
    return Start("count", args if row.place else {"product_number": row.product, "label": row.label})


def _withdrawn(state: Exceptions, context: Context, row: Row | None) -> Result:
    if row is None:
        return Turn(state, (), Verdict(INFO, msg("exceptions.which")))
    effects = exceptions_review.withdrawal(row, context.store)
    if not effects:
        return Turn(state, (), Verdict(INFO, msg("exceptions.not_yet_there", label=row.label)))
    rest = tuple(each for each in state.rows if each.key != row.key)
    told = Verdict(GOOD, msg("exceptions.withdrawn", label=row.label))
    return Turn(state._replace(rows=rest, total=state.total - 1, cursor=-1), tuple(effects), told)


def _many(state: Exceptions, what: str) -> Result:
    if state.marked:
        return Turn(state._replace(asking=what))
    row = window.at_cursor(state)
    if row:
        return Turn(state._replace(asking=row.key))
    return Turn(state, (), Verdict(ASK, msg("exceptions.mark_first")))


# What is decided about differences


def _decided(state: Exceptions, event: Choice, context: Context) -> Result:
    """One difference: approved, counted again by somebody, counted here, looked up. Many: yes or no."""
    if state.asking in ("approve", "recount"):
        if event.number != 1:
            return Turn(state._replace(asking=""), (), Verdict(INFO, msg("session.dropped")))
        return Turn(state, (Query("marked", "differences", {"keys": list(state.marked)}, live=True),))
    if not state.chosen:
        return Turn(state._replace(asking=""))
    row = state.chosen[0]
    match event.number:
        case 1:
            return _do(state._replace(asking="approve"), (row,), context)
        case 2:
            return _do(state._replace(asking="recount"), (row,), context)
        case 3:
            return Turn(state._replace(asking=""), (_count(row),))
        case 4:
            return Turn(state, (Start("lookup", {"product_number": row.product, "label": row.label}),))
    return Turn(state)


def _do(state: Exceptions, rows: tuple[Row, ...], context: Context) -> Result:
    """Approves differences, or has them counted again; what the service keeps of it, it is told as well."""
    approving = state.asking == "approve"
    effects: list[Effect] = []
    for row in rows:
        effects.append(exceptions_review.remark(state, row, "approved" if approving else "recount"))
    say = exceptions_review.writes if approving else exceptions_review.recounts
    effects += say(state, rows, context.store)
    done = {row.key for row in rows}
    rest = tuple(row for row in state.rows if row.key not in done)
    verdict = Verdict(GOOD if rows else INFO, exceptions_review.told(state, rows))
    total = max(len(rest), state.total - len(rows))
    state = state._replace(asking="", marked=(), marking=False, rows=rest, total=total, cursor=-1)
    return Turn(state._replace(approved=rows if approving else ()), tuple(effects), verdict)


def _taken_back(state: Exceptions, context: Context) -> Result:
    """What was approved last is on the list again."""
    told = Verdict(GOOD, msg("exceptions.unapproved", count=len(state.approved)))
    effects = exceptions_review.taken_back(state, context.store)
    return Turn(state._replace(approved=()), (*effects, _list(state, context)), told)


def _thing(state: Exceptions, kind: str, key: str, label: str) -> Result:
    """What is scanned opens: an order its page, a product or a place its look-up."""
    if kind in (ORDER, REFERENCE):
        return Turn(state, (Start("order", {"order_number": key}),))
    if look := window.looked_up(kind, key, label):
        return Turn(state, (look,))
    return Turn(state, (), Verdict(INFO, msg("orders.person", name=label or key)))


def _back(state: Exceptions, context: Context) -> Result:
    if state.asking:
        return Turn(state._replace(asking=""), (), Verdict(INFO, msg("session.dropped")))
    if state.marked or state.marking:
        return marking.ended(state)
    if state.kind and not state.straight:
        at = KINDS.index(state.kind)
        size = room(context)
        state = state._replace(kind="", rows=(), total=0, first=at // size * size, size=size, cursor=at)
        return Turn(state, _look(state, context))
    return Turn(state, (Close(),))
