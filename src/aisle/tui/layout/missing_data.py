"""Pages whose data cannot be read: they name the missing list and the reason, and do not show it as empty."""

from __future__ import annotations

from aisle.jobs.list_problem_messages import LIST_NAMES, left_out_rows, unreadable_list
from aisle.jobs.view import INFO, Chart, Frame, Line, ListView, Msg, Row, Step, Verdict, msg

ORDER_LISTS = ("headers", "lines")
LISTS_OF_JOB = {
    "home": (*ORDER_LISTS, "changes"),
    "orders": (*ORDER_LISTS, "changes"),
    "order": ORDER_LISTS,
    "order_actions": ORDER_LISTS,
    "batch": ORDER_LISTS,
    "pick": (*ORDER_LISTS, "stock", "locations", "products"),
    "shortage": ("stock", *ORDER_LISTS, "deliveries"),
    "exceptions": (*ORDER_LISTS, "stock", "stock_changes", "deliveries", "logs", "recounts", "changes"),
    "receive": ("deliveries", "receipts", "products"),
    "deliveries": ("deliveries", "receipts"),
    "locations": ("locations", "stock", "stock_changes"),
    "look_up": ("products", "stock", "stock_changes"),
    "store_product": ("stock", "stock_changes", "products"),
    "products": ("products",),
    "stores": ("stores",),
    "count": ("stock", "stock_changes", "locations", "products", "recounts"),
    "adjust": ("stock", "stock_changes", "products"),
    "move": ("stock", "stock_changes", "locations", "products"),
    "clearance_tasks": ("assignments", "stock"),
    "log": ("logs",),
    "my_entries": ("logs",),
    "today": ("logs", *ORDER_LISTS, "changes"),
    "sign_in": ("people",),
}
"""Lists that the pages of a job use, the most important first."""
ONLINE_STATES = ("live", "partial", "syncing")
"""States of the link in which single lists may be missing; in all others every list is."""


def show_unreadable_lists(frame: Frame) -> Frame:
    """Return the frame with the first missing list as its empty text, or as its verdict if there is none."""
    if frame.link.state not in ONLINE_STATES:
        return frame
    needed = LISTS_OF_JOB.get(frame.view.name.partition(".")[0], ())
    missing = [
        missing_list for name in needed for missing_list in frame.link.unreadable_lists if missing_list.name == name
    ]
    messages = [unreadable_list(missing_list) for missing_list in missing]
    messages += [left_out_rows(left) for name in needed for left in frame.link.unusable_rows if left.name == name]
    if not messages:
        return frame
    shown, verdict = _with_empty_text(frame, messages[0]) if missing else frame, frame.verdict
    if shown is not frame:
        return shown
    if verdict is None:
        return frame._replace(verdict=Verdict(INFO, messages[0]))
    if verdict.kind == INFO and frame.view.name == "home":  # a greeting can be joined with it
        return frame._replace(verdict=verdict._replace(text=msg("pick.join", what=messages[0], more=verdict.text)))
    return frame


def _with_empty_text(frame: Frame, message: Msg) -> Frame:
    """Return the frame with this text for its empty list."""
    view = frame.view
    if isinstance(view, ListView) and not view.rows:
        return frame._replace(view=view._replace(empty=message))
    return frame._replace(view=view._replace(empty=message)) if isinstance(view, Chart) and not view.series else frame


LIST_OF_JOB = {
    "home": "headers",
    "orders": "headers",
    "batch": "headers",
    "exceptions": "headers",
    "receive": "deliveries",
    "deliveries": "deliveries",
    "locations": "locations",
    "look_up": "products",
    "log": "logs",
    "my_entries": "logs",
    "today": "logs",
}
"""Main list of each job's pages; pages of local data have none."""

LOCAL_VIEWS = ("today.terminals", "orders.filter", "orders.field", "orders.views", "receive.lines", "receive.check")
"""Pages of these jobs that use other data."""

LOCAL_ROWS = ("unconfirmed",)
"""Keys of rows that are counted on this host."""


UNREAD_NOTES = {"count.note_empty": "products"}
"""Messages that state that nothing is known; the list may simply not have been read yet."""


def show_unread_lists(frame: Frame) -> Frame:
    """Return the frame with its list marked as not read yet, if that is so."""
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
    """Return a line of a step, replaced if its list has not been read yet."""
    wanted = UNREAD_NOTES.get(line.text.id, "")
    return line._replace(text=awaited_list(wanted)) if wanted in frame.link.unread_lists else line


def _unknown_row(row: Row) -> Row:
    """Return a row without its count, because its list was never read."""
    return row._replace(cells=(row.cells[0], msg("verdict.ask"), awaited_list("headers")))


def awaited_list(name: str) -> Msg:
    """Return the message that a list has not been read yet."""
    return msg("list.loading", what=msg(LIST_NAMES[name]))
