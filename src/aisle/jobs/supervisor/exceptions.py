"""Job that lists exceptions: everything in the store that needs a supervisor."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs import pages
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Json,
    LocalNote,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Turn,
    Write,
    money_message,
)
from aisle.jobs.pages import page_size
from aisle.jobs.quantities import to_decimal
from aisle.jobs.supervisor.orders_view import IDLE_FIRST_COLUMNS, BoardOrder, order_table, parse_order_row
from aisle.jobs.view import (
    ASK,
    BACK,
    GOOD,
    INFO,
    NEXT_PAGE,
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
    signed_message,
)
from aisle.scan.meaning import LOCATION, ORDER, PRODUCT, REFERENCE, Accepts, Back, Choice, Command, CursorKey, Scan

EXCEPTION_KINDS = ("unconfirmed", "differences", "negative_stock", "stuck", "late", "recounts")
"""Kinds of exceptions, in the order of their numbers."""


class ExceptionRow(NamedTuple):
    """Exception in a list."""

    key: str
    label: str = ""
    product: str = ""
    location: str = ""
    order: str = ""
    kind: str = ""
    user: str = ""
    at: str = ""
    quantity: Decimal = Decimal(0)
    other_quantity: Decimal = Decimal(0)
    value: Decimal | None = None
    """Value in money; None without a known price."""
    review_status: str = ""
    order_row: BoardOrder | None = None
    """Its order as the order board shows it; None for other kinds."""


class ExceptionsState(NamedTuple):
    """State of the summary and of the list of one kind."""

    kind: str = ""
    """Kind that is listed; empty for the summary."""
    counts: tuple[tuple[str, int], ...] = ()
    difference_value: Decimal = Decimal(0)
    """Sum of the absolute values of all differences."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[ExceptionRow, ...] = ()
    total: int = 0
    is_marking: bool = False
    """True if numbers mark rows instead of opening them."""
    marked: tuple[str, ...] = ()
    question: str = ""
    """`approve` or `recount` while that is asked for all marked rows; else the key of the opened difference."""
    approved: tuple[ExceptionRow, ...] = ()
    """Differences approved last; they can be undone."""
    features: tuple[str, ...] = ()
    """Features that the service announces."""
    is_loaded: bool = False
    size: int = 12
    """Number of rows that fit on the screen."""
    opened_directly: bool = False
    """True if the list of one kind was opened directly. Back then leaves the job."""

    @property
    def visible_kinds(self) -> tuple[str, ...]:
        """Kinds of the summary that are on the screen."""
        return EXCEPTION_KINDS[self.first : self.first + self.size]

    @property
    def opened_rows(self) -> tuple[ExceptionRow, ...]:
        """Difference that is open, if it is in the window."""
        return tuple(row for row in self.rows if row.key == self.question)


TO_REVIEW = "1"
"""Value of review_status (interface) with which aisle's own service asks for a review. It keeps no review of status
0."""

NOT_REVIEWED, REVIEWED = 1, 2
"""Values of review_status (interface) that are written."""


def is_review_kept(state: ExceptionsState, row: ExceptionRow) -> bool:
    """Return True if the service stores the approval of this difference; otherwise only this host does."""
    return "reviews" in state.features and row.key.isdecimal() and row.review_status == TO_REVIEW


def is_reported(state: ExceptionsState, row: ExceptionRow) -> bool:
    """Return True if the decision (recount or approval) on this difference is sent to the service."""
    if state.question == "recount":
        return "recounts" in state.features and row.key.isdecimal()
    return is_review_kept(state, row)


def review_note(state: ExceptionsState, row: ExceptionRow, text: str) -> LocalNote:
    """Return the local note on a reviewed difference."""
    return LocalNote("review", row.key, text, needs_supervisor=True, mirrors_write=is_reported(state, row))


def review_writes(
    state: ExceptionsState, rows: Sequence[ExceptionRow], store: str, status: int = REVIEWED
) -> list[Write]:
    """Return the writes for aisle's own service: reviews of what it wants reviewed, and recounts."""
    path = {"store_number": store}
    reported = [row for row in rows if is_reported(state, row)]
    if not reported:
        return []
    subjects = tuple(f"log/{row.key}" for row in reported)
    if state.question == "recount":
        body = {"recounts": [{"log_id": int(row.key)} for row in reported]}
        return [Write("write-recounts", subjects, path, {}, body, needs_supervisor=True)]
    reviews = {"reviews": [{"id": int(row.key), "review_status": status} for row in reported]}
    return [Write("review-logs", subjects, path, {}, reviews, needs_supervisor=True)]


def recount_effects(state: ExceptionsState, rows: Sequence[ExceptionRow], store: str) -> list[Effect]:
    """Return the effects that order recounts: a write for entries of the service, local notes for all others."""
    others = [row for row in rows if not is_reported(state, row)]
    return [
        *review_writes(state, rows, store),
        *(
            LocalNote("recount", f"{row.product}/{row.location}", row.label or row.product, needs_supervisor=True)
            for row in others
        ),
    ]


def withdrawal_effects(row: ExceptionRow, store: str) -> list[Effect]:
    """Return the effects that withdraw a recount; none while it is being sent and has no number yet."""
    if row.kind == "queued":
        return []
    here = LocalNote(
        "recount", f"{row.product}/{row.location}", "", needs_supervisor=True, mirrors_write=row.kind == "at_service"
    )
    if row.kind != "at_service":
        return [here]
    body = {"recounts": [{"id": int(row.key), "state": "withdrawn"}]}
    path = {"store_number": store}
    return [here, Write("write-recounts", (f"recount/{row.key}",), path, {}, body, needs_supervisor=True)]


def decision_message(state: ExceptionsState, rows: Sequence[ExceptionRow]) -> Msg:
    """Return the message on the decision. It says how many of the approvals only this host stores."""
    if state.question == "recount":
        return msg("exceptions.recounted", count=len(rows))
    here = sum(not is_review_kept(state, row) for row in rows)
    return msg("exceptions.approved_on_host" if here else "exceptions.approved", count=len(rows), here=here)


def undo_approval_effects(state: ExceptionsState, store: str) -> list[Effect]:
    """Return the effects that undo the last approval."""
    return [
        *(review_note(state, row, "") for row in state.approved),
        *review_writes(state, state.approved, store, NOT_REVIEWED),
    ]


_KIND_NAMES = {
    "unconfirmed": "exceptions.unconfirmed",
    "differences": "exceptions.differences",
    "negative_stock": "exceptions.negative_stock",
    "stuck": "exceptions.stuck",
    "late": "exceptions.late",
    "recounts": "exceptions.recounts",
}

_KIND_TEXTS = {
    "unconfirmed": "exceptions.about_unconfirmed",
    "differences": "exceptions.about_differences",
    "negative_stock": "exceptions.about_negative_stock",
    "stuck": "exceptions.about_stuck",
    "late": "exceptions.about_late",
    "recounts": "exceptions.about_recounts",
}

_NEGATIVE_STOCK_TEXTS = {
    "below": "exceptions.negative",
    "more": "exceptions.picked_more_than_stock",
    "missing": "exceptions.picked_goods_missing",
    "overdrawn": "exceptions.held_more_than_stock",
}

_PROMPTS = {
    "differences": "exceptions.prompt_differences",
    "negative_stock": "exceptions.prompt_negative_stock",
    "stuck": "exceptions.prompt_stuck",
    "recounts": "exceptions.prompt_recounts",
}


def page_view(state: ExceptionsState, step_name: str) -> View:
    """Return the screen of this state."""
    if state.question:
        return _question_view(state, step_name)
    return _list_view(state, step_name) if state.kind else _summary_view(state)


def question_choices(state: ExceptionsState) -> tuple[Msg, ...]:
    """Return the choices of the open question."""
    if state.question in ("approve", "recount"):
        return (msg("order_actions.yes"), msg("order_actions.no"))
    choices = (
        msg("exceptions.approve"),
        msg("exceptions.recount"),
        msg("exceptions.count_now"),
        msg("exceptions.look_up"),
    )
    return choices if state.question else ()


def _summary_view(state: ExceptionsState) -> ListView:
    counts, value = dict(state.counts), money_message(state.difference_value)
    rows = tuple(
        Row(kind, (msg(_KIND_NAMES[kind]), msg("number", value=counts[kind]), msg(_KIND_TEXTS[kind], value=value)))
        for kind in state.visible_kinds
        if kind in counts
    )
    turn = (NEXT_PAGE,) if len(state.visible_kinds) < len(_KIND_NAMES) else ()
    return ListView(
        name="exceptions",
        title=msg("exceptions.title"),
        prompt=msg("exceptions.prompt"),
        column_heads=(msg("exceptions.head_kind"), msg("exceptions.head_count"), msg("exceptions.head_about")),
        rows=rows,
        first=state.first,
        total=len(counts),
        cursor=state.cursor,
        numbered_rows=len(rows),
        empty=msg("exceptions.loading"),
        key_hints=(*turn, BACK),
    )


def _list_view(state: ExceptionsState, step_name: str) -> ListView:
    heads, rows = _table_rows(state)
    marking = state.is_marking or bool(state.marked)
    title = msg("exceptions.title_marked", count=len(state.marked)) if marking else msg(_KIND_NAMES[state.kind])
    prompt = msg("exceptions.prompt_marking" if state.is_marking else _PROMPTS[state.kind])
    empty = msg("exceptions.none") if state.is_loaded else msg("exceptions.loading")
    listed = pages.list_view(state, step_name, title, prompt, heads, rows, *_hints(state), empty=empty)
    return listed._replace(has_progress_bars=state.kind == "stuck")


def _hints(state: ExceptionsState) -> tuple[KeyHint, ...]:
    undo = (KeyHint("u", msg("hint.undo")),) if state.kind == "differences" and state.approved else ()
    if state.kind == "differences" and state.rows:
        decide = KeyHint("e", msg("exceptions.approve")), KeyHint("r", msg("exceptions.recount"))
        mark = KeyHint("m", msg("orders.mark_end" if state.is_marking else "orders.mark"))
        return (mark, KeyHint("a", msg("orders.mark_all")), *decide, *undo)
    return (KeyHint("x", msg("exceptions.withdraw")),) if state.kind == "recounts" and state.rows else undo


def _table_rows(state: ExceptionsState) -> tuple[tuple[Msg, ...], tuple[Row, ...]]:
    label, place = msg("exceptions.head_product"), msg("locations.head_location")
    if state.kind == "stuck":
        return order_table([row.order_row for row in state.rows if row.order_row], columns=IDLE_FIRST_COLUMNS)
    if state.kind == "differences":
        first = (label, msg("exceptions.head_difference"), msg("exceptions.head_value"), place)
        more = (msg("exceptions.head_counted"), msg("unconfirmed.head_user"), msg("unconfirmed.head_at"))
        return (*first, *more), tuple(_difference_row(row, row.key in state.marked) for row in state.rows)
    if state.kind == "negative_stock":
        return (label, msg("exceptions.head_what"), msg("exceptions.head_where")), tuple(
            _negative_stock_row(row) for row in state.rows
        )
    return (label, place, msg("unconfirmed.head_user"), msg("unconfirmed.head_at")), tuple(
        _recount_row(row) for row in state.rows
    )


def _value_message(row: ExceptionRow) -> Msg:
    if row.value is None:
        return msg("exceptions.no_price")
    return signed_message(row.value, money_message(abs(row.value)))


def _difference_row(row: ExceptionRow, is_marked: bool) -> Row:
    counted = msg("number", value=row.other_quantity)
    cells = (
        raw(row.label),
        signed_message(row.quantity),
        _value_message(row),
        raw(row.location),
        counted,
        raw(row.user),
    )
    return Row(row.key, (*cells, msg("moment", at=row.at)), is_marked=is_marked)


def _negative_stock_row(row: ExceptionRow) -> Row:
    what = msg(_NEGATIVE_STOCK_TEXTS[row.kind], quantity=row.quantity, of=row.other_quantity)
    where = msg("exceptions.order", order=row.order) if row.order else raw(row.location)
    return Row(row.key, (raw(row.label), what, where if row.order or row.location else msg("exceptions.whole_store")))


def _recount_row(row: ExceptionRow) -> Row:
    place = raw(row.location) if row.location else msg("exceptions.whole_store")
    return Row(row.key, (raw(row.label), place, raw(row.user), msg("moment", at=row.at)))


def _question_view(state: ExceptionsState, step_name: str) -> Step:
    if state.question in ("approve", "recount"):
        many = "exceptions.approve_many" if state.question == "approve" else "exceptions.recount_many"
        lines: tuple[Line, ...] = (Line("product", msg(many, count=len(state.marked))),)
    else:
        lines = tuple(line for row in state.opened_rows for line in _difference_lines(row, is_review_kept(state, row)))
    return Step(
        name=step_name,
        title=msg("exceptions.differences"),
        prompt=msg("order_actions.prompt_action"),
        lines=lines,
        choices=question_choices(state),
        key_hints=(BACK,),
    )


def _difference_lines(row: ExceptionRow, is_review_kept: bool) -> tuple[Line, ...]:
    """Return the lines on one difference, and a note if only this host stores the approval."""
    far = msg("exceptions.counted", counted=row.other_quantity, difference=signed_message(row.quantity))
    worth = (
        msg("exceptions.value", value=money_message(abs(row.value)))
        if row.value is not None
        else msg("exceptions.no_price")
    )
    by = msg("exceptions.counted_by", who=row.user, at=msg("moment", at=row.at))
    where = (Line("location", raw(row.location)),) if row.location else ()
    notes = (worth, by) if is_review_kept else (worth, by, msg("exceptions.kept_on_host"))
    return (Line("product", raw(row.label)), *where, Line("quantity", far), *(Line("note", note) for note in notes))


MAX_APPROVALS = 200
"""Most differences that are approved at once."""

Result = Turn[ExceptionsState]


class ExceptionsJob(Job[ExceptionsState]):
    """Job that leads from the summary to the page on which an exception is resolved."""

    name = "exceptions"
    steps: tuple[str, ...] = (
        "exceptions", "exceptions.differences", "exceptions.negative_stock", "exceptions.stuck", "exceptions.recounts",
        "exceptions.one", "exceptions.many",
    )  # fmt: skip
    version = 1
    journalled = False

    def begin(self) -> ExceptionsState:
        """Return the state before the first query."""
        return ExceptionsState()

    def accepts(self, state: ExceptionsState) -> Accepts:
        """Accept row numbers, and letters for the actions of a list."""
        if state.question:
            return Accepts(choices=len(question_choices(state)), typed_only=True)
        if not state.kind:
            return Accepts(
                choices=len(state.visible_kinds),
                command_letters="n" if len(state.visible_kinds) < len(EXCEPTION_KINDS) else "",
            )
        letters = {"differences": "amer" + "u" * bool(state.approved), "recounts": "x"}.get(state.kind, "")
        return Accepts(choices=pages.numbered_rows(state), command_letters=letters + pages.page_letters(state))

    def prefers(self, state: ExceptionsState) -> tuple[str, ...]:
        """Prefer the kinds that rows contain."""
        return (ORDER, REFERENCE, PRODUCT, LOCATION)

    def step_name(self, state: ExceptionsState) -> str:
        """Return one of `steps`."""
        if state.question:
            return "exceptions.many" if state.question in ("approve", "recount") else "exceptions.one"
        return f"exceptions.{state.kind}" if state.kind else "exceptions"

    def view(self, state: ExceptionsState) -> View:
        """Return the screen."""
        return page_view(state, self.step_name(state))

    def handle(self, state: ExceptionsState, event: Event, context: Context) -> Result:
        """Return the next state. Changes are queried again, numbers open, back returns to the summary."""
        match event:
            case Opened(args):
                kind = str(args.get("kind") or "")
                state = state._replace(size=page_size(context), kind=kind, opened_directly=bool(kind))
                return Turn(state, (*_queries(state, context), Refresh("logs"), Refresh("orders")))
            case Rows():
                return _handle_rows(state, event, context)
            case Changed("order" | "product" | "log" | "person" | "recount" | "outbox") | Closed() | Resumed():
                return Turn(state._replace(size=page_size(context)), _queries(state, context))
            case Back():
                return _go_back(state, context)
            case Scan(meanings):
                return _handle_scan(state, meanings[0].kind, meanings[0].key, meanings[0].label)
        if state.question:
            return (
                _handle_decision(state, event, context)
                if isinstance(event, Choice)
                else pages.reject_input(state, event)
            )
        return _handle_list_input(state, event, context) if state.kind else _handle_summary_input(state, event, context)


def _queries(state: ExceptionsState, context: Context) -> tuple[Effect, ...]:
    minutes = {"now": context.now, "minutes": context.policy.stuck_minutes}
    summary = (Query("summary", "exceptions", minutes, is_live=True), Query("features", "features", {}, is_live=True))
    return (*summary, _list_query(state, context)) if state.kind else summary


def _list_query(state: ExceptionsState, context: Context) -> Query:
    args = {"now": context.now, "minutes": context.policy.stuck_minutes} if state.kind == "stuck" else {}
    return pages.query_window("list", state.kind, args, state.first, page_size(context, has_progress_bars=bool(args)))


def _handle_rows(state: ExceptionsState, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("summary", rows, _) if rows:
            counts = tuple((kind, int(rows[0][kind])) for kind in EXCEPTION_KINDS)
            return Turn(state._replace(counts=counts, difference_value=to_decimal(rows[0]["value"]), is_loaded=True))
        case Rows("features", rows, _):
            return Turn(state._replace(features=tuple(rows[0]["features"]) if rows else ()))
        case Rows("list", rows, _) if state.kind:
            turn = pages.handle_rows(
                state, answer, tuple(_parse_row(row, state.kind, context) for row in rows), context, _list_query
            )
            gone = state.question not in ("", "approve", "recount") and not turn.state.opened_rows
            return turn._replace(state=turn.state._replace(question="")) if gone else turn
        case Rows("marked", rows, _):
            return _apply_decision(state, tuple(_parse_row(row, "differences", context) for row in rows), context)
        case Rows("all", rows, total):
            keys = tuple(str(row["key"]) for row in rows)
            return pages.mark_all(state, keys, msg("exceptions.all_marked", count=len(keys), total=total))
    return Turn(state)


def _parse_row(row: Json, kind: str, context: Context) -> ExceptionRow:
    if kind == "stuck":
        order = parse_order_row(row, context)
        return ExceptionRow(order.number, order.customer, order=order.number, order_row=order)
    found = ExceptionRow(
        key=str(row["key"]),
        label=str(row["label"]),
        product=str(row["product_number"]),
        location=str(row["location_code"]),
        order=str(row.get("order_number") or ""),
        user=str(row.get("user_name") or ""),
        at=str(row.get("at") or ""),
    )
    if kind == "negative_stock":
        return found._replace(
            kind=str(row["kind"]),
            quantity=to_decimal(row["quantity"]),
            other_quantity=to_decimal(row["other_quantity"]),
        )
    if kind == "recounts":
        return found._replace(kind=str(row["kind"]))
    if kind == "differences":
        value = to_decimal(row["value"]) if row["known"] else None
        return found._replace(
            quantity=to_decimal(row["difference"]),
            other_quantity=to_decimal(row["counted"]),
            value=value,
            review_status=str(row["review_status"]),
        )
    return found


# Summary


def _handle_summary_input(state: ExceptionsState, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice) if choice <= len(state.visible_kinds):
            return _open_kind(state, state.visible_kinds[choice - 1], context)
        case CursorKey("enter") if 0 <= state.cursor < len(EXCEPTION_KINDS):
            return _open_kind(state, EXCEPTION_KINDS[state.cursor], context)
        case CursorKey(key):
            cursor, first = pages.scroll_window(state.cursor, state.first, len(EXCEPTION_KINDS), state.size, key)
            return Turn(state._replace(cursor=cursor, first=first))
        case Command("n"):
            on = state.first + state.size
            return Turn(state._replace(first=on if on < len(EXCEPTION_KINDS) else 0, cursor=-1))
    return pages.reject_input(state, event)


def _open_kind(state: ExceptionsState, kind: str, context: Context) -> Result:
    if kind == "unconfirmed":
        return Turn(state, (Start("unconfirmed", {}),))
    if kind == "late":
        return Turn(state, (Start("orders", {"filter": {"state": "to_pick", "due": "late"}}),))
    state = state._replace(kind=kind, rows=(), total=dict(state.counts).get(kind, 0), first=0, cursor=-1)
    return Turn(state, (_list_query(state, context),))


# List


def _handle_list_input(state: ExceptionsState, event: Event, context: Context) -> Result:
    match event:
        case Choice() | CursorKey() | Command("n" | "p"):
            return pages.handle_list_input(state, event, context, _list_query, _open_row)
        case Command("a"):
            return Turn(state, (pages.query_window("all", "differences", {}, 0, MAX_APPROVALS),))
        case Command("m"):
            return pages.toggle_marking(state)
        case Command("u") if state.approved:
            return _undo_approval(state, context)
        case Command("x"):
            return _withdraw_recount(
                state, context, pages.row_at_cursor(state) or (state.rows[0] if len(state.rows) == 1 else None)
            )
        case Command("e" | "r" as letter):
            return _ask_decision(state, "approve" if letter == "e" else "recount")
    return pages.reject_input(state, event)


def _open_row(state: ExceptionsState, row: ExceptionRow, context: Context) -> Result:
    """Open the page that resolves the exception, or mark the row while marking is on."""
    if state.is_marking:
        return Turn(state._replace(marked=pages.toggle_mark(state.marked, row.key)))
    if state.kind == "differences":
        return Turn(state._replace(question=row.key))
    if row.order:
        return Turn(state, (Start("order", {"order_number": row.order}),))
    return Turn(state, (_start_count(row),))


def _start_count(row: ExceptionRow) -> Start:
    """Return the count that resolves it: at its location, or of the product at all locations."""
    args = {"location_code": row.location, "product_number": row.product, "label": row.label}
    return Start("count", args if row.location else {"product_number": row.product, "label": row.label})


def _withdraw_recount(state: ExceptionsState, context: Context, row: ExceptionRow | None) -> Result:
    if row is None:
        return Turn(state, (), Verdict(INFO, msg("exceptions.choose_row")))
    effects = withdrawal_effects(row, context.store)
    if not effects:
        return Turn(state, (), Verdict(INFO, msg("exceptions.recount_not_sent", label=row.label)))
    rest = tuple(each for each in state.rows if each.key != row.key)
    verdict = Verdict(GOOD, msg("exceptions.withdrawn", label=row.label))
    return Turn(state._replace(rows=rest, total=state.total - 1, cursor=-1), tuple(effects), verdict)


def _ask_decision(state: ExceptionsState, decision: str) -> Result:
    if state.marked:
        return Turn(state._replace(question=decision))
    row = pages.row_at_cursor(state)
    if row:
        return Turn(state._replace(question=row.key))
    return Turn(state, (), Verdict(ASK, msg("exceptions.mark_first")))


# Decisions on differences


def _handle_decision(state: ExceptionsState, event: Choice, context: Context) -> Result:
    """Handle the answer: approve, recount, count here or look up one difference; yes or no for several."""
    if state.question in ("approve", "recount"):
        if event.number != 1:
            return Turn(state._replace(question=""), (), Verdict(INFO, msg("session.dropped")))
        return Turn(state, (Query("marked", "differences", {"keys": list(state.marked)}, is_live=True),))
    if not state.opened_rows:
        return Turn(state._replace(question=""))
    row = state.opened_rows[0]
    match event.number:
        case 1:
            return _apply_decision(state._replace(question="approve"), (row,), context)
        case 2:
            return _apply_decision(state._replace(question="recount"), (row,), context)
        case 3:
            return Turn(state._replace(question=""), (_start_count(row),))
        case 4:
            return Turn(state, (Start("look_up", {"product_number": row.product, "label": row.label}),))
    return Turn(state)


def _apply_decision(state: ExceptionsState, rows: tuple[ExceptionRow, ...], context: Context) -> Result:
    """Approve the differences or order recounts. Send to the service what it stores."""
    approving = state.question == "approve"
    effects: list[Effect] = []
    for row in rows:
        effects.append(review_note(state, row, "approved" if approving else "recount"))
    make_effects = review_writes if approving else recount_effects
    effects += make_effects(state, rows, context.store)
    done = {row.key for row in rows}
    rest = tuple(row for row in state.rows if row.key not in done)
    verdict = Verdict(GOOD if rows else INFO, decision_message(state, rows))
    total = max(len(rest), state.total - len(rows))
    state = state._replace(question="", marked=(), is_marking=False, rows=rest, total=total, cursor=-1)
    return Turn(state._replace(approved=rows if approving else ()), tuple(effects), verdict)


def _undo_approval(state: ExceptionsState, context: Context) -> Result:
    """Undo the last approval. The differences are listed again."""
    verdict = Verdict(GOOD, msg("exceptions.approval_undone", count=len(state.approved)))
    effects = undo_approval_effects(state, context.store)
    return Turn(state._replace(approved=()), (*effects, _list_query(state, context)), verdict)


def _handle_scan(state: ExceptionsState, kind: str, key: str, label: str) -> Result:
    """Open the scanned record: the page of an order, or the look-up of a product or location."""
    if kind in (ORDER, REFERENCE):
        return Turn(state, (Start("order", {"order_number": key}),))
    if start := pages.open_record(kind, key, label):
        return Turn(state, (start,))
    return Turn(state, (), Verdict(INFO, msg("orders.is_person", name=label or key)))


def _go_back(state: ExceptionsState, context: Context) -> Result:
    if state.question:
        return Turn(state._replace(question=""), (), Verdict(INFO, msg("session.dropped")))
    if state.marked or state.is_marking:
        return pages.clear_marks(state)
    if state.kind and not state.opened_directly:
        at = EXCEPTION_KINDS.index(state.kind)
        size = page_size(context)
        state = state._replace(kind="", rows=(), total=0, first=at // size * size, size=size, cursor=at)
        return Turn(state, _queries(state, context))
    return Turn(state, (Close(),))
