"""Clearance in a real terminal on the real service: confirmed by hand, with a PIN, carried out; and the day."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisle.jobs.shell.pin import MIN_TYPED_PACE_MS
from aisle.service.demo.seed import SUPERVISOR_PIN
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop, on_this_host
from tests.terminal.test_entry_counts import open_job
from tests.terminal.test_order_board import numbered, until

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]
BACKROOM, PLACE, SHELF = "backroom", "BR-02", "A-01-1"


def at_the_desk(app: Picker, badge: str, page: str, step: str) -> None:
    """Signs in and opens a page of the desk."""
    app.sign_in(badge)
    app.shows("live")
    open_job(app, "More", "home")
    app.take(numbered(app, "Chain"), "home", "")
    app.take(numbered(app, page), step, "")


def typed(app: Picker, text: str, shown: str = "") -> dict[str, Any]:
    """Key by key as a person types, each seen before the next, and with a pause that no scanner makes; then Enter."""
    for at in range(1, len(text) + 1):
        app.terminal.write(text[at - 1].encode())
        wanted = re.compile(r"[›>] " + re.escape(shown[:at] or text[:at]))
        app.terminal.wait_for(lambda glass, sign=wanted: sign.search(glass.text), START_S)  # type: ignore[misc]
        app.terminal.wait_quiet(2 * MIN_TYPED_PACE_MS)
    (seen,) = app.write(b"\r")
    return seen


def held(shop: Shop, order: str, quantity: int) -> str:
    """Goods of an order that lie in the backroom; the product's number."""
    (product,) = shop.goods(1)
    number = str(product["product_number"])
    shop.add_order(order, [(number, quantity)], customer_name="Ms Okafor")
    end = {"customer_order_number": order, "customer_order_line_number": 1}
    source = {"location_code": product["store_locations"][0]["store_location_code"]}
    entry = {"product_number": number, "quantity": quantity, "from_location": source}
    shop.ask("create-movement", [{**entry, "to_location": {"location_code": PLACE, **end}}], AppUserName="U1")
    return number


def assigned(shop: Shop) -> list[Any]:
    """What the service wants moved."""
    path = f"/aisle/v1/stores/{shop.store}/assignments"
    answer = shop._run(lambda client: client.request_extension("GET", path))
    return list(answer.json()["assignments"])


@pytest.mark.full
def test_a_supervisor_clears_by_hand_and_the_goods_are_moved(shop: Shop, picker: Pick, demo_home: Path) -> None:
    """By default in `tests/session/test_clearance.py`."""
    product = held(shop, "CLR-1", 3)
    app = picker(columns=80, rows=24)
    at_the_desk(app, "BADGE-U6", "Clearance", "clearance")
    app.take(numbered(app, BACKROOM), "clearance.categories", "clearance.all")
    app.shows("Order lines", " 3")
    app.take("d", "clearance_request.confirm", "")
    app.take("BACK", "clearance_request.confirm", "clearance_request.prompt_confirm")
    app.take(BACKROOM, "clearance_request.confirm", "input.scan_not_accepted")
    assert assigned(shop) == []
    seen = typed(app, BACKROOM)
    assert (seen["step"], seen["verdict"]) == ("pin", "pin.prompt"), seen
    wrong = typed(app, "9999", "****")
    assert (wrong["raw"], wrong["step"]) == ("", "pin.wait")
    app.shows("Wrong PIN: nothing was done", "Type your PIN")
    assert assigned(shop) == []
    typed(app, SUPERVISOR_PIN, "****")
    app.shows("1 new move", PLACE, "CLR-1")
    (one,) = assigned(shop)
    assert (one["product_number"], one["quantity"], one["location_tag"]) == (product, 3, BACKROOM)
    (told,) = on_this_host(demo_home, "SELECT count(*) FROM event WHERE raw || event LIKE '%2468%'")
    assert told[0] == 0, "a PIN was written down"
    move_it(app, shop, product)


def move_it(app: Picker, shop: Shop, product: str) -> None:
    """From the last page of the clearance to the shelf."""
    app.take("1", "clearance_tasks", "")
    app.take(numbered(app, PLACE), "move.from", "clearance_tasks.started")
    app.take(SHELF, "move.from", "move.task_location")
    app.take(PLACE, "move.take", "move.task_here")
    app.take(product, "move.take", "move.task_taken")
    app.take(SHELF, "clearance_tasks", "move.moved")
    app.shows("Nothing to move")
    until(app, lambda: assigned(shop) == [])
    (line,) = shop.lines("CLR-1")
    assert line.picked == 0, "the goods are nobody's again"
    app.shows("all sent")


@pytest.mark.full
def test_staff_clears_nothing_and_today_shows_the_day(shop: Shop, picker: Pick) -> None:
    (product,) = shop.goods(1)
    shop.add_order("DAY-1", [(str(product["product_number"]), 2)])
    app = picker(columns=80, rows=24)
    app.sign_in("BADGE-U1")
    app.shows("live", "DAY-1")
    app.take("DAY-1", "pick.product", "pick.opened")
    app.take(str(product["barcode"]), "pick.product", "pick.picked")  # something of today, also just after midnight
    app.go_home()
    app.shows("all sent")
    open_job(app, "More", "home")
    app.take(numbered(app, "Chain"), "home", "")
    app.take(numbered(app, "Clearance"), "clearance", "")
    app.shows("Only a supervisor may do this")
    app.take(BACKROOM, "clearance", "clearance.role_denied")
    app.take("b", "home", "")
    open_job(app, "More", "home")
    app.take(numbered(app, "Chain"), "home", "")
    app.take(numbered(app, "Today"), "today", "")
    app.shows("Work today", "Picks", "Sending and loading running")
    app.take(numbered(app, "Hours"), "today.hours", "", typed=True)
    app.shows("picks, ", "in all")
    app.take("b", "today", "")
    app.take(numbered(app, "Map"), "today.locations", "", typed=True)
    app.shows("Today by location: Picks", "Most at")
    app.take("3", "today.locations", "")
    app.shows("Today by location: Moves")
    app.take("b", "today", "")
    app.take(numbered(app, "Terminals"), "today.terminals", "", typed=True)
    app.shows("dock", "no open job")
