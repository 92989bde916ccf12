"""Reasons and warnings say what the cell says, and name what is to be written."""

from pathlib import Path

import pytest

from aisle.client.csv_load.batch_responses import with_column_names
from tests.load.test_repeated_loads import World, stocked
from tests.load.test_spreadsheets import Found, Write, product, write

__all__ = ["write"]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("column", "cell", "said", "unsaid"),
    [
        ("barcodes_array", "9,52E+12", "'9,52E+12' was shortened", "'52E+12'"),
        ("barcodes_array", "9520001100024;9,52E+12", "'9,52E+12', which was shortened", "'52E+12'"),
        ("barcodes_array", "9520001100024,#N/A", "'#N/A', an error of the spreadsheet", "'#N'"),
        ("barcodes_array", "9520001100024;#REF!", "'#REF!', an error of the spreadsheet", "hardly"),
        ("barcodes_array", "9520001100024-9520001100086", "Write commas between them", "barcodes_array with"),
        ("barcode", "9520001100024-9520001100086", "the others into barcodes_array with commas between", "them"),
    ],
)
def test_a_reason_shows_the_cell_as_it_is(
    column: str, cell: str, said: str, unsaid: str, write: Write, tmp_path: Path
) -> None:
    [reason] = product(write, tmp_path, **{column: cell}).bad.values()
    assert said in reason
    assert unsaid not in reason


@pytest.mark.every_case
@pytest.mark.parametrize("cell", ["9520001100024x", "9520001100024AB", "012345678905x", "09520001100024b"])
@pytest.mark.parametrize("column", ["barcode", "barcodes_array"])
def test_letters_behind_a_whole_code_are_warned_of(column: str, cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: cell})
    assert found.bodies[0][column] == cell
    assert "has letters behind" in " ".join(found.notes)


@pytest.mark.parametrize("cell", ["9520001100025x", "A9520001100024B", "9520001100024ABC", "40123455A", "123456789X"])
def test_a_code_with_letters_of_its_own_is_not_warned_of(cell: str, write: Write, tmp_path: Path) -> None:
    assert "has letters behind" not in " ".join(product(write, tmp_path, barcode=cell).notes)


@pytest.mark.parametrize("cell", ["(none)", "[none]", "<nil>", "None"])
def test_a_word_for_nothing_in_brackets_is_warned_of(cell: str, write: Write, tmp_path: Path) -> None:
    assert f"color is a word for nothing: {cell!r}" in " ".join(product(write, tmp_path, color=cell).notes)


@pytest.mark.every_case
@pytest.mark.parametrize("day", ["9999-12-31", "2099-12-31"])
@pytest.mark.parametrize(
    ("name", "column", "is_warned"),
    [
        ("deliveries.csv", "datetime_expected", True),
        ("orders.csv", "pickup_date", True),
        ("products.csv", "deprecation_date", False),
    ],
)
def test_a_date_for_no_end_is_no_day_of_a_delivery(
    name: str, column: str, is_warned: bool, day: str, write: Write, tmp_path: Path
) -> None:
    needed = "store_number,order_number,line_number,product_number,quantity"
    header, row = (needed, "1,O,1,P,1") if name != "products.csv" else ("product_number", "P")
    header, row = (f"{header},no_of_containers", f"{row},1") if name == "deliveries.csv" else (header, row)
    write(name, f"{header},{column}", f"{row},{day}")
    assert ("years away" in " ".join(Found(tmp_path).notes)) == is_warned


async def test_a_row_without_a_product_shares_no_barcode(world: World) -> None:
    stocked(world, "1,P,A,,1")
    header = "order_number,store_number,line_number,product_number,barcode,quantity"
    world.write("orders.csv", header, "N1,1,1,P,9520001100161,1", "N2,1,1,,9520001100161,1", "N3,1,1,Q,9520001100161,1")
    report = await world.load()
    assert report is not None
    shared = [line for line in report.lines() if "is on two products" in line]
    assert len(shared) == 1
    assert "of Q is also of P" in shared[0]


OPEN = "status_id alone leaves the order open"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("5,,,", f"{OPEN}, as is_active says; write is_active false for finished: O, status_id 5."),
        ("5,true,,", f"{OPEN}, as is_active says; write is_active false for finished: O, status_id 5."),
        ("5,false,,", "the order comes finished (is_active is false), so that nobody picks it: O, status_id 5."),
        (",false,,", "the order comes finished (is_active is false), so that nobody picks it: O."),
        ("4,,,", f"{OPEN}, as is_rejected says; write is_rejected true for rejected: O, status_id 4."),
        ("4,,true,", "the order comes rejected (is_rejected is true), so that nobody picks it: O, status_id 4."),
        (",,true,", "the order comes rejected (is_rejected is true), so that nobody picks it: O."),
        ("1,,true,", "the order comes rejected (is_rejected is true), so that nobody picks it: O, status_id 1."),
        ("1,false,,", "the order comes finished (is_active is false), so that nobody picks it: O, status_id 1."),
        ("1,,,", ""),
        (",,,", ""),
        ("2,,,", f"{OPEN}, and nothing of it picked; write picked_quantity in its lines: O, status_id 2."),
        ("3,,,0", f"{OPEN}, and nothing of it picked; write picked_quantity in its lines: O, status_id 3."),
        ("2,,,1", ""),
        ("9,,,", "status_id is none of 1 to 5, and leaves the order open: O, status_id 9."),
        ("-1,,,", "status_id is none of 1 to 5, and leaves the order open: O, status_id -1."),
    ],
)
def test_a_status_that_is_not_that_of_the_order_is_warned_of(
    cells: str, words: str, write: Write, tmp_path: Path
) -> None:
    header = "store_number,order_number,line_number,product_number,quantity,status_id,is_active,is_rejected"
    write("orders.csv", f"{header},picked_quantity", f"1,O,1,P,2,{cells}", f"1,O,2,Q,2,{cells}")
    found = [note for note in Found(tmp_path).notes if "comes picked" not in note]
    assert found == ([f"orders.csv:2: warning: {words}"] if words else [])


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("time", "hour", "is_said"),
    [
        ("13:30 PM", 13, True),
        ("23.05 p.m.", 23, True),
        ("1:30 PM", 13, False),
        ("12:30 PM", 12, False),
        ("13:30", 13, False),
    ],
)
def test_an_hour_after_noon_with_pm_is_told(time: str, hour: int, is_said: bool, write: Write, tmp_path: Path) -> None:
    needed = "store_number,order_number,no_of_containers,line_number,product_number,quantity,datetime_expected"
    write("deliveries.csv", needed, f"1,D,1,1,P,1,2030-01-05 {time}")
    found = Found(tmp_path)
    assert f" {hour}:" in found.bodies[0]["datetime_expected"].replace("T", " ")
    assert ("pm left out" in " ".join(found.notes)) == is_said


@pytest.mark.parametrize("code", ["A\u20131", "A\u22121", "B\u20442"])
def test_a_sign_that_no_scanner_sends_is_warned_of(code: str, write: Write, tmp_path: Path) -> None:
    assert "is hardly in a code that is scanned" in " ".join(product(write, tmp_path, barcode=code).notes)


@pytest.mark.parametrize(
    ("cell", "flag"),
    [("-1", True), ("T", True), ("aan", True), ("on", True), ("f", False), ("UIT", False), ("off", False)],
)
def test_flag_of_a_database_is_read_and_said(cell: str, flag: bool, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, is_active=cell)
    assert found.bodies[0]["is_active"] is flag
    assert f"{cell} read as {str(flag).lower()}" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("cell", "price"),
    [
        ("0.30000000000000004", "0.3"),
        ("12.350000000000001", "12.35"),
        ("2.1999999999999997", "2.2"),
        ("-0.30000000000000004", "-0.3"),
    ],
)
def test_tail_of_a_fraction_is_rounded_off_and_said(cell: str, price: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, price=cell)
    assert str(found.bodies[0]["price"]) == price
    assert "the tail of a computer's fraction rounded off" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("cell", "price", "said"),
    [
        ("½", "0.5", "the sign of a fraction made decimals"),
        ("2½", "2.5", "the sign of a fraction made decimals"),
        ("2 ¾", "2.75", "the sign of a fraction made decimals"),
        ("€ 1¼", "1.25", "the sign of a fraction made decimals"),
        ("\u22122½", "-2.5", "minus of print made -, the sign of a fraction made decimals"),
        ("\u22122.50", "-2.50", "minus of print made -"),
        ("\u2011 2".replace(" ", ""), "-2", "minus of print made -"),
        ("2.50\ufe63", "-2.50", "minus of print made -, minus behind the number put before it"),
        ("2.50\u2212", "-2.50", "minus of print made -, minus behind the number put before it"),
        ("\u2212", "", "\u2212 read as an empty cell"),
        ("⅓", "", ""),
    ],
)
def test_fractions_and_minus_signs_of_print_are_read_and_said(
    cell: str, price: str, said: str, write: Write, tmp_path: Path
) -> None:
    found = product(write, tmp_path, price=cell, size="L")
    assert [f"{body.get('price', '')}" for body in found.bodies] == [price] * (cell != "⅓")
    assert any(f"price: {said}" in note or said in note for note in found.notes) == bool(said)
    assert ("'⅓' is no number; write digits" in str(found.bad)) == (cell == "⅓")


@pytest.mark.parametrize("cell", ["0.3333333333333333", "1.23456789012345678"])
def test_fraction_with_many_digits_is_not_rounded(cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, price=cell)
    assert str(found.bodies[0]["price"]) == cell
    assert "rounded" not in " ".join(found.notes)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("There is no such field here. It belongs into products[0].", "It belongs into products[0]."),
        ("There is no such field here. It belongs into products[0].units[1].", "It belongs into units[1]."),
        ("products[3].price: 1.2345 has more than three decimals.", "price: 1.2345 has more than three decimals."),
    ],
)
def test_a_sentence_of_the_service_keeps_its_end(message: str, shown: str) -> None:
    assert with_column_names(message, "products").endswith(shown)
