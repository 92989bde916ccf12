"""Samples of the scanner test, help, palette, notes and PIN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aisle.jobs.job import Context, Event, Opened, RawInput, Rows
from aisle.jobs.shell.customer_comments import Note, NoteJob, NoteState
from aisle.jobs.shell.help import HelpJob
from aisle.jobs.shell.palette import PaletteJob, PaletteState
from aisle.jobs.shell.pin import PinJob, PinState
from aisle.jobs.shell.scanner_test import ScannerTestJob, ScannerTestState
from aisle.jobs.view import ASK, INFO, WRONG, Frame, KeyHint, LinkState, Msg, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    Accepts,
    Match,
    Meaning,
    Scan,
    Text,
    UnknownCode,
)

TERMINAL = {"columns": 40, "rows": 20, "term": "xterm-256color", "encoding": "UTF-8", "colours": 256}


def _scanner_test_after(*heard: RawInput, term: str = "") -> Frame:
    """Return the page after these inputs, as the job itself produces it."""
    job, verdict = ScannerTestJob(), None
    state: ScannerTestState = job.begin()
    measured = Rows("terminal", ({**TERMINAL, "term": term or TERMINAL["term"]},), 1)
    events: tuple[Event, ...] = (measured, *heard)
    for event in events:
        turn = job.handle(state, event, Context())
        state, verdict = turn.state, turn.verdict
    return Frame(job.view(state), LinkState("live", 5.0), verdict, "", "0042", "Anna", len(heard))


def _product_scan(text: str) -> Meaning:
    return Scan((Match(PRODUCT, "4001", text or "Cola Zero 33 cl can, tray of 24"),))


def scanner_test_empty(text: str) -> Frame:
    """Show the page before the first scan."""
    return _scanner_test_after(term=text)


def scanner_test_good(text: str) -> Frame:
    """Show a scanner that works, after a key."""
    ean, gs1 = UnknownCode("8710000000042"), "]C10108710000000042\x1d10AB12\x1d2177"
    return _scanner_test_after(
        RawInput(key=text or "f5"),
        RawInput("8710000000042", "tab", 3, "", ean),
        RawInput(text or "A-03-12", "tab", 4, "", ean),
        RawInput(gs1, "tab", 12, "\x00", _product_scan(text)),
    )


def scanner_test_wrong(text: str) -> Frame:
    """Show a GS1 code without its separators."""
    code = "]d201087100000000421021AB12" + "17261231"
    return _scanner_test_after(RawInput(code, "cr", 2, "\x02", _product_scan(text)))


SCANNER_TEST_SAMPLES = (
    ("scanner_test", "fresh", scanner_test_empty),
    ("scanner_test", "fine", scanner_test_good),
    ("scanner_test", "wrong", scanner_test_wrong),
)
"""Screen, state and builder of each sample."""


LIVE = LinkState("live", 12.0)

LETTERS = (
    KeyHint("n", msg("hint.next_page")),
    KeyHint("s", msg("shortage.title")),
    KeyHint("u", msg("hint.undo")),
    KeyHint("b", msg("hint.back")),
)
CHOICES: tuple[Msg, ...] = (msg("home.pick"), msg("home.look_up"), msg("home.more"))


def _shell_frame(job: HelpJob | PaletteJob, state: object, verdict: Verdict | None = None, typed: str = "") -> Frame:
    return Frame(job.view(state), LIVE, verdict, typed, "0042", "Anna", 8)  # type: ignore[arg-type]


def _help(text: str) -> Frame:
    """Show help during a pick."""
    details = {
        "step": "pick.product",
        "open": Accepts(quantity=True, choices=2),
        "prefers": (PRODUCT, LOCATION, ORDER),
        "letters": LETTERS,
    }
    return _shell_frame(HelpJob(), HelpJob().handle(HelpJob().begin(), Opened(details), Context()).state)


def _help_keys(text: str) -> Frame:
    """Show help with letters that have other keys."""
    details = {
        "step": "home",
        "open": Accepts(choices=7, search=True),
        "prefers": (ORDER, PRODUCT),
        "letters": (KeyHint("z", msg("hint.undo")), KeyHint("/", msg("hint.back"))),
        "keys": (("u", "z"), ("b", "/"), (".", "#")),
    }
    state = HelpJob().handle(HelpJob().begin(), Opened(details), Context()).state
    return _shell_frame(HelpJob(), state, Verdict(INFO, raw(text or "Anna")))


def _palette_state(size: int = 12, colours: bool = True) -> PaletteState:
    details = {
        "letters": LETTERS,
        "choices": CHOICES,
        "numbered": 0,
        "open": ("home", "pick"),
        "signed_in": True,
        "language": "en",
        "theme": "",
        "colours": colours,
    }
    context = Context(window_rows=size)
    state = PaletteJob().handle(PaletteJob().begin(), Opened(details), context).state
    words = tuple({"text": entry.text.id.replace(".", " ")} for entry in state.entries)
    return PaletteJob().handle(state, Rows("message_texts", words, len(words)), context).state


def _palette(text: str) -> Frame:
    return _shell_frame(PaletteJob(), _palette_state())


def _palette_plain(text: str) -> Frame:
    """Show the palette of a terminal with sixteen colours, which has no themes, without a cut."""
    return _shell_frame(PaletteJob(), _palette_state(30, False)._replace(cursor=1))


def _palette_no_match(text: str) -> Frame:
    state = _palette_state()
    turn = PaletteJob().handle(state, Text(text or "hoover"), Context())
    return _shell_frame(PaletteJob(), turn.state, Verdict(WRONG, msg("input.no_command", text=text or "hoover")))


def _palette_typing(text: str) -> Frame:
    state = _palette_state()._replace(typed=text or "hoo", rows=(), total=0)
    return _shell_frame(PaletteJob(), state, typed=text or "hoo")


SHELL_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("help", "picking", _help),
    ("help", "keys", _help_keys),
    ("palette", "all", _palette),
    ("palette", "plain", _palette_plain),
    ("palette", "none", _palette_no_match),
    ("palette", "typing", _palette_typing),
)
"""Screen, state and builder of each sample."""


LONG_NOTE = (
    "Please call before you bring it out, I wait in the blue van behind the bakery. No bananas that are green, and if "
    "there is no oat milk of the kind I asked for, any other kind without sugar will do. The bags are in the box."
)


def note(text: str) -> Frame:
    """Show two notes of a batch, one of them long."""
    notes = (
        Note(("A", text or "100042", text or "J. Jansen"), f"{text} {LONG_NOTE}".strip()),
        Note(("B", "100049", ""), text or "Thanks!"),
    )
    return Frame(NoteJob().view(NoteState(notes)), LinkState("live", 12.0), None, "", "0042", "Anna", 14)


PIN_LIVE_LINK, PIN_OFFLINE_LINK = LinkState("live", 12.0), LinkState("offline", 70.0, 3)


def _pin_frame(
    text: str, verdict: Verdict | None, link: LinkState = PIN_LIVE_LINK, typed: str = "", **fields: Any
) -> Frame:
    state = PinState(name=text or "Fred Harper")._replace(**fields)
    return Frame(PinJob().view(state), link, verdict, typed, "0042", text or "Fred Harper", 5)


def _pin_asked(text: str) -> Frame:
    return _pin_frame(text, Verdict(ASK, msg("pin.prompt")), typed="***")


def _pin_wrong(text: str) -> Frame:
    return _pin_frame(text, Verdict(WRONG, msg("pin.wrong")), waiting_count=2)


def _pin_wait(text: str) -> Frame:
    return _pin_frame(text, Verdict(INFO, msg("pin.asked")), phase="wait")


def _pin_late(text: str) -> Frame:
    why = msg("pin.not_reached", why=text) if text else msg("pin.no_answer")
    return _pin_frame(text, Verdict(WRONG, why), PIN_OFFLINE_LINK, phase="late", can_wait=True, why=why)


PIN_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("pin", "asked", _pin_asked),
    ("pin", "wrong", _pin_wrong),
    ("pin.wait", "asked", _pin_wait),
    ("pin.late", "no-answer", _pin_late),
)
"""Screen, state and builder of each sample."""
