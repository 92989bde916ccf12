"""A quantity that is typed with its unit: in the product's unit, in another one that is converted, or refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import GOOD, WRONG
from aisle.scan.units import convert_typed
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import CHEESE, HAM, JOBS, TAPE, TEA, begun, shown
from tests.session.test_asked_quantity import home as store
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, told

home = store

TYPED = {
    "1,5 kg": (CHEESE, "1.5"),
    "1.5kg": (CHEESE, "1.5"),
    "1500 g": (CHEESE, "1.5"),
    "1500GR": (CHEESE, "1.5"),
    "2 Kilo": (CHEESE, "2"),
    "2. kg": (CHEESE, "2"),
    "1 lb": (CHEESE, "0.454"),
    "8 oz": (HAM, "0.5"),
    "3 pounds": (HAM, "3"),
    "1 kg": (HAM, "2.205"),
    "250 cm": (TAPE, "2.5"),
    "2 ft": (TAPE, "0.61"),
    "１,5 kg": (CHEESE, "1.5"),
}
NUMBERS = {CHEESE: "P1", HAM: "P2", TAPE: "P3"}


@pytest.mark.parametrize("text", TYPED)
@pytest.mark.parametrize("job", JOBS)
def test_a_quantity_is_typed_with_its_unit(home: StoreFolder, job: str, text: str) -> None:
    code, quantity = TYPED[text]
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        scan.send(f"{code}\r")
        assert told(scan.send(f"{text}\r", 0.1))[0] == GOOD, text
        assert quantities(session) == {NUMBERS[code]: Decimal(quantity)}


@pytest.mark.parametrize("code", [CHEESE, HAM, TAPE])
@pytest.mark.parametrize("job", JOBS)
def test_it_answers_how_much_a_label_is(home: StoreFolder, job: str, code: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        scan.send(f"010{code}3952001299\r")
        scan.send({CHEESE: "500 g\r", HAM: "8 oz\r", TAPE: "50cm\r"}[code], 0.1)
        assert quantities(session) == {NUMBERS[code]: Decimal("0.5")}


@pytest.mark.parametrize(
    ("code", "text", "reason"),
    [
        (CHEESE, "2 l", "input.other_unit"),
        (CHEESE, "3 m", "input.other_unit"),
        (TAPE, "1,5 kg", "input.other_unit"),
        (CHEESE, "0,1 g", "input.too_many_decimals"),
        (TEA, "1,5 kg", "input.number_without_unit"),
        (TEA, "2 l", "input.number_without_unit"),
    ],
)
@pytest.mark.parametrize("job", JOBS)
def test_a_unit_that_does_not_fit_says_so(home: StoreFolder, job: str, code: str, text: str, reason: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        if code != TEA:
            scan.send(f"{code}\r")
            scan.send("1\r", 0.1)
        else:
            scan.send(f"{code}\r")
        before = quantities(session)
        frame = scan.send(f"{text}\r", 0.1)
        assert told(frame) == (WRONG, reason), shown(frame)
        assert quantities(session) == before


@pytest.mark.parametrize(
    ("text", "unit", "amount"),
    [
        ("3 bunch", "bunch", "3"),
        ("3 Stück", "stück", "3"),
        ("500 g", "100 g", "5"),
        ("2 m²", "m2", "2"),
        ("2 m2", "m²", "2"),
        ("1 fl oz", "ml", "29.574"),
        ("1 dz", "dz", "1"),
    ],
)
def test_words_of_the_base_unit_are_known(text: str, unit: str, amount: str) -> None:
    converted = convert_typed(text, unit)
    assert converted is not None
    assert round(converted, 3) == Decimal(amount)


@pytest.mark.parametrize("text", ["kg", "1,5", "1 2 kg", "1.5.5 kg", "P1 kg", "", "1 kg 2", "-1 kg"])
def test_other_texts_are_no_quantity(text: str) -> None:
    assert convert_typed(text, "kg") is None


@pytest.mark.parametrize("text", ["4.822", "4,822", "1.000", "1,000", "12,500", "4.8", "4,8", "0,500"])
@pytest.mark.parametrize("job", JOBS)
def test_thousands_with_a_point_or_a_comma_are_told_how_to_type_them(home: StoreFolder, job: str, text: str) -> None:
    is_thousands = len(text) > 4 and text[0] != "0"
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        scan.send(f"{TEA}\r")
        frame = scan.send(f"{text}\r", 0.12)
        assert told(frame) == (WRONG, "input.whole_or_thousands" if is_thousands else "input.whole_number_only")
        assert not is_thousands or "without a point or comma" in shown(frame)
        assert quantities(session) == {"P4": Decimal(1)}
