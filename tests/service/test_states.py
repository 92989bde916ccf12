"""The table of states: the README's is the code's, each way in it can be gone, and each way that is not is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import httpx
import pytest

import aisle.service
from aisle.service.domain.states import TRANSITIONS, StateKind
from tests.service.world import LOGS, World

ORDER = "/stores/S1/orders/customerorder"
DELIVERIES = "/stores/S1/orders/deliveries"
REVIEWS = "/aisle/v1/stores/S1/reviews"
RECOUNTS = "/aisle/v1/stores/S1/recounts"
WHY = {"rejection_reason_code": "21"}


def pairs(kind: StateKind, *, allowed: bool) -> list[tuple[str, str]]:
    """From and to."""
    moves = TRANSITIONS[kind]
    return [(one, other) for one in moves for other in moves if other != one and (other in moves[one]) == allowed]


def test_the_readme_s_table_is_the_code_s() -> None:
    readme = (Path(aisle.service.__file__).parent / "README.md").read_text()
    section = readme.partition("\n## States\n")[2].partition("\n## ")[0]
    told: dict[str, dict[str, frozenset[str]]] = {}
    kind = ""
    for of, before, after in re.findall(r"^\| (\w*) *\| (\w+) \| ([\w, ]*)\|$", section, re.MULTILINE):
        if (of, before) == ("Of", "From"):
            continue
        kind = of or kind
        told.setdefault(kind, {})[before] = frozenset(filter(None, re.split(r"[, ]+", after)))
    assert told == TRANSITIONS


def test_every_state_that_is_led_to_is_in_the_table() -> None:
    for kind, moves in TRANSITIONS.items():
        for before, after in moves.items():
            assert after <= moves.keys() - {before}, kind


async def _order(world: World, number: str, said: dict[str, Any]) -> httpx.Response:
    return await world.send("PUT", ORDER, {"orders": {"order_number": number, **said}})


def _picked(quantity: int, closed: bool) -> dict[str, Any]:
    line = {"line_number": 1, "product_number": "P1", "picked_quantity": quantity, "is_picked": closed}
    return {"order_lines": [line]}


ORDER_STATES: dict[str, dict[str, Any]] = {
    "open": _picked(0, closed=False),
    "partial": _picked(1, closed=False),
    "picked": _picked(2, closed=True),
    "rejected": {"is_rejected": True},
    "finished": {"is_active": False},
}


async def order_to(world: World, number: str, state: str, before: str) -> httpx.Response:
    """Ask for a state of the order."""
    if before == "rejected" and state in ("open", "picked"):
        return await _order(world, number, {"is_rejected": False})
    if state == "open" and before == "finished":
        return await _order(world, number, {"is_active": True})
    return await _order(world, number, ORDER_STATES[state])


async def _state(world: World, number: str) -> str:
    status = (await world.see(number))["status_id"]
    return ("", "open", "partial", "picked", "rejected", "finished")[int(status)]


async def _refused(answer: httpx.Response, before: str) -> None:
    assert answer.status_code in (409, 422), answer.text
    said = answer.json()
    assert said["success"] is False
    assert before in said["message"], said["message"]


LINE_STATES: dict[str, dict[str, Any]] = {
    "open": _picked(0, closed=False),
    "partial": _picked(1, closed=False),
    "picked": _picked(2, closed=True),
    "short": _picked(1, closed=True),
}


async def line_to(world: World, number: str, state: str, before: str) -> httpx.Response:
    """Ask for a state of the line."""
    if state == "rejected" or (before, state) == ("rejected", "open"):
        line = {"line_number": 1, "is_rejected": state == "rejected", **(WHY if state == "rejected" else {})}
        body = {"order_number": number, "lines": [line]}
        return await world.send("POST", "/aisle/v1/stores/S1/line-rejections", body)
    return await _order(world, number, LINE_STATES[state])


async def _line_state(world: World, number: str) -> str:
    line = await world.line(number)
    if line.get("is_rejected"):
        return "rejected"
    if line["is_picked"]:
        return "picked" if line["picked_quantity"] == 2 else "short"
    return "partial" if line["picked_quantity"] else "open"


WAYS: dict[StateKind, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "order": (order_to, _state),
    "line": (line_to, _line_state),
}


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize("kind", WAYS)
async def test_ways_of_an_order_and_of_a_line(world: World, kind: StateKind, allowed: bool) -> None:
    come_to, state_of = WAYS[kind]
    # A second line, so that the state of the order does not follow from the first alone.
    more = [{"product_number": "P2", "quantity": 1}] if kind == "line" else []
    for before, after in pairs(kind, allowed=allowed):
        number = f"{before}-{after}"
        await world.order(number, {"product_number": "P1", "quantity": 2}, *more)
        if (kind, before, after) == ("order", "rejected", "picked"):  # Then nothing is left to pick in it.
            assert (await line_to(world, number, "rejected", "open")).status_code == 200
        if before != "open":
            assert (await come_to(world, number, before, "open")).status_code == 200
        assert await state_of(world, number) == before
        answer = await come_to(world, number, after, before)
        if allowed:
            assert answer.status_code == 200, (number, answer.text)
        else:
            await _refused(answer, before)
        assert await state_of(world, number) == (after if allowed else before), number


CAME = {"open": 0, "partial": 1, "received": 2}
DELIVERY: dict[str, Any] = {
    "no_of_containers": 1,
    "supplier_name": "S",
    "order_lines": [{"line_number": 1, "product_number": "P1", "quantity": 2}],
}


async def _receive(world: World, number: str, quantity: int) -> httpx.Response:
    entry = {"product_number": "P1", "quantity": quantity, "reference": number}
    return await world.send("POST", LOGS, {"storeproductlog": [entry]}, query={"is_from_receipt": True})


async def _in_delivery_state(world: World, number: str, state: str) -> None:
    await world.post(DELIVERIES, {"orders": [DELIVERY | {"order_number": number}]})
    if CAME[state]:
        assert (await _receive(world, number, CAME[state])).status_code == 200


async def _delivery(world: World, number: str) -> tuple[str, str]:
    """The states of the delivery and of its receipt."""
    [delivery] = await world.rows("/orders/deliveries", store_number="S1", order_number=number)
    receipts = (await world.get("/stores/S1/orders/receipts", receipt_type=1, order_number=number))["list"]
    return delivery["status"], receipts[0]["status"] if receipts else "none"


async def test_ways_of_a_delivery_and_its_receipt(world: World) -> None:
    for before, after in permutations(CAME, 2):
        number = f"{before}-{after}"
        await _in_delivery_state(world, number, before)
        assert await _delivery(world, number) == (before, "none" if before == "open" else before)
        answer = await _receive(world, number, CAME[after] - CAME[before])
        assert answer.status_code == 200, answer.text
        assert await _delivery(world, number) == (after, after)
        if after == "open":
            assert (await _receive(world, number, 1)).status_code == 200
            assert await _delivery(world, number) == ("partial", "partial")


async def test_receipt_that_is_reversed_in_the_same_request_is_open(world: World) -> None:
    await world.post(DELIVERIES, {"orders": [DELIVERY | {"order_number": "D1"}]})
    entries = [{"product_number": "P1", "quantity": quantity, "reference": "D1"} for quantity in (2, -2)]
    await world.post(LOGS, {"storeproductlog": entries}, query={"is_from_receipt": True})
    assert await _delivery(world, "D1") == ("open", "open")


async def test_received_delivery_stays_and_is_not_announced_again(world: World) -> None:
    for before in CAME:
        await _in_delivery_state(world, before, "partial" if before == "open" else before)
        if before == "open":
            assert (await _receive(world, before, -1)).status_code == 200
        news = DELIVERY | {"order_number": before, "supplier_name": "Another"}
        answer = await world.send("POST", DELIVERIES, {"orders": [news]}, headers={"container_override": "true"})
        assert answer.status_code == (200 if before == "open" else 409), answer.text
        assert (await _delivery(world, before))[1] == before


async def test_a_receipt_of_nothing_is_none(world: World) -> None:
    await _in_delivery_state(world, "D1", "open")
    answer = await _receive(world, "D1", -1)
    assert answer.status_code == 409
    assert "Only 0" in answer.json()["message"]
    assert await _delivery(world, "D1") == ("open", "none")


async def _entry(world: World, state: str) -> int:
    """An entry of the log in that state of review."""
    flagged = state != "0"
    [entry] = (await world.log(product_number="P1", quantity=-1000 if flagged else 1))["data"]
    if state == "2":
        await world.post(REVIEWS, {"reviews": [{"id": entry}]})
    return int(entry)


async def _review(world: World) -> str:
    return str((await world.rows("/products/stock/storeproductlogs", store_number="S1"))[-1]["review_status"])


@pytest.mark.parametrize("allowed", [True, False])
async def test_ways_of_a_review(world: World, allowed: bool) -> None:
    for before, after in pairs("review", allowed=allowed):
        entry = await _entry(world, before)
        answer = await world.send("POST", REVIEWS, {"reviews": [{"id": entry, "review_status": int(after)}]})
        if allowed:
            assert answer.status_code == 200, answer.text
        else:
            await _refused(answer, before)
        assert await _review(world) == (after if allowed else before)


async def test_ways_of_a_recount(world: World) -> None:
    for before, after in pairs("recount", allowed=True) + pairs("recount", allowed=False):
        await _way_of_a_recount(world, before, after)


async def _way_of_a_recount(world: World, before: str, after: str) -> None:
    [made] = (await world.post(RECOUNTS, {"recounts": [{"product_number": "P1"}]}))["data"]

    async def asked(state: str) -> httpx.Response:
        return await world.send("POST", RECOUNTS, {"recounts": [{"id": made, "state": state}]})

    async def come_to(state: str) -> httpx.Response | None:
        if state == "counted":
            await world.count("P1", None, stock_pool_1=1)
            return None
        return await asked(state)

    if before != "open":
        await come_to(before)
    answer = await come_to(after)
    allowed = after in TRANSITIONS["recount"][before]
    if not allowed:
        await _refused(await asked(after), before)
    elif answer:
        assert answer.status_code == 200
    row = (await world.get(RECOUNTS, state="all"))["recounts"][-1]
    assert (row["id"], row["state"]) == (made, after if allowed else before)
    assert (await asked("counted")).status_code in ((200,) if row["state"] == "counted" else (409, 422))
    assert (await asked("nonsense")).status_code == 422
