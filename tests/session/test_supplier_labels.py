"""Labels of suppliers (ISO/IEC 15434): numbers on them find a product, the quantity is asked about, never counted."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, WRONG
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import CHEESE, JOBS, TEA, begun, shown
from tests.session.test_asked_quantity import home as store
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, say, told

home = store
PACES = (0.0, 0.003)
GS, RS, EOT = "\x1d", "\x1e", "\x04"


def label(*fields: str, form: str = "06") -> str:
    """A whole label of this format."""
    return f"[)>{RS}{form}" + "".join(GS + field for field in fields) + RS + EOT


def received(scan: Scanner, text: str, pace: float) -> tuple[str, str]:
    """What is said of a label."""
    return told(scan.send(f"{text}\r", pace))


ONE = [
    label("PP4"),
    label("1PP4", "S123"),
    label("30PP4"),
    label("20PP4"),
    label(f"8P0{TEA}"),
    label(f"3P{TEA}", "1PUNKNOWN"),
    label("PP4", f"8P0{TEA}", "1PXY-7"),
    label("9V4711", "1P P4 ", "Q1"),
    label("PP4", "7Q1EA", "T12", "K4101", "V99"),
    label("PNR P4", "SER 7", form="12"),
    f"]d1{label('PP4')}",
    f"{label('PP4')[:-2]}{RS}05{GS}010{TEA}{GS}3012{RS}{EOT}",
]
ASKED = [
    (label("PP4", "Q12"), "12"),
    (label("1PP4", "Q0012"), "12"),
    (label("Q12", "30PP4"), "12"),
    (label("PP4", "7Q12EA"), "12 EA"),
    (label("PP4", "Q2.5"), "2.5"),
    (label("PP4", "Q0"), "0"),
    (label("PP4", "Q12", "1PP4", "Q12"), "12"),
    (label("PNO P4", "QTY 12", form="12"), "12"),
]


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("text", ONE)
@pytest.mark.parametrize("job", JOBS)
def test_a_number_of_a_product_counts_as_its_plain_code(home: StoreFolder, job: str, text: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        assert received(Scanner(session), text, pace)[0] in (GOOD, ASK)
        with_label = quantities(session)
        frame = shown(session.frames.build())
    assert "Tea" in frame
    assert with_label == {"P4": Decimal(1)}


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize(("text", "stated"), ASKED)
@pytest.mark.parametrize("job", JOBS)
def test_its_quantity_is_asked_about(home: StoreFolder, job: str, text: str, stated: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        for _ in range(2):
            before = quantities(session).get("P4", Decimal(0))
            assert received(scan, text, pace) == (ASK, "session.ask_quantity")
            assert f"On the label: {stated}. How much of Tea" in shown(session.frames.build(), 140, 30)
            for columns, rows in ((20, 16), (40, 20), (80, 24)):
                assert stated in shown(session.frames.build(), columns, rows)
            assert not quantities(session).get("P4", Decimal(0)) - before
            scan.send("1\r", 0.06)
            assert quantities(session)["P4"] == before + 1, "one says nothing of the next label"


@pytest.mark.parametrize("text", [label("PP4", "Q12"), f"?{label('PP4', 'Q12')}"])
def test_a_label_that_only_opens_is_not_asked_about(home: StoreFolder, text: str) -> None:
    with at(home, user="U1") as session:
        assert "Tea" in shown(say(session, text))
        assert not session.frames.build().verdict or told(session.frames.build())[0] != ASK


def test_a_multiplier_counts_labels(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)
        scan.send(f"3*{label('PP4')}\r")
        assert quantities(session) == {"P4": Decimal(3)}
        assert received(scan, f"2*{label('PP4', 'Q12')}", 0.0) == (ASK, "session.type_each")
        assert "label 12" in shown(session.frames.build(), 140, 30)
        scan.send("12\r", 0.06)
        assert quantities(session) == {"P4": Decimal(27)}


def test_goods_by_measure_are_asked_in_their_own_unit(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        assert received(Scanner(session), label(f"8P0{CHEESE}", "7Q12KG"), 0.0) == (ASK, "session.ask_quantity_in")
        assert not quantities(session)


def test_numbers_of_two_products_are_asked_about(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        said = received(Scanner(session), label("PP4", f"8P0{CHEESE}"), 0.0)
        assert said[0] == ASK
        assert not quantities(session)


DAMAGED = [
    label("PP99", "Q12"),
    label("Q12", "S1"),
    label("PP4", "Q12", "Q13"),
    label("PP4", "QX2"),
    label("PP4", "12"),
    label("PP4", "Q12").replace(GS, ""),
    label("PP4", "Q12").replace(GS, " "),
    f"[)>{RS}06{GS}PP4Q12{RS}{EOT}",
    f"[)>{RS}06{GS}PP4~Q12{RS}{EOT}",
    f"[)>{RS}06{GS}",
    "[)>06",
    "[)>",
    label("PP4", "Q12").replace(RS, "\r").replace(GS, "\r").replace(EOT, "\r"),
    label("PP4", "Q12").replace(RS, "\n").replace(EOT, ""),
    label("PP4", "Q1", "1", "y").replace(GS, "\t"),
    label("PP4", "Q12")[3:],
    label("AISLE:DONE", "1", "12*"),
    label("P12*P4"),
    f"[)>{RS}06{GS}PP4{GS}\x1b[19~Q12{RS}{EOT}",
    f"[)>{RS}05{GS}010{TEA[:-1]}0{GS}3012{RS}{EOT}",
    f"[)>{RS}05{GS}010{TEA}{GS}30X{RS}{EOT}",
    f"[)>{RS}12{GS}PNR P4{GS}1{RS}{EOT}",
]


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("text", DAMAGED)
@pytest.mark.parametrize("job", JOBS)
def test_a_damaged_label_does_nothing(home: StoreFolder, job: str, text: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        before, page = quantities(session), session.frames.build().view.name
        assert received(Scanner(session), text, pace)[0] == WRONG
        assert quantities(session) == before
        assert session.frames.build().view.name == page


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("without", [EOT, RS, RS + EOT])
@pytest.mark.parametrize("sign", [GS, "~", "^", "|", "{GS}", "<GS>"])
def test_a_label_without_its_frame_is_read(home: StoreFolder, sign: str, without: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)

        def as_sent(text: str) -> str:
            return "".join(each for each in text if each not in without).replace(GS, sign)

        scan.send(as_sent(label("PP4")) + "\r", pace)
        assert quantities(session) == {"P4": Decimal(1)}
        scan.send(as_sent(label(f"010{TEA}", "10LOT7", "3012", form="05")) + "\r", pace)
        assert quantities(session) == {"P4": Decimal(13)}
        assert received(scan, as_sent(label("PP4", "Q12")), pace)[0] == ASK


GS1 = [
    (label(f"010{TEA}", form="05"), 1),
    (label(f"010{TEA}3012", "10LOT7", form="05"), 12),
    (label(f"020{TEA}", "3712", form="05"), 12),
    (label("10LOT7", f"010{TEA}", "3012", form="05"), 12),
    (f"]d1{label(f'010{TEA}', '3012', form='05')}", 12),
    (f"3*{label(f'010{TEA}', '3012', form='05')}", 36),
    (f"[)>{RS}05{GS}010{TEA}{RS}06{GS}PP1{GS}Q12{RS}{EOT}", 1),
]


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize(("text", "quantity"), GS1)
def test_gs1_data_in_a_label_is_read_as_without_it(home: StoreFolder, text: str, quantity: int, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        assert received(Scanner(session), text, pace)[0] == GOOD
        assert quantities(session) == {"P4": Decimal(quantity)}


@pytest.mark.parametrize(
    ("fields", "quantity"), [(("3103001250",), "1.25"), (("3302001250",), ""), (("17261231",), "")]
)
def test_measures_of_gs1_data_in_a_label_keep_their_rules(
    home: StoreFolder, fields: tuple[str, ...], quantity: str
) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        Scanner(session).send(label(f"010{CHEESE}", *fields, form="05") + "\r")
        assert quantities(session) == ({"P1": Decimal(quantity)} if quantity else {})


def test_a_lot_that_may_end_in_a_count_is_asked_without_separators(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        said = received(Scanner(session), f"[)>{RS}05010{TEA}10LOT73012{RS}{EOT}", 0.0)
        assert said == (ASK, "session.lot_may_have_quantity")
