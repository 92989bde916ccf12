"""Who meant what by an answer: the service that carried it out, or somebody on the way."""

from __future__ import annotations

from aisle.client import Answer, Fate, classify
from aisle.client.errors import ClientError
from aisle.courier.features import HEADER, Features
from aisle.errors import ContractError, SettingsError

Outcome = Answer | ClientError | ContractError | SettingsError

_OF_THE_WAY = (401, 407, 408, 425, 429)
"""Refusals that are not final, and that anybody between here and the service may say."""


def is_a_strangers(outcome: Outcome, features: Features) -> bool:
    """Whether a no came from somebody on the way: without words, or without what our own service says each time."""
    if not isinstance(outcome, Answer) or outcome.status < 400 or outcome.status in _OF_THE_WAY:
        return False
    if outcome.status >= 500 and classify(outcome.status) is not Fate.REFUSED:
        return False
    return not outcome.is_worded or (features != Features() and HEADER not in outcome.headers)


def says_nothing(outcome: Outcome, features: Features) -> bool:
    """Whether a 2xx lacks what a service that keeps keys says each time: then the same key is asked again."""
    if not features.idempotency or not isinstance(outcome, Answer) or not outcome.is_success:
        return False
    return HEADER not in outcome.headers or not (outcome.status == 204 or outcome.json())


def is_wordless(outcome: Outcome, features: Features) -> bool:
    """Whether a 2xx of a service that keeps no keys says nothing of what was done: empty, or an object of nothing."""
    if features.idempotency or not isinstance(outcome, Answer):
        return False
    return outcome.status == 204 or all(value is None for value in outcome.json().values())
