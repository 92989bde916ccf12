"""Access to the service: sign-in with a PIN, and the token in the token file of a host."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, Protocol

from aisle.client.responses_and_errors import InvalidResponse, Response, message_of, status_error
from aisle.errors import SettingsError
from aisle.supervisor_role import SUPERVISORS

_PATH = "/aisle/v1/sign-in"
WEB_CHANNEL = "web"
"""Value of the channel for sign-ins through the web. Wrong PINs there are counted apart and lock nobody out in the
store.
"""
_MAX_TOKEN = 4_000
"""Characters of a token that is sent in a header."""
_MAX_NAME = 200
"""Characters of a user, a name and a role; web sign-ins are kept for hours."""
DEFAULT_TOKEN_S = 900.0
"""Seconds that a token without an expiry is used."""


class SignedIn(NamedTuple):
    """Person whom the service identified by the PIN."""

    user: str
    name: str
    role: str
    token: str
    seconds: float = DEFAULT_TOKEN_S
    """Seconds from now until the token expires."""

    @property
    def is_supervisor(self) -> bool:
        """True if the role is supervisor or higher."""
        return self.role in SUPERVISORS


class NotSignedIn(NamedTuple):
    """Failed sign-in; nothing was done."""

    has_too_many_attempts: bool
    """True if there were too many attempts before, even if this one is right; otherwise person or PIN is wrong."""
    message: str
    """Message of the service, raw; empty if it has none."""
    retry_after: float | None = None
    """Seconds after which the service takes further attempts; None if it does not say."""


class ExtensionClient(Protocol):
    """Part of the client that a sign-in needs."""

    async def request_extension(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: object = None
    ) -> Response:
        """Send a request of an extension (see aisle.client.client)."""


async def sign_in(
    client: ExtensionClient, store: str, who: Mapping[str, str], pin: str, *, channel: str = ""
) -> SignedIn | NotSignedIn:
    """Sign in to this store: `who` has a `badge` or a `user`. Sent once. `channel` may be WEB_CHANNEL.

    Status 422 (not even a valid PIN or name) counts as wrong. Raise ClientError for any other failure.
    """
    headers = {"Aisle-Door": channel} if channel else None
    response = await client.request_extension(
        "POST", _PATH, headers=headers, body={"store_number": store, **who, "pin": pin}
    )
    if response.status in (403, 422, 429):
        return NotSignedIn(response.status == 429, message_of(response), _retry_after(response))
    if not response.is_success:
        raise status_error("sign-in", response)
    try:
        body: Any = response.json()
    except (ValueError, RecursionError) as error:
        raise InvalidResponse("The answer to sign-in is no JSON.") from error
    fields = [body.get(name) if isinstance(body, dict) else None for name in ("user", "name", "role", "token")]
    if not all(isinstance(field, str) and field for field in fields):
        raise InvalidResponse("The answer to sign-in does not say who that is.")
    user, name, role, token = map(str, fields)
    if not (token.isascii() and token.isprintable() and len(token) <= _MAX_TOKEN):
        raise InvalidResponse("The answer to sign-in has a token that fits in no header.")
    if max(map(len, (user, name, role))) > _MAX_NAME:
        raise InvalidResponse(f"The answer to sign-in has a name or a role of more than {_MAX_NAME} characters.")
    return SignedIn(user, name, role, token, _seconds(body.get("expires_on"), response))


def _retry_after(response: Response) -> float | None:
    text = response.headers.get("retry-after", "")[:10]
    return float(text) if text.isascii() and text.isdigit() else None


def _seconds(expires_on: Any, response: Response) -> float:
    """Return the seconds until the expiry, by the service's clock, since this host's may differ."""
    try:
        until = datetime.fromisoformat(expires_on)
        date = response.headers.get("date")
        now = parsedate_to_datetime(date) if date else datetime.now(UTC)
        return max(0.0, (until - now).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return DEFAULT_TOKEN_S


def read_token(path: str) -> str:
    """Return the token in a file that only its owner can read. Clients read it anew for each request.

    Raise SettingsError if the file is missing, a link, no text, readable by others, or empty.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise SettingsError(f"The token file {path} cannot be opened: {error.strerror}. Set token_file.") from error
    try:
        token = _read_token_text(handle, path)
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"The token file {path} holds bytes that are no text. Write the token of your service into it."
        ) from error
    except OSError as error:
        raise SettingsError(f"The token file {path} cannot be read: {error.strerror}. Set token_file.") from error
    finally:
        os.close(handle)  # no stream closes it, also not that of a directory
    if not token:
        raise SettingsError(f"The token file {path} is empty. Write the token of your service into it.")
    return token


def _read_token_text(handle: int, path: str) -> str:
    with open(handle, encoding="utf-8", closefd=False) as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise SettingsError(f"The token file {path} is a pipe or a device, not a file. Set token_file.")
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o077:
            raise SettingsError(f"The token file {path} has mode {mode:04o}; others may read it. Run: chmod 600 {path}")
        return stream.read().strip()
