"""Pages of the job for lost and found goods: product, location, quantity and reason."""

from __future__ import annotations

from aisle.jobs import stock_pool_names
from aisle.jobs.adjust_state_and_reasons import AdjustState, Reason, reason_of_expired
from aisle.jobs.choice_letters import assign_letters, quantity_prompt
from aisle.jobs.count.count_state import CountLine
from aisle.jobs.list_cursor_and_search import scroll_rows
from aisle.jobs.name_goods_and_locations import amount_of
from aisle.jobs.view import BACK, NEXT_PAGE, KeyHint, LabelledValue, Line, ListView, Msg, Row, Step, View, msg, raw

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
    return stock_pool_names.pool_name(state.pools, line.pool) if has_several else ""
