"""Exact look-ups of codes: everything stored under the keys of a code, and the records that a number may mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import apsw

from aisle.barcode_numbers import guessed_keys, lookup_keys, may_identify, zero_forms
from aisle.cache.queries import QueryContext, QueryResult, declare_query, whole_topics
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.named_tuple_json import to_text
from aisle.scan.grammar_and_meaning_types import ORDER, PERSON, REFERENCE, Candidate
from aisle.scan.resolve import exact_candidates, unique_results

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import RecordsByNumberRow

_FIND_CODES = """
SELECT e.value, c.kind, c.key, c.factor, p.name, p.allow_decimal, o.label, m.name, p.unit, m.badge
FROM json_each(?) e JOIN code c ON c.code = e.value
LEFT JOIN product p ON c.kind = 'product' AND p.product_number = c.key
LEFT JOIN orders o ON c.kind IN ('order', 'reference') AND o.order_number = c.key
LEFT JOIN person m ON c.kind = 'person' AND m.user = c.key
ORDER BY e.key, c.kind, c.key
"""


_CLOSED_ORDERS = "SELECT order_number FROM orders WHERE state > 0 AND order_number IN (SELECT value FROM json_each(?))"


def find_candidates(cache: apsw.Connection, keys: Iterable[str]) -> list[Candidate]:
    """Return everything stored under these keys (`aisle.barcode_numbers.lookup_keys`), in the order of the keys."""
    unique_keys = list(dict.fromkeys(keys))
    rows = [(*row[:-1], str(row[-1] or "")) for row in fetch(cache, _FIND_CODES, to_text(unique_keys))]
    badges = {key: badge for _, kind, key, *_, badge in rows if kind == PERSON}
    found = [_make_candidate(*row[:-1]) for row in rows]
    if len(badges) < 2:
        return found
    person = _exact_person(unique_keys[0], badges)
    return [candidate for candidate in found if candidate.kind != PERSON or candidate.key == person]


def _exact_person(text: str, badges: Mapping[str, str]) -> str:
    """Return the person with exactly this badge or user; empty if there is none.

    Used if several people have forms of it.
    """
    searched = text.strip().casefold()
    exact = [user for user, badge in badges.items() if searched == badge.strip().casefold()]
    exact = exact or [user for user in badges if searched == user.strip().casefold()]
    return exact[0] if len(exact) == 1 else ""


def _make_candidate(
    code: str,
    kind: str,
    key: str,
    factor: str,
    name: str | None,
    decimals: int | None,
    order_label: str | None,
    person_name: str | None,
    unit: str | None,
) -> Candidate:
    return Candidate(
        code, kind, key, name or order_label or person_name or key, Decimal(factor), bool(decimals), unit=unit or ""
    )


@declare_query("records_by_number", "code", whole_topics())
def records_by_number(context: QueryContext, args: Args) -> QueryResult[RecordsByNumberRow]:
    """Return everything with exactly this code, or with other leading zeros, or the only object that a guess finds.

    Beside a quantity nobody can be asked which of several guesses was meant.
    """
    code = str(args["code"])
    forms = zero_forms(code)
    found = find_candidates(context.cache, (*lookup_keys(code), *forms))
    certain = [each for each in found if each.code in forms or may_identify(each.code, each.key, code)]
    if exact := exact_candidates(code, forms, found) if forms else []:
        certain = [each for each in certain if each in exact]
    guessed = () if exact or (certain and not forms) else _find_guessed(context.cache, code)
    objects: dict[tuple[str, str], Candidate] = {}
    for each in (*certain, *guessed):
        objects.setdefault((each.kind, each.key), each)
    found = [*objects.values()]
    return _candidate_rows(context.cache, found, is_guess=bool(guessed), has_other_zeros=bool(forms) and not exact)


def _find_guessed(cache: apsw.Connection, code: str) -> tuple[Candidate, ...]:
    """Return the only object that has another form of a code."""
    found = [each for each in find_candidates(cache, guessed_keys(code)) if may_identify(each.code, each.key, code)]
    guessed = unique_results((each, each) for each in found)
    return guessed if len(guessed) == 1 else ()


def _candidate_rows(
    cache: apsw.Connection, found: Sequence[Candidate], *, is_guess: bool, has_other_zeros: bool
) -> QueryResult[RecordsByNumberRow]:
    """Return the candidates of a code as rows."""
    orders = [each.key for each in found if each.kind in (ORDER, REFERENCE)]
    closed = {number for (number,) in fetch(cache, _CLOSED_ORDERS, to_text(orders))} if orders else set()
    rows: list[RecordsByNumberRow] = [
        {
            "kind": each.kind,
            "key": each.key,
            "label": each.label,
            "is_guess": is_guess,
            "has_other_zeros": has_other_zeros,
            "is_active": each.kind not in (ORDER, REFERENCE) or each.key not in closed,
        }
        for each in found
    ]
    return rows, len(rows)
