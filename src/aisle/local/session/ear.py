"""From a line to what it means: the grammar's readings, the store's candidates, and the choice between them."""

from __future__ import annotations

from aisle.jobs.base import Event, Opened, Start
from aisle.local.reads.reads import Reads
from aisle.scan import grammar
from aisle.scan.meaning import LOCATION, PRODUCT, Either, Open, Refused, Said, Text, Thing, Unknown
from aisle.scan.resolve import resolve
from aisle.scan.restricted import Pattern


class Ear:
    """Understands lines with the help of the cache. `table` holds the in-store codes that carry weight or price."""

    def __init__(self, reads: Reads, table: tuple[Pattern, ...]) -> None:
        self._reads = reads
        self._table = table
        self._version: object = None
        """The cache, as it was when the first line of `_meant` was looked up."""
        self._meant: dict[tuple[str, Open, tuple[str, ...]], Said] = {}

    def forget(self, *, is_held: bool = False) -> None:
        """A new queue begins. What was understood is forgotten, unless lines are held (`is_held`) and the cache is as
        it was: a line that is held is looked up once."""
        if not (is_held and self._meant and self._version == self._reads.cache_version()):
            self._meant.clear()

    def understand(self, text: str, open_: Open, prefers: tuple[str, ...]) -> Said:
        """What a line means at this step; the same line at the same step means the same all through one queue, and as
        long as it is held."""
        asked = (text, open_, prefers)
        said = self._meant.get(asked)
        if not self._meant:
            self._version = self._reads.cache_version()
        if said is None:
            said = self._meant[asked] = self._understood(*asked)
        return said

    def _understood(self, text: str, open_: Open, prefers: tuple[str, ...]) -> Said:
        ways = grammar.readings(text, open_, self._table)
        if not grammar.are_readings(ways):
            return ways
        found = self._reads.find(grammar.keys_of(ways))
        if any(way.price is not None for way in ways):
            found = self._reads.priced(found)
        said = resolve(text, open_, ways, found, prefers)
        if is_guess(said) and not self._reads.is_complete():
            return Unknown(ways[0].code)  # nobody can tell yet that nothing else fits
        return said


def is_guess(said: Said) -> bool:
    """Whether a code was completed, or something of it left out, to find what it means."""
    things = said.ways if isinstance(said, Either) else (said,) if isinstance(said, Thing) else ()
    return any(meaning.is_guess for thing in things for meaning in thing.meanings)


def detour(said: Said, raw: str) -> tuple[Start, Event] | None:
    """Where a `?` leads: the job that shows what stands behind it, and what that job is told where it is open already
    or needs more than its arguments. Words are found, and a `?` alone opens an empty page. None where nobody asked."""
    if isinstance(said, Thing) and said.lookup:
        meaning = said.meanings[0]
        if meaning.kind == LOCATION:
            return Start("browse", {"location_code": meaning.key}), said
        return Start("lookup", {"product_number": meaning.key} if meaning.kind == PRODUCT else {}), said
    if isinstance(said, Text | Unknown | Refused) and raw.lstrip(" ")[:1] == "?":
        words = raw.strip(" ?")
        return (Start("lookup", {"search": words}), Text(words)) if words else (Start("lookup", {}), Opened({}))
    return None


def name_of(thing: Thing) -> str:
    """A thing in a few characters: `12 x Oat drink`."""
    meaning = thing.meanings[0]
    times = "" if meaning.quantity == 1 else f"{meaning.quantity.normalize():f} x "
    return f"{times}{meaning.label or meaning.key}"
