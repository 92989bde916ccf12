"""Everything that can be loaded, into a real service: whole, again, and again after being killed in the middle."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aisle.client import Client
from aisle.client.csv_load import LoadReport, load
from aisle.client.transport import asgi_transport
from aisle.service.db.database_interface import Transaction
from aisle.service.open_service_and_admin_token import Service, open_service
from tests.run_length import tries
from tests.service.world import assert_books
from tests.terminal.lifeline import Lifeline

FILES = {
    "stores.csv": [
        "store_number,store_name,is_warehouse,opening_hours,store_stock_pool_1",
        '1,One,false,"[{""key"": ""monday"", ""value"": ""8-18""}]",Shelf',
        "2,Two,false,,",
    ],
    "products.csv": [
        "product_number,product_name,barcode,price,units",
        *(f'P{n},Product {n},{5000000000000 + n},1.10,"[{{""unit_quantity"": 6}}]"' for n in range(40)),
    ],
    "attributes.csv": ["product_number,brand_code,size", "P1,BRAND,250 g"],
    "free_fields.csv": [
        "product_number,sort_order,key,value",
        "P1,1,product_name.nl,Een",
        "P1,2,bio,yes",
        "P2,1,bio,no",
    ],
    "prices.csv": ["product_number,price,store_number,old_price", "P1,2.50,,3", "P1,2.25,1,"],
    "discount_prices.csv": ["product_number,discount_price,promotion", "P1,1.99,Spring"],
    "locations.csv": ["store_number,location_code,location_order,tags", "1,A/1,10,shelf|front", "1,B,20,", "2,A,10,"],
    "people.csv": ["store_number,badge,user,name,role", "1,B1,U1,Ann,staff", "2,B1,U1,Ben,supervisor"],
    "store_products.csv": [
        "store_number,product_number,min,max,forecast_array,is_replenishment",
        "1,P1,2,12,1|2.5|3,true",
        "2,P1,1,,,",
    ],
    "stock.csv": [
        "store_number,product_number,location_code,stock_pool,quantity",
        *(f"1,P{n},A/1,1,{n + 3}" for n in range(40)),
        "2,P1,A,,4",
    ],
    "orders.csv": [
        "store_number,order_number,customer_name,line_number,product_number,quantity",
        *(f"1,O{n},Anna,{line},P{line},1" for n in range(60) for line in (1, 2)),
        "2,O1,Ben,1,P1,1",
    ],
    "deliveries.csv": [
        "store_number,order_number,no_of_containers,datetime_expected,line_number,product_number,quantity,order_lines.description",
        *(f"1,D{n},2,2026-05-04,{line},P{line},12,case" for n in range(60) for line in (1, 2, 3)),
        "2,D1,1,,1,P1,4,",
    ],
}
TABLES = ("customer_order", "order_line", "delivery", "delivery_line", "stock_log", "leg", "location", "person")


def write(folder: Path) -> None:
    """The files of a chain of two stores."""
    for name, lines in FILES.items():
        (folder / name).write_text("\n".join(lines) + "\n")


def opened(home: Path) -> Service:
    """The embedded service of a home."""
    [database] = home.rglob("service.db")
    return open_service(database)


async def loaded(folder: Path, service: Service, token: str) -> LoadReport:
    """What a load of the folder reports."""
    async with Client("http://localhost", token, transport=asgi_transport(service.app)) as client:
        return await load(folder, client)


def counted(service: Service) -> dict[str, Any]:
    """How many rows each table has, and all stock."""

    async def work(tx: Transaction) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for table in TABLES:
            row = await tx.one(f"SELECT count(*) FROM {table}")
            assert row is not None
            found[table] = row[0]
        key = "store_number, product_number, location_code, pool"
        found["stock"] = sorted(await tx.all(f"SELECT {key}, SUM(quantity) FROM balance GROUP BY {key}"))
        return found

    return service.database.read_now(work)


async def test_everything_is_loaded_once(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    write(folder)
    with closing(open_service(tmp_path / "service.db")) as service:
        token = service.ensure_admin_token(tmp_path / "token")
        report = await loaded(folder, service, token)
        assert report.is_complete, report.lines()
        assert [(file.file, file.rows) for file in report.files] == [
            (name, len(rows) - 1) for name, rows in FILES.items()
        ]
        assert all(file.loaded_rows == file.rows and not file.already_loaded_rows for file in report.files)
        first = counted(service)
        assert (first["customer_order"], first["delivery"], first["delivery_line"]) == (61, 61, 181)
        await _look(service, token)
        again = await loaded(folder, service, token)
        assert again.is_complete
        assert [(file.file, len(file.already_loaded_rows)) for file in again.files if file.already_loaded_rows] == [
            ("stock.csv", 41)
        ]
        assert counted(service) == first
        assert_books(service)


async def _look(service: Service, token: str) -> None:
    async with Client("http://localhost", token, transport=asgi_transport(service.app)) as client:
        [product] = (await client.call("list-products", product_number="P1", store_number="1"))["records"]
        assert (product["price"], product["promotion_price"], product["brand_code"]) == (2.25, 1.99, "BRAND")
        assert [(field["key"], field["value"]) for field in product["free_fields"]] == [
            ("product_name.nl", "Een"),
            ("bio", "yes"),
        ]
        assert [unit["unit_quantity"] for unit in product["units"]] == [6]
        page = await client.call("list-deliveries", store_number="1", order_number="D7")
        assert [
            (line["line_number"], line["quantity"], line["description"]) for line in page["list"][0]["order_lines"]
        ] == [
            (1, 12, "case"),
            (2, 12, "case"),
            (3, 12, "case"),
        ]
        [stock] = (await client.call("list-store-products-stock", store_number="1", product_number="P1"))["list"]
        assert [stock[name] for name in ("min", "max", "forecast", "most_likely_quantity")] == [2, 12, 1, 4]
        people = await client.request_extension("GET", "/aisle/v1/stores/2/people")
        assert [one["name"] for one in people.json()["people"]] == ["Ben"]


KILLED_AT = ("products.csv", "stock.csv", "deliveries.csv")[:: tries(3, 1)]


async def test_a_load_that_is_killed_is_done_by_loading_again(
    aisle_home: Path, tmp_path: Path, lifeline: Lifeline
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    write(folder)
    for last in KILLED_AT:
        _killed_at(folder, last, lifeline)
    _load_by_command(folder, lifeline)
    with closing(opened(aisle_home)) as service:
        killed = counted(service)
        assert_books(service)
    with closing(open_service(tmp_path / "once.db")) as service:
        await loaded(folder, service, service.ensure_admin_token(tmp_path / "token"))
        assert counted(service) == killed


def _load_by_command(folder: Path, lifeline: Lifeline) -> None:
    command = [sys.executable, "-m", "aisle", "load", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, pass_fds=(lifeline.fd,))
    assert done.returncode == 0, done.stdout + done.stderr


def _killed_at(folder: Path, file: str, lifeline: Lifeline) -> None:
    """Load, and be killed as soon as this file has begun."""
    process = subprocess.Popen(
        [sys.executable, "-m", "aisle", "load", str(folder)], stderr=subprocess.PIPE, text=True, pass_fds=(lifeline.fd,)
    )
    assert process.stderr is not None
    with process.stderr:
        for line in process.stderr:
            if line.startswith(file):
                break
        else:
            pytest.fail(f"{file} never began")
        process.send_signal(signal.SIGKILL)
        process.wait(60)
