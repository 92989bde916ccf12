"""Words that people take for what they mean: none for two things, none for a riddle where there is room for more."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.jobs.supervisor.today import TodayJob, TodayState
from aisle.jobs.view import Frame, LinkState
from aisle.messages.loader import message_lengths
from aisle.tui.layout.screen import layout_screen
from tests.samples.today import FIGURES, NOW

WORDS = {
    "en": ("2 to send, 1 to resolve", "2 h ago", "28, all read today"),
    "nl": ("2 sturen, 1 oplossen", "28, vandaag gelezen"),
    "de": ("2 senden, 1 klären", "28, heute gelesen", "Fertig"),
    "fr": ("2 à envoyer, 1 à régler", "28, lues ce jour"),
}


@pytest.mark.parametrize("language", WORDS)
@pytest.mark.parametrize("why", ["", "The service does not answer, as nobody has told it to."])
def test_the_figures_of_today_are_said_in_words_where_there_is_room(language: str, why: str) -> None:
    said: Any = {**FIGURES, "seen_all_day": False, "why": why}
    drawn = []
    for page in range(2):
        view = TodayJob().view(TodayState(now=NOW, figures=said, page=page))
        lines = layout_screen(Frame(view, LinkState("live", 3.0), language=language), 80, 24).lines
        drawn += ["".join(text for text, _ in line) for line in lines]
    for words in WORDS[language]:
        assert words in "\n".join(drawn)
    assert "epackt" not in "\n".join(drawn)


def test_the_smallest_screen_keeps_the_reservation() -> None:
    view = TodayJob().view(TodayState(now=NOW, figures=FIGURES | {"seen_all_day": False}))
    lines = layout_screen(Frame(view, LinkState("live", 3.0)), 20, 16).lines
    assert any("28 read" in "".join(text for text, _ in line) for line in lines)


@pytest.mark.parametrize(("language", "word"), [("de", "reig"), ("fr", "ibér")])
def test_a_clearance_has_another_word_than_the_release_of_an_order(language: str, word: str) -> None:
    assert word in "".join(message_lengths("order_actions.release", language))
    for id_ in (
        "home.clearance",
        "clearance.title",
        "clearance.title_of",
        "clearance_request.title",
        "clearance_request.continues",
        "help.clearance_tasks",
    ):
        assert word not in "".join(message_lengths(id_, language))


def test_counts_are_not_headed_as_numbers() -> None:
    assert [message_lengths("exceptions.head_count", name)[0] for name in ("de", "nl", "fr")] == ["Zahl", "Aant.", "Nb"]
