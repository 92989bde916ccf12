"""Moments come in any form of ISO 8601 and are kept in one."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aisle.service.domain.quantities_times_and_json import format_timestamp, parse_timestamp
from aisle.service.errors import Refusal


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("2026-05-04", "2026-05-04T00:00:00.000Z"),
        ("2026-05-04T10:00:00+02:00", "2026-05-04T08:00:00.000Z"),
        ("0001-01-01T00:00:01+01:00", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59-01:00", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_moment_in_its_one_form(said: str, kept: str) -> None:
    assert parse_timestamp(said, "when") == kept


@pytest.mark.parametrize("said", ["", "soon", "2026-13-01", "2026-05-04T25:00:00"])
def test_what_is_no_moment_is_refused(said: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_timestamp(said, "when")
    assert (refused.value.status, refused.value.field) == (400, "when")


@given(st.floats(0, 253_402_300_799))
@example(1_700_000_000.9999996)
@example(0.0005)
def test_a_moment_is_written_as_datetime_writes_it(seconds: float) -> None:
    written = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    assert format_timestamp(seconds) == written.replace("+00:00", "Z")
