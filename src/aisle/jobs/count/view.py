"""Views of the count job, one for each step. A blind count hides expected quantities until the summary."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from aisle.jobs.count import changes_since_count, count_lines, count_state, later_counts
from aisle.jobs.count.count_state import CountLine, CountState, CountTarget
from aisle.jobs.job import money_message
from aisle.jobs.names_in_messages import amount_of, unit_of
from aisle.jobs.typed_numbers_dates_and_letters import assign_letters, letter_prompt, quantity_prompt
from aisle.jobs.view import (
    BACK,
    NEXT_PAGE,
    KeyHint,
    LabelledValue,
    Line,
    ListView,
    Msg,
    Row,
    Step,
    UpcomingStop,
    View,
    msg,
    raw,
    signed_message,
)

ANSWER_KINDS = {
    "missing": ["not_there", "leave_it", "count", "leave_all"],
    "summary": ["finish", "count", "back"],
    "leave": ["finish", "throw_away", "back"],
}

COMMAND_LETTERS = "dulkn"
"""Command letters of the pages on which products are counted."""

_COMMANDS_OF_QUESTION = {"missing": "u", "leave": "u", "summary": "nu"}
"""Command letters of the pages that ask something before a count is sent or left."""

MAX_UPCOMING = 12

UNDO = KeyHint("u", msg("hint.undo"))


def step_name(state: CountState) -> str:
    """Return the name of the current step."""
    if state.phase == "count":
        return "count.stop" if state.mode == "product" else "count.product"
    return f"count.{state.phase}"


def view(state: CountState) -> View:
    """Return the view of the current step."""
    match state.phase:
        case "start":
            return _start(state)
        case "list":
            return _list(state)
        case "count":
            return _count(state)
        case "missing":
            return _missing(state, state.question_index)
        case "recount":
            return _recount(state, state.lines[state.question_index])
        case "summary":
            return _summary(state)
        case "pool":
            return _pools(state)
    return _leave(state)


def choices(state: CountState) -> tuple[Msg, ...]:
    """Return the texts of the open choices, or of the numbered ones on a page without quantities."""
    if state.question:
        line, quantity = open_quantity_line(state), state.question.quantity
        return state.question.choices(amount_of(line, quantity) if line else quantity)
    if state.choices:
        return tuple(map(_choice_text, state.choices))
    match state.phase:
        case "start":
            listed = msg("count.to_list_of", count=len(state.plan)) if state.plan else msg("count.to_list")
            recounts = (msg("count.to_recounts", count=state.ordered_recounts),) if state.ordered_recounts else ()
            return (msg("adjust.title"), msg("count.to_my_entries"), listed, *recounts)
        case "missing":
            return _missing_choices(state)
        case "summary":
            return (msg("count.send"), msg("count.recount"), msg("move.go_on"))
        case "leave":
            return (msg("count.finish"), msg("count.throw_away", count=len(state.counted_lines)), msg("move.go_on"))
    return ()


def _missing_choices(state: CountState) -> tuple[Msg, ...]:
    """Return the answers about a line that was not scanned. A number sets one pool; the answers that hold for several
    name them."""
    missing = count_lines.count_missing(state)
    same_product = count_lines.missing_in_pools(state, state.question_index)
    for_all = [msg("count.not_there"), msg("count.skip")]
    if len(same_product) > 1:
        names = count_lines.name_of_pools(state, *same_product)
        for_all = [msg("count.in_pool", label=text, pool=names) for text in for_all]
    answers = (*for_all, msg("hint.count_this"))
    return (*answers, msg("count.skip_all", count=missing)) if missing > 1 else answers


def open_quantity_line(state: CountState) -> CountLine | None:
    """Return the line whose quantity a number sets; None if there is none."""
    if state.phase in ("missing", "recount"):
        return state.lines[state.question_index] if state.question_index >= 0 else None
    # While the next target is asked for, a number would set its quantity.
    return state.current_line if state.phase == "count" and not state.choices else None


def choice_letters(state: CountState) -> str:
    """Return the letters of the choices while products are counted; empty where they are numbered.

    Before a count is sent they are letters too: a number there corrects the last quantity, and answers nothing."""
    if state.phase in ("start", "list", "pool"):
        return ""
    kinds = [choice.kind if choice.kind == count_state.FOUND_BY_WORDS else "then" for choice in state.choices]
    kinds = [*state.question.kinds] if state.question else kinds
    kinds = kinds or ANSWER_KINDS.get(state.phase, [])[: len(choices(state))]
    return assign_letters(kinds, _COMMANDS_OF_QUESTION.get(state.phase, COMMAND_LETTERS))


def _choice_text(choice: CountTarget) -> Msg:
    label = choice.label or choice.key
    return raw(label) if choice.kind == count_state.FOUND_BY_WORDS else msg("count.choice_next", label=label)


def _title(state: CountState) -> Msg:
    if state.mode == "product":
        return msg("count.title_location", place=state.label)
    if state.location:
        return msg("count.title_location", place=state.location)
    if len({line.product for line in state.lines}) == 1:
        return msg("count.title_location", place=state.lines[0].label)
    return msg("count.title")


def _step(state: CountState, prompt: Msg, lines: Iterable[Line], *hints: KeyHint) -> Step:
    return Step(
        name=step_name(state),
        title=_title(state),
        prompt=prompt,
        lines=tuple(lines),
        choices=choices(state),
        choice_letters=choice_letters(state),
        key_hints=hints,
    )


def _start(state: CountState) -> Step:
    undo = (UNDO,) if state.last_sent else ()
    return _step(state, msg("count.prompt_start"), (Line("note", msg("count.note_start")),), *undo, BACK)


def _list_view(state: CountState, prompt: Msg, heads: tuple[Msg, ...], rows: tuple[Row, ...]) -> ListView:
    return ListView(
        name=step_name(state),
        title=_title(state),
        prompt=prompt,
        column_heads=heads,
        rows=rows[state.first_row :],
        first=state.first_row,
        total=len(rows),
    )


def _list(state: CountState) -> ListView:
    rows = tuple(Row(f"{each.kind}/{each.key}", (raw(each.label or each.key),)) for each in state.plan)
    hints = [KeyHint("d", msg("hint.start"))] if rows else []
    if any(each.key == state.location for each in state.plan):
        hints.append(KeyHint("w", msg("hint.whole_aisle")))
    hints += [UNDO, BACK] if rows else [BACK]
    return _list_view(state, msg("count.prompt_list"), (msg("head.to_count"),), rows)._replace(
        title=msg("count.title_list", count=len(rows)),
        empty=msg("count.list_note"),
        key_hints=(*hints, NEXT_PAGE) if len(rows) > 1 else tuple(hints),
    )


def _count(state: CountState) -> Step:
    item, left_as_is = state.current_line, [item for item in state.lines if item.is_left_as_is and item.counted is None]
    lines = [Line("location", _location_text(state, item))]
    if item:
        lines += [
            Line("product", count_lines.label_with_pools(state, state.current_index)),
            Line("quantity", _quantity_text(state, item)),
            *later_counts.later_lines(item),
            *changes_since_count.booked_lines(state, item),
        ]
    elif not state.lines:
        lines.append(
            Line("note", msg("locations.locations_unknown" if state.are_locations_unknown else "count.note_empty"))
        )
    elif state.is_blind:
        lines.append(Line("note", msg("count.note_blind")))
    elif not state.has_unread_lines and not any(item.is_missing for item in state.lines):
        lines.append(
            Line("note", msg("count.note_left", count=len(left_as_is)) if left_as_is else msg("count.note_all"))
        )
    return _step(state, _prompt(state, item), lines, *_hints(state))._replace(
        labelled_values=_labelled_values(state, item) if item else (),
        upcoming=_upcoming_lines(state),
        upcoming_title=msg("head.to_count"),
        done=Decimal(len(state.counted_lines)),
        total=Decimal(
            state.product_count if state.has_unread_lines else sum(_counts_in_total(item) for item in state.lines)
        ),
    )


def _counts_in_total(line: CountLine) -> bool:
    return line.counted is not None or line.is_missing


def _location_text(state: CountState, line: CountLine | None) -> Msg:
    location = line.location if line and state.mode == "product" else state.location
    return msg("raw", text=location) if location else msg("count.without_location")


def _quantity_text(state: CountState, line: CountLine) -> Msg:
    if line.counted is None:
        return (
            msg("count.none_yet")
            if state.is_blind or line.is_expected_unknown
            else msg("count.expected", expected=amount_of(line, line.expected))
        )
    expected = line.latest.expected if line.later and line.latest else line.expected
    if state.is_blind or not expected:
        return msg("count.counted_so_far", counted=amount_of(line, line.counted))
    return msg("count.counted_so_far_of", counted=amount_of(line, line.counted), expected=amount_of(line, expected))


def _prompt(state: CountState, line: CountLine | None) -> Msg:
    if state.choices or state.question:
        prompt = quantity_prompt if open_quantity_line(state) else letter_prompt
        return prompt(choice_letters(state), scans=not state.question)
    if state.mode == "product":
        return _stop_prompt(state, line)
    if line is None:
        return msg("count.prompt_product")
    if state.only_product:
        return msg("count.prompt_only")
    return msg("count.prompt_quantity")


def _stop_prompt(state: CountState, line: CountLine | None) -> Msg:
    """Return the prompt at a location of the product: once it is counted here, also what goes on to the next one."""
    next_index = count_lines.next_stop(state)
    if line is None or line.counted is None or next_index == state.current_index:
        return msg("count.prompt_stop")
    location = state.lines[next_index].location
    if location and location.casefold() != line.location.casefold():
        return msg("count.prompt_stop_then", place=location)
    return msg("count.prompt_stop_next")


def _labelled_values(state: CountState, line: CountLine) -> tuple[LabelledValue, ...]:
    values = [LabelledValue(msg("label.product_number"), raw(line.product))]
    if line.held and not state.is_blind and (line.location or state.mode == "location"):
        values.append(LabelledValue(msg("label.held"), msg("number", value=amount_of(line, line.held))))
    if line.pool and len(state.pools) > 1:
        values.append(LabelledValue(msg("label.pool"), _pool_text(state, line.pool)))
    if line.unit:
        values.append(LabelledValue(msg("product.base_unit_name"), raw(line.unit)))
    if line.price:
        values.append(LabelledValue(msg("label.price"), money_message(line.price)))
    return tuple(values)


def _pool_text(state: CountState, number: int) -> Msg:
    name = dict(state.pools).get(number)
    return msg("count.pool_of", number=number, name=name) if name else msg("number", value=number)


def _upcoming_lines(state: CountState) -> tuple[UpcomingStop, ...]:
    if state.is_blind:
        return ()
    indexes = [index for index, item in enumerate(state.lines) if index != state.current_index and item.is_missing][
        :MAX_UPCOMING
    ]
    return tuple(_upcoming_line(state, index) for index in indexes)


def _upcoming_line(state: CountState, index: int) -> UpcomingStop:
    item = state.lines[index]
    if state.mode == "product":
        pool = dict(count_lines.label_with_pools(state, index).args).get("pool", "")
        return UpcomingStop(item.location, str(pool) if item.location else item.label, *_expected(item))
    name = dict(count_lines.label_with_pools(state, index).args)
    return UpcomingStop("", f"{item.label} ({name['pool']})" if "pool" in name else item.label, *_expected(item))


def _expected(line: CountLine) -> tuple[Decimal | None, str]:
    return None if line.is_expected_unknown else line.expected, unit_of(line)


def _hints(state: CountState) -> tuple[KeyHint, ...]:
    hints = [KeyHint("d", msg("hint.done"))]
    if state.mode == "product" or state.plan:
        hints.append(NEXT_PAGE)
    if state.history or state.last_sent:
        hints.append(UNDO)
    hints.append(BACK)
    if len(state.pools) > 1 and not state.only_product:
        hints.append(KeyHint("k", msg("label.pool")))
    return (*hints, KeyHint("l", msg("adjust.title")))


def _missing(state: CountState, index: int) -> Step:
    item = state.lines[index]
    lines = [
        Line("location", _location_text(state, item)),
        Line("product", count_lines.label_with_pools(state, index)),
    ]
    if not (state.is_blind or item.is_expected_unknown):
        lines.append(Line("quantity", msg("count.expected", expected=amount_of(item, item.expected))))
    undo = (UNDO,) if state.history else ()
    step = _step(state, msg("count.prompt_missing"), lines, *undo, BACK)
    return step._replace(labelled_values=_labelled_values(state, item))


def _recount(state: CountState, line: CountLine) -> Step:
    lines = [
        Line("location", _location_text(state, line)),
        Line("product", count_lines.label_with_pools(state, state.question_index)),
    ]
    if state.recount_quantity is None:
        lines.append(Line("quantity", msg("count.first_count", counted=amount_of(line, line.counted or Decimal(0)))))
    else:
        lines.append(Line("quantity", msg("count.counted_so_far", counted=amount_of(line, state.recount_quantity))))
    prompt = _prompt(state, line) if state.question else msg("count.prompt_recount")
    done = KeyHint("d", msg("hint.keep" if state.recount_quantity is None else "hint.done"))
    return _step(state, prompt, lines, done, BACK)._replace(labelled_values=_labelled_values(state, line))


def _summary(state: CountState) -> ListView:
    rows = tuple(
        _difference_row(state, index, item) for index, item in enumerate(changes_since_count.reviewed_lines(state))
    )
    heads = (
        msg("head.location" if state.mode == "product" else "head.product"),
        msg("head.difference"),
        msg("head.counted"),
        msg("head.value"),
    )
    return _list_view(state, msg("count.prompt_summary"), heads, rows)._replace(
        choices=choices(state),
        choice_letters=choice_letters(state),
        key_hints=(*((NEXT_PAGE,) if len(rows) > 1 else ()), UNDO, BACK),
        has_two_line_rows=changes_since_count.has_changes(state),
    )


def _difference_row(state: CountState, index: int, line: CountLine) -> Row:
    by_location = state.mode == "product"
    named = count_lines.label_with_pools(state, state.lines.index(line))
    name = named
    if by_location:
        name = raw(line.location) if line.location else msg("count.without_location")
        if "pool" in dict(named.args):
            name = msg("count.in_pool", label=name, pool=dict(named.args)["pool"])
    value = signed_message(line.value, money_message(round(abs(line.value), 2))) if line.price else raw("")
    amount = amount_of(line, line.counted or Decimal(0))
    counted = msg("count.of_expected", counted=amount, expected=amount_of(line, line.expected))
    if line.is_expected_unknown:
        counted = msg("number", value=amount)
    counted = changes_since_count.booked_message(state, line) or counted
    difference = signed_message(line.difference, amount_of(line, abs(line.difference)))
    return later_counts.with_later_mark(state, line, Row(f"{index}", (name, difference, counted, value)))


def _pools(state: CountState) -> ListView:
    """Return the list of pools; they are chosen by their own numbers."""
    rows = tuple(Row(str(pool.number), (msg("number", value=pool.number), raw(pool.name))) for pool in state.pools)
    listed = _list_view(state, msg("count.prompt_pool"), (msg("head.number"), msg("label.pool")), rows)
    return listed._replace(key_hints=(*((NEXT_PAGE,) if len(rows) > 3 else ()), BACK))


def _leave(state: CountState) -> Step:
    note = Line("note", msg("count.leave", count=len(state.counted_lines)))
    return _step(state, letter_prompt(choice_letters(state), scans=False), (note,), BACK)
