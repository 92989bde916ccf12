"""What a session works on can change while it works: by the settings, for all, or by whoever stands here, for himself.

A part of aisle.local.session.session, which loads it when that happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aisle.jobs.base import Tune
from aisle.local.session.ear import Ear
from aisle.local.session.watch import Retuned

if TYPE_CHECKING:
    from aisle.local.session.session import Session


def retune(session: Session, retuned: Retuned) -> None:
    """The settings have changed. Open jobs go on as they were begun; what is scanned from now on is read anew."""
    session._verdict = retuned.verdict
    if retuned.terms:
        session._own = {}
        session._terms = session._terms.tuned(retuned.terms)
        session._ear = Ear(session._rooms.reads, session._terms.restricted)
        session._rooms.reads.pools = session._terms.pools
        session._known = None


def tune(session: Session, order: Tune) -> None:
    """Another language or other colours, for whoever is here now."""
    session._own.setdefault(order.name, getattr(session._terms, order.name))
    named: dict[str, Any] = {order.name: order.value}
    session._terms = session._terms._replace(**named)


def untune(session: Session) -> None:
    """As the settings have it, for whoever comes next."""
    session._terms, session._own = session._terms._replace(**session._own), {}
