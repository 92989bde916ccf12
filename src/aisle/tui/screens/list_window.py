"""A window on a list: as many columns and rows as there is room for, the cursor always in sight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from aisle.jobs.view import PAGES, ListWindow, Msg, Row, msg, raw
from aisle.text import width, wrap
from aisle.tui.catalogue import Voice, levels
from aisle.tui.screens.painted import Line, beside, padded
from aisle.tui.screens.parts import MANY, bar, choice_flow, choice_items, command_flow, hint_lines, lines_over
from aisle.tui.screens.step import Box
from aisle.tui.screens.table import NUMBER, column_widths, figures, named_apart, natural, table_line
from aisle.tuples import NamedTuple

ASIDE_CELLS = 100
"""From this width on, the commands stand beside the list."""

ASIDE = 30
"""Width of the column with the commands."""

BAR = 6
"""Cells of a bar for which columns give way; it has as many more as are left."""

NAMED = 24
"""Cells of what names a row, or a third of it all, before which the last columns are left out."""

HEADED = 12
"""From so many rows on, a list has heads over its columns though one of its rows is not in sight then."""

SMALL = 10
"""Below so many rows commands and letters share their lines."""

LEAST_ROWS = 4
"""So many rows of a list are worth more than commands and letters on lines of their own."""

EMPTY = 2
"""Rows for what an empty list says."""

NARROW, MIDDLING = 30, 60
"""Below this width a name may have a line of its own, if no row is lost by it; below the other one of which too little
would be left."""

WORDS, DATED = "word.", ("moment", "logs.at_time")
"""How the messages for what became of work begin, and those for moments: half of one says nothing."""

HOURS = 50
"""Cells of a table below which moments have no hour where words are cut."""

LEGIBLE = 14
"""Cells of every column, or all of its text, that its hour leaves to the others."""

LONG = 3
"""Lengths that a cell usually has at most."""

NOTHING = raw("")
"""A cell that says nothing."""

COUNTED = "browse.products"
"""Numbers with a word for what they are of."""


class Listed(NamedTuple):
    """The drawn list, and how many of its rows are in it."""

    lines: list[Line]
    first: int
    shown: int


def body(view: ListWindow, box: Box) -> Listed:
    """The list, its commands and hints in at most so many rows. A hint that says what a choice says is left out."""
    said = {box.voice.say(choice) for choice in view.choices}
    if _fits(view, box):
        said |= {box.voice.say(hint.text) for hint in PAGES}
    view = view._replace(hints=tuple(hint for hint in view.hints if box.voice.say(hint.text) not in said))
    if _has_aside(view, box):
        return _with_aside(view, box)
    foot = _foot(view, box)
    listed = _list(view, box._replace(rows=box.rows - len(foot)))
    filler: list[Line] = [[] for _ in range(box.rows - len(foot) - len(listed.lines))]
    return listed._replace(lines=[*listed.lines, *filler, *foot])


def _is_tall(view: ListWindow, box: Box) -> bool:
    """Whether each row has two lines, whatever that leaves out."""
    return view.tall and box.cells < NARROW


def _lines_of(view: ListWindow, box: Box) -> int:
    """Lines that all its rows take."""
    return len(view.rows) * (2 if _is_tall(view, box) else 1)


def _fits(view: ListWindow, box: Box) -> bool:
    """Whether all of a tall list is in sight, so that nothing leads on from here."""
    return view.tall and view.total == len(view.rows) and _lines_of(view, box) <= box.rows - EMPTY


def _has_aside(view: ListWindow, box: Box) -> bool:
    """Whether the commands stand beside the list: not where it has use for all the width."""
    return box.cells >= ASIDE_CELLS and not view.bars


def least(view: ListWindow, box: Box) -> int:
    """The rows below which a row of the window or a command would not be seen."""
    if _has_aside(view, box):
        return len(view.rows)
    return _lines_of(view, box) + len(_commands(view, box))


def _commands(view: ListWindow, box: Box, rows: int = MANY) -> list[Line]:
    return command_flow(view.choices, view.hints, box.cells, box.voice, rows, view.numbered)


def _foot(view: ListWindow, box: Box) -> list[Line]:
    """Commands, and under them the letters; side by side where rows are few. A blank line comes last."""
    choices = choice_flow(view.choices, box.cells, box.voice, view.numbered)
    needed = _lines_of(view, box) if _lines_of(view, box) < box.rows else len(view.rows)
    spare = box.rows - len(choices) - needed - 2
    foot = [*choices, *hint_lines(view.hints, box.cells, box.voice, 1 if box.rows < SMALL else max(2, spare))]
    if box.rows < SMALL or len(foot) > box.rows - LEAST_ROWS:
        half = box.rows // 2
        left = box.rows - max(needed, EMPTY)
        most = max(1, max(half, left) if view.choices else min(half, box.rows - needed))
        foot = _commands(view, box, most)
    elif len(foot) + needed > box.rows:  # a row of the list is worth more than lines of their own
        foot = min(foot, _commands(view, box), key=len)
        if len(foot) + needed == box.rows + 1:  # the last row is met on no other page
            tight = _commands(view, box, len(foot) - 1)
            foot = min(foot, tight, key=len)
    foot = foot[: max(0, box.rows - 1)]
    wanted = _lines_of(view, box) + (1 if view.rows else 0)
    return [[], *foot] if foot and box.rows >= SMALL and wanted < box.rows - len(foot) else foot


def _with_aside(view: ListWindow, box: Box) -> Listed:
    left = box.cells - ASIDE - 3
    listed = _list(view, box._replace(cells=left - 1))
    title: Line = [(box.voice.short(msg("choices.title"), ASIDE), "head")]
    hints = [line for hint in view.hints for line in hint_lines((hint,), ASIDE, box.voice)]
    choices = choice_items(view.choices, ASIDE, box.voice, after=view.numbered)
    aside = [*([title, *choices, []] if choices else []), *hints][: box.rows]
    missing: list[Line] = [[] for _ in range(box.rows - len(aside))]
    rule = "|" if box.voice.plain else "│"
    return listed._replace(lines=beside(listed.lines, [*aside, *missing], left, [(rule, "rule"), ("  ", "")]))


def _list(view: ListWindow, box: Box) -> Listed:
    if not view.rows:
        text = box.voice.fitting(view.empty, lambda said: lines_over(said, box.cells, box.rows))
        words = wrap(text, box.cells, box.rows, mark=box.voice.mark)
        return Listed([[(line, "note")] for line in words], 0, 0)
    view = _telling_columns(view)
    with_heads = box.rows >= 6 and (len(view.rows) < box.rows or box.rows >= HEADED)
    room = max(0, box.rows - with_heads)
    half = box.rows // 2
    if box.cells < MIDDLING and (len(view.rows) <= half or (_is_tall(view, box) and half)):
        first = _first(view, half)
        rows = view.rows[first : first + half]
        lines = _two_lined(view, rows, view.first + first, box)
        if lines:
            return Listed(lines, view.first + first, len(rows))
    first = _first(view, room)
    rows = view.rows[first : first + room]
    lines = _table(view, rows, view.first + first, box, with_heads)
    return Listed(lines, view.first + first, len(rows))


def _telling_columns(view: ListWindow) -> ListWindow:
    """The list without the columns in which none of its rows says anything, and without their heads."""
    columns = list(zip(*(row.cells for row in view.rows), strict=False))
    kept = [at for at, cells in enumerate(columns) if at == 0 or any(cell != NOTHING for cell in cells)]
    if len(kept) == len(columns):
        return view
    rows = tuple(row._replace(cells=tuple(row.cells[at] for at in kept)) for row in view.rows)
    return view._replace(heads=tuple(view.heads[at] for at in kept), rows=rows)


def _first(view: ListWindow, room: int) -> int:
    """Which of the rows stands on top, so that the cursor is in sight."""
    at = view.cursor - view.first
    if not 0 <= at < len(view.rows) or at < room:
        return 0
    return at - room + 1


def _table(view: ListWindow, rows: Sequence[Row], first: int, box: Box, with_heads: bool) -> list[Line]:
    gutter = _gutter(view, rows, first, box)
    gap = 2 if box.cells < 60 else 3 if box.cells < 120 else 4
    room = box.cells - gutter - (BAR + gap if view.bars and box.cells >= MIDDLING else 0)
    cells, heads, columns = _sized(view, rows, room, gap, box.voice, with_heads=with_heads)
    cells = named_apart(cells, columns[0], box.voice)
    counted = _columns(view.rows, COUNTED, any)
    right = [at in counted or is_right for at, is_right in enumerate(figures(cells, len(columns)))]
    used = gutter + sum(columns) + gap * (len(columns) - 1)
    share = min(24, box.cells - used - gap) if box.cells >= 60 else 0
    lines = [table_line(heads, columns, right, gap, gutter, ("head", "head"), box.voice)] if heads else []
    for index, (row, texts) in enumerate(zip(rows, cells, strict=True), first):
        roles = ("cursor", "cursor") if index == view.cursor else ("cell", "cell-dim")
        line = table_line(texts, columns, right, gap, gutter, roles, box.voice)
        line = [*_lead(view, row, index, gutter), *line[1:]]
        if index == view.cursor:
            line = _marked(line, gutter, box)
        elif row.share >= 0 and share >= BAR:
            line = [*padded(line, used + gap), *bar(row.share, share, box.voice)]
        lines.append(line)
    return lines


class Sized(NamedTuple):
    """The texts of a table, and the widths of as many of its columns as fit."""

    cells: list[list[str]]
    heads: list[str]
    columns: list[int]

    @property
    def whole(self) -> bool:
        """Whether all columns are there, each with all of its text."""
        wanted = natural(self.cells)
        return len(self.columns) == len(wanted) and all(map(int.__ge__, self.columns, wanted))

    @property
    def legible(self) -> bool:
        """Whether each column that is there has all of its text, or enough of it."""
        return all(
            column >= min(want, LEGIBLE) for column, want in zip(self.columns, natural(self.cells), strict=False)
        )


def _sized(
    view: ListWindow, rows: Sequence[Row], room: int, gap: int, voice: Voice, *, with_heads: bool, named: int = NAMED
) -> Sized:
    """The longest words that fit uncut, else the shortest of all but what names a row, else the shortest; moments keep
    their hour where the names can be read. Names have `named` cells before the last columns."""

    def sized(level: int, dates: int, names: int = 0) -> Sized:
        cells = [[voice.say(cell, dates if cell.id.startswith(DATED) else level) for cell in row.cells] for row in rows]
        if names > level:
            cells = [[voice.say(row.cells[0], names), *texts[1:]] for row, texts in zip(rows, cells, strict=True)]
        heads = [voice.say(head, level) for head in view.heads] if with_heads else []
        cells, heads = _telling(cells, heads, room, gap)
        lines = [*cells, heads] if heads else cells
        words, moments = _columns(view.rows, WORDS), _columns(view.rows, DATED)
        columns = column_widths(lines, room, gap, words, moments, named=min(named, room // 3))
        shorter = {voice.say(head, level): voice.say(head, 0) for head in view.heads}
        heads = [head if width(head) <= column else shorter[head] for head, column in zip(heads, columns, strict=False)]
        return Sized(cells, heads, columns)

    dates = 9 if room >= HOURS else 0
    for level, names in _lengths(rows, voice):
        if (found := sized(level, level or dates, names)).whole:
            return found
    short = sized(0, 0)
    long = sized(0, dates) if dates else short
    return long if len(long.columns) == len(short.columns) and long.legible else short


def _lengths(rows: Sequence[Row], voice: Voice) -> Iterator[tuple[int, int]]:
    """In which length cells are tried, and in which what names a row: the longest of two that are long only where a
    cell has both."""
    yield 9, 9
    if any(levels(cell, voice.language) > LONG for row in rows for cell in row.cells):
        yield 2, 2
    yield 1, 1
    if rows[0].cells[0].id != NOTHING.id:
        yield 0, 9
        yield 0, 1


def _two_lined(view: ListWindow, rows: Sequence[Row], first: int, box: Box) -> list[Line]:
    """Each name on a line of its own, and under it the rest, where a table would cut names and rows stay blank, or
    leave out what a tall list has to say; else nothing."""
    gutter = _gutter(view, rows, first, box)
    room = box.cells - gutter
    for level in (9, 1, 0) if box.cells >= NARROW else (0,):
        cells = [[box.voice.say(cell, level) for cell in row.cells] for row in rows]
        if sum(natural([row[1:] for row in cells])) + 2 * (len(cells[0]) - 2) <= room:
            break
    columns = column_widths(cells, room, 2, _columns(view.rows, WORDS))
    least = room
    if box.cells >= NARROW:
        least, columns = LEGIBLE, _sized(view, rows, room, 2, box.voice, with_heads=False, named=0).columns
    is_named = columns[0] >= min(least, natural(cells)[0])
    if len(cells[0]) < 2 or (is_named and (len(columns) == len(cells[0]) or not _is_tall(view, box))):
        return []
    heads = [box.voice.say(head, 0) for head in view.heads] if len(rows) * 2 < box.rows and not view.tall else []
    rest = [row[1:] for row in ([*cells, heads] if heads else cells)]
    columns = natural(rest)
    while len(columns) > 1 and sum(columns) + 2 * (len(columns) - 1) > room:
        columns.pop()
    columns = [min(column, room) for column in columns]
    right = figures(cells, len(columns), first=1)
    lines = [table_line(heads[1:], columns, right, 2, gutter, ("head", "head"), box.voice)] if heads else []
    for index, texts in enumerate(named_apart(cells, room, box.voice), first):
        name: Line = [*_lead(view, rows[index - first], index, gutter), (texts[0], "cell")]
        lines.append(_marked(name, gutter, box) if index == view.cursor else name)
        lines.append(table_line(texts[1:], columns, right, 2, gutter, ("cell-dim", "cell-dim"), box.voice))
    return lines


MARK = "* "
"""Before the name of a row that is marked; there is room for it before all of them where one is."""


def _gutter(view: ListWindow, rows: Sequence[Row], first: int, box: Box) -> int:
    """Cells before the names: for numbers, the cursor, and what is marked."""
    numbered = min(view.numbered, first - view.first + len(rows))
    numbers = len(str(numbered)) if view.numbered or box.cells >= NARROW else 0
    return 1 + numbers + len(MARK) * any(row.marked for row in view.rows)


def _lead(view: ListWindow, row: Row, index: int, gutter: int) -> Line:
    """What stands before the name of a row."""
    number = str(index - view.first + 1) if index - view.first < view.numbered else ""
    if not any(each.marked for each in view.rows):
        return [(number.rjust(gutter - 1), "row-key"), (" ", "")] if number else [(" " * gutter, "")]
    return [(number.rjust(gutter - 1 - len(MARK)), "row-key"), (" ", ""), (MARK if row.marked else "  ", "cell")]


def _marked(line: Line, gutter: int, box: Box) -> Line:
    """The row under the cursor: a sign in front of its text, and the colour of the cursor over its whole width."""
    text = "".join(text for text, _ in line)
    sign = ">" if box.voice.plain else "›"
    at = gutter - 1 if text[:1].strip() or text[: gutter - 1].strip() else 0
    return padded([(text[:at] + sign + text[at + 1 :], "cursor")], box.cells, "cursor")


def _telling(cells: list[list[str]], heads: list[str], room: int, gap: int) -> tuple[list[list[str]], list[str]]:
    """The columns without those that say what stands in the first one too, where that one would have to be cut."""
    wanted = natural(cells)
    if not wanted or sum(wanted) + gap * (len(wanted) - 1) <= room:
        return cells, heads
    kept = [at for at in range(len(wanted)) if at == 0 or not all(_repeats(row[at], row[0]) for row in cells)]
    return [[row[at] for at in kept] for row in cells], [heads[at] for at in kept] if heads else []


def _repeats(text: str, name: str) -> bool:
    """Whether a name has the words of this text; a number in it says something else."""
    return not text or (not NUMBER.fullmatch(text) and f" {text} ".casefold() in f" {name} ".casefold())


def _columns(
    rows: Sequence[Row], ids: str | tuple[str, ...], of: Callable[[Iterable[bool]], bool] = all
) -> frozenset[int]:
    """The columns of such messages alone: of words for what became of work, or of moments, half of one says nothing."""
    columns = zip(*(row.cells for row in rows), strict=False)
    return frozenset(at for at, cells in enumerate(columns) if of(cell.id.startswith(ids) for cell in cells))


def range_text(view: ListWindow, listed: Listed) -> Msg | None:
    """Which rows are in sight, where not all are, or where there may be more than are known."""
    if listed.shown == 0 or (listed.shown >= view.total and not view.more):
        return None
    range_ = "list.range_more" if view.more else "list.range"
    return msg(range_, first=listed.first + 1, last=listed.first + listed.shown, total=view.total)
