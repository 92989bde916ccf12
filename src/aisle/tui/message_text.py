"""Text of messages: turns the message ids of views into cleaned text of the right length and language.

A message has one or several lengths, short first; the longest that fits is used. Its arguments are described in
`aisle.messages.messages_of_language`. Command letters are the same in every language, so that printed barcodes and
habits work in all of them; their texts are translated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from aisle.jobs.job import format_money, format_number
from aisle.jobs.view import Msg
from aisle.messages.messages_of_language import (
    LANGUAGE_FORMATS,
    LanguageFormat,
    MessagePart,
    PluralForms,
    message_lengths,
    parse_message,
)
from aisle.settings.setting_definitions import ENGLISH
from aisle.terminal_text import ASCII_ELLIPSIS, ELLIPSIS, clean, fit, fit_middle, to_ascii, width

Value = str | int | Decimal | Msg

MIN_CUT_CELLS = 6
"""Cells that a cut argument keeps at least; below that a shorter sentence is clearer."""

MAX_LENGTH = 9
"""Number above every length of a message."""


def length_count(message: Msg, language: str = ENGLISH) -> int:
    """Return the number of lengths of a message, its nested messages included."""
    nested = (length_count(value, language) for _, value in message.args if isinstance(value, Msg))
    return max((len(message_lengths(message.id, language)), *nested))


class MessageWriter(NamedTuple):
    """Writer of messages for one terminal."""

    is_ascii: bool = False
    """True if all text is reduced to ASCII."""
    language: str = ENGLISH
    today: date | None = None
    """Day of the store; None if no date is far from it."""
    zone: str = ""
    """Time zone of the process, by which texts that are kept differ."""

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
        value: Value = ""
        for piece in parts:
            if piece.text:
                out.append(piece.text)
                if isinstance(value, Msg):
                    _join_sentences(out)
            if piece.name:
                value = args.get(piece.name, "?")
                if cut and _may_be_cut(piece, value):
                    given.append(len(out))
                out.append(self._format_value(value, piece, length))
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

    def _format_value(self, value: Value, part: MessagePart, length: int) -> str:
        if isinstance(value, Msg):
            return self.write(value, length)
        if part.plural:
            form = part.plural.one if self.language_format.is_singular(value) else part.plural.other
            return form.replace("#", self._format_plain(value))
        if part.type in ("date", "time"):
            return self.clean_text(_format_time(str(value), part.style or part.type, self))
        if part.type == "duration":
            return self.write(age_message(float(value), is_since=part.style == "since"), length)
        if part.type == "number":
            return self.language_format.format_number(format_money(Decimal(value)))
        return self._format_plain(value)

    def _format_plain(self, value: str | int | Decimal) -> str:
        return self.clean_text(value) if isinstance(value, str) else self.format_number(value)


def _join_sentences(texts: list[str]) -> None:
    """Leave out a full stop or comma right after a nested message that ends a sentence itself."""
    *_, nested, text = texts
    if text.startswith((".", ",")) and nested[1:].endswith((".", "?", "!")):  # a `?` alone stands for a figure
        texts[-1] = text[1:]


def _may_be_cut(part: MessagePart, value: Value) -> bool:
    """Return True if the argument may lose cells; `cut-plain` keeps a message with lengths of its own whole."""
    return part.style == "cut" or (part.style == "cut-plain" and not isinstance(value, Msg))


@lru_cache(maxsize=1024)
def _prepare_parts(writer: MessageWriter, sentence: str) -> tuple[MessagePart, ...]:
    """Split a sentence and clean its text. Cached, because fitting writes the same sentence many times."""
    return tuple(
        part._replace(text=writer.clean_text(part.text), plural=part.plural and _clean_plural(writer, part.plural))
        for part in parse_message(sentence)
    )


def _clean_plural(writer: MessageWriter, plural: PluralForms) -> PluralForms:
    return PluralForms(writer.clean_text(plural.one), writer.clean_text(plural.other))


@lru_cache(maxsize=1024)
def _write_constant(writer: MessageWriter, sentence: str) -> str:
    """Return a sentence without arguments, such as the name of a command. Cached."""
    return writer.fill(_prepare_parts(writer, sentence), {}, MAX_LENGTH, 0)


def age_message(seconds: float, *, is_since: bool = False) -> Msg:
    """Return the message for an age, in a suitable unit; with `is_since`, as it follows "since"."""
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
        else Msg("age.days_since" if is_since else "age.days", (("count", hours // 24),))
    )


DAYS_WITHOUT_YEAR = 183
"""Days before and after today, half a year, in which a date needs no year."""


def _format_time(text: str, style: str, writer: MessageWriter) -> str:
    """Return an ISO time in this language and in local time. Other text is returned unchanged."""
    language_format = writer.language_format
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone()
    except (ValueError, OverflowError):
        return "" if style == "time" else text
    if style == "time":
        return language_format.time.format(hour=moment.hour, minute=moment.minute) if len(text) > 10 else ""
    month = language_format.months[moment.month - 1] if language_format.months else ""
    is_far = writer.today is not None and abs((moment.date() - writer.today).days) > DAYS_WITHOUT_YEAR
    if is_far and style == "short":
        return f"{month} {moment.year}" if month else f"{moment.month:02}/{moment.year}"
    form = language_format.date if is_far or style == "full" else language_format.day
    return form.format(day=moment.day, month=month, number=moment.month, year=moment.year)
