"""Expiry checks in a whole session: the loss on top of a check, its undo, and numbers at the date."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, WRONG
from aisle.session.session import Session
from tests.session.every_page import on_page
from tests.session.job_steps import stand
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import shown
from tests.session.test_one_letter_locations import write_locations
from tests.session.test_session import BARCODES, at, home, say, told

__all__ = ["home"]

LOGS = "create-store-product-logs"

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
        assert verdict(session, TODAY) == ("expiry.confirm", "expiry.is_today")
        assert verdict(session, "y") == ("adjust.quantity", "adjust.how_many_expired")
        assert verdict(session, "d") == ("adjust.quantity", "adjust.none")
        assert verdict(session, "1") == ("expiry.date", "adjust.lost")
        assert "Expired" in shown(session.frames.build(), 40, 20)
        assert waiting(session) == [LOGS]
        assert verdict(session, "u") == ("expiry.date", "adjust.undone")
        assert waiting(session) == []
        verdict(session, TODAY, "y")
        assert verdict(session, "1") == ("expiry.date", "adjust.lost")
        assert verdict(session, "+9") == ("expiry", "expiry.saved")
        assert verdict(session, "u") == ("expiry", "expiry.none_before")
        assert verdict(session, "u") == ("expiry", "adjust.undone")
        assert waiting(session) == ["update-store-products"]
        assert verdict(session, "+9", "u")[1] == "pick.nothing_to_undo"
    with at(home, user="U1") as session:
        assert session.frames.build().view.name == "expiry"
        assert waiting(session) == ["update-store-products"]


def test_last_check_is_undone_from_home(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        stand(home, session, "expiry.date")
        far = date.today() + timedelta(days=40)
        assert verdict(session, far.isoformat()) == ("expiry", "expiry.saved")
        assert verdict(session, BARCODES[0], "+30") == ("expiry", "expiry.saved")
        assert verdict(session, "b")[0] == "home"
        assert verdict(session, "u") == ("expiry", "expiry.undone_partly")
        last = session.store.operations.unfinished()[-1]
        assert last.body[0]["validate_expiry_date_time"][:10] == (far - timedelta(days=3)).isoformat()
        assert "expiry_date_time" not in last.body[0]


PACES = (0.0, 0.003, 0.03)
"""Seconds between the characters of a label."""


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("page", ["expiry.date", "expiry.confirm"])
@pytest.mark.parametrize(("left", "label"), [("20", "12"), ("+1", "5"), ("7.", "12"), ("07", "1228"), ("7 d", "EC")])
def test_what_was_left_on_the_line_and_a_label_are_no_date(
    aisle_home: Path, page: str, left: str, label: str, pace: float
) -> None:
    with on_page(aisle_home, page) as session:
        write_locations(aisle_home, ("12", "5", "1228", "EC"))
        scanner = Scanner(session)
        scanner.write(left, 0.12)
        scanner.rest(1.0)
        frame = scanner.send(f"{label}\r", pace)
        assert waiting(session) == []
        assert told(frame)[0] in (ASK, WRONG), shown(frame)
        assert left in shown(frame), shown(frame)


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("code", ["2012", "+9", "7dec", "20121231"])
@pytest.mark.parametrize("page", ["expiry.date", "expiry.confirm"])
def test_a_date_at_the_pace_of_a_scanner_is_asked(aisle_home: Path, page: str, code: str, pace: float) -> None:
    with on_page(aisle_home, page) as session:
        scanner = Scanner(session)
        assert told(scanner.send(f"{code}\r", pace)) == (ASK, "expiry.code_or_date")
        assert waiting(session) == []
        scanner.rest(6.0)
        scanner.write("x\r", 0.12)
        assert waiting(session) == []


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("form", ["17{}", "15{}", "(17){}", "]C117{}", "]C1(15){}"])
def test_label_with_the_date_alone_is_the_date(aisle_home: Path, form: str, pace: float) -> None:
    day = date.today() + timedelta(days=20)
    with on_page(aisle_home, "expiry.date") as session:
        frame = Scanner(session).send(f"{form.format(day.strftime('%y%m%d'))}\r", pace)
        assert told(frame)[1].startswith("expiry.saved"), shown(frame)
        assert waiting(session) == ["update-store-products"]


@pytest.mark.parametrize("text", ["2012", "7.12", "+9", "7 dec"])
def test_a_typed_date_is_taken_at_once(aisle_home: Path, text: str) -> None:
    with on_page(aisle_home, "expiry.date") as session:
        frame = Scanner(session).send(f"{text}\r", 0.12)
        assert told(frame)[1] in ("expiry.saved", "expiry.is_far"), shown(frame)


@pytest.mark.parametrize("refused", ["ZZZ-77", "9520001999994"])
def test_a_date_after_a_refused_scan_is_asked(aisle_home: Path, refused: str) -> None:
    with on_page(aisle_home, "expiry.date") as session:
        scanner = Scanner(session)
        assert told(scanner.send(f"{refused}\r", 0.003))[0] == WRONG
        scanner.rest(6.0)
        assert told(scanner.send("2012\r", 0.12)) == (ASK, "expiry.code_or_date")
        scanner.rest(6.0)
        scanner.send("y\r", 0.12)
        assert waiting(session) == ["update-store-products"] or session.frames.build().view.name == "expiry.confirm"


@pytest.mark.parametrize("pace", [0.02, 0.025, 0.06, 0.09])
@pytest.mark.parametrize("label", ["Y", "X", "N", "E"])
@pytest.mark.parametrize("page", ["expiry.date", "expiry.confirm", "expiry.price"])
def test_the_label_of_a_location_answers_nothing(aisle_home: Path, page: str, label: str, pace: float) -> None:
    with on_page(aisle_home, page) as session:
        write_locations(aisle_home, label)
        frame = Scanner(session).send(f"{label}\r", pace)
        assert told(frame)[0] == WRONG, shown(frame)
        assert waiting(session) == []
        assert frame.view.name == page


@pytest.mark.parametrize("pace", PACES)
def test_what_was_left_and_a_label_are_no_price(aisle_home: Path, pace: float) -> None:
    with on_page(aisle_home, "expiry.price") as session:
        write_locations(aisle_home, ("2", "1.2", "12"))
        scanner = Scanner(session)
        scanner.write("1.", 0.12)
        scanner.rest(1.0)
        frame = scanner.send("2\r", pace)
        assert told(frame)[0] in (ASK, WRONG), shown(frame)
        assert waiting(session) == []
