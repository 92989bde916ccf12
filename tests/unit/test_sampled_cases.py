"""The default run leaves out cases of a test marked `sampled(n)`, and keeps each value of an argument in some case.

Of a longer table it draws about as many as `CASES` of `tests/conftest.py`.
"""

from __future__ import annotations

import os

import pytest

FIRST, SECOND = range(3), ("a", "b", "c", "d")
PAIRS = ((0, "x"), (1, "x"), (2, "y"))


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_case(first: int, second: str, one: int, other: str) -> None:
    """One of many cases, of which a fifth and few more run by default."""


def test_every_value_is_in_some_case_of_the_default_run(request: pytest.FixtureRequest) -> None:
    cases = [each for each in request.session.items if getattr(each, "originalname", "") == test_case.__name__]
    kept = [each.callspec.params for each in cases if not each.get_closest_marker("full")]  # type: ignore[attr-defined]
    if len(cases) < len(FIRST) * len(SECOND) * len(PAIRS):
        pytest.skip("not all cases were asked for")
    assert len(kept) <= len(cases) // 3
    for name, values in (("first", FIRST), ("second", SECOND), ("one", (0, 1, 2)), ("other", ("x", "y"))):
        assert {case[name] for case in kept} == {*values}


@pytest.mark.parametrize("number", range(49))
def test_case_of_a_long_table(number: int) -> None:
    """One of many cases, of which a few run by default."""


def test_a_long_table_is_drawn(request: pytest.FixtureRequest) -> None:
    name = test_case_of_a_long_table.__name__
    drawn = sum(getattr(each, "originalname", "") == name for each in request.session.items)
    assert drawn in (0, 49 if os.environ.get("AISLE_FULL") == "1" else 2, 3)
