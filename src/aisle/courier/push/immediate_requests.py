"""Requests that somebody waits for at a screen, each sent once, and user tokens, in this process's memory only.

A request is stored as started before its first byte is sent. If no response arrives, or this process ends meanwhile,
the result is unknown; the person is shown that, and the request is never sent again.

interface: Create customer order clearance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import apsw

from aisle.client import Client, Outcome, Response, outcome_of
from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError
from aisle.client.sign_in_and_token_file import NotSignedIn, sign_in
from aisle.contract.request_encoding import encode_body, get_operation
from aisle.courier.link_state import MAX_MESSAGE_LENGTH, ServiceLink, reason_of
from aisle.courier.pauses_and_wake_event import Sleep, WakeEvent
from aisle.errors import ContractError, SettingsError
from aisle.outbox import requests_and_token_holders
from aisle.outbox.operation_record import STORE_PRINCIPAL, principal_of, user_of_principal
from aisle.outbox.requests_and_token_holders import RequestRow
from aisle.stored_messages import store_message, store_text

if TYPE_CHECKING:
    from aisle.operation_body_types import RequestAnswer


LINK_CHECK_S = 1.0
"""Seconds between two checks of the link while a request waits for it."""
CLEARANCE = "create-customer-order-clearance"
SIGN_IN = "sign-in"
"""Kind of the request that obtains a user token for a PIN."""

StateAndAnswer = tuple[str, "RequestAnswer"]
"""State of the request and its answer."""


@dataclass(eq=False)
class ImmediateRequests:
    """Sender of the immediate requests."""

    outbox: apsw.Connection
    client: Client
    link: ServiceLink
    _: KW_ONLY
    cached_assignments: Callable[[], set[str]]
    """Returns the ids of the assignments in the cache."""
    read_assignments: Callable[[], Awaitable[Sequence[Row] | None]]
    """Reads all open assignments into the cache; returns None if unsupported."""
    token_store: TokenStore
    notify: Callable[[], None]
    clock: Callable[[], float]
    sleep: Sleep

    def __post_init__(self) -> None:
        self.is_stopping = False
        """True if nothing new may be sent."""
        self.wake_event = WakeEvent(self.sleep)
        self._running: dict[str, asyncio.Task[None]] = {}
        """Requests in flight, by queue."""
        self._secrets: dict[str, str] = {}

    def receive_secret(self, name: str, secret: str) -> None:
        """Keep the secret of the request `name`; no file holds it."""
        self._secrets[name] = secret
        self.wake_event.set()

    def end_orphaned(self) -> None:
        """Mark the requests that another courier had started as unknown."""
        if requests_and_token_holders.mark_interrupted(self.outbox, self.clock()):
            self.notify()

    async def run(self) -> None:
        """Send requests in a loop; cancel what is in flight when cancelled. Raise StorageError."""
        self.end_orphaned()
        try:
            while True:
                waits = self.send_ready()
                await self.wake_event.wait(LINK_CHECK_S if waits else None)
        except asyncio.CancelledError:
            for task in self._running.values():
                task.cancel()
            raise
        finally:
            await self.wait_until_finished()

    @property
    def is_busy(self) -> bool:
        """True if a request is in flight or may still be sent."""
        is_in_flight = any(not task.done() for task in self._running.values())
        return is_in_flight or bool(requests_and_token_holders.pending_requests(self.outbox, self.clock()))

    async def wait_until_finished(self) -> None:
        """Wait until the requests in flight have ended; send no other."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def send_ready(self) -> bool:
        """Start what can be sent now, one request of each queue. Return whether something has not ended.

        Raise the exception of a request that failed unexpectedly.
        """
        self._collect_finished()
        if requests_and_token_holders.expire_overdue(self.outbox, self.clock()):
            self.notify()
        waiting = requests_and_token_holders.pending_requests(self.outbox, self.clock())
        for name in set(self._secrets) - {row.request_id for row in waiting}:
            del self._secrets[name]  # ended, or not stored yet; the session repeats it then
        for row in waiting:
            if self.is_stopping:
                break
            is_ready = self.link.can_write and (not row.has_secret or row.request_id in self._secrets)
            queue = _queue_of(row)
            if is_ready and queue not in self._running:
                task = asyncio.create_task(self._carry_out(row, self._secrets.pop(row.request_id, "")))
                self._running[queue] = task
                task.add_done_callback(lambda _: self.wake_event.set())
        return bool(waiting)

    def _collect_finished(self) -> None:
        for queue, task in list(self._running.items()):
            if task.done():
                del self._running[queue]
                task.result()

    async def _carry_out(self, row: RequestRow, secret: str) -> None:
        if not requests_and_token_holders.start_request(self.outbox, row.request_id, self.clock()):
            return
        state = requests_and_token_holders.UNKNOWN
        answer: RequestAnswer = {"how": "unknown", "why": ""}
        try:
            if row.kind == SIGN_IN:
                state, answer = requests_and_token_holders.ANSWERED, await self._sign_in(row, secret)
            else:
                state, answer = await self._request_clearance(row)
        finally:
            requests_and_token_holders.finish_request(self.outbox, row.request_id, state, answer, self.clock())
            self.notify()

    async def _request_clearance(self, row: RequestRow) -> StateAndAnswer:
        """Request a clearance, with the user token if the service has those; ask for the PIN if there is none."""
        own = principal_of(row.user) if self.link.features and self.link.features.sign_in else STORE_PRINCIPAL
        if not self.token_store.can_send(own):
            return requests_and_token_holders.ANSWERED, {"how": "pin", "why": ""}
        token = self.token_store.token_of(own)
        known_ids = self.cached_assignments()  # before the request: a sync may read the list meanwhile
        try:
            content = encode_body(get_operation(CLEARANCE), _clearance_body(row.body))
            query = {"location_code_tag": str(row.body["tag"])}
            response = await self.client.request(CLEARANCE, query=query, body=content, token=token)
        except (ClientError, ContractError, SettingsError) as error:
            if isinstance(error, ClientError):
                self.link.record_error(error)
            how = "unknown" if outcome_of(error) is Outcome.UNKNOWN else "not_sent"
            return (requests_and_token_holders.UNKNOWN if how == "unknown" else requests_and_token_holders.ANSWERED), {
                "how": how,
                "why": reason_of(error),
            }
        if token is not None and response.status == 401:
            self.token_store.remove(own, token)
            return requests_and_token_holders.ANSWERED, {"how": "pin", "why": ""}
        return await self._clearance_answer(response, known_ids)

    async def _clearance_answer(self, response: Response, known_ids: set[str]) -> StateAndAnswer:
        match outcome_of(response):
            case Outcome.ACCEPTED:
                return requests_and_token_holders.ANSWERED, {
                    "how": "done",
                    "fresh": await self._count_new_assignments(known_ids),
                }
            case Outcome.UNKNOWN:
                return requests_and_token_holders.UNKNOWN, {"how": "unknown", "why": reason_of(response)}
        return requests_and_token_holders.ANSWERED, {"how": "refused", "why": reason_of(response)}

    async def _count_new_assignments(self, known_ids: set[str]) -> int | None:
        """Return the number of new assignments; None if they cannot be read. The clearance is done in any case."""
        try:
            listed = await self.read_assignments()
            return None if listed is None else len({str(row.get("id")) for row in listed} - known_ids)
        except (ClientError, SettingsError):
            return None

    async def _sign_in(self, row: RequestRow, pin: str) -> RequestAnswer:
        """Obtain the user token for the PIN. Return until when it is used, or why there is none."""
        try:
            signed = await sign_in(self.client, row.store, {"user": row.user}, pin)
        except (ClientError, SettingsError) as error:
            return {"how": "not_sent", "why": reason_of(error)}
        if isinstance(signed, NotSignedIn):
            why = (
                store_text(signed.message[:MAX_MESSAGE_LENGTH])
                if signed.message
                else store_message("stored_reason.no_text")
            )
            return {"how": "refused" if signed.has_too_many_attempts else "pin", "why": why}
        if not signed.is_supervisor:
            return {"how": "role", "why": ""}
        return {"how": "done", "until": self.token_store.add(row.user, signed.token, signed.seconds)}


def _queue_of(row: RequestRow) -> str:
    """Return the queue of a request. Clearances share one, because each counts the assignments that are new."""
    return f"{SIGN_IN} {row.user}" if row.kind == SIGN_IN else CLEARANCE


def _clearance_body(request: Mapping[str, Any]) -> dict[str, list[str]]:
    categories = [str(each) for each in request.get("categories") or ()]
    return {"category_codes": categories} if categories else {}


class TokenStore:
    """Tokens of the users that are signed in."""

    def __init__(self, outbox: apsw.Connection, on_change: Callable[[], None], *, clock: Callable[[], float]) -> None:
        """Store the collaborators. `on_change` is called when a token was added or removed."""
        self._db = outbox
        self._on_change = on_change
        self._clock = clock
        self._tokens: dict[str, tuple[str, float]] = {}
        requests_and_token_holders.delete_all_tokens(outbox)

    def add(self, user: str, token: str, seconds: float) -> float:
        """Add a user's token for `seconds`. Return until when it is used, in seconds since 1970. Raise StorageError."""
        until = self._clock() + min(seconds, requests_and_token_holders.MAX_TOKEN_S)
        self._tokens[principal_of(user)] = (token, until)
        requests_and_token_holders.record_token(self._db, user, until)
        self._on_change()
        return until

    def add_from_message(self, user: str, message: str) -> None:
        """Add a token that the web server obtained on this host: the message has its expiry and the token."""
        until, _, token = message.partition(" ")
        with suppress(ValueError):
            seconds = float(until) - self._clock()
            if token and seconds > 0:
                self.add(user, token, seconds)

    def remove(self, principal: str, token: str) -> None:
        """Remove a token that the service refuses; a newer one stays."""
        if self._tokens.get(principal, ("", 0.0))[0] == token:
            del self._tokens[principal]
            requests_and_token_holders.delete_token(self._db, principal)
            self._on_change()

    @property
    def usable_principals(self) -> tuple[str, ...]:
        """Principals whose operations can be sent now. Expired tokens are forgotten."""
        now = self._clock()
        self._tokens = {name: (token, until) for name, (token, until) in self._tokens.items() if now < until}
        return STORE_PRINCIPAL, *self._tokens

    def can_send(self, principal: str) -> bool:
        """Return whether operations of this principal can be sent now."""
        return principal in self.usable_principals

    def token_of(self, principal: str) -> str | None:
        """Return the token of a principal; None for the store's token."""
        return self._tokens[principal][0] if user_of_principal(principal) else None
