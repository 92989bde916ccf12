"""Batches of a load that a restore of the service lost: the keys under which they were confirmed, asked again.

A service that was restored from an earlier copy during a load has lost some keys, and no response shows that.
"""

from __future__ import annotations

from aisle.client.client import Client
from aisle.client.errors import ClientError, InvalidResponse, status_error
from aisle.client.response import Response
from aisle.contract.request_encoding import encode_segment

AT_ONCE = 200
"""Number of keys in one request."""


_FEATURES, _KNOWS_KEYS = "aisle-features", "known-keys"


class Confirmed:
    """Keys under which batches were carried out, by the store for which they are kept."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._keys: dict[str, dict[str, str]] = {}
        """Keys of each store ('' for the chain), with the file that each is for."""

    def keep(self, file: str, store: str, key: str, answer: Response) -> None:
        """Keep the key of a batch that was carried out, if the service can be asked for it."""
        if _KNOWS_KEYS in answer.headers.get(_FEATURES, ""):
            self._keys.setdefault(store, {})[key] = file

    async def lost(self) -> tuple[str, ...]:
        """Return the files of which the service no longer knows all confirmed keys. Raise ClientError."""
        files: dict[str, None] = {}
        for store, kept in self._keys.items():
            at = store or await self._any_store()
            is_chain_alone = not at and len(self._keys) == 1  # a chain without stores cannot be asked
            keys = [] if is_chain_alone else list(kept)
            for first in range(0, len(keys), AT_ONCE):
                some = keys[first : first + AT_ONCE]
                files |= dict.fromkeys(kept[key] for key in (await self._unknown(at, some) if at else some))
        return tuple(files)

    async def _any_store(self) -> str:
        """Return a store by which keys of the chain can be asked for; empty if there is none."""
        rows, _ = await self._client.first_page("list-stores", query={"page_size": 1})
        return str(rows[0].get("storeNo") or "") if rows else ""

    async def _unknown(self, store: str, keys: list[str]) -> list[str]:
        path = f"/aisle/v1/stores/{encode_segment(store)}/keys"
        response = await self._client.request_extension("GET", path, query={"keys": ",".join(keys)})
        if response.status in (403, 404):  # the store itself is gone
            return keys
        if not response.is_success:
            raise status_error("list-unknown-keys", response)
        try:
            unknown = {str(key) for key in response.json()["unknown"]}
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidResponse("The answer to list-unknown-keys holds no keys.") from error
        return [key for key in keys if key in unknown]


async def lost_meanwhile(confirmed: Confirmed) -> tuple[tuple[str, ...], str]:
    """Return the files of which the service lost something during the load, and why that could not be checked."""
    try:
        return await confirmed.lost(), ""
    except ClientError as error:
        return (), str(error)
