"""Name of this terminal, and since when it has it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from aisle.settings.setting_definitions import (
    Settings,
)

_PTY_PREFIX = "/dev/pts/"
"""Prefix of pseudo-terminals, whose numbers are reused."""


def terminal_name(
    settings: Settings, environ: Mapping[str, str] = os.environ, tty: Callable[[], str] | None = None
) -> str:
    """Return the name of this terminal: the setting, the address of the SSH client, or the name of the device.

    `tty` returns the device of stdin (`/dev/tty1` becomes `tty1`, `/dev/pts/3` `pts-3`); without one the name is
    `console`.
    """
    client = environ.get("SSH_CLIENT", "").split(" ")[0]
    if settings.terminal or client:
        return settings.terminal or f"ssh-{client}"
    try:
        return (tty or _tty)().removeprefix("/dev/").replace("/", "-") or "console"
    except OSError:
        return "console"


def terminal_assigned_at(
    settings: Settings, environ: Mapping[str, str] = os.environ, tty: Callable[[], str] | None = None
) -> float:
    """Return the time since which this terminal has its name, in seconds since 1970; 0.0 for always.

    Numbers of `/dev/pts` are reused: a window opened today may have the name of one closed yesterday, with another
    user.
    """
    if settings.terminal or environ.get("SSH_CLIENT"):
        return 0.0
    try:
        device = (tty or _tty)()
        return os.stat(device).st_ctime if device.startswith(_PTY_PREFIX) else 0.0
    except OSError:
        return 0.0


def _tty() -> str:
    return os.ttyname(0)
