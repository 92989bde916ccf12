"""The scanner doctor by itself: what it shows of an input, and what it thinks of the scanner."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle import named_tuple_json
from aisle.jobs import JOBS
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Opened,
    Query,
    RawInput,
    Resumed,
    Rows,
)
from aisle.jobs.shell.scanner_test import (
    MAX_INPUTS,
    MEANING_TEXTS,
    MIN_UNENDED,
    SAMPLE_SIGNS,
    SLOW_GAP_MS,
    ScannerTestJob,
    ScannerTestState,
    show_control_characters,
)
from aisle.jobs.view import GOOD, INFO, WRONG, Frame, LinkState
from aisle.scan.decoder import MAX_LINE, Decoder
from aisle.scan.grammar import parse_aim_prefix
from aisle.scan.grammar_and_meaning_types import (
    DELIVERY,
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Ambiguous,
    Back,
    Command,
    CursorKey,
    Match,
    Meaning,
    Multiplier,
    RefusedInput,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.scan.inputs_and_line_grouping import Line
from aisle.terminal_text import to_ascii
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.run_length import tries

JOB = ScannerTestJob()
CONTEXT = Context(store="0001", user="U1")
TERMINAL = {"columns": 80, "rows": 24, "term": "xterm", "encoding": "UTF-8"}
EAN = "4006381333931"
GS1 = "0104006381333931"


def scan(text: str, end: str = "cr", gap_ms: int = 2, dropped: str = "", said: Meaning | None = None) -> RawInput:
    return RawInput(text, end, gap_ms, dropped, said or UnknownCode(text))


def after(*events: Event) -> tuple[ScannerTestState, tuple[str, str]]:
    """The state after these events, and kind and message of the last verdict."""
    state, told = JOB.begin(), ("", "")
    for event in events:
        turn = JOB.handle(state, event, CONTEXT)
        state = turn.state
        if turn.verdict:
            told = (turn.verdict.kind, turn.verdict.text.id)
    return state, told


@pytest.mark.parametrize(
    ("heard", "told"),
    [
        ((scan(EAN, "tab"),), (GOOD, "scanner_test.good")),
        ((scan(f"]E0{EAN}", "etx"),), (GOOD, "scanner_test.good_aim")),
        ((scan(EAN), scan(EAN, "tab")), (INFO, "scanner_test.different_suffixes")),
        ((scan("anna", gap_ms=400), scan(EAN, "tab")), (GOOD, "scanner_test.good")),
        ((RawInput(key="up"), scan(EAN, "lf")), (GOOD, "scanner_test.good")),
        ((RawInput(key="f5"),), (INFO, "scanner_test.key")),
        ((scan(EAN, gap_ms=SLOW_GAP_MS + 1),), (INFO, "scanner_test.slow")),
        ((scan(EAN + EAN),), (WRONG, "scanner_test.two_codes")),
        ((scan("x" * MAX_LINE),), (WRONG, "scanner_test.two_codes")),
        ((scan("'ààè(&&èà"),), (WRONG, "input.keyboard_layout")),
        ((scan(EAN[:-1] + "2"),), (INFO, "scanner_test.check_digit")),
        ((scan(EAN[:-1] + "2", said=Scan((Match(ORDER, "1"),))),), (GOOD, "scanner_test.good")),
        ((scan(f"]C1{GS1}10AB"),), (GOOD, "scanner_test.good_aim")),
        ((scan(f"]C1{GS1}10AB\x1d17261231"),), (GOOD, "scanner_test.good_aim")),
        ((scan(f"]C1{GS1}10AB17261231"),), (WRONG, "input.no_gs")),
        ((scan(f"]d2{GS1}10AB{GS1}"),), (WRONG, "input.no_gs")),
        ((scan(f"]d2{GS1}21{'1' * 25}"),), (WRONG, "input.no_gs")),
        ((scan(f"]d2{GS1}17261231??"),), (WRONG, "input.no_gs")),
        ((scan(f"]Q3{GS1}10AB\x1d??"),), (WRONG, "input.gs1_damaged")),
        ((scan("]C1hello"),), (WRONG, "input.gs1_damaged")),
        ((scan(f"]C0{GS1}10AB17261231"),), (GOOD, "scanner_test.good_aim")),
    ],
)
def test_what_it_thinks(heard: tuple[RawInput, ...], told: tuple[str, str]) -> None:
    assert after(*heard)[1] == told


@pytest.mark.parametrize(
    ("said", "code", "means"),
    [
        (Scan((Match(PRODUCT, "P1", "Tea"),)), EAN, "product"),
        (Scan((Match(LOCATION, "A-1"),)), "A-1", "location"),
        (Scan((Match(ORDER, "41"),)), "41", "order"),
        (Scan((Match(REFERENCE, "41"),)), "web-1", "reference"),
        (Scan((Match(DELIVERY, "7005"),)), "9520004100250", "delivery"),
        (Scan((Match(PERSON, "U1", "Anna"),)), "BADGE-U1", "person"),
        (RefusedInput("input.no_choice_back", "AISLE:1"), "]C0aisle:1", "command"),
        (Multiplier("12"), "12*", "times"),
        (Ambiguous(()), "12871", "either"),
        (UnknownCode("?"), "?", "unknown"),
        (Text("milk"), "milk", "unknown"),
        (RefusedInput("input.no_command", "x"), "x", "nothing"),
        (CursorKey("enter"), " ", "nothing"),
    ],
)
def test_what_it_would_mean_here(said: Meaning, code: str, means: str) -> None:
    state, _ = after(scan(code, said=said))
    assert state.inputs[0].meaning_kind == means
    assert means in MEANING_TEXTS
    assert shown(state)


def shown(state: ScannerTestState, columns: int = 80, rows: int = 24) -> str:
    return "\n".join(plain_lines(layout_screen(Frame(JOB.view(state), LinkState("live")), columns, rows)))


def test_every_fact_is_on_the_page() -> None:
    tea: Meaning = Scan((Match(PRODUCT, "P1", "Tea"),))
    heard = scan(f"]d2{GS1}10AB\x1d17261231", "etx", 37, "\x02\x00", tea)
    state, _ = after(Opened({}), Rows("terminal", (TERMINAL,), 1), scan(EAN, "tab"), RawInput(key="f5"), heard)
    text = shown(state)
    for fact in (
        f"]d2{GS1}10AB<GS>17261231", "ETX", "]d2", "GS1 DataMatrix", "37 ms", "1 time", "32 characters", "<STX><NUL>",
        "Product Tea", EAN, "TAB", "Key f5", "80x24", "xterm", "UTF-8",
    ):  # fmt: skip
        assert fact in text, (fact, text)


def test_what_nothing_has_ended_is_told_as_such() -> None:
    for size, id_ in ((MIN_UNENDED - 1, "scanner_test.prompt"), (MIN_UNENDED, "scanner_test.prompt_open")):
        state, _ = after(TypedText("1" * size))
        assert JOB.view(state).prompt.id == id_
    assert JOB.view(after(TypedText(EAN), scan(EAN))[0]).prompt.id == "scanner_test.prompt"


def test_control_characters_show_by_name() -> None:
    assert show_control_characters("a\x1db\x1e\x04\x02\x00\x0e") == "a<GS>b<RS><EOT><STX><NUL><0E>"


def test_an_aim_prefix_is_told_from_its_code() -> None:
    assert parse_aim_prefix("]C1" + GS1) == ("C1", True, GS1)
    assert parse_aim_prefix(f"]E0{EAN}") == ("E0", False, EAN)
    assert parse_aim_prefix(EAN) == ("", False, EAN)


@pytest.mark.parametrize("cut", range(1, 8))
def test_what_is_left_out_of_a_line_is_remembered_with_it(cut: int) -> None:
    data = b"\x02AB\x00C\x03D\r"
    decoder = Decoder()
    items = [*decoder.feed(data[:cut], 1.0), *decoder.feed(data[cut:], 1.0)]
    lines = [(item.text, item.terminator, item.dropped) for item in items if isinstance(item, Line)]
    assert lines == [("ABC", "etx", "\x02\x00"), ("D", "cr", "")]


def test_who_listens_to_every_input() -> None:
    """Whoever looks at scans as they come, and who has to tell a scan from what is typed."""
    assert [name for name, job in JOBS.items() if job.raw_input] == ["pin", "scanner_test", "clearance_request"]


SAID = st.sampled_from(
    [
        Scan((Match(PRODUCT, "P1", "Tea"),)), Scan((Match(LOCATION, "A-1"),)), UnknownCode("x"),
        Text("milk"),
        Ambiguous(()), Multiplier("3"), RefusedInput("input.no_command", "x"), Command("n"), Command("p"),
        CursorKey("enter"), None,
    ]
)  # fmt: skip
ENDS = st.sampled_from(["cr", "lf", "tab", "etx", "paste"])
CODES = st.one_of(
    st.text(max_size=40),
    st.sampled_from([EAN, EAN + EAN, f"]E0{EAN}", "]C0AISLE:BACK", "'ààè(&&èà", EAN[:-1] + "2"]),
    st.builds("]{}{}{}".format, st.sampled_from(["C1", "d2", "Q3"]), st.just(GS1), st.text("0127AB\x1d", max_size=30)),
)
GAPS, LEFT_OUT = st.integers(0, 150), st.text("\x00\x02", max_size=2)
HEARD = st.one_of(
    st.tuples(CODES, ENDS, GAPS, LEFT_OUT, SAID).map(lambda parts: RawInput(*parts)),
    st.sampled_from(["up", "f5", "other", "enter"]).map(lambda key: RawInput(key=key)),
)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    HEARD,
    st.builds(TypedText, st.text(max_size=12)),
    st.sampled_from([Opened({}), Resumed(), Closed("x"), Changed("product", "P1"), Rows("terminal", (TERMINAL,), 1)]),
)


@given(st.lists(EVENTS, max_size=20), st.sampled_from([(20, 16), (40, 8), (40, 20), (80, 24), (200, 50)]))
@settings(max_examples=tries(50, 200), deadline=None, derandomize=True)
def test_nothing_that_is_heard_does_anything_else(events: list[Event], size: tuple[int, int]) -> None:
    state = JOB.begin()
    for event in events:
        turn = JOB.handle(state, event, CONTEXT)
        state = turn.state
        assert all(isinstance(effect, Query) for effect in turn.effects)
        assert len(state.inputs) <= MAX_INPUTS
        assert named_tuple_json.from_text(Event, named_tuple_json.to_text(event)) == event
        if isinstance(event, RawInput):
            assert (turn.verdict is None) == (event.meaning in (Command("n"), Command("p")) and not event.key)
    assert shown(state, *size)
    assert JOB.handle(state, Back(), CONTEXT).effects == (Close(),)


@pytest.mark.parametrize("aim", ["", "]C1"])
@pytest.mark.parametrize(
    ("tail", "told"),
    [
        *(
            (f"10AB{sign}3012", (INFO, "scanner_test.gs_substitute"))
            for sign in ("~", "|", "^]", "{GS}", "<GS>", "\\x1d", "␝")
        ),
        *((f"10AB{tail}", (WRONG, "input.no_gs")) for tail in ("Ω3012", "C" * 20, "17261231", "~30X")),
        ("17261301", (WRONG, "input.gs1_damaged")),
    ],
)
def test_what_stands_for_a_separator_is_said(aim: str, tail: str, told: tuple[str, str]) -> None:
    assert after(scan(f"{aim}{GS1}{tail}"))[1] == told


@pytest.mark.parametrize("text", ["ç(éàààààà&&à", "+ěščřžýá", "(%@))!!)))@$", "Aß01ß2"])
def test_every_keyboard_layout_is_named(text: str) -> None:
    assert after(scan(text))[1] == (WRONG, "input.keyboard_layout")


VERDICTS = (
    "scanner_test.good",
    "scanner_test.good_aim",
    "scanner_test.different_suffixes",
    "input.no_gs",
    "input.gs1_damaged",
    "scanner_test.two_codes",
    "input.keyboard_layout",
    "scanner_test.check_digit",
    "scanner_test.slow",
    "scanner_test.key",
)


def test_each_verdict_is_reached_a_hundred_times() -> None:
    chance, seen = random.Random(7), Counter[str]()
    codes = [EAN, f"]E0{EAN}", EAN + EAN, EAN[:-1] + "2", "'ààè(&&èà", "A-1"]
    tails = ["10AB", "10AB\x1d17261231", "10AB17261231", "??", "10AB\x1d??"]
    state = JOB.begin()
    for _ in range(6000):
        code = chance.choice([*codes, f"]C1{GS1}{chance.choice(tails)}"])
        end = chance.choice(["cr", "cr", "cr", "tab"]) if chance.random() < 0.2 else "cr"
        heard = scan(code, end, chance.choice([0, 1, 2, 3, 50, 400]))
        turn = JOB.handle(state, RawInput(key="f5") if chance.random() < 0.1 else heard, CONTEXT)
        assert turn.verdict is not None
        state = turn.state if chance.random() < 0.9 else JOB.begin()
        seen[turn.verdict.text.id] += 1
    assert set(seen) == set(VERDICTS)
    assert min(seen.values()) >= 100, seen


@pytest.mark.parametrize(("count", "shown"), [(0, "none"), (8, "8"), (256, "256"), (1 << 24, "16 million")])
def test_the_colours_of_the_terminal_are_told(count: int, shown: str) -> None:
    state, _ = after(Rows("terminal", ({**TERMINAL, "colours": count},), 1))
    text = plain_lines(layout_screen(Frame(JOB.view(state), LinkState("live", 1.0)), 80, 24))
    assert any(line.split() == ["Colours", *shown.split()] for line in text)


@pytest.mark.parametrize("size", [(20, 16), (40, 8), (40, 20), (80, 24), (200, 50)])
def test_each_look_is_shown_in_itself_and_signs_with_their_stand_ins(size: tuple[int, int]) -> None:
    """On some page of every screen: a word on the colour that it names, and one line as UTF-8 and as ASCII."""
    state, _ = after(Rows("terminal", (TERMINAL,), 1))
    spans: dict[str, str] = {}
    lines: set[str] = set()
    for page in range(6):
        painted = layout_screen(Frame(JOB.view(state._replace(page=page)), LinkState("live", 1.0)), *size)
        spans |= {text.strip(): role for line in painted.lines for text, role in line}
        lines |= set(plain_lines(painted))
    for word, role in {"green": "look-good", "red": "look-wrong", "blue": "look-info", "yellow": "look-ask"}.items():
        assert spans[word] == role
    assert [spans[word] for word in ("cyan", "bold", "dim", "reversed")] == ["block", "row", "hint", "cursor"]
    assert any(SAMPLE_SIGNS in line for line in lines)
    assert any(to_ascii(SAMPLE_SIGNS) in line for line in lines)


def test_without_utf_8_the_signs_are_their_stand_ins() -> None:
    state, _ = after(Rows("terminal", ({**TERMINAL, "encoding": "ASCII"},), 1))
    painted = plain_lines(layout_screen(Frame(JOB.view(state), LinkState("live", 1.0)), 80, 24, is_ascii=True))
    assert all(line.isascii() for line in painted)
    assert sum(line.count(to_ascii(SAMPLE_SIGNS)) for line in painted) == 2
