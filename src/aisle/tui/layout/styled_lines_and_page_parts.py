"""Lines of text with roles, functions that combine them, tones, and the parts of a page that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from aisle.jobs.view import LabelledValue, Msg
from aisle.terminal_text import fit, fit_start, width
from aisle.tui.message_text import MessageWriter

StyledSpan = tuple[str, str]
"""Text and its role; the role determines the colour (`ROLE_STYLES` in `tui/themes`), and is empty for plain text.

After a colon stands what a click chooses: of a heading its sort order (`head:pickup`), of a row of a list its place in
the window (`cell:3`).
"""

StyledLine = list[StyledSpan]
"""Line that is at most as wide as the screen; cells right of it are empty."""


def base_role(role: str) -> str:
    """Return a role without its argument."""
    return role.partition(":")[0]


def role_argument(role: str) -> str:
    """Return the argument of a role, empty for none."""
    return role.partition(":")[2]


def with_argument(line: StyledLine, argument: object) -> StyledLine:
    """Return a line whose roles have this argument."""
    return [(text, f"{role}:{argument}" if role else "") for text, role in line]


class StyledScreen(NamedTuple):
    """Whole screen: exactly `rows` lines, none wider than `columns`."""

    columns: int
    rows: int
    lines: list[StyledLine]


def line_width(line: StyledLine) -> int:
    """Return the cells that a line takes."""
    return width("".join([text for text, _ in line]))


def pad_line(line: StyledLine, cells: int, role: str = "") -> StyledLine:
    """Return the line, filled with blanks of a role to exactly `cells`."""
    missing = cells - line_width(line)
    return [*line, (" " * missing, role)] if missing > 0 else line


def clip_line(line: StyledLine, cells: int) -> StyledLine:
    """Return the line without what is right of `cells`. Last guarantee of the width."""
    if line_width(line) <= cells:
        return line
    kept: StyledLine = []
    space = cells
    for text, role in line:
        if space <= 0:
            break
        head = fit_start(text, space)
        kept.append((head, role))
        space -= width(head)
    return kept


def left_and_right(left: StyledLine, right: StyledLine, cells: int) -> StyledLine:
    """Return one line with text at each end; without the right side if both do not fit."""
    gap = cells - line_width(left) - line_width(right)
    if not right or gap < 1:
        return left
    return [*left, (" " * gap, ""), *right]


def side_by_side(
    left: Sequence[StyledLine], right: Sequence[StyledLine], cells: int, between: StyledLine
) -> list[StyledLine]:
    """Return two columns: the left one `cells` wide, then `between` on every line that has a right side."""
    lines = []
    for index in range(max(len(left), len(right))):
        line = left[index] if index < len(left) else []
        other = right[index] if index < len(right) else []
        lines.append([*pad_line(line, cells), *between, *other])
    return lines


def lines_after_rule(lines: Sequence[StyledLine], *, is_ascii: bool) -> list[StyledLine]:
    """Return lines that stand beside others, each after a part of an upright rule."""
    rule = "|" if is_ascii else "│"
    return [[(rule, "rule"), ("  ", ""), *line] for line in lines]


def plain_lines(screen: StyledScreen) -> list[str]:
    """Return the text of each line, without roles and trailing blanks."""
    return ["".join(text for text, _ in line).rstrip() for line in screen.lines]


LATE, WARNING, READY, QUIET = "tone-late", "tone-warning", "tone-ready", "tone-quiet"
"""Roles of texts with a tone."""


TONE_BY_ID: Final = {
    "exceptions.negative": LATE,
    "moment.late": LATE,
    "operation_state.confirmed": READY,
    "operation_state.in_doubt": WARNING,
    "operation_state.refused": LATE,
    "operation_state.resolved": QUIET,
    "orders.priority": WARNING,
    "orders.short": WARNING,
    "orders.status_finished": QUIET,
    "orders.status_picked": READY,
    "orders.status_rejected": QUIET,
}
"""Tone of each message that has one."""


def tone_of(message: Msg) -> str:
    """Return the tone of a message or of a message in it; empty if there is none."""
    if tone := TONE_BY_ID.get(message.id):
        return tone
    return next((tone for _, value in message.args if isinstance(value, Msg) and (tone := tone_of(value))), "")


def progress_bar(share: Decimal, cells: int, writer: MessageWriter) -> StyledLine:
    """Return a progress bar: the done part in the accent, the rest as a rule.

    Any progress shows, and the bar is full only when all is done.
    """
    share = min(Decimal(1), max(Decimal(0), share))
    done = int(share * cells)
    if share > 0 and done == 0:
        done = 1
    full, rest = ("=", "-") if writer.is_ascii else ("━", "─")
    return [(full * done, "bar"), (rest * (cells - done), "rule")]


def labelled_value_lines(
    labelled_values: Sequence[LabelledValue], cells: int, writer: MessageWriter
) -> list[StyledLine]:
    """Return labels and values in two columns; labels are short if a value would be cut."""
    least = max((width(writer.write(fact.label, 0)) for fact in labelled_values), default=0)
    values = max((width(writer.write(fact.value)) for fact in labelled_values), default=0)
    space = max(4, min(cells // 2, max(least, cells - values - 2)))
    labels = [writer.fit_line(fact.label, space) for fact in labelled_values]
    column = max((width(label) for label in labels), default=0) + 2
    lines = []
    for fact, label in zip(labelled_values, labels, strict=True):
        value = writer.fit_line(fact.value, max(1, cells - column))
        lines.append([(fit(label, column, pad=True), "label"), (value, "value")])
    return lines


STEP, LIST, BOARD, RECORD, RECORD_WITH_SIDE, CHART, DASHBOARD = (
    "step", "list", "board", "record", "record_with_side", "chart", "dashboard"
)  # fmt: skip
"""Kinds of pages, each with a screen of its own (`tui/screens`)."""


class BodyParts(NamedTuple):
    """Lines between header and verdict. Together they fill the rows of the body."""

    kind: str
    body: Sequence[StyledLine]
    """Step, rows of a list, record or chart."""
    commands: Sequence[StyledLine] = ()
    top: Sequence[StyledLine] = ()
    """Filters of a list, or tiles of a dashboard, above the body."""
    below: Sequence[StyledLine] = ()
    """Details of a row, between the rows and the commands."""
    side: Sequence[StyledLine] = ()
    """Details of a row or of a record, or commands, beside the body."""
    main_cells: int = 0
    """Width of what stands left of `side`."""

    @property
    def lines(self) -> list[StyledLine]:
        """Lines of the whole body."""
        main = [*self.body, *self.below, *self.commands]
        return [*self.top, *(side_by_side(main, self.side, self.main_cells, []) if self.side else main)]


class ScreenParts(NamedTuple):
    """Lines of all widgets of a screen, which they fill."""

    header: Sequence[StyledLine]
    page: BodyParts
    verdict: Sequence[StyledLine]
    prompt: Sequence[StyledLine]
    status: Sequence[StyledLine]

    @property
    def lines(self) -> list[StyledLine]:
        """Lines of the whole screen."""
        return [*self.header, *self.page.lines, *self.verdict, *self.prompt, *self.status]

    @property
    def caret(self) -> tuple[int, int]:
        """Column and row of the caret: emulators with a window smaller than the screen follow the cursor."""
        above = len(self.lines) - len(self.prompt) - len(self.status)
        for y, line in enumerate(self.prompt):
            at = next((at for at, (_, role) in enumerate(line) if role == "caret"), None)
            if at is not None:
                return line_width(line[:at]), above + y
        return 0, max(0, len(self.lines) - 2)


def map_lines(page: BodyParts, change: Callable[[StyledLine], StyledLine]) -> BodyParts:
    """Return the parts of a body with each line changed, but for those of the side."""
    body, commands, top, below = (
        [change(line) for line in part] for part in (page.body, page.commands, page.top, page.below)
    )
    return page._replace(body=body, commands=commands, top=top, below=below)
