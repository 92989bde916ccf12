"""Question of the session itself: which meaning, how much, is it a quantity; multiplier for the next scan.

`jobs/typed_numbers_dates_and_letters` asks another question: is it a quantity, or the number of a product?

While this question is asked it is the only one: its choices replace those of the page, whose question is shown again
later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from aisle.jobs import typed_numbers_dates_and_letters
from aisle.jobs.typed_numbers_dates_and_letters import (
    DROP,
    MAX_CHOICES,
    YES,
    assign_letters,
    is_total_asked,
    letter_prompt,
    name_of,
    other_choice_text,
    quantity_prompt,
)
from aisle.jobs.view import (
    ASK,
    GOOD,
    INFO,
    WRONG,
    DetailView,
    ListView,
    Msg,
    Step,
    Verdict,
    View,
    msg,
    raw,
    without_row_numbers,
)
from aisle.scan.grammar import is_multiplied
from aisle.scan.grammar_and_meaning_types import (
    PART_OF_LABEL,
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
    RefusedInput,
    Scan,
    UnknownCode,
)
from aisle.session import ask_measured_quantity
from aisle.session.job_stack import StackedJob, page_identity, page_key

CONFIRM_FAST_NUMBER: Final = "input.confirm_fast_number"
"""Message id of the question whether a number at the pace of a scanner is a quantity."""

AFTER_REFUSED_SCAN: Final = "input.number_after_refused_scan"
"""Message id of the question whether a number was meant for the scan that was refused before it."""

CHOICE_AFTER_REFUSED_SCAN: Final = "input.choice_after_refused_scan"
"""Message id of the question whether a number is a choice, or was meant for the scan that was refused before it."""

QUESTIONS_AFTER_REFUSED_SCAN: Final = (AFTER_REFUSED_SCAN, CHOICE_AFTER_REFUSED_SCAN)

RECORD_OR_VALUE: Final = "input.record_or_value"
"""Message id of the question whether a number is a value, or was scanned as that of something in the store."""

NUMBER_QUESTIONS: Final = (CONFIRM_FAST_NUMBER, *QUESTIONS_AFTER_REFUSED_SCAN, RECORD_OR_VALUE)


class AskedNumber(NamedTuple):
    """Number that waits for `y` on its page, or to be typed again."""

    text: str = ""
    quantity: Quantity | None = None
    """Quantity that `y` takes; None for a choice, or if it has to be typed again."""
    page: tuple[Any, ...] = ()
    label: str = ""
    """Name of the goods that it would count, after a refused scan; empty for a number at the pace of a scanner."""
    record: Match | None = None
    """What has this number, if it came a little slower than by a scanner."""
    choice: Msg | None = None
    """Choice that `y` takes, in words; None for a quantity."""

    @property
    def answer(self) -> Quantity | Choice | None:
        """Return what `y` takes; None if the number has to be typed again."""
        if self.choice:
            return Choice(int(self.text))
        return self.quantity.confirmed if self.quantity else None

    @property
    def question(self) -> Verdict:
        """Return the question."""
        text = self.text.strip(" ")
        if self.choice:
            return Verdict(ASK, msg(CHOICE_AFTER_REFUSED_SCAN, text=text, choice=self.choice))
        if self.label:
            return Verdict(ASK, msg(AFTER_REFUSED_SCAN, text=text, label=self.label))
        if self.record:
            return Verdict(ASK, msg(RECORD_OR_VALUE, text=text, record=name_of(self.record)))
        return Verdict(ASK, msg(CONFIRM_FAST_NUMBER, text=text))

    @property
    def letters(self) -> str:
        """Return the letters of its answers."""
        return YES + DROP if self.answer else DROP

    def show_on(self, view: View) -> View:
        """Return the page with the answers to this question in place of its own choices."""
        plain = without_row_numbers(view)
        if not isinstance(plain, Step | DetailView | ListView):
            return view
        drop = msg("input.choice_drop_number", text=self.text.strip(" "))
        answers: tuple[Msg, ...] = (drop,)
        if self.choice:
            answers = (self.choice, drop)
        elif self.quantity:
            answers = (msg("count.choice_quantity", quantity=self.quantity.value), drop)
        is_total = is_total_asked(plain.prompt)
        prompt = (
            letter_prompt(self.letters, scans=False)
            if self.choice
            else quantity_prompt(self.letters, is_total=is_total)
        )
        return plain._replace(choices=answers, choice_letters=self.letters, prompt=prompt)


NO_NUMBER = AskedNumber()


MORE_LETTER = "m"
"""Letter for the next page of choices."""

COUNTS_NONE = "count"
"""Job in which none of the goods is a quantity, too; in others it takes their scan back."""

ANSWER_LETTERS = "yx"
"""Letters that answer whether a number that also names something is a quantity."""


class PendingQuestion(NamedTuple):
    """What the session asks on one page, or keeps for its next scan."""

    page: tuple[int, str, str] = (0, "", "")
    scans: tuple[Scan, ...] = ()
    """Possible meanings of a scan to choose from."""
    first: int = 0
    """Index of the first one that is shown."""
    multiplier: str = ""
    """Quantity of the next scan."""
    passed: int = 0
    """Number of earlier scans whose question nobody has answered."""
    measured_scan: Scan | None = None
    """Scan whose quantity is asked for."""
    doubtful_quantity: Quantity | None = None
    """Number typed for it that also names something: `y` takes it as a quantity, `x` does not."""
    doubtful_text: str = ""
    """That number as it was typed."""
    number_match: Match | None = None
    """What has that number."""
    has_refused_scan: bool = False
    """Whether a location or an order was refused because nobody has answered yet."""

    @property
    def is_pending(self) -> bool:
        """Return whether there is a question or multiplier."""
        return bool(self.scans or self.multiplier or self.measured_scan)

    @property
    def is_asked(self) -> bool:
        """Return whether a scan waits for an answer."""
        return bool(self.scans or self.measured_scan)

    @property
    def matches(self) -> tuple[Match, ...]:
        """Return all that the scans in question may mean."""
        scans = (*self.scans, *((self.measured_scan,) if self.measured_scan else ()))
        return tuple(match for scan in scans for match in scan.matches)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict that asks it, or tells the multiplier."""
        if self.measured_scan:
            asked = ask_measured_quantity.quantity_question(self.measured_scan)
            if self.doubtful_quantity:
                asked = msg("session.confirm_known_number", text=self.doubtful_text, said=asked)
            return Verdict(ASK, asked)
        if self.scans:
            return Verdict(ASK, choice_question(self.scans))
        return Verdict(INFO, msg("session.times", times=self.multiplier))

    def still_on_page(self, stacked_jobs: Sequence[StackedJob]) -> PendingQuestion:
        """Return this question while its page is on the screen, else none."""
        return self if self.page == page_key(stacked_jobs) else NO_QUESTION

    def accepts(self, accepts: Accepts) -> Accepts:
        """Return what an input may be while this is asked on a page that accepts `accepts`."""
        if self.measured_scan:
            keys = ANSWER_LETTERS if self.doubtful_quantity else ""
            return Accepts(
                quantity=True,
                decimals=not self.measured_scan.matches[0].may_hide_count,
                choices=len(keys),
                command_letters="u",
                typed_only=bool(keys),
                choice_letters=keys,
                is_number_asked=bool(keys),
            )
        if not self.scans:
            return accepts
        choices = len(self._shown_scans) + (self._is_paged or self.is_serial_asked)
        keys = self._keys(accepts)
        return Accepts(choices=choices, command_letters="u", typed_only=self._is_paged, choice_letters=keys)

    @property
    def is_serial_asked(self) -> bool:
        """Return whether one piece is asked about that would count more than once."""
        first = self.scans[0].matches[0] if self.scans else None
        return bool(first and (first.is_repeated or first.is_multiplied_serial))

    def is_declined_by(self, meaning: Meaning) -> bool:
        """Return whether an input drops what is asked about."""
        is_no = self.is_serial_asked and meaning == Choice(2)
        return isinstance(meaning, Back) or is_no or (bool(self.scans) and meaning == Command("u"))

    @property
    def _is_paged(self) -> bool:
        """Return whether there are more meanings than fit on a page."""
        return len(self.scans) > MAX_CHOICES

    @property
    def _shown_scans(self) -> tuple[Scan, ...]:
        """Return the meanings on the page of choices."""
        return self.scans[self.first : self.first + MAX_CHOICES - 1] if self._is_paged else self.scans

    def _keys(self, accepts: Accepts) -> str:
        """Return a letter for each of them where numbers are quantities, else none; `y` and `x` for a serial number."""
        if self.is_serial_asked:
            return YES + DROP
        if not (accepts.quantity or accepts.choice_letters):
            return ""
        return assign_letters(("" for _ in self._shown_scans), MORE_LETTER) + MORE_LETTER * self._is_paged

    def next_page(self, meaning: Meaning) -> PendingQuestion | None:
        """Return the question with its next page, the first one after the last; None if `meaning` asks for none."""
        if not self._is_paged or meaning != Choice(len(self._shown_scans) + 1):
            return None
        first = self.first + MAX_CHOICES - 1
        return self._replace(first=first if first < len(self.scans) else 0)

    def apply_choice(self, meaning: Meaning) -> Meaning:
        """Return the chosen meaning, or the scan with the typed quantity; other inputs as they are."""
        if self.doubtful_quantity and meaning == Choice(1):
            meaning = self.doubtful_quantity
        if self.measured_scan and isinstance(meaning, Quantity):
            is_taken = meaning.value or self.page[1] == COUNTS_NONE
            return ask_measured_quantity.with_quantity(self.measured_scan, meaning.value) if is_taken else Back()
        if isinstance(meaning, Choice) and meaning.number <= len(self._shown_scans):
            return self._shown_scans[meaning.number - 1]
        return meaning

    def apply_undo(self, meaning: Meaning) -> Meaning:
        """Turn an undo while a quantity is asked into the answer that takes back the number, or the scan."""
        if not self.measured_scan or meaning != Command("u"):
            return meaning
        return Choice(2) if self.doubtful_quantity else Back()

    def multiplies(self, meaning: Meaning, text: str) -> bool:
        """Return whether the multiplier applies: to a code or number without `?` or a multiplier of its own."""
        is_code = isinstance(meaning, UnknownCode | Ambiguous | Quantity) or (
            isinstance(meaning, Scan) and not meaning.is_look_up
        )
        return bool(self.multiplier) and is_code and not text.lstrip().startswith("?") and not is_multiplied(text)

    def add_unanswered(self, meaning: Meaning, verdict: Verdict | None) -> Verdict | None:
        """Add to a verdict that the scan asked about is not taken, because the next input did not answer."""
        if not self.is_asked or isinstance(meaning, Choice | Quantity) or self.is_declined_by(meaning):
            return verdict
        count, measured = self.passed + 1, self.measured_scan
        why = ask_measured_quantity.named(measured) if measured else choice_question(self.scans)
        if verdict is None:
            return Verdict(WRONG, msg("session.input_not_applied", count=count, why=why))
        kind = verdict.kind if verdict.kind in (GOOD, ASK) else WRONG
        verdict = verdict._replace(kind=kind)
        if count != 1 or not self.scans:
            return verdict.wrap("session.not_applied", count=count, why=why)
        named = msg("session.code_in_question", code=self.scans[0].matches[0].code, question=why)
        return verdict.wrap("session.number_not_applied", why=named)

    def keeps_multiplier(
        self, meaning: Meaning, raw: str, verdict: Verdict | None, stacked_jobs: Sequence[StackedJob]
    ) -> bool:
        """Return whether the multiplier stays: neither used nor taken back, and its page on the screen."""
        if (
            not self.multiplier
            or self.still_on_page(stacked_jobs) != self
            or isinstance(meaning, Quantity | Back | Multiplier)
            or (isinstance(meaning, RefusedInput) and meaning.reason == PART_OF_LABEL)
        ):
            return False
        is_taken = verdict is not None and verdict.kind != WRONG and (has_goods(meaning) or is_multiplied(raw))
        return not is_taken

    def multiplier_kept(self, verdict: Verdict | None) -> Verdict:
        """Add to a verdict that the multiplier stays."""
        if verdict is None:
            return Verdict(INFO, msg("session.times", times=self.multiplier))
        return verdict._replace(is_multiline=True).wrap("session.times_kept", times=self.multiplier)

    def multiplier_dropped(
        self, meaning: Meaning, raw: str, verdict: Verdict | None, *, is_counted: bool
    ) -> Verdict | None:
        """Add to a verdict that the multiplier was dropped unused, unless a job counted goods with it."""
        took = is_counted and verdict is not None and verdict.kind in (GOOD, ASK)
        if not self.multiplier or took or isinstance(meaning, Quantity | Back | Multiplier) or is_multiplied(raw):
            return verdict
        return factor_dropped(verdict, self.multiplier)

    def with_multiplier(self, text: str) -> str:
        """Return the typed text with the multiplier before it."""
        return f"{self.multiplier}*{text}" if self.multiplier else text

    def show_on(self, view: View, accepts: Accepts = Accepts()) -> View:  # noqa: B008 - a tuple
        """Return the page, which accepts `accepts`, with the question on it."""
        if self.measured_scan:
            plain = without_row_numbers(view)
            plain = plain._replace(choice_letters="") if isinstance(plain, Step | DetailView | ListView) else plain
            if not self.doubtful_quantity or not self.number_match or not isinstance(plain, Step | DetailView):
                return plain._replace(choices=(), prompt=ask_measured_quantity.prompt(self.measured_scan))
            answers = (
                msg("count.choice_quantity", quantity=self.doubtful_quantity.value),
                other_choice_text(self.number_match),
            )
            return plain._replace(
                choices=answers,
                choice_letters=ANSWER_LETTERS,
                prompt=typed_numbers_dates_and_letters.quantity_prompt(ANSWER_LETTERS, scans=False, is_total=False),
            )
        if not self.scans:
            return view
        choices, keys = tuple(map(_choice_text, self._shown_scans)), self._keys(accepts)
        if self.is_serial_asked:
            choices = *choices, msg("order_actions.no")
        if self._is_paged:
            choices = *choices, msg("session.more_choices", count=len(self.scans) - len(choices))
        view = without_row_numbers(view)
        if isinstance(view, Step | DetailView | ListView):
            prompt = letter_prompt(keys, scans=False) if keys else msg("unconfirmed.choose")
            return view._replace(choices=choices, choice_letters=keys, prompt=prompt)
        return view._replace(choices=choices, prompt=msg("unconfirmed.choose"))


NO_QUESTION = PendingQuestion()


def has_goods(meaning: Meaning) -> bool:
    """Return whether an input is the scan of a product."""
    return isinstance(meaning, Scan) and any(each.kind == PRODUCT for each in meaning.matches)


def factor_dropped(verdict: Verdict | None, factor: str) -> Verdict:
    """Add to a verdict that a factor was dropped unused."""
    dropped = msg("session.times_dropped", times=factor)
    if verdict is None:
        return Verdict(INFO, dropped)
    kind = INFO if verdict.kind == GOOD else verdict.kind
    text = msg("shortage.join", one=verdict.text, other=dropped)
    return verdict._replace(kind=kind, text=text, is_multiline=True)


def without_guess(scan: Scan) -> Scan:
    """Return a scan that somebody chose: nothing of it is a guess any more."""
    matches = tuple(each._replace(is_guess=False, has_other_zeros=False, is_shared_code=False) for each in scan.matches)
    return scan._replace(matches=matches)


def _label(scan: Scan) -> Msg | str:
    """Return a meaning in a few characters: goods with their quantity, anything else in words."""
    match = scan.matches[0]
    return (
        typed_numbers_dates_and_letters.name_of(match)
        if match.kind != PRODUCT
        else ask_measured_quantity.quantity_label(scan)
    )


def _choice_text(scan: Scan) -> Msg:
    label = _label(scan)
    return raw(label) if isinstance(label, str) else label


def choice_question(scans: Sequence[Scan]) -> Msg:
    """Return the question which of these meanings is meant."""
    if len(scans) > 2:
        is_of_products = all(scan.matches[0].kind == PRODUCT for scan in scans)
        return msg("session.ambiguous_of", count=len(scans)) if is_of_products else msg("unconfirmed.choose")
    if scans[0].matches[0].is_repeated:
        return msg("session.serial_again", serial=scans[0].matches[0].serial, label=_label(scans[0]))
    if scans[0].matches[0].is_multiplied_serial:
        return msg("session.serial_times", serial=scans[0].matches[0].serial, label=_label(scans[0]))
    if len(scans) == 1:
        return msg("session.confirm_guess", code=scans[0].matches[0].code, label=_label(scans[0]))
    labels = {f"way{number}": _label(scan) for number, scan in enumerate(scans, 1)}
    return msg("session.ambiguous", **labels)


class OpenQuestions(NamedTuple):
    """Question of the session or its multiplier, a number asked about over it, and whether a scan was refused."""

    question: PendingQuestion = NO_QUESTION
    number: AskedNumber = NO_NUMBER
    is_scan_refused: bool = False
    """Whether a number would be asked about because of a refused scan."""

    def without_pages(self) -> OpenQuestions:
        """Return them for the journal: a session that resumes the work has pages of its own."""
        question = self.question._replace(page=NO_QUESTION.page)
        number = self.number._replace(page=NO_NUMBER.page) if self.number.text else NO_NUMBER
        return self._replace(question=question if question.is_pending else NO_QUESTION, number=number)

    def on_page(self, stacked_jobs: Sequence[StackedJob]) -> OpenQuestions:
        """Return them for the page on the screen."""
        question = self.question._replace(page=page_key(stacked_jobs)) if self.question.is_pending else NO_QUESTION
        number = self.number._replace(page=page_identity(stacked_jobs)) if self.number.text else NO_NUMBER
        return self._replace(question=question, number=number)


NO_OPEN_QUESTIONS = OpenQuestions()
