"""The sheet for translators has each message once, and a picture above those that a screen shows."""

from __future__ import annotations

from aisle.messages.messages_of_language import load_messages
from tests.messages.__main__ import sheet


def test_the_sheet_has_every_message_once() -> None:
    rows = [line.split(" | ")[0].removeprefix("| ") for line in sheet() if line.startswith("| ")]
    assert sorted(id_ for id_ in rows if id_ != "id") == sorted(load_messages("en"))


def test_a_message_stands_below_a_screen_that_shows_it() -> None:
    section = "\n".join(sheet()).split("\n## sign_in: ")[1]
    assert "Scan your badge or type your name" in section.split("```")[1]
    assert "\n| sign_in.prompt | Scan your badge / Scan your badge or type your name | Scan" in section
