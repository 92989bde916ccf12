"""`aisle --kiosk`: for whoever may work at this terminal and do nothing else on this host.

What the other side of an SSH connection can set is forgotten before anything reads it, so that no variable picks
another driver, service, home or library; what has to be said is said on the command line, the administrator's.
"""

from __future__ import annotations

import os
import pwd
import resource
from collections.abc import Mapping

_KEPT = frozenset({"TERM", "LANG", "TZ", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "AISLE_LIFELINE_FD"})
"""The terminal's, and the number of a pipe whose end ends the courier, for whoever starts a kiosk in a harness."""
_KEPT_BEGINNING = "LC_"
_PATH = "/usr/bin:/bin"
_TERMS = 64
"""Longer names of a terminal are none."""


def closed_environment(environ: Mapping[str, str], home: str = "") -> dict[str, str]:
    """The variables that a kiosk lives with; `home` is the folder of its data and settings, '' the account's own."""
    kept = {name: text for name, text in environ.items() if name in _KEPT or name.startswith(_KEPT_BEGINNING)}
    term = kept.get("TERM", "")
    if len(term) > _TERMS or not all(letter.isascii() and (letter.isalnum() or letter in "-+._") for letter in term):
        kept["TERM"] = "dumb"
    account = pwd.getpwuid(os.getuid())
    kept |= {"HOME": account.pw_dir, "USER": account.pw_name, "LOGNAME": account.pw_name, "PATH": _PATH}
    return kept | ({"AISLE_HOME": home} if home else {})


def enter_kiosk(home: str = "") -> None:
    """Forget what this process was told; files that it makes are the account's alone, and it leaves no core behind."""
    environ = closed_environment(os.environ, home)
    os.environ.clear()
    os.environ.update(environ)
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
