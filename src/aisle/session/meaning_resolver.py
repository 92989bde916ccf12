"""From a line to what it means: the grammar's readings, the store's candidates, and the choice between them."""

from __future__ import annotations

from collections.abc import Sequence

from aisle.cache.reader import CacheReader
from aisle.jobs import DETOURS
from aisle.jobs.job import Event, Opened, Start
from aisle.jobs.quantities import with_distinct_names
from aisle.scan import grammar
from aisle.scan.in_store_codes import InStorePattern
from aisle.scan.meaning import (
    LOCATION,
    PRODUCT,
    Accepts,
    Ambiguous,
    Match,
    Meaning,
    RefusedInput,
    Scan,
    Text,
    UnknownCode,
)
from aisle.scan.resolve import resolve
from aisle.session.job_stack import StackedJob


class MeaningResolver:
    """Understands lines with the help of the cache. `table` holds the in-store codes that carry weight or price."""

    def __init__(self, reader: CacheReader, in_store_patterns: tuple[InStorePattern, ...]) -> None:
        self._reads = reader
        self._in_store_patterns = in_store_patterns
        self._cache_version: object = None
        """The cache, as it was when the first line of `_meant` was looked up."""
        self._meanings: dict[tuple[str, Accepts, tuple[str, ...]], Meaning] = {}

    def start_batch(self, *, is_held: bool = False) -> None:
        """A new queue begins. What was understood is forgotten, unless lines are held (`is_held`) and the cache is as
        it was: a line that is held is looked up once."""
        if not (is_held and self._meanings and self._cache_version == self._reads.cache_version()):
            self._meanings.clear()

    def resolve(self, text: str, accepts: Accepts, preferred_kinds: tuple[str, ...]) -> Meaning:
        """What a line means at this step; the same line at the same step means the same all through one queue, and as
        long as it is held."""
        asked = (text, accepts, preferred_kinds)
        said = self._meanings.get(asked)
        if not self._meanings:
            self._cache_version = self._reads.cache_version()
        if said is None:
            said = self._meanings[asked] = self._resolve_uncached(*asked)
        return said

    def _resolve_uncached(self, text: str, accepts: Accepts, preferred_kinds: tuple[str, ...]) -> Meaning:
        ways = grammar.parse(text, accepts, self._in_store_patterns)
        if not grammar.needs_look_up(ways):
            return ways
        found = self._reads.find(grammar.look_up_keys(ways))
        if any(way.price is not None for way in ways):
            found = self._reads.with_prices(found)
        said = resolve(text, accepts, ways, found, preferred_kinds)
        if is_guess(said) and not self._reads.is_complete():
            return UnknownCode(ways[0].code)  # nobody can tell yet that nothing else fits
        return said


def is_guess(said: Meaning) -> bool:
    """Whether a code was completed, or something of it left out, to find what it means."""
    things = said.scans if isinstance(said, Ambiguous) else (said,) if isinstance(said, Scan) else ()
    return any(meaning.is_guess for thing in things for meaning in thing.matches)


def look_up_of(said: Meaning, raw: str) -> tuple[Start, Event] | None:
    """Where a `?` leads: the job that shows what stands behind it, and what that job is told where it is open already
    or needs more than its arguments. Words are found, and a `?` alone opens an empty page. None where nobody asked."""
    if isinstance(said, Scan) and said.is_look_up:
        meaning = said.matches[0]
        if meaning.kind == LOCATION:
            return Start("locations", {"location_code": meaning.key}), said
        return Start("look_up", {"product_number": meaning.key} if meaning.kind == PRODUCT else {}), said
    if isinstance(said, Text | UnknownCode | RefusedInput) and raw.lstrip(" ")[:1] == "?":
        words = raw.strip(" ?")
        return (Start("look_up", {"search": words}), Text(words)) if words else (Start("look_up", {}), Opened({}))
    return None


def quantity_label(scan: Scan) -> str:
    """A thing in a few characters: `12 x Oat drink`."""
    meaning = scan.matches[0]
    times = "" if meaning.quantity == 1 else f"{meaning.quantity.normalize():f} x "
    return f"{times}{meaning.label or meaning.key}"


def choose_product(stacked_jobs: Sequence[StackedJob], meaning: Meaning) -> Meaning:
    """What was said, of one product alone: nobody can see which of those with its code was scanned.

    A job says by `uses` (state, product number) what it works with; of that alone is asked where there is any of it.
    One that says `asks_which` does it by itself. A look is at any of them.
    """
    if not isinstance(meaning, Scan) or meaning.matches[0].kind != PRODUCT:
        return meaning
    products = [each for each in meaning.matches if each.kind == PRODUCT]
    level = _receiving_job(stacked_jobs, meaning)
    wanted = any(PRODUCT in each.job.prefers(each.state) for each in (level, stacked_jobs[-1]))
    if len(products) < 2 or not wanted or level.job.raw_input:
        return meaning
    used = [] if meaning.is_look_up else _used_products(level, products)
    if len(used) != 1 and level is stacked_jobs[-1] and level.job.resolves_ambiguity and not meaning.is_look_up:
        return meaning
    others = tuple(each for each in meaning.matches if each.kind != PRODUCT)
    ways = tuple(Scan((each, *others), meaning.is_look_up) for each in with_distinct_names(used or products))
    return ways[0] if len(ways) == 1 else Ambiguous(ways)


def _receiving_job(stacked_jobs: Sequence[StackedJob], scan: Scan) -> StackedJob:
    """Whose the scan is: of a page that somebody opened for a look, the job below it comes first."""
    top = stacked_jobs[-1]
    if scan.is_look_up or top.job.name not in DETOURS or top.job.keeps_next_scan(top.state):
        return top
    return next((level for level in reversed(stacked_jobs) if level.job.name not in DETOURS), top)


def _used_products(stacked_job: StackedJob, products: Sequence[Match]) -> list[Match]:
    return [each for each in products if stacked_job.job.uses_product(stacked_job.state, each.key)]
