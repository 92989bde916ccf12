"""PINs come with `people.csv`: taken by the service, repeated by no report, and refused where they are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.load.test_repeated_loads import World, a_world

STORE = ("store_number,store_name,is_warehouse", "0042,Kerkstraat,false")
HEADER = "store_number,badge,user,name,role,pin"


async def test_a_pin_of_the_file_signs_in(tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        world.write("stores.csv", *STORE)
        world.write("people.csv", HEADER, "0042,B1,ann,Ann,supervisor,04711")
        report = await world.load()
        assert report is not None
        assert not report.bad
        async with world.client() as client:
            said = {"store_number": "0042", "user": "ann", "pin": "04711"}
            answer = await client.request_extension("POST", "/aisle/v1/sign-in", body=said)
            assert answer.json()["role"] == "supervisor"


@pytest.mark.parametrize(
    ("pin", "words"),
    [
        ("48a1", "has other signs than digits"),
        ("48", "has 2 digits"),
        ("789", "has 3 digits"),
        ("1234567890123", "has 13 digits"),
    ],
)
async def test_invalid_pin_is_reported_without_the_pin(tmp_path: Path, pin: str, words: str) -> None:
    with a_world(tmp_path) as world:
        world.write("stores.csv", *STORE)
        world.write("people.csv", HEADER, f"0042,B1,ann,Ann,,{pin}")
        report = await world.load()
        assert report is not None
        [bad] = report.bad
        assert bad.reason == f"pin {words}; write 4 to 12 digits, as text where it begins with a zero"
        assert pin not in "\n".join([str(bad), *report.lines()])


@pytest.mark.parametrize(
    ("rows", "is_missing"),
    [
        (["0042,B1,ann,Ann,supervisor,4711"], False),
        (["0042,B1,ann,Ann,supervisor,"], True),
        (["0042,B1,ann,Ann,supervisor,12"], True),
        (["0042,B1,ann,Ann,staff,4711", "0042,B2,ben,Ben,supervisor,"], True),
        (["0042,B1,ann,Ann,staff,4711", "0042,B2,ben,Ben,supervisor,0815"], False),
    ],
)
async def test_store_without_supervisor_who_has_a_pin_is_named(
    rows: list[str], is_missing: bool, tmp_path: Path
) -> None:
    with a_world(tmp_path) as world:
        world.write("stores.csv", *STORE)
        world.write("people.csv", HEADER, *rows)
        words = "people.csv: warning: no supervisor of store 0042 has a PIN"
        for _ in range(2):
            report = await world.load()
            assert report is not None
            assert any(line.startswith(words) for line in report.lines()) == is_missing
        world.write("people.csv", HEADER, "0042,B9,eva,Eva,staff,")
        report = await world.load()
        assert report is not None
        assert any(line.startswith(words) for line in report.lines()) == is_missing


@pytest.mark.parametrize("has_pin", [True, False])
async def test_orders_alone_name_a_store_without_supervisor_who_has_a_pin(has_pin: bool, world: World) -> None:
    """Orders name no people; who does a supervisor's work on them is asked even if no file of people is loaded."""
    world.write("stores.csv", *STORE)
    world.write("products.csv", "product_number", "P")
    world.write("people.csv", HEADER, f"0042,B1,ann,Ann,supervisor,{'4711' if has_pin else ''}")
    assert await world.load() is not None
    world.clear()
    world.write("orders.csv", "store_number,order_number,line_number,product_number,quantity", "0042,O,1,P,1")
    report = await world.load()
    assert report is not None
    words = "orders.csv: warning: no supervisor of store 0042 has a PIN"
    assert any(line.startswith(words) for line in report.lines()) != has_pin
