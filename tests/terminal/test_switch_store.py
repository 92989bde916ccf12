"""A terminal changes its store and comes back: nothing is lost, and nothing is sent to the wrong one."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from aisle.service.demo.seed import SUPERVISOR_PIN
from tests.terminal.picker import START_S, Picker
from tests.terminal.service_process import plain_service
from tests.terminal.shop import STORE, Shop, door, on_this_host
from tests.terminal.test_clearance import typed
from tests.terminal.test_count import logs
from tests.terminal.test_order_board import numbered

pytestmark = pytest.mark.pty

OTHER = "0002"
LOGS = "create-store-product-logs"


def sent(home: Path, url: str, store: str) -> list[tuple[str, str, str]]:
    """What this host has to send, or has sent, for a store: operation, the store of its path, state."""
    rows = on_this_host(home, "SELECT operation, path, state FROM operation WHERE superseded_by = ''", url, store)
    found = []
    for operation, path, state in rows:
        named: Mapping[str, str] = json.loads(path)
        found.append((str(operation), named["store_number"], str(state)))
    return found


def change(app: Picker, store: str, verdict: str) -> None:
    """From home by the command for it."""
    app.take("7", "home", "")
    app.take("9", "home", "")
    app.take("3", "stores", "")
    app.take(store, "stores.change", "")
    app.shows("1 Change", store)
    app.take("1", "home", verdict)


@pytest.mark.full
def test_offline_work_stays_with_its_store(demo_home: Path, shop: Shop, picker: Callable[..., Picker]) -> None:
    goods = shop.goods(2)
    shop.add_order("STAYS-1", [(row["product_number"], 2) for row in goods])
    first, second = shop.lines("STAYS-1")
    with plain_service() as service:
        settings = ("--base-url", service.url, "--token-file", str(demo_home / "embedded.token"))
        door("sync", *settings)
        door("sync", *settings, "--store", OTHER)
        app = picker(*settings, columns=80, rows=24)
        app.sign_in("BADGE-U6")
        app.shows("live", "STAYS-1")
        app.take("7", "home", "")
        app.take("9", "home", "")
        app.take(numbered(app, "PIN"), "pin", "pin.prompt")
        typed(app, SUPERVISOR_PIN, "****")
        app.shows("PIN accepted")
        service.end()
        app.take("STAYS-1", "pick.product", "pick.opened")
        app.take(first.code, "pick.product")
        app.shows("offline", "2 waiting")
        app.take("b", "home", "pick.left")
        change(app, OTHER, "session.switched_store_waiting")
        app.shows(f"Store {OTHER} · Fred Harper", "sent here, 2 in other stores")
        app.take("4", "count.start", "")
        app.take(first.code, "count.product", "count.counted")
        app.take("7", "count.product", "count.counted")
        app.terminal.kill(signal.SIGKILL)  # the battery dies: this terminal comes back to where it worked
        app = picker(*settings, columns=80, rows=24)
        app.shows(f"Store {OTHER} · Fred Harper", "Back where you left off")
        app.take("d", "count.start", "count.sent")
        app.take("b", "home", "count.closed")
        assert sent(demo_home, service.url, OTHER) == [(LOGS, OTHER, "queued")]

        change(app, STORE, "session.switched_store_waiting")
        app.shows(f"Now in store {STORE}", "STAYS-1")
        app.take("STAYS-1", "pick.product", "pick.opened")
        app.take(second.code, "pick.product")
        app.shows("offline")
        service.start()
        app.shows("live", "all sent")
        assert shop.picked("STAYS-1") == {first.number: 1, second.number: 1}
        there = Shop(demo_home / "service.db", OTHER)
        with there:
            app.terminal.wait_for(lambda _: [row["counted_quantity"] for row in logs(there)] == [7], START_S)
    for store in (STORE, OTHER):
        found = sent(demo_home, service.url, store)
        assert found
        assert {(where, state) for _, where, state in found} == {(store, "done")}
    assert not [row for row in logs(shop) if row.get("counted_quantity") is not None]
