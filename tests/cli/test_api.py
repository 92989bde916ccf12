"""`aisle api` runs every operation of the interface, and follows the pages of every list."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from aisle.cli import api as door
from aisle.cli import main
from aisle.client import Response
from aisle.client.responses_and_errors import status_error
from aisle.contract.operations import OPERATIONS
from aisle.contract.request_encoding import encode_json
from aisle.service.http.openapi.document import EXAMPLES, PARAMETER_TEXTS
from tests.service.world import prepare


@pytest.fixture(autouse=True)
def home(aisle_home: Path) -> Path:
    """Every test has a demo store of its own."""
    prepare(aisle_home / "service.db", demo=True)
    return aisle_home


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of `aisle api`."""
    try:
        status = main(["api", *arguments])
    except SystemExit as leave:
        status = int(str(leave.code or 0))
    out, err = capsys.readouterr()
    return status, out, err


def queries(values: dict[str, Any]) -> list[str]:
    """Parameters as a command line gives them."""
    return [
        part
        for name, value in values.items()
        for part in ("--query", f"{name}={str(value).lower() if value is True else value}")
    ]


def test_every_operation_is_run_by_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = set()
    for name, examples in EXAMPLES.items():
        if name not in OPERATIONS:
            continue
        for one in examples:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(encode_json(one.body))))
            sure = ["--yes"] if name in door.DANGEROUS_OPERATIONS else []
            status, out, err = run(capsys, name, "--body", "-", *sure, *queries(dict(one.query)))
            assert (status, err) == (0, ""), (name, one.name)
            assert json.loads(out).get("success", True), (name, one.name)
        done.add(name)
    for row in OPERATIONS.values():
        if not row.write:
            needed = {param.name: PARAMETER_TEXTS[param.name].example for param in row.params if param.required}
            status, out, err = run(capsys, row.name, *queries(needed))
            assert (status, err) == (0, ""), row.name
            assert isinstance(json.loads(out), list if row.result_array else dict)
            done.add(row.name)
    assert done == set(OPERATIONS)
    assert len(done) == 29


def _total_of_all_stores(capsys: pytest.CaptureFixture[str], name: str) -> int:
    """Of a list that is too long to be counted over several stores: each store's, which is told."""
    stores = json.loads(run(capsys, "list-stores")[1])["list"]
    one = [run(capsys, name, *queries({"store_number": store["storeNo"], "page_size": 1}))[1] for store in stores]
    return sum(json.loads(answer)["total_count"] for answer in one)


def test_list_of_stores_keeps_to_the_store_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    stores = [store["storeNo"] for store in json.loads(run(capsys, "list-stores")[1])["list"]]
    status, out, _ = run(capsys, "list-stores", "--all", "--store", stores[-1])
    assert (status, [json.loads(line)["storeNo"] for line in out.splitlines()]) == (0, stores[-1:])
    assert len(stores) > 1
    status, out, err = run(capsys, "list-stores", "--all", "--store", "nowhere")
    assert (status, out, "no rows with store_number nowhere" in err) == (0, "", True)


@pytest.mark.parametrize("name", [row.name for row in OPERATIONS.values() if row.paging])
def test_every_list_is_followed_to_its_end(capsys: pytest.CaptureFixture[str], name: str) -> None:
    row = OPERATIONS[name]
    needed = {param.name: PARAMETER_TEXTS[param.name].example for param in row.params if param.required}
    status, out, err = run(capsys, name, *queries(needed | {"page_size": 1000}))
    assert (status, err) == (0, "")
    envelope = json.loads(out)
    whole = envelope["records" if row.paging == "products" else "list"]
    counted = "total_record_count" if row.paging == "products" else "total_count"
    total = envelope[counted] if counted in envelope else _total_of_all_stores(capsys, name)
    size = max(1, len(whole) // 2)
    status, out, err = run(capsys, name, "--all", *queries(needed | {"page_size": size}))
    assert (status, err) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows[: len(whole)] == whole
    assert len(rows) == len({json.dumps(one, sort_keys=True) for one in rows}) == total


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("list-products", "--store", "0001", "--query", "product_number=none", "--query", "page_size=5"),
            "aisle: list-products has no rows with product_number none, store_number 0001.\n",
        ),
        (
            ("list-store-product-logs", "--query", "reference=none\x1b[2J", "--store", "0001"),
            "aisle: list-store-product-logs has no rows with reference none\ufffd[2J, store_number 0001.\n",
        ),
    ],
)
def test_empty_list_is_said_on_stderr(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert run(capsys, *arguments, "--all") == (0, "", words)
    status, out, err = run(capsys, *arguments)
    assert (status, err) == (0, "")
    assert [] in json.loads(out).values()


def test_refusal_is_printed_with_exit_status_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, err = run(capsys, "list-locations", "--store", "nowhere")
    assert status == 1
    assert json.loads(out)["status"] == 403
    assert "list-locations" in err
    status, out, err = run(capsys, "list-locations", "--all", "--store", "nowhere")
    assert (status, out) == (1, "")
    assert "list-locations" in err
    body = tmp_path / "body.json"
    body.write_text('{"orders": [{"order_number": "X", "order_lines": [{"line_number": 1, "product_number": "?"}]}]}')
    status, out, err = run(capsys, "create-customer-orders-one-store", "--body", str(body))
    assert status == 1
    assert json.loads(out)["success"] is False
    assert "quantity" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("retrieve-store-product-stock", "--all"), "is no list"),
        (("create-movement", "--all", "--body", "-"), "is no list"),
        (("list-receipts", "--all"), "needs receipt_type: --query receipt_type=…"),
        (("retrieve-store-product-stock",), "needs product_number: --query product_number=…"),
        (("list-storez",), "the nearest is list-stores"),
        (("list-customer-orders", "--query", "pickup_offset=x"), "'x' is no number"),
        (("list-location-products", "--query", "location_code=.."), "cannot stand in a path"),
        (("create-customer-orders-one-store",), "needs a body"),
        (("list-stores", "--all", "--query", "is_warehose=true"), "is_warehouse"),
        (("list-locations", "--body", "-"), "has no body"),
    ],
)
def test_what_cannot_be_meant_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[]")))
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert says in err


def test_a_clearance_needs_no_body(capsys: pytest.CaptureFixture[str]) -> None:
    tag = queries({"location_code_tag": "nowhere"})
    status, out, _err = run(capsys, "create-customer-order-clearance", *tag, "--yes")
    assert status == 0
    assert json.loads(out)["message"].startswith("No place has the tag 'nowhere'")


def test_brackets_that_are_not_closed_are_told_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text("[" * 100_000)
    status, out, err = run(capsys, "create-movement", "--body", str(body))
    assert (status, out) == (2, "")
    assert err == f"aisle: The body {body} is nested too deeply. Look for brackets that are not closed.\n"


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("list-store-products-stock", {}),
        ("list-deliveries", {}),
        ("list-receipts", {"receipt_type": 1}),
        ("list-store-product-logs", {}),
    ],
)
def test_a_store_that_is_named_narrows_lists_of_all_stores(
    capsys: pytest.CaptureFixture[str], name: str, more: dict[str, Any]
) -> None:
    def listed(*arguments: str, **query: str) -> list[str]:
        status, out, err = run(capsys, name, "--all", *queries(more | query), *arguments)
        assert (status, err) == (0, "")
        return out.splitlines()

    assert listed("--store", "0001") == listed(store_number="0001")
    if name == "list-store-products-stock":
        assert {json.loads(row)["store_number"] for row in listed("--store", "0001")} == {"0001"}
        assert {json.loads(row)["store_number"] for row in listed("--store", "0001", store_number="0002")} == {"0002"}
        assert len(listed()) > len(listed("--store", "0001"))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Closed.", "Closed."),
        ("Closed", "Closed."),
        ("Closed..", "Closed."),
        ("Closed. ", "Closed."),
        ("Closed!", "Closed!"),
        ("Closed?", "Closed?"),
        ("Closed…", "Closed…"),
        ("", "status 409."),
    ],
)
def test_a_refusal_ends_with_one_full_stop(said: str, told: str) -> None:
    answer = Response(409, {}, json.dumps({"message": said}).encode())
    assert str(status_error("x", answer)).endswith(told)
    assert not str(status_error("x", answer)).endswith("..")
