"""Job that applies an action to one or more orders: action, reason or person, confirmation, results."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from aisle.jobs import list_cursor_and_search
from aisle.jobs.job import (
    Args,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    LocalNote,
    Query,
    Refresh,
    Rows,
    Turn,
    Write,
    reply,
)
from aisle.jobs.list_cursor_and_search import PAGE_LETTERS, page_size
from aisle.jobs.pages_and_page_job import Action, FormPage, Page, PageJob, refuse
from aisle.jobs.pick.shortage_choices import Reason, parse_reasons
from aisle.jobs.row_types.orders import OrderOutcomesRow, OrderToActOnRow
from aisle.jobs.shell.sign_in import Person, is_named
from aisle.jobs.sums_of_goods_and_progress import (
    GoodsSum,
    OrderGoods,
    add_order_goods,
    goods_text,
    named_goods,
    order_goods,
)
from aisle.jobs.supervisor.order_action_writes import (
    ACTION_NUMBERS,
    CLAIM,
    CONFIRMED_ACTIONS,
    LINE_ACTIONS,
    LINE_REJECTION_FEATURE,
    ORDER_ACTIONS,
    PERSON_ACTIONS,
    PICK,
    PRIORITY,
    REASON_ACTIONS,
    REJECT,
    REOPEN,
    SPLIT,
    OrderAction,
    decide,
    possible_kinds,
)
from aisle.jobs.typed_numbers_dates_and_letters import name_of
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
    msg,
    raw,
)
from aisle.scan.grammar_and_meaning_types import (
    ORDER,
    PERSON,
    REFERENCE,
    Accepts,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.stored_messages import read_message

MIN_CHOICES = 6
"""Number of people or reasons that fit on any screen."""


class Outcome(NamedTuple):
    """Result of the action for one order."""

    order: str
    state: str
    """State of the operation; empty if nothing was written."""
    why: Msg | None = None


class OrderActionState(NamedTuple):
    """State of an action on orders."""

    orders: tuple[str, ...] = ()
    page: str = "action"
    """Name of the page without that of the job."""
    kind: str = ""
    line: int = 0
    label: str = ""
    """Name of the line's product."""
    goods: OrderGoods = OrderGoods()
    """Goods of all orders."""
    reasons: tuple[Reason, ...] = ()
    """Reasons of the action: of a rejection those of orders first, then those of shortages."""
    is_kind_asked: bool = False
    """True if the action was chosen on a page of this job."""
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
    is_one_key: bool = False
    """True if a letter alone began it, as words do that somebody types without a slash."""
    can_reject_lines: bool = False
    """True if the service accepts rejections of lines."""
    possible: tuple[str, ...] = ORDER_ACTIONS
    """Actions that are possible for at least one of the orders; all while that is not known yet."""

    @property
    def rows(self) -> tuple[Outcome, ...]:
        """Results on the screen."""
        return self.outcomes[self.first : self.first + self.size]

    @property
    def total(self) -> int:
        """Number of results."""
        return len(self.outcomes)


MAX_PEOPLE = 60
"""Most people offered, page by page. Anybody else is typed."""
MAX_REFRESHES = 20

ACTION_TEXTS = {
    "claim": ("order_actions.claim", "order_actions.done_claim"),
    "release": ("order_actions.release", "order_actions.done_release"),
    "reject": ("order_actions.reject", "order_actions.done_reject"),
    "reopen": ("order_actions.reopen", "home.reopened"),
    "hand_over": ("order_actions.hand_over", "pick.handed_over_now"),
    "priority": ("order_actions.priority", "order_actions.done_priority"),
    "no_priority": ("order_actions.no_priority", "pick.no_priority"),
    "split": ("order_actions.split", "order_actions.done_split"),
    "close_line": ("order_actions.close_line", "order.event_short"),
    "reopen_line": ("order_actions.reopen_line", "pick.reopened"),
}
"""Name of each action, and what is said when it is done."""

ACTION_NAMES = {PICK: "order.pick", **{kind: name for kind, (name, _) in ACTION_TEXTS.items()}}

ACTION_LETTERS = {"c": "claim", "l": "release", "j": "reject", "i": "priority", "o": "hand_over"}
"""Actions on orders that have a letter of their own at a desk, the same on each page."""

KIND_BY_NUMBER = {number: kind for kind, number in ACTION_NUMBERS.items()}

S = TypeVar("S")
Result = Turn[OrderActionState]
Actions = tuple[Action[OrderActionState], ...]

# Questions


class OrderQuestion(FormPage[OrderActionState]):
    """Question before the action. It says which orders it is about."""

    refusal_text = msg("order_actions.not_usable_here")
    """Answer to an input that the page cannot use."""

    def title(self, state: OrderActionState) -> Msg:
        return msg(ACTION_NAMES[state.kind]) if state.kind else msg("orders.actions")

    def lines(self, state: OrderActionState) -> tuple[Line, ...]:
        orders = Line("product", _orders_message(state))
        if state.line:
            return (orders, Line("note", msg("order_actions.for_line", label=state.label)))
        if not state.goods.ordered.is_nothing:
            done, total = goods_text(state.goods.picked), goods_text(state.goods.ordered)
            far = msg("progress.of", done=done, total=total)
            return (orders, Line("note", far))
        return (orders,)

    def handle_other_input(self, state: OrderActionState, event: Event, context: Context) -> Result:
        """Hand a scan to the page below. No other input is ignored silently."""
        match event:
            case Scan():
                return Turn(state, (Close(Verdict(INFO, msg("session.dropped")), event_for_below=event),))
            case TypedText():
                return Turn(state)
        return refuse(state, self.refusal_text)

    def go_back(self, state: OrderActionState, context: Context) -> Result:
        """Go back to the choice of the action, or close the job."""
        if state.is_kind_asked:
            return Turn(state._replace(page="action", kind="", is_kind_asked=False, typed_name=""))
        return _drop(state, context)


def _drop(state: OrderActionState, context: Context) -> Result:
    return Turn(state, (Close(Verdict(INFO, msg("session.dropped"))),))


MAX_NAMED = 12
"""Most records that a question names."""


def list_some(names: Sequence[str]) -> str:
    """Return the names of records that a question is about, of many the first ones."""
    return ", ".join((*names[:MAX_NAMED], "…") if len(names) > MAX_NAMED else names)


def _orders_message(state: OrderActionState) -> Msg:
    if len(state.orders) == 1:
        return msg("order.title", order=state.orders[0])
    return msg("order_actions.orders", count=len(state.orders), first=state.orders[0] if state.orders else "")


class KindPage(OrderQuestion):
    """Choice of the action."""

    name = "order_actions.action"
    prompt_text = msg("unconfirmed.choose")

    def actions(self, state: OrderActionState) -> Actions:
        kinds = sorted(state.possible, key=ACTION_NUMBERS.__getitem__)
        return tuple(numbered_action(kind, partial(_answer_kind, kind)) for kind in kinds)

    def handle_other_input(self, state: OrderActionState, event: Event, context: Context) -> Result:
        if isinstance(event, Choice) and event.number in KIND_BY_NUMBER:
            return refuse_kind(state, event.number)
        return super().handle_other_input(state, event, context)


def numbered_action(kind: str, run: Callable[[S, Context], Turn[S]]) -> Action[S]:
    """Return an action on orders with its number, which is the same on each page."""
    return Action(msg(ACTION_NAMES[kind]), run, number=ACTION_NUMBERS[kind])


def refuse_kind(state: S, number: int) -> Turn[S]:
    """Refuse the number of an action that is not possible now."""
    return refuse(state, msg("order_actions.not_possible", what=msg(ACTION_NAMES[KIND_BY_NUMBER[number]])))


def _answer_kind(kind: str, state: OrderActionState, context: Context) -> Result:
    return _choose_kind(kind, state._replace(is_kind_asked=True), context)


def _choose_kind(kind: str, state: OrderActionState, context: Context) -> Result:
    state = state._replace(kind=kind)
    if kind in REASON_ACTIONS:
        reasons = Query("reasons", "short_reasons", {}, is_live=True)
        return Turn(state._replace(page="reason", first_choice=0), (reasons,))
    if kind in PERSON_ACTIONS:
        turn = _check_in_batch(state._replace(page="person", first_choice=0))
        return turn if turn.effects else turn._replace(effects=(_query_people(""),))
    return _confirm(state, OrderAction(kind, line=state.line))


def _check_in_batch(state: OrderActionState) -> Result:
    """Close the job if a split is asked for orders that are in no batch, before a person is chosen."""
    if state.page == "person" and state.kind == SPLIT and SPLIT not in state.possible:
        return Turn(state, (Close(Verdict(WRONG, msg("order_actions.not_in_batch", order=state.orders[0]))),))
    return Turn(state)


def _query_people(text: str) -> Query:
    return Query("people", "people", {"search": text, "size": MAX_PEOPLE}, is_live=True)


def _confirm(state: OrderActionState, action: OrderAction) -> Result:
    """Ask for confirmation if the action discards something, applies to several orders, or began with one letter."""
    plan = tuple((order, action) for order in state.orders)
    if len(plan) > 1 or state.is_one_key or action.kind in CONFIRMED_ACTIONS:
        return Turn(state._replace(page="confirm", plan=plan))
    return _query_before_action(state, plan)


def _query_before_action(state: OrderActionState, plan: tuple[tuple[str, OrderAction], ...]) -> Result:
    """Query the current state of the orders. The answer decides what is possible."""
    state = state._replace(plan=plan, page="wait")
    if any(action.kind in LINE_ACTIONS for _, action in plan):
        features = Query("features", "features", {}, is_live=True)  # answers come in reverse order
        return Turn(state, (Query("now", "order", {"order_number": plan[0][0]}), features))
    return Turn(state, (Query("now", "orders_by_number", {"orders": [order for order, _ in plan]}),))


class PagedQuestion(OrderQuestion):
    """Question with more choices than may fit on the screen. Another answer is typed."""

    @abstractmethod
    def all_actions(self, state: OrderActionState) -> Actions:
        """Return all choices."""

    def actions(self, state: OrderActionState) -> Actions:
        return self.all_actions(state)[state.first_choice : state.first_choice + state.choices_per_page]

    def _has_more(self, state: OrderActionState) -> bool:
        return len(self.all_actions(state)) > len(self.actions(state))

    def accepts(self, state: OrderActionState) -> Accepts:
        letters = PAGE_LETTERS if self._has_more(state) else ""
        return super().accepts(state)._replace(command_letters=letters, search=True)

    def key_hints(self, state: OrderActionState) -> tuple[KeyHint, ...]:
        return PAGE_HINTS if self._has_more(state) else ()

    def step(self, state: OrderActionState) -> Step:
        total = max(len(self.all_actions(state)), state.match_count if state.page == "person" else 0)
        return super().step(state)._replace(first=state.first_choice, choice_total=total)

    def handle_other_input(self, state: OrderActionState, event: Event, context: Context) -> Result:
        match event:
            case Command("n" | "p" as key) | CursorKey("pagedown" | "pageup" as key) if self._has_more(state):
                total = len(self.all_actions(state))
                first = list_cursor_and_search.scroll_rows(state.first_choice, total, state.choices_per_page, key)
                return Turn(state._replace(first_choice=first))
        return super().handle_other_input(state, event, context)

    def fill_page(self, state: OrderActionState) -> OrderActionState:
        """Move the first choice up until the last page is full."""
        last = len(self.all_actions(state)) - state.choices_per_page
        return state._replace(first_choice=max(0, min(state.first_choice, last)))


class ReasonPage(PagedQuestion):
    """Choice of a reason. Another one is typed; an unknown code is no reason."""

    name = "order_actions.reason"
    prompt_text = msg("order_actions.prompt_reason")

    def all_actions(self, state: OrderActionState) -> Actions:
        return tuple(Action(raw(reason.text), partial(_set_reason, reason)) for reason in state.reasons)

    def handle_other_input(self, state: OrderActionState, event: Event, context: Context) -> Result:
        match event:
            case Text(text):
                return _confirm(state, OrderAction(state.kind, reason=text.strip(), line=state.line))
            case UnknownCode(text):
                return refuse(state, msg("order_actions.no_reason", text=text))
        return super().handle_other_input(state, event, context)


def _set_reason(reason: Reason, state: OrderActionState, context: Context) -> Result:
    return _confirm(state, OrderAction(state.kind, reason_code=reason.code, reason=reason.text, line=state.line))


class PersonPage(PagedQuestion):
    """Choice of a person. A name may be typed, a badge may be scanned."""

    name = "order_actions.person"
    prompt_text = msg("order_actions.prompt_person")

    def all_actions(self, state: OrderActionState) -> Actions:
        return tuple(Action(raw(person.name), partial(_set_person, person)) for person in state.people)

    def handle_other_input(self, state: OrderActionState, event: Event, context: Context) -> Result:
        match event:
            case Scan((Match(kind, key, label), *_)) if kind == PERSON:
                return _set_person(Person(key, label or key), state, context)
            case Scan((match, *_)):
                return refuse(state, msg("order_actions.no_badge", what=match.label or match.key))
            case Text(text) | UnknownCode(text):
                return Turn(state._replace(typed_name=text), (_query_people(text),))
        return super().handle_other_input(state, event, context)


def _set_person(person: Person, state: OrderActionState, context: Context) -> Result:
    return _confirm(state, OrderAction(state.kind, person.user, person.name))


def _choose_person(state: OrderActionState, people: tuple[Person, ...], context: Context) -> Result:
    sought = state.typed_name.strip()
    exact = [one for one in people if is_named(one, sought)]
    if len(exact) == 1:
        return _set_person(exact[0], state, context)
    if people:
        return Turn(state._replace(people=people[:MAX_PEOPLE], first_choice=0))
    if not sought:
        return reply(state, INFO, "order_actions.nobody_known")
    typed = state._replace(people=(Person(sought, sought),), match_count=1, first_choice=0)
    return reply(typed, ASK, "order_actions.unknown_name", name=sought)


class ConfirmPage(OrderQuestion):
    """Question before the action runs."""

    name = "order_actions.confirm"
    prompt_text = msg("order_actions.prompt_confirm")
    refusal_text = msg("order_actions.only_yes_or_no")
    typed_only = True

    def lines(self, state: OrderActionState) -> tuple[Line, ...]:
        _, *about = super().lines(state)
        reason = next((action.reason or action.reason_code for _, action in state.plan), "")
        if reason and state.kind in REASON_ACTIONS:
            about.append(Line("note", msg("order_actions.reason_given", why=reason)))
        named = (Line("note", raw(list_some(state.orders))),) if len(state.orders) > 1 else ()
        return (Line("product", _confirm_message(state)), Line("note", _warning(state)), *named, *about)

    def actions(self, state: OrderActionState) -> Actions:
        return (
            Action(msg("order_actions.yes"), lambda state, _: _query_before_action(state, state.plan)),
            Action(msg("order_actions.no"), _drop),
        )

    def go_back(self, state: OrderActionState, context: Context) -> Result:
        """Go back to the reason or the person, which can be chosen anew."""
        page = "reason" if state.kind in REASON_ACTIONS else "person" if state.kind in PERSON_ACTIONS else ""
        if page:
            return Turn(state._replace(page=page, plan=(), typed_name=""))
        return super().go_back(state, context)

    def handle_other_input(self, state: OrderActionState, event: Event, context: Context) -> Result:
        """Hand the scan of another order to the page below, and say that the action is not done.

        A label of these orders is no answer. Any other scan is refused, and the question stays.
        """
        if not isinstance(event, Scan):
            return super().handle_other_input(state, event, context)
        scanned = event.matches[0]
        if scanned.kind not in (ORDER, REFERENCE):
            return refuse(state, msg("order_actions.scan_not_taken", what=name_of(scanned)))
        if scanned.key in state.orders:
            return refuse(state, self.refusal_text)
        not_done = msg("order_actions.not_answered", what=msg(ACTION_NAMES[state.kind]), which=_orders_message(state))
        dropped = Verdict(INFO, msg("session.dropped"))
        return Turn(state, (Close(dropped, event_for_below=event, not_done=not_done),))


def _confirm_message(state: OrderActionState) -> Msg:
    what = msg(ACTION_NAMES[state.kind])
    name = next((action.name or action.user for _, action in state.plan), "") if state.kind in PERSON_ACTIONS else ""
    if name:
        what = msg("order_actions.split_to" if state.kind == SPLIT else "order_actions.for_person", name=name)
    return msg("pair", name=what, value=_orders_message(state))


def _hand_over_warning(missing: GoodsSum) -> Msg:
    if missing.measured or missing.pieces > 0:
        return msg("order_actions.warn_hand_over_measured", left=named_goods(missing))
    return msg("order_actions.warn_hand_over")


def _warning(state: OrderActionState) -> Msg:
    if state.kind == "hand_over":
        return _hand_over_warning(state.goods.missing)
    if state.kind == "reopen":
        return msg("order_actions.warn_reopen")
    if state.kind == "split":
        return msg("order_actions.warn_split", count=len(state.orders))
    if state.kind == PRIORITY:
        return msg("order_actions.warn_priority")
    if state.kind == "reject":
        return msg("order_actions.warn_reject")
    return msg("order_actions.warn", count=len(state.orders))


# Action and results


class WaitPage(OrderQuestion):
    """Page until the state of the orders is known."""

    name = "order_actions.wait"
    prompt_text = msg("clearance_request.prompt_wait")
    refusal_text = msg("order_actions.no_input_here")

    def handle_other_input(self, state: OrderActionState, event: Event, context: Context) -> Result:
        if isinstance(event, Scan):
            return refuse(state, self.refusal_text)
        return super().handle_other_input(state, event, context)


class ResultsPage(Page[OrderActionState]):
    """List of the results, one for each order."""

    name = "order_actions.results"

    def view(self, state: OrderActionState) -> ListView:
        return ListView(
            name=self.name,
            title=msg("order_actions.results_undone" if state.is_undo else "order_actions.results"),
            prompt=msg("order.prompt_read"),
            column_heads=(msg("head.order"), msg("order_actions.results"), msg("head.reason")),
            rows=tuple(_result_row(row) for row in state.rows),
            first=state.first,
            total=state.total,
            cursor=state.cursor,
            key_hints=(*list_cursor_and_search.page_hints(state), *self.key_hints(state), BACK),
        )

    def accepts(self, state: OrderActionState) -> Accepts:
        return Accepts(command_letters=self.letters(state) + list_cursor_and_search.page_letters(state))

    def actions(self, state: OrderActionState) -> Actions:
        return (Action(msg("hint.undo"), _undo, "u"),) if state.undo else ()

    def handle_other_input(self, state: OrderActionState, event: Event, context: Context) -> Result:
        match event:
            case Command("n" | "p" as key) | CursorKey(key):
                return Turn(list_cursor_and_search.move_or_turn(state, key, state.size))
            case TypedText():
                return Turn(state)
        return refuse(state, msg("order_actions.no_input_here"))

    def go_back(self, state: OrderActionState, context: Context) -> Result:
        return Turn(state, (Close(answer=_answer(state)),))


def _undo(state: OrderActionState, context: Context) -> Result:
    return _query_before_action(state._replace(is_undo=True), state.undo)


def _result_row(row: Outcome) -> Row:
    state = msg(STATE_WORDS.get(row.state, "operation_state.in_doubt")) if row.state else msg("order_actions.not_done")
    return Row(row.order, (raw(row.order), state, row.why or raw("")))


def _update_outcome(row: Outcome, row_now: OrderOutcomesRow | None) -> Outcome:
    if not row.state or row_now is None:
        return row
    return row._replace(state=row_now["outcome"], why=read_message(row_now["why"]) if row_now["why"] else None)


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
    state = state._replace(
        outcomes=tuple(rows), undo=tuple(undo), page="results", first=0, cursor=-1, done_at=context.now
    )
    state = state._replace(label=state.label or _line_name(state.plan, found))
    verdict = _verdict(state)
    if len(rows) == 1:
        return Turn(state, (*effects, *refreshes, Close(verdict, answer=_answer(state))))
    return Turn(state, (*effects, *refreshes), verdict)


def _line_name(plan: tuple[tuple[str, OrderAction], ...], found: Mapping[str, OrderToActOnRow]) -> str:
    """Return the name of the line that the plan is about; empty if it is about whole orders."""
    for order, action in plan:
        lines = found[order].get("lines") or () if action.line and order in found else ()
        for line in lines:
            if line.get("line_number") == action.line:
                return str(line.get("description") or line.get("product_number") or "")
    return ""


def _verdict(state: OrderActionState) -> Verdict:
    if len(state.outcomes) == 1:
        (row,), action = state.outcomes, state.plan[0][1]
        if row.why:
            return Verdict(WRONG, row.why)
        return Verdict(GOOD, done_message(row.order, action, state.label))
    done = sum(not row.why for row in state.outcomes)
    summary = "order_actions.undone_count" if state.is_undo else "order_actions.done_count"
    if any(action.kind == REOPEN for _, action in state.plan):
        summary = "order_actions.reopened_count"  # it does not return to its previous state
    return Verdict(
        GOOD if done == len(state.outcomes) else WRONG if not done else INFO,
        msg(summary, done=done, total=len(state.outcomes)),
    )


def done_message(order: str, action: OrderAction, label: str) -> Msg:
    """Return the message on the action that was applied to one order."""
    if action.kind == CLAIM and not action.user:
        return msg("order_actions.done_claim_nobody", order=order)
    return msg(ACTION_TEXTS[action.kind][1], order=order, name=action.name or action.user, label=label)


PAGES: dict[str, Page[OrderActionState]] = {
    "action": KindPage(),
    "reason": ReasonPage(),
    "person": PersonPage(),
    "confirm": ConfirmPage(),
    "wait": WaitPage(),
    "results": ResultsPage(),
}


class OrderActionJob(PageJob[OrderActionState]):
    """Job that applies an action to orders and shows the results."""

    name = "order_actions"
    lists = ("headers", "lines")
    own_steps = ("order_actions.results",)
    state_type = OrderActionState
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    journalled = False
    preferred_kinds = (PERSON,)

    def page(self, state: OrderActionState) -> Page[OrderActionState]:
        return PAGES[state.page]

    def handle(self, state: OrderActionState, event: Event, context: Context) -> Result:
        """Return the next state. The choices of a page depend on the size of the screen."""
        size = max(MIN_CHOICES, context.window_rows)
        return super().handle(state._replace(choices_per_page=size, size=page_size(context)), event, context)

    def handle_opened(self, state: OrderActionState, args: Args, context: Context) -> Result:
        """Start the job. With `kind` the action is known, with `undo` everything is."""
        if args.get("undo"):
            plan = tuple((str(each["order"]), _parse_action(each)) for each in args["undo"])
            return _query_before_action(state._replace(orders=tuple(order for order, _ in plan), is_undo=True), plan)
        orders = tuple(str(order) for order in args["orders"])
        state = state._replace(orders=orders, line=int(args.get("line") or 0), label=str(args.get("label") or ""))
        state = state._replace(is_one_key=bool(args.get("is_one_key")))
        turn = _choose_kind(str(args["kind"]), state, context) if args.get("kind") else Turn(state)
        return turn._replace(effects=(*self.queries(state, context), *turn.effects))

    def queries(self, state: OrderActionState, context: Context) -> tuple[Effect, ...]:
        if state.page == "results":
            args = {"orders": [row.order for row in state.outcomes if row.state], "since": state.done_at}
            return (Query("order_outcomes", "order_outcomes", args, is_live=True),)
        return (Query("look", "orders_by_number", {"orders": list(state.orders)}, is_live=True),)

    def query_again(self, state: OrderActionState, context: Context) -> Result:
        page = self.page(state)
        return super().query_again(page.fill_page(state) if isinstance(page, PagedQuestion) else state, context)

    def handle_closed(self, state: OrderActionState, event: Closed, context: Context) -> Result:
        return Turn(state)

    def handle_rows(self, state: OrderActionState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("reasons", rows):
                of_orders = context.policy.rejection_reasons if state.kind == REJECT else ()
                known = parse_reasons((*of_orders, *context.policy.short_reasons), rows)
                first = state.first_choice if state.first_choice < len(known) else 0
                return Turn(state._replace(reasons=known, first_choice=first))
            case Rows("look", rows):
                return _check_in_batch(_with_orders(state, rows, context.store))
            case Rows("people", rows, known):
                people = tuple(Person(row["user"], row["name"] or row["user"]) for row in rows)
                return _choose_person(state._replace(match_count=known), people, context)
            case Rows("features", rows):
                can_reject = bool(rows) and LINE_REJECTION_FEATURE in rows[0]["features"]
                return Turn(state._replace(can_reject_lines=can_reject))
            case Rows("now", rows) if state.page == "wait":
                return _run_actions(state, {row["order_number"]: row for row in rows}, context)
            case Rows("order_outcomes", rows):
                now = {row["order_number"]: row for row in rows}
                outcomes = tuple(_update_outcome(row, now.get(row.order)) for row in state.outcomes)
                return Turn(state._replace(outcomes=outcomes))
        return Turn(state)


def _parse_action(fields: Args) -> OrderAction:
    return OrderAction(**{name: fields[name] for name in OrderAction._fields if name in fields})


def _with_orders(state: OrderActionState, rows: tuple[OrderToActOnRow, ...], store: str) -> OrderActionState:
    return state._replace(
        goods=add_order_goods(map(order_goods, rows)),
        possible=possible_kinds(rows, store) if rows else ORDER_ACTIONS,
    )
