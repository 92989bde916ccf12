"""Progress output of the long fault runs, and how to repeat a seed that failed."""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.tally import Tally, total

Tell = Callable[[Tally], None]
MEMORY = Path("/dev/shm")
FULL = os.environ.get("AISLE_FULL") == "1"


@pytest.fixture
def memory(aisle_home: Path) -> Iterator[Path]:
    """A folder for shops that live long: in memory, where there is such a place."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else aisle_home) as folder:
        yield Path(folder) / "shop"


@pytest.fixture(scope="module")
def tell(request: pytest.FixtureRequest) -> Iterator[Tell]:
    """Shows the tally of each life in a long run, and at the end that of all of them."""
    tallies: list[Tally] = []

    def told(tally: Tally) -> None:
        tallies.append(tally)
        if FULL:
            _say(request.config, f"{tally} - {sum(each.faults for each in tallies):,} faults so far")

    yield told
    if tallies:
        _say(request.config, f"{request.module.__name__}: {total(tallies)}".replace("seed ", "seeds in all: ", 1))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """A seed that failed is run once more by this line."""
    try:
        return (yield)
    except BaseException as error:
        error.add_note(f'Once more: AISLE_FULL=1 python -m pytest "{pyfuncitem.nodeid}"')
        if FULL:  # the summary comes an hour later
            _say(pyfuncitem.config, "".join(traceback.format_exception(error)[-3:]))
        raise


def _say(config: pytest.Config, text: str) -> None:
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    with capture.global_and_fixture_disabled():
        print(f"\n{text}", flush=True)
