"""Modules imported on first use, so that a start pays only for its first screen."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """Placeholder for the module of this name; type checkers see the module itself."""

    def __init__(self, name: str) -> None:
        self.__name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self.__name), attribute)
        setattr(self, attribute, value)
        return value
