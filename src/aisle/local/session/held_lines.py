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

A part of aisle.local.session.session.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from aisle.jobs.view import WRONG, Msg, msg
from aisle.local.session.house import hidden
from aisle.local.session.open_line import HeldLines, meant_for
from aisle.local.session.taking import (
    end_line,
    is_code,
    is_known_code,
    is_plain_code,
    refuse_lines,
    take_line,
    take_one,
)
from aisle.scan.grammar import aim_of
from aisle.scan.inputs import Decoded, Escape, Key, Line, Quiet, Typed

if TYPE_CHECKING:
    from aisle.local.session.desk import Desk

SLOW_S: Final = 0.3
"""Seconds after the end of a useless line within which no person begins the next one: over a slow link that is a scan,
whose line ends may be two characters."""

STALLED_S: Final = 1.0
"""Seconds after the end of an unknown scan within which a link that stalls may still bring more of it."""


def take_items(desk: Desk, items: Sequence[Decoded], at: float) -> int:
    """Applies inputs in their order, or holds them; how many of them, for none comes after one that is not kept."""
    for number, item in enumerate(items, 1):
        if isinstance(item, Quiet):
            _decide(desk, at, item)
        elif not isinstance(item, Typed) and item.scan:
            _hold(desk, item, at)
        elif isinstance(item, Typed) and desk._held.refused:
            desk._line.stands(item.text)  # no list follows it, and no job answers it
        elif isinstance(item, Line):
            _take_typed(desk, item, at)
        elif isinstance(item, Key) and item.name == "enter" and at - desk._useless_at < SLOW_S:
            desk._useless_at = at  # an empty line of the same scan
        else:
            if not isinstance(item, Typed):
                desk._unknown_until = 0.0  # a person has answered
            take_one(desk, item, at)
        if desk._queue.failed:
            desk._held = HeldLines()
            return number
    last = items[-1] if items else None
    is_open = isinstance(last, Typed) and bool(last.text)
    if desk._held.lines and not (is_open and _are_codes(desk, desk._held)):
        _decide(desk, at, Quiet(desk._held.scan, 0.0), is_open=is_open)
    return len(items)


def _take_typed(desk: Desk, item: Line, at: float) -> None:
    """Takes a line at a person's pace. Nobody begins the next one so soon after one of no use: over a slow link, both
    are lines of one scan."""
    desk._unknown_until = 0.0  # a person has answered
    if 0 < item.first - desk._useless_at < SLOW_S and item.gap and not is_code(desk, item.text):
        line = end_line(desk, item)
        if line is not None:
            is_secret = hidden(desk._stack.levels, line.text)
            refuse_lines(desk, (line,), _too_soon(line, is_secret=is_secret), at, is_secret=is_secret)
        desk._useless_at = item.last
        return
    take_one(desk, item, at)
    desk._useless_at = item.last if item.gap and _is_unknown(desk, item) else -math.inf


def is_idle(desk: Desk, items: Sequence[Decoded]) -> bool:
    """Whether these only say that nothing came, and nothing is held: no answer changes."""
    if not items or desk._held.lines or desk._held.enter or not all(isinstance(item, Quiet) for item in items):
        return False
    desk._held = HeldLines() if any(item.is_over for item in items if isinstance(item, Quiet)) else desk._held
    return True


def _hold(desk: Desk, item: Line | Key | Escape, at: float) -> None:
    """Adds an input to its scan. Enter counts as an empty line of the scan; other keys inside a scan do nothing."""
    if desk._held.scan != item.scan:
        _decide(desk, at, Quiet(desk._held.scan, 0.0, is_over=True))
        is_late = (item.first if isinstance(item, Line) else at) < desk._unknown_until
        desk._held = HeldLines(item.scan, page=meant_for(desk._stack.levels), is_late=is_late)
    held = desk._held
    if held.refused:
        if isinstance(item, Line):
            desk._line.ended(item.text)
            desk._unknown_until = item.last + STALLED_S
    elif isinstance(item, Line):
        line = end_line(desk, item)
        if line is not None:
            is_secret = held.is_secret or hidden(desk._stack.levels, line.text)
            page = held.page if held.lines else meant_for(desk._stack.levels)  # its list follows it no more
            desk._held = held._replace(lines=(*held.lines, line), page=page, is_secret=is_secret)
    elif isinstance(item, Key) and item.name == "enter":
        desk._held = held._replace(enter=True)


def _are_codes(desk: Desk, held: HeldLines) -> bool:
    is_one = len(held.lines) == 1 and not held.taken and not held.is_late
    texts = [line.text for line in held.lines]
    if is_one:
        return is_code(desk, texts[0], is_one=True)
    return all(is_code(desk, text) or is_known_code(desk, text) or _is_noise(text) for text in texts)


def _is_noise(text: str) -> bool:
    """Whether a line holds nothing that a scanner sends of a code: a bad link put it there."""
    return not any(" " <= char <= "~" for char in text)


def _decide(desk: Desk, at: float, quiet: Quiet, *, is_open: bool = False) -> None:
    """Takes or refuses what is held, once nothing more of it can change that. `is_open`: a further line has begun."""
    held = desk._held
    if quiet.is_over:
        desk._held = HeldLines()
    if not held.lines:
        if quiet.is_over and held.enter and not (held.taken or held.refused or held.is_late):
            take_one(desk, Key("enter"), at)
        elif held.enter and held.is_late:
            desk._unknown_until = at + STALLED_S
        return
    last, are_codes = held.lines[-1], _are_codes(desk, held)
    if not are_codes and len(held.lines) + held.taken + held.enter + is_open + held.is_late > 1:
        _keep(desk, quiet, held._replace(lines=(), refused=True))
        why = _why_refused(desk, held)
        is_letter = len(held.lines) == 1 and _is_letter(last)
        if not (is_letter and desk._is_letter_refused):  # one that somebody presses again makes it no longer
            desk._unknown_until = last.last + STALLED_S
        desk._is_letter_refused = is_letter
        if why.id != "input.too_soon":
            desk._is_unknown_long = True
        refuse_lines(desk, held.lines, why, at, is_secret=held.is_secret)
    elif quiet.is_over or (are_codes and quiet.waited >= last.rest and is_plain_code(desk, last.text)):
        _keep(desk, quiet, held._replace(lines=(), taken=held.taken + len(held.lines)))
        _take(desk, held, at, are_codes=are_codes)


def _why_refused(desk: Desk, held: HeldLines) -> Msg:
    """Says what the lines were taken for: one line right after an unknown code may be of that, or not."""
    if held.taken:
        return msg("input.lines_after")
    is_one = held.is_late and len(held.lines) == 1
    if is_one and (not desk._is_unknown_long or _is_letter(held.lines[0])):
        return _too_soon(held.lines[0], is_secret=held.is_secret)
    return msg("input.lines")


def _is_letter(line: Line) -> bool:
    return len(line.text) == 1 and line.text.isalpha()


def _too_soon(line: Line, *, is_secret: bool) -> Msg:
    return msg("input.lines") if is_secret else msg("input.too_soon", text=line.text)


def _take(desk: Desk, held: HeldLines, at: float, *, are_codes: bool) -> None:
    """Applies what was held. On another page than it was said on, only a code is still the same."""
    if not are_codes and meant_for(desk._stack.levels) != held.page:
        refuse_lines(desk, held.lines, msg("input.moved"), at, is_secret=held.is_secret)
        return
    for line in held.lines:
        if len(held.lines) > 1 and _is_noise(line.text) and not is_code(desk, line.text):
            refuse_lines(desk, (line,), msg("input.nothing"), at, is_secret=held.is_secret)
        else:
            take_line(desk, line, at)
            desk._is_unknown_long = False
            desk._unknown_until = line.last + STALLED_S if _is_unknown(desk, line) else 0.0
        if desk._queue.failed:
            return


def _is_unknown(desk: Desk, line: Line) -> bool:
    """Whether a line that was taken is of no use, and may begin a longer scan: it is no number, no letter, no code."""
    text, verdict = aim_of(line.text.strip(" ")).code, desk._verdict
    is_short = text.isdecimal() or (len(text) == 1 and text.isalnum())
    return verdict is not None and verdict.kind == WRONG and not is_short and not is_code(desk, text)


def _keep(desk: Desk, quiet: Quiet, held: HeldLines) -> None:
    """Remembers a scan that may go on."""
    if not quiet.is_over:
        desk._held = held
