"""What a session itself has asked or keeps in mind: two readings to choose from, `12*` for the next scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from aisle.cache.reader import CacheReader
from aisle.jobs import COUNTS_SCANS, quantities
from aisle.jobs.choice_keys import MAX_CHOICES, assign_letters
from aisle.jobs.job import Context, Start
from aisle.jobs.job import money_message as as_price
from aisle.jobs.quantities import letter_prompt, other_choice_text
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, DetailView, Msg, Step, Verdict, View, msg, without_row_numbers
from aisle.jobs.view import raw as as_it_came
from aisle.scan.grammar import is_multiplied
from aisle.scan.meaning import (
    PRODUCT,
    Accepts,
    Ambiguous,
    Back,
    Choice,
    Command,
    Match,
    Meaning,
    Multiplier,
    Quantity,
    Scan,
    Text,
    UnknownCode,
)
from aisle.session import ask_quantity
from aisle.session.job_stack import JobResult, JobStack, StackedJob, is_help_page
from aisle.session.meaning_resolver import quantity_label

MORE_LETTER = "m"
"""The letter for more of what is asked about."""

ANSWER_LETTERS = "yx"
"""The letters that answer whether the number of something is a quantity all the same."""


class PendingQuestion(NamedTuple):
    """One thing kept in mind, for the page that it was said on."""

    page: tuple[int, str, str] = (0, "", "")
    scans: tuple[Scan, ...] = ()
    """Two readings are left of an input, or several products have its code: which?"""
    first: int = 0
    """So many of them stand on pages before this one."""
    multiplier: str = ""
    """The next scan is so many of it."""
    passed: int = 0
    """So many scans before this one were asked about, and nobody has answered."""
    measured_scan: Scan | None = None
    """What was scanned, sold by measure, whose label does not say how much there is: how much?"""
    doubtful_quantity: Quantity | None = None
    """What was typed for that and is the number of something: `y` takes it all the same, `x` does not."""
    number_match: Match | None = None
    """What that is the number of."""

    @property
    def is_pending(self) -> bool:
        """Whether there is anything to keep in mind."""
        return bool(self.scans or self.multiplier or self.measured_scan)

    @property
    def is_asked(self) -> bool:
        """Whether a scan waits for an answer."""
        return bool(self.scans or self.measured_scan)

    def still_on_page(self, stacked_jobs: Sequence[StackedJob]) -> PendingQuestion:
        """What is left of it now: nothing, once its page is gone."""
        return self if self.page == page_key(stacked_jobs) else NO_QUESTION

    def accepts(self, accepts: Accepts) -> Accepts:
        """What an input may be: a choice of the readings while they are asked, or a quantity where that is. Where a
        quantity is open below, letters choose, and a number is none."""
        if self.measured_scan:
            keys = ANSWER_LETTERS if self.doubtful_quantity else ""
            return Accepts(
                quantity=True,
                decimals=True,
                choices=len(keys),
                command_letters="u",
                typed_only=bool(keys),
                choice_letters=keys,
            )
        if not self.scans:
            return accepts
        choices = len(self._shown_scans) + self._is_paged
        return Accepts(choices=choices, typed_only=self._is_paged, choice_letters=self._keys(accepts))

    @property
    def _is_paged(self) -> bool:
        """Whether there are more readings than are asked about at once."""
        return len(self.scans) > MAX_CHOICES

    @property
    def _shown_scans(self) -> tuple[Scan, ...]:
        """The readings that are asked about now."""
        return self.scans[self.first : self.first + MAX_CHOICES - 1] if self._is_paged else self.scans

    def _keys(self, accepts: Accepts) -> str:
        """A letter for each of them, where a quantity is open below, and always the same one for the next of them."""
        if not (accepts.quantity or accepts.choice_letters):
            return ""
        return assign_letters(("" for _ in self._shown_scans), MORE_LETTER) + MORE_LETTER * self._is_paged

    def next_page(self, meaning: Meaning) -> PendingQuestion | None:
        """The next readings, or the first ones after the last; None where nobody asks for them."""
        if not self._is_paged or meaning != Choice(len(self._shown_scans) + 1):
            return None
        first = self.first + MAX_CHOICES - 1
        return self._replace(first=first if first < len(self.scans) else 0)

    def apply_choice(self, meaning: Meaning) -> Meaning:
        """The reading of that number, where one was asked for; so much of what was scanned, where that was."""
        if self.doubtful_quantity and meaning == Choice(1):
            meaning = self.doubtful_quantity
        if self.measured_scan and isinstance(meaning, Quantity):
            return ask_quantity.with_quantity(self.measured_scan, meaning.value) if meaning.value else Back()
        if isinstance(meaning, Choice) and meaning.number <= len(self._shown_scans):
            return self._shown_scans[meaning.number - 1]
        return meaning

    def apply_undo(self, meaning: Meaning) -> Meaning:
        """An undo while it is asked how much there is: the number that was typed is none, or the label goes."""
        if not self.measured_scan or meaning != Command("u"):
            return meaning
        return Choice(2) if self.doubtful_quantity else Back()

    def to_store(self) -> Ambiguous | Multiplier | Scan | None:
        """What has to be kept of it for whoever goes on after an end in mid-work."""
        if self.measured_scan:
            return self.measured_scan
        if self.scans:
            return Ambiguous(self.scans)
        return Multiplier(self.multiplier) if self.multiplier else None

    def multiplies(self, meaning: Meaning, text: str) -> bool:
        """Whether that is the code or number that the multiplier waits for, no look and no multiplier of its own."""
        is_code = isinstance(meaning, UnknownCode | Ambiguous | Quantity) or (
            isinstance(meaning, Scan) and not meaning.is_look_up
        )
        return bool(self.multiplier) and is_code and not text.lstrip().startswith("?") and not is_multiplied(text)

    def add_unanswered(self, meaning: Meaning, verdict: Verdict | None) -> Verdict | None:
        """What is said where it was asked what a scan is, and nobody has answered: the answer to what was said since,
        which may be a question of its own, and then that this scan is not taken."""
        if not self.is_asked or isinstance(meaning, Choice | Quantity | Back):
            return verdict
        count, why = (
            self.passed + 1,
            ask_quantity.named(self.measured_scan) if self.measured_scan else choice_question(self.scans),
        )
        if verdict is None:
            return Verdict(WRONG, msg("session.not_taken", count=count, why=why))
        kind = verdict.kind if verdict.kind in (GOOD, ASK) else WRONG
        return verdict._replace(kind=kind, text=msg("session.taken_not", count=count, why=why, said=verdict.text))

    def keeps_multiplier(
        self, meaning: Meaning, raw: str, verdict: Verdict | None, stacked_jobs: Sequence[StackedJob]
    ) -> bool:
        """Whether the multiplier still waits: it was neither used nor taken back, and its page is still there."""
        if (
            not self.multiplier
            or self.still_on_page(stacked_jobs) != self
            or isinstance(meaning, Quantity | Back | Multiplier)
        ):
            return False
        is_goods = isinstance(meaning, Scan) and any(each.kind == PRODUCT for each in meaning.matches)
        is_taken = verdict is not None and verdict.kind != WRONG and (is_goods or is_multiplied(raw))
        return not is_taken

    def multiplier_kept(self, verdict: Verdict | None) -> Verdict:
        """What is said where the multiplier still waits."""
        if verdict is None:
            return Verdict(INFO, msg("session.times", times=self.multiplier))
        return verdict._replace(text=msg("session.times_kept", times=self.multiplier, said=verdict.text))

    def multiplier_dropped(self, meaning: Meaning, raw: str, verdict: Verdict | None, job: str) -> Verdict | None:
        """What is said where the multiplier was for nothing, and is gone: so many are taken of goods alone, by a job
        that counts them (`job`: the one on the screen now). A multiplier of its own is the younger one."""
        is_goods = isinstance(meaning, Scan) and any(each.kind == PRODUCT for each in meaning.matches)
        took = is_goods and verdict is not None and verdict.kind in (GOOD, ASK) and job in COUNTS_SCANS
        if not self.multiplier or took or isinstance(meaning, Quantity | Back | Multiplier) or is_multiplied(raw):
            return verdict
        if verdict is None:
            return Verdict(INFO, msg("session.times_dropped", times=self.multiplier))
        kind = INFO if verdict.kind == GOOD else verdict.kind
        return Verdict(kind, msg("session.times_unused", times=self.multiplier, said=verdict.text))

    def with_multiplier(self, text: str) -> str:
        """The open line as a person has it in mind: `12*` stands before what is typed now."""
        return f"{self.multiplier}*{text}" if self.multiplier else text

    def show_on(self, view: View, accepts: Accepts = Accepts()) -> View:  # noqa: B008 - a tuple
        """The page, which has this open, with the question on it."""
        if self.measured_scan:
            plain = without_row_numbers(view)
            plain = plain._replace(choice_letters="") if isinstance(plain, Step | DetailView) else plain
            if not self.doubtful_quantity or not self.number_match or not isinstance(plain, Step | DetailView):
                return plain._replace(choices=(), prompt=ask_quantity.prompt(self.measured_scan))
            ways = (
                msg("count.way_quantity", quantity=self.doubtful_quantity.value),
                other_choice_text(self.number_match),
            )
            return plain._replace(
                choices=ways,
                choice_letters=ANSWER_LETTERS,
                prompt=quantities.quantity_prompt(ANSWER_LETTERS, scans=False),
            )
        if not self.scans:
            return view
        choices, keys = tuple(as_it_came(quantity_label(way)) for way in self._shown_scans), self._keys(accepts)
        if self._is_paged:
            choices = *choices, msg("session.more_ways", count=len(self.scans) - len(choices))
        view = without_row_numbers(view)
        if isinstance(view, Step | DetailView):
            prompt = letter_prompt(keys, scans=False) if keys else msg("session.choose")
            return view._replace(choices=choices, choice_letters=keys, prompt=prompt)
        return view._replace(choices=choices, prompt=msg("session.choose"))


NO_QUESTION = PendingQuestion()


def page_key(stacked_jobs: Sequence[StackedJob]) -> tuple[int, str, str]:
    """Which job stands on the screen, told from all others before and after it."""
    return len(stacked_jobs), stacked_jobs[-1].job.name, stacked_jobs[-1].job_id


def restore_question(
    meaning: Ambiguous | Multiplier | Scan, stacked_jobs: Sequence[StackedJob]
) -> tuple[PendingQuestion, Verdict]:
    """What is kept in mind again after an end in mid-work, and what is said of it."""
    if isinstance(meaning, Ambiguous):
        return PendingQuestion(page_key(stacked_jobs), scans=meaning.scans), Verdict(
            ASK, choice_question(meaning.scans)
        )
    if isinstance(meaning, Scan):
        return PendingQuestion(page_key(stacked_jobs), measured_scan=meaning), Verdict(
            ASK, ask_quantity.quantity_question(meaning)
        )
    return PendingQuestion(page_key(stacked_jobs), multiplier=meaning.number), Verdict(
        INFO, msg("session.times", times=meaning.number)
    )


def choice_question(scans: Sequence[Scan]) -> Msg:
    """Which of these readings is meant?"""
    if len(scans) > 2:
        return msg("session.either_of", count=len(scans))
    return msg("session.either", **{f"way{number}": quantity_label(way) for number, way in enumerate(scans, 1)})


def feed_or_search(stack: JobStack, meaning: Meaning, context: Context, reader: CacheReader) -> JobResult:
    """What the job on the screen makes of it. Words that it has no use for open the page of what they find, on top of
    it, as if a `?` stood before them; where they find nothing, the job's own answer stands."""
    before = list(stack.jobs)
    outcome = stack.feed(meaning, context)
    if not isinstance(meaning, Text) or not context.user or is_help_page(before[-1]):
        return outcome
    if not _has_no_use(outcome, before, stack.jobs):
        return outcome
    if not reader.query("search", {"search": meaning.text, "size": 1})[1]:
        return outcome
    stack.jobs[:] = before
    return stack.open(Start("lookup", {"search": meaning.text}), context)


_UNUSED_VERDICTS = (".unknown", "pick.waiting", "pick.answer_first", "pick.put_back_first")
"""How the verdict of a job ends that could do nothing with words."""


def _has_no_use(result: JobResult, before: Sequence[StackedJob], after: Sequence[StackedJob]) -> bool:
    """Whether a job has said that it knows no such thing, or has not stirred at all."""
    if result.verdict:
        return result.verdict.kind == WRONG and result.verdict.text.id.endswith(_UNUSED_VERDICTS)
    return before == after and not any(note.writes or note.resolutions for note in result.events)


def unless_incomplete(result: JobResult, meaning: Meaning, is_complete: Callable[[], bool]) -> JobResult:
    """Nobody is told that there is no such thing while the store has never been read whole."""
    before = result.verdict
    after = before and _unknown_yet(before, meaning)
    if after == before or is_complete():
        return result
    notes = tuple(note._replace(verdict=after) if note.verdict == before else note for note in result.events)
    return result._replace(events=notes, verdict=after)


def add_price(result: JobResult, meaning: Meaning) -> JobResult:
    """A label whose price could not be turned into a quantity is answered with that price before all else."""
    price = meaning.matches[0].price if isinstance(meaning, Scan) else None
    if price is None or result.verdict is None:
        return result
    told = msg("session.priced", price=as_price(price), said=result.verdict.text)
    return result._replace(verdict=result.verdict._replace(text=told))


def _unknown_yet(verdict: Verdict, meaning: Meaning) -> Verdict:
    """What a verdict on something unknown becomes; others as they are."""
    id_, asked = verdict.text.id, str(verdict.text.args[0][1]) if verdict.text.args else ""
    if id_ == "sign_in.unknown":
        return verdict._replace(text=msg("sign_in.unknown_yet", asked=asked))
    if isinstance(meaning, Scan) or not id_.endswith((".unknown", ".not_found")):
        return verdict
    return verdict._replace(text=msg("session.unknown_yet", text=asked))
