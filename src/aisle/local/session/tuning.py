"""What a terminal has of somebody's own, for as long as he works on it: loaded when the first of it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.base import Tune
from aisle.local.session.terms import Terms
from aisle.settings import LANGUAGES


def tuned(terms: Terms, own: Mapping[str, Any], order: Tune) -> tuple[Terms, dict[str, Any]]:
    """Another language or other colours, for whoever is here now; and what the settings say of all he has changed."""
    named: dict[str, Any] = {order.name: order.value}
    return terms._replace(**named), {order.name: getattr(terms, order.name), **own}


def spoken(terms: Terms, own: Mapping[str, Any], language: str) -> tuple[Terms, dict[str, Any]]:
    """The same in the language that this person chose when he was here last, where it is one of ours."""
    return tuned(terms, own, Tune("language", language)) if language in LANGUAGES else (terms, dict(own))


def carried(terms: Terms, own: Mapping[str, Any], there: Terms) -> tuple[Terms, dict[str, Any]]:
    """The same at the same terminal in another store, whose settings may say something else."""
    mine = {name: getattr(terms, name) for name in own}
    return there._replace(terminal=terms.terminal, **mine), {name: getattr(there, name) for name in own}
