"""The stores of the chain as a person browses them, one of them with all that is known, and what a change to it means.

interface: Store, Create stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.window import COUNTED
from aisle.local.cache.schema import AREA, WAREHOUSE
from aisle.local.db import fetch, fetch_one
from aisle.local.host.home import Home
from aisle.local.outbox.outbox import Outbox
from aisle.local.reads.overlay import Row
from aisle.local.reads.rows import Found, Result, loaded, moment, pools, window
from aisle.local.session.left import GLANCE, open_jobs, waiting
from aisle.local.session.people import standing
from aisle.local.session.whereabouts import Whereabouts, visited, whereabouts
from aisle.words import fold

SIZE = 20
"""Rows of a window when nobody says how many."""

WORDS = 4
"""Words of a search that count."""

MOST = COUNTED
"""Stores with some words that are counted; whoever gets as many types another letter."""

_OF = "SELECT store_number FROM store WHERE {}"
_KEYS = {
    "all": "SELECT store_number FROM store INDEXED BY store_words WHERE 1",
    "warehouse": _OF.format(WAREHOUSE),
    "near": _OF.format(
        f"store_number <> :here AND store_number IN ({_OF.format(f'{AREA} = :area')} UNION {_OF.format(WAREHOUSE)})"
    ),
    "anywhere": "SELECT store_number FROM store INDEXED BY store_words WHERE store_number <> :here",
    "visited": _OF.format("store_number IN (SELECT value FROM json_each(:visited))"),
}
"""The numbers of the stores that are shown; each has an index. Where the own store has no area, all are near."""

_ROWS = "SELECT store_number, raw FROM store WHERE store_number IN (SELECT value FROM json_each(?)) ORDER BY 1"
_PAGE = "SELECT store_number, raw FROM store ORDER BY store_number LIMIT ? OFFSET ?"


def stores(cache: apsw.Connection, home: Home, args: Mapping[str, Json]) -> Found:
    """A window on the stores, by number: `show` (all, near, warehouse, visited), words to `search`, a hundred at most.

    Near are those that the service counts as around: of the same area, and warehouses. Visited are those that terminals
    of this host were changed to or from; they are known here although the list may not have come yet.
    """
    words = [f" {word}" if len(word) < 3 else word for word in fold(str(args.get("search") or "")).split()[:WORDS]]
    first, size = window(args, SIZE)
    area, been = _area(cache, home.store), {each.store: each for each in visited(home.root, home.base_url)}
    show = str(args.get("show") or "all")
    said: dict[str, Any] = {"here": home.store, "area": area, "visited": to_text(list(been))}
    more = False
    if show == "all" and not words:
        rows = fetch(cache, _PAGE, size, first)
        total = int(fetch(cache, "SELECT count(*) FROM store")[0][0])
    else:
        numbers = _numbers(cache, "anywhere" if show == "near" and not area else show, words, said)
        more = bool(words) and len(numbers) > MOST
        numbers = numbers[:MOST] if words else numbers
        rows = fetch(cache, _ROWS, to_text(numbers[first : first + size]))
        total = len(numbers)
    found = [_listed(str(number), loaded(str(raw)), home, area, been) for number, raw in rows]
    if show in ("all", "visited"):
        listed = "SELECT store_number FROM store WHERE store_number IN (SELECT value FROM json_each(?))"
        known = {str(number) for (number,) in fetch(cache, listed, said["visited"])} if been else set()
        unlisted = [number for number in been if number not in known and all(word.strip() in number for word in words)]
        begin = max(0, first - total)
        room = max(0, size - len(found))
        found += [_listed(number, {}, home, area, been) for number in unlisted[begin : begin + room]]
        total += len(unlisted)
    return Found(found, total, more)


def _numbers(cache: apsw.Connection, show: str, words: list[str], said: Mapping[str, Any]) -> list[str]:
    """The numbers of the stores that are shown and have these words; with words no more than one above `MOST`."""
    having = "".join(f" AND instr(text, :w{at})" for at in range(len(words)))
    most = MOST + 1 if words else -1
    sql = f"{_KEYS.get(show, _KEYS['all'])}{having} ORDER BY store_number LIMIT :most"
    asked = {**said, "most": most, **{f"w{at}": word for at, word in enumerate(words)}}
    return [str(number) for (number,) in cache.execute(sql, asked).fetchall()]


def _area(cache: apsw.Connection, store: str) -> str:
    row = fetch_one(cache, "SELECT raw ->> 'areaId' FROM store WHERE store_number = ?", store)
    return str(row[0] or "") if row else ""


def _listed(number: str, raw: Mapping[str, Any], home: Home, area: str, been: Mapping[str, Home]) -> Row:
    warehouse = raw.get("isWarhouse") in (True, 1, "true")
    near = warehouse or not area or str(raw.get("areaId") or "") == area
    waits = GLANCE.waiting(been[number]) if number in been and number != home.store else 0
    return {
        "store_number": number,
        "store_name": str(raw.get("storeName") or ""),
        "is_warehouse": warehouse,
        "area": str(raw.get("areaDescription") or raw.get("areaId") or ""),
        "country": str(raw.get("countryCode") or ""),
        "here": number == home.store,
        "near": near and number != home.store,
        "waiting": waits,
    }


_NAMES = {
    "storeNo": "store_number",
    "storeName": "store_name",
    "areaId": "area_id",
    "areaDescription": "area_description",
    "countryCode": "country_code",
    "isWarhouse": "is_warehouse",
    "inventLocation": "invent_location",
    "legalEntity": "legal_entity",
    "lastOrderLineExportedOn": "last_order_line_exported_on",
}
"""What the list calls the fields of a store, and what its creation does."""


def store_page(cache: apsw.Connection, outbox: apsw.Connection, home: Home, args: Mapping[str, Json]) -> Result:
    """One store (`store_number`) under the names of its creation, `pools` by number.

    `told`: yes; `unasked` (more may come), `refused`. And what a change to it means for `user` at `terminal`: `may`,
    `waiting` and `jobs` of the store that would be left, `there_waiting` and `there_jobs` of that one; `there_known`:
    whether data of that one are here.
    """
    number = str(args["store_number"])
    row = fetch_one(cache, "SELECT raw FROM store WHERE store_number = ?", number)
    more = fetch_one(cache, "SELECT raw, refused, began FROM store_said WHERE store_number = ?", number)
    been = {each.store: each for each in visited(home.root, home.base_url)}
    if row is None and more is None and number not in been:
        return [], 0
    listed, said = loaded(row[0]) if row else {}, loaded(more[0]) if more and more[0] else {}
    named = {_NAMES.get(name, name): value for name, value in listed.items()}
    user, note = str(args.get("user") or ""), _moved(home, str(args.get("terminal") or ""))
    there = been.get(number)
    waits, jobs = waiting(there, user) if there and number != home.store else (0, ())
    store: Row = {
        **named,
        **said,
        "store_number": number,
        "pools": pools(listed, "storeStockPool") | pools(said, "store_stock_pool_"),
        "told": "yes" if said else "refused" if more else "unasked",
        "read_at": moment(more[2]) if more else "",
        "here": number == home.store,
        "may": _may(cache, number, user, note),
        "back": bool(note and number == note.settled),
        "waiting": Outbox(outbox).counts()[0],
        "jobs": open_jobs(outbox, home.store, user),
        "there_known": home._replace(store=number).cache.exists(),
        "there_waiting": waits,
        "there_jobs": list(jobs),
    }
    return [store], 1


def _moved(home: Home, terminal: str) -> Whereabouts | None:
    """Who brought this terminal here, and where it belongs; None where it is at home."""
    note = whereabouts(home.root, terminal)
    return note if note and note.store == home.store else None


def _may(cache: apsw.Connection, number: str, user: str, note: Whereabouts | None) -> bool:
    """Whether this person may change this terminal to that store: a supervisor, and whoever brings it back to where it
    belongs or brought it here."""
    if note and (number == note.settled or user == note.user):
        return True
    return standing(cache, user).may
