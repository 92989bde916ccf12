"""Messages about lists of the service that cannot be read, or only in part."""

from __future__ import annotations

from aisle.jobs.view import MissingList, Msg, UnusableRows, msg
from aisle.stored_messages import read_message

LIST_NAMES = {
    "stores": "list.stores",
    "people": "list.people",
    "headers": "list.orders",
    "lines": "list.lines",
    "locations": "list.locations",
    "deliveries": "list.deliveries",
    "receipts": "list.receipts",
    "products": "list.products",
    "stock": "list.stock",
    "recounts": "list.recounts",
    "assignments": "list.assignments",
    "changes": "list.changes",
    "stock_changes": "list.stock_changes",
    "logs": "list.log",
}


def list_name(name: str) -> Msg:
    """Return the name of a list; an unknown list keeps its own name."""
    return msg(LIST_NAMES[name]) if name in LIST_NAMES else msg("raw", text=name)


def awaited_list(name: str) -> Msg:
    """Return the message that a list has not been read yet."""
    return msg("list.loading", what=list_name(name))


def unreadable_list(missing: MissingList) -> Msg:
    """Return the message that a list cannot be read, with the reason if known."""
    if not missing.why:
        return msg("list.unreadable", what=list_name(missing.name))
    return msg("list.unreadable_why", what=list_name(missing.name), why=read_message(missing.why))


def left_out_rows(rows: UnusableRows) -> Msg:
    """Return the message that rows of a list are unusable or repeated. `aisle doctor` names the faulty field."""
    if rows.is_repeated:
        return msg("list.repeated", count=rows.rows, what=list_name(rows.name))
    return msg("list.left_out", count=rows.rows, what=list_name(rows.name))
