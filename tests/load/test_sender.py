"""Sending a load: batches, keys that make a repeat harmless, and bad rows found by halving."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from aisle.client.client import Client
from aisle.client.csv_load import LoadError, LoadProgress, LoadReport, load
from aisle.client.csv_load.file_layouts_and_columns import LOCATIONS_PATH, ORDERS
from aisle.client.csv_load.sender import MAX_TRIES


class FakeService:
    """Keeps what it is sent; refuses whole requests that name an unknown product or store, as a service would.

    Answers come from `trouble` first, as long as there are any. What was answered under a key, yes or no, is answered
    again, and says so.
    """

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.kept: dict[str, list[dict[str, Any]]] = {}
        self.answers: dict[str, httpx.Response] = {}
        self.products: set[str] = set()
        self.counted: list[tuple[str, dict[str, Any]]] = []
        self.unknown_stores: set[str] = set()
        self.trouble: list[httpx.Response | Exception] = []

    @property
    def writes(self) -> list[httpx.Request]:
        """The requests that were to change something."""
        return [request for request in self.requests if request.method != "GET"]

    def client(self) -> Client:
        return Client("https://service.test", "token", transport=httpx.MockTransport(self.answer))

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET" and not request.url.path.endswith("/storeproductlogs"):
            return httpx.Response(200, json={"list": [], "records": [], "people": []})  # nobody has a key yet
        self.requests.append(request)
        if self.trouble:
            trouble = self.trouble.pop(0)
            if isinstance(trouble, Exception):
                raise trouble
            return trouble
        if request.method == "GET":
            store = request.url.params["store_number"]
            entries = [entry for at, entry in self.counted if at == store]
            return httpx.Response(200, json=json.loads(json.dumps({"list": entries}, default=float)))
        path = unquote(request.url.raw_path.decode().partition("?")[0])
        for store in self.unknown_stores:
            if f"/stores/{store}/" in path:
                return refusal(403, f"no store {store}")
        key = request.headers["Idempotency-Key"]
        if key in self.answers:
            kept = self.answers[key]
            replayed = {"Idempotency-Replayed": "true"}
            return httpx.Response(kept.status_code, content=kept.content, headers=replayed)
        self.answers[key] = self.carried_out(request.content, path.split("/")[5] if "/stores/" in path else "")
        return self.answers[key]

    def carried_out(self, content: bytes, store: str) -> httpx.Response:
        ((name, items),) = json.loads(content, parse_float=Decimal).items()
        for item in items:
            for line in [item, *item.get("order_lines", [])]:
                if name != "products" and line.get("product_number", "P") not in self.products | {"P"}:
                    return refusal(422, f"unknown product {line['product_number']}")
        self.kept.setdefault(name, []).extend(items)
        self.counted += [(store, item) for item in items if name == "storeproductlog"]
        self.products |= {item["product_number"] for item in items if name == "products"}
        return httpx.Response(200, json={"success": True})


def refusal(status: int, message: str) -> httpx.Response:
    return httpx.Response(status, json={"success": False, "message": message})


class Naps:
    """A sleep that only remembers for how long."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def naps() -> Naps:
    return Naps()


def write_shop(folder: Path, orders: int = 3) -> None:
    (folder / "stores.csv").write_text("store_number,store_name,is_warehouse\n1,One,false\n")
    (folder / "products.csv").write_text("product_number,price\nP1,1.10\nP2,2\n")
    (folder / "locations.csv").write_text("store_number,location_code,location_order\n1,A,10\n")
    (folder / "stock.csv").write_text(
        "store_number,product_number,location_code,stock_pool,quantity\n1,P1,A,1,5\n1,P1,A,2,6\n1,P2,A,1,7\n"
    )
    rows = [f"1,O{order},{line},P{line},1" for order in range(orders) for line in (1, 2)]
    header = "store_number,order_number,line_number,product_number,quantity"
    (folder / "orders.csv").write_text("\n".join([header, *rows]) + "\n")


def keep_only(folder: Path, name: str) -> None:
    for path in folder.glob("*.csv"):
        if path.name != name:
            path.unlink()


async def run(folder: Path, service: FakeService, naps: Naps, *, strict: bool = False) -> LoadReport:
    async with service.client() as client:
        return await load(folder, client, strict=strict, sleep=naps)


async def test_everything_goes_where_the_interface_says(tmp_path: Path, service: FakeService, naps: Naps) -> None:
    write_shop(tmp_path)
    report = await run(tmp_path, service, naps)
    assert report.is_complete
    assert [(file.file, file.rows, file.loaded_rows, file.records) for file in report.files] == [
        ("stores.csv", 1, 1, 1),
        ("products.csv", 2, 2, 2),
        ("locations.csv", 1, 1, 1),
        ("stock.csv", 3, 3, 2),
        ("orders.csv", 6, 6, 3),
    ]
    paths = [request.url.raw_path.decode() for request in service.writes]
    assert paths == [
        "/api/v2/public/stores",
        "/api/v2/public/products",
        LOCATIONS_PATH,
        "/api/v2/public/stores/1/products/stock/storeproductlogs?is_counted_quantity=true",
        "/api/v2/public/stores/1/orders/customerorders",
    ]
    assert service.kept["products"] == [
        {"product_number": "P1", "price": Decimal("1.10")},
        {"product_number": "P2", "price": 2},
    ]
    assert service.kept["storeproductlog"][0] == {
        "product_number": "P1",
        "location_code": "A",
        "stock_pool_1": 5,
        "stock_pool_2": 6,
        "reference": "aisle load",
    }
    assert [order["order_number"] for order in service.kept["orders"]] == ["O0", "O1", "O2"]
    assert "flush" not in "".join(paths)


async def test_a_repeated_load_says_everything_again_and_counts_nothing_twice(
    tmp_path: Path, service: FakeService, naps: Naps
) -> None:
    write_shop(tmp_path)
    await run(tmp_path, service, naps)
    counts = list(service.kept["storeproductlog"])
    report = await run(tmp_path, service, naps)
    assert report.is_complete
    assert [(file.rows, file.loaded_rows, file.already_loaded_rows) for file in report.files] == [
        (1, 1, ()),
        (2, 2, ()),
        (1, 1, ()),
        (3, 0, (2, 3, 4)),
        (6, 6, ()),
    ]
    assert service.kept["storeproductlog"] == counts
    assert [len(service.kept[name]) for name in ("stores", "products", "locations", "orders")] == [2, 4, 2, 6]
    keys = [request.headers["Idempotency-Key"] for request in service.writes]
    assert len(set(keys)) == len(keys) == 9


async def test_stock_is_counted_again_when_that_is_asked_for(tmp_path: Path, service: FakeService, naps: Naps) -> None:
    write_shop(tmp_path)
    await run(tmp_path, service, naps)
    async with service.client() as client:
        report = await load(tmp_path, client, recount=True, sleep=naps)
    assert report.is_complete
    assert [file.already_loaded_rows for file in report.files] == [()] * 5
    assert len(service.kept["storeproductlog"]) == 4


async def test_a_refused_batch_is_halved_until_the_bad_rows_are_found(
    tmp_path: Path, service: FakeService, naps: Naps
) -> None:
    write_shop(tmp_path, orders=40)
    text = (tmp_path / "orders.csv").read_text().replace("O7,2,P2", "O7,2,GONE").replace("O31,1,P1", "O31,1,LOST")
    (tmp_path / "orders.csv").write_text(text)
    report = await run(tmp_path, service, naps)
    assert [str(row) for row in report.bad] == [
        "orders.csv:16: the service refused order O7 with its 2 rows: unknown product GONE.",
        "orders.csv:64: the service refused order O31 with its 2 rows: unknown product LOST.",
    ]
    assert len(service.kept["orders"]) == 38
    assert report.files[-1].rows == 80
    assert report.files[-1].loaded_rows == 76
    assert len(service.requests) < 4 + 2 * 2 * 7


async def test_refused_row_loads_after_other_file_is_fixed(tmp_path: Path, service: FakeService, naps: Naps) -> None:
    write_shop(tmp_path)
    products = tmp_path / "products.csv"
    products.rename(tmp_path / "kept-away")
    report = await run(tmp_path, service, naps)
    assert len(report.bad) == 5
    (tmp_path / "kept-away").rename(products)
    report = await run(tmp_path, service, naps)
    assert report.is_complete
    assert [order["order_number"] for order in service.kept["orders"]] == ["O0", "O1", "O2"]
    assert len(service.kept["storeproductlog"]) == 2


async def test_row_with_expired_answer_counts_as_loaded(tmp_path: Path, service: FakeService, naps: Naps) -> None:
    write_shop(tmp_path)
    fields = [{"field": "Idempotency-Key", "message": "This was carried out before."}]
    service.trouble = [httpx.Response(409, json={"success": False, "message": "long ago", "errors": fields})]
    report = await run(tmp_path, service, naps)
    assert report.is_complete
    assert "stores" not in service.kept


async def test_bad_rows_of_the_reader_do_not_keep_the_good_ones_back(
    tmp_path: Path, service: FakeService, naps: Naps
) -> None:
    write_shop(tmp_path)
    (tmp_path / "products.csv").write_text("product_number,price\nP1,1.10\nP3,cheap\nP2,2\n")
    report = await run(tmp_path, service, naps)
    assert [(row.file, row.line) for row in report.bad] == [("products.csv", 3)]
    assert [item["product_number"] for item in service.kept["products"]] == ["P1", "P2"]
    assert len(service.kept["orders"]) == 3


async def test_strict_stops_at_the_first_bad_row(tmp_path: Path, service: FakeService, naps: Naps) -> None:
    write_shop(tmp_path)
    (tmp_path / "locations.csv").write_text("store_number,location_code,location_order\n1,A,x\n1,B,y\n")
    report = await run(tmp_path, service, naps, strict=True)
    assert report.stopped
    assert [(row.file, row.line) for row in report.bad] == [("locations.csv", 2)]
    assert set(service.kept) == {"stores", "products"}


async def test_strict_stops_at_the_first_refused_row(tmp_path: Path, service: FakeService, naps: Naps) -> None:
    write_shop(tmp_path, orders=9)
    text = (tmp_path / "orders.csv").read_text()
    (tmp_path / "orders.csv").write_text(text.replace("O3,2,P2", "O3,2,GONE").replace("O6,2,P2", "O6,2,LOST"))
    report = await run(tmp_path, service, naps, strict=True)
    assert [row.line for row in report.bad] == [8]
    assert {order["order_number"] for order in service.kept["orders"]} <= {"O0", "O1", "O2"}


async def test_a_store_that_is_closed_to_the_token_is_asked_once(
    tmp_path: Path, service: FakeService, naps: Naps
) -> None:
    service.products |= {"P0", "P1", "P2"}
    rows = [f"{store},P{at},1" for at in range(3) for store in (1, 2)]
    (tmp_path / "stock.csv").write_text("\n".join(["store_number,product_number,quantity", *rows]) + "\n")
    service.unknown_stores = {"2"}
    report = await run(tmp_path, service, naps)
    assert len(service.writes) == 2
    assert [row.line for row in report.bad] == [3, 5, 7]
    assert report.bad[0].reason == "the service refused the count of product P0: no store 2."


async def test_a_name_that_cannot_stand_in_a_path_is_a_bad_row(
    tmp_path: Path, service: FakeService, naps: Naps
) -> None:
    (tmp_path / "stock.csv").write_text("store_number,product_number,quantity\n..,P,1\nA/12,P,1\n")
    report = await run(tmp_path, service, naps)
    assert [row.line for row in report.bad] == [2]
    assert "cannot stand in a path" in report.bad[0].reason
    assert [request.url.raw_path.decode().split("/")[5] for request in service.writes] == ["A%2F12"]


async def test_batches_are_as_large_as_they_may_be_and_no_order_is_cut(
    tmp_path: Path, service: FakeService, naps: Naps
) -> None:
    limit = ORDERS.target.batch_rows
    sizes = [limit - 1, 1, 1, limit + 5, 2]
    rows = [f"1,O{order},{line},P,1" for order, size in enumerate(sizes) for line in range(size)]
    header = "store_number,order_number,line_number,product_number,quantity"
    (tmp_path / "orders.csv").write_text("\n".join([header, *rows]) + "\n")
    report = await run(tmp_path, service, naps)
    assert report.is_complete
    sent = [[order["order_number"] for order in json.loads(request.content)["orders"]] for request in service.writes]
    assert sent == [["O0", "O1"], ["O2"], ["O3"], ["O4"]]


async def test_progress_rises_to_the_end_of_each_file(tmp_path: Path, service: FakeService, naps: Naps) -> None:
    write_shop(tmp_path, orders=1200)
    told: list[LoadProgress] = []
    async with service.client() as client:
        await load(tmp_path, client, progress=told.append, sleep=naps)
    orders = [step for step in told if step.file == "orders.csv"]
    assert [step.rows for step in orders] == [1000, 2000, 2400, 2400]
    assert [step.bytes_done for step in orders] == sorted(step.bytes_done for step in orders)
    ends = {step.file: step for step in told}
    assert all(step.bytes_done == step.bytes_total > 0 for step in ends.values())
    assert list(ends) == ["stores.csv", "products.csv", "locations.csv", "stock.csv", "orders.csv"]


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("late"),
        httpx.Response(503, text="starting"),
        httpx.Response(429, json={"message": "slowly"}, headers={"Retry-After": "7"}),
        httpx.Response(200, text="<html>"),
    ],
    ids=["unreachable", "no answer", "starting", "patience", "not the service"],
)
async def test_a_passing_trouble_is_waited_out_under_the_same_key(
    trouble: httpx.Response | Exception, tmp_path: Path, service: FakeService, naps: Naps
) -> None:
    write_shop(tmp_path)
    service.trouble = [trouble]
    report = await run(tmp_path, service, naps)
    assert report.is_complete
    first, second = service.requests[:2]
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]
    assert first.content == second.content
    patient = isinstance(trouble, httpx.Response) and trouble.status_code == 429
    assert naps.seconds == [7.0 if patient else 0.5]


async def test_a_service_that_stays_away_ends_the_load_with_a_plain_word(
    tmp_path: Path, service: FakeService, naps: Naps
) -> None:
    write_shop(tmp_path)
    service.trouble = [httpx.ConnectError("refused") for _ in range(MAX_TRIES)]
    with pytest.raises(LoadError, match=r"cannot be reached.*Stopped at stores.csv:2\. Load again later"):
        await run(tmp_path, service, naps)
    assert naps.seconds == [0.5 * 2**attempt for attempt in range(MAX_TRIES - 1)]


@pytest.mark.parametrize(
    ("file", "answer", "words"),
    [
        ("stores.csv", refusal(401, "no such token"), "does not accept the token: no such token"),
        ("stores.csv", refusal(403, "staff only"), r"The token may not load stores\.csv: staff only"),
        ("locations.csv", refusal(404, "Not Found"), r"cannot create locations: Not Found\. Remove locations\.csv"),
    ],
)
async def test_error_beyond_rows_ends_the_load(
    file: str, answer: httpx.Response, words: str, tmp_path: Path, service: FakeService, naps: Naps
) -> None:
    write_shop(tmp_path)
    keep_only(tmp_path, file)
    service.trouble = [answer]
    with pytest.raises(LoadError, match=words):
        await run(tmp_path, service, naps)
    assert len(service.requests) == 1
