"""Layout of steps: location, product and quantity, large on large screens; notes, choices and upcoming stops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aisle.jobs.view import Line, Msg, Step, UpcomingStop, View, msg
from aisle.terminal_text import fit, shorten_distinctly, width, wrap
from aisle.tui.layout.choices_and_key_hints import UNLIMITED_ROWS, choice_flow, choice_items, command_flow, hint_lines
from aisle.tui.layout.styled_lines_and_page_parts import (
    STEP,
    BodyParts,
    StyledLine,
    clip_line,
    labelled_value_lines,
    left_and_right,
    side_by_side,
)
from aisle.tui.message_text import MAX_LENGTH, MessageWriter

_GLYPHS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71111",
    "8": "75757", "9": "75717", "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644",
    "G": "34553", "H": "55755", "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25563", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", "-": "00700", ".": "00002", ",": "00024", "/": "11244",
    ":": "02020", " ": "00000", "o": "00757", "f": "34644",
}  # fmt: skip
"""Glyphs of five rows with three pixels, each row an octal digit. `of` is the only small word between large numbers."""

_HALVES = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}


_GAP, _BLANK = (0,), (0, 0)
"""Columns of pixels between two letters, and for a blank."""


def large_letters(text: str, cells: int) -> list[str]:
    """Return the text in the largest letters that fit into `cells`: five lines high, or three; empty for neither."""
    glyphs = [_GLYPHS.get(char) or _GLYPHS.get(char.upper()) for char in text]
    if not text.strip() or None in glyphs:
        return []
    rows = [_pixel_row([int(glyph[row]) for glyph in glyphs if glyph], text) for row in range(5)]
    for draw, columns in ((_full_size, 2), (_half_size, 1)):
        if columns * len(rows[0]) <= cells:
            return draw(rows)
    return []


def _pixel_row(glyphs: list[int], text: str) -> list[int]:
    """Return one row of pixels of all glyphs."""
    row: list[int] = []
    for glyph, char in zip(glyphs, text, strict=True):
        row += _BLANK if char == " " else (glyph >> 2 & 1, glyph >> 1 & 1, glyph & 1)
        row += _GAP
    return row


def _full_size(rows: list[list[int]]) -> list[str]:
    return ["".join("██" if bit else "  " for bit in row).rstrip() for row in rows]


def _half_size(rows: list[list[int]]) -> list[str]:
    lines = [*rows, [0] * len(rows[0])]
    pairs = ((lines[index], lines[index + 1]) for index in (0, 2, 4))
    return ["".join(_HALVES[pair] for pair in zip(upper, lower, strict=True)).rstrip() for upper, lower in pairs]


GAP = -1
"""Pseudo-size in priorities: the blank line before a block."""


class StackBlock(NamedTuple):
    """Block in several sizes, small first. It is left out until a priority grants a size."""

    sizes: tuple[list[StyledLine], ...]


def stack_blocks(blocks: Sequence[StackBlock], priorities: Sequence[tuple[int, int]], rows: int) -> list[StyledLine]:
    """Return the blocks from top to bottom in at most `rows` lines.

    `priorities` are (block, size) or (block, GAP), most important first; each is granted if it still fits.
    """
    granted: dict[int, list[StyledLine]] = {}
    gaps: set[int] = set()
    left = rows
    for index, size in priorities:
        sizes = blocks[index].sizes
        if size == GAP:
            above = any(granted.get(other) for other in range(index))
            if left > 0 and above and granted.get(index) and index not in gaps:
                gaps.add(index)
                left -= 1
        elif size < len(sizes):
            more = len(sizes[size]) - len(granted.get(index, ()))
            if 0 <= more <= left:
                granted[index] = sizes[size]
                left -= more
    lines: list[StyledLine] = []
    for index in range(len(blocks)):
        if index in gaps:
            lines.append([])
        lines.extend(granted.get(index, ()))
    return lines


MIN_TWO_COLUMN_CELLS = 72
"""Width from which upcoming stops are in a second column."""

BIG_CELLS, BIG_ROWS = 64, 20
"""Size of the body from which location and quantity are drawn large, to be read from a few steps away."""

MAX_CHOICE_ROWS = 2
"""Maximum lines of a choice that one line would cut."""

MIN_LEGIBLE_CELLS = 5
"""Cells below which the name of an upcoming stop is left out."""

MIN_NAME_CELLS = 12
"""Cells of the product name of goods in hand below which their location is left out."""

MIN_LOCATION_ROWS = 6
"""Rows below which location and quantity share a line."""

MAIN_ROLES = ("location", "product", "quantity")

UPCOMING_TITLE = Msg("upcoming.title")
"""Usual title of upcoming stops, for which a single line has a shorter text."""


PRODUCT_ROWS = ((20, 4), (14, 3), (10, 2), (0, 1))
"""Rows of the screen, and the rows that the product's name has then."""

WIDE_PRODUCT_CELLS, WIDE_PRODUCT_ROWS = 30, 2
"""Width from which a product's name needs at most so many rows."""

MIN_LONG_PROGRESS_CELLS = 40
"""Width from which the progress has its longest text."""

MIN_STACKED_ROWS = 4
"""Rows below product and quantity from which choices and commands have their own."""


class LayoutBox(NamedTuple):
    """Space for a body."""

    cells: int
    rows: int
    writer: MessageWriter


def step_page(step: Step, box: LayoutBox, max_hint_rows: int = 0) -> BodyParts:
    """Return the step in at most `box.rows` lines; less important parts are left out."""
    hint_rows = max_hint_rows or (2 if box.rows >= 9 else 1)
    footer = hint_lines(step.key_hints, box.cells, box.writer, hint_rows)[:hint_rows] if box.rows >= 4 else []
    above = len({line.role for line in step.lines} & set(MAIN_ROLES))
    choices = len(choice_flow(step.choices, box.cells, box.writer, letters=step.choice_letters))
    if choices > max(1, box.rows - above - len(footer)) or _is_tight(step, above, choices + len(footer), box):
        footer = _footer(step, box, max(1, box.rows - 2))
        footer, step = (
            _cut_choices(footer, box._replace(rows=box.rows - (1 if above else 0))),
            step._replace(choices=(), choice_letters=""),
        )
    space = box.rows - len(footer) - (1 if footer and box.rows >= 12 else 0)
    if box.cells >= MIN_TWO_COLUMN_CELLS and (step.upcoming or step.labelled_values):
        lines = _two_columns(step, box._replace(rows=space))
    else:
        lines = _one_column(step, box._replace(rows=space))
    return BodyParts(STEP, [*lines, *([] for _ in range(box.rows - len(footer) - len(lines)))], footer)


def is_goods_step(view: View, box: LayoutBox) -> bool:
    """Return True for a step with product and quantity on a handheld, whose rows have fixed places."""
    if not isinstance(view, Step) or box.cells >= BIG_CELLS:
        return False
    return {"product", "quantity"} <= {line.role for line in view.lines}


def goods_header(step: Step, progress: Msg | None, box: LayoutBox) -> StyledLine:
    """Return the first row of a step with goods: the location, or the title if there is none, and the progress."""
    place = next((line.text for line in step.lines if line.role == "location"), step.title)
    right = _progress_beside(place, step, progress, box) if progress else ""
    space = box.cells - width(right) - (1 if right else 0)
    text = fit(box.writer.fit_line(place, space), box.cells - width(right), pad=True)
    return [(text + right, "place-bar")]


def _progress_beside(place: Msg, step: Step, progress: Msg, box: LayoutBox) -> str:
    """Return the longest text of the progress that leaves room for the location, or for a third of the row of a title;
    at last the count of its parts."""
    count = box.writer.write(msg("progress.of", done=step.done, total=step.total), 0)
    texts = [box.writer.write(progress, MAX_LENGTH)] if box.cells >= MIN_LONG_PROGRESS_CELLS else []
    least = width(box.writer.write(place, 0))
    space = box.cells - 1 - (min(least, box.cells // 3) if place is step.title else least)
    texts.append(box.writer.write(progress, 0))
    return next((text for text in texts if width(text) <= space), count if step.total else texts[-1])


def goods_page(step: Step, box: LayoutBox, screen_rows: int) -> BodyParts:
    """Return the body of a step with goods in at most `box.rows` lines.

    Product and quantity have fixed rows for each number of screen rows; notes, choices and hints share the others. Only
    choices that would be hidden take rows from the product's name.
    """
    found = {line.role: line for line in reversed(step.lines)}
    names = _product_rows(box, screen_rows)
    names = max(1, min(names, box.rows - 1 - len(_footer(step, box, max(1, box.rows - 2)))))
    product = _message_lines(found["product"].text, "product", box, names)
    blank: list[StyledLine] = [[] for _ in range(names - len(product))]
    quantity = [(_quantity_row(found["quantity"], box), "quantity-bar")]
    below = _below_quantity(step, box._replace(rows=max(0, box.rows - names - 1)))
    body = [*product, *blank, quantity, *below.body][: box.rows]
    return below._replace(body=body, commands=below.commands[: box.rows - len(body)])


def _quantity_row(line: Line, box: LayoutBox) -> str:
    """Return the row of the quantity: what to take on the left, and what is taken on the right if it has room."""
    if line.bar is None:
        return fit(box.writer.fit_line(line.text, box.cells), box.cells, pad=True)
    left, right = line.bar
    space = box.cells - width(box.writer.write(left, 0)) - 1
    taken = box.writer.fit_line(right, space) if width(box.writer.write(right, 0)) <= space else ""
    cells = box.cells - (width(taken) + 1 if taken else 0)
    return fit(box.writer.fit_line(left, cells), box.cells - width(taken), pad=True) + taken


def _product_rows(box: LayoutBox, screen_rows: int) -> int:
    """Return the number of rows for the product's name."""
    rows = next(rows for least, rows in PRODUCT_ROWS if screen_rows >= least)
    return min(rows, WIDE_PRODUCT_ROWS) if box.cells >= WIDE_PRODUCT_CELLS else rows


def _below_quantity(step: Step, box: LayoutBox) -> BodyParts:
    """Return notes, title, upcoming stops, choices and commands. With few rows, choices and commands share one."""
    notes = tuple(line for line in step.lines if line.role not in MAIN_ROLES)
    if any(line.role == "location" for line in step.lines):
        notes = (*notes, Line("label", step.title))
    rest = step._replace(lines=notes)
    choices = choice_flow(step.choices, box.cells, box.writer, letters=step.choice_letters)
    hints = hint_lines(step.key_hints, box.cells, box.writer, 2)
    if box.rows >= MIN_STACKED_ROWS and len(choices) + len(hints) <= box.rows:
        return step_page(rest, box, max_hint_rows=2)
    commands = _footer(step, box, box.rows if choices else 1)
    bare = rest._replace(choices=(), choice_letters="", key_hints=())
    lines = _one_column(bare, box._replace(rows=box.rows - len(commands)))
    filler: list[StyledLine] = [[] for _ in range(box.rows - len(commands) - len(lines))]
    return BodyParts(STEP, [*lines, *filler], commands)


def _footer(step: Step, box: LayoutBox, rows: int) -> list[StyledLine]:
    """Return choices and commands together, on `rows` lines."""
    return command_flow(step.choices, step.key_hints, box.cells, box.writer, rows, letters=step.choice_letters)


def _is_tight(step: Step, rows_above: int, footer_rows: int, box: LayoutBox) -> bool:
    """Return True if a note fits only when the way back is beside the choices."""
    notes = sum(line.role not in MAIN_ROLES for line in step.lines)
    beside = box.rows < MIN_LOCATION_ROWS and {"location", "quantity"} <= {line.role for line in step.lines}
    if (
        len(step.key_hints) != 1
        or not notes
        or not step.choices
        or rows_above - beside + notes + footer_rows <= box.rows
    ):
        return False
    return len(_footer(step, box, max(1, box.rows - 2))) < footer_rows


def min_step_rows(step: Step, box: LayoutBox) -> int:
    """Return the number of rows below which a choice would be hidden, or would take a row from goods."""
    if is_goods_step(step, box):
        return _product_rows(box, box.rows) + 1 + len(_footer(step, box, box.rows if step.choices else 1))
    above = 2 if any(line.role == "product" for line in step.lines) else 1
    return above + len(_footer(step, box, 1))


def _two_columns(step: Step, box: LayoutBox) -> list[StyledLine]:
    left = max(34, box.cells * 9 // 20)
    right = box.cells - left - 3
    alone = step._replace(upcoming=(), labelled_values=())
    rule = "|" if box.writer.is_ascii else "│"
    right_lines = _side_column(step, box._replace(cells=right))
    left_lines = _one_column(alone, box._replace(cells=left - 1))
    right_lines += [[] for _ in range(box.rows - len(right_lines))]
    return side_by_side(left_lines, right_lines, left, [(rule, "rule"), ("  ", "")])


def _side_column(step: Step, box: LayoutBox) -> list[StyledLine]:
    """Return upcoming stops and labelled values for the second column."""
    facts = labelled_value_lines(step.labelled_values, box.cells, box.writer)
    title: list[StyledLine] = [[(box.writer.fit_line(step.upcoming_title, box.cells), "head")]]
    stops = [*title, *upcoming_stop_lines(step.upcoming, box.cells, box.writer)] if step.upcoming else []
    sizes = tuple(stops[:count] for count in range(2, len(stops) + 1))
    blocks = (StackBlock(sizes), StackBlock((facts[:1], facts)))
    order = [(0, 0), (0, 1), (1, 0), (1, 1), (1, GAP), *((0, size) for size in range(2, len(sizes)))]
    return stack_blocks(blocks, order, box.rows)


def _one_column(step: Step, box: LayoutBox) -> list[StyledLine]:
    first, rest = _main_blocks(step, box), [line for line in step.lines if line.role not in MAIN_ROLES]
    notes = _wrap_lines(rest, box, 1)
    least = sum(len(block.sizes[0]) for block in first if block.sizes)
    tight = _cut_choices(
        choice_flow(step.choices, box.cells, box.writer, letters=step.choice_letters),
        box._replace(rows=box.rows - least),
    )
    choices, whole = (
        choice_items(step.choices, box.cells, box.writer, rows, letters=step.choice_letters)
        for rows in (1, MAX_CHOICE_ROWS)
    )
    facts = labelled_value_lines(step.labelled_values, box.cells, box.writer)
    coming = _upcoming_lines(step, box)
    blocks = (
        *first,
        StackBlock((*(notes[:count] for count in range(1, len(notes))), notes, _wrap_lines(rest, box, 3))),
        StackBlock((tight if len(tight) < len(choices) else choices, choices, whole)),
        StackBlock(coming),
        StackBlock((labelled_value_lines(step.labelled_values[:2], box.cells, box.writer), facts)),
    )
    note, choice, come, fact = 3, 4, 5, 6
    last = max(1, len(notes))
    order = [
        (0, 0), (1, 0), (2, 0), (choice, 0), *((note, size) for size in range(last)), (1, 1), (come, 0), (note, last),
        (choice, 1), (choice, 2), (2, GAP), (1, GAP), (choice, GAP), (come, GAP), (0, 1), (2, 1), (1, 2), (come, 1),
        (come, 2), (note, GAP), (fact, 0), (fact, GAP), (fact, 1), *((come, size) for size in range(3, len(coming))),
    ]  # fmt: skip
    if box.rows < MIN_LOCATION_ROWS:
        order.insert(order.index((2, GAP)), (come, 1))
    return stack_blocks(blocks, order, box.rows)


def _cut_choices(choices: list[StyledLine], box: LayoutBox) -> list[StyledLine]:
    """Return the choices that fit, at least one line; a cut is marked."""
    kept = choices[: max(1, box.rows)]
    if len(kept) == len(choices):
        return choices
    mark = box.writer.cut_mark
    return [*kept[:-1], [*clip_line(kept[-1], box.cells - width(mark) - 1), (" ", ""), (mark, "choice")]]


def _main_blocks(step: Step, box: LayoutBox) -> tuple[StackBlock, StackBlock, StackBlock]:
    """Return location, product and quantity; location and quantity share a line if there are few rows."""
    found = {line.role: line.text for line in reversed(step.lines) if line.role in MAIN_ROLES}
    place, product, quantity = (found.get(role) for role in MAIN_ROLES)
    products = tuple(_message_lines(product, "product", box, rows) for rows in (1, 2, 3)) if product else ()
    if place and quantity and box.rows < MIN_LOCATION_ROWS:
        right = _message_lines(quantity, "quantity", box._replace(cells=box.cells // 2), 1)[0]
        left = _message_lines(place, "location", box._replace(cells=box.cells - width(right[0][0]) - 1), 1)[0]
        return StackBlock(([left_and_right(left, right, box.cells)],)), StackBlock(products), StackBlock(())
    return (
        StackBlock(_sized_lines(place, "location", box)),
        StackBlock(products),
        StackBlock(_sized_lines(quantity, "quantity", box)),
    )


def _sized_lines(message: Msg | None, role: str, box: LayoutBox) -> tuple[list[StyledLine], ...]:
    """Return one line, and large letters on large screens if the message has arguments.

    A message without them, such as that there is no location, stays small.
    """
    if message is None:
        return ()
    small = _message_lines(message, role, box, 1)
    if box.cells < BIG_CELLS or box.rows < BIG_ROWS or box.writer.is_ascii:
        return (small,)
    letters = large_letters(box.writer.write(message, 0), box.cells) if message.args else []
    return (small, [[(row, role)] for row in letters]) if letters else (small,)


def _message_lines(message: Msg, role: str, box: LayoutBox, rows: int) -> list[StyledLine]:
    """Return a message in at most `rows` lines, in the longest length that fits."""
    text = box.writer.fit(message, lambda said: width(said) - box.cells * rows)
    lines = wrap(text, box.cells, rows, mark=box.writer.cut_mark, middle=role == "product")
    return [[(line, role)] for line in lines] or [[("", role)]]


def _wrap_lines(lines: Sequence[Line], box: LayoutBox, rows: int) -> list[StyledLine]:
    return [
        drawn
        for line in lines
        for drawn in _message_lines(line.text, line.role, box, 1 if line.role == "label" else rows)
    ]


def _upcoming_lines(step: Step, box: LayoutBox) -> tuple[list[StyledLine], ...]:
    """Return the upcoming stops: the next one on one line, then growing lists under a title.

    For stops to go to, the location is kept before the name; for goods in hand the name comes first.
    """
    stops = step.upcoming
    if not stops:
        return ()
    word = box.writer.write(msg("upcoming.next") if step.upcoming_title == UPCOMING_TITLE else step.upcoming_title, 0)
    space = box.cells - width(word) - 2
    beside = [
        _upcoming_beside_title(step, word, space, box, count) for count in range(1, min(box.rows, len(stops)) + 1)
    ]
    if box.rows < MIN_LOCATION_ROWS:
        return tuple(beside)
    head: StyledLine = [(box.writer.fit_line(step.upcoming_title, box.cells), "head")]
    if step.is_upcoming_at_hand and not all(_fits_name(stop, box.cells, box.writer, MIN_NAME_CELLS) for stop in stops):
        stops = tuple(stop._replace(location="") for stop in stops)
    drawn = upcoming_stop_lines(stops, box.cells, box.writer)
    return (*beside[:1], *([head, *drawn[:count]] for count in range(2, len(drawn) + 1)))


def _upcoming_beside_title(step: Step, title: str, cells: int, box: LayoutBox, count: int) -> list[StyledLine]:
    """Return `count` upcoming stops with the title before the first one instead of a title line."""
    stops = step.upcoming
    if step.is_upcoming_at_hand and not all(_fits_name(stop, cells, box.writer) for stop in stops[:count]):
        stops = tuple(stop._replace(location="") for stop in stops)
    drawn = upcoming_stop_lines(stops, cells, box.writer, count)
    return [[(title if not row else " " * width(title), "head"), ("  ", ""), *line] for row, line in enumerate(drawn)]


def _fits_name(stop: UpcomingStop, cells: int, writer: MessageWriter, name: int = MIN_LEGIBLE_CELLS) -> bool:
    """Return True if the product, or `name` cells of it, fits beside the location."""
    return width(writer.clean_text(stop.location)) + width(_quantity_text(stop, writer)) + 4 + name <= cells


def _quantity_text(stop: UpcomingStop, writer: MessageWriter) -> str:
    if stop.quantity is None or not stop.unit:
        return "" if stop.quantity is None else writer.format_number(stop.quantity)
    return writer.write(Msg("move.measure", (("quantity", stop.quantity), ("unit", stop.unit))))


def upcoming_stop_lines(
    stops: Sequence[UpcomingStop], cells: int, writer: MessageWriter, max_shown: int = UNLIMITED_ROWS
) -> list[StyledLine]:
    """Return upcoming stops as a table: location, product, and quantity at the right edge.

    The quantity is whole before anything else. Cut product names still differ from each other.
    """
    first = stops[:max_shown]
    places = [writer.clean_text(stop.location) for stop in first]
    quantities = [_quantity_text(stop, writer) for stop in first]
    last = min(cells, max((width(quantity) for quantity in quantities), default=0))
    widest = max((width(place) for place in places), default=0)
    column = max(0, min(widest, max(cells // 2, min(12, cells - last - 2)), cells - last - 2))
    space = cells - last - 2 - (column + 2 if column else 0)
    labels = [writer.clean_text(stop.label) for stop in stops]
    worth = space >= MIN_LEGIBLE_CELLS
    space = min(space, max((width(label) for label in labels[:max_shown]), default=0)) if worth else space
    labels = shorten_distinctly(labels, space, mark=writer.cut_mark) if worth else labels
    lines: list[StyledLine] = []
    for place, label, quantity in zip(places, labels[:max_shown], quantities, strict=True):
        line: StyledLine = [(fit(place, column, mark=writer.cut_mark, pad=True), "stop-location")] if column else []
        name = ("  " if column else "") + fit(label, space, pad=True) + "  " if worth else " " * (cells - column - last)
        line.append((name, "stop-label"))
        figure = fit(quantity, last, mark=writer.cut_mark)
        line.append((" " * (last - width(figure)) + figure, "stop-quantity"))
        lines.append(line)
    return lines
