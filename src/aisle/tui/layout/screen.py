"""Layout of the whole screen at any size: header, body, verdict, prompt with typed text, and status line.

The body is chosen by size: handheld (`step_view`), two columns, wall screen (`dashboard`). Verdict, prompt and link
line are there at every size; the smallest screens show nothing else. Layouts of lists, records and charts are imported
when one is shown, because most starts resume a step.
"""

from __future__ import annotations

import os
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.view import (
    ASK,
    GOOD,
    INFO,
    MARGIN_CELLS,
    MIN_MARGIN_COLUMNS,
    Chart,
    DetailView,
    Frame,
    ListView,
    Msg,
    Step,
    View,
    msg,
)
from aisle.tui.layout import step_view
from aisle.tui.layout.choices_and_key_hints import VerdictOverlap
from aisle.tui.layout.header_verdict_and_status_lines import (
    has_several_lines,
    header_lines,
    prompt_lines,
    status_line,
    verdict_lines,
)
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines_and_page_parts import (
    STEP,
    BodyParts,
    ScreenParts,
    StyledLine,
    StyledScreen,
    clip_line,
    map_lines,
)
from aisle.tui.message_text import MessageWriter

MIN_PART_ROWS = 4
"""Rows of a screen from which it has all parts."""

MIN_TITLE_ROWS, MIN_RULE_ROWS = 6, 12
"""Rows from which the title has a line, and a rule stands below it."""

MIN_BLANK_ROWS, MIN_BLANK_PROMPT_ROWS = 20, 22
"""Rows from which blank lines stand around the body, and one below the prompt."""

MIN_LONG_VERDICT_ROWS, MIN_TWO_VERDICT_ROWS = 12, 12
"""Rows from which a verdict may have several lines, and from which a step with goods keeps two for it."""

VERDICT_ROWS = ((60, 2), (30, 3), (0, 4))
"""(minimum columns, most lines of a verdict)."""


class FrameBars(NamedTuple):
    """Lines around the body."""

    verdict: list[StyledLine]
    prompt: list[StyledLine]
    link: StyledLine


def layout_parts(frame: Frame, columns: int, rows: int, is_ascii: bool = False) -> ScreenParts:
    """Return the frame as lines for a screen of any size from 1x1. `is_ascii`: for a terminal without UTF-8."""
    columns, rows = max(1, columns), max(1, rows)
    frame = _show_missing_data(frame)
    writer = _writer_of(frame, is_ascii)
    margin = MARGIN_CELLS // 2 if columns >= MIN_MARGIN_COLUMNS else 0
    box = LayoutBox(columns - 2 * margin, rows, writer)
    bars = _layout_bars(frame, box, columns)
    parts = _tiny_screen(frame, bars, rows) if rows < MIN_PART_ROWS else _full_screen(frame, bars, box)
    if margin:
        parts = _with_margin(parts)
    return _clipped(parts, columns)


def _writer_of(frame: Frame, is_ascii: bool) -> MessageWriter:
    return MessageWriter(is_ascii, frame.language, frame.today, os.environ.get("TZ", ""))


def _with_margin(parts: ScreenParts) -> ScreenParts:
    """Return the parts with a blank before each line; a verdict takes the whole width."""

    def margin(line: StyledLine) -> StyledLine:
        return [(" ", ""), *line] if line else line

    header, prompt, status = ([margin(line) for line in part] for part in (parts.header, parts.prompt, parts.status))
    page = map_lines(parts.page, margin)
    page = page._replace(main_cells=page.main_cells + 1 if page.side else 0)
    return ScreenParts(header, page, parts.verdict, prompt, status)


def _clipped(parts: ScreenParts, columns: int) -> ScreenParts:
    """Return the parts without what is right of the screen."""

    def clip(line: StyledLine) -> StyledLine:
        return clip_line(line, columns)

    around = ([clip(line) for line in part] for part in (parts.header, parts.verdict, parts.prompt, parts.status))
    header, verdict, prompt, status = around
    side = [clip_line(line, columns - parts.page.main_cells) for line in parts.page.side]
    return ScreenParts(header, map_lines(parts.page, clip)._replace(side=side), verdict, prompt, status)


def _show_missing_data(frame: Frame) -> Frame:
    """Return the frame with what the service did not send; mostly nothing is missing."""
    link = frame.link
    if not (link.unread_lists or link.unreadable_lists or link.unusable_rows):
        return frame
    from aisle.tui.layout.missing_data import show_unread_lists, show_unreadable_lists

    frame = show_unread_lists(frame) if link.unread_lists else frame
    return show_unreadable_lists(frame) if link.unreadable_lists or link.unusable_rows else frame


def layout_screen(frame: Frame, columns: int, rows: int, is_ascii: bool = False) -> StyledScreen:
    """Return the frame as lines of the whole screen."""
    columns, rows = max(1, columns), max(1, rows)
    parts = layout_parts(frame, columns, rows, is_ascii)
    return StyledScreen(columns, rows, parts.lines)


def visible_row_count(frame: Frame, columns: int, rows: int, size: int, is_ascii: bool = False) -> int:
    """Return how many rows of a list with a window of `size` are visible.

    Return `size` if the view is no list, or no row is visible.
    """
    view = frame.view
    if rows < MIN_PART_ROWS or not isinstance(view, ListView) or not view.rows:
        return size
    from aisle.tui.layout.list_with_chips_and_pane import shown_row_count

    view = view._replace(rows=(*view.rows, *view.rows[-1:] * (size - len(view.rows))))
    cells = columns - MARGIN_CELLS * (columns >= MIN_MARGIN_COLUMNS)
    box = LayoutBox(cells, rows, _writer_of(frame, is_ascii))
    bars = _layout_bars(frame._replace(view=view), box, columns)
    return shown_row_count(view, box._replace(rows=_body_rows(bars, box))) or size


def fits_whole(frame: Frame, columns: int, rows: int, is_ascii: bool = False) -> bool:
    """Return True if all of a page is visible at once, so that paging is useless. Lists decide that themselves."""
    if rows < MIN_PART_ROWS or not isinstance(frame.view, DetailView | Chart):
        return False
    box = LayoutBox(
        columns - MARGIN_CELLS * (columns >= MIN_MARGIN_COLUMNS),
        rows,
        _writer_of(frame, is_ascii),
    )
    bars = _layout_bars(frame, box, columns)
    return _layout_body(frame.view, box._replace(rows=_body_rows(bars, box)), _verdict_overlap(bars, box))[1] is None


def _layout_bars(frame: Frame, box: LayoutBox, columns: int) -> FrameBars:
    """Return the lines around the body."""
    bars = FrameBars(
        [[]], prompt_lines(frame, box.cells, box.rows, box.writer), status_line(frame, box.cells, box.writer)
    )
    if frame.verdict:
        most, margin = _allowed_verdict_rows(frame, bars, box, columns), (columns - box.cells) // 2
        alone, shown_verdict = bars, frame.verdict

        def more_rows() -> int:
            kind = ASK if has_several_lines(shown_verdict) else INFO
            return _allowed_verdict_rows(frame._replace(verdict=shown_verdict._replace(kind=kind)), alone, box, columns)

        bars = bars._replace(verdict=verdict_lines(frame, shown_verdict, columns, box.writer, margin, most, more_rows))
    return bars


def _tiny_screen(frame: Frame, bars: FrameBars, rows: int) -> ScreenParts:
    """Return one to three lines: verdict or prompt, then both, then also the link line."""
    verdict, prompt, none = bars.verdict[:1], bars.prompt[-1:], BodyParts(STEP, [])
    if rows == 1:
        return (
            ScreenParts([], none, verdict, [], [])
            if frame.verdict and not frame.typed
            else ScreenParts([], none, [], prompt, [])
        )
    return ScreenParts([], none, verdict, prompt, [bars.link] if rows == 3 else [])


def _full_screen(frame: Frame, bars: FrameBars, box: LayoutBox) -> ScreenParts:
    """Return all parts. Blank lines separate them if there are enough rows."""
    if isinstance(frame.view, Step) and step_view.is_goods_step(frame.view, box):
        return _goods_screen(frame.view, bars, box)
    blank: list[StyledLine] = [[]] * _blank_rows(box)
    space = _body_rows(bars, box)
    page, right = _layout_body(frame.view, box._replace(rows=space), _verdict_overlap(bars, box))
    header = [*header_lines(frame, right, box)][: _header_rows(box)]
    return ScreenParts(
        [*header, *blank],
        _filled(page, space, blank),
        bars.verdict,
        [*bars.prompt, *(blank if box.rows >= MIN_BLANK_PROMPT_ROWS else [])],
        [bars.link],
    )


def _goods_screen(view: Step, bars: FrameBars, box: LayoutBox) -> ScreenParts:
    """Return all parts of a step with goods. Location, product and quantity stay in their rows, whatever is said."""
    verdict = bars.verdict
    if box.rows >= MIN_TWO_VERDICT_ROWS and len(verdict) == 1:
        role = verdict[0][0][1] if verdict[0] else ""
        verdict = [*verdict, [(" " * box.cells, role)] if role else []]
    space = max(0, box.rows - 1 - len(verdict) - len(bars.prompt) - 1)
    page = step_view.goods_page(view, box._replace(rows=space), box.rows)
    header = [step_view.goods_header(view, _progress_message(view), box)]
    return ScreenParts(header, _filled(page, space, []), verdict, bars.prompt, [bars.link])


def _filled(page: BodyParts, rows: int, blank: list[StyledLine]) -> BodyParts:
    """Return the parts of a body with as many rows as there are, and blank ones below the commands."""
    missing = rows - len(page.top) - len(page.body) - len(page.below) - len(page.commands)
    filler: list[StyledLine] = [[] for _ in range(missing)]
    return page._replace(commands=[*page.commands, *filler, *blank])


def _header_rows(box: LayoutBox) -> int:
    """Return the number of lines above the body: the title, and the rule below it."""
    return (box.rows >= MIN_TITLE_ROWS) + (box.rows >= MIN_RULE_ROWS)


def _blank_rows(box: LayoutBox) -> int:
    """Return the number of blank lines above and below the body."""
    return 1 if box.rows >= MIN_BLANK_ROWS else 0


def _body_rows(bars: FrameBars, box: LayoutBox) -> int:
    """Return the number of rows for the body."""
    air = _blank_rows(box) * (3 if box.rows >= MIN_BLANK_PROMPT_ROWS else 2)
    return max(0, box.rows - _header_rows(box) - air - len(bars.verdict) - len(bars.prompt) - 1)


def _verdict_overlap(bars: FrameBars, box: LayoutBox) -> VerdictOverlap:
    """Return how many lines the verdict takes from a page, and how many it may take at most."""
    return VerdictOverlap(len(bars.verdict) - 1, _max_verdict_rows(box.cells, box.rows) - 1)


def _layout_body(view: View, box: LayoutBox, overlap: VerdictOverlap) -> tuple[BodyParts, Msg | None]:
    """Return the body, and the message for the right end of the title line."""
    if isinstance(view, Step):
        return step_view.step_page(view, box), _progress_message(view)
    if isinstance(view, ListView):
        return _layout_list(view, box)
    return _layout_record(view, box, overlap)


def _layout_list(view: ListView, box: LayoutBox) -> tuple[BodyParts, Msg | None]:
    from aisle.tui.layout.list_with_chips_and_pane import list_page, range_message

    page = list_page(view, box)
    return page.parts, range_message(view, page)


def _layout_record(view: DetailView | Chart, box: LayoutBox, overlap: VerdictOverlap) -> tuple[BodyParts, Msg | None]:
    from aisle.tui.layout import chart_view, dashboard, detail_view

    if isinstance(view, Chart):
        return chart_view.chart_page(view, box)
    if view.dashboard and dashboard.shows_dashboard(view, box):
        return dashboard.dashboard_page(view, view.dashboard, box), None
    if view.side and detail_view.shows_pane(view, box):
        return detail_view.page_with_side(view, view.side, box._replace(rows=box.rows + overlap.current), overlap)
    return detail_view.detail_page(view, box._replace(rows=box.rows + overlap.current), overlap)


def _progress_message(view: Step) -> Msg | None:
    """Return the progress of a step; otherwise which of its choices are visible; None if all are."""
    if view.total <= Decimal(0):
        last = view.first + len(view.choices)
        return (
            msg("list.range", first=view.first + 1, last=last, total=view.choice_total)
            if view.choice_total > len(view.choices)
            else None
        )
    return view.progress or msg("progress.of", done=view.done, total=view.total)


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
    fewest = 1 if isinstance(view, Step) else 2
    return max(min(most, fewest), min(most, _body_rows(bars, box) + 1 - _min_body_rows(view, box)))


def _min_body_rows(view: Step | ListView, box: LayoutBox) -> int:
    """Return the fewest rows in which a step or list can be used."""
    if isinstance(view, Step):
        return step_view.min_step_rows(view, box)
    from aisle.tui.layout.list_with_chips_and_pane import min_list_rows

    return min_list_rows(view, box)


def _max_verdict_rows(columns: int, rows: int) -> int:
    """Return the maximum lines of a verdict for this screen size."""
    if rows < MIN_LONG_VERDICT_ROWS:
        return 1
    return next(most for least, most in VERDICT_ROWS if columns >= least)
