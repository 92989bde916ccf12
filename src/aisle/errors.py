"""Error tree. Each error says what happened, why, and what to do.

AisleError
├── UsageError          the command line or a settings file is wrong (exit status 2)
├── SettingsError       a settings file cannot be used
├── StorageError        this host's files cannot be used
└── ContractError       something does not fit the interface
    (base of the client's own tree: aisle.client.responses_and_errors)
"""

from __future__ import annotations


class AisleError(Exception):
    """Base of all errors that aisle raises on purpose; `str()` is fit for people."""


class UsageError(AisleError):
    """The command line cannot be carried out as written."""


class SettingsError(AisleError):
    """A settings file, variable or token file is wrong; the text names the file and the key."""


class StorageError(AisleError):
    """A database of this host cannot be opened, has another version, or lies at a wrong place.

    `kind` tells a session which message to show; the text is for operators.
    """

    def __init__(self, *args: object, kind: str = "") -> None:
        super().__init__(*args)
        self.kind = kind


class ContractError(AisleError):
    """A request or an answer does not fit the interface."""
