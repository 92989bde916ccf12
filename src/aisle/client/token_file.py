"""Reads the token in the token file of a host, for each request, so that a new token counts at once."""

from __future__ import annotations

import os
import stat

from aisle.errors import SettingsError


def read_token(path: str) -> str:
    """Return the token in a file that only its owner can read. Clients read it anew for each request.

    Raise SettingsError if the file is missing, a link, no text, readable by others, or empty.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise SettingsError(f"The token file {path} cannot be opened: {error.strerror}. Set token_file.") from error
    try:
        token = _read_token_text(handle, path)
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"The token file {path} holds bytes that are no text. Write the token of your service into it."
        ) from error
    except OSError as error:
        raise SettingsError(f"The token file {path} cannot be read: {error.strerror}. Set token_file.") from error
    finally:
        os.close(handle)  # no stream closes it, also not that of a directory
    if not token:
        raise SettingsError(f"The token file {path} is empty. Write the token of your service into it.")
    return token


def _read_token_text(handle: int, path: str) -> str:
    with open(handle, encoding="utf-8", closefd=False) as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise SettingsError(f"The token file {path} is a pipe or a device, not a file. Set token_file.")
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o077:
            raise SettingsError(f"The token file {path} has mode {mode:04o}; others may read it. Run: chmod 600 {path}")
        return stream.read().strip()
