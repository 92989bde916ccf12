"""Dates as people write them: month names, week days and times in four languages are read, or refused by row."""

import re
from datetime import date, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.client.csv_load.cells_of_columns import DATE
from aisle.client.csv_load.file_layouts_and_columns import FileLayout
from tests.load.test_code_cells import columns_of, write_cell
from tests.load.test_spreadsheets import Found, Write, dates, write

__all__ = ["write"]

MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "en short": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "de short": "Jän Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
    "fr short": "janv févr mars avr mai juin juil août sept oct nov déc",
    "nl short": "jan feb mrt apr mei jun jul aug sep okt nov dec",
}
WEEK_DAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "nl": "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "en short": "Mon Tue Wed Thu Fri Sat Sun",
    "de short": "Mo Di Mi Do Fr Sa So",
    "fr short": "lun mar mer jeu ven sam dim",
    "nl short": "ma di wo do vr za zo",
}


@pytest.mark.parametrize(
    "time",
    [
        "14h30",
        "14 h 30",
        "14H30",
        "14u30",
        "14.30",
        "14:30",
        "14.30 Uhr",
        "14:30 Uhr",
        "14 Uhr 30",
        "14:30 uur",
        "2.30pm",
        "2:30 PM",
        "2:30 p.m.",
        "02:30:00 pm",
        "14:30:00",
        "à 14h30",
        "um 14:30 Uhr",
        "14 h 30 min",
    ],
)
@pytest.mark.parametrize("day", ["29/11/2026", "29.11.2026", "2026-11-29", "29 nov. 2026", "Sun, Nov 29, 2026"])
def test_a_time_of_day_is_read(day: str, time: str, write: Write, tmp_path: Path) -> None:
    found = dates(write, tmp_path, f"{day} {time}")
    assert found.bad == {}
    when = datetime.fromisoformat(found.bodies[0]["datetime_expected"])
    assert when == datetime(2026, 11, 29, 14, 30)
    assert "T" in found.bodies[0]["datetime_expected"] or f"{day} {time}".startswith("2026-11-29 14:30")


@pytest.mark.parametrize(
    ("time", "read"),
    [
        ("12am", ""),
        ("12:30 AM", "T00:30:00"),
        ("12 pm", "T12:00:00"),
        ("8h", "T08:00:00"),
        ("8 Uhr", "T08:00:00"),
        ("8:05", "T08:05:00"),
        ("9.30 am", "T09:30:00"),
        ("0h00", ""),
        ("23u59", "T23:59:00"),
    ],
)
@pytest.mark.parametrize("day", ["29/11/2026", "2026-11-29"])
def test_halves_of_the_day_and_full_hours(day: str, time: str, read: str, write: Write, tmp_path: Path) -> None:
    assert dates(write, tmp_path, f"{day} {time}").bodies[0]["datetime_expected"] == f"2026-11-29{read}"


MIDNIGHT = "midnight left out, so that the day alone is meant"


@pytest.mark.parametrize(("layout", "name"), columns_of(DATE))
def test_a_midnight_that_is_left_out_is_said(layout: FileLayout, name: str, write: Write, tmp_path: Path) -> None:
    for time in (
        *(" 0:00", " 00:00", " 00:00:00", " 00:00:00.000", " 00:00:00,0", "T00:00", "T00:00:00", " 12:00 AM", " 0 Uhr"),
        *(" 0h00", " 0.00", " 12am", "\u00a000:00", " 00:00 uur"),
    ):
        for day in ("2026-11-28", "28-11-2026", "28 November 2026", "28.11.2026"):
            write_cell(write, layout, name, f"{day}{time}", ";")
            found = Found(tmp_path)
            said = MIDNIGHT if day == "2026-11-28" else f"local date read as yyyy-mm-dd, {MIDNIGHT}"
            assert "2026-11-28'" in str(found.bodies), (day, time, found.bad)
            assert f"{layout.file}: changed in row 2: {name}: {said}." in found.notes, (day, time)


@pytest.mark.parametrize("time", ["00:01", "00:00:01", "00:00:00.5", "0:01", "12:01 AM", "T00:00:00Z", "T00:00+01:00"])
def test_a_time_that_is_kept_is_not_said_to_be_left_out(time: str, write: Write, tmp_path: Path) -> None:
    for day in ("2026-12-01",) if "T" in time else ("2026-12-01", "1.12.2026"):
        found = dates(write, tmp_path, f"{day}{'' if 'T' in time else ' '}{time}")
        assert "2026-12-01T00:0" in found.bodies[0]["datetime_expected"].replace(" ", "T")
        assert not any(MIDNIGHT in note for note in found.notes)


@pytest.mark.parametrize("other", ["2026-12-02 14:30", "2.12.2026 14:30", "2 December 2026 8h", "2026-12-02T00:01"])
@pytest.mark.parametrize("midnight", ["2026-12-01 00:00", "2026-12-01T00:00:00", "1 December 2026 0:00"])
def test_a_midnight_among_other_times_is_a_warning(other: str, midnight: str, write: Write, tmp_path: Path) -> None:
    found = dates(write, tmp_path, other, midnight)
    assert found.bodies[1]["datetime_expected"] == "2026-12-01"
    what = "is midnight, where other rows have another time, and is read as the day alone"
    assert f"deliveries.csv:3: warning: datetime_expected {what}: '2026-12-01'." in found.notes


BLANKS = ("\u00a0", "\u202f", "\u2009", "\u3000", "  ", "\t", " \u200b")
HYPHENS = ("-", "\u2010", "\u2011", "\u2012", "\u2013", "\u2212", "\uff0d", "\u2044", "\uff0f")


@pytest.mark.parametrize("time", ["14:30", "14\uff1a30", "2:30\u00a0PM", "14:30:00.0", "14:30:59.9"])
@pytest.mark.parametrize(("layout", "name"), columns_of(DATE))
def test_blanks_and_signs_of_print_in_a_date_are_read(
    layout: FileLayout, name: str, time: str, write: Write, tmp_path: Path
) -> None:
    for blank, sign in product(BLANKS, HYPHENS):
        for day in (f"28{sign}11{sign}2026", f"2026{sign}11{sign}28", f"28{blank}november{blank}2026"):
            write_cell(write, layout, name, f"{day}{blank}{time}")
            found = Found(tmp_path)
            assert found.bad == {}
            assert re.search(r"'2026-11-28[T ]14:30(:00|:59\.9)?(\.0)?'", str(found.bodies)), (day, time, found.bodies)


@pytest.mark.parametrize("sign", HYPHENS)
@pytest.mark.parametrize("blank", BLANKS)
def test_the_order_of_day_and_month_is_learnt_from_signs_of_print(
    sign: str, blank: str, write: Write, tmp_path: Path
) -> None:
    found = dates(write, tmp_path, f"28{sign}11{sign}2026{blank}14:30", "05/06/2026")
    assert [body["datetime_expected"][:10] for body in found.bodies] == ["2026-11-28", "2026-06-05"]


@pytest.mark.parametrize(
    "cell",
    [
        "29/11/2026 14:30 AM",
        "29/11/2026 25h30",
        "29/11/2026 14h60",
        "29/11/2026 24:00",
        "2026-11-29 25.00",
        "14h30",
        "29/11/2026 half past two",
        "2026-11-29 14h30 CET",
        "29 nov 2026 14:5",
    ],
)
def test_a_time_that_is_none_is_refused(cell: str, write: Write, tmp_path: Path) -> None:
    assert "yyyy-mm-dd" in dates(write, tmp_path, cell).bad[2]


@pytest.mark.parametrize(
    "cell",
    [
        "29 November 2026",
        "Nov 29, 2026",
        "29. Nov. 2026",
        "29 nov. 2026",
        "29 novembre 2026",
        "zo 29 nov 2026",
        "Sunday, 29 November 2026",
        "November 29, 2026",
        "November 29th, 2026",
        "29th of November 2026",
        "29NOV2026",
        "Nov-29-2026",
        "2026-Nov-29",
        "dimanche 29 novembre 2026",
        "dim. 29 nov. 2026",
        "le 29 novembre 2026",
        "Sonntag, den 29. November 2026",
        "So., 29.11.2026",
        "So 29.11.26",
        "zo 29-11-2026",
        "Sun 2026-11-29",
        "Sun, 11/29/2026",
        "di 29/11/2026",
        "29 NOV 2026",
        "29 nov '26",
        "29-Nov-26",
    ],
)
def test_month_names_and_week_days_are_read(cell: str, write: Write, tmp_path: Path) -> None:
    found = dates(write, tmp_path, cell)
    assert [body["datetime_expected"] for body in found.bodies] == ["2026-11-29"], found.bad
    assert any("local date read as yyyy-mm-dd" in note for note in found.notes)


@given(st.integers(0, 729), st.sampled_from(sorted(MONTHS)), st.sampled_from(["", "{w} ", "{w}, ", "{w}. "]))
def test_every_day_is_read_in_every_language(
    tmp_path_factory: pytest.TempPathFactory, days: int, language: str, before: str
) -> None:
    day = date(2026, 1, 1) + timedelta(days)
    month, week_day = MONTHS[language].split()[day.month - 1], WEEK_DAYS[language].split()[day.weekday()]
    cells = [f"{before.format(w=week_day)}{day.day}{dot} {month}{dot} {day.year}" for dot in ("", ".")]
    cells.append(f"{before.format(w=week_day)}{month} {day.day}, {day.year}")

    def write_file(name: str, *lines: str) -> None:
        (folder / name).write_text("\n".join(lines), "utf-8")

    folder = tmp_path_factory.mktemp("day")
    found = dates(write_file, folder, *cells)
    assert [body["datetime_expected"] for body in found.bodies] == [day.isoformat()] * 3, (cells, found.bad)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("Saturday, 29 November 2026", "names a Saturday, and 2026-11-29 is a Sunday"),
        ("Mo 29.11.2026", "names a Monday, and 2026-11-29 is a Sunday"),
        ("ma 29 nov 2026 14h30", "names a Monday or Tuesday, and 2026-11-29 is a Sunday"),
        ("lun. 29/11/2026", "names a Monday, and 2026-11-29 is a Sunday"),
        ("mar 29 novembre 2026", "names a Tuesday, and 2026-11-29 is a Sunday"),
    ],
)
def test_a_week_day_that_does_not_agree_is_refused(cell: str, words: str, write: Write, tmp_path: Path) -> None:
    assert words in dates(write, tmp_path, cell).bad[2]


@pytest.mark.parametrize("cell", ["29 Foo 2026", "Foo, 29 Nov 2026", "Nov 29", "November 2026", "Nov 26 29", "zo"])
def test_other_words_are_refused_with_the_forms_that_are_read(cell: str, write: Write, tmp_path: Path) -> None:
    reason = dates(write, tmp_path, cell).bad[2]
    assert "as 29-11-2026, 29 November 2026 or 2026-11-29 14:30 are; write yyyy-mm-dd" in reason


def test_week_day_does_not_hide_the_order_of_day_and_month(write: Write, tmp_path: Path) -> None:
    found = dates(write, tmp_path, "Sun 11/29/2026", "05/06/2026", "Mon 12/07/2026")
    assert [body["datetime_expected"] for body in found.bodies] == ["2026-11-29", "2026-05-06", "2026-12-07"]
    assert set(dates(write, tmp_path, "Sun 06/07/2026").bad) == {2}


def test_year_of_two_digits_beside_a_month_name_is_an_assumption(write: Write, tmp_path: Path) -> None:
    found = dates(write, tmp_path, "29-Nov-26")
    assert "29-Nov-26 in row 2 is 2026-11-29" in found.notes[0]


@pytest.mark.parametrize("week", ["2026-W49", "2026W49", " 2026-W49 ", "2026-W49-1"])
def test_the_first_day_of_a_week_is_said(week: str, write: Write, tmp_path: Path) -> None:
    [note] = [note for note in dates(write, tmp_path, week).notes if "changed" in note]
    assert ("a week read as its first day, the Monday" in note) == (not week.endswith("-1"))
