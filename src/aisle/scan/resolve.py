"""From what an input could be and what the store knows to what it means."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Final, TypeVar

from aisle.barcode_keys import may_identify
from aisle.scan.grammar import MAX_DECIMALS, asks_look_up, choice_refusal, is_search, multiply, normalise_input
from aisle.scan.meaning import (
    DAMAGED_GS1,
    LOCATION,
    MISSING_SEPARATOR,
    NUMBER_BESIDE_CODE,
    PRODUCT,
    Accepts,
    Ambiguous,
    Candidate,
    Interpretation,
    Match,
    Meaning,
    Measure,
    RefusedInput,
    Scan,
    Text,
    UnknownCode,
)
from aisle.scan.units import convert, convert_scale_weight, is_unit_of_measure

ResultT = TypeVar("ResultT")

_MAX_INTEGER_DIGITS: Final = 12
"""Before the point of what one scan can be, in base units."""


def resolve(
    text: str,
    accepts: Accepts,
    interpretations: tuple[Interpretation, ...],
    candidates: Iterable[Candidate],
    preferred_kinds: tuple[str, ...],
) -> Meaning:
    """What a line says, once its readings (`readings`) were looked up.

    `candidates` are what was found under any of the readings' keys, in any order; `prefers` the kinds that the step can
    use, best first: other kinds follow. Readings that nobody knows fall away; of the rest those of the lowest rank are
    left, and where two are left the person is asked. What nobody knows is a quantity where it is one multiplied. A
    guess counts where nothing else is known, and where exactly one product or location fits; where several do, the
    person is asked.
    Message ids of a `Refused`: input.decimal, input.choice, input.letters, input.quantity, and
    those of a reading's `refusal`.
    """
    text = normalise_input(text, is_free_text=accepts.text)
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.code, []).append(candidate)
    lookup = asks_look_up(text)
    known = [
        (way, chosen)
        for way in interpretations
        if not way.is_guess and (chosen := _candidates_of(way, found, preferred_kinds))
    ]
    if not known:
        return _resolve_guess(interpretations, found, lookup) or _resolve_unknown(text, accepts, interpretations)
    best, refusal = known[0][0].rank, known[0][0].refusal
    if refusal:
        return RefusedInput(refusal, text)
    things = [thing for way, chosen in known if way.rank == best and (thing := _make_scan(way, chosen, lookup))]
    if not things:
        is_much = any(_is_too_much(way.multiplier * candidate.factor) for way, chosen in known for candidate in chosen)
        return RefusedInput("input.quantity" if is_much else "input.decimal", text)
    return things[0] if len(things) == 1 else Ambiguous(tuple(things))


def _resolve_guess(
    interpretations: tuple[Interpretation, ...], found: dict[str, list[Candidate]], is_look_up: bool
) -> Meaning | None:
    """The one product or location that a guess leads to, or a question; None where there is none."""
    if any(
        way.refusal in (MISSING_SEPARATOR, DAMAGED_GS1, NUMBER_BESIDE_CODE) for way in interpretations if not way.keys
    ):
        return None
    things = unique_results(
        (candidate, thing)
        for way in interpretations
        for candidate in (each for key in way.keys if way.is_guess for each in found.get(key, ()))
        if _may_mean(way, candidate) and (thing := _make_scan(way, [candidate], is_look_up))
    )
    return things[0] if len(things) == 1 else Ambiguous(things) if things else None


def unique_results(guesses: Iterable[tuple[Candidate, ResultT]]) -> tuple[ResultT, ...]:
    """What guesses may stand for, given what was found under them and what that means: products and locations alone,
    each once."""
    fits: dict[tuple[str, str], ResultT] = {}
    for candidate, meant in guesses:
        if candidate.kind in (PRODUCT, LOCATION):
            fits.setdefault((candidate.kind, candidate.key), meant)
    return tuple(fits.values())


def _candidates_of(
    interpretation: Interpretation, found: dict[str, list[Candidate]], preferred_kinds: tuple[str, ...]
) -> list[Candidate]:
    """The candidates of a reading, preferred kinds first; of each kind those under the best key alone."""
    chosen: list[Candidate] = []
    for key in interpretation.keys:
        kinds = {candidate.kind for candidate in chosen}
        for candidate in found.get(key, ()):
            if candidate.kind not in kinds and _may_mean(interpretation, candidate):
                chosen.append(candidate)
    return sorted(chosen, key=lambda candidate: _kind_rank(candidate.kind, preferred_kinds))


def _may_mean(interpretation: Interpretation, candidate: Candidate) -> bool:
    """Whether a reading may mean this candidate: its kind, and not by a form that is its own number by chance."""
    return interpretation.kind == candidate.kind or (
        not interpretation.kind and may_identify(candidate.code, candidate.key, interpretation.code)
    )


def _kind_rank(kind: str, preferred_kinds: tuple[str, ...]) -> int:
    return preferred_kinds.index(kind) if kind in preferred_kinds else len(preferred_kinds)


def _make_scan(interpretation: Interpretation, chosen: list[Candidate], is_look_up: bool) -> Scan | None:
    """None when none of them can have such a quantity."""
    meanings = tuple(meaning for candidate in chosen if (meaning := _make_match(interpretation, candidate)))
    return Scan(meanings, is_look_up) if meanings else None


def _make_match(interpretation: Interpretation, candidate: Candidate) -> Match | None:
    """Measure where it is sold by measure; otherwise times x base units of the code: whole, or as near as is kept."""
    is_by_measure = candidate.kind == PRODUCT and (candidate.allow_decimal or is_unit_of_measure(candidate.unit))
    measure = _measured_quantity(interpretation, candidate) if is_by_measure else None
    quantity = interpretation.multiplier * candidate.factor if measure is None else measure
    if _is_too_much(quantity) or (quantity != quantity.to_integral_value() and not candidate.allow_decimal):
        return None
    quantity = _round_quantity(quantity)
    if not quantity:
        return None
    untold = measure is None and candidate.kind == PRODUCT
    label = interpretation.measures[0] if interpretation.measures and untold and is_by_measure else None
    no_net = bool(
        label
        or interpretation.price
        or interpretation.needs_quantity
        or (interpretation.has_pieces and is_unit_of_measure(candidate.unit))
    )
    asks = untold and is_by_measure and no_net
    return Match(
        candidate.kind,
        candidate.key,
        candidate.label,
        quantity,
        interpretation.is_explicit or measure is not None or candidate.factor != Decimal(1),
        interpretation.code,
        interpretation.batch,
        interpretation.expiry,
        interpretation.price if untold else None,
        label,
        candidate.unit if asks or interpretation.price else "",
        asks,
        interpretation.layout,
        interpretation.is_guess and not interpretation.layout,
        interpretation.by if asks else Decimal(1),
    )


def _is_too_much(quantity: Decimal) -> bool:
    """Whether nobody has so many of a thing: a store has wrong data, or a label is; jobs reckon with what fits."""
    return quantity.adjusted() >= _MAX_INTEGER_DIGITS


def _measured_quantity(interpretation: Interpretation, candidate: Candidate) -> Decimal | None:
    """Returns how much of the product a code stands for, in base units of the product.

    That is the first net measure that fits, else the price of a label of the shop divided by the product's price.
    A measure fits when its unit can be converted, and when it is whole or the product allows fractions. Of a product
    without a unit, measures in several units fit nothing: nobody knows which of them counts.
    """
    fitting: dict[str, Decimal] = {}
    for measure in interpretation.measures:
        amount = _in_base_units(measure, candidate)
        if amount is not None and (candidate.allow_decimal or amount == amount.to_integral_value()):
            fitting.setdefault(measure.unit, amount)
    if fitting:
        return next(iter(fitting.values())) if candidate.unit.strip() or len(fitting) == 1 else None
    if not interpretation.is_own_price or interpretation.price is None or not candidate.price or candidate.price <= 0:
        return None
    try:
        return _round_quantity(interpretation.price / candidate.price) or None
    except ArithmeticError:  # digits without end: no label costs that
        return None


def _in_base_units(measure: Measure, candidate: Candidate) -> Decimal | None:
    if measure.decimals < 0:
        amount = convert(measure.amount, measure.unit, candidate.unit)
    else:
        amount = convert_scale_weight(measure.amount, measure.decimals, candidate.unit)
    return None if amount is None else _round_quantity(amount)


def _round_quantity(amount: Decimal) -> Decimal:
    """The same in the places that a quantity may have: nobody keeps more of them, however exact a label is."""
    near = amount.quantize(Decimal(1).scaleb(-MAX_DECIMALS), ROUND_HALF_UP)
    return amount if amount == near else near


def _resolve_unknown(text: str, accepts: Accepts, interpretations: tuple[Interpretation, ...]) -> Meaning:
    code = interpretations[0].code
    if refusal := next((way.refusal for way in interpretations if way.refusal and not way.keys), ""):
        return RefusedInput(refusal, text)
    if accepts.quantity and (said := multiply(text, accepts.decimals)):
        return said
    if accepts.quantity and _is_number_with_unit(text):
        return RefusedInput("input.unit", text)
    # A list follows two digits as soon as they are typed; one may have been meant as the number of a row.
    if accepts.choices and code.isdigit() and len(code) < (2 if accepts.follows_typing else 3) and not accepts.search:
        return RefusedInput(choice_refusal(accepts), text)
    multiplied = interpretations[0].is_explicit
    if not multiplied and (is_search(text) or (accepts.text and not code.isdigit())):
        return Text(code)
    return UnknownCode(code)


def _is_number_with_unit(text: str) -> bool:
    """Whether a text is a number with a unit behind it, as somebody types a weight."""
    text = text.strip(" ")
    return text[:1].isdigit() and is_unit_of_measure(text)
