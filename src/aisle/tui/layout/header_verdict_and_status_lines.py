"""Lines around the body of a page: title and tabs above it, then verdict, prompt and status."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.names_in_messages import LIST_NAMES
from aisle.jobs.view import GOOD, MIN_MARGIN_COLUMNS, Frame, LinkState, Msg, Step, Tab, Verdict, View, msg
from aisle.scan.inputs_and_line_grouping import FIRST_TAB_KEY
from aisle.terminal_text import fit, fit_end, width, wrap
from aisle.tui.layout.choices_and_key_hints import excess_cells
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines_and_page_parts import StyledLine, left_and_right, line_width, pad_line, progress_bar
from aisle.tui.message_text import MAX_LENGTH, MessageWriter
from aisle.tui.mouse import PALETTE_LABEL

MIN_SPACED_HEADER = 40
"""Width below which only a blank separates progress from the user."""

MAX_INITIALS = 3

HOME_VIEW = "home"
"""Page that shows the user at any width."""


def header_lines(frame: Frame, progress: Msg | None, box: LayoutBox) -> list[StyledLine]:
    """Return the lines above the body: the title and a rule, or the tabs and the title."""
    if not frame.tabs:
        return [_header(frame, progress, box), _title_rule(frame.view, box)]
    title = _header(frame._replace(store="", user=""), progress, box)
    who = _store_and_user(frame, box.writer)
    return [left_and_right(_tab_line(frame.tabs, box), [(who, "user")], box.cells), title]


def _tab_line(tabs: Sequence[Tab], box: LayoutBox) -> StyledLine:
    """Return the tabs side by side, each with its number of records."""
    line: StyledLine = []
    for tab in tabs:
        count = "" if tab.total is None else f" {box.writer.format_number(Decimal(tab.total))}"
        line += [(f" {box.writer.write(tab.text, 0)}{count} ", "tab-on" if tab.is_active else "tab"), ("  ", "")]
    return line


def _header(frame: Frame, progress: Msg | None, box: LayoutBox) -> StyledLine:
    """Return the title line: title on the left; progress, store and user on the right, as far as they fit.

    The title keeps half the line, or all of its text on a wide screen.
    """
    writer = box.writer
    progress_text = writer.write(progress, MAX_LENGTH if box.cells >= 40 else 0) if progress else ""
    who = _store_and_user(frame, writer)
    least = width(writer.write(frame.view.title, 0))
    enough = max(least, box.cells // 2)
    if box.cells >= MIN_MARGIN_COLUMNS:
        enough = max(least, min(enough, width(writer.write(frame.view.title, MAX_LENGTH))))
    wide = " " if box.cells < MIN_SPACED_HEADER else writer.clean_text("  ·  ")
    names = (who, *_short_names(frame, writer)) if frame.view.name == HOME_VIEW else (who,)
    texts = [wide.join((progress_text, name)) for name in names if name] if progress_text else names
    for text in (*texts, *((progress_text,) if progress_text else ()), ""):
        space = box.cells - (width(text) + 2 if text else 0)
        if text and text == progress_text:  # progress is more important than the whole of a long title
            least = width(writer.write(frame.view.title, 0, box.cells))
        if not text or space >= (least if text == progress_text or text in texts[1:] else enough):
            title: StyledLine = [(writer.fit_line(frame.view.title, space), "title")]
            return left_and_right(title, [(text, "user")] if text else [], box.cells)
    return [(writer.fit_line(frame.view.title, box.cells), "title")]


def _short_names(frame: Frame, writer: MessageWriter) -> tuple[str, str]:
    """Return the user's first name and initials, for narrow screens."""
    words = writer.clean_text(frame.user).split() or [""]
    return words[0], "".join(word[0] for word in words if word)[:MAX_INITIALS]


def _store_and_user(frame: Frame, writer: MessageWriter) -> str:
    if frame.user:
        return writer.write(msg("frame.store_and_user", store=frame.store, user=frame.user))
    return writer.write(msg("frame.store", store=frame.store)) if frame.store else ""


def _title_rule(view: View, box: LayoutBox) -> StyledLine:
    """Return the line below the title, which shows the progress of a step."""
    if isinstance(view, Step) and view.total > 0:
        return progress_bar(view.done / view.total, box.cells, box.writer)
    return [(("-" if box.writer.is_ascii else "─") * box.cells, "rule")]


def verdict_lines(
    frame: Frame,
    verdict: Verdict,
    columns: int,
    writer: MessageWriter,
    margin: int,
    most: int,
    more_rows: Callable[[], int],
) -> list[StyledLine]:
    """Return the verdict as a coloured band.

    A verdict that is not good may take several lines for its reason. A good one does if a single line would cut it.
    """
    kind = verdict.kind
    role = f"verdict-{kind}"
    tag = f" {writer.write(msg(_VERDICT_TEXTS[kind]))} " + " " * margin
    repeats = writer.clean_text(f" ×{frame.verdict_repeats} ") if frame.verdict_repeats > 1 and columns >= 18 else ""
    space = columns - width(tag) - (width(repeats) or 1)
    if space < 4:
        return [[(fit(tag.strip(), columns, mark=writer.cut_mark, pad=True), role)]]
    indent = 1 if columns < 40 else width(tag)
    wide = columns - indent - 1
    said = msg("frame.and_more", what=verdict.text, more=verdict.detail) if verdict.detail else verdict.text
    text = writer.fit(said, lambda said: excess_cells(said, wide, most, space))
    if verdict.kind == GOOD and (has_several_lines(verdict) or width(text) > space) and (most := more_rows()) > 1:
        text = writer.fit(said, lambda said: excess_cells(said, wide, most, space))
    first, *more = wrap(text, wide, most, first=space, mark=writer.cut_mark) or [""]
    lines: list[StyledLine] = [[(tag + fit(first, space, pad=True) + repeats, role)]]
    lines += [[(" " * indent + line, role)] for line in more]
    return [pad_line(line, columns, role) for line in lines]


def has_several_lines(verdict: Verdict) -> bool:
    """Return True if a good verdict has several lines."""
    return verdict.is_multiline or verdict.detail is not None


_VERDICT_TEXTS = {"good": "verdict.good", "wrong": "verdict.wrong", "info": "verdict.info", "ask": "verdict.ask"}


MIN_OWN_LINE_ROWS = 14
"""Rows of a screen from which the typed text has a line of its own."""


def prompt_lines(frame: Frame, cells: int, rows: int, writer: MessageWriter) -> list[StyledLine]:
    """Return prompt and typed text, on two lines if there are enough rows."""
    caret: StyledLine = [(" ", "caret")]
    sign = writer.clean_text("› ")
    typed = writer.clean_text(frame.typed)
    if rows >= MIN_OWN_LINE_ROWS:
        prompt: StyledLine = [(writer.fit_line(frame.view.prompt, cells), "prompt")]
        shown = fit_end(typed, cells - 3, mark=writer.cut_mark)
        return [prompt, [(sign, "label"), (shown, "typed"), *caret]]
    space = min(width(typed) + 4, max(6, cells // 2)) if typed else 0
    text = writer.fit_line(frame.view.prompt, cells - space)
    if not typed:
        return [[(text, "prompt")]]
    gap = " " if width(text) + 4 <= cells else ""
    shown = fit_end(typed, cells - width(text) - 4, mark=writer.cut_mark)
    return [[(text + gap, "prompt"), (sign, "label"), (shown, "typed"), *caret]]


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
