"""One log line when link, token or certificate is lost, and one when it is back."""

from __future__ import annotations

from aisle.client.errors import NotSent
from aisle.courier.link_state import LIVE, OFFLINE, REFUSED, SYNCING, LinkStatus
from aisle.courier.operator_log import LinkLog, OperatorLog
from aisle.courier.outcome_messages import reason_of
from aisle.outbox.reason_messages import NO_MESSAGE, store_text
from tests.courier.fake_service import lost_before, says
from tests.courier.host import Host

WHO = store_text("who are you?")
NOWHERE = reason_of(NotSent("The service cannot be reached: ConnectError (all connection attempts failed)."))
BAD = reason_of(
    NotSent("It cannot be reached: ConnectError ([SSL: CERTIFICATE_VERIFY_FAILED] certificate has expired).")
)


def test_each_change_is_one_line() -> None:
    now = [100.0]
    notices = OperatorLog(lambda: now[0])
    log = LinkLog(notices, lambda: now[0])
    steps = [
        (OFFLINE, NO_MESSAGE),
        (LIVE, NO_MESSAGE),
        (OFFLINE, NOWHERE),
        (OFFLINE, NOWHERE),
        (LIVE, NO_MESSAGE),
        (SYNCING, NO_MESSAGE),
        (REFUSED, WHO),
        (LIVE, NO_MESSAGE),
        (OFFLINE, BAD),
        (OFFLINE, NOWHERE),
        (REFUSED, WHO),
        (LIVE, NO_MESSAGE),
    ]
    for state, why in steps:
        now[0] += 10
        log.record(LinkStatus(state, why, 0.0, now[0]), why)
    assert [notice.text for notice in notices.recent] == [
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
    assert notices.recent[2].to_line(str) == "token lost: who are you?"


async def test_a_courier_says_what_it_has_lost(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = lost_before
        await host.time.until(lambda: host.state() == "offline")
        await host.time.pass_(300)
        host.fake.down = None
        await host.time.until(lambda: host.state() == "live")
        host.fake.down = says(401, body={"message": "who are you?"})
        await host.time.until(lambda: host.state() == "refused")
        host.fake.down = None
        await host.time.until(lambda: host.state() == "live")
        said = [notice.text.split(" after")[0] for notice in courier.operator_log.recent]
    assert [text for text in said if "link" in text or "token" in text] == [
        "link lost:",
        "link regained",
        "token lost:",
        "token regained",
    ]
