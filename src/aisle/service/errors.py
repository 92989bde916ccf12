"""Refusals of the service (README: Answers), and the standard result as bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from http import HTTPStatus
from typing import Any

from aisle.errors import AisleError

SUCCESS = b'{"success":true}'
JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"


class Refusal(AisleError):
    """Request that is refused; nothing has changed.

    `status` is the HTTP status, `field` the wrong part of the request (`orders[0].order_lines[2].quantity`). `extra`
    are further members of the answer, such as the current line; `retry_after` are the seconds until a new attempt,
    `headers` further ones. If `keeps_writes`, the handler has written only about the refusal, and this is committed.
    """

    def __init__(
        self, status: int, message: str, field: str | None = None, *, retry_after: int | None = None, **extra: Any
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.headers: Mapping[str, str] = {}
        self.keeps_writes = False
        self.status = status
        self.message = message
        self.field = field
        self.extra = extra

    def body(self) -> bytes:
        """Return the standard result with the members of RFC 9457."""
        where = f"{self.field}: " if self.field else ""
        answer: dict[str, object] = {
            "success": False,
            "message": f"{where}{self.message}",
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.message,
        }
        if self.field:
            answer["errors"] = [{"field": self.field, "message": self.message}]
        return to_json_bytes(answer | self.extra)

    @property
    def is_deterministic(self) -> bool:
        """True if the same request will be refused again, so that the refusal may be stored under its key."""
        return self.status in (404, 409, 412, 422)


def bad_request(message: str, field: str | None = None) -> Refusal:
    """Return a 400: the request is malformed."""
    return Refusal(400, message, field)


def forbidden(message: str = "This token may not do this in this store.", **extra: Any) -> Refusal:
    """Return a 403, with the same message for a store of others and for an unknown store."""
    return Refusal(403, message, **extra)


def not_found(message: str) -> Refusal:
    """Return a 404: the path names nothing that exists."""
    return Refusal(404, message)


def conflict(message: str, field: str | None = None, **extra: Any) -> Refusal:
    """Return a 409: the request conflicts with the stored data."""
    return Refusal(409, message, field, **extra)


def unprocessable(message: str, field: str | None = None) -> Refusal:
    """Return a 422: the request is well-formed but breaks a rule."""
    return Refusal(422, message, field)


def to_json_bytes(value: object) -> bytes:
    """Return compact UTF-8 JSON."""
    return _ENCODER.encode(value).encode()


def _encode_decimal(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_encode_decimal)
