"""Search over records of all kinds, for the command palette: orders, products, locations and deliveries.

If nothing matches, words that differ in one character (typing errors) are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import apsw

from aisle.cache.delivery_queries import list_deliveries
from aisle.cache.location_queries import list_locations
from aisle.cache.order_board_queries import query_order_board
from aisle.cache.product_queries import beginning_query, query_products
from aisle.cache.queries import QueryContext, QueryResult, declare_query, whole_topics
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.scan.grammar_and_meaning_types import DELIVERY, LOCATION, ORDER, PRODUCT
from aisle.search_text import normalise_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.products import RecordRow

MAX_OF_KIND = 5
"""Most records of each kind."""

MIN_FUZZY_LETTERS = 3
"""Letters of a word from which a typing error in it is forgiven."""

MAX_SHORT_LETTERS = 4
"""Letters of a word up to which its first letter has to be right."""

MAX_CORRECTIONS = 8
"""Most words that are tried in place of one word."""

MAX_TEXTS = 200
"""Most texts of a kind that are read for each part of a word, because people wait at each letter."""

_ORDER_TEXTS = """
SELECT text FROM orders WHERE id IN (SELECT rowid FROM order_search WHERE order_search MATCH ? LIMIT ?)
"""
_PRODUCT_TEXTS = "SELECT text FROM product WHERE id IN (SELECT rowid FROM search WHERE search MATCH ? LIMIT ?)"
_DELIVERY_TEXTS = "SELECT text FROM delivery ORDER BY id DESC LIMIT ?"


@declare_query("records", "search now", whole_topics("order", "product", "location", "delivery"))
def search_records(context: QueryContext, args: Args) -> QueryResult[RecordRow]:
    """Return the records that match `search`: exactly, else with one typing error in a word."""
    search, now = str(args["search"]), str(args["now"])
    rows = list(_find(context, search, now))
    if not rows:
        for corrected in _corrections(context, normalise_text(search).split()):
            rows += [row for row in _find(context, corrected, now) if row not in rows]
    return rows, len(rows)


def _find(context: QueryContext, search: str, now: str) -> Iterator[RecordRow]:
    window = {"search": search, "first": 0, "size": MAX_OF_KIND}
    for order in query_order_board(context, {**window, "now": now})[0]:
        name = str(order.get("customer_name") or order.get("description") or "")
        label = ", ".join(part for part in (name, *order["put_down_at"]) if part)
        yield {"kind": ORDER, "key": order["order_number"], "label": label}
    for product in query_products(context, window).rows:
        yield {"kind": PRODUCT, "key": product["product_number"], "label": product["product_name"]}
    for location in list_locations(context, window)[0]:
        yield {"kind": LOCATION, "key": location["location_code"], "label": ", ".join(location["tags"])}
    for delivery in list_deliveries(context, {**window, "state": ""})[0]:
        yield {"kind": DELIVERY, "key": delivery["order_number"], "label": delivery["supplier_name"]}


def _corrections(context: QueryContext, words: list[str]) -> Iterator[str]:
    """Yield the search with one of its words replaced by a word of the store that differs in one character."""
    for at, word in enumerate(words):
        if len(word) >= MIN_FUZZY_LETTERS:
            for near in _near_words(context, word):
                yield " ".join([*words[:at], near, *words[at + 1 :]])


def _near_words(context: QueryContext, word: str) -> list[str]:
    """Return beginnings of words of the store that differ from this word in one character, the commonest first."""
    counts: dict[str, int] = {}
    lengths = (len(word) - 1, len(word), len(word) + 1)
    for text in _texts_like(context.cache, word):
        for other in text.split():
            if abs(len(other) - len(word)) <= 1 or len(other) > len(word):
                for length in lengths:
                    counts[other[:length]] = counts.get(other[:length], 0) + 1
    is_short = len(word) <= MAX_SHORT_LETTERS
    near = (each for each in counts if differs_in_one(word, each) and not (is_short and each[0] != word[0]))
    return sorted(near, key=lambda other: (-counts[other], other))[:MAX_CORRECTIONS]


def _texts_like(cache: apsw.Connection, word: str) -> set[str]:
    """Return texts with a part that this word keeps whichever of its characters is wrong: beginning or end."""
    beginning = word[: max(1, min(3, len(word) - MAX_SHORT_LETTERS))]
    texts = fetch(cache, _DELIVERY_TEXTS, MAX_TEXTS)
    texts += fetch(cache, _PRODUCT_TEXTS, beginning_query(beginning), MAX_TEXTS)
    ends = [word[-3:]] if len(word) > MAX_SHORT_LETTERS else []
    for end in ends:
        texts += fetch(cache, _PRODUCT_TEXTS, f'"{end}"', MAX_TEXTS)
    for part in (beginning, *ends):
        texts += fetch(cache, _ORDER_TEXTS, f'"{part}"*', MAX_TEXTS)
    return {str(text) for (text,) in texts}


def differs_in_one(word: str, other: str) -> bool:
    """Return True if one character is wrong, missing, too many, or two neighbours are swapped."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    rest, other_rest = word[at:], other[at:]
    return (
        rest[1:] == other_rest[1:]
        or rest[1:] == other_rest
        or rest == other_rest[1:]
        or (rest[:2] == other_rest[1::-1] and rest[2:] == other_rest[2:])
    )
