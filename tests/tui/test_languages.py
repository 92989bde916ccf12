"""Every language says all that English says, with the same arguments, and in no more room than its screens have."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import pytest

from aisle.jobs.view import Frame, Msg, msg, numbered_rows, signed_message
from aisle.messages import messages_of_language
from aisle.messages.messages_of_language import (
    LANGUAGE_FORMATS,
    MessagePart,
    load_messages,
    message_lengths,
    parse_message,
)
from aisle.settings.setting_definitions import LANGUAGES
from aisle.terminal_text import width
from aisle.tui import message_text
from aisle.tui.layout.screen import layout_screen
from aisle.tui.message_text import MessageWriter
from tests.run_length import tries
from tests.samples.registry import SAMPLES, SAMPLES_OF_JOB, Sample

OTHERS = ("nl", "de", "fr")
ENGLISH = load_messages("en")

SIZES = ((20, 16), (80, 24))
"""Of the floor, and of a supervisor."""

ANYWHERE = """
    OK y i w m min h x ms MB Id PIN GLN ESL CR LF TAB ETX GS AIM TERM Code ITF Interleaved of PDF QR GS1 EAN UPC DotCode
    Codabar Data Matrix DataMatrix DataBar Bluetooth offline EOT Enter Minimum Maximum Min max
"""
ALIKE = {
    "nl": """
        live start d order orders Order Orders Log Scanner scan Scan Pool Pools pool Begin Barcodes Rest Hand in hand
        open Open was is later Later Container Containers extra Filter Organis Printers Contact Manager Server Min Max
        Top stop stops In Terminal Terminals Week Set Sets set Per Factor Details Web Volume Variant Label Labels
        Letters Export mail E Tag Tags Postcode Claim pick picks Picks Pick PICK Orders filters Extra Computer aisle
    """,
    "de": """
        Pool Pools Scanner Scan Diff Barcodes Rest Terminal Text Hand extra Filter Log Ref Organis
        Organisation Server Min Max Top In Set Sets Details Web Layout Name Export Start aisle live
    """,
    "fr": """
        Stock Note Notes E mail Exceptions Actions Classification Position Terminal type aisle Scan
        cyan suffixes Organis Organisation Contact Type Description Min Max p c
        Promotion Volume max Web
        Web Promotion Volume
    """,
}
"""Words that are the same as in English: codes and units in every language, others in one."""

CHOSEN = {"raw", "orders.join"}
"""Messages that are as long as what somebody has chosen or typed; a cut is marked."""

languages = pytest.mark.parametrize("language", OTHERS)


def own(language: str) -> dict[str, tuple[str, ...]]:
    """What is said in this language, without what English stands in for."""
    return {id_: message_lengths(id_, language) for id_ in iter(load_messages(language))}


def arguments(entry: tuple[str, ...]) -> set[tuple[str, str]]:
    """Names and how they are shown; whether a number comes with a word is a matter of the language."""
    parts = [part for sentence in entry for part in parse_message(sentence) if part.name]
    return {(part.name, "" if part.plural else f"{part.type} {part.style}".strip()) for part in parts}


def least_width(part: MessagePart) -> int:
    """Return the cells of a part with an argument of a few characters."""
    argument = 4 + width(part.plural.other.removeprefix("# ")) if part.plural else 4 if part.name else 0
    return width(part.text) + argument


def words(sentence: str) -> set[str]:
    """What can be read in a sentence, its arguments left out."""
    plurals = [" ".join(piece.plural) for piece in parse_message(sentence) if piece.plural]
    told = " ".join([piece.text for piece in parse_message(sentence)] + plurals)
    return set(re.findall(r"[^\W\d_]+", told))


@languages
def test_every_message_is_there_and_no_other(language: str) -> None:
    mine = own(language)
    assert sorted(ENGLISH.keys() - mine.keys()) == []
    assert sorted(mine.keys() - ENGLISH.keys()) == []


@languages
def test_arguments_are_those_of_the_english(language: str) -> None:
    differing = {
        id_: (arguments(message_lengths(id_)), arguments(entry))
        for id_, entry in own(language).items()
        if arguments(entry) != arguments(message_lengths(id_))
    }
    assert differing == {}


@languages
def test_sentences_are_whole_and_short_first(language: str) -> None:
    for id_, entry in own(language).items():
        lengths = []
        for sentence in entry:
            assert sentence == sentence.strip(), id_
            lengths.append(sum(least_width(part) for part in parse_message(sentence)))
        assert lengths == sorted(lengths), id_


@languages
def test_nothing_is_left_in_english(language: str) -> None:
    """A sentence that is the same consists of words that are the same."""
    known = {*ANYWHERE.split(), *ALIKE[language].split()}
    left = {
        id_: sentence
        for id_, entry in own(language).items()
        for sentence in set(entry) & set(message_lengths(id_))
        if not words(sentence) <= known
    }
    assert left == {}


PROMPTS = (
    "prompt.choose_or_many",
    "prompt.choose_or_type",
    "prompt.choose_or_how_many",
    "prompt.choose_or_type_how_many",
    "home.unsent",
    "home.in_hand",
    "home.in_hand_unsent",
)
"""Questions of which no word may be cut."""


@languages
def test_a_prompt_fits_the_narrowest_screen(language: str) -> None:
    said: dict[str, str | int | Decimal] = {"rest": Decimal(12), "quantity": Decimal(12), "count": 12, "numbers": "1-3"}
    for id_ in ENGLISH:
        if ".prompt" in id_ or id_ in PROMPTS:
            args = {name: said.get(name, "A-03-12") for name, _ in arguments(message_lengths(id_))}
            assert width(MessageWriter(language=language).write(msg(id_, **args), 0)) <= 20, id_


# What is drawn


class Drawn(NamedTuple):
    """What one screen has no room for, and what of the choices it shows."""

    over: set[str]
    """Messages whose shortest length is too long."""
    cut: list[str]
    """Choices, hints and prompts that are cut."""
    keys: list[str]
    """The numbers of choices."""


def _drawn(frame: Frame, size: tuple[int, int], patch: pytest.MonkeyPatch) -> Drawn:
    over: set[str] = set()
    fitting = MessageWriter.fit

    def noting(voice: MessageWriter, message: Msg, fits: Callable[[str], int]) -> str:
        text = fitting(voice, message, fits)
        if fits(text) > 0 and message.id not in CHOSEN:
            over.add(message.id)
        return text

    with patch.context() as within:
        within.setattr(MessageWriter, "fit", noting)
        within.setattr(message_text, "ELLIPSIS", "\N{CURRENCY SIGN}")
        painted = layout_screen(frame, *size)
    spans = [span for line in painted.lines for span in line]
    cut = [text for text, role in spans if role in ("choice", "hint", "prompt") and "\N{CURRENCY SIGN}" in text]
    return Drawn(over, cut, [text for text, role in spans if role == "choice-key"])


@pytest.mark.every_case
@pytest.mark.parametrize("job", SAMPLES_OF_JOB)
def test_every_language_fits_where_english_fits(job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And every choice can be seen. By default at a fourth of the sizes, at others for the next sample."""
    every = tries(4, 1)
    for turn, sample in SAMPLES_OF_JOB[job]:
        frame = sample.build("")
        after = numbered_rows(frame.view)
        numbers = [str(number) for number in range(after + 1, after + len(frame.view.choices) + 1)]
        keys = [*getattr(frame.view, "choice_letters", "")] or numbers
        for size in SIZES[turn % every :: every]:
            english = _drawn(frame, size, monkeypatch)
            for language in OTHERS:
                there = _drawn(frame._replace(language=language), size, monkeypatch)
                assert sorted(there.over - english.over) == [], (sample, language, size)
                assert len(there.cut) <= len(english.cut), (sample, language, size, there.cut)
                assert there.keys == keys, (sample, language, size)


# Numbers, dates, plurals


def test_every_language_has_its_row() -> None:
    assert tuple(LANGUAGE_FORMATS) == LANGUAGES


@pytest.mark.parametrize(
    ("language", "half", "price", "day", "date", "time"),
    [
        ("en", "0.5", "1250.00", "5 Jan", "5 Jan 2026", "9:05"),
        ("nl", "0,5", "1250,00", "5 jan", "5 jan 2026", "9:05"),
        ("de", "0,5", "1250,00", "5.1.", "5.1.2026", "9:05"),
        ("fr", "0,5", "1250,00", "05/01", "05/01/2026", "9h05"),
    ],
)
def test_numbers_and_moments(language: str, half: str, price: str, day: str, date: str, time: str) -> None:
    voice = MessageWriter(language=language)
    assert voice.write(msg("number", value=Decimal("0.500"))) == half
    assert voice.write(msg("money", value=Decimal(1250))) == price
    assert voice.write(signed_message(Decimal("0.5"))) == f"+{half}"
    assert voice.write(msg("moment", at="2026-01-05")) == day
    assert voice.write(msg("moment", at="2026-01-05T09:05:00")) == f"{day} {time}"
    for today in ("2026-07-08", "2025-07-05", "2035-01-05"):
        far = voice._replace(today=datetime.date.fromisoformat(today))
        assert far.write(msg("moment", at="2026-01-05")) == date
        assert far.write(msg("moment", at="2026-01-05T09:05:00")) == f"{date} {time}"
        assert far.write(msg("moment", at="2026-01-05"), 0) == {"en": "Jan 2026", "nl": "jan 2026"}.get(
            language, "01/2026"
        )
        assert date in far.write(msg("look_up.ending", at="2026-01-05"))
        assert date in far.write(msg("shortage.expected_delivery", at="2026-01-05"))
        assert date in far.write(msg("pick.ended", label="Milk", at="2026-01-05"))
        assert far.write(msg("log.at", at="2026-01-05T09:05:00")) == f"{date} {time}"
    for today in ("2026-07-07", "2025-07-06", "2026-01-05"):
        near = voice._replace(today=datetime.date.fromisoformat(today))
        assert near.write(msg("moment", at="2026-01-05")) == day


def test_one_of_something() -> None:
    def found(language: str, count: int | Decimal) -> str:
        return MessageWriter(language=language).write(msg("pick.title_batch", count=count), 0)

    assert [found("de", count) for count in (0, 1, 2)] == ["0 Aufträge", "1 Auftrag", "2 Aufträge"]
    assert found("en", Decimal("1.5")) == "1.5 orders"
    french = [found("fr", count).split(" ", 1)[1] for count in (0, 1, Decimal("1.5"), 2)]
    assert french[0] == french[1] == french[2] != french[3]


def test_missing_messages_fall_back_to_english(monkeypatch: pytest.MonkeyPatch) -> None:
    dutch = {id_: text for id_, text in load_messages("nl").items() if id_ != "hint.back"}
    catalogues = {"en": load_messages("en"), "nl": dutch}
    message_lengths.cache_clear()
    monkeypatch.setattr(messages_of_language, "load_messages", catalogues.__getitem__)
    try:
        assert message_lengths("hint.back", "nl") == message_lengths("hint.back")
        assert message_lengths("pick.unchanged", "nl") != message_lengths("pick.unchanged")
        assert message_lengths("no.such", "nl") == ("no.such",)
    finally:
        message_lengths.cache_clear()


def test_a_frame_is_drawn_in_its_language() -> None:
    sample: Sample = SAMPLES[0]
    painted = layout_screen(sample.build("")._replace(language="de"), 40, 20)
    assert "Anmelden" in "".join(text for line in painted.lines for text, _ in line)


FULL: dict[str, str | int | Decimal] = {"label": "Cola", "done": Decimal(1), "of": Decimal(1)}

ONE = [
    ("de", "shortage.opened", {"rest": Decimal(1), "label": "Cola"}, "1 fehlt: Cola"),
    ("de", "shortage.missing", {"rest": Decimal(1), "of": Decimal(3)}, "Fehlt: 1 von 3"),
    ("de", "pick.picked_with_shortage", {"count": 1, "order": "7"}, "Fertig, 1 fehlt"),
    ("de", "pick.picked_with_shortage", {"count": 3, "order": "7"}, "Fertig, 3 fehlen"),
    ("de", "receive.differ_short", {"short": 1}, "1 fehlt"),
    (
        "de",
        "pick.full",
        {"label": "Cola", "done": Decimal(1), "of": Decimal(1)},
        "Cola: schon 1 von 1 kommissioniert. Zurücklegen.",
    ),
    (
        "en",
        "pick.full",
        {"label": "Cola", "done": Decimal(1), "of": Decimal(1)},
        "Cola: 1 of 1 already picked. Put it back.",
    ),
    (
        "nl",
        "pick.full",
        {"label": "Cola", "done": Decimal(1), "of": Decimal(1)},
        "Cola: al 1 van 1 gepickt. Leg het terug.",
    ),
    ("en", "move.choice_from", {"place": "A-1", "quantity": Decimal(1)}, "From A-1 (1 there)"),
    ("nl", "pick.leave_batch", {"count": 1}, "Ronde stoppen? 1 order moet dan opnieuw worden toegevoegd."),
    ("fr", "count.note_left", {"count": 1}, "1 inchangé."),
    ("fr", "orders.marking_ended", {"count": 1}, "1 cochée"),
]


@pytest.mark.parametrize(("language", "id_", "args", "text"), ONE)
def test_one_is_said_as_one(language: str, id_: str, args: dict[str, str | int | Decimal], text: str) -> None:
    said = [MessageWriter(language=language).write(msg(id_, **args), level) for level in range(9)]
    assert text in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_line_closed_short_shows_picked_not_missing(language: str) -> None:
    """`Fehlt: 2 von 3` said that two are missing, where it was one."""
    taken: dict[str, str | int | Decimal] = {"done": Decimal(2), "of": Decimal(3), "label": "Cola"}
    missing = {"en": "hort", "nl": "ekort", "de": "ehl", "fr": "anqu"}[language]
    picked = {"en": "picked"}.get(language, missing)
    assert all(missing not in text or picked in text for text in message_lengths("pick.short", language))
    for level in range(3):
        assert {"2", "3"} <= {*MessageWriter(language=language).write(msg("pick.short", **taken), level)}


OTHERWISE = {
    "de": (
        "picken",
        "pickt",
        "gepickt",
        "umkreis",
        "umgeräumt",
        "zeile {line}",
        "auftragszeile",
        "belege",
        "kiste",
        "pools",
        "storno",
        "laut buch",
        "logbuch",
        "notiert",
        "der dienst",
        "terminals",
        "heißt hier",
    ),
    "fr": (
        "dépôt)",
        "alentour",
        "code- ",
        "enter",
        "précisez",
        "scannez",
        "produit",
        "le service",
        "ce poste",
        "{left} non remis",
    ),
    "nl": (
        "rondom",
        "de boeken",
        "beeld?",
        "dit beeld",
        "ophaal",
        "product ",
        "service",
        "uw ",
        "verstuur",
        "rolcont",
        "plek",
        "volgens systeem",
        "niemand weet",
        "heet hier",
        "genoteerd",
        "voorop",
        "haast",
        "de dienst",
        "pool {",
    ),
}
"""What another word is said for everywhere else, or a word of another language."""


@languages
def test_one_thing_has_one_word(language: str) -> None:
    said = "\n".join(sentence for entry in own(language).values() for sentence in entry).casefold()
    assert [word for word in OTHERWISE[language] if re.search(rf"\b{re.escape(word)}", said)] == []
