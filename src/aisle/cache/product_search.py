"""Products as a session sees them: found by typing, or one with all its stock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase, digits
from typing import Any

import apsw

from aisle.barcode_keys import normalise_code
from aisle.cache.order_overlay import Row, to_decimal
from aisle.cache.row_values import (
    QueryResult,
    WindowRows,
    iso_time,
    load_walk_orders,
    parse_row,
    pool_quantities,
    sort_by_walk_order,
    stock_locations,
    window_bounds,
)
from aisle.cache.stock_overlay import PendingByProduct, apply_to_stock
from aisle.host.database import fetch, fetch_one
from aisle.jobs.job import Json
from aisle.jobs.pages import MAX_COUNTED
from aisle.json_codec import to_text
from aisle.search_text import normalise_text, search_variants

DEFAULT_SIZE = 20
"""Rows of a window when nobody says how many."""

MAX_HITS = MAX_COUNTED
"""Hits of a search that are counted and ranked; whoever gets as many types another letter."""

MAX_CODE_HITS = 20
"""Codes that begin as what is looked for, whose products are ranked in any case."""

INDEXED_PREFIX = 24
"""Characters of a product's text that the cache keeps in order."""

NEXT_CHARACTERS = f" {digits}{ascii_lowercase}"
"""What a letter goes on with in a product's text, as far as it is Latin."""

HitRow = tuple[Any, ...]
"""A row of a search: the columns of `_ROW`."""

MAX_SHORT_WORDS = 4
"""Words of one or two letters that the index is asked for at once; others are looked for in what it finds."""

MAX_LETTERS = 2
"""Letters that the index is asked for by themselves, where it cannot be asked for them beside others."""

MAX_TRIGRAMS = 64
"""Pieces that begin with one or two letters of another script which the index is asked for at once."""

IndexHits = tuple[list[HitRow], bool]
"""What the index was asked for, a hundred at most, and whether all that is looked for is among it where it is less."""

_HIT_COLUMNS = "p.id, p.text, p.product_number, p.name, p.brand, p.barcode, p.unit, p.allow_decimal"

_HITS_BY_TEXT = f"""
SELECT {_HIT_COLUMNS} FROM product p WHERE p.id IN (SELECT rowid FROM search WHERE search MATCH ? LIMIT ?)
"""  # noqa: S608 - columns of our own

_HITS_BY_ID = f"SELECT {_HIT_COLUMNS} FROM json_each(?) e JOIN product p ON p.id = e.value"  # noqa: S608

_HITS_BY_CODE = f"""
SELECT {_HIT_COLUMNS} FROM (SELECT DISTINCT key FROM (SELECT key, kind FROM code WHERE code >= ? AND code < ? LIMIT ?)
  WHERE kind = 'product') c JOIN product p ON p.product_number = c.key
"""  # noqa: S608 - columns of our own

_IDS_BY_PREFIX = """
SELECT id FROM product WHERE substr(text, 1, 24) >= ? AND substr(text, 1, 24) < ?
ORDER BY substr(text, 1, 24), id LIMIT ?
"""

_HITS_BY_TRIGRAM = f"""
SELECT {_HIT_COLUMNS} FROM product p
WHERE p.id IN (SELECT DISTINCT doc FROM search_piece WHERE term >= ? AND term < ? LIMIT ?)
"""  # noqa: S608 - columns of our own

_NEXT_TRIGRAM = "SELECT term FROM search_piece WHERE term >= ? AND term < ? LIMIT 1"

_STOCK_QUANTITIES = """
SELECT s.id, s.quantity FROM json_each(?) e JOIN stock s ON s.id = e.value
WHERE ifnull(s.raw ->> 'is_stock', 1) <> 0
"""
"""How much there is of these, as far as any stock is kept of them."""


def search_products(cache: apsw.Connection, args: Mapping[str, Json]) -> WindowRows:
    """Products whose name, brand, number or barcode has all these words, in any order and anywhere; best first.

    Where more names than are counted begin so, those are listed as they are spelled, and only the rows of the window
    are read. One letter beside other words is found at the beginning of words; anywhere else only in the first hundred
    that have the others or the letter: where that were not all of them, the answer is partly.
    """
    said = str(args.get("search") or "")
    first, size = window_bounds(args, DEFAULT_SIZE)
    ways = search_variants(said)
    if not ways:
        return WindowRows([], 0)
    text = ways[0]
    coded = _hits_by_code(cache, said)
    begun = _ids_with_prefix(cache, text)
    if len(begun) == MAX_HITS and len(text) < INDEXED_PREFIX:
        exact = [row[0] for row in coded if _is_exact(row, text)]
        ids = list(dict.fromkeys([*exact, *begun]))[:MAX_HITS]
        total, partly, shown = len(ids), True, fetch(cache, _HITS_BY_ID, to_text(ids[first : first + size]))
    else:
        good, partly = _collect_hits(cache, ways, [*coded, *fetch(cache, _HITS_BY_ID, to_text(begun))])
        ranked = sorted(good.values(), key=lambda row: min(_rank_hit(row, way) for way in ways))[:MAX_HITS]
        total, shown = len(ranked), ranked[first : first + size]
    stock = dict(fetch(cache, _STOCK_QUANTITIES, to_text([row[0] for row in shown])))
    return WindowRows([_hit_row(stock.get(row[0]), *row[2:]) for row in shown], total, partly)


def search_within(
    cache: apsw.Connection, search: str, condition: str, values: Sequence[Json]
) -> tuple[list[str], bool]:
    """The numbers of products `p` of which that SQL is true and that have these words, the best first, a hundred at
    most; and whether there are more. All of them are looked through, so that they should not be too many."""
    ways = search_variants(search)
    wanted = [way.split() for way in ways]
    fits = " OR ".join(" AND ".join("instr(p.text, ?) > 0" for _ in words) for words in wanted)
    looked_for = [word for words in wanted for word in words]
    found = fetch(cache, f"SELECT {_HIT_COLUMNS} FROM product p{condition} AND ({fits})", *values, *looked_for)  # noqa: S608
    ranked = sorted(found, key=lambda row: min(_rank_hit(row, way) for way in ways))
    return [str(row[2]) for row in ranked[:MAX_HITS]], len(ranked) > MAX_HITS


def _collect_hits(
    cache: apsw.Connection, ways: Sequence[str], known_hits: list[HitRow]
) -> tuple[dict[int, HitRow], bool]:
    """Products that fit, of those found `before` and of those that the index has, and whether there may be more."""
    wanted = [way.split() for way in ways]
    good: dict[int, HitRow] = {}
    partly = False

    def fits(row: HitRow) -> bool:
        return any(all(word in row[1] for word in words) for words in wanted)

    good |= {row[0]: row for row in known_hits if fits(row)}
    # The longer its words, the fewer have them; and what a measure is among them, before what only looks like it.
    for way in sorted(ways, key=lambda way: (len(way.split()), "=" not in way)):
        is_all = False
        for rows, is_whole in _hits_by_words(cache, way):
            good |= {row[0]: row for row in rows if fits(row)}
            if len(good) >= MAX_HITS:
                return good, True
            is_all = is_whole and len(rows) < MAX_HITS
            if is_all:
                break
        partly |= not is_all
    return good, partly


def _ids_with_prefix(cache: apsw.Connection, text: str) -> list[int]:
    """The ids of products whose text begins so, as they are spelled; from the index alone."""
    beginning = f" {text}"[:INDEXED_PREFIX]
    return [id_ for (id_,) in fetch(cache, _IDS_BY_PREFIX, beginning, beginning + chr(0x10FFFF), MAX_HITS)]


def _hits_by_code(cache: apsw.Connection, text: str) -> list[HitRow]:
    """Products of which a code begins so, exact ones first: of all that have these digits somewhere the index of text
    knows no order."""
    code = normalise_code(text).casefold()
    return fetch(cache, _HITS_BY_CODE, code, code + chr(0x10FFFF), MAX_CODE_HITS)


def _hits_by_words(cache: apsw.Connection, text: str) -> Iterator[IndexHits]:
    """Products with these words, a hundred at a time: those that have them at the beginning of words, then the others.

    The index has pieces of three letters; what is shorter is found by all the pieces that begin with it.
    """
    words = list(dict.fromkeys(text.split()))
    text = " ".join(words)
    if len(words) > 1:
        yield from _hits_by_several_words(cache, words)
    elif len(text) < 3:
        yield from _hits_by_letters(cache, text)
    else:
        if not text.isdecimal():  # of a number the index would have to go through all that has each part of it
            yield fetch(cache, _HITS_BY_TEXT, f'" {text}"', MAX_HITS), False
        yield fetch(cache, _HITS_BY_TEXT, f'"{text}"', MAX_HITS), True


def _hits_by_several_words(cache: apsw.Connection, words: list[str]) -> Iterator[IndexHits]:
    """The same of several words: what the index finds by all that it has pieces of; where those were letters, also by
    the other words, which have to be anywhere, and by a letter."""
    long = [word for word in words if len(word) > 2]
    pairs = [word for word in words if len(word) == 2 and word.isascii()]
    letters = [word for word in words if len(word) == 1 and word.isascii()]
    odd = {word: _trigram_query(cache, word) for word in words if len(word) < 3 and not word.isascii()}
    few = [*map(_word_query, (*long, *pairs[:MAX_SHORT_WORDS])), *(pieces for pieces in odd.values() if pieces)]
    rest = [*map(_word_query, letters[: max(0, MAX_SHORT_WORDS - len(pairs))])]
    # A pair is asked for with all that is Latin behind it; what goes on otherwise is looked at first, and is nothing.
    is_whole = not any(_continues_non_latin(cache, pair) for pair in pairs[:MAX_SHORT_WORDS])
    if rest:
        yield fetch(cache, _HITS_BY_TEXT, " AND ".join((*few, *rest)), MAX_HITS), False
    if few:
        yield fetch(cache, _HITS_BY_TEXT, " AND ".join(few), MAX_HITS), is_whole
    if not is_whole and long:
        yield fetch(cache, _HITS_BY_TEXT, " AND ".join(map(_word_query, long)), MAX_HITS), True
    for letter in [*(word for word, pieces in odd.items() if not pieces), *letters][:MAX_LETTERS]:
        yield from _hits_by_letters(cache, letter)


def _trigram_query(cache: apsw.Connection, word: str) -> str:
    """What the index is asked for one or two letters that are not Latin: the pieces that begin so, wherever they stand;
    nothing where these are too many."""
    pieces: list[str] = []
    last = word + chr(0x10FFFF)
    while found := fetch(cache, _NEXT_TRIGRAM, f"{pieces[-1]}\1" if pieces else word, last):
        if len(pieces) == MAX_TRIGRAMS:
            return ""
        pieces.append(str(found[0][0]))
    return "(" + " OR ".join(f'"{piece}"' for piece in pieces or [last.ljust(3, chr(0x10FFFF))]) + ")"


def _continues_non_latin(cache: apsw.Connection, pair: str) -> bool:
    """Whether a word somewhere goes on behind these two letters with what is not Latin."""
    beyond = "SELECT 1 FROM search_piece WHERE term >= ? AND term < ? LIMIT 1"
    return bool(fetch(cache, beyond, f"{pair}{{", pair + chr(0x10FFFF)))


def _hits_by_letters(cache: apsw.Connection, text: str) -> Iterator[IndexHits]:
    """Products with one or two letters at the beginning of a word, then anywhere."""
    for piece in (f" {text}", text):
        yield fetch(cache, _HITS_BY_TRIGRAM, piece, piece + chr(0x10FFFF), MAX_HITS), piece == text


def _word_query(word: str) -> str:
    """What the index is asked for a word beside others."""
    if len(word) > 2:
        return f'"{word}"'
    piece = word if len(word) > 1 else f" {word}"
    return "(" + " OR ".join(f'"{piece}{after}"' for after in NEXT_CHARACTERS) + ")"


def _is_exact(row: HitRow, text: str) -> bool:
    """Whether this is its number or barcode."""
    _, _, number, _, _, barcode, *_ = row
    return text in (number.casefold(), barcode) or (
        " " in text and text in (normalise_text(number), normalise_text(barcode))
    )


def _rank_hit(row: HitRow, text: str) -> tuple[Any, ...]:
    """Exact number or barcode, then names that begin so, then those that have it in a row, then those whose words begin
    so, then the rest; short names first."""
    _, haystack, number, name, *_ = row
    # What is a number or a barcode stands in the text as such: only then it is worth a closer look.
    in_a_row = (f" {text} " if "=" in text else f" {text}") in haystack  # no metre is the beginning of a millimetre
    exact = in_a_row and _is_exact(row, text)
    beginning = haystack.startswith(" " + text)
    every = all(f" {word}" in haystack for word in text.split())
    return not exact, not beginning, not in_a_row, not every, len(name), name, number


def _hit_row(
    quantity: int | float | None, number: str, name: str, brand: str, barcode: str, unit: str, decimals: int
) -> Row:
    return {
        "product_number": number,
        "product_name": name,
        "brand_description": brand,
        "barcode": barcode,
        "unit": unit,
        "allow_decimal": bool(decimals),
        "most_likely_quantity": None if quantity is None else to_decimal(quantity),
    }


def load_product(
    cache: apsw.Connection, pending: PendingByProduct, number: str, store: str, configured_pools: Mapping[int, str]
) -> QueryResult:
    """One product: what catalogue and stock list say, its stock in each pool and place.

    Pools have the store's names, else those of the settings (`settled`). One that holds something is shown in any case.
    """
    found = fetch_one(
        cache,
        "SELECT p.raw, s.raw, s.began, s.quantity, p.product_number, p.name, p.brand, p.barcode, p.unit,"
        " p.allow_decimal FROM product p LEFT JOIN stock s ON s.id = p.id WHERE p.product_number = ?",
        number,
    )
    if found is None:
        return [], 0
    catalogue, stock, began, *hit = found
    known = parse_row(stock) if stock else {}
    operations = pending.get(number, ()) if stock else ()
    if operations:
        apply_to_stock(known, number, operations, began)
        hit[0] = known.get("most_likely_quantity")
    places = stock_locations(known)
    named = {**{str(pool): name for pool, name in configured_pools.items()}, **_pool_names(cache, store)}
    row: Row = {
        **(parse_row(catalogue) if catalogue else {}),
        **{name: value for name, value in known.items() if name != "store_locations"},
        **_hit_row(*hit),
        "pools": [
            {"pool": int(pool), "name": str(named.get(pool) or ""), "quantity": to_decimal(quantity)}
            for pool, quantity in pool_quantities(known, "most_likely_pool_").items()
        ],
        "places": sort_by_walk_order(
            places, load_walk_orders(cache, {str(place["location_code"]) for place in places})
        ),
        "in_catalogue": bool(catalogue),
    }
    return [row], 1


def load_surrounding(cache: apsw.Connection, number: str, store: str) -> QueryResult:
    """What the stores around and the warehouses have of a product, as the service said when it was last asked.

    One row: `stores` (those that have something first), `read_at` (ISO 8601) and `refused` (why it does not say, or
    empty). interface: Surrounding stock entry.
    """
    found = fetch_one(cache, "SELECT began, refused, raw FROM surrounding WHERE product_number = ?", number)
    if found is None:
        return [], 0
    began, refused, raw = found
    entries: Any = parse_row(raw)
    stores = [_surrounding_row(entry) for entry in entries if str(entry.get("store_number") or "") != store]
    stores.sort(key=lambda row: (row["quantity"] <= 0, row["is_warehouse"], -row["quantity"], row["store_name"]))
    return [{"product_number": number, "stores": stores, "read_at": iso_time(began), "refused": refused}], 1


def _surrounding_row(entry: Mapping[str, Any]) -> Row:
    number = str(entry.get("store_number") or "")
    return {
        "store_number": number,
        "store_name": str(entry.get("store_name") or number),
        "is_warehouse": bool(entry.get("is_warehouse")),
        "quantity": to_decimal(entry.get("most_likely_quantity")),
        "pools": pool_quantities(entry, "most_likely_pool_"),
    }


def _pool_names(cache: apsw.Connection, store: str) -> dict[str, Json]:
    row = fetch_one(cache, "SELECT raw FROM store WHERE store_number = ?", store)
    return pool_quantities(parse_row(row[0]), "storeStockPool") if row else {}
