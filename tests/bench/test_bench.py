"""The benchmarks run: each row is measured and judged rightly. No test here says how fast anything is."""

import csv
import json
import os
import re
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.bench import generated_store
from tests.bench.__main__ import main
from tests.bench.bench import Bench
from tests.bench.clocks import Clocks
from tests.bench.floor_sync import floor_rate
from tests.bench.prepare import picked
from tests.bench.rows_session import traced
from tests.bench.rows_sync import entries, pages
from tests.bench.session import Program, Session
from tests.bench.slow_link import FarTerminal, way_s
from tests.bench.table import GROUPS, Finding, Measure, Pair, Row, lines, markdown, measures, median, p99, run

SHARE = Row("a share", "ms", "a floor", at_most=0.5)


@pytest.mark.pty
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["start", "memory", "scan", "burst", "bytes", "sync"])
def test_the_floor_is_measured(name: str) -> None:
    with Bench(short=True) as bench:
        findings = run(GROUPS[name], bench)
    assert len(findings) == len(GROUPS[name].rows)
    judged = [finding for finding in findings if finding.row.floor]
    assert judged
    assert all(finding.pair.floor and finding.verdict == "-" for finding in judged)


@pytest.mark.pty
def test_the_same_lines_measure_the_other_program() -> None:
    """With the floor app in aisle's place every row has a figure; where they do the same, the figures are alike."""
    with Bench(short=True) as bench:
        bench.aisle = bench.floor._replace(name="again")
        memory, courier = run(GROUPS["memory"], bench)
        size, packed = run(GROUPS["bytes"], bench)
        (start,) = run(GROUPS["start"], bench)
    assert memory.verdict == "within"
    assert size.ratio is not None
    assert size.ratio <= 1.2, "the budget of the bytes asks more of aisle than the floor app can give"
    assert courier.pair.figure is None
    assert packed.pair.figure
    assert packed.pair.figure < (size.pair.figure or 0)
    assert start.ratio is not None


LIGHT = ("search", "lists", "path")
MIDDLE = ("goods", "orders", "change", "radio", "safety")
HEAVY = (
    *("products", "sent", "waiting", "pages", "stores", "syncs", "busy", "service", "sync", "courier", "sessions"),
    *("handhelds", "chain", "start", "memory", "scan", "burst", "desk"),
)


@pytest.mark.full
@pytest.mark.pty
@pytest.mark.parametrize(
    "names",
    [LIGHT, MIDDLE, HEAVY],
    ids=["light", "middle", "heavy"],
)
def test_every_row_is_measured(names: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The real program, installed as from a wheel, over a small store that all groups share."""
    monkeypatch.setenv("AISLE_ALLOW_VOLATILE", "1")
    with Bench(short=True) as bench:
        bench.prepare()
        findings = [finding for name in names for finding in run(GROUPS[name], bench)]
    assert all(finding.pair.figure is not None or finding.pair.note for finding in findings)
    assert bench.curves
    assert len(markdown(findings)) == 2 + sum(finding.budget != "reported" for finding in findings)


def test_all_groups_have_a_short_form() -> None:
    assert {*LIGHT, *MIDDLE, *HEAVY, "bytes"} == set(GROUPS)


def test_clocks_tell_what_each_function_takes_by_itself() -> None:
    class Shelf:
        def outer(self) -> None:
            time.sleep(0.01)
            self.inner()

        def inner(self) -> None:
            time.sleep(0.03)

    before = Shelf.outer
    with Clocks() as clocks:
        clocks.put_on(Shelf, "outer", "outer")
        clocks.put_on(Shelf, "inner", "inner")
        began = time.perf_counter()
        Shelf().outer()
        whole = time.perf_counter() - began
        clocks.running = False
        Shelf().inner()
    assert Shelf.outer is before
    assert clocks.spent["outer"] >= 0.009
    assert clocks.spent["inner"] >= 0.029
    assert sum(clocks.spent.values()) <= whole


@pytest.mark.pty
def test_a_far_terminal_is_late_both_ways() -> None:
    with Bench(short=True) as bench, Session(stand_in(bench), terminal=FarTerminal) as session:
        answer = session.scan()
        assert answer.ms >= 2 * way_s(0) * 1000
        assert session.burst(3, 0.01)[-1] >= 2 * way_s(0) * 1000


def test_the_table_of_results_has_what_has_a_budget() -> None:
    alone = Finding("group", Row("a size", "MB", most=45), Pair(46.0, None))
    told = Finding("group", Row("told", "rows/s"), Pair(1.0, 2.0))
    *_, share, size = markdown([Finding("group", SHARE, Pair(2500.0, 10000.0)), told, alone])
    assert share == "| a share | a floor | 0.25 × | ≤ 0.5 × | within |"
    assert size == "| a size |  | 46 MB | ≤ 45 MB | **missed** |"


STAND_IN = """
import json, os, sys, time, tty
tty.setraw(0)
count, rest = 0, b""
while True:
    os.write(1, b"\x1b[H%d of 99973" % count)
    *codes, rest = (rest + os.read(0, 65536)).split(b"\\r")
    count += len(codes) - (sys.argv[1:] == ["lossy"] and len(codes) > 1)
    with open(os.environ["AISLE_TRACE"], "a") as trace:
        for code in codes:
            trace.write(json.dumps({"raw": code.decode(), "painted_ms": 1.5}) + "\\n")
"""
"""Counts scans and says how many, as the screen of an order does; `lossy` loses one of those that come together."""


def stand_in(bench: Bench, *arguments: str) -> Program:
    return Program(
        name="stand-in",
        argv=(sys.executable, "-S", "-c", STAND_IN, *arguments),
        env={**bench.env, "AISLE_TRACE": os.devnull},
        ready=lambda text: picked(text) >= 0,
        code=lambda _number: b"4000000000006",
        answered=picked,
    )


@pytest.mark.pty
def test_bursts_are_measured() -> None:
    with Bench(short=True) as bench:
        bench.aisle = stand_in(bench)
        findings = run(GROUPS["burst"], bench)
    assert [finding.pair.figure is not None and finding.ratio is not None for finding in findings] == [True] * 3
    assert findings[0].pair.note == "all 111 in the trace, painted p99 1.5 ms"


@pytest.mark.pty
def test_a_lost_scan_fails_the_run() -> None:
    with Bench(short=True) as bench, Session(stand_in(bench, "lossy")) as session:
        session.scan()
        with pytest.raises(AssertionError, match="stand-in did not answer"):
            session.volley(2, timeout_s=0.2)


@pytest.mark.pty
def test_a_doubled_scan_fails_the_run() -> None:
    doubled = pytest.raises(AssertionError, match="answered scan 2, the last one was 1")
    with Bench(short=True) as bench, Session(stand_in(bench)._replace(code=lambda _n: b"4\r4")) as session, doubled:
        session.scan()


@pytest.mark.parametrize("raws", [["1", "3"], ["2", "1", "3"], ["1", "2", "3", "3"]])
def test_a_trace_with_other_scans_fails_the_run(tmp_path: Path, raws: list[str]) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(json.dumps({"raw": raw, "painted_ms": 1}) + "\n" for raw in raws), encoding="utf-8")
    with pytest.raises(AssertionError, match="3 scans were written"):
        traced(trace, [b"1", b"2", b"3"])


@pytest.mark.pty
def test_stock_input_merges_scans_of_one_write() -> None:
    """Why the floor is measured with spaced scans alone: of two that arrive together the second one is not answered."""
    answered = []
    with Bench(short=True) as bench, Session(bench.floor) as session:
        for _ in range(5):
            mark = session.terminal.mark()
            session.terminal.write(b"4000000000001\r4000000000002\r")
            session.terminal.wait_quiet(100)
            answered.append(b"got 4000000000002\x1b" in session.terminal.since(mark))
            session.terminal.write(b"\r")
            session.terminal.wait_quiet(100)
    assert not all(answered)


@pytest.mark.pty
def test_a_scan_is_answered_by_its_own_number() -> None:
    with Bench(short=True) as bench, Session(bench.floor) as session:
        first, second = session.scan(), session.scan()
        assert "got 4000000000002" in session.terminal.text
        assert session.type(0.001).ms > 0
        assert "got 4000000000003" in session.terminal.text
    assert first.size > 13
    assert second.size > 13


@pytest.mark.parametrize(
    ("screen", "count"),
    [
        ("12 of 99973 pcs", 12),
        ("TAKE 99973     7 taken", 7),
        ("1,234/99,973", 1234),
        ("0 of 99 973", 0),
        ("12 of 999731", -1),
        ("", -1),
    ],
)
def test_the_count_is_read_from_the_screen(screen: str, count: int) -> None:
    assert picked(f"Abelia\n{screen}\n") == count


def test_the_shop_is_the_same_each_time_and_its_codes_are_right(tmp_path: Path) -> None:
    goods = generated_store.products(300)
    assert goods == generated_store.products(300)
    assert all(sum(int(d) * w for d, w in zip(each.barcode, (1, 3) * 7, strict=False)) % 10 == 0 for each in goods)
    files = [generated_store.write(tmp_path / name, goods) for name in ("one", "two")]
    names = {"stores.csv", "products.csv", "locations.csv", "stock.csv", "orders.csv"}
    assert {path.name for path in files[0].iterdir()} == names
    assert all((files[0] / name).read_bytes() == (files[1] / name).read_bytes() for name in names)
    with (files[0] / "orders.csv").open(encoding="utf-8", newline="") as stream:
        first = next(csv.DictReader(stream))
    assert (first["product_number"], first["quantity"]) == (goods[0].number, str(generated_store.QUANTITY))


def test_every_row_of_the_pages_is_inserted(tmp_path: Path) -> None:
    made = list(pages(generated_store.products(700)))
    assert sum(len(entries(page)) for page in made) == 1400
    assert floor_rate(made, tmp_path / "floor.db") > 0
    with closing(apsw.Connection(str(tmp_path / "floor.db"))) as database:
        tables = ("product", "stock", "place", "code", "search")
        counts = [database.execute(f"SELECT count(*) FROM {name}").get for name in tables]
        found = database.execute("SELECT count(*) FROM search WHERE search MATCH '\" col\"'").get
        kept = [json.loads(raw) for (raw,) in database.execute("SELECT raw FROM product ORDER BY id")]
    assert counts == [700, 700, 700, 1400, 700]
    assert 0 < found < 700
    assert kept == [row for page in made for row in json.loads(page).get("records", ())]


def test_json_has_every_row_and_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--short", "--floor-only", "--json", "bytes"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["figure"] for row in told["rows"]] == [row.figure for row in GROUPS["bytes"].rows]
    assert told["rows"][0]["floor"] > 0
    assert told["machine"]["textual"]


def test_an_unknown_group_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["speed"])
    assert "no such group: speed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("row", "figure", "floor", "verdict"),
    [
        (SHARE, 5.0, 10.0, "within"),
        (SHARE, 5.1, 10.0, "OVER"),
        (SHARE, None, 10.0, "-"),
        (SHARE, 5.0, None, "-"),
        (Row("a rate", "rows/s", at_least=0.4), 40.0, 100.0, "within"),
        (Row("a rate", "rows/s", at_least=0.4), 39.0, 100.0, "OVER"),
        (Row("a size", "MB", most=45), 45.0, None, "within"),
        (Row("a size", "MB", most=45), 46.0, None, "OVER"),
        (Row("told", "rows/s"), 1.0, 2.0, "-"),
    ],
)
def test_verdicts(row: Row, figure: float | None, floor: float | None, verdict: str) -> None:
    assert Finding("group", row, Pair(figure, floor)).verdict == verdict


def test_the_table_says_figure_floor_ratio_budget_and_verdict() -> None:
    head, line = lines([Finding("group", SHARE, Pair(2500.0, 10000.0, "a remark"))])
    assert head.split() == ["group", "figure", "unit", "aisle", "floor", "ratio", "budget", "verdict", "note"]
    cells = ["group", "a share", "ms", "2,500", "10,000 (a floor)", "0.25", "<= 0.5 x", "within", "a remark"]
    assert re.split(r"\s{2,}", line) == cells


def test_two_measurements_cannot_have_one_name() -> None:
    nothing: Measure = lambda _bench: []  # noqa: E731
    with pytest.raises(ValueError, match="'start'"):
        measures("start", SHARE)(nothing)


def test_quantiles() -> None:
    assert median([3, 1, 2]) == 2
    assert p99(range(1, 101)) == 99
    assert p99([7]) == 7
    assert median([]) is p99([]) is None
