"""Count job: counts a location, a product at all its locations, or a list of targets.

Differences are shown before they are sent. Expected stock that was not scanned is asked about line by line; nothing is
set to zero without an answer. A location without differences is sent at once.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import log_writes_and_refusals
from aisle.jobs.count import (
    changes_since_count,
    count_lines,
    count_plan,
    count_state,
    finish_count,
    handle_scans_and_quantities,
    later_counts,
    undo_sent_count,
    view,
)
from aisle.jobs.count.count_state import CountLine, CountState, CountTarget, Result
from aisle.jobs.count.handle_commands_and_choices import go_back, handle_choice, handle_command, set_pool
from aisle.jobs.job import (
    Args,
    Changed,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Json,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Turn,
    reply,
)
from aisle.jobs.names_in_messages import POOLS_QUERY, parse_pools
from aisle.jobs.view import ASK, GOOD, WRONG, Msg, Verdict, View, msg, raw
from aisle.scan.grammar_and_meaning_types import (
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


RECOUNTS_QUERY = Query("ordered_recounts", "recounts", {"size": 99}, is_live=True)
"""Query for the recounts that were ordered; the start page shows their number."""

PHASE_LETTERS = {
    "start": "dlu",
    "list": "dnuw",
    "count": "dulk",
    "missing": "u",
    "recount": "dnu",
    "summary": "nu",
    "pool": "nu",
}
"""Command letters of each phase; `n` is added while a product's locations or a list are counted."""


class CountJob(Job[CountState]):
    """Job from the first target to the last; each is sent separately."""

    name = "count"
    lists = ("stock", "stock_changes", "locations", "products", "recounts")
    own_steps = ("count.list",)
    version = 3
    state_type = CountState
    requery_after_write = True
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
        choices, values = len(shown), shown if state.choices or state.question else ()
        letters = PHASE_LETTERS.get(state.phase, "")
        if state.phase == "pool":
            choices = max(pool.number for pool in state.pools)
        if state.phase == "count" and (state.mode == "product" or state.plan):
            letters += "n"
        item = view.open_quantity_line(state)
        typed_only = bool(state.question) or (not state.choices and state.phase in ("missing", "summary", "leave"))
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
            is_number_asked=state.question is not None,
        )

    def prefers(self, state: CountState) -> tuple[str, ...]:
        return (LOCATION, PRODUCT) if state.phase in ("start", "list") else (PRODUCT, LOCATION)

    def is_same_work(self, state: CountState, args: Args) -> bool:
        location, product = str(args.get("location_code") or ""), str(args.get("product_number") or "")
        if location:
            is_product_counted = state.only_product in ("", product)
            return state.mode == "location" and state.location == location and is_product_counted
        is_without_location = not state.location and product in [line.product for line in state.lines]
        return bool(product) and (is_without_location or state.product == product)

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
                return handle_rows(state, id_, rows, context)
            case Resumed() | Closed():
                if (
                    isinstance(event, Closed) and event.job == "adjust"
                ):  # a number typed next may be meant for the page that has closed
                    state = _note_loss(state._replace(has_moved_on=True), event)
                return Turn(finish_count.fill_last_page(state, context), _refresh(state))
            case Changed("log") if state.last_sent and state.last_sent.changes:
                query = undo_sent_count.query_booked(state.last_sent.changes, context)
                return Turn(state, (*_refresh(state), query._replace(id=undo_sent_count.SENT_QUERY)))
            case Changed("product" | "location") if state.counted_lines:
                return Turn(state, (*_refresh(state), Refresh("logs")))  # who counted there, if it was a count
            case Changed("product" | "location" | "recount" | "log" | "outbox"):
                return Turn(state, _refresh(state))
        if isinstance(event, Command) and event.letter == "u" and state.closes_after_send and state.sent:
            return undo_sent_count.undo_sent(state, context)
        if state.question and isinstance(event, Scan | Command):
            return handle_scans_and_quantities.repeat_question(state, state.question, event, context)
        if state.choices and isinstance(event, Command) and event.letter == "u":
            return handle_scans_and_quantities.drop_quantity(state)  # the question is the last input
        if isinstance(event, Scan | Quantity | Command):
            state = state._replace(choices=())
        if isinstance(event, Scan | Command | Choice | Back):
            state = state._replace(has_moved_on=False)
        match event:
            case Back():
                return go_back(state)
            case Choice(number) if state.phase == "pool":
                return set_pool(state, number)
            case Choice(number) if number <= len(view.choices(state)):
                return handle_choice(state, number, context)
            case Scan() if state.phase == "list":
                return count_plan.add_scanned_to_plan(state, event)
            case Scan(matches):
                return handle_scans_and_quantities.handle_scan(state, matches, context)
            case Quantity(value, code):
                return handle_scans_and_quantities.enter_quantity(state, value, code, context)
            case Command():
                return handle_command(state, event, context)
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
    if not state.choices or not isinstance(event, Scan | Command):
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
    kind = verdict.kind if verdict.kind in (GOOD, ASK) else WRONG
    verdict = verdict._replace(kind=kind).wrap("session.not_applied", count=1, why=label)
    return turn._replace(state=state, verdict=verdict)


def _note_loss(state: CountState, closed: Closed) -> CountState:
    """Note what was sent as lost or found from the open count, so that it is undone before what was counted earlier."""
    loss = str(closed.answer.get("sent") or "") if closed.answer else ""
    return count_lines.note_loss(state, loss) if loss and state.phase == "count" else state


def _apply_policy(before: CountState, state: CountState, event: Event, context: Context) -> CountState:
    """Apply the setting for blind counts from the next location on. If the job is resumed it also applies at a location
    where nothing is counted."""
    same_target = (before.mode, before.location, before.product) == (state.mode, state.location, state.product)
    nothing_counted = state.phase in ("start", "list") or (isinstance(event, Resumed) and not state.counted_lines)
    return state if same_target and not nothing_counted else state._replace(is_blind=context.policy.blind_counts)


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
            query = count_lines.query_location("location", state.location, state.only_product)
        else:
            query = Query("location", "location", {"location_code": state.location})
        return (query, *later_counts.query_later(state))
    if state.mode != "product":
        return ()
    return (Query("product", "product", {"product_number": state.product}), *later_counts.query_later(state))


def handle_rows(state: CountState, id_: str, rows: tuple[Json, ...], context: Context) -> Result:
    """Handle the rows of the query with this id."""
    row = rows[0] if rows else None
    match id_:
        case "ordered_recounts":
            return Turn(state._replace(ordered_recounts=len(rows)))
        case "store":
            return Turn(state._replace(pools=parse_pools(rows)))
        case "open":
            return _open_location(state, row)
        case "product_locations":
            return _open_product(state, row, context)
        case "here":
            return handle_scans_and_quantities.handle_product_here(state, row, context)
        case finish_count.QUERY_ALL:
            return finish_count.handle_all_lines(state, row, context)
        case "unstocked":
            return _describe_single_product(state, row)
        case "scanned":
            return handle_scans_and_quantities.handle_product(state, row, context)
        case later_counts.LATER_QUERY | later_counts.QUERY_BEFORE_QUESTIONS | later_counts.QUERY_BEFORE_SENDING:
            return finish_count.handle_later(state, id_, rows, context)
        case changes_since_count.CHANGES_QUERY:
            return Turn(changes_since_count.with_changes(state, rows))
        case changes_since_count.MOVES_QUERY:
            return Turn(changes_since_count.with_moves(state, rows))
        case undo_sent_count.SENT_QUERY:
            return undo_sent_count.report_booked(state, rows)
        case undo_sent_count.BOOKED_QUERY:
            return undo_sent_count.take_booked(state, rows)
        case log_writes_and_refusals.REFUSED_ENTRIES:
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
    fresh = count_lines.parse_location_lines(row) if id_ == "location" else count_lines.parse_product_lines(row)
    fresh = tuple(item for item in fresh if state.only_product in ("", item.product))
    state = count_lines.with_new_expected(state, fresh)
    if state.phase == "missing" and state.question_index < 0:
        return finish_count.next_question(state, context)
    return Turn(state)


def _open_location(state: CountState, row: LocationRow | None) -> Result:
    if row is not None:
        state = count_lines.with_location(state, row)
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
    items = items or (count_lines.new_line(state, state.only_product, state.label),)
    state = state._replace(lines=items, current_index=0)
    label = count_lines.label_with_pools(state, 0)
    return reply(state, ASK, "count.how_many_at", *unread, label=label, place=state.location)


def _describe_single_product(state: CountState, row: ProductRow | None) -> Result:
    """Take over the unit and price of the only product, which has no stock at the location."""
    if row is None or not state.only_product or not state.lines:
        return Turn(state)
    return Turn(count_lines.replace_line(state, 0, count_lines.with_product_data(state.lines[0], row)))


def _report_begun(state: CountState, text: Msg) -> Result:
    """Report the opened count, and the one sent just before."""
    if state.sent:
        text = msg("count.sent_and", what=state.sent.label, differing=state.sent.differing_count, next=text)
    return later_counts.report_left_out(Turn(state, (), Verdict(GOOD, text)))


def _open_product(state: CountState, row: ProductRow | None, context: Context) -> Result:
    """Open the locations of a product; without locations, one count for the whole store."""
    items = (
        count_lines.parse_product_lines(row)
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
    index = max(0, count_lines.find_line(state, items[0].product))
    return _report_begun(state._replace(current_index=index), msg("count.no_location", label=items[0].label))
