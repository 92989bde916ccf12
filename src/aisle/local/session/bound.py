"""A session of one person, who signed in before it was opened: nobody else signs in there, and signing out ends it."""

from __future__ import annotations

import time
from typing import Any

from aisle.jobs.base import Order, Proved, Quit, SignIn, SignOut, Tune, WorkIn
from aisle.local.host.signals import passed_by
from aisle.local.session.session import Session
from aisle.local.session.terms import Rooms, Terms


class BoundSession(Session):
    """The desk of a person whom somebody has asked for more than a badge."""

    def __init__(self, person: SignIn, rooms: Rooms, terms: Terms, **options: Any) -> None:
        super().__init__(rooms, terms._replace(user=person.user), **options)
        self._person = person
        self._handing: tuple[str, float] = ("", 0.0)

    def passed(self, token: str, until: float) -> None:
        """This person has said the PIN before the session began: the courier gets the token that came of it."""
        self._handing, self._pin = (token, until), self._pin._replace(until=until)
        self._hand_on()

    @property
    def has_pass(self) -> bool:
        """What goes with it may wait for a courier that has still to be told."""
        return self._is_handing or super().has_pass

    @property
    def _is_handing(self) -> bool:
        return time.time() < self._handing[1]

    def _hand_on(self) -> None:
        """Again and again, until the courier has it; then it is the courier's, and forgotten here."""
        super()._hand_on()
        token, until = self._handing
        if not self._is_handing or super().has_pass:
            self._handing = ("", 0.0)
        else:
            self._rooms.bell.confide(passed_by(self._person.user), f"{until} {token}")

    def _whose(self) -> SignIn:
        """Whatever is remembered of this terminal."""
        return self._person

    def _obey(self, order: Order) -> None:
        """Whoever scans another badge, or signs out, has to prove again who he is; he did so for one store."""
        if isinstance(order, WorkIn | Tune | Proved):
            super()._obey(order)
            return
        if isinstance(order, SignIn) and order.user == self._person.user:
            return
        if not isinstance(order, Quit):
            self._keeper.stay(SignOut())
            if not self._commit():
                return
        self.leaving = True
