"""Which lines belong to one scan, by the times of their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.scan.decoder import Decoder
from aisle.scan.inputs_and_line_grouping import (
    SAME_SCAN_S,
    DecodedInput,
    EscapeInput,
    Key,
    Line,
    LineGrouper,
    OpenLine,
    Silence,
)

Read = tuple[float, bytes]
"""Seconds of silence before it, and its bytes."""

EAN = b"4006381333931"


def heard(reads: Iterable[Read]) -> list[DecodedInput]:
    """All that comes out of these reads and the silences between them, without the echo."""
    decoder, lines, now, out = Decoder(), LineGrouper(), 1.0, []
    for silence, data in (*reads, (1.0, b"")):
        until = now + silence
        while (wait := lines.seconds_left(now)) is not None and now + wait < until:
            now += wait
            out += lines.tick(now)
        now = until
        out += lines.group(decoder.feed(data, now), now) if data else []
    return [item for item in out if not isinstance(item, OpenLine)]


def scans(reads: Iterable[Read]) -> list[tuple[str, ...]]:
    """The lines of each scan, Enter as an empty one; what stands by itself is a scan of its own."""
    found: dict[object, list[str]] = {}
    for item in heard(reads):
        if isinstance(item, Line | Key | EscapeInput):
            text = item.text if isinstance(item, Line) else ""
            found.setdefault(item.scan_number or object(), []).append(text)
    return [tuple(texts) for texts in found.values()]


def slow(data: bytes, pace: float) -> list[Read]:
    """Byte by byte."""
    return [(pace, bytes((byte,))) for byte in data]


@pytest.mark.parametrize("pace", [0.0, 0.001, 0.003, 0.006, 0.012, 0.03])
@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n", b"\t", b"\t\r", b"\x03"])
def test_lines_at_scanner_pace_are_one_scan_whatever_ends_them(end: bytes, pace: float) -> None:
    data = b"BCD" + end + b"002" + end + b"1" + end
    assert scans(slow(data, pace)) == [("BCD", "002", "1")]


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        ([(0, b"1\r"), (0.05, b"2\r")], [("1", "2")]),
        ([(0, b"1\r"), (0.099, b"2\r")], [("1", "2")]),
        ([(0, b"1\r"), (0.15, b"2\r")], [("1",), ("2",)]),
        ([(0, b"BCD\r00"), (0.8, b"2\r"), (0.01, b"1\r")], [("BCD", "002", "1")]),
        ([(0, b"BCD\r"), (0.05, b"0"), (5.0, b"02\r")], [("BCD", "002")]),
        ([(0, b"1"), (0.11, b"\r"), (0.09, b"2"), (0.11, b"\r")], [("1",), ("2",)]),
        ([(0, b"1"), (0.07, b"\r"), (0.03, b"2"), (0.07, b"\r")], [("1", "2")]),
        ([*slow(b"oats", 0.12), (0.12, b"\r"), (0.05, b"1\r")], [("oats",), ("1",)]),
        ([*slow(b"12*", 0.2), (0.3, EAN + b"\r"), (0.01, b"1\r")], [("12*" + EAN.decode(), "1")]),
        ([(0, EAN + b"\r"), (0.05, b"^"), (0.03, b"\x7f"), (0.03, b"1\r")], [(EAN.decode(),), ("1",)]),
        ([(0, b"\r1\r\r")], [("", "1", "")]),
        ([(0, b"\r"), (0.15, b"\r")], [("",), ("",)]),
        pytest.param([(0, b"\r"), (0.06, b"\x1b[B")], [("",), ("",)], marks=pytest.mark.drawn),
        ([(0, b"\x1b[B\x1b[B")], [("",), ("",)]),
        ([(0, b"1\r\x1b[B2\r\x7f")], [("1", "", "2", "")]),
        ([(0, b"\x1b[200~1\n2\x1b[201~")], [("1", "2")]),
    ],
)
def test_a_silence_parts_scans_and_hands_are_no_scanner(reads: Sequence[Read], expected: list[tuple[str, ...]]) -> None:
    assert scans(reads) == expected


@given(st.lists(st.text("01aB", max_size=6), min_size=2, max_size=8), st.data())
def test_no_cut_of_the_bytes_parts_a_scan(lines: list[str], data: st.DataObject) -> None:
    """The first line, which is not empty, and all that comes within a tenth of a second."""
    lines = ["first", *lines]
    sent = "".join(line + "\n" for line in lines).encode()
    cuts = sorted(data.draw(st.sets(st.integers(1, len(sent) - 1))))
    edges = [0, *cuts, len(sent)]
    pauses = data.draw(st.lists(st.floats(0, 0.04), min_size=len(edges), max_size=len(edges)))
    reads = [(pauses[n], sent[a:b]) for n, (a, b) in enumerate(pairwise(edges))]
    assert scans(reads) == [tuple(lines)]


@pytest.mark.parametrize(
    ("reads", "waits"),
    [
        ([(0, EAN + b"\r")], [SAME_SCAN_S]),
        (slow(EAN + b"\r", 0.006), [0.011, SAME_SCAN_S]),
        (slow(EAN + b"\r", 0.012), [0.02, SAME_SCAN_S]),
        ([*slow(b"12*", 0.2), (0.3, EAN + b"\r")], [0.005, SAME_SCAN_S]),
        (slow(b"12\r", 0.12), []),
    ],
)
def test_a_code_waits_for_a_further_line_as_long_as_its_own_pace_says(
    reads: Sequence[Read], waits: list[float]
) -> None:
    quiet = [item for item in heard(reads) if isinstance(item, Silence)]
    assert [item.is_over for item in quiet] == [number == len(waits) for number in range(1, len(waits) + 1)]
    assert [round(item.seconds, 3) for item in quiet] == pytest.approx(waits, abs=0.002)


def test_a_terminal_that_is_gone_leaves_no_scan_undecided() -> None:
    lines = LineGrouper()
    lines.group(Decoder().feed(b"1\r", 1.0), 1.0)
    assert lines.end() == [Silence(1, SAME_SCAN_S, True)]
    assert lines.end() == []


def test_a_line_that_never_ends_keeps_no_code_waiting() -> None:
    assert [item.is_over for item in heard([(0, EAN + b"\r4")]) if isinstance(item, Silence)] == [False]
