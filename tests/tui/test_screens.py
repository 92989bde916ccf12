"""Every screen at every size: snapshots, hostile names, and what must be visible whatever the size."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.jobs import JOBS
from aisle.jobs.view import (
    ASK,
    GOOD,
    INFO,
    WRONG,
    Frame,
    LinkState,
    ListView,
    Row,
    Step,
    Verdict,
    View,
    msg,
    numbered_rows,
)
from aisle.terminal_text import width
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import StyledScreen, base_role, line_width, plain_lines
from aisle.tui.message_text import MessageWriter
from aisle.tui.themes import ROLE_STYLES
from tests.run_length import tries
from tests.samples.registry import SAMPLES, SAMPLES_OF_JOB, SCREENS, Sample, at_desk
from tests.tui import snapshots

SIZES = ((20, 16), (40, 8), (40, 20), (80, 24), (200, 50))
DESK_SIZES = ((120, 40), (200, 50))

HOSTILE = {
    "markup": "[/b] 50% [sale]",
    "link": "[@click=app.quit]x",
    "escape": "\x1b[2Jred\x1b[31m\x1b]0;title\x07",
    "osc52": "\x1b]52;c;aGVsbG8=\x07copy",
    "c1": "\x9b31mC1\x85next\x9d52;c;x\x9c",
    "bidi": "\u202egnp.exe\u2066 abc\u2069\u200f",
    "zero": "zero\u200b\ufeff\u2060width\U000e0041\u0301\u0301\u0301\u0301\u0301",
    "control": "nul\x00bs\x08\x08del\x7f\r\nline",
    "wide": "北京烤鸭 👩\u200d🌾 ｆｕｌｌ",
    "format": "{done} {0} %s $name {{}}",
}

HOSTILE_PICTURES = [
    (name, size, ascii_only)
    for name in HOSTILE
    for size in (SIZES if name == "wide" else (SIZES[0], SIZES[3]))
    for ascii_only in (False, True)
]

HOSTILE_PAGES = (
    "home-orders",
    "pick.product-taken_over",
    "orders-all",
    "order-all",
    "look_up.product-all",
    "today.locations-map",
)
"""Those with a snapshot: one or two of each kind of view, with as many texts from outside as there are."""

STEERING = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Kinds of characters that must not reach a terminal."""

samples = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.screen}-{sample.state}")
jobs = pytest.mark.parametrize("job", SAMPLES_OF_JOB)
sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


def drawn(painted: StyledScreen) -> str:
    """The screen under its size; where a line is full, its right edge shows."""
    edge = f"{painted.columns}x{painted.rows} ".ljust(painted.columns + 1, "=") + "+"
    rows = [f"|{line}{'|' if width(line) == painted.columns else ''}" for line in plain_lines(painted)]
    return "\n".join([edge, *rows, ""])


LEADING = {
    "n": {"hint.next_page"},
    "p": {"hint.previous_page"},
    "u": {"hint.undo"},
    "b": {"hint.back"},
}
"""What leads on and back, whatever the page: a stop, a place, a row or a page."""


def test_forward_and_back_have_the_same_letter_everywhere() -> None:
    said: dict[str, set[str]] = {}
    meant: dict[str, set[str]] = {}
    for sample in SAMPLES:
        for hint in sample.build("").view.key_hints:
            said.setdefault(hint.letter, set()).add(hint.text.id)
            meant.setdefault(hint.text.id, set()).add(hint.letter)
    assert {letter: said[letter] for letter in LEADING} == LEADING
    assert {id_: letters for id_, letters in meant.items() if len(letters) > 1} == {}


@pytest.mark.every_case
@jobs
def test_snapshots(job: str) -> None:
    for _, sample in SAMPLES_OF_JOB[job]:
        frame = sample.build("")
        pictures = [drawn(layout_screen(frame, *size)) for size in SIZES if size not in DESK_SIZES]
        pictures += [drawn(layout_screen(at_desk(frame), *size)) for size in DESK_SIZES]
        pictures.append(drawn(layout_screen(frame, 40, 20, is_ascii=True)))
        snapshots.check(f"{sample.screen}-{sample.state}", "\n".join(pictures))


@pytest.mark.every_case
@pytest.mark.parametrize("name", HOSTILE_PAGES)
def test_hostile_snapshots(name: str) -> None:
    sample = next(sample for sample in SAMPLES if f"{sample.screen}-{sample.state}" == name)
    pictures = [drawn(layout_screen(sample.build(text), 40, 20)) for text in HOSTILE.values()]
    snapshots.check(f"{name}.hostile", "\n".join(pictures))


def test_no_snapshot_is_left_over() -> None:
    known = {f"{sample.screen}-{sample.state}.txt" for sample in SAMPLES}
    known |= {f"{name}.hostile.txt" for name in HOSTILE_PAGES}
    assert {path.name for path in snapshots.FOLDER.iterdir()} == known


@pytest.mark.every_case
@jobs
def test_outside_text_cannot_control_the_terminal(job: str) -> None:
    """Every text at the smallest and at the usual size, with and without UTF-8, and one of them at every size.

    By default a share of it, another one for the next sample.
    """
    every = tries(7, 1)
    for turn, sample in SAMPLES_OF_JOB[job]:
        for name, size, ascii_only in HOSTILE_PICTURES[turn % every :: every]:
            painted = layout_screen(sample.build(HOSTILE[name]), *size, is_ascii=ascii_only)
            check_whole(painted)
            shown = "".join(plain_lines(painted))
            assert STEERING.isdisjoint(map(unicodedata.category, shown)), (sample, name, size)
            assert shown.isascii() or not ascii_only, (sample, name, size)


@samples
def test_markup_shows_as_it_is_typed(sample: Sample) -> None:
    """Where a screen shows a name at all, it shows what was written and nothing else."""
    for text in (HOSTILE["markup"], HOSTILE["link"], HOSTILE["format"]):
        frame = sample.build(text)
        wide = (layout_screen(frame, columns, 50) for columns in (200, 240))  # a board of many columns needs more
        shown = "\n".join(line for screen in wide for line in plain_lines(screen))
        assert text in shown or text not in str(frame)


def check_whole(painted: StyledScreen) -> None:
    """As many lines as the screen has, none over its width, all roles known."""
    assert len(painted.lines) == painted.rows
    assert max(line_width(line) for line in painted.lines) <= painted.columns
    assert {base_role(role) for line in painted.lines for _, role in line} <= {*ROLE_STYLES, ""}


@samples
def test_prompt_verdict_and_link_are_always_there(sample: Sample) -> None:
    frame = sample.build("")
    for size in DESK_SIZES:
        check_whole(layout_screen(at_desk(frame), *size))
    for size in SIZES:
        for ascii_only in (False, True):
            painted = layout_screen(frame, *size, is_ascii=ascii_only)
            check_whole(painted)
            roles = [{role.split("-")[0] for _, role in line} for line in painted.lines]
            assert any("prompt" in line for line in roles), size
            assert "link" in roles[-1], size
            assert (frame.verdict is None) == (not any("verdict" in line for line in roles)), size
            link = plain_lines(painted)[-1]
            if frame.link.waiting:
                assert str(frame.link.waiting) in link, size
            if frame.link.needs_person:
                assert f"{frame.link.needs_person}?" in link or f"{frame.link.needs_person} to resolve" in link, size


@samples
def test_place_product_and_quantity_come_first(sample: Sample) -> None:
    frame = sample.build("")
    wanted = {line.role for line in frame.view.lines} if isinstance(frame.view, Step) else set()
    for size in SIZES:
        roles = {role for line in layout_screen(frame, *size).lines for _, role in line}
        bars = {"place-bar": "location", "quantity-bar": "quantity"}
        shown = roles | {bars[role] for role in roles & bars.keys()}
        assert wanted & {"location", "product", "quantity"} <= shown, size


@samples
@pytest.mark.parametrize("size", [(20, 16), (40, 8), (40, 20)])
def test_a_message_moves_neither_location_nor_product_nor_quantity(sample: Sample, size: tuple[int, int]) -> None:
    frame = sample.build("")
    heads = []
    for kind in (None, GOOD, WRONG, ASK):
        long = msg("raw", text="Cola Zero 33 cl can, tray of 24 is not on this order; it is for order 100051, for Ben")
        lines = layout_screen(frame._replace(verdict=Verdict(kind, long) if kind else None), *size).lines
        bars = [at for at, line in enumerate(lines) if any(role == "quantity-bar" for _, role in line)]
        heads.append(lines[: bars[0] + 1] if bars else [])
    assert all(head == heads[0] for head in heads)


def choice_keys(view: View) -> list[str]:
    """What is typed for each choice: a letter where numbers are quantities, else a number after those of the rows."""
    after = numbered_rows(view)
    return [*getattr(view, "choice_letters", "")] or [str(number + after) for number in range(1, len(view.choices) + 1)]


@samples
def test_every_choice_can_be_seen(sample: Sample) -> None:
    frame = sample.build("")
    for size in SIZES:
        keys = [text for line in layout_screen(frame, *size).lines for text, role in line if role == "choice-key"]
        assert keys == choice_keys(frame.view), size


def is_row_role(role: str) -> bool:
    """Whether a text is a cell of a row."""
    return base_role(role) in ("cell", "cursor") or role.startswith("tone-")


@samples
def test_rows_that_are_choices_carry_their_own_number(sample: Sample) -> None:
    frame = sample.build("")
    view = frame.view
    if not isinstance(view, ListView) or not view.numbered_rows:
        return
    for size in SIZES:
        named = [line for line in layout_screen(frame, *size).lines if any(is_row_role(role) for _, role in line)]
        lines = ["".join(text for text, _ in line).strip() for line in named]
        seen = [line for line in lines if re.match(r"\d+[ ›]", line)]
        assert seen, size
        for number, (line, row) in enumerate(zip(seen, view.rows, strict=False), 1):
            assert re.split("[ ›]", line)[0] == str(number), size
            assert any(MessageWriter().write(row.cells[0], level)[:3] in line for level in range(3)), size


def test_long_names_wrap_when_blank_rows_remain() -> None:
    jams = [f"Orchard Row Jam {kind} 340 g" for kind in ("fig", "plum", "quince")]
    rows = tuple(Row(name, (msg("raw", text=name), msg("raw", text="C-01-03"))) for name in jams)
    view = ListView(
        "home",
        msg("raw", text="x"),
        msg("raw", text="y"),
        column_heads=(),
        rows=rows,
        first=0,
        total=3,
        numbered_rows=3,
    )
    frame = SAMPLES[2].build("")._replace(view=view, verdict=None)
    shown = plain_lines(layout_screen(frame, 20, 16))
    for kind in ("fig", "plum", "quince"):
        assert any(kind in line for line in shown)
    assert sum("C-01-03" in line for line in shown) == 3
    many = layout_screen(frame._replace(view=view._replace(rows=rows * 4, total=12)), 20, 16)
    assert sum("C-01-03" in line for line in plain_lines(many)) > 5


@samples
def test_any_size_at_all(sample: Sample) -> None:
    """Every width and every height, each with some of the others; other ones with wide text and for other samples."""
    step, every = tries(25, 8), tries(3, 1)
    widths = (*range(1, 30), 39, 59, 60, 71, 72, 99, 100, 131)
    for turn, text in enumerate(("", HOSTILE["wide"]), SAMPLES.index(sample)):
        frame = sample.build(text)
        for at, columns in [*enumerate(widths, turn)][turn % every :: every]:
            for rows in (*range(1 + at % step, 26, step), *((40,) if at % 4 == 0 else ())):
                check_whole(layout_screen(frame, columns, rows, is_ascii=columns % 2 == 0))


@given(st.text(max_size=120), st.integers(1, 90), st.integers(1, 30))
@settings(max_examples=tries(15, 150))
def test_any_text_at_any_size(text: str, columns: int, rows: int) -> None:
    """By default every eighth screen."""
    for sample in SAMPLES[3 :: tries(8, 2)]:
        check_whole(layout_screen(sample.build(text), columns, rows))


@sizes
def test_the_cursor_is_in_sight_wherever_it_is(size: tuple[int, int]) -> None:
    view = SAMPLES[2].build("").view
    assert isinstance(view, ListView)
    for cursor in range(len(view.rows)):
        frame = SAMPLES[2].build("")._replace(view=view._replace(cursor=cursor))
        marked = [
            line for line in layout_screen(frame, *size).lines if any(base_role(role) == "cursor" for _, role in line)
        ]
        assert len(marked) == 1
        assert view.rows[cursor].key in "".join(text for text, _ in marked[0])


FIVE = ("queued", "sending", "confirmed", "refused", "in_doubt")


@sizes
@pytest.mark.parametrize("screen", ["unconfirmed", "my_entries"])
def test_five_words_tell_what_became_of_work_and_none_is_cut(screen: str, size: tuple[int, int]) -> None:
    """By text alone, so also without colours, and on terminals that know no more than ASCII."""
    sample = next(sample for sample in SAMPLES if sample.screen == screen and sample.state in ("words", "mine"))
    view = sample.build("").view
    assert isinstance(view, ListView)
    assert {f"operation_state.{word}" for word in FIVE} <= {cell.id for row in view.rows for cell in row.cells}
    for ascii_only in (False, True):
        lines = plain_lines(layout_screen(sample.build(""), *size, ascii_only))
        rows = [line for line in lines if re.match(r"\|?\d[ ›>]", line.strip(" "))][: len(view.rows)]
        assert len(rows) == (len(view.rows) if size[1] > 8 else 3)
        for line, row in zip(rows, view.rows, strict=False):
            (word,) = (cell for cell in row.cells if cell.id.startswith("operation_state."))
            said = "|".join({MessageWriter().write(word, level) for level in (0, 1, 2)})
            assert re.search(rf" ({said})\b", line), line


def test_a_cut_is_marked() -> None:
    sample = next(sample for sample in SAMPLES if sample.state == "taken")
    long = "Donaudampfschifffahrtsgesellschaftskapitän " * 4
    for columns, rows in SIZES[:3]:
        assert any("…" in line for line in plain_lines(layout_screen(sample.build(long), columns, rows)))
        assert any("~" in line for line in plain_lines(layout_screen(sample.build(long), columns, rows, is_ascii=True)))


def test_equal_verdicts_can_be_told_apart() -> None:
    frame = next(sample for sample in SAMPLES if sample.state == "taken").build("")
    for columns, rows in SIZES:
        assert layout_screen(frame, columns, rows) != layout_screen(frame._replace(verdict_repeats=2), columns, rows)


def test_end_of_typed_text_is_visible() -> None:
    frame = SAMPLES[0].build("")._replace(typed="abcdefghijklmnopqrstuvwxyz0123456789")
    for columns, rows in SIZES:
        assert any("789" in line for line in plain_lines(layout_screen(frame, columns, rows)))


def test_the_smallest_screens_show_the_answer_and_what_to_do() -> None:
    frame = next(sample for sample in SAMPLES if sample.state == "over").build("")
    assert plain_lines(layout_screen(frame, 20, 1))[0].startswith(" ? ")
    assert "total" in plain_lines(layout_screen(frame, 20, 2))[1]
    assert "offline" in plain_lines(layout_screen(frame, 20, 3))[2]
    assert plain_lines(layout_screen(frame, 1, 1)) == ["?"]


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (LinkState("live", 20.0), {"en": "all sent", "nl": "verzonden", "de": "gesendet", "fr": "0 att."}),
        (LinkState("live", 20.0, 3), {"en": "3 waiting", "nl": "3 wachten", "de": "3 warten", "fr": "3 att."}),
        (LinkState("live", 20.0, 1), {"en": "1 waiting", "nl": "1 wacht", "de": "1 wartet", "fr": "1 att."}),
        (LinkState("live", 20.0, 0, 2), {"en": "2? 0 wait", "nl": "2? 0 wacht", "de": "2?", "fr": "2?"}),
        (
            LinkState("none"),
            {"en": "no data 0 wait", "nl": "start geen data", "de": "leer gesendet", "fr": "0 donnée"},
        ),
        (
            LinkState("offline", 720.0),
            {"en": "all sent", "nl": "12m 0 wacht", "de": "offline 12 min", "fr": "hors ligne 12m"},
        ),
    ],
)
def test_a_handheld_says_what_waits_in_words(link: LinkState, words: dict[str, str]) -> None:
    view = SAMPLES[0].build("").view
    for language, said in words.items():
        assert plain_lines(layout_screen(Frame(view, link, language=language), 20, 16))[-1].endswith(said)


@pytest.mark.parametrize(
    ("language", "narrow", "wide"),
    [
        ("en", "stuck <1m 2 waiting", "not sending for 3 min"),
        ("nl", "vast <1m 2 wachten", "verzendt al 3 min niets"),
        ("de", "steht 2 warten", "sendet seit 3 min nicht"),
        ("fr", "bloqué <1m 2 att.", "rien envoyé depuis 3 min"),
    ],
)
def test_a_courier_that_stands_still_does_not_start(language: str, narrow: str, wide: str) -> None:
    frame = Frame(SAMPLES[0].build("").view, LinkState("stuck", 20.0, 2, heartbeat_age_s=190.0), language=language)
    assert plain_lines(layout_screen(frame, 20, 16))[-1].strip() == narrow
    assert wide in plain_lines(layout_screen(frame, 80, 24))[-1]


def test_choices_that_have_no_room_are_cut_and_not_dropped() -> None:
    people = [msg("raw", text=name) for name in ("Anna Berg", "Ben Okafor", "Chloë Martin", "Dev Patel", "Ewa Nowak")]
    asked = Step("sign_in", msg("sign_in.title"), msg("unconfirmed.choose"), choices=tuple(people))
    shown = plain_lines(layout_screen(Frame(asked, SAMPLES[0].build("").link), 20, 6))
    assert [line for line in shown if "1 Anna Berg" in line]
    assert [line for line in shown if line.endswith("…")]


@sizes
def test_choices_that_are_a_part_of_more_say_which(size: tuple[int, int]) -> None:
    people = tuple(msg("raw", text=f"Person {at}") for at in range(7, 13))
    asked = Step(
        "order_actions.person",
        msg("order_actions.claim"),
        msg("order_actions.prompt_person"),
        choices=people,
        first=6,
        choice_total=70,
    )
    shown = plain_lines(layout_screen(Frame(asked, SAMPLES[0].build("").link), *size))
    assert re.search(r"7–12(/| of )70\b", shown[0])
    every = layout_screen(Frame(asked._replace(first=0, choice_total=6), SAMPLES[0].build("").link), *size)
    assert not re.search(r"\d", plain_lines(every)[0])


@pytest.mark.parametrize("page", ["1–11 of 30", "12–22 of 30", "23–30 of 30"])
@pytest.mark.parametrize("name", ["home", "locations"])
def test_header_shows_store_and_person_when_title_leaves_room(page: str, name: str) -> None:
    first, last = (int(each) for each in page.removesuffix(" of 30").split("–"))
    rows = tuple(Row(str(at), (msg("raw", text=str(at)),)) for at in range(first, last + 1))
    view = ListView(name, msg("home.title"), msg("home.prompt"), (), rows, first - 1, 30)
    frame = Frame(view, SAMPLES[0].build("").link, store="0001", user="Fred Harper")
    assert plain_lines(layout_screen(frame, 80, 24))[0].endswith(f"{page}  ·  Store 0001 · Fred Harper")
    long = msg("raw", text="Orders that are late and that nobody has begun")
    assert "Fred Harper" not in plain_lines(layout_screen(frame._replace(view=view._replace(title=long)), 80, 24))[0]


def test_an_unknown_message_shows_its_id() -> None:
    frame = Frame(Step("x", msg("no.such_message"), msg("raw", text="")), SAMPLES[0].build("").link)
    assert "no.such_message" in plain_lines(layout_screen(frame, 80, 24))[0]
    assert MessageWriter().write(msg("raw")) == "?"


def test_every_view_of_a_job_is_in_the_registry() -> None:
    assert {step for job in JOBS.values() for step in job.steps} == set(SCREENS)


@samples
def test_samples_show_the_screen_they_name(sample: Sample) -> None:
    assert sample.build("").view.name == sample.screen


@pytest.mark.parametrize("name", ["", "Cola Zero 33 centilitre can with a very long name, tray of 24"])
@pytest.mark.parametrize("words", [0, 25, 40, 60])
@pytest.mark.parametrize("kind", [INFO, WRONG])
def test_a_product_keeps_its_stock_beside_what_is_said(name: str, words: int, kind: str) -> None:
    (sample,) = (each for each in SAMPLES if (each.screen, each.state) == ("look_up.product", "all"))
    verdict = Verdict(kind, msg("raw", text="a " * words)) if words else None
    shown = plain_lines(layout_screen(sample.build(name)._replace(verdict=verdict), 40, 20))
    assert any("≈ 24 in stock" in line for line in shown), "\n".join(shown)
