"""Access log and JSON log of the service.

The access log has one JSON line per request: operation, status, time, size, address, request id, token, role and store.
It never has a path, query, body or secret, since they may contain data of customers.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from time import monotonic, time
from typing import Any

from aisle.addresses import address_key
from aisle.errors import UsageError
from aisle.service.domain.timestamps import format_timestamp

RequestRecorder = Callable[[dict[str, Any]], None]
"""Callback that receives the record of each request when its answer is sent."""

REQUEST_RECORD = "aisle.access"
"""Key of the request's scope under which the endpoint notes operation and caller."""

STDERR = Path("-")


_PERIOD = 60.0
_LINES_OF_KIND = 20
_LINES_OF_ALL = 1_000
"""Lines per `_PERIOD` of requests that anybody can send without a right to anything."""
_COUNT_LINES = 100


class _StrangerLines:
    """Limit of the lines of requests that were refused, or that have no token: the rest of a minute is counted.

    Requests are of one kind if address, operation and status are the same.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._since = now()
        self._lines = Counter[tuple[str, str, int]]()
        self._line_count = 0
        self._dropped = Counter[tuple[str, str, int]]()

    def is_written(self, record: dict[str, Any]) -> bool:
        """Return True if the line of this request is written."""
        status = int(record.get("status", 0))
        if status < 400 and "token" in record:
            return True
        kind = (address_key(str(record.get("client", ""))), str(record.get("operation", "")), status)
        if self._line_count < _LINES_OF_ALL and self._lines[kind] < _LINES_OF_KIND:
            self._lines[kind] += 1
            self._line_count += 1
            return True
        if kind not in self._dropped and len(self._dropped) >= _COUNT_LINES:
            kind = ("", "", 0)
        self._dropped[kind] += 1
        return False

    def counts(self, *, is_end: bool = False) -> list[dict[str, Any]]:
        """Return the lines that count what was dropped, at the end of each minute."""
        now = self._now()
        if now - self._since < _PERIOD and not is_end:
            return []
        dropped, self._dropped = self._dropped, Counter()
        self._since, self._line_count = now, 0
        self._lines.clear()
        return [
            {"client": client, "operation": operation, "status": status, "repeats": count}
            for (client, operation, status), count in dropped.items()
        ]


class AccessLog:
    """Access log in `file` (0600, reopened after it was moved), or on the standard error for `-`.

    Lines that strangers can cause are limited; a line with `repeats` counts the others once a minute.
    Raise UsageError if the file cannot be written.
    """

    def __init__(self, file: Path, now: Callable[[], float] = monotonic) -> None:
        self._strangers = _StrangerLines(now)
        self._handler: logging.Handler
        if file == STDERR:
            self._handler = logging.StreamHandler(sys.stderr)
        else:
            try:
                self._handler = _OwnerOnlyHandler(file, encoding="utf-8")
            except OSError as problem:
                raise UsageError(f"{file} cannot be written: {problem.strerror}.") from problem
        self._logger = logging.Logger("aisle.access", logging.INFO)
        self._logger.addHandler(self._handler)

    def __call__(self, record: dict[str, Any]) -> None:
        """Write one line."""
        self._write_counts(self._strangers.counts())
        if self._strangers.is_written(record):
            self._logger.info("%s", json.dumps(record))

    def _write_counts(self, counts: list[dict[str, Any]]) -> None:
        for count in counts:
            self._logger.info("%s", json.dumps({"at": format_timestamp(time()), **count}))

    def close(self) -> None:
        """Close the file."""
        self._write_counts(self._strangers.counts(is_end=True))
        self._handler.close()


class _OwnerOnlyHandler(WatchedFileHandler):
    """Handler whose file is readable by its owner only, also when it is reopened."""

    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
        return os.fdopen(handle, "a", encoding=self.encoding)


log = logging.getLogger("aisle.service")

_LOGGER_NAMES = ("aisle", "uvicorn", "asyncio", "py.warnings")


class JsonFormatter(logging.Formatter):
    """Formatter of one JSON object per line; of an exception, only its type and the stack.

    Messages of exceptions and values are left out, since they may contain data of customers.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields: dict[str, object] = {
            "at": format_timestamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        if record.exc_info and record.exc_info[0]:
            kind, _, trace = record.exc_info
            frames = traceback.extract_tb(trace)
            fields["exception"] = kind.__name__
            fields["where"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(fields, ensure_ascii=False)


def format_line(message: str) -> str:
    """Return a line for a message outside of logging."""
    return JsonFormatter().format(logging.LogRecord("aisle.service", logging.INFO, "", 0, message, None, None))


@contextmanager
def log_as_json() -> Iterator[None]:
    """Write all logs of this process as JSON to the standard error while the context is active.

    This includes warnings and uncaught exceptions of threads and of the process.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    loggers = [logging.getLogger(name) for name in _LOGGER_NAMES]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers[:], logger.propagate = [handler], False
        logger.setLevel(logging.INFO if logger.name == "aisle" else logging.WARNING)
    hooks = sys.excepthook, threading.excepthook, warnings.showwarning
    sys.excepthook = lambda kind, problem, trace: _log_fatal("process", (kind, problem, trace))
    threading.excepthook = lambda args: _log_fatal("thread", (args.exc_type, args.exc_value, args.exc_traceback))
    warnings.showwarning = lambda *said, **_: logging.getLogger("py.warnings").warning("%s", said[1].__name__)
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook, warnings.showwarning = hooks
        for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
            logger.handlers[:], logger.propagate = handlers, propagate
            logger.setLevel(level)


def _log_fatal(ended: str, error: Any) -> None:
    """Log the exception that ends a process or thread."""
    log.critical("a %s ended by a failure", ended, exc_info=error)
