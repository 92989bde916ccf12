"""Outcome of a request as it is stored for people: a message, or the service's own text."""

from __future__ import annotations

from aisle.client import Response
from aisle.client.errors import (
    ClientError,
    Forbidden,
    InvalidResponse,
    NotSent,
    RateLimited,
    ServerError,
    StatusError,
    TransportError,
    UnsuccessfulResult,
    message_of,
)
from aisle.errors import SettingsError
from aisle.outbox.stored_reasons import NO_STORE, NO_TOKEN
from aisle.stored_messages import StoredMessage, store_message, store_text

MAX_MESSAGE_LENGTH = 300
"""Characters of a service's message that are kept."""


def reason_of(result: Response | Exception) -> StoredMessage:
    """Return why a request failed, for the operation's row. Text that is not the service's is never included.

    Details of the exception go into the message's `detail`.
    """
    if isinstance(result, Response):
        return _reason_of_response(result)
    if isinstance(result, Forbidden) and (nearest := _nearest_store(result)):
        return store_message(NO_STORE, detail=nearest)
    if isinstance(result, StatusError):
        return _text_or_status(result.message, result.status)
    if isinstance(result, UnsuccessfulResult):
        return _text_or_status(result.message, 200)
    found = (text_id for kind, text_id in _ID_BY_ERROR if isinstance(result, kind))
    return store_message(next(found, "stored_reason.not_valid"), detail=str(result)[:MAX_MESSAGE_LENGTH])


_ID_BY_ERROR = (
    (NotSent, "stored_reason.not_reached"),
    (InvalidResponse, "stored_reason.unreadable"),
    (ClientError, "stored_reason.no_answer"),
    (SettingsError, NO_TOKEN),
)
"""Message for each kind of error; the first that fits is taken."""


def _text_or_status(message: str, status: int) -> StoredMessage:
    """Return the service's own text; its status if it gave none."""
    text = message[:MAX_MESSAGE_LENGTH]
    return store_text(text) if text else store_message("stored_reason.status_rejected", status=status)


def _nearest_store(refusal: Forbidden) -> str:
    """Return the store numbers that our own service suggests; empty if it suggests none."""
    try:
        nearest = Response(refusal.status, {}, refusal.content).json()["nearest"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    named = [text for text in nearest if isinstance(text, str)] if isinstance(nearest, list) else []
    return " / ".join(named)[:MAX_MESSAGE_LENGTH]


def is_service_refusal(error: Exception) -> bool:
    """Return whether the service itself refused the request, so that the link needs no check."""
    return (
        isinstance(error, StatusError)
        and not isinstance(error, ServerError | RateLimited)
        and Response(error.status, {}, error.content).is_json_object
    )


def unread_reason(error: Exception) -> StoredMessage:
    """Return why a list could not be read: always with its status, and with the service's message if there is one."""
    if isinstance(error, TransportError):
        return store_message("stored_reason.no_answer_in_time", detail=str(error)[:MAX_MESSAGE_LENGTH])
    if not isinstance(error, StatusError):
        return reason_of(error)
    if not Response(error.status, {}, error.content).is_json_object:
        return store_message("stored_reason.status_unexpected", status=error.status)
    if message := error.message[:MAX_MESSAGE_LENGTH]:
        return store_message("stored_reason.status_with_text", status=error.status, why=message)
    return reason_of(error)


def _reason_of_response(response: Response) -> StoredMessage:
    if not response.is_json_object:
        return store_message("stored_reason.status_unexpected", status=response.status)
    return _hand_over_by_other(response) or _text_or_status(message_of(response), response.status)


def _hand_over_by_other(response: Response) -> StoredMessage | None:
    """Return who had handed the order over, if our own service refused it therefore."""
    match response.json().get("handed_over"):
        case {"order_number": str(order), "by": str(who)}:
            order, who = order[:MAX_MESSAGE_LENGTH], who[:MAX_MESSAGE_LENGTH]
            return store_message("stored_reason.handed_over_by", order=order, who=who)
    return None
