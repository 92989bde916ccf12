"""What a refusal or a question says of a scan: no answer where nothing is asked, pieces where pieces are counted."""

from __future__ import annotations

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import GOOD, WRONG
from tests.cache import service_rows
from tests.session.job_steps import stand
from tests.session.scanner import Scanner
from tests.session.test_look_up_mid_job import begin
from tests.session.test_session import BARCODES, _writer, home, say, told

__all__ = ["home"]


def test_no_answer_is_asked_for_where_nothing_is_asked(home: StoreFolder) -> None:
    with begin(home, "adjust.quantity") as session:
        stand(home, session, "adjust.quantity")
        assert not session.page.accepts().choices
        refused = told(Scanner(session).send("ZZZ-77\r", 0.003))
        assert (refused[0], refused[1] != "input.answer_first") == (WRONG, True), refused


@pytest.mark.parametrize("code", ['"A-1"', f'"{BARCODES[0]}"'])
def test_a_code_in_quotes_is_read(home: StoreFolder, code: str) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.start")
        assert told(Scanner(session).send(f"{code}\r", 0.003))[0] == GOOD


@pytest.mark.parametrize("is_measured", [False, True])
def test_pieces_are_not_asked_for_in_kilograms(home: StoreFolder, is_measured: bool) -> None:
    with _writer(home) as cache:
        melon = service_rows.product("P5", "Melon", "9520001100512", allow_decimal=is_measured, base_unit_name="kg")
        cache.write_products([melon])
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        frame = say(session, "01095200011005123202000275")
        unit = dict(frame.verdict.text.args).get("unit") if frame.verdict else None
        assert session.page.question.is_asked == (not is_measured)
        assert unit is None
