"""What is kept of an outcome for people: why something was not done, in messages, or in the service's own words."""

from __future__ import annotations

from aisle.client import Answer
from aisle.client.errors import (
    Ambiguous,
    AnswerError,
    ClientError,
    NotSent,
    RateLimited,
    Rejected,
    ServerError,
    StatusError,
    TransportError,
    message_of,
)
from aisle.errors import SettingsError
from aisle.local.told import NO_TOKEN, Told, outside, told

LIMIT = 300
"""Characters of a service's words that are kept."""


def told_of(outcome: Answer | Exception) -> Told:
    """Why, for whoever looks at the row; never somebody else's page. What else an error says goes along as a detail."""
    if isinstance(outcome, Answer):
        return _answered(outcome)
    if isinstance(outcome, StatusError | Rejected):
        said = outcome.message[:LIMIT]
        status = outcome.status if isinstance(outcome, StatusError) else 200
        return outside(said) if said else told("told.status_no", status=status)
    detail = str(outcome)[:LIMIT]
    if isinstance(outcome, NotSent):
        return told("told.not_reached", detail=detail)
    if isinstance(outcome, AnswerError):
        return told("told.unreadable", detail=detail)
    if isinstance(outcome, Ambiguous | TransportError | ClientError):
        return told("told.no_answer", detail=detail)
    if isinstance(outcome, SettingsError):
        return told(NO_TOKEN, detail=detail)
    return told("told.unfit", detail=detail)


def is_refusal(error: Exception) -> bool:
    """Whether the service itself said no to what was asked: nobody has to ask whether it is there."""
    return (
        isinstance(error, StatusError)
        and not isinstance(error, ServerError | RateLimited)
        and Answer(error.status, {}, error.content).is_worded
    )


def why_unread(error: Exception) -> Told:
    """Why a list could not be read: its status always, with the service's own words where there are any."""
    if isinstance(error, StatusError):
        said = error.message[:LIMIT]
        if not Answer(error.status, {}, error.content).is_worded:
            return told("told.status_strange", status=error.status)
        return told("told.status_said", status=error.status, why=said) if said else told_of(error)
    return told("told.silent", detail=str(error)[:LIMIT]) if isinstance(error, TransportError) else told_of(error)


def _answered(answer: Answer) -> Told:
    if not answer.is_worded:
        return told("told.status_strange", status=answer.status)
    said = message_of(answer)[:LIMIT]
    return outside(said) if said else told("told.status_no", status=answer.status)
