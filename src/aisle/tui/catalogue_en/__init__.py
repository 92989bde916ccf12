"""What aisle says, in English, for staff. Short first; see `catalogue` for what stands in braces.

Each language has a package beside this one, with the same parts; `catalogue_parts` reads them.
"""

from __future__ import annotations

PARTS = (
    "frame",
    "pick",
    "count",
    "look",
    "move",
    "short",
    "doubts",
    "walk",
    "walks",
    "receive",
    "deliveries",
    "logs",
    "stores",
    "products",
    "board",
    "pin",
    "store_product",
    "web",
    "clearance",
    "today",
    "goods",
    "told",
    "help",
)
"""The modules that hold the messages, those that a start needs first; the same in every language."""
