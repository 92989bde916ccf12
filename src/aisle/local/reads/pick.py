"""What picking asks of the books where something does not fit: a product that no order wants, a place that is no stop.

All of it is made of other reads; nothing of this is asked while everything goes as it should.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.pick.put import waits
from aisle.local.cache.tags import tag_counts, tagged_places
from aisle.local.db import fetch
from aisle.local.fold import natural
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.rows import Result, loaded

Read = Callable[[Mapping[str, Json]], Result]

OFFERED = 4
"""Pick-up places that are named."""

NEEDING = 3
"""Other orders that are named for a product."""

_PRODUCTS = """
SELECT p.product_number, p.name, p.raw FROM json_each(?) e JOIN product p ON p.product_number = e.value ORDER BY e.key
"""


def stranger(cache: apsw.Connection, product: Read, holders: Read, args: Mapping[str, Json]) -> Result:
    """What a product is that none of `orders` wants (product_number, orders, and the `products` that they still want).

    One row: `deprecation_date`, `is_active` and `is_template` as the catalogue has them, `referral` and its
    `referral_label`; of the wanted products the `wholes` that it is a part of and the `parts` that it is made of
    (product_number and label each); `orders` besides, that need it (order_number, customer_name).
    """
    number = str(args["product_number"])
    (rows, _), wanted = product({"product_number": number}), [str(each) for each in args.get("products") or ()]
    known: Row = rows[0] if rows else {}
    named = [(str(each), str(name or each), loaded(raw) if raw else {}) for each, name, raw in _read(cache, wanted)]
    mine = _set(known)
    referral = str(known.get("referral_product_id") or known.get("referral_product") or "")
    label = next((str(name or each) for each, name, _ in _read(cache, [referral])), referral)
    own = {str(each) for each in args.get("orders") or ()}
    found, _ = holders({"product_number": number, "size": NEEDING + len(own)})
    row: Row = {
        **{name: known[name] for name in ("deprecation_date", "is_active") if name in known},
        "is_template": bool(known.get("is_template")),
        "referral": referral,
        "referral_label": label,
        "wholes": [_linked(each, name) for each, name, raw in named if number in _set(raw)],
        "parts": [_linked(each, name) for each, name, _ in named if each in mine],
        "orders": [
            {name: each[name] for name in ("order_number", "customer_name")}
            for each in found
            if each["needed"] > 0 and each["order_number"] not in own
        ][:NEEDING],
    }
    return [row], 1


def _read(cache: apsw.Connection, numbers: Sequence[str]) -> list[tuple[Any, ...]]:
    wanted = [number for number in numbers if number]
    return fetch(cache, _PRODUCTS, to_text(wanted)) if wanted else []


def _set(raw: Mapping[str, Any]) -> set[str]:
    """The components of a set. interface: Product (set_product)."""
    given = raw.get("set_product")
    parts = given if isinstance(given, list) else ()
    return {str(part.get("set_product_number")) for part in parts if isinstance(part, dict)}


def _linked(number: str, label: str) -> Row:
    return {"product_number": number, "label": label}


def lying(product: Read, args: Mapping[str, Json]) -> Result:
    """What of a product lies at a place (product_number, location_code): its `pools` by number, `quantity` in all."""
    rows, _ = product({"product_number": args["product_number"]})
    code = str(args["location_code"]).casefold()
    found = [place for row in rows for place in row["places"] if str(place["location_code"]).casefold() == code]
    if not found:
        return [], 0
    pools: dict[str, Decimal] = {}
    for place in found:
        for pool, quantity in place["pools"].items():
            pools[pool] = pools.get(pool, Decimal(0)) + decimal(quantity)
    quantity = sum((decimal(place["quantity"]) for place in found), Decimal(0))
    return [{"pools": pools, "quantity": quantity}], 1


def pickups(cache: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """The places where goods wait for customers: one row with the codes of some (`places`), those that are most `like`
    a code first, and how many there are (`count`)."""
    waiting = [tag for tag, _ in tag_counts(cache) if waits((tag,))]
    found = list(tagged_places(cache, waiting))
    like = _bare(str(args.get("like") or ""))
    found.sort(key=lambda code: (_bare(code) != like, natural(code)))
    return ([{"places": found[:OFFERED], "count": len(found)}], 1) if found else ([], 0)


def _bare(code: str) -> tuple[str, ...]:
    """A code without its marks and the zeros in front of its numbers."""
    return tuple(part.lstrip("0") for part in re.findall(r"[^\W\d_]+|\d+", code.casefold()))
