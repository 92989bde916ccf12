"""What the service has confirmed of a load, and whether it still knows it at the end: a service that was put back from
an earlier copy meanwhile has lost some, and no answer of it says so."""

from __future__ import annotations

from contextlib import aclosing

from aisle.client.base import BaseClient
from aisle.client.errors import ClientError, InvalidResponse, status_error
from aisle.client.response import Response
from aisle.contract.wire import encode_segment

AT_ONCE = 200
"""So many keys are asked for in one request."""
_FEATURES, _KNOWS_KEYS = "aisle-features", "known-keys"


class Confirmed:
    """The keys under which batches were carried out, by the store that they are kept for."""

    def __init__(self, client: BaseClient) -> None:
        self._client = client
        self._keys: dict[str, dict[str, str]] = {}
        """Of each store, '' for the chain: each key with the file that it is for."""

    def keep(self, file: str, store: str, key: str, answer: Response) -> None:
        """Keeps the key of a batch that was carried out, where the service can be asked for it."""
        if _KNOWS_KEYS in answer.headers.get(_FEATURES, ""):
            self._keys.setdefault(store, {})[key] = file

    async def lost(self) -> tuple[str, ...]:
        """The files of which the service no longer knows all that it has confirmed. Raises ClientError."""
        files: dict[str, None] = {}
        for store, kept in self._keys.items():
            at = store or await self._any_store()
            is_chain_alone = not at and len(self._keys) == 1  # a chain that has no store yet cannot be asked
            keys = [] if is_chain_alone else list(kept)
            for first in range(0, len(keys), AT_ONCE):
                some = keys[first : first + AT_ONCE]
                files |= dict.fromkeys(kept[key] for key in (await self._unknown(at, some) if at else some))
        return tuple(files)

    async def _any_store(self) -> str:
        """A store through which what belongs to none can be asked for; empty where there is none any more."""
        async with aclosing(self._client.pages("list-stores", query={"page_size": 1})) as pages:
            async for rows, _ in pages:
                for row in rows:
                    return str(row.get("storeNo") or "")
        return ""

    async def _unknown(self, store: str, keys: list[str]) -> list[str]:
        path = f"/aisle/v1/stores/{encode_segment(store)}/keys"
        answer = await self._client.request_extension("GET", path, query={"keys": ",".join(keys)})
        if answer.status in (403, 404):  # the store itself is gone
            return keys
        if not answer.is_success:
            raise status_error("list-unknown-keys", answer)
        try:
            unknown = {str(key) for key in answer.json()["unknown"]}
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidResponse("The answer to list-unknown-keys holds no keys.") from error
        return [key for key in keys if key in unknown]


async def lost_meanwhile(confirmed: Confirmed) -> tuple[tuple[str, ...], str]:
    """The files of which the service has lost something while the load ran; and why that could not be asked, if so."""
    try:
        return await confirmed.lost(), ""
    except ClientError as error:
        return (), str(error)
