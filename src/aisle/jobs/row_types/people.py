"""Rows of people and their rights."""

from __future__ import annotations

from typing import TypedDict


class PersonRow(TypedDict):
    """Person by user."""

    user: str
    name: str


class PeopleRow(PersonRow):
    """Person in a list."""

    is_badge: bool
    """True if the search is their badge."""


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


class LanguageRow(TypedDict):
    """Language that a person has chosen on this host."""

    language: str


class ClearancePermissionRow(TypedDict):
    """Announcements of the service for clearances, and the role of a person."""

    is_known: bool
    """False if the service was never reached."""
    people: bool
    """True if the service has a list of people."""
    listed: bool
    """True if it lists the goods that clearances want moved."""
    role: str
    """Empty if unknown."""
