"""What the courier's log says of a full disk: one line when it begins, one when there is room again."""

from __future__ import annotations

import errno

import apsw
import pytest

from aisle.courier import leader_process
from aisle.courier.link_state import QUIET_S, DiskLog, OperatorNotices
from aisle.errors import StorageError
from aisle.host import courier_log
from tests.courier.host import Host
from tests.courier.test_leader_process import Incumbent


@pytest.mark.parametrize(
    ("error", "is_full"),
    [
        (apsw.FullError("database or disk is full"), True),
        (StorageError("The disk is full.", kind="full"), True),
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (StorageError("The file is damaged.", kind="damaged"), False),
        (OSError(errno.EIO, "Input/output error"), False),
        (ValueError("?"), False),
    ],
)
def test_a_full_disk_is_told_by_its_errors(error: Exception, is_full: bool) -> None:
    log = DiskLog(OperatorNotices(lambda: 0.0), lambda: 0.0, lambda: True)
    assert log.record(error) is is_full


def test_a_full_disk_is_one_line_and_so_is_its_end() -> None:
    now, room = [0.0], False
    notices = OperatorNotices(lambda: now[0])
    log = DiskLog(notices, lambda: now[0], lambda: room)
    for now[0] in (0.0, QUIET_S, QUIET_S + 5):
        log.record(apsw.FullError())
        notices.add("something else")
    now[0] += QUIET_S
    log.check()
    room = True
    log.record(apsw.FullError())
    log.check()
    now[0] += QUIET_S
    log.check()
    log.check()
    assert [notice.text for notice in notices.recent] == ["disk full", "something else", "disk regained after 185 s"]


async def test_the_courier_logs_a_full_disk_without_an_engine_error(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_full(*args: object, **options: object) -> None:
        if full:
            raise apsw.FullError("database or disk is full")

    def append(path: object, line: str) -> None:
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, line)  # type: ignore[arg-type]

    full, write = False, courier_log.append_line
    term = Incumbent(host)
    await term.begun()
    assert term.office is not None
    notices = term.office.courier.operator_notices
    full = True
    monkeypatch.setattr("aisle.courier.maintenance.checkpoint", is_full)
    monkeypatch.setattr(leader_process, "append_line", append)
    await host.time.until(lambda: any(notice.text == "disk full" for notice in notices.recent))
    full = False
    await host.time.until(lambda: any(notice.text.startswith("disk regained") for notice in notices.recent))
    await term.leave()
    text = host.home.courier_log.read_text()
    assert [line.split(" ", 2)[2][:13] for line in text.splitlines() if " disk " in line] == [
        "disk full",
        "disk regained",
    ]
    assert "FullError" not in text
