"""Bar of fixed tabs with their counts on every page of a desk, and the letters that act there without Enter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aisle.errors import StorageError
from aisle.jobs.job import Start
from aisle.jobs.view import INFO, Tab, Verdict, msg
from aisle.session.event_runner import SessionPart
from aisle.session.job_stack import WITHOUT_WORK
from aisle.session.terminal_screen_and_keys import TAB_NAMES

_TEXTS: Final = {
    "today": msg("home.today"),
    "orders": msg("today.orders"),
    "exceptions": msg("home.exceptions"),
    "deliveries": msg("deliveries.title_all"),
    "products": msg("products.title_all"),
    "log": msg("home.log"),
}

TABS: Final = {name: _TEXTS[name] for name in TAB_NAMES}
"""Text of each tab by the job that it opens, in their order."""

_ONE_KEY_JOBS: Final = frozenset(
    ("today", "orders", "order", "order_actions", "exceptions", "deliveries", "log", "store_product", "unconfirmed")
)
"""Jobs in which a letter acts without Enter. A slash before words searches there."""

_COUNT_INTERVAL_S: Final = 2.0
"""Least time between two counts in seconds, on pages of no tab. A page of a tab counts as often as its own list."""

_MAX_COUNT_AGE_S: Final = 10.0
"""Age in seconds at which tabs are counted again without a change: orders become late and stuck as time passes."""


@dataclass(eq=False)
class Tabs(SessionPart):
    """Tabs above the page, shown to whoever is signed in at a desk."""

    def __post_init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._counted_from: tuple[object, tuple[str, ...]] | None = None
        """Cache of the store that the tabs were counted in, and the lists that were not read yet."""
        self._counted_at = 0.0
        self._is_stale = True
        """True if the store may have changed since the tabs were counted."""

    @property
    def are_shown(self) -> bool:
        """Return whether the screen shows tabs."""
        return self._terminal.size.is_desk and bool(self._context.user.user) and not self._page.top.job.raw_input

    def shown(self) -> tuple[Tab, ...]:
        """Return the tabs with their counts, none on a handheld."""
        if not self.are_shown:
            return ()
        active = self._active()
        self._count_again(is_tab_open=bool(active))
        return tuple(Tab(name, text, self._shown_count(name), name == active) for name, text in TABS.items())

    def _shown_count(self, name: str) -> int | None:
        """Return the count of a tab; None for zero, and while it is unknown."""
        return self._counts.get(name) or None

    def one_key_letters(self) -> str:
        """Return the letters that act without Enter, none while the page or a question takes words.

        On pages of work these are the letters at a question, unless the label of a tote has one letter there.
        """
        accepts = self._page.accepts()
        is_asked = accepts.text or accepts.date or (accepts.search and not accepts.follows_typing)
        if not self.are_shown or is_asked:
            return ""
        letters = f"bh{accepts.command_letters}{accepts.choice_letters}"
        if self._page.top.job.name in _ONE_KEY_JOBS:
            return f" {letters}"
        return letters if accepts.choice_letters and not accepts.labels else ""

    def open(self, name: str) -> None:
        """Open the page of a tab. The page on the screen and open work stay below it."""
        if not self.are_shown or name not in TABS:
            return
        self._verdicts.current = None
        work = self._page.stack.open_work()
        self._event_runner.apply(self._page.stack.run(self._context.current()).start_tab(Start(name, {})))
        if work:
            self._verdicts.show(Verdict(INFO, msg("tab.work_stays", what=work)))

    def open_neighbour(self, step: int) -> None:
        """Open the next tab (1) or the previous one (-1)."""
        names, active = list(TABS), self._active()
        at = names.index(active) + step if active else min(step, 0)
        self.open(names[at % len(names)])

    def note_changes(self) -> None:
        """Note that the store has changed."""
        self._is_stale = True

    def _active(self) -> str:
        """Return the tab of the page on the screen; empty if it belongs to none."""
        for stacked in reversed(self._page.stack.jobs):
            if stacked.job.name in TABS:
                return str(stacked.job.name)
            if stacked.job.name not in WITHOUT_WORK:
                break
        return ""

    def _count_again(self, *, is_tab_open: bool) -> None:
        """Count what the tabs open, if that may have changed."""
        unread = self._store.notifications.link().unread_lists
        source = self._store.reader, unread
        if source == self._counted_from and self._is_younger_than(self._allowed_age(is_tab_open=is_tab_open)):
            return
        try:
            self._counts = self._read_counts(unread)
        except StorageError:
            return
        self._counted_from = source
        self._is_stale, self._counted_at = False, self._context.at

    def _allowed_age(self, *, is_tab_open: bool) -> float:
        """Return the age in seconds at which the tabs are counted again."""
        if not self._is_stale:
            return _MAX_COUNT_AGE_S
        return 0 if is_tab_open else _COUNT_INTERVAL_S

    def _is_younger_than(self, age_s: float) -> bool:
        """Return whether the tabs were counted less than this time ago."""
        return 0 <= self._context.at - self._counted_at < age_s

    def _read_counts(self, unread: tuple[str, ...]) -> dict[str, int]:
        """Count what the tabs open. Exceptions are not counted until all lists that they come from are read."""
        from aisle.jobs.supervisor.exception_decisions import (  # no handheld counts a supervisor's pages
            EXCEPTION_KINDS,
            LIST_OF_KIND,
        )
        from aisle.jobs.supervisor.order_filter import OrderFilter, query_arguments

        all_orders = query_arguments(OrderFilter())
        now, policy, query = self._context.current().now, self._context.current().policy, self._store.reader.query
        (orders, *_), _ = query("order_counts", {"views": [all_orders], "now": now})
        limits = {"minutes": policy.stuck_minutes, "pickup_days": policy.pickup_days}
        (exceptions, *_), _ = query("exceptions", {"now": now, **limits})
        _, deliveries = query("deliveries", {"state": "open", "search": "", "first": 0, "size": 1})
        counts = {"deliveries": deliveries}
        if set(unread).isdisjoint(LIST_OF_KIND.values()):
            counts["exceptions"] = sum(exceptions[kind] for kind in EXCEPTION_KINDS)
        return counts if orders["count"] is None else {**counts, "orders": orders["count"]}
