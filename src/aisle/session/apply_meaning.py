"""Meaning of an input, applied to the page: first to what the session itself asks, then to the job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aisle.jobs import COUNTS_SCANS
from aisle.jobs.job import Event, Opened, Start, money_message
from aisle.jobs.list_cursor_and_search import PAGE_LETTERS
from aisle.jobs.shell.pin import is_pin_shaped
from aisle.jobs.typed_numbers_dates_and_letters import MAX_LIKELY_QUANTITY, is_other_kind, name_of
from aisle.jobs.view import ASK, BACK, INFO, WRONG, Frame, Msg, Verdict, msg, raw
from aisle.scan.codes_of_store_and_suppliers import is_unknown_in_store_code
from aisle.scan.grammar import is_multiplied
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    PERSON,
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
    Text,
    UnknownCode,
)
from aisle.scan.gs1 import has_separator
from aisle.session import ask_measured_quantity
from aisle.session.event_runner import SessionPart
from aisle.session.job_stack import JobResult, StackedJob, is_help_page, receiving_job
from aisle.session.meaning_resolver import PageReactions
from aisle.session.pending_question import (
    AskedNumber,
    PendingQuestion,
    choice_question,
    factor_dropped,
    has_goods,
    without_guess,
)
from aisle.session.scanned_serials import as_multiplied, as_repeated, serial_of
from aisle.session.shown_verdict_and_bells import Verdicts


@dataclass(eq=False)
class MeaningHandler(SessionPart):
    """Handler of meanings: it applies them to the page on the screen."""

    _reactions: PageReactions
    _current_frame: Callable[[], Frame]

    def __post_init__(self) -> None:
        self._remarks = ScanRemarks(self._verdicts)
        self._are_lots_certain = False
        """Whether lots end where they seem to: the scanner sends separators, or a person answered that one did."""

    def feed(self, event: Event, raw: str) -> None:
        """Feed an event to the job on the screen, which may need a PIN for it."""
        feed = self._page.stack.feed
        self._event_runner.apply(self._pin_check.require_pin(event, lambda: feed(event, self._context.current())), raw)

    def watch_separators(self, text: str) -> None:
        """Note whether the scanner sends separators."""
        self._are_lots_certain = self._are_lots_certain or has_separator(text)

    def add_remarks(self, meaning: Meaning) -> None:
        """Add to the verdict how a code was read."""
        self._remarks.add(meaning)

    def report_layout(self, digits: str) -> None:
        """Add to the verdict that digits came in another keyboard layout."""
        self._remarks.report_layout(digits, digits)

    def record(self, meaning: Meaning) -> None:
        """Record the verdict on a line, so that later ones in its batch do not hide a refusal."""
        choices, verdict = self._page.accepts().choices, self._verdicts.current
        if isinstance(meaning, Quantity) and verdict and verdict.kind == WRONG:
            match = ask_measured_quantity.find_number(self._store.reader, meaning)
            meaning = Scan((match,)) if match else meaning  # the number of a record was refused, no quantity
        self._batch.record(meaning, verdict, choices, self._page.stack.jobs)

    def measure_visible_rows(self) -> None:
        """Tell the job how many rows of its list are visible, for commands that move through it."""
        rows = self._terminal.visible_list_rows(self._current_frame, self._context.current().window_rows)
        if rows is not None:
            self._context.set_visible_rows(rows)

    def apply(self, meaning: Meaning, raw: str) -> None:
        """Apply a meaning; tell what becomes of a pending question or multiplier."""
        asked, before = self._page.question, self._page.stack.snapshot()
        is_unknown_label = isinstance(meaning, UnknownCode) and self._is_unknown_label(meaning)
        applied = self._apply_with_question(meaning, raw)
        self.add_remarks(meaning)
        if asked.is_pending:
            self._report_unanswered(asked, meaning)
        if self._page.question.is_pending:
            return
        if asked.multiplier:
            self._report_multiplier(asked, meaning, raw, before)
        elif isinstance(applied, Scan):
            self._report_unused_factor(applied, raw, before)
        if is_unknown_label:
            self._verdicts.add_detail(msg("session.store_label"))

    def _report_multiplier(
        self, asked: PendingQuestion, meaning: Meaning, raw: str, before: Sequence[StackedJob]
    ) -> None:
        verdict, is_counted = self._verdicts.current, self._counts_factor(meaning, before)
        is_refused = verdict is not None and verdict.kind == WRONG
        is_uncounted = has_goods(meaning) and not (is_counted or is_refused)
        has_opened = is_uncounted and tuple(self._page.stack.jobs) != tuple(before)
        if not has_opened and asked.keeps_multiplier(meaning, raw, verdict, self._page.stack.jobs):
            self._page.question, self._verdicts.current = asked, asked.multiplier_kept(verdict)
        else:
            self._verdicts.current = asked.multiplier_dropped(meaning, raw, verdict, is_counted=is_counted)

    def _report_unused_factor(self, scan: Scan, raw: str, before: Sequence[StackedJob]) -> None:
        """Add to the verdict that a factor is dropped. An expiry check takes the date of a label, without its count."""
        verdict, first = self._verdicts.current, scan.matches[0]
        is_date = self._page.top.job.name == "expiry" and bool(first.expiry) and not is_multiplied(raw)
        if first.times == 1 or is_date or (verdict and verdict.kind == WRONG) or self._counts_factor(scan, before):
            return
        self._verdicts.current = factor_dropped(verdict, f"{first.times.normalize():f}")

    def _counts_factor(self, meaning: Meaning, before: Sequence[StackedJob]) -> bool:
        """Return whether a job that was open before counts the scan of goods, and does not only open something."""
        top = self._page.top
        was = next((each for each in before if each.job_id == top.job_id), None)
        if not has_goods(meaning) or top.job.name not in COUNTS_SCANS or was is None:
            return has_goods(meaning) and top.job.name == "pin"
        step = was.job.step_name(was.state)
        return step not in ask_measured_quantity.OPENING_STEPS or top.job.step_name(top.state) == "count.product"

    def _report_unanswered(self, asked: PendingQuestion, meaning: Meaning) -> None:
        if not asked.is_asked or self._page.question is asked:
            return
        if asked == self._batch.question_before:
            asked = asked._replace(passed=0)  # the screen said what was not taken before it
        self._verdicts.current = asked.add_unanswered(meaning, self._verdicts.current)
        if self._page.question.is_asked and not isinstance(meaning, Choice | Quantity | Back):
            self._page.question = self._page.question._replace(passed=asked.passed + 1)

    def _is_unknown_label(self, meaning: UnknownCode) -> bool:
        """Return whether an in-store code has an unknown pattern, on a page that takes products."""
        if not self._context.user.user or PRODUCT not in self._page.preferred_kinds():
            return False
        return is_unknown_in_store_code(meaning.code, self._profile.current.in_store_patterns)

    def _apply_with_question(self, meaning: Meaning, raw: str) -> Meaning:
        """Answer the session's own question, or go on to the job; return the meaning that was applied."""
        if isinstance(meaning, Command) and meaning.letter in PAGE_LETTERS:
            self.measure_visible_rows()
        self._verdicts.current = None
        question = self._page.take_question()
        if question.is_pending:
            if self._answer_question(question, meaning, raw):
                return meaning
            self._note_lot(question, meaning)
            meaning = question.apply_choice(meaning)
        if question.measured_scan and isinstance(meaning, Back):
            self._event_runner.answer(Verdict(INFO, msg("session.dropped")), meaning, raw)
        elif not self._ask_for_refused_scan(question, meaning, raw):
            jobs, opens_only = self._page.stack.jobs, self._reactions.opens_only
            meaning = ask_measured_quantity.ask_if_measured(self._store.reader, jobs, meaning, opens_only)
            meaning = ask_measured_quantity.ask_if_count_hidden(
                self._store.reader, jobs, meaning, opens_only, are_lots_certain=self._are_lots_certain
            )
            self._apply_unasked(question, meaning, raw)
        return meaning

    def _note_lot(self, question: PendingQuestion, meaning: Meaning) -> None:
        """Note that a lot which ends like a count was one: then others are not asked about."""
        first = question.measured_scan.matches[0] if question.measured_scan else None
        is_lot = first is not None and first.may_hide_count and first.measure is None
        if is_lot and isinstance(meaning, Quantity) and meaning.value == 1:
            self._are_lots_certain = True

    def _answer_question(self, question: PendingQuestion, meaning: Meaning, raw: str) -> bool:
        """Handle inputs that drop the question, turn its page, or need another answer; return whether it is done."""
        if question.is_declined_by(meaning):
            self._event_runner.answer(Verdict(INFO, msg("session.dropped")), meaning, raw)
            return True
        scan = question.measured_scan
        if question.doubtful_quantity and scan and meaning == Choice(2):
            self._page.question = question._replace(doubtful_quantity=None, number_match=None)
            self._event_runner.answer(Verdict(ASK, ask_measured_quantity.quantity_question(scan)), meaning, raw)
            return True
        match = (
            ask_measured_quantity.find_number(self._store.reader, meaning)
            if scan and isinstance(meaning, Quantity)
            else None
        )
        if scan and match and isinstance(meaning, Quantity):
            self._page.question = question._replace(
                doubtful_quantity=meaning, doubtful_text=raw.strip(" "), number_match=match
            )
            self._event_runner.answer(self._page.question.verdict, meaning, raw)
            return True
        if next_page := question.next_page(meaning):
            self._page.question = next_page
            self._event_runner.answer(Verdict(ASK, choice_question(next_page.scans)), meaning, raw)
            return True
        return False

    def _ask_for_refused_scan(self, question: PendingQuestion, meaning: Meaning, raw: str) -> bool:
        """Ask whether a number was meant for the scan that was refused before; return whether that is asked."""
        if isinstance(meaning, Choice):
            asked = self._batch.refused_scan.ask_for_choice(raw.strip(" "), self._page.stack.jobs)
        elif isinstance(meaning, Quantity):
            asked = self._asked_quantity(meaning, raw)
        else:
            return False
        if not asked:
            return False
        self._page.question, self._page.asked_number = question, asked
        self._event_runner.answer(asked.question, meaning, raw)
        return True

    def _asked_quantity(self, quantity: Quantity, raw: str) -> AskedNumber | None:
        """Return the quantity to ask about if it may be meant for a refused scan."""
        if quantity.value > MAX_LIKELY_QUANTITY and ask_measured_quantity.find_number(self._store.reader, quantity):
            return None  # it is no quantity; the job says what it is
        return self._batch.refused_scan.ask_for(raw.strip(" "), quantity, self._page.stack.jobs)

    def _apply_unasked(self, question: PendingQuestion, meaning: Meaning, raw: str) -> None:
        """Apply an input that answers no question of the session; the job handles all that the session does not."""
        answer, look_up = self._event_runner.answer, _look_up_of(meaning, raw) if self._context.user.user else None
        match meaning:
            case Ambiguous(scans):
                self._ask_which(scans, meaning, raw)
            case Multiplier(number) if self._context.user.user:
                self._page.question = PendingQuestion(self._page.key, multiplier=number)
                answer(Verdict(INFO, msg("session.times", times=number)), meaning, raw)
            case Multiplier(number):
                answer(Verdict(WRONG, msg("input.no_multiplier", text=f"{number}*")), meaning, raw)
            case _ if look_up:
                self._open_look_up(*look_up, meaning, raw)
            case Scan(matches) if self._is_own_badge(matches):
                self._page.question = question
                name = matches[0].label or matches[0].key
                answer(Verdict(INFO, msg("sign_in.already", name=name)), meaning, raw)
            case Scan() if self._repeats_serial(meaning):
                self._ask_which((as_repeated(meaning),), meaning, raw)
            case Scan() if self._multiplies_serial(question, meaning, raw):
                self._ask_which((as_multiplied(meaning),), meaning, raw)
            case Scan() if self._needs_quantity(meaning):
                meaning = ask_measured_quantity.in_pieces(self._store.reader, self._with_label_of_job(meaning))
                self._page.question = PendingQuestion(self._page.key, measured_scan=meaning)
                answer(Verdict(ASK, ask_measured_quantity.quantity_question(meaning)), meaning, raw)
            case Scan() if self._reactions.leaves_by_guess(meaning):
                self._ask_which((meaning,), meaning, raw)
            case RefusedInput():
                if meaning.reason in _REFUSED_BESIDE_QUESTION:
                    self._page.question = question  # it still stands
                answer(self._refusal(meaning), meaning, raw)
            case _:
                is_counted = isinstance(meaning, Scan) and self._is_counted(meaning)
                result = self._pin_check.require_pin(meaning, lambda: self._feed(meaning))
                self._apply_known(add_divided_price(result, meaning) if is_counted else result, meaning, raw)

    def _is_counted(self, scan: Scan) -> bool:
        """Return whether the job that a scan is for counts its quantity."""
        return not scan.is_look_up and receiving_job(self._page.stack.jobs, scan).job.name in COUNTS_SCANS

    def _repeats_serial(self, scan: Scan) -> bool:
        """Return whether the job that counts a scan took the same piece before, and nobody was asked about it.

        A serial number that may end in a count is asked about as such.
        """
        first = scan.matches[0]
        is_asked = first.is_repeated or (first.needs_quantity and first.may_hide_count)
        return not is_asked and self._is_counted(scan) and receiving_job(self._page.stack.jobs, scan).serials.has(scan)

    def _multiplies_serial(self, question: PendingQuestion, scan: Scan, raw: str) -> bool:
        """Return whether a multiplier counts the one piece of a serial number several times, and nobody was asked."""
        first = scan.matches[0]
        is_asked = first.is_repeated or first.is_multiplied_serial
        is_multiple = bool(question.multiplier or is_multiplied(raw)) and first.quantity != 1
        return is_multiple and not is_asked and serial_of(scan) is not None and self._is_counted(scan)

    def _ask_which(self, scans: tuple[Scan, ...], meaning: Meaning, raw: str) -> None:
        """Ask which of these meanings is meant, or whether the only one is."""
        self._page.question = PendingQuestion(self._page.key, scans=tuple(map(without_guess, scans)))
        self._event_runner.answer(Verdict(ASK, choice_question(scans)), meaning, raw)

    def _with_label_of_job(self, scan: Scan) -> Scan:
        """Return the scan with the product's name as the job that counts it says it, such as with its stock pool."""
        receiver, first = receiving_job(self._page.stack.jobs, scan), scan.matches[0]
        return scan.with_first(label=receiver.job.label_of_scan(receiver.state, first))

    def _needs_quantity(self, scan: Scan) -> bool:
        is_needed = ask_measured_quantity.is_quantity_needed(self._page.stack.jobs, scan)
        is_shown_only = receiving_job(self._page.stack.jobs, scan) is not self._page.top and self._reactions.opens_only(
            scan
        )
        return is_needed and not is_shown_only and not self._event_runner.is_refused(scan)

    def _refusal(self, refused: RefusedInput) -> Verdict:
        if refused.reason != "input.no_choice_back":
            return Verdict(WRONG, Msg(refused.reason, (("text", refused.text),)))
        text_id = "input.no_choice_back" if _has_back_key(self._page.top) else "input.no_choice"
        return Verdict(WRONG, msg(text_id, text=refused.text), detail=_choice_hint(self._page.accepts()))

    def _is_own_badge(self, matches: Sequence[Match]) -> bool:
        """Return whether the person scanned the own badge on a page that has no use for one."""
        own = (PERSON, self._context.user.user)
        is_own = all((match.kind, match.key) == own for match in matches)
        return is_own and PERSON not in self._page.preferred_kinds()

    def _open_look_up(self, start: Start, event: Event, meaning: Meaning, raw: str) -> None:
        """Open what a `?` asks for on top of the job, or feed it to that page if it is open already."""
        stack, context, is_open = self._page.stack, self._context.current(), self._page.top.job.name == start.job
        if not is_open:
            self._apply_known(stack.open(start, context), meaning, raw)
        if is_open or not start.args:
            self._apply_known(stack.feed(event, self._context.current()), meaning, raw if is_open else "")

    def _feed(self, meaning: Meaning) -> JobResult:
        """Feed a meaning to the job; words that it has no use for open the search page if anything is found."""
        stack, context, before = self._page.stack, self._context.current(), self._page.stack.snapshot()
        result = stack.feed(meaning, context)
        if not isinstance(meaning, Text) or not context.user or is_help_page(before[-1]):
            return result
        if not _is_unused(result, before, stack.jobs):
            return result
        if not self._store.reader.query("search", {"search": meaning.text, "size": 1})[1]:
            return result
        stack.restore(before)
        return stack.open(Start("look_up", {"search": meaning.text}), context)

    def _apply_known(self, result: JobResult, meaning: Meaning, raw: str) -> None:
        """Apply a result, with verdicts that hold for what this host knows of the store."""
        qualified = unless_incomplete(result, meaning, self._store.reader.is_complete)
        self._event_runner.apply(add_price(qualified, meaning), raw)


def _look_up_of(meaning: Meaning, raw: str) -> tuple[Start, Event] | None:
    """Return the job that a `?` opens, and the event for it if it is open already or has no arguments.

    Return None for an input without `?`.
    """
    if isinstance(meaning, Scan) and meaning.is_look_up:
        match = meaning.matches[0]
        if match.kind == LOCATION:
            return Start("locations", {"location_code": match.key}), meaning
        return Start("look_up", {"product_number": match.key} if match.kind == PRODUCT else {}), meaning
    if isinstance(meaning, Text | UnknownCode | RefusedInput) and raw.lstrip(" ")[:1] == "?":
        words = raw.strip(" ?")
        return (Start("look_up", {"search": words}), Text(words)) if words else (Start("look_up", {}), Opened({}))
    return None


def _has_back_key(stacked_job: StackedJob) -> bool:
    """Return whether the page of a job offers the way back."""
    return any(hint.letter == BACK.letter for hint in stacked_job.job.view(stacked_job.state).key_hints)


def _choice_hint(accepts: Accepts) -> Msg | None:
    """Return which numbers choose something on the page."""
    last = "" if accepts.choices < 2 else f"-{accepts.choices}"
    return msg("input.type", keys=f"1{last}") if accepts.choices else None


_REFUSED_BESIDE_QUESTION = (
    "input.scan_not_accepted", "input.answer_first", "input.no_command", "input.type_choice",
    "input.location_or_typed",
)  # fmt: skip
"""Reasons (message ids) of refusals that leave the question of the session as it is."""

_UNUSED_VERDICTS = ("pick.waiting", "pick.answer_first", "pick.prompt_return")
"""Verdicts of jobs that have no use for words, beside those that something is unknown."""


def _is_unused(result: JobResult, before: Sequence[StackedJob], after: Sequence[StackedJob]) -> bool:
    """Return whether a job knows nothing of that name, or did not react."""
    if result.verdict:
        text_id = result.verdict.text.id
        return result.verdict.kind == WRONG and (text_id.endswith(".unknown") or text_id in _UNUSED_VERDICTS)
    has_written = any(event.writes or event.resolutions for event in result.events)
    return list(before) == list(after) and not has_written


def unless_incomplete(result: JobResult, meaning: Meaning, is_complete: Callable[[], bool]) -> JobResult:
    """Replace a verdict that something does not exist while the store has not been read whole."""
    before = result.verdict
    after = before and _unknown_yet(before, meaning)
    if after == before or is_complete():
        return result
    events = [event._replace(verdict=after) if event.verdict == before else event for event in result.events]
    return replace(result, events=events, verdict=after)


def _typed(meaning: Text | UnknownCode) -> str:
    return (meaning.text if isinstance(meaning, Text) else meaning.code).strip()


def _unknown_yet(verdict: Verdict, meaning: Meaning) -> Verdict:
    """Return a verdict with "unknown" replaced by "unknown yet"."""
    text_id, name = verdict.text.id, str(verdict.text.args[0][1]) if verdict.text.args else ""
    if text_id == "sign_in.unknown":
        is_pin = isinstance(meaning, Text | UnknownCode) and is_pin_shaped(_typed(meaning)) and _typed(meaning) != name
        return verdict._replace(text=msg("sign_in.pin_later" if is_pin else "sign_in.unknown_yet", asked=name))
    if isinstance(meaning, Scan) or not text_id.endswith((".unknown", ".not_found")):
        return verdict
    return verdict._replace(text=msg("session.unknown_yet", text=name))


def add_price(result: JobResult, meaning: Meaning) -> JobResult:
    """Add the price on a label to the verdict if no quantity could be calculated from it."""
    price = meaning.matches[0].price if isinstance(meaning, Scan) else None
    if price is None or result.verdict is None:
        return result
    return replace(result, verdict=result.verdict.wrap("session.price_label", price=money_message(price)))


def add_divided_price(result: JobResult, meaning: Meaning) -> JobResult:
    """Add the price on a label, and the unit price that it was divided by, to the verdict on its quantity."""
    match = meaning.matches[0] if isinstance(meaning, Scan) else None
    if match is None or match.divided_price is None or match.unit_price is None:
        return result
    if result.verdict is None or result.verdict.kind == WRONG:
        return result
    args: dict[str, Any] = {
        "price": money_message(match.divided_price),
        "each": money_message(match.unit_price),
        "quantity": match.quantity,
    }
    if match.unit:
        return replace(result, verdict=result.verdict.wrap("session.price_used", unit=match.unit, **args))
    return replace(result, verdict=result.verdict.wrap("session.price_used_plain", **args))


class ScanRemarks:
    """Remarks on how a code was read: the keyboard layout once in a session, each guess."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts
        self._is_layout_reported = False

    def add(self, meaning: Meaning) -> None:
        """Add to the verdict that a scan came in another keyboard layout, or was completed to a known code."""
        if not isinstance(meaning, Scan):
            return
        match = meaning.matches[0]
        if match.layout:
            self.report_layout(match.code, match.label or match.key)
        if meaning.is_look_up:
            return
        if match.is_guess:
            label = match.label or match.key
            verdict = self._verdicts.current or Verdict(INFO, raw(label))
            self._verdicts.current = verdict.wrap("session.guessed", code=match.code, label=label)
        self._name_kinds(meaning)

    def report_layout(self, code: str, label: str) -> None:
        """Add to the verdict that a code came in another keyboard layout, once in a session."""
        if self._is_layout_reported:
            return
        self._is_layout_reported = True
        verdict = self._verdicts.current or Verdict(INFO, raw(label))
        self._verdicts.current = verdict.wrap("session.keyboard_layout", code=code, label=label)

    def _name_kinds(self, scan: Scan) -> None:
        """Name the kind of a record whose code others have too; if the page refuses all, name the second as well."""
        verdict, first = self._verdicts.current, scan.matches[0]
        if verdict is None:
            return
        if first.is_shared_code and first.kind != PRODUCT:
            self._verdicts.current = verdict.wrap("session.read_as", what=name_of(first))
        second = next((each for each in scan.matches if is_other_kind(each, first)), None)
        if second and verdict.kind == WRONG:
            self._verdicts.current = verdict.wrap("session.or_record", what=name_of(second))
