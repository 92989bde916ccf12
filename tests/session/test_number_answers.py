"""A scan of the product answers whether a number was its code; what has no quantity says that its `12*` is dropped."""

from __future__ import annotations

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, INFO, WRONG
from tests.cache import service_rows
from tests.session.scanner import Scanner
from tests.session.test_numbers_after_refused_scan import SALT, TAKING, TEA, opened, quantity, shown
from tests.session.test_numbers_after_refused_scan import home as store
from tests.session.test_session import BARCODES, at, say, told
from tests.session.test_session import home as small_store

home = store
shop = small_store

SHORT, LONG, OTHER = "23", "110001", "160020"
"""Numbers of products: one that may be a quantity of tea, two that are none."""


def number_tea(home: StoreFolder, number: str) -> None:
    """Give the tea this number too, as the code of a label."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products(
        [
            service_rows.product("P1", "Tea", TEA, barcodes_array=[TEA, number]),
            service_rows.product(OTHER, "Yoghurt", "5012345678900"),
        ]
    )


@pytest.mark.parametrize("job", TAKING)
def test_a_scan_of_the_product_answers_that_the_number_was_its_code(home: StoreFolder, job: str) -> None:
    number_tea(home, SHORT)
    with at(home, user="U1") as session:
        opened(session, job, *TAKING[job])
        before = quantity(session)
        assert told(say(session, SHORT))[0] == ASK
        assert told(say(session, SALT))[0] == WRONG, "another product is no answer"
        assert told(say(session, TEA))[0] == GOOD
        assert quantity(session) == before + 1


@pytest.mark.parametrize("job", TAKING)
def test_a_number_that_is_no_quantity_is_a_scan_in_every_job(home: StoreFolder, job: str) -> None:
    number_tea(home, LONG)
    with at(home, user="U1") as session:
        opened(session, job, *TAKING[job])
        before = quantity(session)
        assert told(say(session, LONG))[0] == GOOD
        assert quantity(session) == before + 1


@pytest.mark.parametrize("job", TAKING)
def test_a_number_of_another_product_is_never_named_as_a_quantity(home: StoreFolder, job: str) -> None:
    number_tea(home, SHORT)
    with at(home, user="U1") as session:
        opened(session, job, *TAKING[job], SHORT, SALT)
        frame = say(session, OTHER)
        assert told(frame)[1] != "input.number_after_refused_scan"
        assert f"{OTHER} of" not in shown(frame)


@pytest.mark.parametrize("text", ["12*4101", "12*A-1", f"12*{BARCODES[0]}", "3 * 4101"])
@pytest.mark.parametrize("pace", [0.0, 0.1])
def test_a_multiplier_that_nothing_uses_is_told_at_home(shop: StoreFolder, text: str, pace: float) -> None:
    with at(shop, user="U1") as session:
        frame = Scanner(session).send(f"{text}\r", pace)
        assert told(frame)[0] in (INFO, ASK)
        assert f"{text.partition('*')[0].strip()}* is cancelled" in shown(frame)


@pytest.mark.parametrize("sign", ["\x1d", "\x1e", "\x1d\x1d"])
@pytest.mark.parametrize("text", ["17", "ABC-1", "9520001100017"])
def test_a_message_shows_no_separator_before_an_unknown_code(shop: StoreFolder, text: str, sign: str) -> None:
    with at(shop, user="U1") as session:
        frame = Scanner(session).send(f"{sign}{text}\r")
        assert told(frame)[0] == WRONG
        assert f"{text} is unknown" in shown(frame)
