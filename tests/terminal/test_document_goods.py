"""Counting, losing and moving at a service that implements the document alone: no places, nothing that is optional."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.terminal.document_service import ORDER, document_service
from tests.terminal.picker import START_S, Picker
from tests.terminal.service_process import Served

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]


@pytest.fixture
def served(aisle_home: Path) -> Iterator[Served]:
    """That service."""
    with document_service() as opened:
        yield opened


@pytest.fixture
def app(served: Served, tmp_path: Path, picker: Pick) -> Picker:
    """Somebody at home, with the store read."""
    token = tmp_path / "token"
    token.write_text("anything\n", encoding="utf-8")
    token.chmod(0o600)
    app = picker("--base-url", served.url, "--token-file", str(token))
    app.shows("Sign in")
    app.enter("Zoe")
    app.take("1", "home", "sign_in.done")
    app.shows(ORDER, "live")
    return app


def rows(served: Served, path: str) -> list[dict[str, Any]]:
    """A list of that service."""
    with urlopen(f"{served.url}/{path}?page_size=500&is_active=false&show_lines=true", timeout=30) as answer:
        found: list[dict[str, Any]] = json.load(answer)["list"]
    return found


def stock(served: Served) -> dict[str, int]:
    """What it has of each product."""
    return {row["product_number"]: row["most_likely_quantity"] for row in rows(served, "storeproducts/stock")}


def logged(app: Picker, served: Served, count: int) -> list[dict[str, Any]]:
    """Its log, as soon as it has so many entries; all of them are this person's."""
    path = "products/stock/storeproductlogs"
    app.terminal.wait_for(lambda _: len(rows(served, path)) >= count, START_S)
    app.shows("all sent")
    found = rows(served, path)
    assert len(found) == count
    assert {row["app_user_name"] for row in found} == {"Zoe"}
    assert all(row["reference"] for row in found)
    return found


def open_job(app: Picker, name: str, step: str) -> None:
    """From home, by its number in the menu."""
    words = app.shows(name).split(name)[0].split()
    app.take(next(word for word in reversed(words) if word.isdigit()), step, "")


def test_goods_are_moved_looked_at_checked_and_handed_over(app: Picker, served: Served) -> None:
    move_from_pool_to_pool_and_to_an_order_and_back(app, served)
    app.go_home()
    say_what_is_unknown(app)
    app.go_home()
    send_an_expiry_date_and_give_the_known_day_of_its_check_back(app, served)
    app.go_home()
    hand_over_an_order(app, served)


def say_what_is_unknown(app: Picker) -> None:
    """No locations, no stores around."""
    app.take("P1", "look_up.product", "")
    app.shows("Product P1", "≈ 10", "needs 3", "Not available")
    app.go_home()
    app.take("3", "locations.list", "")
    app.shows("This store has no locations")


def send_an_expiry_date_and_give_the_known_day_of_its_check_back(app: Picker, served: Served) -> None:
    """Dates that were there before are unknown."""
    for key in ("7", "9", "8"):
        app.enter(key)
    app.shows("Nothing is due today")
    app.take("P1", "expiry.date", "expiry.which_date")
    app.shows("No expiry date is known.")
    app.take("07.12.2090", "expiry.confirm", "expiry.is_far", typed=True)
    app.take("y", "expiry", "expiry.saved")
    app.take("P1", "expiry.date", "expiry.which_date")
    app.take("08.12.2090", "expiry.confirm", "expiry.is_far", typed=True)
    app.take("y", "expiry.confirm", "expiry.is_later")
    app.take("y", "expiry", "expiry.saved")
    checked(app, served, "2090-12-05")
    app.take("u", "expiry", "expiry.undone_partly")
    checked(app, served, "2090-12-04")
    app.take("u", "expiry", "expiry.none_before")
    checked(app, served, "2090-12-04")


def checked(app: Picker, served: Served, day: str) -> None:
    """The service has this day of the next check, and one product with dates."""

    def has_day(_: object) -> bool:
        found = [row.get("validate_expiry_datetime", "")[:10] for row in rows(served, "storeproducts/stock")]
        return found == [day, "", ""]

    app.terminal.wait_for(has_day, START_S)
    app.shows("all sent")


def move_from_pool_to_pool_and_to_an_order_and_back(app: Picker, served: Served) -> None:
    """What is undone is booked back."""
    open_job(app, "Move", "move.take")
    app.take("k", "move.pool", "move.note_from_pool")
    app.take("1", "move.pool", "move.which_to_pool")
    app.take("2", "move.take", "move.pools_set")
    app.take("P1", "move.take", "move.taken")
    app.take("4", "move.take", "move.taken")
    app.take("d", "move.take", "move.moved")
    assert [row["quantity"] for row in logged(app, served, 1)] == [4]
    app.go_home()
    open_job(app, "Move", "move.take")
    app.take("P2", "move.take", "move.taken")
    app.take("2", "move.take", "move.taken")
    app.take(ORDER, "move.take", "move.moved")
    logged(app, served, 2)
    assert [line["picked_quantity"] for line in order(served)["lines"]] == [0, 2]
    app.take("u", "move.take", "move.undone")
    logged(app, served, 3)
    assert [line["picked_quantity"] for line in order(served)["lines"]] == [0, 0]
    assert stock(served) == {"P1": 10, "P2": 10, "P3": 10}


def order(served: Served) -> dict[str, Any]:
    """Its only order, with its lines."""
    (row,) = rows(served, "orders/customerorders")
    return row


def hand_over_an_order(app: Picker, served: Served) -> None:
    """A part of it is picked."""
    app.take(ORDER, "pick.product", "pick.opened")
    app.take("P1", "pick.product")
    app.go_home()
    for key in ("7", "9", "9"):
        app.enter(key)
    app.take("06 1234 5678", "hand_over", "hand_over.no_phones", typed=True)
    app.take(ORDER, "hand_over.order", "order.title")
    app.shows("No location is known", "Not picked")
    app.type("1")
    app.take("y", "hand_over", "hand_over.done")
    app.terminal.wait_for(lambda _: not order(served)["is_active"], START_S)
    app.shows("all sent")
    assert order(served)["lines"][0]["picked_quantity"] == 1
