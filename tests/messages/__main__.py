"""Sheet of all messages for translators, in Markdown: `python -m tests.messages > messages.md`.

Each screen of the samples is drawn once. A table below it has the messages that no screen before it has, in all
languages. The last table has the messages of no sample, such as answers of the command line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from aisle.jobs.view import Msg
from aisle.messages.messages_of_language import load_messages
from aisle.settings.setting_definitions import ENGLISH, LANGUAGES
from aisle.tui.layout.screen import layout_screen
from tests.samples.registry import SAMPLES, Sample

SIZE = (80, 24)
"""Columns and rows of the screens on the sheet."""


def message_ids(value: object) -> Iterator[str]:
    """Yield the ids of all messages in a frame."""
    if isinstance(value, Msg):
        yield value.id
    if isinstance(value, tuple):
        for part in value:
            yield from message_ids(part)


def draw_screen(sample: Sample) -> str:
    """Return the screen of a sample as text, in English."""
    lines = layout_screen(sample.build(""), *SIZE).lines
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def message_table(ids: Iterable[str]) -> Iterator[str]:
    """Yield a table of messages; `/` separates their lengths, short first."""
    yield f"| id | {' | '.join(LANGUAGES)} |"
    yield "|---" * (len(LANGUAGES) + 1) + "|"
    for id_ in ids:
        texts = (load_messages(language)[id_].replace("|", "\\|").replace("\n", " / ") for language in LANGUAGES)
        yield f"| {id_} | {' | '.join(texts)} |"


def sheet() -> Iterator[str]:
    """Yield the lines of the sheet."""
    left = dict.fromkeys(load_messages(ENGLISH))
    yield "# Messages"
    for sample in SAMPLES:
        shown = sorted({id_ for id_ in message_ids(sample.build("")) if id_ in left})
        if not shown:
            continue
        for id_ in shown:
            del left[id_]
        yield from ("", f"## {sample.screen}: {sample.state}", "", "```text", draw_screen(sample), "```", "")
        yield from message_table(shown)
    yield from ("", "## On no sample screen", "")
    yield from message_table(left)


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in sheet())
