"""A list that was never read is not shown as an empty one, nor what has come of it as all: the page says it."""

from __future__ import annotations

from aisle.jobs.lists import LISTS
from aisle.jobs.view import Chart, Frame, Line, ListWindow, Msg, Row, Step, msg

NEEDS = {
    "home": "headers",
    "orders": "headers",
    "walk": "headers",
    "exceptions": "headers",
    "receive": "deliveries",
    "deliveries": "deliveries",
    "browse": "locations",
    "lookup": "products",
    "logs": "logs",
    "count_log": "logs",
    "today": "logs",
}
"""The list that the pages of a job are made of; those of this host alone need none."""

HERE = ("today.terminals", "orders.filter", "orders.field", "orders.views", "receive.lines", "receive.check")
"""Pages of these jobs that are made of something else."""

OURS = ("doubts",)
"""What has to be settled and is counted on this host alone."""


NOTES = {"count.note_empty": "products"}
"""Sentences that say of a place or a thing that nothing is known of it; it may only not be here yet."""


def told(frame: Frame) -> Frame:
    """The frame, its list said to be not here yet where that is so."""
    view = frame.view
    if isinstance(view, Step):
        return frame._replace(view=view._replace(lines=tuple(_known(line, frame) for line in view.lines)))
    wanted = NEEDS.get(view.name.partition(".")[0], "")
    if wanted not in frame.link.unread or view.name in HERE:
        return frame
    if isinstance(view, ListWindow) and view.name == "exceptions":
        rows = tuple(row if row.key in OURS else _unknown(row) for row in view.rows)
        return frame._replace(view=view._replace(rows=rows, empty=awaited(wanted)))
    if (isinstance(view, ListWindow) and not view.rows) or (isinstance(view, Chart) and not view.series):
        return frame._replace(view=view._replace(empty=awaited(wanted)))
    return frame._replace(view=view._replace(more=True)) if isinstance(view, ListWindow) else frame


def _known(line: Line, frame: Frame) -> Line:
    """A line of a step, as far as it can be known."""
    wanted = NOTES.get(line.text.id, "")
    return line._replace(text=awaited(wanted)) if wanted in frame.link.unread else line


def _unknown(row: Row) -> Row:
    """A count of what was never read is none."""
    return row._replace(cells=(row.cells[0], msg("list.unknown"), awaited("headers")))


def awaited(name: str) -> Msg:
    """That a list is not here yet."""
    return msg("list.awaited", what=msg(LISTS[name]))
