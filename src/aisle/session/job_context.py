"""Facts that jobs decide on: the person, the moment of the inputs, the store's policy and the size of lists."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from aisle.jobs.job import Context, SignIn
from aisle.session.profile_in_force import ProfileInForce
from aisle.session.screen_size_and_terminal import Terminal


class _Snapshot(NamedTuple):
    user: SignIn
    cached: Context | None


class SessionContext:
    """Person and moment of a session, and the `Context` that jobs are given of them."""

    def __init__(self, profile: ProfileInForce, terminal: Terminal, clock: Callable[[], float]) -> None:
        self._profile = profile
        self._terminal = terminal
        self.clock = clock
        self.at = 0.0
        """Moment of all inputs of the current batch, in seconds since 1970."""
        self.user = SignIn("", "")
        self._cached: Context | None = None

    def start_batch(self) -> None:
        """Read the clock: all that a batch holds happens at one moment."""
        self.at = self.clock()
        self._cached = None

    def sign_in(self, user: SignIn) -> None:
        """Set the person, or nobody."""
        self.user = user
        self._cached = None

    def forget(self) -> None:
        """Build the context anew when it is needed next."""
        self._cached = None

    def set_visible_rows(self, rows: int) -> None:
        """Tell jobs for the rest of the batch how many rows of their list are visible."""
        self._cached = self.current()._replace(visible_rows=rows)

    def current(self) -> Context:
        """Return the facts for the jobs, the same object until one of them changes."""
        if self._cached is None:
            profile, size = self._profile.current, self._terminal.size
            self._cached = Context(
                store=profile.store,
                user=self.user.user,
                person_name=self.user.name,
                now=iso_time(self.at),
                policy=profile.policy,
                window_rows=size.list_rows,
                terminal=profile.terminal,
                extra_rows=size.extra_list_rows,
                has_pane=size.has_pane,
                pane_rows=size.pane_rows,
                is_desk=size.is_desk,
            )
        return self._cached

    def snapshot(self) -> _Snapshot:
        """Return the state to go back to with `restore`."""
        return _Snapshot(self.user, self._cached)

    def restore(self, snapshot: _Snapshot) -> None:
        """Go back to a snapshot."""
        self.user, self._cached = snapshot


def iso_time(at: float) -> str:
    """Return seconds since 1970 as ISO 8601 UTC with milliseconds."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
