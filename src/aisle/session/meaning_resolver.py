"""Meaning of a line on the page on the screen: candidates, and what the page would do with each.

A line is made ready by `scanned_or_typed_lines`, which also judges its pace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aisle.barcode_numbers import has_valid_check_digit
from aisle.cache.reader import CacheReader
from aisle.jobs import COUNTS_SCANS, DETOURS
from aisle.jobs.job import SignIn
from aisle.jobs.typed_numbers_dates_and_letters import is_too_short_for_code, with_distinct_names
from aisle.jobs.view import ASK, GOOD, WRONG
from aisle.scan import grammar
from aisle.scan.grammar import MAX_FACTOR_DIGITS, MAX_QUANTITY_DIGITS
from aisle.scan.grammar_and_meaning_types import (
    COMMAND,
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Accepts,
    Ambiguous,
    Choice,
    Match,
    Meaning,
    Quantity,
    RefusedInput,
    Scan,
    Text,
    UnknownCode,
    scans_of,
)
from aisle.scan.resolve import resolve
from aisle.scan.units import parse_amount
from aisle.session import ask_measured_quantity
from aisle.session.ask_measured_quantity import find_number, quantity_with_unit, unit_of_product
from aisle.session.event_runner import SessionPart
from aisle.session.job_context_and_query_answers import SessionContext
from aisle.session.job_stack import JobResult, StackedJob, is_above_open_job, receiving_job
from aisle.session.page import Page, has_changed_meaning

CODE_128 = "]C0"
"""AIM prefix by which one character is a code."""

_SEPARATORS = "\x1d\x1e\x04"
"""Signs around a code that is no message: a scanner added them."""


@dataclass(eq=False)
class MeaningResolver(SessionPart):
    """Resolver of lines. The same line at the same step is looked up once in a batch, and while it is held."""

    _reactions: PageReactions

    def __post_init__(self) -> None:
        self._is_scanned = False
        """Whether the line that is applied came at the pace of a scanner."""
        self._is_fast = False
        """Whether it is a number at that pace."""
        self.has_scanned_end = False
        """Whether it is a number whose end is a code of the store by itself, at that pace."""
        self._reader: CacheReader | None = None
        """Reader that `_meanings` come from."""
        self._cache_version: object = None
        """Version of the cache at the first lookup of `_meanings`."""
        self._meanings: dict[tuple[str, Accepts, tuple[str, ...]], Meaning] = {}

    def start_batch(self, *, is_line_held: bool = False) -> None:
        """Forget the meanings of the last batch unless a line is held and the cache is the same."""
        if not (is_line_held and self._meanings and self._cache_version == self._store.reader.cache_version()):
            self.forget()

    def forget(self) -> None:
        """Forget all meanings: settings or files have changed."""
        self._meanings.clear()

    def begin_line(self, *, is_scanned: bool, is_fast: bool) -> None:
        """Take the pace of the line that is applied next."""
        self._is_scanned, self._is_fast, self.has_scanned_end = is_scanned, is_fast, False

    def note_scanned_end(self) -> None:
        """Note that the end of this number is a code of the store by itself."""
        self.has_scanned_end = True

    def resolve(self, text: str) -> Meaning:
        """Return what a text means on the page on the screen, under its question and multiplier."""
        page, question = self._page, self._page.question
        accepts, kinds = page.accepts(), page.preferred_kinds()
        meaning = self._look_up(text, accepts, kinds)
        is_asked = question.is_pending
        if is_asked and question.multiplies(meaning, text):
            meaning = self._look_up(question.with_multiplier(text.strip(" ")), accepts, kinds)
        if isinstance(meaning, Scan | Ambiguous) and self.is_number_above_job(text):
            meaning = self._keep_from_job_below(text, meaning, accepts)
        if accepts.quantity and isinstance(meaning, RefusedInput | Text | UnknownCode):
            meaning = self._read_with_unit(text, accepts, meaning)
        is_scanned = self._is_scanned or self.has_scanned_end
        if (accepts.text or accepts.date) and isinstance(meaning, UnknownCode) and not is_scanned:
            meaning = Text(meaning.code)  # a name of digits, or a date; at the pace of a scanner it is a code
        if accepts.date and isinstance(meaning, Text) and is_scanned:
            meaning = UnknownCode(meaning.text)
        meaning = choose_product(page.stack.jobs, self._choose_kind(ask_of_badge(page.top, meaning)))
        if is_asked:
            meaning = question.apply_undo(meaning)
        if accepts.typed_only and isinstance(meaning, Choice) and not self._was_on_screen():
            return RefusedInput("input.scan_not_accepted", text)  # it came with the scan that opened the question
        is_after_refused = self._batch.refused.is_scan_refused and not accepts.text
        is_value = isinstance(meaning, Choice | Quantity) or (accepts.date and isinstance(meaning, Text))
        if is_value and is_after_refused and not self.is_scanned_number(text, meaning):
            if self._is_fast and self.is_nothing(text):
                return UnknownCode(text.strip(" "))
            return RefusedInput("input.after_refused_scan", text)  # it was meant for the refused scan
        is_asked_here = accepts.choices or not accepts.quantity
        if accepts.typed_only and is_asked_here and isinstance(meaning, Text) and self._is_scanned:
            return RefusedInput("input.answer_first", text.strip(" "))
        if isinstance(meaning, Scan | Ambiguous | UnknownCode) and self._is_typed_number(text, accepts):
            return RefusedInput("input.choose_letter", text.strip(" "))
        pages_before = self._batch.page_before, self._batch.changed_page
        if not is_asked and any(has_changed_meaning(meaning, accepts, page.stack.jobs, each) for each in pages_before):
            return RefusedInput("input.choices_changed", text)
        return meaning

    def is_number_above_job(self, text: str) -> bool:
        """Return whether a text is a number that a person typed on a page which hides that of an open job.

        That job gets no such number: the page that it would be meant for is not in sight.
        """
        top = self._page.top
        if self._is_scanned or self.has_scanned_end or not is_above_open_job(self._page.stack.jobs):
            return False
        number = _without_multiplier(text)
        return number.isdecimal() and len(number) <= MAX_QUANTITY_DIGITS and not top.job.keeps_next_scan(top.state)

    def _keep_from_job_below(self, text: str, meaning: Scan | Ambiguous, accepts: Accepts) -> Meaning:
        """Return that a number is no choice, or look it up if it is long enough for a code.

        A page that asks for a location takes the number of one.
        """
        scans = scans_of(meaning)
        if self._page.top.job.name not in DETOURS and scans[0].matches[0].kind == LOCATION:
            return meaning
        if is_too_short_for_code(number := _without_multiplier(text)):
            return RefusedInput(grammar.choice_refusal(accepts), number)
        looks = tuple(scan._replace(is_look_up=True) for scan in scans)
        return looks[0] if len(looks) == 1 else Ambiguous(looks)

    def _is_typed_number(self, text: str, accepts: Accepts) -> bool:
        """Return whether a text is a short number that a person typed where letters confirm: it is no code then."""
        is_number = text.strip(" ").isdecimal() and len(text.strip(" ")) <= MAX_FACTOR_DIGITS
        confirms = accepts.typed_only and bool(accepts.choice_letters) and not accepts.quantity
        return is_number and confirms and not self._is_scanned

    def _choose_kind(self, meaning: Meaning) -> Meaning:
        """Choose the kind of a code, or ask, unless the page takes the input as it came, or a name."""
        is_plain = self._page.top.job.raw_input or self._page.accepts().text
        return meaning if is_plain else choose_kind(self._reactions, meaning)

    def _read_with_unit(self, text: str, accepts: Accepts, meaning: Meaning) -> Meaning:
        """Return the quantity if a text is a number with a unit of the product, else the meaning as it is."""
        if not parse_amount(text):
            return meaning
        scan, top = self._page.question.measured_scan, self._page.top
        product = scan.matches[0].key if scan else top.job.quantity_product(top.state)[0]
        unit = unit_of_product(self._store.reader, product) if product else ""
        return quantity_with_unit(grammar.normalise_input(text), unit, accepts.decimals) or meaning

    def _was_on_screen(self) -> bool:
        """Return whether the page and its question were on the screen before the batch."""
        now, before = self._page.question, self._batch.question_before
        is_same = (now.doubtful_quantity, now.scans, now.first) == (
            before.doubtful_quantity,
            before.scans,
            before.first,
        )
        return is_same and self._page.identity == self._batch.page_before

    def _look_up(self, text: str, accepts: Accepts, preferred_kinds: tuple[str, ...]) -> Meaning:
        if self._reader is not self._store.reader:
            self.forget()
            self._reader = self._store.reader
        key = (text, accepts, preferred_kinds)
        meaning = self._meanings.get(key)
        if not self._meanings:
            self._cache_version = self._reader.cache_version()
        if meaning is None:
            meaning = self._meanings[key] = self._resolve_uncached(self._reader, *key)
        return meaning

    def _resolve_uncached(
        self, reader: CacheReader, text: str, accepts: Accepts, preferred_kinds: tuple[str, ...]
    ) -> Meaning:
        interpretations = grammar.parse(text, accepts, self._profile.current.in_store_patterns)
        if not grammar.needs_look_up(interpretations):
            return interpretations
        candidates = reader.find(grammar.look_up_keys(interpretations))
        if any(interpretation.price is not None for interpretation in interpretations):
            candidates = reader.with_prices(candidates)
        meaning = resolve(text, accepts, interpretations, candidates, preferred_kinds)
        if isinstance(meaning, UnknownCode | Text) and (plain := text.strip(_SEPARATORS)) not in (text, ""):
            found = self._resolve_uncached(reader, plain, accepts, preferred_kinds)
            return found if isinstance(found, Scan | Ambiguous | Text | UnknownCode) else UnknownCode(plain)
        if is_guess(meaning) and not reader.is_complete():
            return UnknownCode(interpretations[0].code)  # an unread part of the store may fit better
        return meaning

    def is_nothing(self, text: str) -> bool:
        """Return whether a number is that of nothing in the store, nor of a tote here."""
        text = text.strip(" ")
        if not text.isdecimal() or text in self._page.accepts().codes:
            return False
        return isinstance(self._look_up(f"{CODE_128}{text}", Accepts(), self._page.preferred_kinds()), UnknownCode)

    def is_scanned_number(self, text: str, meaning: Meaning) -> bool:
        """Return whether the number of a tote or record came at the pace of a scanner: a scan, no quantity of one."""
        if not self._is_fast:
            return False
        is_record = isinstance(meaning, Quantity) and find_number(self._store.reader, meaning) is not None
        return is_record or text.strip(" ") in self._page.accepts().codes


def _without_multiplier(text: str) -> str:
    return grammar.normalise_input(text).rpartition("*")[2].strip(" ")


def is_guess(meaning: Meaning) -> bool:
    """Return whether a code had to be completed or shortened to find what it means."""
    return any(match.is_guess for scan in scans_of(meaning) for match in scan.matches)


def ask_of_badge(stacked_job: StackedJob, meaning: Meaning) -> Meaning:
    """Return the choice between a badge and what else has its code, on a page that signs in and opens other things."""
    kinds = stacked_job.job.prefers(stacked_job.state)
    signs_in = PERSON in kinds and PRODUCT in kinds[kinds.index(PERSON) :] and not stacked_job.job.raw_input
    if not isinstance(meaning, Scan) or not signs_in:
        return meaning
    people = [each for each in meaning.matches if each.kind == PERSON]
    others = [each for each in meaning.matches if each.kind != PERSON]
    if not people or not others:
        return meaning
    if meaning.is_look_up:
        return Scan(tuple(others), is_look_up=True)
    return Ambiguous(tuple(Scan((each,)) for each in (*people, *with_distinct_names(others))))


def choose_kind(reactions: PageReactions, meaning: Meaning) -> Meaning:
    """Return the only reading of a code of several kinds that the page has a use for, or the choice between them."""
    if not isinstance(meaning, Scan):
        return meaning
    readings = reactions.readings(meaning)
    if len(readings) > 1:
        return Ambiguous(readings)
    only = readings[0]
    if only is meaning:
        return meaning
    return only._replace(matches=tuple(each._replace(is_shared_code=True) for each in only.matches))


def choose_product(stacked_jobs: Sequence[StackedJob], meaning: Meaning) -> Meaning:
    """Return a scan of one product, or the choice between the products that share its code.

    Products that the job works with come alone if there are any. A job that `resolves_ambiguity` gets them all.
    """
    if not isinstance(meaning, Scan) or meaning.matches[0].kind != PRODUCT:
        return meaning
    products = [each for each in meaning.matches if each.kind == PRODUCT]
    receiver = receiving_job(stacked_jobs, meaning)
    is_wanted = any(PRODUCT in each.job.prefers(each.state) for each in (receiver, stacked_jobs[-1]))
    if len(products) < 2 or not is_wanted or receiver.job.raw_input:
        return meaning
    used = [] if meaning.is_look_up else _used_products(receiver, products)
    if len(used) != 1 and receiver is stacked_jobs[-1] and receiver.job.resolves_ambiguity and not meaning.is_look_up:
        return meaning
    others = tuple(each for each in meaning.matches if each.kind != PRODUCT)
    scans = tuple(Scan((each, *others), meaning.is_look_up) for each in with_distinct_names(used or products))
    return scans[0] if len(scans) == 1 else Ambiguous(scans)


def _used_products(stacked_job: StackedJob, products: Sequence[Match]) -> list[Match]:
    return [each for each in products if stacked_job.job.uses_product(stacked_job.state, each.key)]


WORK = COUNTS_SCANS | {"batch", "shortage"}
"""Jobs that a guessed code never leaves without a question."""


MIN_GTIN = 12
"""Digits from which a number with a valid check digit is hardly ever one of an order."""


class PageReactions:
    """Reactions of the page on the screen to scans that are only tried."""

    def __init__(self, page: Page, context: SessionContext) -> None:
        self._page = page
        self._context = context

    def _try(self, scan: Scan) -> tuple[JobResult, StackedJob]:
        """Return what a scan would do, and the job that would be on the screen then."""
        stack = self._page.stack
        before = stack.snapshot()
        result, after = stack.feed(scan, self._context.current()), stack.top
        stack.restore(before)
        return result, after

    def is_taken(self, scan: Scan) -> bool:
        """Return whether the page has a use for a scan: it refuses nothing, and something happens."""
        top = self._page.top
        result, after = self._try(scan)
        if result.verdict is None:
            return bool(result.session_effects) or after != top
        return result.verdict.kind != WRONG

    def readings(self, scan: Scan) -> tuple[Scan, ...]:
        """Return the readings of a code of several kinds that may be meant here, goods last, of products one each.

        These are the ones that the page has a use for; it is one reading if it refuses all. A location that it refuses
        may be meant as well where goods are counted, because a label may come while something has to be answered.
        """
        ways = _readings_by_kind(scan)
        if len(ways) < 2 or scan.matches[0].kind == PERSON or any(map(_is_label_of_goods, scan.matches)):
            return (scan,)
        taken = tuple(ways) if scan.is_look_up else tuple(each for each in ways if self.is_taken(each))
        if (goods := self._goods_of_gtin(taken)) is not None:
            return (goods,)
        is_location_refused = LOCATION in _kinds(ways) and LOCATION not in _kinds(taken)
        if is_location_refused and any(self._counts(each) for each in taken):
            return tuple(each for each in ways if each in taken or each.matches[0].kind == LOCATION)
        return taken or (scan,)

    def _goods_of_gtin(self, ways: tuple[Scan, ...]) -> Scan | None:
        """Return the goods that are counted here, if the code is a GTIN and also the number of an order that would only
        be asked about; else None.

        Otherwise each piece of these goods would have to be asked about.
        """
        orders, goods = ways[:-1], ways[-1] if ways else None
        if goods is None or _kinds(orders) != {ORDER} or not _is_gtin(goods.matches[0].code):
            return None
        is_asked_only = all(self._is_asked_only(each) for each in orders)
        return goods if is_asked_only and not goods.is_look_up and self._counts(goods) else None

    def _is_asked_only(self, scan: Scan) -> bool:
        """Return whether the page only asks what a scan means for it."""
        result, _ = self._try(scan)
        return result.verdict is not None and result.verdict.kind == ASK and not result.session_effects

    def _counts(self, scan: Scan) -> bool:
        """Return whether a scan of goods is counted here."""
        receiver = receiving_job(self._page.stack.jobs, scan)
        if scan.matches[0].kind != PRODUCT or receiver.job.name not in COUNTS_SCANS:
            return False
        verdict = self._try(scan)[0].verdict
        return verdict is not None and verdict.kind == GOOD

    def leaves_by_guess(self, scan: Scan) -> bool:
        """Return whether a guessed code signs somebody else in, or opens something else than the work on the page."""
        match = scan.matches[0]
        if match.kind == PRODUCT or not (match.is_guess or match.has_other_zeros):
            return False
        receiver = receiving_job(self._page.stack.jobs, scan)
        result, after = self._try(scan)
        signs_in = any(isinstance(each, SignIn) for each in result.session_effects)
        is_work = receiver.job.name in WORK and receiver.job_id != after.job_id
        return (signs_in and bool(self._context.user.user)) or is_work

    def opens_only(self, scan: Scan) -> bool:
        """Return whether a scan opens something where its quantity is counted later, or only shows the product."""
        stack = self._page.stack
        receiver = receiving_job(stack.jobs, scan)
        is_opening = receiver.job.step_name(receiver.state) in ask_measured_quantity.OPENING_STEPS
        if receiver is stack.top and not is_opening:
            return False
        _, after = self._try(scan)
        return after.job.step_name(after.state) != "count.product" if is_opening else after.job_id != receiver.job_id


def _readings_by_kind(scan: Scan) -> list[Scan]:
    """Return the scan of each kind of record that has the code, goods last; of products one each."""
    groups: dict[str, list[Match]] = {}
    for each in scan.matches:
        if each.kind != COMMAND:
            groups.setdefault(ORDER if each.kind == REFERENCE else each.kind, []).append(each)
    if len(groups) < 2:
        return [scan]
    goods = with_distinct_names(groups.pop(PRODUCT, []))
    others = [Scan(tuple(each), scan.is_look_up) for each in groups.values()]
    return [*others, *(Scan((each,), scan.is_look_up) for each in goods)]


def _is_label_of_goods(match: Match) -> bool:
    """Return whether a code has data that only the label of goods has, such as a weight, a price or a lot."""
    has_data = bool(match.batch or match.expiry or match.serial or match.measure or match.needs_quantity)
    return match.kind == PRODUCT and (has_data or match.price is not None or match.divided_price is not None)


def _is_gtin(code: str) -> bool:
    """Return whether a code is a GTIN by its check digit; a short one may be any number."""
    return len(code) >= MIN_GTIN and has_valid_check_digit(code)


def _kinds(scans: Iterable[Scan]) -> set[str]:
    return {scan.matches[0].kind for scan in scans}
