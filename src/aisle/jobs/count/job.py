"""The count job: counts a location, a product at all its locations, or a list of targets.

Differences are shown before they are sent. Expected stock that was not scanned is asked about line by line; nothing is
set to zero without an answer. A location without differences is sent at once.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import report_refusals
from aisle.jobs.count import count_plan, count_state, finish_count, handle_scans_and_quantities, undo_sent_count, view
from aisle.jobs.count.count_state import CountLine, CountState, CountTarget
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Json,
    Opened,
    Query,
    Resumed,
    Rows,
    Start,
    Turn,
    reply,
)
from aisle.jobs.stock_pools import POOLS_QUERY, parse_pools
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, View, msg, raw, undo_verdict
from aisle.scan.grammar_types import (
    LOCATION,
    PRODUCT,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Quantity,
    Scan,
    Text,
    UnknownCode,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationRow
    from aisle.jobs.row_types.products import ProductRow

Result = Turn[CountState]

RECOUNTS_QUERY = Query("asked", "recounts", {"size": 99}, is_live=True)
"""Query for the recounts that were ordered; the start page shows their number."""

PHASE_LETTERS = {
    "start": "dlu",
    "list": "dnuw",
    "count": "dulk",
    "missing": "u",
    "recount": "dnu",
    "summary": "nu",
    "pool": "n",
}
"""Command letters of each phase; `n` is added while a product's locations or a list are counted."""


class CountJob(Job[CountState]):
    """Job from the first target to the last; each is sent separately."""

    name = "count"
    state_type = CountState
    steps: tuple[str, ...] = (
        "count.start",
        "count.list",
        "count.product",
        "count.stop",
        "count.missing",
        "count.recount",
        "count.summary",
        "count.pool",
        "count.leave",
    )

    def accepts(self, state: CountState) -> Accepts:
        shown = view.choices(state)
        choices, values = len(shown), shown if state.choices else ()
        letters = PHASE_LETTERS.get(state.phase, "")
        if state.phase == "pool":
            choices = max(pool.number for pool in state.pools)
        if state.phase == "count" and (state.mode == "product" or state.plan):
            letters += "n"
        item = view.open_quantity_line(state)
        typed_only = handle_scans_and_quantities.is_quantity_asked(state) or (
            not state.choices and state.phase in ("missing", "summary", "leave")
        )
        keys = view.choice_letters(state)
        decimals = bool(item and item.allows_decimals)
        return Accepts(
            item is not None,
            decimals,
            choices,
            command_letters=letters,
            typed_only=typed_only,
            choice_values=values,
            choice_letters=keys,
            is_number_asked=handle_scans_and_quantities.is_quantity_asked(state),
        )

    def prefers(self, state: CountState) -> tuple[str, ...]:
        return (LOCATION, PRODUCT) if state.phase in ("start", "list") else (PRODUCT, LOCATION)

    def uses_product(self, state: CountState, product: str) -> bool:
        only = (
            state.lines[state.question_index].product
            if state.phase == "recount"
            else state.only_product or state.product
        )
        return product == only if only else any(item.product == product for item in state.lines)

    def quantity_product(self, state: CountState) -> tuple[str, str]:
        item = view.open_quantity_line(state)
        return (item.product, item.label) if item else ("", "")

    def label_of_scan(self, state: CountState, match: Match) -> str:
        """Return the name of a scanned product, with the stock pool that it is counted in if it lies in several."""
        return handle_scans_and_quantities.label_of_scan(state, match) or super().label_of_scan(state, match)

    def quantity_taken(self, state: CountState, product: str) -> Decimal:
        counted = (line.counted for line in state.lines if line.product == product)
        sent = (each.quantity for each in state.last_sent.counted if each.product == product) if state.last_sent else ()
        return sum((*filter(None, counted), *sent), Decimal(0))

    def product_of_choice(self, state: CountState, number: int) -> Match | None:
        return handle_scans_and_quantities.product_of_choice(state, number)

    def step_name(self, state: CountState) -> str:
        return view.step_name(state)

    def can_undo(self, state: CountState) -> bool:
        return state.last_sent is not None and bool(state.last_sent.changes)

    def view(self, state: CountState) -> View:
        return view.view(state)

    def handle(self, state: CountState, event: Event, context: Context) -> Result:
        turn = _report_untaken(self._handle(_note_untaken(state, event), event, context))
        return turn._replace(state=_apply_policy(state, turn.state, event, context))

    def _handle(self, state: CountState, event: Event, context: Context) -> Result:
        match event:
            case Opened(args):
                return _handle_opened(state, args, context)
            case Rows(id_, rows, _):
                return _handle_rows(state, id_, rows, context)
            case Resumed() | Closed():
                if event == Closed("adjust"):  # a number typed next may be meant for the page that has closed
                    state = state._replace(has_moved_on=True)
                return Turn(finish_count.fill_last_page(state, context), _refresh(state))
            case Changed("product" | "location" | "recount" | "outbox"):
                return Turn(state, _refresh(state))
        if isinstance(event, Command) and event.letter == "u" and state.closes_after_send and state.sent:
            return undo_sent_count.undo_sent(state)
        if state.pending_scan and state.phase != "list":
            state = handle_scans_and_quantities.handle_product(state, None, context).state
        asked = handle_scans_and_quantities.is_quantity_asked(state)
        if asked and isinstance(event, Scan | Command):
            return handle_scans_and_quantities.repeat_question(state, event, context)
        if not asked and state.choices and isinstance(event, Command) and event.letter == "u":
            return handle_scans_and_quantities.drop_quantity(state)  # the question is the last input
        if not asked and isinstance(event, Scan | Quantity | Command):
            state = state._replace(choices=())
        if isinstance(event, Scan | Command | Choice | Back):
            state = state._replace(has_moved_on=False)
        match event:
            case Back():
                return _go_back(state)
            case Choice(number) if state.phase == "pool":
                return _set_pool(state, number)
            case Choice(number) if number <= len(view.choices(state)):
                return _handle_choice(state, number, context)
            case Scan() if state.phase == "list":
                return count_plan.add_scanned_to_plan(state, event)
            case Scan(matches):
                return handle_scans_and_quantities.handle_scan(state, matches, context)
            case Quantity(value, code):
                return handle_scans_and_quantities.enter_quantity(state, value, code, context)
            case Command(letter):
                return _handle_command(state, letter, context)
            case CursorKey(key) if state.phase in ("summary", "pool", "list"):
                return Turn(finish_count.scroll(state, key, context))
            case Text(text) if state.phase == "count" and (
                found := handle_scans_and_quantities.find_by_words(state, text)
            ):
                return found
            case UnknownCode(code) | Text(code):
                return reply(state, WRONG, "count.unknown", code=code)
        return Turn(state)


def _note_untaken(state: CountState, event: Event) -> CountState:
    """Note which scan is not taken if an input drops the question about it."""
    if (
        not state.choices
        or handle_scans_and_quantities.is_quantity_asked(state)
        or not isinstance(event, Scan | Command)
    ):
        return state
    if state.choices[0].kind == count_state.FOUND_BY_WORDS:
        return state
    return state._replace(untaken=state.choices[0].label or state.choices[0].key)


def _report_untaken(turn: Result) -> Result:
    """Add to the verdict that a scan is not taken, unless it is asked about again."""
    state, verdict = turn.state, turn.verdict
    if not state.untaken or (verdict is None and any(isinstance(effect, Query) for effect in turn.effects)):
        return turn
    label, state = raw(state.untaken), state._replace(untaken="")
    if turn.state.untaken in [each.label or each.key for each in state.choices]:
        return turn._replace(state=state)
    if verdict is None:
        return turn._replace(state=state, verdict=Verdict(WRONG, msg("session.input_not_applied", count=1, why=label)))
    text = msg("session.not_applied", count=1, why=label, said=verdict.text)
    kind = verdict.kind if verdict.kind in (GOOD, ASK) else WRONG
    return turn._replace(state=state, verdict=verdict._replace(kind=kind, text=text))


def _apply_policy(before: CountState, state: CountState, event: Event, context: Context) -> CountState:
    """Apply the setting for blind counts from the next location on. If the job is resumed it also applies at a location
    where nothing is counted."""
    same_target = (before.mode, before.location, before.product) == (state.mode, state.location, state.product)
    nothing_counted = state.phase in ("start", "list") or (isinstance(event, Resumed) and not state.counted_lines)
    return state if same_target and not nothing_counted else state._replace(is_blind=context.policy.blind_counts)


# Opening


def _handle_opened(state: CountState, args: Args, context: Context) -> Result:
    location, product = str(args.get("location_code") or ""), str(args.get("product_number") or "")
    state = CountState(is_blind=context.policy.blind_counts, closes_after_send=bool(location or product))
    if not location and not product:
        return Turn(state, (POOLS_QUERY, RECOUNTS_QUERY))
    label, only_product = str(args.get("label") or product), product if location else ""
    target = CountTarget("location", location) if location else CountTarget("product", product, label)
    turn = finish_count.begin_count(state, target, only_product)
    if only_product:
        turn = turn._replace(state=turn.state._replace(label=label))
    return turn._replace(effects=(POOLS_QUERY, *turn.effects))


def _refresh(state: CountState) -> tuple[Effect, ...]:
    if state.phase == "start":
        return (RECOUNTS_QUERY,)
    if state.mode == "location" and state.location:
        if state.only_product or state.has_unread_lines:
            return (count_state.query_location("location", state.location, state.only_product),)
        return (Query("location", "location", {"location_code": state.location}),)
    return (Query("product", "product", {"product_number": state.product}),) if state.mode == "product" else ()


def _handle_rows(state: CountState, id_: str, rows: tuple[Json, ...], context: Context) -> Result:
    row = rows[0] if rows else None
    match id_:
        case "asked":
            return Turn(state._replace(ordered_recounts=len(rows)))
        case "store":
            return Turn(state._replace(pools=parse_pools(rows)))
        case "open":
            return _open_location(state, row)
        case "tour":
            return _open_product(state, row, context)
        case "here":
            return handle_scans_and_quantities.handle_product_here(state, row, context)
        case finish_count.QUERY_ALL:
            return finish_count.handle_all_lines(state, row, context)
        case "unstocked":
            return _describe_single_product(state, row)
        case "scanned":
            return handle_scans_and_quantities.handle_product(state, row, context)
        case report_refusals.REFUSED_QUERY:
            return undo_sent_count.send_undo(state, rows, context)
        case "records_by_number":
            return handle_scans_and_quantities.handle_records_by_number(state, rows, context)
        case "listed":
            return count_plan.add_location(state, row)
        case "aisle":
            return count_plan.add_aisle(state, rows)
    return _update_expected(state, id_, row, context)


def _update_expected(state: CountState, id_: str, row: Json | None, context: Context) -> Result:
    """Update the expected stock of this location or product."""
    if row is None:
        return Turn(state)
    fresh = count_state.parse_location_lines(row) if id_ == "location" else count_state.parse_product_lines(row)
    fresh = tuple(item for item in fresh if state.only_product in ("", item.product))
    state = count_state.with_new_expected(state, fresh)
    if state.phase == "missing" and state.question_index < 0:
        return finish_count.next_question(state, context)
    return Turn(state)


def _open_location(state: CountState, row: LocationRow | None) -> Result:
    if row is not None:
        state = count_state.with_location(state, row)
    if state.only_product:
        return _open_single_product(state)
    products = state.product_count
    id_ = (
        "count.at_location"
        if products
        else "locations.locations_unknown_at"
        if state.are_locations_unknown
        else "count.at_empty_location"
    )
    return _report_begun(state, msg(id_, place=state.location, count=products))


def _open_single_product(state: CountState) -> Result:
    """Ask for the quantity of the only product of the location, including zero."""
    items = tuple(item for item in state.lines if item.product == state.only_product)
    unread = () if items else (Query("unstocked", "product", {"product_number": state.only_product}),)
    items = items or (count_state.new_line(state, state.only_product, state.label),)
    state = state._replace(lines=items, current_index=0)
    label = count_state.label_with_pools(state, 0)
    return reply(state, ASK, "count.how_many_at", *unread, label=label, place=state.location)


def _describe_single_product(state: CountState, row: ProductRow | None) -> Result:
    """Take over the unit and price of the only product, which has no stock at the location."""
    if row is None or not state.only_product or not state.lines:
        return Turn(state)
    return Turn(count_state.replace_line(state, 0, count_state.with_product_data(state.lines[0], row)))


def _report_begun(state: CountState, text: Msg) -> Result:
    """Report the opened count, and the one sent just before."""
    if state.sent:
        text = msg("count.sent_and", what=state.sent.label, differing=state.sent.differing_count, next=text)
    return Turn(state, (), Verdict(GOOD, text))


def _open_product(state: CountState, row: ProductRow | None, context: Context) -> Result:
    """Open the locations of a product; without locations, one count for the whole store."""
    items = (
        count_state.parse_product_lines(row)
        if row
        else (CountLine("", state.product, state.label or state.product, is_expected_unknown=True),)
    )
    match, state = state.pending_scan, state._replace(label=items[0].label, pending_scan=None)
    location_count = len({item.location for item in items if item.location})
    if location_count:
        state = finish_count.go_to_stop(state._replace(lines=items), 0)
        return _report_begun(
            state, msg("count.product_locations", label=state.label, count=location_count, place=state.location)
        )
    state = state._replace(mode="location", product="", label="", lines=items)
    if match:
        return handle_scans_and_quantities.scan_product(state, match, context)
    index = max(0, count_state.find_line(state, items[0].product))
    return _report_begun(state._replace(current_index=index), msg("count.no_location", label=items[0].label))


# Commands


def _handle_command(state: CountState, letter: str, context: Context) -> Result:
    if letter == "l" and state.phase in ("start", "count"):
        item = state.current_line
        args = {"location_code": state.location, "product_number": item.product if item else ""}
        return Turn(state, (Start("adjust", args),))
    if state.phase == "start":
        return undo_sent_count.undo_sent(state) if letter == "u" else _go_back(state)
    if state.phase == "list":
        return _handle_plan_command(state, letter, context)
    if state.phase == "recount" and letter in "dn":
        item = state.lines[state.question_index]
        return finish_count.answer_recount(
            state, state.recount_quantity if state.recount_quantity is not None else item.counted or Decimal(0), context
        )
    if state.phase in ("summary", "pool") and letter == "n":
        return Turn(finish_count.scroll(state, "pagedown", context))
    if letter == "u" and state.phase in ("missing", "recount", "summary"):
        return _undo_in_question(state)
    if state.phase != "count":
        return Turn(state)
    state = state._replace(choices=())
    match letter:
        case "d":
            return finish_count.finish_counting(state, context)
        case "u":
            return _undo_step(state) if state.history or not state.last_sent else undo_sent_count.undo_sent(state)
        case "k":
            return _ask_pool(state)
        case "n" if state.mode == "product":
            return _skip(state)
        case "n" if state.plan:
            return count_plan.next_in_plan(state, context)
    return Turn(state)


def _handle_plan_command(state: CountState, letter: str, context: Context) -> Result:
    match letter:
        case "d":
            return count_plan.start_plan(state)
        case "w":
            return count_plan.query_aisle(state)
        case "u":
            return count_plan.remove_from_plan(state)
    return Turn(finish_count.scroll(state, "pagedown", context))


def _skip(state: CountState) -> Result:
    next_index = count_state.next_stop(state)
    if next_index == state.current_index:
        return reply(state, INFO, "count.last_stop")
    is_counted = state.lines[state.current_index].counted is not None
    moved = finish_count.go_to_stop(state, next_index)
    if not state.lines[next_index].location:
        return reply(moved, INFO, "count.next_without_location" if is_counted else "count.later_without_location")
    place = count_state.name_with_pool(state, next_index)
    return reply(moved, INFO, "count.next" if is_counted else "count.later", place=place)


def _undo_in_question(state: CountState) -> Result:
    """Undo the last answer, which is asked for again; without one, return to counting. Of a recount, undo first what
    was counted again."""
    if state.phase == "recount" and state.recount_quantity is not None:
        return Turn(state._replace(recount_quantity=None), (), Verdict(INFO, _recount_dropped(state)))
    undone = None
    if len(state.history) > state.question_start:
        undone = finish_count.undo_recount(state) or finish_count.undo_missing_quantity(state)
    return undone or _go_back(state)


def _recount_dropped(state: CountState) -> Msg:
    label = count_state.label_with_pools(state, state.question_index)
    return msg("count.not_so_many", value=state.recount_quantity or Decimal(0), label=label)


def _undo_step(state: CountState) -> Result:
    back, item = count_state.undo_entry(state)
    if item is None:
        return reply(back, WRONG, "count.nothing_to_undo")
    now = back.lines[back.current_index].counted
    was = item.counted or Decimal(0)
    label = count_state.name_with_pool(back, back.current_index)
    if now is None:
        return Turn(back, (), undo_verdict(msg("count.undone_all", label=label, was=was)))
    return Turn(back, (), undo_verdict(msg("count.undone", label=label, was=was, now=now)))


def _ask_pool(state: CountState) -> Result:
    if len(state.pools) < 2 or state.only_product:
        return reply(state, INFO, "count.one_pool")
    return reply(state._replace(phase="pool"), ASK, "count.which_pool")


def _set_pool(state: CountState, number: int) -> Result:
    pool = next((pool for pool in state.pools if pool.number == number), None)
    if pool is None:
        return reply(state, WRONG, "count.no_pool", number=number)
    state = state._replace(phase="count", chosen_pool=number, first_row=0)
    if state.mode == "product":
        current = state.lines[max(0, state.current_index)]
        line = current._replace(
            pool=pool.number, expected=Decimal(0), held=Decimal(0), counted=None, counted_at="", is_left_as_is=False
        )
        keys = [count_state.line_key(item) for item in state.lines]
        if count_state.line_key(line) not in keys:
            state = state._replace(lines=(*state.lines, line._replace(needs_recount=False, is_recounted=False)))
            keys.append(count_state.line_key(line))
        state = finish_count.go_to_stop(state, keys.index(count_state.line_key(line)))
    else:
        state = state._replace(current_index=-1)
    return reply(state, GOOD, "count.pool_chosen", number=pool.number, name=pool.name)


def _go_back(state: CountState) -> Result:
    if state.choices:
        return handle_scans_and_quantities.drop_quantity(state)
    if state.phase == "start":
        return Turn(state, (Close(Verdict(INFO, msg("count.closed"))),))
    if state.phase == "list":
        return reply(state._replace(phase="start", first_row=0), INFO, "count.list_kept", count=len(state.plan))
    if state.phase in ("pool", "leave"):
        return reply(state._replace(phase="count", first_row=0), INFO, "count.go_on")
    if state.phase == "recount" and state.recount_quantity is not None:
        return Turn(finish_count.resume_counting(state), (), Verdict(INFO, _recount_dropped(state)))
    if state.phase != "count":
        return reply(finish_count.resume_counting(state), INFO, "count.go_on")
    if state.counted_lines:
        return reply(state._replace(phase="leave"), ASK, "count.leave", count=len(state.counted_lines))
    return finish_count.end_count(finish_count.back_to_plan(state), Verdict(INFO, msg("count.left")))


def _handle_choice(state: CountState, number: int, context: Context) -> Result:
    if state.choices:
        return handle_scans_and_quantities.handle_choice(state, number, context)
    match state.phase:
        case "start" if number == 3:
            return reply(count_plan.show_plan(state), INFO, "count.list_started")
        case "start" if number == 4:
            return Turn(state, (Start("exceptions", {"kind": "recounts"}),))
        case "start":
            return Turn(state, (Start("adjust", {}) if number == 1 else Start("my_entries", {}),))
        case "missing":
            return finish_count.answer_missing(state, number, context)
        case "summary":
            return finish_count.answer_summary(state, number, context)
    if number == 1:
        return finish_count.finish_counting(state, context)
    if number == 2:
        gone = Verdict(INFO, msg("count.thrown_away", count=len(state.counted_lines)))
        return finish_count.end_count(finish_count.back_to_plan(state), gone)
    return reply(state._replace(phase="count"), INFO, "count.go_on")
