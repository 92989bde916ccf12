"""Resolution: interpretations of an input and the candidates found for them become one meaning.

The quantity comes of the label: its net measure, its count, or its price divided by the product's price. A typed number
that may be a quantity or a record is judged in `jobs/typed_numbers_dates_and_letters`.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final, TypeVar

from aisle.barcode_numbers import has_check_digit, may_identify, normalise_code
from aisle.scan.grammar import asks_look_up, choice_refusal, is_search, multiply, normalise_input, refuse_factor
from aisle.scan.grammar_and_meaning_types import (
    DAMAGED_GS1,
    LOCATION,
    MISSING_SEPARATOR,
    NUMBER_BESIDE_CODE,
    ORDER,
    PRODUCT,
    REFERENCE,
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
from aisle.scan.units import convert, convert_scale_weight, is_unit_of_measure, parse_amount, round_quantity

ResultT = TypeVar("ResultT")

_MAX_INTEGER_DIGITS: Final = 12
"""Digits before the point from which a quantity in base units is impossible."""

_MAX_ROUNDING: Final = Decimal("0.01")
"""Largest relative difference between two measures of a label that are the same, rounded in their units."""


def resolve(
    text: str,
    accepts: Accepts,
    interpretations: tuple[Interpretation, ...],
    candidates: Iterable[Candidate],
    preferred_kinds: tuple[str, ...],
) -> Meaning:
    """Return the meaning of a line whose interpretations (`parse`) were looked up.

    `candidates` are everything found under their keys, in any order; `preferred_kinds` the kinds that the step can use,
    best first. Unknown interpretations are dropped, and of the rest only the lowest rank counts; if two are left the
    person is asked. An unknown product of numbers is a quantity. Guesses count if nothing else is known and exactly one
    product or location fits; if several fit, the person is asked. A number that nothing has exactly, but something with
    other leading zeros, is a guess as well.

    Message ids of a RefusedInput: input.whole_number_only, input.whole_or_thousands, input.too_many_decimals,
    input.no_choice_back, input.choose_letter, input.no_quantity, input.number_without_unit, and the refusals of
    interpretations.
    """
    text = normalise_input(text, is_free_text=accepts.text)
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.code, []).append(candidate)
    lookup = asks_look_up(text)
    known = [
        (interpretation, chosen)
        for interpretation in interpretations
        if not (interpretation.is_guess or (accepts.text and interpretation.kind == ORDER))
        and (chosen := _candidates_of(interpretation, found, preferred_kinds))
    ]
    if not known and interpretations and (chosen := _with_other_zeros(interpretations[0], found)):
        known = [(interpretations[0], chosen)]
    if not known:
        return _resolve_guess(interpretations, found, lookup) or _resolve_unknown(text, accepts, interpretations)
    best, refusal = known[0][0].rank, known[0][0].refusal
    if refusal:
        return RefusedInput(refusal, text)
    if known[0][0].zero_forms:
        known = [*_sort_out_zeros(*known[0], interpretations, found, preferred_kinds), *known[1:]]
    scans = [
        scan
        for interpretation, chosen in known
        if interpretation.rank == best and (scan := _make_scan(interpretation, chosen, lookup))
    ]
    if not scans:
        return _refuse_quantity(text, known)
    scans = _without_repeats(scans)
    return scans[0] if len(scans) == 1 else Ambiguous(tuple(scans))


def _refuse_quantity(text: str, known: list[tuple[Interpretation, list[Candidate]]]) -> RefusedInput:
    """Return why goods cannot have the quantity of a scan. If a factor was typed, that is what is wrong."""
    if any(_is_too_much(each.multiplier * goods.factor) for each, chosen in known for goods in chosen):
        return RefusedInput("input.no_quantity", text)
    meant, candidate = next((interpretation, each) for interpretation, chosen in known for each in chosen)
    factor, is_multiplied, _ = text.partition("*")
    reason = refuse_factor(meant.by, candidate.allow_decimal) or "input.whole_number_only"
    return RefusedInput(reason, f"{factor}*" if is_multiplied else text)


def _without_repeats(scans: list[Scan]) -> list[Scan]:
    """Return the scans without those that differ from another one by the code alone."""
    contents = {tuple(match._replace(code="") for match in scan.matches): scan for scan in reversed(scans)}
    return [scan for scan in scans if scan in contents.values()]


def _resolve_guess(
    interpretations: tuple[Interpretation, ...], found: dict[str, list[Candidate]], is_look_up: bool
) -> Meaning | None:
    """Return the only product or location of the guesses, or a question; None if there is none."""
    if any(
        interpretation.refusal in (MISSING_SEPARATOR, DAMAGED_GS1, NUMBER_BESIDE_CODE)
        for interpretation in interpretations
        if not interpretation.keys
    ):
        return None
    scans = unique_results(
        (candidate, scan)
        for interpretation in interpretations
        for candidate in (each for key in interpretation.keys if interpretation.is_guess for each in found.get(key, ()))
        if _may_mean(interpretation, candidate) and (scan := _make_scan(interpretation, [candidate], is_look_up))
    )
    return scans[0] if len(scans) == 1 else Ambiguous(scans) if scans else None


def exact_candidates(code: str, zero_forms: Iterable[str], candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates that have exactly this code, with these leading zeros; of a GTIN zeros make no difference.

    `candidates` are those under the keys of the code and under its `zero_forms` (`aisle.barcode_numbers`).
    """
    listed, forms = list(candidates), set(zero_forms)
    is_padded = code.strip()[:1] == "0"  # a code with zeros stands under no canonical key
    others = set() if is_padded else {(each.kind, each.key, each.factor) for each in listed if each.code in forms}
    spelled = {code.strip(), code.strip().casefold(), normalise_code(code)}
    is_gtin = has_check_digit(normalise_code(code))
    return [
        each
        for each in listed
        if (is_gtin and each.kind == PRODUCT)
        or (each.code in spelled and (each.key in spelled or (each.kind, each.key, each.factor) not in others))
    ]


def _sort_out_zeros(
    interpretation: Interpretation,
    chosen: list[Candidate],
    interpretations: tuple[Interpretation, ...],
    found: dict[str, list[Candidate]],
    preferred_kinds: tuple[str, ...],
) -> list[tuple[Interpretation, list[Candidate]]]:
    """Return what a number means whose leading zeros a scanner may have added or dropped.

    What has exactly this code comes alone. Otherwise all that has it with other zeros is a guess, beside products and
    locations that have another form of it: those of the kinds that the step can use are left, each by itself.
    """
    listed = [each for key in (*interpretation.keys, *interpretation.zero_forms) for each in found.get(key, ())]
    spelled = exact_candidates(interpretation.code, interpretation.zero_forms, listed)
    if exact := [each for each in chosen if each in spelled]:
        return [(interpretation._replace(zero_forms=()), exact)]
    guesses = [(each._replace(rank=interpretation.rank), each.keys) for each in interpretations if each.is_guess]
    names = {(each.kind, each.key) for each in chosen}
    more = [each for each in _with_other_zeros(interpretation, found) if (each.kind, each.key) not in names]
    pool = [(interpretation, each) for each in (*chosen, *more)]
    names |= {(each.kind, each.key) for each in more}
    for guess, keys in guesses:
        for each in (each for key in keys for each in found.get(key, ())):
            is_new = each.kind in (PRODUCT, LOCATION) and (each.kind, each.key) not in names
            if is_new and not guess.layout and _may_mean(guess, each):
                names.add((each.kind, each.key))
                pool.append((guess, each))
    usable = {each.kind for _, each in pool if each.kind in preferred_kinds}
    if preferred_kinds[:1] in ((PRODUCT,), (LOCATION,)):
        usable = usable & {PRODUCT, LOCATION} or usable
    groups: dict[tuple[bool, str, str], tuple[Interpretation, list[Candidate]]] = {}
    for meant, each in sorted(pool, key=lambda pair: _kind_rank(pair[1].kind, preferred_kinds)):
        if not usable or each.kind in usable:
            is_shared = meant is interpretation and each.kind == PRODUCT
            kind = ORDER if each.kind == REFERENCE else each.kind
            groups.setdefault((meant.is_guess, kind, "" if is_shared else each.key), (meant, []))[1].append(each)
    return list(groups.values())


def _with_other_zeros(interpretation: Interpretation, found: dict[str, list[Candidate]]) -> list[Candidate]:
    """Return each object that has the code with other leading zeros once."""
    objects: dict[tuple[str, str], Candidate] = {}
    for each in (each for form in interpretation.zero_forms for each in found.get(form, ())):
        objects.setdefault((each.kind, each.key), each)
    return list(objects.values())


def unique_results(guesses: Iterable[tuple[Candidate, ResultT]]) -> tuple[ResultT, ...]:
    """Return the results of guesses that found products and locations, each object once."""
    fits: dict[tuple[str, str], ResultT] = {}
    for candidate, meant in guesses:
        if candidate.kind in (PRODUCT, LOCATION):
            fits.setdefault((candidate.kind, candidate.key), meant)
    return tuple(fits.values())


def _candidates_of(
    interpretation: Interpretation, found: dict[str, list[Candidate]], preferred_kinds: tuple[str, ...]
) -> list[Candidate]:
    """Return the candidates of an interpretation, preferred kinds first; of each kind only those under the best key.

    A number of an order inside a longer code counts if exactly one order has it.
    """
    chosen: list[Candidate] = []
    for key in interpretation.keys:
        kinds = {candidate.kind for candidate in chosen}
        for candidate in found.get(key, ()):
            if candidate.kind not in kinds and _may_mean(interpretation, candidate):
                chosen.append(candidate)
    if interpretation.kind == ORDER and len({candidate.key for candidate in chosen}) > 1:
        return []
    return sorted(chosen, key=lambda candidate: _kind_rank(candidate.kind, preferred_kinds))


def _may_mean(interpretation: Interpretation, candidate: Candidate) -> bool:
    """Return whether an interpretation may mean this candidate.

    Its kind must fit, and its key must not equal the candidate's number by chance.
    """
    if interpretation.kind == ORDER:
        return candidate.kind in (ORDER, REFERENCE)
    return interpretation.kind == candidate.kind or (
        not interpretation.kind and may_identify(candidate.code, candidate.key, interpretation.code)
    )


def _kind_rank(kind: str, preferred_kinds: tuple[str, ...]) -> int:
    return preferred_kinds.index(kind) if kind in preferred_kinds else len(preferred_kinds)


def _make_scan(interpretation: Interpretation, chosen: list[Candidate], is_look_up: bool) -> Scan | None:
    """Return the scan of these candidates; None if none of them can have such a quantity."""
    meanings = tuple(meaning for candidate in chosen if (meaning := _make_match(interpretation, candidate)))
    return Scan(meanings, is_look_up) if meanings else None


def _make_match(interpretation: Interpretation, candidate: Candidate) -> Match | None:
    """Return the match: by measure if sold by measure, else multiplier times base units, rounded to the kept decimals.

    Return None if the product cannot have such a quantity.
    """
    is_by_measure = candidate.kind == PRODUCT and (candidate.allow_decimal or is_unit_of_measure(candidate.unit))
    is_impossible = interpretation.is_variable_measure and not is_by_measure
    if is_impossible or refuse_factor(interpretation.by, candidate.allow_decimal):
        return None
    is_measured = is_by_measure and not interpretation.is_amount_doubtful
    measure, is_divided = _measured_quantity(interpretation, candidate) if is_measured else (None, False)
    quantity = interpretation.multiplier * candidate.factor if measure is None else measure
    if _is_too_much(quantity) or (quantity != quantity.to_integral_value() and not candidate.allow_decimal):
        return None
    quantity = round_quantity(quantity)
    if not quantity:
        return None
    lacks_measure = measure is None and candidate.kind == PRODUCT
    label = interpretation.measures[0] if interpretation.measures and lacks_measure and is_by_measure else None
    lacks_net_quantity = bool(
        label
        or interpretation.price
        or interpretation.needs_quantity
        or (interpretation.has_pieces and _is_piece_without_measure(candidate))
        or _is_factor_of_measured(interpretation, candidate)
    )
    asks_quantity = lacks_measure and is_by_measure and lacks_net_quantity
    may_hide_count = interpretation.may_hide_count and lacks_measure and not asks_quantity
    stated = interpretation.label_quantity
    return Match(
        kind=candidate.kind,
        key=candidate.key,
        label=candidate.label,
        quantity=quantity,
        is_explicit=interpretation.is_explicit or measure is not None or candidate.factor != Decimal(1),
        code=interpretation.code,
        batch=interpretation.batch,
        expiry=interpretation.expiry,
        price=interpretation.price if lacks_measure else None,
        measure=label or stated,
        unit=candidate.unit if asks_quantity or interpretation.price else "",
        needs_quantity=asks_quantity,
        layout=interpretation.layout,
        is_guess=interpretation.is_guess and not interpretation.layout,
        by=interpretation.by if asks_quantity or may_hide_count or stated else Decimal(1),
        may_hide_count=may_hide_count or stated is not None,
        has_other_zeros=bool(interpretation.zero_forms),
        divided_price=interpretation.price if is_divided else None,
        unit_price=candidate.price if is_divided else None,
        serial=interpretation.serial,
        may_hide_expiry=interpretation.may_hide_expiry,
        times=interpretation.multiplier,
    )


def _is_piece_without_measure(candidate: Candidate) -> bool:
    """Return whether a number of pieces says nothing: the plain code of the product is asked for its measure.

    Otherwise it counts a piece, or a pack of a known size, and so does each piece of a label.
    """
    return candidate.allow_decimal and candidate.factor == 1 and is_unit_of_measure(candidate.unit)


def _is_factor_of_measured(interpretation: Interpretation, candidate: Candidate) -> bool:
    """Return whether a whole number was typed before the plain code of goods sold by measure: it counts pieces."""
    is_factor = interpretation.is_explicit and interpretation.multiplier == interpretation.by
    return is_factor and not interpretation.by % 1 and candidate.allow_decimal and candidate.factor == 1


def _is_too_much(quantity: Decimal) -> bool:
    """Return True for an impossible quantity: store data or a label are wrong.

    Jobs calculate with smaller numbers.
    """
    return quantity.adjusted() >= _MAX_INTEGER_DIGITS


def _measured_quantity(interpretation: Interpretation, candidate: Candidate) -> tuple[Decimal | None, bool]:
    """Return the quantity of the product that a code states, in base units, and True if its price is divided for it.

    The quantity is None if it is unknown.

    It is the first net measure that fits, else the price of the store's own label divided by the product's price. A
    measure fits if its unit can be converted and it is whole or the product allows fractions. Measures that contradict
    each other fit nothing; for a product without a unit, only what the store's own scale printed fits. The measure is
    that of all pieces together (GS1), so their number adds nothing.
    """
    converted = [_in_base_units(measure, candidate) for measure in interpretation.measures]
    amounts = [amount for amount in converted if amount is not None]
    if _contradict(amounts):
        return None, False
    fitting = [amount for amount in amounts if candidate.allow_decimal or amount == amount.to_integral_value()]
    if fitting:
        return fitting[0], False
    if not interpretation.is_own_price or interpretation.price is None or not candidate.price or candidate.price <= 0:
        return None, False
    try:
        quantity = round_quantity(interpretation.price / candidate.price) or None
    except ArithmeticError:  # endless digits: no label has such a price
        quantity = None
    return quantity, quantity is not None


def _contradict(amounts: list[Decimal]) -> bool:
    """Return whether amounts of the same goods differ by more than units are rounded."""
    return bool(amounts) and max(amounts) - min(amounts) > max(amounts) * _MAX_ROUNDING


def _in_base_units(measure: Measure, candidate: Candidate) -> Decimal | None:
    if measure.decimals < 0:
        amount = convert(measure.amount, measure.unit, candidate.unit)
    else:
        amount = convert_scale_weight(measure.amount, measure.decimals, candidate.unit)
    return None if amount is None else round_quantity(amount)


def _resolve_unknown(text: str, accepts: Accepts, interpretations: tuple[Interpretation, ...]) -> Meaning:
    code = interpretations[0].code
    if refusal := next(
        (
            interpretation.refusal
            for interpretation in interpretations
            if interpretation.refusal and not interpretation.keys
        ),
        "",
    ):
        return RefusedInput(refusal, text)
    if accepts.quantity and (quantity := multiply(text, accepts.decimals)):
        return quantity
    if accepts.quantity and _is_number_with_unit(text):
        return RefusedInput("input.number_without_unit", text)
    # A list follows two digits while they are typed; a single one may have been meant as a row number.
    if accepts.choices and code.isdigit() and len(code) < (2 if accepts.follows_typing else 3) and not accepts.search:
        return RefusedInput(choice_refusal(accepts), text)
    multiplied = interpretations[0].is_explicit
    if not multiplied and (is_search(text) or (accepts.text and not code.isdigit())):
        return Text(code)
    return UnknownCode(code)


def _is_number_with_unit(text: str) -> bool:
    """Return whether a text is a number followed by a unit, as people type a weight."""
    parsed = parse_amount(text)
    return parsed is not None and is_unit_of_measure(parsed[1])
