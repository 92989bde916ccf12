"""The error tree. Each error says what, why and what to do.

AisleError
├── UsageError          the command line or a settings file is wrong (exit status 2)
├── SettingsError       a settings file cannot be used
├── StorageError        this host's files cannot be used
└── ContractError       something does not fit the interface
    (the client's own tree hangs below it: aisle.client.errors)
"""

from __future__ import annotations


class AisleError(Exception):
    """Base of all errors that aisle raises on purpose; `str()` is fit for a person."""


class UsageError(AisleError):
    """What was asked for on the command line cannot be done as written."""


class SettingsError(AisleError):
    """A settings file, variable or token file is wrong; names the file and the key."""


class StorageError(AisleError):
    """A database of this host cannot be opened, is of another version, or lies where it must not.

    `trouble` says which of the troubles it is that a session tells its people of (see local.host.troubles); the text
    is for operators.
    """

    def __init__(self, *args: object, kind: str = "") -> None:
        super().__init__(*args)
        self.kind = kind


class ContractError(AisleError):
    """A request or an answer does not fit the interface."""
