"""What something is that was scanned, in words, for pages that have no use for it."""

from __future__ import annotations

from aisle.jobs.view import Msg, msg, raw
from aisle.scan import meaning as kinds
from aisle.scan.meaning import Meaning


def what_is(meaning: Meaning) -> Msg:
    """`order 4101`, `the badge of Petra Oakes`; a product by its name alone."""
    match meaning.kind:
        case kinds.ORDER | kinds.REFERENCE:
            return msg("what.order", what=meaning.key)
        case kinds.PERSON:
            return msg("what.person", what=meaning.label or meaning.key)
        case kinds.LOCATION:
            return msg("what.place", what=meaning.key)
        case kinds.DELIVERY:
            return msg("what.delivery", what=meaning.key)
    return raw(meaning.label or meaning.key)
