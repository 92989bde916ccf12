"""Scans of several lines: lines are held or taken back until it is decided what their scan means.

A scan of one line is that line. A scan of several lines is several scans if each line is a code by itself, as from a
scanner with a memory; otherwise it is unknown as a whole, and none of its lines does anything. So that nobody waits:

* a line that a person ended is never held (`Line.scan_number` is 0);
* a plain code is held while a next line may begin at the pace of its characters, which is not at all if it came in one
  read. If the rest of its scan is no code, all that it did is taken back;
* all else (a number, a letter, words, Enter, a badge, a printed command) is held until nothing came for a tenth of a
  second.

A link that stalls makes longer pauses between the lines of a scan. What comes at scanner pace within `LATE_LINE_S` of
an unknown scan, and is no code, is a part of it; after several lines also a short line in one read within
`LAST_LINE_S`. After a known code that was refused, only a short line is.

A page that such a line opened is closed again, and each job goes back to its state before that line. A job that has
written undoes its steps first, as after `u`; an order that the line opened is left as after `b`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, NamedTuple

from aisle.jobs import COUNTS_SCANS
from aisle.jobs.view import WRONG, Msg, msg
from aisle.scan.grammar import parse_aim_prefix
from aisle.scan.grammar_and_meaning_types import Back, Command, RefusedInput, Text, UnknownCode
from aisle.scan.inputs_and_line_grouping import (
    MIN_SCAN,
    TYPING_PAUSE_S,
    DecodedInput,
    EscapeInput,
    Key,
    Line,
    OpenLine,
    Silence,
)
from aisle.session.apply_input import InputHandler
from aisle.session.event_runner import SessionPart
from aisle.session.job_stack import StackedJob
from aisle.session.meaning_resolver import MeaningResolver
from aisle.session.page import Page, PageSnapshot
from aisle.session.scanned_or_typed_lines import FAST_S, ScannedOrTyped, ShortCodes
from aisle.session.store_connection import StoreConnection

NEXT_TYPED_LINE_S: Final = 0.3
"""Seconds after a useless line within which no person begins the next one: over a slow link it is of the same scan."""

LATE_LINE_S: Final = 1.0
"""Seconds after an unknown scan within which a link that stalls may bring more of it."""

TYPED_LINE_S: Final = 0.6
"""The same for a single character and Enter at the pace of a person, who may have read by then what was refused."""

LAST_LINE_S: Final = 5.0
"""Seconds after an unknown scan of several lines within which a short line in one read belongs to it: nobody types so
fast."""

SHORT_LINE: Final = 2
"""Most characters of a line that may be an answer; a longer number is asked back anyway."""

_SHORT_NUMBER: Final = re.compile(r"[+-]?\d{1,4}[*.,]?\d{0,3}|[+-]?[.,]\d{1,3}", re.ASCII)
"""A number as people type it, also one that is no quantity (`-3`)."""


_REFUSED_NOW: Final = ("input.after_refused_scan", "input.scan_not_accepted", "input.choices_changed")
"""Reasons (message ids) that hold only for the moment."""


class _HeldScan(NamedTuple):
    """Lines of a scan that is not decided yet."""

    scan_number: int = 0
    lines: tuple[Line, ...] = ()
    has_enter: bool = False
    """Whether an empty line was among them."""
    page: tuple[Any, ...] = ()
    """Identity of the page that they were scanned on."""
    applied: tuple[AppliedLine, ...] = ()
    """What the lines of the same scan did that were applied as codes."""
    is_secret: bool = False
    """Whether one of them was a secret."""
    is_refused: bool = False
    """Whether the scan is unknown as a whole, with all of it that still comes."""
    refused: int = 0
    """Lines that were refused so far."""
    refused_codes: int = 0
    """Codes among them."""
    first_bad_text: str = ""
    """First of them that is no code."""
    is_bad_text_label: bool = False
    """Whether that is the label of a location, too short to be taken among other lines."""
    is_undone: bool = False
    """Whether lines that were applied are taken back."""
    is_late: bool = False
    """Whether it began so soon after an unknown scan that it may be a part of that."""


@dataclass(eq=False)
class MultiLineScans(SessionPart):
    """Lines of a scan that are held, and applied or refused together."""

    _resolver: MeaningResolver
    _scanned_or_typed: ScannedOrTyped
    _short_codes: ShortCodes
    _inputs: InputHandler
    _undo: ScanUndo

    def __post_init__(self) -> None:
        self._held = _HeldScan()
        self._useless_line_at = -math.inf
        """End of the last line at a person's pace that was of no use."""
        self._unknown_scan_until = -math.inf
        """Monotonic moment until which more of an unknown scan may come."""
        self._guards_short_only = False
        """Whether that scan is a known code, so that only a short line may be more of it."""
        self._refused_answer = ""
        """Line refused for it last if it was a number or a single letter."""
        self._is_unknown_multi_line = False
        """Whether the unknown scan had several lines."""

    @property
    def has_held_lines(self) -> bool:
        """Return whether lines are held."""
        return bool(self._held.lines)

    def apply(self, items: Sequence[DecodedInput], at: float) -> None:
        """Apply or hold inputs in their order; the batch counts them."""
        for item in items:
            self._batch.handled += 1
            self._apply_item(item, at)
        last = items[-1] if items else None
        has_next_line = isinstance(last, OpenLine) and bool(last.text)
        if self._held.lines and not (has_next_line and self._are_all_codes(self._held, has_next_line=True)):
            self._decide(at, Silence(self._held.scan_number, 0.0), has_next_line=has_next_line)

    def drop_held(self) -> None:
        """Drop the lines that are held: they are told to be scanned again."""
        self._held = _HeldScan()

    def skip_silence(self, items: Sequence[DecodedInput]) -> bool:
        """Return whether the inputs only say that nothing came while nothing is held: nothing changes then."""
        silences = [item for item in items if isinstance(item, Silence)]
        if not items or self._held.lines or self._held.has_enter or len(silences) < len(items):
            return False
        if any(silence.is_over for silence in silences):
            self._held = _HeldScan()
        return True

    def _apply_item(self, item: DecodedInput, at: float) -> None:
        if isinstance(item, Silence):
            self._decide(at, item)
        elif not isinstance(item, OpenLine) and item.scan_number:
            self._hold(item, at)
        elif isinstance(item, OpenLine) and self._held.is_refused:
            self._inputs.follow_typing(item.text)
        elif isinstance(item, Line):
            self._apply_typed_line(item, at)
        elif isinstance(item, Key) and item.name == "enter" and at - self._useless_line_at < NEXT_TYPED_LINE_S:
            self._useless_line_at = at  # an empty line of the same scan
        else:
            if not isinstance(item, OpenLine):
                self._unknown_scan_until = -math.inf  # a person has reacted
            self._inputs.apply(item, at)

    def _apply_typed_line(self, item: Line, at: float) -> None:
        """Apply a line at a person's pace, but refuse it right after a useless one: then a scanner sent both."""
        self._unknown_scan_until = -math.inf  # a person has reacted
        is_too_soon = 0 < item.started_at - self._useless_line_at < NEXT_TYPED_LINE_S
        if is_too_soon and item.longest_pause and not self._scanned_or_typed.is_code(item.text):
            line = self._inputs.take_own_line(item)
            if line is not None:
                is_secret = self._page.is_secret(line.text)
                reason = _too_soon_message(line, is_secret=is_secret)
                self._inputs.refuse_lines((line,), reason, at, is_secret=is_secret)
            self._useless_line_at = item.ended_at
            return
        self._inputs.apply(item, at)
        is_useless = item.longest_pause > 0 and self._is_useless(parse_aim_prefix(item.text.strip(" ")).code)
        self._useless_line_at = item.ended_at if is_useless else -math.inf

    def _hold(self, item: Line | Key | EscapeInput, at: float) -> None:
        """Add an input to its scan. Enter counts as an empty line; other keys inside a scan do nothing."""
        if self._held.scan_number != item.scan_number or self._begins_anew(item):
            self._decide(at, Silence(self._held.scan_number, 0.0, is_over=True))
            self._held = _HeldScan(item.scan_number, page=self._page.identity, is_late=self._is_late(item, at))
        held = self._held
        if held.is_refused:
            if isinstance(item, Line):
                self._refuse_further(self._with_refused(held, item), item, at)
                self._unknown_scan_until, self._guards_short_only = item.ended_at + LATE_LINE_S, False
        elif isinstance(item, Line):
            line = self._inputs.take_own_line(item)
            if line is not None:
                is_secret = held.is_secret or self._page.is_secret(line.text)
                page = held.page if held.lines else self._page.identity  # without the rows that followed typing
                self._held = held._replace(lines=(*held.lines, line), page=page, is_secret=is_secret)
        elif isinstance(item, Key) and item.name == "enter":
            self._held = held._replace(has_enter=True)

    def _is_late(self, item: Line | Key | EscapeInput, at: float) -> bool:
        """Return whether an input may belong to the unknown scan before it."""
        is_short = isinstance(item, Line) and len(item.text.strip(" ")) <= SHORT_LINE
        if self._guards_short_only and not is_short:
            return False
        if not isinstance(item, Line):
            return at < self._unknown_scan_until
        if _is_typed_answer(item):
            return item.started_at < self._unknown_scan_until - LATE_LINE_S + TYPED_LINE_S
        is_in_one_read = is_short and item.longest_pause < FAST_S
        more = LAST_LINE_S - LATE_LINE_S if is_in_one_read and self._is_unknown_multi_line else 0.0
        return item.started_at < self._unknown_scan_until + more

    def _begins_anew(self, item: Line | Key | EscapeInput) -> bool:
        """Return whether a line is a later scan behind what its scanner sent after the terminator of the last one."""
        if not isinstance(item, Line) or item.longest_pause < LATE_LINE_S or not item.before_pause:
            return False
        return self._is_code_line(item.text[item.before_pause :])

    def _refuse_further(self, held: _HeldScan, line: Line, at: float) -> None:
        """Refuse one more line of a refused scan; if it changes what is said of the scan, or comes late, say so."""
        before, reason = _bad_line_message(self._held), _bad_line_message(held)
        is_late = line.longest_pause >= LATE_LINE_S
        is_second = self._held.is_late and self._held.refused == 1  # the first one was refused as too soon
        if reason is None and (is_late or before or is_second) and not held.is_secret:
            reason = msg("input.later_lines_undone" if held.is_undone else "input.several_lines")
        if reason is not None and (is_late or reason != before):
            self._inputs.take_own_line(line)
            self._inputs.refuse_further(line, reason, at)
        else:
            self._inputs.end_typing(line.text)
        self._held = held
        self._is_unknown_multi_line = True

    def _with_refused(self, held: _HeldScan, *lines: Line) -> _HeldScan:
        """Return the scan with these lines added to its refused ones."""
        for line in lines:
            is_code = not held.is_secret and self._is_code_line(line.text)
            is_first_bad = not is_code and not held.first_bad_text
            is_label = is_first_bad and not held.is_secret and self._short_codes.is_short_label(line.text)
            held = held._replace(
                is_bad_text_label=is_label or (held.is_bad_text_label and not is_first_bad),
                refused=held.refused + 1,
                refused_codes=held.refused_codes + is_code,
                first_bad_text=held.first_bad_text or ("" if is_code else line.text.strip(" ")),
            )
        return held

    def _is_code_line(self, text: str) -> bool:
        return self._scanned_or_typed.is_code(text) or self._scanned_or_typed.is_known_code(text)

    def _are_all_codes(self, held: _HeldScan, *, has_next_line: bool = False) -> bool:
        """Return whether each line is a code; one of several may also be a number that the store knows."""
        texts = [line.text for line in held.lines]
        if len(texts) == 1 and not (held.applied or held.is_late or has_next_line):
            return self._scanned_or_typed.is_code(texts[0], is_one=True)
        are_labels_taken = not held.is_late and (
            has_next_line or bool(held.applied) or any(self._is_code_line(text) for text in texts)
        )
        return all(
            self._is_code_line(text)
            or _is_noise(text)
            or (are_labels_taken and bool(self._short_codes.text_with_symbology(text)))
            for text in texts
        )

    def _decide(self, at: float, silence: Silence, *, has_next_line: bool = False) -> None:
        """Apply or refuse what is held once nothing that follows can change the decision."""
        held = self._held
        if silence.is_over:
            self._held = _HeldScan()
        if not held.lines:
            self._decide_enter(held, at, silence)
            return
        last, are_codes = held.lines[-1], self._are_all_codes(held, has_next_line=has_next_line)
        if not are_codes and len(held.lines) + len(held.applied) + held.has_enter + has_next_line + held.is_late > 1:
            held = self._with_refused(held, *held.lines)
            self._keep(silence, held._replace(lines=(), is_refused=True))
            self._refuse(held, at)
        elif silence.is_over or (
            are_codes and silence.seconds >= last.next_line_within and self._may_apply_at_once(held.lines)
        ):
            self._keep(silence, held._replace(lines=()))
            applied = self._apply_held(held, at, are_codes=are_codes)
            if not silence.is_over:
                self._held = self._held._replace(applied=(*self._held.applied, *applied))

    def _may_apply_at_once(self, lines: Sequence[Line]) -> bool:
        """Return whether lines may be applied though their scan may go on: then that is taken back."""
        is_long = self._scanned_or_typed.is_long_code(lines[-1].text)
        return is_long and all(self._scanned_or_typed.can_be_taken_back(line.text) for line in lines)

    def _decide_enter(self, held: _HeldScan, at: float, silence: Silence) -> None:
        """Apply an Enter that came without lines unless it is a part of another scan."""
        if silence.is_over and held.has_enter and not (held.applied or held.is_refused or held.is_late):
            self._inputs.apply(Key("enter"), at)
        elif held.has_enter and held.is_late:
            self._unknown_scan_until = at + LATE_LINE_S

    def _keep(self, silence: Silence, held: _HeldScan) -> None:
        """Keep a scan that may go on."""
        if not silence.is_over:
            self._held = held

    def _refuse(self, held: _HeldScan, at: float) -> None:
        last = held.lines[-1]
        if self._undo.take_back(held.applied):
            held = _without_applied(held)
            self._held = _without_applied(self._held)
        reason = self._refusal_message(held)
        text = last.text.strip(" ")
        answer = text if len(held.lines) == 1 and _is_answer(text) else ""
        are_letters = answer.isalpha() and self._refused_answer.isalpha()
        is_repeated = bool(answer) and (are_letters or answer == self._refused_answer)  # it extends the wait once
        if not is_repeated and not (len(held.lines) == 1 and _is_typed_answer(last)):
            self._unknown_scan_until = last.ended_at + LATE_LINE_S
        self._refused_answer = answer
        self._guards_short_only = self._guards_short_only and held.is_late
        if reason.id != "input.too_soon":
            self._is_unknown_multi_line = True
        self._inputs.refuse_lines(held.lines, reason, at, is_secret=held.is_secret)

    def _refusal_message(self, held: _HeldScan) -> Msg:
        """Return what the lines were taken for; one line after a refused code is named."""
        if bad_line := _bad_line_message(held):
            return bad_line
        if held.applied or held.is_undone:
            return msg("input.later_lines_undone" if held.is_undone else "input.later_lines")
        if held.is_late and len(held.lines) == 1 and not held.is_secret and (bad := self._bad_code(held.lines[0])):
            return bad
        if held.is_late and len(held.lines) == 1:
            return _too_soon_message(held.lines[0], is_secret=held.is_secret)
        return msg("input.several_lines")

    def _bad_code(self, line: Line) -> Msg | None:
        """Return what is wrong with a line that looks like a code, and would be refused at any time."""
        text, accepts = line.text.strip(" "), self._page.accepts()
        if self._scanned_or_typed.is_unknown_number(line):
            return msg("count.unknown", code=text)
        if len(text) < MIN_SCAN or _is_answer(text):
            return None
        meaning = self._resolver.resolve(text)
        if isinstance(meaning, RefusedInput) and meaning.reason not in _REFUSED_NOW:
            return Msg(meaning.reason, (("text", meaning.text),))
        is_unknown = isinstance(meaning, UnknownCode) or (
            isinstance(meaning, Text) and not (accepts.text or accepts.search or accepts.follows_typing)
        )
        return msg("count.unknown", code=text) if is_unknown else None

    def _apply_held(self, held: _HeldScan, at: float, *, are_codes: bool) -> list[AppliedLine]:
        """Apply held lines, on another page than they were scanned on only codes; return what they did."""
        applied: list[AppliedLine] = []
        if not are_codes and self._page.identity != held.page:
            self._inputs.refuse_lines(held.lines, msg("input.choices_changed"), at, is_secret=held.is_secret)
            return applied
        for line in held.lines:
            if len(held.lines) > 1 and _is_noise(line.text) and not self._scanned_or_typed.is_code(line.text):
                self._inputs.refuse_lines((line,), msg("input.empty_scan"), at, is_secret=held.is_secret)
            else:
                self._undo.begin_line()
                self._inputs.apply_line(self._as_label(line, held), at)
                applied.append(self._undo.end_line())
                self._is_unknown_multi_line = False
                self._guard_after(line)
        return applied

    def _as_label(self, line: Line, held: _HeldScan) -> Line:
        """Return a short label of a location among other codes as a scanner sends it, so that it answers nothing."""
        if len(held.lines) + len(held.applied) == 1 or self._is_code_line(line.text):
            return line
        return line._replace(text=self._short_codes.text_with_symbology(line.text) or line.text)

    def _guard_after(self, line: Line) -> None:
        """Guard against more of a line that was refused; after a code, only against a short line."""
        text = parse_aim_prefix(line.text.strip(" ")).code
        is_code = len(text) > SHORT_LINE and self._is_refused() and self._scanned_or_typed.is_code(text, is_one=True)
        self._unknown_scan_until = line.ended_at + LATE_LINE_S if is_code or self._is_useless(text) else -math.inf
        self._guards_short_only, self._refused_answer = is_code, ""

    def _is_useless(self, text: str) -> bool:
        """Return whether a line was refused and is no answer and no code: it may begin a longer scan."""
        return self._is_refused() and not _is_answer(text) and not self._scanned_or_typed.is_code(text)

    def _is_refused(self) -> bool:
        verdict = self._verdicts.current
        return verdict is not None and verdict.kind == WRONG


def _without_applied(held: _HeldScan) -> _HeldScan:
    """Return the scan after its applied lines are taken back: they are refused codes of it."""
    count = len(held.applied)
    refused = held._replace(refused=held.refused + count, refused_codes=held.refused_codes + count)
    return refused._replace(applied=(), is_undone=held.is_undone or count > 0)


def _bad_line_message(held: _HeldScan) -> Msg | None:
    """Return which line is no code in a burst of scans that are codes for the most part; None for another scan."""
    bad = held.refused - held.refused_codes
    if held.is_undone and (held.refused, bad) == (2, 1):
        return msg("input.later_lines_undone")
    if held.is_secret or not held.first_bad_text or held.refused_codes < bad:
        return None
    id_ = "input.short_label" if held.is_bad_text_label else "input.bad_line"
    return msg(id_, count=held.refused, text=held.first_bad_text)


def _is_noise(text: str) -> bool:
    """Return whether a line has no character that a scanner sends in a code: a bad link put it there."""
    return not any(" " <= char <= "~" for char in text)


def _is_answer(text: str) -> bool:
    """Return whether a text is what a person answers: one letter, or a short number."""
    return (len(text) == 1 and text.isalnum()) or bool(_SHORT_NUMBER.fullmatch(text))


def _is_typed_answer(line: Line) -> bool:
    """Return whether a line is an answer at the pace of a person; one character has the pause before its Enter."""
    return line.longest_pause >= TYPING_PAUSE_S and _is_answer(line.text.strip(" "))


def _too_soon_message(line: Line, *, is_secret: bool) -> Msg:
    return msg("input.too_soon", text="*" * len(line.text) if is_secret else line.text)


_LONG_HISTORY = 50
"""Steps from which a job may drop the oldest one."""


class AppliedLine(NamedTuple):
    """What a line did."""

    before: PageSnapshot
    has_written: bool
    job_id: str
    """Job on the page after it."""
    history: Any
    """Steps of that job after it."""
    step_count: int
    """Number of them that the line added."""


class ScanUndo:
    """Record of what lines do, with which it is taken back."""

    def __init__(self, page: Page, store: StoreConnection, inputs: InputHandler) -> None:
        self._page = page
        self._store = store
        self._inputs = inputs
        self._before = page.snapshot()
        self._written_before = 0

    def begin_line(self) -> None:
        """Remember what is before a line."""
        self._before, self._written_before = self._page.snapshot(), self._store.unit_of_work.written

    def end_line(self) -> AppliedLine:
        """Return what the line did."""
        top, has_written = self._page.top, self._store.unit_of_work.written != self._written_before
        earlier = next((each for each in self._before.jobs if each.job_id == top.job_id), None)
        before, after = _history(earlier) if earlier else (), _history(top)
        count = _count_new_steps(before, after) if has_written and top.job.name in COUNTS_SCANS else 0
        return AppliedLine(self._before, has_written, top.job_id, after, count)

    def take_back(self, lines: Sequence[AppliedLine]) -> bool:
        """Take back what lines did, the last one first; return False if other inputs came since."""
        if not lines or not self._can_go_back(lines):
            return False
        undone: set[str] = set()
        for line in reversed(lines):
            if line.has_written:
                self._undo_steps(line)
            if line.has_written and not self._is_as_before(line.before):
                undone.add(line.job_id)
            self._go_back(line.before, undone)
        return True

    def _can_go_back(self, lines: Sequence[AppliedLine]) -> bool:
        """Return whether the person is the same, and the job that wrote has done nothing since."""
        first, last, now = lines[0].before.jobs[0], lines[-1], self._page.top
        is_last_step = now.job_id == last.job_id and _history(now) == last.history
        return self._page.stack.jobs[0].job is first.job and (is_last_step or not last.has_written)

    def _undo_steps(self, line: AppliedLine) -> None:
        """Undo what the job on the page has written; leave it if the line opened it."""
        for _ in range(line.step_count):
            self._inputs.take_back(Command("u"))
        if all(line.job_id != each.job_id for each in line.before.jobs):
            self._inputs.take_back(Back())

    def _is_as_before(self, before: PageSnapshot) -> bool:
        """Return whether the job on the page has as many steps as before, so that it may go back to that state."""
        top, count = self._page.top, len(_history(self._page.top))
        return any(each.job_id == top.job_id and len(_history(each)) == count for each in before.jobs)

    def _go_back(self, before: PageSnapshot, undone: set[str]) -> None:
        """Put the page back as it was, but for the jobs that have undone their own steps."""
        now = {each.job_id: each for each in self._page.stack.jobs}
        jobs = [now.get(each.job_id, each) if each.job_id in undone else each for each in before.jobs]
        self._store.unit_of_work.go_back(jobs)
        self._page.question = before.question


def _history(stacked_job: StackedJob) -> Any:
    """Return the steps of a job that counts goods; none for another one."""
    return getattr(stacked_job.state, "history", ())


def _count_new_steps(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Return how many steps a line added: one, or two if it booked the goods in hand before it took others."""
    if before == after or len(before) >= _LONG_HISTORY:  # the oldest step may be gone
        return int(before != after)
    kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    return min(2, len(after) - kept)
