"""What home keeps: the window on the open orders, and what its numbers say."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import far, number
from aisle.jobs.base import Context, Effect, Quit, SignOut, Start
from aisle.jobs.claim import claim_of
from aisle.jobs.sheet import day_of, due, happened
from aisle.jobs.view import Msg, msg
from aisle.tuples import NamedTuple

MENU = ("home.pick", "home.lookup", "home.browse", "home.count", "home.move", "home.walk", "home.more")
"""The numbered commands; the last turns over to those of `MORE`."""

JOBS = {2: "lookup", 3: "browse", 4: "count", 5: "move", 6: "walk"}
"""The jobs of the menu by their number; 1 picks the order at the cursor, or the first."""

LETTERED: Mapping[str, Effect] = {"d": Start("doubts", {}), "o": SignOut(), "q": Quit()}

MORE: tuple[tuple[Msg, Effect], ...] = (
    (msg("home.doubts"), Start("doubts", {})),
    (msg("home.receive"), Start("receive", {})),
    (msg("home.orders"), Start("orders", {})),
    (msg("home.exceptions"), Start("exceptions", {})),
    (msg("home.logs"), Start("logs", {})),
    (msg("home.doctor"), Start("doctor", {})),
    (msg("home.sign_out"), SignOut()),
    (msg("home.quit"), Quit()),
)
"""What is not needed every hour; behind its last entry are those of `DESK`."""

TURN = msg("home.desk")
"""The entry that turns `MORE` over."""

DESK: tuple[tuple[Msg, Effect], ...] = (
    (msg("home.stores"), Start("stores", {})),
    (msg("home.products"), Start("products", {})),
    (msg("home.change_store"), Start("stores", {"change": True})),
    (msg("home.today"), Start("today", {})),
    (msg("home.clearance"), Start("clearance", {})),
    (msg("home.tasks"), Start("tasks", {})),
    (msg("home.pin"), Start("pin", {})),
)
"""Pages of the store and its chain, which a desk opens; a new one comes at the end."""

PAGES: tuple[tuple[Msg, ...], ...] = (
    tuple(msg(id_) for id_ in MENU),
    (*(text for text, _ in MORE), TURN),
    tuple(text for text, _ in DESK),
)
"""What the numbers say on each page of them."""


class Listed(NamedTuple):
    """One open order as home shows it."""

    number: str
    who: str
    due: Msg
    lines: int
    of: Decimal
    picked: Decimal
    taken: bool = False
    """Somebody else picks it."""
    by: str = ""
    """Who, if anybody says."""
    urgent: bool = False
    given: str = ""
    """Who has given it to the person at this screen."""
    lying: Decimal = Decimal(0)
    """It is picked, and so many pieces of it are at no place yet."""
    left: Msg | None = None
    """When whoever has begun it left it, on this host."""


class Home(NamedTuple):
    """The window on the open orders; `typed` filters while it is typed, `search` stays."""

    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Listed, ...] = ()
    total: int = 0
    page: int = 0
    """Which of `PAGES` the numbers are."""
    opening: bool = False
    """A search was ended with Enter: a single hit opens at once."""
    doubts: int = 0
    """Operations that somebody has to look at."""
    given: tuple[str, ...] = ()
    """Orders that were given to whoever stands here, as far as he was told."""
    lost: str = ""
    """The order that was rejected under the hands of whoever came back here last."""
    since: str = ""
    """When whoever stands here came."""
    refused: tuple[str, ...] = ()
    """Movements of his that were refused since, as far as he was told."""
    partly: bool = False
    """There may be more than `total` that are searched for."""
    halfway: tuple[str, ...] = ()
    """Deliveries that were left here with a part of them received."""
    leaving: bool = False
    """He was told what is open: signing out once more does it."""


def listed_of(row: Mapping[str, Any], context: Context) -> Listed:
    """A row of the read `orders`."""
    claim = claim_of(row, context)
    picked, of = far(row)
    return Listed(
        number=str(row["order_number"]),
        who=str(row.get("customer_name") or row.get("reference") or ""),
        due=due(str(row.get("pickup_date") or ""), context.now),
        lines=int(number(row.get("total_lines"))),
        of=of,
        picked=picked,
        taken=claim is not None,
        by=claim.who if claim else "",
        urgent=bool(row.get("urgent")),
        given=str(row.get("given_by") or "") if row.get("given_to") and row.get("given_to") == context.user else "",
        lying=number(row.get("lying")),
        left=happened(claim.left, day_of(context.now)) if claim and claim.left else None,
    )
