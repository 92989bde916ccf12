"""PINs come with `people.csv`: taken by the service, repeated by no report, and refused where they are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.load.test_repeated_loads import a_world

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


@pytest.mark.parametrize("pin", ["48a1", "123", "1234567890123"])
async def test_invalid_pin_is_reported_without_the_pin(tmp_path: Path, pin: str) -> None:
    with a_world(tmp_path) as world:
        world.write("stores.csv", *STORE)
        world.write("people.csv", HEADER, f"0042,B1,ann,Ann,,{pin}")
        report = await world.load()
        assert report is not None
        [bad] = report.bad
        assert "write 4 to 12 digits" in bad.reason
        assert pin not in "\n".join([str(bad), *report.lines()])
