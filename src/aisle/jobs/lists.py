"""What the lists of the store are called that a sync reads, by its own names for them."""

from __future__ import annotations

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
    "changes": "list.changes",
    "logs": "list.logs",
}
