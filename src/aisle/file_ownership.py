"""Ownership of files and folders: those that other accounts may change are not trusted, and no link is followed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_ROOT = 0


def ownership_error(file_stat: os.stat_result, *, folder: bool = False, or_root: bool = False) -> str:
    """Return the reason for which others than this account (and root, with `or_root`) may change the file.

    It is empty if they may not.
    """
    if stat.S_ISLNK(file_stat.st_mode):
        return "it is a link"
    if not (stat.S_ISDIR if folder else stat.S_ISREG)(file_stat.st_mode):
        return f"it is no {'folder' if folder else 'file'}"
    if file_stat.st_uid != os.getuid() and not (or_root and file_stat.st_uid == _ROOT):
        return "it belongs to another account"
    return (
        f"others may write it (mode {stat.S_IMODE(file_stat.st_mode):04o})"
        if file_stat.st_mode & _OTHERS_MAY_WRITE
        else ""
    )


def untrusted_error(path: Path, *, folder: bool = False) -> str:
    """Return the sentence that refuses a path; empty if only this account can change it, or if nothing is there."""
    try:
        why = ownership_error(path.lstat(), folder=folder)
    except OSError:
        return ""
    return f"{path} cannot be trusted: {why}. {ownership_advice(path, why)}" if why else ""


def ownership_advice(path: Path, error: str) -> str:
    """Return the advice for an ownership error."""
    if error.startswith("others may write"):
        return f"Look what is in it, then run: chmod go-w {path}"
    return "Remove it, or set AISLE_HOME."


def write_private(path: Path, text: str, *, is_durable: bool = False) -> None:
    """Replace a file that this account alone may read. It is written under another name, so that nobody reads half."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            if is_durable:
                os.fsync(handle)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
