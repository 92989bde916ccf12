"""What the courier's log says of its link: one line for each loss and one for each return."""

from __future__ import annotations

import pytest

from aisle.client.responses_and_errors import CERTIFICATE_ERROR
from aisle.courier.link_state import LIVE, OFFLINE, TOKEN_REFUSED, LinkLog, LinkStatus, OperatorNotices
from aisle.stored_messages import StoredMessage

DOWN, UNTRUSTED, OUT, UP = (
    (OFFLINE, "refused"),
    (OFFLINE, f"x {CERTIFICATE_ERROR} x"),
    (TOKEN_REFUSED, "401"),
    (LIVE, ""),
)


@pytest.mark.parametrize(
    ("statuses", "lines"),
    [
        ([(OFFLINE, ""), UP], []),
        ([UP, DOWN, (OFFLINE, "another reason"), DOWN, UP, UP], ["link lost:", "link regained after 3 s"]),
        ([OUT, OUT, UP], ["token lost:", "token regained after 2 s"]),
        ([UNTRUSTED, UNTRUSTED, UP], ["certificate lost:", "certificate regained after 2 s"]),
        ([DOWN, OUT, UP], ["link lost:", "link regained after 1 s", "token lost:", "token regained after 1 s"]),
        ([OUT, DOWN, UP], ["token lost:", "link lost:", "link regained after 1 s"]),
        ([DOWN, UP, DOWN], ["link lost:", "link regained after 1 s", "link lost:"]),
    ],
)
def test_each_loss_and_each_return_is_one_line(statuses: list[tuple[str, str]], lines: list[str]) -> None:
    now = [0.0]
    notices = OperatorNotices(lambda: now[0])
    log = LinkLog(notices, lambda: now[0])
    for now[0], (state, reason) in enumerate(statuses):
        log.record(LinkStatus(state, reason, 0.0, now[0]), StoredMessage(reason))
    assert [notice.text for notice in notices.recent] == lines
