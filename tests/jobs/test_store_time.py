"""A date alone is a day of the store, and a time without a zone is its own: in six zones, and where clocks change."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aisle.errors import SettingsError
from aisle.jobs import store_time
from aisle.jobs.product_rows_and_weekly_sales import parse_product
from aisle.jobs.store_time import due_message, due_on_day_message, seconds_since, store_day
from aisle.jobs.supervisor.stores import _field_message
from aisle.settings.process_time_zone import set_process_zone
from tests.run_length import tries

ZONES = ["America/Los_Angeles", "Europe/Amsterdam", "Pacific/Auckland", "Pacific/Kiritimati", "UTC", "Asia/Kathmandu"]
DAYS = [
    date(2026, 11, 27),
    date(2026, 3, 8),  # the clocks of Los Angeles go forward
    date(2026, 11, 1),  # and back
    date(2026, 3, 29),  # those of Amsterdam
    date(2026, 10, 25),
    date(2026, 9, 27),  # those of Auckland
    date(2026, 4, 5),
    date(2026, 1, 1),
    date(2028, 2, 29),
]
InZone = Callable[[str], None]


def at(day: date, hour: int, minute: int, zone: str) -> str:
    """A time of a zone as a session says its own: in UTC."""
    local = datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(zone))
    return local.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize(("due", "id_"), [("2026-11-20T08:00:00Z", "moment"), ("2026-11-19T23:00:00Z", "moment.late")])
def test_delivery_with_an_hour_is_late_when_its_day_is_over(due: str, id_: str, in_zone: InZone) -> None:
    in_zone("UTC")
    assert due_on_day_message(due, "2026-11-20T21:00:00Z").id == id_


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", DAYS, ids=str)
def test_what_is_due_on_a_day_is_late_when_the_day_is_over(zone: str, day: date, in_zone: InZone) -> None:
    in_zone(zone)
    text, next_day = day.isoformat(), day + timedelta(days=1)
    for hour, minute in ((0, 0), (0, 1), (2, 36), (12, 0), (23, 59)):
        told = due_message(text, at(day, hour, minute, zone))
        assert (told.id, dict(told.args)["at"]) == ("moment", text)
    told = due_message(text, at(next_day, 0, 1, zone))
    assert told.id.startswith("moment.late")
    assert dict(told.args)["at"] == text


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", DAYS, ids=str)
def test_the_midnight_that_a_day_begins_with_is_that_day(zone: str, day: date, in_zone: InZone) -> None:
    in_zone(zone)
    told = due_message(at(day, 0, 0, zone), at(day, 18, 0, zone))
    assert (told.id, dict(told.args)["at"]) == ("moment", day.isoformat())


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", DAYS, ids=str)
def test_a_time_without_a_zone_is_the_stores(zone: str, day: date, in_zone: InZone) -> None:
    in_zone(zone)
    text = f"{day.isoformat()}T18:00:00"
    assert due_message(text, at(day, 17, 59, zone)).id == "moment"
    assert due_message(text, at(day, 18, 1, zone)).id == "moment.late"
    assert seconds_since(text, at(day, 18, 30, zone)) == 1800
    assert store_day(text) == day.isoformat()


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", DAYS, ids=str)
def test_the_day_of_a_moment_is_the_stores(zone: str, day: date, in_zone: InZone) -> None:
    in_zone(zone)
    assert store_day(at(day, 0, 10, zone)) == store_day(at(day, 23, 50, zone)) == day.isoformat()
    assert store_time.start_of_today(at(day, 23, 50, zone)) == datetime(
        day.year, day.month, day.day, tzinfo=ZoneInfo(zone)
    )


@pytest.mark.parametrize("zone", ZONES)
def test_moments_are_compared_as_the_store_reads_them(zone: str, in_zone: InZone) -> None:
    in_zone(zone)
    day = date(2026, 11, 27)
    assert store_time.to_local_text(at(day, 18, 0, zone)) == "2026-11-27T18:00:00"
    assert (
        store_time.to_local_text("2026-11-27T18:00")
        == store_time.to_local_text("2026-11-27 18:00:00")
        == "2026-11-27T18:00:00"
    )
    assert store_time.to_local_text("2026-11-27") == store_time.to_local_text(at(day, 0, 0, zone)) == "2026-11-27"
    assert [store_time.to_local_text(text) for text in ("", "~", "soon")] == ["", "~", "soon"]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", DAYS, ids=str)
def test_a_field_that_names_a_day_says_it_by_a_midnight_too(zone: str, day: date, in_zone: InZone) -> None:
    in_zone(zone)
    text = day.isoformat()
    for said in (
        text,
        f"{text}T00:00",
        f"{text} 00:00:00",
        f"{text}T00:00:00Z",
        f"{text}T00:00+00:00",
        at(day, 0, 0, zone),
    ):
        assert store_time.named_day(said) == day
        assert store_time.to_local_text(said) == text
        late = [due_message(said, at(day + timedelta(days=more), 23, 59, zone)).id for more in (-1, 0, 1)]
        assert [name.startswith("moment.late") for name in late] == [False, False, True]
    for said in (f"{text}T18:00:00", f"{text}T00:01:00Z", at(day, 12, 30, zone), "", "soon"):
        assert store_time.named_day(said) is None


@pytest.mark.parametrize(
    ("zone", "hour"), [("America/Los_Angeles", 16), ("Europe/Amsterdam", 1), ("Asia/Kathmandu", 5)]
)
def test_a_midnight_of_utc_is_a_moment_where_the_field_is_one(zone: str, hour: int, in_zone: InZone) -> None:
    in_zone(zone)
    said = "2026-11-27T00:00:00Z"
    told = due_message(said, "2026-11-26T23:00:00Z", is_moment=True)
    assert (told.id, dict(told.args)["at"]) == ("moment", said)
    assert due_message(said, "2026-11-27T00:01:00Z", is_moment=True).id == "moment.late"
    moment = store_time.parse_time(said)
    assert moment is not None
    assert moment.hour == hour
    assert store_day(said) == moment.date().isoformat()


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("2026-11-27T10:00:00Z", "2026-11-27T10:00:00.000Z"),
        ("2026-11-27T10:00:00+02:00", "2026-11-27T08:00:00.000Z"),
        *((text, "") for text in ("", "soon", "24:00", "2026-13-01")),
    ],
)
def test_moments_are_texts_in_utc(said: str, expected: str, zone: str, in_zone: InZone) -> None:
    in_zone(zone)
    assert store_time.to_utc_text(said) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=tries(40, 200))
@given(
    st.sampled_from(ZONES),
    st.dates(date(2020, 1, 1), date(2035, 12, 31)),
    st.datetimes(datetime(2020, 1, 1), datetime(2035, 12, 31), timezones=st.just(UTC)),
)
def test_date_only_is_late_when_store_calendar_passed_it(in_zone: InZone, zone: str, day: date, now: datetime) -> None:
    in_zone(zone)
    is_late = due_message(day.isoformat(), now.isoformat()).id.startswith("moment.late")
    assert is_late == (now.astimezone(ZoneInfo(zone)).date() > day)


def test_a_process_works_in_the_zone_that_is_set_and_goes_back(in_zone: InZone) -> None:
    in_zone("UTC")
    now = "2026-11-27T10:00:00Z"
    for zone, hour in (("Pacific/Auckland", 23), ("", 10), ("America/Los_Angeles", 2), ("", 10)):
        set_process_zone(zone)
        assert datetime.fromisoformat(now).astimezone().hour == hour
    set_process_zone("")


@pytest.mark.parametrize("zone", ["Europe/London", "Pacific/Auckland", "Asia/Tokyo"])
def test_a_zone_without_zone_data_is_refused_in_winter_and_in_summer(
    in_zone: InZone, zone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_zone("UTC")
    monkeypatch.setenv("TZDIR", str(tmp_path))
    with pytest.raises(SettingsError, match="no data of time zones"):
        set_process_zone(zone)
    assert datetime(2026, 7, 1, tzinfo=UTC).astimezone().utcoffset() == timedelta(0)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", DAYS, ids=str)
def test_a_time_that_is_a_whole_day_is_shown_as_this_day(zone: str, day: date, in_zone: InZone) -> None:
    in_zone(zone)
    begin, later = at(day, 0, 0, zone), at(day, 6, 30, zone)
    for text in (day.isoformat(), f"{day}T00:00:00", begin):
        assert store_time.day_or_time(text) == day.isoformat()
        product = parse_product({"next_delivery_datetime": text, "deprecation_date": text}, begin)  # type: ignore[typeddict-item]
        assert (product.next_delivery, product.discontinued_since) == (day.isoformat(), day.isoformat())
        assert dict(_field_message("store_next_delivery_datetime", text).args) == {"at": day.isoformat()}
    assert [store_time.day_or_time(text) for text in (later, "soon", "")] == [later, "soon", ""]
