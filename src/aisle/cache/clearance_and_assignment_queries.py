"""Queries of the clearance job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import apsw

from aisle.cache.location_queries import count_tags, locations_with_tag
from aisle.cache.pending_operations import Overlay, is_included
from aisle.cache.people_and_claim_queries import load_person_rights, person_name
from aisle.cache.pools_and_locations_of_rows import held_locations
from aisle.cache.queries import QueryContext, QueryResult, declare_query, whole_topics, window_bounds
from aisle.cache.schema import is_over_picked_or_moved_sql
from aisle.cache.store_lists_writer import ASSIGNMENTS_TOPIC
from aisle.cache.stored_row_values import Row, parse_row
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs.job import Args
from aisle.jobs.move.move_state_and_rows import ASSIGNMENT_PREFIX
from aisle.outbox.operation_record import CREATE_MOVEMENT
from aisle.outbox.sessions_and_open_jobs import session_from_row
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.exceptions_clearance_and_today import (
        AssignmentLeftRow,
        AssignmentsRow,
        HeldByCategoryRow,
        TagsRow,
    )
    from aisle.jobs.row_types.people_stores_and_features import ClearancePermissionRow

_HELD_LINES = f"""
SELECT l.order_number, l.raw, ifnull(p.raw ->> 'category_code', '') FROM line l INDEXED BY line_over_picked
JOIN orders o ON o.order_number = l.order_number LEFT JOIN product p ON p.product_number = l.product_number
WHERE {is_over_picked_or_moved_sql("l.raw")} AND o.state < 2
"""  # noqa: S608 - a condition of our own
_ASSIGNMENTS = """
SELECT a.id, a.raw FROM assignment a LEFT JOIN orders o ON o.order_number = a.raw ->> 'customer_order_number'
WHERE o.state IS NULL OR o.state < 2 ORDER BY a.n
"""
"""An order that was handed over holds nothing any more; it may be known before the list is read again."""
_ASSIGNMENTS_IN_WORK = """
SELECT h.order_number, j.user, s.* FROM order_in_work h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number >= ? AND h.order_number < ?
"""


@declare_query("clearance_permission", "user")
def clearance_permission(context: QueryContext, args: Args) -> QueryResult[ClearancePermissionRow]:
    """Return what the service announces, and the role of the `user`."""
    rights = load_person_rights(context.cache, str(args["user"]))
    row: ClearancePermissionRow = {
        "is_known": rights.service_known,
        "people": rights.knows_people,
        "listed": "assignments" in rights.features,
        "role": rights.role,
    }
    return [row], 1


@declare_query("tags", "")
def tag_rows(context: QueryContext, _: Args) -> QueryResult[TagsRow]:
    """Return the tags of locations."""
    rows: list[TagsRow] = [{"tag": tag, "locations": count} for tag, count in count_tags(context.cache)]
    return rows, len(rows)


@declare_query("held_by_category", "tag")
def held_by_category(context: QueryContext, args: Args) -> QueryResult[HeldByCategoryRow]:
    """Return the categories of the goods held at the locations of a `tag`."""
    cache = context.cache
    held_lines = [
        (held_locations(parse_row(raw), order), category) for order, raw, category in fetch(cache, _HELD_LINES)
    ]
    tagged_codes = locations_with_tag(
        cache, str(args["tag"]), {str(goods["location_code"]) for each, _ in held_lines for goods in each}
    )
    found: dict[str, HeldByCategoryRow] = {}
    for each, category in held_lines:
        held = sum(
            (to_decimal(goods["quantity"]) for goods in each if goods["location_code"] in tagged_codes), Decimal(0)
        )
        if held > 0:
            empty: HeldByCategoryRow = {"category_code": str(category), "lines": 0, "quantity": Decimal(0)}
            row = found.setdefault(str(category), empty)
            row["lines"] += 1
            row["quantity"] += held
    rows = sorted(found.values(), key=lambda row: str(row["category_code"]))
    return rows, len(rows)


@declare_query("assignments", "tag first size")
def open_assignments(context: QueryContext, args: Args) -> QueryResult[AssignmentsRow]:
    """Return a window on the goods that clearances (of a `tag`) want moved and nobody of this host has moved yet."""
    cache, tag = context.cache, str(args.get("tag") or "")
    workers = _workers_by_assignment(cache, context.outbox)
    rows = [row for row in _open_rows(context) if tag in ("", row["tag"])]
    first, size = window_bounds(args)
    shown = rows[first : first + size]
    for row in shown:
        row["taken_user"], row["taken_by"] = workers.get(row["id"], ("", ""))
        _add_product(cache, row)
    return shown, len(rows)


@declare_query("assignment_left", "id", whole_topics("assignment", "order", OUTBOX))
def assignment_left(context: QueryContext, args: Args) -> QueryResult[AssignmentLeftRow]:
    """Return what is left of one assignment, 0 if it is done or withdrawn; nothing if the list was never read."""
    if not fetch_one(context.cache, "SELECT cursor FROM sync WHERE topic = ?", ASSIGNMENTS_TOPIC):
        return [], 0
    left = sum((row["quantity"] for row in _open_rows(context) if row["id"] == str(args["id"])), Decimal(0))
    return [{"quantity": left}], 1


def _open_rows(context: QueryContext) -> Iterator[AssignmentsRow]:
    """Yield the assignments of which something is left, less what is under way."""
    moved = _moved_quantities(context.cache, context.overlay)
    for id_, raw in fetch(context.cache, _ASSIGNMENTS):
        row = _assignment_row(str(id_), parse_row(raw))
        key = (row["product_number"], row["location_code"], row["order_number"], row["line_number"])
        moved_here = min(row["quantity"], max(Decimal(0), moved.get(key, Decimal(0))))
        if moved_here:
            moved[key] -= moved_here
            row["quantity"] -= moved_here
        if row["quantity"] > 0:
            yield row


def _assignment_row(id_: str, raw: Row) -> AssignmentsRow:
    return {
        "id": id_,
        "product_number": str(raw["product_number"]),
        "label": str(raw.get("product_description") or raw["product_number"]),
        "location_code": str(raw["location_code"]),
        "quantity": to_decimal(raw.get("quantity")),
        "order_number": str(raw["customer_order_number"]),
        "line_number": int(to_decimal(raw.get("customer_order_line_number"))),
        "tag": str(raw.get("location_tag") or ""),
        "since": str(raw.get("created_on") or ""),
        "allow_decimal": False,
        "unit": "",
        "taken_by": "",
        "taken_user": "",
    }


def _add_product(cache: apsw.Connection, row: AssignmentsRow) -> None:
    sql = "SELECT name, unit, allow_decimal FROM product WHERE product_number = ?"
    name, unit, decimals = fetch_one(cache, sql, row["product_number"]) or ("", "", 0)
    row["label"], row["unit"], row["allow_decimal"] = str(name or row["label"]), str(unit), bool(decimals)


def _moved_quantities(cache: apsw.Connection, overlay: Overlay) -> dict[tuple[str, str, str, int], Decimal]:
    """Return the quantities of pending movements that the cached list does not include yet, less those moved back."""
    cursor = fetch_one(cache, "SELECT cursor FROM sync WHERE topic = ?", ASSIGNMENTS_TOPIC)
    began = float(cursor[0]) if cursor else None
    moved: dict[tuple[str, str, str, int], Decimal] = {}
    for operation in overlay.operations(CREATE_MOVEMENT):
        if is_included(operation, began):
            continue
        for item in operation.body:
            quantity = to_decimal(item.get("quantity"))
            for end, part in ((item.get("from_location"), quantity), (item.get("to_location"), -quantity)):
                key = _goods_key(str(item.get("product_number")), end or {})
                moved[key] = moved.get(key, Decimal(0)) + part
    return moved


def _goods_key(product: str, end: Mapping[str, Any]) -> tuple[str, str, str, int]:
    """Return what the goods at one end of a movement are: product, location, order and line."""
    line = int(to_decimal(end.get("customer_order_line_number")))
    return product, str(end.get("location_code") or ""), str(end.get("customer_order_number") or ""), line


def _workers_by_assignment(cache: apsw.Connection, outbox: apsw.Connection) -> dict[str, tuple[str, str]]:
    """Return user and name of who works on an assignment at a terminal of this host, by its id."""
    found: dict[str, tuple[str, str]] = {}
    for name, user, *session in fetch(
        outbox, _ASSIGNMENTS_IN_WORK, ASSIGNMENT_PREFIX, ASSIGNMENT_PREFIX + "\U0010ffff"
    ):
        if session_from_row(session).is_running:
            found[str(name).removeprefix(ASSIGNMENT_PREFIX)] = str(user), person_name(cache, str(user))
    return found
