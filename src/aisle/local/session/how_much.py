"""A label that does not say how much there is in what the goods are counted in: whoever scans it is asked.

A part of aisle.local.session.session.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from aisle.code_forms import lookup_keys
from aisle.jobs import COUNTING, numbers
from aisle.jobs.base import priced
from aisle.jobs.view import Msg, msg, raw
from aisle.local.reads.reads import Reads
from aisle.local.session.stack import Level
from aisle.scan.meaning import PRODUCT, Meaning, Quantity, Said, Thing
from aisle.scan.units import shown


def is_asked(levels: Sequence[Level], said: Said) -> bool:
    """Whether a job may take what was scanned for one base unit, where its label does not say how much there is."""
    if not isinstance(said, Thing) or said.lookup:
        return False
    return _is_open(said.meanings[0]) and levels[-1].job.name in COUNTING


def weighed(reads: Reads, levels: Sequence[Level], said: Said) -> Said:
    """A plain code of what is sold by measure says nothing of how much there is: it is asked, too. A pick asks itself;
    where a count begins, the code only says what is counted."""
    top = levels[-1]
    if not isinstance(said, Thing) or said.lookup or top.job.name not in COUNTING - {"pick"}:
        return said
    first = said.meanings[0]
    is_plain = first.kind == PRODUCT and not first.explicit and not first.asks and first.quantity == 1
    if not is_plain or top.job.at(top.state) in ("count.start", "count.list"):
        return said
    known = [each for each in reads.find(lookup_keys(first.key)) if (each.kind, each.key) == (PRODUCT, first.key)]
    if not any(each.allow_decimal for each in known):
        return said
    return said._replace(meanings=(first._replace(asks=True, unit=known[0].unit), *said.meanings[1:]))


def question(label: Thing) -> Msg:
    """How much of it is that, in its unit?"""
    meaning = label.meanings[0]
    name, unit, said = meaning.label or meaning.key, meaning.unit, _on_label(meaning)
    if meaning.by != 1:
        if unit:
            return msg("session.how_much_each_in", times=meaning.by, label=named(label), unit=unit)
        return msg("session.how_much_each", times=meaning.by, label=named(label))
    if said is None:
        return msg("session.no_net_in", label=name, unit=unit) if unit else msg("session.no_net", label=name)
    if unit:
        return msg("session.how_much_in", said=said, label=name, unit=unit)
    return msg("session.how_much", said=said, label=name)


def prompt(label: Thing) -> Msg:
    """Names the product, and its unit, whose quantity is typed next: whatever else is said meanwhile."""
    meaning = label.meanings[0]
    name, unit = meaning.label or meaning.key, meaning.unit
    if meaning.by != 1:
        if unit:
            return msg("session.type_each_in", times=meaning.by, label=name, unit=unit)
        return msg("session.type_each", times=meaning.by, label=name)
    return msg("session.type_in", label=name, unit=unit) if unit else msg("session.type_how_much", label=name)


def named(label: Thing) -> Msg:
    """Names what was scanned, and what its label says: of one product there are many labels."""
    meaning = label.meanings[0]
    name, said = meaning.label or meaning.key, _on_label(meaning)
    return msg("session.labelled", label=name, said=said) if said else raw(name)


def _on_label(meaning: Meaning) -> Msg | None:
    """What one label says in a unit that is not the product's, or its price."""
    if meaning.measure:
        return msg("session.amount", amount=meaning.measure.amount / meaning.by, unit=shown(meaning.measure.unit))
    return priced(meaning.price / meaning.by) if meaning.price else None


def measured(label: Thing, quantity: Decimal) -> Thing:
    """So much of the product that was scanned, as often as it was said; what else its code means stays."""
    return label._replace(
        meanings=tuple(
            each._replace(
                quantity=quantity * each.by, explicit=True, asks=False, measure=None, price=None, by=Decimal(1)
            )
            if _is_open(each)
            else each
            for each in label.meanings
        )
    )


def _is_open(meaning: Meaning) -> bool:
    """Whether that is a product of which a label does not say how much there is."""
    return meaning.kind == PRODUCT and meaning.asks


def number_of(reads: Reads, said: Quantity) -> Meaning | None:
    """What in the store has the number that was said for a quantity."""
    asked = numbers.asked(said.value, said.code)
    if asked is None:
        return None
    rows, _ = reads.query(asked.name, asked.args)
    return numbers.meant(rows, said.value, ())
