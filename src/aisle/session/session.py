"""The session of one terminal: takes inputs and clock ticks, and returns frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisle.cache.reader import CacheReader
from aisle.errors import StorageError
from aisle.host.database import FileReplaced
from aisle.host.notify_sockets import SessionSocket, user_token_name
from aisle.host.store_folder import StoreFolder
from aisle.jobs.job import (
    Changed,
    PinConfirmed,
    Quit,
    Resumed,
    SessionEffect,
    SetPreference,
    SignIn,
    SignOut,
    SwitchStore,
)
from aisle.jobs.view import Frame, ListView, Msg, Step
from aisle.outbox.journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.inputs import DecodedInput
from aisle.session.apply_input import reject_rest
from aisle.session.frame import build_frame, current_view
from aisle.session.multi_line_scans import apply_items, is_only_silence
from aisle.session.poll_changes import poll
from aisle.session.profile import Profile, ScreenSize, SettingsWatch, StoreAccess, profile_from_settings
from aisle.session.session_base import SessionBase
from aisle.session.storage_alarm import error_message
from aisle.session.typed_line import page_identity
from aisle.settings import LoadedSettings, Settings

if TYPE_CHECKING:
    from aisle.session.profile import SettingsWatch


class Session(SessionBase):
    """What a screen has of the desk behind it. Not for use from several threads."""

    def start(self) -> Frame:
        """Signs in whoever this terminal belongs to, on the step where the work was left."""
        self._begin_batch()
        self._start()
        self._commit()
        return self._build_frame()

    def take(self, items: Sequence[DecodedInput], at: float) -> Frame:
        """Applies all inputs in their order, makes them durable in one transaction, and says what to show."""
        if self._last_frame and is_only_silence(self, items):
            return self._last_frame
        self._begin_batch(page_identity(self._stack.jobs))
        self._answered_at = self._batch.at
        number = apply_items(self, items, at)
        if self._batch.failed:
            reject_rest(self, items[number:])
            return self._build_frame()
        wrote = self._unit_of_work.has_writes
        if self._commit():
            if wrote:
                self._requery_after_write()
            self._verdict = self._batch.refused.final_verdict(self._verdict)
        else:
            reject_rest(self, ())
        return self._build_frame()

    def _requery_after_write(self) -> None:
        """A page that shows what a job over it, or itself, has just written asked for it before that was durable."""
        if self._stack.top.job.requery_after_write:
            self._apply_result(self._stack.notify([Changed("outbox", "")], self._context())._replace(verdict=None), "")

    def poll(self, *, notified: bool = False) -> Frame | None:
        """What news make of the screen; called every few seconds, and when the bell has rung, for which only that is
        looked at which it rang for. None where nothing on the screen is different."""
        self._begin_batch()
        topics = self._store.socket.drain()
        return poll(self, topics if notified else None)

    def keep_courier(self) -> None:
        """Calls a courier where there is none."""
        self._notifications.keep_courier()

    def resize(self, columns: int, rows: int) -> Frame:
        """The screen has another size: lists ask for as many rows as it can show."""
        self._begin_batch()
        self._screen_size = ScreenSize(columns, rows)
        self._stack.resize_lists(self._context())
        if isinstance(current_view(self), ListView | Step) or self._stack.top.job.raw_input:
            # What it shows is wanted again; nothing has happened that is to be kept.
            self._apply_result(self._stack.feed(Resumed(), self._context())._replace(refreshes=()), "")
        self._commit()
        return self._build_frame()

    def on_painted(self, serials: Sequence[int], at: float) -> None:
        """The answers to these scans are on the screen since this monotonic moment."""
        if self._trace:
            self._trace.write_painted(at)

    def fileno(self) -> int | None:
        """What becomes readable when the courier has news."""
        return self._store.socket.fileno()

    def close(self) -> None:
        """Says goodbye; everything is durable already. May be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        ends = (self._store.socket.close, lambda: self._store.journal.end_session(self._session_id))
        for end in (self._trace.close, *ends) if self._trace else ends:
            with suppress(StorageError, OSError):  # what made the program end matters more
                end()

    def _build_frame(self) -> Frame:
        return build_frame(self)

    # What hardly ever happens, and no start pays for

    def _switch_store(self, store: str) -> None:
        from aisle.session.switch_store import switch_store

        switch_store(self, store)

    def _undo_last(self) -> None:
        from aisle.session.undo_last import undo_last

        undo_last(self)

    def _error_message(self, error: StorageError) -> Msg:
        if not isinstance(error, FileReplaced):
            return error_message(error)
        from aisle.session.file_recovery import recovery_message

        return recovery_message(self)


class SingleUserSession(Session):
    """A session of one person, signed in before it was opened: nobody else signs in, and signing out ends it."""

    def __init__(self, person: SignIn, store_access: StoreAccess, profile: Profile, **options: Any) -> None:
        super().__init__(store_access, profile._replace(user=person.user), **options)
        self._person = person
        self._unsent_token: tuple[str, float] = ("", 0.0)

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """This person has said the PIN before the session began: the courier gets the token that came of it."""
        self._unsent_token, self._pin_state = (token, valid_until), self._pin_state._replace(valid_until=valid_until)
        self._resend_secrets()

    @property
    def has_user_token(self) -> bool:
        """What goes with it may wait for a courier that has still to be told."""
        return self._has_unsent_token or super().has_user_token

    @property
    def _has_unsent_token(self) -> bool:
        return time.time() < self._unsent_token[1]

    def _resend_secrets(self) -> None:
        """Again and again, until the courier has it; then it is the courier's, and forgotten here."""
        super()._resend_secrets()
        token, until = self._unsent_token
        if not self._has_unsent_token or super().has_user_token:
            self._unsent_token = ("", 0.0)
        else:
            self._store.socket.send_secret(user_token_name(self._person.user), f"{until} {token}")

    def _initial_user(self) -> SignIn:
        """Whatever is remembered of this terminal."""
        return self._person

    def _run_effect(self, effect: SessionEffect) -> None:
        """Whoever scans another badge, or signs out, has to prove again who he is; he did so for one store."""
        if isinstance(effect, SwitchStore | SetPreference | PinConfirmed):
            super()._run_effect(effect)
            return
        if isinstance(effect, SignIn) and effect.user == self._person.user:
            return
        if not isinstance(effect, Quit):
            self._unit_of_work.set_sign_in(SignOut())
            if not self._commit():
                return
        self.is_ending = True


def open_store(store_folder: StoreFolder) -> StoreAccess:
    """The files of a store on this host, and a doorbell there. Raises StorageError."""
    outbox = open_outbox(store_folder.folder)
    return StoreAccess(
        CacheReader(store_folder, outbox), Journal(outbox), OperationQueue(outbox), SessionSocket(store_folder)
    )


def open_session(
    store_folder: StoreFolder,
    settings: Settings,
    start_courier: Callable[[], None] | None = None,
    loaded: LoadedSettings | None = None,
    person: SignIn | None = None,
) -> Session:
    """The session of this terminal; `start_courier` starts one. Raises StorageError or SettingsError.

    With `loaded`, where the settings come from, it goes along with changes of their files. With `person` it is that
    person's alone.
    """
    terms = profile_from_settings(settings, loaded.sources if loaded else None)
    trace = None
    if settings.trace:
        from aisle.session.trace import Trace  # hardly ever, and no start pays for it

        trace = Trace(Path(settings.trace), time.monotonic())
    rooms = open_store(store_folder)
    watch = SettingsWatch(loaded) if loaded else None
    kind: Callable[..., Session] = Session
    if person:
        kind = partial(SingleUserSession, person)
    if start_courier is None:
        return kind(rooms, terms, trace=trace, settings_watch=watch)
    return kind(rooms, terms, trace=trace, settings_watch=watch, start_courier=start_courier)
