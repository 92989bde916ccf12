"""A session of one person, who signed in before it was opened: nobody else signs in there, and signing out ends it."""

from __future__ import annotations

from typing import Any

from aisle.jobs.base import Order, Quit, SignIn, SignOut, Tune, WorkIn
from aisle.local.session import Session
from aisle.local.terms import Rooms, Terms


class BoundSession(Session):
    """The desk of a person whom somebody has asked for more than a badge."""

    def __init__(self, person: SignIn, rooms: Rooms, terms: Terms, **options: Any) -> None:
        super().__init__(rooms, terms._replace(user=person.user), **options)
        self._person = person

    def _whose(self) -> SignIn:
        """Whatever is remembered of this terminal."""
        return self._person

    def _obey(self, order: Order) -> None:
        """Whoever scans another badge, or signs out, has to prove again who he is; he did so for one store."""
        if isinstance(order, WorkIn | Tune):
            super()._obey(order)
            return
        if isinstance(order, SignIn) and order.user == self._person.user:
            return
        if not isinstance(order, Quit):
            self._keeper.stay(SignOut())
            if not self._commit():
                return
        self.leaving = True
