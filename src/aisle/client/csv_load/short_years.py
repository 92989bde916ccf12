"""Dates such as `28-11-26`, whose year of two digits can be the first or the last number."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

from aisle.client.csv_load.date_cells import full_year

_YEARS_NEAR = 3
"""Years from now within which the dates of a load are expected."""


class ShortYears:
    """Dates of one column with hyphens and at most two digits in each part, and what they show of their years."""

    def __init__(self, this_year: int, last_year: int) -> None:
        """Store the present year, and the last one that two digits can mean."""
        self._near = range(this_year - _YEARS_NEAR, this_year + _YEARS_NEAR + 1)
        self._last_year = last_year
        self._is_last = self._is_first = False
        """True if a date can only have its year there, by the number of digits or its week day."""
        self._has_impossible = False
        """True if a date is none of the calendar with its year first."""
        self._has_far_first = self._has_far_last = False
        """True if a date has a year that is not near, where it is the first or last number."""

    def see(self, first: str, second: str, last: str, week_days: Collection[int]) -> None:
        """Record a date by its three numbers and the days of the week that it names."""
        of_first, of_last = self.with_year_first(first, second, last), self.with_year_last(first, second, last)
        if week_days:
            of_first = [one for one in of_first if one.weekday() in week_days]
            of_last = [one for one in of_last if one.weekday() in week_days]
        if not of_last:
            self._is_first = self._is_first or bool(of_first)
            return
        self._is_last = self._is_last or len(first) == 1 or (bool(week_days) and not of_first)
        self._has_impossible = self._has_impossible or not of_first
        self._has_far_first = self._has_far_first or any(one.year not in self._near for one in of_first)
        self._has_far_last = self._has_far_last or any(one.year not in self._near for one in of_last)

    def is_year_last(self, *, is_local: bool) -> bool:
        """Return True if the year is surely the last number, or usually so in a file of a country with decimal commas.

        Years that are all near where they are last, and not where they are first, show it too.
        """
        if self._is_last or self._is_first:
            return self._is_last and not self._is_first
        return not self._has_far_last and (self._has_impossible or self._has_far_first or is_local)

    def with_year_first(self, first: str, second: str, last: str) -> list[date]:
        """Return the day that the numbers are as year, month and day; none if there is no such day."""
        return _days((full_year(first, self._last_year), second, last))

    def with_year_last(self, first: str, second: str, last: str) -> list[date]:
        """Return the days that the numbers are as day and month, in either order, and year."""
        year = full_year(last, self._last_year)
        return _days((year, second, first), (year, first, second))


def _days(*parts: tuple[int, str, str]) -> list[date]:
    found: dict[date, None] = {}
    for year, month, day in parts:
        try:
            found[date(year, int(month), int(day))] = None
        except ValueError:
            continue
    return list(found)
