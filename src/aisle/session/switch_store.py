"""Switch of a terminal to another store. Each store has its own files on this host, so their data never mix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from aisle.errors import AisleError, StorageError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.host.switched_terminals_and_visited_stores import TerminalStore, mark_visited, save_terminal_store
from aisle.jobs.job import LocalNote, SignIn, SignOut
from aisle.jobs.view import GOOD, WRONG, Verdict, msg
from aisle.session.event_runner import SessionPart
from aisle.session.pending_question import NO_QUESTION
from aisle.session.profile import Profile, SettingsWatch
from aisle.session.shown_verdict_and_bells import error_message
from aisle.session.sign_in_and_out import SignInFlow
from aisle.session.store_connection import StoreAccess, close_store


class OpenedStore(NamedTuple):
    """Another store that was opened for this terminal."""

    store_access: StoreAccess
    profile: Profile
    settings_watch: SettingsWatch | None
    start_courier: Callable[[], None]
    configured_store: str
    """Store that the settings give this terminal."""


OpenStore = Callable[[str], OpenedStore]
"""Opens a store by its number; raises AisleError."""


class _Restorable(Protocol):
    """Part of a session whose state belongs to a store."""

    def snapshot(self) -> Any:
        """Return the state."""

    def restore(self, snapshot: Any, /) -> None:
        """Go back to a state."""


@dataclass(eq=False)
class StoreSwitch(SessionPart):
    """Switch that signs in at the new store durably before it signs out at the old one: a failure changes nothing."""

    _sign_in: SignInFlow

    def __post_init__(self) -> None:
        self._parts: Sequence[_Restorable] = (
            self._store,
            self._profile,
            self._context,
            self._page,
            self._pin_check,
            self._verdicts,
        )

    def switch(self, number: str, open_store: OpenStore | None) -> None:
        """Go on in another store as the same person. Open jobs wait in the old one, whose courier sends the rest."""
        self._event_runner.commit_or_stop()
        try:
            waiting = self._store.operations.pending_counts()[0]
            opened = open_store(number) if open_store else None
        except AisleError as error:
            self._report_failure(number, error)
            return
        if opened is None:
            self._verdicts.show(Verdict(WRONG, msg("session.one_store")))
            return
        old, old_access, user = self._snapshot(), self._store.access, self._context.user
        try:
            self._sign_in_at(opened, user)
        except StorageError as error:
            self._leave_for(old)
            self._report_failure(number, error)
            return
        new = self._snapshot()
        self._restore(old)
        self._store.unit_of_work.set_sign_in(SignOut())
        if not self._event_runner.commit():
            old = self._snapshot()
            self._restore(new)
            self._leave_for(old)
            return
        self._store.notifications.keep_courier()
        with suppress(StorageError):
            self._store.end_session()
        self._restore(new)
        verdict = report_arrival(old_access.socket.store_folder, opened, user.user, waiting, self._verdicts.current)
        self._verdicts.show(verdict)
        close_store(old_access)

    def _report_failure(self, number: str, error: AisleError) -> None:
        self._verdicts.show(Verdict(WRONG, msg("session.store_not_switched", store=number, why=error_message(error))))

    def _sign_in_at(self, opened: OpenedStore, user: SignIn) -> None:
        """Begin a session at the new store, durably. Raise StorageError."""
        self._profile.move_to(opened.profile, opened.settings_watch)
        self._store.begin_session(opened.store_access, opened.start_courier)
        self._page.question, self._verdicts.current = NO_QUESTION, None
        unit_of_work = self._store.unit_of_work
        unit_of_work.set_sign_in(user)
        for topic, value in self._profile.personal_values.items():
            unit_of_work.add_local_note(LocalNote(topic, user.user, value))
        self._sign_in.start(user)
        self._event_runner.commit_or_raise()

    def _leave_for(self, old: Sequence[Any]) -> None:
        """Sign out at a store that could not be switched to, as far as possible, and go back."""
        with suppress(StorageError):
            self._store.unit_of_work.set_sign_in(SignOut())
            self._event_runner.commit_or_raise()
        with suppress(StorageError):
            self._store.end_session()
        left = self._store.access
        self._restore(old)
        close_store(left)

    def _snapshot(self) -> Sequence[Any]:
        return [part.snapshot() for part in self._parts]

    def _restore(self, snapshot: Sequence[Any]) -> None:
        for part, state in zip(self._parts, snapshot, strict=True):
            part.restore(state)


def report_arrival(
    old_folder: StoreFolder, opened: OpenedStore, user: str, waiting: int, verdict: Verdict | None
) -> Verdict:
    """Note the store that the terminal works in now; return the verdict on it.

    It names the jobs that were resumed there (`verdict`), and how many operations still go to the old store.
    """
    folder = opened.store_access.socket.store_folder
    with suppress(OSError, StorageError):  # the settings name the store to go back to, too
        mark_visited(old_folder)
        mark_visited(folder)
        terminal_store = TerminalStore(opened.configured_store, folder.store, user)
        save_terminal_store(folder.root, opened.profile.terminal, terminal_store)
    text = msg("session.switched_store", store=folder.store)
    if verdict and verdict.text.id != "sign_in.done":
        text = msg("shortage.join", one=text, other=verdict.text)
    if waiting:
        text = msg("session.switched_store_waiting", told=text, count=waiting, left=old_folder.store)
    return Verdict(WRONG if verdict and verdict.kind == WRONG else GOOD, text)
