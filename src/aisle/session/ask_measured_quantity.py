"""Scans of goods sold by measure whose label does not say the quantity: the person is asked for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from aisle.barcode_numbers import lookup_keys
from aisle.cache.reader import CacheReader
from aisle.jobs import COUNTS_SCANS, names_in_messages, typed_numbers_dates_and_letters
from aisle.jobs.job import money_message
from aisle.jobs.view import Msg, msg, raw
from aisle.scan.grammar_and_meaning_types import (
    DELIVERY,
    LOCATION,
    PRODUCT,
    Candidate,
    Choice,
    Match,
    Meaning,
    Quantity,
    RefusedInput,
    Scan,
)
from aisle.scan.units import convert_typed, display_unit, is_unit_of_measure, parse_amount, round_quantity
from aisle.session.job_stack import StackedJob, receiving_job

OPENING_STEPS = ("count.start", "count.list", "hand_over", "hand_over.goods")
"""Steps where a scan opens something. In a count only a product without a location is counted at once."""


def is_quantity_needed(stacked_jobs: Sequence[StackedJob], meaning: Meaning) -> bool:
    """Return whether a job would count a scan as one unit although its label does not say the quantity."""
    if not isinstance(meaning, Scan) or meaning.is_look_up:
        return False
    return _lacks_quantity(meaning.matches[0]) and receiving_job(stacked_jobs, meaning).job.name in COUNTS_SCANS


def ask_if_measured(
    reader: CacheReader, stacked_jobs: Sequence[StackedJob], meaning: Meaning, opens_only: Callable[[Scan], bool]
) -> Meaning:
    """Mark a plain code or number of a product sold by measure as needing a quantity.

    A pick asks itself; a scan that only opens something (`opens_only`) needs none.
    """
    scan = meaning if isinstance(meaning, Scan) else _product_of_number(reader, stacked_jobs[-1], meaning)
    if scan is None or scan.is_look_up or receiving_job(stacked_jobs, scan).job.name not in COUNTS_SCANS - {"pick"}:
        return meaning
    first = scan.matches[0]
    is_plain = first.kind == PRODUCT and not first.is_explicit and not first.needs_quantity and first.quantity == 1
    known = _find_product(reader, first.key) if is_plain else None
    if known is None or not known.allow_decimal or opens_only(scan):
        return meaning
    label = first.label or known.label
    return scan.with_first(needs_quantity=True, may_hide_count=False, unit=known.unit, label=label)


def _product_of_number(reader: CacheReader, top: StackedJob, meaning: Meaning) -> Scan | None:
    """Return the product that a job would take a typed number for; None if it would not, or something else."""
    if top.job.name not in COUNTS_SCANS - {"pick"}:
        return None
    if isinstance(meaning, Choice):
        chosen = top.job.product_of_choice(top.state, meaning.number)
        return Scan((chosen,)) if chosen else None
    query = (
        typed_numbers_dates_and_letters.query_by_number(meaning.value, meaning.code)
        if isinstance(meaning, Quantity)
        else None
    )
    rows = reader.query(query.name, query.args)[0] if query else ()
    if (
        not isinstance(meaning, Quantity)
        or not rows
        or not typed_numbers_dates_and_letters.is_likely_number(rows, meaning.value)
    ):
        return None
    found = typed_numbers_dates_and_letters.best_match(rows, meaning.value, (LOCATION, DELIVERY, PRODUCT))
    return Scan((found,)) if found and found.kind == PRODUCT else None


def _find_product(reader: CacheReader, number: str) -> Candidate | None:
    found = reader.find(lookup_keys(number))
    return next((each for each in found if (each.kind, each.key) == (PRODUCT, number)), None)


def ask_if_count_hidden(
    reader: CacheReader,
    stacked_jobs: Sequence[StackedJob],
    meaning: Meaning,
    opens_only: Callable[[Scan], bool],
    *,
    are_lots_certain: bool,
) -> Meaning:
    """Mark a scan as needing a quantity if its lot may end in one, or if it is the label of a supplier with one.

    No number of pieces is the quantity of goods sold by measure.
    """
    if not isinstance(meaning, Scan) or meaning.is_look_up or not meaning.matches[0].may_hide_count:
        return meaning
    if are_lots_certain and meaning.matches[0].measure is None:
        return meaning
    if receiving_job(stacked_jobs, meaning).job.name not in COUNTS_SCANS or opens_only(meaning):
        return meaning
    known = _find_product(reader, meaning.matches[0].key)
    is_measured = known is not None and known.allow_decimal
    return meaning.with_first(may_hide_count=False) if is_measured else meaning.with_first(needs_quantity=True)


def quantity_with_unit(text: str, unit: str, allows_decimals: bool) -> Meaning | None:
    """Return the quantity that was typed with a unit, in base units of that name; None if the text is none.

    Message ids of a RefusedInput: input.whole_number_only, input.too_many_decimals, input.other_unit.
    """
    parsed = parse_amount(text)
    amount = convert_typed(text, unit)
    if parsed is None or amount is None:
        is_other = parsed is not None and is_unit_of_measure(parsed[1]) and is_unit_of_measure(unit)
        return RefusedInput("input.other_unit", text.strip(" ")) if is_other else None
    rounded = round_quantity(amount)
    if amount and not rounded:
        return RefusedInput("input.too_many_decimals", text.strip(" "))
    if not allows_decimals and rounded != rounded.to_integral_value():
        return RefusedInput("input.whole_number_only", text.strip(" "))
    return Quantity(rounded.normalize() + 0, text.strip(" "))


def in_pieces(reader: CacheReader, scan: Scan) -> Scan:
    """Return a scan of goods that are counted in whole pieces without their unit: its number is asked for."""
    known = _find_product(reader, scan.matches[0].key)
    is_measured = known is None or known.allow_decimal
    return scan if is_measured else scan.with_first(unit="")


def unit_of_product(reader: CacheReader, product: str) -> str:
    """Return the name of a product's base unit; empty if unknown."""
    found = _find_product(reader, product)
    return found.unit if found else ""


def quantity_question(scan: Scan) -> Msg:
    """Return the question for the quantity, in the unit of the product."""
    meaning = scan.matches[0]
    if meaning.may_hide_count and meaning.measure is None:
        return msg("session.lot_may_have_quantity", label=named(scan), lot=meaning.batch or meaning.code)
    if meaning.by != 1:
        return _each_prompt(meaning, named(scan))
    name, unit, on_label = meaning.label or meaning.key, meaning.unit, _on_label(meaning)
    if on_label is None:
        return msg("session.type_in", label=name, unit=unit) if unit else msg("session.type_how_much", label=name)
    if unit:
        return msg("session.ask_quantity_in", said=on_label, label=name, unit=unit)
    return msg("session.ask_quantity", said=on_label, label=name)


def _each_prompt(match: Match, name: Msg | str) -> Msg:
    """Return the question for the quantity of each piece of a multiplied scan."""
    if match.unit:
        return msg("session.type_each_in", times=match.by, label=name, unit=match.unit)
    return msg("session.type_each", times=match.by, label=name)


def prompt(label: Scan) -> Msg:
    """Return the prompt that names the product, and its unit, whose quantity is typed next."""
    meaning = label.matches[0]
    name = meaning.label or meaning.key
    if meaning.by != 1:
        return _each_prompt(meaning, name)
    return names_in_messages.how_much_prompt(name, meaning.unit)


def named(label: Scan) -> Msg:
    """Return the product's name with what its label says, for one product has many labels."""
    meaning = label.matches[0]
    name, on_label = meaning.label or meaning.key, _on_label(meaning)
    return msg("session.labelled", label=name, said=on_label) if on_label else raw(name)


def _on_label(meaning: Match) -> Msg | None:
    """Return what the label says: a measure in another unit than the product's, or a price."""
    if meaning.measure:
        amount, unit = meaning.measure.amount / meaning.by, display_unit(meaning.measure.unit)
        return msg("beside", one=amount, other=unit) if unit else msg("number", value=amount)
    return msg("session.price", price=money_message(meaning.price / meaning.by)) if meaning.price else None


def with_quantity(scan: Scan, quantity: Decimal) -> Scan:
    """Return the scan with this quantity, times the multiplier; its other matches stay."""
    return scan._replace(
        matches=tuple(
            each._replace(
                quantity=quantity * each.by,
                is_explicit=True,
                needs_quantity=False,
                measure=None,
                price=None,
                by=Decimal(1),
                may_hide_count=False,
            )
            if _lacks_quantity(each)
            else each
            for each in scan.matches
        )
    )


def _lacks_quantity(match: Match) -> bool:
    """Return whether a match is a product whose label does not say the quantity."""
    return match.kind == PRODUCT and match.needs_quantity


def find_number(reader: CacheReader, quantity: Quantity, kinds: tuple[str, ...] = ()) -> Match | None:
    """Return what in the store has the number that was typed as a quantity, if anything; of `kinds` the first."""
    query = typed_numbers_dates_and_letters.query_by_number(quantity.value, quantity.code)
    if query is None:
        return None
    rows, _ = reader.query(query.name, query.args)
    return typed_numbers_dates_and_letters.best_match(rows, quantity.value, kinds)


def quantity_label(scan: Scan) -> str:
    """Return a scan in a few characters: `12 x Oat drink`."""
    meaning = scan.matches[0]
    times = "" if meaning.quantity == 1 else f"{meaning.quantity.normalize():f} x "
    return f"{times}{meaning.label or meaning.key}"
