"""The access log: one line of JSON for each request, of what was asked and not of whom or what it was about.

It holds the operation, status, time, size, the caller's address, the request's id, and which token of which role asked
for which store. It never holds a path, a query, a body or a token: in them are secrets, and customers.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

from aisle.errors import UsageError

Access = Callable[[dict[str, Any]], None]
"""Hears of each request when its answer is on its way."""

NOTES = "aisle.access"
"""Where in the scope of a request the gate says who asks for what."""

STDERR = Path("-")


class AccessLog:
    """Writes into `file` (0600, opened anew when it was moved away), or to the standard error for `-`.

    Raises UsageError when the file cannot be written.
    """

    def __init__(self, file: Path) -> None:
        self._handler: logging.Handler
        if file == STDERR:
            self._handler = logging.StreamHandler(sys.stderr)
        else:
            try:
                self._handler = _PrivateHandler(file, encoding="utf-8")
            except OSError as problem:
                raise UsageError(f"{file} cannot be written: {problem.strerror}.") from problem
        self._logger = logging.Logger("aisle.access", logging.INFO)
        self._logger.addHandler(self._handler)

    def __call__(self, record: dict[str, Any]) -> None:
        """Write one line."""
        self._logger.info("%s", json.dumps(record))

    def close(self) -> None:
        """Let go of the file."""
        self._handler.close()


class _PrivateHandler(WatchedFileHandler):
    """Makes the file for its owner alone, each time it is opened."""

    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
        return os.fdopen(handle, "a", encoding=self.encoding)
