"""Who may do what, where: every operation, by role, in its own store, a foreign one and none, with every token."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from aisle.contract.operations import EXTENSIONS, OPERATIONS
from aisle.service.auth.tokens_and_pins import create_token, revoke_token
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.handlers.registry import HANDLERS
from aisle.service.operation_context import Role
from tests.service.test_monitoring import client_of
from tests.service.world import World, store_body

ROLES: tuple[Role, ...] = ("staff", "supervisor", "integration", "admin", "metrics")

# Written down from the README: which roles may, at all.
WORKERS: tuple[Role, ...] = ("staff", "supervisor", "integration", "admin")
EVERYBODY: set[str] = set(WORKERS)
READS = {name for name, row in OPERATIONS.items() if not row.write}
MAY: dict[str, set[str]] = {
    **dict.fromkeys(READS, EVERYBODY),
    "update-customer-order": EVERYBODY,
    "create-store-product-logs": EVERYBODY,
    "create-movement": EVERYBODY,
    "create-customer-order-clearance": {"supervisor", "admin"},
    "update-store-products": EVERYBODY,  # of staff only expiry checks: tests.service.test_products
    "create-store-products": {"integration", "admin"},
    "create-customer-orders-one-store": {"integration", "admin"},
    "create-customer-orders-several-stores": {"integration", "admin"},
    "create-store-deliveries": {"integration", "admin"},
    "create-multi-store-deliveries": {"integration", "admin"},
    "create-prices": {"integration", "admin"},
    "create-discount-prices": {"integration", "admin"},
    "create-or-update-products": {"integration", "admin"},
    "delete-products": {"integration", "admin"},
    "update-product-attributes": {"integration", "admin"},
    "create-product-free-fields": {"integration", "admin"},
    "create-stores": {"admin"},
}
# What is the chain's: a token of some stores has no part in it.
OF_CHAIN = {
    "create-or-update-products",
    "delete-products",
    "update-product-attributes",
    "create-product-free-fields",
    "create-stores",
}
IN_QUERY = {
    name for name, row in OPERATIONS.items() if any(param.name == "store_number" for param in row.params_in("query"))
}
IN_PATH = {name for name, row in OPERATIONS.items() if "{store_number}" in row.path}
IN_BODY: dict[str, dict[str, Any]] = {
    "create-customer-orders-several-stores": {"orders": [{"order_number": "X"}]},
    "create-multi-store-deliveries": {"orders": [{"order_number": "X", "no_of_containers": 1, "supplier_name": "S"}]},
    "create-prices": {"products": [{"product_number": "P1", "price": 1}]},
    "create-discount-prices": {"products": [{"product_number": "P1", "discount_price": 1}]},
}
BODIES: dict[str, Any] = {
    "create-stores": {"stores": [store_body("S1", "First")]},
    "create-or-update-products": {"products": [{"product_number": "P1"}]},
    "update-product-attributes": {"products": [{"product_number": "P1"}]},
    "create-product-free-fields": {"products": [{"product_number": "P1", "free_fields": []}]},
    "delete-products": {"product_numbers": ["FEE"]},
    "create-customer-order-clearance": {},
}
# No store is named at all: the answer holds the token's stores.
OF_TOKEN = {"list-stores", "create-customer-order-clearance"}


def body_of(name: str, store: str) -> Any:
    """A body that is carried out where that is allowed."""
    if name in IN_BODY:
        rows = {member: [row | {"store_number": store} for row in rows] for member, rows in IN_BODY[name].items()}
        return rows
    row = OPERATIONS[name]
    return BODIES.get(name, [] if row.body_array else {}) if row.body else None


async def ask(world: World, name: str, store: str, client: httpx.AsyncClient, **headers: str) -> httpx.Response:
    """An operation in this store, wherever it names one."""
    row = OPERATIONS[name]
    query: dict[str, Any] = {"store_number": store} if name in IN_QUERY else {}
    for param in row.params_in("query"):
        if param.required:
            query[param.name] = {"receipt_type": 1, "location_code_tag": "shelf"}[param.name]
    path = row.path.removeprefix("/api/v2/public").replace("{store_number}", store)
    path = path.replace("{product_number}", "P1").replace("{location_code}", "DESK")
    return await world.send(row.method, path, body_of(name, store), query=query, client=client, headers=headers)


def test_the_matrix_is_whole() -> None:
    assert set(MAY) == set(OPERATIONS) == set(HANDLERS) - set(EXTENSIONS)
    assert IN_PATH | IN_QUERY | set(IN_BODY) | OF_CHAIN | OF_TOKEN == set(OPERATIONS)


@pytest.mark.parametrize("role", WORKERS)
async def test_a_token_of_one_store(world: World, role: Role) -> None:
    """Its own store by its role; a foreign one and one that is not there are refused in the same bytes."""
    await world.order("SEEN", {"product_number": "P1", "quantity": 1})
    before = world.books("S1"), world.books("S2")
    async with world.client_for(role, ["S1"]) as client:
        for name in OPERATIONS:
            here = await ask(world, name, "S1", client)
            may = role in MAY[name] and name not in OF_CHAIN
            # An update without an order does nothing; the answer is the right to it.
            assert here.status_code == (200 if may else 403), (name, here.text)
            if name in OF_TOKEN | OF_CHAIN:
                continue
            foreign, missing = [await ask(world, name, store, client) for store in ("S2", "NONE")]
            assert foreign.status_code == 403, (name, foreign.text)
            assert foreign.content == missing.content, name
            assert missing.status_code == 403
    assert (world.books("S1"), world.books("S2")) == before


@pytest.mark.parametrize("role", ROLES)
async def test_a_token_of_all_stores(world: World, role: Role) -> None:
    async with world.client_for(role) as client:
        for name in OPERATIONS:
            here = await ask(world, name, "S1", client)
            assert here.status_code == (200 if role in MAY[name] else 403), (name, here.text)
            if name in OF_TOKEN | OF_CHAIN:
                continue
            assert (await ask(world, name, "NONE", client)).status_code == 403, name


@pytest.mark.parametrize("kind", ["expired", "revoked", "missing", "garbled", "other checksum"])
async def test_no_good_token(world: World, kind: str) -> None:
    """Whatever is wrong with it, wherever it asks: the same words, and no word of stores."""
    secret = _bad(world, kind)
    client = world.open_client(secret)
    answers = set()
    for name in OPERATIONS:
        for store in ("S1", "S2", "NONE"):
            answer = await ask(world, name, store, client)
            assert answer.status_code == 401, (name, store)
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            answers.add(answer.content)
    for extension in EXTENSIONS.values():
        path, query = extension.path.replace("{store_number}", "S1"), OWN_QUERIES.get(extension.name, {})
        answer = await world.send(extension.method, path, _own_body(extension.name, "S1"), client=client, query=query)
        assert answer.status_code == 401, extension.name
        answers.add(answer.content)
    async with client_of(world, host="10.0.0.9", secret=secret) as far:
        answer = await far.get("/metrics")
        assert answer.status_code == 401
        answers.add(answer.content)
    assert len(answers) == 1


def _bad(world: World, kind: str) -> str | None:
    if kind == "missing":
        return None
    if kind == "expired":
        return world.token("admin", expires_on=format_timestamp(world.now))
    now = format_timestamp(world.now)
    made = create_token(world.service.database, name="x", role="admin", store_numbers=None, now=now)
    if kind == "revoked":
        assert revoke_token(world.service.database, made.token_id, now=now)
        return made.secret
    return made.secret[::-1] if kind == "garbled" else made.secret[:-1] + ("0" if made.secret[-1] != "0" else "1")


@pytest.mark.parametrize("role", WORKERS)
async def test_our_own_operations_keep_to_the_stores_of_a_token(world: World, role: Role) -> None:
    async with world.client_for(role, ["S1"]) as client:
        for extension in EXTENSIONS.values():
            answers = []
            for store in ("S1", "S2", "NONE"):
                body = _own_body(extension.name, store)
                path = extension.path.replace("{store_number}", store)
                query = OWN_QUERIES.get(extension.name, {})
                answers.append(await world.send(extension.method, path, body, client=client, query=query))
            own, foreign, missing = answers
            good = _DONE.get(extension.name, 200)
            may = role in OURS.get(extension.name, EVERYBODY) and not HANDLERS[extension.name].needs_all_stores
            assert own.status_code == (good if may else 403), (extension.name, own.text)
            assert (foreign.status_code, foreign.content) == (403, missing.content), extension.name
            assert (own.content == foreign.content) == (own.status_code == 403 and extension.name != "sign-in")


@pytest.mark.parametrize("role", ROLES)
async def test_our_own_operations_of_the_chain_need_their_role(world: World, role: Role) -> None:
    """A token of all stores, by its role."""
    async with world.client_for(role) as client:
        for extension in EXTENSIONS.values():
            path = extension.path.replace("{store_number}", "S1")
            query = OWN_QUERIES.get(extension.name, {})
            body = _own_body(extension.name, "S1")
            answer = await world.send(extension.method, path, body, client=client, query=query)
            good = _DONE.get(extension.name, 200)
            may = role in OURS.get(extension.name, EVERYBODY)
            assert answer.status_code == (good if may else 403), (extension.name, answer.text)


_MAKERS = {"supervisor", "integration", "admin"}
# Written down from the README, too; what is not named is for everybody.
OURS: dict[str, set[str]] = {
    "review-logs": _MAKERS,
    "write-locations": _MAKERS,
    "write-people": _MAKERS,
    "write-recounts": _MAKERS,
    "reject-lines": _MAKERS,
    "mark-deliveries": _MAKERS,
    "list-audit": {"supervisor", "admin"},
    "list-chain-audit": {"admin"},
    "list-tokens": {"admin"},
    "create-token": {"admin"},
    "revoke-token": {"admin"},
}


def _own_body(name: str, store: str) -> Any:
    places = {"locations": [{"store_number": store, "location_code": "NEW"}]}
    bodies: dict[str, Any] = {
        "write-locations": places,
        "write-people": {"people": []},
        "review-logs": {"reviews": []},
        "write-recounts": {"recounts": []},
        "reject-lines": {"order_number": "NONE", "lines": []},
        "sign-in": {"store_number": store, "user": "nobody", "pin": "0000"},
        "mark-deliveries": {"deliveries": []},
        "create-token": {"name": "made", "role": "staff", "stores": [store]},
        "revoke-token": {"name": "none"},
    }
    return bodies.get(name)


OWN_QUERIES = {"retrieve-log-entry": {"id": 1}}


# Where something else than 200 says that the operation was carried out.
_DONE = {"reject-lines": 404, "retrieve-log-entry": 404, "sign-in": 403, "revoke-token": 404}


FLUSHES = ("create-customer-orders-one-store", "create-customer-orders-several-stores", "create-stores")


@pytest.mark.parametrize("role", ROLES)
async def test_only_an_admin_flushes(world: World, role: Role) -> None:
    await world.order("KEPT")
    async with world.client_for(role) as client:
        for name in FLUSHES[:2]:
            row = OPERATIONS[name]
            path = row.path.removeprefix("/api/v2/public").replace("{store_number}", "S1")
            answer = await world.send(row.method, path, body_of(name, "S1"), query={"flush": True}, client=client)
            assert answer.status_code == (200 if role == "admin" else 403)
    orders = [row["order_number"] for row in await world.rows("/stores/S1/orders/customerorders")]
    assert orders == (["X"] if role == "admin" else ["KEPT"])


@pytest.mark.parametrize("name", sorted(set(IN_BODY) | OF_CHAIN))
async def test_a_stored_answer_is_for_those_who_may_ask_today(world: World, name: str) -> None:
    """A key that somebody else used opens no door to what he did."""
    headers = {"Idempotency-Key": '"0123456789abcdef"'}
    assert (await ask(world, name, "S2", world.client, **headers)).status_code == 200
    async with world.client_for("admin", ["S1"]) as client:
        answer = await ask(world, name, "S2", client, **headers)
        assert answer.status_code == 403, answer.text
        assert "Idempotency-Replayed" not in answer.headers
    again = await ask(world, name, "S2", world.client, **headers)
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")
