"""Clocks at functions: what each takes by itself, without what the others that have one take within it."""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Self


class Clocks:
    """Adds up seconds by name while `running`; functions of several threads may have one. They go with the block."""

    def __init__(self) -> None:
        self.running = True
        self.spent: defaultdict[str, float] = defaultdict(float)
        self._inner = threading.local()
        self._off: list[Callable[[], None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        while self._off:
            self._off.pop()()

    def put_on(self, owner: Any, function: str, name: str) -> None:
        """From now on this function of a class or module has a clock; its time is added to `name`'s."""
        before = inspect.getattr_static(owner, function)
        clocked = self._awaited(before, name) if inspect.iscoroutinefunction(before) else self._called(before, name)
        setattr(owner, function, clocked)
        self._off.append(lambda: setattr(owner, function, before))

    def _called(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def clocked(*arguments: Any, **named: Any) -> Any:
            began = self._begin()
            try:
                return function(*arguments, **named)
            finally:
                self._end(name, began)

        return clocked

    def _awaited(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """For a coroutine that never waits, as all do that run inside a transaction on SQLite."""

        @functools.wraps(function)
        async def clocked(*arguments: Any, **named: Any) -> Any:
            began = self._begin()
            try:
                return await function(*arguments, **named)
            finally:
                self._end(name, began)

        return clocked

    def _begin(self) -> float:
        if not hasattr(self._inner, "within"):
            self._inner.within = []
        self._inner.within.append(0.0)
        return time.perf_counter()

    def _end(self, name: str, began: float) -> None:
        took = time.perf_counter() - began
        within = self._inner.within
        if self.running:
            self.spent[name] += took - within[-1]
        within.pop()
        if within:
            within[-1] += took
