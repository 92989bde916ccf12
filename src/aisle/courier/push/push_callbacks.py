"""Callbacks of the push loop and of the decision after a send."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from aisle.courier.push.adapt_update_to_service import AdaptedOperation
from aisle.courier.service_features import Features
from aisle.outbox.operation_record import Operation
from aisle.outbox.stored_reasons import StoredMessage

if TYPE_CHECKING:
    from aisle.outbox.operation_record import Evidence


async def _return_operation(op: Operation) -> Operation:
    return op


class PushCallbacks(NamedTuple):
    """Callbacks of the push loop: checks before a send, outcome of the send, checks of the link."""

    evidence_before: Callable[[Operation], Awaitable[Evidence | None]]
    """Read of the evidence to store before a send; None for nothing. On a ClientError it is not sent now."""
    adapt: Callable[[Operation, Features], AdaptedOperation]
    """Adaptation of an operation to this service; the operation itself if nothing has to change."""
    needs_lookup: Callable[[Operation], bool]
    """Check that returns True if an operation confirmed by an empty response has to be looked up."""
    on_confirmed: Callable[[Operation], None]
    on_refused: Callable[[Operation, StoredMessage], None]
    on_in_doubt: Callable[[Operation, StoredMessage], None]
    check_service: Callable[[], Awaitable[bool]]
    is_link_failure: Callable[[Exception, str], Awaitable[bool]]
    """Check that returns True if the error of a read of that list affects all other reads."""
    is_carried_out: Callable[[Operation], Awaitable[bool]]
    """Question to a service that lists unknown keys: True if a write was carried out under the operation's key.

    Raise ClientError or SettingsError.
    """
    on_restore: Callable[[], None] = lambda: None
    """Callback if the service lacks what it confirmed before."""
    on_requeued: Callable[[], None] = lambda: None
    """Callback if operations that waited for a person are sent again."""
    on_replay_delayed: Callable[[Operation, StoredMessage], None] = lambda op, reason: None
    """Callback with the reason for which the service does not take a replayed operation yet."""
    adapt_undo: Callable[[Operation], Awaitable[Operation | None]] = _return_operation
    """Adaptation of an undo to what was booked; None if nothing is left of it. On a ClientError it is not sent now."""
