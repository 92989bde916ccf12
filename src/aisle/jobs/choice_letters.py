"""Letters of choices on pages where a quantity may be typed: there a number always is the quantity.

Each kind of choice has one letter in all jobs:

* `y` yes; `k` keep it as it is; `n` none of it; `r` only the rest that is still needed.
* `x` drop it, or it is no quantity; `c` count (`v` beside a cart); `f` look it up; `g` switch to another one.
* `o` somebody else has it; `m` more; `a` all; `l` it is still at the location.

Choices among equals (products, locations, orders) get the first letters that are free on their page; the page shows
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

YES: Final = "y"
KEEP: Final = "k"
NONE: Final = "n"
REST: Final = "r"
DROP: Final = "x"
FIND: Final = "f"
GO_TO: Final = "g"
OTHER_PERSON: Final = "o"
ALL: Final = "a"

LETTER_OF_CHOICE: Final = {
    # Yes
    "quantity": YES,
    "amount": YES,
    "over": YES,
    "extra": YES,
    "set": "ym",
    "take_here": YES,
    "put_here": YES,
    "put_others": YES,
    "put": YES,
    "put_back": YES,
    "reopen": YES,
    "take_in": YES,
    "both": YES,
    "leave": "yq",
    "undo_rest": YES,
    "finish": YES,
    "book": YES,
    "is_tote": YES,
    "all_the_same": YES,
    "many": YES,
    "then": YES,
    "go_on": YES,
    "out": YES,
    # Keep it as it is
    "stay": KEEP,
    "leave_it": KEEP,
    "in_hand": KEEP,
    "back": KEEP,
    "later": KEEP,
    # None of it
    "aside": NONE,
    "not_there": NONE,
    "nowhere": NONE,
    # Only the rest
    "take_rest": REST,
    "fit": REST,
    "fit_order": REST,
    # Not this
    "drop": DROP,
    "forget": DROP,
    "throw_away": DROP,
    "is_product": DROP,
    "is_location": DROP,
    "is_order": DROP,
    "is_reference": DROP,
    "is_delivery": DROP,
    "is_person": DROP,
    "not_so_many": DROP,
    "tote": DROP,
    # Something else
    "count": "cv",
    "look_up": FIND,
    "find": FIND,
    "switch": GO_TO,
    "leave_for": GO_TO,
    "hand_over": OTHER_PERSON,
    "handed_over": OTHER_PERSON,
    "other": ALL,
    "leave_all": ALL,
    "put_down_there": "l",
    "join": "j",
}
"""Letters of each kind of choice, the preferred one first. A kind that is missing here is one among equals."""

MAX_CHOICES: Final = 9
"""Most choices offered at once from a list of any length; the others wait."""

FREE_LETTERS: Final = "efgjmortvzixlsqawckdun"
"""Letters for choices among equals, in the order of use. `b`, `h` and `p` are navigation keys of every page."""


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
