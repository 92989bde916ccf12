"""Table of the extensions of the interface: locations, people, recounts, changes and more (README: Extensions)."""

from __future__ import annotations

from aisle.contract.operations import Operation, Param, define

EXTENSION_AREA = "aisle"
SIGN_IN_CHANNEL_HEADER = "Aisle-Door"
"""Header with the channel of a sign-in."""
SCROLL_PARAM = Param("scroll_id", "query", "string", max_length=2000, assumed=True)
"""Parameter of every list with the common envelope, beside those of the document."""

_STORE_PATH = "/aisle/v1/stores/{store_number}"
_PAGE_QUERY = "after:n limit:n"
_AUDIT_QUERY = _PAGE_QUERY + " last_modified_date subject key"


def _define(name: str, method: str, path: str, body: str | None = None, query: str = "", header: str = "") -> Operation:
    return define(name, EXTENSION_AREA, method, path, "StandardResult", query=query, header=header, body=body)


_DEFINITIONS = (
    _define("retrieve-store", "GET", _STORE_PATH),
    _define("review-logs", "POST", _STORE_PATH + "/reviews", "ReviewsRequest"),
    _define("write-locations", "POST", "/aisle/v1/locations", "LocationsRequest"),
    _define("list-people", "GET", _STORE_PATH + "/people", query="after_user limit:n"),
    _define("write-people", "POST", _STORE_PATH + "/people", "PeopleRequest"),
    _define("sign-in", "POST", "/aisle/v1/sign-in", "SignInRequest", header=SIGN_IN_CHANNEL_HEADER),
    _define("list-recounts", "GET", _STORE_PATH + "/recounts", query="state " + _PAGE_QUERY),
    _define("write-recounts", "POST", _STORE_PATH + "/recounts", "RecountsRequest"),
    _define("reject-lines", "POST", _STORE_PATH + "/line-rejections", "LineRejectionsRequest"),
    _define("list-changes", "GET", _STORE_PATH + "/changes", query="since:n limit:n mark known<=4000"),
    _define("list-unknown-keys", "GET", _STORE_PATH + "/keys", query="keys<=16384"),
    _define("list-named-orders", "GET", _STORE_PATH + "/orders", query="numbers<=16384"),
    _define("retrieve-log-entry", "GET", _STORE_PATH + "/logs", query="id:n!"),
    _define("mark-deliveries", "POST", _STORE_PATH + "/deliveries", "DeliveryMarksRequest"),
    _define("list-put-backs", "GET", _STORE_PATH + "/put-backs", query=_PAGE_QUERY),
    _define("list-assignments", "GET", _STORE_PATH + "/assignments", query=_PAGE_QUERY),
    _define("list-tokens", "GET", "/aisle/v1/tokens"),
    _define("create-token", "POST", "/aisle/v1/tokens", "TokenRequest"),
    _define("revoke-token", "POST", "/aisle/v1/token-revocations", "TokenRevokeRequest"),
    _define("list-audit", "GET", _STORE_PATH + "/audit", query=_AUDIT_QUERY),
    _define("list-chain-audit", "GET", "/aisle/v1/audit", query=_AUDIT_QUERY),
)

EXTENSIONS: dict[str, Operation] = {row.name: row for row in _DEFINITIONS}
