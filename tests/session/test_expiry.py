"""Expiry checks in a whole session: the loss on top of a check, its undo, and numbers at the date."""

from __future__ import annotations

from datetime import date, timedelta

from aisle.host.store_folder import StoreFolder
from aisle.session.session import Session
from tests.session.job_steps import stand
from tests.session.test_session import BARCODES, at, home, say, told

__all__ = ["home"]

TODAY = date.today().strftime("%d%m")


def verdict(session: Session, *texts: str) -> tuple[str, str]:
    """The page and the message that the last of these inputs leads to."""
    frame = [say(session, text) for text in texts][-1]
    return frame.view.name, told(frame)[1]


def waiting(session: Session) -> list[str]:
    """The operations that wait, oldest first."""
    return [operation.operation for operation in session.store.operations.unfinished()]


def test_a_loss_on_top_of_a_check_is_undone_from_there(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        stand(home, session, "expiry.date")
        assert verdict(session, TODAY) == ("adjust.quantity", "adjust.how_many")
        assert verdict(session, "d", "2") == ("expiry.date", "adjust.lost")
        assert verdict(session, "u") == ("adjust.product", "adjust.undone")
        assert verdict(session, "b")[0] == "expiry.date"
        assert waiting(session) == ["create-store-product-logs"] * 2
        assert verdict(session, "+9") == ("expiry", "expiry.saved")
        assert verdict(session, "u") == ("expiry", "expiry.none_before")
    with at(home, user="U1") as session:
        assert session.frames.build().view.name == "expiry"
        assert waiting(session)[-1] == "update-store-products"


def test_last_check_is_undone_from_home(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        stand(home, session, "expiry.date")
        far = date.today() + timedelta(days=40)
        assert verdict(session, far.isoformat()) == ("expiry", "expiry.saved")
        assert verdict(session, BARCODES[0], "+50") == ("expiry", "expiry.saved")
        assert verdict(session, "b")[0] == "home"
        assert verdict(session, "u") == ("expiry", "expiry.undone_partly")
        last = session.store.operations.unfinished()[-1]
        assert last.body[0]["validate_expiry_date_time"][:10] == (far - timedelta(days=3)).isoformat()
        assert "expiry_date_time" not in last.body[0]
