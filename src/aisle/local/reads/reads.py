"""What a session reads: exact look-ups of codes, and named windows on the store's data with the outbox laid over them.

Rows are plain mappings with the interface's field names; fractions are Decimal. Everything here works without
locations, without a catalogue, and without a cache at all (then nothing is known).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import apsw

from aisle.errors import StorageError
from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.view import Link
from aisle.late import Late
from aisle.local.cache.file import empty_cache, open_cache
from aisle.local.cache.schema import MANY, TOPICS, VERSION
from aisle.local.db import fetch, fetch_one, version
from aisle.local.host.disk import FileId, file_id
from aisle.local.host.home import Home
from aisle.local.outbox.doubts import doubts, trouble
from aisle.local.reads.claims import with_claims, with_pickers
from aisle.local.reads.orders import Shift, holders, order, orders
from aisle.local.reads.overlay import Overlay, Row
from aisle.local.reads.overlay_goods import Goods
from aisle.local.reads.places import Known, place, places
from aisle.local.reads.rows import Result, in_use, loaded, pools, window
from aisle.local.reads.standing import Standings
from aisle.local.reads.unread import unread
from aisle.local.reads.walk import Walk, Walks
from aisle.scan.codes import lookup_keys
from aisle.scan.meaning import PERSON, PRODUCT, Candidate
from aisle.words import fold

if TYPE_CHECKING:
    from aisle.local.outbox import passes
    from aisle.local.reads import catalogue as reads_catalogue
    from aisle.local.reads import deliveries as reads_deliveries
    from aisle.local.reads import desk as reads_desk
    from aisle.local.reads import goods as reads_goods
    from aisle.local.reads import logbook as reads_logbook
    from aisle.local.reads import logs as reads_logs
    from aisle.local.reads import moves as reads_moves
    from aisle.local.reads import pick as reads_pick
    from aisle.local.reads import short as reads_short
    from aisle.local.reads import spot as reads_spot
    from aisle.local.reads import store_product as reads_store_product
    from aisle.local.reads import stores as reads_stores
    from aisle.local.reads import walks as reads_walks
else:
    passes = Late("aisle.local.outbox.passes")
    reads_catalogue = Late("aisle.local.reads.catalogue")
    reads_desk = Late("aisle.local.reads.desk")
    reads_deliveries = Late("aisle.local.reads.deliveries")
    reads_goods = Late("aisle.local.reads.goods")
    reads_logbook = Late("aisle.local.reads.logbook")
    reads_logs = Late("aisle.local.reads.logs")
    reads_moves = Late("aisle.local.reads.moves")
    reads_pick = Late("aisle.local.reads.pick")
    reads_short = Late("aisle.local.reads.short")
    reads_spot = Late("aisle.local.reads.spot")
    reads_stores = Late("aisle.local.reads.stores")
    reads_store_product = Late("aisle.local.reads.store_product")
    reads_walks = Late("aisle.local.reads.walks")

_GONE = (apsw.SQLError, apsw.CorruptError, apsw.NotADBError, apsw.CantOpenError, apsw.SchemaChangeError)
"""What a reader meets when the courier makes the cache anew under its feet."""

_FIND = """
SELECT e.value, c.kind, c.key, c.factor, p.name, p.allow_decimal, o.label, m.name
FROM json_each(?) e JOIN code c ON c.code = e.value
LEFT JOIN product p ON c.kind = 'product' AND p.product_number = c.key
LEFT JOIN orders o ON c.kind IN ('order', 'reference') AND o.order_number = c.key
LEFT JOIN person m ON c.kind = 'person' AND m.user = c.key
ORDER BY e.key, c.kind, c.key
"""

PEOPLE = 50
"""Rows of a window on people when nobody says how many."""

EVERYTHING = tuple((topic, "") for topic in TOPICS)


class Reads:
    """The cache of a home folder and the outbox on top of it, read only. Not for use from several threads."""

    def __init__(self, home: Home, outbox: apsw.Connection) -> None:
        self._home = home
        self.pools: Mapping[int, str] = {}
        """Stock pools in use, by the settings; empty for those that the store names."""
        self._outbox = outbox
        self._overlay = Overlay(outbox)
        self._goods = Goods(self._overlay)
        self._named: dict[str, Callable[[Mapping[str, Json]], Result]] = {
            "orders": self._orders,
            "given": lambda args: reads_walks.given(self._cache, outbox, args),
            "order": lambda args: self._claimed(order(self._cache, self._overlay.orders(), str(args["order_number"]))),
            "product": lambda args: reads_goods.product(
                self._cache, self._goods.pending(), str(args["product_number"]), self._home.store, self.pools
            ),
            "surrounding": lambda args: reads_goods.surrounding(
                self._cache, str(args["product_number"]), self._home.store
            ),
            "holders": lambda args: holders(self._cache, self._overlay.orders(), args),
            "search": lambda args: reads_goods.search(self._cache, args),
            "place": self._place,
            "places": lambda args: places(self._cache, self._goods.pending(), self._walk(), args),
            "homes": lambda args: reads_moves.homes(self._cache, self._goods.pending(), args),
            "refusals": lambda args: self._told(reads_moves.refusals(outbox, args)),
            "named": lambda args: reads_moves.named(self.find(lookup_keys(str(args["code"])))),
            "doubts": lambda args: doubts(outbox, self._cache, args),
            "trouble": lambda _: trouble(outbox),
            "unread": lambda _: ([{"list": name} for name in unread(self._cache)], len(unread(self._cache))),
            "count_log": lambda args: reads_logs.count_log(self._cache, outbox, self._home.store, args),
            "reasons": lambda _: reads_logs.reasons(self._cache),
            "elsewhere": self._elsewhere,
            "short_reasons": lambda _: reads_short.short_reasons(self._cache),
            "features": lambda _: reads_short.features(self._cache),
            "stranger": lambda args: reads_pick.stranger(
                self._cache, self._named["product"], self._named["holders"], args
            ),
            "lying": lambda args: reads_pick.lying(self._named["product"], args),
            "pickups": lambda args: reads_pick.pickups(self._cache, args),
            "spot": lambda args: reads_spot.spot(self._cache, self._goods.pending(), self._walk(), self._gone, args),
            "deliveries": lambda args: reads_deliveries.deliveries(self._cache, self._overlay, args),
            "delivery": lambda args: reads_deliveries.delivery(self._cache, self._overlay, str(args["order_number"])),
            "expecting": lambda args: reads_deliveries.expecting(self._cache, self._overlay, args),
            "receipts": lambda args: reads_deliveries.receipts(self._cache, args),
            "logs": lambda args: reads_logbook.logs(self._cache, args),
            "losses": lambda args: reads_logbook.losses(self._cache, args),
            "receipt_kinds": lambda _: reads_deliveries.receipt_kinds(self._cache),
            "store_product": lambda args: reads_store_product.read(self._cache, outbox, self._named["product"], args),
            "people": self._people,
            "pass": lambda args: passes.read(self._cache, outbox, args),
            "catalogue": lambda args: reads_catalogue.catalogue(self._cache, args),
            "catalogue_page": lambda args: reads_catalogue.catalogue_page(self._cache, self._named["product"], args),
            "facets": lambda args: reads_catalogue.facets(self._cache, args),
            "stores": lambda args: reads_stores.stores(self._cache, self._home, args),
            "store_page": lambda args: reads_stores.store_page(self._cache, outbox, self._home, args),
            "store": self._store,
        }
        self._shifted: tuple[tuple[int, ...], Shift] | None = None
        self._standings = Standings()
        self._lying: Known = {}
        self._walks = Walks()
        self._linked: tuple[int, Link, float | None] | None = None
        """The link and the moment of the last answer, as of this version of the cache."""
        self._there = True
        """False while an empty cache in memory stands for the one that nobody has made yet."""
        self._file: FileId = None
        self._cache = self._opened()

    def _opened(self) -> apsw.Connection:
        """The cache, or an empty one where there is none that this program can read."""
        try:
            found = open_cache(self._home.folder, writer=False)
        except StorageError:
            found = self._cache if not self._there else empty_cache()
            self._there = False
        else:
            self._there = True
            self._file = file_id(self._home.cache)
        self._shifted = self._linked = None
        self._standings, self._lying, self._walks = Standings(), {}, Walks()
        return found

    def _open_again(self) -> None:
        self._cache.close()
        self._there = True
        self._cache = self._opened()

    def close(self) -> None:
        """Lets go of the cache; the outbox is the caller's."""
        self._cache.close()

    def _safely(self, read: Callable[[], Any]) -> Any:
        """Runs a read; when the cache is being made anew, once more on what is there then."""
        if not self._there:
            self._cache = self._opened()
        try:
            return read()
        except _GONE:
            self._open_again()
            return read()

    # Codes

    def find(self, keys: Iterable[str]) -> list[Candidate]:
        """All that is stored under any of these keys (`aisle.scan.codes.lookup_keys`), in the order of the keys."""
        wanted = to_text(list(dict.fromkeys(keys)))
        found: list[Candidate] = self._safely(lambda: [_candidate(*row) for row in fetch(self._cache, _FIND, wanted)])
        return found

    def priced(self, candidates: list[Candidate]) -> list[Candidate]:
        """The same, with the price of each product for which one is in force without doubt."""
        numbers = [candidate.key for candidate in candidates if candidate.kind == PRODUCT]
        prices: dict[str, Decimal] = self._safely(lambda: reads_goods.prices_of(self._cache, numbers))
        return [candidate._replace(price=prices.get(candidate.key)) for candidate in candidates]

    # Windows

    def query(self, name: str, args: Mapping[str, Json]) -> Result:
        """(rows, how many there are in all) of a named read.

        `orders` (search, product_number, user, first, size): open orders, those before all others that were given to
        this user or go first, then by pickup date and number, with progress, and whose they are
        (aisle.local.reads.claims, reads_walks); of those with words, a hundred at most. `given` (user): see
        aisle.local.reads.walks.
        `order` (order_number): one row with `lines`; `lines_known` is False where only the header is here.
        `product` (product_number): one row with stock by pool and place. `surrounding` (product_number): one row with
        the `stores` around. `holders` (product_number, first, size): orders that need or hold it. `search` (search,
        first, size): products, best first, 100 at most. `place` (location_code): one row with all `products` on it,
        their pools and what of them is `held`, and the places `before` and `after` it. `places` (search, beside, first,
        size): in the order of feet, with the number of `products` on each. `people` (search, size): user and name,
        and whether it `is_badge` of his that is searched for.
        `pass` (user, now): see aisle.local.outbox.passes.
        `store` (store_number; without it this one). `count_log` (now, user, product_number, search, first, size): the
        day's counts, losses and corrections, youngest first. `reasons`: those that the store's logs have named.
        `homes` (product_numbers): the places of each, those that have some first, in the order of feet. `refusals`
        (operation, since): what the service refused and why, oldest first. `doubts` (op_id, first, size): what is not
        settled, those that need a person first; `trouble`: how many these are. `named` (code): what it is the number
        of. Of picking: `stranger`, `lying`, `pickups`, see aisle.local.reads.pick; `spot`, see aisle.local.reads.spot.
        Of deliveries: `deliveries`, `delivery`, `expecting`, `receipts`, `receipt_kinds`, see
        aisle.local.reads.deliveries. Of the log: `logs`, `losses`, see aisle.local.reads.logbook.
        `elsewhere` (product_number, place, pools): other places with some that no order holds, the nearest first.
        `short_reasons`: those that orders have named. `features`: what the service announces beyond the interface.
        `unread`: each `list` of the store that was never read to its end.
        `store_product` (product_number, user): see aisle.local.reads.store_product.
        Of a supervisor's pages: see aisle.local.reads.desk. `stores`, `store_page`: see aisle.local.reads.stores.
        `catalogue`, `catalogue_page`, `facets`: see aisle.local.reads.catalogue.
        """
        read = self._named.get(name) or (lambda args: self._desk.read(name, self._cache, args))
        result: Result = self._safely(lambda: read(args))
        return result

    @cached_property
    def _desk(self) -> reads_desk.Desk:
        return reads_desk.Desk(self._outbox, self._overlay)

    def _told(self, result: Result) -> Result:
        with_pickers(self._cache, result[0])
        return result

    def _place(self, args: Mapping[str, Json]) -> Result:
        """What lies there for orders that were rejected here lies there for nobody."""
        rows, total = place(self._cache, self._goods.pending(), self._walk(), args, self._lying)
        products = [product for row in rows for product in row["products"]]
        gone = self._gone({str(each["order_number"]) for product in products for each in product["held"]})
        for product in products if gone else ():
            product["held"] = [each for each in product["held"] if str(each["order_number"]) not in gone]
        return rows, total

    def _gone(self, orders: Iterable[str]) -> set[str]:
        """Those of these orders that were rejected or finished here."""
        pending = self._overlay.orders()
        touched = {number for number in orders if number in pending}
        standings = self._standings.of(self._cache, pending) if touched else {}
        return {number for number in touched if number in standings and standings[number].is_gone}

    def _orders(self, args: Mapping[str, Json]) -> Result:
        wanted = {**args, "ahead": reads_walks.ahead(self._outbox, str(args.get("user") or ""))}
        return self._claimed(orders(self._cache, self._overlay.orders(), self._shift(), wanted))

    def _claimed(self, result: Result) -> Result:
        with_claims(self._cache, self._outbox, result[0])
        reads_walks.with_wishes(self._cache, self._outbox, result[0])
        return result

    def _shift(self) -> Shift:
        """Reckoned again only when cache or outbox have changed: a list is asked for at every key of a search."""
        stamp = (*self._overlay.stamp(), self._version())
        if self._shifted is None or self._shifted[0] != stamp:
            self._shifted = stamp, self._standings.shift(self._cache, self._overlay.orders())
        return self._shifted[1]

    def _walk(self) -> Walk:
        return self._walks.of(self._cache, self._version())

    def _version(self) -> int:
        return int(fetch(self._cache, "PRAGMA data_version")[0][0])

    def _elsewhere(self, args: Mapping[str, Json]) -> Result:
        rows, _ = self._named["product"](args)
        return reads_short.elsewhere(self._cache, self._goods.pending(), self._walk(), rows[0] if rows else None, args)

    def _people(self, args: Mapping[str, Json]) -> Result:
        search = str(args.get("search") or "")
        words = fold(search).split()
        badges = {found.key for found in self.find(lookup_keys(search)) if found.kind == PERSON}
        rows = fetch(self._cache, "SELECT raw, user, name, text FROM person ORDER BY name, user")
        people = [
            {**loaded(raw), "user": user, "name": name, "is_badge": user in badges}
            for raw, user, name, text in rows
            if user in badges or all(word in text for word in words)
        ]
        first, size = window(args, PEOPLE)
        return people[first : first + size], len(people)

    def _store(self, args: Mapping[str, Json]) -> Result:
        number = str(args.get("store_number") or self._home.store)
        row = fetch_one(self._cache, "SELECT raw FROM store WHERE store_number = ?", number)
        mine = self.pools if number == self._home.store else {}
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

    # What is new

    def data_version(self) -> tuple[int, int]:
        """Changes when another process has written to the cache or the outbox; costs microseconds."""
        return self._safely(self._version), self._overlay.data_version()

    def changes(self, since: int) -> tuple[int, list[tuple[str, str]]]:
        """(position, what changed after position `since`): (topic, key) each, once; an empty key is the whole topic.

        Topics: those of aisle.local.cache.schema. Since 0, or from where nobody remembers, everything changed.
        """
        result: tuple[int, list[tuple[str, str]]] = self._safely(lambda: self._changes(since))
        return result

    def _changes(self, since: int) -> tuple[int, list[tuple[str, str]]]:
        there = file_id(self._home.cache)
        if version(self._cache) != VERSION or there not in (None, self._file):  # another has been put in its place
            self._open_again()
        first, last = fetch(self._cache, "SELECT ifnull(min(seq), 0), ifnull(max(seq), 0) FROM change")[0]
        if since == last:
            return since, []
        if since <= 0 or since > last or since < first - 1:
            return last, list(EVERYTHING)
        rows = fetch(self._cache, "SELECT DISTINCT topic, key FROM change WHERE seq > ?", since)
        if len(rows) > MANY:
            rows = list(dict.fromkeys((topic, "") for topic, _ in rows))
        return last, [(str(topic), str(key)) for topic, key in rows]

    def is_complete(self) -> bool:
        """Whether all of the store has been read at least once; False while the first sync is on its way."""
        sql = "SELECT 1 FROM sync WHERE topic = 'full' AND json_extract(cursor, '$.completed') > 0"
        return self._safely(lambda: fetch_one(self._cache, sql)) is not None

    def link(self, now: float) -> Link:
        """The state of the link; `now` in seconds since 1970. What waits and what is doubtful, the outbox counts.

        Read again only when the cache has changed: every frame has it.
        """

        def read() -> tuple[int, Link, float | None]:
            version = self._version()
            if self._linked is not None and self._linked[0] == version:
                return self._linked
            state, last_ok, done, total, why = fetch(
                self._cache, "SELECT state, last_ok, done, total, server FROM link"
            )[0]
            without = tuple(str(why).split(", ")) if state == "partial" else ()
            return version, Link(str(state), -1.0, 0, 0, int(done), int(total), without, unread(self._cache)), last_ok

        self._linked = self._safely(read)
        _, link, last_ok = self._linked
        return link if last_ok is None else link._replace(age=max(0.0, now - last_ok))


def _candidate(
    code: str,
    kind: str,
    key: str,
    factor: str,
    name: str | None,
    decimals: int | None,
    order: str | None,
    who: str | None,
) -> Candidate:
    return Candidate(code, kind, key, name or order or who or key, Decimal(factor), bool(decimals))
