"""A code is no name to sign in with, whether or not the people of the store are here."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, WRONG
from tests.cache import service_rows
from tests.session.scanner import Scanner
from tests.session.test_session import at, say, told

NO_NAME = (WRONG, "sign_in.not_a_name")


def write(home: StoreFolder, *, is_complete: bool, badge: str = "BADGE-U1") -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_people([{**service_rows.person("U1", "Anna Kovac"), "badge": badge}])
    if is_complete:
        full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.mark.parametrize("is_complete", [False, True])
@pytest.mark.parametrize("pace", [0.0, 0.006])
@pytest.mark.parametrize("code", ["9520001100017", "09520001100017", "96385074", "99999", "4101"])
def test_a_code_is_no_name(aisle_home: Path, code: str, pace: float, is_complete: bool) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    if is_complete:
        write(home, is_complete=True)
    with at(home) as session:
        scan = Scanner(session)
        frame = scan.send(f"{code}\r", pace)
        assert told(frame) == NO_NAME
        assert not frame.view.choices
        scan.rest(2.0)
        frame = scan.send("1\r", 0.2)
        assert not frame.user


@pytest.mark.parametrize("code", ["9520001100017", "9 520001 100017"])
def test_a_typed_gtin_is_no_name(aisle_home: Path, code: str) -> None:
    with at(StoreFolder(aisle_home, "embedded", "0001")) as session:
        assert told(say(session, code)) == NO_NAME


def test_a_typed_number_may_be_a_name(aisle_home: Path) -> None:
    with at(StoreFolder(aisle_home, "embedded", "0001")) as session:
        assert told(Scanner(session).send("1042\r", 0.2)) == (ASK, "sign_in.unknown_yet")


@pytest.mark.parametrize("pace", [0.0, 0.006, 0.2])
@pytest.mark.parametrize(
    "text",
    [
        "WIFI:S:shop;T:WPA;P:x1;;",
        "wifi:T:nopass;S:guest;;",
        "https://shop.example/join",
        "www.shop.example",
        "BEGIN:VCARD",
        "MECARD:N:Doe,Jo;TEL:12;;",
        "mailto:jo@shop.example",
        "tel:+4930123456",
        "otpauth:totp",
        "geo:52.5,13.4",
        "Ann" * 21,
        "Ann\x1dKovac",
    ],
)
def test_the_content_of_a_qr_code_is_no_name(aisle_home: Path, text: str, pace: float) -> None:
    with at(StoreFolder(aisle_home, "embedded", "0001")) as session:
        scan = Scanner(session)
        frame = scan.send(f"{text}\r", pace)
        assert frame.verdict
        assert frame.verdict.kind == WRONG
        assert not frame.view.choices
        assert not scan.send("1\r", 0.2).user


@pytest.mark.parametrize("badge", ["9520001100017", "000300"])
def test_a_badge_of_digits_signs_in_once_the_people_are_here(aisle_home: Path, badge: str) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    with at(home) as session:
        assert told(Scanner(session).send(f"{badge}\r", 0.006)) == NO_NAME
        write(home, is_complete=False, badge=badge)
        frame = session.poll(notified=True)
        assert frame is not None
        assert told(frame) == (GOOD, "sign_in.done")
        assert frame.user == "Anna Kovac"
