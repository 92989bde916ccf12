"""Which letter stands for which choice on pages where a quantity may be open: there a number is always the quantity.

Each kind of choice has one letter in all jobs: `y` yes, what the question says; `k` keep it as it is; `n` none of it;
`r` only the rest that is still needed; `x` drop it, or it is no quantity at all; `c` count (`v` beside a cart); `f`
find it; `g` go to another one; `o` somebody else has it; `m` more; `a` all; `l` it lies there still. Choices among
equals (products, locations, orders) have the first letters that are free on their page, shown beside each.
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
    # What the question says
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
    # As it is
    "stay": KEEP,
    "leave_it": KEEP,
    "in_hand": KEEP,
    "back": KEEP,
    "later": KEEP,
    # None of it
    "aside": NONE,
    "not_there": NONE,
    "nowhere": NONE,
    # The rest
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
    "lying": "l",
    "join": "j",
}
"""The letter of each kind of choice, the likeliest first; a kind that is not here is one among equals."""

MAX_CHOICES: Final = 9
"""So many choices are asked about at once where there may be any number of them; the others wait."""

FREE_LETTERS: Final = "efgjmortvzixlsqawckdun"
"""Letters of equals, in the order in which they are given. `b`, `h` and `p` lead through every page."""


def assign_letters(kinds: Iterable[str], commands: str = "") -> str:
    """A letter for each of these choices, none of them twice; where there are more choices than letters, the last
    ones have none, and wait. `commands`: letters that the page itself knows."""
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
