"""Logs of the service as JSON lines: the access log, one line per request, and the log of the process.

The access log never has a path, query, body or secret, since they may contain data of customers."""

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
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from time import monotonic, time
from typing import Any, TypedDict

from aisle.caller_addresses import address_key
from aisle.errors import UsageError
from aisle.service.domain.quantities_times_and_json import format_timestamp

STDERR = Path("-")


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


_Kind = dict[str, object]

_COUNT_LINES = 100

_PERIOD = 60.0


class RequestNotes(TypedDict, total=False):
    """What the access log says about the sender of a request and its operation."""

    client: str
    request: str
    """Id of the request."""
    operation: str
    token: str
    refused_token: str
    """Name of a revoked or expired token."""
    role: str
    store: str
    user: str | None
    replayed: bool


class RequestRecord(RequestNotes, total=False):
    """Line of the access log."""

    at: str
    method: str
    status: int
    ms: float
    bytes: int


RequestRecorder = Callable[[RequestRecord], None]
"""Callback that receives the record of each request when its answer is sent."""


REQUEST_RECORD = "aisle.access"
"""Key of the request's scope under which the endpoint notes operation and caller."""


class _LineLimit:
    """Limit of the lines in a minute, of each caller and in all. The others are counted by kind."""

    def __init__(self, lines_of_caller: int, bytes_of_all: int) -> None:
        self._lines_of_caller = lines_of_caller
        self._bytes_of_all = bytes_of_all
        self._lines = Counter[str]()
        self._bytes = 0
        self._dropped = Counter[str]()

    def is_written(self, caller: _Kind, kind: _Kind, line: str) -> bool:
        """Return True if this line is written."""
        key = json.dumps(caller)
        if self._lines[key] < self._lines_of_caller and self._bytes + len(line) <= self._bytes_of_all:
            self._lines[key] += 1
            self._bytes += len(line)
            return True
        key = json.dumps(kind)
        self._dropped[key if key in self._dropped or len(self._dropped) < _COUNT_LINES else "{}"] += 1
        return False

    def take_counts(self) -> list[_Kind]:
        """Return the lines that count what was dropped, and begin a new minute."""
        dropped, self._dropped, self._bytes = self._dropped, Counter(), 0
        self._lines.clear()
        return [{**json.loads(kind), "repeats": count} for kind, count in dropped.items()]


class AccessLog:
    """Access log in `file` (0600, reopened after it was moved), or on the standard error for `-`.

    It grows by less than 1 MB a minute: lines of each caller are limited, and a line with `repeats` counts the others
    once a minute. `writers` is the number of processes that write the file, which share that growth. Requests that were
    refused or have no token have their own limit, by address, operation and status. `on_change` receives False when
    lines are lost from now on, and True when they are written again. Raise UsageError if the file cannot be written.
    """

    def __init__(
        self,
        file: Path,
        now: Callable[[], float] = monotonic,
        *,
        writers: int = 1,
        on_change: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._now = now
        self._since = now()
        self._strangers = _LineLimit(lines_of_caller=20, bytes_of_all=(256 << 10) // writers)
        self._tokens = _LineLimit(lines_of_caller=240, bytes_of_all=(512 << 10) // writers)
        self._handler: logging.Handler
        if file == STDERR:
            self._handler = logging.StreamHandler(sys.stderr)
        else:
            try:
                self._handler = _OwnerOnlyHandler(file, on_change)
            except OSError as problem:
                raise UsageError(f"{file} cannot be written: {problem.strerror}.") from problem
        self._logger = logging.Logger("aisle.access", logging.INFO)
        self._logger.addHandler(self._handler)

    def __call__(self, record: RequestRecord) -> None:
        """Write one line."""
        if self._now() - self._since >= _PERIOD:
            self._write_counts()
        line = json.dumps(record)
        status = record.get("status", 0)
        what: _Kind = {"operation": record.get("operation", ""), "status": status}
        if status < 400 and "token" in record:
            caller: _Kind = {"token": record["token"]}
            is_written = self._tokens.is_written(caller, caller | what, line)
        else:
            kind = {"client": address_key(record.get("client", ""))} | what
            is_written = self._strangers.is_written(kind, kind, line)
        if is_written:
            self._logger.info("%s", line)

    def _write_counts(self) -> None:
        self._since = self._now()
        for count in (*self._strangers.take_counts(), *self._tokens.take_counts()):
            self._logger.info("%s", json.dumps({"at": format_timestamp(time()), **count}))

    def close(self) -> None:
        """Close the file."""
        self._write_counts()
        self._handler.close()


class _OwnerOnlyHandler(WatchedFileHandler):
    """Handler whose file is readable by its owner only, also when it is reopened.

    Lines that cannot be written, mostly on a full disk, are dropped. The service's log says when that begins and ends.
    """

    _is_failing = False
    _has_failed = False
    """True if the last line was dropped."""

    def __init__(self, file: Path, on_change: Callable[[bool], None]) -> None:
        self._on_change = on_change
        super().__init__(file, encoding="utf-8")

    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
        return os.fdopen(handle, "a", encoding=self.encoding)

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        self._has_failed = False
        try:
            super().emit(record)
        except OSError:  # The file that was moved away takes no more, or no new one can be opened.
            self.handleError(record)
        if self._is_failing and not self._has_failed:
            self._is_failing = False
            log.warning("access log regained")
            self._on_change(True)

    def handleError(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        self._has_failed = True
        failed, self.stream = self.stream, None
        if failed is not None:
            with suppress(OSError):
                failed.close()
        if not self._is_failing:
            self._is_failing = True
            problem = sys.exc_info()[1]
            cause = problem.strerror if isinstance(problem, OSError) else None
            log.error("access log lost: %s", cause or type(problem).__name__)
            self._on_change(False)

    def close(self) -> None:
        """Close the file. What it could not take is lost."""
        with suppress(OSError):
            super().close()
