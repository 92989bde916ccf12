"""What the service says of itself, as lines of JSON: for machines that gather logs (`aisle serve --json-logs`)."""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aisle.service.times import moment

log = logging.getLogger("aisle.service")

_NAMES = ("aisle", "uvicorn", "asyncio", "py.warnings")


class JsonLines(logging.Formatter):
    """One object a line: when, how bad, who says it, what; of a failure its kind and where it came from.

    Not what the exception says, nor values: customers may be in them.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        said: dict[str, object] = {
            "at": moment(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        if record.exc_info and record.exc_info[0]:
            kind, _, trace = record.exc_info
            frames = traceback.extract_tb(trace)
            said["exception"] = kind.__name__
            said["where"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(said, ensure_ascii=False)


def line(message: str) -> str:
    """Such a line of what is no record of a logger."""
    return JsonLines().format(logging.LogRecord("aisle.service", logging.INFO, "", 0, message, None, None))


@contextmanager
def json_logs() -> Iterator[None]:
    """Everything that this process says goes to the standard error in such lines meanwhile: also what its threads and
    the process itself end with, and warnings."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    loggers = [logging.getLogger(name) for name in _NAMES]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers[:], logger.propagate = [handler], False
        logger.setLevel(logging.INFO if logger.name == "aisle" else logging.WARNING)
    hooks = sys.excepthook, threading.excepthook, warnings.showwarning
    sys.excepthook = lambda kind, problem, trace: _ended("process", (kind, problem, trace))
    threading.excepthook = lambda args: _ended("thread", (args.exc_type, args.exc_value, args.exc_traceback))
    warnings.showwarning = lambda *said, **_: logging.getLogger("py.warnings").warning("%s", said[1].__name__)
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook, warnings.showwarning = hooks
        for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
            logger.handlers[:], logger.propagate = handlers, propagate
            logger.setLevel(level)


def _ended(what: str, problem: Any) -> None:
    """A process or thread ends with this."""
    log.critical("a %s ended by a failure", what, exc_info=problem)
