"""Keys that the settings of a terminal rename: their meanings, and pages that show their names."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.jobs.view import DetailView, Step, View
from aisle.scan.grammar_and_meaning_types import Back, Command, Meaning
from aisle.session.default_keys import PAGE_BY_LETTER
from aisle.session.job_stack import StackedJob


def apply_key_names(text: str, keys: Mapping[str, str], top_job: StackedJob) -> str:
    """Return the command letter of a line that is a renamed key.

    Choices of the page come first. A page that takes any text gets it, unless it knows that command.
    """
    letter = keys.get(text.strip(" ").lower()) if keys else None
    if letter is None or top_job.job.raw_input:
        return text
    accepts = top_job.job.accepts(top_job.state)
    if text.strip(" ").lower() in accepts.choice_letters and letter not in accepts.choice_letters:
        return text
    return text if accepts.text and letter not in (*PAGE_BY_LETTER, *accepts.command_letters) else letter


def meaning_of_key(key: str, keys: Mapping[str, str], defaults: Mapping[str, Meaning]) -> Meaning | None:
    """Return what a key without text stands for, if anything."""
    if key in keys:
        return Back() if keys[key] == "b" else Command(keys[key])
    return defaults.get(key)


def rename_keys(view: View, names_by_letter: Mapping[str, str]) -> View:
    """Return a page with its letters as they are named at this terminal."""
    view = view._replace(
        key_hints=tuple(hint._replace(letter=names_by_letter.get(hint.letter, hint.letter)) for hint in view.key_hints)
    )
    if isinstance(view, Step | DetailView) and view.choice_letters:
        letters = "".join(_key_name(each, view.choice_letters, names_by_letter) for each in view.choice_letters)
        return view._replace(choice_letters=letters)
    return view


def _key_name(letter: str, keys: str, names_by_letter: Mapping[str, str]) -> str:
    """Return the key of a choice: its own letter if the other name is that of another choice."""
    name = names_by_letter.get(letter, letter)
    return name if len(name) == 1 and name not in keys else letter
