"""Extensions of the interface: locations, people, recounts, changes and more (README: Extensions).

They are declared like operations of the contract, so that routes, validation and the OpenAPI document have one source.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from aisle.contract.models.extension_bodies import (
    DeliveryMarksRequest,
    LineRejectionsRequest,
    LocationsRequest,
    PeopleRequest,
    RecountsRequest,
    ReviewsRequest,
    SignInRequest,
    TokenRequest,
    TokenRevokeRequest,
)
from aisle.contract.operations import Param
from aisle.service.handlers import people, tokens
from aisle.service.handlers.changes import list_audit, list_chain_audit, list_changes, list_unknown_keys
from aisle.service.handlers.deliveries import mark_deliveries
from aisle.service.handlers.locations import write_locations
from aisle.service.handlers.logs import retrieve_log_entry, retrieve_store, review_logs
from aisle.service.handlers.movements import list_assignments, list_put_backs
from aisle.service.handlers.order_list import list_orders_by_number
from aisle.service.handlers.order_update import reject_lines
from aisle.service.handlers.recounts import list_recounts, write_recounts
from aisle.service.handlers.registry import BULK_BODY_LIMIT, Handler
from aisle.service.http.large_body_turns import MIB


class Extension(NamedTuple):
    """Operation that extends the interface."""

    name: str
    method: str
    path: str
    handler: Handler
    params: tuple[Param, ...] = ()
    body: type | None = None
    reads_one_row: bool = False
    """True if it reads one row, which may be missing (404)."""

    @property
    def body_adapter(self) -> Callable[[], TypeAdapter[Any]] | None:
        """Function that returns the validator of the body, which is built on first use."""
        return partial(_body_adapter, self.body) if self.body else None


@cache
def _body_adapter(body: type) -> TypeAdapter[Any]:
    return TypeAdapter(body)


_STORE_PATH = "/aisle/v1/stores/{store_number}"
_STORE_PARAM = Param("store_number", "path", "string", True)
_AUDIT_PARAMS = (
    Param("after", "query", "number"),
    Param("limit", "query", "number"),
    Param("last_modified_date", "query", "string"),
    Param("subject", "query", "string"),
)
_ADMIN_HANDLER = Handler(tokens.list_tokens, frozenset({"admin"}), needs_all_stores=True)
_WRITE_HANDLER = Handler(write_locations, frozenset({"supervisor", "integration", "admin"}), BULK_BODY_LIMIT)

EXTENSIONS = (
    Extension("retrieve-store", "GET", _STORE_PATH, Handler(retrieve_store), (_STORE_PARAM,)),
    Extension(
        "review-logs",
        "POST",
        f"{_STORE_PATH}/reviews",
        _WRITE_HANDLER._replace(run=review_logs),
        (_STORE_PARAM,),
        ReviewsRequest,
    ),
    Extension(
        "write-locations",
        "POST",
        "/aisle/v1/locations",
        _WRITE_HANDLER,
        body=LocationsRequest,
    ),
    Extension("list-people", "GET", f"{_STORE_PATH}/people", Handler(people.list_people), (_STORE_PARAM,)),
    Extension(
        "write-people",
        "POST",
        f"{_STORE_PATH}/people",
        _WRITE_HANDLER._replace(
            run=people.write_people, before_transaction=people.hash_pins_of_people, has_secrets=True
        ),
        (_STORE_PARAM,),
        PeopleRequest,
    ),
    Extension(
        "sign-in",
        "POST",
        "/aisle/v1/sign-in",
        Handler(people.sign_in, before_transaction=people.hash_pin_of_sign_in, has_secrets=True, limits_attempts=True),
        (Param(people.SIGN_IN_CHANNEL_HEADER, "header", "string"),),
        body=SignInRequest,
    ),
    Extension(
        "list-recounts",
        "GET",
        f"{_STORE_PATH}/recounts",
        Handler(list_recounts),
        (
            _STORE_PARAM,
            Param("state", "query", "string"),
            Param("after", "query", "number"),
            Param("limit", "query", "number"),
        ),
    ),
    Extension(
        "write-recounts",
        "POST",
        f"{_STORE_PATH}/recounts",
        _WRITE_HANDLER._replace(run=write_recounts, body_limit=MIB),
        (_STORE_PARAM,),
        RecountsRequest,
    ),
    Extension(
        "reject-lines",
        "POST",
        f"{_STORE_PATH}/line-rejections",
        _WRITE_HANDLER._replace(run=reject_lines, body_limit=MIB),
        (_STORE_PARAM,),
        LineRejectionsRequest,
    ),
    Extension(
        "list-changes",
        "GET",
        f"{_STORE_PATH}/changes",
        Handler(list_changes),
        (
            _STORE_PARAM,
            Param("since", "query", "number"),
            Param("limit", "query", "number"),
            Param("mark", "query", "string"),
            Param("known", "query", "string"),
        ),
    ),
    Extension(
        "list-unknown-keys",
        "GET",
        f"{_STORE_PATH}/keys",
        Handler(list_unknown_keys),
        (_STORE_PARAM, Param("keys", "query", "string")),
    ),
    Extension(
        "list-named-orders",
        "GET",
        f"{_STORE_PATH}/orders",
        Handler(list_orders_by_number),
        (_STORE_PARAM, Param("numbers", "query", "string")),
    ),
    Extension(
        "retrieve-log-entry",
        "GET",
        f"{_STORE_PATH}/logs",
        Handler(retrieve_log_entry),
        (_STORE_PARAM, Param("id", "query", "number", True)),
        reads_one_row=True,
    ),
    Extension(
        "mark-deliveries",
        "POST",
        f"{_STORE_PATH}/deliveries",
        _WRITE_HANDLER._replace(run=mark_deliveries, body_limit=MIB),
        (_STORE_PARAM,),
        DeliveryMarksRequest,
    ),
    Extension(
        "list-put-backs",
        "GET",
        f"{_STORE_PATH}/put-backs",
        Handler(list_put_backs),
        (_STORE_PARAM,),
    ),
    Extension(
        "list-assignments",
        "GET",
        f"{_STORE_PATH}/assignments",
        Handler(list_assignments),
        (_STORE_PARAM,),
    ),
    Extension("list-tokens", "GET", "/aisle/v1/tokens", _ADMIN_HANDLER),
    Extension(
        "create-token",
        "POST",
        "/aisle/v1/tokens",
        _ADMIN_HANDLER._replace(run=tokens.create_token, has_secrets=True),
        body=TokenRequest,
    ),
    Extension(
        "revoke-token",
        "POST",
        "/aisle/v1/token-revocations",
        _ADMIN_HANDLER._replace(run=tokens.revoke_token),
        body=TokenRevokeRequest,
    ),
    Extension(
        "list-audit",
        "GET",
        f"{_STORE_PATH}/audit",
        Handler(list_audit, frozenset({"supervisor", "admin"})),
        (_STORE_PARAM, *_AUDIT_PARAMS),
    ),
    Extension(
        "list-chain-audit", "GET", "/aisle/v1/audit", _ADMIN_HANDLER._replace(run=list_chain_audit), _AUDIT_PARAMS
    ),
)
