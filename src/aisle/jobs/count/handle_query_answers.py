"""Rows that queries of a count return: its target is opened, and its expected stock updated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs import find_and_report_refusals
from aisle.jobs.count import (
    changes_since_count,
    count_lines,
    count_plan,
    finish_count,
    handle_scans_and_quantities,
    later_counts,
    undo_sent_count,
)
from aisle.jobs.count.count_state import CountLine, CountState, Result
from aisle.jobs.job import Context, Json, Query, Turn, reply
from aisle.jobs.stock_pool_names import parse_pools
from aisle.jobs.view import ASK, GOOD, Msg, Verdict, msg

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationRow
    from aisle.jobs.row_types.products import ProductRow


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
        case find_and_report_refusals.REFUSED_ENTRIES:
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
