"""Codes of Code 39 whose hyphen came as another sign, and links of products in further forms."""

from __future__ import annotations

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import GOOD, WRONG
from tests.cache import service_rows
from tests.session.scanner import Scanner
from tests.session.test_batch import at, home, say
from tests.session.test_session import told

__all__ = ["home"]


def add_product(home: StoreFolder, *codes: str) -> None:
    """Give product P1 these codes too; another one has words like them."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    codes = ("4006381333931", *codes)
    cache.write_products(
        [
            service_rows.product("P1", "Product P1", codes[0], barcodes_array=list(codes)),
            service_rows.product("P8", "Abc 1234", "5012345678900"),
        ]
    )


@pytest.mark.every_case
@pytest.mark.parametrize("code", ["ABC'1234", "ABC)1234", "ABC+1234", "ABC=1234", "ABCß1234", "ABC*1234"])
@pytest.mark.parametrize("pace", [0.0, 0.006])
def test_a_code_with_another_hyphen_is_read_back(home: StoreFolder, code: str, pace: float) -> None:
    add_product(home, "ABC-1234")
    with at(home) as session:
        say(session, "4101")
        frame = Scanner(session).send(f"{code}\r", pace)
        assert told(frame)[0] == GOOD
        assert sum(line.picked for line in session.stack.top.state.lines) == 1


@pytest.mark.every_case
@pytest.mark.parametrize("code", ["ABC1234", "%ABC-1234", "ABC'1234", "ABC)1234", "ABC/1234"])
@pytest.mark.parametrize("job", ["pick", "count", "move", "receive"])
def test_an_unknown_code_never_leaves_the_page(home: StoreFolder, job: str, code: str) -> None:
    add_product(home)
    with at(home) as session:
        if job == "pick":
            say(session, "4101")
        else:
            session.event_runner.open(Start(job, {}))
        assert told(Scanner(session).send(f"{code}\r", 0.006))[0] == WRONG
        assert session.stack.top.job.name == job


@pytest.mark.every_case
@pytest.mark.parametrize(
    "link",
    [
        "id.gs1.org/01/04006381333931",
        "ID.GS1.ORG/01/04006381333931",
        "shop.example/a/01/04006381333931?10=L1",
        "https://id.gs1.org/8006/040063813339310101",
        "id.gs1.org/8006/040063813339310101",
    ],
)
def test_a_link_without_scheme_or_of_a_whole_item_is_its_product(home: StoreFolder, link: str) -> None:
    with at(home) as session:
        say(session, "4101")
        assert told(Scanner(session).send(f"{link}\r", 0.006))[0] == GOOD
        assert sum(line.picked for line in session.stack.top.state.lines) == 1


def test_a_part_of_an_item_is_not_counted(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "4101")
        assert told(Scanner(session).send("https://id.gs1.org/8006/040063813339310102\r", 0.006))[0] == WRONG
