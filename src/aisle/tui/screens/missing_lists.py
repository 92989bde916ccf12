"""What the service does not say is not shown as nothing: a page names the list that cannot be read, and why."""

from __future__ import annotations

from aisle.jobs.lists import left_out, unreadable
from aisle.jobs.view import INFO, Chart, Frame, ListWindow, Msg, Verdict, msg

ORDERS = ("headers", "lines")
NEEDED = {
    "home": ORDERS,
    "orders": ORDERS,
    "order": ORDERS,
    "act": ORDERS,
    "walk": ORDERS,
    "pick": (*ORDERS, "stock", "locations", "products"),
    "short": ("stock", *ORDERS, "deliveries"),
    "exceptions": (*ORDERS, "stock", "stock_changes", "deliveries", "logs", "recounts"),
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
    "today": ("logs", *ORDERS),
    "sign_in": ("people",),
}
"""The lists that the pages of a job are made of, the most important first."""
UP = ("live", "partial", "syncing")
"""States of the link in which a list may be missing; in all others everything is."""


def told(frame: Frame) -> Frame:
    """The frame, and on it what of its lists cannot be read: where nothing stands, and where nothing else is said."""
    if frame.link.state not in UP:
        return frame
    needed = NEEDED.get(frame.view.name.partition(".")[0], ())
    lacking = [lack for name in needed for lack in frame.link.lacking if lack.name == name]
    said = [unreadable(lack) for lack in lacking]
    said += [left_out(left) for name in needed for left in frame.link.left_out if left.name == name]
    if not said:
        return frame
    shown, verdict = _emptied(frame, said[0]) if lacking else frame, frame.verdict
    if shown is not frame:
        return shown
    if verdict is None:
        return frame._replace(verdict=Verdict(INFO, said[0]))
    if verdict.kind == INFO and frame.view.name == "home":  # a greeting; nobody waits for it
        return frame._replace(verdict=verdict._replace(text=msg("session.word", more=said[0], what=verdict.text)))
    return frame


def _emptied(frame: Frame, said: Msg) -> Frame:
    """A list with no rows is not empty where the list that it is made of cannot be read."""
    view = frame.view
    if isinstance(view, ListWindow) and not view.rows:
        return frame._replace(view=view._replace(empty=said))
    return frame._replace(view=view._replace(empty=said)) if isinstance(view, Chart) and not view.series else frame
