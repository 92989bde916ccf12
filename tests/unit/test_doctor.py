"""The scanner doctor by itself: what it shows of an input, and what it thinks of the scanner."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.jobs import JOBS, codec
from aisle.jobs.base import Changed, Close, Closed, Context, Event, Heard, Opened, Query, Resumed, Rows, listens
from aisle.jobs.house.doctor import KEPT, DoctorJob
from aisle.jobs.house.doctor_judge import SLOW_MS
from aisle.jobs.house.doctor_state import Doctor
from aisle.jobs.house.doctor_view import MEANS, SIGNS, UNENDED, visible
from aisle.jobs.view import GOOD, INFO, WRONG, Frame, Link
from aisle.scan.decoder import LONGEST_LINE, Decoder
from aisle.scan.grammar import aim_of
from aisle.scan.inputs import Line
from aisle.scan.meaning import (
    DELIVERY,
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Back,
    Command,
    Echo,
    Either,
    Meaning,
    Move,
    Refused,
    Said,
    Text,
    Thing,
    Times,
    Unknown,
)
from aisle.text import ascii_fold
from aisle.tui.screens.frame import paint
from aisle.tui.screens.painted import plain

JOB = DoctorJob()
CONTEXT = Context(store="0001", user="U1")
TERMINAL = {"columns": 80, "rows": 24, "term": "xterm", "encoding": "UTF-8"}
EAN = "4006381333931"
GS1 = "0104006381333931"


def scan(text: str, end: str = "cr", gap_ms: int = 2, dropped: str = "", said: Said | None = None) -> Heard:
    return Heard(text, end, gap_ms, dropped, said or Unknown(text))


def after(*events: Event) -> tuple[Doctor, tuple[str, str]]:
    """The state after these events, and kind and message of the last verdict."""
    state, told = JOB.begin(), ("", "")
    for event in events:
        turn = JOB.step(state, event, CONTEXT)
        state = turn.state
        if turn.verdict:
            told = (turn.verdict.kind, turn.verdict.text.id)
    return state, told


@pytest.mark.parametrize(
    ("heard", "told"),
    [
        ((scan(EAN, "tab"),), (GOOD, "doctor.fine")),
        ((scan(f"]E0{EAN}", "etx"),), (GOOD, "doctor.fine_aim")),
        ((scan(EAN), scan(EAN, "tab")), (INFO, "doctor.suffixes")),
        ((scan("anna", gap_ms=400), scan(EAN, "tab")), (GOOD, "doctor.fine")),
        ((Heard(key="up"), scan(EAN, "lf")), (GOOD, "doctor.fine")),
        ((Heard(key="f5"),), (INFO, "doctor.key")),
        ((scan(EAN, gap_ms=SLOW_MS + 1),), (INFO, "doctor.slow")),
        ((scan(EAN + EAN),), (WRONG, "doctor.two_codes")),
        ((scan("x" * LONGEST_LINE),), (WRONG, "doctor.two_codes")),
        ((scan("'ààè(&&èà"),), (WRONG, "doctor.layout")),
        ((scan(EAN[:-1] + "2"),), (INFO, "doctor.check")),
        ((scan(EAN[:-1] + "2", said=Thing((Meaning(ORDER, "1"),))),), (GOOD, "doctor.fine")),
        ((scan(f"]C1{GS1}10AB"),), (GOOD, "doctor.fine_aim")),
        ((scan(f"]C1{GS1}10AB\x1d17261231"),), (GOOD, "doctor.fine_aim")),
        ((scan(f"]C1{GS1}10AB17261231"),), (WRONG, "doctor.no_gs")),
        ((scan(f"]d2{GS1}10AB{GS1}"),), (WRONG, "doctor.no_gs")),
        ((scan(f"]d2{GS1}21{'1' * 25}"),), (WRONG, "doctor.no_gs")),
        ((scan(f"]d2{GS1}17261231??"),), (WRONG, "doctor.no_gs")),
        ((scan(f"]Q3{GS1}10AB\x1d??"),), (WRONG, "doctor.gs1_broken")),
        ((scan("]C1hello"),), (WRONG, "doctor.gs1_broken")),
        ((scan(f"]C0{GS1}10AB17261231"),), (GOOD, "doctor.fine_aim")),
    ],
)
def test_what_it_thinks(heard: tuple[Heard, ...], told: tuple[str, str]) -> None:
    assert after(*heard)[1] == told


@pytest.mark.parametrize(
    ("said", "code", "means"),
    [
        (Thing((Meaning(PRODUCT, "P1", "Tea"),)), EAN, "product"),
        (Thing((Meaning(LOCATION, "A-1"),)), "A-1", "location"),
        (Thing((Meaning(ORDER, "41"),)), "41", "order"),
        (Thing((Meaning(REFERENCE, "41"),)), "web-1", "reference"),
        (Thing((Meaning(DELIVERY, "7005"),)), "9520004100250", "delivery"),
        (Thing((Meaning(PERSON, "U1", "Anna"),)), "BADGE-U1", "person"),
        (Refused("input.choice", "AISLE:1"), "]C0aisle:1", "command"),
        (Times("12"), "12*", "times"),
        (Either(()), "12871", "either"),
        (Unknown("?"), "?", "unknown"),
        (Text("milk"), "milk", "unknown"),
        (Refused("input.letter", "x"), "x", "nothing"),
        (Move("enter"), " ", "nothing"),
    ],
)
def test_what_it_would_mean_here(said: Said, code: str, means: str) -> None:
    state, _ = after(scan(code, said=said))
    assert state.inputs[0].means == means
    assert means in MEANS
    assert shown(state)


def shown(state: Doctor, columns: int = 80, rows: int = 24) -> str:
    return "\n".join(plain(paint(Frame(JOB.view(state), Link("live")), columns, rows)))


def test_every_fact_is_on_the_page() -> None:
    tea: Said = Thing((Meaning(PRODUCT, "P1", "Tea"),))
    heard = scan(f"]d2{GS1}10AB\x1d17261231", "etx", 37, "\x02\x00", tea)
    state, _ = after(Opened({}), Rows("terminal", (TERMINAL,), 1), scan(EAN, "tab"), Heard(key="f5"), heard)
    text = shown(state)
    for fact in (
        f"]d2{GS1}10AB<GS>17261231", "ETX", "]d2", "GS1 DataMatrix", "37 ms", "1 time", "32 characters", "<STX><NUL>",
        "Product Tea", EAN, "TAB", "Key f5", "80x24", "xterm", "UTF-8",
    ):  # fmt: skip
        assert fact in text, (fact, text)


def test_what_nothing_has_ended_is_told_as_such() -> None:
    for size, id_ in ((UNENDED - 1, "doctor.prompt"), (UNENDED, "doctor.prompt_open")):
        state, _ = after(Echo("1" * size))
        assert JOB.view(state).prompt.id == id_
    assert JOB.view(after(Echo(EAN), scan(EAN))[0]).prompt.id == "doctor.prompt"


def test_control_characters_show_by_name() -> None:
    assert visible("a\x1db\x1e\x04\x02\x00\x0e") == "a<GS>b<RS><EOT><STX><NUL><0E>"


def test_an_aim_prefix_is_told_from_its_code() -> None:
    assert aim_of("]C1" + GS1) == ("C1", True, GS1)
    assert aim_of(f"]E0{EAN}") == ("E0", False, EAN)
    assert aim_of(EAN) == ("", False, EAN)


@pytest.mark.parametrize("cut", range(1, 8))
def test_what_is_left_out_of_a_line_is_remembered_with_it(cut: int) -> None:
    data = b"\x02AB\x00C\x03D\r"
    decoder = Decoder()
    items = [*decoder.feed(data[:cut], 1.0), *decoder.feed(data[cut:], 1.0)]
    lines = [(item.text, item.end, item.dropped) for item in items if isinstance(item, Line)]
    assert lines == [("ABC", "etx", "\x02\x00"), ("D", "cr", "")]


def test_who_listens_to_every_input() -> None:
    """Whoever looks at scans as they come, and who has to tell a scan from what is typed."""
    assert [name for name, job in JOBS.items() if listens(job)] == ["pin", "doctor", "clear"]


SAID = st.sampled_from(
    [
        Thing((Meaning(PRODUCT, "P1", "Tea"),)), Thing((Meaning(LOCATION, "A-1"),)), Unknown("x"), Text("milk"),
        Either(()), Times("3"), Refused("input.letter", "x"), Command("n"), Command("p"), Move("enter"), None,
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
    st.tuples(CODES, ENDS, GAPS, LEFT_OUT, SAID).map(lambda parts: Heard(*parts)),
    st.sampled_from(["up", "f5", "other", "enter"]).map(lambda key: Heard(key=key)),
)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    HEARD,
    st.builds(Echo, st.text(max_size=12)),
    st.sampled_from([Opened({}), Resumed(), Closed("x"), Changed("product", "P1"), Rows("terminal", (TERMINAL,), 1)]),
)


@given(st.lists(EVENTS, max_size=20), st.sampled_from([(20, 16), (40, 8), (40, 20), (80, 24), (200, 50)]))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_nothing_that_is_heard_does_anything_else(events: list[Event], size: tuple[int, int]) -> None:
    state = JOB.begin()
    for event in events:
        turn = JOB.step(state, event, CONTEXT)
        state = turn.state
        assert all(isinstance(effect, Query) for effect in turn.effects)
        assert len(state.inputs) <= KEPT
        assert codec.from_text(Event, codec.to_text(event)) == event
        if isinstance(event, Heard):
            assert (turn.verdict is None) == (event.said in (Command("n"), Command("p")) and not event.key)
    assert shown(state, *size)
    assert JOB.step(state, Back(), CONTEXT).effects == (Close(),)


@pytest.mark.parametrize("aim", ["", "]C1"])
@pytest.mark.parametrize(
    ("tail", "told"),
    [
        *((f"10AB{sign}3012", (INFO, "doctor.gs_as")) for sign in ("~", "|", "^]", "{GS}", "<GS>", "\\x1d", "␝")),
        *((f"10AB{tail}", (WRONG, "doctor.no_gs")) for tail in ("Ω3012", "C" * 20, "17261231", "~30X")),
        ("17261301", (WRONG, "doctor.gs1_broken")),
    ],
)
def test_what_stands_for_a_separator_is_said(aim: str, tail: str, told: tuple[str, str]) -> None:
    assert after(scan(f"{aim}{GS1}{tail}"))[1] == told


@pytest.mark.parametrize("text", ["ç(éàààààà&&à", "+ěščřžýá", "(%@))!!)))@$", "Aß01ß2"])
def test_every_keyboard_layout_is_named(text: str) -> None:
    assert after(scan(text))[1] == (WRONG, "doctor.layout")


VERDICTS = ("fine", "fine_aim", "suffixes", "no_gs", "gs1_broken", "two_codes", "layout", "check", "slow", "key")


def test_each_verdict_is_reached_a_hundred_times() -> None:
    chance, seen = random.Random(7), Counter[str]()
    codes = [EAN, f"]E0{EAN}", EAN + EAN, EAN[:-1] + "2", "'ààè(&&èà", "A-1"]
    tails = ["10AB", "10AB\x1d17261231", "10AB17261231", "??", "10AB\x1d??"]
    state = JOB.begin()
    for _ in range(6000):
        code = chance.choice([*codes, f"]C1{GS1}{chance.choice(tails)}"])
        end = chance.choice(["cr", "cr", "cr", "tab"]) if chance.random() < 0.2 else "cr"
        heard = scan(code, end, chance.choice([0, 1, 2, 3, 50, 400]))
        turn = JOB.step(state, Heard(key="f5") if chance.random() < 0.1 else heard, CONTEXT)
        assert turn.verdict is not None
        state = turn.state if chance.random() < 0.9 else JOB.begin()
        seen[turn.verdict.text.id] += 1
    assert set(seen) == {f"doctor.{id_}" for id_ in VERDICTS}
    assert min(seen.values()) >= 100, seen


@pytest.mark.parametrize(("count", "shown"), [(0, "none"), (8, "8"), (256, "256"), (1 << 24, "16 million")])
def test_the_colours_of_the_terminal_are_told(count: int, shown: str) -> None:
    state, _ = after(Rows("terminal", ({**TERMINAL, "colours": count},), 1))
    text = plain(paint(Frame(JOB.view(state), Link("live", 1.0)), 80, 24))
    assert any(line.split() == ["Colours", *shown.split()] for line in text)


@pytest.mark.parametrize("size", [(20, 16), (40, 8), (40, 20), (80, 24), (200, 50)])
def test_each_look_is_shown_in_itself_and_signs_with_their_stand_ins(size: tuple[int, int]) -> None:
    """On some page of every screen: a word on the colour that it names, and one line as UTF-8 and as ASCII."""
    state, _ = after(Rows("terminal", (TERMINAL,), 1))
    spans: dict[str, str] = {}
    lines: set[str] = set()
    for page in range(6):
        painted = paint(Frame(JOB.view(state._replace(page=page)), Link("live", 1.0)), *size)
        spans |= {text.strip(): role for line in painted.lines for text, role in line}
        lines |= set(plain(painted))
    for word, role in {"green": "look-good", "red": "look-wrong", "blue": "look-info", "yellow": "look-ask"}.items():
        assert spans[word] == role
    assert [spans[word] for word in ("cyan", "bold", "dim", "reversed")] == ["block", "row", "hint", "cursor"]
    assert any(SIGNS in line for line in lines)
    assert any(ascii_fold(SIGNS) in line for line in lines)


def test_without_utf_8_the_signs_are_their_stand_ins() -> None:
    state, _ = after(Rows("terminal", ({**TERMINAL, "encoding": "ASCII"},), 1))
    painted = plain(paint(Frame(JOB.view(state), Link("live", 1.0)), 80, 24, plain=True))
    assert all(line.isascii() for line in painted)
    assert sum(line.count(ascii_fold(SIGNS)) for line in painted) == 2
