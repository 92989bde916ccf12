"""A supervisor at a real terminal on the real service: his PIN is asked once, and what he does goes with his token."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from aisle.host.leader_lock import LeaderLock
from aisle.host.store_and_database_folders import StoreFolder
from aisle.service.demo.seed import SUPERVISOR_PIN
from aisle.settings.setting_definitions import EMBEDDED
from tests.terminal.picker import Picker
from tests.terminal.shop import STORE, Shop, on_this_host
from tests.terminal.test_clearance import typed
from tests.terminal.test_entry_counts import open_job
from tests.terminal.test_order_board import numbered, until

pytestmark = pytest.mark.pty


def at_the_board(picker: Callable[..., Picker], shop: Shop, orders: int) -> Picker:
    """Fred, and so many orders on the list before him."""
    (product,) = shop.goods(1)
    for number in range(1, orders + 1):
        shop.add_order(f"PIN-{number}", [(product["product_number"], 3)])
    app = picker(columns=80, rows=24)
    app.sign_in("BADGE-U6")
    app.shows("live", "PIN-1")
    open_job(app, "More", "home")
    app.take(numbered(app, "Orders"), "orders", "")
    app.shows("PIN-1")
    return app


def reject(app: Picker, order: str, step: str, verdict: str) -> None:
    """From the board to the yes."""
    app.take(order, "order", "")
    app.take(numbered(app, "Reject"), "order_actions.reason", "")
    app.take("Customer called off", "order_actions.confirm", "")
    app.take("1", step, verdict)


def rejected(shop: Shop, order: str) -> bool:
    return bool(shop.order(order)["is_rejected"])


def test_supervisor_enters_pin_once_and_again_after_courier_death(
    shop: Shop, picker: Callable[..., Picker], demo_home: Path
) -> None:
    app = at_the_board(picker, shop, 3)
    reject(app, "PIN-1", "pin", "pin.prompt")
    assert typed(app, "9999", "****")["raw"] == ""
    app.shows("Wrong PIN: nothing was done", "Type your PIN")
    assert not rejected(shop, "PIN-1")
    typed(app, SUPERVISOR_PIN, "****")
    app.shows("Rejected: Customer called off", "all sent")
    until(app, lambda: rejected(shop, "PIN-1"))
    app.take("b", "orders", "")
    reject(app, "PIN-2", "order", "order_actions.done_reject")
    until(app, lambda: rejected(shop, "PIN-2"))
    app.take("b", "orders", "")
    holder = LeaderLock(StoreFolder(demo_home, EMBEDDED, STORE).lock).read_leader()
    assert holder is not None
    os.kill(holder.pid, signal.SIGKILL)
    until(app, lambda: on_this_host(demo_home, "SELECT count(*) FROM user_token") == [(0,)])
    app.shows("live")
    reject(app, "PIN-3", "pin", "pin.prompt")
    typed(app, SUPERVISOR_PIN, "****")
    app.shows("Rejected: Customer called off", "all sent")
    until(app, lambda: rejected(shop, "PIN-3"))
    rows = on_this_host(demo_home, "SELECT principal, app_user, state, attempts FROM operation ORDER BY n")
    assert rows == [("person/U6", "U6", "done", 1)] * 3
    (told,) = on_this_host(
        demo_home, f"SELECT count(*) FROM event WHERE raw || event || facts LIKE '%{SUPERVISOR_PIN}%'"
    )
    assert told[0] == 0, "a PIN was written down"
