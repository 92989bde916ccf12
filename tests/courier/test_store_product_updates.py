"""What a store says of a product: sent, read back and laid over until then, at our own service and at one of the
document alone; what is doubtful is looked for in the stock list, and nobody is written over unseen.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.cli.print_rows_and_messages import reason_text
from aisle.client import Client, Response, RetryPolicy
from aisle.courier.push.decide_arrival_from_lookup import (
    ABSENT,
    CHANGED,
    FOUND,
    MATCHES,
    UNREADABLE,
    LookupResult,
    decide,
)
from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, RESEND, Json, Write
from aisle.jobs.supervisor.service_fields_and_values import UPDATE, update_write
from aisle.outbox.operation_record import Operation
from aisle.store_product_settings import LABEL_CHECK, LABEL_EXPIRY, UNDONE_EXPIRY, parse_entry_values
from tests.courier.document_host import Shop
from tests.courier.fake_service import answer_lost, not_applied, says
from tests.courier.host import URL, Host
from tests.courier.session_outbox import Desk
from tests.courier.test_real_service import Shop as OwnShop
from tests.courier.writes import STORE
from tests.faults.document_service import OP, Document, Ways


def setting(changes: dict[str, Json], **base: str) -> Write:
    """What a person says anew of P1."""
    return update_write("P1", STORE, changes, base)


@pytest.fixture
def shop(shop: Shop) -> Shop:
    shop.fake.stock["P1"].update(min=4, max=10, order_level=5, history_array='{"W1":3,"W2":4}')
    return shop


def seen(host: Host | OwnShop, product: str = "P1") -> dict[str, Any]:
    """The product as a session sees it."""
    (row,) = host.reads.query("store_product", {"product_number": product, "user": "U1"})[0]
    return dict(row)


# A service of the document alone


async def test_update_is_overlaid_sent_without_base_and_read_back(shop: Shop) -> None:
    async with shop.working() as courier:
        (op_id,) = shop.desk.write(setting({"min": Decimal(6), "attention_codes": ["COLD", "GLASS"]}, min="4"))
        row = seen(shop)
        assert (row["min"], row["storeproduct_attention_codes"]) == (6, "COLD,GLASS")
        assert row["is_ranged"]
        assert [each["outcome"] for each in row["said"]] == ["queued"]
        assert row["said"][0]["fields"] == [("min", "4", "6"), ("attention_codes", "", "COLD,GLASS")]
        courier.wake()
        await shop.until(op_id, "done")
        await shop.time.until(lambda: shop.desk.is_read_back(op_id), 60)
    (sent,) = [item for name, item in shop.fake.applied if name == UPDATE]
    assert sent == {"product_number": "P1", "min": 6, "attention_codes": ["COLD", "GLASS"]}
    row = seen(shop)
    assert (row["min"], row["history_array"], row["said"][0]["outcome"]) == (6, '{"W1":3,"W2":4}', "confirmed")


@pytest.mark.parametrize("fault", [answer_lost, not_applied])
async def test_update_in_doubt_is_found_in_stock_list_or_resent(shop: Shop, fault: Any) -> None:
    async with shop.working() as courier:
        shop.fake.fail(UPDATE, fault)
        (op_id,) = shop.desk.write(setting({"min": Decimal(6)}, min="4"))
        courier.wake()
        await shop.until(op_id, "in_doubt")
        assert seen(shop)["min"] == 6, "it may have arrived"
        await shop.until(op_id, "done")
        await shop.time.until(lambda: shop.desk.is_read_back(op_id), 300)
    assert shop.applied(UPDATE) == 1
    assert shop.fake.stock["P1"]["min"] == 6


async def test_update_of_hidden_field_in_doubt_needs_person(shop: Shop) -> None:
    async with shop.working() as courier:
        shop.fake.fail(UPDATE, not_applied)
        (op_id,) = shop.desk.write(setting({"discount_price": Decimal("1.5")}))
        courier.wake()
        await shop.until(op_id, "needs_person")
        (card,) = shop.reads.query("unconfirmed", {"op_id": op_id})[0]
        assert (card["kind"], card["ways"]) == ("setting", [ARRIVED, RESEND, CLOSED_BY_HAND])
        assert card["sides"] == [
            {"subject": "discount_price", "location": "", "before": None, "ours": "1.5", "after": None}
        ]
        assert shop.settle(op_id, RESEND)
        courier.wake()
        await shop.until(op_id, "done")
    assert shop.applied(UPDATE) == 1


async def test_nobody_is_written_over_unseen(shop: Shop) -> None:
    async with shop.working() as courier:
        shop.fake.stock["P1"]["min"] = 5
        (op_id,) = shop.desk.write(setting({"min": Decimal(6), "max": Decimal(12)}, min="4", max="10"))
        courier.wake()
        op = await shop.until(op_id, "rejected")
        assert reason_text(op.last_error) == "Somebody else changed Minimum of P1 to 5; it was 4"
        await shop.time.until(lambda: seen(shop)["min"] == 5, 60)
        (card,) = shop.reads.query("unconfirmed", {"op_id": op_id})[0]
        assert [tuple(side.values()) for side in card["sides"]] == [
            ("min", "", "4", "6", "5"),
            ("max", "", "10", "12", "10"),
        ]
        assert card["ways"] == [CLOSED_BY_HAND]
        (same,) = shop.desk.write(setting({"min": Decimal(5)}, min="4"))
        courier.wake()
        await shop.until(same, "done")
    assert shop.applied(UPDATE) == 1


@pytest.mark.parametrize(
    ("day", "is_nearest", "state"),
    [("2026-12-09", True, "done"), ("2026-12-24", True, "rejected"), ("2026-12-09", False, "rejected")],
)
async def test_of_two_expiry_checks_the_nearer_date_wins(shop: Shop, day: str, is_nearest: bool, state: str) -> None:
    async with shop.working() as courier:
        dates = {"last_expiry_datetime": "2026-12-23T00:00:00Z", "validate_expiry_datetime": "2026-12-20T00:00:00Z"}
        shop.fake.stock["P1"].update(dates)
        changes: dict[str, Json] = {
            "expiry_date_time": f"{day}T00:00:00Z", "validate_expiry_date_time": "2026-12-06T00:00:00Z",
        }  # fmt: skip
        base = {"expiry_date_time": "2026-12-12", "validate_expiry_date_time": "2026-11-30"}
        (op_id,) = shop.desk.write(update_write("P1", STORE, changes, base, is_nearest=is_nearest))
        courier.wake()
        await shop.until(op_id, state)
    sent = [item for name, item in shop.fake.applied if name == UPDATE]
    assert sent == ([{"product_number": "P1", **changes}] if state == "done" else [])


async def test_empty_previous_value_is_checked_before_writing(shop: Shop) -> None:
    async with shop.working() as courier:
        shop.fake.stock["P1"].update(min=12, max=None)
        free, taken = shop.desk.write(setting({"max": Decimal(20)}, order_level="5"), setting({"min": Decimal(5)}))
        courier.wake()
        op = await shop.until(taken, "rejected")
        assert reason_text(op.last_error) == "Somebody else changed Minimum of P1 to 12; it was -"
        await shop.until(free, "done")
        assert (shop.fake.stock["P1"]["min"], shop.fake.stock["P1"]["max"]) == (12, 20)
    assert shop.applied(UPDATE) == 1


async def test_refused_update_is_reported_and_leaves_overlay(shop: Shop) -> None:
    async with shop.working() as courier:
        shop.fake.fail(UPDATE, says(422, body={"success": False, "message": "min may be 2 to 6"}))
        (op_id,) = shop.desk.write(setting({"min": Decimal(9)}, min="4"))
        courier.wake()
        await shop.until(op_id, "rejected")
        row = seen(shop)
        assert (row["min"], row["said"][0]["outcome"], row["said"][0]["why"]) == (4, "refused", "min may be 2 to 6")


BEFORE: Any = {"product": {"P1": {"min": "4", "max": "10"}}}


@pytest.mark.parametrize(
    ("there", "verdict"),
    [
        ({"P1": {"min": "6", "max": "10"}}, FOUND),
        ({"P1": {"min": "4", "max": "10"}}, ABSENT),
        ({"P1": {"min": "7", "max": "10"}}, CHANGED),
        ({"P1": {"max": "10"}}, CHANGED),
        (None, UNREADABLE),
    ],
)
def test_the_stock_list_proves_it(aisle_home: Path, there: Any, verdict: str) -> None:
    desk = Desk(aisle_home, lambda: 0.0)
    (op_id,) = desk.write(setting({"min": Decimal(6)}, min="4"))
    op: Operation = desk.outbox.get(op_id)._replace(evidence={"before": BEFORE})
    assert decide(op, LookupResult(products=there)).arrival == verdict
    desk.close()


def test_unchanged_or_hidden_value_proves_nothing(aisle_home: Path) -> None:
    desk = Desk(aisle_home, lambda: 0.0)
    same, hidden = desk.write(setting({"min": Decimal(4)}), setting({"is_promotion": True}))
    for op_id, verdict in ((same, MATCHES), (hidden, UNREADABLE)):
        op = desk.outbox.get(op_id)._replace(evidence={"before": BEFORE})
        assert decide(op, LookupResult(products={"P1": {"min": "4", "max": "10"}})).arrival == verdict
    desk.close()


# The service of the fault tests


class Line(httpx.AsyncBaseTransport):
    """Names each request, as the line of the fault tests does."""

    def __init__(self, service: Document) -> None:
        self._service = service

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.headers[OP] = "setting"
        return await self._service.handle_async_request(request)


async def test_the_service_of_the_fault_tests_takes_it_and_shows_it(aisle_home: Path) -> None:
    host = Host(aisle_home)
    service = Document(Ways(), host.time.clock)
    service.add_product("P1", "21", {"": 3})
    service.settings["P1"] = {"min": 4, "max": 10}

    def connect(observe: Callable[[Response], None] = lambda _: None) -> Client:
        retry = RetryPolicy(tries=1)
        return Client(URL, "token", transport=Line(service), on_response=observe, retry=retry, sleep=host.time.sleep)

    host.connect = connect  # type: ignore[method-assign]
    try:
        async with host.running(host.courier()) as courier:
            await host.time.until(lambda: courier.full_sync.progress.completed, 600)
            good, bad = host.desk.write(
                setting({"max": Decimal(12), "expiry_date_time": "2026-12-24T00:00:00Z"}, max="10"),
                setting({"min": Decimal(20)}, min="4"),
            )
            courier.wake()
            await host.time.until(lambda: host.desk.state(bad) == "rejected" and host.desk.is_read_back(good), 600)
            row = seen(host)
            assert (row["max"], row["min"], row["last_expiry_datetime"]) == (12, 4, "2026-12-24T00:00:00Z")
    finally:
        host.close()


# Our own service


@pytest.fixture
async def own(aisle_home: Path) -> AsyncIterator[OwnShop]:
    shop = OwnShop(aisle_home)
    yield shop
    shop.close()


async def test_our_own_service_applies_each_field_and_says_what_it_may_not_be(own: OwnShop) -> None:
    async with own.client(straight=True) as client:
        rows = (await client.request("list-products", query={"page_size": 1})).json()["records"]
        product = str(rows[0]["product_number"])
        given = {"product_number": product, "min": 4, "max": 10, "history_array": [3, 5], "history_keys": ["W1", "W2"]}
        body = json.dumps({"store_products": [given]}).encode()
        await client.request("create-store-products", path={"store_number": STORE}, body=body)
    async with own.courier() as courier:
        await own.time.until(lambda: seen(own, product).get("min") == 4, 60)
        row = seen(own, product)
        assert (row["history_array"], row["original_min"], row["edit_min_max_percentage"]) == ('{"W1":3,"W2":5}', 4, 50)
        everything: dict[str, Json] = {
            "min": Decimal(6),
            "max": Decimal(12),
            "order_level": Decimal("5.5"),
            "is_replenishment": True,
            "attention_codes": ["COLD"],
            "expiry_date_time": "2026-12-24T00:00:00Z",
            "validate_expiry_date_time": "2026-12-20T00:00:00Z",
            "is_promotion": True,
            "price": Decimal("2.49"),
            "discount_price": Decimal("1.99"),
        }
        good, bad = own.desk.write(
            update_write(product, STORE, everything, parse_entry_values(row)),
            update_write(product, STORE, {"min": Decimal(7)}, {"min": "6"}),
        )
        courier.wake()
        await own.time.until(lambda: own.desk.state(bad) == "rejected" and own.desk.is_read_back(good), 120)
        row = seen(own, product)
        assert row["said"][0]["why"] == "min was 4; by at most 50 % it may be 2 to 6."
        told = {
            "min": 6, "max": 12, "order_level": Decimal("5.5"), "is_replenishment": True, "is_promotion": True,
            "storeproduct_attention_codes": "COLD", "last_expiry_datetime": "2026-12-24T00:00:00.000Z",
            "validate_expiry_datetime": "2026-12-20T00:00:00.000Z", "price": Decimal("2.49"),
            "discount_price": Decimal("1.99"),
        }  # fmt: skip
        assert {name: row[name] for name in told} == told
        assert [each["outcome"] for each in row["said"]] == ["refused", "confirmed"]
        async with own.client(straight=True) as client:
            other = json.dumps([{"product_number": product, "max": 11}]).encode()
            await client.request("update-store-products", path={"store_number": STORE}, body=other)
        (late,) = own.desk.write(update_write(product, STORE, {"max": Decimal(9)}, {"max": "12"}))
        courier.wake()
        await own.time.until(lambda: own.desk.state(late) == "rejected", 120)
        assert "to 11; it was 12" in reason_text(own.desk.outbox.get(late).last_error)


def _given(product: str, day: int, **base: str) -> Write:
    """What a person finds nearest: goods that expire on this day of December, to be checked three days before."""
    days = {"expiry_date_time": day, "validate_expiry_date_time": day - 3}
    changes: dict[str, Json] = {name: f"2031-12-{each:02}T00:00:00Z" for name, each in days.items()}
    return update_write(product, STORE, changes, base, needs_supervisor=False, is_nearest=True)


async def test_our_own_service_keeps_the_dates_that_are_not_nearest(own: OwnShop) -> None:
    async with own.client(straight=True) as client:
        rows = (await client.request("list-products", query={"page_size": 1})).json()["records"]
        product = str(rows[0]["product_number"])
        body = json.dumps({"store_products": [{"product_number": product}]}).encode()
        await client.request("create-store-products", path={"store_number": STORE}, body=body)
    label: dict[str, Json] = {
        LABEL_EXPIRY: "2031-12-24T00:00:00Z", LABEL_CHECK: "2031-12-21T00:00:00Z",
    }  # fmt: skip
    wrong, later = {"expiry_date_time": "2031-12-10"}, {"expiry_date_time": "2031-12-28"}
    before: dict[str, Json] = {"expiry_date_time": "2031-12-28T00:00:00Z"}
    undone: dict[str, Json] = {UNDONE_EXPIRY: "2031-12-10T00:00:00Z"}
    async with own.courier() as courier:
        for write, stands in (
            (_given(product, 28), 28),
            (_given(product, 10, **later), 10),
            (update_write(product, STORE, {}, {}, needs_supervisor=False, more=label), 10),
            (_given(product, 20, **later), 10),
            (update_write(product, STORE, before, wrong, needs_supervisor=False, more=undone), 20),
        ):
            (op_id,) = own.desk.write(write)
            courier.wake()
            await own.time.until(partial(own.desk.is_read_back, op_id), 120)
            assert seen(own, product)["last_expiry_datetime"][:10] == f"2031-12-{stands}"
