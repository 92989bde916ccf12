"""Sentences for message ids: the one place where a view's messages become text, through the gate for untrusted text.

An entry of the catalogue has one or several lengths, short first; whoever draws takes the longest that fits. In a
sentence stand arguments: `{label}` as it is; `{label:~}` may be cut where room is short, `{label:~~}` too, but for
a message, which has lengths of its own; `{count:line|lines}` counts;
`{at:day}`, `{at:date}` (with the year) and `{at:time}` show a moment; `{seconds:age}` shows an age.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from string import Formatter
from typing import NamedTuple

from aisle.jobs.base import whole
from aisle.jobs.view import Msg
from aisle.text import ASCII_MARK, MARK, ascii_fold, clean, fit, fit_middle, width
from aisle.tui.catalogue_en import MESSAGES

Value = str | int | Decimal | Msg

LEAST = 6
"""Cells that a cut argument keeps at least; below that a shorter sentence says more."""

LONGEST = 9
"""Above every length that an entry has."""


class Piece(NamedTuple):
    """Text of a sentence, and the argument that follows it (empty at the end)."""

    text: str
    name: str
    spec: str


@lru_cache(maxsize=512)
def pieces(sentence: str) -> tuple[Piece, ...]:
    """A sentence of the catalogue, taken apart."""
    return tuple(Piece(text, name or "", spec or "") for text, name, spec, _ in Formatter().parse(sentence))


def sentences(id_: str) -> tuple[str, ...]:
    """All lengths of a message, short first. An unknown id stands for itself: a person sees something, tests fail."""
    entry = MESSAGES.get(id_, id_)
    return (entry,) if isinstance(entry, str) else entry


def levels(message: Msg) -> int:
    """In how many lengths a message comes, its nested messages included."""
    nested = (levels(value) for _, value in message.args if isinstance(value, Msg))
    return max((len(sentences(message.id)), *nested))


class Voice(NamedTuple):
    """How text is spoken on this terminal."""

    plain: bool = False
    """Everything is folded to ASCII."""

    @property
    def mark(self) -> str:
        """What stands where text was cut."""
        return ASCII_MARK if self.plain else MARK

    def raw(self, text: str) -> str:
        """Text from outside, fit to be drawn."""
        shown = clean(text)
        return ascii_fold(shown) if self.plain else shown

    def say(self, message: Msg, level: int = LONGEST, cut: int = 0) -> str:
        """The message in this length (0 is the shortest); arguments that may be cut give up `cut` cells in all."""
        entry = sentences(message.id)
        args = dict(message.args)
        out: list[str] = []
        for piece in pieces(entry[min(level, len(entry) - 1)]):
            out.append(self.raw(piece.text))
            if piece.name:
                shown = self._value(args.get(piece.name, "?"), piece.spec, level)
                room = width(shown)
                cuts = piece.spec == "~" or (piece.spec == "~~" and not isinstance(args.get(piece.name), Msg))
                if cuts and cut and room > LEAST:
                    shown = fit_middle(shown, max(LEAST, room - cut), mark=self.mark)
                    cut -= room - width(shown)
                out.append(shown)
        return "".join(out).rstrip()

    def fitting(self, message: Msg, fits: Callable[[str], int]) -> str:
        """The longest length that fits: `fits` tells how many cells are too many (0 or less: none).

        Before a shorter length is taken, arguments that may be cut give way. The shortest comes back as it is.
        """
        text = ""
        for level in reversed(range(levels(message))):
            text = self.say(message, level)
            over = fits(text)
            if over <= 0:
                return text
            tight = self.say(message, level, over)
            if tight != text and fits(tight) <= 0:
                return tight
        return text

    def short(self, message: Msg, cells: int) -> str:
        """The longest length on one line of `cells` cells, cut with a mark where even the shortest is too long."""
        return fit(self.fitting(message, lambda text: width(text) - cells), cells, mark=self.mark)

    def _value(self, value: Value, spec: str, level: int) -> str:
        if isinstance(value, Msg):
            return self.say(value, level)
        if "|" in spec:
            one, many = spec.split("|")
            return f"{_number(value)} {one if value == 1 else many}"
        if spec in ("day", "date", "time", "year"):
            return self.raw(_moment(str(value), spec))
        if spec == "age":
            return self.say(age(float(value)), level)
        return _number(value) if isinstance(value, int | Decimal) else self.raw(value)


def _number(value: Value) -> str:
    return whole(Decimal(value)) if isinstance(value, int | Decimal) else str(value)


def age(seconds: float) -> Msg:
    """How long ago something was, in the unit that people would use."""
    if seconds < 0:
        return Msg("age.never")
    minutes = int(seconds // 60)
    if minutes < 1:
        return Msg("age.now")
    if minutes < 60:
        return Msg("age.minutes", (("count", minutes),))
    hours = minutes // 60
    return Msg("age.hours", (("count", hours),)) if hours < 48 else Msg("age.days", (("count", hours // 24),))


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _moment(text: str, spec: str) -> str:
    """An ISO moment as people write it, in the time of this host; what is no moment stays as it is."""
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return "" if spec == "time" else text
    if moment.tzinfo is not None:
        moment = moment.astimezone()
    if spec == "year":
        return str(moment.year)
    if spec != "time":
        year = f" {moment.year}" if spec == "date" else ""
        return f"{moment.day} {_MONTHS[moment.month - 1]}{year}"
    return f"{moment.hour}:{moment.minute:02}" if len(text) > 10 else ""
