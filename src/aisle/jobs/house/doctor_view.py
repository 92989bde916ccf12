"""The doctor's page: the last input with all that is known of it, those before it, the terminal."""

from __future__ import annotations

from typing import Final

from aisle.jobs.house.doctor_judge import ENDS
from aisle.jobs.house.doctor_state import Doctor, Input
from aisle.jobs.view import ASK, BACK, GOOD, INFO, PAGES, TRUE_COLOUR, WRONG, Block, Detail, Line, Msg, msg, raw
from aisle.text import ascii_fold

UNENDED: Final = 8
"""Characters of an open line from which on the page says that nothing has ended it."""

LONGEST: Final = 200
"""Characters of an input that are shown."""

_NAMES: Final = {
    "\x00": "NUL", "\x01": "SOH", "\x02": "STX", "\x04": "EOT", "\x05": "ENQ", "\x06": "ACK", "\x07": "BEL",
    "\x1c": "FS", "\x1d": "GS", "\x1e": "RS", "\x1f": "US",
}  # fmt: skip
"""What control characters are called on code charts."""

SYMBOLS: Final = {
    "A": "doctor.symbol_39", "C": "doctor.symbol_128", "C1": "doctor.symbol_gs1_128", "E": "doctor.symbol_ean",
    "E3": "doctor.symbol_add_on", "E4": "doctor.symbol_ean_8", "F": "doctor.symbol_codabar", "G": "doctor.symbol_93",
    "I": "doctor.symbol_itf", "L": "doctor.symbol_pdf", "Q": "doctor.symbol_qr", "Q3": "doctor.symbol_gs1_qr",
    "d": "doctor.symbol_matrix", "d2": "doctor.symbol_gs1_matrix", "e": "doctor.symbol_databar",
    "z": "doctor.symbol_aztec", "J": "doctor.symbol_dotcode", "J1": "doctor.symbol_gs1_dotcode",
    "X": "doctor.symbol_other",
}  # fmt: skip
"""Symbologies by their AIM character, and with the modifier where that makes another one (ISO/IEC 15424)."""

SIGNS: Final = "┌─┬─┐ éñüß €×≈…"
"""Frames, accents and signs that a terminal with UTF-8 shows as they are."""

LOOKS: Final = (
    (GOOD, "doctor.look_good"),
    (WRONG, "doctor.look_wrong"),
    (INFO, "doctor.look_info"),
    (ASK, "doctor.look_ask"),
    ("accent", "doctor.look_accent"),
    ("bold", "doctor.look_bold"),
    ("dim", "doctor.look_dim"),
    ("reversed", "doctor.look_reversed"),
)
"""The looks that pages are drawn with, each in words that name it."""

MEANS: Final = {
    "product": "doctor.means_product",
    "location": "doctor.means_location",
    "order": "doctor.means_order",
    "reference": "doctor.means_order",
    "delivery": "doctor.means_delivery",
    "person": "doctor.means_person",
    "command": "doctor.means_command",
    "times": "doctor.means_times",
    "either": "doctor.means_either",
    "unknown": "doctor.means_unknown",
    "nothing": "doctor.means_nothing",
}
"""What an input would do here."""


def page_of(state: Doctor) -> Detail:
    """The page that this state shows."""
    last, before = state.inputs[:1], state.inputs[1:]
    blocks = [Block(msg("doctor.last"), _facts(each)) for each in last]
    if before:
        blocks.append(Block(msg("doctor.before"), tuple(_row(each) for each in before)))
    blocks.append(Block(msg("doctor.terminal"), _terminal(state)))
    blocks.append(Block(msg("doctor.signs"), (tuple(raw(text) for text in (SIGNS, ascii_fold(SIGNS))),)))
    words = tuple(msg(word) for _, word in LOOKS)
    blocks.append(Block(msg("doctor.looks"), (words,), looks=tuple(look for look, _ in LOOKS)))
    return Detail(
        name="doctor",
        title=msg("doctor.title"),
        prompt=msg("doctor.prompt_open") if state.typed >= UNENDED else msg("doctor.prompt"),
        lines=_about(last[0]) if last else (Line("note", msg("doctor.note")),),
        blocks=tuple(blocks),
        page=state.page,
        hints=(
            BACK,
            *PAGES,
        ),
    )


def visible(text: str) -> str:
    """A text whose control characters show by their names: `01…<GS>10AB`."""
    return "".join(f"<{_NAMES.get(char, f'{ord(char):02X}')}>" if char < " " else char for char in text[:LONGEST])


def _came(heard: Input) -> Msg:
    return msg("doctor.key_name", name=heard.key) if heard.key else raw(visible(heard.text))


def _about(heard: Input) -> tuple[Line, ...]:
    """The input itself, and what it would mean."""
    came = Line("product", _came(heard))
    return (came,) if heard.key else (came, Line("note", msg(MEANS[heard.means], label=heard.label)))


def _facts(heard: Input) -> tuple[tuple[Msg, ...], ...]:
    if heard.key:
        return ((msg("doctor.kind"), msg("doctor.kind_key")),)
    rows = [
        (msg("doctor.end"), ENDS[heard.end]),
        *_symbol(heard.symbol),
        (msg("doctor.gap"), msg("doctor.ms", count=heard.gap_ms)),
        (msg("doctor.gs"), msg("doctor.seen", count=heard.separators)),
        (msg("doctor.size"), msg("doctor.characters", count=len(heard.text))),
    ]
    if heard.dropped:
        rows.append((msg("doctor.dropped"), raw(visible(heard.dropped))))
    return tuple(rows)


def _symbol(symbol: str) -> tuple[tuple[Msg, ...], ...]:
    """The AIM prefix, and the symbology that it stands for."""
    if not symbol:
        return ((msg("doctor.aim"), msg("doctor.aim_none")),)
    name = SYMBOLS.get(symbol) or SYMBOLS.get(symbol[0]) or "doctor.symbol_unknown"
    return ((msg("doctor.aim"), raw(f"]{symbol}")), (msg("doctor.symbol"), msg(name)))


def _row(heard: Input) -> tuple[Msg, ...]:
    if heard.key:
        return (_came(heard),)
    return (_came(heard), ENDS[heard.end], msg("doctor.ms", count=heard.gap_ms))


def _terminal(state: Doctor) -> tuple[tuple[Msg, ...], ...]:
    return (
        (msg("doctor.screen"), msg("doctor.cells", columns=state.columns, rows=state.rows)),
        (msg("doctor.term"), raw(state.term)),
        (msg("doctor.colours"), _colours(state.colours)),
        (msg("doctor.encoding"), raw(state.encoding)),
    )


def _colours(count: int) -> Msg:
    if count >= TRUE_COLOUR:
        return msg("doctor.colours_all")
    return msg("number", value=count) if count else msg("doctor.colours_none")
