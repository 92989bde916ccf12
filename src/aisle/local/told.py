"""What this host keeps in its rows for people, for those who do not know the jobs (see `aisle.jobs.told`)."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.told import DETAIL, NOTHING, Told, detail_of, is_ours, outside, told, words
from aisle.jobs.view import Msg
from aisle.local.outbox.operation import Operation
from aisle.local.outbox.state import CLOSED, DONE
from aisle.tuples import NamedTuple

__all__ = [
    "DETAIL",
    "NOTHING",
    "NO_STORE",
    "NO_TOKEN",
    "REPEATED",
    "LeftOut",
    "Told",
    "changed",
    "detail_of",
    "is_ours",
    "left_over",
    "note_of",
    "outside",
    "told",
    "why_of_row",
    "words",
]

NO_TOKEN = "told.no_token"  # noqa: S105 - the id of a message
"""The service was not even asked: the token for it cannot be read. What is wrong with its file is the detail."""

NO_STORE = "told.no_store"
"""The service knows no store of this number for this host. The one that may be meant is the detail."""

REPEATED = "repeated"
"""Why rows are left out: later rows have the same key, and the last of them counts. No field is called so."""


class LeftOut(NamedTuple):
    """Rows of a list of the service that are not kept, as the cache says it."""

    name: str
    rows: int
    why: str
    """`REPEATED`, the field of one of them that makes no sense, or why else."""


_NOTES = {
    "counted": "doubts.how_counted",
    "corrected": "doubts.how_corrected",
    "nothing": "doubts.how_nothing",
    "put_back": "doubts.way_put_back",
    "other_order": "doubts.way_other_order",
}
"""What a person chose when he settled something by hand, as it is kept."""


def note_of(text: str) -> Told:
    """What a person said when he settled something: what he chose, or his own words."""
    return told(_NOTES[text]) if text in _NOTES else outside(text)


def why_of_row(op: Operation) -> str:
    """Why an operation is not done, or what was said when somebody settled it; empty where it is done."""
    if op.state == CLOSED:
        return note_of(op.last_error)
    return "" if op.state == DONE else op.last_error


def changed(field: str, product: str, now: str, seen: str) -> Told:
    """That somebody else has changed what the store says of a product; values as `settings_of` has them."""
    from aisle.jobs.chain.store_product_view import label, shown

    args: dict[str, str | Msg] = {"field": label(field), "now": shown(field, now), "seen": shown(field, seen)}
    return told("told.setting_changed", product=product, **args)


def left_over(line: int, picked: Decimal, of: Decimal, left: Decimal, moved: Decimal, who: str) -> Told:
    """What of a pick found no room on its line: too many in somebody's hand, or (below 0) not put back from a place."""
    if left > 0:
        args: dict[str, int | Decimal] = {"line": line, "picked": picked, "of": of, "left": left}
        return told("told.too_many_by", who=who, **args) if who else told("told.too_many", **args)
    args = {"line": line, "picked": picked, "of": of, "moved": moved, "left": -left}
    return told("told.not_back_by", who=who, **args) if who else told("told.not_back", **args)
