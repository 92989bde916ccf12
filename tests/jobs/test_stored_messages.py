"""What rows keep for people: messages by their ids, and somebody else's words as they are."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.cli.print_rows_and_messages import reason_text
from aisle.jobs.view import Msg, msg
from aisle.stored_messages import (
    DETAIL_ARGUMENT,
    NO_MESSAGE,
    is_stored_message,
    read_message,
    store_message,
    store_text,
)
from aisle.tui.message_text import MessageWriter

LINE: dict[str, Any] = {"line": 1, "picked": Decimal(3), "of": Decimal("3.5"), "left": Decimal(2)}


def test_a_message_comes_back_as_it_was_kept() -> None:
    kept = store_message("stored_reason.surplus_by", who="Ben \x1b[2J", **LINE)
    assert read_message(kept) == msg("stored_reason.surplus_by", who="Ben \x1b[2J", **LINE)
    nested = store_message(
        "stored_reason.attempts", count=50, why=read_message(store_message("stored_reason.status_rejected", status=503))
    )
    assert (
        MessageWriter(language="de")
        .write(read_message(nested))
        .startswith("50 Versuche ohne Erfolg: Der Server lehnt ab und nennt keinen Grund")
    )


@given(st.text(max_size=60) | st.text(max_size=40).map('{"@":"Msg"'.__add__))
def test_somebody_elses_words_stay_as_they_are(text: str) -> None:
    assert read_message(store_text(text)) == msg("raw", text=text)
    assert not is_stored_message(store_text(text))


@pytest.mark.parametrize(
    "text",
    [
        "Order O1 was rejected by somebody else.",
        "",
        '{"@":"Msg"',
        '{"@":"Msg"}',
        '{"@":"Msg","id":7}',
        '{"@":"Msg","id":"session.access_restored"}',
        '{"@":"Msg","id":"stored_reason.confirmed_not_shown","args":7}',
        '{"@":"Msg","id":"stored_reason.confirmed_not_shown","args":[7]}',
        '{"@":"Msg","id":"stored_reason.attempts","args":[["count",{"@":"n","v":"x"}]]}',
        '{"@":"Msg",' + "[" * 100_000,
        '{"@":"Person","id":"stored_reason.confirmed_not_shown"}',
    ],
)
def test_what_is_no_message_of_ours_is_shown_as_it_is(text: str) -> None:
    """Rows of earlier versions have plain sentences; and nobody outside speaks in our name."""
    assert read_message(text) == msg("raw", text=text)
    assert MessageWriter().write(read_message(text)) == MessageWriter().clean_text(text).rstrip()


def test_the_command_line_has_the_words_and_the_detail() -> None:
    assert reason_text(store_message("stored_reason.not_reached", detail="Connection refused")) == (
        "The server could not be reached (Connection refused)"
    )
    assert reason_text("more than ordered") == "more than ordered"
    assert reason_text(NO_MESSAGE) == ""
    assert DETAIL_ARGUMENT not in MessageWriter().write(
        read_message(store_message("stored_reason.not_reached", detail="Connection refused"))
    )


def test_one_of_ours_is_told_from_all_others() -> None:
    kept = store_message("stored_reason.intermediary_refused", status=502, why=Msg("raw", (("text", "no"),)))
    assert is_stored_message(kept)
    assert is_stored_message(kept, "stored_reason.intermediary_refused")
    assert not is_stored_message(kept, "stored_reason.confirmed_not_shown")
