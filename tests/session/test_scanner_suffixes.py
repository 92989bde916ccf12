"""What a scanner sends behind its terminator belongs to no scan: each scan counts, or is refused with a message."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import WRONG, Frame
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import open_outbox
from aisle.scan.decoder import Decoder
from aisle.scan.inputs_and_line_grouping import Key, Line, OpenLine
from aisle.session.session import Session
from tests.run_length import tries
from tests.session.scanner import Scanner
from tests.session.test_numbers_after_refused_scan import TEA, opened, quantity
from tests.session.test_numbers_after_refused_scan import home as store
from tests.session.test_session import at, told

home = store

END_SIGNS = [chr(code) for code in range(0x20) if code not in (0x08, 0x09, 0x0A, 0x0D, 0x1B)]
"""All controls that are no key."""
EVERY = tries(3, 1)
"""By default a case takes every third of them, other ones for other ends."""
ENDS = ("\r\n{}", "\r{}", "{}\r", "\t{}", "{}\r\n{}")


def shown_line(session: Session) -> str:
    return session.typed_line.text


@pytest.mark.parametrize(("pace", "pause"), [(0.0, 2.0), (0.003, 0.35)])
@pytest.mark.parametrize("end", ENDS)
def test_each_scan_counts_whatever_sign_ends_it(home: StoreFolder, end: str, pace: float, pause: float) -> None:
    with at(home, user="U1") as session:
        opened(session, "count", "A-1", TEA)
        scanner, wanted = Scanner(session), Decimal(1)
        for sign in END_SIGNS[ENDS.index(end) % EVERY :: EVERY]:
            for _ in range(2):
                wanted += 1
                scanner.send(TEA + end.format(*[sign] * 2), pace)
                scanner.rest(pause)
                assert (quantity(session), shown_line(session)) == (wanted, ""), repr(sign)


@pytest.mark.parametrize("pace", [0.0, 0.003])
def test_eot_alone_ends_a_scan(home: StoreFolder, pace: float) -> None:
    with at(home, user="U1") as session:
        opened(session, "count", "A-1", TEA)
        for _ in range(3):
            Scanner(session).send(f"{TEA}\x04", pace)
        assert quantity(session) == 4


@pytest.mark.parametrize("message", ["[)>\x1e06\x1dP123\x1e\x04", "]C10112\x1d10AB\x1e\x04"])
def test_eot_of_a_message_belongs_to_it(message: str) -> None:
    lines = [item.text for item in Decoder().feed(f"{message}\r".encode(), 1.0) if isinstance(item, Line)]
    assert lines == [message]


@pytest.mark.parametrize("sign", ["\x04", "\x1d", "\x1e", "\x1e\x04", "\x1d\x1d"])
def test_signs_after_a_scan_are_not_shown_and_enter_is_enter(sign: str) -> None:
    decoder = Decoder()
    assert not [each for each in decoder.feed(f"1234\r{sign}".encode(), 1.0) if isinstance(each, OpenLine)]
    assert decoder.feed(b"\r", 3.0) == [Key("enter")]


@pytest.mark.parametrize("sign", ["\x1d", "\x1d\x1d"])
def test_a_separator_before_a_scan_stays(sign: str) -> None:
    lines = [item.text for item in Decoder().feed(f"{sign}0112\r".encode(), 1.0) if isinstance(item, Line)]
    assert lines == [f"{sign}0112"]


@pytest.mark.parametrize(("pace", "pause"), [(0.0, 2.0), (0.003, 1.2)])
@pytest.mark.parametrize("sign", ["#", "x", "%%", "?!", "é"])
def test_a_scan_after_a_suffix_that_is_no_control_is_never_silent(
    home: StoreFolder, sign: str, pace: float, pause: float
) -> None:
    with at(home, user="U1") as session:
        opened(session, "count", "A-1", TEA)
        scanner, journal = Scanner(session), Journal(open_outbox(home.folder))

        def entries() -> int:
            return len(journal.last_events(100))

        frame: Frame = scanner.send(f"{TEA}\r{sign}", pace)
        for _ in range(4):
            scanner.rest(pause)
            before, count, number = quantity(session), entries(), frame.scan_serial
            frame = scanner.send(f"{TEA}\r{sign}", pace)
            assert quantity(session) == before + 1 or told(frame)[0] == WRONG
            assert entries() > count
            assert frame.scan_serial > number
            assert told(frame)[1] != "input.later_lines"
