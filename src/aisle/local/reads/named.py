"""The reads that any page asks for, by name: windows on the store's data with the outbox laid over them.

Each makes (rows, how many there are in all) of its arguments. A supervisor's pages have more: aisle.local.reads.desk.

`orders` (search, product_number, user, lying, first, size): open orders, those before all others that were given to
this user or go first, then by pickup date and number, with progress, and whose they are (aisle.local.reads.claims,
reads_walks); of those with words, a hundred at most. Where `lying` is asked for, before them those that are picked and
not put down (aisle.local.reads.lying).
`given` (user): see aisle.local.reads.walks.
`order` (order_number): one row with `lines`; `lines_known` is False where only the header is here. `order_to_pick`
(order_number): the same, and of each line its `stock`, see aisle.local.reads.at_places.
`product` (product_number): one row with stock by pool and place. `surrounding` (product_number): one row with the
`stores` around. `holders` (product_number, first, size): orders that need or hold it. `search` (search, first, size):
products, best first, 100 at most. `place` (location_code, size, product_number): one row with the `products` on it (so
many by name, or that one), their pools and what of them is `held`, how many there are in all, and the places `before`
and `after` it. `places` (search, beside, first, size): in the order of feet,
with the number of `products` on each. `people` (search, size): user and name, and whether it `is_badge` of his that is
searched for.
`person` (user): that one, and how many there are in all.
`pass` (user, now): see aisle.local.outbox.passes.
`store` (store_number; without it this one). `count_log` (now, user, product_number, search, first, size): the day's
counts, losses and corrections, youngest first. `reasons`: those that the store's logs have named.
`homes` (product_numbers): the places of each, those that have some first, in the order of feet. `refusals` (operation,
since, ops): what the service refused since then, or of these operations, and why, oldest first.
`doubts` (op_id, first, size): what is not settled, those that
need a person first; `trouble`: how many these are; `open` (user, now): how many wait to be
sent, with rows of what this user has in hand (aisle.local.reads.in_hand). `named` (code): what it is the
number of. Of picking: `stranger`, `lying`, `pickups`, see aisle.local.reads.pick; `spot`, see aisle.local.reads.spot.
Of deliveries: `deliveries`, `delivery`, `expecting`, see aisle.local.reads.deliveries; `coming` (product_number, size),
see aisle.local.reads.coming; `receipts`, `receipt_kinds`, see aisle.local.reads.receipts. Of the log: `logs`, `losses`,
see aisle.local.reads.logbook.
`elsewhere` (product_number, place, pools): other places with some that no order holds, the nearest first.
`short_reasons`: those that orders have named. `features`: what the service announces beyond the interface.
`language` (user): the one that this person has chosen on this host, if any.
`unread`: each `list` of the store that was never read to its end.
`store_product` (product_number, user): see aisle.local.reads.store_product.
`stores`, `store_page`: see aisle.local.reads.stores.
`catalogue`, `catalogue_page`, `facets`: see aisle.local.reads.catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import apsw

from aisle.code_forms import guessed_keys, lookup_keys, names
from aisle.jobs.base import Json
from aisle.late import Late
from aisle.local.db import fetch, fetch_one
from aisle.local.host.home import Home
from aisle.local.outbox.doubts import doubts, trouble
from aisle.local.outbox.outbox import Outbox
from aisle.local.outbox.remarks import LANGUAGE, remarks_of
from aisle.local.reads.at_places import with_stock
from aisle.local.reads.claims import with_claims, with_pickers
from aisle.local.reads.halfway import halfway
from aisle.local.reads.laid import Known as Laid
from aisle.local.reads.orders import Shift, holders, order, orders
from aisle.local.reads.overlay import Overlay, Row
from aisle.local.reads.overlay_goods import Goods
from aisle.local.reads.places import place, places
from aisle.local.reads.rows import Found, Result, in_use, loaded, pools, window
from aisle.local.reads.unread import unread
from aisle.local.reads.walk import Walk
from aisle.scan.meaning import PERSON, Candidate
from aisle.scan.resolve import fitting
from aisle.tuples import NamedTuple
from aisle.words import fold

if TYPE_CHECKING:
    from aisle.local.outbox import passes
    from aisle.local.reads import catalogue as reads_catalogue
    from aisle.local.reads import coming as reads_coming
    from aisle.local.reads import deliveries as reads_deliveries
    from aisle.local.reads import goods as reads_goods
    from aisle.local.reads import in_hand as reads_in_hand
    from aisle.local.reads import logbook as reads_logbook
    from aisle.local.reads import logs as reads_logs
    from aisle.local.reads import lying as reads_lying
    from aisle.local.reads import moves as reads_moves
    from aisle.local.reads import pick as reads_pick
    from aisle.local.reads import picked as reads_picked
    from aisle.local.reads import receipts as reads_receipts
    from aisle.local.reads import short as reads_short
    from aisle.local.reads import spot as reads_spot
    from aisle.local.reads import store_product as reads_store_product
    from aisle.local.reads import stores as reads_stores
    from aisle.local.reads import walks as reads_walks
else:
    passes = Late("aisle.local.outbox.passes")
    reads_catalogue = Late("aisle.local.reads.catalogue")
    reads_coming = Late("aisle.local.reads.coming")
    reads_deliveries = Late("aisle.local.reads.deliveries")
    reads_goods = Late("aisle.local.reads.goods")
    reads_in_hand = Late("aisle.local.reads.in_hand")
    reads_logbook = Late("aisle.local.reads.logbook")
    reads_logs = Late("aisle.local.reads.logs")
    reads_lying = Late("aisle.local.reads.lying")
    reads_moves = Late("aisle.local.reads.moves")
    reads_pick = Late("aisle.local.reads.pick")
    reads_picked = Late("aisle.local.reads.picked")
    reads_receipts = Late("aisle.local.reads.receipts")
    reads_short = Late("aisle.local.reads.short")
    reads_spot = Late("aisle.local.reads.spot")
    reads_store_product = Late("aisle.local.reads.store_product")
    reads_stores = Late("aisle.local.reads.stores")
    reads_walks = Late("aisle.local.reads.walks")

PEOPLE = 50
"""Rows of a window on people when nobody says how many."""

Args = Mapping[str, Json]


class Ground(NamedTuple):
    """What is read from, as it is at this moment, and what of it is known already."""

    home: Home
    cache: apsw.Connection
    outbox: apsw.Connection
    overlay: Overlay
    goods: Goods
    pools: Mapping[int, str]
    """Stock pools in use, by the settings; empty for those that the store names."""
    laid: Laid
    """Orders with something on its way that were read before; kept up to date by whoever reads one."""
    find: Callable[[Iterable[str]], list[Candidate]]
    walk: Callable[[], Walk]
    """The order of feet."""
    shift: Callable[[], Shift]
    """What waits does this to the list of open orders."""
    gone: Callable[[Iterable[str]], set[str]]
    """Those of these orders that were rejected or finished here."""


R = TypeVar("R", Result, Found)


def _orders(on: Ground, args: Args) -> Found:
    user, shift = str(args.get("user") or ""), on.shift()
    lying: Mapping[str, Json] = {}
    left = reads_walks.left_lying(on.outbox, user, all_=bool(args.get("search"))) if args.get("lying") else []
    if left or (args.get("lying") and args.get("search")):
        shift, lying = reads_lying.lying(on.cache, on.overlay.orders(), shift, args, left)
    wanted = {**args, "ahead": [*lying, *reads_walks.ahead(on.outbox, user)]}
    found = _claimed(on, orders(on.cache, on.overlay.orders(), on.laid, shift, wanted))
    for row in found[0] if lying else ():
        row["lying"] = lying.get(str(row["order_number"]), 0)
    return found


def _order(on: Ground, args: Args) -> Result:
    return _claimed(on, order(on.cache, on.overlay.orders(), str(args["order_number"])))


def _order_to_pick(on: Ground, args: Args) -> Result:
    found = _order(on, args)
    with_stock(on.cache, on.goods.pending(), found[0])
    for row in found[0]:
        reads_moves.with_refused(on.outbox, row)
    return found


def _claimed(on: Ground, result: R) -> R:
    with_claims(on.cache, on.outbox, result[0])
    reads_walks.with_wishes(on.cache, on.outbox, result[0])
    return result


def _told(on: Ground, result: Result) -> Result:
    with_pickers(on.cache, result[0])
    return result


def _product(on: Ground, args: Args) -> Result:
    number, pending = str(args["product_number"]), on.goods.pending()
    rows, total = reads_goods.product(on.cache, pending, number, on.home.store, on.pools)
    for row in rows:
        operations = pending.get(number, ())
        row["in_hand"] = reads_picked.in_hand(on.cache, on.overlay.orders(), on.laid, operations, number)
    return rows, total


def _holders(on: Ground, args: Args) -> Result:
    return holders(on.cache, on.overlay.orders(), on.laid, args)


def _place(on: Ground, args: Args) -> Result:
    """What lies there for orders that were rejected here lies there for nobody."""
    rows, total = place(on.cache, on.goods, on.walk(), args)
    products = [product for row in rows for product in row["products"]]
    gone = on.gone({str(each["order_number"]) for product in products for each in product["held"]})
    for product in products if gone else ():
        product["held"] = [each for each in product["held"] if str(each["order_number"]) not in gone]
    return rows, total


def _elsewhere(on: Ground, args: Args) -> Result:
    rows, _ = _product(on, args)
    return reads_short.elsewhere(on.cache, on.goods.pending(), on.walk(), rows[0] if rows else None, args)


def _unread(on: Ground, _: Args) -> Result:
    found = unread(on.cache)
    return [{"list": name} for name in found], len(found)


def _open(on: Ground, args: Args) -> Result:
    rows = reads_in_hand.in_hand(on.cache, on.outbox, on.overlay.orders(), args)
    return rows, Outbox(on.outbox).counts()[0]


def _language(outbox: apsw.Connection, user: str) -> Result:
    kept = remarks_of(outbox, [user], LANGUAGE)
    return [{"language": each.text} for each in kept.values()], len(kept)


def _people(on: Ground, args: Args) -> Result:
    search = str(args.get("search") or "")
    words = fold(search).split()
    badges = {found.key for found in on.find(lookup_keys(search)) if found.kind == PERSON}
    rows = fetch(on.cache, "SELECT raw, user, name, text FROM person ORDER BY name, user")
    people = [
        {**loaded(raw), "user": user, "name": name, "is_badge": user in badges}
        for raw, user, name, text in rows
        if user in badges or all(word in text for word in words)
    ]
    first, size = window(args, PEOPLE)
    return people[first : first + size], len(people)


def _person(on: Ground, args: Args) -> Result:
    row = fetch_one(on.cache, "SELECT user, name FROM person WHERE user = ?", str(args["user"]))
    known = fetch_one(on.cache, "SELECT count(*) FROM person")
    return [{"user": row[0], "name": row[1]}] if row else [], int(known[0]) if known else 0


def _of_code(on: Ground, code: str) -> tuple[list[Candidate], bool]:
    """All that has this code, or else the one thing that a guess leads to, and whether it is a guess: beside a
    quantity, which of several was meant cannot be asked."""
    if found := _under(on, code, lookup_keys(code)):
        return found, False
    guessed = fitting((each, each) for each in _under(on, code, guessed_keys(code)))
    return (list(guessed), True) if len(guessed) == 1 else ([], False)


def _under(on: Ground, code: str, keys: Iterable[str]) -> list[Candidate]:
    return [each for each in on.find(keys) if names(each.code, each.key, code)]


def _named(on: Ground, code: str) -> Result:
    found, is_guess = _of_code(on, code)
    return reads_moves.named(found, is_guess=is_guess)


def _store(on: Ground, args: Args) -> Result:
    number = str(args.get("store_number") or on.home.store)
    row = fetch_one(on.cache, "SELECT raw FROM store WHERE store_number = ?", number)
    mine = on.pools if number == on.home.store else {}
    if row is None and not mine:
        return [], 0
    raw = loaded(row[0]) if row else {}
    store: Row = {
        **raw,
        "store_number": number,
        "store_name": raw.get("storeName"),
        "is_warehouse": bool(raw.get("isWarhouse")),
        "pools": in_use(pools(raw, "storeStockPool"), mine),
    }
    return [store], 1


NAMED: Mapping[str, Callable[[Ground, Args], Result | Found]] = {
    "orders": _orders,
    "given": lambda on, args: reads_walks.given(on.cache, on.outbox, args),
    "order": _order,
    "order_to_pick": _order_to_pick,
    "product": _product,
    "surrounding": lambda on, args: reads_goods.surrounding(on.cache, str(args["product_number"]), on.home.store),
    "holders": _holders,
    "search": lambda on, args: reads_goods.search(on.cache, args),
    "place": _place,
    "places": lambda on, args: places(on.cache, on.goods, on.walk(), args),
    "homes": lambda on, args: reads_moves.homes(on.cache, on.goods.pending(), args),
    "refusals": lambda on, args: _told(on, reads_moves.refusals(on.outbox, args)),
    "named": lambda on, args: _named(on, str(args["code"])),
    "doubts": lambda on, args: doubts(on.outbox, on.cache, args),
    "trouble": lambda on, _: trouble(on.outbox),
    "halfway": lambda on, _: halfway(on.cache, on.outbox),
    "language": lambda on, args: _language(on.outbox, str(args["user"])),
    "open": _open,
    "unread": _unread,
    "count_log": lambda on, args: reads_logs.count_log(on.cache, on.outbox, on.home.store, args),
    "reasons": lambda on, _: reads_logs.reasons(on.cache),
    "elsewhere": _elsewhere,
    "short_reasons": lambda on, _: reads_short.short_reasons(on.cache),
    "features": lambda on, _: reads_short.features(on.cache),
    "stranger": lambda on, args: reads_pick.stranger(on.cache, partial(_product, on), partial(_holders, on), args),
    "lying": lambda on, args: reads_pick.lying(partial(_product, on), args),
    "pickups": lambda on, args: reads_pick.pickups(on.cache, args),
    "spot": lambda on, args: reads_spot.spot(on.cache, on.goods, on.walk(), on.gone, args),
    "deliveries": lambda on, args: reads_deliveries.deliveries(on.cache, on.overlay, args),
    "delivery": lambda on, args: reads_deliveries.delivery(on.cache, on.overlay, str(args["order_number"])),
    "expecting": lambda on, args: reads_deliveries.expecting(on.cache, on.overlay, args),
    "coming": lambda on, args: reads_coming.coming(on.cache, on.goods.pending(), args),
    "receipts": lambda on, args: reads_receipts.receipts(on.cache, args),
    "logs": lambda on, args: reads_logbook.logs(on.cache, args),
    "losses": lambda on, args: reads_logbook.losses(on.cache, args),
    "receipt_kinds": lambda on, _: reads_receipts.receipt_kinds(on.cache),
    "store_product": lambda on, args: reads_store_product.read(on.cache, on.outbox, partial(_product, on), args),
    "people": _people,
    "person": _person,
    "pass": lambda on, args: passes.read(on.cache, on.outbox, args),
    "catalogue": lambda on, args: reads_catalogue.catalogue(on.cache, args),
    "catalogue_page": lambda on, args: reads_catalogue.catalogue_page(on.cache, partial(_product, on), args),
    "facets": lambda on, args: reads_catalogue.facets(on.cache, args),
    "stores": lambda on, args: reads_stores.stores(on.cache, on.home, args),
    "store_page": lambda on, args: reads_stores.store_page(on.cache, on.outbox, on.home, args),
    "store": _store,
}
