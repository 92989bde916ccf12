"""One input of the decoder, applied to the session: what it means is found, and goes to the page on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aisle.jobs.job import RawInput
from aisle.jobs.typed_numbers_dates_and_letters import DROP, YES, name_of
from aisle.jobs.view import ASK, INFO, WRONG, Msg, Verdict, msg
from aisle.jobs.view import raw as raw_message
from aisle.scan.decoder import MAX_LINE
from aisle.scan.grammar import PRINTED_LETTERS, parse_aim_prefix
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    NUMBER_BESIDE_CODE,
    PRODUCT,
    TWO_CODES,
    Ambiguous,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Meaning,
    Quantity,
    RefusedInput,
    Scan,
    Text,
    TypedText,
    UnknownCode,
    scans_of,
)
from aisle.scan.inputs_and_line_grouping import (
    ADDRESS_KEY,
    CHIP_KEY,
    MIN_SCAN,
    ROW_KEY,
    SORT_KEY,
    TAB_KEY,
    TYPING_PAUSE_S,
    DecodedInput,
    Key,
    Line,
    OpenLine,
)
from aisle.session.apply_meaning import MeaningHandler
from aisle.session.event_runner import SessionPart
from aisle.session.input_batch import is_named_not_taken
from aisle.session.job_context_and_query_answers import raw_input
from aisle.session.job_stack import page_key
from aisle.session.meaning_resolver import MeaningResolver
from aisle.session.open_pages import Addresses, HelpPages
from aisle.session.page import CoveredQuestion, TypedLine, apply_key_names, meaning_of_key, typed_text_dropped
from aisle.session.pending_question import NO_NUMBER, NUMBER_QUESTIONS, AskedNumber
from aisle.session.scanned_or_typed_lines import LOCATION_OR_TYPED, LinePreparer, ScannedOrTyped, ShortCodes
from aisle.session.tab_bar_with_counts import Tabs
from aisle.session.terminal_screen_and_keys import (
    CURSOR_KEYS,
    DESK_CURSOR_KEYS,
    MEANING_BY_KEY,
    PAGE_BY_LETTER,
    TAB_BY_KEY,
    TAB_STEP_BY_KEY,
)

if TYPE_CHECKING:
    from aisle.session.trace import Trace


_CLICK_KEYS: Final = (ROW_KEY, CHIP_KEY, SORT_KEY)
"""Beginnings of the names of clicks in a list."""


@dataclass(eq=False)
class InputHandler(SessionPart):
    """Handler of lines and keys: it applies them to the page on the screen."""

    _resolver: MeaningResolver
    _scanned_or_typed: ScannedOrTyped
    _short_codes: ShortCodes
    _preparer: LinePreparer
    _meanings: MeaningHandler
    _help_pages: HelpPages
    _tabs: Tabs
    _addresses: Addresses
    _typed_line: TypedLine
    _covered_question: CoveredQuestion
    _trace: Trace | None

    def __post_init__(self) -> None:
        self._last_line: tuple[Line, Meaning] | None = None
        """The line before, with its meaning."""
        self._waiting_number = NO_NUMBER
        """Number that the line before asked about (`Page.asked_number`), whose `y` may only be this line."""
        self._last_number = ""
        """Number that the line before was; empty if it was something else."""
        self._scanned_number = ""
        """Number in question on the page that was scanned; empty if it was typed."""
        self._number_in_question = ""
        """Number that was scanned or typed last, until an input after which the page asks about none."""

    def apply(self, item: DecodedInput, at: float) -> None:
        """Apply one input; its effects are committed at the end of the batch."""
        match item:
            case OpenLine(text):
                self._event_runner.feed(TypedText(self._typed_line.update(text)))
            case Line():
                self.apply_line(self.take_own_line(item), at)
            case Key(name):
                page, is_secret = page_key(self._page.stack.jobs), self.is_typing_secret()
                self._apply_any_key(name)
                if page_key(self._page.stack.jobs) != page:
                    self._typed_line.drop(is_secret=is_secret)

    def _apply_any_key(self, name: str) -> None:
        """Apply a key. It opens a tab or an address, goes to a job that takes it as it came, or means an input."""
        if name.startswith(TAB_KEY):
            self._tabs.open(name.removeprefix(TAB_KEY))
        elif name.startswith(ADDRESS_KEY):
            self._addresses.open(name.removeprefix(ADDRESS_KEY))
        elif name in TAB_STEP_BY_KEY and self._tabs.are_shown:
            self._tabs.open_neighbour(TAB_STEP_BY_KEY[name])
        elif self._is_tab_key(name):
            self._tabs.open(TAB_BY_KEY[name])
        elif name != "back" and self._page.top.job.raw_input:
            self._apply_raw(RawInput(key=name), name)
        else:
            self._apply_key(name)

    def _is_tab_key(self, name: str) -> bool:
        """Return whether a key opens a tab here. The bindings of the device come first."""
        return self._tabs.are_shown and name in TAB_BY_KEY and name not in self._profile.current.letter_by_key

    def _apply_key(self, name: str) -> None:
        self._covered_question.note()
        self._waiting_number = self._page.take_asked_number()
        jobs, verdict = self._page.stack.snapshot(), self._verdicts.current
        self._apply_key_name(name)
        if name == "enter":
            self._typed_line.drop()  # a click chose a row; the words that found it are used
        self._report_number_not_taken()
        self._covered_question.after_input(jobs, verdict)

    def _apply_key_name(self, name: str) -> None:
        meaning = meaning_of_key(name, self._profile.current.letter_by_key, MEANING_BY_KEY)
        if isinstance(meaning, Command) and meaning.letter in PAGE_BY_LETTER:
            self._help_pages.open(PAGE_BY_LETTER[meaning.letter])
        elif meaning is not None and self._waiting_number.text and self._is_instead_of_answer(meaning):
            self._drop_waiting_number(meaning, name)
        elif meaning is not None:
            self._help_pages.close_for(meaning)
            self._meanings.apply(meaning, name)
        elif self._is_cursor_key(name):
            before = self._verdicts.current
            self._meanings.measure_visible_rows()
            self._meanings.feed(CursorKey(name), name)
            if self._verdicts.current is before:
                self._verdicts.drop_report()
                if name.startswith(_CLICK_KEYS):
                    self._verdicts.end_report(self._verdicts.current)

    def _is_cursor_key(self, name: str) -> bool:
        """Return whether a key moves the cursor here, or is a click. Only a desk has something beside another."""
        return (
            name in CURSOR_KEYS or name.startswith(_CLICK_KEYS) or (name in DESK_CURSOR_KEYS and self._tabs.are_shown)
        )

    # Typed text

    def follow_typing(self, text: str) -> None:
        """Take over the open line although no page follows it."""
        self._typed_line.update(text)

    def end_typing(self, text: str) -> None:
        """End the open line without applying it."""
        self._typed_line.end(text)

    def take_own_line(self, line: Line) -> Line | None:
        """End the open line; return it without what was typed for another page, None if nothing is left."""
        self._clear_open_line()
        own = self._typed_line.end(line.text)
        if own is None:
            return None
        return line._replace(text=own, before_pause=max(0, line.before_pause - (len(line.text) - len(own))))

    def leave_page(self, page_before: tuple[Any, ...], at: float, *, is_secret: bool) -> None:
        """Note the page before one that opened by itself, and drop what was typed on it."""
        self._batch.note_changed_page(page_before, at)
        self.drop_typed(is_secret=is_secret)

    def drop_typed(self, *, is_secret: bool) -> None:
        """Drop what was typed before a page that opened by itself, and say so."""
        if text := self._typed_line.drop(is_secret=is_secret):
            self._event_runner.feed(TypedText(""))
            self._verdicts.current = typed_text_dropped(text, self._verdicts.current)

    def is_typing_secret(self) -> bool:
        """Return whether the open line is a secret."""
        return self._page.is_secret(self._typed_line.text)

    def _clear_open_line(self) -> None:
        """Tell the page that the open line is empty if it has followed one."""
        if self._typed_line.text:
            self._event_runner.feed(TypedText(""))

    # Lines

    def apply_line(self, line: Line | None, at: float) -> None:
        """Apply a line that has ended, as `take_own_line` returned it."""
        if line is None:
            return  # nothing answers what was dropped
        self._batch.serial += 1
        if self._is_read_twice(line):
            return
        self._covered_question.note()
        jobs, verdict = self._page.stack.snapshot(), self._verdicts.current
        self._waiting_number = self._page.take_asked_number()
        self._batch.uncommitted += 1
        prepared = self._preparer.prepare(line)
        if prepared.reason in (NUMBER_BESIDE_CODE, TWO_CODES):
            self.refuse_lines((line,), msg(prepared.reason), at, is_secret=False)
        elif prepared.reason:
            is_secret = self._page.is_secret(prepared.line.text)
            self._refuse(prepared.line._replace(text="" if is_secret else prepared.line.text), msg(prepared.reason), at)
        else:
            self._apply_prepared(prepared.line, at)
        if prepared.layout_digits:
            self._meanings.report_layout(prepared.layout_digits)
        if prepared.dropped:
            self._verdicts.current = typed_text_dropped(prepared.dropped, self._verdicts.current)
        self._report_number_not_taken()
        self._covered_question.after_input(jobs, verdict)

    def _add_not_taken(self, number: str) -> None:
        """Add to the verdict on another number that the number in question is not taken."""
        verdict = self._verdicts.current
        if verdict and verdict.kind != WRONG and not is_named_not_taken(verdict.text, number):
            self._verdicts.current = verdict.wrap("session.number_not_applied", why=raw_message(number))

    def _is_read_twice(self, line: Line) -> bool:
        """Return whether the scanner has read the label of a location a second time at once."""
        if self._last_line is None:
            return False
        last, meaning = self._last_line
        is_location = isinstance(meaning, Scan) and meaning.matches[0].kind == LOCATION
        return is_location and (line.scan_number, line.text) == (last.scan_number or None, last.text)

    def refuse_lines(self, lines: Sequence[Line], reason: Msg, at: float, *, is_secret: bool) -> None:
        """Refuse the lines of a scan as a whole; the session's question stays."""
        self._batch.serial += 1
        if self._page.asked_number.text:
            self._waiting_number = self._page.take_asked_number()
        self._clear_open_line()
        text = "" if is_secret else "\n".join(line.text for line in lines)[:MAX_LINE]
        self._refuse(lines[-1]._replace(text=text), reason, at)
        self._report_number_not_taken()

    def take_back(self, undo: Meaning) -> None:
        """Take back what the last scan did, by the input with which a person would."""
        self._meanings.apply(undo, "")

    def refuse_further(self, line: Line, reason: Msg, at: float) -> None:
        """Refuse one more line of a scan that was refused: the new reason replaces the last one."""
        self._batch.serial += 1
        meaning = UnknownCode(line.text)
        self._event_runner.answer(Verdict(WRONG, reason), meaning, line.text)
        self._add_to_trace(line, meaning, at)

    def _refuse(self, line: Line, reason: Msg, at: float) -> None:
        meaning = UnknownCode(line.text)
        self._event_runner.answer(Verdict(WRONG, reason), meaning, line.text)
        self._meanings.record(meaning)
        self._add_to_trace(line, meaning, at)

    def reject_rest(self, rest: Sequence[DecodedInput], why: Msg) -> None:
        """Drop the inputs after a failed commit, and tell how many lines have to be scanned again."""
        lines = sum(isinstance(item, Line) for item in rest)
        self._batch.serial += lines
        count = self._batch.uncommitted + lines
        if lines or count > 1:
            self._verdicts.current = Verdict(WRONG, msg("session.inputs_not_saved", count=count, why=why))

    def _apply_prepared(self, line: Line, at: float) -> None:
        is_number_asked = self._page.accepts().is_number_asked
        self._meanings.watch_separators(line.text)
        label = self._label_of(line)
        if label and line.longest_pause < TYPING_PAUSE_S:
            self._apply_scanned_label(label, line, at)
            return
        line = line._replace(text=apply_key_names(line.text, self._profile.current.letter_by_key, self._page.top))
        if name := self._help_pages.page_of_line(line.text):
            meaning: Meaning = Command(line.text.strip(" ").lower())
            self._help_pages.open(name)
            self._meanings.record(meaning)
        else:
            line, meaning = self._apply_resolved(line, label)
        if (
            isinstance(meaning, Quantity) and not self._page.asked_number.text
        ):  # else the page's question stands under it
            replaced = self._last_number if line.scan_number else self._scanned_number
            if is_number_asked and replaced not in ("", line.text.strip(" ")):
                self._add_not_taken(replaced)
            self._scanned_number = line.text.strip(" ") if self._resolver.is_scanned_number(line.text, meaning) else ""
        self._last_number = line.text.strip(" ") if isinstance(meaning, Quantity) else ""
        self._note_number_in_question(meaning, is_number_asked=is_number_asked)
        self._last_line = line, meaning
        self._add_to_trace(line, meaning, at)

    def _note_number_in_question(self, meaning: Meaning, *, is_number_asked: bool) -> None:
        """Note the number that the page asks about. A scan of goods that says what it was may be of another piece of
        them: then the number is not taken."""
        if self._last_number:
            self._number_in_question = self._last_number
        elif not self._page.accepts().is_number_asked:
            is_of_goods = isinstance(meaning, Scan) and meaning.matches[0].kind == PRODUCT
            if is_number_asked and is_of_goods and self._number_in_question:
                self._add_not_taken(self._number_in_question)
            self._number_in_question = ""

    def _label_of(self, line: Line) -> str:
        """Return the character of a line that is the label of something here, as a tote has; else an empty text."""
        text = line.text.strip(" ")
        return text if len(text) == 1 and text in self._page.accepts().labels else ""

    def _apply_scanned_label(self, label: str, line: Line, at: float) -> None:
        """Apply the scan of a label; a multiplier stays for what goes into that tote."""
        meaning, question = UnknownCode(label), self._page.take_question()
        self._meanings.apply(meaning, line.text)
        self._meanings.record(meaning)
        self._page.question = question.still_on_page(self._page.stack.jobs)
        self._add_to_trace(line, meaning, at)

    def _apply_resolved(self, line: Line, label: str) -> tuple[Line, Meaning]:
        """Apply a line by its meaning; return both for the trace, without a secret."""
        is_secret = self._page.is_secret(line.text)
        meaning = self._resolve(line)
        is_repeated, answer = self._is_refused_letter(line), self._answer_to_number(line)
        label_meaning = self._short_codes.scanned_short_code(line, answer or meaning, is_repeated=is_repeated)
        meaning = label_meaning or meaning
        if self._waiting_number.text and isinstance(label_meaning, RefusedInput):
            self._refuse_line(line, label_meaning.reason)
            self._keep_waiting_number()
            return line, label_meaning
        confirmed, record = None if label_meaning else self._confirmed_number(line), None
        if confirmed:
            line, meaning = line._replace(text=self._waiting_number.text), confirmed
        elif isinstance(meaning, Quantity):
            record, is_sure = self._short_codes.record_of_number(line, meaning)
            meaning = Scan((record,)) if record and is_sure else meaning
        if confirmed or self._resolver.is_scanned_number(line.text, meaning):
            self._batch.refused_scan.forget()
        if self._waiting_number.text and not confirmed and self._is_instead_of_answer(meaning):
            self._drop_waiting_number(meaning, line.text)
            return line, meaning
        if isinstance(meaning, Scan | Ambiguous) and self._must_wait(meaning):
            self._refuse_until_answered(line, meaning)
            return line, meaning
        if isinstance(meaning, Quantity | Choice):  # the answer, or another number
            self._waiting_number = NO_NUMBER
        if not is_secret and (verdict := self._pin_check.unexpected_pin(line, meaning)):
            is_secret = True
            self._verdicts.show(verdict)
        elif isinstance(meaning, Quantity) and (other := self._short_codes.record_at_question(line, meaning)):
            meaning = Scan((other,))
            self._refuse_until_answered(line, meaning)
        elif confirmed or not self._ask_or_refuse_fast_number(line, meaning, record):
            self._apply_to_page(line, meaning, label, is_secret=is_secret)
        if is_secret and not isinstance(meaning, Back):
            return line._replace(text=""), UnknownCode("")
        return line, meaning

    def _resolve(self, line: Line) -> Meaning:
        """Return the meaning of a line, after help pages that hide the job which it is for are closed."""
        meaning = self._resolver.resolve(line.text)
        if not self._resolver.is_number_above_job(line.text) and self._help_pages.close_for(meaning):
            meaning = self._resolver.resolve(line.text)
        if self._is_date_after_refused_scan(meaning):
            return UnknownCode(line.text.strip(" "))  # the job asks whether it is the date of its product
        is_label = self._scanned_or_typed.is_scanned_number_label(line, meaning)
        is_code = is_label or self._scanned_or_typed.is_scanned_code(line, meaning)
        return UnknownCode(line.text.strip(" ")) if is_code else meaning

    def _ask_or_refuse_fast_number(self, line: Line, meaning: Meaning, record: Match | None) -> bool:
        """Ask about a number that came too fast for a person, or refuse one that is a choice; False for another line.

        `record`: what in the store has this number.
        """
        if isinstance(meaning, Quantity) and self._scanned_or_typed.is_fast_number(line, meaning):
            self._ask_for_number(line, meaning)
        elif isinstance(meaning, Quantity) and record:
            self._ask_for_number(line, meaning, record)
        elif self._scanned_or_typed.is_fast_choice(line, meaning):
            self._refuse_line(line, "input.type_choice")
        else:
            return False
        return True

    def _apply_to_page(self, line: Line, meaning: Meaning, label: str, *, is_secret: bool) -> None:
        """Apply a line to the page on the screen, unless it is an answer that has to be typed, or not known yet."""
        if self._scanned_or_typed.is_scanned_answer(line, meaning):
            is_confirmed = self._page.accepts().typed_only
            self._refuse_line(line, "input.scan_not_accepted" if is_confirmed else "input.type_choice")
        elif self._scanned_or_typed.is_unknown_yet(line, meaning):
            text = msg("session.unknown_yet", text=line.text.strip(" "))
            self._event_runner.answer(Verdict(WRONG, text), meaning, line.text)
        elif self._page.top.job.raw_input and not isinstance(meaning, Back):
            self._apply_raw(raw_input(line, meaning), "" if is_secret else line.text)
        else:
            self._meanings.apply(meaning, "" if is_secret and not isinstance(meaning, Back) else line.text)
            is_code = isinstance(meaning, Text) and line.scan_number and len(line.text) >= MIN_SCAN
            self._meanings.record(UnknownCode(line.text) if is_code else meaning)
            if label and isinstance(meaning, Back):
                self._explain_label(label)

    def _is_date_after_refused_scan(self, meaning: Meaning) -> bool:
        """Return whether a typed date may be meant for the scan that was refused before it; it is asked once."""
        is_date = self._page.accepts().date and isinstance(meaning, Text)
        return is_date and self._batch.refused_scan.take(self._page.stack.jobs)

    def _is_refused_letter(self, line: Line) -> bool:
        """Return whether the line before was this letter, refused because it may be the label of a location."""
        if self._last_line is None:
            return False
        last, meaning = self._last_line
        is_refused = isinstance(meaning, RefusedInput) and meaning.reason == LOCATION_OR_TYPED
        return is_refused and last.text.strip(" ").casefold() == line.text.strip(" ").casefold()

    def _ask_for_number(self, line: Line, quantity: Quantity, record: Match | None = None) -> None:
        """Ask whether a number at the pace of a scanner is a quantity; after a refused scan it is an unknown code.

        `record`: what has this number, if the pace could also be a person's.

        Refuse it while `y` or `x` answers another question: its answer must stay what the screen says.
        """
        if self._page.accepts().quantity_beyond_choices:
            self._refuse_line(line, "input.type_choice")
            return
        if set(YES + DROP) & set(self._page.accepts().choice_letters):
            self._refuse_line(line, "input.answer_first")
            return
        if record is None and not self._page.question.is_asked and self._is_meant_for_refused_scan(line):
            return
        self._page.asked_number = AskedNumber(line.text, quantity, self._page.identity, record=record)
        self._event_runner.answer(self._page.asked_number.question, quantity, line.text)

    def _is_meant_for_refused_scan(self, line: Line) -> bool:
        """Say that a number of nothing after a refused scan is unknown, or ask about `7*7`; False if it is neither.

        The same number once more is a person's, whose link sends it in one read.
        """
        text, is_nothing = line.text.strip(" "), self._resolver.is_nothing(line.text)
        if is_nothing and self._batch.refused_scan.is_first_unknown_number(text, self._page.stack.jobs):
            self._event_runner.answer(Verdict(WRONG, msg("count.unknown", code=text)), UnknownCode(text), line.text)
            self._meanings.record(UnknownCode(text))
            return True
        if is_nothing:
            self._batch.refused_scan.forget()
        asked = self._batch.refused_scan.ask_for(text, None, self._page.stack.jobs)
        if asked:
            self._page.asked_number = asked
            self._event_runner.answer(asked.question, UnknownCode(line.text), line.text)
        return asked is not None

    def _refuse_line(self, line: Line, reason: str) -> None:
        """Refuse a number or letter at the pace of a scanner for this reason (message id)."""
        refused = RefusedInput(reason, line.text.strip(" "))
        self._meanings.apply(refused, line.text)
        self._meanings.record(refused)

    def _answer_to_number(self, line: Line) -> Choice | None:
        """Return the answer that a letter is to the question about a number; None if it is none."""
        letters, letter = self._waiting_number.letters, _letter_of(line.text)
        is_answer = bool(self._waiting_number.text and letter) and letter in letters
        return Choice(letters.index(letter) + 1) if is_answer else None

    def _confirmed_number(self, line: Line) -> Quantity | Choice | None:
        """Return the number that the line before asked about on this page if the line is `y`."""
        waiting = self._waiting_number
        is_yes = _letter_of(line.text) == YES
        is_on_screen = waiting.page == self._page.identity and self._batch.uncommitted == 1
        return waiting.answer if is_yes and is_on_screen else None

    def _is_instead_of_answer(self, meaning: Meaning) -> bool:
        """Return whether an input while a number is asked about is meant for no scan or command but for a question."""
        if isinstance(meaning, RefusedInput):
            return _letter_of(meaning.text) in (YES, DROP)
        if isinstance(meaning, Choice):
            return self._waiting_number.choice is None
        return isinstance(meaning, Back) or meaning == Command("u")

    def _drop_waiting_number(self, meaning: Meaning, raw: str) -> None:
        """Drop the number that was asked about, and show the question of the page again: only now it has answers."""
        asked = self._covered_question.question_of_page() or Verdict(INFO, msg("session.dropped"))
        self._event_runner.answer(asked, meaning, raw)
        if isinstance(meaning, Back | Command) or _letter_of(raw) == DROP:
            self._waiting_number = NO_NUMBER

    def _must_wait(self, meaning: Scan | Ambiguous) -> bool:
        """Return whether a scan has to wait until the question on the screen, or the one under it, is answered."""
        return self._is_for_covered_question(meaning) or self._page.refuses_scan(meaning)

    def _is_for_covered_question(self, meaning: Scan | Ambiguous) -> bool:
        """Return whether a scan would answer a question of the page that the question about a number covers."""
        if not self._waiting_number.text:
            return False
        asked = self._page.question.is_asked or self._covered_question.question_of_page()
        return bool(self._page.accepts().choices or asked) and not (isinstance(meaning, Scan) and meaning.is_look_up)

    def _refuse_until_answered(self, line: Line, meaning: Scan | Ambiguous) -> None:
        """Refuse a scan until the question on the screen is answered, which stays."""
        self._keep_waiting_number()
        self._page.note_refused_scan()
        text = msg("count.answer_first", what=name_of(scans_of(meaning)[0].matches[0]))
        self._event_runner.answer(Verdict(WRONG, text), meaning, line.text)
        self._meanings.add_remarks(meaning)
        self._meanings.record(meaning)

    def _keep_waiting_number(self) -> None:
        """Go on asking about the number that the line before asked about, if it did."""
        if self._waiting_number.text:
            self._page.asked_number, self._waiting_number = self._waiting_number, NO_NUMBER

    def _report_number_not_taken(self) -> None:
        """Add to the verdict that a number which was asked about is not taken, because nobody answered."""
        waiting, self._waiting_number = self._waiting_number, NO_NUMBER
        if not waiting.text:
            return
        verdict, why = self._verdicts.current, raw_message(waiting.text.strip(" "))
        if verdict is None or verdict.text.id in NUMBER_QUESTIONS:
            self._verdicts.current = Verdict(WRONG, msg("session.input_not_applied", count=1, why=why))
        else:
            self._verdicts.current = verdict.wrap("session.number_not_applied", why=why)

    def _explain_label(self, label: str) -> None:
        """Say how a label is typed: typed alone, it was a command."""
        verdict, text = self._verdicts.current, msg("session.tote_letter", label=label)
        kind = ASK if verdict and verdict.kind == ASK else INFO
        self._verdicts.current = Verdict(kind, msg("shortage.join", one=verdict.text, other=text) if verdict else text)

    def _apply_raw(self, event: RawInput, raw: str) -> None:
        """Feed an input to a job that takes it as it came."""
        self._verdicts.current = None
        self._meanings.feed(event, raw)

    def _add_to_trace(self, line: Line, meaning: Meaning, at: float) -> None:
        if self._trace:
            self._trace.add(line, meaning, self._page.top, self._verdicts.current, at)


def _letter_of(text: str) -> str:
    """Return the letter that an answer is, typed or from a printed sheet (`AISLE:Y`); other text in small letters."""
    code = parse_aim_prefix(text.strip(" ")).code
    return PRINTED_LETTERS.get(code.upper(), code.lower())
