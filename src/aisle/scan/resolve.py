"""From what an input could be and what the store knows to what it means."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Final, TypeVar

from aisle.code_forms import names
from aisle.scan.faults import BROKEN, CODE_NUMBER, NO_SEPARATOR
from aisle.scan.grammar import DECIMALS, is_lookup, is_words, no_choice, reckoned
from aisle.scan.meaning import (
    LOCATION,
    PRODUCT,
    Candidate,
    Either,
    Meaning,
    Measure,
    Open,
    Reading,
    Refused,
    Said,
    Text,
    Thing,
    Unknown,
)
from aisle.scan.spelling import spelt
from aisle.scan.units import converted, is_measured, weighed

Meant = TypeVar("Meant")

_MOST_DIGITS: Final = 12
"""Before the point of what one scan can be, in base units."""


def resolve(
    text: str, open_: Open, ways: tuple[Reading, ...], candidates: Iterable[Candidate], prefers: tuple[str, ...]
) -> Said:
    """What a line says, once its readings (`readings`) were looked up.

    `candidates` are what was found under any of the readings' keys, in any order; `prefers` the kinds that the step can
    use, best first: other kinds follow. Readings that nobody knows fall away; of the rest those of the lowest rank are
    left, and where two are left the person is asked. What nobody knows is a quantity where it is one multiplied. A
    guess counts where nothing else is known, and where exactly one product or location fits; where several do, the
    person is asked.
    Message ids of a `Refused`: input.decimal, input.choice, input.letters, input.quantity, and
    those of a reading's `refusal`.
    """
    text = spelt(text, is_free=open_.text)
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.code, []).append(candidate)
    lookup = is_lookup(text)
    known = [(way, chosen) for way in ways if not way.is_guess and (chosen := _chosen(way, found, prefers))]
    if not known:
        return _guessed(ways, found, lookup) or _unknown(text, open_, ways)
    best, refusal = known[0][0].rank, known[0][0].refusal
    if refusal:
        return Refused(refusal, text)
    things = [thing for way, chosen in known if way.rank == best and (thing := _thing(way, chosen, lookup))]
    if not things:
        is_much = any(_is_too_much(way.times * candidate.factor) for way, chosen in known for candidate in chosen)
        return Refused("input.quantity" if is_much else "input.decimal", text)
    return things[0] if len(things) == 1 else Either(tuple(things))


def _guessed(ways: tuple[Reading, ...], found: dict[str, list[Candidate]], lookup: bool) -> Said | None:
    """The one product or location that a guess leads to, or a question; None where there is none."""
    if any(way.refusal in (NO_SEPARATOR, BROKEN, CODE_NUMBER) for way in ways if not way.keys):
        return None
    things = fitting(
        (candidate, thing)
        for way in ways
        for candidate in (each for key in way.keys if way.is_guess for each in found.get(key, ()))
        if _fits(way, candidate) and (thing := _thing(way, [candidate], lookup))
    )
    return things[0] if len(things) == 1 else Either(things) if things else None


def fitting(guesses: Iterable[tuple[Candidate, Meant]]) -> tuple[Meant, ...]:
    """What guesses may stand for, given what was found under them and what that means: products and locations alone,
    each once."""
    fits: dict[tuple[str, str], Meant] = {}
    for candidate, meant in guesses:
        if candidate.kind in (PRODUCT, LOCATION):
            fits.setdefault((candidate.kind, candidate.key), meant)
    return tuple(fits.values())


def _chosen(way: Reading, found: dict[str, list[Candidate]], prefers: tuple[str, ...]) -> list[Candidate]:
    """The candidates of a reading, preferred kinds first; of each kind those under the best key alone."""
    chosen: list[Candidate] = []
    for key in way.keys:
        kinds = {candidate.kind for candidate in chosen}
        for candidate in found.get(key, ()):
            if candidate.kind not in kinds and _fits(way, candidate):
                chosen.append(candidate)
    return sorted(chosen, key=lambda candidate: _place(candidate.kind, prefers))


def _fits(way: Reading, candidate: Candidate) -> bool:
    """Whether a reading may mean this candidate: its kind, and not by a form that is its own number by chance."""
    return way.kind == candidate.kind or (not way.kind and names(candidate.code, candidate.key, way.code))


def _place(kind: str, prefers: tuple[str, ...]) -> int:
    return prefers.index(kind) if kind in prefers else len(prefers)


def _thing(way: Reading, chosen: list[Candidate], lookup: bool) -> Thing | None:
    """None when none of them can have such a quantity."""
    meanings = tuple(meaning for candidate in chosen if (meaning := _meaning(way, candidate)))
    return Thing(meanings, lookup) if meanings else None


def _meaning(way: Reading, candidate: Candidate) -> Meaning | None:
    """Measure where it is sold by measure; otherwise times x base units of the code: whole, or as near as is kept."""
    is_by_measure = candidate.kind == PRODUCT and (candidate.allow_decimal or is_measured(candidate.unit))
    measure = _measure(way, candidate) if is_by_measure else None
    quantity = way.times * candidate.factor if measure is None else measure
    if _is_too_much(quantity) or (quantity != quantity.to_integral_value() and not candidate.allow_decimal):
        return None
    quantity = _in_places(quantity)
    if not quantity:
        return None
    untold = measure is None and candidate.kind == PRODUCT
    label = way.measures[0] if way.measures and untold and is_by_measure else None
    no_net = bool(label or way.price or way.asks or (way.has_pieces and is_measured(candidate.unit)))
    asks = untold and is_by_measure and no_net
    return Meaning(
        candidate.kind,
        candidate.key,
        candidate.label,
        quantity,
        way.explicit or measure is not None or candidate.factor != Decimal(1),
        way.code,
        way.batch,
        way.expiry,
        way.price if untold else None,
        label,
        candidate.unit if asks or way.price else "",
        asks,
        way.layout,
        way.is_guess and not way.layout,
        way.by if asks else Decimal(1),
    )


def _is_too_much(quantity: Decimal) -> bool:
    """Whether nobody has so many of a thing: a store has wrong data, or a label is; jobs reckon with what fits."""
    return quantity.adjusted() >= _MOST_DIGITS


def _measure(way: Reading, candidate: Candidate) -> Decimal | None:
    """Returns how much of the product a code stands for, in base units of the product.

    That is the first net measure that fits, else the price of a label of the shop divided by the product's price.
    A measure fits when its unit can be converted, and when it is whole or the product allows fractions. Of a product
    without a unit, measures in several units fit nothing: nobody knows which of them counts.
    """
    fitting: dict[str, Decimal] = {}
    for measure in way.measures:
        amount = _in_base_units(measure, candidate)
        if amount is not None and (candidate.allow_decimal or amount == amount.to_integral_value()):
            fitting.setdefault(measure.unit, amount)
    if fitting:
        return next(iter(fitting.values())) if candidate.unit.strip() or len(fitting) == 1 else None
    if not way.is_own_price or way.price is None or not candidate.price or candidate.price <= 0:
        return None
    try:
        return _in_places(way.price / candidate.price) or None
    except ArithmeticError:  # digits without end: no label costs that
        return None


def _in_base_units(measure: Measure, candidate: Candidate) -> Decimal | None:
    if measure.decimals < 0:
        amount = converted(measure.amount, measure.unit, candidate.unit)
    else:
        amount = weighed(measure.amount, measure.decimals, candidate.unit)
    return None if amount is None else _in_places(amount)


def _in_places(amount: Decimal) -> Decimal:
    """The same in the places that a quantity may have: nobody keeps more of them, however exact a label is."""
    near = amount.quantize(Decimal(1).scaleb(-DECIMALS), ROUND_HALF_UP)
    return amount if amount == near else near


def _unknown(text: str, open_: Open, ways: tuple[Reading, ...]) -> Said:
    code = ways[0].code
    if refusal := next((way.refusal for way in ways if way.refusal and not way.keys), ""):
        return Refused(refusal, text)
    if open_.quantity and (said := reckoned(text, open_.decimals)):
        return said
    if open_.quantity and _is_measured(text):
        return Refused("input.unit", text)
    # A list follows two digits as soon as they are typed; one may have been meant as the number of a row.
    if open_.choices and code.isdigit() and len(code) < (2 if open_.finds else 3) and not open_.search:
        return Refused(no_choice(open_), text)
    multiplied = ways[0].explicit
    if not multiplied and (is_words(text) or (open_.text and not code.isdigit())):
        return Text(code)
    return Unknown(code)


def _is_measured(text: str) -> bool:
    """Whether a text is a number with a unit behind it, as somebody types a weight."""
    text = text.strip(" ")
    return text[:1].isdigit() and is_measured(text)
