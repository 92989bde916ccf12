"""Topics of the courier: what can be read one by one.

Pull and push share them. What an operation may have changed: `topics_of_operation`; what a service says has changed:
`pull/change_feed`.
"""

from __future__ import annotations

from typing import NamedTuple

ORDER, PRODUCT, LOCATION, STORE = "order", "product", "location", "store"
CATALOGUE = "catalogue"
"""Catalogue data of a product; `PRODUCT` is its stock in the store."""

SURROUNDING = "surrounding"
"""Stock of a product in surrounding stores; the key is the product number."""

DELIVERY = "delivery"
"""Delivery to the store with its lines and receipts."""

LOG = "log"
"""Log of the store of the last days; a key names a part of it: `ENTRY_PREFIX`, or a prefix of `pull/log_reader`."""

ENTRY_PREFIX = "entry/"
"""Prefix of the key of one log entry (`entry/17`)."""

PERSON = "person"
"""People of the store; they are read as one list."""

RECOUNT = "recount"
"""Counts ordered at our own service; read as one list, without keys."""

ASSIGNMENT = "assignment"
"""Moves that clearances require; read as one list, without keys."""

AUDIT = "audit"
"""Who changed an order at our own service; the key is the order number."""


class Topic(NamedTuple):
    """Topic with its key."""

    name: str
    key: str
