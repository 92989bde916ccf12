"""What the service does not say is not shown as nothing: a page names the list that cannot be read, and why."""

from __future__ import annotations

from aisle.jobs.message import LIST_NAMES, left_out_rows, unreadable_list
from aisle.jobs.view import INFO, Chart, Frame, Line, ListView, Msg, Row, Step, Verdict, msg

ORDER_LISTS = ("headers", "lines")
LISTS_OF_JOB = {
    "home": ORDER_LISTS,
    "orders": ORDER_LISTS,
    "order": ORDER_LISTS,
    "act": ORDER_LISTS,
    "walk": ORDER_LISTS,
    "pick": (*ORDER_LISTS, "stock", "locations", "products"),
    "short": ("stock", *ORDER_LISTS, "deliveries"),
    "exceptions": (*ORDER_LISTS, "stock", "stock_changes", "deliveries", "logs", "recounts"),
    "receive": ("deliveries", "receipts", "products"),
    "deliveries": ("deliveries", "receipts"),
    "browse": ("locations", "stock", "stock_changes"),
    "lookup": ("products", "stock", "stock_changes"),
    "store_product": ("stock", "stock_changes", "products"),
    "products": ("products",),
    "stores": ("stores",),
    "count": ("stock", "stock_changes", "locations", "products", "recounts"),
    "loss": ("stock", "stock_changes", "products"),
    "move": ("stock", "stock_changes", "locations", "products"),
    "tasks": ("assignments", "stock"),
    "logs": ("logs",),
    "count_log": ("logs",),
    "today": ("logs", *ORDER_LISTS),
    "sign_in": ("people",),
}
"""The lists that the pages of a job are made of, the most important first."""
ONLINE_STATES = ("live", "partial", "syncing")
"""States of the link in which a list may be missing; in all others everything is."""


def show_unreadable_lists(frame: Frame) -> Frame:
    """The frame, and on it what of its lists cannot be read: where nothing stands, and where nothing else is said."""
    if frame.link.state not in ONLINE_STATES:
        return frame
    needed = LISTS_OF_JOB.get(frame.view.name.partition(".")[0], ())
    lacking = [lack for name in needed for lack in frame.link.unreadable_lists if lack.name == name]
    said = [unreadable_list(lack) for lack in lacking]
    said += [left_out_rows(left) for name in needed for left in frame.link.unusable_rows if left.name == name]
    if not said:
        return frame
    shown, verdict = _with_empty_text(frame, said[0]) if lacking else frame, frame.verdict
    if shown is not frame:
        return shown
    if verdict is None:
        return frame._replace(verdict=Verdict(INFO, said[0]))
    if verdict.kind == INFO and frame.view.name == "home":  # a greeting; nobody waits for it
        return frame._replace(verdict=verdict._replace(text=msg("session.word", more=said[0], what=verdict.text)))
    return frame


def _with_empty_text(frame: Frame, message: Msg) -> Frame:
    """A list with no rows is not empty where the list that it is made of cannot be read."""
    view = frame.view
    if isinstance(view, ListView) and not view.rows:
        return frame._replace(view=view._replace(empty=message))
    return frame._replace(view=view._replace(empty=message)) if isinstance(view, Chart) and not view.series else frame


LIST_OF_JOB = {
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

LOCAL_VIEWS = ("today.terminals", "orders.filter", "orders.field", "orders.views", "receive.lines", "receive.check")
"""Pages of these jobs that are made of something else."""

LOCAL_ROWS = ("doubts",)
"""What has to be settled and is counted on this host alone."""


UNREAD_NOTES = {"count.note_empty": "products"}
"""Sentences that say of a place or a thing that nothing is known of it; it may only not be here yet."""


def show_unread_lists(frame: Frame) -> Frame:
    """The frame, its list said to be not here yet where that is so."""
    view = frame.view
    if isinstance(view, Step):
        return frame._replace(view=view._replace(lines=tuple(_known_line(line, frame) for line in view.lines)))
    wanted = LIST_OF_JOB.get(view.name.partition(".")[0], "")
    if wanted not in frame.link.unread_lists or view.name in LOCAL_VIEWS:
        return frame
    if isinstance(view, ListView) and view.name == "exceptions":
        rows = tuple(row if row.key in LOCAL_ROWS else _unknown_row(row) for row in view.rows)
        return frame._replace(view=view._replace(rows=rows, empty=awaited_list(wanted)))
    if (isinstance(view, ListView) and not view.rows) or (isinstance(view, Chart) and not view.series):
        return frame._replace(view=view._replace(empty=awaited_list(wanted)))
    return frame._replace(view=view._replace(may_have_more=True)) if isinstance(view, ListView) else frame


def _known_line(line: Line, frame: Frame) -> Line:
    """A line of a step, as far as it can be known."""
    wanted = UNREAD_NOTES.get(line.text.id, "")
    return line._replace(text=awaited_list(wanted)) if wanted in frame.link.unread_lists else line


def _unknown_row(row: Row) -> Row:
    """A count of what was never read is none."""
    return row._replace(cells=(row.cells[0], msg("list.unknown"), awaited_list("headers")))


def awaited_list(name: str) -> Msg:
    """That a list is not here yet."""
    return msg("list.awaited", what=msg(LIST_NAMES[name]))
