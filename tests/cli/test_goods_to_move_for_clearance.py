"""`aisle assignments`: what a clearance wants moved, listed where the service tells it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aisle.cli import goods_to_move_for_clearance, main
from aisle.client import Client, Response
from aisle.settings.setting_definitions import DEMO_STORE

LINE = {"line_number": 1, "quantity": 2}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of one command line."""
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def api(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The answer of an operation that has to succeed."""
    status, out, err = run(capsys, "api", *arguments)
    assert (status, err) == (0, "")
    return json.loads(out)


def body(folder: Path, content: Any) -> str:
    file = folder / "body.json"
    file.write_text(json.dumps(content))
    return str(file)


@pytest.mark.usefixtures("aisle_home")
def test_assignments_of_a_clearance_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, "assignments") == (0, "Nothing to move.\n", "")
    assert run(capsys, "assignments", "--json") == (0, "", "")
    places = api(capsys, "list-locations", "--query", "page_size=1000")["list"]
    tagged = next(place for place in places if place.get("tags"))
    [stocked] = api(
        capsys, "list-store-products-stock", "--query", f"store_number={DEMO_STORE}", "--query", "page_size=1"
    )["list"]
    product = stocked["product_number"]
    order = {"orders": [{"order_number": "CLEAR", "order_lines": [LINE | {"product_number": product}]}]}
    api(capsys, "create-customer-orders-one-store", "--body", body(tmp_path, order))
    end = {"customer_order_number": "CLEAR", "customer_order_line_number": 1}
    end |= {"location_code": tagged["location_code"]}
    move = {"product_number": product, "quantity": 2, "from_location": {}, "to_location": end, "allow_overage": True}
    api(capsys, "create-movement", "--body", body(tmp_path, [move]))
    tag = f"location_code_tag={tagged['tags'][0]}"
    api(capsys, "create-customer-order-clearance", "--query", tag, "--yes", "--body", body(tmp_path, {}))
    status, out, _ = run(capsys, "assignments", "--json")
    assert status == 0
    [row] = [json.loads(line) for line in out.splitlines()]
    assert (row["product_number"], row["location_code"]) == (product, tagged["location_code"])
    assert (row["customer_order_number"], row["quantity"]) == ("CLEAR", 2)
    status, out, _ = run(capsys, "assignments")
    head, line = out.splitlines()
    assert head.split()[:3] == ["LOCATION", "PRODUCT", "QUANTITY"]
    assert line.split()[:3] == [tagged["location_code"], product, "2"]


@pytest.mark.usefixtures("aisle_home")
@pytest.mark.parametrize(("status", "headers"), [(404, {}), (200, {}), (404, {"aisle-features": "idempotency=30d"})])
def test_a_service_that_tells_no_assignments_is_said_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, status: int, headers: dict[str, str]
) -> None:
    class Stub(Client):
        async def request_extension(self, method: str, path: str, **_: object) -> Response:
            assert (method, path) == ("GET", f"/aisle/v1/stores/{DEMO_STORE}/assignments")
            return Response(status, headers, b"<html>")

    @asynccontextmanager
    async def client(loaded: object) -> AsyncIterator[Stub]:
        yield Stub("http://127.0.0.1:1")

    monkeypatch.setattr(goods_to_move_for_clearance, "service_client", client)
    left, out, err = run(capsys, "assignments")
    assert (left, out) == (1, "")
    assert "cannot be listed here" in err
