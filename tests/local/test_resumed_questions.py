"""Whoever comes back after an end in mid-work finds the question that was open, with its reason."""

from __future__ import annotations

import pytest

from aisle.jobs.view import ASK
from aisle.local.host.home import Home
from tests.local.detours import WAYS, lasts, stand
from tests.local.test_detour import begin, headers_only, way
from tests.local.test_session import home, told

__all__ = ["headers_only", "home", "way"]

LASTING = [way for way in WAYS if lasts(way)]


@pytest.mark.parametrize("way", LASTING, indirect=True)
def test_what_was_asked_is_asked_again(home: Home, way: str) -> None:
    with begin(home, way) as session:
        view = stand(home, session, way)
        before = session._frame()
    with begin(home, way) as session:
        frame = session._frame()
        if before.verdict and before.verdict.kind == ASK:
            assert (frame.view, frame.verdict) == (view, before.verdict)
        else:
            print(way, told(before), told(frame))
