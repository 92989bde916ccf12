"""What a clearance asks: who may, which places have a tag, what is held there, what is assigned to be moved.

`clearing` (user): one row: what the service announces (`people`, `listed`; `heard` is False where it was never heard
of), and the `role` of this person, empty where nobody knows it. `tags`: those of the places, with how many `places`
have each. `tagged` (tag): the categories of what is held at the places of a tag, with `lines` and `quantity`.
`assignments` (tag, first, size): what clearances want moved and nobody here has moved yet. `ask` (ask_id): how it
stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import apsw

from aisle.cache.location_writer import count_tags, locations_with_tag
from aisle.cache.order_overlay import Overlay, Row, is_included, to_decimal
from aisle.cache.people_queries import load_person_rights, person_name
from aisle.cache.row_values import QueryResult, held_locations, parse_row, window_bounds
from aisle.cache.task_writer import ASSIGNMENTS_TOPIC
from aisle.host.database import fetch, fetch_one
from aisle.jobs.job import Json
from aisle.jobs.move.move_state import ASSIGNMENT_PREFIX
from aisle.outbox.journal import session_from_row
from aisle.outbox.operation_record import CREATE_MOVEMENT

DEFAULT_SIZE = 20

_HELD_LINES = """
SELECT l.raw, ifnull(p.raw ->> 'category_code', '') FROM line l INDEXED BY line_too_much
JOIN orders o ON o.order_number = l.order_number LEFT JOIN product p ON p.product_number = l.product_number
WHERE ((l.raw ->> 'picked_quantity') > (l.raw ->> 'quantity') OR (l.raw ->> 'moved_quantity') > 0) AND o.state < 2
"""
_ASSIGNMENTS = "SELECT a.id, a.raw FROM assignment a ORDER BY a.n"
_ASSIGNMENTS_IN_WORK = """
SELECT h.order_number, j.user, s.* FROM hold h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number >= ? AND h.order_number < ?
"""


def clearance_permission(cache: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
    """See above."""
    who = load_person_rights(cache, str(args["user"]))
    row: Row = {
        "heard": who.service_known,
        "people": who.knows_people,
        "listed": "assignments" in who.features,
        "role": who.role,
    }
    return [row], 1


def tag_rows(cache: apsw.Connection) -> QueryResult:
    """See above."""
    rows: list[Row] = [{"tag": tag, "places": count} for tag, count in count_tags(cache)]
    return rows, len(rows)


def held_by_category(cache: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
    """See above; only lines whose goods lie somewhere are looked at."""
    lying = [(held_locations(parse_row(raw)), category) for raw, category in fetch(cache, _HELD_LINES)]
    places = locations_with_tag(
        cache, str(args["tag"]), {str(kept["location_code"]) for each, _ in lying for kept in each}
    )
    found: dict[str, Row] = {}
    for each, category in lying:
        held = sum((to_decimal(kept["quantity"]) for kept in each if kept["location_code"] in places), Decimal(0))
        if held > 0:
            empty: Row = {"category_code": str(category), "lines": 0, "quantity": Decimal(0)}
            row = found.setdefault(str(category), empty)
            row["lines"] += 1
            row["quantity"] += held
    rows = sorted(found.values(), key=lambda row: str(row["category_code"]))
    return rows, len(rows)


def open_assignments(
    cache: apsw.Connection, outbox: apsw.Connection, overlay: Overlay, args: Mapping[str, Json]
) -> QueryResult:
    """See above: `id`, `product_number`, `label`, `location_code`, `quantity`, `order_number`, `line_number`, `tag`,
    `since`, `allow_decimal`, `unit`, and who works at it here (`taken_by`, `taken_user`)."""
    moved, taken = _moved_quantities(cache, overlay), _workers_by_assignment(cache, outbox)
    wanted, rows = str(args.get("tag") or ""), []
    for id_, raw in fetch(cache, _ASSIGNMENTS):
        row = _assignment_row(str(id_), parse_row(raw))
        spot = (row["product_number"], row["location_code"], row["order_number"], row["line_number"])
        gone = min(row["quantity"], moved.get(spot, Decimal(0)))
        if gone:
            moved[spot] -= gone
            row["quantity"] -= gone
        if row["quantity"] > 0 and wanted in ("", row["tag"]):
            row["taken_user"], row["taken_by"] = taken.get(row["id"], ("", ""))
            rows.append(row)
    first, size = window_bounds(args, DEFAULT_SIZE)
    shown = rows[first : first + size]
    for row in shown:
        _add_product(cache, row)
    return shown, len(rows)


def _assignment_row(id_: str, raw: Mapping[str, Json]) -> Row:
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
    }


def _add_product(cache: apsw.Connection, row: Row) -> None:
    sql = "SELECT name, unit, allow_decimal FROM product WHERE product_number = ?"
    name, unit, decimals = fetch_one(cache, sql, row["product_number"]) or ("", "", 0)
    row.update(label=str(name or row["label"]), unit=str(unit), allow_decimal=bool(decimals))


def _moved_quantities(cache: apsw.Connection, overlay: Overlay) -> dict[tuple[str, str, str, int], Decimal]:
    """What movements take from lines at places that the list does not know of yet."""
    kept = fetch_one(cache, "SELECT cursor FROM sync WHERE topic = ?", ASSIGNMENTS_TOPIC)
    began = float(kept[0]) if kept else None
    moved: dict[tuple[str, str, str, int], Decimal] = {}
    for operation in overlay.operations(CREATE_MOVEMENT):
        if is_included(operation, began):
            continue
        for item in operation.body:
            end = item.get("from_location") or {}
            spot = (
                *(str(item.get("product_number")), str(end.get("location_code") or "")),
                *(str(end.get("customer_order_number") or ""), int(to_decimal(end.get("customer_order_line_number")))),
            )
            moved[spot] = moved.get(spot, Decimal(0)) + to_decimal(item.get("quantity"))
    return moved


def _workers_by_assignment(cache: apsw.Connection, outbox: apsw.Connection) -> dict[str, tuple[str, str]]:
    """Who works at an assignment at a terminal of this host: user and name by its id."""
    found: dict[str, tuple[str, str]] = {}
    for name, user, *session in fetch(
        outbox, _ASSIGNMENTS_IN_WORK, ASSIGNMENT_PREFIX, ASSIGNMENT_PREFIX + "\U0010ffff"
    ):
        if session_from_row(session).is_running:
            found[str(name).removeprefix(ASSIGNMENT_PREFIX)] = str(user), person_name(cache, str(user))
    return found
