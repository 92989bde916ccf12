"""Letters of choices on pages where a quantity may be typed: there a number always is the quantity.

Each kind of choice has one letter in all jobs:

* `y` yes; `k` keep it as it is; `n` none of it; `r` only the rest that is still needed.
* `x` drop it, or it is no quantity; `c` count (`v` beside a cart); `f` look it up; `g` switch to another one.
* `o` somebody else has it; `m` more; `a` all; `l` it is still at the location, or its label cannot be read.

Choices among equals (products, locations, orders) get the first letters that are free on their page; the page shows
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from aisle.jobs.view import Msg, msg, raw

YES: Final = "y"
DROP: Final = "x"

CHOICES_OF_LETTERS: Final = {
    YES: (
        "quantity", "amount", "over", "extra", "take_here", "put_here", "put_others", "put", "put_back", "reopen",
        "take_in", "both", "undo_rest", "finish", "book", "is_tote", "all_the_same", "many", "then", "go_on", "out",
    ),
    "ym": ("set",),
    "yq": ("leave",),
    "k": ("stay", "leave_it", "in_hand", "back", "later"),
    "n": ("aside", "not_there", "nowhere"),
    "r": ("take_rest", "fit", "fit_order"),
    DROP: (
        "drop", "forget", "throw_away", "is_product", "is_location", "is_order", "is_reference", "is_delivery",
        "is_person", "not_so_many", "tote",
    ),
    "cv": ("count",),
    "f": ("look_up", "find"),
    "g": ("switch", "leave_for"),
    "o": ("hand_over", "handed_over"),
    "a": ("other", "leave_all"),
    "l": ("put_down_there", "label_unreadable"),
    "j": ("join",),
}  # fmt: skip
"""Kinds of choices with each letter, or with the first of several letters that is free."""

LETTER_OF_CHOICE: Final = {kind: letters for letters, kinds in CHOICES_OF_LETTERS.items() for kind in kinds}
"""Letters of each kind of choice, the preferred one first. A kind that is missing here is one among equals."""

MAX_CHOICES: Final = 9
"""Most choices offered at once from a list of any length; the others wait."""

FREE_LETTERS: Final = "efgjmortvzixlsqawckdun"
"""Letters for choices among equals, in the order of use. `b`, `h` and `p` are navigation keys of every page."""


class OfferedChoice(NamedTuple):
    """Choice that a page offers: its kind, the key of the record that it is about, and the name of that record."""

    kind: str
    key: str = ""
    label: str = ""


def assign_letters(kinds: Iterable[str], commands: str = "") -> str:
    """Return one distinct letter for each of these choices. If there are more choices than letters, the last choices
    get none and have to wait. `commands` are letters that the page already uses."""
    keys = ""
    for kind in kinds:
        taken = f"{keys}{commands}"
        letter = next(
            (letter for letter in (*LETTER_OF_CHOICE.get(kind, ""), *FREE_LETTERS) if letter not in taken), ""
        )
        if not letter:
            break
        keys += letter
    return keys


def quantity_prompt(keys: str, *, scans: bool = True, is_total: bool = True) -> Msg:
    """Return the prompt where letters choose and a number is the total quantity, or that of what was scanned. `scans`:
    a scan continues."""
    if is_total:
        return msg("prompt.choose_or_many" if scans else "prompt.choose_or_type", letters=spell_letters(keys))
    id_ = "prompt.choose_or_how_many" if scans else "prompt.choose_or_type_how_many"
    return msg(id_, letters=spell_letters(keys))


def letter_prompt(keys: str, *, scans: bool = True) -> Msg:
    """Return the prompt where letters choose and no quantity is open."""
    return msg("prompt.letter_or_scan" if scans else "prompt.letter", letters=spell_letters(keys))


def spell_letters(keys: str) -> Msg:
    """Return the letters as a list with "or"; the short length has only spaces between them."""
    if len(keys) < 2:
        return raw(keys)
    return msg("prompt.letters", letters=" ".join(keys), first=", ".join(keys[:-1]), last=keys[-1])
