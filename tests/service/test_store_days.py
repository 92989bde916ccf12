"""At the service, a date alone is a day of the store, and a time without a zone is the store's."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
import pytest_asyncio

from aisle.contract.request_bodies.stores import OrderingSchema
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.domain.ordering_schedule import upcoming_dates
from aisle.service.domain.quantities_times_and_json import TimeZones
from aisle.service.open_service_and_admin_token import Service
from tests.service.world import LOGS, World

ZONES = ["America/Los_Angeles", "Europe/Amsterdam", "Pacific/Auckland", "Pacific/Kiritimati", "UTC"]
LATE_IN_MAY = date(2026, 5, 28)


class Here:
    """The world's service, where stores lie in a zone; S2 may lie elsewhere."""

    def __init__(self, world: World, zone: str, other: str = "") -> None:
        self.world, self.zone = world, ZoneInfo(zone)
        zones = TimeZones(self.zone, {"S2": ZoneInfo(other)} if other else {})
        service = Service(world.service.database, ServiceOptions(lambda: self.world.now, time_zones=zones))
        headers = {"Authorization": f"Bearer {world.secret}"}
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(service.app), base_url="http://service", headers=headers
        )

    def utc(self, day: date, hour: int, minute: int = 0) -> str:
        """A time of the stores as the service writes it."""
        local = datetime(day.year, day.month, day.day, hour, minute, tzinfo=self.zone)
        return local.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def at(self, day: date, hour: int, minute: int = 0) -> None:
        """It is this time in the stores."""
        self.world.now = datetime(day.year, day.month, day.day, hour, minute, tzinfo=self.zone).timestamp()

    async def post(self, path: str, body: Any, **query: Any) -> None:
        await self.world.post(path, body, client=self.client, query=query)

    async def put(self, path: str, body: Any) -> None:
        await self.world.put(path, body, client=self.client)

    async def rows(self, path: str, **query: Any) -> list[dict[str, Any]]:
        answer = await self.world.send("GET", path, client=self.client, query=query)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["list"]
        return found


@pytest_asyncio.fixture(params=ZONES)
async def here(request: pytest.FixtureRequest, world: World) -> AsyncIterator[Here]:
    found = Here(world, request.param)
    yield found
    await found.client.aclose()


def delivery(number: str, **head: Any) -> dict[str, Any]:
    lines = [{"line_number": 1, "product_number": "P1", "quantity": 1}]
    return {"order_number": number, "no_of_containers": 1, "order_lines": lines, **head}


@pytest.mark.parametrize(
    "day", [LATE_IN_MAY, date(2026, 3, 8), date(2026, 11, 1), date(2026, 3, 29), date(2026, 10, 25), date(2026, 9, 27)]
)
async def test_a_delivery_is_expected_on_a_day_or_at_a_time_of_the_store(day: date, here: Here) -> None:
    text = day.isoformat()
    said = {"DAY": text, "NAIVE": f"{text}T18:00:00", "BLANK": f"{text} 06:30", "ZONED": f"{text}T12:00:00+00:00"}
    orders = [delivery(number, datetime_expected=when) for number, when in said.items()]
    await here.post("/stores/S1/orders/deliveries", {"orders": orders})
    told = {row["order_number"]: row["datetime_expected"] for row in await here.rows("/orders/deliveries")}
    assert told == {
        "DAY": text,
        "NAIVE": here.utc(day, 18),
        "BLANK": here.utc(day, 6, 30),
        "ZONED": f"{text}T12:00:00.000Z",
    }
    found = await here.rows("/orders/deliveries", store_number="S1", delivery_date=text)
    zoned = datetime(day.year, day.month, day.day, 12, tzinfo=UTC).astimezone(here.zone).date() == day
    assert {row["order_number"] for row in found} == {"DAY", "NAIVE", "BLANK"} | ({"ZONED"} if zoned else set())


async def test_a_midnight_of_utc_names_that_day(here: Here) -> None:
    text = LATE_IN_MAY.isoformat()
    said = {"Z": f"{text}T00:00:00Z", "SHORT": f"{text}T00:00Z", "OFFSET": f"{text} 00:00:00.000+00:00"}
    orders = [delivery(number, datetime_expected=when) for number, when in said.items()]
    await here.post("/stores/S1/orders/deliveries", {"orders": orders})
    found = await here.rows("/orders/deliveries", store_number="S1", delivery_date=text)
    assert {row["order_number"]: row["datetime_expected"] for row in found} == dict.fromkeys(said, text)
    rows = [
        {
            "order_number": number,
            "order_lines": [{"line_number": 1, "product_number": "P1", "quantity": 1, "pickup_date": when}],
        }
        for number, when in said.items()
    ]
    await here.post("/stores/S1/orders/customerorders", {"orders": rows})
    told = {row["order_number"]: row["pickup_date"] for row in await here.rows("/stores/S1/orders/customerorders")}
    assert told == dict.fromkeys(said, text)


@pytest.mark.parametrize("hour", [0, 2, 12, 23])
async def test_orders_are_due_on_days_of_the_store(hour: int, here: Here) -> None:
    here.at(LATE_IN_MAY, hour, 36)
    days = {number: LATE_IN_MAY + timedelta(days=number) for number in (-1, 0, 1)}
    said = [day.isoformat() for day in days.values()] + [f"{LATE_IN_MAY}T23:30:00", here.utc(LATE_IN_MAY, 23, 45)]
    orders = [
        {
            "order_number": f"O{at}",
            "order_lines": [{"line_number": 1, "product_number": "P1", "quantity": 1, "pickup_date": when}],
        }
        for at, when in enumerate(said)
    ]
    await here.post("/stores/S1/orders/customerorders", {"orders": orders})
    told = {row["order_number"]: row["pickup_date"] for row in await here.rows("/stores/S1/orders/customerorders")}
    today = LATE_IN_MAY.isoformat()
    assert told == {"O0": days[-1].isoformat(), "O1": today, "O2": days[1].isoformat(), "O3": today, "O4": today}
    found = await here.rows("/stores/S1/orders/customerorders", pickup_offset=0)
    assert {row["order_number"] for row in found} == {"O0", "O1", "O3", "O4"}


@pytest.mark.parametrize("time", ["", "T00:00:00Z", "T00:00:00.000Z", " 00:00:00+00:00", "T00:00", " 00:00:00"])
async def test_an_expiry_is_a_day_of_the_store(time: str, here: Here) -> None:
    text = LATE_IN_MAY.isoformat() + time
    said = {"expiry_date_time": text, "validate_expiry_date_time": text}
    await here.put("/stores/S1/storeproducts", [{"product_number": "P1", **said}])
    [entry] = await here.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    day = here.utc(LATE_IN_MAY, 0)
    assert (entry["last_expiry_datetime"], entry["validate_expiry_datetime"]) == (day, day)


async def test_moments_of_products_and_stores_begin_with_the_day_of_the_store(here: Here) -> None:
    text = LATE_IN_MAY.isoformat()
    said = {
        "expiry_date_time": text,
        "validate_expiry_date_time": f"{text}T08:00",
        "next_delivery_date": text,
        "next_ordering_date": f"{text}T08:00:00Z",
    }
    await here.put("/stores/S1/storeproducts", [{"product_number": "P1", **said}])
    [entry] = await here.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    assert entry["last_expiry_datetime"] == entry["next_delivery_datetime"] == here.utc(LATE_IN_MAY, 0)
    assert entry["validate_expiry_datetime"] == here.utc(LATE_IN_MAY, 8)
    assert entry["next_ordering_datetime"] == f"{text}T08:00:00.000Z"


async def test_the_log_is_listed_by_days_of_the_store(here: Here) -> None:
    for day in (-1, 0, 1):
        for hour in (0, 12, 23):
            here.at(LATE_IN_MAY + timedelta(days=day), hour, 30)
            entry = {"product_number": "P1", "quantity": 1, "reference": f"{day}/{hour}"}
            await here.post(LOGS, {"storeproductlog": [entry]})
    asked = {"store_number": "S1", "last_modified_date": LATE_IN_MAY.isoformat()}
    since = [row["reference"] for row in await here.rows("/products/stock/storeproductlogs", **asked)]
    assert since == ["0/0", "0/12", "0/23", "1/0", "1/12", "1/23"]
    asked["to_modified_date"] = LATE_IN_MAY.isoformat()
    of_day = [row["reference"] for row in await here.rows("/products/stock/storeproductlogs", **asked)]
    assert of_day == ["0/0", "0/12", "0/23"]


async def test_scans_without_a_zone_happened_at_the_stores_time(here: Here) -> None:
    here.at(LATE_IN_MAY, 20)
    entry = {"product_number": "P1", "quantity": 1, "scanned_datetime": f"{LATE_IN_MAY}T19:15:00"}
    await here.post(LOGS, {"storeproductlog": [entry]})
    [row] = await here.rows("/products/stock/storeproductlogs", store_number="S1")
    assert row["moved_on"] == here.utc(LATE_IN_MAY, 19, 15)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("now", ["2026-03-05", "2026-10-22", "2026-05-28", "2026-09-24"])
def test_a_schema_says_times_of_the_store_also_where_its_clocks_change(zone: str, now: str) -> None:
    schema: list[OrderingSchema] = [{"day": 1, "time": "09:00", "ordering_offset": 1, "delivery_offset": 2}]
    at = datetime.fromisoformat(f"{now}T12:00:00+00:00").timestamp()
    found: Any = upcoming_dates(schema, "", at, ZoneInfo(zone))
    for name, weekday in (("ordering", 7), ("delivery", 3)):
        moments = [datetime.fromisoformat(one).astimezone(ZoneInfo(zone)) for one in found[f"{name}_datetimes"]]
        assert moments
        assert {(one.isoweekday(), one.hour, one.minute) for one in moments} == {(weekday, 9, 0)}


async def test_each_store_has_its_own_zone(world: World) -> None:
    here = Here(world, "Europe/Amsterdam", "America/Los_Angeles")
    for store in ("S1", "S2"):
        body = {"orders": [delivery("D", datetime_expected="2026-05-28T18:00:00")]}
        await here.post(f"/stores/{store}/orders/deliveries", body)
    told = {row["store_number"]: row["datetime_expected"] for row in await here.rows("/orders/deliveries")}
    assert told == {"S1": "2026-05-28T16:00:00.000Z", "S2": "2026-05-29T01:00:00.000Z"}
    await here.client.aclose()


async def test_dates_at_calendar_edge_survive_time_zones(here: Here) -> None:
    edges = [delivery("FIRST", datetime_expected="0001-01-01"), delivery("LAST", datetime_expected="9999-12-31")]
    await here.post("/stores/S1/orders/deliveries", {"orders": edges})
    assert len(await here.rows("/orders/deliveries", delivery_date="9999-12-31", store_number="S1")) == 1
    assert len(await here.rows("/products/stock/storeproductlogs", to_modified_date="9999-12-31")) == 0


@pytest.mark.parametrize(
    ("store", "is_of_all", "zone"),
    [
        *(("NEW", True, "Europe/Amsterdam"), ("S2", True, "Asia/Tokyo"), ("S1", True, "Europe/Amsterdam")),
        *(("NEW", False, None), ("S2", False, None), ("S1", False, "Europe/Amsterdam")),
    ],
)
async def test_the_zone_of_a_store_is_named_before_it_exists(
    store: str, is_of_all: bool, zone: str | None, world: World
) -> None:
    here = Here(world, "Europe/Amsterdam", "Asia/Tokyo")
    headers = {} if is_of_all else {"Authorization": f"Bearer {world.token('staff', ['S1'])}"}
    answer = await world.send("GET", f"/aisle/v1/stores/{store}", client=here.client, headers=headers)
    assert answer.headers.get("Aisle-Time-Zone") == zone
    await here.client.aclose()
