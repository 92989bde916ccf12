"""Lost and found goods: state and reasons of their job, its pages, and the undo of a log entry."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import log_writes_and_refusals, names_in_messages
from aisle.jobs.count import undo_sent_count
from aisle.jobs.count.count_state import CountLine
from aisle.jobs.count.sent_count_types import StockChange
from aisle.jobs.job import Close, Context, Effect, Turn, reply
from aisle.jobs.list_cursor_and_search import scroll_rows
from aisle.jobs.names_in_messages import Pools, amount_of, unit_of
from aisle.jobs.typed_numbers_dates_and_letters import QuantityQuestion, assign_letters, quantity_prompt
from aisle.jobs.view import (
    BACK,
    NEXT_PAGE,
    WRONG,
    KeyHint,
    LabelledValue,
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
    undo_verdict,
)
from aisle.scan.grammar_and_meaning_types import Match
from aisle.settings.setting_definitions import LARGE_QUANTITY, LOSS_REASONS

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import MyEntriesRow, ReasonsRow
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow
    from aisle.operation_body_types import LogEntry


MAX_CHOICES = 99
"""Most rows of a question that can be chosen; each row needs one key."""

MAX_UNDO = 20
"""Number of sent adjustments that can be undone, the last one first."""

_EXPIRY = re.compile(
    r"expir|best before|out of date|use.by|p[eé]rim|abgelaufen|ablauf|verfall|mhd|verlopen|houdbaar|\btht\b|over datum",
    re.IGNORECASE,
)
"""Words that name expired goods, in any language of aisle."""

_REASON = re.compile(r"\s*(\d+)\s*([+-])\s*(\S.*)")


class Reason(NamedTuple):
    """Reason of an adjustment. `sign` is 1 if the stock grows, -1 if it shrinks."""

    code: int
    sign: int
    text: str


class SentAdjustment(NamedTuple):
    """Adjustment that was sent and can be undone."""

    line: CountLine
    quantity: Decimal
    """Quantity as it was sent, with its sign."""
    at: str
    """Time of its entry in the log."""
    pool_name: str = ""
    """Name of its stock pool, if the product lies there in several."""


class AdjustState(NamedTuple):
    """State of an adjustment that is being entered."""

    phase: str = "product"
    """`product`, `location`, `quantity` or `reason`."""
    location: str = ""
    default_pool: int = 0
    """Pool at a location where no stock of the product is known."""
    line: CountLine | None = None
    candidates: tuple[CountLine, ...] = ()
    """Locations and pools that have the product according to the stock data."""
    quantity: Decimal = Decimal(0)
    earlier_quantities: tuple[Decimal, ...] = ()
    """Quantity before each further entry for this line, for undo."""
    pending_scan: Match | None = None
    reasons: tuple[Reason, ...] = ()
    first_row: int = 0
    """Rows of the question above the first one on the screen."""
    page_size: int = MAX_CHOICES
    """Rows of the question that the screen shows."""
    sent: tuple[SentAdjustment, ...] = ()
    closes_after_send: bool = False
    starts_at_zero: bool = False
    """True if the job was opened for a product: the person says how many, and the first scan makes one."""
    expired_on: str = ""
    """Expiry date of the goods that are lost."""
    closes_after_undo: bool = False
    """True if the job was opened only to undo what another one had it send."""
    pools: Pools = ()
    has_expected: bool = False
    """True if stock figures of the product are known. A location without a figure then has an expected quantity of
    0."""
    chosen_reason: Reason | None = None
    """Chosen reason while the person confirms a loss above the expected quantity."""
    reason_number: int = 0
    """Number by which it was chosen; 0 if the quantity was set after it."""
    exceeded_answer: str = ""
    """Answer to the question if more than the stock is lost, while the stock is read again."""
    question: QuantityQuestion | None = None
    """Question about a quantity. Nothing else is accepted before its answer."""
    looked_up_number: Decimal | None = None
    """Digits for which a lookup of record numbers is under way."""
    large_quantity: Decimal = LARGE_QUANTITY
    """Quantity from which a confirmation is asked if the expected quantity is unknown."""
    confirmed_quantity: Decimal | None = None
    """Implausibly large quantity that the person has confirmed. It is not asked again."""
    chosen_location: str = ""
    """Location of the product before a count, which is not asked again after it."""
    is_location_chosen: bool = False
    """True if a person chose the location of the product in hand from a list."""
    chosen_pool: int | None = None
    """Pool that was chosen before a count, which is not asked again after it."""


def parse_reasons(lines: Iterable[str], logged: Iterable[ReasonsRow] = ()) -> tuple[Reason, ...]:
    """Return the reasons of a table, then those found in logs. A line of the table is `code - words` or `code + words`;
    other lines are ignored. An empty table gives the defaults."""
    found = _parse_table(lines) or _parse_table(LOSS_REASONS)
    codes = {reason.code for reason in found}
    for row in logged:
        code = int(row["reason_code"])
        if code not in codes:
            codes.add(code)
            found.append(Reason(code, 1 if row.get("adds") else -1, str(row["reason_code_description"])))
    return tuple(found)


def reason_of_expired(state: AdjustState) -> Reason | None:
    """Return the reason by which expired goods are lost without a question: the only one whose words name expiry."""
    named = [reason for reason in state.reasons if reason.sign < 0 and _EXPIRY.search(reason.text)]
    return named[0] if state.expired_on and len(named) == 1 else None


def _parse_table(lines: Iterable[str]) -> list[Reason]:
    read = (_REASON.fullmatch(line) for line in lines)
    return [Reason(int(line[1]), 1 if line[2] == "+" else -1, line[3].strip()) for line in read if line]


COLUMN_HEADS = {
    "location": (msg("head.location"), msg("head.expected")),
    "reason": (msg("head.reason"), msg("head.stock")),
}

COMMAND_LETTERS = "du"
"""Letters that confirm the quantity and undo the last one."""

PROMPTS = {
    "product": "adjust.prompt_product",
    "location": "adjust.prompt_location",
    "quantity": "adjust.prompt_quantity",
    "reason": "adjust.prompt_reason",
}


def adjust_view(state: AdjustState) -> View:
    """Return the screen of the current phase."""
    if state.phase in ("location", "reason"):
        return _question(state)
    item = state.line
    if item is None:
        hints = (KeyHint("u", msg("hint.undo")),) if state.sent else ()
        lines = [Line("location", msg("raw", text=state.location))] if state.location else []
        lines.append(Line("note", msg("adjust.note")))
    else:
        undo = (KeyHint("u", msg("hint.undo")),) if state.earlier_quantities else ()
        hints = (KeyHint("d", msg("hint.done" if reason_of_expired(state) else "head.reason")), *undo)
        lines = [Line("location", location_name(item, name_of_pool(state, item))), Line("product", raw(item.label))]
        if state.quantity:
            lines.append(Line("quantity", msg("adjust.quantity", quantity=amount_of(item, state.quantity))))
        if state.expired_on:
            lines.append(Line("note", msg("expiry.expires", day=msg("store_product.day", at=state.expired_on))))
    return Step(
        name=f"adjust.{state.phase}",
        title=msg("adjust.title"),
        prompt=_prompt(state),
        lines=tuple(lines),
        labelled_values=(LabelledValue(msg("label.product_number"), raw(item.product)),) if item else (),
        choices=question_choices(state),
        choice_letters=choice_letters(state),
        key_hints=(*hints, BACK),
    )


def _prompt(state: AdjustState) -> Msg:
    if not question_choices(state):
        return msg("count.prompt_quantity" if reason_of_expired(state) else PROMPTS[state.phase])
    return quantity_prompt(choice_letters(state), scans=not state.question)


def exceeded_choices(state: AdjustState) -> tuple[tuple[str, Msg], ...]:
    """Return kinds and texts of the choices when more is lost than expected; empty if that is not asked."""
    if state.line is None or state.chosen_reason is None:
        return ()
    line = state.line
    expected = msg("goods.only", quantity=amount_of(line, line.expected))
    fit = (("fit", expected),) if line.expected > 0 else ()
    where = location_name(line, name_of_pool(state, line))
    return (
        *fit,
        ("over", msg("goods.all_anyway", quantity=amount_of(line, state.quantity))),
        ("count", msg("move.choice_count", place=where)),
    )


def location_name(line: CountLine, pool_name: str) -> Msg:
    """Return the location, with the name of the stock pool if there is one to name."""
    place = msg("raw", text=line.location) if line.location else msg("count.without_location")
    return msg("count.in_pool", label=place, pool=pool_name) if pool_name else place


def question_choices(state: AdjustState) -> tuple[Msg, ...]:
    """Return the choices of the open question: what a number means, or how many were lost."""
    if state.question is None:
        return tuple(text for _, text in exceeded_choices(state))
    asked = state.question.quantity
    return state.question.choices(amount_of(state.line, asked) if state.line else asked)


def choice_letters(state: AdjustState) -> str:
    """Return the letters of the choices. A typed number always is the quantity."""
    kinds = state.question.kinds if state.question else (kind for kind, _ in exceeded_choices(state))
    return assign_letters(kinds, COMMAND_LETTERS)


def _question(state: AdjustState) -> ListView:
    assert state.line is not None
    total = len(state.candidates if state.phase == "location" else state.reasons)
    more = (NEXT_PAGE,) if total > state.page_size else ()
    return ListView(
        name=f"adjust.{state.phase}",
        title=_question_title(state, state.line),
        prompt=msg(PROMPTS[state.phase]),
        column_heads=COLUMN_HEADS[state.phase],
        rows=visible_rows(state),
        first=state.first_row,
        total=total,
        numbered_rows=len(visible_rows(state)),
        key_hints=(*more, BACK),
    )


def _question_title(state: AdjustState, line: CountLine) -> Msg:
    """Return the title of a question about a product; there is no quantity before it is said."""
    if not state.quantity:
        return msg("adjust.title_of_product", label=line.label)
    return msg("adjust.title_of", label=line.label, quantity=amount_of(line, state.quantity))


def visible_rows(state: AdjustState) -> tuple[Row, ...]:
    """Return the rows of the question that fit on the screen."""
    if state.phase == "location":
        rows = tuple(_location_row(state, line) for line in state.candidates)
    elif state.phase == "reason":
        rows = tuple(_reason_row(reason) for reason in state.reasons)
    else:
        return ()
    return rows[state.first_row : state.first_row + state.page_size]


def _location_row(state: AdjustState, line: CountLine) -> Row:
    return Row(
        f"{line.location}/{line.pool}",
        (
            location_name(line, name_of_pool(state, line)),
            raw("?") if line.is_expected_unknown else msg("estimate", value=amount_of(line, line.expected)),
        ),
    )


def _reason_row(reason: Reason) -> Row:
    return Row(str(reason.code), (raw(reason.text), msg("adjust.increases" if reason.sign > 0 else "adjust.decreases")))


def scroll(state: AdjustState, key: str) -> AdjustState:
    """Scroll the rows of the question."""
    return state._replace(first_row=scroll_rows(state.first_row, _row_count(state), state.page_size, key))


def fill_last_page(state: AdjustState) -> AdjustState:
    """Move the first row up until the last page is full."""
    return state._replace(first_row=max(0, min(state.first_row, _row_count(state) - state.page_size)))


def _row_count(state: AdjustState) -> int:
    return len(state.candidates if state.phase == "location" else state.reasons)


def name_of_pool(state: AdjustState, line: CountLine) -> str:
    """Return the name of the line's stock pool; empty if the product lies in one pool there."""
    has_several = sum(other.location == line.location for other in state.candidates) > 1
    return names_in_messages.pool_name(state.pools, line.pool) if has_several else ""


Result = Turn[AdjustState]


def log_entry(line: CountLine, quantity: Decimal, context: Context, undoes: str = "") -> LogEntry:
    """Return the log entry of lost or found goods; `undoes` is the time of the entry that it reverses."""
    return log_writes_and_refusals.stock_change_entry(
        line.product, line.location, line.pool, quantity, context, undoes=undoes
    )


def ask_undo(state: AdjustState, context: Context) -> Result:
    """Query what the service booked for the last adjustment, to undo it."""
    if not state.sent:
        return reply(state, WRONG, "pick.nothing_to_undo")
    return Turn(state, (undo_sent_count.query_booked((_stock_change(state.sent[-1]),), context),))


def _stock_change(sent: SentAdjustment) -> StockChange:
    line = sent.line
    return StockChange(line.product, line.location, line.pool, sent.quantity, sent.at, line.label, unit_of(line))


def check_later_count(state: AdjustState, rows: tuple[MyEntriesRow, ...]) -> Result:
    """Undo nothing if somebody counted the goods since; else query whether the service refused the adjustment."""
    if not state.sent:
        return Turn(state)
    sent = state.sent[-1]
    change = _stock_change(sent)
    entry = undo_sent_count.entry_of(change, rows)
    if entry and entry["later_count"] is not None:
        counted = undo_sent_count.with_later_quantity(change, entry)
        return _end_undo(state, Verdict(WRONG, undo_sent_count.counted_since_message(counted)))
    return Turn(state, (log_writes_and_refusals.query_refused_since([sent.at]),))


def send_undo(state: AdjustState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Undo the last adjustment by its opposite, which names it, so that it cannot be undone twice."""
    if not state.sent:
        return Turn(state)
    sent = state.sent[-1]
    if refused := log_writes_and_refusals.refused_entry(rows, sent.line.product, sent.at):
        return _end_undo(state, log_writes_and_refusals.refusal_verdict(refused))
    writes = log_writes_and_refusals.log_writes([log_entry(sent.line, -sent.quantity, context, sent.at)], context)
    change = signed_message(-sent.quantity, amount_of(sent.line, abs(sent.quantity)))
    where = names_in_messages.at_location(location_name(sent.line, sent.pool_name) if sent.line.location else "")
    verdict = undo_verdict(msg("adjust.undone", label=sent.line.label, change=change, where=where))
    return _end_undo(state, verdict, writes)


def _end_undo(state: AdjustState, verdict: Verdict, writes: tuple[Effect, ...] = ()) -> Result:
    """Return the state without the last adjustment; close the job if it was opened only for this."""
    close = (Close(verdict),) if state.closes_after_undo else ()
    return Turn(state._replace(sent=state.sent[:-1]), (*writes, *close), verdict)
