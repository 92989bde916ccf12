"""Each store lives by its own time zone, and one without a setting by the host's, whatever store a process is of."""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aisle.cli import main
from aisle.cli.time_zones_of_host_and_stores import host_zone
from aisle.settings.process_time_zone import set_process_zone

InZone = Callable[[str], None]


@pytest.fixture
def shop(tmp_path: Path, aisle_home: Path) -> Path:
    """Two stores with one product, to be loaded."""
    aisle_home.mkdir(mode=0o700, exist_ok=True)
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "stores.csv").write_text(
        "store_number,store_name,is_warehouse\n0011,Here,false\n0012,There,false\n", encoding="utf-8"
    )
    (folder / "products.csv").write_text("product_number,product_name\nP1,Tea\n", encoding="utf-8")
    return folder


def loaded(capsys: pytest.CaptureFixture[str], shop: Path, said: str, *options: str) -> dict[str, str]:
    """Loads an order and a delivery of both stores; the days and times that the service has of them."""
    heads = "store_number,order_number,line_number,product_number,quantity"
    rows = [f"{store},O-{store},1,P1,1,{said}" for store in ("0011", "0012")]
    (shop / "orders.csv").write_text("\n".join([f"{heads},pickup_date", *rows]) + "\n", encoding="utf-8")
    rows = [f"{store},D-{store},1,P1,1,{said},1" for store in ("0011", "0012")]
    heads = f"{heads},datetime_expected,no_of_containers"
    (shop / "deliveries.csv").write_text("\n".join([heads, *rows]) + "\n", encoding="utf-8")
    assert main(["load", str(shop), *options]) == 0
    capsys.readouterr()
    found = {}
    for store in ("0011", "0012"):
        for operation, field in (("list-customer-orders", "pickup_date"), ("list-deliveries", "datetime_expected")):
            assert main(["api", operation, "--store", store, "--query", f"store_number={store}"]) == 0
            for row in json.loads(capsys.readouterr().out)["list"]:
                found[row["order_number"]] = row[field]
    return found


SETTINGS = '[store."0012"]\ntime_zone = "Asia/Tokyo"\n'


@pytest.mark.parametrize("store", ["0011", "0012"])
@pytest.mark.parametrize(
    ("host", "said", "here", "there", "at_here", "at_there"),
    [
        ("America/New_York", "2026-11-27T18:00:00", "11-27", "11-27", "11-27T23:00", "11-27T09:00"),
        ("America/New_York", "2026-11-27T03:00:00Z", "11-26", "11-27", "11-27T03:00", "11-27T03:00"),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-11-27T18:00:00", "11-27", "11-27", "11-27T23:00", "11-27T09:00"),
        ("Pacific/Auckland", "2026-11-27T20:00:00Z", "11-28", "11-28", "11-27T20:00", "11-27T20:00"),
    ],
)
def test_a_store_of_which_nothing_is_said_lives_by_the_host(
    store: str,
    host: str,
    said: str,
    here: str,
    there: str,
    at_here: str,
    at_there: str,
    shop: Path,
    aisle_home: Path,
    capsys: pytest.CaptureFixture[str],
    in_zone: InZone,
) -> None:
    in_zone(host)
    (aisle_home / "settings.toml").write_text(SETTINGS, encoding="utf-8")
    assert loaded(capsys, shop, said, "--store", store) == {
        "O-0011": f"2026-{here}",
        "O-0012": f"2026-{there}",
        "D-0011": f"2026-{at_here}:00.000Z",
        "D-0012": f"2026-{at_there}:00.000Z",
    }


@pytest.mark.parametrize(
    ("host", "hours"),
    [
        ("Europe/Amsterdam", 1),
        (":Europe/Amsterdam", 1),
        ("America/Los_Angeles", -8),
        ("/usr/share/zoneinfo/Asia/Tokyo", 9),
        ("CET-1CEST,M3.5.0,M10.5.0/3", 1),
        ("CET-1CEST", 1),
        ("JST-9", 9),
        ("<+03>-3", 3),
        ("UTC", 0),
        ("", 0),
        ("no zone at all", 0),
        ("../etc/passwd", 0),
    ],
)
def test_the_zone_of_the_host_is_known_in_another_one(host: str, hours: int, in_zone: InZone) -> None:
    in_zone(host)
    noon = time.gmtime(1795694400)  # 2026-11-26 12:00 UTC
    assert (time.localtime(1795694400).tm_hour - noon.tm_hour) == hours
    set_process_zone("Asia/Kathmandu")
    try:
        offset = datetime(2026, 11, 26, 12, tzinfo=UTC).astimezone(host_zone()).utcoffset()
        assert offset is not None
        assert offset.total_seconds() == hours * 3600
    finally:
        set_process_zone("")
    assert os.environ["TZ"] == host


def test_the_zone_of_the_host_can_be_sent_to_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    zone = host_zone()
    when = datetime(2026, 7, 1, tzinfo=UTC)
    again = pickle.loads(pickle.dumps(zone))
    assert when.astimezone(again).utcoffset() == when.astimezone(zone).utcoffset()
