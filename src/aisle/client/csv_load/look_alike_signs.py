"""Signs that look the same on a screen: dashes, apostrophes, slashes, letters.

The punctuation is of the confusable signs of Unicode (UTS 39). Editors of text and mail put some of them in.
"""

from __future__ import annotations

_OF_SIGN = {
    "-": "\u058a\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u23af\u2796\ufe58\ufe63\uff0d",
    "'": "\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02c8\u02ca\u02cb\u2018\u2019\u201b\u2032\u2035\ua78c\uff07\uff40",
    '"': "\u02ba\u02dd\u02ee\u201c\u201d\u201f\u2033\u2036\u3003\uff02",
    "/": "\u2041\u2044\u2215\u2571\u27cb\u29f8\uff0f",
    ",": "\u00b8\u060d\u066b\u201a\ua4f9\uff0c",
    ".": "\u2024\ua4f8\ua60e\uff0e",
    "*": "\u204e\u2217\u066d\uff0a",
    ":": "\u02d0\u02f8\u05c3\u0589\u2236\ua4fd\ua789\ufe55\uff1a",
    "_": "\u02cd\ufe4d\ufe4e\ufe4f\uff3f",
    "|": "\u01c0\u05c0\u2223\u23fd\uff5c",
    "+": "\u2795\uff0b",
    "~": "\u02dc\u2053\u223c",
    "\\": "\u2216\u27cd\u29f5\u29f9\ufe68\uff3c",
}
SIGNS = {ord(one): sign for sign, found in _OF_SIGN.items() for one in found}
"""Signs of punctuation, with those of a keyboard."""
_CYRILLIC = str.maketrans("авекмнорстухіјѕԁһӏ", "abekmhopctyxijsdhl")
_GREEK = str.maketrans("αβεζηικμνορτυχ", "abezhikmnoptyx")
LOOK_ALIKE: dict[int, str | int] = {**SIGNS, **_CYRILLIC, **_GREEK}
"""Signs and letters; letters in lower case, as of a folded code."""


def odd_sign(code: str) -> str:
    """Return the first sign of a code that looks like one of a keyboard, and is none; empty if there is none."""
    return "" if code.isascii() else next((one for one in code if ord(one) in SIGNS), "")
