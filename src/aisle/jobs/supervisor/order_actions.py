"""Job that applies an action to one or more orders: action, reason or person, confirmation, results."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import pages
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    LocalNote,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Turn,
    Write,
)
from aisle.jobs.order_operations import (
    CLAIM,
    CONFIRMED_ACTIONS,
    LINE_ACTIONS,
    LINE_REJECTION_FEATURE,
    ORDER_ACTIONS,
    PERSON_ACTIONS,
    REASON_ACTIONS,
    REOPEN,
    SPLIT,
    OrderAction,
    decide,
)
from aisle.jobs.pages import page_size
from aisle.jobs.pick.shortage_choices import Reason, parse_reasons
from aisle.jobs.quantities import order_progress
from aisle.jobs.stored_message import read_message
from aisle.jobs.view import (
    ASK,
    BACK,
    GOOD,
    INFO,
    PAGE_HINTS,
    STATE_WORDS,
    WRONG,
    KeyHint,
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
from aisle.scan.meaning import (
    PERSON,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderOutcomesRow, OrderToActOnRow

ACTION_PAGE, REASON_PAGE, PERSON_PAGE, CONFIRM_PAGE, WAIT_PAGE, RESULTS_PAGE = (
    "action",
    "reason",
    "person",
    "confirm",
    "wait",
    "results",
)
"""Pages of the job."""

MIN_CHOICES = 6
"""Number of people or reasons that fit on any screen."""


class Person(NamedTuple):
    """Person who may get the order."""

    user: str
    name: str


class Outcome(NamedTuple):
    """Result of the action for one order."""

    order: str
    state: str
    """State of the operation; empty if nothing was written."""
    why: Msg | None = None


class OrderActionState(NamedTuple):
    """State of an action on orders."""

    orders: tuple[str, ...] = ()
    page: str = ACTION_PAGE
    kind: str = ""
    line: int = 0
    label: str = ""
    """Name of the line's product."""
    picked: Decimal = Decimal(0)
    ordered: Decimal = Decimal(0)
    """Picked and ordered quantity of all orders."""
    reasons: tuple[Reason, ...] = ()
    people: tuple[Person, ...] = ()
    typed_name: str = ""
    """Name that was typed."""
    match_count: int = 0
    """Number of people who match. `people` has at most as many as can be paged through."""
    first_choice: int = 0
    """Index of the first person or reason on the page."""
    choices_per_page: int = MIN_CHOICES
    """Number of them that fit on the screen."""
    plan: tuple[tuple[str, OrderAction], ...] = ()
    """Action for each order, to be run once it is confirmed."""
    is_undo: bool = False
    done_at: str = ""
    """Time of the action, ISO 8601 UTC. Outcomes of earlier operations do not count."""
    outcomes: tuple[Outcome, ...] = ()
    undo: tuple[tuple[str, OrderAction], ...] = ()
    """Actions that undo it."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    size: int = 12
    """Number of results that fit on the screen."""
    can_reject_lines: bool = False
    """True if the service accepts rejections of lines."""
    is_in_batch: bool = True
    """True if at least one of the orders is in a batch, or if that is not known yet."""

    @property
    def rows(self) -> tuple[Outcome, ...]:
        """Results on the screen."""
        return self.outcomes[self.first : self.first + self.size]

    @property
    def total(self) -> int:
        """Number of results."""
        return len(self.outcomes)


ACTION_NAMES = {
    "claim": "order_actions.claim",
    "release": "order_actions.release",
    "reject": "order_actions.reject",
    "reopen": "order_actions.reopen",
    "hand_over": "order_actions.hand_over",
    "priority": "order_actions.priority",
    "no_priority": "order_actions.no_priority",
    "split": "order_actions.split",
    "close_line": "order_actions.close_line",
    "reopen_line": "order_actions.reopen_line",
}
"""Names of the actions."""

_DONE_TEXTS = {
    "claim": "order_actions.done_claim",
    "release": "order_actions.done_release",
    "reject": "order_actions.done_reject",
    "reopen": "order_actions.done_reopen",
    "hand_over": "order_actions.done_hand_over",
    "priority": "order_actions.done_priority",
    "no_priority": "order_actions.done_no_priority",
    "split": "order_actions.done_split",
    "close_line": "order_actions.done_close_line",
    "reopen_line": "order_actions.done_reopen_line",
}

_PROMPTS = {
    "action": "order_actions.prompt_action",
    "reason": "order_actions.prompt_reason",
    "person": "order_actions.prompt_person",
    "confirm": "order_actions.prompt_confirm",
    "wait": "order_actions.prompt_wait",
}


def done_message(order: str, action: OrderAction, label: str) -> Msg:
    """Return the message on the action that was applied to one order."""
    if action.kind == CLAIM and not action.user:
        return msg("order_actions.done_claim_nobody", order=order)
    return msg(_DONE_TEXTS[action.kind], order=order, name=action.name or action.user, label=label)


def summary_id(state: OrderActionState) -> str:
    """Return the id of the summary. A reopened order has its own, because it does not return to its previous state."""
    if any(action.kind == REOPEN for _, action in state.plan):
        return "order_actions.reopened_count"
    return "order_actions.undone_count" if state.is_undo else "order_actions.done_count"


def page_choices(state: OrderActionState) -> tuple[Msg, ...]:
    """Return the choices of the page."""
    match state.page:
        case "action":
            return tuple(msg(ACTION_NAMES[kind]) for kind in ORDER_ACTIONS)
        case "reason":
            return tuple(
                raw(reason.text)
                for reason in state.reasons[state.first_choice : state.first_choice + state.choices_per_page]
            )
        case "person":
            return tuple(
                raw(person.name)
                for person in state.people[state.first_choice : state.first_choice + state.choices_per_page]
            )
        case "confirm":
            return (msg("order_actions.yes"), msg("order_actions.no"))
    return ()


def has_more_choices(state: OrderActionState) -> bool:
    """Return True if there are more people or reasons than fit on a page."""
    return len(all_choices(state)) > len(page_choices(state))


def all_choices(state: OrderActionState) -> tuple[object, ...]:
    """Return all people or reasons of the page; empty on other pages."""
    return state.people if state.page == "person" else state.reasons if state.page == "reason" else ()


def page_view(state: OrderActionState) -> View:
    """Return the screen of this state."""
    if state.page == "results":
        return _results_view(state)
    return Step(
        name=f"order_actions.{state.page}",
        title=_title(state),
        prompt=msg(_PROMPTS[state.page]),
        lines=_lines(state),
        choices=page_choices(state),
        key_hints=(*PAGE_HINTS, BACK) if has_more_choices(state) else (BACK,),
        first=state.first_choice,
        choice_total=max(len(all_choices(state)), state.match_count if state.page == "person" else 0),
    )


def _title(state: OrderActionState) -> Msg:
    return msg(ACTION_NAMES[state.kind]) if state.kind else msg("order_actions.title")


def _lines(state: OrderActionState) -> tuple[Line, ...]:
    """Return the lines on the orders and their progress."""
    about = [Line("product", _confirm_message(state) if state.page == "confirm" else _orders_message(state))]
    if state.line:
        about.append(Line("note", msg("order_actions.for_line", label=state.label)))
    elif state.ordered:
        about.append(Line("note", msg("order_actions.progress", done=state.picked, total=state.ordered)))
    if state.page == "confirm":
        why = (
            next((action.reason or action.reason_code for _, action in state.plan), "")
            if state.kind in REASON_ACTIONS
            else ""
        )
        about += [Line("note", msg("order_actions.reason_given", why=why))] if why else []
        about.insert(1, Line("note", _warning(state)))
    return tuple(about)


def _confirm_message(state: OrderActionState) -> Msg:
    """Return the action, its orders and the person it is for."""
    what = msg(ACTION_NAMES[state.kind])
    name = next((action.name or action.user for _, action in state.plan), "") if state.kind in PERSON_ACTIONS else ""
    if name:
        what = msg("order_actions.split_to" if state.kind == SPLIT else "order_actions.for_person", name=name)
    return msg("order_actions.confirm_action", what=what, which=_orders_message(state))


def _orders_message(state: OrderActionState) -> Msg:
    if len(state.orders) == 1:
        return msg("order_actions.one_order", order=state.orders[0])
    return msg("order_actions.orders", count=len(state.orders), first=state.orders[0] if state.orders else "")


def _warning(state: OrderActionState) -> Msg:
    """Return the warning shown before the confirmation."""
    if state.kind == "hand_over":
        missing = state.ordered - state.picked
        return (
            msg("order_actions.warn_hand_over_short", left=missing)
            if missing > 0
            else msg("order_actions.warn_hand_over")
        )
    if state.kind == "reopen":
        return msg("order_actions.warn_reopen")
    if state.kind == "split":
        return msg("order_actions.warn_split", count=len(state.orders))
    return (
        msg("order_actions.warn_reject")
        if state.kind == "reject"
        else msg("order_actions.warn", count=len(state.orders))
    )


def _results_view(state: OrderActionState) -> ListView:
    return ListView(
        name="order_actions.results",
        title=msg("order_actions.results_undone" if state.is_undo else "order_actions.results"),
        prompt=msg("order_actions.prompt_results"),
        column_heads=(msg("head.order"), msg("order_actions.head_result"), msg("order_actions.head_reason")),
        rows=tuple(_result_row(row) for row in state.rows),
        first=state.first,
        total=state.total,
        cursor=state.cursor,
        key_hints=(*pages.page_hints(state), *((KeyHint("u", msg("hint.undo")),) if state.undo else ()), BACK),
    )


def _result_row(row: Outcome) -> Row:
    state_text = (
        msg(STATE_WORDS.get(row.state, "operation_state.in_doubt")) if row.state else msg("order_actions.not_done")
    )
    return Row(row.order, (raw(row.order), state_text, row.why or raw("")))


MAX_PEOPLE = 60
"""Most people offered, page by page. Anybody else is typed."""

MAX_REFRESHES = 20

Result = Turn[OrderActionState]


class OrderActionJob(Job[OrderActionState]):
    """Job that applies an action to orders and shows the results."""

    name = "order_actions"
    steps: tuple[str, ...] = (
        "order_actions.action",
        "order_actions.reason",
        "order_actions.person",
        "order_actions.confirm",
        "order_actions.wait",
        "order_actions.results",
    )
    version = 1
    journalled = False

    def begin(self) -> OrderActionState:
        """Return the state without orders."""
        return OrderActionState()

    def accepts(self, state: OrderActionState) -> Accepts:
        """Accept numbers; on their pages also typed reasons and names."""
        if state.page == RESULTS_PAGE:
            return Accepts(command_letters=("u" if state.undo else "") + pages.page_letters(state))
        choices, leaf = len(page_choices(state)), pages.PAGE_LETTERS if has_more_choices(state) else ""
        return Accepts(
            choices=choices,
            command_letters=leaf,
            search=state.page in (REASON_PAGE, PERSON_PAGE),
            typed_only=state.page == CONFIRM_PAGE,
        )

    def prefers(self, state: OrderActionState) -> tuple[str, ...]:
        """Prefer a badge, which names the person."""
        return (PERSON,)

    def step_name(self, state: OrderActionState) -> str:
        """Return one of `steps`."""
        return f"order_actions.{state.page}"

    def view(self, state: OrderActionState) -> View:
        """Return the screen."""
        return page_view(state)

    def handle(self, state: OrderActionState, event: Event, context: Context) -> Result:
        """Return the next state. A number leads to the next page, back leaves."""
        state = state._replace(choices_per_page=max(MIN_CHOICES, context.window_rows), size=page_size(context))
        match event:
            case Opened(args):
                return _handle_opened(state, args)
            case Rows():
                return _handle_rows(state, event, context)
            case Changed() | Resumed():
                return Turn(_fill_last_page(state), _queries(state))
            case Back():
                return _go_back(state)
            case Choice(choice) if choice <= len(page_choices(state)):
                return _handle_choice(state, choice)
            case Scan(meanings) if state.page == PERSON_PAGE:
                return _scan_badge(state, meanings[0])
            case Scan() if state.page not in (WAIT_PAGE, RESULTS_PAGE):
                return Turn(state, (Close(Verdict(INFO, msg("session.dropped")), event_for_below=event),))
            case Text(text) if state.page == REASON_PAGE:
                return _confirm(state, OrderAction(state.kind, reason=text.strip(), line=state.line))
            case Text(text) | UnknownCode(text) if state.page == PERSON_PAGE:
                return Turn(state._replace(typed_name=text), (_query_people(text),))
            case Command("u") if state.page == RESULTS_PAGE and state.undo:
                return _query_before_action(state._replace(is_undo=True), state.undo)
            case Command("n" | "p" as key) | CursorKey(key) if state.page == RESULTS_PAGE:
                return Turn(pages.move_or_turn(state, key, state.size))
            case Command("n" | "p" as key) | CursorKey("pagedown" | "pageup" as key) if has_more_choices(state):
                return Turn(state._replace(first_choice=_turn_choices(state, key in ("n", "pagedown"))))
            case TypedText() | Closed():
                return Turn(state)
        return Turn(state, (), Verdict(WRONG, _rejection_text(state, event)))


def _turn_choices(state: OrderActionState, forward: bool) -> int:
    """Return the first index of the next or previous page of people or reasons. Paging wraps around."""
    size, total = state.choices_per_page, len(all_choices(state))
    if forward:
        return state.first_choice + size if state.first_choice + size < total else 0
    return max(0, state.first_choice - size) if state.first_choice else (total - 1) // size * size


def _fill_last_page(state: OrderActionState) -> OrderActionState:
    """Move the first person or reason up until the last page is full."""
    return state._replace(
        first_choice=max(0, min(state.first_choice, len(all_choices(state)) - state.choices_per_page))
    )


def _rejection_text(state: OrderActionState, event: Event) -> Msg:
    """Return the answer to an input that the page cannot use. An unknown code is no reason."""
    match state.page, event:
        case ("reason", UnknownCode(text)):
            return msg("order_actions.no_reason", text=text)
        case ("confirm", _):
            return msg("order_actions.only_yes_or_no")
    return msg(
        "order_actions.not_usable_here"
        if state.page in (ACTION_PAGE, REASON_PAGE, PERSON_PAGE)
        else "order_actions.no_input_here"
    )


def _handle_opened(state: OrderActionState, args: Args) -> Result:
    """Start the job. With `kind` the action is known, with `undo` everything is."""
    if args.get("undo"):
        plan = tuple((str(each["order"]), _parse_action(each)) for each in args["undo"])
        return _query_before_action(state._replace(orders=tuple(order for order, _ in plan), is_undo=True), plan)
    orders = tuple(str(order) for order in args["orders"])
    line, label = int(args.get("line") or 0), str(args.get("label") or "")
    opened = state._replace(orders=orders, line=line, label=label)
    ask = (
        Query("reasons", "short_reasons", {}, is_live=True),
        Query("look", "orders_by_number", _order_args(orders), is_live=True),
    )
    turn = _choose_kind(opened, str(args["kind"])) if args.get("kind") else Turn(opened)
    return turn._replace(effects=(*ask, *turn.effects))


def _order_args(orders: tuple[str, ...]) -> Args:
    return {"orders": list(orders)}


def _parse_action(fields: Args) -> OrderAction:
    return OrderAction(**{name: fields[name] for name in OrderAction._fields if name in fields})


def _choose_kind(state: OrderActionState, kind: str) -> Result:
    """Open the page that the action needs before it can run."""
    state = state._replace(kind=kind)
    if kind in REASON_ACTIONS:
        return Turn(state._replace(page=REASON_PAGE, first_choice=0))
    if kind in PERSON_ACTIONS:
        turn = _check_in_batch(state._replace(page=PERSON_PAGE, first_choice=0))
        return turn if turn.effects else turn._replace(effects=(_query_people(""),))
    return _confirm(state, OrderAction(kind, line=state.line))


def _check_in_batch(state: OrderActionState) -> Result:
    """Close the job if a split is asked for orders that are in no batch, before a person is chosen."""
    if state.page == PERSON_PAGE and state.kind == SPLIT and not state.is_in_batch:
        return Turn(state, (Close(Verdict(WRONG, msg("order_actions.not_in_batch", order=state.orders[0]))),))
    return Turn(state)


def _query_people(text: str) -> Query:
    return Query("people", "people", {"search": text, "size": MAX_PEOPLE}, is_live=True)


def _confirm(state: OrderActionState, action: OrderAction) -> Result:
    """Ask for confirmation if the action discards something or applies to several orders."""
    plan = tuple((order, action) for order in state.orders)
    if len(plan) > 1 or action.kind in CONFIRMED_ACTIONS:
        return Turn(state._replace(page=CONFIRM_PAGE, plan=plan))
    return _query_before_action(state, plan)


def _query_before_action(state: OrderActionState, plan: tuple[tuple[str, OrderAction], ...]) -> Result:
    """Query the current state of the orders. The answer decides what is possible."""
    state = state._replace(plan=plan, page=WAIT_PAGE)
    if any(action.kind in LINE_ACTIONS for _, action in plan):
        features = Query("features", "features", {}, is_live=True)  # answers come in reverse order
        return Turn(state, (Query("now", "order", {"order_number": plan[0][0]}), features))
    return Turn(state, (Query("now", "orders_by_number", _order_args(tuple(order for order, _ in plan))),))


def _queries(state: OrderActionState) -> tuple[Effect, ...]:
    if state.page == RESULTS_PAGE:
        orders = tuple(row.order for row in state.outcomes if row.state)
        return (
            Query("order_outcomes", "order_outcomes", {**_order_args(orders), "since": state.done_at}, is_live=True),
        )
    return (Query("look", "orders_by_number", _order_args(state.orders), is_live=True),)


def _handle_rows(state: OrderActionState, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("reasons", rows, _):
            known = parse_reasons(context.policy.short_reasons, rows)
            return Turn(
                state._replace(reasons=known, first_choice=state.first_choice if state.first_choice < len(known) else 0)
            )
        case Rows("look", rows, _):
            picked = sum((order_progress(row)[0] for row in rows), Decimal(0))
            total = sum((order_progress(row)[1] for row in rows), Decimal(0))
            in_batch = any(row.get("picker") or row.get("assigned_to") for row in rows)
            return _check_in_batch(state._replace(picked=picked, ordered=total, is_in_batch=in_batch or not rows))
        case Rows("people", rows, known):
            people = tuple(Person(str(row["user"]), str(row["name"] or row["user"])) for row in rows)
            return _choose_person(state._replace(match_count=known), people)
        case Rows("features", rows, _):
            return Turn(state._replace(can_reject_lines=bool(rows) and LINE_REJECTION_FEATURE in rows[0]["features"]))
        case Rows("now", rows, _) if state.page == WAIT_PAGE:
            return _run_actions(state, {str(row["order_number"]): row for row in rows}, context)
        case Rows("order_outcomes", rows, _):
            current = {str(row["order_number"]): row for row in rows}
            return Turn(
                state._replace(outcomes=tuple(_update_outcome(row, current.get(row.order)) for row in state.outcomes))
            )
    return Turn(state)


def _update_outcome(row: Outcome, row_now: OrderOutcomesRow | None) -> Outcome:
    if not row.state or row_now is None:
        return row
    why = read_message(str(row_now["why"])) if row_now["why"] else None
    return row._replace(state=str(row_now["outcome"]), why=why)


def _choose_person(state: OrderActionState, people: tuple[Person, ...]) -> Result:
    """Choose the person with exactly this name, or offer those who match."""
    sought = state.typed_name.strip()
    exact = [one for one in people if _is_named(one, sought)]
    if len(exact) == 1:
        return _set_person(state, exact[0])
    if people:
        return Turn(state._replace(people=people[:MAX_PEOPLE], first_choice=0))
    if not sought:
        return Turn(state, (), Verdict(INFO, msg("order_actions.nobody_known")))
    typed = Person(sought, sought)
    return Turn(
        state._replace(people=(typed,), match_count=1, first_choice=0),
        (),
        Verdict(ASK, msg("order_actions.unknown_name", name=sought)),
    )


def _is_named(person: Person, typed_name: str) -> bool:
    """Return True if the text is the person's id, name or first name."""
    names = {person.user.casefold(), person.name.casefold(), *person.name.casefold().split()[:1]}
    return typed_name.casefold() in names


def _scan_badge(state: OrderActionState, match: Match) -> Result:
    if match.kind != PERSON:
        return Turn(state, (), Verdict(WRONG, msg("order_actions.no_badge", what=match.label or match.key)))
    return _set_person(state, Person(match.key, match.label or match.key))


def _set_person(state: OrderActionState, person: Person) -> Result:
    return _confirm(state, OrderAction(state.kind, person.user, person.name))


def _handle_choice(state: OrderActionState, choice: int) -> Result:
    match state.page:
        case "action":
            return _choose_kind(state, ORDER_ACTIONS[choice - 1])
        case "reason":
            reason = state.reasons[state.first_choice + choice - 1]
            return _confirm(
                state, OrderAction(state.kind, reason_code=reason.code, reason=reason.text, line=state.line)
            )
        case "person":
            return _set_person(state, state.people[state.first_choice + choice - 1])
        case "confirm" if choice == 1:
            return _query_before_action(state, state.plan)
    return Turn(state, (Close(Verdict(INFO, msg("session.dropped"))),))


def _go_back(state: OrderActionState) -> Result:
    """Leave the job: from the results with their undo, from a question without doing anything."""
    if state.page == RESULTS_PAGE:
        return Turn(state, (Close(answer=_answer(state)),))
    return Turn(state, (Close(Verdict(INFO, msg("session.dropped"))),))


def _answer(state: OrderActionState) -> Args:
    """Return what the page below needs to undo the action, and to notice that an assignment was lost."""
    of = {row.order for row in state.outcomes if not row.why}
    given = [[order, action.user] for order, action in state.plan if action.kind in PERSON_ACTIONS and action.user]
    undo = [{"order": order, **action._asdict()} for order, action in state.undo]
    return {"undo": undo, "assigned": [each for each in given if each[0] in of]}


def _run_actions(state: OrderActionState, found: Mapping[str, OrderToActOnRow], context: Context) -> Result:
    """Apply the action to each order for which it is possible, and report why the others fail."""
    effects: list[Write | LocalNote] = []
    rows, undo = [], []
    for order, action in state.plan:
        done = decide(
            order, found.get(order), action, context.store, can_reject_lines=state.can_reject_lines, user=context.user
        )
        effects += done.writes
        undo += [(order, done.undo)] if done.undo and not state.is_undo else []
        rows.append(Outcome(order, "" if done.why else "queued", done.why))
    refreshes = [Refresh("order", row.order) for row in rows[:MAX_REFRESHES]]
    state = state._replace(outcomes=tuple(rows), undo=tuple(undo), page=RESULTS_PAGE, first=0, cursor=-1)
    state = state._replace(size=page_size(context), done_at=context.now)
    verdict = _verdict(state)
    if len(rows) == 1:
        return Turn(state, (*effects, *refreshes, Close(verdict, answer=_answer(state))))
    return Turn(state, (*effects, *refreshes), verdict)


def _verdict(state: OrderActionState) -> Verdict:
    if len(state.outcomes) == 1:
        (row,), action = state.outcomes, state.plan[0][1]
        if row.why:
            return Verdict(WRONG, row.why)
        return Verdict(GOOD, done_message(row.order, action, state.label))
    done = sum(not row.why for row in state.outcomes)
    text = msg(summary_id(state), done=done, total=len(state.outcomes))
    return Verdict(GOOD if done == len(state.outcomes) else WRONG if not done else INFO, text)
