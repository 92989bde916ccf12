"""Words that people take for what they mean: none for two things, none for a riddle where there is room for more."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.jobs.supervisor.today import TodayJob, TodayState
from aisle.jobs.view import DetailView, Frame, LinkState
from aisle.messages.messages_of_language import message_lengths
from aisle.tui.layout.screen import layout_screen
from tests.samples.today import FIGURES, NOW

WORDS = {
    "en": ("2 to send, 1 to resolve", "2 h ago", "Not started"),
    "nl": ("2, oplossen 1", "Niet begonnen"),
    "de": ("2 senden, 1 klären", "Noch offen", "Fertig"),
    "fr": ("2 à env., 1 à résoudre", "Pas commencées"),
}


@pytest.mark.every_case
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


@pytest.mark.parametrize("seen_all_day", [True, False])
def test_new_orders_are_counted_only_if_this_host_saw_them_come(seen_all_day: bool) -> None:
    view = TodayJob().view(TodayState(now=NOW, figures=FIGURES | {"seen_all_day": seen_all_day}))
    lines = layout_screen(Frame(view, LinkState("live", 3.0)), 80, 24).lines
    assert any("New today" in "".join(text for text, _ in line) for line in lines) is seen_all_day


def test_orders_of_today_add_up_to_the_open_orders() -> None:
    view = TodayJob().view(TodayState(now=NOW, figures=FIGURES))
    assert isinstance(view, DetailView)
    (block,) = (each for each in view.blocks if each.title.id == "today.orders")
    counts = {name.id.removeprefix("today.orders_"): dict(value.args)["value"] for name, value in block.rows}
    assert counts == {"in": 28, "open": 41, "in_progress": 3, "picked": 17, "rejected": 2, "late": 4}


@pytest.mark.parametrize(("language", "word"), [("de", "reig"), ("fr", "ibér")])
def test_a_clearance_has_another_word_than_the_release_of_an_order(language: str, word: str) -> None:
    assert word in "".join(message_lengths("order_actions.release", language))
    for id_ in (
        "clearance.title",
        "clearance.title",
        "clearance.title_of",
        "clearance.title",
        "clearance_request.continues",
        "help.clearance_tasks",
    ):
        assert word not in "".join(message_lengths(id_, language))


def test_counts_are_not_headed_as_numbers() -> None:
    assert [message_lengths("exceptions.head_count", name)[0] for name in ("de", "nl", "fr")] == [
        "Zahl",
        "Aant.",
        "Nb",
    ]
