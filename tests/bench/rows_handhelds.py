"""Rows about a large store's load: 200 handhelds without terminals, on SQLite and on PostgreSQL.

They are on four hosts, each with its outbox, courier and token, as many on one as fit there; all of it on this machine.

`python -m tests.bench.rows_handhelds sqlite|postgres [--minutes 10]` runs one of them and says what came of it: what
was lost or doubled, errors, and whether the books are right. Exit status 0 when all is well.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_record import CONFIRMED
from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.db import open_database
from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.bench.bench import Bench
from tests.bench.cpu_shares import halves, join
from tests.bench.table import Pair, Row, measures, p99
from tests.faults import soak, staff
from tests.faults.host_results import Desk, Watched, booked, check_books, percentile, picked, watched
from tests.host.child_process import Child, running
from tests.service import postgres
from tests.terminal.lifeline import Lifeline, foreign_names, left_over, processes_under

HANDHELDS = 200
HOSTS = 4
SEED = 200
DRAIN_S = 900.0
BOOKS_S = 120.0
BETWEEN_S = 0.05
"""Between the first moments of two of them."""

FIGURES = (
    ("input to frame, p99", "ms"),
    ("requests at the service, p99", "ms"),
    ("largest RSS of the service", "MB"),
)


@measures(
    "handhelds",
    *(
        row
        for engine in ("SQLite", "PostgreSQL")
        for row in (
            Row(f"{HANDHELDS} handhelds, {engine}: failed commits and requests", "", most=0),
            *(Row(f"{HANDHELDS} handhelds, {engine}: {figure}", unit) for figure, unit in FIGURES),
        )
    ),
)
def handhelds(bench: Bench) -> Sequence[Pair]:
    """Forked sessions, one courier, one service. Raises AssertionError when its books are not what people saw."""
    found = _worked(bench, "sqlite", "")
    if bench.short:
        return [*found, *[Pair(None, None, "not in the short form")] * 4]
    try:
        server = postgres.started()
    except postgres.Unavailable as why:
        return [*found, *[Pair(None, None, str(why))] * 4]
    try:
        return [*found, *_worked(bench, "postgres", server.fresh(), [server.pid])]
    finally:
        server.end()


class Load(NamedTuple):
    """What came of a load."""

    people: list[Watched]
    requests: list[dict[str, Any]]
    largest_mb: float
    operations: int
    unsettled: int
    """Operations that were not carried out."""
    lost: int
    """Pieces that people saw picked and the service does not know of."""
    doubled: int
    """Pieces that the service has as picked and nobody picked."""
    books: str
    """What is wrong with them; '' when nothing is."""
    in_halves: bool
    """Whether services and people had half of the machine each."""

    @property
    def refused(self) -> Counter[int]:
        """How often which status answered that was no good one."""
        return Counter(each["status"] for each in self.requests if each["status"] >= 400)

    @property
    def failures(self) -> int:
        """Requests that were refused and inputs that could not be kept."""
        return self.refused.total() + sum(len(person.ended.errors) for person in self.people)

    @property
    def is_good(self) -> bool:
        """Nothing is lost or doubled, nothing failed, and the books are right."""
        return not (self.unsettled or self.lost or self.doubled or self.failures or self.books)


def _worked(bench: Bench, name: str, address: str, servers: Sequence[int] = ()) -> list[Pair]:
    load = _load(bench, name, address, servers)
    assert not load.unsettled, f"{load.unsettled} operations were not carried out"
    assert not load.lost, f"{load.lost} pieces are lost"
    assert not load.doubled, f"{load.doubled} pieces are doubled"
    assert not load.books, load.books
    return _figures(load)


def _load(bench: Bench, name: str, address: str, servers: Sequence[int] = ()) -> Load:
    """`servers` are processes that the service needs beside it."""
    plan = soak.Plan(bench.times(HANDHELDS, 3), bench.seconds, (0.1, 0.4) if bench.short else (2.0, 4.0), 12, 200)
    folder = bench.scratch / f"handhelds-{name}"
    roots = [folder / f"home-{number}" for number in range(bench.times(HOSTS, 1))]
    for root in roots:
        root.mkdir(mode=0o700, parents=True)
    requests = folder / "requests.jsonl"
    with _alone(folder), ExitStack() as opened:
        shares = opened.enter_context(halves())
        options = ("--access-log", str(requests), *(("--rate", "0") if bench.short else ()))
        os.environ["AISLE_HOME"] = str(roots[0])
        at = opened.enter_context(soak.at_work(roots[0], folder, plan, SEED, postgres=address, options=options))
        books = address or soak.database(folder)
        hosts = [(at.home, at.courier), *(_host(root, at, books) for root in roots[1:])]
        requests.write_bytes(b"")  # what the sync asked is not the load
        if shares:
            join(shares.people, [*processes_under(folder), os.getpid()])
            join(shares.services, [at.served.pid, *servers])
        people = [watched(lines) for lines in _told(hosts, plan)]
        desks = [opened.enter_context(closing(Desk(home))) for home, _ in hosts]
        _comes(lambda: all(desk.drained() for desk in desks), DRAIN_S)
        largest = _largest_mb(at.served.pid)
        taken = picked([said for person in people for said in person.said])
        _comes(lambda: soak.holds(lambda: check_books(books, taken, *desks)), BOOKS_S)
        operations = [each for desk in desks for each in desk.operations() if not each.superseded_by]
        there = booked(books)
        return Load(
            people,
            [json.loads(line) for line in requests.read_text().splitlines()],
            largest,
            len(operations),
            sum(each.state != CONFIRMED for each in operations),
            (taken - there).total(),
            (there - taken).total(),
            _wrong(lambda: check_books(books, taken, *desks)),
            shares is not None,
        )


def _comes(condition: Callable[[], object], within_s: float) -> None:
    """Waits for it; whether it came shows in what is counted afterwards."""
    with contextlib.suppress(AssertionError):
        soak.until(condition, within_s)


def _wrong(check: Callable[[], None]) -> str:
    try:
        check()
    except AssertionError as error:
        return str(error) or "the books are not what people saw"
    return ""


def _figures(load: Load) -> list[Pair]:
    told = f", answers {dict(load.refused)}" if load.refused else ""
    frames = [said.took_ms for person in load.people for said in person.said]
    took = [float(each["ms"]) for each in load.requests]
    return [
        Pair(float(load.failures), None, f"{load.operations:,} operations{told}"),
        Pair(p99(frames), None, f"{len(frames):,} inputs, p50 {percentile(frames, 0.5):.1f} ms"),
        Pair(p99(took), None, f"{len(took):,} requests, p50 {percentile(took, 0.5):.1f} ms"),
        Pair(load.largest_mb, None),
    ]


def _said(load: Load) -> Iterator[str]:
    """What came of it, line by line."""
    yield f"lost: {load.unsettled} of {load.operations:,} operations, {load.lost} pieces"
    yield f"doubled: {load.doubled} pieces"
    errors = [why for person in load.people for why in person.ended.errors]
    yield f"errors: {load.failures} ({len(errors)} inputs not kept, answers {dict(load.refused)})"
    yield from sorted(set(errors))
    yield f"books: {load.books or 'right'}"
    for (figure, unit), pair in zip(FIGURES, _figures(load)[1:], strict=True):
        yield f"{figure}: {pair.figure:,.1f} {unit}" + (f" ({pair.note})" if pair.note else "")
    yield f"services and people: {'half of the machine each' if load.in_halves else 'no groups could be made for them'}"
    yield f"verdict: {'good' if load.is_good else 'NOT GOOD'}"


def main() -> int:
    """One engine under load; prints what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.rows_handhelds", description=main.__doc__)
    parser.add_argument("engine", choices=("sqlite", "postgres"))
    parser.add_argument("--minutes", type=float, default=10, metavar="N")
    asked = parser.parse_args()
    with Bench(minutes=asked.minutes) as bench, ExitStack() as opened:
        address, servers = "", []
        if asked.engine == "postgres":
            server = postgres.started()
            opened.callback(server.end)
            address, servers = server.fresh(), [server.pid]
        print(f"{HANDHELDS} handhelds, {asked.minutes:g} minutes, {asked.engine}", flush=True)
        load = _load(bench, asked.engine, address, servers)
    print("\n".join(_said(load)))
    return 0 if load.is_good else 1


def _host(root: Path, at: soak.At, books: Path | str) -> tuple[StoreFolder, list[str]]:
    """One more host of the store, with a token of its own: its home, and the command of its courier."""
    os.environ["AISLE_HOME"] = str(root)
    secret = root.with_suffix(".secret")
    secret.touch(0o600)
    with closing(open_database(books)) as storage:
        made = create_token(
            storage, name=root.name, role="admin", store_numbers=None, now=format_timestamp(time.time())
        )
    secret.write_text(made.secret)
    courier = soak.courier_command(at.served.url, secret)
    return soak.host(root, at.served.url, courier), courier


def _told(hosts: Sequence[tuple[StoreFolder, list[str]]], plan: soak.Plan) -> list[list[str]]:
    """What each session told, from its first input to its end; they begin one after the other."""
    children = []
    for person in range(plan.sessions):
        home, courier = hosts[person % len(hosts)]
        os.environ["AISLE_HOME"] = str(home.root)
        children.append(Child(staff.session(home, courier, plan, person, SEED)))
        time.sleep(BETWEEN_S)
    with running(*children), ThreadPoolExecutor(len(children)) as threads:
        list(threads.map(_heard, children))
        return [child.kill() for child in children]


def _heard(child: Child) -> None:
    while child.hear(len(child.lines) + 1):
        pass


def _largest_mb(pid: int) -> float:
    """The most memory that a process ever had at a time."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """This process, and those that it starts, work in homes of that folder; none of them outlives the block."""
    before = dict(os.environ)
    line = Lifeline()
    try:
        for name in foreign_names():
            del os.environ[name]
        os.environ |= {"AISLE_ALLOW_VOLATILE": "1", "AISLE_LIFELINE_FD": str(line.fd)}
        yield
    finally:
        line.close()
        left_over(folder)
        os.environ.clear()
        os.environ |= before


if __name__ == "__main__":
    sys.exit(main())
