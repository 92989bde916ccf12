"""Modules that are imported when something of them is asked for: a start pays for what its first screen needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """Stands for the module of this name; a type checker is shown the module itself."""

    def __init__(self, name: str) -> None:
        self.__name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self.__name), attribute)
        setattr(self, attribute, value)
        return value
