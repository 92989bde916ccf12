"""Lines of one scan that are held until it is decided what the scan means.

A scan of one line is that line. A scan of several lines is several scans where each line is a code by itself (a scanner
with a memory sends many), and unknown as a whole otherwise: none of its lines answers, counts, chooses or opens
anything. So that nobody waits for it:

* a line that a person ended is never held (`Line.scan` is 0);
* a plain code is held as long as a next line may begin at the pace of its characters, which is not at all where it came
  in one read: a scan whose first line is a code of the store, cut off by the line right behind that, counts as that
  code, and the rest of it is refused with a sentence of its own;
* all else (a number, a letter, words, Enter) is held until nothing came for a tenth of a second.

A link that stalls leaves longer pauses between the lines of a scan: what comes at scanner pace within `STALLED_S` of a
scan that is unknown, and is no code, is a part of that.

A part of aisle.session.session.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from aisle.jobs.view import WRONG, Msg, msg
from aisle.scan.grammar import parse_aim_prefix
from aisle.scan.inputs import DecodedInput, EscapeInput, Key, Line, OpenLine, Silence
from aisle.session.apply_input import (
    apply_item,
    apply_line,
    is_code,
    is_known_code,
    is_long_code,
    refuse_lines,
    take_own_line,
)
from aisle.session.job_stack import is_secret_text
from aisle.session.typed_line import HeldScan, page_identity

if TYPE_CHECKING:
    from aisle.session.session_base import SessionBase

SAME_SCAN_S: Final = 0.3
"""Seconds after the end of a useless line within which no person begins the next one: over a slow link that is a scan,
whose line ends may be two characters."""

LATE_LINE_S: Final = 1.0
"""Seconds after the end of an unknown scan within which a link that stalls may still bring more of it."""


def apply_items(session: SessionBase, items: Sequence[DecodedInput], at: float) -> int:
    """Applies inputs in their order, or holds them; how many of them, for none comes after one that is not kept."""
    for number, item in enumerate(items, 1):
        if isinstance(item, Silence):
            _decide_held(session, at, item)
        elif not isinstance(item, OpenLine) and item.scan_number:
            _hold_item(session, item, at)
        elif isinstance(item, OpenLine) and session._held_scan.is_refused:
            session._typed_line.update(item.text)  # no list follows it, and no job answers it
        elif isinstance(item, Line):
            _apply_typed_line(session, item, at)
        elif isinstance(item, Key) and item.name == "enter" and at - session._useless_line_at < SAME_SCAN_S:
            session._useless_line_at = at  # an empty line of the same scan
        else:
            if not isinstance(item, OpenLine):
                session._unknown_scan_until = 0.0  # a person has answered
            apply_item(session, item, at)
        if session._batch.failed:
            session._held_scan = HeldScan()
            return number
    last = items[-1] if items else None
    is_open = isinstance(last, OpenLine) and bool(last.text)
    if session._held_scan.lines and not (is_open and _are_all_codes(session, session._held_scan)):
        _decide_held(session, at, Silence(session._held_scan.scan, 0.0), is_open=is_open)
    return len(items)


def _apply_typed_line(session: SessionBase, item: Line, at: float) -> None:
    """Takes a line at a person's pace. Nobody begins the next one so soon after one of no use: over a slow link, both
    are lines of one scan."""
    session._unknown_scan_until = 0.0  # a person has answered
    if (
        0 < item.started_at - session._useless_line_at < SAME_SCAN_S
        and item.longest_pause
        and not is_code(session, item.text)
    ):
        line = take_own_line(session, item)
        if line is not None:
            is_secret = is_secret_text(session._stack.jobs, line.text)
            refuse_lines(session, (line,), _too_soon_message(line, is_secret=is_secret), at, is_secret=is_secret)
        session._useless_line_at = item.ended_at
        return
    apply_item(session, item, at)
    session._useless_line_at = item.ended_at if item.longest_pause and _is_useless_line(session, item) else -math.inf


def is_only_silence(session: SessionBase, items: Sequence[DecodedInput]) -> bool:
    """Whether these only say that nothing came, and nothing is held: no answer changes."""
    if (
        not items
        or session._held_scan.lines
        or session._held_scan.has_enter
        or not all(isinstance(item, Silence) for item in items)
    ):
        return False
    session._held_scan = (
        HeldScan() if any(item.is_over for item in items if isinstance(item, Silence)) else session._held_scan
    )
    return True


def _hold_item(session: SessionBase, item: Line | Key | EscapeInput, at: float) -> None:
    """Adds an input to its scan. Enter counts as an empty line of the scan; other keys inside a scan do nothing."""
    if session._held_scan.scan != item.scan_number:
        _decide_held(session, at, Silence(session._held_scan.scan, 0.0, is_over=True))
        is_late = (item.started_at if isinstance(item, Line) else at) < session._unknown_scan_until
        session._held_scan = HeldScan(item.scan_number, page=page_identity(session._stack.jobs), is_late=is_late)
    held = session._held_scan
    if held.is_refused:
        if isinstance(item, Line):
            session._typed_line.end(item.text)
            session._unknown_scan_until = item.ended_at + LATE_LINE_S
    elif isinstance(item, Line):
        line = take_own_line(session, item)
        if line is not None:
            is_secret = held.is_secret or is_secret_text(session._stack.jobs, line.text)
            page = held.page if held.lines else page_identity(session._stack.jobs)  # its list follows it no more
            session._held_scan = held._replace(lines=(*held.lines, line), page=page, is_secret=is_secret)
    elif isinstance(item, Key) and item.name == "enter":
        session._held_scan = held._replace(has_enter=True)


def _are_all_codes(session: SessionBase, held_scan: HeldScan) -> bool:
    is_one = len(held_scan.lines) == 1 and not held_scan.applied and not held_scan.is_late
    texts = [line.text for line in held_scan.lines]
    if is_one:
        return is_code(session, texts[0], is_one=True)
    return all(is_code(session, text) or is_known_code(session, text) or _is_without_code(text) for text in texts)


def _is_without_code(text: str) -> bool:
    """Whether a line holds nothing that a scanner sends of a code: a bad link put it there."""
    return not any(" " <= char <= "~" for char in text)


def _decide_held(session: SessionBase, at: float, silence: Silence, *, is_open: bool = False) -> None:
    """Takes or refuses what is held, once nothing more of it can change that. `is_open`: a further line has begun."""
    held = session._held_scan
    if silence.is_over:
        session._held_scan = HeldScan()
    if not held.lines:
        if silence.is_over and held.has_enter and not (held.applied or held.is_refused or held.is_late):
            apply_item(session, Key("enter"), at)
        elif held.has_enter and held.is_late:
            session._unknown_scan_until = at + LATE_LINE_S
        return
    last, are_codes = held.lines[-1], _are_all_codes(session, held)
    if not are_codes and len(held.lines) + held.applied + held.has_enter + is_open + held.is_late > 1:
        _store_held(session, silence, held._replace(lines=(), is_refused=True))
        why = _refusal_message(session, held)
        is_letter = len(held.lines) == 1 and _is_letter(last)
        if not (is_letter and session._is_letter_refused):  # one that somebody presses again makes it no longer
            session._unknown_scan_until = last.ended_at + LATE_LINE_S
        session._is_letter_refused = is_letter
        if why.id != "input.too_soon":
            session._is_unknown_multi_line = True
        refuse_lines(session, held.lines, why, at, is_secret=held.is_secret)
    elif silence.is_over or (
        are_codes and silence.seconds >= last.next_line_within and is_long_code(session, last.text)
    ):
        _store_held(session, silence, held._replace(lines=(), applied=held.applied + len(held.lines)))
        _apply_held(session, held, at, are_codes=are_codes)


def _refusal_message(session: SessionBase, held_scan: HeldScan) -> Msg:
    """Says what the lines were taken for: one line right after an unknown code may be of that, or not."""
    if held_scan.applied:
        return msg("input.lines_after")
    is_one = held_scan.is_late and len(held_scan.lines) == 1
    if is_one and (not session._is_unknown_multi_line or _is_letter(held_scan.lines[0])):
        return _too_soon_message(held_scan.lines[0], is_secret=held_scan.is_secret)
    return msg("input.lines")


def _is_letter(line: Line) -> bool:
    return len(line.text) == 1 and line.text.isalpha()


def _too_soon_message(line: Line, *, is_secret: bool) -> Msg:
    return msg("input.lines") if is_secret else msg("input.too_soon", text=line.text)


def _apply_held(session: SessionBase, held_scan: HeldScan, at: float, *, are_codes: bool) -> None:
    """Applies what was held. On another page than it was said on, only a code is still the same."""
    if not are_codes and page_identity(session._stack.jobs) != held_scan.page:
        refuse_lines(session, held_scan.lines, msg("input.moved"), at, is_secret=held_scan.is_secret)
        return
    for line in held_scan.lines:
        if len(held_scan.lines) > 1 and _is_without_code(line.text) and not is_code(session, line.text):
            refuse_lines(session, (line,), msg("input.nothing"), at, is_secret=held_scan.is_secret)
        else:
            apply_line(session, line, at)
            session._is_unknown_multi_line = False
            session._unknown_scan_until = line.ended_at + LATE_LINE_S if _is_useless_line(session, line) else 0.0
        if session._batch.failed:
            return


def _is_useless_line(session: SessionBase, line: Line) -> bool:
    """Whether a line that was taken is of no use, and may begin a longer scan: it is no number, no letter, no code."""
    text, verdict = parse_aim_prefix(line.text.strip(" ")).code, session._verdict
    is_short = text.isdecimal() or (len(text) == 1 and text.isalnum())
    return verdict is not None and verdict.kind == WRONG and not is_short and not is_code(session, text)


def _store_held(session: SessionBase, silence: Silence, held_scan: HeldScan) -> None:
    """Remembers a scan that may go on."""
    if not silence.is_over:
        session._held_scan = held_scan
