"""Scans that come faster than anybody can look: a hundred in one write, pairs around a change of the screen."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from tests.bench.generated_store import ean13
from tests.run_length import tries
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop, on_this_host

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

COUNT = 100
CODES = [ean13(f"952777{number:06d}") for number in range(COUNT)]
"""A hundred barcodes of one product, so that the order of the scans can be told from each of them."""

NOWHERE = ean13("952888000000")
"""A barcode that nobody knows: home says so in other words than an order does."""

ORDER, OTHER, PRODUCT = "BURST-1", "BURST-2", "BURST"

BURSTS = {
    "CR": b"".join(code.encode() + b"\r" for code in CODES),
    "LF": b"".join(code.encode() + b"\n" for code in CODES),
    "CRLF": b"".join(code.encode() + b"\r\n" for code in CODES),
    "TAB": b"".join(code.encode() + b"\t" for code in CODES),
    "STX-ETX": b"".join(b"\x02" + code.encode() + b"\x03" for code in CODES),
    "one paste": b"\x1b[200~" + b"\n".join(code.encode() for code in CODES) + b"\x1b[201~",
    "pastes": b"".join(b"\x1b[200~" + code.encode() + b"\x1b[201~" for code in CODES),
}


@pytest.fixture
def app(shop: Shop, picker: Pick) -> Picker:
    """Signed in at home; two orders want very many of one product."""
    first, *further = CODES
    shop.add_product(PRODUCT, "Burst of scans", first, "A-01-1", barcodes_array=",".join(further))
    for number in (ORDER, OTHER):
        shop.add_order(number, [(PRODUCT, 5000)])
    app = picker()
    app.sign_in()
    app.shows(ORDER, OTHER)
    return app


def journal(home: Path) -> list[str]:
    """The raw inputs of the journal, oldest first; what no person entered has none."""
    return [str(raw) for (raw,) in on_this_host(home, "SELECT raw FROM event WHERE raw <> '' ORDER BY seq")]


def arrives(app: Picker, shop: Shop, number: str, quantity: int) -> None:
    """Waits until the line stands at the quantity at the service, and all is sent; then the books are in order."""
    app.terminal.wait_for(lambda _: shop.picked(number)[1] >= quantity, START_S)
    app.shows("live", "all sent")
    assert shop.picked(number) == {1: Decimal(quantity)}
    shop.balances()


def test_a_hundred_scans_in_one_write_and_one_around_a_resize(app: Picker, shop: Shop, demo_home: Path) -> None:
    app.take(ORDER, "pick.product", "pick.opened")
    entered = len(journal(demo_home))
    for burst, (name, data) in enumerate(BURSTS.items(), 1):
        seen = app.write(data, COUNT)
        assert [each["raw"] for each in seen] == CODES, name
        assert {(each["job"], each["step"], each["verdict"]) for each in seen} == {
            ("pick", "pick.product", "pick.picked")
        }
        app.shows(f"{burst * COUNT} of 5000")
        assert journal(demo_home)[entered:] == CODES * burst, name
    assert len(app.seen()) == app.scans
    resized_in_the_middle_of_a_scan(app, COUNT * len(BURSTS))
    arrives(app, shop, ORDER, COUNT * len(BURSTS) + 4)


def test_pairs_of_scans_around_a_change_of_the_screen(app: Picker, shop: Shop, demo_home: Path) -> None:
    """The first scan opens an order from home or leaves it, the second comes 0 to 20 ms later, mostly before the screen
    has changed: it means what it means on the new one."""
    dice = random.Random(5)
    pairs = tries(40, 200)
    for number in range(pairs):
        order = OTHER if number >= pairs // 2 and number % 4 < 2 else ORDER
        first, second = ("AISLE:BACK", NOWHERE) if number % 2 else (order, CODES[number % COUNT])
        before = len(app.seen())
        app.terminal.write(first.encode() + b"\r")
        pause = dice.uniform(0, 0.02)
        until = time.perf_counter() + pause
        while (left := until - time.perf_counter()) > 0:
            app.terminal.pump(left)
        app.terminal.write(second.encode() + b"\r")
        seen = app.answered(before + 2)[before:]
        assert [each["raw"] for each in seen] == [first, second]
        assert {each["step"] for each in seen} == {"home" if number % 2 else "pick.product"}
        assert seen[1]["verdict"] == ("count.unknown" if number % 2 else "pick.picked"), (number, pause)
    arrives(app, shop, ORDER, pairs * 3 // 8)
    arrives(app, shop, OTHER, pairs // 8)
    raws = journal(demo_home)
    assert [sum(raw in CODES for raw in raws), raws.count("AISLE:BACK"), raws.count(NOWHERE)] == [pairs // 2] * 3


def resized_in_the_middle_of_a_scan(app: Picker, picked: int) -> None:
    """Each counts once."""
    code = CODES[0].encode()
    for taken, (columns, rows) in enumerate([(20, 16), (80, 24), (40, 8), (40, 20)], picked + 1):
        app.terminal.write(code[:6])
        app.shows(CODES[0][:6])
        app.terminal.resize(columns, rows)
        app.terminal.write(code[6:9])
        app.shows(CODES[0][:9])
        (seen,) = app.write(code[9:] + b"\r")
        assert (seen["raw"], seen["verdict"]) == (CODES[0], "pick.picked")
        app.shows(f"{taken} of 5000" if columns >= 40 else f"{taken} of")
