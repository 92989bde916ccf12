"""A label that does not say how much there is in what the goods are counted in: whoever scans it is asked.

A part of aisle.session.session.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from aisle.barcode_keys import lookup_keys
from aisle.cache.reader import CacheReader
from aisle.jobs import COUNTS_SCANS, quantities
from aisle.jobs.job import money_message
from aisle.jobs.view import Msg, msg, raw
from aisle.scan.meaning import PRODUCT, Match, Meaning, Quantity, Scan
from aisle.scan.units import display_unit
from aisle.session.job_stack import StackedJob


def is_quantity_needed(stacked_jobs: Sequence[StackedJob], meaning: Meaning) -> bool:
    """Whether a job may take what was scanned for one base unit, where its label does not say how much there is."""
    if not isinstance(meaning, Scan) or meaning.is_look_up:
        return False
    return _lacks_quantity(meaning.matches[0]) and stacked_jobs[-1].job.name in COUNTS_SCANS


def ask_if_measured(reader: CacheReader, stacked_jobs: Sequence[StackedJob], meaning: Meaning) -> Meaning:
    """A plain code of what is sold by measure says nothing of how much there is: it is asked, too. A pick asks itself;
    where a count begins, the code only says what is counted."""
    top = stacked_jobs[-1]
    if not isinstance(meaning, Scan) or meaning.is_look_up or top.job.name not in COUNTS_SCANS - {"pick"}:
        return meaning
    first = meaning.matches[0]
    is_plain = first.kind == PRODUCT and not first.is_explicit and not first.needs_quantity and first.quantity == 1
    if not is_plain or top.job.step_name(top.state) in ("count.start", "count.list"):
        return meaning
    known = [each for each in reader.find(lookup_keys(first.key)) if (each.kind, each.key) == (PRODUCT, first.key)]
    if not any(each.allow_decimal for each in known):
        return meaning
    return meaning._replace(matches=(first._replace(needs_quantity=True, unit=known[0].unit), *meaning.matches[1:]))


def quantity_question(scan: Scan) -> Msg:
    """How much of it is that, in its unit?"""
    meaning = scan.matches[0]
    name, unit, said = meaning.label or meaning.key, meaning.unit, _on_label(meaning)
    if meaning.by != 1:
        if unit:
            return msg("session.how_much_each_in", times=meaning.by, label=named(scan), unit=unit)
        return msg("session.how_much_each", times=meaning.by, label=named(scan))
    if said is None:
        return msg("session.no_network_for", label=name, unit=unit) if unit else msg("session.no_network", label=name)
    if unit:
        return msg("session.ask_quantity_in", said=said, label=name, unit=unit)
    return msg("session.ask_quantity", said=said, label=name)


def prompt(label: Scan) -> Msg:
    """Names the product, and its unit, whose quantity is typed next: whatever else is said meanwhile."""
    meaning = label.matches[0]
    name, unit = meaning.label or meaning.key, meaning.unit
    if meaning.by != 1:
        if unit:
            return msg("session.type_each_in", times=meaning.by, label=name, unit=unit)
        return msg("session.type_each", times=meaning.by, label=name)
    return msg("session.type_in", label=name, unit=unit) if unit else msg("session.type_how_much", label=name)


def named(label: Scan) -> Msg:
    """Names what was scanned, and what its label says: of one product there are many labels."""
    meaning = label.matches[0]
    name, said = meaning.label or meaning.key, _on_label(meaning)
    return msg("session.labelled", label=name, said=said) if said else raw(name)


def _on_label(meaning: Match) -> Msg | None:
    """What one label says in a unit that is not the product's, or its price."""
    if meaning.measure:
        return msg(
            "session.amount", amount=meaning.measure.amount / meaning.by, unit=display_unit(meaning.measure.unit)
        )
    return money_message(meaning.price / meaning.by) if meaning.price else None


def with_quantity(scan: Scan, quantity: Decimal) -> Scan:
    """So much of the product that was scanned, as often as it was said; what else its code means stays."""
    return scan._replace(
        matches=tuple(
            each._replace(
                quantity=quantity * each.by,
                is_explicit=True,
                needs_quantity=False,
                measure=None,
                price=None,
                by=Decimal(1),
            )
            if _lacks_quantity(each)
            else each
            for each in scan.matches
        )
    )


def _lacks_quantity(match: Match) -> bool:
    """Whether that is a product of which a label does not say how much there is."""
    return match.kind == PRODUCT and match.needs_quantity


def find_number(reader: CacheReader, quantity: Quantity) -> Match | None:
    """What in the store has the number that was said for a quantity."""
    asked = quantities.query_by_number(quantity.value, quantity.code)
    if asked is None:
        return None
    rows, _ = reader.query(asked.name, asked.args)
    return quantities.best_match(rows, quantity.value, ())
