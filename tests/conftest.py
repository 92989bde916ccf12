"""What every test can ask for: a home of its own, a lifeline for what it starts, a terminal, the real data."""

import asyncio
import contextlib
import gc
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest
import uvicorn.server
from hypothesis import HealthCheck, settings

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier import maintenance
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_queue import open_outbox
from aisle.settings import process_time_zone
from tests.clock import Clock
from tests.copied_databases import copied_databases
from tests.service.postgres import Server, Unavailable, started
from tests.terminal.harness import Terminal
from tests.terminal.lifeline import Lifeline, foreign_names, left_over, processes_started
from tests.writes import STORE

_untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no defect."""
settings.register_profile("steady", _untimed, max_examples=20, derandomize=True)
settings.register_profile("searching", _untimed, derandomize=False)
settings.load_profile("searching" if os.environ.get("AISLE_FULL") else "steady")
"""The default run tries the same 20 examples each time; the long runs look for new ones."""

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""Hundreds of processes start here and thousands of asserts are rewritten: what was compiled once is not again."""

CASES = 3
"""Cases of a table in the default run, about: the others repeat the same code with another value."""

LANGUAGE = "language"
"""The argument of which all cases run by default: each language has words of its own, which somebody changes."""

MEMORY, _ROOM = Path("/dev/shm"), 2 << 30


def _in_memory() -> bool:
    """Whether there is memory for what the tests write, and programs may be started from there."""
    if not os.access(MEMORY, os.W_OK):
        return False
    place = os.statvfs(MEMORY)
    return place.f_bavail * place.f_frsize >= _ROOM and not place.f_flag & os.ST_NOEXEC


if _in_memory():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", os.fspath(MEMORY))
os.environ["AISLE_ALLOW_VOLATILE"] = "1"
"""Ten thousand tests commit to databases of their own, each commit to the disk: a slow one would be all they wait for.

Folders of tests that passed go at once (`tmp_path_retention_policy`); `--basetemp` names another place for all of them.
"""

TEST_DATA = os.environ.get("AISLE_TEST_DATA")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays for the whole run: the garbage collector looks through what the tests make alone.

    Couriers collect after each read, and each time it would be ten thousand tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is marked `full`, unless AISLE_FULL=1 asks for it (`python -m tests.full`).

    Of a test of many cases about `CASES` stay in the default run, and of each argument every value that was drawn; of
    one marked `sampled(n)` no more than every n-th, and of one marked `every_case` all; and each case marked `drawn`,
    which goes where no other case does. The others are marked `full`.
    In the default run a test with processes of its own, which may starve on a crowded machine, has one more try; the
    closing line counts it, and the summary says where it was.
    """
    for item in _sampled_out(items):
        item.add_marker(pytest.mark.full)
    if os.environ.get("AISLE_FULL") != "1":
        long_runs = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=long_runs)
        items[:] = [item for item in items if not item.get_closest_marker("full")]
        for item in items:
            if item.get_closest_marker("pty") or "lifeline" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.flaky(reruns=1))
    items[:] = _interleaved(items)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Draw about `CASES` cases of each longer table for the default run, unless the test is marked otherwise.

    Of a test that is left out one case is enough to name it.
    """
    test = metafunc.definition
    if os.environ.get("AISLE_FULL") == "1":
        return
    is_chosen_elsewhere = any(map(test.get_closest_marker, ("every_case", "sampled")))
    limit = 1 if test.get_closest_marker("full") else math.inf if is_chosen_elsewhere else CASES
    test.own_markers[:] = [
        _drawn(mark, len(test.name), limit) if mark.name == "parametrize" else mark for mark in test.own_markers
    ]


def _drawn(table: pytest.Mark, first: int, limit: float) -> pytest.Mark:
    """Return the table with every n-th of its cases, about `limit`, counted from `first`, and those marked `drawn`.

    Cases of the long runs are left out.
    """
    names, values, *more = table.args
    if names == LANGUAGE:
        return table
    ids = table.kwargs.get("ids")
    cases = [*values]
    named = None if ids is None or callable(ids) else [*ids]
    marks = [{mark.name for mark in getattr(case, "marks", ())} for case in cases]
    kept = [at for at, of_case in enumerate(marks) if "full" not in of_case]
    if not kept:
        return table
    every = max(1, math.ceil(len(kept) / limit))
    kept = [at for n, at in enumerate(kept) if (n - first) % every == 0 or "drawn" in marks[at]]
    options = {**table.kwargs, "ids": [named[at] for at in kept]} if named is not None else table.kwargs
    return pytest.mark.parametrize(names, [cases[at] for at in kept], *more, **options).mark


def pytest_report_collectionfinish() -> str:
    """Return the line that says why tests are deselected."""
    return "" if os.environ.get("AISLE_FULL") == "1" else "long runs are deselected; AISLE_FULL=1 asks for them"


def _interleaved(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the items with those that wait at a terminal spread evenly between the modules of the others.

    A worker of pytest-xdist is given items that follow each other: without this, one worker would do all the waiting.
    """
    at_terminals = [item for item in items if item.get_closest_marker("pty")]
    waiting = set(at_terminals)
    modules = [list(module) for _, module in groupby((i for i in items if i not in waiting), _module_of)]
    result: list[pytest.Item] = []
    for number, module in enumerate(modules):
        first, last = (len(at_terminals) * n // len(modules) for n in (number, number + 1))
        result += [*module, *at_terminals[first:last]]
    return result or at_terminals


def _module_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _sampled_out(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the cases that the default run leaves to the long ones.

    The numbers of a case's values, each on its axis, are added up; the length of the test's name is added, so that not
    all tests of a module leave out the same values. Where there are several axes, each value stays in some case.
    """
    tests: dict[tuple[str, str], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and not item.get_closest_marker("full"):
            tests.setdefault((_module_of(item), item.originalname), []).append(item)
    for (_, name), cases in tests.items():
        every = _interval(cases)
        if every == 1:
            continue
        places = _places(cases)
        kept = {n for n, place in enumerate(places) if (sum(place) + len(name)) % every == 0}
        kept |= {n for n, case in enumerate(cases) if case.get_closest_marker("drawn")}
        if len(places[0]) > 1:
            kept = _with_every_value(places, kept, math.ceil(len(cases) / every))
        yield from (case for n, case in enumerate(cases) if n not in kept)


def _with_every_value(places: list[tuple[int, ...]], kept: set[int], least: int) -> set[int]:
    """Return the kept cases and those that bring the values which are in none of them, the most at once first.

    `least` is how many are kept at least.
    """
    result = {*kept}
    seen = {(axis, value) for n in kept for axis, value in enumerate(places[n])}
    for new_values in range(len(places[0]), -1, -1):
        for n, place in enumerate(places):
            if len({*enumerate(place)} - seen) >= new_values and (new_values or len(result) < least):
                result.add(n)
                seen.update(enumerate(place))
    return result


def _interval(cases: list[pytest.Function]) -> int:
    """Return n where every n-th of these cases runs by default."""
    if cases[0].get_closest_marker("every_case"):
        return 1
    if [*cases[0].callspec.params] == [LANGUAGE]:
        return 1
    marked = cases[0].get_closest_marker("sampled")
    return max(int(marked.args[0]) if marked else 1, math.ceil(len(cases) / CASES))


def _places(cases: list[pytest.Function]) -> list[tuple[int, ...]]:
    """Return for each case the numbers of its values on the axes of the test; arguments of one table are one axis.

    `callspec.indices` of pytest 9 is the number of the case for every argument.
    """
    names = [mark.args[0] for mark in cases[0].iter_markers("parametrize")]
    tables = [[name.strip() for name in each.split(",")] if isinstance(each, str) else [*each] for each in names]
    in_tables = {name for table in tables for name in table}
    axes = []
    for table in [*tables, *([name] for name in cases[0].callspec.params if name not in in_tables)]:
        numbers: dict[tuple[int, ...], int] = {}
        values = [tuple(id(case.callspec.params[name]) for name in table) for case in cases]
        axes.append([numbers.setdefault(value, len(numbers)) for value in values])
    return [*zip(*axes, strict=True)]


@pytest.fixture
def in_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """The host lives by the time of a zone that is called; nobody here has entered another one yet."""

    def live(zone: str) -> None:
        monkeypatch.setattr(process_time_zone, "_host_variable", [])
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield live
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="session", autouse=True)
def _nobody_looks_through_all_tests() -> Iterator[None]:
    """Couriers in this process collect no garbage after each read: it would be that of the whole run.

    Those that are processes of their own do.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance, "gc", SimpleNamespace(collect=lambda: 0))
        yield


@pytest.fixture(scope="session", autouse=True)
def _servers_end_at_once() -> Iterator[None]:
    """An HTTP server in this process looks a hundred times a second whether it should end, not ten times."""

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds / 10)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.server, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
        yield


@pytest.fixture(scope="session", autouse=True)
def _new_databases_are_copies() -> Iterator[None]:
    """A new cache.db or outbox.db of this process is a copy of an empty one; other processes create theirs."""
    with copied_databases():
        yield


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may speak another language than they expect."""
    monkeypatch.setenv("LC_MESSAGES", "C")
    if os.environ.get("LC_ALL"):
        monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture
def _guarded_home(tmp_path: Path) -> Iterator[Path]:
    """The folder for AISLE_HOME; fails the test when a process of it, or of another home beside it, lives on."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    before = processes_started()
    yield home
    if processes_started() != before and (alive := left_over(tmp_path)):
        pytest.fail(f"these processes outlived their test: {alive}")


@pytest.fixture
def lifeline(_guarded_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lifeline]:
    """The line that courier and service of this test hang on; cut at the test's end, or earlier by the test."""
    line = Lifeline()
    monkeypatch.setenv("AISLE_LIFELINE_FD", str(line.fd))
    yield line
    line.close()


@pytest.fixture
def aisle_home(_guarded_home: Path, lifeline: Lifeline, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty AISLE_HOME of this test's own, in an environment that tells the program nothing else."""
    for name in foreign_names():
        monkeypatch.delenv(name)
    monkeypatch.setenv("AISLE_HOME", str(_guarded_home))
    monkeypatch.setenv("AISLE_ALLOW_VOLATILE", "1")
    monkeypatch.setenv("AISLE_LIFELINE_FD", str(lifeline.fd))
    return _guarded_home


@pytest.fixture
def terminal(aisle_home: Path) -> Iterator[Callable[..., Terminal]]:
    """Opens terminals (arguments as `Terminal`'s) that are closed with the test."""
    with contextlib.ExitStack() as opened:

        def start(*arguments: Any, **options: Any) -> Terminal:
            return opened.enter_context(Terminal(*arguments, **options))

        yield start


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder with the real datasets; a test that needs it is skipped where it is absent."""
    if not TEST_DATA or not Path(TEST_DATA).is_dir():
        pytest.skip("AISLE_TEST_DATA names no folder with the datasets")
    return Path(TEST_DATA)


def started_or_skipped() -> Server:
    """Start a PostgreSQL, or skip the test that asks for it."""
    try:
        return started()
    except Unavailable as why:
        pytest.skip(str(why))


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL of this process's own; each test has a schema of its own in it."""
    made = started_or_skipped()
    yield made
    made.end()


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still until it is moved."""
    return Clock()


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """The home of the store at the embedded service."""
    return StoreFolder(aisle_home, "embedded", STORE)


@pytest.fixture
def outbox_db(home: StoreFolder) -> Iterator[apsw.Connection]:
    """The precious database of that home."""
    connection = open_outbox(home.folder)
    yield connection
    connection.close()


@pytest.fixture
def cache_db(home: StoreFolder) -> Iterator[apsw.Connection]:
    """The cache of that home, as the courier holds it."""
    connection = open_cache(home.folder, writer=True)
    yield connection
    connection.close()


@pytest.fixture
def cache(cache_db: apsw.Connection) -> CacheWriter:
    """The writer's side of the cache."""
    return CacheWriter(cache_db, STORE)


@pytest.fixture
def reads(home: StoreFolder, outbox_db: apsw.Connection, cache: CacheWriter) -> Iterator[CacheReader]:
    """The reader's side of the cache, with the outbox over it."""
    opened = CacheReader(home, outbox_db)
    yield opened
    opened.close()
