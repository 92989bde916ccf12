"""Every screen over a service that leaves out optional fields: no figure, price, date or sum that nobody sent.

A store is read in which every optional field of the interface is said, and the screens are walked. Then a field is left
out of every row, one after the other, and all of a resource at once: a number that stands on a screen now and did not
stand there before is one that nobody said, unless it is in the table of those that were sent elsewhere.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import MIN_DESK_COLUMNS
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.cache import service_rows
from tests.contract.document import ANSWERS
from tests.session.test_session import say

Row = dict[str, Any]
TEA, SALT = "4006381333931", "5901234123457"
WIDE, HIGH = 120, 60
BELOW_DESK = MIN_DESK_COLUMNS - 1
"""Width at which a supervisor begins at home, from which the keys below lead."""

SCREENS: dict[str, tuple[str, ...]] = {
    "home": (),
    "look-up": (f"?{TEA}",),
    "look-up, leafed": (f"?{TEA}", "n"),
    "store product": (f"?{TEA}", "e"),
    "store product, leafed": (f"?{TEA}", "e", "n"),
    "surrounding stores": (f"?{SALT}",),
    "find": ("2",),
    "order list": ("7", "3"),
    "order page": ("7", "3", "1"),
    "order page, leafed": ("7", "3", "1", "n"),
    "pick": ("4711",),
    "pick, one taken": ("4711", TEA),
    "short": ("4711", "s"),
    "deliveries": ("7", "2", "a"),
    "a delivery": ("7", "2", "a", "1"),
    "receive": ("7", "2", "1"),
    "receive, one in hand": ("7", "2", "1", TEA),
    "receive, lines": ("7", "2", "1", "l"),
    "receive, checked": ("7", "2", "1", "d"),
    "receipts": ("7", "2", "a", "v", "v", "v"),
    "count a place": ("4", "A-1"),
    "count a product": ("4", TEA),
    "counted": ("4", "A-1", TEA),
    "count, the rest": ("4", "A-1", TEA, "d"),
    "move": ("5", "A-1"),
    "move, in hand": ("5", "A-1", TEA),
    "move a product": ("5", TEA),
    "log": ("7", "5"),
    "log entry": ("7", "5", "1"),
    "log, a count": ("7", "5", "2"),
    "losses": ("7", "5", "g"),
    "exceptions": ("7", "4"),
    "differences": ("7", "4", "2"),
    "places": ("3",),
    "a place": ("3", "1"),
    "today": ("7", "9", "4"),
    "stores": ("7", "9", "1"),
    "a store": ("7", "9", "1", "1"),
    "products": ("7", "9", "2"),
    "a product of the chain": ("7", "9", "2", "1"),
}

COUNTED = {"number": 1, "number double": 2, "number int32": 3, "number int64": 4}
KNOWN: Mapping[str, Any] = {
    "barcode": TEA, "product_number": "P1", "store_number": "0001", "location_code": "A-1",
    "store_location_code": "A-1", "preferred_location_code": "A-1", "stock_location": "A-1", "location": 5,
    "order_number": "4711", "customer_order_number": "", "default_stock_pool": "1", "target_stock_pool": 1,
    "stock_pool": 1, "line_number": 1, "is_active": True, "is_stock": True, "is_picked": False, "is_rejected": False,
    "is_claimed": False, "order_type": "1", "order_type_id": 1, "reason_code": 4, "review_status": "1",
    "allow_decimal": False, "status": "open", "picking_stock_pool_array": ["1"], "moved_quantity": 0,
    "picked_quantity": 1, "barcodes_array": "96385074", "customer_order_line_number": 0, "units": [],
    "store_locations": None, "lines": None, "order_lines": None, "receipt_lines": None, "free_fields": [],
    "set_product": [], "stock": [], "is_template": False, "smallest_product_number": "", "isWarhouse": False,
    "id": 7,
}  # fmt: skip
"""What a field has to say for rows to belong together; every other number is one that stands nowhere else."""

NUMBER = re.compile(r"[±+-]?\d[\d.,:/-]*\d|[±+-]?\d")

DAYS = {str(int(time.time() + more) // 86400) for more in (0, 3600)}
"""How long ago all was read, on this day, and on the next where that is near."""

RECKONED: Mapping[str, set[str]] = {
    "move a product": {"302"},  # of 303 in stock one is picked
    "pick, one taken": {
        TEA,
        SALT,
        "31",
        "550",
        "2031",
        *DAYS,
    },  # without an order it is the delivery that expects it, or a look
    "exceptions": {"0", "0.00"},  # nothing of a kind, and what that comes to
    "move": {"0"},  # no product is named there by the books
    "receive, checked": {"2031"},  # all is here: the list of deliveries
    "short": {SALT},
}
"""What is reckoned from figures that were sent alone, where another is left out."""

BROUGHT = ("Product", "StoreProductStock", "StockLocation", "SurroundingStock", "CustomerOrder", "CustomerOrderLine",
           "CustomerOrderLineLocation", "Delivery", "DeliveryLine", "Receipt", "ReceiptLine", "Location",
           "StoreProductLog", "Store")  # fmt: skip


def _resources() -> dict[str, list[tuple[str, str, bool]]]:
    """(field, type, required) of every resource, as the interface has them."""
    found: dict[str, list[tuple[str, str, bool]]] = {}
    for block in ANSWERS.strip().split("\n\n"):
        name, *lines = block.splitlines()
        for line in lines:
            names, kind = line[2:].rsplit(": ", 1)
            for each in names.split():
                stem = each.removesuffix("1..10")
                fields = [f"{stem}{pool}" for pool in range(1, 11)] if each.endswith("1..10") else [each]
                found.setdefault(name, []).extend((field, kind, line[0] == "!") for field in fields)
    return found


RESOURCES = _resources()


def _value(name: str, kind: str, number: int) -> Any:
    if name in KNOWN:
        return KNOWN[name]
    if kind.startswith("number"):
        return number
    if kind == "boolean":
        return False
    if "date" in name or name.endswith(("_on", "On")):
        return f"2031-{number % 12 + 1:02}-{number % 28 + 1:02}T10:{number % 60:02}:00Z"
    if kind.startswith("array"):
        return []
    return name.replace("_", " ") if kind.startswith("string") else None


def _whole(resource: str, **said: Any) -> Row:
    """A row that says every field of it."""
    at = 200 + 100 * BROUGHT.index(resource)
    fields = enumerate(RESOURCES[resource])
    return {name: _value(name, kind, at + n) for n, (name, kind, _) in fields} | said


class Service:
    """The rows of a service that leaves these fields out."""

    def __init__(self, out: Mapping[str, frozenset[str]]) -> None:
        self._out = out

    def row(self, resource: str, **said: Any) -> Row:
        """A row without them."""
        gone = self._out.get(resource, frozenset())
        return {name: value for name, value in _whole(resource, **said).items() if name not in gone}

    def put(self, cache: CacheWriter) -> None:
        """All that it says, read by a host."""
        stamp = "2026-03-02T09:00:00Z"
        spot = self.row("StockLocation", quantity=31)
        cache.write_people([service_rows.person("U1", "Anna Kovac", "supervisor")])
        cache.write_products(
            [self.row("Product", product_number="P1", product_name="Tea"),
             self.row("Product", product_number="P2", product_name="Salt", barcode=SALT, barcodes_array="")]
        )  # fmt: skip
        cache.write_stock(
            [self.row("StoreProductStock", product_number=number, store_locations=[spot], barcode=code)
             for number, code in (("P1", TEA), ("P2", SALT))]
        )  # fmt: skip
        cache.write_locations([self.row("Location"), self.row("Location", location_code="A-2")])
        place = self.row("CustomerOrderLineLocation")
        line = self.row("CustomerOrderLine", store_locations=[place], quantity=3, picked_quantity=1)
        cache.write_orders([self.row("CustomerOrder", lines=[line])], True, 1.0)
        amounts = {"quantity": 612, "received_quantity": 62}
        lines = [self.row("DeliveryLine", **amounts),
                 self.row("DeliveryLine", line_number=2, product_number="P2", barcode=SALT, **amounts)]  # fmt: skip
        cache.write_deliveries([self.row("Delivery", order_number="D-1", order_lines=lines)], 1.0)
        receipt = self.row("ReceiptLine", received_quantity=62, shipped_quantity=612)
        cache.write_receipts([self.row("Receipt", order_number="D-1", receipt_lines=[receipt])])
        logs = [self.row("StoreProductLog", id=9, created_on=stamp),
                self.row("StoreProductLog", id=8, created_on=stamp, reason_code=None)]  # fmt: skip
        cache.write_logs(logs, "2026-03-01T00:00:00Z")
        near = [self.row("SurroundingStock", store_number="0002", store_name="Next door")]
        for product in ("P1", "P2"):
            cache.write_surrounding(product, near, 1.0)
        cache.write_stores([self.row("Store", storeNo="0001"), self.row("Store", storeNo="0002")])
        full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


def _numbers(folder: Path, out: Mapping[str, frozenset[str]]) -> dict[str, set[str]]:
    """The numbers on each screen."""
    home = StoreFolder(folder, "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    Service(out).put(cache)
    found: dict[str, set[str]] = {}
    for number, (screen, keys) in enumerate(SCREENS.items()):
        with _walked(home, f"dock-{number}", keys) as session:
            text = "\n".join(plain_lines(layout_screen(session.frames.build(), WIDE, HIGH)))
            found[screen] = set(re.findall(NUMBER.pattern, text))
    return found


@contextmanager
def _walked(home: StoreFolder, terminal: str, keys: tuple[str, ...]) -> Iterator[Session]:
    """A session of which nothing is kept, where these lines lead."""
    with closing(open_session(home, Settings(terminal=terminal))) as session:
        session.event_runner.commit = lambda: _forgotten(session)  # type: ignore[method-assign]
        session.start()
        session.resize(BELOW_DESK, HIGH)
        for key in ("BADGE-U1", *keys):
            say(session, key)
        yield session


def _forgotten(session: Session) -> bool:
    session.store.unit_of_work.discard()
    return True


ALL = {name: frozenset(field for field, _, required in RESOURCES[name] if not required) for name in BROUGHT}


def _cases() -> Iterator[Any]:
    """All that a resource may leave out at once; then each figure and date, in the long runs.

    By default every sixth resource, and all of them together.
    """
    for number, name in enumerate(BROUGHT):
        yield pytest.param({name: ALL[name]}, id=name, marks=pytest.mark.full if number % 6 else ())
    yield pytest.param(ALL, id="everything")
    for name in BROUGHT:
        for field, _kind, required in RESOURCES[name]:
            if not required:
                yield pytest.param({name: frozenset({field})}, id=f"{name}.{field}", marks=pytest.mark.full)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The numbers on each screen where the service says all it may."""
    return _numbers(tmp_path_factory.mktemp("whole"), {})


SMALL = {str(number) for number in range(1, 21)}
"""What numbers rows, counts and choices; every figure of the service is beyond, but for the pool of its places."""


def _sent(value: Any) -> Iterator[str]:
    """The numbers in all that a service says, as screens write them."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _sent(each)
    elif isinstance(value, str):
        yield from NUMBER.findall(value)
        yield from re.findall(r"T(\d\d:\d\d)", value)
    elif isinstance(value, int):
        yield from (f"{value}", f"-{value}", f"{value}.00")


SENT = frozenset(each for name in BROUGHT for each in _sent(_whole(name))) - {"0", "-0", "0.00"}


@pytest.mark.parametrize("out", list(_cases()))
def test_no_number_stands_on_a_screen_that_nobody_said(
    aisle_home: Path, whole: dict[str, set[str]], out: Mapping[str, frozenset[str]]
) -> None:
    found = _numbers(aisle_home, out)
    new = {screen: found[screen] - whole[screen] - SENT - SMALL - RECKONED.get(screen, set()) for screen in SCREENS}
    assert {screen: numbers for screen, numbers in new.items() if numbers} == {}
