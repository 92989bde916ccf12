"""Scanner test: shows each input as it arrived, and judges the scanner's configuration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from aisle.barcode_numbers import expand_upc_e, has_valid_check_digit
from aisle.jobs.job import Close, Context, Event, Job, Opened, Query, RawInput, Resumed, Rows, Turn
from aisle.jobs.view import (
    ASK,
    BACK,
    GOOD,
    INFO,
    PAGE_HINTS,
    TRUE_COLOUR,
    WRONG,
    Block,
    DetailView,
    Line,
    Msg,
    Verdict,
    msg,
    raw,
)
from aisle.scan.decoder import MAX_LINE
from aisle.scan.grammar import PRINTED_COMMANDS, parse_aim_prefix
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    MISSING_SEPARATOR,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Accepts,
    Ambiguous,
    Back,
    Command,
    Meaning,
    Multiplier,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.scan.gs1 import GROUP_SEPARATOR, gs1_fault, may_be_gs1, parse_message
from aisle.scan.keyboard_layouts import is_garbled
from aisle.terminal_text import to_ascii

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import TerminalRow


class ScannedInput(NamedTuple):
    """One input with what is known about it."""

    text: str = ""
    """Text as it arrived."""
    end: str = ""
    """Terminator: `cr`, `lf`, `tab`, `etx`, `eot` or `paste`."""
    symbol: str = ""
    """AIM symbology identifier without `]`, such as `C1`; empty if there is none."""
    is_gs1: bool = False
    """True if the AIM identifier announces GS1 data."""
    code: str = ""
    """Text after the AIM identifier."""
    gap_ms: int = 0
    separators: int = 0
    """Number of GS characters."""
    dropped: str = ""
    """Control characters that were removed."""
    meaning_kind: str = ""
    """Kind of its match, or `command`, `times`, `either`, `unknown`, `nothing`."""
    label: str = ""
    """Label of the match."""
    key: str = ""
    """Name of a key that is no text; all other fields are then empty."""


class ScannerTestState(NamedTuple):
    """Inputs, latest first, and the properties of the terminal."""

    inputs: tuple[ScannedInput, ...] = ()
    typed_length: int = 0
    """Number of characters typed since the last terminator."""
    columns: int = 0
    rows: int = 0
    term: str = ""
    encoding: str = ""
    colours: int = 0
    """Number of colours of the terminal; 0 for none."""
    page: int = 0


SLOW_GAP_MS: Final = 100
"""Longest pause in ms inside a scan; a longer one comes from typing or a slow line."""

END_NAMES: Final = {
    "cr": msg("scanner_test.end_cr"),
    "lf": raw("LF"),
    "tab": raw("TAB"),
    "etx": raw("ETX"),
    "eot": raw("EOT"),
    "paste": msg("scanner_test.end_paste"),
}

_VARIABLE_LENGTH_IDENTIFIERS: Final = ("10", "21", "22", "240", "241", "250", "30", "37")
"""Common GS1 application identifiers of variable length, whose value ends with a separator."""
_MISSING_SEPARATOR: Final = re.compile(r".+(?:1[1-7]\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])|01\d{14})", re.DOTALL)
"""Pattern of a value that continues with a date or a GTIN, because the GS before it is missing."""
_TWO_CODE_LENGTHS: Final = (16, 24, 26, 28)
"""Lengths of two EAN or UPC codes in a row."""


def judge_inputs(inputs: tuple[ScannedInput, ...]) -> Verdict:
    """Return the verdict on the latest of these inputs, of which there is at least one."""
    last = inputs[0]
    if last.key:
        return Verdict(INFO, msg("scanner_test.key", name=last.key))
    fault = _fault_message(last)
    if fault:
        return Verdict(WRONG, fault)
    if last.gap_ms > SLOW_GAP_MS:
        return Verdict(INFO, msg("scanner_test.slow", ms=last.gap_ms))
    if _is_gs1(last) and (sign := parse_message(last.code).substitute):
        return Verdict(INFO, msg("scanner_test.gs_substitute", sign=sign))
    ends = tuple(dict.fromkeys(each.end for each in inputs if not each.key and each.gap_ms <= SLOW_GAP_MS))
    if len(ends) > 1:
        return Verdict(INFO, msg("scanner_test.different_suffixes", one=END_NAMES[ends[0]], other=END_NAMES[ends[1]]))
    if last.meaning_kind == "unknown" and _is_misread(last.code):
        return Verdict(INFO, msg("scanner_test.check_digit"))
    if last.symbol:
        return Verdict(GOOD, msg("scanner_test.good_aim", end=END_NAMES[last.end]))
    return Verdict(GOOD, msg("scanner_test.good", end=END_NAMES[last.end]))


def _fault_message(last: ScannedInput) -> Msg | None:
    """Return what has to be configured differently in the scanner; None if nothing."""
    code = last.code
    if len(last.text) >= MAX_LINE or _is_two_codes(code):
        return msg("scanner_test.two_codes")
    if last.meaning_kind != "command" and is_garbled(code):
        return msg("input.keyboard_layout")
    fault = gs1_fault(code, last.is_gs1) if _is_gs1(last) else ""
    if fault == MISSING_SEPARATOR or (_is_gs1(last) and _lacks_separator(code)):
        return msg("input.no_gs")
    return msg("input.gs1_damaged") if fault else None


def _is_two_codes(code: str) -> bool:
    half = len(code) // 2
    return len(code) in _TWO_CODE_LENGTHS and has_valid_check_digit(code[:half]) and has_valid_check_digit(code[half:])


def _is_misread(code: str) -> bool:
    return (
        len(code) in (8, 12, 13, 14) and code.isdigit() and not has_valid_check_digit(code) and not expand_upc_e(code)
    )


def _is_gs1(last: ScannedInput) -> bool:
    """Return True if the input is GS1 data by its AIM identifier, or looks like it without one."""
    return last.is_gs1 or (not last.symbol and may_be_gs1(last.code))


def _lacks_separator(code: str) -> bool:
    """Return True if a value of a GS1 message continues with what should be the next one."""
    if GROUP_SEPARATOR in code:
        return False
    message = parse_message(code)
    values = (value for ai, value in message.values.items() if ai in _VARIABLE_LENGTH_IDENTIFIERS)
    return not message.substitute and any(map(_MISSING_SEPARATOR.fullmatch, values))


MIN_UNENDED: Final = 8
"""Number of characters from which the page reports a missing terminator."""

MAX_SHOWN_LENGTH: Final = 200
"""Maximum number of characters shown of an input."""

_CONTROL_NAMES: Final = {
    "\x00": "NUL", "\x01": "SOH", "\x02": "STX", "\x04": "EOT", "\x05": "ENQ", "\x06": "ACK", "\x07": "BEL",
    "\x1c": "FS", "\x1d": "GS", "\x1e": "RS", "\x1f": "US",
}  # fmt: skip
"""Names of control characters."""

SYMBOLOGY_NAMES: Final = {
    "A": raw("Code 39"),
    "C": raw("Code 128"),
    "C1": raw("GS1-128"),
    "E": msg("scanner_test.symbol_ean"),
    "E3": msg("scanner_test.symbol_add_on"),
    "E4": raw("EAN-8"),
    "F": raw("Codabar"),
    "G": raw("Code 93"),
    "I": msg("scanner_test.symbol_itf"),
    "L": raw("PDF417"),
    "Q": raw("QR Code"),
    "Q3": raw("GS1 QR Code"),
    "d": raw("Data Matrix"),
    "d2": raw("GS1 DataMatrix"),
    "e": raw("GS1 DataBar"),
    "z": raw("Aztec Code"),
    "J": raw("DotCode"),
    "J1": raw("GS1 DotCode"),
    "X": msg("scanner_test.symbol_other"),
}
"""Names of symbologies by AIM code character, with the modifier where it makes a difference (ISO/IEC 15424)."""

SAMPLE_SIGNS: Final = "┌─┬─┐ éñüß €×≈…"
"""Frames, accents and signs that a UTF-8 terminal shows unchanged."""

STYLE_SAMPLES: Final = (
    (GOOD, "scanner_test.look_good"),
    (WRONG, "scanner_test.look_wrong"),
    (INFO, "scanner_test.look_info"),
    (ASK, "scanner_test.look_ask"),
    ("accent", "scanner_test.look_accent"),
    ("bold", "scanner_test.look_bold"),
    ("dim", "scanner_test.look_dim"),
    ("reversed", "scanner_test.look_reversed"),
)
"""Styles of pages, each with a text that names it."""

MEANING_TEXTS: Final = {
    "product": "count.choice_product",
    "location": "locations.title_location",
    "order": "order.title",
    "reference": "order.title",
    "delivery": "receive.choice_open",
    "person": "scanner_test.means_person",
    "command": "scanner_test.means_command",
    "times": "scanner_test.means_times",
    "either": "scanner_test.means_either",
    "unknown": "scanner_test.means_unknown",
    "nothing": "scanner_test.means_nothing",
}
"""Message ids of the meanings of an input."""


def page_view(state: ScannerTestState) -> DetailView:
    """Return the page."""
    last, earlier = state.inputs[:1], state.inputs[1:]
    blocks = [Block(msg("today.head_last"), _input_rows(each)) for each in last]
    if earlier:
        blocks.append(Block(msg("scanner_test.earlier_inputs"), tuple(_earlier_row(each) for each in earlier)))
    blocks.append(Block(msg("today.head_terminal"), _terminal_rows(state)))
    blocks.append(
        Block(msg("scanner_test.sample_signs"), (tuple(raw(text) for text in (SAMPLE_SIGNS, to_ascii(SAMPLE_SIGNS))),))
    )
    words = tuple(msg(word) for _, word in STYLE_SAMPLES)
    blocks.append(Block(msg("scanner_test.styles"), (words,), cell_styles=tuple(style for style, _ in STYLE_SAMPLES)))
    return DetailView(
        name="scanner_test",
        title=msg("home.scanner_test"),
        prompt=msg("scanner_test.prompt_open") if state.typed_length >= MIN_UNENDED else msg("scanner_test.prompt"),
        lines=_input_lines(last[0]) if last else (Line("note", msg("scanner_test.note")),),
        blocks=tuple(blocks),
        page=state.page,
        key_hints=(BACK, *PAGE_HINTS),
    )


def show_control_characters(text: str) -> str:
    """Return the text with control characters replaced by their names, such as `01…<GS>10AB`."""
    return "".join(
        f"<{_CONTROL_NAMES.get(char, f'{ord(char):02X}')}>" if char < " " else char for char in text[:MAX_SHOWN_LENGTH]
    )


def _input_text(scanned: ScannedInput) -> Msg:
    return msg("scanner_test.key_name", name=scanned.key) if scanned.key else raw(show_control_characters(scanned.text))


def _input_lines(scanned: ScannedInput) -> tuple[Line, ...]:
    input_line = Line("product", _input_text(scanned))
    if scanned.key:
        return (input_line,)
    names = dict.fromkeys(("label", "order", "delivery"), scanned.label)
    return input_line, Line("note", msg(MEANING_TEXTS[scanned.meaning_kind], **names))


def _input_rows(scanned: ScannedInput) -> tuple[tuple[Msg, ...], ...]:
    if scanned.key:
        return ((msg("scanner_test.kind"), msg("scanner_test.kind_key")),)
    rows = [
        (msg("scanner_test.end"), END_NAMES[scanned.end]),
        *_symbol_rows(scanned.symbol),
        (msg("scanner_test.gap"), msg("scanner_test.ms", count=scanned.gap_ms)),
        (msg("scanner_test.gs"), msg("scanner_test.times", count=scanned.separators)),
        (msg("scanner_test.length"), msg("scanner_test.characters", count=len(scanned.text))),
    ]
    if scanned.dropped:
        rows.append((msg("scanner_test.dropped"), raw(show_control_characters(scanned.dropped))))
    return tuple(rows)


def _symbol_rows(symbol: str) -> tuple[tuple[Msg, ...], ...]:
    if not symbol:
        return ((msg("scanner_test.aim"), msg("scanner_test.aim_none")),)
    name = SYMBOLOGY_NAMES.get(symbol) or SYMBOLOGY_NAMES.get(symbol[0]) or msg("scanner_test.symbol_unknown")
    return ((msg("scanner_test.aim"), raw(f"]{symbol}")), (msg("scanner_test.symbol"), name))


def _earlier_row(scanned: ScannedInput) -> tuple[Msg, ...]:
    if scanned.key:
        return (_input_text(scanned),)
    return (_input_text(scanned), END_NAMES[scanned.end], msg("scanner_test.ms", count=scanned.gap_ms))


def _terminal_rows(state: ScannerTestState) -> tuple[tuple[Msg, ...], ...]:
    return (
        (msg("scanner_test.screen"), msg("scanner_test.cells", columns=state.columns, rows=state.rows)),
        (raw("TERM"), raw(state.term)),
        (msg("scanner_test.colours"), _colour_text(state.colours)),
        (msg("scanner_test.encoding"), raw(state.encoding)),
    )


def _colour_text(count: int) -> Msg:
    if count >= TRUE_COLOUR:
        return msg("scanner_test.colours_all")
    return msg("number", value=count) if count else msg("clearance.no_category")


MAX_INPUTS = 12
"""Number of inputs that are kept."""

Result = Turn[ScannerTestState]


class ScannerTestJob(Job[ScannerTestState]):
    """Job that tests a scanner on a page of its own."""

    name = "scanner_test"
    lists = ()
    state_type = ScannerTestState
    steps: tuple[str, ...] = ("scanner_test",)
    journalled = False
    raw_input = True
    preferred_kinds = (ORDER, REFERENCE, PERSON, PRODUCT, LOCATION)

    def accepts(self, state: ScannerTestState) -> Accepts:
        """Return only page letters, so that `0` goes back."""
        return Accepts(command_letters="np")

    def handle(self, state: ScannerTestState, event: Event, context: Context) -> Result:
        match event:
            case Opened() | Resumed():
                return Turn(state, (Query("terminal", "terminal", {}, is_live=True),))
            case Rows("terminal", rows, _):
                return Turn(_with_terminal(state, rows[0])) if rows else Turn(state)
            case TypedText(text):
                return Turn(state._replace(typed_length=len(text)))
            case Back():
                return Turn(state, (Close(),))
            case RawInput(meaning=Command("n" | "p" as letter)):
                return Turn(state._replace(page=state.page + (1 if letter == "n" else -1)))
            case RawInput():
                inputs = (_make_input(event), *state.inputs[: MAX_INPUTS - 1])
                return Turn(state._replace(inputs=inputs, typed_length=0, page=0), (), judge_inputs(inputs))
        return Turn(state)

    def view(self, state: ScannerTestState) -> DetailView:
        return page_view(state)


def _with_terminal(state: ScannerTestState, row: TerminalRow) -> ScannerTestState:
    return state._replace(
        columns=int(row["columns"]),
        rows=int(row["rows"]),
        term=str(row["term"]),
        encoding=str(row["encoding"]),
        colours=int(row.get("colours") or 0),
    )


def _make_input(raw_input: RawInput) -> ScannedInput:
    if raw_input.key:
        return ScannedInput(key=raw_input.key)
    aim = parse_aim_prefix(raw_input.text)
    kind, label = _meaning_kind(raw_input.meaning, aim.code)
    return ScannedInput(
        text=raw_input.text,
        end=raw_input.end,
        symbol=aim.symbol,
        is_gs1=aim.is_gs1,
        code=aim.code,
        gap_ms=raw_input.gap_ms,
        separators=raw_input.text.count(GROUP_SEPARATOR),
        dropped=raw_input.dropped,
        meaning_kind=kind,
        label=label,
    )


def _meaning_kind(meaning: Meaning | None, code: str) -> tuple[str, str]:
    if code.strip().upper() in PRINTED_COMMANDS:
        return "command", code
    match meaning:
        case Scan(matches):
            return matches[0].kind, matches[0].label or matches[0].key
        case UnknownCode() | Text():
            return "unknown", ""
        case Ambiguous():
            return "either", ""
        case Multiplier(number):
            return "times", number
    return "nothing", ""
