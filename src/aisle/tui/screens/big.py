"""Large letters of blocks, for what has to be read from a few steps away."""

from __future__ import annotations

_GLYPHS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71111",
    "8": "75757", "9": "75717", "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644",
    "G": "34553", "H": "55755", "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25563", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", "-": "00700", ".": "00002", ",": "00024", "/": "11244",
    ":": "02020", " ": "00000", "o": "00757", "f": "34644",
}  # fmt: skip
"""Five rows of three pixels, each row one octal digit. `of` is the one small word that stands between large numbers."""

_HALVES = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}


_GAP, _BLANK = (0,), (0, 0)
"""Columns of pixels between two letters, and for a blank."""


def letters(text: str, cells: int) -> list[str]:
    """The text in the largest letters that fit into `cells`: five lines high, or three, or none."""
    glyphs = [_GLYPHS.get(char) or _GLYPHS.get(char.upper()) for char in text]
    if not text.strip() or None in glyphs:
        return []
    rows = [_pixels([int(glyph[row]) for glyph in glyphs if glyph], text) for row in range(5)]
    for draw, columns in ((_full, 2), (_half, 1)):
        if columns * len(rows[0]) <= cells:
            return draw(rows)
    return []


def _pixels(glyphs: list[int], text: str) -> list[int]:
    """One row of pixels of all glyphs."""
    row: list[int] = []
    for glyph, char in zip(glyphs, text, strict=True):
        row += _BLANK if char == " " else (glyph >> 2 & 1, glyph >> 1 & 1, glyph & 1)
        row += _GAP
    return row


def _full(rows: list[list[int]]) -> list[str]:
    return ["".join("██" if bit else "  " for bit in row).rstrip() for row in rows]


def _half(rows: list[list[int]]) -> list[str]:
    lines = [*rows, [0] * len(rows[0])]
    pairs = ((lines[index], lines[index + 1]) for index in (0, 2, 4))
    return ["".join(_HALVES[pair] for pair in zip(upper, lower, strict=True)).rstrip() for upper, lower in pairs]
