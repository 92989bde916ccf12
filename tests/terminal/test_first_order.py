"""The whole slice at once: a real terminal, the app as people start it, the real service, an order picked by scans."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from tests.realdata import lookalike
from tests.realdata.convert import STORE as ONLINE
from tests.realdata.convert import convert
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Line, Shop, door

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

DONE = "All picked"


def pick_by_scans(picker: Picker, lines: list[Line], *, verified: bool = False) -> None:
    """Scans every piece, one by one, stop after stop; the screen names each place and counts each piece."""
    left = sum(line.quantity for line in lines)
    for line in lines:
        picker.shows(line.place, "0 picked")
        if verified:
            picker.take(line.place, "pick.product", "pick.at_location")
        for piece in range(1, line.quantity + 1):
            left -= 1
            last = not left
            after = "pick.done" if last else "pick.location" if verified and piece == line.quantity else "pick.product"
            picker.take(line.code, after, "pick.all_picked" if last else "pick.picked")


def pick_by_quantity(picker: Picker, lines: list[Line], *, verified: bool = False) -> None:
    """Takes whole lines: `6*` and a scan, or a scan and then the quantity, in turn."""
    for index, line in enumerate(lines):
        last = line is lines[-1]
        after = "pick.done" if last else "pick.location" if verified else "pick.product"
        verdict = "pick.all_picked" if last else "pick.picked"
        if verified:
            picker.take(line.place, "pick.product", "pick.at_location")
        if index % 2:
            picker.take(line.code, "pick.product")
            picker.take(str(line.quantity), after, verdict, typed=True)
        else:
            picker.take(f"{line.quantity}*{line.code}", after, verdict)


def arrived(picker: Picker, shop: Shop, number: str) -> None:
    """Waits until the service has the order as picked; then each line stands at what was ordered."""
    picker.terminal.wait_for(lambda _: shop.is_picked(number), START_S)
    order = shop.order(number)
    assert all(line["is_picked"] and line["picked_quantity"] == line["quantity"] for line in order["lines"])
    assert order["is_active"]
    shop.balances()


def test_first_order_from_empty_machine_to_last_line(aisle_home: Path, picker: Pick) -> None:
    app = picker()
    app.terminal.wait_for("Sign in")
    assert app.seen() == []
    app.sign_in("anna")
    app.shows("Anna Berg", "4101")
    with Shop(aisle_home / "service.db") as shop:
        lines = shop.lines("4113")
        assert len(lines) == 5
        app.take("4113", "pick.product", "pick.opened")
        pick_by_scans(app, lines)
        app.shows(DONE)
        arrived(app, shop, "4113")
        app.shows("live", "all sent")
        app.take("PU-02", "pick.done", "pick.put_down")
        app.terminal.wait_for(lambda _: all(line.moved == line.quantity for line in shop.lines("4113")), START_S)
        app.take("u", "pick.done", "pick.put_down_undone")
        app.terminal.wait_for(lambda _: not any(line.moved for line in shop.lines("4113")), START_S)
        app.take("PU-01", "pick.done", "pick.put_down")
        app.terminal.wait_for(lambda _: all(line.moved == line.quantity for line in shop.lines("4113")), START_S)
        shop.balances()
    app.enter("b")
    app.enter("q")
    assert app.terminal.wait_exit() == 0


@pytest.fixture
def small_order(shop: Shop) -> tuple[str, list[Line]]:
    """An order of five lines, one piece of each, at five places."""
    shop.add_order("HANDS-5", [(row["product_number"], 1) for row in shop.goods(5)])
    return "HANDS-5", shop.lines("HANDS-5")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [(40, 20), (20, 16)], ids=["40x20", "20x16"])
@pytest.mark.parametrize(("flags", "hands"), [((), 1 + 5), (("--verified",), 1 + 10)], ids=["product", "place"])
def test_hands_for_an_order_of_five_lines(
    shop: Shop,
    small_order: tuple[str, list[Line]],
    picker: Pick,
    size: tuple[int, int],
    flags: tuple[str, ...],
    hands: int,
) -> None:
    number, lines = small_order
    app = picker(*flags, columns=size[0], rows=size[1])
    app.sign_in("BADGE-U2")
    app.shows(number)
    app.scans = 0
    app.take(number, "pick.location" if flags else "pick.product", "pick.opened")
    pick_by_scans(app, lines, verified=bool(flags))
    assert app.scans == hands
    arrived(app, shop, number)


@pytest.mark.full
def test_twelve_of_a_line_are_a_scan_and_one_entry(shop: Shop, picker: Pick) -> None:
    shop.add_product("DOZEN", "A dozen", "2000000000015", "A-01-1")
    shop.add_order("DOZEN-1", [("DOZEN", 12)])
    app = picker()
    app.sign_in()
    app.shows("DOZEN-1")
    app.take("DOZEN-1", "pick.product", "pick.opened")
    app.scans = 0
    app.take("2000000000015", "pick.product")
    app.take("12", "pick.done", "pick.all_picked", typed=True)
    assert app.scans == 2
    arrived(app, shop, "DOZEN-1")


@pytest.fixture
def two_copies(aisle_home: Path, tmp_path: Path, picker: Pick) -> Callable[[Path, str], None]:
    """Loads a sample with two copies of an invoice and picks both: one product-only, one with each place verified."""

    def run(data: Path, invoice: str) -> None:
        facts = convert(data, tmp_path / "csv", sample=25, copies=[invoice])
        assert f"orders.csv: {facts.order_lines} of {facts.order_lines} rows" in door("load", str(tmp_path / "csv"))
        door("sync", "--store", ONLINE)
        with Shop(aisle_home / "service.db", ONLINE) as shop:
            before = shop.balances()
            for number, flags in ((invoice, ()), (f"{invoice}-2", ("--verified",))):
                lines = shop.lines(number)
                assert (len(lines), sum(line.quantity for line in lines)) == (7, 40)
                app = picker("--store", ONLINE, "--terminal", number, *flags)
                app.shows("Sign in", "live")
                app.enter("ann")
                app.take("1", "home", "sign_in.done")
                app.take(number, "pick.location" if flags else "pick.product", "pick.opened")
                (pick_by_quantity if flags else pick_by_scans)(app, lines, verified=bool(flags))
                app.shows(DONE)
                arrived(app, shop, number)
                assert shop.picked(number) == {line.number: Decimal(line.quantity) for line in lines}
            assert shop.balances() == before

    return run


@pytest.mark.full
def test_two_copies_of_a_made_up_invoice(two_copies: Callable[[Path, str], None], tmp_path: Path) -> None:
    lookalike.write(tmp_path / "data", 7)
    two_copies(tmp_path / "data", lookalike.INVOICE)


@pytest.mark.full
def test_two_copies_of_invoice_536365(two_copies: Callable[[Path, str], None], test_data: Path) -> None:
    two_copies(test_data, "536365")
