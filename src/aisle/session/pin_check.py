"""PIN of the person at the terminal: asked for before supervisor actions, recognised where it is typed by mistake."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from aisle.host.notify_sockets import user_token_name
from aisle.jobs.job import Event, Start, SwitchStore
from aisle.jobs.shell import pin
from aisle.jobs.view import ASK, INFO, WRONG, ListView, Verdict, msg
from aisle.scan.grammar_and_meaning_types import Meaning, Text, UnknownCode
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.job_context_and_query_answers import SessionContext, raw_input
from aisle.session.job_stack import JobResult
from aisle.session.page import Page
from aisle.session.shown_verdict_and_bells import Verdicts
from aisle.session.store_connection import StoreConnection

if TYPE_CHECKING:
    from aisle.jobs.row_types.people_stores_and_features import UserTokenRow

PIN_JOB = "pin"
"""Name of the job that asks for the PIN (`aisle.jobs.shell.pin`)."""

CONNECTED_STATES = ("live", "partial", "syncing")

REPEAT_S = 60.0
"""Seconds after which a reminder of waiting operations is repeated: a scan may have hidden it."""

REPEATED_PIN_S = 10.0
"""Seconds after a correct PIN within which the same digits may be typed again by mistake."""


class _UnsentToken(NamedTuple):
    """User token that was issued before the session began and that the courier may not have yet."""

    user: str = ""
    token: str = ""
    valid_until: float = 0.0

    @property
    def is_valid(self) -> bool:
        """Return whether there is a token that can still be used; after a restart only the courier has it."""
        return bool(self.token) and time.time() < self.valid_until


class _PinState(NamedTuple):
    """Token of a PIN, and moments in seconds since 1970."""

    valid_until: float = 0.0
    """End of the time in which the PIN is not asked for again."""
    confirmed_at: float = 0.0
    """Last correct PIN."""
    reminded_at: float = 0.0
    """Last reminder that operations wait for the PIN."""
    unsent: _UnsentToken = _UnsentToken()
    """Token that the courier may not have yet."""


class PinCheck:
    """Check whether the PIN is needed, which opens its page."""

    def __init__(self, page: Page, context: SessionContext, store: StoreConnection, verdicts: Verdicts) -> None:
        self._page = page
        self._context = context
        self._store = store
        self._verdicts = verdicts
        self._pin = _PinState()

    # User token and PIN

    def token_state(self) -> UserTokenRow:
        """Return the row of the query `user_token`: whether one is needed, asked for, there, and what waits."""
        query = {"user": self._context.user.user, "now": self._context.current().now}
        rows: list[UserTokenRow] = self._store.reader.query("user_token", query)[0]
        return rows[0]

    @property
    def has_token(self) -> bool:
        """Return whether operations that need the person's token can be sent, now or once the courier has it."""
        return self._pin.unsent.is_valid or bool(self.token_state()["there"])

    def accept_pin(self, valid_until: float) -> None:
        """Ask for no PIN until then: it was correct."""
        self._pin = self._pin._replace(valid_until=valid_until, confirmed_at=self._context.at)

    def accept_token(self, user: str, token: str, valid_until: float) -> None:
        """Keep a token that was issued before the session began until the courier has it."""
        self._pin = self._pin._replace(valid_until=valid_until, unsent=_UnsentToken(user, token, valid_until))

    def resend_token(self) -> None:
        """Send that token to the courier unless it has it."""
        unsent = self._pin.unsent
        if not unsent.token:
            return
        if not unsent.is_valid or self.token_state()["there"]:
            self._pin = self._pin._replace(unsent=_UnsentToken())
        else:
            self._store.socket.send_secret(user_token_name(unsent.user), f"{unsent.valid_until} {unsent.token}")

    def reset(self) -> None:
        """Forget the PIN: another person signs in, or the session goes on in another store."""
        self._pin = _PinState(confirmed_at=self._pin.confirmed_at)

    # Supervisor actions

    def require_pin(self, event: Event, feed: Callable[[], JobResult]) -> JobResult:
        """Run `feed`; if that needs a PIN, undo it and open the page of the PIN instead.

        Undo and refuse what only a supervisor may do if the person is known to be none.
        """
        before = self._page.stack.snapshot()
        result = feed()
        has_writes = any(write.needs_supervisor for entry in result.events for write in entry.writes)
        notes = [note for entry in result.events for note in entry.local_notes if note.needs_supervisor]
        has_requests = any(request.needs_supervisor for _, request in result.requests)
        switches = any(isinstance(effect, SwitchStore) and effect.needs_supervisor for effect in result.session_effects)
        if not (has_writes or notes or has_requests or switches):
            return result
        row = self.token_state()
        if row["denied"]:
            self._page.stack.restore(before)
            return JobResult(Verdict(WRONG, msg("clearance.role_denied")))
        is_needed = row["wanted"] or (has_requests and row["asked"])
        has_token = self.has_token
        if not is_needed or (has_token and self._pin.valid_until > self._context.at):
            return result
        is_connected = self._store.notifications.link().state in CONNECTED_STATES
        may_wait = has_writes and not (has_requests or switches) and all(note.mirrors_write for note in notes)
        if before[-1].job.name != PIN_JOB and (is_connected or not may_wait):
            self._page.stack.restore(before)
            start = Start(PIN_JOB, {"said": event, "may_wait": may_wait})
            return self._page.stack.open(start, self._context.current())
        if has_token or not (has_writes and result.verdict):
            return result
        return replace(result, verdict=result.verdict.wrap("pin.saved"))

    def remind(self) -> None:
        """Remind the person every minute that operations wait for the PIN, unless a refusal or question stands."""
        if not self._context.user.user or self._page.top.job.name == PIN_JOB:
            return
        waiting = self.token_state()["waiting"]
        if not waiting or self.has_token or self._store.notifications.link().state not in CONNECTED_STATES:
            self._pin = self._pin._replace(reminded_at=0.0)
            return
        is_due = abs(self._context.at - self._pin.reminded_at) >= REPEAT_S
        if is_due and not self._verdicts.is_busy:
            self._pin = self._pin._replace(reminded_at=self._context.at)
            self._verdicts.notify(Verdict(ASK, msg("pin.waits", count=waiting)))

    # A PIN that nobody asked for

    def unexpected_pin(self, line: Line, meaning: Meaning) -> Verdict | None:
        """Return the verdict on a line that seems to be a PIN where none is asked for. It must be stored nowhere."""
        if not isinstance(meaning, UnknownCode | Text):
            return None
        if self._is_repeated_pin(line.text):
            if pin.is_typed(raw_input(line, meaning)):
                return Verdict(INFO, msg("pin.already_given"))
            self._pin = self._pin._replace(confirmed_at=0.0)  # when it is scanned again, it is taken
            return Verdict(WRONG, msg("pin.not_taken", count=1))
        if self._is_early_pin(line, meaning):
            return Verdict(ASK, msg("pin.sign_in_first"))
        if self._is_name_with_pin(line, meaning):
            return Verdict(ASK, msg("pin.name_alone"))
        if self._is_misplaced_pin(line, meaning):
            return Verdict(ASK, msg("pin.not_asked_here"))
        return None

    def _is_repeated_pin(self, text: str) -> bool:
        """Return whether the digits may be a PIN that was correct a moment ago."""
        is_recent = 0 <= self._context.at - self._pin.confirmed_at < REPEATED_PIN_S
        return is_recent and pin.is_pin_shaped(text) and not self._is_row_number(text)

    def _is_early_pin(self, line: Line, meaning: Meaning) -> bool:
        """Return whether nobody is signed in and the typed digits are no name or badge of a person."""
        if self._context.user.user or not self.token_state()["asked"]:
            return False
        if not pin.is_pin_shaped(line.text) or not pin.is_typed(raw_input(line, meaning)):
            return False
        return not self._is_person(line.text.strip())

    def _is_name_with_pin(self, line: Line, meaning: Meaning) -> bool:
        """Return whether nobody is signed in and a PIN seems to stand behind a name.

        A name of this store is enough; other words count only if they are typed, and only while names may be missing.
        """
        name = pin.name_before_pin(line.text)
        if not name or self._context.user.user or self._is_person(line.text.strip()):
            return False
        people, _ = self._store.reader.query("people", {"search": name})
        return bool(people) or (pin.is_typed(raw_input(line, meaning)) and not self._store.reader.is_complete())

    def _is_person(self, text: str) -> bool:
        """Return whether a text is the whole name, the user or the badge of a person."""
        people, _ = self._store.reader.query("people", {"search": text})
        return any(row["is_badge"] or text in (row["user"], row["name"]) for row in people)

    def _is_misplaced_pin(self, line: Line, meaning: Meaning) -> bool:
        """Return whether digits typed on a supervisor's page, or while operations wait for a PIN, mean nothing else."""
        top = self._page.top
        if not pin.is_pin_shaped(line.text) or not pin.is_typed(raw_input(line, meaning)):
            return False
        if self._is_row_number(line.text) or (isinstance(meaning, Text) and top.job.accepts(top.state).text):
            return False
        row = self.token_state()
        return bool(row["waiting"] or (row["wanted"] and not self.has_token and not top.job.journalled))

    def _is_row_number(self, text: str) -> bool:
        """Return whether the list that follows typing has a row of this number, as a store has."""
        top = self._page.top
        view = top.job.view(top.state) if top.job.accepts(top.state).follows_typing else None
        return isinstance(view, ListView) and any(row.key == text.strip() for row in view.rows)

    def snapshot(self) -> _PinState:
        """Return the state to go back to with `restore`."""
        return self._pin

    def restore(self, snapshot: _PinState) -> None:
        """Go back to a snapshot."""
        self._pin = snapshot
