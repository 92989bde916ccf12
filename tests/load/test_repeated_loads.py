"""What a file says is what the service has after its load, whatever came before it, and wherever it was cut off."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aisle.client import Client
from aisle.client.csv_load import LoadError, LoadReport, load
from aisle.client.transport import asgi_transport
from aisle.service.app_options_and_limits import DEFAULT_OPTIONS, ServiceOptions
from aisle.service.open_service_and_admin_token import Service, open_service
from tests.run_length import tries
from tests.service.world import assert_books, prepare

STOCK_HEADER = "store_number,product_number,location_code,stock_pool,quantity"


class Cut(httpx.AsyncBaseTransport):
    """A way to the service that breaks after so many writes; one more may arrive, whose answer does not."""

    def __init__(self, inner: httpx.AsyncBaseTransport, requests: int, *, arrives: bool) -> None:
        self._inner, self._left, self._arrives = inner, requests, arrives

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._left -= request.method != "GET" or self._left < 0
        if self._left >= 0:
            return await self._inner.handle_async_request(request)
        if self._left == -1 and self._arrives:
            await (await self._inner.handle_async_request(request)).aread()
        raise httpx.ReadError("the line is cut")


class NoReference(httpx.AsyncBaseTransport):
    """A way to a service that keeps no reference of what is counted."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = (await request.aread()).replace(b',"reference":"aisle load"', b"")
        headers = {name: text for name, text in request.headers.items() if name != "content-length"}
        return await self._inner.handle_async_request(
            httpx.Request(request.method, request.url, headers=headers, content=body)
        )


class FirstLoad(NamedTuple):
    """Result of the first load of a service: the report, the service's database, and the kept id."""

    report: LoadReport
    database: bytes
    id: bytes | None


_first_loads: dict[tuple[tuple[str, bytes], ...], FirstLoad] = {}
"""By the files: cases of a table begin with the same load. The last few that were used are kept."""


class World:
    """A service, a folder of files, and the loads of it.

    A service over `folder` opens when it is first used.
    """

    def __init__(
        self, folder: Path, token: str, service: Service | None = None, options: ServiceOptions = DEFAULT_OPTIONS
    ) -> None:
        self.folder, self._token, self._service, self._options = folder, token, service, options
        self._files = folder / "files"
        self._files.mkdir()
        self._kept = folder / "load.json"
        self._has_loaded = False
        self.drops_references = False
        self.wrap: Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport] = _unwrapped

    @property
    def service(self) -> Service:
        if self._service is None:
            self._service = open_service(self.folder / "service.db", self._options)
        return self._service

    def close(self) -> None:
        if self._service is not None:
            self._service.close()

    def client(self, cut: tuple[int, bool] | None = None) -> Client:
        inner: Any = asgi_transport(self.service.app)
        inner = self.wrap(NoReference(inner) if self.drops_references else inner)
        transport = Cut(inner, cut[0], arrives=cut[1]) if cut else inner
        return Client("http://localhost", self._token, transport=transport, sleep=_at_once)

    def write(self, name: str, *lines: str) -> None:
        (self._files / name).write_text("\n".join(lines) + "\n")

    def clear(self) -> None:
        """Takes all files away."""
        for path in self._files.iterdir():
            path.unlink()

    async def load(
        self,
        *,
        cut: tuple[int, bool] | None = None,
        recount: bool = False,
        sleep: Callable[[float], Awaitable[None]] | None = None,
    ) -> LoadReport | None:
        """The report of a load, or None of one that was cut off after so many requests."""
        is_plain = (self.drops_references, self.wrap, self._options) == (False, _unwrapped, DEFAULT_OPTIONS)
        is_first, self._has_loaded = not self._has_loaded, True
        if is_first and self._service is None and is_plain and (cut, recount, sleep) == (None, False, None):
            return await self._load_first()
        async with self.client(cut) as client:
            try:
                return await load(self._files, client, recount=recount, id_file=self._kept, sleep=sleep or _at_once)
            except LoadError:
                if cut is None:
                    raise
                return None

    async def _load_first(self) -> LoadReport:
        files = tuple(
            (str(path.relative_to(self._files)), b"/" if path.is_dir() else path.read_bytes())
            for path in sorted(self._files.rglob("*"))
        )
        database = self.folder / "service.db"
        if found := _first_loads.pop(files, None):
            _first_loads[files] = found
            database.write_bytes(found.database)
            if found.id is not None:
                self._kept.write_bytes(found.id)
            return found.report
        async with self.client() as client:
            report = await load(self._files, client, id_file=self._kept, sleep=_at_once)
        kept = self._kept.read_bytes() if self._kept.exists() else None
        _first_loads[files] = FirstLoad(report, _content(database), kept)
        while len(_first_loads) > 8:
            del _first_loads[next(iter(_first_loads))]
        return report

    async def products(self) -> dict[str, tuple[Any, Any]]:
        async with self.client() as client:
            found = (await client.call("list-products", page_size=100))["records"]
        return {one["product_number"]: (one.get("price"), one.get("is_active")) for one in found}

    async def stock(self, product: str) -> float:
        async with self.client() as client:
            [entry] = (await client.call("list-store-products-stock", store_number="1", product_number=product))["list"]
        return float(entry["most_likely_quantity"])

    async def book(self, entry: dict[str, Any], store: str = "1", *, is_count: bool = False) -> None:
        async with self.client() as client:
            body = {"storeproductlog": [entry]}
            await client.call("create-store-product-logs", body, store_number=store, is_counted_quantity=is_count)

    async def count(self, entry: dict[str, Any], store: str = "1") -> None:
        await self.book(entry, store, is_count=True)

    async def lose(self, product: str, quantity: int) -> None:
        await self.book({"product_number": product, "location_code": "A", "stock_pool_1": -quantity})


async def _at_once(_: float) -> None:
    await asyncio.sleep(0)


def _unwrapped(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
    return inner


def _content(database: Path) -> bytes:
    with closing(apsw.Connection(str(database))) as connection:
        return connection.serialize("main")


@cache
def _with_token() -> tuple[bytes, str]:
    """Return an empty database that knows an admin, and the admin's secret."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "service.db"
        prepare(database)
        with closing(open_service(database)) as service:
            token = service.ensure_admin_token(Path(folder) / "token")
            return _content(database), token


@contextmanager
def a_world(folder: Path, options: ServiceOptions = DEFAULT_OPTIONS) -> Iterator[World]:
    content, token = _with_token()
    (folder / "service.db").touch(mode=0o600)
    (folder / "service.db").write_bytes(content)
    with closing(World(folder, token, options=options)) as world:
        yield world


def stocked(world: World, *rows: str) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false")
    world.write("products.csv", "product_number,price", "P,1", "Q,2", "R,3")
    world.write("locations.csv", "store_number,location_code", "1,A", "1,B")
    world.write("stock.csv", STOCK_HEADER, *rows)


# What the last file said


class Step(NamedTuple):
    """A load of these prices and states; it may be cut off after so many requests, and then be begun again or not."""

    catalogue: dict[str, tuple[int, bool]]
    own: dict[str, int]
    cut: tuple[int, bool] | None
    goes_on: bool


_STATES = st.dictionaries(st.sampled_from("PQR"), st.tuples(st.integers(1, 3), st.booleans()), min_size=1)
_PRICES = st.dictionaries(st.sampled_from("PQR"), st.integers(4, 6))
_STEPS = st.builds(Step, _STATES, _PRICES, st.none() | st.tuples(st.integers(0, 3), st.booleans()), st.booleans())


@settings(max_examples=tries(10, 30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_STEPS, min_size=1, max_size=5))
def test_the_service_has_what_the_last_file_said(tmp_path_factory: pytest.TempPathFactory, steps: list[Step]) -> None:
    with a_world(tmp_path_factory.mktemp("loads")) as world:
        asyncio.run(_go_through(world, steps))


async def _go_through(world: World, steps: list[Step]) -> None:
    world.write("products.csv", "product_number,price", "P,9", "Q,9", "R,9")
    await world.load()
    for step in steps:
        rows = (f"{one},{price},{is_active}" for one, (price, is_active) in step.catalogue.items())
        world.write("products.csv", "product_number,price,is_active", *rows)
        world.write("prices.csv", "product_number,price", *(f"{one},{price}" for one, price in step.own.items()))
        report = await world.load(cut=step.cut)
        if report is None:
            if not step.goes_on:
                continue
            report = await world.load()
            assert report is not None
            assert report.resumed
        assert report.is_complete, report.lines()
        found = await world.products()
        for one, (price, is_active) in step.catalogue.items():
            assert found[one] == (step.own.get(one, price), is_active)
        for one, price in step.own.items():
            assert found[one][0] == price


@pytest.mark.parametrize(
    ("name", "header", "first", "second", "field"),
    [
        ("prices.csv", "product_number,price", "P,20", "P,25", "price"),
        ("products.csv", "product_number,is_active", "P,true", "P,false", "is_active"),
        ("products.csv", "product_number,product_name", "P,One", "P,Two", "product_name"),
        ("products.csv", "product_number,barcode", "P,9520001100024", "P,9520001100086", "barcode"),
        ("attributes.csv", "product_number,size", "P,L", "P,M", "size"),
        ("discount_prices.csv", "product_number,discount_price", "P,1", "P,2", "promotion_price"),
        ("free_fields.csv", "product_number,sort_order,key,value", "P,1,k,a", "P,1,k,b", "free_fields"),
    ],
)
async def test_a_value_that_goes_back_is_back(
    name: str, header: str, first: str, second: str, field: str, tmp_path: Path
) -> None:
    with a_world(tmp_path) as world:
        world.write("products.csv", "product_number,product_name", "P,Name")
        await world.load()
        seen = []
        for row in (first, second, first):
            world.write(name, header, row)
            report = await world.load()
            assert report is not None
            assert report.is_complete
            assert "earlier" not in " ".join(report.lines())
            async with world.client() as client:
                [record] = (await client.call("list-products", product_number="P"))["records"]
            seen.append(record.get(field))
        assert seen[0] == seen[2] != seen[1]


@pytest.mark.parametrize(
    ("name", "header", "first", "second"),
    [
        ("stores.csv", "store_number,store_name,is_warehouse", "1,One,false", "1,Two,false"),
        ("locations.csv", "store_number,location_code,location_order", "1,A,1", "1,A,2"),
        ("store_products.csv", "store_number,product_number,min,max", "1,P,1,9", "1,P,2,9"),
    ],
)
async def test_the_same_of_what_a_store_has(name: str, header: str, first: str, second: str, tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        stocked(world, "1,P,A,1,5")
        await world.load()
        seen = []
        for row in (first, second, first):
            world.write(name, header, row)
            report = await world.load()
            assert report is not None
            assert report.is_complete, report.lines()
            async with world.client() as client:
                [store] = (await client.call("list-stores"))["list"]
                places = [
                    place["location_order"] for place in (await client.call("list-locations", store_number="1"))["list"]
                ]
                [entry] = (await client.call("list-store-products-stock", store_number="1", product_number="P"))["list"]
            seen.append((store["storeName"], places, entry.get("min")))
        assert seen[0] == seen[2] != seen[1]


async def test_reload_restores_values_changed_in_between(tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        world.write("products.csv", "product_number,price", "P,20")
        await world.load()
        async with world.client() as client:
            await client.call("create-or-update-products", {"products": [{"product_number": "P", "price": 99}]})
        await world.load()
        assert (await world.products())["P"][0] == 20


# Stock


async def test_a_corrected_row_does_not_count_the_others_again(tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        stocked(world, "1,P,A,1,20", "1,Q,A,1,six", "1,R,A,1,7")
        first = await world.load()
        assert first is not None
        assert [(row.file, row.line) for row in first.bad] == [("stock.csv", 3)]
        await world.lose("P", 6)
        stocked(world, "1,P,A,1,20", "1,Q,A,1,6", "1,R,A,1,7")
        report = await world.load()
        assert report is not None
        assert report.is_complete
        assert report.lines()[-2:] == [
            "stock.csv: 1 of 3 rows loaded, 2 loaded before with the same figure.",
            "stock.csv: the stock of 2 rows (2, 4) was loaded before and is left as it is. To count a product"
            " again, put all its rows in a stock.csv in a folder of its own, and load that folder with --recount.",
        ]
        assert [await world.stock(one) for one in "PQR"] == [14, 6, 7]
        assert_books(world.service)


async def test_a_row_with_another_figure_than_was_loaded_is_named(tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        stocked(world, "1,P,A,1,20", "1,Q,A,1,6")
        await world.load()
        stocked(world, "1,P,A,1,2", "1,Q,A,1,6")
        report = await world.load()
        assert report is not None
        assert report.lines()[-1] == (
            "stock.csv:2: warning: the stock was loaded before with another figure, and is left as it is: "
            "P: 20 then, 2 in the file."
        )
        assert await world.stock("P") == 20
        await world.load(recount=True)
        assert await world.stock("P") == 2


async def test_new_places_pools_and_products_are_counted(tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        stocked(world, "1,P,A,1,20", "1,Q,A,,6", "1,R,,,1")
        await world.load()
        stocked(world, "1,P,A,1,20", "1,P,A,2,3", "1,P,B,1,4", "1,Q,A,,6", "1,R,,,1", "1,R,B,,2")
        report = await world.load()
        assert report is not None
        assert report.files[-1].already_loaded_rows == (2, 5, 6)
        assert [await world.stock(one) for one in "PQR"] == [27, 6, 3]


@pytest.mark.parametrize(
    ("entry", "by"),
    [
        ({"location_code": "A", "counted_quantity": 20, "app_user_name": "U1"}, " by U1"),
        ({"location_code": "A", "counted_quantity": 20, "source": "count"}, ""),
        ({"location_code": "A", "stock_pool_1": 20, "reference": "earlier program"}, " by earlier program"),
        ({"location_code": "A", "stock_pool_2": 20, "reference": "other pool"}, " by other pool"),
    ],
)
async def test_stock_counted_without_reference_is_left_and_named(
    entry: dict[str, Any], by: str, tmp_path: Path
) -> None:
    """As by the loads of earlier programs, which gave no reference: losses since then would come back."""
    with a_world(tmp_path) as world:
        stocked(world)
        await world.load()
        await world.count({"product_number": "P", **entry})
        await world.lose("P", 6)
        assert await world.stock("P") == 14
        stocked(world, "1,P,A,1,20", "1,Q,A,1,5", "1,P,B,1,2")
        for loaded, left in ((2, ()), (0, (3, 4))):
            report = await world.load()
            assert report is not None
            assert report.is_complete
            assert report.files[-1][1:3] == (3, loaded)
            assert report.files[-1].already_loaded_rows == left
            [said] = [line for line in report.lines() if line.startswith("stock.csv:2:")]
            assert said.startswith(
                "stock.csv:2: warning: the stock was counted before, and is left as it is (to count it again, put all"
                " rows of the product in a stock.csv in a folder of its own, and load that with --recount):"
                f" P at A, counted before{by} on "
            )
            assert [await world.stock(one) for one in "PQ"] == [16, 5]
        await world.load(recount=True)
        assert await world.stock("P") == (22 if "stock_pool_2" not in entry else 42)
        assert_books(world.service)


async def test_load_without_kept_references_counts_nothing_twice(tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        stocked(world, *(f"1,{one},A,1,20" for one in "PQR"), *(f"1,{one},B,1,5" for one in "PQR"))
        world.drops_references = True
        await world.load()
        await world.lose("P", 6)
        report = await world.load()
        assert report is not None
        assert report.files[-1].loaded_rows == 0
        assert sum("was counted before" in line for line in report.lines()) == 6
        assert [await world.stock(one) for one in "PQR"] == [19, 25, 25]


async def test_a_recount_counts_what_was_loaded(tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        stocked(world, "1,P,A,1,20")
        await world.load()
        await world.lose("P", 6)
        report = await world.load(recount=True)
        assert report is not None
        assert not report.files[-1].already_loaded_rows
        assert await world.stock("P") == 20


@pytest.mark.parametrize("arrives", [True, False], ids=["arrived", "lost"])
async def test_a_recount_that_was_cut_off_counts_nothing_twice(arrives: bool, tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        stocked(world, "1,P,A,1,20")
        await world.load()
        assert await world.load(cut=(3, arrives), recount=True) is None
        await world.lose("P", 6)
        report = await world.load(recount=True)
        assert report is not None
        assert report.resumed
        assert report.lines()[0].startswith(
            "The last recount of these files was cut off; this one goes on: what it had counted is not counted again"
        )
        assert await world.stock("P") == (14 if arrives else 20)
        again = await world.load(recount=True)
        assert again is not None
        assert not again.resumed
        assert await world.stock("P") == 20


@pytest.mark.parametrize("requests", range(6))
@pytest.mark.parametrize("arrives", [True, False], ids=["arrived", "lost"])
async def test_a_first_load_that_was_cut_off_anywhere_is_finished(requests: int, arrives: bool, tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        stocked(world, "1,P,A,1,20", "1,Q,A,1,6")
        world.write(
            "orders.csv", "store_number,order_number,line_number,product_number,quantity", "1,O,1,P,2", "1,O,2,Q,1"
        )
        cut = await world.load(cut=(requests, arrives))
        assert (cut is None) == (requests < 5)
        report = await world.load()
        assert report is not None
        assert report.is_complete
        assert report.resumed == (cut is None)
        assert [await world.stock(one) for one in "PQ"] == [20, 6]
        async with world.client() as client:
            assert [
                order["order_number"] for order in (await client.call("list-customer-orders", store_number="1"))["list"]
            ] == ["O"]
        assert_books(world.service)


async def test_other_files_are_another_load(tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        stocked(world, "1,P,A,1,20")
        assert await world.load(cut=(1, True)) is None
        world.write("products.csv", "product_number,price", "P,7")
        report = await world.load()
        assert report is not None
        assert not report.resumed
        assert (await world.products())["P"][0] == 7


async def test_two_loads_of_a_folder_do_not_run_at_the_same_time(world: World) -> None:
    stocked(world, "1,P,A,1,20")
    seen: list[str] = []

    async def begin_another(_: float) -> None:
        with pytest.raises(LoadError) as raised:
            await world.load()
        seen.append(str(raised.value))

    assert await world.load(cut=(1, True), sleep=begin_another) is None
    assert set(seen) == {"Another load of this folder is running. Wait for its end, then load again."}
    report = await world.load()
    assert report is not None
    assert report.resumed
