"""Rows of a list that changed while they were on the screen, marked for a few seconds."""

from __future__ import annotations

from typing import Final

from aisle.jobs.view import CHANGED_S, ListView, Msg, Row, View

_AGE_ARGUMENT: Final = "seconds"
"""Argument of the messages that tell how long ago something was; they change by themselves."""

Facts = tuple[tuple[Msg, ...], object]


class ChangedRows:
    """Compares the rows of a list with those of the frame before."""

    def __init__(self) -> None:
        self._list: tuple[object, ...] = ()
        """Name and columns of the list on the screen."""
        self._rows: tuple[Row, ...] = ()
        self._facts: dict[str, Facts] = {}
        self._changed_at: dict[str, float] = {}
        """Moment of the change by the key of the row."""

    def mark(self, view: View, at: float) -> View:
        """Return the view with its changed rows marked; `at` in seconds since 1970."""
        if not isinstance(view, ListView):
            self._list = ()
            return view
        self._compare(view, at)
        self._changed_at = {key: moment for key, moment in self._changed_at.items() if at - moment < CHANGED_S}
        if not self._changed_at:
            return view
        return view._replace(rows=tuple(row._replace(is_changed=row.key in self._changed_at) for row in view.rows))

    def _compare(self, view: ListView, at: float) -> None:
        shown = (view.name, view.column_heads)
        if shown == self._list and view.rows is self._rows:
            return
        facts = {row.key: _facts(row) for row in view.rows}
        if shown == self._list:
            changed = (key for key, fact in facts.items() if self._facts.get(key, fact) != fact)
            self._changed_at.update(dict.fromkeys(changed, at))
        else:
            self._changed_at = {}
        self._list, self._rows, self._facts = shown, view.rows, facts


def _facts(row: Row) -> Facts:
    """Return what a row tells, without ages."""
    return tuple(cell for cell in row.cells if _AGE_ARGUMENT not in dict(cell.args)), row.progress
