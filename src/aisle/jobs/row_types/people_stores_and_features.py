"""Rows of people and of stores: rights, tokens, choices, and the lists and features of the service."""

from typing import NotRequired, TypedDict

from aisle.jobs.job import Json
from aisle.jobs.row_types.raw_service_rows import ServiceStore


class StoresRow(TypedDict):
    """Store in a list."""

    store_number: str
    store_name: str
    is_warehouse: bool
    area: str
    country: str
    is_current: bool
    """True for the store of this terminal."""
    near: bool
    waiting: int
    """Number of unsent operations there."""


class StorePageRow(ServiceStore):
    """One store, with what its switch needs to know."""

    store_number: str
    store_name: NotRequired[str]
    is_warehouse: NotRequired[Json]
    pools: dict[str, Json]
    """Names of the pools by number."""
    details: str
    """`yes`; `unasked`: more may come; `refused`."""
    read_at: str
    """ISO 8601."""
    is_current: bool
    may_switch: bool
    """True if the user may switch this terminal to it."""
    back: bool
    """True if it is the configured store of this terminal."""
    waiting: int
    """Number of unsent operations of the current store."""
    jobs: list[str]
    """Open jobs of the user in the current store."""
    there_known: bool
    """True if that store is cached here."""
    there_waiting: int
    there_jobs: list[str]


class StoreRow(TypedDict):
    """One store with its pools."""

    store_number: str
    store_name: str | None
    is_warehouse: bool
    pools: dict[str, Json]
    """Names of the pools in use by number."""


class UnreadListsRow(TypedDict):
    """List of the store that was never read to its end."""

    list: str


class FeaturesRow(TypedDict):
    """Features that the service announces."""

    features: list[str]


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
    denied: bool
    """True if this person may not act as a supervisor."""
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
