"""Products as a session sees them: search, one product with its stock, settings of the store."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, Any, Literal, cast

import apsw

from aisle.barcode_numbers import normalise_code
from aisle.cache.goods_in_hand_queries import product_in_hand
from aisle.cache.people_and_claim_queries import announces_features, load_person_rights, names_by_user
from aisle.cache.pools_and_locations_of_rows import (
    load_walk_orders,
    pool_quantities,
    sort_by_walk_order,
    stock_locations,
)
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    WindowRows,
    declare_query,
    topic_of,
    topics_of_rows,
    window_bounds,
)
from aisle.cache.stored_row_values import Row, iso_time, merge_stock_entry, parse_row
from aisle.cache.unconfirmed_operation_queries import OUTCOME_BY_STATE
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs.job import Args, Json
from aisle.jobs.list_cursor_and_search import MAX_COUNTED
from aisle.jobs.store_time import to_utc_text
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_record import Operation, operation_from_row
from aisle.row_values import to_decimal
from aisle.search_text import normalise_text, search_variants
from aisle.store_product_settings import BASE_VALUES, parse_update_values

if TYPE_CHECKING:
    from aisle.jobs.row_types.products import (
        NearbyStoreRow,
        PendingChangeRow,
        ProductRow,
        SearchRow,
        StoreProductRow,
        SurroundingRow,
    )
    from aisle.jobs.row_types.raw_service_rows import ServiceProduct


MAX_CODE_HITS = 20
"""Greatest number of codes with the typed beginning whose products are always ranked."""


INDEXED_PREFIX = 24
"""Characters of a product's text that the cache has sorted."""


NEXT_CHARACTERS = f" {digits}{ascii_lowercase}"
"""Characters that can follow in the text of a product in Latin script."""


HitRow = tuple[Any, ...]
"""Row of a search: the columns of `_HIT_COLUMNS`."""


MAX_SHORT_WORDS = 4
"""Greatest number of words of one or two letters in one index query; others are checked in its hits."""


MAX_LETTERS = 2
"""Greatest number of single letters queried alone, if they cannot be part of a query with other words."""


MAX_TRIGRAMS = 64
"""Greatest number of trigrams of another script in one index query."""


IndexHits = tuple[list[HitRow], bool]
"""Hits of an index query, at most `MAX_COUNTED`, and True if they are complete when there are fewer."""


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
"""Quantities of these products, without those of which no stock is kept."""


@declare_query("search", "search first size", topics_of_rows("product", "product_number"))
def query_products(context: QueryContext, args: Args) -> WindowRows[SearchRow]:
    """Return the products that match the words of `search` (see `search_products`), with pending changes of stock."""
    found = search_products(context.cache, args)
    hits = {row["product_number"]: row for row in found.rows if row["most_likely_quantity"] is not None}
    for number, entry in context.overlaid_stock(filter(context.pending_products.may_contain, hits)):
        hits[number]["most_likely_quantity"] = to_decimal(entry.get("most_likely_quantity"))
    return found


def search_products(cache: apsw.Connection, args: Args) -> WindowRows[SearchRow]:
    """Return the products whose name, brand, number or barcode contain all these words; best first.

    If more than `MAX_COUNTED` products begin with the text, they are listed in its order; then only the window is read.
    A single letter beside other words matches beginnings of words; elsewhere only among the first hits for the other
    words or the letter. `is_partial` is True if that may have left hits out.
    """
    search = str(args.get("search") or "")
    first, size = window_bounds(args)
    variants = search_variants(search)
    if not variants:
        return WindowRows([], 0)
    text = variants[0]
    code_hits = _hits_by_code(cache, search)
    prefix_ids = _ids_with_prefix(cache, text)
    if len(prefix_ids) == MAX_COUNTED and len(text) < INDEXED_PREFIX:
        exact = [row[0] for row in code_hits if _is_exact(row, text)]
        ids = list(dict.fromkeys([*exact, *prefix_ids]))[:MAX_COUNTED]
        total, partly, shown = len(ids), True, fetch(cache, _HITS_BY_ID, to_text(ids[first : first + size]))
    else:
        hits, partly = _collect_hits(cache, variants, [*code_hits, *fetch(cache, _HITS_BY_ID, to_text(prefix_ids))])
        ranked = sorted(hits.values(), key=lambda row: min(_rank_hit(row, variant) for variant in variants))[
            :MAX_COUNTED
        ]
        total, shown = len(ranked), ranked[first : first + size]
    stock = dict(fetch(cache, _STOCK_QUANTITIES, to_text([row[0] for row in shown])))
    return WindowRows([_hit_row(stock.get(row[0]), *row[2:]) for row in shown], total, partly)


def search_within(
    cache: apsw.Connection, search: str, condition: str, values: Sequence[Json]
) -> tuple[list[str], bool]:
    """Return the numbers of the products `p` that meet the SQL condition and contain these words, best first.

    At most `MAX_COUNTED` are returned, with True if there are more. All candidates are scanned, so they should be few.
    """
    variants = search_variants(search)
    words_of_variants = [variant.split() for variant in variants]
    conditions = " OR ".join(" AND ".join("instr(p.text, ?) > 0" for _ in words) for words in words_of_variants)
    all_words = [word for words in words_of_variants for word in words]
    found = fetch(cache, f"SELECT {_HIT_COLUMNS} FROM product p{condition} AND ({conditions})", *values, *all_words)  # noqa: S608
    ranked = sorted(found, key=lambda row: min(_rank_hit(row, variant) for variant in variants))
    return [str(row[2]) for row in ranked[:MAX_COUNTED]], len(ranked) > MAX_COUNTED


def _collect_hits(
    cache: apsw.Connection, ways: Sequence[str], known_hits: list[HitRow]
) -> tuple[dict[int, HitRow], bool]:
    """Return the matching products of `known_hits` and of the index, and True if there may be more."""
    words_of_variants = [variant.split() for variant in ways]
    hits: dict[int, HitRow] = {}
    partly = False

    def fits(row: HitRow) -> bool:
        return any(all(word in row[1] for word in words) for words in words_of_variants)

    hits |= {row[0]: row for row in known_hits if fits(row)}
    # More words have fewer hits; parsed measures go before texts that only look like them.
    for variant in sorted(ways, key=lambda variant: (len(variant.split()), "=" not in variant)):
        is_all = False
        for rows, is_whole in _hits_by_words(cache, variant):
            hits |= {row[0]: row for row in rows if fits(row)}
            if len(hits) >= MAX_COUNTED:
                return hits, True
            is_all = is_whole and len(rows) < MAX_COUNTED
            if is_all:
                break
        partly |= not is_all
    return hits, partly


def _ids_with_prefix(cache: apsw.Connection, text: str) -> list[int]:
    """Return the ids of products whose text begins so, in the order of their text; read from the index alone."""
    beginning = f" {text}"[:INDEXED_PREFIX]
    return [id_ for (id_,) in fetch(cache, _IDS_BY_PREFIX, beginning, beginning + chr(0x10FFFF), MAX_COUNTED)]


def _hits_by_code(cache: apsw.Connection, text: str) -> list[HitRow]:
    """Return the products with a code that begins so, exact matches first; the text index has no order for them."""
    code = normalise_code(text).casefold()
    return fetch(cache, _HITS_BY_CODE, code, code + chr(0x10FFFF), MAX_CODE_HITS)


def _hits_by_words(cache: apsw.Connection, text: str) -> Iterator[IndexHits]:
    """Yield products with these words, `MAX_COUNTED` at a time: first those with words beginning so, then all others.

    The index has trigrams; shorter words are found by all trigrams that begin with them.
    """
    words = list(dict.fromkeys(text.split()))
    text = " ".join(words)
    if len(words) > 1:
        yield from _hits_by_several_words(cache, words)
    elif len(text) < 3:
        yield from _hits_by_letters(cache, text)
    else:
        if not text.isdecimal():  # for digits the index would scan all hits of each part
            yield fetch(cache, _HITS_BY_TEXT, f'" {text}"', MAX_COUNTED), False
        yield fetch(cache, _HITS_BY_TEXT, f'"{text}"', MAX_COUNTED), True


def _hits_by_several_words(cache: apsw.Connection, words: list[str]) -> Iterator[IndexHits]:
    """Yield products with several words.

    The first query combines all words that the index has trigrams for. If some were single letters, a query with the
    other words and one by letter follow.
    """
    long = [word for word in words if len(word) > 2]
    pairs = [word for word in words if len(word) == 2 and word.isascii()]
    letters = [word for word in words if len(word) == 1 and word.isascii()]
    non_latin = {word: _trigram_query(cache, word) for word in words if len(word) < 3 and not word.isascii()}
    strong_terms = [
        *map(_word_query, (*long, *pairs[:MAX_SHORT_WORDS])),
        *(pieces for pieces in non_latin.values() if pieces),
    ]
    letter_terms = [*map(_word_query, letters[: max(0, MAX_SHORT_WORDS - len(pairs))])]
    # A pair is queried with every Latin continuation. Check first for others, which are mostly absent.
    is_whole = not any(_continues_non_latin(cache, pair) for pair in pairs[:MAX_SHORT_WORDS])
    if letter_terms:
        yield fetch(cache, _HITS_BY_TEXT, " AND ".join((*strong_terms, *letter_terms)), MAX_COUNTED), False
    if strong_terms:
        yield fetch(cache, _HITS_BY_TEXT, " AND ".join(strong_terms), MAX_COUNTED), is_whole
    if not is_whole and long:
        yield fetch(cache, _HITS_BY_TEXT, " AND ".join(map(_word_query, long)), MAX_COUNTED), True
    for letter in [*(word for word, pieces in non_latin.items() if not pieces), *letters][:MAX_LETTERS]:
        yield from _hits_by_letters(cache, letter)


def _trigram_query(cache: apsw.Connection, word: str) -> str:
    """Return the index query for one or two non-Latin letters: all trigrams that begin so.

    Return an empty text if there are too many.
    """
    pieces: list[str] = []
    last = word + chr(0x10FFFF)
    while found := fetch(cache, _NEXT_TRIGRAM, f"{pieces[-1]}\1" if pieces else word, last):
        if len(pieces) == MAX_TRIGRAMS:
            return ""
        pieces.append(str(found[0][0]))
    return "(" + " OR ".join(f'"{piece}"' for piece in pieces or [last.ljust(3, chr(0x10FFFF))]) + ")"


def _continues_non_latin(cache: apsw.Connection, pair: str) -> bool:
    """Return True if a word anywhere continues after these two letters with a character that is not Latin."""
    beyond = "SELECT 1 FROM search_piece WHERE term >= ? AND term < ? LIMIT 1"
    return bool(fetch(cache, beyond, f"{pair}{{", pair + chr(0x10FFFF)))


def _hits_by_letters(cache: apsw.Connection, text: str) -> Iterator[IndexHits]:
    """Yield products with one or two letters, at the beginning of a word, then anywhere."""
    for piece in (f" {text}", text):
        yield fetch(cache, _HITS_BY_TRIGRAM, piece, piece + chr(0x10FFFF), MAX_COUNTED), piece == text


def _word_query(word: str) -> str:
    """Return the index query of a word among others."""
    if len(word) > 2:
        return f'"{word}"'
    return beginning_query(word) if len(word) == 1 else _continued_query(word)


def beginning_query(text: str) -> str:
    """Return the index query of words that begin so."""
    return f'" {text}"' if len(text) > 1 else _continued_query(f" {text}")


def _continued_query(pair: str) -> str:
    """Return the index query of two characters with any Latin one after them."""
    return "(" + " OR ".join(f'"{pair}{after}"' for after in NEXT_CHARACTERS) + ")"


def _is_exact(row: HitRow, text: str) -> bool:
    """Return True if the text is the number or barcode of the product."""
    _, _, number, _, _, barcode, *_ = row
    return text in (number.casefold(), barcode) or (
        " " in text and text in (normalise_text(number), normalise_text(barcode))
    )


def _rank_hit(row: HitRow, text: str) -> tuple[Any, ...]:
    """Return the sort key of a hit.

    Order: exact number or barcode; name begins so; words in sequence; words begin so; the rest. Short names come first.
    """
    _, haystack, number, name, *_ = row
    # A number or barcode is part of the text, so only then the exact check is needed.
    in_a_row = (f" {text} " if "=" in text else f" {text}") in haystack  # a metre is no beginning of a millimetre
    exact = in_a_row and _is_exact(row, text)
    beginning = haystack.startswith(" " + text)
    every = all(f" {word}" in haystack for word in text.split())
    return not exact, not beginning, not in_a_row, not every, len(name), name, number


def _hit_row(
    quantity: int | float | None, number: str, name: str, brand: str, barcode: str, unit: str, decimals: int
) -> SearchRow:
    return {
        "product_number": number,
        "product_name": name,
        "brand_description": brand,
        "barcode": barcode,
        "unit": unit,
        "allow_decimal": bool(decimals),
        "most_likely_quantity": None if quantity is None else to_decimal(quantity),
    }


@declare_query("product", "product_number", topic_of("product", "product_number"))
def query_product(context: QueryContext, args: Args) -> QueryResult[ProductRow]:
    """Return one product: catalogue row, stock entry, and its stock by pool and location.

    Pools have the store's names, else the configured ones. A pool with stock is always shown.
    """
    cache, number = context.cache, str(args["product_number"])
    found = fetch_one(
        cache,
        "SELECT p.raw, s.quantity, p.product_number, p.name, p.brand, p.barcode, p.unit,"
        " p.allow_decimal FROM product p LEFT JOIN stock s ON s.id = p.id WHERE p.product_number = ?",
        number,
    )
    if found is None:
        return [], 0
    catalogue, *hit = found
    stock_entry = dict(context.overlaid_stock([number])).get(number, {})
    if stock_entry and number in context.pending_products:
        hit[0] = stock_entry.get("most_likely_quantity")
    locations = stock_locations(stock_entry)
    named = {**{str(pool): name for pool, name in context.pools.items()}, **_pool_names(context)}
    service_fields = merge_stock_entry(parse_row(catalogue) if catalogue else {}, stock_entry)
    service_fields.pop("store_locations", None)
    row: ProductRow = {
        **cast("ServiceProduct", service_fields),
        **_hit_row(*hit),
        "pools": [
            {"pool": int(pool), "name": str(named.get(pool) or ""), "quantity": to_decimal(quantity)}
            for pool, quantity in pool_quantities(stock_entry, "most_likely_pool_").items()
        ],
        "locations": sort_by_walk_order(
            locations, load_walk_orders(cache, {str(location["location_code"]) for location in locations})
        ),
        "in_catalogue": bool(catalogue),
        "in_hand": product_in_hand(context, number),
    }
    return [row], 1


@declare_query("surrounding", "product_number", topic_of("surrounding", "product_number"))
def load_surrounding(context: QueryContext, args: Args) -> QueryResult[SurroundingRow]:
    """Return the stock of a product in nearby stores and warehouses, as last read.

    interface: Surrounding stock entry.
    """
    number, store = str(args["product_number"]), context.store_folder.store
    found = fetch_one(
        context.cache, "SELECT read_began, refused, raw FROM surrounding WHERE product_number = ?", number
    )
    if found is None:
        return [], 0
    began, refused, raw = found
    entries: Any = parse_row(raw)
    stores = [_surrounding_row(entry) for entry in entries if str(entry.get("store_number") or "") != store]
    stores.sort(key=lambda row: (row["quantity"] <= 0, row["is_warehouse"], -row["quantity"], row["store_name"]))
    return [{"product_number": number, "stores": stores, "read_at": iso_time(began), "refused": refused}], 1


def _surrounding_row(entry: Row) -> NearbyStoreRow:
    number = str(entry.get("store_number") or "")
    return {
        "store_number": number,
        "store_name": str(entry.get("store_name") or number),
        "is_warehouse": bool(entry.get("is_warehouse")),
        "quantity": to_decimal(entry.get("most_likely_quantity")),
        "pools": pool_quantities(entry, "most_likely_pool_"),
    }


def _pool_names(context: QueryContext) -> dict[str, Json]:
    row = fetch_one(context.cache, "SELECT raw FROM store WHERE store_number = ?", context.store_folder.store)
    return pool_quantities(parse_row(row[0]), "storeStockPool") if row else {}


_FIELD_PREFIX = re.compile(r"^\[\d+\]\.\w+: ")
"""Position of an invalid field in a request; our own service puts it before the error text."""

MAX_CHANGES = 8
"""Greatest number of changes of a product that are shown."""

_FIELDS_OF_PEOPLE: tuple[
    Literal["last_expiry_updatedby", "last_loss_updatedby", "last_minmax_updatedby", "last_receipt_updatedby"], ...
] = ("last_expiry_updatedby", "last_loss_updatedby", "last_minmax_updatedby", "last_receipt_updatedby")
"""Fields of a stock entry that name a user."""

_CHANGES_OF_PRODUCT = """
SELECT * FROM operation INDEXED BY operation_settings
WHERE operation = 'update-store-products' AND body ->> '$[0].product_number' = ? AND closed_by = ''
ORDER BY n DESC LIMIT ?
"""


@declare_query("store_product", "product_number user", topic_of("product", "product_number", OUTBOX))
def load_store_product(context: QueryContext, args: Args) -> QueryResult[StoreProductRow]:
    """Return the row of the query `product` (product_number) with the store's settings."""
    rows, total = query_product(context, args)
    if not rows:
        return [], total
    cache, number = context.cache, str(args["product_number"])
    names = names_by_user(cache)
    stock = fetch_one(
        cache, "SELECT s.read_began FROM product p JOIN stock s ON s.id = p.id WHERE p.product_number = ?", number
    )
    row: StoreProductRow = {
        **rows[0],
        "is_ranged": stock is not None,
        "read_at": iso_time(stock[0]) if stock else "",
        "may_edit": load_person_rights(cache, str(args.get("user") or "")).may_supervise,
        "keeps_all": announces_features(cache),
        "said": list(_change_rows(context.outbox, number, names)),
    }
    for field in _FIELDS_OF_PEOPLE:
        if user := row.get(field):
            row[field] = names.get(user) or user
    return [row], total


def _change_rows(outbox: apsw.Connection, number: str, names: Mapping[str, str]) -> Iterator[PendingChangeRow]:
    for found in fetch(outbox, _CHANGES_OF_PRODUCT, number, MAX_CHANGES):
        op = operation_from_row(found)
        fields = list(_changed_fields(op, number))
        if fields:
            yield {
                "op_id": op.op_id,
                "outcome": OUTCOME_BY_STATE[op.state],
                "fields": fields,
                "user": op.app_user,
                "user_name": names.get(op.app_user) or op.app_user,
                "at": to_utc_text(op.occurred_at),
                "why": _FIELD_PREFIX.sub("", op.last_error) if op.state != "done" else "",
            }


def _changed_fields(op: Operation, number: str) -> Iterator[tuple[str, str, str]]:
    for item in op.body:
        if str(item.get("product_number")) == number:
            base = item.get(BASE_VALUES) or {}
            yield from ((name, str(base.get(name) or ""), text) for name, text in parse_update_values(item).items())
