"""A round of several orders at a service that implements the document alone: no places, nothing that is optional."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.terminal.document_service import ORDERS, document_service
from tests.terminal.picker import START_S, Picker
from tests.terminal.service_process import Served
from tests.terminal.test_document_goods import open_job, rows

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

HANDS = 1 + 1 + 1 + 3
"""From home: the menu, how many orders, off, and one entry for each product."""


@pytest.fixture
def served(aisle_home: Path) -> Iterator[Served]:
    """That service, with all of its orders."""
    with document_service(orders=len(ORDERS)) as opened:
        yield opened


@pytest.fixture
def begin(served: Served, tmp_path: Path, picker: Pick) -> Pick:
    """Starts the app there."""
    token = tmp_path / "token"
    token.write_text("anything\n", encoding="utf-8")
    token.chmod(0o600)
    return lambda **options: picker("--base-url", served.url, "--token-file", str(token), **options)


def home(app: Picker) -> None:
    """Signed in, with the store read."""
    app.shows("Sign in")
    app.enter("Zoe")
    app.take("1", "home", "sign_in.done")
    app.shows(next(iter(ORDERS)), "live")


def gathered(app: Picker) -> None:
    """Waits until each order has its tote, and its lines have come."""
    app.shows("A D-1", "B D-2", "C D-3")
    app.terminal.wait_for(lambda glass: "coming" not in glass.text and "…" not in glass.text, START_S)


def picked(served: Served) -> dict[str, list[float]]:
    """What the lines of each order stand at; none of the orders is finished."""
    found = rows(served, "orders/customerorders")
    assert all(row["is_active"] for row in found)
    return {row["order_number"]: [line["picked_quantity"] for line in row["lines"]] for row in found}


@pytest.mark.full
@pytest.mark.parametrize("size", [(40, 20), (20, 16)], ids=["40x20", "20x16"])
def test_a_round_is_one_entry_a_product(begin: Pick, served: Served, size: tuple[int, int]) -> None:
    app = begin(columns=size[0], rows=size[1])
    home(app)
    app.scans = 0
    open_job(app, "Batch", "batch")
    app.enter("3")
    gathered(app)
    app.take("g", "pick.product", "pick.batch_opened")
    app.shows("A3 B3 C3")
    app.take("9*P1", "pick.product", "pick.tote_full")
    app.shows("A3 C3")
    app.take("6*P2", "pick.product", "pick.tote_full")
    app.take("3*P3", "pick.done", "pick.batch_all_picked")
    assert app.scans == HANDS
    wanted = {order: [3.0] * lines for order, lines in ORDERS.items()}
    app.terminal.wait_for(lambda _: picked(served) == wanted, START_S)
    app.shows("all sent")
    assert all(row["is_picked"] for row in rows(served, "orders/customerorders"))
    app.take("b", "home", "pick.left_batch_done")


@pytest.mark.full
def test_later_undo_a_quantity_a_shortage_and_a_kill(begin: Pick, served: Served) -> None:
    """By default in `tests/session/test_batch.py`."""
    app = begin()
    home(app)
    open_job(app, "Batch", "batch")
    for order in ORDERS:
        app.enter(order)
    gathered(app)
    app.take("g", "pick.product", "pick.batch_opened")
    app.take("n", "pick.product", "pick.later")
    app.take("P2", "pick.product", "pick.picked_for_tote")
    app.take("6", "pick.product", "pick.set_totes")
    app.take("u", "pick.product", "pick.for_tote")
    app.terminal.wait_for(lambda _: picked(served)["D-1"] == [0, 1], START_S)
    kept = app.told()
    app.terminal.kill(signal.SIGKILL)
    app.terminal.wait_exit()
    app = begin()
    app.shows("Back where you left off")
    app.stands_at(kept)
    app.take("5", "pick.product", "pick.set_totes")
    app.take("s", "shortage.choices", "shortage.opened")
    app.shows("1 ")
    app.enter("1")
    app.take("3*P3", "pick.product", "pick.picked_for_tote")
    app.take("9*P1", "pick.done", "pick.batch_picked_with_shortage")
    wanted = {"D-1": [3, 3], "D-2": [3], "D-3": [3, 2, 3]}
    app.terminal.wait_for(lambda _: picked(served) == wanted, START_S)
    app.shows("all sent")
