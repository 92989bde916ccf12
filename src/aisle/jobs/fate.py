"""What can have become of a piece of work, from noting it on, and the word that people have for it."""

from __future__ import annotations

WORDS = {
    "noted": "word.noted",
    "sent": "word.sent",
    "confirmed": "word.confirmed",
    "refused": "word.refused",
    "unclear": "word.unclear",
    "settled": "word.settled",
}
