"""Paths, queries, headers and bodies go onto the wire exactly, or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.contract import request_encoding
from aisle.contract.operations import OPERATIONS
from aisle.contract.request_encoding import QueryValue, get_operation
from aisle.errors import ContractError

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


def test_the_wire_is_read_without_pydantic_or_httpx() -> None:
    code = (
        "import sys, aisle.contract.request_encoding\n"
        "print([name for name in ('pydantic', 'httpx', 'asyncio', 'dataclasses', 'aisle.contract.request_bodies')"
        " if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        ("A/12", "A%2F12"),
        ("A#1", "A%231"),
        ("50%", "50%25"),
        ("%2F", "%252F"),
        ("a b+c", "a%20b%2Bc"),
        ("Gemüse", "Gem%C3%BCse"),
        ("...", "..."),
        ("x?y=1&z;", "x%3Fy%3D1%26z%3B"),
        ("0042", "0042"),
    ],
)
def test_a_path_part_stays_one_part(value: str, encoded: str) -> None:
    op = get_operation("list-location-products")
    assert request_encoding.encode_segment(value) == encoded
    path = request_encoding.build_path(op, {"store_number": "7", "location_code": value})
    assert path == f"/api/v2/public/stores/7/locations/{encoded}/products"


@given(TEXT)
def test_any_other_text_survives_a_path(value: str) -> None:
    if value not in (".", ".."):
        encoded = request_encoding.encode_segment(value)
        assert unquote(encoded) == value
        assert not set("/?#") & set(encoded)
        assert encoded.isascii()


@pytest.mark.parametrize("value", ["", ".", "..", "a\0b", "\ud800"])
def test_a_part_that_would_name_something_else_is_refused_by_name(value: str) -> None:
    with pytest.raises(ContractError) as caught:
        request_encoding.build_path(get_operation("list-locations"), {"store_number": value})
    assert repr(value) in str(caught.value)


def test_a_path_value_cannot_smuggle_in_another_placeholder() -> None:
    values = {"store_number": "{location_code}", "location_code": "L1"}
    path = request_encoding.build_path(get_operation("list-location-products"), values)
    assert path == "/api/v2/public/stores/%7Blocation_code%7D/locations/L1/products"


def test_missing_and_unknown_path_parameters_are_named() -> None:
    with pytest.raises(ContractError, match="needs the path parameter store_number"):
        request_encoding.build_path(get_operation("list-locations"), {})
    with pytest.raises(ContractError, match="no path parameter 'store_nr'; the nearest is store_number"):
        request_encoding.build_path(get_operation("list-locations"), {"store_nr": "1"})


def test_the_nearest_operation_is_offered() -> None:
    with pytest.raises(ContractError, match="no operation 'list-customer-order'; the nearest is list-customer-orders"):
        get_operation("list-customer-order")
    with pytest.raises(ContractError, match=r"no operation 'zzz'\.$"):
        get_operation("zzz")


@pytest.mark.parametrize(
    ("name", "values", "query"),
    [
        ("list-customer-orders", {}, ""),
        ("list-customer-orders", {"reference": None, "is_active": False}, "is_active=false"),
        ("list-customer-orders", {"show_lines": True, "page_size": 50}, "page_size=50&show_lines=true"),
        ("list-customer-orders", {"pickup_offset": -1}, "pickup_offset=-1"),
        ("list-customer-orders", {"search_text": "A&B=C d"}, "search_text=A%26B%3DC%20d"),
        ("list-customer-orders", {"search_text": ""}, "search_text="),
        ("list-customer-orders", {"page_size": "50", "is_picked": "true"}, "is_picked=true&page_size=50"),
        ("list-store-products-stock", {"from_id": Decimal("10"), "barcode": "042"}, "barcode=042&from_id=10"),
        ("list-store-products-stock", {"from_id": 2.0}, "from_id=2.0"),
        ("list-stores", {"page_size": 25, "page_start": "3"}, "page_size=25&page_start=3"),
        ("list-stores", {"secondary_key": "k" * 500}, "secondary_key=" + "k" * 500),
        ("create-movement", {"AppUserName": "Zoë"}, "AppUserName=Zo%C3%AB"),
        ("create-store-product-logs", {"appUserName": "U1"}, "appUserName=U1"),
        ("list-locations", {"app_username": "U1"}, "app_username=U1"),
        ("list-receipts", {"receipt_type": 1}, "receipt_type=1"),
    ],
)
def test_a_query_holds_what_was_set(name: str, values: dict[str, QueryValue], query: str) -> None:
    assert request_encoding.encode_query(get_operation(name), values) == query


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("create-movement", {"appUserName": "U1"}, "the nearest is AppUserName"),
        ("list-customer-orders", {"page_sise": 1}, "the nearest is page_size"),
        ("list-customer-orders", {"page_size": True}, "True is no number, which page_size needs"),
        ("list-customer-orders", {"page_size": "ten"}, "'ten' is no number"),
        ("list-customer-orders", {"page_size": float("nan")}, "nan is no number"),
        ("list-customer-orders", {"page_size": "1E+999999"}, "is no number"),
        ("list-customer-orders", {"is_active": "yes"}, "'yes' is no boolean"),
        ("list-customer-orders", {"is_active": 1}, "1 is no boolean"),
        ("list-customer-orders", {"search_text": "\ud800"}, "not valid text"),
        ("list-stores", {"secondary_key": "k" * 501}, "at most 500 characters, not 501"),
        ("list-receipts", {}, "needs the query parameter receipt_type"),
        ("create-customer-order-clearance", {"location_code_tag": None}, "needs the query parameter location_code_tag"),
    ],
)
def test_a_query_that_does_not_fit_is_refused(name: str, values: dict[str, QueryValue], why: str) -> None:
    with pytest.raises(ContractError) as caught:
        request_encoding.encode_query(get_operation(name), values)
    assert why in str(caught.value)


@given(TEXT)
def test_any_text_survives_a_query(value: str) -> None:
    query = request_encoding.encode_query(get_operation("list-customer-orders"), {"search_text": value})
    assert parse_qsl(query, keep_blank_values=True) == [("search_text", value)]


def test_headers_are_spelled_as_documented() -> None:
    deliveries, products = get_operation("create-store-deliveries"), get_operation("list-location-products")
    assert request_encoding.encode_headers(deliveries, {"container_override": True}) == {"container_override": "true"}
    assert request_encoding.encode_headers(products, {"Accept-Language": "nl-NL"}) == {"Accept-Language": "nl-NL"}
    assert request_encoding.encode_headers(products, {"Accept-Language": None}) == {}
    for value in ("nl\r\nX: 1", "é"):
        with pytest.raises(ContractError, match="printable ASCII"):
            request_encoding.encode_headers(products, {"Accept-Language": value})


def test_a_body_is_compact_utf8_and_decimals_keep_every_digit() -> None:
    value = [{"product_number": 'Käse "A"\n', "quantity": Decimal("1.50"), "reason_code": None, "allow_overage": False}]
    assert request_encoding.encode_body(get_operation("create-movement"), value) == (
        '[{"product_number":"Käse \\"A\\"\\n","quantity":1.50,"reason_code":null,"allow_overage":false}]'.encode()
    )
    numbers = {"a": [], "b": {}, "c": [1, 2.5], "d": Decimal("1E+2"), "e": Decimal("0.1") + Decimal("0.2")}
    assert request_encoding.encode_json(numbers) == b'{"a":[],"b":{},"c":[1,2.5],"d":100,"e":0.3}'


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(-1000, 1000, places=3) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
)


@given(JSON)
def test_any_json_value_comes_back_the_same(value: object) -> None:
    assert json.loads(request_encoding.encode_json(value), parse_float=Decimal) == value


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("NaN"), Decimal("1E+999"), object(), {1: 2}, {"a": b"x"}, "\ud800"],
)
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(ContractError):
        request_encoding.encode_json([value])


def test_a_body_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(ContractError, match="is an array, not an object"):
        request_encoding.encode_body(get_operation("create-movement"), {"body": []})
    with pytest.raises(ContractError, match="is an object, not an array"):
        request_encoding.encode_body(get_operation("create-stores"), [])
    with pytest.raises(ContractError, match="is an object, not str"):
        request_encoding.encode_body(get_operation("create-stores"), "x")
    with pytest.raises(ContractError, match="has no body"):
        request_encoding.encode_body(get_operation("list-stores"), {})


def test_pools_are_counted_from_one_to_ten() -> None:
    assert request_encoding.pool_fields("mostlikelypool")[0] == "mostlikelypool1"
    assert request_encoding.pool_fields("stock_pool_")[9] == "stock_pool_10"
    assert len(request_encoding.pool_fields("x")) == len(request_encoding.POOL_NUMBERS) == 10


def test_every_list_takes_a_page_size_and_a_page() -> None:
    for op in OPERATIONS.values():
        names = {param.name for param in op.params_in("query")}
        assert (op.paging is not None) == ("page_size" in names)
        assert ("page_size" in names) == ("page_start" in names)
