"""The catalogue says all that the rooms below it can say, and nothing else."""

from __future__ import annotations

import ast
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import aisle
from aisle.jobs.column_choice import PRESENT_NAMES
from aisle.jobs.view import Msg, msg
from aisle.messages.messages_of_language import load_messages, message_lengths, parse_message
from aisle.settings.setting_definitions import LANGUAGES
from aisle.terminal_text import width
from aisle.tui.message_text import MessageWriter, age_message, length_count
from tests.samples.registry import SCREENS
from tests.tui.test_languages import least_width
from tests.unit.test_imports import tree

SOURCE = Path(aisle.__file__).parent
SPEAKERS = (
    "jobs",
    "cache",
    "outbox",
    "session",
    "host",
    "courier",
    "scan",
    "tui",
    "web",
    "cli/web.py",
    "cli/web.py",
    "store_product_settings.py",
)
STYLES = {
    "": {""},
    "text": {"cut", "cut-plain"},
    "date": {"day", "full", "short"},
    "time": {""},
    "duration": {"age", "since"},
    "number": {"money"},
    "plural": {""},
}
"""Styles of each type of argument."""
MESSAGES = load_messages("en")
KINDS = (ast.Call, ast.Constant)


class Use(NamedTuple):
    """One message as source code makes it; args is None where they are not written out."""

    id: str
    args: frozenset[str] | None
    where: str


@cache
def nodes() -> tuple[tuple[str, list[ast.Call | ast.Constant]], ...]:
    """The calls and constants of each file in the rooms that speak."""
    return tuple(
        (
            str(path.relative_to(SOURCE)),
            [node for node in ast.walk(tree(path)) if isinstance(node, KINDS)],
        )
        for room in SPEAKERS
        for path in sorted((SOURCE / room).rglob("*.py") if (SOURCE / room).is_dir() else [SOURCE / room])
        if not path.parent.name.startswith("catalogue_") and path.stem != "registry"
    )


@cache
def uses() -> list[Use]:
    """Calls of `msg`, or of helpers that hand an id and its arguments on, anywhere in the rooms that speak."""
    found = []
    for where, found_there in nodes():
        for call in (node for node in found_there if isinstance(node, ast.Call)):
            name = getattr(call.func, "id", getattr(call.func, "attr", ""))
            ids = [str(arg.value) for arg in call.args if isinstance(arg, ast.Constant) and is_id(arg.value)]
            if name in ("msg", "Msg", "told") and call.args and isinstance(call.args[0], ast.Constant):
                ids = [str(call.args[0].value)]
            if name in ("msg", "_wrong", "wrong", "told", "wrap") and ids:
                spread = any(word.arg is None for word in call.keywords)
                given = {word.arg for word in call.keywords if word.arg} | ({"said"} if name == "wrap" else set())
                args = None if spread else frozenset(given)
                found.append(Use(ids[0], args, f"{where}:{call.lineno}"))
            elif name == "Msg" and ids:
                found.append(Use(ids[0], None, f"{where}:{call.lineno}"))
    return found


def is_id(value: object) -> bool:
    return isinstance(value, str) and value in MESSAGES


@cache
def mentioned() -> set[str]:
    """Every string in the rooms that speak."""
    return {
        node.value
        for _, found_there in nodes()
        for node in found_there
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def fields(id_: str) -> frozenset[str]:
    return frozenset(piece.name for sentence in message_lengths(id_) for piece in parse_message(sentence) if piece.name)


def test_every_message_that_is_used_is_in_the_catalogue() -> None:
    missing = [use for use in uses() if use.id not in MESSAGES]
    assert not missing
    assert len(uses()) > 60


def test_ids_that_are_handed_about_are_in_the_catalogue() -> None:
    """Ids kept in tables and refusals: what looks like an id of a speaking room is one, or the name of a screen."""
    prefixes = (
        "pick.",
        "home.",
        "sign_in.",
        "session.",
        "input.",
        "link.",
        "age.",
        "hint.",
        "label.",
        "head.",
        "list.",
    )
    ids = {text for text in mentioned() if text.startswith(prefixes) and text.partition(".")[2].isidentifier()}
    assert ids <= {*MESSAGES, *SCREENS, *PRESENT_NAMES}
    assert MESSAGES.keys() >= {*PRESENT_NAMES.values()}


def test_every_message_of_the_catalogue_is_used() -> None:
    assert set(MESSAGES) - mentioned() == set()


def test_arguments_are_those_of_the_sentences() -> None:
    """A sentence uses only arguments that every use gives; a use gives none that is unknown to the sentences."""
    for use in uses():
        if use.args is not None:
            assert fields(use.id) <= use.args, use
            assert use.args <= fields(use.id) | {"order", "label", "code", "number", "place", "detail"}, use


def test_sentences_are_well_formed_and_short_first() -> None:
    for id_ in MESSAGES:
        lengths = []
        for sentence in message_lengths(id_):
            assert sentence == sentence.strip(), id_
            for part in parse_message(sentence):
                assert part.style in STYLES[part.type], (id_, part)
            lengths.append(sum(least_width(part) for part in parse_message(sentence)))
        assert lengths == sorted(lengths), id_


@pytest.mark.parametrize(
    "id_", [id_ for id_ in MESSAGES if id_.startswith(("pick.prompt", "home.prompt", "sign_in.p"))]
)
def test_a_prompt_fits_the_narrowest_screen(id_: str) -> None:
    args = dict.fromkeys(fields(id_), "A-03-12")
    assert width(MessageWriter().write(msg(id_, **args), 0)) <= 20


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr"])
def test_a_quantity_that_is_doubted_is_whole_on_the_narrowest_screen(language: str) -> None:
    asked = msg("count.choice_quantity", quantity=Decimal(4006381))
    said = MessageWriter(language=language).fit_line(asked, 20 - len("1 "))
    assert said.endswith("4006381")
    assert len(said) <= 20 - len("1 ")


def test_lengths() -> None:
    voice = MessageWriter()
    taken = msg("pick.picked", label="Cola Zero 33 cl", done=Decimal("2.0"), of=Decimal(6))
    assert voice.fit_line(taken, 40) == "2 of 6 · Cola Zero 33 cl"
    assert voice.fit_line(taken, 20) == "2 of 6 · Cola…33 cl"
    assert voice.fit_line(taken, 12) == "2 of 6"
    assert voice.fit_line(taken, 4) == "2 o…"
    assert MessageWriter(is_ascii=True).fit_line(taken, 20) == "2 of 6 - Cola~33 cl"


def test_plurals_numbers_moments_and_ages() -> None:
    voice = MessageWriter()
    assert voice.write(msg("pick.title_batch", count=1)) == "Batch of 1 order"
    assert voice.write(msg("pick.title_batch", count=40)) == "Batch of 40 orders"
    assert voice.write(msg("number", value=Decimal("1E+3"))) == "1000"
    assert voice.write(msg("number", value=Decimal("0.500"))) == "0.5"
    assert voice.write(msg("moment", at="2026-01-05T09:05:00")) == "5 Jan 9:05"
    assert voice.write(msg("moment", at="2026-01-05")) == "5 Jan"
    assert voice.write(msg("moment", at="soon\x1b[2J")) == "soon�[2J"
    assert voice.write(msg("moment", at="")) == ""
    assert voice.write(msg("moment", at="0001-01-01T00:00:00+14:00")) == "0001-01-01T00:00:00+14:00"
    assert voice.write(msg("moment.late", at="2026-01-05"), 0) == "! 5 Jan"
    later = voice._replace(today=date(2026, 1, 5))
    assert later.write(msg("moment.late", at="2025-01-05"), 0) == "! Jan 2025"
    assert later.write(msg("moment.late", at="2025-01-05T09:05:00")) == "late 5 Jan 2025 9:05"
    ages = [voice.write(age_message(seconds)) for seconds in (-1, 0, 59, 60, 3599, 3600, 47 * 3600, 48 * 3600)]
    assert ages == ["never", "<1 min", "<1 min", "1 min", "59 min", "1 h", "47 h", "2 days"]


def test_an_age_behind_a_word_has_the_case_of_that_word() -> None:
    german = MessageWriter(language="de")
    days = str(22 * 86400)
    assert german.write(msg("today.ago", seconds=days)) == "vor 22 Tagen"
    assert german.write(msg("look_up.with_age", title="x", seconds=days)) == "x · Stand: vor 22 Tagen"
    assert german.write(msg("link.stuck", seconds=days)) == "sendet seit 22 Tagen nicht"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_line_of_80_says_in_words_that_something_waits_for_the_pin(language: str) -> None:
    voice, said = MessageWriter(language=language), msg("order_actions.done_reject", order="4102")
    text = voice.fit_line(msg("pin.saved", said=said), 74)
    assert len(text) > 10 + len(voice.fit_line(msg("pin.saved", said=said), 16)), text


def test_nested_messages_take_the_length_of_the_whole() -> None:
    nested = Msg("raw", (("text", msg("hint.quit")),))
    assert length_count(nested) == 2
    assert MessageWriter().write(nested, 0) == "Quit"
    assert MessageWriter().write(nested) == "Quit aisle"


def test_arguments_are_never_read_as_sentences() -> None:
    assert MessageWriter().write(msg("raw", text="{text} {0} {text.__class__}")) == "{text} {0} {text.__class__}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_of_finished_pick_does_not_claim_all_picked(language: str) -> None:
    """What was short, or not found at all, ends on the same page."""
    said = MessageWriter(language=language).write(msg("help.pick_done"))
    assert not {"all", "alles", "tout"} & {*said.casefold().split(".")[0].split()}


def test_longer_of_two_cuttable_texts_is_cut() -> None:
    counted = msg("unconfirmed.describe_count", source="A-03-12", quantity=3, label="Cola Zero 33 cl can, tray of 24")
    assert MessageWriter().fit_line(counted, 40) == "Count A-03-12: 3 × Cola Zero 33 cl…of 24"
    names = msg("count.other_product", label="Orange lemonade 1.5 l", mine="Cola Zero 33 cl can")
    shown = MessageWriter().fit_line(names, 36)
    assert width(shown) <= 36
    assert all(width(name) >= 10 for name in shown.split(" is not "))
