"""English messages for staff, short lengths first; `aisle.tui.message_text` explains the arguments in braces.

Each language has a package beside this one with the same parts; `aisle.messages.loader` reads them.
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
"""Modules with the messages, those needed at start first; the same in every language."""
