"""Line at the bottom: the state of the link, the age of the data, what waits, and at a desk the keys of the tabs."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.list_problem_messages import LIST_NAMES
from aisle.jobs.view import Frame, LinkState, Msg, Tab, msg
from aisle.scan.inputs import FIRST_TAB_KEY
from aisle.terminal_text import fit, width
from aisle.tui.layout.styled_lines import StyledLine, left_and_right, line_width, progress_bar
from aisle.tui.message_text import MessageWriter
from aisle.tui.mouse import PALETTE_LABEL


class LinkLengths(NamedTuple):
    """Lengths of the parts of the link line."""

    state: int
    age: int
    rest: int
    zero: int = 2
    """Maximum length of the message that nothing is waiting; below 0 it is left out."""


LINK_LENGTHS = (
    (LinkLengths(2, 2, 2), " · "),
    (LinkLengths(1, 1, 1), " · "),
    (LinkLengths(1, 1, 1), " "),
    (LinkLengths(1, 0, 1), " "),
    (LinkLengths(0, 0, 1), " "),
    (LinkLengths(1, 0, 1, zero=0), " "),
    (LinkLengths(0, 0, 1, zero=0), " "),
    (LinkLengths(0, 0, 0, zero=0), " "),
    (LinkLengths(0, 0, 0, zero=-1), " "),
)
"""Lengths from the longest texts to none.

The unit of an age is shortened first. The message that nothing is waiting is shortened before what is waiting or needs
a person. It is left out if even the shortest line is too long.
"""


def status_line(frame: Frame, cells: int, writer: MessageWriter) -> StyledLine:
    """Return the link line, at a desk with the keys of the tabs and of the palette at its end, as far as they fit."""
    line = _link_line(frame.link, cells, writer)
    if not frame.tabs:
        return line
    palette: StyledLine = [(PALETTE_LABEL, "hint-key"), (" ", ""), (writer.write(msg("palette.title"), 0), "hint")]
    hints = [*_tab_key_hint(frame.tabs, writer), ("  ", ""), *palette]
    return left_and_right(line, hints if line_width([*line, *hints]) < cells else palette, cells)


def _tab_key_hint(tabs: Sequence[Tab], writer: MessageWriter) -> StyledLine:
    """Return the keys of the first and the last tab."""
    first, last = (writer.write(tab.text, 0) for tab in (tabs[0], tabs[-1]))
    keys = (f"F{FIRST_TAB_KEY}", f"F{FIRST_TAB_KEY + len(tabs) - 1}")
    return [
        (keys[0], "hint-key"),
        (writer.clean_text(f" {first} … "), "hint"),
        (keys[1], "hint-key"),
        (f" {last}", "hint"),
    ]


def _link_line(link: LinkState, cells: int, writer: MessageWriter) -> StyledLine:
    """Return state, age and what is waiting, in the longest texts that fit."""
    state = link.state if link.state in _LINK_TEXTS else "none"
    for lengths, separator in LINK_LENGTHS:
        line = _link_parts(link, state, lengths, writer.clean_text(separator), writer)
        if line_width(line) <= cells:
            return line
    word = writer.write(_link_message(link, state), 0)
    tight = " ".join(text.strip() for text, role in line if role != "link-dim")
    return [
        (
            fit(tight if width(tight) <= cells else word, cells, mark=writer.cut_mark),
            f"link-{_LINK_ROLES.get(state, state)}",
        )
    ]


_LINK_TEXTS = {
    "live": "link.live",
    "partial": "link.partial",
    "offline": "link.offline",
    "syncing": "link.syncing",
    "none": "link.starting",
    "stuck": "link.stuck",
    "renewed": "link.program_outdated",
    "refused": "link.refused",
    "unkept": "link.not_saved",
}
_LINK_ROLES = {"partial": "syncing", "unkept": "refused", "stuck": "refused", "renewed": "refused"}
"""States that are drawn like others."""


def _link_message(link: LinkState, state: str) -> Msg:
    """Return the state of the link: with a missing list, or with the time since the courier's last heartbeat."""
    if state == "stuck":
        return msg("link.stuck", seconds=str(link.heartbeat_age_s))
    if state != "partial":
        return msg(_LINK_TEXTS[state])
    lists = [msg(LIST_NAMES[name]) for name in link.missing_lists if name in LIST_NAMES]
    return msg("link.missing_list", what=lists[0]) if lists else msg("link.partial")


def _waiting_message(link: LinkState) -> Msg:
    """Return what is waiting in this store, or else in other stores of this host."""
    if link.waiting:
        return msg("link.waiting", count=link.waiting)
    return (
        msg("link.waiting_other_stores", count=link.waiting_other_stores)
        if link.waiting_other_stores
        else msg("link.nothing_waiting")
    )


def _link_parts(link: LinkState, state: str, lengths: LinkLengths, separator: str, writer: MessageWriter) -> StyledLine:
    state_text, unkept = writer.write(_link_message(link, state), lengths.state), state == "unkept"
    state = _LINK_ROLES.get(state, state)
    line: StyledLine = [(state_text, f"link-{state}")]
    parts: list[tuple[Msg, str]] = []
    if link.state == "syncing" and (link.total or link.done):
        has_total = link.total > 0
        part = (
            msg("link.sync_percent", percent=link.done * 100 // link.total)
            if has_total
            else msg("link.sync_rows", count=link.done)
        )
        parts.append((part, "link-syncing"))
        if has_total and lengths.rest > 1:
            line += [(" ", ""), *progress_bar(Decimal(link.done) / link.total, 12, writer)]
    age = msg("link.age", seconds=str(link.age_s)) if link.age_s >= 0 else msg("link.age_never")
    parts.append((age, "link-dim"))
    if link.needs_person:
        parts.append((msg("link.needs_person", count=link.needs_person), "link-doubtful"))
    sent = _waiting_message(link)
    if link.waiting or (not unkept and (lengths.zero >= 0 or link.waiting_other_stores)):
        parts.append((sent, "link-dim" if not link.waiting else f"link-{state}"))
    for part, role in parts:
        level = lengths.age if part is age else lengths.rest
        if part is sent and not link.waiting:
            level = max(0, min(level, lengths.zero))
        line += [(separator, "link-dim"), (writer.write(part, level), role)]
    return line
