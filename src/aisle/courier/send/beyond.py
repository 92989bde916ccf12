"""Writes that only our own service takes: where they go, and which announcement says that it does."""

from __future__ import annotations

from aisle.client import Answer, Client
from aisle.contract.wire import encode_json, encode_segment
from aisle.courier.features import Features
from aisle.errors import ContractError
from aisle.local.outbox.operation import RECOUNTS, REJECT_LINES, Operation
from aisle.tuples import NamedTuple


class _Way(NamedTuple):
    path: str
    """Below the store's."""
    feature: str
    """A field of Features."""


_WAYS = {
    "review-logs": _Way("reviews", "reviews"),
    RECOUNTS: _Way("recounts", "recounts"),
    REJECT_LINES: _Way("line-rejections", "line_rejection"),
}


def is_beyond(op: Operation) -> bool:
    """Whether the interface has no such operation."""
    return op.operation in _WAYS


def body_beyond(op: Operation, features: Features) -> bytes:
    """The bytes to be sent. Raises ContractError where the service does not say that it takes them."""
    if not getattr(features, _WAYS[op.operation].feature):
        raise ContractError(f"The service takes no {_WAYS[op.operation].path}; what was said stays on this host.")
    return encode_json(op.body)


async def send_beyond(
    client: Client, op: Operation, headers: dict[str, str], content: bytes, token: str | None = None
) -> Answer:
    """Sends it once, with this token or the store's. Raises ClientError."""
    store = encode_segment(op.path["store_number"])
    path = f"/aisle/v1/stores/{store}/{_WAYS[op.operation].path}"
    return await client.extension("POST", path, headers=headers, body=content, token=token)
