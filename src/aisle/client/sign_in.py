"""Signing in by a PIN, which only our own service knows: asked and judged in one way, whoever asks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, Protocol

from aisle.client.errors import InvalidResponse, message_of, status_error
from aisle.client.response import Response
from aisle.roles import SUPERVISORS

_PATH = "/aisle/v1/sign-in"
WEB_CHANNEL = "web"
"""Wrong PINs that come through the web are counted apart: nobody is locked out of the store by them."""
DEFAULT_TOKEN_S = 900.0
"""So long a token is used of which nobody says when it ends."""


class SignedIn(NamedTuple):
    """A person whom the service knows by the PIN."""

    user: str
    name: str
    role: str
    token: str
    seconds: float = DEFAULT_TOKEN_S
    """How long the token lasts, from now on."""

    @property
    def is_supervisor(self) -> bool:
        """Whether it is one, or more."""
        return self.role in SUPERVISORS


class NotSignedIn(NamedTuple):
    """Who that is, nobody knows; nothing was done."""

    has_too_many_attempts: bool
    """True where too many tries went before, however right this one is; else who or PIN is wrong."""
    message: str
    """The service's own words, raw; empty where it has none."""


class ExtensionClient(Protocol):
    """The part of the client that is needed."""

    async def request_extension(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: object = None
    ) -> Response:
        """See aisle.client.base."""


async def sign_in(
    client: ExtensionClient, store: str, who: Mapping[str, str], pin: str, *, channel: str = ""
) -> SignedIn | NotSignedIn:
    """Who that is in this store: `who` has a `badge` or a `user`. Sent once. `door` is WEB_DOOR where it is that one.

    What cannot even be a PIN or a name (422) is a wrong one. Raises ClientError for what says nothing of either.
    """
    said = {"Aisle-Door": channel} if channel else None
    answer = await client.request_extension(
        "POST", _PATH, headers=said, body={"store_number": store, **who, "pin": pin}
    )
    if answer.status in (403, 422, 429):
        return NotSignedIn(answer.status == 429, message_of(answer))
    if not answer.is_success:
        raise status_error("sign-in", answer)
    try:
        told: Any = answer.json()
    except (ValueError, RecursionError) as error:
        raise InvalidResponse("The answer to sign-in is no JSON.") from error
    fields = [told.get(name) if isinstance(told, dict) else None for name in ("user", "name", "role", "token")]
    if not all(isinstance(field, str) and field for field in fields):
        raise InvalidResponse("The answer to sign-in does not say who that is.")
    user, name, role, token = map(str, fields)
    return SignedIn(user, name, role, token, _seconds(told.get("expires_on"), answer))


def _seconds(expires_on: Any, response: Response) -> float:
    """How long it lasts, by the service's own clock: this host's may be another."""
    try:
        until = datetime.fromisoformat(expires_on)
        date = response.headers.get("date")
        now = parsedate_to_datetime(date) if date else datetime.now(UTC)
        return max(0.0, (until - now).total_seconds())
    except (TypeError, ValueError):
        return DEFAULT_TOKEN_S
