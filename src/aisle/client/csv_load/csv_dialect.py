"""Detection of a CSV file's encoding and column separator."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from aisle.client.csv_load.report import LoadError

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""Usual separators of columns, with their names."""
BAR = "|"
NAMES = {**SEPARATORS, BAR: "vertical bars"}
"""All separators with their names. A bar counts if the header shows it; SAP also puts bars around all cells."""
_RULE = re.compile(r"[ \t|+-]*-[ \t|+-]*[\r\n]*")
"""Line of dashes between the rows of such a list."""
_SEP_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_WORKBOOK_SIGNATURES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""First bytes of spreadsheet files, in new and old formats."""
_FORMAT_BYTES = 64
_OTHER_FORMATS = (
    (re.compile(rb"<(?:!doctype|html|table|meta|head|body|script)\b", re.IGNORECASE), "a web page"),
    (re.compile(rb"<[?\w]"), "XML"),
    (re.compile(rb"[\[{]+\s*[\[{\"}\]]"), "JSON"),
    (re.compile(rb"%PDF-"), "a PDF"),
    (re.compile(rb"\{\\rtf"), "a text with formats (RTF)"),
    (re.compile(rb"ID;P"), "a table in the format SYLK"),
    (re.compile(rb"\x1f\x8b|BZh|7z\xbc\xaf|\xfd7zXZ|Rar!"), "a compressed file"),
)
"""Beginnings of files that are no CSV, with their names."""
_MAX_LINES_ABOVE_HEADER = 50
"""Maximum number of empty or title lines above the header."""
_BLANK_LINE_CHARACTERS = ' \t\r\n,;"\ufeff\u00a0'
_UNDEFINED_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
"""Bytes that are no character in Windows-1252."""
_UTF8_LETTERS = re.compile(rb"[\xc2-\xc5][\x80-\xbf]|\xe2[\x80-\x84][\x80-\xbf]")
"""Characters of Western languages in UTF-8; as Windows-1252 they make hardly any sense."""


class CsvDialect(NamedTuple):
    """Format of a file, and the assumptions made for it. `skipped_lines` are above the header.

    `is_boxed` is True if bars surround all cells, as in a list of SAP; nothing is quoted then.
    """

    encoding: str
    separator: str
    skipped_lines: int
    assumptions: tuple[str, ...]
    is_boxed: bool = False


@contextmanager
def open_csv(path: Path, dialect: CsvDialect) -> Iterator[tuple[io.BufferedReader, io.TextIOWrapper]]:
    """Open the file as bytes, to measure progress, and as text from its header on."""
    with open(path, "rb") as raw, _text_stream(raw, dialect.encoding) as stream:
        for _ in range(dialect.skipped_lines):
            stream.readline()
        yield raw, stream


def csv_reader(stream: Iterable[str], dialect: CsvDialect) -> Iterator[list[str]]:
    """Return a reader of the rows: the csv module's, or one of boxed lists. Both have `line_num`."""
    if dialect.is_boxed:
        return _Bars(stream)
    return csv.reader(stream, strict=True, delimiter=dialect.separator)


class _Bars:
    """Reader of a list with bars around its cells (`|P1  |  5- |`); nothing is quoted.

    Lines of dashes are skipped as soon as the row before them was read.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.line_num = 0
        self._next = next(self._lines, None)
        self._pass_over()

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        line = self._next
        if line is None:
            raise StopIteration
        self.line_num += 1
        self._next = next(self._lines, None)
        self._pass_over()
        return _cells_in_bars(line)

    def _pass_over(self) -> None:
        while self._next is not None and _RULE.fullmatch(self._next):
            self.line_num += 1
            self._next = next(self._lines, None)


def _cells_in_bars(line: str) -> list[str]:
    text = line.strip()
    return [cell.strip() for cell in text.removeprefix(BAR).removesuffix(BAR).split(BAR)] if text else []


def _is_in_bars(line: str) -> bool:
    text = line.strip()
    return len(text) > 1 and text[0] == text[-1] == BAR


def detect_dialect(path: Path, is_known: Callable[[str], bool]) -> CsvDialect:
    """Detect the format of a file. `is_known` returns True for the name of a column.

    Raise LoadError for a file that cannot be read, or that declares an impossible separator.
    """
    try:
        encoding, encoding_note = _detect_encoding(path)
        with open(path, "rb") as raw, _text_stream(raw, encoding) as stream:
            above, first = 0, stream.readline()
            while first and above < _MAX_LINES_ABOVE_HEADER and not first.strip(_BLANK_LINE_CHARACTERS):
                above, first = above + 1, stream.readline()
            lines = [first, *itertools.islice(stream, _MAX_LINES_ABOVE_HEADER)]
    except (OSError, UnicodeError) as error:
        raise LoadError(f"{path.name} cannot be read: {error}.") from error
    if found := _SEP_LINE.fullmatch(first):
        if found[1] not in NAMES:
            raise LoadError(f"{path.name} begins with {first.strip()!r}; separate the columns by commas or semicolons.")
        is_boxed = found[1] == BAR and _is_in_bars(lines[1] if len(lines) > 1 else "")
        return _create_dialect(encoding, found[1], above + 1, encoding_note)._replace(is_boxed=is_boxed)
    barred = (at for at, line in enumerate(lines) if _is_in_bars(line) and any(map(is_known, _cells_in_bars(line))))
    if (at := next(barred, -1)) >= 0:
        has_title = not all(_RULE.fullmatch(line) for line in lines[:at])
        dialect = _create_dialect(encoding, BAR, above + at, encoding_note)._replace(is_boxed=True)
        return _passing_over(dialect, above + at + 1) if has_title else dialect
    title = _count_lines_above_header(lines, is_known)
    dialect = _create_dialect(
        encoding, _detect_separator("".join(lines[title:]), is_known), above + title, encoding_note
    )
    return _passing_over(dialect, above + title + 1) if title else dialect


def _passing_over(dialect: CsvDialect, header: int) -> CsvDialect:
    """Add the assumption that lines above the header, which is in this row, are not read."""
    return dialect._replace(assumptions=(*dialect.assumptions, f"the header in row {header}, without what is above it"))


def _count_lines_above_header(lines: list[str], is_known: Callable[[str], bool]) -> int:
    """Return the number of lines above the first one with two column names; 0 if there is none."""
    for at, line in enumerate(lines):
        begin = line if line.count('"') % 2 == 0 else "".join(lines[at:])  # a name may have a line end inside
        known = max(sum(map(is_known, split_first_row(begin, mark))) for mark in NAMES)
        if known > 1 or (known and not at):
            return at
    return 0


def _create_dialect(encoding: str, separator: str, skipped: int, encoding_note: str) -> CsvDialect:
    assumed = [encoding_note] if encoding_note else []
    if separator != ",":
        assumed.append(f"columns separated by {NAMES[separator]}")
    return CsvDialect(encoding, separator, skipped, tuple(assumed))


def _detect_separator(begin: str, is_known: Callable[[str], bool]) -> str:
    """Return the separator with most known names in the header, otherwise with most names; a comma if equal.

    A bar counts only by known names, because texts may contain it.
    """

    def found(mark: str) -> tuple[int, int]:
        names = split_first_row(begin, mark)
        known = sum(map(is_known, names))
        return known, len(names) if known or mark != BAR else 0

    return max(NAMES, key=found)


def split_first_row(text: str, separator: str) -> list[str]:
    """Return the cells of the first row of a text, as far as they can be read."""
    if separator == BAR and _is_in_bars(text):
        return _cells_in_bars(text)
    try:
        return unwrapped(next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), []), separator)
    except csv.Error:
        return []


def unwrapped(cells: list[str], separator: str) -> list[str]:
    """Return the cells of a row; of a row that is wholly in quotation marks, the cells inside the one that it has."""
    if len(cells) != 1 or separator not in cells[0]:
        return cells
    try:
        [inside] = csv.reader(io.StringIO(cells[0], newline=""), delimiter=separator, strict=True)
    except (csv.Error, ValueError):
        return cells  # it is several rows, of which none may be lost
    return inside


def _detect_encoding(path: Path) -> tuple[str, str]:
    """Return the encoding of a file, and the assumption to report. UTF-8 is the default, with or without BOM."""
    with open(path, "rb") as raw:
        start = raw.read(2)
        rest = raw.read(2)
        if start + rest in _WORKBOOK_SIGNATURES:
            raise LoadError(
                f"{path.name} is a workbook with the name of a CSV file; open it and save it as CSV (UTF-8)."
            )
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raw.seek(0)
            _check_utf16(path, raw, "utf-16")
            return "utf-16", "the encoding UTF-16"
        if order := _detect_utf16_without_mark(start + rest):
            raw.seek(0)
            _check_utf16(path, raw, order)
            return order, "the encoding UTF-16"
        raw.seek(0)
        _refuse_other_format(path, raw.read(_FORMAT_BYTES))
        raw.seek(0)
        utf8, other, undefined = _count_lines_by_encoding(raw)
        raw.seek(0)
        old = None
        if other and not utf8:
            old = _guess_encoding(path, raw, undefined=undefined)
        elif other > utf8:  # a few rows come from another file, or were saved in a wrong encoding before
            with suppress(LoadError):
                old = _guess_encoding(path, raw, undefined=undefined)
    if old:
        words = f" ({', '.join(map(repr, old.words))}; if they are wrong, save it as UTF-8)" if old.words else ""
        return old.encoding, f"the encoding {_ENCODING_NAMES[old.encoding]}{words}"
    return "utf-8-sig", ""


def _refuse_other_format(path: Path, start: bytes) -> None:
    """Raise LoadError for a file that is no CSV but has its name."""
    bare = start.removeprefix(codecs.BOM_UTF8).lstrip()
    for pattern, name in _OTHER_FORMATS:
        if pattern.match(bare):
            raise LoadError(f"{path.name} is {name} with the name of a CSV file; open it and save it as CSV (UTF-8).")


def _count_lines_by_encoding(raw: io.BufferedReader) -> tuple[int, int, bool]:
    """Return the numbers of lines in UTF-8 beyond ASCII and of other lines, and True if those have undefined bytes."""
    utf8 = other = 0
    undefined = False
    for line in raw:
        if line.isascii():
            continue
        try:
            line.decode()
        except UnicodeDecodeError:
            other += 1
            utf8 += _UTF8_LETTERS.search(line) is not None
            undefined = undefined or _UNDEFINED_IN_CP1252.search(line) is not None
        else:
            utf8 += not (utf8 == 0 and line.startswith(codecs.BOM_UTF8) and line[3:].isascii())
    return utf8, other, undefined


class _Guess(NamedTuple):
    """Encoding that fits best, and words as it reads them."""

    encoding: str
    words: tuple[str, ...]


def _guess_encoding(path: Path, raw: io.BufferedReader, *, undefined: bool) -> _Guess:
    """Return the encoding of Windows, DOS or old Macintosh in which the letters stand as words have them.

    Raise LoadError if they make no sense in any of them.
    """
    lines = list(itertools.islice((line for line in raw if not _is_utf8(line)), _MAX_GUESSED_LINES))
    raw.seek(0)
    is_of_mac = b"\r" in lines[0].rstrip(b"\r\n") and b"\n" not in lines[0]
    names = [name for name in _OLD_ENCODING_NAMES if name != "cp1252" or not undefined]
    found = {name: list(dict.fromkeys(_words_in(lines, name))) for name in names}
    oddities = {name: [one for line in lines for one in _oddities(line.decode(name), name)] for name in names}
    odd = {name: sum(one for one in oddities[name] if one >= 1) for name in names}
    best = min(names, key=lambda name: (odd[name], sum(oddities[name]), is_of_mac and name != "mac_roman"))
    if odd[best] and (central := _central_encoding(lines)):
        return _Guess(central, _shown_words([*dict.fromkeys(_words_in(lines, central))], central))
    letters = sum(not char.isascii() for line in lines for word in _words_of(line.decode(best)) for char in word)
    if odd[best] > letters * _MOST_ODD:
        words = ", ".join(map(repr, found[best][:_SHOWN_WORDS]))
        raise LoadError(
            f"{path.name} is not UTF-8 text, nor that of Windows, DOS or Macintosh in Western languages ({words});"
            " save it as CSV UTF-8."
        )
    return _Guess(best, _shown_words(found[best], best) or (_around_blank(lines, best),))


def _words_in(lines: list[bytes], encoding: str) -> Iterator[str]:
    return (word for line in lines for word in _words_of(line.decode(encoding, "replace")))


def _central_encoding(lines: list[bytes]) -> str:
    """Return the encoding in which all letters beyond ASCII are Polish; empty if there is none."""
    return next((name for name in _CENTRAL_ENCODING_NAMES if set("".join(_words_in(lines, name))) <= _POLISH), "")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def utf8_text(cell: str, encoding: str) -> str:
    """Return what a cell of a file in an old encoding says as UTF-8; empty if it is not UTF-8 beyond ASCII."""
    if cell.isascii() or encoding not in _ENCODING_NAMES:
        return ""
    try:
        return cell.encode(encoding, "surrogateescape").decode()
    except UnicodeError:
        return ""


def _shown_words(words: list[str], encoding: str) -> tuple[str, ...]:
    """Return the first word, and others that another encoding reads as well, because those may be wrong."""
    others = [name for name in _OLD_ENCODING_NAMES if name != encoding]
    doubtful = (word for word in words[1:] if any(_is_other_word(word, encoding, other) for other in others))
    chosen = {*words[:1], *itertools.islice(doubtful, _SHOWN_WORDS - 1)}
    chosen |= set(itertools.islice((word for word in words if word not in chosen), _SHOWN_WORDS - len(chosen)))
    return tuple(word for word in words if word in chosen)


def _is_other_word(word: str, encoding: str, other: str) -> bool:
    """Return True if another encoding reads a word as other letters, in their usual places."""
    try:
        text = word.encode(encoding).decode(other)
    except UnicodeDecodeError:
        return False
    return text != word and any(char.isalpha() and not char.isascii() for char in text) and not _oddities(text, other)


def _around_blank(lines: list[bytes], encoding: str) -> str:
    """Return the text around the first blank that is beyond ASCII; for files that have no other such character."""
    found = (_AROUND_BLANK.search(line.decode(encoding)) for line in lines)
    return next((one[0].replace("\xa0", " ") for one in found if one), "")


def _words_of(line: str) -> Iterator[str]:
    return (word for word in _WORDS.findall(line) if not word.isascii())


def _oddities(line: str, encoding: str) -> list[float]:
    """Return letters and signs of a line that are where no Western language has them, as 1; rare ones are 0.5.

    In Windows-1252, which spreadsheets write, a rare letter is none of another encoding.
    """
    oddity = _ODDITY_BY_ENCODING.get(encoding, _oddity)
    words = _words_of(_QUOTED.sub(r"\1", line))
    found = (oddity(word, at) for word in words for at, char in enumerate(word) if not char.isascii())
    return [one for one in found if one]


def _oddity_in_windows(word: str, at: int) -> float:
    """Return 1 for a letter or sign that is a letter of DOS or Macintosh misread; 0 for what may stand there."""
    char, before, after = word[at], word[at - 1 : at] if at else "", word[at + 1 : at + 2]
    if char in _SIGNS_OF_WINDOWS:
        return 0
    if _FIGURE_OF_OTHERS.match(word, at):
        return 1
    if char in _FRACTIONS or char == "•":
        return before.isalpha()
    if char == "ƒ":
        return before.isalpha() or after.isalpha()
    if char in "›»" and before.isalpha() and after.isalpha():
        return 1
    if not char.isalpha() or char in "ˆ˜ƒ":
        return _oddity(word, at)
    is_capital_inside = char.isupper() and before.isalpha() and (before.islower() or after.islower())
    is_before_figure = not before.isalnum() and after.isdigit()
    return is_capital_inside or is_before_figure or _MISREAD_IN_WINDOWS.match(word, at) is not None


def _oddity_in_macintosh(word: str, at: int) -> float:
    """Return 0.5 for an apostrophe that may be the sign of the euro in DOS."""
    return 0.5 if _EURO_OF_DOS.match(word, at) else _oddity(word, at)


def _oddity(word: str, at: int) -> float:
    char, before, after = word[at], word[at - 1 : at] if at else "", word[at + 1 : at + 2]
    is_inside = before.isalpha() and after.isalpha()
    if char.isalpha() and char.lower() in _LETTERS:
        is_rare = char in _RARE_LETTERS or char in _RARE_CAPITALS or (at and char.lower() in _RARE_LETTERS)
        is_capital_inside = char.isupper() and before.isalpha() and (before.islower() or after.islower())
        is_lone = char == "ß" and before.casefold() not in _VOWELS
        is_before_figure = not before.isalnum() and after.isdigit()
        if _NEVER.match(word, at):
            return 1.0
        is_out_of_place = _OUT_OF_PLACE.match(word, at) or (not before and _ODD_BEGIN.match(word))
        return 1.0 if is_capital_inside or is_lone or is_before_figure else 0.5 * bool(is_rare or is_out_of_place)
    is_stray = (char in "¿¡" and not after.isalpha()) or (char == "‘" and before.isalpha() and not after.isalnum())
    if char in "‚„" and after.isalpha():
        return 0.5 + before.isalnum() / 2
    if is_stray or _MICRO_WORD.match(word, at):
        return 1.0
    if char == "“":
        return before.isalnum() and after.isalnum()
    if char in _SIGNS_BEFORE_WORDS:
        return before.isalnum() or before == char
    if char in _SIGNS_INSIDE_NO_WORD and before.isalpha():
        is_word = after.islower() and len(word) > _LONGEST_BESIDE_SIGN and not (char == "‘" and at == 1)
        return is_word or (char in "–—" and not after.isalnum()) or (char == "…" and after == "-")
    if char in _SIGNS_BETWEEN:
        return not before.isalnum() and char not in "‘’" and word != char
    if char in "€®™":
        return _BETWEEN_THOUSANDS.match(word, at) is not None or (after.islower() and (char != "™" or not before))
    is_beside = char in "×§" and (before.isalpha() or after.isalpha())
    odd = 1 if char in _NO_SIGNS or is_beside else is_inside and char not in "™®©"
    return odd + (char in "£…‰" and (after.isalpha() or (char != "…" and before.isalpha())))


_ODDITY_BY_ENCODING = {"cp1252": _oddity_in_windows, "mac_roman": _oddity_in_macintosh}
_MAX_GUESSED_LINES = 2000
_MOST_ODD = 0.4
"""Share of odd letters from which an encoding is not believed."""
_SHOWN_WORDS = 3
_WORDS = re.compile(r"[^\s,;|\"()/]+")
_LETTERS = "àâäæçèéêëîïôöœùûüÿñßáíóúåãõìòøšžý"
_RARE_LETTERS = "áíóúåãõìòøšžýÿæ"
_RARE_CAPITALS = "ÕÃÝÌÒ"
_OUT_OF_PLACE = re.compile(
    r"û[aeiouyé]|ñ[^aeiouy\W]|ç[^aou\W]|ž[^aeiouy\W]|à[^s\W]|(?<=[aei])(?<![gb]e)ö|(?<![aeiou])ë|[âêîô](?!\w)|(?<!\w)û(?!\w)",
    re.IGNORECASE,
)
"""Letters that stand before no such letter, or at no end of a word."""
_ODD_BEGIN = re.compile(r"â(?!ge|gé|me|ne|pre|cre|tre|\W)|ê(?!tre|tes|\W)")
"""Small letters with which no other word begins."""
_NEVER = re.compile(
    r"ç(?=[^\W\d_aeiouyáéíóúàãõâêôäëöü])|ù(?=\w)|î[aeiouyé]|(?<![aeiouyàé])ï|(?<!\w)ÿ|è[aeiouyäöüè]|èh|è[^\W\daeiouys]\b"
    r"|è(?!gn|ch|ph|th|qu|gu)[^\W\daeiouy][^\W\daeiouylrs]",
    re.IGNORECASE,
)
"""Letters that stand so in no word of a Western language."""
_MICRO_WORD = re.compile(r"µ[^\W\d_]{3}")
"""Letters behind a sign that stands before a unit alone."""
_QUOTED = re.compile(r"(?<!\w)[‚„]([^‚„‘’“”\"]*)[‘’“”\"]")
"""Text between quotation marks, as German has them; one without the other is a letter misread."""
_SIGNS_OF_WINDOWS = "\xadªº°´"
_FRACTIONS = "¼½¾"
_AROUND_BLANK = re.compile(r"[^\s,;|\"]*\xa0[^\s,;|\"]*")
_CONSONANT = r"[^\W\d_aeiouyáéíóúàèìòùâêîôûäëïöüãõåæøœ]"
_MISREAD_IN_WINDOWS = re.compile(
    r"(?<=[ao])á|(?<=[aeiou][ei])á|(?<=u)á(?=e|b|\b)"  # ß of DOS
    r"|ä(?=e)|ò(?=t)"  # õ, Ê of DOS
    r"|î(?=u)|ætre|(?<!\w)ë|(?<![aeiouyáàéó])ï"  # Œ, Ê, Î, Ô of Macintosh
    rf"|ç(?={_CONSONANT}|[eiyéèêí])"
    r"|(?<!ph)œ(?![uidst])(?<=\w.)|(?<!\w)œ(?=[^\W\d_uidstn]|\b)"  # ú of Macintosh, î of DOS
    r"|ÿ(?=b|pp)"  # ü of Macintosh
    r"|å(?=ngel)"  # Â of Macintosh
    r"|(?<!\w)ž(?=[^\W\d_aeiouyáéíóú])|ž(?=[trlc])|(?<=[^\W\d_aeiouyáéíóúr])ž(?!\w)"
    rf"|(?<!\w)š(?={_CONSONANT}{{2}}|\b)|(?<=\w)š(?={_CONSONANT}{{2}})|(?<={_CONSONANT})š(?={_CONSONANT}|\b)",
    re.IGNORECASE,
)
"""Letters of Windows-1252 that are others in DOS or Macintosh, where those stand and these hardly do."""
_FIGURE_OF_OTHERS = re.compile(
    r"(?<=\d)[ÊÕÔÿ](?=\d{3})|(?<=\d)[Êÿ](?=[ÛÕ])|[ÛÕ](?=[Êÿ]?\d)|(?<=\d)[ÛÕ](?!\w)|(?<=\d[Êÿ])[ÛÕ](?!\w)"
    r"|(?<!\w)[ÛÕ](?!\w)",
    re.ASCII,
)
"""Blanks and apostrophes between thousands, and the sign of the euro, of Macintosh or DOS."""
_EURO_OF_DOS = re.compile(r"(?<![^\W\d])’(?!\w)|(?<!\w)’(?=\d+$)", re.ASCII)
"""Apostrophe of Macintosh where DOS has the sign of the euro."""
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)€(?=\d{3}(?!\d))", re.ASCII)
"""Sign of the euro of DOS where Macintosh has an apostrophe between thousands."""
_VOWELS = tuple("aeiouyäöü")
_SIGNS_BEFORE_WORDS = "„‚«‹¿¡"
_SIGNS_BETWEEN = "’‘”»›–—"
_SIGNS_INSIDE_NO_WORD = "”‘–—…™"
_LONGEST_BESIDE_SIGN = 3
"""Characters up to which letters beside a sign are no word."""
_NO_SIGNS = "ƒ¬¦¨¯¸ˆ˜´¶¤þðÞÐ÷◊∂∑∏π∫ªºΩ√∞≤≥≠≈∆ﬁﬂıı˘˙˚˝˛ˇ\uf8ff‡†" + "".join(map(chr, range(0x2500, 0x25A1)))
_OLD_ENCODING_NAMES = {
    "cp1252": "Windows-1252",
    "cp850": "CP850 of DOS",
    "mac_roman": "Mac OS Roman",
    "cp858": "CP858 of DOS",
}
"""Encodings in the order in which they are preferred."""
_CENTRAL_ENCODING_NAMES = {"cp1250": "Windows-1250", "iso8859_2": "ISO 8859-2", "cp852": "CP852 of DOS"}
_ENCODING_NAMES = _OLD_ENCODING_NAMES | _CENTRAL_ENCODING_NAMES
_POLISH = {*map(chr, range(128)), *"ąćęłńóśźżĄĆĘŁŃÓŚŹŻ"}
"""Letters of Polish, and ASCII."""


def _detect_utf16_without_mark(start: bytes) -> str:
    """Return the byte order of a UTF-16 header without BOM, whose every other byte is zero; empty for no UTF-16."""
    if len(start) == len(b"a\0b\0") and start.count(0) == 2:
        return "utf-16-le" if start[1] == start[3] == 0 else "utf-16-be" if start[0] == start[2] == 0 else ""
    return ""


def _check_utf16(path: Path, raw: io.BufferedReader, encoding: str) -> None:
    """Raise LoadError for a file that begins as UTF-16 and does not continue so."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while chunk := raw.read(1 << 20):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeError:
        raise LoadError(f"{path.name} begins as UTF-16, and is damaged further on; save it as UTF-8.") from None


def _text_stream(raw: io.BufferedReader, encoding: str) -> io.TextIOWrapper:
    errors = "strict" if encoding.startswith("utf-16") else "surrogateescape"
    return io.TextIOWrapper(raw, encoding=encoding, errors=errors, newline="")
