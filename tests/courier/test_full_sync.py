"""The full sync: every row once, in pages, resumed where it stopped."""

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from aisle.cache.writer import CacheWriter
from aisle.client.responses_and_errors import InvalidResponse, NotSent
from aisle.courier.courier import Courier
from aisle.courier.pull.full_sync_stages_and_progress import SyncProgress, paged_stage
from aisle.errors import StorageError
from aisle.host.database import fetch, transaction
from aisle.outbox.operation_record import DUPLICATE_KEY, UnusableRows
from aisle.outbox.requests_and_token_holders import request_read
from tests.courier.fake_service import OWN, Fake, Fault, lost_before, name_of, says
from tests.courier.host import Host, quiet
from tests.courier.writes import movement


async def once(host: Host, **options: Any) -> Courier:
    """One courier that brings the cache up to date and leaves."""
    async with host.courier() as courier:
        await courier.sync_once(**options)
    return courier


async def test_everything_is_there_afterwards(host: Host) -> None:
    courier = await once(host)
    assert host.numbers() == ["O1", "O2", "O3", "O4", "O5"]
    assert host.line("O1", 2)["product_number"] == "P2"
    assert host.quantity("P7") == 10
    assert host.reads.query("people", {})[0][0]["name"] == "Anna"
    assert host.reads.query("store", {"store_number": "0002"})[0][0]["store_name"] == "There"
    assert not courier.operator_notices.recent
    assert courier.full_sync.progress.completed == host.time.now


async def test_sync_reads_urgent_lists_first(host: Host) -> None:
    await once(host)
    wanted = ["list-stores", "people", "list-customer-orders", "list-locations", "list-store-products-stock"]
    began = [names_of(host.fake).index(name) for name in wanted]
    assert began[1:] == sorted(began[1:])
    orders = [query for name, query in asked(host.fake) if name == "list-customer-orders" and "page_size" in query]
    lines = [query.get("show_lines") for query in orders if query["page_size"] != "1"]
    assert lines == [None, "true"]


def asked(fake: Fake) -> list[tuple[str, dict[str, str]]]:
    """The lists that were asked for, with their queries."""
    return [(name_of(request), dict(request.url.params)) for request in fake.requests]


def names_of(fake: Fake) -> list[str]:
    """The lists that were asked for, without those that were only counted."""
    return [name for name, query in asked(fake) if query.get("page_size") != "1"]


async def test_progress_counts_to_its_end(host: Host) -> None:
    seen: list[SyncProgress] = []
    await once(host, progress=seen.append)
    counted = [(progress.done, progress.total) for progress in seen if progress.total]
    assert counted[-1] == (5 + 5 + 3 + 7 + 7, 5 + 5 + 3 + 7 + 7)
    assert counted == sorted(counted)


@pytest.mark.parametrize(
    "commit", [pytest.param(n, marks=pytest.mark.drawn if n in (3, 27) else ()) for n in range(1, 34, 2)]
)
async def test_a_commit_that_fails_costs_no_page(host: Host, commit: int, monkeypatch: Any) -> None:
    await once(host)
    monkeypatch.setattr("aisle.courier.pull.full_sync.paged_stage", small_pages)
    left = commit

    @contextmanager
    def failing(connection: apsw.Connection) -> Iterator[None]:
        nonlocal left
        with transaction(connection):
            yield
            left -= 1
            if not left:
                raise StorageError("the disk is full")

    async with host.courier() as courier:
        await courier.single_reads.service_check.run()
        courier.full_sync.request_full()
        monkeypatch.setattr("aisle.cache.writer.transaction", failing)
        with pytest.raises(StorageError):
            await courier.full_sync.run_to_end()
        await courier.full_sync.run_to_end()
        tables = ("product", "stock", "location", "orders", "line")
        counted = [fetch(courier.cache._db, f"SELECT count(*) FROM {table}")[0][0] for table in tables]
    assert counted == [7, 7, 3, 5, 10]


@pytest.mark.parametrize("page", range(1, 15))
async def test_a_crash_between_any_two_pages_costs_no_page(host: Host, page: int, monkeypatch: Any) -> None:
    monkeypatch.setattr("aisle.courier.pull.full_sync.paged_stage", small_pages)
    host.fake.down = after_pages(page)
    with pytest.raises(NotSent):
        await once(host)
    before = pages_of(host.fake)
    assert len(before) == page + 1
    host.fake.down = None
    host.fake.requests.clear()
    await once(host)
    assert [query for query in pages_of(host.fake) if query in before] == before[-1:]
    assert host.numbers() == ["O1", "O2", "O3", "O4", "O5"]
    assert all(host.knows(f"P{n}") for n in range(1, 8))
    assert host.line("O5", 2)["product_number"] == "P2"


def pages_of(fake: Fake) -> list[tuple[str, dict[str, str]]]:
    """The pages of two rows that were asked for."""
    return [(name, query) for name, query in asked(fake) if query.get("page_size") == "2"]


def after_pages(count: int) -> Fault:
    """The service is gone after so many pages of two rows."""

    def fault(fake: Fake, request: httpx.Request) -> httpx.Response:
        if len(pages_of(fake)) > count:
            raise httpx.ConnectError("gone", request=request)
        return fake.answer(request)

    return fault


def small_pages(stage: str) -> Any:
    """The stages with two rows a page."""
    whole = paged_stage(stage)
    return whole._replace(query={**whole.query, "page_size": 2})


async def test_memory_holds_one_page(host: Host, monkeypatch: Any) -> None:
    host.fake.add_products(f"Q{n}" for n in range(60))
    monkeypatch.setattr("aisle.courier.pull.full_sync.paged_stage", small_pages)
    async with host.courier() as courier:
        most = 0
        put = courier.cache.write_stock

        def watched(rows: Any, *more: Any) -> Any:
            nonlocal most
            most = max(most, len(rows))
            return put(rows, *more)

        monkeypatch.setattr(courier.cache, "write_stock", watched)
        await courier.sync_once()
    assert most == 2
    assert host.knows("Q59")


@pytest.mark.parametrize("fails", [False, True])
async def test_garbage_collector_is_off_while_a_page_is_written(host: Host, monkeypatch: Any, fails: bool) -> None:
    seen: list[bool] = []
    real = CacheWriter.write_stock

    def noted(cache: CacheWriter, *args: Any) -> Any:
        seen.append(gc.isenabled())
        if fails:
            raise StorageError("full")
        return real(cache, *args)

    monkeypatch.setattr(CacheWriter, "write_stock", noted)
    with suppress(StorageError):
        await once(host, full=True)
    assert seen
    assert not any(seen)
    assert gc.isenabled()


async def test_removed_rows_leave_after_complete_pass(host: Host) -> None:
    await once(host)
    del host.fake.stock["P7"], host.fake.products["P7"], host.fake.locations["B-1"]
    host.fake.orders["O5"]["is_active"] = False
    await once(host, full=True)
    assert not host.knows("P7")
    assert host.numbers() == ["O1", "O2", "O3", "O4"]
    assert host.knows("P6")


async def test_an_order_that_a_list_left_out_is_asked_for_before_it_is_dropped(host: Host, monkeypatch: Any) -> None:
    await once(host)
    real = host.fake._list_customer_orders

    def without_o3(request: httpx.Request) -> tuple[int, Any]:
        status, body = real(request)
        if "order_number" not in request.url.params:
            body["list"] = [row for row in body["list"] if row["order_number"] != "O3"]
        return status, body

    monkeypatch.setattr(host.fake, "_list_customer_orders", without_o3)
    await once(host, full=True)
    assert "O3" in host.numbers()


@pytest.mark.parametrize("status", [403, 404, 500, 503])
async def test_an_order_that_cannot_be_asked_for_stays_and_keeps_no_other(
    host: Host, monkeypatch: Any, status: int
) -> None:
    await once(host, full=True)
    del host.fake.orders["O2"], host.fake.orders["O3"]
    real = host.fake.answer

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("order_number") == "O2":
            return httpx.Response(status, json={"success": False}, headers=host.fake.headers)
        return real(request)

    monkeypatch.setattr(host.fake, "answer", answer)
    courier = await once(host, full=True)
    assert "O2" in host.numbers()
    assert "O3" not in host.numbers()
    assert courier.full_sync.progress.missing == ()


async def test_a_list_that_shrinks_on_the_way_is_walked_again(host: Host, monkeypatch: Any) -> None:
    monkeypatch.setattr("aisle.courier.pull.full_sync.paged_stage", small_pages)
    real = host.fake._list_customer_orders
    shrunk: list[str] = []

    def shrinking(request: httpx.Request) -> tuple[int, Any]:
        params = request.url.params
        if not shrunk and params.get("page_start") == "2" and "show_lines" not in params:
            shrunk.append(host.fake.orders.pop("O1")["order_number"])
        return real(request)

    monkeypatch.setattr(host.fake, "_list_customer_orders", shrinking)
    courier = await once(host)
    assert host.numbers() == ["O2", "O3", "O4", "O5"]
    assert not courier.operator_notices.recent


async def test_a_row_that_one_walk_alone_shows_twice_is_not_told(host: Host, monkeypatch: Any) -> None:
    """One order comes and another goes while the list is read: an order slips to the next page, none is there twice."""
    monkeypatch.setattr("aisle.courier.pull.full_sync.paged_stage", small_pages)
    real = host.fake._list_customer_orders
    shifted: list[str] = []

    def shifting(request: httpx.Request) -> tuple[int, Any]:
        params = request.url.params
        if not shifted and params.get("page_start") == "2" and "show_lines" not in params:
            shifted.append(host.fake.orders.pop("O5")["order_number"])
            before = {"O0": {**host.fake.orders["O1"], "order_number": "O0", "id": 900}}
            host.fake.orders = before | host.fake.orders
        return real(request)

    monkeypatch.setattr(host.fake, "_list_customer_orders", shifting)
    courier = await once(host)
    assert shifted
    assert host.numbers() == ["O0", "O1", "O2", "O3", "O4"]
    assert courier.full_sync.progress.left_out == ()
    assert not courier.operator_notices.recent


async def test_rows_that_stay_there_twice_are_told_and_cost_one_further_walk(host: Host, monkeypatch: Any) -> None:
    monkeypatch.setattr("aisle.courier.pull.full_sync.paged_stage", small_pages)
    host.fake.locations["again"] = {**host.fake.locations["A-1"], "id": 901}

    async def walked() -> int:
        host.fake.requests.clear()
        courier = await once(host, full=True)
        assert courier.full_sync.progress.left_out == (UnusableRows("locations", 1, DUPLICATE_KEY),)
        return names_of(host.fake).count("list-locations")

    once_and_again, later = await walked(), await walked()
    assert later < once_and_again
    host.fake.locations["more"] = {**host.fake.locations["A-1"], "id": 902}
    courier = await once(host, full=True)
    assert courier.full_sync.progress.left_out == (UnusableRows("locations", 2, DUPLICATE_KEY),)
    del host.fake.locations["again"], host.fake.locations["more"]
    assert (await once(host, full=True)).full_sync.progress.left_out == ()


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("kept", "key", "field", "name"),
    [
        ("products", "P4", "product_number", "products"),
        ("stock", "P3", "product_number", "stock"),
        ("locations", "A-1", "location_code", "locations"),
        ("orders", "O2", "order_number", "orders"),
    ],
)
async def test_rows_that_could_not_be_used_are_read_again_once_they_are_right(
    kept: str, key: str, field: str, name: str, host: Host
) -> None:
    row = getattr(host.fake, kept)[key]
    right = row[field]
    row[field] = None
    assert (await once(host)).full_sync.progress.left_out
    row[field] = right
    courier = await once(host)
    assert courier.full_sync.progress.left_out == ()
    found: dict[str, Callable[[], Any]] = {
        "products": lambda: host.reads.query("product", {"product_number": "P4"})[0],
        "stock": lambda: host.quantity("P3") == 10,
        "locations": lambda: [one for one in host.reads.query("locations", {})[0] if one["location_code"] == "A-1"],
        "orders": lambda: "O2" in host.numbers(),
    }
    assert found[name]()


async def test_a_bad_row_costs_itself_alone(host: Host) -> None:
    host.fake.stock["P3"]["most_likely_quantity"] = "many"
    host.fake.products["P4"]["product_number"] = None
    courier = await once(host)
    assert host.knows("P1")
    assert host.knows("P7")
    assert len(courier.operator_notices.recent) == 2
    assert "most_likely_quantity is no number" in courier.operator_notices.recent[1].text
    assert courier.full_sync.progress.is_idle


def break_a_page(host: Host, monkeypatch: Any) -> None:
    """The second page of the catalogue is no JSON."""
    monkeypatch.setattr("aisle.courier.pull.full_sync.paged_stage", small_pages)
    real = host.fake.answer

    def broken(request: httpx.Request) -> httpx.Response:
        params = request.url.params
        if "page_number" in params and params["page_number"] == "2" and params["page_size"] == "2":
            return httpx.Response(200, content=b'{"records": [{', headers=host.fake.headers)
        return real(request)

    monkeypatch.setattr(host.fake, "answer", broken)


async def test_a_page_that_cannot_be_read_costs_that_page(host: Host, monkeypatch: Any) -> None:
    break_a_page(host, monkeypatch)
    courier = await once(host)
    known = [n for n in range(1, 8) if host.reads.query("product", {"product_number": f"P{n}"})[0][0]["product_name"]]
    assert known == [1, 2, 5, 6, 7]
    assert [notice.text for notice in courier.operator_notices.recent if "Page 2 of list-products" in notice.text]
    assert courier.full_sync.progress.missing == ("products",)
    assert courier.full_sync.progress.is_idle


async def test_seen_rows_of_unfinished_passes_are_kept_once(host: Host, monkeypatch: Any) -> None:
    break_a_page(host, monkeypatch)
    met = []
    for _ in range(3):
        await once(host, full=True)
        assert host.knows("P1")
        met.append(fetch(host.reads._cache, "SELECT count(*) FROM seen_key")[0][0])
    assert 0 < met[0] == met[1] == met[2]


async def test_a_list_that_is_not_to_be_had_is_done_without(host: Host) -> None:
    host.fake.fail("list-locations", *[says(404)] * 9)
    courier = await once(host)
    assert host.knows("P7")
    assert any("goes on without locations" in notice.text for notice in courier.operator_notices.recent)
    assert courier.full_sync.progress.missing == ("locations",)
    courier = await once(host, full=True)
    assert courier.full_sync.progress.missing == ("locations",)
    host.fake.faults.clear()
    courier = await once(host, full=True)
    assert courier.full_sync.progress.missing == ()


async def test_stock_without_ids_is_read_by_page(host: Host, monkeypatch: Any) -> None:
    monkeypatch.setattr("aisle.courier.pull.full_sync.paged_stage", small_pages)
    for row in host.fake.stock.values():
        row["id"] = 5
    courier = await once(host)
    assert all(host.quantity(f"P{n}") == 10 for n in range(1, 8))
    assert any("is read by page" in notice.text for notice in courier.operator_notices.recent)


async def test_a_slow_page_does_not_bring_old_rows_back(host: Host, monkeypatch: Any) -> None:
    await once(host)
    real = host.fake.answer
    page_read, go_on = asyncio.Event(), asyncio.Event()
    handle = host.fake._handle

    async def slow(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/storeproducts/stock") and "product_number" not in request.url.params:
            answer = real(request)
            page_read.set()
            await go_on.wait()
            return answer
        return await handle(request)

    monkeypatch.setattr(host.fake, "_handle", slow)
    async with host.courier() as courier:
        await courier.single_reads.service_check.run()
        courier.full_sync.request_stages(["stock"])
        walking = asyncio.create_task(courier.full_sync.run_to_end())
        await page_read.wait()
        host.fake.stock["P1"]["most_likely_quantity"] = 4
        await courier.single_reads.read_product("P1")
        assert host.quantity("P1") == 4
        go_on.set()
        await walking
    assert host.quantity("P1") == 4
    assert host.knows("P7"), "what a younger read brought still counts as seen"
    assert host.knows("P1")


async def test_without_a_service_it_says_so_and_keeps_what_it_has(host: Host) -> None:
    await once(host)
    host.fake.down = lost_before
    with pytest.raises(NotSent):
        await once(host)
    assert host.numbers() == ["O1", "O2", "O3", "O4", "O5"]


async def test_a_second_look_reads_what_changed_and_the_list_of_orders(host: Host) -> None:
    await once(host)
    host.fake.orders["O2"]["lines"][0]["picked_quantity"] = 2
    host.fake.touch("order", "O2")
    host.fake.requests.clear()
    await once(host)
    assert host.line("O2")["picked_quantity"] == 2
    orders = [
        query for name, query in asked(host.fake) if name == "list-customer-orders" and query.get("page_size") != "1"
    ]
    assert sorted(query.get("order_number", "") for query in orders) == ["", "O2"]
    assert [query for query in orders if "show_lines" in query] == [
        query for query in orders if "order_number" in query
    ]
    assert "list-products" not in names_of(host.fake)


async def test_the_document_alone_is_enough(host: Host) -> None:
    host.fake.features = ""
    courier = await once(host)
    assert host.numbers() == ["O1", "O2", "O3", "O4", "O5"]
    assert host.knows("P7")
    assert not courier.operator_notices.recent
    assert host.fake.calls["changes"] == 0
    assert host.fake.calls["people"] == 0


async def test_the_progress_of_another_program_is_begun_anew(host: Host) -> None:
    async with host.courier() as courier:
        courier.cache.set_cursor("full", {"todo": ["stock"], "somewhere": 3})
    courier = await once(host)
    assert courier.full_sync.progress.completed
    assert host.knows("P7")


@pytest.mark.parametrize("features", [OWN, ""], ids=["own", "document"])
async def test_rubbish_is_no_list_and_takes_no_order_away(host: Host, features: str) -> None:
    host.fake.features = features
    await once(host)
    rubbish = {"list": None, "total_count": "many", "next_page": "1"}
    announced: Any = {"Aisle-Features": features} if features else {}
    host.fake.down = says(200, body=rubbish, **announced)
    async with host.courier() as courier:
        await courier.sync_once()
        with pytest.raises(InvalidResponse, match="is no page"):
            await courier.single_reads.read_order("O1")
        assert "headers" in courier.full_sync.progress.missing
    assert host.numbers() == ["O1", "O2", "O3", "O4", "O5"]
    host.fake.down = None
    courier = await once(host)
    assert not courier.full_sync.progress.missing, "what could not be read was not asked for again"


@pytest.mark.parametrize("features", [OWN, ""], ids=["own", "document"])
async def test_an_order_that_got_lost_here_comes_back_with_the_list(host: Host, features: str) -> None:
    host.fake.features = features
    await once(host)
    async with host.courier() as courier:
        courier.cache.delete_absent_orders(["O2"], read_began=9)
    assert host.numbers() == ["O1", "O3", "O4", "O5"]
    await once(host)
    assert host.numbers() == ["O1", "O2", "O3", "O4", "O5"]
    assert host.line("O2")["product_number"] == "P1", "it came back without its lines"


async def test_unread_lines_of_order_are_requested_again(host: Host) -> None:
    await once(host)
    async with host.courier() as courier:
        courier.cache.delete_absent_orders(["O2"], read_began=9)
        courier.single_reads.cache_update.put_orders(
            [{**host.fake.orders["O2"], "lines": None}], host.time.now, with_lines=False
        )
    assert not host.line("O2")
    await once(host)
    assert host.line("O2")["product_number"] == "P1"


async def test_unusable_change_feed_is_reported_as_missing_part(host: Host) -> None:
    await once(host)
    host.fake.fail("changes", *[says(200, body={"changes": []})] * 20)
    async with host.courier() as courier:
        await courier.sync_once()
        assert courier.link.state == "partial"
        assert courier.full_sync.progress.missing == ("changes",)
        host.fake.faults.clear()
        host.time.now += 10
        await courier.sync_once()
        assert courier.link.state == "live"
    assert not courier.full_sync.progress.missing


async def test_a_store_is_read_though_its_change_feed_makes_no_sense(host: Host) -> None:
    host.fake.fail("changes", *[says(200, body={})] * 20)
    courier = await once(host)
    assert host.numbers() == ["O1", "O2", "O3", "O4", "O5"]
    assert courier.full_sync.progress.missing == ("changes",)


# A stock read during a write is never counted twice and never lost


@pytest.fixture
def shelf_host(aisle_home: Path) -> Iterator[Host]:
    """A host whose service has ten of P1 at A-1."""
    with closing(Host(aisle_home)) as host:
        host.fake.add_products(["P1"])
        host.fake.add_locations("A-1", "B-1")
        yield host


def lying(shelf_host: Host) -> dict[str, Any]:
    """What a session sees of P1 at each place."""
    rows, _ = shelf_host.reads.query("product", {"product_number": "P1"})
    return {place["location_code"]: int(place["quantity"]) for row in rows for place in row["locations"]}


async def test_a_shelf_never_shows_goods_that_came_back_twice(shelf_host: Host) -> None:
    """A move is taken back while its read-back is due: what is read between has both, or is not taken for an answer."""
    seen = []
    async with shelf_host.running(shelf_host.courier(intervals=quiet())) as courier:
        await shelf_host.time.until(lambda: shelf_host.knows("P1"))
        (there,) = shelf_host.desk.write(movement("P1", 3, "A-1", "B-1"))
        courier.push_loop.wake_event.set()
        await shelf_host.time.until(lambda: shelf_host.desk.is_read_back(there))
        assert lying(shelf_host) == {"A-1": 7, "B-1": 3}
        shelf_host.fake.hold = asyncio.Event()
        (back,) = shelf_host.desk.write(movement("P1", 3, "B-1", "A-1"))
        courier.push_loop.wake_event.set()
        await shelf_host.time.until(lambda: len(shelf_host.fake.applied) == 2)
        calls = shelf_host.fake.calls["list-store-products-stock"]
        request_read(shelf_host.desk.db, "product", "P1", shelf_host.time.now)
        courier.continuous_sync.wake_event.set()
        await shelf_host.time.until(lambda: shelf_host.fake.calls["list-store-products-stock"] > calls)
        await shelf_host.time.pass_(3)
        seen.append(lying(shelf_host))
        shelf_host.fake.hold.set()
        await shelf_host.time.until(lambda: shelf_host.desk.state(back) == "done")
        seen.append(lying(shelf_host))
        await shelf_host.time.until(lambda: shelf_host.desk.is_read_back(back))
        seen.append(lying(shelf_host))
    assert seen == [{"A-1": 10, "B-1": 0}] * 3


async def test_data_read_during_write_is_read_again_after_failure(shelf_host: Host) -> None:
    shelf_host.fake.gate = asyncio.Event()
    async with shelf_host.running(shelf_host.courier(intervals=quiet())) as courier:
        await shelf_host.time.until(lambda: shelf_host.knows("P1"))
        shelf_host.desk.write(movement("P1", 3, "A-1", "B-1"))
        courier.push_loop.wake_event.set()
        await shelf_host.time.until(lambda: shelf_host.fake.waiting)
        shelf_host.fake.stock["P1"]["most_likely_quantity"] = 12
        request_read(shelf_host.desk.db, "product", "P1", shelf_host.time.now)
        courier.continuous_sync.wake_event.set()
        await shelf_host.time.pass_(2)
        assert shelf_host.quantity("P1") == 10
        shelf_host.fake.fail("create-movement", says(409, body={"success": False, "message": "No."}))
        shelf_host.fake.gate.set()
        await shelf_host.time.until(lambda: shelf_host.quantity("P1") == 12)


async def test_read_begun_after_confirmation_removes_overlay_effect(shelf_host: Host) -> None:
    """The order's half of it is still to be read back: the shelf shows the goods once all the same."""
    async with shelf_host.courier(intervals=quiet()) as courier:
        await courier.sync_once()
        (op_id,) = shelf_host.desk.write(movement("P1", 3, "A-1", "B-1"))
        await courier.push_loop.push_all()
        assert shelf_host.desk.state(op_id) == "done"
        assert not shelf_host.desk.is_read_back(op_id)
        assert lying(shelf_host) == {"A-1": 7, "B-1": 3}
        shelf_host.time.now += 1
        await courier.single_reads.read_product("P1")
        assert not shelf_host.desk.is_read_back(op_id)
        assert lying(shelf_host) == {"A-1": 7, "B-1": 3}
