"""Signs, numbers and measures around a code: each is read, asked about or refused, and never left out in silence."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, WRONG, Frame
from aisle.scan.decoder import Decoder
from aisle.scan.inputs_and_line_grouping import EscapeInput
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session import scanner as paced
from tests.session.test_code_forms import (
    EAN,
    PACES,
    UPC_A,
    UPC_E,
    WEIGHED,
    Scanner,
    at,
    counted,
    home,
    open_count,
    picked,
    said,
    told,
)

__all__ = ["home"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ms", PACES)
@pytest.mark.parametrize(
    ("code", "many"),
    [
        (f"７＊{EAN}", 7),
        (f"７×{EAN}", 7),
        (f"１２＊{EAN}", 12),
        (f"１２*{EAN}", 12),
        (f"12×{EAN}", 12),
        (f"12 * {EAN}", 12),
        (f"12 × {EAN}", 12),
        (f"12x{EAN}", 12),
        (f"12 x {EAN}", 12),
        (f"12✕{EAN}", 12),
        ("１２＊９５２０００１１０００２４", 12),
        (f"12\u3000*\u3000{EAN}", 12),
    ],
)
def test_a_multiplier_counts_however_its_sign_is_written(home: StoreFolder, ms: int, code: str, many: int) -> None:
    with at(home) as session:
        scan = Scanner(session, ms)
        open_count(session, scan)
        assert counted(scan(code)) == many


@pytest.mark.parametrize("pace_s", [0.0, 0.006])
@pytest.mark.parametrize("add_on", [" 05", "  05", " 51299", ",05", "/05", "-05"])
@pytest.mark.parametrize("code", [EAN, UPC_A, f"0{UPC_A}"])
def test_an_add_on_beside_its_code_is_ignored(home: StoreFolder, pace_s: float, add_on: str, code: str) -> None:
    with at(home) as session:
        open_count(session, Scanner(session))
        assert counted(paced.Scanner(session).send(f"{code}{add_on}\r", pace_s)) == 1


@pytest.mark.parametrize("code", [EAN, UPC_A, f"0{UPC_A}"])
@pytest.mark.parametrize("cut", [5, -3, -1])
def test_an_add_on_is_ignored_after_a_pause_of_a_slow_link(home: StoreFolder, code: str, cut: int) -> None:
    with at(home) as session:
        open_count(session, Scanner(session))
        line = f"{code} 05\r"
        assert counted(paced.Scanner(session).send(line, 0.03, cuts=[cut % len(line)])) == 1


@pytest.mark.parametrize(("code", "pace_s"), [(EAN, 0.13), ("9520001100025", 0.0), ("9520009999998", 0.0)])
def test_a_number_beside_a_code_is_refused(home: StoreFolder, code: str, pace_s: float) -> None:
    with at(home) as session:
        open_count(session, Scanner(session))
        assert told(paced.Scanner(session).send(f"{code} 05\r", pace_s))[0] == WRONG


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ms", [0, 6])
@pytest.mark.parametrize(
    "code",
    [
        f"７・{EAN}",
        f"７\u3000{EAN}",
        f"7 {EAN}",
        f"7·{EAN}",
        f"{EAN}€",
        f"€{EAN}",
        f"{EAN}½",
        f"{EAN[:6]}é{EAN[6:]}",
        f"七{EAN}",
        f"{EAN} 12",
        f"{EAN} 5",
        f"{EAN};12",
        f"{EAN},12",
        f"{EAN}\u300012",
        f"{EAN}  51299",
        f"0*{EAN}",
        f"０＊{EAN}",
    ],
)
def test_what_no_form_explains_is_refused(home: StoreFolder, ms: int, code: str) -> None:
    with at(home) as session:
        scan = Scanner(session, ms)
        open_count(session, scan)
        assert told(scan(code))[0] == WRONG, code
        assert counted(scan(EAN)) == 1
    with at(home) as session:
        scan = Scanner(session, ms)
        scan("4101")
        assert told(scan(code))[0] == WRONG, code
        assert picked(home) == {}


@pytest.mark.parametrize("code", [f"{EAN} 12", f"{EAN};12", f"12 {EAN}", f"3*{EAN} 12"])
def test_a_code_and_a_number_are_told_how_to_multiply(home: StoreFolder, code: str) -> None:
    with at(home) as session:
        scan = Scanner(session)
        open_count(session, scan)
        frame = scan(code)
        assert told(frame) == (WRONG, "input.number_beside_code")
        assert "12*" in said(frame)


@pytest.mark.parametrize("factors", ["0x10", "10x0", "0*3", "3*0", "0×10", "０x１０", "2*0*3", "0,0x5"])
def test_no_multiplication_sets_a_count_to_zero(home: StoreFolder, factors: str) -> None:
    with at(home) as session:
        scan = Scanner(session)
        open_count(session, scan)
        scan(EAN)
        assert told(scan(factors)) == (WRONG, "input.no_multiplier")
        assert counted(scan(EAN)) == 2


def test_full_width_numbers_are_quantities_and_choices(home: StoreFolder) -> None:
    with at(home) as session:
        scan = Scanner(session)
        open_count(session, scan)
        scan(EAN)
        assert counted(scan("１２")) == 12
        assert counted(scan("٣")) == 3
        for times in ("１２＊", "12×", "12 *", "１２ ＊"):
            before = counted(scan("1"))
            assert told(scan(times))[1] == "session.times"
            assert counted(scan(EAN)) == before + 12


def test_a_full_width_number_chooses(home: StoreFolder) -> None:
    with at(home) as session:
        first = session.frames.build().view.name
        assert Scanner(session)("１").view.name != first


@pytest.mark.parametrize(
    "label",
    [
        "3302005000",
        "3302000500",
        "3402000275",
        "3953001299",
        "8005000599",
        "3352001000",
        "3312000500",
        "3322000500",
        "3332000500",
        "3372000500",
        "3532000500",
        "3622000500",
        "3692000500",
        "3103000000",
        "3922000",
        "3932978000",
        "30" + "12",
    ],
)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("job", ["count", "pick"])
def test_a_label_without_a_net_quantity_is_asked(home: StoreFolder, job: str, label: str) -> None:
    with at(home) as session:
        scan = Scanner(session)
        if job == "count":
            open_count(session, scan)
        else:
            scan("4101")
        frame = scan(f"010{WEIGHED}{label}")
        assert told(frame)[0] == ASK, said(frame)
        assert "Kale" in said(frame)
        assert "kg" in said(frame)
        frame = scan("1.5")
        if job == "count":
            assert counted(frame) == Decimal("1.5")
        else:
            assert list(picked(home).values()) == [Decimal("1.5")]


@pytest.mark.parametrize("label", ["3302005000", "3953001299", "8005000599", "3102000500"])
def test_goods_by_the_piece_are_counted_whatever_they_weigh(home: StoreFolder, label: str) -> None:
    with at(home) as session:
        scan = Scanner(session)
        open_count(session, scan)
        assert counted(scan(f"010{EAN}{label}")) == 1


@pytest.mark.parametrize(
    "tail",
    ["3109000500", "8008261301", "80082611", "17261301", "10L1\x1d3109000500", "3109", "7003"],
)
def test_a_wrong_label_is_not_put_on_the_scanner(home: StoreFolder, tail: str) -> None:
    with at(home) as session:
        scan = Scanner(session)
        open_count(session, scan)
        frame = scan(f"010{EAN}{tail}")
        assert told(frame)[0] == WRONG
        assert told(frame)[1] != "input.no_gs"


def test_a_guess_of_what_was_typed_at_an_open_quantity_is_asked(home: StoreFolder, aisle_home: Path) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product("P9", "Other", "01234565")])
    cache.write_stock([service_rows.stock("P9", 5, places={"A-1": 5})])
    with at(home) as session:
        scan = Scanner(session, 120)
        open_count(session, scan)
        scan(EAN)
        for typed in ("123456", "0123456"):
            frame = scan(typed)
            assert told(frame)[0] == ASK, said(frame)
            assert "Other" in said(frame)
            scan("b")
        assert counted(scan(EAN)) == 2


def test_the_same_is_asked_for_a_pick_of_other_goods(home: StoreFolder) -> None:
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_products(
        [service_rows.product("P9", "Other", "01234565")]
    )
    with at(home) as session:
        scan = Scanner(session, 120)
        scan("4101", EAN)
        frame = scan("123456")
        assert told(frame)[0] in (ASK, WRONG)
        assert picked(home) == {1: 1}


KEYS = {
    "F4": b"\x1bOS",
    "F5": b"\x1b[15~",
    "F7": b"\x1b[18~",
    "F8": b"\x1b[19~",
    "F9": b"\x1b[20~",
    "Ctrl-F8": b"\x1b[19;5~",
    "Shift-Tab": b"\x1b[Z",
    "Up": b"\x1b[A",
    "keypad Up": b"\x1bOA",
    "End": b"\x1b[F",
    "console F1": b"\x1b[[A",
    "NUL": b"\x00",
    "ENQ": b"\x05",
    "STX": b"\x02",
    "FS": b"\x1c",
    "BS": b"\x08",
    "DEL": b"\x7f",
    "ESC": b"\x1b",
    "C1": b"\xc2\x9d",
}


def sent(session: Session, data: bytes, ms: float) -> Frame:
    """The frame after bytes that came at this pace, in one read for 0."""
    decoder, at_ = Decoder(), 1.0
    frame = session.frames.build()
    for piece in [bytes([byte]) for byte in data] if ms else [data]:
        frame = session.take([each for each in decoder.feed(piece, at_) if not isinstance(each, EscapeInput)], at_)
        at_ += ms / 1000
    return frame


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ms", PACES)
@pytest.mark.parametrize("key", KEYS)
def test_a_key_inside_gs1_data_is_a_separator_or_refused(home: StoreFolder, key: str, ms: int) -> None:
    with at(home) as session:
        open_count(session, Scanner(session))
        begin = f"010{WEIGHED}10L1".encode() + KEYS[key]
        assert counted(sent(session, begin + b"3103000500\r", ms)) == Decimal("0.5")
        assert counted(sent(session, b"]C1" + begin + b"3103000500\r", ms)) == 1
        for tail in (b"7\r", b"31090005\r", b"31030005\r", b"X3103000500\r"):
            frame = sent(session, begin + tail, ms)
            assert told(frame)[0] == WRONG, (key, tail)
            assert key == "F8" or told(frame)[1] == "input.no_gs", (key, tail)


@pytest.mark.parametrize("answer", [b"\x1b[I", b"\x1b[O", b"\x1b[?62;4c", b"\x1b[<0;1;1M", b"\x1b]11;rgb:0/0/0\x07"])
def test_an_answer_of_the_terminal_inside_a_code_is_none_of_it(home: StoreFolder, answer: bytes) -> None:
    with at(home) as session:
        open_count(session, Scanner(session))
        for ms in PACES:
            before = sent(session, EAN[:9].encode() + answer + EAN[9:].encode() + b"\r", ms)
            assert told(before)[0] == GOOD


CONTROLS = "\x01\x05\x06\x07\x0b\x0c\x0e\x11\x13\x15\x1a\x1c\x1f\x80\x85\x9b\x9f"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ms", [0, 6])
@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_in_a_plain_code_is_refused_and_around_it_is_padding(
    home: StoreFolder, ms: int, control: str
) -> None:
    with at(home) as session:
        scan = Scanner(session, ms)
        open_count(session, scan)
        for cut in (1, 4, len(EAN) - 1):
            frame = scan(f"{EAN[:cut]}{control}{EAN[cut:]}")
            assert told(frame) == (WRONG, "input.extra_characters"), cut
            assert not session.stack.top.state.counted_lines
        assert counted(scan(f"{control}{EAN}{control}{control}")) == 1
        assert told(scan(f"1{control}2"))[0] == WRONG, "nor is it a quantity"
        assert counted(scan(EAN)) == 2


@pytest.mark.parametrize("ms", [0, 1, 12])
@pytest.mark.parametrize("key", ["BS", "DEL"])
@pytest.mark.parametrize("text", [EAN, "n", "u", "12", "3"])
def test_a_backspace_before_a_scan_leaves_no_page(home: StoreFolder, text: str, key: str, ms: int) -> None:
    with at(home) as session:
        open_count(session, Scanner(session))
        step = session.stack.top.job.step_name(session.stack.top.state)
        scanner = paced.Scanner(session, now=200.0)
        frame = scanner.send(KEYS[key] + text.encode() + b"\r", ms / 1000)
        assert session.stack.top.job.step_name(session.stack.top.state) == step
        if text == EAN:
            assert counted(frame) == 1
        else:
            assert told(frame) == (WRONG, "input.extra_characters")


OTHER = "9520001100512"


@pytest.mark.parametrize("page", ["count", "pick", "home"])
@pytest.mark.parametrize("pause", [0.0, 0.4, 2.0])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (EAN, OTHER),
        (EAN, EAN),
        (f"0{EAN}", OTHER),
        (EAN, UPC_E),
        (UPC_E, EAN),
        (EAN, "4006381333931"),
        (f"{EAN};", OTHER),
    ],
)
def test_two_codes_in_one_line_are_told_to_be_two(
    home: StoreFolder, page: str, pause: float, first: str, second: str
) -> None:
    with at(home) as session:
        scanner = paced.Scanner(session)
        if page == "count":
            open_count(session, Scanner(session))
        elif page == "pick":
            Scanner(session)("4101")
        scanner.write(first, 0.003)
        scanner.rest(pause)
        frame = scanner.send(f"{second}\r", 0.003)
        assert told(frame) == (WRONG, "input.two_codes"), told(frame)
        assert picked(home) == {}


@pytest.mark.parametrize("code", ["95200011000259520001100512", "00395200000000000043", "0109520001100505109520001100"])
def test_digits_that_are_not_two_codes_are_no_two_codes(home: StoreFolder, code: str) -> None:
    with at(home) as session:
        open_count(session, Scanner(session))
        assert told(Scanner(session)(code))[1] != "input.two_codes"
