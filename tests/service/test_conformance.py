"""Every parameter of every operation does something: a table with a row for each, and a check that can fail.

A check compares the answer with the parameter to the answer without it. It is made a second time with the parameter's
name misspelt, which a lenient service ignores: then it has to fail.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from aisle.contract.operations import OPERATIONS
from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.busy_store import DAY, TOMORROW, busy
from tests.service.world import START, World, store_body

Rows = list[dict[str, Any]]
Check = Callable[[Any, Any], None]


class Case(NamedTuple):
    """A parameter: its value (or what makes it from the rows without it), what both requests also say, what differs."""

    value: Any
    check: Check
    base: Mapping[str, Any] = MappingProxyType({})


def rows(answer: Any) -> Rows:
    """The rows of any answer."""
    if isinstance(answer, list):
        return answer
    found: Rows = next(answer[name] for name in ("list", "records", "products") if name in answer)
    return found


def filters(without: Any, with_it: Any) -> None:
    """Some rows stay and some go, and the total says so."""
    left = [row for row in rows(without) if row not in rows(with_it)]
    stay = [row for row in rows(without) if row in rows(with_it)]
    assert left
    assert stay == rows(with_it) != []
    total = "total_record_count" if "records" in with_it else "total_count"
    assert with_it[total] == len(stay)


def widens(without: Any, with_it: Any) -> None:
    """The same, the other way round."""
    filters(with_it, without)


def finds(without: Any, with_it: Any) -> None:
    """Nothing without it."""
    assert rows(without) == []
    assert rows(with_it) != []


def shows(without: Any, with_it: Any) -> None:
    """The same rows, shown in another way."""
    assert len(rows(without)) == len(rows(with_it)) > 0
    assert rows(without) != rows(with_it)


def shortens(without: Any, with_it: Any) -> None:
    """A page of one row, with all of them counted."""
    assert len(rows(without)) > 1
    assert rows(with_it) == rows(without)[:1]
    assert with_it["page_size"] == 1


def turns(without: Any, with_it: Any) -> None:
    """The next page."""
    assert len(rows(without)) == len(rows(with_it)) == 1
    assert rows(without) != rows(with_it)
    assert with_it.get("page_start", with_it.get("page_number")) == 2


def next_id(found: Rows) -> Any:
    """The second row's id, under the name that the list has for it."""
    return found[1].get("import_id", found[1].get("id"))


def first_id(found: Rows) -> Any:
    """The first row's id."""
    return found[0].get("import_id", found[0].get("id"))


SIZE, START_AT = Case(1, shortens), Case(2, turns, {"page_size": 1})
WORDS = Case("1", shortens), Case("2", turns, {"page_size": "1"})
PAST = "2026-05-27T00:00:00Z"
RECEIPTS = {
    "from_id": Case(next_id, filters, {"receipt_type": 1}),
    "to_id": Case(first_id, filters, {"receipt_type": 1}),
    "is_submitted": Case(True, filters, {"receipt_type": 1}),
    "last_modified_date": Case(PAST, filters, {"receipt_type": 1}),
    "order_number": Case("D1", filters, {"receipt_type": 1}),
    "page_size": Case(1, shortens, {"receipt_type": 1}),
    "page_start": Case(2, turns, {"receipt_type": 1, "page_size": 1}),
}

READS: dict[str, dict[str, Case]] = {
    "list-customer-orders": {
        "fulfillment_status": Case("partial", filters),
        "include_locations": Case(True, shows, {"show_lines": True}),
        "is_active": Case(False, widens),
        "is_picked": Case(True, filters),
        "order_number": Case("O1", filters),
        "page_size": SIZE,
        "page_start": START_AT,
        "pickup_offset": Case(1, filters),
        "reference": Case("R1", filters),
        "search_text": Case("anna", filters),
        "show_lines": Case(True, shows),
    },
    "list-store-products-stock": {
        "article_no": Case("P1", filters),
        "barcode": Case("4006381333931", filters),
        "category_code": Case("hot", filters),
        "parent_category_code": Case("all", filters),
        "product_number": Case("P1", filters),
        "store_number": Case("S2", filters),
        "exclude_customer_order_stock": Case(True, shows),
        "from_id": Case(next_id, filters),
        "to_id": Case(first_id, filters),
        "include_locations": Case(True, shows),
        "last_modified_date": Case(PAST, filters),
        "last_stock_modified_datetime": Case(PAST, filters),
        "page_size": SIZE,
        "page_start": START_AT,
        "search_text": Case("tea", filters),
    },
    "retrieve-store-product-stock": {
        "exclude_customer_order_stock": Case(True, shows),
        "include_locations": Case(True, shows),
        "include_zero_lines": Case(True, shows, {"include_locations": True}),
    },
    "list-deliveries": {
        "delivery_date": Case("2026-06-02", filters),
        "group_code": Case("G1", filters),
        "last_modified_date": Case(PAST, filters),
        "order_number": Case("D1", filters),
        "status": Case("partial", filters),
        "store_number": Case("S2", filters),
        "supplier_code": Case("A", filters),
        "supplier_name": Case("alph", filters),
        "is_submitted": Case(True, filters),
        "page_size": SIZE,
        "page_start": START_AT,
    },
    "list-receipts": RECEIPTS | {"store_number": Case("S2", filters, {"receipt_type": 1})},
    "list-store-receipts": RECEIPTS,
    "list-locations": {
        "accept_language": Case("nl-BE, en;q=0.5", shows),
        "ignore_customerorder_stock": Case(True, shows),
        "page_size": SIZE,
        "page_start": START_AT,
        "search_text": Case("shelf", filters),
    },
    "list-location-products": {
        "advance_search": Case(True, finds, {"search_text": "in a tin"}),
        "customer_order_number": Case("O1", filters),
        "customer_order_shipment_number": Case("SH1", filters),
        "page_size": SIZE,
        "page_start": START_AT,
        "search_text": Case("tea", filters),
        "Accept-Language": Case("nl", shows),
    },
    "list-store-product-logs": {
        "article_number": Case("P1", filters),
        "from_id": Case(next_id, filters),
        "to_id": Case(first_id, filters),
        "is_historic": Case(True, widens),
        "is_reviewed": Case(True, filters),
        "last_modified_date": Case("2026-05-28", filters),
        "to_modified_date": Case("2026-05-27", filters),
        "page_size": SIZE,
        "page_start": START_AT,
        "reason_code": Case(3, filters),
        "reference": Case("M1", filters),
        "review_status": Case(1, filters),
        "store_number": Case("S2", filters),
    },
    "list-stores": {
        "is_warehouse": Case(True, filters),
        "page_size": WORDS[0],
        "page_start": WORDS[1],
        "search_text": Case("seco", filters),
        "secondary_key": Case("871", filters),
    },
    "list-products": {
        "product_number": Case("P1", filters),
        "barcode": Case("4006381333931", filters),
        "search_text": Case("tea", filters),
        "category_code": Case("hot", filters),
        "is_active": Case(True, filters),
        "last_modified_date": Case("2026-02-18T00:00:00Z", filters),
        "store_number": Case("S2", lambda without, with_it: _ranged(without, with_it)),
        "page_size": SIZE,
        "page_number": START_AT,
        "page_start": START_AT,
    },
}


def _ranged(without: Any, with_it: Any) -> None:
    """What the store ranges, marked so."""
    assert {row["product_number"] for row in rows(with_it)} == {"P2"} < {row["product_number"] for row in rows(without)}
    assert rows(with_it)[0]["is_store_product"] is True


# Parameters whose effect is not seen in one answer beside another; each has its own test, here or among the writes.
ELSEWHERE = {
    ("list-receipts", "receipt_type"),
    ("list-store-receipts", "receipt_type"),
    ("list-locations", "app_username"),
    ("create-customer-orders-one-store", "flush"),
    ("create-customer-orders-several-stores", "flush"),
    ("create-customer-order-clearance", "location_code_tag"),
    ("create-store-deliveries", "container_override"),
    ("create-multi-store-deliveries", "container_override"),
    ("create-store-product-logs", "appUserName"),
    ("create-store-product-logs", "is_counted_quantity"),
    ("create-store-product-logs", "is_from_receipt"),
    ("create-stores", "flush"),
    ("create-movement", "AppUserName"),
}


def test_the_table_has_a_row_for_every_parameter() -> None:
    documented = {
        (name, param.name) for name, row in OPERATIONS.items() for param in row.params if param.where != "path"
    }
    table = {(name, param) for name, cases in READS.items() for param in cases}
    assert table | ELSEWHERE == documented
    assert table & ELSEWHERE == set()


async def ask(world: World, name: str, query: Mapping[str, Any], **headers: str) -> Any:
    """The answer to a read, without what names the request itself."""
    answer = await world.call(name, query=query, headers=headers)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    if isinstance(found, dict):
        for member in ("list_filters", "server_time", "scroll_id"):
            found.pop(member, None)
    return found


@pytest.mark.parametrize("name", READS)
async def test_each_parameter_of_a_read_does_what_the_document_says(world: World, name: str) -> None:
    await busy(world)
    world.service.app.endpoint.lenient = True
    in_headers = {param.name for param in OPERATIONS[name].params_in("header")}
    for param, case in READS[name].items():
        without = await ask(world, name, case.base)
        value = case.value(rows(without)) if callable(case.value) else case.value

        async def answer(spelt: str, param: str = param, case: Case = case, value: Any = value) -> Any:
            if param in in_headers:
                return await ask(world, name, case.base, **{spelt: str(value)})
            return await ask(world, name, {**case.base, spelt: value})

        try:
            case.check(without, await answer(param))
        except AssertionError as problem:
            raise AssertionError(f"{name} {param}={value!r}") from problem
        with pytest.raises(AssertionError):
            case.check(without, await answer(param + "_"))


@pytest.mark.parametrize("name", ["list-receipts", "list-store-receipts"])
async def test_receipts_are_of_one_type(world: World, name: str) -> None:
    await busy(world)
    seen = {
        kind: [row["order_number"] for row in rows(await ask(world, name, {"receipt_type": kind}))] for kind in (1, 2)
    }
    assert seen == {1: ["D1", "D3", "D2"] if name == "list-receipts" else ["D1", "D2"], 2: ["D4"]}
    row = OPERATIONS[name]
    answer = await world.send("GET", row.path.removeprefix("/api/v2/public").replace("{store_number}", "S1"))
    assert answer.status_code == 400


SCROLLING = [name for name, row in OPERATIONS.items() if row.paging == "envelope"]


@pytest.mark.parametrize("name", SCROLLING)
async def test_scrolling_shows_each_row_once_and_ends(world: World, name: str) -> None:
    await busy(world)
    query: dict[str, Any] = {"page_size": 1}
    whole = rows((await world.call(name)).json())
    assert len(whole) > 1
    seen: Rows = []
    for number in range(1, len(whole) + 1):
        page = (await world.call(name, query=query)).json()
        seen += page["list"]
        assert (page["page_start"], page["total_count"]) == (number, len(whole))
        assert page["next_page"] == (number + 1 if number < len(whole) else None)
        assert ("scroll_id" in page) == (number < len(whole))
        query["scroll_id"] = page.get("scroll_id")
    assert seen == whole
    good = (await world.call(name, query={"page_size": 1})).json()["scroll_id"]
    for bad in (good[:-6], "x", "é", good + "A" * 8, "W10"):
        assert (await world.call(name, query={"scroll_id": bad})).status_code == 400
    other: dict[str, dict[str, Any]] = {"list-stores": {"is_warehouse": True}, "list-deliveries": {"status": "open"}}
    known = {param.name for param in OPERATIONS[name].params_in("query")}
    filters: dict[str, Any] = {one: "x" for one in ("search_text", "reference") if one in known}
    query = {"scroll_id": good, **other.get(name, filters)}
    assert (await world.call(name, query=query)).status_code == 400
    for bad in forged(good):
        answer = await world.call(name, query={"scroll_id": bad})
        assert answer.status_code == 400, answer.text


def forged(good: str) -> Iterator[str]:
    """The same with what no row has in its key; who makes one knows how it is made."""
    print_, number, *key = json.loads(urlsafe_b64decode(good + "=" * (-len(good) % 4)))
    yield told([print_, 0, *key])
    yield told([print_, 1 << 90, *key])
    for n, part in enumerate(key):
        for bad in (1 << 63, -1 << 70) if isinstance(part, int) else ("\0", "\ud800"):
            yield told([print_, number, *key[:n], bad, *key[n + 1 :]])


def told(parts: list[Any]) -> str:
    return urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


async def test_page_cursor_works_with_long_keys(world: World) -> None:
    numbers = [f"{n}" + "é" * 999 for n in range(3)]
    await world.post("/products", {"products": [{"product_number": one} for one in numbers]})
    for one in numbers:
        await world.count(one, "A1", stock_pool_1=1)
    seen, query = [], {"page_size": 1}
    for page in (1, 2, 3):
        answer = await world.get("/stores/S1/locations/A1/products", **query)
        seen += [row["product_number"] for row in answer["list"]]
        query |= {"page_start": page + 1} | ({"scroll_id": answer["scroll_id"]} if "scroll_id" in answer else {})
    assert (seen, answer["next_page"]) == (numbers, None)


async def test_scrolling_loses_nothing_when_rows_go_meanwhile(world: World) -> None:
    for number in range(6):
        await world.order(f"O{number}", {"product_number": "P1", "quantity": 1})
    path, query = "/stores/S1/orders/customerorders", {"page_size": 2}
    first = await world.get(path, **query)
    await world.update("O0", is_active=False)
    await world.update("O1", is_active=False)
    second = await world.get(path, **query, scroll_id=first["scroll_id"])
    assert [row["order_number"] for row in second["list"]] == ["O2", "O3"]
    third = await world.get(path, **query, scroll_id=second["scroll_id"])
    assert [row["order_number"] for row in third["list"]] == ["O4", "O5"]
    assert (third["next_page"], third["total_count"], third["previous_page"]) == (None, 4, 2)


async def test_the_filters_in_force_are_named(world: World) -> None:
    said = {"is_picked": False, "reference": "R", "show_lines": True, "page_size": 5}
    answer = await world.get("/stores/S1/orders/customerorders", **said)
    assert answer["list_filters"] == {"is_picked": ["false"], "reference": ["R"]}
    assert (answer["sort_column"], answer["sort_order"]) == ("id", "asc")
    assert answer["server_time"].startswith("2026-05-28T")


async def test_a_word_of_the_creator_s_finds_orders_by_their_lines(world: World) -> None:
    await busy(world)
    for state, orders in (("LATER", []), ("later", ["O1"]), ("Picked", ["O2"]), ("finished", [])):
        found = await world.rows("/stores/S1/orders/customerorders", fulfillment_status=state)
        assert [row["order_number"] for row in found] == orders, state


def test_the_busy_store_is_busy_in_may() -> None:
    assert format_timestamp(START + DAY)[:10] == TOMORROW


@pytest.mark.parametrize("several", [False, True])
async def test_flush_of_orders(world: World, several: bool) -> None:
    path = "/orders/customerorders" if several else "/stores/S1/orders/customerorders"

    def body(number: str) -> dict[str, Any]:
        return {"orders": [{"order_number": number} | ({"store_number": "S1"} if several else {})]}

    for number, query, seen in (
        ("O1", {}, ["O1"]),
        ("O2", {"flush": False}, ["O1", "O2"]),
        ("O3", {"flush": True}, ["O3"]),
    ):
        await world.post(path, body(number), query=query)
        assert [row["order_number"] for row in await world.rows("/stores/S1/orders/customerorders")] == seen


async def test_flush_of_stores(world: World) -> None:
    body = {"stores": [store_body("S9", "New")]}
    await world.post("/stores", body, query={"flush": False})
    assert len(await world.rows("/stores")) == 5
    await world.post("/stores", body, query={"flush": True})
    assert [row["storeNo"] for row in await world.rows("/stores")] == ["S9"]


async def test_the_tag_of_a_clearance(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    await world.move(
        "P1", 2, "A1", {"location_code": "A1", "customer_order_number": "O1", "customer_order_line_number": 1}
    )
    for tag, count in (("none", 0), ("shelf", 1)):
        await world.post("/customerorders/clearance", {}, query={"location_code_tag": tag})
        assert len((await world.get("/aisle/v1/stores/S1/assignments"))["assignments"]) == count
    assert (await world.send("POST", "/customerorders/clearance", {})).status_code == 400


@pytest.mark.parametrize("path", ["/stores/S1/orders/deliveries", "/orders/deliveries"])
async def test_the_header_that_replaces_a_delivery(world: World, path: str) -> None:
    store = {"store_number": "S1"} if path == "/orders/deliveries" else {}
    head = {"order_number": "D1", "supplier_name": "S", **store}
    await world.post(path, {"orders": [head | {"no_of_containers": 1}]})
    for override in (None, "false"):
        headers = {} if override is None else {"container_override": override}
        await world.post(path, {"orders": [head | {"no_of_containers": 2}]}, 409, headers=headers)
    await world.post(path, {"orders": [head | {"no_of_containers": 2}]}, headers={"container_override": "true"})
    assert [row["no_of_containers"] for row in await world.rows("/orders/deliveries")] == [2]


async def test_log_parameters_set_user_and_kind_of_entry(world: World) -> None:
    entry: dict[str, Any] = {"product_number": "P1", "quantity": 5, "reference": "D1"}
    delivery = {"order_number": "D1", "no_of_containers": 1, "order_lines": [{"product_number": "P1", "quantity": 9}]}
    await world.post("/stores/S1/orders/deliveries", {"orders": [delivery]})
    for query, stock, source, user, received in (
        ({}, 5, "change", None, 0),
        ({"appUserName": "bea"}, 10, "change", "bea", 0),
        ({"is_counted_quantity": True}, 5, "count", None, 0),
        ({"is_from_receipt": True}, 10, "receipt", None, 5),
    ):
        await world.log(query=query, **entry)
        seen = (await world.rows("/products/stock/storeproductlogs"))[-1]
        assert (seen["source"], seen.get("app_user_name")) == (source, user)
        assert (await world.rows("/storeproducts/stock"))[0]["most_likely_quantity"] == stock
        [row] = await world.rows("/orders/deliveries")
        assert row["order_lines"][0]["received_quantity"] == received


async def test_who_moved_it(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    for query, user in (({}, None), ({"AppUserName": "bea"}, "bea")):
        item = {"product_number": "P1", "quantity": 1, "from_location": {"location_code": "A1"}}
        item["to_location"] = {"location_code": "A2"}
        await world.post("/stores/S1/storeproductlocation/movement", [item], query=query)
        assert (await world.rows("/products/stock/storeproductlogs"))[-1].get("app_user_name") == user


async def test_who_looks_at_the_places(world: World) -> None:
    seen: list[Any] = []
    world.service.options = world.service.options._replace(record_request=seen.append)
    del world.service.__dict__["app"]
    async with world.open_client(world.secret) as client:
        for query in ({}, {"app_username": "bea"}):
            await world.send("GET", "/stores/S1/locations", query=query, client=client)
    assert [one["user"] for one in seen] == [None, "bea"]
