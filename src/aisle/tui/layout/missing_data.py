"""Pages whose data cannot be read: they name the missing list and the reason, and do not show it as empty."""

from __future__ import annotations

from aisle.jobs.names_in_messages import awaited_list, left_out_rows, unreadable_list
from aisle.jobs.view import INFO, Chart, DetailView, Frame, ListView, Msg, Step, Verdict, View, msg

ONLINE_STATES = ("live", "partial", "syncing")
"""States of the link in which single lists may be missing; in all others every list is."""


def show_unreadable_lists(frame: Frame) -> Frame:
    """Return the frame with the first missing list as its empty text, or as its verdict if there is none."""
    if frame.link.state not in ONLINE_STATES:
        return frame
    needed = frame.lists
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


EMPTY_TEXTS = {"count.note_empty", "move.note_empty", "locations.empty", "locations.locations_unknown"}
"""Messages that state that no goods are at a location; stock may simply not have been read yet."""


def show_unread_lists(frame: Frame) -> Frame:
    """Return the frame with its list marked as not read yet, if that is so."""
    view = _without_empty_texts(frame.view) if "stock" in frame.link.unread_lists else frame.view
    if frame.main_list in frame.link.unread_lists:
        if (isinstance(view, ListView) and not view.rows) or (isinstance(view, Chart) and not view.series):
            view = view._replace(empty=awaited_list(frame.main_list))
        elif isinstance(view, ListView):
            view = view._replace(may_have_more=True)
    return frame._replace(view=view)


def _without_empty_texts(view: View) -> View:
    """Return the view with `EMPTY_TEXTS` replaced in the lines of a page and in the cells of a list."""
    if isinstance(view, Step | DetailView):
        return view._replace(lines=tuple(line._replace(text=_known_text(line.text)) for line in view.lines))
    if isinstance(view, ListView):
        rows = (row._replace(cells=tuple(map(_known_text, row.cells))) for row in view.rows)
        return view._replace(rows=tuple(rows))
    return view


def _known_text(message: Msg) -> Msg:
    """Return the message, with what it states of a location only if its stock was read."""
    if message.id in EMPTY_TEXTS:
        return awaited_list("stock")
    args = tuple((name, _known_text(value) if isinstance(value, Msg) else value) for name, value in message.args)
    return message if args == message.args else message._replace(args=args)
