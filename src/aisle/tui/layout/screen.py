"""Layout of the whole screen: title, body, verdict, prompt with typed text, and the link line, at any size.

Verdict, prompt and link line are there at every size; the smallest screens show nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.list_problem_messages import LIST_NAMES
from aisle.jobs.view import (
    ASK,
    GOOD,
    INFO,
    Chart,
    DetailView,
    Frame,
    LinkState,
    ListView,
    Msg,
    Step,
    Tab,
    Verdict,
    View,
    msg,
)
from aisle.scan.inputs import FIRST_TAB_KEY
from aisle.text_cells import fit, fit_end, width, wrap
from aisle.tui.layout import chart_view, dashboard, detail_view, list_view, missing_data, step_view
from aisle.tui.layout.choice_lines import VerdictOverlap, excess_cells
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines import (
    StyledLine,
    StyledScreen,
    clip_line,
    left_and_right,
    line_width,
    pad_line,
    progress_bar,
)
from aisle.tui.message_text import MAX_LENGTH, MessageWriter
from aisle.tui.mouse import PALETTE_KEY

MIN_MARGIN_COLUMNS = 60
"""Width from which text has a margin of one cell."""

LINK_STATES = ("live", "partial", "syncing", "offline", "none", "stuck", "renewed", "refused", "unkept")


class FrameBars(NamedTuple):
    """Lines around the body."""

    verdict: list[StyledLine]
    prompt: list[StyledLine]
    link: StyledLine


class ScreenParts(NamedTuple):
    """Lines of the screen's parts, from top to bottom. Together they fill the screen."""

    header: list[StyledLine]
    body: list[StyledLine]
    verdict: list[StyledLine]
    prompt: list[StyledLine]
    status: list[StyledLine]


def layout_parts(frame: Frame, columns: int, rows: int, is_ascii: bool = False) -> ScreenParts:
    """Return the frame as lines for a screen of any size from 1x1. `is_ascii`: for a terminal without UTF-8."""
    columns, rows = max(1, columns), max(1, rows)
    frame = missing_data.show_unread_lists(frame) if frame.link.unread_lists else frame
    frame = (
        missing_data.show_unreadable_lists(frame) if frame.link.unreadable_lists or frame.link.unusable_rows else frame
    )
    writer = MessageWriter(is_ascii, frame.language, frame.today)
    margin = 1 if columns >= MIN_MARGIN_COLUMNS else 0
    box = LayoutBox(columns - 2 * margin, rows, writer)
    bars = _layout_bars(frame, box, columns)
    parts = _tiny_screen(frame, bars, rows) if rows < 4 else _full_screen(frame, bars, box)
    if margin:
        verdict = parts.verdict
        parts = ScreenParts(*([[(" ", ""), *line] if line else line for line in part] for part in parts))
        parts = parts._replace(verdict=verdict)
    return ScreenParts(*([clip_line(line, columns) for line in part] for part in parts))


def layout_screen(frame: Frame, columns: int, rows: int, is_ascii: bool = False) -> StyledScreen:
    """Return the frame as lines of the whole screen."""
    columns, rows = max(1, columns), max(1, rows)
    parts = layout_parts(frame, columns, rows, is_ascii)
    return StyledScreen(columns, rows, [line for part in parts for line in part])


def visible_row_count(frame: Frame, columns: int, rows: int, size: int, is_ascii: bool = False) -> int:
    """Return how many rows of a list with a window of `size` are visible.

    Return `size` if the view is no list, or no row is visible.
    """
    view = frame.view
    if rows < 4 or not isinstance(view, ListView) or not view.rows:
        return size
    view = view._replace(rows=(*view.rows, *view.rows[-1:] * (size - len(view.rows))))
    cells = columns - 2 * (columns >= MIN_MARGIN_COLUMNS)
    box = LayoutBox(cells, rows, MessageWriter(is_ascii, frame.language, frame.today))
    bars = _layout_bars(frame._replace(view=view), box, columns)
    return list_view.shown_row_count(view, box._replace(rows=_body_rows(bars, box))) or size


def fits_whole(frame: Frame, columns: int, rows: int, is_ascii: bool = False) -> bool:
    """Return True if all of a page is visible at once, so that paging is useless. Lists decide that themselves."""
    if rows < 4 or not isinstance(frame.view, DetailView | Chart):
        return False
    box = LayoutBox(
        columns - 2 * (columns >= MIN_MARGIN_COLUMNS), rows, MessageWriter(is_ascii, frame.language, frame.today)
    )
    bars = _layout_bars(frame, box, columns)
    return _layout_body(frame.view, box._replace(rows=_body_rows(bars, box)), _verdict_overlap(bars, box))[1] is None


def _layout_bars(frame: Frame, box: LayoutBox, columns: int) -> FrameBars:
    """Return the lines around the body."""
    bars = FrameBars(
        [[]], _prompt_lines(frame, box.cells, box.rows, box.writer), _status_line(frame, box.cells, box.writer)
    )
    if frame.verdict:
        most, margin = _allowed_verdict_rows(frame, bars, box, columns), (columns - box.cells) // 2
        alone, shown_verdict = bars, frame.verdict

        def more_rows() -> int:
            kind = ASK if _has_several_lines(shown_verdict) else INFO
            return _allowed_verdict_rows(frame._replace(verdict=shown_verdict._replace(kind=kind)), alone, box, columns)

        bars = bars._replace(verdict=_verdict_lines(frame, shown_verdict, columns, box.writer, margin, most, more_rows))
    return bars


def _tiny_screen(frame: Frame, bars: FrameBars, rows: int) -> ScreenParts:
    """Return one to three lines: verdict or prompt, then both, then also the link line."""
    verdict, prompt = bars.verdict[:1], bars.prompt[-1:]
    if rows == 1:
        return (
            ScreenParts([], [], verdict, [], [])
            if frame.verdict and not frame.typed
            else ScreenParts([], [], [], prompt, [])
        )
    return ScreenParts([], [], verdict, prompt, [bars.link] if rows == 3 else [])


def _full_screen(frame: Frame, bars: FrameBars, box: LayoutBox) -> ScreenParts:
    """Return all parts. Blank lines separate them if there are enough rows."""
    if isinstance(frame.view, Step) and step_view.is_goods_step(frame.view, box):
        return _goods_screen(frame.view, bars, box)
    blank: list[StyledLine] = [[]] * _blank_rows(box)
    space = _body_rows(bars, box)
    body, right = _layout_body(frame.view, box._replace(rows=space), _verdict_overlap(bars, box))
    filler: list[StyledLine] = [[] for _ in range(space - len(body))]
    header = [*_header_lines(frame, right, box)][: _header_rows(box)]
    return ScreenParts(
        [*header, *blank],
        [*body[:space], *filler, *blank],
        bars.verdict,
        [*bars.prompt, *(blank if box.rows >= 22 else [])],
        [bars.link],
    )


MIN_TWO_VERDICT_ROWS = 12
"""Rows of a screen from which two are kept for the verdict of a step with goods."""


def _goods_screen(view: Step, bars: FrameBars, box: LayoutBox) -> ScreenParts:
    """Return all parts of a step with goods. Location, product and quantity stay in their rows, whatever is said."""
    verdict = bars.verdict
    if box.rows >= MIN_TWO_VERDICT_ROWS and len(verdict) == 1:
        role = verdict[0][0][1] if verdict[0] else ""
        verdict = [*verdict, [(" " * box.cells, role)] if role else []]
    space = max(0, box.rows - 1 - len(verdict) - len(bars.prompt) - 1)
    body = step_view.goods_lines(view, box._replace(rows=space), box.rows)
    filler: list[StyledLine] = [[] for _ in range(space - len(body))]
    header = [step_view.goods_header(view, _progress_message(view), box)]
    return ScreenParts(header, [*body, *filler], verdict, bars.prompt, [bars.link])


def _header_rows(box: LayoutBox) -> int:
    """Return the number of lines above the body: the title, and the rule below it."""
    return (1 if box.rows >= 6 else 0) + (1 if box.rows >= 12 else 0)


def _blank_rows(box: LayoutBox) -> int:
    """Return the number of blank lines above and below the body."""
    return 1 if box.rows >= 20 else 0


def _body_rows(bars: FrameBars, box: LayoutBox) -> int:
    """Return the number of rows for the body."""
    air = _blank_rows(box) * (3 if box.rows >= 22 else 2)
    return max(0, box.rows - _header_rows(box) - air - len(bars.verdict) - len(bars.prompt) - 1)


def _verdict_overlap(bars: FrameBars, box: LayoutBox) -> VerdictOverlap:
    """Return how many lines the verdict takes from a page, and how many it may take at most."""
    return VerdictOverlap(len(bars.verdict) - 1, _max_verdict_rows(box.cells, box.rows) - 1)


def _layout_body(view: View, box: LayoutBox, overlap: VerdictOverlap) -> tuple[list[StyledLine], Msg | None]:
    """Return the body, and the message for the right end of the title line."""
    if isinstance(view, Step):
        return step_view.step_lines(view, box), _progress_message(view)
    if isinstance(view, DetailView) and view.dashboard and dashboard.shows_dashboard(view, box):
        return dashboard.dashboard_lines(view, view.dashboard, box), None
    if isinstance(view, DetailView) and view.side and detail_view.shows_pane(view, box):
        return detail_view.lines_with_pane(view, view.side, box._replace(rows=box.rows + overlap.current), overlap)
    if isinstance(view, DetailView):
        return detail_view.detail_lines(view, box._replace(rows=box.rows + overlap.current), overlap)
    if isinstance(view, Chart):
        return chart_view.chart_lines(view, box)
    listed = list_view.list_lines(view, box)
    return listed.lines, list_view.range_message(view, listed)


MIN_SPACED_HEADER = 40
"""Width below which only a blank separates progress from the user."""

MAX_INITIALS = 3

HOME_VIEW = "home"
"""Page that shows the user at any width."""


def _header_lines(frame: Frame, progress: Msg | None, box: LayoutBox) -> list[StyledLine]:
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


def _progress_message(view: Step) -> Msg | None:
    """Return the progress of a step; otherwise which of its choices are visible; None if all are."""
    if view.total <= Decimal(0):
        last = view.first + len(view.choices)
        return (
            msg("list.range", first=view.first + 1, last=last, total=view.choice_total)
            if view.choice_total > len(view.choices)
            else None
        )
    return view.progress or msg("frame.progress", done=view.done, total=view.total)


def _verdict_lines(
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
    if verdict.kind == GOOD and (_has_several_lines(verdict) or width(text) > space) and (most := more_rows()) > 1:
        text = writer.fit(said, lambda said: excess_cells(said, wide, most, space))
    first, *more = wrap(text, wide, most, first=space, mark=writer.cut_mark) or [""]
    lines: list[StyledLine] = [[(tag + fit(first, space, pad=True) + repeats, role)]]
    lines += [[(" " * indent + line, role)] for line in more]
    return [pad_line(line, columns, role) for line in lines]


def _has_several_lines(verdict: Verdict) -> bool:
    """Return True if a good verdict has several lines."""
    return verdict.is_multiline or verdict.detail is not None


_VERDICT_TEXTS = {"good": "verdict.good", "wrong": "verdict.wrong", "info": "verdict.info", "ask": "verdict.ask"}


def _allowed_verdict_rows(frame: Frame, bars: FrameBars, box: LayoutBox, columns: int) -> int:
    """Return the maximum lines of the verdict.

    Errors and questions come before everything but the choices. A good verdict has one line, because every scan has
    one.
    """
    verdict, view = frame.verdict, frame.view
    most = _max_verdict_rows(columns, box.rows)
    if verdict is None or verdict.kind == GOOD or most == 1:
        return 1
    if verdict.kind == INFO:
        most = 2
    if isinstance(view, DetailView | Chart):
        return most
    least = step_view.min_step_rows(view, box) if isinstance(view, Step) else list_view.min_list_rows(view, box)
    fewest = 1 if isinstance(view, Step) else 2
    return max(min(most, fewest), min(most, _body_rows(bars, box) + 1 - least))


def _max_verdict_rows(columns: int, rows: int) -> int:
    """Return the maximum lines of a verdict for this screen size."""
    if rows < 12:
        return 1
    return 4 if columns < 30 else 3 if columns < 60 else 2


def _prompt_lines(frame: Frame, cells: int, rows: int, writer: MessageWriter) -> list[StyledLine]:
    """Return prompt and typed text, on two lines if there are enough rows."""
    caret: StyledLine = [(" ", "caret")]
    sign = writer.clean_text("› ")
    typed = writer.clean_text(frame.typed)
    if rows >= 14:
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


def _status_line(frame: Frame, cells: int, writer: MessageWriter) -> StyledLine:
    """Return the link line, at a desk with the keys of the tabs and of the palette at its end, as far as they fit."""
    line = _link_line(frame.link, cells, writer)
    if not frame.tabs:
        return line
    palette: StyledLine = [(PALETTE_KEY, "hint-key"), (" ", ""), (writer.write(msg("palette.title"), 0), "hint")]
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
    state = link.state if link.state in LINK_STATES else "none"
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
