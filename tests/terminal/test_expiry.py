"""Expiry checks in a real terminal, against the real service: no link, and a death in between."""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.picker import Picker
from tests.terminal.service_process import plain_service
from tests.terminal.shop import Shop, door
from tests.terminal.test_count import logs
from tests.terminal.test_offline import assert_waiting, operations

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]
Row = dict[str, Any]

EXPIRY, CHECK = "last_expiry_datetime", "validate_expiry_datetime"


def day(ahead: int) -> str:
    """A day as the service has it, so many days from today."""
    return (date.today() + timedelta(days=ahead)).isoformat()


@pytest.fixture
def due(shop: Shop) -> list[Row]:
    """Four products whose check has come, in walking order; those of the demo store come later."""
    goods = shop.goods(4)
    later = dict.fromkeys(("210001", "210002", "210003", "210016", "210017", "210018"), day(30))
    checks = later | {row["product_number"]: day(-1) for row in goods}
    shop.ask(
        "update-store-products",
        [{"product_number": number, "validate_expiry_date_time": check} for number, check in checks.items()],
    )
    return goods


def dates(shop: Shop, row: Row) -> tuple[str, str]:
    """Expiry date and next check of a product, empty where there is none."""
    (found,) = shop.ask("list-store-products-stock", store_number=shop.store, product_number=row["product_number"])[
        "list"
    ]
    return found.get(EXPIRY, "")[:10], found.get(CHECK, "")[:10]


def open_checks(app: Picker, left: int) -> None:
    """From home, by the menu, as soon as all that is due has arrived."""
    for key in ("7", "9", "8"):
        app.enter(key)
    app.shows(f"Expiry checks: {left} left")
    app.scans = 0


def label(row: Row, ahead: int) -> str:
    """A label that has the date: GTIN and AI 17."""
    return f"]C101{row['barcode'].zfill(14)}17{day(ahead)[2:].replace('-', '')}"


def test_checks_and_a_loss_without_a_link_and_after_a_kill(
    demo_home: Path, shop: Shop, due: list[Row], picker: Pick
) -> None:
    first, second, third, _ = due
    before, keys = shop.balances(), set(shop.keys())
    with plain_service() as service:
        arguments = ("--base-url", service.url, "--token-file", str(demo_home / "embedded.token"))
        door("sync", *arguments)
        app = picker(*arguments, columns=80, rows=24)
        app.sign_in("BADGE-U2")
        app.shows("live")
        open_checks(app, 4)
        service.end()
        app.take(label(first, 50), "expiry", "expiry.saved")
        assert_waiting(app, demo_home, service.url)
        app.take(second["barcode"], "expiry.date", "expiry.which_date")
        app.terminal.kill(signal.SIGKILL)

        app = picker(*arguments, columns=80, rows=24)
        app.shows("Back where you left off", second["product_description"])
        app.take(date.today().strftime("%d%m"), "expiry.confirm", "expiry.is_today", typed=True)
        app.take("y", "adjust.location", "adjust.which_location")
        app.take("1", "adjust.quantity", "adjust.how_many_expired")
        app.take("2", "expiry.date", "adjust.lost", typed=True)
        app.take("+30", "expiry", "expiry.saved", typed=True)
        app.shows("Expiry checks: 2 left")
        app.take(third["barcode"], "expiry.date", "expiry.which_date")
        app.take("n", "expiry", "expiry.saved_none")
        app.take("u", "expiry", "expiry.undone")
        app.shows("Expiry checks: 2 left")
        assert dates(shop, first) == ("", day(-1))

        service.start()
        app.shows("live", "all sent")
        assert [dates(shop, row) for row in (first, second, third)] == [
            (day(50), day(47)), (day(30), day(27)), ("", day(-1)),
        ]  # fmt: skip
        (loss,) = logs(shop)
        assert (loss["product_number"], loss["reason_code"]) == (second["product_number"], 2)
    states = operations(demo_home, service.url)
    assert set(states.values()) == {"done"}
    assert set(shop.keys()) - keys == set(states)
    assert shop.balances() == {**before, second["product_number"]: before[second["product_number"]] - 2}
