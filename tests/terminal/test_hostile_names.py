"""Names that attack a terminal, through the real service, the cache and every screen, into a real pty."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import pytest

from aisle.terminal_text import clean
from tests.bench.generated_store import ean13
from tests.run_length import tries
from tests.terminal.picker import Picker
from tests.terminal.shop import Shop
from tests.tui.test_screens import HOSTILE as NAMES

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

HOSTILE = {name: text.replace("\0", "\1") for name, text in NAMES.items()}
"""The service refuses NUL in a name; every other control character is somebody's name."""

ALLOWED = re.compile(
    r"\x1b\[[\d;]*m|\x1b\[\d+;\d+H|\x1b\[[K]|\x1b\[2J|\x1b\[H|\x1b>|\x1b\[\?(?:1049|25|7|2004|1000|1006)[hl]|\x07|\r\n"
)
"""All that may reach a terminal besides text: colours, places, erasing, the modes of the start and the end, bells."""

INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def assert_harmless(raw: bytes) -> None:
    """Nothing but text and what the app itself has to say to a terminal."""
    rest = ALLOWED.sub("", raw.decode())
    assert {char for char in rest if not char.isprintable()} == set()
    assert not INVISIBLE.search(rest)


@pytest.fixture
def hostile_shop(shop: Shop) -> list[str]:
    """An order for each hostile text: that is its customer's name, its product's, its place's and a person's."""
    numbers = []
    for number, text in enumerate(HOSTILE.values()):
        place = f"X{number}/{text}"
        location = {"store_number": shop.store, "location_code": place, "location_order": number}
        shop.extend("locations", {"locations": [location]})
        shop.add_product(f"EVIL{number}", text, ean13(f"952666{number:06d}"), place, brand_description=text)
        shop.add_order(f"EVIL-{number}", [(f"EVIL{number}", 2)], customer_name=text, reference=f"R{number}{text}")
        numbers.append(f"EVIL-{number}")
    people = [{"badge": f"EVIL{n}", "user": f"EVIL{n}", "name": text} for n, text in enumerate(HOSTILE.values())]
    shop.extend(f"stores/{shop.store}/people", {"people": people})
    return numbers


SIZES = [(40, 20), (20, 16), (120, 30)]


def test_hostile_names_are_only_names(hostile_shop: list[str], picker: Pick) -> None:
    """Each name at each size; by default four names, each at one of them. All names are on the list of orders."""
    app = picker("--verified", columns=40, rows=20)
    app.shows("Sign in", "live")
    rounds = [*product(enumerate(HOSTILE.values()), SIZES)]
    for (number, text), (columns, rows) in rounds[:: tries(8, 1)]:
        app.terminal.resize(columns, rows)
        code, literal = ean13(f"952666{number:06d}"), " ".join(clean(text).split())[: columns // 4]
        app.enter(f"EVIL{number}")
        app.shows(hostile_shop[0])
        app.enter(hostile_shop[number])
        app.shows("0 picked" if columns < 80 else "0 of 2", literal)
        app.pour(code, f"9*{code}", f"X{number}/{text}", "n", "u")
        app.read()
        app.type(f"?{code}")
        app.shows(literal)
        app.go_home()
        app.enter(code)
        app.shows(literal)
        app.go_home()
        app.shows("all sent")  # else it asks once more
        app.enter("o")
        app.shows("Sign in")
    app.enter("q")
    assert app.terminal.wait_exit() == 0
    assert_harmless(app.terminal.raw)


def test_typed_and_scanned_text_is_cleaned_too(hostile_shop: list[str], picker: Pick) -> None:
    app = picker()
    app.sign_in()
    for place in ("", "4113"):
        app.enter(place or "?x")
        app.pour(*HOSTILE.values(), "last")
        app.shows("last")
        app.go_home()
    app.enter("q")
    assert app.terminal.wait_exit() == 0
    assert_harmless(app.terminal.raw)
