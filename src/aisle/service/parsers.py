"""Which of uvicorn's parsers hears callers: the quick one (httptools) where it is installed, else the plain one (h11).

A head has the same bounds in both.
"""

from __future__ import annotations

from asyncio import Protocol
from importlib.util import find_spec

from aisle.service.callers import Caller, Manners


def callers(allowed: Manners, *, quick: bool | None = None) -> type[Protocol]:
    """The protocol that uvicorn is to speak; `quick` or not as is installed, where nobody says."""
    if find_spec("httptools") is not None if quick is None else quick:
        from aisle.service.quick_callers import QuickCaller

        return type("Ours", (QuickCaller,), {"manners": allowed})

    from uvicorn.protocols.http.h11_impl import H11Protocol

    return type("Ours", (Caller, H11Protocol), {"manners": allowed})
