"""Files as a spreadsheet saves them in six countries: the service has each figure, or the row is refused."""

import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest

from aisle.client.csv_load import LoadReport
from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked
from tests.load.test_spreadsheets import NARROW, NBSP, Found
from tests.run_length import tries


class Locale(NamedTuple):
    """Way in which a spreadsheet writes figures and dates: decimal mark, groups of thousands, money and dates."""

    mark: str
    groups: Sequence[str]
    money: Sequence[str]
    dates: Sequence[str]

    def number(self, value: Decimal, group: str, decimals: int | None = None) -> str:
        """Return a number in this way; without `decimals`, with those that it has."""
        text = f"{value:,f}" if decimals is None else f"{value:,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if decimals is None and "." in text else text
        return text.replace(",", "\0").replace(".", self.mark).replace("\0", group)


LOCALES = {
    "fr": Locale(",", (NARROW, NBSP, " ", ""), (f"{{}}{NBSP}€", "{} €", "{}"), ("%d/%m/%Y", "%d/%m/%y")),
    "nl": Locale(",", (".", ""), ("€ {}", "{}"), ("%d-%m-%Y", "%d/%m/%Y", "%d-%m-%y")),
    "de": Locale(",", (".", ""), ("{} €", "{}"), ("%d.%m.%Y", "%d.%m.%y")),
    "ch": Locale(".", ("'", "\u2019", ""), ("CHF {}", "{}"), ("%d.%m.%Y",)),
    "gb": Locale(".", (",", ""), ("£{}", "{}"), ("%d/%m/%Y",)),
    "us": Locale(".", (",", ""), ("${}", "{}"), ("%m/%d/%Y", "%m/%d/%y")),
}
FORMATS = {"text": ("\t", "utf-16"), "windows": (";", "cp1252"), "utf-8": (";", "utf-8-sig"), "commas": (",", "utf-8")}


def save(path: Path, rows: Sequence[Sequence[str]], separator: str, encoding: str) -> None:
    """Write a table as a spreadsheet does."""
    lines = (separator.join(f'"{cell}"' if separator in cell else cell for cell in row) for row in rows)
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode(encoding, "replace"))


@pytest.mark.parametrize("name", LOCALES)
def test_figure_is_what_was_written_or_the_row_is_refused(name: str, tmp_path: Path) -> None:
    chance, locale, read = random.Random(name), LOCALES[name], 0
    for _ in range(tries(60, 2000)):
        group, day_format = chance.choice(locale.groups), chance.choice(locale.dates)
        money, decimals = chance.choice(locale.money), chance.choice((2, 2, None))
        separator, encoding = chance.choice(list(FORMATS.values()))
        header = "store_number,order_number,line_number,product_number,quantity,price,pickup_date"
        rows, expected = [header.split(",")], {}
        for number in range(chance.randint(1, 6)):
            whole = chance.choice((chance.randint(0, 20), chance.randint(100, 3000), chance.randint(1, 9) * 1000))
            quantity = Decimal(whole) + Decimal(chance.randint(1, 999) if chance.random() < 0.3 else 0) / 1000
            price = Decimal(chance.choice((chance.randint(1, 99), chance.randint(100, 300_000)))) / 100
            day = date(2026, 1, 1) + timedelta(chance.randint(0, 700))
            figures = locale.number(quantity, group), money.format(locale.number(price, group, decimals))
            rows.append(["1", f"O{number}", "1", f"P{number}", *figures, day.strftime(day_format)])
            expected[f"O{number}"] = quantity, price, day.isoformat()
        save(tmp_path / "orders.csv", rows, separator, encoding)
        for body in (found := Found(tmp_path)).bodies:
            [line] = body["order_lines"]
            of_file = expected.pop(body["order_number"])
            assert (line["quantity"], line["price"], line["pickup_date"]) == of_file, (rows, found.notes)
            read += 1
        assert len(expected) == len(found.bad)
    assert read > tries(60, 2000)


async def loaded(world: World, *, recount: bool = False) -> LoadReport:
    report = await world.load(recount=recount)
    assert report is not None
    return report


@pytest.mark.parametrize("kind", ["text", "windows", "commas"])
@pytest.mark.parametrize("name", ["fr", "nl", "us"])
async def test_service_has_the_figures_of_a_spreadsheet(name: str, kind: str, world: World) -> None:
    locale, (separator, encoding) = LOCALES[name], FORMATS[kind]
    group = NBSP if locale.groups[0] == NARROW and encoding == "cp1252" else locale.groups[0]
    figures = {"P": Decimal(1299), "Q": Decimal("12.5"), "R": Decimal(12000)}

    def write(change: Callable[[Decimal], Decimal]) -> None:
        rows = [[*STOCK_HEADER.split(",")]]
        rows += [["1", one, "A", "1", locale.number(change(value), group)] for one, value in figures.items()]
        save(world.folder / "files" / "stock.csv", rows, separator, encoding)
        prices = (
            [one, locale.money[0].format(locale.number(change(value), group, 2))] for one, value in figures.items()
        )
        save(world.folder / "files" / "prices.csv", [["product_number", "price"], *prices], separator, encoding)

    stocked(world)
    world.write("products.csv", "product_number,allow_decimal", "P,1", "Q,1", "R,1")
    write(lambda value: value)
    assert (await loaded(world)).is_all_loaded
    assert [await world.stock(one) for one in figures] == [1299, 12.5, 12000]
    assert {one: Decimal(str(price)) for one, (price, _) in (await world.products()).items()} == figures
    again = (await loaded(world)).lines()
    assert "stock.csv: 3 rows, all loaded before with the same figure." in again
    write(lambda value: value + Decimal("1000.5"))
    report = await loaded(world)
    assert len([line for line in report.lines() if "loaded before with another figure" in line]) == 3
    assert [await world.stock(one) for one in figures] == [1299, 12.5, 12000]
    assert (await loaded(world, recount=True)).is_all_loaded
    assert [await world.stock(one) for one in figures] == [2299.5, 1013, 13000.5]
