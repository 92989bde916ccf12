"""State of the job `exceptions`, and its decisions.

A count that differs is approved or counted again; excess of a delivery is accepted.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs.job import ACCEPTED_EXCESS, Context, Effect, LocalNote, Query, Start, Turn, Write, money_message, reply
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.pages_and_page_job import Action, FormPage
from aisle.jobs.row_types.exceptions_clearance_and_today import (
    DifferencesRow,
    ExcessReceiptsRow,
    NegativeStockRow,
    RecountsRow,
)
from aisle.jobs.view import GOOD, INFO, Line, Msg, Verdict, msg, raw, signed_message
from aisle.scan.grammar_and_meaning_types import Match
from aisle.settings.setting_definitions import STUCK_MINUTES

KIND_NAMES = {
    "unconfirmed": "exceptions.unconfirmed",
    "differences": "exceptions.differences",
    "negative_stock": "exceptions.negative_stock",
    "stuck": "exceptions.stuck",
    "late": "exceptions.late",
    "recounts": "exceptions.recounts",
    "excess_receipts": "exceptions.excess_receipts",
    "entries_to_review": "exceptions.entries_to_review",
    "uncollected": "exceptions.uncollected",
}
EXCEPTION_KINDS = tuple(KIND_NAMES)
"""Kinds of exceptions, in the order of their numbers."""


LIST_OF_KIND = {
    "differences": "logs",
    "negative_stock": "stock",
    "stuck": "headers",
    "late": "headers",
    "recounts": "recounts",
    "excess_receipts": "deliveries",
    "entries_to_review": "logs",
    "uncollected": "headers",
}
"""List of the service from which the exceptions of a kind are known."""


class ExceptionsState(NamedTuple):
    """State of the summary and of the list of one kind."""

    kind: str = ""
    """Kind that is listed; empty for the summary."""
    counts: tuple[tuple[str, int], ...] = ()
    unread_lists: tuple[str, ...] = ()
    """Lists that were never read: what comes from them is not known yet."""
    difference_value: Decimal = Decimal(0)
    """Sum of the absolute values of all differences."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[Any, ...] = ()
    """Rows of the kind that is listed."""
    total: int = 0
    is_marking: bool = False
    """True if numbers mark rows instead of opening them."""
    marked: tuple[str, ...] = ()
    scanned: tuple[Match, ...] = ()
    """Product or location whose differences are looked for, to mark them."""
    question: str = ""
    """`approve` or `recount` while that is asked for all marked rows; else the key of the opened difference."""
    opened: tuple[DifferencesRow, ...] = ()
    """Opened difference, if it is not among the rows: others are before it, or it is settled. In a question for all
    marked rows: the one in focus, if none is marked."""
    is_settled: bool = False
    """True if the opened difference is not to be decided any more."""
    approved: tuple[DifferencesRow, ...] = ()
    """Differences approved last; they can be undone."""
    accepted: tuple[ExcessReceiptsRow, ...] = ()
    """Line with excess accepted last; it can be undone."""
    features: tuple[str, ...] = ()
    """Features that the service announces."""
    stuck_minutes: Decimal = STUCK_MINUTES
    """Minutes without an event after which an order is stuck."""
    is_loaded: bool = False
    size: int = 12
    """Number of rows that fit on the screen."""
    opened_directly: bool = False
    """True if the list of one kind was opened directly. Back then leaves the job."""

    @property
    def visible_kinds(self) -> tuple[str, ...]:
        """Kinds of the summary that are on the screen."""
        return EXCEPTION_KINDS[self.first : self.first + self.size]


Result = Turn[ExceptionsState]


def is_unknown(state: ExceptionsState, kind: str) -> bool:
    """Return True if the exceptions of this kind are not known yet, because their list was not read."""
    return LIST_OF_KIND.get(kind) in state.unread_lists


def shown_counts(state: ExceptionsState) -> tuple[int | None, ...]:
    """Return the numbers above a list; None for those that are not known yet."""
    return tuple(None if is_unknown(state, kind) else count for kind, count in state.counts)


Actions = tuple[Action[ExceptionsState], ...]

TO_REVIEW = "1"
"""Value of review_status (interface) with which aisle's own service asks for a review. It keeps no review of status
0."""

NOT_REVIEWED, REVIEWED = 1, 2
"""Values of review_status (interface) that are written."""


def is_review_kept(state: ExceptionsState, row: DifferencesRow) -> bool:
    """Return True if the service stores the approval of this difference; otherwise only this host does."""
    return "reviews" in state.features and row["key"].isdecimal() and row["review_status"] == TO_REVIEW


def _is_recount_kept(state: ExceptionsState, row: DifferencesRow) -> bool:
    return "recounts" in state.features and row["key"].isdecimal()


def approval_effects(
    state: ExceptionsState, rows: Sequence[DifferencesRow], store: str, text: str = "approved", status: int = REVIEWED
) -> Iterable[Effect]:
    """Yield the effects that approve differences, or undo that. The service is sent what it wants reviewed."""
    for row in rows:
        yield _review_note(row, text, is_review_kept(state, row))
    if kept := [row["key"] for row in rows if is_review_kept(state, row)]:
        reviews = [{"id": int(key), "review_status": status} for key in kept]
        yield write_at_store("review-logs", tuple(f"log/{key}" for key in kept), store, {"reviews": reviews})


def _recount_effects(state: ExceptionsState, rows: Sequence[DifferencesRow], store: str) -> Iterable[Effect]:
    """Yield the effects that order recounts: a write for entries of the service, local notes for all others."""
    for row in rows:
        yield _review_note(row, "recount", _is_recount_kept(state, row))
    if kept := [row["key"] for row in rows if _is_recount_kept(state, row)]:
        recounts = [{"log_id": int(key)} for key in kept]
        yield write_at_store("write-recounts", tuple(f"log/{key}" for key in kept), store, {"recounts": recounts})
    for row in rows:
        if row["key"] not in kept:
            yield recount_note(row, row["label"] or row["product_number"])


def _review_note(row: DifferencesRow, text: str, mirrors_write: bool) -> LocalNote:
    return LocalNote("review", row["key"], text, needs_supervisor=True, mirrors_write=mirrors_write)


def apply_decision(state: ExceptionsState, rows: tuple[DifferencesRow, ...], context: Context, decision: str) -> Result:
    """Approve the differences or order recounts. The verdict says how many approvals only this host stores."""
    if decision == "approve":
        effects = tuple(approval_effects(state, rows, context.store))
        here = sum(not is_review_kept(state, row) for row in rows)
        text = msg("exceptions.approved_on_host" if here else "exceptions.approved", count=len(rows), here=here)
    else:
        effects = tuple(_recount_effects(state, rows, context.store))
        text = msg("count.to_recounts", count=len(rows))
    done = {row["key"] for row in rows}
    rest = tuple(row for row in state.rows if row["key"] not in done)
    total = max(len(rest), state.total - len(rows))
    moved = {"recounts": len(rows)} if decision == "recount" else {}
    state = with_count_changes(state, {"differences": -len(rows), **moved})
    state = close_question(state)._replace(marked=(), is_marking=False, rows=rest, total=total, cursor=-1)
    state = state._replace(approved=rows if decision == "approve" else ())
    return Turn(state, effects, Verdict(GOOD if rows else INFO, text))


def with_count_changes(state: ExceptionsState, changes: Mapping[str, int]) -> ExceptionsState:
    """Return the state with these changes of the numbers of exceptions, so that they fit the rows at once."""
    counts = tuple((kind, max(0, count + changes.get(kind, 0))) for kind, count in state.counts)
    state = state._replace(counts=counts)
    shown = shown_counts(state) if state.options.counts else ()
    return state._replace(options=state.options._replace(counts=shown))


def start_count(row: DifferencesRow | NegativeStockRow | RecountsRow) -> Start:
    """Return the count that resolves it: at its location, or of the product at all locations."""
    where = {"location_code": row["location_code"]} if row["location_code"] else {}
    return Start("count", {**where, "product_number": row["product_number"], "label": row["label"]})


def recount_note(row: DifferencesRow | RecountsRow, text: str, *, mirrors_write: bool = False) -> LocalNote:
    """Return the note of a recount on this host; an empty text withdraws it."""
    key = f"{row['product_number']}/{row['location_code']}"
    return LocalNote("recount", key, text, needs_supervisor=True, mirrors_write=mirrors_write)


def write_at_store(operation: str, lanes: tuple[str, ...], store: str, body: Any) -> Write:
    """Return a supervisor's write to the store."""
    return Write(operation, lanes, {"store_number": store}, {}, body, needs_supervisor=True)


class DecisionQuestion(FormPage[ExceptionsState]):
    """Question what becomes of differences."""

    prompt_text = msg("unconfirmed.choose")
    title_text = msg("exceptions.differences")
    typed_only = True

    def go_back(self, state: ExceptionsState, context: Context) -> Result:
        return reply(close_question(state), INFO, "session.dropped")


MAX_NAMED = 5
"""Most differences that a question names."""


class ManyQuestion(DecisionQuestion):
    """Question whether all marked differences, or the one in focus, are approved or counted again."""

    name = "exceptions.many"

    def lines(self, state: ExceptionsState) -> tuple[Line, ...]:
        many = "exceptions.approve_many" if state.question == "approve" else "exceptions.recount_many"
        keys = _asked_keys(state)
        named = [_named_difference(row) for row in state.rows if row["key"] in keys]
        if len(keys) > MAX_NAMED:
            named[MAX_NAMED:] = [raw("…")]
        return (Line("product", msg(many, count=len(keys))), *(Line("note", text) for text in named))

    def actions(self, state: ExceptionsState) -> Actions:
        return (Action(msg("order_actions.yes"), _query_marked), Action(msg("order_actions.no"), self.go_back))


def _asked_keys(state: ExceptionsState) -> tuple[str, ...]:
    return state.marked or tuple(row["key"] for row in state.opened)


def _named_difference(row: DifferencesRow) -> Msg:
    """Return a difference with its quantity and its value."""
    return msg(
        "exceptions.named_difference",
        label=row["label"],
        difference=signed_message(row["difference"]),
        value=value_message(row),
    )


def value_message(row: DifferencesRow) -> Msg:
    """Return the value of a difference with its sign."""
    if not row["known"]:
        return msg("exceptions.no_price")
    return signed_message(row["value"], money_message(abs(row["value"])))


def _query_marked(state: ExceptionsState, context: Context) -> Result:
    return Turn(state, (Query("marked", "differences", {"keys": list(_asked_keys(state))}, is_live=True),))


class OneQuestion(DecisionQuestion):
    """Question what becomes of one difference."""

    name = "exceptions.one"

    def prompt(self, state: ExceptionsState) -> Msg:
        return msg("unconfirmed.prompt_none") if state.is_settled else super().prompt(state)

    def lines(self, state: ExceptionsState) -> tuple[Line, ...]:
        row = opened_rows(state)[0]
        settled = (Line("note", msg("unconfirmed.resolved_meanwhile")),) if state.is_settled else ()
        return (*_difference_lines(row, is_review_kept(state, row)), *settled)

    def actions(self, state: ExceptionsState) -> Actions:
        if state.is_settled:
            return ()
        row = opened_rows(state)[0]
        look_up = Start("look_up", {"product_number": row["product_number"], "label": row["label"]})
        return (
            Action(msg("exceptions.approve"), lambda state, _: Turn(state, (_query_opened(state, "approve"),))),
            Action(msg("exceptions.recount"), lambda state, _: Turn(state, (_query_opened(state, "recount"),))),
            Action(msg("hint.count_this"), lambda state, _: Turn(close_question(state), (start_count(row),))),
            Action(msg("look_up.title"), lambda state, _: Turn(state, (look_up,))),
        )


def _query_opened(state: ExceptionsState, id_: str) -> Query:
    """Return the query for the opened difference, which may be settled since: while a PIN was asked for, or else."""
    return Query(id_, "differences", {"keys": [state.question]}, is_live=True)


def decide_opened(state: ExceptionsState, rows: tuple[DifferencesRow, ...], context: Context, decision: str) -> Result:
    """Apply a decision to the opened difference, unless it is settled."""
    return apply_decision(state, rows, context, decision) if rows else update_opened(state, rows)


def close_question(state: ExceptionsState) -> ExceptionsState:
    """Return the state at the list."""
    return state._replace(question="", opened=(), is_settled=False)


def opened_rows(state: ExceptionsState) -> tuple[DifferencesRow, ...]:
    """Return the difference that is open."""
    return tuple(row for row in state.rows if row["key"] == state.question) or state.opened


def keep_opened(state: ExceptionsState, before: ExceptionsState) -> Result:
    """Keep the opened difference on the screen if it is not among the new rows, and query whether it is settled."""
    if any(row["key"] == state.question for row in state.rows):
        return Turn(state._replace(opened=(), is_settled=False))
    return Turn(state._replace(opened=opened_rows(before)), (_query_opened(state, "opened"),))


def update_opened(state: ExceptionsState, rows: tuple[DifferencesRow, ...]) -> Result:
    """Update the opened difference; one that is not listed any more is settled, which is told once."""
    if rows or state.is_settled:
        return Turn(state._replace(opened=rows or state.opened, is_settled=not rows))
    query = Query("settled", "log", {"key": state.question}, is_live=True)
    return reply(state._replace(is_settled=True), INFO, "unconfirmed.resolved_meanwhile", query)


def _difference_lines(row: DifferencesRow, is_review_kept: bool) -> tuple[Line, ...]:
    far = msg("exceptions.counted", counted=row["counted"], difference=signed_message(row["difference"]))
    worth = (
        msg("exceptions.value", value=money_message(abs(row["value"]))) if row["known"] else msg("exceptions.no_price")
    )
    by = msg("exceptions.counted_by", who=row["user_name"], at=msg("moment", at=row["at"]))
    where = (Line("location", raw(row["location_code"])),) if row["location_code"] else ()
    notes = (worth, by) if is_review_kept else (worth, by, msg("exceptions.kept_on_host"))
    return (Line("product", raw(row["label"])), *where, Line("quantity", far), *(Line("note", note) for note in notes))


ONE, MANY = OneQuestion(), ManyQuestion()

EXCESS_QUERY = "excess_receipts"
"""Query of the lines with excess that nobody has accepted."""


def acceptance_effects(rows: Sequence[ExcessReceiptsRow], store: str, *, is_undone: bool = False) -> tuple[Effect, ...]:
    """Return the effects that accept the received quantities, or undo that.

    The service is sent the review of the log entries that it wants reviewed. It has no other field for it.
    """
    notes = [
        LocalNote(
            ACCEPTED_EXCESS,
            row["note_key"],
            "" if is_undone else str(row["received"]),
            needs_supervisor=True,
            mirrors_write=bool(row["to_review"]),
        )
        for row in rows
    ]
    status = NOT_REVIEWED if is_undone else REVIEWED
    keys = list(dict.fromkeys(key for row in rows for key in row["to_review"]))
    if not keys:
        return tuple(notes)
    reviews = [{"id": int(key), "review_status": status} for key in keys]
    lanes = tuple(f"log/{key}" for key in keys)
    return (*notes, write_at_store("review-logs", lanes, store, {"reviews": reviews}))


def acceptance_verdict(rows: Sequence[ExcessReceiptsRow]) -> Verdict:
    """Return what was accepted, and whether only this host knows it."""
    is_kept = all(row["to_review"] for row in rows)
    label = rows[0]["description"]
    if len(rows) == 1:
        return Verdict(GOOD, msg("excess.accepted" if is_kept else "excess.accepted_on_host", label=label))
    return Verdict(GOOD, msg("excess.lines_accepted" if is_kept else "excess.lines_accepted_on_host", count=len(rows)))


def undone_acceptance_verdict(rows: Sequence[ExcessReceiptsRow]) -> Verdict:
    """Return how many lines are listed again."""
    return Verdict(GOOD, msg("excess.undone", count=len(rows)))
