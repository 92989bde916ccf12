"""One line when link, token or certificate is lost, and one when it is regained."""

from __future__ import annotations

from aisle.client.errors import NotSent
from aisle.courier.link import LIVE, OFFLINE, REFUSED, SYNCING, Status
from aisle.courier.link_log import LinkLog
from aisle.courier.notices import Notices
from aisle.courier.telling import told_of
from aisle.local.told import NOTHING, outside
from tests.courier.fake import lost_before, says
from tests.courier.host import Host

WHO = outside("who are you?")
NOWHERE = told_of(NotSent("The service cannot be reached: ConnectError (all connection attempts failed)."))
BAD = told_of(NotSent("It cannot be reached: ConnectError ([SSL: CERTIFICATE_VERIFY_FAILED] certificate has expired)."))


def test_each_change_is_one_line() -> None:
    now = [100.0]
    notices = Notices(lambda: now[0])
    log = LinkLog(notices, lambda: now[0])
    steps = [
        (OFFLINE, NOTHING),
        (LIVE, NOTHING),
        (OFFLINE, NOWHERE),
        (OFFLINE, NOWHERE),
        (LIVE, NOTHING),
        (SYNCING, NOTHING),
        (REFUSED, WHO),
        (LIVE, NOTHING),
        (OFFLINE, BAD),
        (OFFLINE, NOWHERE),
        (REFUSED, WHO),
        (LIVE, NOTHING),
    ]
    for state, why in steps:
        now[0] += 10
        log.see(Status(state, why, 0.0, now[0]), why)
    assert [notice.text for notice in notices.kept] == [
        "link lost:",
        "link regained after 20 s",
        "token lost:",
        "token regained after 10 s",
        "certificate lost:",
        "link lost:",
        "link regained after 10 s",
        "token lost:",
        "token regained after 10 s",
    ]
    assert notices.kept[2].said(str) == "token lost: who are you?"


async def test_a_courier_says_what_it_has_lost(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.sync.progress.completed)
        host.fake.down = lost_before
        await host.time.until(lambda: host.state() == "offline")
        await host.time.pass_(300)
        host.fake.down = None
        await host.time.until(lambda: host.state() == "live")
        host.fake.down = says(401, body={"message": "who are you?"})
        await host.time.until(lambda: host.state() == "refused")
        host.fake.down = None
        await host.time.until(lambda: host.state() == "live")
        said = [notice.text.split(" after")[0] for notice in courier.notices.kept]
    assert [text for text in said if "link" in text or "token" in text] == [
        "link lost:",
        "link regained",
        "token lost:",
        "token regained",
    ]
