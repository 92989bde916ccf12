"""JSON log of the service's process: one line per record, also of warnings and of fatal errors."""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aisle.service.domain.timestamps import format_timestamp

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
