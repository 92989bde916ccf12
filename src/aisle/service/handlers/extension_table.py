"""Table of the extensions of the interface: locations, people, recounts, changes and more (README: Extensions).

They are declared like operations of the contract, so that routes, validation and the OpenAPI document have one source.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from pydantic import TypeAdapter

from aisle.contract.operations import parse_param, path_params
from aisle.contract.request_bodies.extension_bodies import (
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
from aisle.service.handlers import named_tokens as people_moved
from aisle.service.handlers import people, sign_in
from aisle.service.handlers.audit import list_audit, list_chain_audit
from aisle.service.handlers.changes import list_changes, list_unknown_keys
from aisle.service.handlers.deliveries import mark_deliveries
from aisle.service.handlers.goods_to_move import list_assignments, list_put_backs
from aisle.service.handlers.locations import write_locations
from aisle.service.handlers.log_create import review_logs
from aisle.service.handlers.log_list import retrieve_log_entry
from aisle.service.handlers.order_list import list_orders_by_number
from aisle.service.handlers.order_update import reject_lines
from aisle.service.handlers.recounts import list_recounts, write_recounts
from aisle.service.handlers.registry import Handler, ServedOperation
from aisle.service.handlers.stores import retrieve_store
from aisle.service.operation_context import Role


@cache
def _body_adapter(body: type) -> TypeAdapter[Any]:
    return TypeAdapter(body)


def _extension(
    name: str,
    method: str,
    path: str,
    handler: Handler,
    body: type | None = None,
    *,
    query: str = "",
    header: str = "",
    reads_one_row: bool = False,
) -> ServedOperation:
    """Declare an extension, with the parameters of its path, and others in the form of the contract's table."""
    params = path_params(path)
    params += [parse_param(spec, "query") for spec in query.split()]
    params += [parse_param(spec, "header") for spec in header.split()]
    adapter = partial(_body_adapter, body) if body else None
    return ServedOperation(name, method, path, handler, tuple(params), adapter, reads_one_row)


_STORE_PATH = "/aisle/v1/stores/{store_number}"
_AUDIT_QUERY = "after:n limit:n last_modified_date subject key"
_SUPERVISORS = frozenset[Role]({"supervisor", "integration", "admin"})
_write = partial(Handler, roles=_SUPERVISORS)
_admin = partial(Handler, roles=frozenset[Role]({"admin"}), needs_all_stores=True)
_LIST_AUDIT = Handler(list_audit, frozenset[Role]({"supervisor", "admin"}))
_WRITE_PEOPLE = _write(people.write_people, before_transaction=people.hash_pins_of_people, has_secrets=True)
_SIGN_IN = Handler(
    sign_in.sign_in, before_transaction=sign_in.hash_pin_of_sign_in, has_secrets=True, limits_attempts=True
)

EXTENSIONS = (
    _extension("retrieve-store", "GET", _STORE_PATH, Handler(retrieve_store)),
    _extension("review-logs", "POST", _STORE_PATH + "/reviews", _write(review_logs), ReviewsRequest),
    _extension("write-locations", "POST", "/aisle/v1/locations", _write(write_locations), LocationsRequest),
    _extension("list-people", "GET", _STORE_PATH + "/people", Handler(people.list_people), query="after_user limit:n"),
    _extension("write-people", "POST", _STORE_PATH + "/people", _WRITE_PEOPLE, PeopleRequest),
    _extension(
        "sign-in", "POST", "/aisle/v1/sign-in", _SIGN_IN, SignInRequest, header=sign_in.SIGN_IN_CHANNEL_HEADER,
    ),
    _extension(
        "list-recounts", "GET", _STORE_PATH + "/recounts", Handler(list_recounts), query="state after:n limit:n",
    ),
    _extension("write-recounts", "POST", _STORE_PATH + "/recounts", _write(write_recounts), RecountsRequest),
    _extension(
        "reject-lines", "POST", _STORE_PATH + "/line-rejections", _write(reject_lines), LineRejectionsRequest,
    ),
    _extension(
        "list-changes", "GET", _STORE_PATH + "/changes", Handler(list_changes),
        query="since:n limit:n mark known<=4000",
    ),
    _extension("list-unknown-keys", "GET", _STORE_PATH + "/keys", Handler(list_unknown_keys), query="keys<=16384"),
    _extension(
        "list-named-orders", "GET", _STORE_PATH + "/orders", Handler(list_orders_by_number), query="numbers<=16384",
    ),
    _extension(
        "retrieve-log-entry", "GET", _STORE_PATH + "/logs", Handler(retrieve_log_entry),
        query="id:n!", reads_one_row=True,
    ),
    _extension(
        "mark-deliveries", "POST", _STORE_PATH + "/deliveries", _write(mark_deliveries), DeliveryMarksRequest,
    ),
    _extension("list-put-backs", "GET", _STORE_PATH + "/put-backs", Handler(list_put_backs), query="after:n limit:n"),
    _extension(
        "list-assignments", "GET", _STORE_PATH + "/assignments", Handler(list_assignments), query="after:n limit:n",
    ),
    _extension("list-tokens", "GET", "/aisle/v1/tokens", _admin(people_moved.list_tokens)),
    _extension(
        "create-token", "POST", "/aisle/v1/tokens", _admin(people_moved.create_token, has_secrets=True), TokenRequest,
    ),
    _extension(
        "revoke-token", "POST", "/aisle/v1/token-revocations", _admin(people_moved.revoke_token), TokenRevokeRequest,
    ),
    _extension("list-audit", "GET", _STORE_PATH + "/audit", _LIST_AUDIT, query=_AUDIT_QUERY),
    _extension("list-chain-audit", "GET", "/aisle/v1/audit", _admin(list_chain_audit), query=_AUDIT_QUERY),
)  # fmt: skip
