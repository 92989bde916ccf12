"""Text of messages: turns the message ids of views into cleaned text of the right length and language.

A message has one or several lengths, short first; the longest that fits is used. A sentence has these arguments:
`{label}` unchanged; `{label:~}` may be cut, `{label:~~}` too, unless it is a message with lengths of its own;
`{count:line|lines}` counts; `{at:day}`, `{at:date}` (with the year) and `{at:time}` show a time; `{seconds:age}` shows
an age, `{seconds:ago}` one after words such as "since"; `{value:money}` shows at least two decimals. Command letters
are the same in every language, so that printed barcodes and habits work in all of them; their texts are translated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from string import Formatter
from typing import NamedTuple

from aisle.jobs.job import format_money, format_number
from aisle.jobs.view import Msg
from aisle.messages.languages import LANGUAGE_FORMATS, LanguageFormat
from aisle.messages.loader import load_messages
from aisle.settings import ENGLISH
from aisle.text import ASCII_ELLIPSIS, ELLIPSIS, clean, fit, fit_middle, to_ascii, width

Value = str | int | Decimal | Msg

MIN_CUT_CELLS = 6
"""Cells that a cut argument keeps at least; below that a shorter sentence is clearer."""

MAX_LENGTH = 9
"""Number above every length of a message."""


class MessagePart(NamedTuple):
    """Text of a sentence, and the argument that follows it (empty at the end)."""

    text: str
    name: str
    spec: str


@lru_cache(maxsize=512)
def parse_message(sentence: str) -> tuple[MessagePart, ...]:
    """Split a sentence into its parts."""
    return tuple(MessagePart(text, name or "", spec or "") for text, name, spec, _ in Formatter().parse(sentence))


def message_lengths(id_: str, language: str = ENGLISH) -> tuple[str, ...]:
    """Return all lengths of a message, short first. An unknown id is its own text: people see something, tests fail."""
    entry = load_messages(language).get(id_, id_)
    return (entry,) if isinstance(entry, str) else entry


def length_count(message: Msg, language: str = ENGLISH) -> int:
    """Return the number of lengths of a message, its nested messages included."""
    nested = (length_count(value, language) for _, value in message.args if isinstance(value, Msg))
    return max((len(message_lengths(message.id, language)), *nested))


class MessageWriter(NamedTuple):
    """Writer of messages for one terminal."""

    is_ascii: bool = False
    """True if all text is reduced to ASCII."""
    language: str = ENGLISH

    @property
    def language_format(self) -> LanguageFormat:
        """Format of numbers, dates and plurals."""
        return LANGUAGE_FORMATS[self.language]

    @property
    def cut_mark(self) -> str:
        """Mark in place of text that was cut."""
        return ASCII_ELLIPSIS if self.is_ascii else ELLIPSIS

    def clean_text(self, text: str) -> str:
        """Return text from outside, cleaned for drawing."""
        shown = clean(text)
        return to_ascii(shown) if self.is_ascii else shown

    def write(self, message: Msg, length: int = MAX_LENGTH, cut: int = 0) -> str:
        """Return the message in this length (0 is the shortest). Arguments that may be cut lose `cut` cells in all."""
        entry = message_lengths(message.id, self.language)
        sentence = entry[min(length, len(entry) - 1)]
        if not message.args:
            return _write_constant(self, sentence)
        return self.fill(_prepare_parts(self, sentence), dict(message.args), length, cut)

    def fill(self, parts: Iterable[MessagePart], args: Mapping[str, Value], length: int, cut: int) -> str:
        """Return prepared parts with their arguments filled in."""
        out: list[str] = []
        given: list[int] = []
        for piece in parts:
            if piece.text:
                out.append(piece.text)
            if piece.name:
                value = args.get(piece.name, "?")
                if cut and (piece.spec == "~" or (piece.spec == "~~" and not isinstance(value, Msg))):
                    given.append(len(out))
                out.append(self._format_value(value, piece.spec, length))
        if given:
            self._cut_arguments(out, given, cut)
        return "".join(out).rstrip()

    def _cut_arguments(self, texts: list[str], given: Iterable[int], cut: int) -> None:
        """Cut texts, longest first, so that a number stays whole beside a long name."""
        cells = {at: width(texts[at]) for at in given}
        room, most = MIN_CUT_CELLS, max(cells.values())
        while room < most:
            middle = (room + most + 1) // 2
            if sum(max(0, each - middle) for each in cells.values()) >= cut:
                room = middle
            else:
                most = middle - 1
        for at, each in cells.items():
            if each > room:
                texts[at] = fit_middle(texts[at], room, mark=self.cut_mark)

    def fit(self, message: Msg, excess_cells: Callable[[str], int]) -> str:
        """Return the longest length that fits; `excess_cells` returns how many cells are too many (0 or less: none).

        Arguments that may be cut are cut before a shorter length is used. The shortest length is returned even if too
        long.
        """
        text = ""
        for level in reversed(range(length_count(message, self.language))):
            text = self.write(message, level)
            over = excess_cells(text)
            if over <= 0:
                return text
            tight = self.write(message, level, over)
            if tight != text and excess_cells(tight) <= 0:
                return tight
        return text

    def fit_line(self, message: Msg, cells: int) -> str:
        """Return the longest length that fits in `cells`; the shortest is cut with a mark if necessary."""
        return fit(self.fit(message, lambda text: width(text) - cells), cells, mark=self.cut_mark)

    def format_number(self, value: int | Decimal) -> str:
        """Return a number in the notation of this language."""
        return self.language_format.format_number(format_number(Decimal(value)))

    def _format_value(self, value: Value, spec: str, length: int) -> str:
        if isinstance(value, Msg):
            return self.write(value, length)
        if "|" in spec:
            one, many = spec.split("|")
            return f"{self._format_plain(value)} {one if self.language_format.is_singular(value) else many}"
        if spec in ("day", "date", "time", "year"):
            return self.clean_text(_format_time(str(value), spec, self.language_format))
        if spec in ("age", "ago"):
            return self.write(age_message(float(value), spec), length)
        if spec == "money":
            return self.language_format.format_number(format_money(Decimal(value)))
        return self._format_plain(value)

    def _format_plain(self, value: str | int | Decimal) -> str:
        return self.clean_text(value) if isinstance(value, str) else self.format_number(value)


@lru_cache(maxsize=1024)
def _prepare_parts(writer: MessageWriter, sentence: str) -> tuple[MessagePart, ...]:
    """Split a sentence and clean its text. Cached, because fitting writes the same sentence many times."""
    return tuple(piece._replace(text=writer.clean_text(piece.text)) for piece in parse_message(sentence))


@lru_cache(maxsize=1024)
def _write_constant(writer: MessageWriter, sentence: str) -> str:
    """Return a sentence without arguments, such as the name of a command. Cached."""
    return writer.fill(_prepare_parts(writer, sentence), {}, MAX_LENGTH, 0)


def age_message(seconds: float, spec: str = "age") -> Msg:
    """Return the message for an age, in a suitable unit; with `ago`, as it follows "since"."""
    if seconds < 0:
        return Msg("age.never")
    minutes = int(seconds // 60)
    if minutes < 1:
        return Msg("age.now")
    if minutes < 60:
        return Msg("age.minutes", (("count", minutes),))
    hours = minutes // 60
    return (
        Msg("age.hours", (("count", hours),))
        if hours < 48
        else Msg("age.days_since" if spec == "ago" else "age.days", (("count", hours // 24),))
    )


def _format_time(text: str, spec: str, language_format: LanguageFormat) -> str:
    """Return an ISO time in this language and in local time. Other text is returned unchanged."""
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone()
    except (ValueError, OverflowError):
        return "" if spec == "time" else text
    if spec == "year":
        return str(moment.year)
    if spec == "time":
        return language_format.time.format(hour=moment.hour, minute=moment.minute) if len(text) > 10 else ""
    month = language_format.months[moment.month - 1] if language_format.months else ""
    form = language_format.date if spec == "date" else language_format.day
    return form.format(day=moment.day, month=month, number=moment.month, year=moment.year)
