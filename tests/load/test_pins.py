"""PINs come with `people.csv`: taken by the service, repeated by no report, and refused where they are none."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from aisle.client.csv_load import LoadError, LoadReport, load
from aisle.client.csv_load.file_layouts_and_columns import MAX_PEOPLE
from tests.load.test_repeated_loads import World, a_world
from tests.load.test_sender import FakeService, Naps, run

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


@pytest.mark.parametrize(
    ("header", "row", "role", "is_named"),
    [
        (HEADER, "0042,B1,ann,Ann,,", "supervisor", False),
        (HEADER, "0042,B1,ann,Anna,NULL,", "supervisor", False),
        ("store_number,badge,user,name", "0042,B1,ann,Ann", "supervisor", False),
        ("store_number,badge,user,name,pin", "0042,B1,ann,Ann,0815", "supervisor", False),
        (HEADER, "0042,B1,ann,Ann,supervisor,", "supervisor", False),
        (HEADER, "0042,B1,ann,Ann,staff,", "staff", True),
        (HEADER, "0042,B1,ben,Ben,staff,", "supervisor", False),
        (HEADER, "0042,B2,eva,Eva,supervisor,", "supervisor", True),
    ],
)
async def test_empty_role_keeps_that_of_the_person(
    header: str, row: str, role: str, is_named: bool, world: World
) -> None:
    world.write("stores.csv", *STORE)
    world.write("people.csv", HEADER, "0042,B1,ann,Ann,supervisor,4711", "0042,B2,eva,Eva,,")
    await world.load()
    world.clear()
    world.write("people.csv", header, row, f"0042,B3,new,New{',' * (header.count(',') - 3)}")
    report = await world.load()
    assert report is not None
    async with world.client() as client:
        people = (await client.request_extension("GET", "/aisle/v1/stores/0042/people")).json()["people"]
    badge, user = row.split(",")[1:3]
    before = {"B1": "supervisor", "B2": "staff", "B3": "staff"}
    assert {one["badge"]: one["role"] for one in people} == before | ({} if user == "ben" else {badge: role})
    words = f"role is {role}, where the person was {before[badge]} before, and becomes the role of the person"
    named = [line for line in report.lines() if "where the person was" in line]
    assert named == [f"people.csv:2: warning: {words}: {user}, badge {badge}."] * is_named


@pytest.mark.parametrize(
    ("cell", "role"),
    [
        ("Mitarbeiter", "staff"),
        ("medewerker", "staff"),
        ("Employée", "staff"),
        ("STAFF", "staff"),
        ("Leidinggevende", "supervisor"),
        ("Leitung", "supervisor"),
        (" responsable", "supervisor"),
        ("Supervisor", "supervisor"),
    ],
)
async def test_role_in_the_language_of_the_shop(cell: str, role: str, world: World) -> None:
    world.write("stores.csv", *STORE)
    world.write("people.csv", HEADER, f"0042,B1,ann,Ann,{cell},4711")
    report = await world.load()
    assert report is not None
    assert not report.bad
    async with world.client() as client:
        people = (await client.request_extension("GET", "/aisle/v1/stores/0042/people")).json()["people"]
    assert [one["role"] for one in people] == [role]
    said = f"people.csv: changed in row 2: role: {cell.strip()} read as {role}."
    assert (said in report.lines()) == (cell.strip().lower() != role)


@pytest.mark.parametrize(("status", "content"), [(500, b"{}"), (503, b""), (200, b"none"), (200, b'{"people": 1}')])
async def test_people_that_cannot_be_read_lose_no_role(status: int, content: bytes, tmp_path: Path) -> None:
    class NoPeople(FakeService):
        def answer(self, request: httpx.Request) -> httpx.Response:
            if request.method == "GET" and request.url.path.endswith("/people"):
                return httpx.Response(status, content=content)
            return super().answer(request)

    (tmp_path / "people.csv").write_text(f"{HEADER}\n0042,B1,ann,Ann,,\n")
    service = NoPeople()
    with pytest.raises(LoadError, match=r"people\.csv names cannot be read"):
        await run(tmp_path, service, Naps())
    assert not any(request.method == "POST" for request in service.requests)


@pytest.mark.parametrize(
    ("pins", "short"),
    [
        (["12345", "24680", "36912", "1357"], [5]),
        (["1357", "12345", "24680"], [2]),
        (["12345", "24680", "1357", "2468"], []),
        (["12345", "24680", "0357"], []),
        (["123456", "246801", "1357"], []),
        (["1234", "2468", "13579"], []),
    ],
)
async def test_a_pin_that_is_shorter_than_most_is_named_without_it(
    pins: list[str], short: list[int], world: World
) -> None:
    world.write("stores.csv", *STORE)
    world.write("people.csv", HEADER, *(f"0042,B{at},u{at},U,supervisor,{pin}" for at, pin in enumerate(pins, 2)))
    report = await world.load()
    assert report is not None
    assert not report.bad
    what = "pin has one digit less than most others; if a spreadsheet has taken its zero off, write it as text"
    named = [line for line in report.lines() if "warning: pin " in line]
    assert named == [f"people.csv:{at}: warning: {what}: the PIN of u{at}." for at in short]


@pytest.mark.parametrize(
    ("pin", "is_refused"),
    [("1241", True), ("01241", False), ("001241", False), ("1240", False), ("11241", False), ("", False)],
)
async def test_a_pin_that_lost_its_zero_is_refused_and_the_old_one_signs_in(
    pin: str, is_refused: bool, world: World
) -> None:
    world.write("stores.csv", *STORE)
    world.write("people.csv", HEADER, "0042,B1,ann,Ann,supervisor,01241", "0042,B2,ben,Ben,,")
    await world.load()
    world.clear()
    world.write("people.csv", HEADER, f"0042,B1,ann,Ann,supervisor,{pin}", "0042,B2,ben,Benno,,2468")
    report = await world.load()
    assert report is not None
    assert [row.reason for row in report.bad] == is_refused * [
        "the service refused badge B1: pin: The PIN is that of before without its zero. Write it as text, or choose"
        " another."
    ]
    assert report.files[0].loaded_rows == 2 - is_refused
    async with world.client() as client:
        said = {"store_number": "0042", "user": "ann", "pin": "01241" if is_refused else pin or "01241"}
        assert (await client.request_extension("POST", "/aisle/v1/sign-in", body=said)).status == 200


@pytest.mark.parametrize(
    ("row", "line", "status"),
    [
        ("ann,Ann,supervisor,04711", "1 row, there before with the same values.", 200),
        ("ann,Anna,supervisor,04711", "1 of 1 rows loaded (1 changed).", 200),
        ("ann,Ann,supervisor,", "1 row, there before with the same values.", 200),
        ("ann,Ann,supervisor,04712", "1 of 1 rows loaded (1 changed).", 401),
    ],
)
async def test_only_another_pin_signs_out(row: str, line: str, status: int, tmp_path: Path) -> None:
    with a_world(tmp_path) as world:
        world.write("stores.csv", *STORE)
        world.write("people.csv", HEADER, "0042,B1,ann,Ann,supervisor,04711")
        await world.load()
        async with world.client() as client:
            said = {"store_number": "0042", "user": "ann", "pin": "04711"}
            token = (await client.request_extension("POST", "/aisle/v1/sign-in", body=said)).json()["token"]
            world.clear()
            world.write("people.csv", HEADER, f"0042,B1,{row}")
            report = await world.load()
            assert report is not None
            assert report.lines()[0] == f"people.csv: {line}"
            path = "/aisle/v1/stores/0042"
            assert (await client.request_extension("GET", path, token=token)).status == status


async def test_people_come_in_small_requests_and_an_early_end_names_the_loaded_rows(tmp_path: Path) -> None:
    class Slow(FakeService):
        def carried_out(self, content: bytes, store: str) -> httpx.Response:
            if "people" in self.kept and len(self.kept["people"]) == 2 * MAX_PEOPLE:
                raise httpx.ReadTimeout("too slow")
            return super().carried_out(content, store)

    rows = [f"0042,B{at},u{at},U,,{4711 + at}" for at in range(40)]
    (tmp_path / "people.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    service, reports = Slow(), list[LoadReport]()
    async with service.client() as client:
        with pytest.raises(LoadError, match=r"Stopped at people.csv:22\. Load again later"):
            await load(tmp_path, client, on_cut_off=reports.append, sleep=Naps())
    assert len(service.kept["people"]) == 2 * MAX_PEOPLE
    words = "people.csv: 20 of 20 rows loaded; the load ended before the file did, with 20 rows (2-21);"
    words += " whether 10 rows (22-31) were loaded is unknown, because no answer came; the next load tells, and doubles"
    words += " nothing."
    assert reports[0].lines()[0] == words
