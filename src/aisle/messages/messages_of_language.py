"""Messages of a language, loaded from its ARB file in the ICU format; its formats of numbers, dates, plurals.

The lengths of a message are its lines, short first.

Arguments: `{label}` unchanged; `{label, text, cut}` may be cut, `{label, text, cut-plain}` too, unless it is a message
with lengths of its own; `{count, plural, one {# line} other {# lines}}` counts; `{at, date, day}` (with the year if it
is far away), `{at, date, short}` (then the year alone), `{at, date, full}` (with the year) and `{at, time}` show a
time; `{seconds, duration, age}` shows an age and `{seconds, duration, since}` one after words such as "since";
`{value, number, money}` shows at least two decimals.

No language has thousands separators: a quantity has to look as people type it, and `.` and `,` both begin decimals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from aisle.settings.setting_definitions import ENGLISH

_ARGUMENT = re.compile(r"\{(\w+)(?:, (\w+)(?:, ((?:[^{}]|\{[^{}]*\})+))?)?\}")


_PLURAL_FORMS = re.compile(r"one \{([^{}]*)\} other \{([^{}]*)\}")


class PluralForms(NamedTuple):
    """Forms of a plural; `#` in them is the number."""

    one: str
    other: str


class MessagePart(NamedTuple):
    """Text of a sentence, and the argument that follows it (`name` is empty at the end)."""

    text: str
    name: str = ""
    type: str = ""
    """`text`, `plural`, `date`, `time`, `duration` or `number`; empty: the value is shown unchanged."""
    style: str = ""
    plural: PluralForms | None = None


@lru_cache(maxsize=512)
def parse_message(sentence: str) -> tuple[MessagePart, ...]:
    """Split a sentence into its parts. Raises ValueError for a brace outside an argument or an unreadable plural."""
    parts: list[MessagePart] = []
    end = 0
    for found in _ARGUMENT.finditer(sentence):
        parts.append(_read_argument(sentence[end : found.start()], found))
        end = found.end()
    parts.append(MessagePart(sentence[end:]))
    if any(brace in part.text for part in parts for brace in "{}"):
        raise ValueError(f"a brace stands outside an argument: {sentence}")
    return tuple(parts)


def _read_argument(text: str, found: re.Match[str]) -> MessagePart:
    name, type_, style = found[1], found[2] or "", found[3] or ""
    if type_ != "plural":
        return MessagePart(text, name, type_, style)
    forms = _PLURAL_FORMS.fullmatch(style)
    if forms is None:
        raise ValueError(f"a plural has the forms `one` and `other`: {found[0]}")
    return MessagePart(text, name, type_, plural=PluralForms(forms[1], forms[2]))


@lru_cache(maxsize=8)
def load_messages(language: str) -> Mapping[str, str]:
    """Return all messages of a language by id, without the notes for translators."""
    content: dict[str, str] = json.loads(Path(__file__).with_name(f"{language}.arb").read_text("utf-8"))
    return {id_: message for id_, message in content.items() if not id_.startswith("@")}


@lru_cache(maxsize=4096)
def message_lengths(id_: str, language: str = ENGLISH) -> tuple[str, ...]:
    """Return all lengths of a message, short first.

    A message that a language lacks is returned in English, and an unknown id as its own text: people see something,
    tests fail.
    """
    message = load_messages(language).get(id_) or load_messages(ENGLISH).get(id_, id_)
    return tuple(message.split("\n"))


class LanguageFormat(NamedTuple):
    """Formats of one language."""

    decimal_point: str
    """Sign between a number and its decimals."""
    day: str
    date: str
    time: str
    """Format strings with `day`, `month` (its name), `number` (of the month), `year`, `hour` and `minute`."""
    months: tuple[str, ...] = ()
    singular_below: int = 0
    """Limit below which quantities from 0 are singular, besides 1."""

    def format_number(self, text: str) -> str:
        """Return a number, given with a decimal point, in the language's notation."""
        return text.replace(".", self.decimal_point)

    def is_singular(self, value: object) -> bool:
        """Return True if the quantity is singular."""
        return value == 1 or (isinstance(value, int | Decimal) and 0 <= value < self.singular_below)


_ENGLISH_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DUTCH_MONTHS = ("jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec")
_DATE_FORMATS = ("{day} {month}", "{day} {month} {year}", "{hour}:{minute:02}")

LANGUAGE_FORMATS = {
    ENGLISH: LanguageFormat(".", *_DATE_FORMATS, _ENGLISH_MONTHS),
    "nl": LanguageFormat(",", *_DATE_FORMATS, _DUTCH_MONTHS),
    "de": LanguageFormat(",", "{day}.{number}.", "{day}.{number}.{year}", "{hour}:{minute:02}"),
    "fr": LanguageFormat(
        ",", "{day:02}/{number:02}", "{day:02}/{number:02}/{year}", "{hour}h{minute:02}", singular_below=2
    ),
}
"""Formats of every language of aisle."""
