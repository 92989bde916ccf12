"""Opening, the demo store, tokens for the embedding program, and serving on a socket."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import apsw
import httpx
import pytest

from aisle.errors import StorageError, UsageError
from aisle.parent_pipe import watch_parent_pipe
from aisle.service import open_service_and_admin_token
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.auth.tokens_and_pins import list_tokens
from aisle.service.db import parse_database_url
from aisle.service.db.database_interface import Busy, Transaction, Work
from aisle.service.db.sqlite_database import SqliteDatabase
from aisle.service.demo.seed import SUPERVISOR_PIN
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.http.run_server import ServerOptions, run_server
from aisle.service.open_service_and_admin_token import open_service
from tests.service.world import API, START, assert_books, prepare

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
SERVE = """
import sys
from pathlib import Path
from aisle.service.http.run_server import ServerOptions, run_server
options = ServerOptions(sys.argv[1], port=0)
run_server(options, demo=True, token_file=Path(sys.argv[2]), ready=lambda url: print(url, flush=True))
print("ended", flush=True)
"""


def test_opening_costs_no_web_framework(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from aisle.service.open_service_and_admin_token import open_service;"
        "open_service(Path(sys.argv[1]), demo=True).close();"
        "print([name for name in ('uvicorn', 'httpx', 'textual') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "s.db")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


async def test_the_demo_store_is_made_once_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "service.db"
    service = open_service(path, ServiceOptions(lambda: START), demo=True)
    assert_books(service)
    secret = service.ensure_admin_token(tmp_path / "token")
    service.close()
    service = open_service(path, ServiceOptions(lambda: START + 86400), demo=True)
    assert service.ensure_admin_token(tmp_path / "token") == secret
    names = [(token.name, token.revoked_on is None) for token in list_tokens(service.database)]
    assert sorted(names) == [("aisle demo store", False), ("embedded", True)]
    headers = {"Authorization": f"Bearer {secret}"}
    transport = httpx.ASGITransport(service.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service" + API, headers=headers) as client:
        stores = (await client.get("/stores")).json()
        assert stores["total_count"] == 5
        stock = (await client.get("/storeproducts/stock", params={"store_number": "0001"})).json()
        assert stock["total_count"] > 350
        orders = (await client.get("/stores/0001/orders/customerorders")).json()
        assert Counter(row["status_id"] for row in orders["list"]) == {1: 35, 2: 5, 3: 1, 4: 1}
        places = (await client.get("/stores/0001/locations")).json()
        assert places["total_count"] > 100
        product = next(row["product_number"] for row in stock["list"] if row["most_likely_quantity"])
        around = (await client.get(f"/stores/0001/storeproducts/{product}/surrounding")).json()
        assert around[-1]["is_warehouse"] is True
        await has_a_past(client)
    service.close()


async def has_a_past(client: httpx.AsyncClient) -> None:
    """What people did before the demo store was opened is told, and followed from the service's own rules."""
    here: dict[str, str | int] = {"store_number": "0001", "page_size": 1000}
    logs = (await client.get("/products/stock/storeproductlogs", params=here)).json()["list"]
    worked = [row for row in logs if row.get("app_user_name")]
    moments = [row["moved_on"] for row in worked]
    assert moments == sorted(moments)
    assert moments[0] < format_timestamp(START - 20 * 86400)
    assert format_timestamp(START - 3600) < moments[-1] < format_timestamp(START)
    assert {row["source"] for row in worked} == {
        "count", "change", "movement", "receipt", "pick", "in_hand", "finish", "short",
    }  # fmt: skip
    assert {row["reason_code"] for row in worked if "reason_code" in row} >= {1, 2, 3, 5}
    assert {row["review_status"] for row in worked} == {"0", "1", "2"}
    counted = [row for row in worked if row["source"] == "count"]
    differences = [row["quantity"] for row in counted if row["moved_on"] > format_timestamp(START - 7 * 86400)]
    assert sorted(difference for difference in differences if difference) == [-3, -2, 2, 2]
    deliveries = (await client.get("/orders/deliveries", params=here)).json()["list"]
    assert Counter(row["status"] for row in deliveries) == {"open": 4, "partial": 1, "received": 3}
    receipts = (await client.get("/orders/receipts", params={**here, "receipt_type": 1})).json()
    assert receipts["total_count"] == 4
    said = {"store_number": "0001", "badge": "BADGE-U6", "pin": SUPERVISOR_PIN}
    signed_in = await client.post("http://service/aisle/v1/sign-in", json=said)
    assert signed_in.json()["role"] == "supervisor"


def test_a_database_with_stores_of_its_own_gets_no_demo(tmp_path: Path) -> None:
    path = tmp_path / "service.db"
    open_service(path).close()
    service = open_service(path, demo=True)
    count = service.database.read_now(_stores)
    service.close()
    assert count == 5

    async def rename(tx: Transaction) -> None:
        await tx.run("DELETE FROM change WHERE topic = 'store'")
        await tx.run("UPDATE store SET store_name = 'mine'")

    service = open_service(path)
    service.database.write_now(rename)
    service.close()
    service = open_service(path, demo=True)
    assert service.database.read_now(_names) == {"mine"}
    service.close()


async def _stores(tx: Transaction) -> int:
    return len(await tx.all("SELECT 1 FROM store"))


async def _names(tx: Transaction) -> set[str]:
    return {row[0] for row in await tx.all("SELECT store_name FROM store")}


def test_two_processes_that_start_at_once_make_it_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from aisle.service.open_service_and_admin_token import open_service;"
        "s = open_service(Path(sys.argv[1]), demo=True); print(s.ensure_admin_token(Path(sys.argv[2]))); s.close()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "service.db"), str(tmp_path / "token")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = {process.communicate()[0].strip() for process in running}
    assert [process.returncode for process in running] == [0, 0]
    assert len(said) == 1
    service = open_service(tmp_path / "service.db")
    assert service.database.read_now(_stores) == 5
    assert_books(service)
    service.close()


class _Watched(SqliteDatabase):
    """Waits for nobody by itself, and tells each time that another one held it."""

    waited: Callable[[], None]

    def write_now(self, work: Work[T]) -> T:
        try:
            return super().write_now(work)
        except Busy:
            self.waited()
            raise


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[apsw.Connection]:
    """A database without a store, and another process that writes to it."""
    open_service(tmp_path / "service.db").close()
    monkeypatch.setattr(open_service_and_admin_token, "open_database", lambda path, _: _Watched(path, busy_ms=1))
    with closing(apsw.Connection(str(tmp_path / "service.db"))) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


@pytest.mark.sqlite
def test_second_process_waits_while_demo_store_is_filled(
    held: apsw.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[int] = []

    def wait(_: object) -> None:
        waited.append(1)
        if len(waited) == 3:
            held.execute("ROLLBACK")

    monkeypatch.setattr(_Watched, "waited", wait, raising=False)
    with closing(open_service(tmp_path / "service.db", demo=True)) as service:
        assert len(waited) == 3
        assert service.database.read_now(_stores) == 5


@pytest.mark.sqlite
@pytest.mark.usefixtures("held")
def test_endless_filling_by_other_process_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Watched, "waited", lambda _: None, raising=False)
    monkeypatch.setattr(open_service_and_admin_token, "_SEED_TIMEOUT_S", 0.0)
    with pytest.raises(Busy, match="Another process has been filling the database for 0 seconds"):
        open_service(tmp_path / "service.db", demo=True)


@pytest.mark.sqlite
@pytest.mark.usefixtures("held")
def test_filled_database_opens_during_a_write(tmp_path: Path, held: apsw.Connection) -> None:
    held.execute("ROLLBACK")
    open_service(tmp_path / "service.db", demo=True).close()
    held.execute("BEGIN IMMEDIATE")
    open_service(tmp_path / "service.db", demo=True).close()


def test_token_file_is_private_and_renewed_when_invalid(tmp_path: Path) -> None:
    service = open_service(tmp_path / "service.db")
    file = tmp_path / "keys" / "token"
    first = service.ensure_admin_token(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert service.ensure_admin_token(file) == first
    file.write_text("nonsense\n")
    assert service.ensure_admin_token(file) not in (first, "nonsense")
    file.chmod(0o644)
    with pytest.raises(StorageError, match="0600"):
        service.ensure_admin_token(file)
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError):
        service.ensure_admin_token(file)
    service.close()


@pytest.mark.parametrize("database", ["mysql://x/y", "sqlite://", "sqlite:///", "sqlite://host/x", "/x.db"])
def test_databases_that_cannot_be_served_are_named(database: str) -> None:
    with pytest.raises(UsageError, match="sqlite:///path or postgresql://host/name"):
        parse_database_url(database)


def test_database_urls(tmp_path: Path) -> None:
    assert parse_database_url("sqlite:///rel/a%20b.db") == Path("rel/a b.db")
    assert parse_database_url(f"sqlite:///{tmp_path}/x.db") == tmp_path / "x.db"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.test"])
def test_plain_http_for_others_has_to_be_asked_for(tmp_path: Path, host: str) -> None:
    with pytest.raises(UsageError, match="plain HTTP"):
        run_server(ServerOptions(f"sqlite:///{tmp_path}/x.db", host))
    assert list(tmp_path.iterdir()) == []


def test_the_lifeline_ends_what_hangs_on_it() -> None:
    reading, writing = os.pipe()
    left = threading.Event()
    thread = watch_parent_pipe({"AISLE_LIFELINE_FD": str(reading)}, left.set)
    assert thread is not None
    assert not left.is_set()
    os.close(writing)
    assert left.wait(60)
    thread.join(60)
    os.close(reading)
    assert watch_parent_pipe({}, left.set) is None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", str, str, int]]:
    """A served demo store: the process, its URL, its token, and the end of its lifeline."""
    prepare(tmp_path / "service.db", demo=True)
    reading, writing = os.pipe()
    command = [sys.executable, "-c", SERVE, f"sqlite:///{tmp_path}/service.db", str(tmp_path / "token")]
    environ = {**os.environ, "AISLE_LIFELINE_FD": str(reading)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ, pass_fds=[reading], cwd=ROOT)
    os.close(reading)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    yield process, url, (tmp_path / "token").read_text().strip(), writing
    process.kill()
    process.wait()
    process.stdout.close()
    os.close(writing)


@pytest.mark.parametrize("how", ["SIGTERM", pytest.param("SIGINT", marks=pytest.mark.full), "lifeline"])
def test_serving_and_leaving(server: tuple["subprocess.Popen[str]", str, str, int], how: str) -> None:
    process, url, secret, line = server
    headers = {"Authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=url, headers=headers) as client:
        answer = client.get(API + "/stores/0001/locations/%41-01%2D1/products")
        assert answer.status_code == 200
        assert json.loads(answer.content)["total_count"] > 0
        assert answer.headers["Aisle-Features"].endswith(", demo-store")
        assert client.get(API + "/stores/0001/locations/A%2F1/products").status_code == 404
        assert client.get(API + "/stores").status_code == 200
        if how == "lifeline":
            os.dup2(os.open(os.devnull, os.O_WRONLY), line)
        else:
            process.send_signal(getattr(signal, how))
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ended"
    assert process.wait(60) == 0
