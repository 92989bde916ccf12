"""Every rule of stock has its test: the table says which, and what is missing in it or in the tests fails.

The rules are those of the service's README (Stock); each is shown by requests through the app and by the books.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import aisle.service
from tests.service.world import World, line_end

# Rule by rule: the tests that show it, as file::function.
RULES: dict[str, tuple[str, ...]] = {
    "Pick rises": (
        "test_picking::test_pick_uses_line_pool_first_then_others_in_walk_order",
        "test_picking::test_pick_beyond_stock_is_flagged_and_makes_no_location_negative",
        "test_picking::test_the_update_may_name_where_the_goods_were_taken",
        "test_picking::test_the_place_the_order_prefers_comes_first",
    ),
    "Pick falls": (
        "test_picking::test_lowering_puts_goods_back_where_they_came_from_the_last_first",
        "test_picking::test_moved_goods_must_move_back_before_pick_is_lowered",
    ),
    "Move to an order line": (
        "test_movements::test_move_to_line_uses_goods_in_hand_first_and_picks_excess",
        "test_movements::test_a_move_from_a_line_to_free_lowers_picked_and_moved",
        "test_movements::test_pick_then_move_equals_move_then_pick",
    ),
    "All lines picked": ("test_rules::test_an_order_whose_lines_are_all_picked_is_picked_and_goes_on",),
    "Finish": ("test_orders::test_finish_takes_held_goods_out_and_cannot_be_undone",),
    "Reject": ("test_orders::test_reject_frees_goods_where_they_lie_and_lists_what_is_in_hand",),
    "Count at a place": (
        "test_counts::test_a_count_at_a_place_leaves_what_is_held_there",
        "test_counts::test_a_count_for_a_line_sets_what_it_holds",
    ),
    "Pools of a count": ("test_counts::test_only_named_pools_are_counted_and_total_goes_to_default_pool",),
    "Count without a place": ("test_counts::test_a_count_without_a_place_is_the_store_s_total",),
    "Change": (
        "test_counts::test_a_change_adds_and_a_loss_below_none_is_a_fact",
        "test_counts::test_a_loss_of_held_goods_lowers_the_line",
    ),
    "No stock kept": (
        "test_counts::test_goods_without_stock_leave_an_entry_and_no_legs",
        "test_picking::test_goods_without_stock_are_picked_without_legs",
    ),
    "Movement": (
        "test_movements::test_goods_move_between_places_and_the_log_has_both_ends",
        "test_movements::test_movement_pools_default_first_then_ascending_and_kept",
        "test_movements::test_no_code_is_no_place",
        "test_movements::test_a_bad_item_refuses_the_whole_request",
        "test_movements::test_overage_takes_the_place_below_none_and_is_flagged",
    ),
    "Reserved": ("test_rules::test_only_open_quantity_of_lines_is_reserved",),
    "Line update": (
        "test_picking::test_closing_an_untouched_line",
        "test_picking::test_closing_a_touched_line_closes_it_short_and_opening_it_opens_it",
        "test_picking::test_excess_pick_is_refused_with_current_line",
        "test_picking::test_lines_that_are_not_named_stay_untouched_and_named_fields_change",
        "test_picking::test_an_ordered_quantity_cannot_fall_below_what_is_picked",
    ),
    "Order update": (
        "test_orders::test_claims_and_orders_called_picked",
        "test_orders::test_last_picks_of_two_independent_hosts_are_both_accepted",
    ),
    "Warehouse line": (
        "test_picking::test_warehouse_lines_move_no_stock_here_until_their_goods_arrive",
        "test_rules::test_a_receipt_that_names_a_warehouse_line_makes_its_goods_held",
    ),
    "Clearance": (
        "test_clearance::test_clearance_assigns_goods_on_tagged_locations_only",
        "test_clearance::test_categories_restrict_and_none_clears_all",
        "test_clearance::test_a_movement_from_the_line_to_free_carries_it_out",
        "test_clearance::test_only_supervisor_of_store_may_clear",
    ),
    "Receipt": (
        "test_deliveries::test_received_goods_fill_lines_in_order_and_show_on_receipt",
        "test_deliveries::test_excess_and_unannounced_goods_are_received_and_flagged",
        "test_deliveries::test_receipt_names_line_and_respects_pool_and_order_line",
    ),
    "Create orders": (
        "test_orders::test_an_unknown_product_refuses_the_whole_request",
        "test_orders::test_picked_lines_take_their_goods_when_the_order_is_made",
        "test_orders::test_a_repeat_is_a_repeat_and_another_content_a_conflict",
    ),
    "Flush": (
        "test_orders::test_flush_releases_what_was_held_and_leaves_other_stores_alone",
        "test_lists::test_store_flush_keeps_stores_that_are_in_use",
        "test_rules::test_a_key_outlives_a_flush",
    ),
    "Undo": ("test_undo_across_counts::test_the_order_of_arrival_changes_nothing",),
    "Undo of a count": (
        "test_counts::test_undoing_a_count_is_a_log_of_the_opposite_difference",
        "test_undone_counts::test_without_the_count_the_stock_is_what_it_was_with_all_movements",
    ),
    "Same product on several lines": ("test_rules::test_lines_of_one_product_are_picked_each_by_itself",),
    "Fractions": ("test_picking::test_quantities_are_exact_and_fractions_only_where_they_are_allowed",),
    "Late messages": (
        "test_counts::test_pick_before_count_arriving_after_it_is_absorbed",
        "test_counts::test_late_count_is_compared_with_stock_at_its_time",
    ),
    "Conservation": ("test_conservation::Books",),
}

_HERE = Path(__file__).parent


def _defined(file: str) -> set[str]:
    """Functions and classes at the top of a test file."""
    tree = ast.parse((_HERE / f"{file}.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_names_existing_tests(rule: str) -> None:
    assert RULES[rule]
    for name in RULES[rule]:
        file, _, function = name.partition("::")
        assert function in _defined(file), name


def test_the_table_has_every_rule_of_the_readme() -> None:
    readme = (Path(aisle.service.__file__).parent / "README.md").read_text(encoding="utf-8")
    stock = readme.split("## Stock\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| ([A-Z][^|]*?) \|", stock, re.MULTILINE)
    assert len(rows) > 15
    one = {"Count": "Count at a place"}
    assert {one.get(row, row) for row in rows} - {"Event"} <= set(RULES)


async def test_an_order_whose_lines_are_all_picked_is_picked_and_goes_on(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=9)
    await world.order("O1", {"product_number": "P1", "quantity": 2}, {"product_number": "P1", "quantity": 3})
    await world.pick("O1", 1, "P1", 2)
    assert not (await world.see("O1"))["is_picked"]
    await world.pick("O1", 2, "P1", 3)
    seen = await world.see("O1")
    assert (seen["is_picked"], seen["is_active"], seen["total_delivery_quantity"]) == (True, True, 0)
    assert world.books() == {("P1", "A1", 1): 4, ("P1", "", 1, "O1", 1): 2, ("P1", "", 1, "O1", 2): 3}
    await world.pick("O1", 2, "P1", 1)
    assert not (await world.see("O1"))["is_picked"], "until it is finished it can be opened again"


async def test_only_open_quantity_of_lines_is_reserved(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=10, stock_pool_2=4)

    async def free() -> tuple[object, object]:
        row = (await world.get("/stores/S1/products/P1/stock", exclude_customer_order_stock=True))["products"][0]
        return row.get("stock_pool_1", 0), row.get("stock_pool_2", 0)

    line = {"product_number": "P1", "quantity": 3}
    await world.order("O1", line, {"product_number": "P1", "quantity": 9, "stock_pool": 2})
    assert await free() == (7, -5), "not clamped"
    await world.pick("O1", 1, "P1", 2)
    assert await free() == (7, -5), "what is held is neither free nor reserved twice"
    await world.update("O1", {"line_number": 1, "product_number": "P1", "is_picked": True})
    assert await free() == (8, -5), "a line that was closed short wants no more"
    await world.order("O2", line | {"is_picked_from_warehouse": True})
    assert await free() == (8, -5), "nor does one that is picked in the warehouse"
    await world.update("O1", is_rejected=True)
    assert await free() == (10, 4)
    rows = await world.rows("/stores/S1/locations", ignore_customerorder_stock=True, search_text="A1")
    assert rows[0]["quantity"] == 12, "two of the fourteen are in nobody's order and at no place"


async def test_a_receipt_that_names_a_warehouse_line_makes_its_goods_held(world: World) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 3, "is_picked_from_warehouse": True})
    await world.pick("O1", 1, "P1", 3)
    assert world.books() == {}
    held: dict[str, Any] = {"customer_order_number": "O1", "customer_order_line_number": 1}
    await world.log(query={"is_from_receipt": True}, product_number="P1", quantity=3, location_code="DESK", **held)
    assert world.books() == {("P1", "DESK", 1, "O1", 1): 3}
    line = await world.line("O1")
    assert (line["picked_quantity"], line["moved_quantity"]) == (3, 3)
    await world.move("P1", 3, line_end("O1", 1, "DESK"), "A1")
    assert world.books() == {("P1", "A1", 1): 3}


async def test_a_key_outlives_a_flush(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    said = {"line_number": 1, "product_number": "P1", "picked_quantity": 2}
    body, key = {"orders": {"order_number": "O1", "order_lines": [said]}}, {"Idempotency-Key": '"0123456789abcdef"'}
    path = "/stores/S1/orders/customerorder"
    first = await world.send("PUT", path, body, headers=key)
    await world.post("/stores/S1/orders/customerorders", {"orders": []}, query={"flush": True})
    after = world.books()
    assert after == {("P1", "A1", 1): 3, ("P1", "", 1): 2}
    again = await world.send("PUT", path, body, headers=key)
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert world.books() == after


async def test_lines_of_one_product_are_picked_each_by_itself(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=9)
    await world.order("O1", *({"product_number": "P1", "quantity": quantity} for quantity in (2, 3)))
    await world.pick("O1", 1, "P1", 3, status=409)
    await world.pick("O1", 1, "P1", 2)
    await world.pick("O1", 2, "P1", 1)
    assert world.books() == {("P1", "A1", 1): 6, ("P1", "", 1, "O1", 1): 2, ("P1", "", 1, "O1", 2): 1}
    assert not (await world.see("O1"))["is_picked"], "full is only what is full on every line"
