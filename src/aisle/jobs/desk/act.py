"""Something is done to one order or to many: what, why, for whom, sure? Then each says what came of it.

It opens over the board or an order's page. One order leads straight back, many to a list of results that stays live.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import window
from aisle.jobs.amounts import far
from aisle.jobs.base import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Opened,
    Query,
    Remark,
    Resumed,
    Rows,
    Turn,
    Wish,
    Write,
)
from aisle.jobs.desk import act_view
from aisle.jobs.desk.act_state import PAGE, RESULTS, SURE, WAIT, WHAT, WHO, WHY, Acting, Outcome, Person
from aisle.jobs.desk.deeds import (
    FOR_SOMEBODY,
    LINE_REJECTION,
    LOSING,
    OF_LINES,
    OF_ORDERS,
    REASONED,
    SPLIT,
    Deed,
    decide,
)
from aisle.jobs.pick.short_ways import reasons
from aisle.jobs.told import words
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, View, msg
from aisle.jobs.window import room
from aisle.scan.meaning import PERSON, Back, Choice, Command, Echo, Meaning, Move, Open, Text, Thing, Unknown

PEOPLE = 60
"""People that are offered, page by page; anybody else is typed."""

WISHES = 20

Result = Turn[Acting]


class ActJob:
    """From the orders to what came of it."""

    name = "act"
    steps: tuple[str, ...] = ("act.what", "act.why", "act.who", "act.sure", "act.wait", "act.results")
    version = 1
    journalled = False

    def begin(self) -> Acting:
        """No orders yet."""
        return Acting()

    def open(self, state: Acting) -> Open:
        """Numbers choose; reasons and names may be typed."""
        if state.page == RESULTS:
            return Open(letters=("u" if state.undo else "") + window.letters(state))
        choices, leaf = len(act_view.choices(state)), window.LETTERS if act_view.has_more(state) else ""
        return Open(choices=choices, letters=leaf, search=state.page in (WHY, WHO), by_hand=state.page == SURE)

    def prefers(self, state: Acting) -> tuple[str, ...]:
        """A badge says for whom."""
        return (PERSON,)

    def at(self, state: Acting) -> str:
        """One of `steps`."""
        return f"act.{state.page}"

    def view(self, state: Acting) -> View:
        """The page."""
        return act_view.view(state)

    def step(self, state: Acting, event: Event, context: Context) -> Result:
        """A number leads on, back leads out."""
        state = state._replace(page_rows=max(PAGE, context.rows), size=room(context))
        match event:
            case Opened(args):
                return _opened(state, args)
            case Rows():
                return _answered(state, event, context)
            case Changed() | Resumed():
                return Turn(_refilled(state), _look(state))
            case Back():
                return _back(state)
            case Choice(choice) if choice <= len(act_view.choices(state)):
                return _chosen(state, choice)
            case Thing(meanings) if state.page == WHO:
                return _badge(state, meanings[0])
            case Thing() if state.page not in (WAIT, RESULTS):
                return Turn(state, (Close(Verdict(INFO, msg("session.dropped")), said=event),))
            case Text(text) if state.page == WHY:
                return _sure(state, Deed(state.kind, words=text.strip(), line=state.line))
            case Text(text) | Unknown(text) if state.page == WHO:
                return Turn(state._replace(sought=text), (_people(text),))
            case Command("u") if state.page == RESULTS and state.undo:
                return _go(state._replace(undoing=True), state.undo)
            case Command("n" | "p" as key) | Move(key) if state.page == RESULTS:
                return Turn(window.turned(state, key, state.size))
            case Command("n" | "p" as key) | Move("pagedown" | "pageup" as key) if act_view.has_more(state):
                return Turn(state._replace(top=_leafed(state, key in ("n", "pagedown"))))
            case Echo() | Closed():
                return Turn(state)
        return Turn(state, (), Verdict(WRONG, _not_taken(state, event)))


def _leafed(state: Acting, on: bool) -> int:
    """Where the next page of people or reasons begins, or the one before; from the last on to the first."""
    size, total = state.page_rows, len(act_view.listed(state))
    if on:
        return state.top + size if state.top + size < total else 0
    return max(0, state.top - size) if state.top else (total - 1) // size * size


def _refilled(state: Acting) -> Acting:
    """People or reasons begin so far up that their page is full."""
    return state._replace(top=max(0, min(state.top, len(act_view.listed(state)) - state.page_rows)))


def _not_taken(state: Acting, event: Event) -> Msg:
    """What a page says of what it has no use for; a code that nobody knows is no reason."""
    match state.page, event:
        case ("why", Unknown(text)):
            return msg("act.no_reason", text=text)
        case ("sure", _):
            return msg("act.only_yes_or_no")
    return msg("act.not_here" if state.page in (WHAT, WHY, WHO) else "act.nothing_taken")


def _opened(state: Acting, args: Mapping[str, Any]) -> Result:
    """With a `kind` what is done is known already; with `undo` all is."""
    if args.get("undo"):
        plan = tuple((str(each["order"]), _deed(each)) for each in args["undo"])
        return _go(state._replace(orders=tuple(order for order, _ in plan), undoing=True), plan)
    orders = tuple(str(order) for order in args["orders"])
    line, label = int(args.get("line") or 0), str(args.get("label") or "")
    begun = state._replace(orders=orders, line=line, label=label)
    ask = (
        Query("reasons", "short_reasons", {}, live=True),
        Query("look", "orders_by_number", _args(orders), live=True),
    )
    turn = _kind(begun, str(args["kind"])) if args.get("kind") else Turn(begun)
    return turn._replace(effects=(*ask, *turn.effects))


def _args(orders: tuple[str, ...]) -> dict[str, Any]:
    return {"orders": list(orders)}


def _deed(said: Mapping[str, Any]) -> Deed:
    return Deed(**{name: said[name] for name in Deed._fields if name in said})


def _kind(state: Acting, kind: str) -> Result:
    """What has to be asked before it is done."""
    state = state._replace(kind=kind)
    if kind in REASONED:
        return Turn(state._replace(page=WHY, top=0))
    if kind in FOR_SOMEBODY:
        turn = _walked(state._replace(page=WHO, top=0))
        return turn if turn.effects else turn._replace(effects=(_people(""),))
    return _sure(state, Deed(kind, line=state.line))


def _walked(state: Acting) -> Result:
    """What nobody walks is split from nobody: that is said before it is asked for whom."""
    if state.page == WHO and state.kind == SPLIT and not state.walked:
        return Turn(state, (Close(Verdict(WRONG, msg("deed.in_no_walk", order=state.orders[0]))),))
    return Turn(state)


def _people(text: str) -> Query:
    return Query("people", "people", {"search": text, "size": PEOPLE}, live=True)


def _sure(state: Acting, deed: Deed) -> Result:
    """What loses something, or concerns many, is asked once more."""
    plan = tuple((order, deed) for order in state.orders)
    if len(plan) > 1 or deed.kind in LOSING:
        return Turn(state._replace(page=SURE, plan=plan))
    return _go(state, plan)


def _go(state: Acting, plan: tuple[tuple[str, Deed], ...]) -> Result:
    """How the orders stand at this moment; the answer decides."""
    state = state._replace(plan=plan, page=WAIT)
    if any(deed.kind in OF_LINES for _, deed in plan):
        features = Query("features", "features", {}, live=True)  # what is asked last is answered first
        return Turn(state, (Query("now", "order", {"order_number": plan[0][0]}), features))
    return Turn(state, (Query("now", "orders_by_number", _args(tuple(order for order, _ in plan))),))


def _look(state: Acting) -> tuple[Effect, ...]:
    if state.page == RESULTS:
        orders = tuple(row.order for row in state.outcomes if row.word)
        return (Query("outcomes", "outcomes", {**_args(orders), "since": state.done_at}, live=True),)
    return (Query("look", "orders_by_number", _args(state.orders), live=True),)


def _answered(state: Acting, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("reasons", rows, _):
            known = reasons(context.policy.short_reasons, rows)
            return Turn(state._replace(reasons=known, top=state.top if state.top < len(known) else 0))
        case Rows("look", rows, _):
            picked = sum((far(row)[0] for row in rows), Decimal(0))
            total = sum((far(row)[1] for row in rows), Decimal(0))
            walked = any(row.get("walker") or row.get("given_to") for row in rows)
            return _walked(state._replace(picked=picked, of=total, walked=walked or not rows))
        case Rows("people", rows, known):
            people = tuple(Person(str(row["user"]), str(row["name"] or row["user"])) for row in rows)
            return _found(state._replace(known=known), people)
        case Rows("features", rows, _):
            return Turn(state._replace(rejects=bool(rows) and LINE_REJECTION in rows[0]["features"]))
        case Rows("now", rows, _) if state.page == WAIT:
            return _done(state, {str(row["order_number"]): row for row in rows}, context)
        case Rows("outcomes", rows, _):
            words = {str(row["order_number"]): row for row in rows}
            return Turn(state._replace(outcomes=tuple(_renewed(row, words.get(row.order)) for row in state.outcomes)))
    return Turn(state)


def _renewed(row: Outcome, said: Mapping[str, Any] | None) -> Outcome:
    if not row.word or said is None:
        return row
    why = words(str(said["why"])) if said["why"] else None
    return row._replace(word=str(said["word"]), why=why)


def _found(state: Acting, people: tuple[Person, ...]) -> Result:
    """The people of that name; a whole name, or the only one, is meant."""
    sought = state.sought.strip()
    exact = [one for one in people if _is_called(one, sought)]
    if len(exact) == 1:
        return _claimed(state, exact[0])
    if people:
        return Turn(state._replace(people=people[:PEOPLE], top=0))
    if not sought:
        return Turn(state, (), Verdict(INFO, msg("act.nobody_known")))
    myself = Person(sought, sought)
    return Turn(
        state._replace(people=(myself,), known=1, top=0), (), Verdict(ASK, msg("act.unknown_name", name=sought))
    )


def _is_called(person: Person, sought: str) -> bool:
    """Whether that is a person's id or name, or the first word of the name."""
    names = {person.user.casefold(), person.name.casefold(), *person.name.casefold().split()[:1]}
    return sought.casefold() in names


def _badge(state: Acting, meaning: Meaning) -> Result:
    if meaning.kind != PERSON:
        return Turn(state, (), Verdict(WRONG, msg("act.no_badge", what=meaning.label or meaning.key)))
    return _claimed(state, Person(meaning.key, meaning.label or meaning.key))


def _claimed(state: Acting, person: Person) -> Result:
    return _sure(state, Deed(state.kind, person.user, person.name))


def _chosen(state: Acting, choice: int) -> Result:
    match state.page:
        case "what":
            return _kind(state, OF_ORDERS[choice - 1])
        case "why":
            reason = state.reasons[state.top + choice - 1]
            return _sure(state, Deed(state.kind, code=reason.code, words=reason.words, line=state.line))
        case "who":
            return _claimed(state, state.people[state.top + choice - 1])
        case "sure" if choice == 1:
            return _go(state, state.plan)
    return Turn(state, (Close(Verdict(INFO, msg("session.dropped"))),))


def _back(state: Acting) -> Result:
    """Out: from the results with what undoes them, from a question with nothing done."""
    if state.page == RESULTS:
        return Turn(state, (Close(answer=_answer(state)),))
    return Turn(state, (Close(Verdict(INFO, msg("session.dropped"))),))


def _answer(state: Acting) -> dict[str, Any]:
    """What the page below has to know to undo it, and to tell whether it comes to nothing."""
    of = {row.order for row in state.outcomes if not row.why}
    given = [[order, deed.user] for order, deed in state.plan if deed.kind in FOR_SOMEBODY and deed.user]
    undo = [{"order": order, **deed._asdict()} for order, deed in state.undo]
    return {"undo": undo, "given": [each for each in given if each[0] in of]}


def _done(state: Acting, found: Mapping[str, Mapping[str, Any]], context: Context) -> Result:
    """Does it to each order that it can be done to, and says of the others why not."""
    effects: list[Write | Remark] = []
    rows, undo = [], []
    for order, deed in state.plan:
        done = decide(order, found.get(order), deed, context.store, rejects=state.rejects, by=context.user)
        effects += done.writes
        undo += [(order, done.undo)] if done.undo and not state.undoing else []
        rows.append(Outcome(order, "" if done.why else "noted", done.why))
    wishes = [Wish("order", row.order) for row in rows[:WISHES]]
    state = state._replace(outcomes=tuple(rows), undo=tuple(undo), page=RESULTS, first=0, cursor=-1)
    state = state._replace(size=room(context), done_at=context.now)
    verdict = _verdict(state)
    if len(rows) == 1:
        return Turn(state, (*effects, *wishes, Close(verdict, answer=_answer(state))))
    return Turn(state, (*effects, *wishes), verdict)


def _verdict(state: Acting) -> Verdict:
    if len(state.outcomes) == 1:
        (row,), deed = state.outcomes, state.plan[0][1]
        if row.why:
            return Verdict(WRONG, row.why)
        return Verdict(GOOD, act_view.told(row.order, deed, state.label))
    done = sum(not row.why for row in state.outcomes)
    text = msg(act_view.done(state), done=done, total=len(state.outcomes))
    return Verdict(GOOD if done == len(state.outcomes) else WRONG if not done else INFO, text)
