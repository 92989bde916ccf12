"""A page to read: what it is, then its blocks, in columns where the screen is wide, on pages where it is small."""

from __future__ import annotations

from collections.abc import Sequence

from aisle.jobs.view import ASK, GOOD, INFO, PAGING, WRONG, Block, Detail, Hint, Msg, msg, numbered_rows
from aisle.jobs.view import Line as Told
from aisle.text import fit, fit_middle, width, wrap
from aisle.tui.catalogue import LONGEST, Voice
from aisle.tui.screens import place_map
from aisle.tui.screens.painted import Line, beside, clipped, line_width, sides
from aisle.tui.screens.parts import Cover, choice_flow, choice_items, command_flow, flowed, hint_lines, lines_over
from aisle.tui.screens.step import Box
from aisle.tui.screens.table import NUMBER, column_widths, named_apart, table_line
from aisle.tuples import NamedTuple

COLUMN = 36
"""Cells of a column below which no further one is opened."""

WIDEST = 110
"""Cells of a column above which another one is opened, though all of it would fit into this."""

COLUMNS = 3
"""Columns at most: more of them are not read, but searched."""

NARROW = 42
"""Below this width a row that is too long takes two lines, so that nothing of it is lost."""

LEGIBLE = 5
"""Cells, with the mark, below which what is left of a text that is cut says nothing."""

LEAST = 3
"""Below so many lines for the blocks their titles are left out, so that there is room for what stands under them."""

LOOKS = {
    **{kind: f"look-{kind}" for kind in (GOOD, WRONG, INFO, ASK)},
    "accent": "block",
    "bold": "row",
    "dim": "hint",
    "reversed": "cursor",
}
"""The role that draws each look of a sample."""


class Unit(NamedTuple):
    """What stays together: the title of a block, or one of its rows."""

    lines: list[Line]
    title: int = -1
    """Index of the block whose title this is; -1 for a row."""
    block: int = 0


LONGEST_TEXT = 60
"""Lines of a text at most."""

SMALL = 14
"""Below so many rows there are no blank lines, and what it is stands whole on the first page alone."""


NOTHING = Cover()


def body(view: Detail, box: Box, cover: Cover = NOTHING) -> tuple[list[Line], Msg | None]:
    """The page in exactly so many rows as are not covered, and which page of how many it is (None where there is but
    one). Where a page begins does not depend on what is said on it: all is on one page, or each has the same rows."""
    tops = _tops(view, box)
    air: list[Line] = [[]] if box.rows >= SMALL else []
    room = box.rows - len(_foot(view, view.hints, box)) - (len(air) if view.choices else 0)
    heads = [[*top, *air] if top else [] for top in tops]
    kept = int(_is_stocked(view))
    pages = _pages(view, box, _rooms(room, heads, cover.now, kept))
    if len(pages) > 1:
        pages = _pages(view, box, _rooms(room, heads, max(cover), kept))
    at = view.page % len(pages) if pages else 0
    hints = [hint for hint in view.hints if len(pages) > 1 or hint.stays or hint.text.id not in PAGING]
    page = pages[at] if pages else []
    spare = room + len(_foot(view, view.hints, box)) - max(cover) - len(heads[0]) - len(page)
    below = [*(air if view.choices else []), *_foot(view, hints, box, spare if len(pages) < 2 else 0)]
    rows = max(0, box.rows - cover.now)
    top = _pared(heads[min(at, 1)], max(0, rows - len(page) - len(below)), view, box)
    if len(pages) < 2:
        top = _with_rest(top, rows - len(top) - len(page) - len(below), view, box)
    above = [*_unfolded(top, rows - len(top) - len(page) - len(below), view, box), *page]
    filler: list[Line] = [[] for _ in range(rows - len(above) - len(below))]
    told = msg("frame.page", page=at + 1, pages=len(pages)) if len(pages) > 1 else None
    return [*above, *filler, *below][:rows], told


def _is_stocked(view: Detail) -> bool:
    """Whether it says of a product how many there are: what is listed of it gives way before that does."""
    return {"product", "quantity"} <= {line.role for line in view.lines}


def _rooms(room: int, heads: Sequence[list[Line]], covered: int, kept: int) -> list[int]:
    """Lines for the blocks on the first page, and on those after it; a line at least where there is any. Of what it is,
    so many lines of the first page are never covered."""
    left = [max(0, room - len(head)) for head in heads]
    free = [len(heads[0]) - kept, *map(len, heads[1:])]
    return [max(min(1, rows), rows - max(0, covered - head)) for rows, head in zip(left, free, strict=True)]


def _with_rest(head: list[Line], spare: int, view: Detail, box: Box) -> list[Line]:
    """What it is, with as many of the lines that it always goes without as are left blank."""
    lines, most = _said(view, box)
    return [*head[:most], *lines[most : most + max(0, spare)], *head[most:]]


def _unfolded(head: list[Line], spare: int, view: Detail, box: Box) -> list[Line]:
    """What it is, on as many more lines as are left blank: what one line cuts has two, then what it says in fewer
    words, but for figures."""
    lines = list(head)
    said = [(told, [("".join(_parts(told, box, 1)), told.role)]) for told in view.lines]
    said.sort(key=lambda each: box.voice.mark not in each[1][0][0])
    for told, line in said:
        cut = box.voice.mark in line[0][0]
        whole = _parts(told, box, 2) if spare and line in lines and (cut or told.role != "quantity") else []
        if len(whole) > 1:
            at = lines.index(line)
            lines[at : at + 1] = [[(part, told.role)] for part in whole]
            spare -= 1
    return lines


def _parts(told: Told, box: Box, rows: int) -> list[str]:
    """What stands of a line of what it is, on so many lines."""
    over = (lambda said: lines_over(said, box.cells, rows)) if rows > 1 else (lambda said: width(said) - box.cells)
    return wrap(box.voice.fitting(told.text, over), box.cells, rows, mark=box.voice.mark, middle=told.role == "product")


def _said(view: Detail, box: Box) -> tuple[list[Line], int]:
    """What it is, and how many of these lines a page has that has more to show than there is room for."""
    lines: list[Line] = []
    told = view.lines
    if tight := box.rows < 8 and _is_stocked(view):
        said = {line.role: line.text for line in reversed(view.lines)}
        lines.append(_tight(said["product"], said["quantity"], box))
        told = tuple(line for line in view.lines if line.role not in ("product", "quantity"))
    rows_each = 1 if box.rows < 12 else 2
    for line in told:
        lines += [[(part, line.role)] for part in _parts(line, box, rows_each)]
    return lines, 1 if tight else max(1, box.rows // 3)


def _tops(view: Detail, box: Box) -> tuple[list[Line], list[Line]]:
    """What it is, and the map: for the first page, and for those after it."""
    lines, most = _said(view, box)
    lines = lines[:most]
    short = lines[:1] if box.rows >= 5 else []
    if view.marks and box.rows >= 9:
        lines += place_map.rows(view.marks, box, 1 if box.rows < 16 else max(1, box.rows // 4))
    return lines, short if box.rows < SMALL else lines


def _tight(product: Msg, quantity: Msg, box: Box) -> Line:
    """What it is and how many on one line."""
    told = box.voice.short(quantity, box.cells // 2)
    room = max(1, box.cells - width(told) - 2)
    name = box.voice.fitting(product, lambda text: width(text) - room)
    return sides([(fit_middle(name, room, mark=box.voice.mark), "product")], [(told, "quantity")], box.cells)


def _pared(head: list[Line], rows: int, view: Detail, box: Box) -> list[Line]:
    """What it is in so many lines: how many there are goes last, and stands beside the name before that goes."""
    kept = list(head)
    for role in ("", "mark-here", "mark", "note", "product"):
        same = [line for line in kept if (line[0][1] if line else "") == role]
        for line in reversed(same[role == "product" :]):
            if len(kept) > rows:
                kept = [other for other in kept if other is not line]
    said = {line.role: line.text for line in reversed(view.lines)}
    shown = {line[0][1] for line in kept if line}
    if rows == 1 < len(kept) and {"product", "quantity"} <= shown:
        return [_tight(said["product"], said["quantity"], box)]
    names = [[line for line in lines if line and line[0][1] == "product"] for lines in (kept, head)]
    if names[0] and len(names[0]) < len(names[1]):
        name = box.voice.fitting(said["product"], lambda text: width(text) - box.cells)
        name = fit_middle(name, box.cells, mark=box.voice.mark)
        kept = [[(name, "product")] if line is names[0][0] else line for line in kept]
    return kept[:rows]


def _foot(view: Detail, hints: Sequence[Hint], box: Box, spare: int = 0) -> list[Line]:
    """All choices, under each other where there is room, and under them the letters; together where rows are few. On
    `spare` lines letters keep their words."""
    after = numbered_rows(view)
    choices = choice_items(view.choices, box.cells, box.voice, after=after, keys=view.keys)
    if len(choices) > box.rows // 6:
        choices = choice_flow(view.choices, box.cells, box.voice, after, view.keys)
    feet = 2 if box.rows >= 9 else 1
    feet = max(feet, min(spare, box.rows // 2) - len(choices))
    foot = [*choices, *hint_lines(hints, box.cells, box.voice, feet)[:feet]]
    if len(foot) > box.rows // 2:
        foot = command_flow(view.choices, hints, box.cells, box.voice, box.rows // 2, after, view.keys)
    return foot[: max(0, box.rows - 1)]


# Blocks, columns and pages


def _pages(view: Detail, box: Box, rooms: Sequence[int]) -> list[list[Line]]:
    """The blocks on as many pages as they need; `rooms`: the lines of the first page, and of those after it."""
    if not view.blocks or max(rooms) <= 0:
        return []
    if min(rooms) <= 0:  # what it is and what can be done take all of the first page, and leave some of the others
        return [[], *_pages(view, box, [max(rooms)] * 2)]
    most = max(1, min(COLUMNS, len(view.blocks), (box.cells + 3) // (COLUMN + 3)))
    for count in range(1, most + 1):
        cells = (box.cells - 3 * (count - 1)) // count
        blocks = [
            _units(_told(block), index, cells, box.voice)[1:]
            if min(rooms) < LEAST or (block.tight and box.rows < SMALL)
            else _units(block, index, cells, box.voice)
            for index, block in enumerate(view.blocks)
        ]
        columns = _whole_columns(blocks, count, rooms[0]) if cells <= WIDEST or count == most else []
        if columns:
            break
    columns = columns or _broken_columns(blocks, count, rooms)
    pages = []
    for first in range(0, len(columns), count):
        page = columns[first]
        for at, column in enumerate(columns[first + 1 : first + count], 1):
            page = beside(page, column, at * (cells + 3) - 3, [("   ", "")])
        pages.append([clipped(line, box.cells) for line in page])
    return pages


def _told(block: Block) -> Block:
    """A block without its title, as its rows have to be then."""
    return block._replace(rows=tuple((*row, block.title) for row in block.rows)) if block.telling else block


def _units(block: Block, index: int, cells: int, voice: Voice) -> list[Unit]:
    title: list[Line] = [[(voice.short(block.title, cells), "block")]]
    return [Unit(title, index, index), *(Unit(lines, -1, index) for lines in _rows(block, cells, voice))]


def _rows(block: Block, cells: int, voice: Voice) -> list[list[Line]]:
    """The rows of a block as a small table, their numbers in front."""
    if block.looks:
        return [_samples(row, block.looks, cells, voice) for row in block.rows]
    gutter = _gutter(block)
    if not gutter and all(len(row) == 1 for row in block.rows):
        return [[[(part, "row")]] for (cell,) in block.rows for part in wrap(voice.say(cell), cells, LONGEST_TEXT)]
    most = max((len(row) for row in block.rows), default=0)
    texts: list[list[str]] = []
    for level in (LONGEST, 1, 0):
        texts = [[voice.say(cell, level) for cell in row] + [""] * (most - len(row)) for row in block.rows]
        natural = [max(width(row[at]) for row in texts) for at in range(most)]
        if sum(natural) + 2 * (most - 1) + gutter <= cells:
            break
    else:
        if cells < NARROW and most > 1:
            texts = named_apart(texts if block.tight else _under(block, cells - 2, voice), cells - gutter, voice)
            return [_two_lines(row, number, block, cells, voice) for number, row in enumerate(texts, 1)]
    columns = column_widths(texts, cells - gutter, 2) if texts else []
    texts = named_apart(texts, columns[0], voice) if columns else texts
    right = [at > 0 and all(not row[at] or NUMBER.fullmatch(row[at]) for row in texts) for at in range(len(columns))]
    rows: list[list[Line]] = []
    for number, row in enumerate(texts, 1):
        line = table_line(row, columns, right, 2, 0, ("row", "row-dim"), voice)[1:]
        rows.append([[*_number(number, block), *line]])
    return rows


def _samples(row: Sequence[Msg], looks: Sequence[str], cells: int, voice: Voice) -> list[Line]:
    """Each cell as it looks, on as many lines as they need."""
    items: list[Line] = [
        [(f" {voice.short(cell, max(1, cells - 2))} ", LOOKS[look])] for cell, look in zip(row, looks, strict=True)
    ]
    return flowed(items, cells, 1)


def _under(block: Block, cells: int, voice: Voice) -> list[list[str]]:
    """The texts of rows that take two lines, in the longest words in which none of the lower ones is cut."""
    texts: list[list[str]] = []
    for level in (LONGEST, 1, 0):
        texts = [[voice.say(cell, level) for cell in row] for row in block.rows]
        if all(width("  ".join(filter(None, row[1:]))) <= cells for row in texts):
            break
    return texts


def _two_lines(row: Sequence[str], number: int, block: Block, cells: int, voice: Voice) -> list[Line]:
    """What names the row, and under it all the rest."""
    head = _number(number, block)
    first: Line = [*head, (fit_middle(row[0], cells - line_width(head), mark=voice.mark), "row")]
    rest = "  ".join(text for text in row[1:] if text)
    if block.tight and rest and line_width(first) + 2 + width(rest) <= cells:
        return [sides(first, [(rest, "row-dim")], cells)]
    return [first, [("  " + _legible(row[1:], cells - 2, voice), "row-dim")]] if rest else [first]


def _legible(texts: Sequence[str], cells: int, voice: Voice) -> str:
    """Texts side by side; what is cut at the end is left out where what is left of it would say nothing."""
    said = [text for text in texts if text]
    room = cells - width("  ".join(said[:-1])) - 2
    if len(said) > 1 and room < min(width(said[-1]), LEGIBLE):
        return _legible(said[:-1], cells, voice)
    return fit("  ".join(said), cells, mark=voice.mark)


def _number(number: int, block: Block) -> Line:
    cells = _gutter(block)
    if not cells:
        return []
    return [(f"{number:>{cells - 1}} ", "row-key")] if number <= block.numbered else [(" " * cells, "")]


def _gutter(block: Block) -> int:
    """Cells for the numbers in front of the rows."""
    return len(str(block.numbered)) + 1 if block.numbered else 0


def _whole_columns(blocks: Sequence[list[Unit]], count: int, rows: int) -> list[list[Line]]:
    """Every block in one piece, in columns as short as they can be; empty when that takes more than one page."""
    heights = [sum(len(unit.lines) for unit in units) for units in blocks]
    for height in range(max(heights), rows + 1):
        columns: list[list[Line]] = [[]]
        for units, needed in zip(blocks, heights, strict=True):
            gap = 1 if columns[-1] else 0
            if columns[-1] and len(columns[-1]) + gap + needed > height:
                columns.append([])
                gap = 0
            columns[-1] += [*([[]] * gap), *(line for unit in units for line in unit.lines)]
        if len(columns) <= count:
            return columns
    return []


def _broken_columns(blocks: Sequence[list[Unit]], count: int, rooms: Sequence[int]) -> list[list[Line]]:
    """Blocks on as many pages as they need. Side by side each is in one column, where that takes no more pages and
    the first of them shows no less."""
    broken, most = _laid(blocks, count, rooms)
    kept, shown = _laid(blocks, count, rooms, whole=True) if count > 1 else (broken, most)
    return kept if shown >= most and (len(kept) - 1) // count <= (len(broken) - 1) // count else broken


def _laid(
    blocks: Sequence[list[Unit]], count: int, rooms: Sequence[int], *, whole: bool = False
) -> tuple[list[list[Line]], int]:
    """Blocks go on in the next column, those that it has room for as a `whole` begin there on the same page; a
    title never stands alone at the foot, and is said again over what goes on. With it
    how many rows the first page has."""
    columns: list[list[Line]] = [[]]
    shown = 0
    for units in blocks:
        title = units[0].lines if units and units[0].title >= 0 else []
        height = sum(len(unit.lines) for unit in units)
        over = len(columns[-1]) + height - rooms[0 if len(columns) <= count else 1]
        beside = whole and len(columns) % count > 0
        if beside and columns[-1] and over > 0 and height <= rooms[0 if len(columns) < count else 1]:
            columns.append([])
        for at, unit in enumerate(units):
            rows = rooms[0 if len(columns) <= count else 1]
            needed = len(unit.lines)
            if unit.title >= 0 and len(units) > 1 and rows > 1:
                needed += len(units[1].lines)
            if columns[-1] and len(columns[-1]) + needed > rows:
                rows = rooms[0 if len(columns) < count else 1]
                columns.append([*title] if at and rows > len(title) + len(unit.lines) else [])
            columns[-1] += unit.lines
            shown += unit.title < 0 and len(columns) <= count
    return [column[: rooms[0 if at < count else 1]] for at, column in enumerate(columns)], shown
