"""A factor with a point or a comma before a scan, in every job that counts: never another quantity than was meant."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, WRONG
from tests.cache import service_rows
from tests.copied_databases import copied_home
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import JOBS, LOOSE, TEA, begun, filled, shown
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, told

CASE = "14006381333938"


def with_case(cache: CacheWriter) -> None:
    """Tea has a case of 12, and may be counted by piece only."""
    filled(cache)
    case = {"units": [{"unit_barcode": CASE, "unit_quantity": 12}]}
    cache.write_products([service_rows.product("P4", "Tea", TEA, **case)])


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, with_case)


EACH, HOW_MUCH = "session.type_each", "session.type_how_much"
THOUSANDS, WHOLE, TOO_EXACT = "input.whole_or_thousands", "input.whole_number_only", "input.too_many_decimals"

FACTORS: dict[str, tuple[Decimal | str, Decimal | str, Decimal | str]] = {
    "2": (Decimal(2), Decimal(24), EACH),
    "2.0": (Decimal(2), Decimal(24), EACH),
    "2,00": (Decimal(2), Decimal(24), EACH),
    "1.5": (WHOLE, Decimal(18), Decimal("1.5")),
    "0,25": (WHOLE, Decimal(3), Decimal("0.25")),
    "1,000": (THOUSANDS, THOUSANDS, HOW_MUCH),
    "1.000": (THOUSANDS, THOUSANDS, HOW_MUCH),
    "2,500": (THOUSANDS, THOUSANDS, Decimal("2.5")),
    "0.500": (WHOLE, Decimal(6), Decimal("0.5")),
    "1.0000": (TOO_EXACT, TOO_EXACT, TOO_EXACT),
    "1,0005": (TOO_EXACT, TOO_EXACT, TOO_EXACT),
}
"""What becomes of a factor before tea, a case of 12 of it, and loose tea that is weighed: a quantity, a question how
much each of the pieces is, or a refusal."""

CODES = {"P4": TEA, "case": CASE, "P5": LOOSE}


@pytest.mark.parametrize("goods", CODES)
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("way", ["typed, then scanned", "slow scan", "one write"])
@pytest.mark.parametrize("job", JOBS)
def test_factor_before_a_scan(home: StoreFolder, job: str, way: str, factor: str, goods: str) -> None:
    code, wanted = CODES[goods], FACTORS[factor][list(CODES).index(goods)]
    with at(home, user="U1") as session:
        begun(session, "adjust" if job == "pick" else job)
        scanner = Scanner(session)
        if way == "one write":
            frame = scanner.send(f"{factor}*{code}\r")
        else:
            scanner.send(f"{factor}*\r", 0.11)
            scanner.rest(1.0)
            frame = scanner.send(f"{code}\r", 0.006 if way == "slow scan" else 0.0)
        counted = quantities(session)
        if isinstance(wanted, Decimal):
            assert sum(counted.values()) == wanted, shown(frame, 80, 24)
            assert frame.verdict is None or frame.verdict.kind == GOOD, shown(frame, 80, 24)
        elif wanted in (EACH, HOW_MUCH):
            assert (counted, told(frame)) == ({}, (ASK, wanted))
        else:
            assert not counted, shown(frame, 80, 24)
            assert told(frame)[0] == WRONG
            assert f"{factor}* is not possible" in shown(frame, 120, 40), shown(frame, 120, 40)
            assert ("thousands" in shown(frame, 120, 40)) == (wanted == THOUSANDS)


@pytest.mark.parametrize("product", ["1,000*4", "4*1.000", "2,500*2", "1.000x4"])
@pytest.mark.parametrize("pace", [0.11, 0.0])
def test_thousands_are_no_factor_of_a_typed_quantity(home: StoreFolder, product: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scanner = Scanner(session)
        scanner.send(f"{TEA}\r")
        scanner.rest(6.0)
        frame = scanner.send(f"{product}\r", pace)
        assert quantities(session) == {"P4": Decimal(1)}
        assert told(frame)[0] == WRONG
