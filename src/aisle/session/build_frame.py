"""Frame of a session: the page, the verdict, what is typed, and the state of the link.

`cache/reader` reads the link with the age of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import is_
from typing import Final

from aisle.errors import StorageError
from aisle.host.switched_terminals_and_visited_stores import visited_stores
from aisle.jobs.store_time import day_in_store
from aisle.jobs.view import CHANGED_S, Frame, LinkState, ListView, Msg, Row, View
from aisle.session.event_runner import SessionPart
from aisle.session.open_pages import Addresses
from aisle.session.page import TypedLine
from aisle.session.tab_bar_with_counts import Tabs


@dataclass(eq=False)
class FrameBuilder(SessionPart):
    """Builder of the frame that the screen shows next."""

    _typed_line: TypedLine
    _tabs: Tabs
    _addresses: Addresses

    def __post_init__(self) -> None:
        self._changed_rows = ChangedRows()
        self.last: Frame | None = None
        """Frame that was built last."""
        self._shown: tuple[object, ...] = ()
        """Job, questions, verdict and typed text of the last frame."""
        self._repeats = 1
        """Times that the verdict was the answer in a row."""
        self._operation_counts = (0, 0)
        """Operations that wait, and those that need a person, when they could be read last."""

    def build(self) -> Frame:
        """Build the frame, and subscribe to the topics that it shows."""
        self._store.notifications.subscribe(self._page.topics)
        profile, user = self._profile.current, self._context.user
        self._shown = self._now_shown()
        self._repeats = self._count_repeats()
        view = self._page.view(profile.names_by_letter)
        self.last = Frame(
            view=self._changed_rows.mark(view, self._context.at) if self._tabs.are_shown else view,
            link=self._link_with_counts(),
            verdict=self._verdicts.current,
            typed=self._page.shown_text(self._typed_line.text),
            dropped_length=self._typed_line.dropped_length,
            store=profile.store,
            user=user.name or user.user,
            scan_serial=self._batch.serial,
            verdict_repeats=self._repeats,
            language=profile.language,
            theme=profile.theme if self._terminal.has_themes else "",
            today=day_in_store(self._context.current().now),
            tabs=self._tabs.shown(),
            one_key_letters=self._tabs.one_key_letters(),
            address=str(self._addresses.current),
            lists=self._page.top.job.lists,
            main_list=self._page.main_list,
        )
        return self.last

    def current(self) -> Frame:
        """Return the last frame if it shows the present page, else a new one."""
        is_current = len(self._shown) > 0 and all(map(is_, self._shown, self._now_shown()))
        return self.last if self.last and is_current else self.build()

    def _now_shown(self) -> tuple[object, ...]:
        return (
            self._page.top,
            self._page.question,
            self._page.asked_number,
            self._verdicts.current,
            self._typed_line.text,
        )

    def _count_repeats(self) -> int:
        """Return how often in a row the verdict was the answer to a scan, so that an equal answer can be told apart."""
        last = self.last
        if last is None or last.verdict != self._verdicts.current:
            return 1
        return self._repeats + (last.scan_serial != self._batch.serial)

    def _link_with_counts(self) -> LinkState:
        """Return the state of the link with the operations that wait; `unkept` while nothing can be written."""
        link, is_writable = self._store.notifications.link(), not self._store.unit_of_work.has_failed
        try:
            self._operation_counts = self._store.operations.pending_counts()
        except StorageError:
            is_writable = False
        waiting, for_person = self._operation_counts
        state = link.state if is_writable else "unkept"
        elsewhere = self._count_waiting_elsewhere()
        return link._replace(waiting=waiting, needs_person=for_person, waiting_other_stores=elsewhere, state=state)

    def _count_waiting_elsewhere(self) -> int:
        """Return the number of unsent operations of other stores that this host was switched to or from."""
        folder = self._store.folder
        if not visited_stores(folder.root, folder.base_url):
            return 0
        from aisle.cache.chain_store_queries import count_waiting_in_other_stores  # most hosts serve one store

        return count_waiting_in_other_stores(folder)


_AGE_ARGUMENT: Final = "seconds"
"""Argument of the messages that tell how long ago something was; they change by themselves."""

Facts = tuple[tuple[Msg, ...], object]


class ChangedRows:
    """Comparison of the rows of a list with those of the frame before."""

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
