"""What aisle says, in English, for staff. Short first; see `catalogue` for what stands in braces.

Each language has a package beside this one, with the same parts; `catalogue_parts` reads them.
"""

from __future__ import annotations

PARTS = (
    "frame",
    "pick",
    "count",
    "look_up",
    "move",
    "shortage",
    "unconfirmed",
    "batch",
    "batch_changes",
    "receive",
    "deliveries",
    "log",
    "stores",
    "products",
    "order_board",
    "pin",
    "store_product",
    "web",
    "clearance",
    "today",
    "goods",
    "reasons",
    "help",
)
"""The modules that hold the messages, those that a start needs first; the same in every language."""
