"""One list of the service fails: it alone is missing, with its reason."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.cache.writer import CacheWriter
from aisle.cli.print_rows_and_messages import reason_text
from aisle.courier.pauses_and_wake_event import MAX_RETRY_S
from aisle.courier.pull.cache_update import CacheUpdate
from aisle.courier.pull.read_timetable import PullIntervals
from aisle.jobs.view import UnusableRows
from aisle.outbox.operation_record import DUPLICATE_KEY
from aisle.outbox.requests_and_token_holders import request_read
from tests.cache.test_stock_overlay import logs
from tests.courier.document_service import Plain
from tests.courier.fake_service import OWN, Fake, name_of
from tests.courier.host import Host
from tests.courier.writes import update

Answering = Callable[[httpx.Request], httpx.Response]


def _says(status: int, content: bytes = b'{"message": "not this one"}', **headers: str) -> Answering:
    return lambda request: httpx.Response(status, content=content, headers=headers)


def _hangs(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("", request=request)


def _breaks_off(request: httpx.Request) -> httpx.Response:
    raise httpx.RemoteProtocolError("peer closed connection", request=request)


HTML = b"<!doctype html><title>Error</title>"
FAILURES: dict[str, tuple[Answering, str]] = {
    "400": (_says(400), "not this one (400)"),
    "403": (_says(403), "not this one (403)"),
    "403 without a word": (_says(403, b"{}"), "403"),
    "403 of a gateway": (_says(403, HTML), "403"),
    "404": (_says(404), "not this one (404)"),
    "404 of a gateway": (_says(404, HTML), "404"),
    "405": (_says(405, b""), "405"),
    "410": (_says(410), "not this one (410)"),
    "422": (_says(422), "not this one (422)"),
    "429": (_says(429, Retry_After="1"), "not this one (429)"),
    "500": (_says(500), "not this one (500)"),
    "500 of a gateway": (_says(500, HTML), "500"),
    "501": (_says(501), "not this one (501)"),
    "502": (_says(502, HTML), "502"),
    "503": (_says(503), "not this one (503)"),
    "504": (_says(504, b""), "504"),
    "302": (_says(302, b"", Location="https://login.example/"), "302"),
    "no answer": (_hangs, "No answer from the server"),
    "an answer cut off": (_breaks_off, "No answer from the server"),
    "a page": (_says(200, HTML), "cannot be read"),
    "nothing": (_says(200, b""), "cannot be read"),
    "no content": (_says(204, b""), "cannot be read"),
    "half of it": (_says(200, b'{"list": [{"order_nu'), "cannot be read"),
    "no list": (_says(200, b"{}"), "cannot be read"),
    "null": (_says(200, b"null"), "cannot be read"),
    "an array": (_says(200, b"[]"), "cannot be read"),
    "rows that are none": (_says(200, b'{"list": [1, 2], "records": [3]}'), "cannot be read"),
    "no UTF-8": (_says(200, b'{"list": "\xff\xfe"}'), "cannot be read"),
    "success false": (_says(200, b'{"success": false, "message": "no"}'), "cannot be read"),
}

ORDERS, STOCK = "list-customer-orders", "list-store-products-stock"
LISTS: dict[str, Callable[[httpx.Request], bool]] = {
    "stores": lambda asked: name_of(asked) == "list-stores",
    "people": lambda asked: name_of(asked) == "people",
    "headers": lambda asked: name_of(asked) == ORDERS,
    "lines": lambda asked: name_of(asked) == ORDERS and asked.url.params.get("show_lines") == "true",
    "locations": lambda asked: name_of(asked) == "list-locations",
    "deliveries": lambda asked: name_of(asked) == "list-deliveries",
    "receipts": lambda asked: name_of(asked) == "list-store-receipts",
    "products": lambda asked: name_of(asked) == "list-products",
    "stock": lambda asked: name_of(asked) == STOCK,
    "logs": lambda asked: name_of(asked) == "list-store-product-logs",
    "changes": lambda asked: name_of(asked) == "changes",
}
OURS = ("people", "changes")
"""Lists that only our own service has."""
AND = {"headers": {"headers", "lines"}, "stock": {"stock", "stock_changes"}}
"""What is missing with a list, because it comes by the same way."""


class Shop(Host):
    """A host at a service of which one list fails at will."""

    def __init__(self, root: Path, fake: Fake) -> None:
        super().__init__(root, fake)
        if isinstance(fake, Plain):
            fake.time = self.time
        self._whole = fake.answer
        fake.add_products(f"P{n}" for n in range(1, 8))
        fake.add_locations("A-1", "A-2")
        for n in range(1, 4):
            fake.add_order(f"O{n}")
        fake.add_delivery("D1", ("P1", 5))
        fake.receipts.append(_receipt("D1"))
        fake.logs.append({"id": 1, "store_number": "0001", "product_number": "P1", "quantity": 1})

    def fail(self, name: str, failure: Answering) -> None:
        def answer(request: httpx.Request) -> httpx.Response:
            return failure(request) if LISTS[name](request) else self._whole(request)

        self.fake.answer = answer  # type: ignore[method-assign]

    def mend(self) -> None:
        self.fake.answer = self._whole  # type: ignore[method-assign]

    def there(self) -> dict[str, bool]:
        """Of each list whether something of it is here."""

        def count(name: str, **args: Any) -> int:
            return self.reads.query(name, args)[1]

        product = self.reads.query("product", {"product_number": "P1"})[0]
        return {
            "stores": count("store", store_number="0002") > 0,
            "people": count("people") > 0,
            "headers": len(self.numbers()) == 3,
            "lines": len(self.numbers()) == 3 and bool(self.line("O1")),
            "locations": count("location", location_code="A-2") > 0,
            "deliveries": count("delivery", order_number="D1") > 0,
            "products": bool(product and product[0].get("product_name")),
            "stock": bool(product and product[0].get("most_likely_quantity") is not None),
        }

    def missing(self) -> dict[str, str]:
        """The lists that a session sees as missing, and why."""
        return {lack.name: reason_text(lack.why) for lack in self.reads.link(self.time.now).unreadable_lists}


def _receipt(number: str) -> dict[str, Any]:
    return {"id": 1, "order_number": number, "order_type_id": 1, "store_number": "0001", "receipt_lines": []}


@pytest.fixture(params=["", OWN], ids=["document", "own"])
def shop(request: Any, aisle_home: Path) -> Iterator[Shop]:
    shop = Shop(aisle_home, Plain() if not request.param else Fake(OWN))
    yield shop
    shop.close()


def _are_served(shop: Shop, name: str) -> None:
    if name in OURS and not shop.fake.features:
        pytest.skip("the document has no such list")


_NO_WORD = "403 without a word"
"""Alone in having a status and no word of it."""
KINDS = ("403", "404", "500", "half of it", "no answer", "no list", "nothing")
"""Failures of the default run: a kind for each list, another one at the other service."""


def _first_reads() -> Iterator[Any]:
    """Each list of each service with each failure; by default with one of `KINDS`."""
    for at, (service, features) in enumerate({"document": "", "own": OWN}.items()):
        for row, name in enumerate(LISTS):
            for failure in FAILURES if features or name not in OURS else ():
                is_drawn = failure == KINDS[(row + 3 * at) % len(KINDS)] or (name, failure) == ("products", _NO_WORD)
                marks = () if is_drawn else pytest.mark.full
                yield pytest.param(features, name, failure, id=f"{service}-{name}-{failure}", marks=marks)


def _spread(firsts: Iterable[str], seconds: Iterable[str], every: int) -> list[Any]:
    """All pairs; one of `every` in each run, so that each of the firsts and of the seconds is met, the rest in the long
    runs."""
    return [
        pytest.param(first, second, marks=() if (row + column) % every == 0 else pytest.mark.full)
        for row, first in enumerate(firsts)
        for column, second in enumerate(seconds)
    ]


@pytest.mark.every_case
@pytest.mark.parametrize(("shop", "name", "failure"), [*_first_reads()], indirect=["shop"])
async def test_failing_list_is_missing_and_others_are_read(shop: Shop, name: str, failure: str) -> None:
    answering, why = FAILURES[failure]
    shop.fail(name, answering)
    async with shop.running(shop.courier()) as courier:
        await shop.time.until(lambda: courier.full_sync.progress.completed, 400)
        request_read(shop.desk.db, "logs", "", shop.time.now)
        courier.wake()
        await shop.time.until(lambda: name in shop.missing(), 60)
        assert why in shop.missing()[name], "the reason is not told"
        assert set(shop.missing()) <= AND.get(name, {name})
        assert shop.state() == "partial"
        gone = AND.get(name, {name})
        here = shop.there()
        served = {each for each in here if shop.fake.features or each not in OURS}
        assert {each for each in served if not here[each]} <= gone
        assert courier.link.is_up
        shop.mend()
        await shop.time.until(lambda: shop.state() == "live", MAX_RETRY_S + 60)
        assert shop.missing() == {}
        here = shop.there()
        assert all(here[each] for each in served)


UNFORESEEN: dict[str, tuple[type, str]] = {
    "stores": (CacheWriter, "write_stores"),
    "locations": (CacheUpdate, "put_locations"),
}
"""Lists that are read in one go and page by page, with what writes their rows."""


@pytest.mark.parametrize("name", UNFORESEEN)
async def test_an_unforeseen_error_stops_no_other_list(shop: Shop, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise TypeError

    owner, writer = UNFORESEEN[name]
    monkeypatch.setattr(owner, writer, fail)
    async with shop.running(shop.courier()) as courier:
        await shop.time.until(lambda: courier.full_sync.progress.completed, 400)
        assert [*shop.missing()] == [name]
        assert shop.there()["stock"]


@pytest.mark.parametrize(
    ("name", "failure"), _spread(LISTS, ["403", "404 of a gateway", "500", "no answer", "half of it"], 3)
)
async def test_in_the_daily_full_read_too(shop: Shop, name: str, failure: str) -> None:
    _are_served(shop, name)
    async with shop.running(shop.courier()) as courier:
        await shop.time.until(lambda: shop.state() == "live", 60)
        before = courier.full_sync.progress.completed
        await shop.time.pass_(1)
        shop.fail(name, FAILURES[failure][0])
        courier.full_sync.request_full()
        await shop.time.until(lambda: courier.full_sync.progress.completed > before, 400)
        request_read(shop.desk.db, "logs", "", shop.time.now)
        courier.wake()
        await shop.time.until(lambda: name in shop.missing(), 60)
        assert all(shop.there()[each] for each in shop.there() if shop.fake.features or each not in OURS)
        (op_id,) = shop.desk.write(update("O1", {1: 1}))
        courier.wake()
        if name not in ("headers", "lines"):
            await shop.time.until(lambda: shop.desk.state(op_id) == "done", 60)


@pytest.mark.parametrize("name", [name for name in LISTS if name not in OURS])
async def test_a_token_that_is_refused_is_no_list(shop: Shop, name: str) -> None:
    """401 alone means the token, whatever it was asked for."""
    shop.fail(name, _says(401))
    async with shop.running(shop.courier()) as courier:
        request_read(shop.desk.db, "logs", "", shop.time.now)
        courier.wake()
        await shop.time.until(lambda: shop.state() == "refused", 60)
        assert shop.missing() == {}


@pytest.mark.parametrize("status", [403, 404])
async def test_a_store_that_is_refused_is_said_as_before(shop: Shop, status: int) -> None:
    whole = shop.fake.answer

    def answer(request: httpx.Request) -> httpx.Response:
        return whole(request) if name_of(request) == "list-stores" else _says(status)(request)

    shop.fake.answer = answer  # type: ignore[method-assign]
    async with shop.running(shop.courier()):
        await shop.time.until(lambda: shop.state() == "refused", 60)


@pytest.mark.parametrize("failure", ["500", "503", "no answer", "404 of a gateway", "a page"])
async def test_silent_service_is_offline_and_no_list_is_blamed(shop: Shop, failure: str) -> None:
    async with shop.running(shop.courier(intervals=PullIntervals(changes=5.0))) as courier:
        await shop.time.until(lambda: shop.state() == "live", 60)
        shop.fake.answer = FAILURES[failure][0]  # type: ignore[method-assign,assignment]
        courier.full_sync.request_full()
        await shop.time.until(lambda: shop.state() == "offline", 120)
        assert shop.missing() == {}
        shop.mend()
        await shop.time.until(lambda: shop.state() == "live", 120)


@pytest.mark.every_case
@pytest.mark.parametrize("name", LISTS)
async def test_missing_list_is_read_after_a_restart_of_the_courier(shop: Shop, name: str) -> None:
    _are_served(shop, name)
    shop.fail(name, _says(500))
    async with shop.running(shop.courier()) as courier:
        await shop.time.until(lambda: courier.full_sync.progress.completed, 400)
        request_read(shop.desk.db, "logs", "", shop.time.now)
        courier.wake()
        await shop.time.until(lambda: name in shop.missing(), 60)
    shop.mend()
    async with shop.running(shop.courier()):
        await shop.time.until(lambda: shop.state() == "live", MAX_RETRY_S + 60)
        assert shop.missing() == {}


async def test_missing_list_is_retried_with_growing_pauses(shop: Shop) -> None:
    asked: list[float] = []

    def noting(request: httpx.Request) -> httpx.Response:
        asked.append(shop.time.now)
        return _says(403)(request)

    shop.fail("deliveries", noting)
    async with shop.running(shop.courier(intervals=PullIntervals(changes=3600.0, unannounced=1e9))):
        await shop.time.until(lambda: shop.state() == "partial", 60)
        asked.clear()
        await shop.time.pass_(4 * 3600)
    assert 8 <= len(asked) <= 40


BAD_KEYS: dict[str, Any] = {
    "missing": ..., "null": None, "empty": "", "blank": "  ", "no-break blank": "\u00a0", "false": False, "true": True,
    "a list": ["O9"], "an object": {"number": "O9"}, "a fraction": 4.5, "too large": 1e300,
}  # fmt: skip
KEYED = {
    "headers": ("orders", "order_number"),
    "products": ("products", "product_number"),
    "stock": ("stock", "product_number"),
    "locations": ("locations", "location_code"),
    "deliveries": ("deliveries", "order_number"),
    "logs": ("logs", "product_number"),
    "stores": ("stores", "storeNo"),
    "receipts": ("receipts", "order_number"),
}


def _add(shop: Shop, where: str, row: dict[str, Any]) -> None:
    kept = getattr(shop.fake, where)
    if isinstance(kept, list):
        kept.append(row)
    else:
        kept["bad" + json.dumps(row, default=str)] = row


def _like(shop: Shop, where: str) -> dict[str, Any]:
    """A row as there is one already, of another id."""
    kept = getattr(shop.fake, where)
    row = dict(kept[0] if isinstance(kept, list) else next(iter(kept.values())))
    return row | ({"id": 990 + len(kept)} if "id" in row else {})


def _left(shop: Shop) -> dict[str, tuple[int, str]]:
    """The rows that a session sees as left out, and by which field."""
    return {left.name: (left.rows, left.why) for left in shop.reads.link(shop.time.now).unusable_rows}


async def _all_read(shop: Shop) -> None:
    async with shop.running(shop.courier()) as courier:
        await shop.time.until(lambda: courier.full_sync.progress.completed, 400)
        request_read(shop.desk.db, "logs", "", shop.time.now)
        courier.wake()
        await shop.time.pass_(5)
        assert shop.state() == "live"


@pytest.mark.parametrize(("name", "value"), _spread(KEYED, BAD_KEYS, 3))
async def test_rows_that_cannot_be_named_are_counted_and_said(shop: Shop, name: str, value: str) -> None:
    (where, field), bad = KEYED[name], BAD_KEYS[value]
    for _ in range(2):
        row = _like(shop, where)
        row = {key: row[key] for key in row if key != field} | ({} if bad is ... else {field: bad})
        _add(shop, where, row | {"note": len(getattr(shop.fake, where))})
    await _all_read(shop)
    assert _left(shop)[name] == (2, field)
    here = shop.there()
    assert all(here[each] for each in here if shop.fake.features or each not in OURS)


@pytest.mark.parametrize("name", ["headers", "products", "stock", "locations", "deliveries"])
async def test_rows_of_one_name_are_counted_and_said(shop: Shop, name: str) -> None:
    where, _ = KEYED[name]
    for _ in range(3):
        _add(shop, where, _like(shop, where) | {"note": len(getattr(shop.fake, where))})
    await _all_read(shop)
    assert [left for left in shop.reads.link(shop.time.now).unusable_rows if left.name == name] == [
        UnusableRows(name, 3, DUPLICATE_KEY, is_repeated=True)
    ]


WRONG_TYPES = {
    "stock": ("stock", "most_likely_quantity", "many"),
    "lines": ("orders", "lines", [{"line_number": "first"}]),
    "deliveries": ("deliveries", "order_lines", "none"),
    "locations": ("locations", "location_order", [1]),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
async def test_rows_of_a_wrong_type_are_counted_and_said_until_they_are_right(shop: Shop, name: str) -> None:
    where, field, value = WRONG_TYPES[name]
    kept = getattr(shop.fake, where)
    row = kept[next(iter(kept))]
    before, row[field] = row.get(field), value
    await _all_read(shop)
    assert _left(shop)[name][0] == 1
    row[field] = before
    async with shop.running(shop.courier()) as courier:
        began = shop.time.now
        courier.full_sync.request_full()
        await shop.time.until(lambda: courier.full_sync.progress.completed >= began, 60)
    assert _left(shop) == {}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("wait", ["", "1", "30"])
@pytest.mark.parametrize("name", LISTS)
async def test_patience_asked_at_one_list_alone_keeps_no_other_waiting(shop: Shop, name: str, wait: str) -> None:
    """Where it is asked three times in a row, and another list answers: also of the change feed, which is asked all
    the time, and of orders, which are read before an update of them goes."""
    _are_served(shop, name)
    asked: list[float] = []
    patience = _patience(shop, asked, wait)
    async with shop.running(shop.courier(intervals=PullIntervals(changes=2.0))) as courier:
        await shop.time.until(lambda: shop.state() == "live", 60)
        shop.fail(name, patience)
        courier.full_sync.request_full()
        request_read(shop.desk.db, "logs", "", shop.time.now)
        courier.wake()
        await shop.time.until(lambda: name in shop.missing(), 400)
        assert "not this one (429)" in shop.missing()[name]
        await shop.time.until(lambda: courier.full_sync.progress.is_idle, 400)
        assert set(shop.missing()) <= AND.get(name, {name})
        asked.clear()
        (op_id,) = shop.desk.write(update("O1", {1: 1}))
        courier.wake()
        waits_for_its_order = name in ("headers", "lines")
        if not waits_for_its_order:
            await shop.time.until(lambda: shop.desk.state(op_id) == "done", 10)
        await shop.time.pass_(30 + 3 * float(wait or 1))
        held = 0
        for second in range(300):
            if second == 100:
                shop.fake.stock["P1"] |= {"most_likely_quantity": 77}
                courier.full_sync.request_stages(("stock",))
                (count_id,) = shop.desk.write(logs(True, product_number="P2", counted_quantity=5))
                courier.wake()
            await shop.time.pass_(1)
            held += courier.link.pause_s > 0
        assert held <= 2 * float(wait or 1), "all else goes on, but for what is asked for there for the first time"
        assert name == "stock" or shop.quantity("P1") == 77
        assert name == "stock" or shop.desk.state(count_id) == "done", "but for what is read before it goes"
        assert courier.link.is_up
        assert len(asked) <= 60, "a list that asks for patience is given some"
        assert shop.desk.state(op_id) != "needs_person"
        shop.mend()
        await shop.time.until(lambda: shop.state() == "live", MAX_RETRY_S + 60)
        await shop.time.until(
            lambda: {shop.desk.state(each) for each in (op_id, count_id)} == {"done"}, MAX_RETRY_S + 60
        )


def _patience(shop: Shop, asked: list[float], wait: str) -> Answering:
    def patience(request: httpx.Request) -> httpx.Response:
        asked.append(shop.time.now)
        headers = {"Retry-After": wait} if wait else {}
        return httpx.Response(429, json={"message": "not this one"}, headers=headers)

    return patience


@pytest.mark.sampled(4)
@pytest.mark.parametrize("wait", ["", "1", "30", "600", "rubbish"])
@pytest.mark.parametrize("name", ["headers", "lines", "stock", "deliveries"])
async def test_a_list_that_asks_for_patience_at_first_is_read_after_all_others(
    shop: Shop, name: str, wait: str
) -> None:
    """Nothing was ever read here: the others are read at once, and the list when it answers."""
    asked: list[float] = []
    shop.fail(name, _patience(shop, asked, wait))
    async with shop.running(shop.courier()) as courier:
        gone = AND.get(name, {name})
        served = {each for each in shop.there() if shop.fake.features or each not in OURS}
        await shop.time.until(lambda: all(shop.there()[each] for each in served - gone), 2)
        await shop.time.until(lambda: name in shop.missing(), 400)
        assert "429" in shop.missing()[name]
        least = float(wait) if wait in ("1", "30") else 0.0
        assert all(later - sooner >= least for sooner, later in _apart(asked))
        shop.mend()
        await shop.time.until(lambda: shop.state() == "live", MAX_RETRY_S + 60)
        assert all(shop.there()[each] for each in served)
        assert courier.link.is_up


def _apart(moments: list[float]) -> Iterator[tuple[float, float]]:
    """Those that are not of one moment."""
    return pairwise(dict.fromkeys(moments))


async def test_patience_asked_everywhere_is_a_matter_of_the_link(shop: Shop) -> None:
    async with shop.running(shop.courier(intervals=PullIntervals(changes=2.0))) as courier:
        await shop.time.until(lambda: shop.state() == "live", 60)
        shop.fake.answer = _says(429, Retry_After="5")  # type: ignore[method-assign,assignment]
        courier.full_sync.request_full()
        await shop.time.pass_(120)
        assert shop.missing() == {}
        shop.mend()
        await shop.time.until(lambda: shop.state() == "live", 400)
        assert shop.missing() == {}
