"""The decoder: whatever a scanner, a keyboard or a slow link sends, each scan comes out whole, once and in order."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.scan.decoder import LATE_ESCAPE_S, LOST_PASTE_END_S, MAX_LINE, SECOND_TERMINATOR_S, Decoder
from aisle.scan.escape_sequences import ANSWER_PAUSE_S, CUT_OFF_S, KEYPAD_CHARACTERS
from aisle.scan.inputs_and_line_grouping import DecodedInput, EscapeInput, Key, Line, OpenLine

BACK, ENTER = Key("back"), Key("enter")
EAN = "4006381333931"
TERMINATORS = {"cr": b"\r", "lf": b"\n", "crlf": b"\r\n", "tab": b"\t", "etx": b"\x03", "tabcr": b"\t\r"}
SEQUENCES = [
    b"\x1b[A",
    b"\x1b[20~",
    b"\x1b[1;5C",
    b"\x1b[[A",
    b"\x1bOP",
    b"\x1bO5P",
    b"\x1b[I",
    b"\x1b[48;24;80;0;0t",
    b"\x1b[?2026;2$y",
    b"\x1b[<0;3;4M",
    b"\x1b[M !!",
    b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;rgb:0/0/0\x07",
    b"\x1bP>|XTerm(390)\x1b\\",
    b"\x1bP1$r0m\x1b\\",
    b"\x1b_Gi=31;OK\x1b\\",
]


def fed(*reads: bytes, t: float = 1.0) -> list[DecodedInput]:
    """All that comes out of these reads, at one time."""
    decoder = Decoder()
    return [item for read in reads for item in decoder.feed(read, t)]


def said(items: Iterable[DecodedInput]) -> list[DecodedInput | tuple[str, str]]:
    """Without times and without echo."""
    return [
        (item.text, item.terminator) if isinstance(item, Line) else item
        for item in items
        if not isinstance(item, OpenLine)
    ]


def lines(items: Iterable[DecodedInput]) -> list[str]:
    return [item.text for item in items if isinstance(item, Line)]


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


def test_a_dropped_line_is_no_part_of_the_next_one() -> None:
    decoder = Decoder()
    decoder.feed(b"y", 1.0)
    assert decoder.drop_line() == [OpenLine("")]
    (line,) = decoder.feed(b"j\r", 2.0)
    assert isinstance(line, Line)
    assert line.text == "j"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"A\r", [("A", "cr")]),
        (b"A\n", [("A", "lf")]),
        (b"A\r\n", [("A", "cr")]),
        (b"A\n\r", [("A", "lf")]),
        (b"A\t", [("A", "tab")]),
        (b"A\t\r\n", [("A", "tab")]),
        (b"\x02A\x03", [("A", "etx")]),
        (b"\x02A\x03\r", [("A", "etx")]),
        (b"\r", [ENTER]),
        (b"\n", [ENTER]),
        (b"\t\x03\x02", []),
        (b"A\r\r", [("A", "cr"), ENTER]),
        (b"A\r\n\n", [("A", "cr"), ENTER]),
        (b"]C10112\x1d10AB\x1e\x04\r", [("]C10112\x1d10AB\x1e\x04", "cr")]),
        (b"\x00A\x00B\x07\x0b\x0c\x1c\x1f\r\x00\n", [("AB", "cr")]),
        (b"AB\x08C\x7fD\r", [("AD", "cr")]),
        (b"\x08\x7f\r", [BACK, BACK, ENTER]),
        (b"\x08" + EAN.encode() + b"\r", [(EAN, "cr")]),
        (b"\x7f\x08X-02\r", [("X-02", "cr")]),
        (b"\x08\x02X-02\r", [("X-02", "cr")]),
        (b"\x08s\r", [("\x1cs", "cr")]),
        (b"X-02\r\x0812\r", [("X-02", "cr"), BACK, ("12", "cr")]),
        (b"A\x7f\x7f\r", [BACK, ENTER]),
        ("é€😀\r".encode(), [("é€😀", "cr")]),
        (b"caf\xe9\r", [("café", "cr")]),
        (b"\xe9A\xc3\xa9\r", [("éAé", "cr")]),
        (b"\xe2\x82A\r", [("âA", "cr")]),
        (b"\xe2\x82\xe9\r", [("âé", "cr")]),
        (b"\x9bA\xc2\x85\x80\r", [("A", "cr")]),
        (b"\xff\xfe\r", [("ÿþ", "cr")]),
        (b"\xed\xa0\xbd\r", [("í\xa0½", "cr")]),
        (b"\xe9\x7f\r", [ENTER]),
        (b"\x1b8712\r", [("8712", "cr")]),
        (b"12\x1b8\r", [("128", "cr")]),
        (b"\x1b\xe9\r", [("é", "cr")]),
        (b"\x1b]E04006381333931\r", [("]E04006381333931", "cr")]),
        (b"\x1b]1\r", [("]1", "cr")]),
        (b"\x1bP123\r", [("P123", "cr")]),
        (b"\x1bPROD-1\r", [("PROD-1", "cr")]),
        (b"\x1b_A1\r", [("_A1", "cr")]),
        (b"\x1b_G1\r", [("_G1", "cr")]),
        (b"\x1bO8712\r", [("O8712", "cr")]),
        (b"\x1b[8712\r", [("[8712", "cr")]),
        (b"\x1b\x1b8\r", [("8", "cr")]),
        (b"\x1b[2\x1b[A8\r", [EscapeInput("\x1b[A"), ("[28", "cr")]),
        (b"\x1b\r", [ENTER]),
        pytest.param(b"\x1bOq\x1bOr\x1bOn\x1bOu\x1bOM", [("12.5", "cr")], marks=pytest.mark.drawn),
        (b"\x1bOq\x1bOr\x1bOj8712\r", [("12*8712", "cr")]),
        (b"\x1b[200~A\x1b[201~", [("A", "paste")]),
        (b"\x1b[200~A\rB\nC\tD\r\nE\x1b[201~", [("A", "cr"), ("B", "lf"), ("C", "tab"), ("D", "cr"), ("E", "paste")]),
        (b"\x1b[200~\rA\r\r\r\n\nB\r\x1b[201~", [("A", "cr"), ("B", "cr")]),
        (b"\x1b[200~\x1b[201~", []),
        (b"\x1b[200~A\x1b[201~\rB\r", [("A", "paste"), ("B", "cr")]),
        (b"\x1b[200~A\r\x1b[201~\r\r", [("A", "cr"), ENTER]),
        (b"12*\x1b[200~A\x1b[201~", [("12*A", "paste")]),
        (b"\x1b[200~\x7fA\x1b[201~", [("A", "paste")]),
        (b"A\x1b[201~", [("A", "paste")]),
    ],
)
def test_what_bytes_say(data: bytes, expected: list[object]) -> None:
    assert said(fed(data)) == expected
    assert said(fed(*(bytes([byte]) for byte in data))) == expected


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_sequences_keep_their_place_and_break_no_line(sequence: bytes) -> None:
    whole = EscapeInput(sequence.decode("latin-1"))
    data = b"87" + sequence + b"12\r" + sequence + b"\n34\r"
    for place in range(len(data) + 1):
        assert said(fed(data[:place], data[place:])) == [whole, ("8712", "cr"), whole, ("34", "cr")]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_sequences_wait_for_their_rest(sequence: bytes) -> None:
    """A pause inside a sequence, but not right after its ESC, does no harm."""
    for place in range(2, len(sequence) + 1):
        decoder = Decoder()
        items = decoder.feed(b"87" + sequence[:place], 1.0) + decoder.tick(1.1)
        items += decoder.feed(sequence[place:] + b"12\r", 1.3)
        assert said(items) == [EscapeInput(sequence.decode("latin-1")), ("8712", "cr")]


@pytest.mark.parametrize("tail", [b"[20~", b"[A", b"[1;2D", b"[[A", b"[I"])
def test_a_late_tail_is_not_data(tail: bytes) -> None:
    for place in range(len(tail) + 1):
        decoder = Decoder()
        items = decoder.feed(b"\x1b", 1.0) + decoder.tick(1.1) + decoder.feed(tail[:place], 1.3)
        items += decoder.tick(1.4) + decoder.feed(tail[place:] + b"8712\r[A\r", 1.5)
        assert said(items) == [BACK, ("8712", "cr"), ("[A", "cr")]


def test_a_late_tail_of_two_letters_is_known_by_coming_alone() -> None:
    decoder = Decoder()
    items = decoder.feed(b"\x1b", 1.0) + decoder.tick(1.1) + decoder.feed(b"OP", 1.3) + decoder.feed(b"8712\r", 1.3)
    items += decoder.feed(b"\x1b", 2.0) + decoder.tick(2.1) + decoder.feed(b"ORD-1\r", 2.2)
    items += decoder.feed(b"OP", 2.3) + decoder.feed(b"-1\r", 2.3)
    assert said(items) == [BACK, ("8712", "cr"), BACK, ("ORD-1", "cr"), ("OP-1", "cr")]


@pytest.mark.parametrize("data", [b"[A8\r", b"[20~8\r", b"OP\r"])
def test_a_tail_that_comes_after_its_time_is_data(data: bytes) -> None:
    decoder = Decoder()
    items = decoder.feed(b"\x1b", 1.0) + decoder.tick(1.1) + decoder.feed(data, 1.2 + LATE_ESCAPE_S)
    assert said(items) == [BACK, (data[:-1].decode(), "cr")]


def test_text_like_a_late_escape_tail_is_data() -> None:
    decoder = Decoder()
    items = decoder.feed(b"\x1b", 1.0) + decoder.tick(1.1) + decoder.feed(b"[12]\r", 1.2)
    items += decoder.feed(b"\x1b", 2.0) + decoder.tick(2.1) + decoder.feed(b"[k1\r", 2.2)
    items += decoder.feed(b"\x1b", 3.0) + decoder.tick(3.1) + decoder.feed(b"[", 3.2) + decoder.tick(9.0)
    assert said(items) == [BACK, ("[12]", "cr"), BACK, ("[k1", "cr"), BACK]
    assert items[-1] == OpenLine("[")


def test_esc_alone_goes_back_or_clears_the_line() -> None:
    decoder = Decoder()
    assert decoder.feed(b"\x1b", 1.0) == []
    assert decoder.is_waiting
    assert decoder.tick(1.1) == [BACK]
    assert not decoder.is_waiting
    assert decoder.tick(1.2) == []
    assert decoder.feed(b"milk\x1b", 5.0) == [OpenLine("milk")]
    assert decoder.tick(5.1) == [OpenLine("")]
    assert lines(decoder.feed(b"8712\r", 9.0)) == ["8712"]


def test_a_sequence_without_an_end_blocks_nothing() -> None:
    for start, kept in (
        (b"\x1b[2", ""),
        (b"\x1bO", ""),
        (b"\x1b]", ""),
        (b"\x1b]1", ""),
        (b"\x1bP1", "P1"),
        (b"\x1b_", "_"),
    ):
        decoder = Decoder()
        assert decoder.feed(start, 1.0) == []
        assert decoder.tick(1.1) == []
        assert said(decoder.tick(1.1 + LATE_ESCAPE_S)) == []
        assert not decoder.is_waiting
        assert lines(decoder.feed(b"8712\r", 5.0)) == [kept + "8712"]
    assert lines(fed(b"\x1b]1" + b"x" * 300 + b"\r"))[0].startswith("]1xxx")


RUBBISH = [
    b"\x1b]",
    b"\x1b]1",
    b"\x1b]11;rgb:ffff/ffff/ff",
    b"\x1b]11;rgb:ffff/ffff/0000",
    b"\x1b]0;name\xe9",
    b"\x1b]11;rgb:ff\x1b",
    b"\x1bP>|XTerm(3",
    b"\x1bP1$r0;1",
    b"\x1bP0+r",
    b"\x1b_Gi=31;O",
]
SCANS = [b"4006381333931", b"]E04006381333931", b"\x1b[20~4006381333931", b"\x1b4006381333931", b"A-01-1"]


@pytest.mark.parametrize(
    ("rubbish", "scan"),  # with a letter behind it, the bracket is that of an AIM prefix
    [(rubbish, scan) for rubbish in RUBBISH for scan in SCANS if rubbish[2:] or scan[:1] not in b"A]"],
)
def test_an_answer_that_never_ends_takes_no_scan_with_it(rubbish: bytes, scan: bytes) -> None:
    """In one read or in pieces, and however long after it."""
    alone = lines(fed(scan + b"\r"))
    for pause in (ANSWER_PAUSE_S, 1.0, LATE_ESCAPE_S - 0.1, LATE_ESCAPE_S, 60.0):
        for size in (1, 3, 100):
            decoder, now = Decoder(), 1.0
            items = decoder.feed(rubbish, now)
            if not rubbish.endswith(b"\x1b"):  # the terminal's end of it may have been on its way
                items += decoder.tick(now + 0.1)
            now += pause
            items += decoder.tick(now) if pause >= LATE_ESCAPE_S else []
            for at in range(0, len(scan) + 1, size):
                items += decoder.feed((scan + b"\r")[at : at + size], now + at * 0.006)
            items += decoder.feed(EAN.encode() + b"\r", now + 10)
            assert lines(items) == [*alone, EAN], (pause, size)


@pytest.mark.parametrize("scan", [b"\x02\r", b"\x02\x03", b"\x01\x02\n", b"\x02\x03\r"])
def test_a_scan_of_controls_alone_is_no_enter(scan: bytes) -> None:
    (item,) = fed(scan)
    assert isinstance(item, Line)
    assert item.text == item.dropped == scan.decode().strip("\x03\r\n")


def test_ignored_characters_leave_enter_alone() -> None:
    assert fed(b"\x00\x11\r") == [ENTER]
    decoder = Decoder()
    assert decoder.feed(b"\x02", 1.0) + decoder.feed(b"\r", 1.1 + SECOND_TERMINATOR_S) == [ENTER]
    assert said(fed(b"\x028712\x03\r\x0299\x03\r")) == [("8712", "etx"), ("99", "etx")]


PIECES = [b"\x1b[", b"\x1b[1", b"\x1b[1;", b"\x1b[?", b"\x1b[[", b"\x1b[M", b"\x1b[M ", b"\x1bO", b"\x1bO5"]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("scan", [EAN.encode(), b"A-01-1", b"BADGE-U1", b"]E0" + EAN.encode(), b"~12"])
@pytest.mark.parametrize("pause", [CUT_OFF_S, 1.0, LATE_ESCAPE_S, 60.0])
def test_a_key_that_was_cut_off_takes_nothing_of_the_next_scan(piece: bytes, scan: bytes, pause: float) -> None:
    for size in (1, 100):
        decoder = Decoder()
        items = decoder.feed(piece, 1.0) + decoder.tick(1.1)
        for at in range(0, len(scan) + 1, size):
            items += decoder.feed((scan + b"\r")[at : at + size], 1.0 + pause + at * 0.006)
        assert said(items) == [(scan.decode(), "cr")]


@pytest.mark.parametrize("piece", [b"\x1b[", b"\x1b[1;", b"\x1b[[", b"\x1b[M", b"\x1bO"])
def test_right_behind_a_key_that_was_cut_off_a_scan_is_no_other_one(piece: bytes) -> None:
    """Nobody can tell where it began: all of it is one code, which nobody knows."""
    assert said(fed(piece + EAN.encode() + b"\r")) == [((piece[1:] + EAN.encode()).decode(), "cr")]


def scans(seed: int) -> list[str]:
    chosen = random.Random(seed)
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789-./"
    return [
        chosen.choice((f"{chosen.randrange(10**13):013d}", "".join(chosen.choices(letters, k=chosen.randint(2, 30)))))
        for _ in range(100)
    ]


CODES = ["A-01-1", "BADGE-U1", "M-01-1", "ORD-12", "]E04006381333931", "12A-01", "Z9", "t-7", "4006381333931"]
CSI = [b"\x1b[", b"\x1b[1", b"\x1b[1;", b"\x1b[?", b"\x1b[[", b"\x1b[M", b"\x1bO"]


@pytest.mark.parametrize(
    ("piece", "code"),  # behind ESC O some letters are keys of the keypad, with no other way to tell them
    [(piece, code) for piece in CSI for code in CODES if piece != b"\x1bO" or code[0] not in KEYPAD_CHARACTERS],
)
def test_cut_key_sequence_before_scan_hides_no_character(piece: bytes, code: str) -> None:
    """What looks like the end of the key is kept beside the line; whoever knows the codes knows whether it was one."""
    data = piece + code.encode() + b"\r" + EAN.encode() + b"\r"
    for size in (1, 2, 3, 100):
        items = [item for item in fed(*cut(data, range(0, len(data), size))) if isinstance(item, Line)]
        assert [item.text for item in items[1:]] == [EAN]
        assert code in items[0].longer_texts or items[0].text.endswith(code), items[0]
        assert items[1].possible_prefix == ""


@pytest.mark.parametrize("sequence", [b"\x1b[20~", b"\x1b]11;rgb:0/0/0\x07", b"\x1bP1$r0m\x1b\\"])
def test_a_key_that_no_code_could_have_ended_leaves_a_line_alone(sequence: bytes) -> None:
    (item,) = [item for item in fed(sequence + b"8712\r") if isinstance(item, Line)]
    assert (item.text, item.possible_prefix) == ("8712", "")


def test_text_long_after_a_key_is_not_its_tail() -> None:
    decoder = Decoder()
    items = decoder.feed(b"\x1b[A", 1.0) + decoder.feed(b"8712\r", 1.0 + CUT_OFF_S) + decoder.feed(b"\x1b[A\r9\r", 2.0)
    assert [(item.text, item.possible_prefix) for item in items if isinstance(item, Line)] == [("8712", ""), ("9", "")]


@given(
    st.sampled_from([*SEQUENCES, *RUBBISH]),
    st.integers(1, 40),
    st.sampled_from([*CODES, *scans(3)[:9]]),
    st.sampled_from(["", "\x02"]),
    st.sampled_from(["\r", "\n", "\r\n", "\t", "\x03"]),
    st.lists(st.integers(0, 1000), max_size=12),
)
def test_cut_escape_sequence_hides_no_scan_character(
    sequence: bytes, end: int, code: str, start: str, ends: str, places: list[int]
) -> None:
    """At once, in whatever reads: the code is whole, or part of a longer line that nobody knows; the next is itself."""
    data = sequence[:end] + f"{start}{code}{ends}".encode() + EAN.encode() + b"\r"
    items = [item for item in fed(*cut(data, places)) if isinstance(item, Line)]
    assert [item.text for item in items[1:]] == [EAN]
    rubbish = sequence[1:end].decode("latin-1").rstrip("\x1b")
    if rubbish[:1] and rubbish[:1] in "]P_" and items[0].text.startswith(rubbish):
        return  # it says itself that it is no code
    if rubbish != "O" or code[0] not in KEYPAD_CHARACTERS:
        assert code in items[0].longer_texts or items[0].text.endswith(code)


@pytest.mark.parametrize("rubbish", [each for each in RUBBISH if not each.endswith(b"\x1b") and each[2:]])
def test_scan_with_start_mark_survives_unfinished_terminal_answer(rubbish: bytes) -> None:
    data = rubbish + b"\x02" + EAN.encode() + b"\x03"
    for size in (1, 3, 100):
        assert lines(fed(*cut(data, range(0, len(data), size)))) == [EAN]


@pytest.mark.parametrize("sequence", [each for each in SEQUENCES if each[1:2] in (b"]", b"P", b"_")])
@pytest.mark.parametrize("pause", [ANSWER_PAUSE_S, LATE_ESCAPE_S / 2 - 0.1])
def test_an_answer_that_comes_in_pieces_is_one(sequence: bytes, pause: float) -> None:
    for first in range(2, len(sequence)):
        for second in range(first, len(sequence)):
            decoder = Decoder()
            items = decoder.feed(b"87" + sequence[:first], 1.0) + decoder.tick(1.1)
            items += decoder.feed(sequence[first:second], 1.0 + pause) + decoder.tick(1.1 + pause)
            items += decoder.feed(sequence[second:] + b"12\r", 1.0 + 2 * pause)
            assert said(items) == [EscapeInput(sequence.decode("latin-1")), ("8712", "cr")]


def test_the_rest_of_a_code_is_none() -> None:
    """Where a code began behind the rubbish, and only its end came after a pause, both are one, which nobody knows."""
    decoder = Decoder()
    items = decoder.feed(b"\x1b]11;rgb:ffff/ff400638133", 1.0) + decoder.feed(b"3931\r", 1.0 + ANSWER_PAUSE_S)
    assert lines(items) == ["]11;rgb:ffff/ff4006381333931"]
    items = decoder.feed(b"\x1bP12", 5.0) + decoder.feed(b"34\r", 5.0 + ANSWER_PAUSE_S)
    assert lines(items) == ["P1234"]


def test_a_second_terminator_belongs_to_the_first_only_for_a_moment() -> None:
    decoder = Decoder()
    decoder.feed(b"A\t", 1.0)
    assert decoder.feed(b"\r", 1.0 + SECOND_TERMINATOR_S) == []
    decoder.feed(b"A\t", 2.0)
    assert decoder.feed(b"\r", 2.01 + SECOND_TERMINATOR_S) == [ENTER]
    decoder.feed(b"A\r", 3.0)
    assert decoder.feed(b"\n", 60.0) == []  # whatever the link did, this is the LF of CRLF


def test_a_paste_that_lost_its_end_leaves_the_enter_key_alone() -> None:
    decoder = Decoder()
    decoder.feed(b"\x1b[200~A\r", 1.0)
    assert decoder.feed(b"\r", 1.0 + LOST_PASTE_END_S) == []
    assert decoder.feed(b"\r", 1.1 + LOST_PASTE_END_S) == [ENTER]


def test_a_paste_that_lost_its_end_leaves_the_backspace_key_alone() -> None:
    decoder = Decoder()
    decoder.feed(b"\x1b[200~A\r", 1.0)
    assert decoder.feed(b"\x7f", 1.0 + LOST_PASTE_END_S) == []
    assert decoder.feed(b"\x7f", 1.1 + LOST_PASTE_END_S) == []
    assert decoder.tick(1.2 + LOST_PASTE_END_S) == [BACK]


def test_times_and_pauses_are_evidence() -> None:
    decoder = Decoder()
    decoder.feed(b"87", 10.0)
    decoder.feed(b"1", 15.0)
    decoder.feed(b"\xc3", 15.5)
    decoder.feed(b"\xa9", 16.0)
    (line,) = decoder.feed(b"\r", 18.0)
    assert line == Line("871é", "cr", 10.0, 18.0, 5.0, median_pause=0.5, before_pause=3, typed_pause=5.0, end_pause=2.0)
    (line,) = decoder.feed(b"A\r", 99.0)
    assert line == Line("A", "cr", 99.0, 99.0, 0.0)


@pytest.mark.parametrize(
    ("reads", "apart"),
    [
        ([(b"n", 1.0), (EAN.encode() + b"\r", 2.0)], 1),
        ([(b"n", 1.0), (EAN[:5].encode(), 2.0), (EAN[5:].encode() + b"\r", 2.01)], 1),
        ([(b"n", 1.0), (EAN[:5].encode(), 2.0), (EAN[5:].encode() + b"\r", 2.1)], 0),
        ([(b"n", 1.0), (EAN.encode() + b"\r", 1.1)], 0),
        ([(b"nn", 1.0), (b"\x7f", 1.1), (EAN.encode() + b"\r", 2.0)], 1),
        ([(b"n", 1.0), (EAN.encode(), 2.0), (b"\x7f", 3.0), (b"1\r", 4.0)], 13),
        ([(EAN.encode() + b"\r", 2.0)], 0),
    ],
)
def test_text_typed_before_a_scan_is_told_apart(reads: list[tuple[bytes, float]], apart: int) -> None:
    decoder = Decoder()
    (line,) = [item for data, at in reads for item in decoder.feed(data, at) if isinstance(item, Line)]
    assert line.before_pause == apart


def test_echo_is_silent_inside_a_burst() -> None:
    decoder = Decoder()
    assert decoder.feed(b"8", 1.0) == [OpenLine("8")]
    assert decoder.feed(b"7", 1.0) == [OpenLine("87")]
    assert decoder.feed(b"\x1b[A", 1.0) == []  # whether it is in the middle of a scan says what follows
    after = decoder.feed(b"12\rA\rB\r", 1.0)
    assert after[0] == EscapeInput("\x1b[A")
    assert lines(after) == ["8712", "A", "B"]
    assert decoder.feed(b"C\rD", 1.0)[-1] == OpenLine("D")
    assert decoder.feed(b"E\x7f", 1.0) == []
    assert decoder.feed(b"\x7f", 1.0) == [OpenLine("")]
    assert decoder.feed(b"\x7f", 1.2) == []
    assert decoder.tick(1.3) == [BACK]


@pytest.mark.parametrize("pace", [0.0, 0.001, 0.012, 0.04])
@pytest.mark.parametrize("code", [EAN, "X-02", "s", "12", "é"])
def test_a_backspace_at_the_pace_of_the_scan_after_it_goes_nowhere(code: str, pace: float) -> None:
    decoder, now, items = Decoder(), 1.0, []
    for byte in b"\x08" + code.encode() + b"\r":
        items += decoder.feed(bytes([byte]), now)
        now += pace
    items += decoder.tick(now + 0.1)
    assert BACK not in items
    assert lines(items) == [code if len(code) > 3 else f"\x1c{code}"]


def test_a_backspace_of_a_person_goes_back_before_what_follows() -> None:
    decoder = Decoder()
    assert decoder.feed(b"\x7f", 1.0) == []
    assert decoder.is_waiting
    assert said(decoder.feed(b"s\r", 1.06)) == [BACK, ("s", "cr")]
    assert decoder.feed(b"\x7f", 2.0) == []
    assert decoder.tick(2.1) == [BACK]
    assert not decoder.is_waiting
    assert decoder.tick(2.2) == []


PREFIX_KEYS = ("\x1b[17~", "\x1b[18~", "\x1b[19~", "\x1b[20~", "\x1b[21~", "\x1b[23~", "\x1b[24~", "\x1b[20~\x1b[19~")


@pytest.mark.every_case
@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012, 0.04])
@pytest.mark.parametrize("keys", PREFIX_KEYS)
def test_a_function_key_at_the_pace_of_the_scan_after_it_goes_nowhere(keys: str, pace: float) -> None:
    decoder, now, items = Decoder(), 1.0, []
    for byte in keys.encode() + EAN.encode() + b"\r":
        items += decoder.feed(bytes([byte]), now)
        now += pace
    items += decoder.tick(now + 0.1)
    assert lines(items) == [EAN]
    assert not [item for item in items if isinstance(item, EscapeInput)]


def test_a_function_key_of_a_person_comes_when_nothing_follows() -> None:
    decoder = Decoder()
    assert decoder.feed(b"\x1b[20~", 1.0) == []
    assert decoder.is_waiting
    assert decoder.tick(1.1) == [EscapeInput("\x1b[20~")]
    assert decoder.feed(b"\x1b[20~", 2.0) == []
    assert said(decoder.feed(b"s\r", 2.5)) == [EscapeInput("\x1b[20~"), ("s", "cr")]


def test_a_line_without_an_end_is_cut() -> None:
    decoder = Decoder()
    for _ in range(40):
        decoder.feed(b"7" * 1000, 1.0)
    assert lines(decoder.feed(b"7\r8712\r", 1.0)) == ["7" * MAX_LINE, "8712"]


DECORATIONS = {
    "plain": lambda code: code,
    "aim": lambda code: b"]E0" + code,
    "gs": lambda code: b"]C1" + code[:1] + b"\x1d" + code[1:],
    "nul": lambda code: b"\x00" + code[:1] + b"\x00" + code[1:] + b"\x00",
    "f9": lambda code: b"\x1b[20~" + code,
    "resize": lambda code: code[:1] + b"\x1b[48;16;20;0;0t" + code[1:],
    "stx": lambda code: b"\x02" + code,
    "latin": lambda code: code + b"\xe9",
}


@pytest.mark.parametrize("terminator", TERMINATORS)
@pytest.mark.parametrize("decoration", DECORATIONS)
def test_a_hundred_scans_in_one_read(terminator: str, decoration: str) -> None:
    codes = scans(7)
    decorated = [DECORATIONS[decoration](code.encode()) for code in codes]
    expected = [fed_plain(code) for code in decorated]
    data = b"".join(code + TERMINATORS[terminator] for code in decorated)
    assert lines(fed(data)) == expected
    assert lines(fed(*cut(data, range(0, len(data), 5)))) == expected
    assert ENTER not in fed(data)


def fed_plain(code: bytes) -> str:
    """What a decorated code is as text: sequences, NUL and STX gone, Latin-1 read."""
    for junk in (b"\x1b[20~", b"\x1b[48;16;20;0;0t", b"\x00", b"\x02", b"\x07"):
        code = code.replace(junk, b"")
    return code.decode("latin-1")


def test_a_hundred_scans_in_one_paste() -> None:
    codes = scans(8)
    data = b"\x1b[200~" + "\n".join(codes).encode() + b"\x1b[201~"
    assert lines(fed(data)) == codes
    assert lines(fed(*(bytes([byte]) for byte in data))) == codes


BITS = st.sampled_from(
    b"8712 A \r \n \t \x02 \x03 \x1d \x00 \x08 \x7f \xe9 \xc3\xa9 \xe2 \x9b \x1b [ O ] P \\ \x1b[200~ \x1b[201~".split(
        b" "
    )
    + SEQUENCES
)
STREAM = st.one_of(st.binary(max_size=60), st.lists(BITS, max_size=30).map(b"".join))


@given(STREAM, st.lists(st.integers(0, 1000), max_size=12))
def test_reads_may_be_cut_anywhere(data: bytes, places: list[int]) -> None:
    assert said(fed(*cut(data, places))) == said(fed(data))


@given(st.lists(st.tuples(STREAM, st.floats(0, 5), st.booleans()), max_size=12))
def test_no_bytes_raise_and_scans_after_them_are_whole(reads: list[tuple[bytes, float, bool]]) -> None:
    decoder, now = Decoder(), 1.0
    for data, pause, quiet in reads:
        items = decoder.feed(data, now)
        now += pause
        items += decoder.tick(now) if quiet else []
        for item in items:
            assert isinstance(item, Line | OpenLine | Key | EscapeInput)
            assert not isinstance(item, Line) or (item.text and not set(item.text) & set(map(chr, range(0x80, 0xA0))))
    decoder.feed(b"\r", now)
    decoder.tick(now + 10)
    decoder.feed(b"\r", now + 20)
    assert lines(decoder.feed(EAN.encode() + b"\r", now + 30)) == [EAN]
