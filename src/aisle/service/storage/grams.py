"""How texts of products are searched without reading them all: each engine's own index of what stands in them.

SQLite keeps the pieces of six characters that begin anywhere in a text (near its end they are shorter) as words of an
FTS5 table. A product that fits has every piece of what is searched, so the words narrow down which are looked at; the
condition of the catalogue goes on to decide. PostgreSQL does it by itself with `pg_trgm`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_LENGTH = 6
# Statements have their shape from who asks; those that were asked for longest ago are put together anew.
_SHAPES = 1000
# What is shorter is in so many products that looking through all of them is quicker; but for a digit beside a letter
# (`5g`), which hardly any has.
_SHORTEST = 3
# More words narrow no further.
_MOST = 12
_WORDS = 4

# All pieces of a text, cut into parts first: to find the place of a character costs what lies before it.
KEPT = (
    """INSERT INTO product_sought (product_number) SELECT product_number FROM product_waiting WHERE true
        ON CONFLICT DO NOTHING""",
    """REPLACE INTO product_gram (rowid, pieces) SELECT s.id, (
        WITH RECURSIVE part (begins, said) AS (
            SELECT 1, substr(p.search, 1, 517)
            UNION ALL SELECT begins + 512, substr(p.search, begins + 512, 517) FROM part
            WHERE begins + 512 <= length(p.search)
        ), piece (said, starts) AS (
            SELECT said, 1 FROM part UNION ALL SELECT said, starts + 1 FROM piece WHERE starts < min(512, length(said))
        )
        SELECT group_concat(hex(substr(said, starts, 6)), ' ') FROM piece)
        FROM product_waiting w CROSS JOIN product_sought s ON s.product_number = w.product_number
        CROSS JOIN product p ON p.product_number = w.product_number""",
    "DELETE FROM product_waiting",
)
"""Keep the words of products that wait for it."""
WRITES = "INSERT INTO product ("
"""Whatever makes them wait has this in it."""
# Products have numbers of their own here, since SQLite promises no row its number. One that was written waits,
# and a search looks at it anyway; the words of many are kept together, for FTS5 begins anew with each statement.
SQLITE = ";".join(
    (
        "CREATE TABLE product_sought (id INTEGER PRIMARY KEY, product_number TEXT NOT NULL UNIQUE)",
        "CREATE TABLE product_waiting (product_number TEXT PRIMARY KEY) WITHOUT ROWID",
        """CREATE VIRTUAL TABLE product_gram USING fts5 (
            pieces, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')""",
        """CREATE TRIGGER product_gram_new AFTER INSERT ON product BEGIN
            INSERT INTO product_waiting (product_number) VALUES (new.product_number) ON CONFLICT DO NOTHING;
        END""",
        """CREATE TRIGGER product_gram_set AFTER UPDATE OF search ON product WHEN new.search <> old.search BEGIN
            INSERT INTO product_waiting (product_number) VALUES (new.product_number) ON CONFLICT DO NOTHING;
        END""",
        "INSERT INTO product_waiting (product_number) SELECT product_number FROM product",
        *KEPT,
    )
)

# All words anew, when all texts are: of an index that is emptied first no row has to be taken out by itself.
REFOLDED = ";".join(
    (
        "UPDATE product SET search = refolded(search), detail = refolded(detail)",
        "INSERT INTO product_gram (product_gram) VALUES ('delete-all')",
        "INSERT INTO product_waiting (product_number) SELECT product_number FROM product WHERE true"
        " ON CONFLICT DO NOTHING",
        *KEPT,
    )
)

# Where the extension cannot be had the service works without; where it is, it may be in any schema.
POSTGRES = """DO $gram$ BEGIN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
        EXECUTE format('CREATE INDEX product_gram ON product USING gin (search %I.gin_trgm_ops)',
            (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
             WHERE e.extname = 'pg_trgm'));
    EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported OR undefined_object THEN
        RAISE NOTICE 'searches look through all products: pg_trgm cannot be had';
    END $gram$"""

_LOOKED_THROUGH = "FROM product p"
_ONE = r"p\.search LIKE \?(\d+) ESCAPE '\\'"
_WAY = r"\(p\.search LIKE [^()]+\)"
_SEARCH = re.compile(rf"\({_WAY}(?: OR {_WAY})*\)")
_NARROWED = """p.product_number IN (
    {ways} UNION ALL SELECT w.product_number FROM product_waiting w) AND """
_WORDED = """SELECT s.product_number FROM product_gram g CROSS JOIN product_sought s ON s.id = g.rowid
    WHERE g.product_gram MATCH {words}"""


@lru_cache(maxsize=_SHAPES)
def _ways(text: str) -> tuple[tuple[int, ...], ...]:
    """The parameters of each way in which a statement that looks through the catalogue searches; none where not."""
    found = _SEARCH.search(text) if _LOOKED_THROUGH in text else None
    return tuple(tuple(map(int, re.findall(_ONE, way))) for way in re.findall(_WAY, found[0])) if found else ()


@lru_cache(maxsize=_SHAPES)
def _narrowed(text: str, ways: tuple[tuple[int, ...], ...]) -> str:
    """The statement with its search narrowed by the words of these parameters."""
    words = (" || ' ' || ".join(f"words_of(?{place})" for place in way) for way in ways)
    joined = " UNION ALL ".join(_WORDED.format(words=word) for word in words)
    return _SEARCH.sub(lambda found: "(" + _NARROWED.format(ways=joined) + found[0] + ")", text)


def narrowed(text: str, args: Sequence[object]) -> str:
    """The statement, narrowed by words where it looks through the catalogue for texts that are long enough."""
    if not (searched := _ways(text)):
        return text
    ways = tuple(tuple(place for place in way if _is_rare(sought(str(args[place - 1]))))[:_WORDS] for way in searched)
    return _narrowed(text, ways) if all(ways) else text


def _is_rare(text: str) -> bool:
    return len(text) >= _SHORTEST or (len(text) == 2 and text[0].isdigit() != text[1].isdigit())


def sought(pattern: str) -> str:
    """What the LIKE pattern of a search is to be found anywhere."""
    return re.sub(r"\\(.)", r"\1", pattern[1:-1], flags=re.DOTALL)


def words_of(pattern: str) -> str:
    """The words of which each text that fits has all."""
    text = sought(pattern)
    if len(text) < _LENGTH:
        return f'"{_word(text)}" *'
    last = len(text) - _LENGTH
    starts = range(0, last + 1, last // _MOST + 1)
    return " ".join(dict.fromkeys(f'"{_word(text[start : start + _LENGTH])}"' for start in (*starts, last)))


def _word(piece: str) -> str:
    return piece.encode("utf-8", "surrogatepass").hex()
