"""Sentences for message ids: the one place where a view's messages become text, through the gate for untrusted text.

An entry of the catalogue has one or several lengths, short first; whoever draws takes the longest that fits. In a
sentence stand arguments: `{label}` as it is; `{label:~}` may be cut where room is short, `{label:~~}` too, but for
a message, which has lengths of its own; `{count:line|lines}` counts;
`{at:day}`, `{at:date}` (with the year) and `{at:time}` show a moment; `{seconds:age}` shows an age, `{seconds:ago}` one
as it stands behind words for since when; `{value:money}` shows at least two decimals. The letters of commands are the
same in every language, so that a barcode or a habit is good for all of them; what they do is said beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from string import Formatter

from aisle.jobs.base import money, whole
from aisle.jobs.view import Msg
from aisle.settings import ENGLISH
from aisle.text import ASCII_MARK, MARK, ascii_fold, clean, fit, fit_middle, width
from aisle.tui.catalogue_parts import messages
from aisle.tui.tongues import TONGUES, Tongue
from aisle.tuples import NamedTuple

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


def sentences(id_: str, language: str = ENGLISH) -> tuple[str, ...]:
    """All lengths of a message, short first. An unknown id stands for itself: a person sees something, tests fail."""
    entry = messages(language).get(id_, id_)
    return (entry,) if isinstance(entry, str) else entry


def levels(message: Msg, language: str = ENGLISH) -> int:
    """In how many lengths a message comes, its nested messages included."""
    nested = (levels(value, language) for _, value in message.args if isinstance(value, Msg))
    return max((len(sentences(message.id, language)), *nested))


class Voice(NamedTuple):
    """How text is spoken on this terminal."""

    plain: bool = False
    """Everything is folded to ASCII."""
    language: str = ENGLISH

    @property
    def tongue(self) -> Tongue:
        """How numbers, dates and plurals are written."""
        return TONGUES[self.language]

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
        entry = sentences(message.id, self.language)
        sentence = entry[min(level, len(entry) - 1)]
        if not message.args:
            return _unchanging(self, sentence)
        return self._fill(_drawn(self, sentence), dict(message.args), level, cut)

    def _fill(self, pieces: Iterable[Piece], args: Mapping[str, Value], level: int, cut: int) -> str:
        out: list[str] = []
        given: list[int] = []
        for piece in pieces:
            if piece.text:
                out.append(piece.text)
            if piece.name:
                value = args.get(piece.name, "?")
                if cut and (piece.spec == "~" or (piece.spec == "~~" and not isinstance(value, Msg))):
                    given.append(len(out))
                out.append(self._value(value, piece.spec, level))
        if given:
            self._cut(out, given, cut)
        return "".join(out).rstrip()

    def _cut(self, texts: list[str], given: Iterable[int], cut: int) -> None:
        """Cuts those of the texts that may be: the longest first, so that a number stays whole beside a long name."""
        cells = {at: width(texts[at]) for at in given}
        room, most = LEAST, max(cells.values())
        while room < most:
            middle = (room + most + 1) // 2
            if sum(max(0, each - middle) for each in cells.values()) >= cut:
                room = middle
            else:
                most = middle - 1
        for at, each in cells.items():
            if each > room:
                texts[at] = fit_middle(texts[at], room, mark=self.mark)

    def fitting(self, message: Msg, fits: Callable[[str], int]) -> str:
        """The longest length that fits: `fits` tells how many cells are too many (0 or less: none).

        Before a shorter length is taken, arguments that may be cut give way. The shortest comes back as it is.
        """
        text = ""
        for level in reversed(range(levels(message, self.language))):
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

    def number(self, value: int | Decimal) -> str:
        """A number as people of this language write it."""
        return self.tongue.number(whole(Decimal(value)))

    def _value(self, value: Value, spec: str, level: int) -> str:
        if isinstance(value, Msg):
            return self.say(value, level)
        if "|" in spec:
            one, many = spec.split("|")
            return f"{self._plain(value)} {one if self.tongue.is_one(value) else many}"
        if spec in ("day", "date", "time", "year"):
            return self.raw(_moment(str(value), spec, self.tongue))
        if spec in ("age", "ago"):
            return self.say(age(float(value), spec), level)
        if spec == "money":
            return self.tongue.number(money(Decimal(value)))
        return self._plain(value)

    def _plain(self, value: str | int | Decimal) -> str:
        return self.raw(value) if isinstance(value, str) else self.number(value)


@lru_cache(maxsize=1024)
def _drawn(voice: Voice, sentence: str) -> tuple[Piece, ...]:
    """A sentence taken apart, its own text as it is drawn: a page that looks for the words that fit says each often."""
    return tuple(piece._replace(text=voice.raw(piece.text)) for piece in pieces(sentence))


@lru_cache(maxsize=1024)
def _unchanging(voice: Voice, sentence: str) -> str:
    """A sentence without arguments, such as the words of a command."""
    return voice._fill(_drawn(voice, sentence), {}, LONGEST, 0)


def age(seconds: float, spec: str = "age") -> Msg:
    """How long ago something was, in the unit that people would use; with `ago`, as it stands behind "since"."""
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
        else Msg("ago.days" if spec == "ago" else "age.days", (("count", hours // 24),))
    )


def _moment(text: str, spec: str, tongue: Tongue) -> str:
    """An ISO moment as people write it, in the time of this host; what is no moment stays as it is."""
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
        return tongue.time.format(hour=moment.hour, minute=moment.minute) if len(text) > 10 else ""
    month = tongue.months[moment.month - 1] if tongue.months else ""
    form = tongue.date if spec == "date" else tongue.day
    return form.format(day=moment.day, month=month, number=moment.month, year=moment.year)
