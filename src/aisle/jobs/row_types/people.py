"""Rows of people: their rights, tokens, and what each has chosen on this host."""

from __future__ import annotations

from typing import TypedDict


class PersonRow(TypedDict):
    """Person by user."""

    user: str
    name: str
    role: str
    """Role at the service; empty if unknown."""


class PeopleRow(TypedDict):
    """Person in a list."""

    user: str
    name: str
    is_badge: bool
    """True if the search is their badge."""


class ListChoicesRow(TypedDict):
    """What a person chose for a list."""

    text: str


class UserTokenRow(TypedDict):
    """Token of a person."""

    wanted: bool
    """True if this person needs a PIN to act as a supervisor."""
    asked: bool
    """True if the service issues tokens at all."""
    there: bool
    """True if the courier has this person's token."""
    waiting: int
    """Number of operations that wait for it."""


class PreferencesRow(TypedDict):
    """Language and theme that a person has chosen on this host; empty texts for none."""

    language: str
    theme: str
