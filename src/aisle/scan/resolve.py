"""From what an input could be and what the store knows to what it means."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from aisle.scan.grammar import DECIMALS, is_lookup, is_words, no_choice, reckoned
from aisle.scan.meaning import PRODUCT, Candidate, Either, Meaning, Open, Reading, Refused, Said, Text, Thing, Unknown

_MOST_DIGITS: Final = 12
"""Before the point of what one scan can be, in base units."""


def resolve(
    text: str, open_: Open, ways: tuple[Reading, ...], candidates: Iterable[Candidate], prefers: tuple[str, ...]
) -> Said:
    """What a line says, once its readings (`readings`) were looked up.

    `candidates` are what was found under any of the readings' keys, in any order; `prefers` the kinds that the step can
    use, best first: other kinds follow. Readings that nobody knows fall away; of the rest those of the lowest rank are
    left, and where two are left the person is asked. What nobody knows is a quantity where it is one multiplied.
    Message ids of a `Refused`: input.decimal, input.choice, input.letters, input.quantity.
    """
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.code, []).append(candidate)
    known = [(way, chosen) for way in ways if (chosen := _chosen(way, found, prefers))]
    if not known:
        return _unknown(text, open_, ways)
    best = known[0][0].rank
    lookup = is_lookup(text)
    things = [thing for way, chosen in known if way.rank == best and (thing := _thing(way, chosen, lookup))]
    if not things:
        is_much = any(_is_too_much(way.times * candidate.factor) for way, chosen in known for candidate in chosen)
        return Refused("input.quantity" if is_much else "input.decimal", text)
    return things[0] if len(things) == 1 else Either(tuple(things))


def _chosen(way: Reading, found: dict[str, list[Candidate]], prefers: tuple[str, ...]) -> list[Candidate]:
    """The candidates of a reading, preferred kinds first; of each kind those under the best key alone."""
    chosen: list[Candidate] = []
    for key in way.keys:
        kinds = {candidate.kind for candidate in chosen}
        for candidate in found.get(key, ()):
            if candidate.kind not in kinds and way.kind in ("", candidate.kind):
                chosen.append(candidate)
    return sorted(chosen, key=lambda candidate: _place(candidate.kind, prefers))


def _place(kind: str, prefers: tuple[str, ...]) -> int:
    return prefers.index(kind) if kind in prefers else len(prefers)


def _thing(way: Reading, chosen: list[Candidate], lookup: bool) -> Thing | None:
    """None when none of them can have such a quantity."""
    meanings = tuple(meaning for candidate in chosen if (meaning := _meaning(way, candidate)))
    return Thing(meanings, lookup) if meanings else None


def _meaning(way: Reading, candidate: Candidate) -> Meaning | None:
    """Measure where it is sold by measure; otherwise times x base units of the code: whole, or as near as is kept."""
    measure = _measure(way, candidate) if candidate.allow_decimal else None
    quantity = way.times * candidate.factor if measure is None else measure
    if _is_too_much(quantity) or (quantity != quantity.to_integral_value() and not candidate.allow_decimal):
        return None
    quantity = _in_places(quantity)
    if not quantity:
        return None
    return Meaning(
        candidate.kind,
        candidate.key,
        candidate.label,
        quantity,
        way.explicit or measure is not None or candidate.factor != Decimal(1),
        way.code,
        way.batch,
        way.expiry,
        way.price if measure is None and candidate.kind == PRODUCT else None,
    )


def _is_too_much(quantity: Decimal) -> bool:
    """Whether nobody has so many of a thing: a store has wrong data, or a label is; jobs reckon with what fits."""
    return quantity.adjusted() >= _MOST_DIGITS


def _measure(way: Reading, candidate: Candidate) -> Decimal | None:
    """What the code carries of it, as it is or as its price says. None where it carries neither, or has no price."""
    if way.measure is not None or way.price is None or not candidate.price or candidate.price <= 0:
        return way.measure
    try:
        return _in_places(way.price / candidate.price) or None
    except ArithmeticError:  # digits without end: no label costs that
        return None


def _in_places(amount: Decimal) -> Decimal:
    """The same in the places that a quantity may have: nobody keeps more of them, however exact a label is."""
    near = amount.quantize(Decimal(1).scaleb(-DECIMALS), ROUND_HALF_UP)
    return amount if amount == near else near


def _unknown(text: str, open_: Open, ways: tuple[Reading, ...]) -> Said:
    code = ways[0].code
    if open_.quantity and (said := reckoned(text, open_.decimals)):
        return said
    # A list follows two digits as soon as they are typed; one may have been meant as the number of a row.
    if open_.choices and code.isdigit() and len(code) < (2 if open_.finds else 3) and not open_.search:
        return Refused(no_choice(open_), text)
    multiplied = ways[0].explicit
    if not multiplied and (is_words(text) or (open_.text and not code.isdigit())):
        return Text(code)
    return Unknown(code)
