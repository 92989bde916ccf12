"""Secrets of requests to the courier, which no file may hold, until the courier has the request."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.session.terminal_settings import StoreAccess


class UnsentSecrets:
    """Secrets by the name of their request."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}

    def send(self, store_access: StoreAccess, secrets: Mapping[str, str]) -> None:
        """Send the secrets of requests that are durable now."""
        self._secrets |= secrets
        for name, secret in secrets.items():
            store_access.socket.send_secret(name, secret)

    def resend(self, store_access: StoreAccess) -> None:
        """Send the secrets of pending requests again, for a courier that did not get them; forget all others."""
        for name, secret in list(self._secrets.items()):
            if store_access.journal.is_request_pending(name):
                store_access.socket.send_secret(name, secret)
            else:
                del self._secrets[name]
