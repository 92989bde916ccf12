"""Which stores a request may change, told before it is carried out: its writer waits for the writers of these alone."""

from __future__ import annotations

from aisle.service.context import CHAIN, Call

# Rows that name a store are that store's, others the chain's.
_BY_ROW = frozenset(
    {
        "create-customer-orders-several-stores",
        "create-multi-store-deliveries",
        "create-prices",
        "create-discount-prices",
        "write-locations",
    }
)
# Its body is one thing, of one store.
_SIGN_IN = frozenset({"sign-in"})
# They change what the catalogue says, and nothing of any store.
_CATALOGUE = frozenset({"create-or-update-products", "update-product-attributes", "create-product-free-fields"})


def reach(operation: str, call: Call) -> frozenset[str] | None:
    """The stores (`*` is the chain) whose rows this request may change; None where only its work will tell."""
    if "store_number" in call.path:
        return frozenset({call.path["store_number"]})
    if operation in _SIGN_IN:
        return frozenset({call.body["store_number"]})
    if operation in _CATALOGUE:
        return frozenset({CHAIN})
    if operation in _BY_ROW:
        # one that names none still keeps its answer under its key
        return frozenset(number or CHAIN for number in named_stores(call)) or frozenset({CHAIN})
    return None


def named_stores(call: Call) -> list[str | None]:
    """The store that each row of a body names; None for a row of the whole chain."""
    rows = next(iter(call.body.values()), None) if isinstance(call.body, dict) else None
    return [row.get("store_number") for row in rows or () if isinstance(row, dict)]
