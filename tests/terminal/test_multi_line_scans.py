"""A code of several lines, sent to the running program as keyboard wedges do: byte by byte, with frames painted."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

import pytest

from tests.run_length import tries
from tests.session.multi_line_codes import PAYLOADS, drawn
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop
from tests.terminal.test_count import goods_at, logs, open_count

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

PACES = (0.0, 0.001, 0.003, 0.006, 0.012)
TORN_S = 0.05
"""After a longer pause, which a busy machine makes, the test has not sent what it meant to send."""

RANDOM = tries(4, 40)
"""As many as there is time for; what a busy machine has torn ends them."""
COUNT_ROWS = 5
"""Rows of the page with its title, location, product and quantity."""


def paced(app: Picker, payload: str, pace: float) -> bool:
    """Sends it as one scan; whether every pause came out as short as it was meant."""
    app.rest()
    longest, last = 0.0, time.perf_counter()
    for part in [payload] if not pace else payload:
        while (left := last + pace - time.perf_counter()) > 0:
            app.terminal.pump(left)
        at = app.terminal.write(part.encode())
        longest, last = max(longest, at - last), at
    app.rest()
    app.rest()
    return longest < TORN_S


def is_refused(app: Picker, payload: str, pace: float) -> bool:
    """Sends it; whether it came whole, and then it is unknown and nothing else."""
    before = len(app.seen())
    if not paced(app, payload, pace):
        app.read()
        return False
    seen = app.answered(before + 1)[before:]
    first, *further = [each["verdict"] for each in seen]
    assert first in ("input.several_lines", "input.bad_line", "input.too_soon", "count.unknown"), (payload, pace, seen)
    assert {*further} <= {"input.bad_line", "input.several_lines"}, (payload, pace, seen)
    app.read()
    return True


@pytest.mark.sampled(5)
@pytest.mark.parametrize("pace", PACES)
def test_codes_of_several_lines_change_no_count(shop: Shop, picker: Pick, pace: float) -> None:
    place, rows = goods_at(shop, 5)
    app = picker(columns=60)
    open_count(app)
    app.take(place, "count.product", "count.at_location")
    app.take(rows[0]["barcode"], "count.product", "count.counted_of")
    app.take("17", "count.product", "count.counted_of", typed=True)
    stood = app.told()
    for name in ("EPC payment", "EPC payment, CR", "Swiss QR bill", "numbers", "letters"):
        if not is_refused(app, PAYLOADS[name], pace):
            pytest.skip("this machine is too busy to send at a scanner's pace")
        app.stands_at(stood)
    dice = Random(22)
    for _ in range(RANDOM):
        payload = drawn(dice, [row["barcode"] for row in rows])
        if not is_refused(app, payload, dice.choice(PACES)):
            break
        app.terminal.wait_for(lambda _: count_stands(app, stood), START_S)
    app.take("d", "count.missing", "count.missing")
    stood = app.told()
    assert is_refused(app, PAYLOADS["EPC payment"], 0.0)
    app.stands_at(stood)
    assert not logs(shop)


def count_stands(app: Picker, stood: list[str]) -> bool:
    """Whether the count is as it was; a longer refusal may take rows of the goods that come next."""
    now = app.glance()
    return now[:COUNT_ROWS] == stood[:COUNT_ROWS] and {*now} <= {*stood}
