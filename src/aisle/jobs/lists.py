"""What the lists of the store are called that a sync reads, by its own names for them."""

from __future__ import annotations

from aisle.jobs.told import words
from aisle.jobs.view import Lack, LeftOut, Msg, msg

LISTS = {
    "stores": "list.stores",
    "people": "list.people",
    "headers": "list.headers",
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
    "logs": "list.logs",
}


def named(name: str) -> Msg:
    """What a list is called; one that nobody knows is called by its own name."""
    return msg(LISTS[name]) if name in LISTS else msg("raw", text=name)


def unreadable(lack: Lack) -> Msg:
    """That a list cannot be read, and why."""
    if not lack.why:
        return msg("list.unreadable", what=named(lack.name))
    return msg("list.unreadable_why", what=named(lack.name), why=words(lack.why))


def left_out(left: LeftOut) -> Msg:
    """That rows of a list cannot be used, or are there twice; `aisle doctor` says which field makes no sense."""
    if left.is_repeated:
        return msg("list.repeated", count=left.rows, what=named(left.name))
    return msg("list.left_out", count=left.rows, what=named(left.name))
