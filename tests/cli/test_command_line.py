"""The command lines as a shell meets them: exit status, what is printed where, and errors that say what to do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import aisle
from aisle.cli import api as api_door
from aisle.cli import main
from aisle.cli.token import _print_tokens
from aisle.client import Response
from aisle.contract.operations import OPERATIONS
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox import retention_and_archive
from aisle.outbox.commit_journal import EventEntry, Journal, JournalBatch
from aisle.outbox.operation_queue import open_outbox
from aisle.outbox.operation_record import Author
from aisle.service.auth.tokens_and_pins import TokenInfo
from aisle.settings.setting_definitions import DEMO_STORE, EMBEDDED
from tests.cli.command_tree import parse
from tests.service.world import prepare


@pytest.fixture(autouse=True)
def home(aisle_home: Path) -> Path:
    """Every command line has a home of its own."""
    return aisle_home


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of one command line."""
    try:
        status = main(arguments)
    except SystemExit as leave:
        status = int(str(leave.code or 0))
    out, err = capsys.readouterr()
    return status, out, err


def api(capsys: pytest.CaptureFixture[str], *arguments: str) -> object:
    """The answer of an operation that has to succeed."""
    status, out, err = run(capsys, "api", *arguments)
    assert (status, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "serve",
        "token",
        "backup",
        "restore",
        "load",
        "api",
        "assignments",
        "people",
        "sync",
        "courier",
        "outbox",
        "journal",
        "doctor",
        "sheet",
        "web",
    ],
)
def test_every_door_explains_itself(capsys: pytest.CaptureFixture[str], command: str) -> None:
    status, out, _err = run(capsys, *([command] if command else []), "--help")
    assert status == 0
    assert "Usage: aisle" in out


def test_all_operations_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _err = run(capsys, "api", "list")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(OPERATIONS)


def test_an_operation_reads_and_writes_the_embedded_store(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stores = api(capsys, "list-stores", "--query", "search_text=0900")
    assert isinstance(stores, dict)
    assert [store["storeNo"] for store in stores["list"]] == ["0900"]
    body = tmp_path / "body.json"
    body.write_text(json.dumps({"stores": [_store("0777")]}))
    made = api(capsys, "create-stores", "--body", str(body))
    assert isinstance(made, dict)
    assert made["success"] is True
    found = api(capsys, "list-stores", "--query", "search_text=0777")
    assert isinstance(found, dict)
    assert [store["storeName"] for store in found["list"]] == ["Store 0777"]


def _store(number: str) -> dict[str, object]:
    flags = dict.fromkeys(("is_active", "is_active_data_exchange", "is_warehouse"), False)
    return {"store_number": number, "store_name": f"Store {number}", **flags}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("api", "list-storez"), "There is no operation 'list-storez'"),
        (("api", "list-stores", "--query", "is_warehose=true"), "is_warehouse"),
        (("api", "list-stores", "--query", "oops"), "name=value"),
        (("api", "create-stores"), "needs a body"),
        (("api", "list-stores", "--body", "-"), "has no body"),
        pytest.param(("load", "/nowhere/at/all"), "is not a folder", marks=pytest.mark.drawn),
        (("token", "add", "x", "--role", "king"), "'king' is not one of 'staff'"),
        (("serve", "--port", "99999"), "99999 is not in the range"),
        (("serve", "--connections-per-address", "-1"), "-1 is not in the range"),
        (("web", "--connections-per-address", "-1"), "-1 is not in the range"),
        (("journal",), "Nobody has worked in store 0001"),
        (("--colour",), "No such option"),
        ((), "needs a terminal"),
    ],
)
def test_wrong_usage_is_told_on_stderr(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert status in (1, 2)
    assert out == ""
    assert says in err
    assert err.startswith("aisle: ")


def test_flush_is_never_run_from_a_script_without_being_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = tmp_path / "orders.json"
    body.write_text('{"orders": []}')
    before = api(capsys, "list-customer-orders")
    assert isinstance(before, dict)
    assert before["total_count"], "something that a flush would take away"
    flush = ("create-customer-orders-one-store", "--query", "flush=true", "--body", str(body))
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        status, _out, err = run(capsys, "api", *flush)
    assert status == 2
    assert "--yes" in err
    after = api(capsys, "list-customer-orders")
    assert isinstance(after, dict)
    assert (after["total_count"], after["list"]) == (before["total_count"], before["list"])


def test_a_refusal_of_the_service_is_exit_status_1_with_its_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body = tmp_path / "order.json"
    line = {"line_number": 1, "product_number": "no such product", "quantity": 1}
    body.write_text(json.dumps({"orders": [{"order_number": "X1", "order_lines": [line]}]}))
    status, out, err = run(capsys, "api", "create-customer-orders-one-store", "--body", str(body))
    assert status == 1
    assert json.loads(out)["success"] is False
    assert "no such product" in err


def test_a_token_is_shown_once_and_can_be_ended(capsys: pytest.CaptureFixture[str]) -> None:
    status, _out, err = run(capsys, "token", "list")
    assert status == 2
    assert "'aisle serve' makes it" in err
    api(capsys, "list-stores")
    _status, secret, _err = run(capsys, "token", "add", "dock", "--stores", "0001,0002")
    assert re.fullmatch(r"aisle_\S{40,}\n", secret)
    _status, out, _err = run(capsys, "token", "list")
    assert secret.strip() not in out
    assert re.search(r"dock  staff  0001,0002  in force  never used", out)
    assert run(capsys, "token", "revoke", "dock")[0] == 0
    assert "dock  staff  0001,0002  revoked" in run(capsys, "token", "list")[1]
    assert run(capsys, "token", "revoke", "dock")[0] == 2
    assert run(capsys, "token", "add", "x", "--stores", "9999")[0] == 2
    before = run(capsys, "token", "list")[1]
    for days in ("0", "-1", "99999999"):
        status, out, err = run(capsys, "token", "add", "x", "--stores", "*", "--days", days)
        assert (status, out) == (2, "")
        assert f"'--days': {days} is not in the range 1<=x<=36500" in err
    assert run(capsys, "token", "list")[1] == before
    assert run(capsys, "token", "add", "x", "--stores", "*", "--days", "7")[0] == 0


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("stores", "advice"),
    [
        ([], "Missing option '--stores'. Name the stores of the token, as in --stores 0042,0043"),
        (["--stores", ""], "A token needs stores: name them, or * for all."),
        (["--stores", ","], "A token needs stores: name them, or * for all."),
    ],
)
def test_the_stores_of_a_token_are_said_and_not_assumed(
    capsys: pytest.CaptureFixture[str], stores: list[str], advice: str
) -> None:
    api(capsys, "list-stores")
    before = run(capsys, "token", "list")[1]
    for role in ("staff", "admin"):
        status, out, err = run(capsys, "token", "add", "gate", "--role", role, *stores)
        assert (status, out) == (2, "")
        assert advice in err
    assert run(capsys, "token", "list")[1] == before


def test_a_command_s_options_are_heard_before_and_behind_its_actions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    prepare(tmp_path / "elsewhere.db", demo=True)
    there = ("--database", f"sqlite:///{tmp_path / 'elsewhere.db'}")
    assert run(capsys, "token", "add", "dock", "--stores", "*", *there)[0] == 0
    assert run(capsys, "token", "add", *there, "gate", "--role", "admin", "--stores", "*")[0] == 0
    for asked in (("token", "list", *there), ("token", *there, "list"), ("token", *there, "list", *there)):
        status, out, _err = run(capsys, *asked)
        assert (status, "  dock  staff  " in out, "  gate  admin  " in out) == (0, True, True)
    assert run(capsys, "token", "revoke", "dock", *there)[0] == 0
    assert run(capsys, "token", *there, "revoke", "gate")[0] == 0
    last = run(capsys, "token", "--database", "sqlite:////nowhere.db", "list", *there)
    assert (last[0], "  dock  staff  " in last[1]) == (0, True), "what is said last stands"
    shop = ("--store", "0007", "--base-url", "https://store.example", "--token-file", "t", "--ca-file", "c")
    for words in (
        ("people", "list"),
        ("people", "set", "B"),
        ("people", "remove", "B"),
        ("outbox", "show", "I"),
        ("outbox", "resolve", "I", "arrived"),
    ):
        path, values = parse(*words, *shop)
        assert (path, values) == parse(words[0], *shop, *words[1:])
        assert (path, values["store"]) == (" ".join(words[:2]), "0007")
        assert parse(words[0], "--store", "0008", *words[1:], *shop) == (path, values), "what is said last stands"


def _worked(home: Path, raw: str) -> None:
    """Somebody has scanned this in the embedded store."""
    journal = Journal(open_outbox(StoreFolder(home, EMBEDDED, DEMO_STORE).folder))
    entry = EventEntry("", 1.0, "2026-03-02T08:00:00Z", raw, "Unknown", "{}")
    journal.commit(JournalBatch("S1", "dock", Author(DEMO_STORE, "U1"), entries=[entry]))


def test_the_journal_does_nothing_to_a_terminal(
    capsys: pytest.CaptureFixture[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = "\x9b31m\x7f\u202ecafé"
    _worked(home, raw)
    status, out, _err = run(capsys, "journal", "--json")
    assert (status, json.loads(out)["raw"]) == (0, raw)
    assert raw[-4:] in out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    status, out, _err = run(capsys, "journal", "--json")
    assert (status, json.loads(out)["raw"]) == (0, raw)
    assert out.rstrip("\n").isprintable()


def test_an_answer_does_nothing_to_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"name": "\x9b31m\x7f\u202ecaf\u00e9" + "long" * 200}
    api_door._print_json(Response(200, {}, json.dumps(said, ensure_ascii=False).encode()))
    piped = capsys.readouterr().out
    assert json.loads(piped) == said
    assert piped.replace("\n", "").isprintable(), "a pipe may end in a terminal"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    api_door._print_json(Response(200, {}, json.dumps(said, ensure_ascii=False).encode()))
    out = capsys.readouterr().out
    assert json.loads(out) == said
    assert out.replace("\n", "").isprintable()
    api_door._print_json(Response(200, {}, "no JSON \x9b31m\u202e\x7f".encode()))
    assert capsys.readouterr().out.rstrip("\n").isprintable()


def test_the_journal_tells_how_much_is_archived(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    _worked(home, "1")
    assert run(capsys, "journal", "--archive") == (0, "Nothing.\n", "")
    folder = StoreFolder(home, EMBEDDED, DEMO_STORE).folder
    assert not retention_and_archive.archive_path(folder).exists(), "looking makes none"
    with closing(retention_and_archive.open_archive(folder)) as kept:
        kept.executemany(
            "INSERT INTO total VALUES (?, ?, ?, ?, 0, 0)",
            [("2026-03-02", "U1", "pick", 450), ("2026-03-01", "U\x9b2J", "", 7)],
        )
    status, out, _err = run(capsys, "journal", "--archive")
    assert (status, out.replace("\n", "").isprintable()) == (0, True)
    assert re.search(r"2026-03-01 .* 7\n2026-03-02  U1 +pick +450\n$", out)
    _status, out, _err = run(capsys, "journal", "--archive", "--last", "1", "--json")
    assert json.loads(out) == {"day": "2026-03-02", "user": "U1", "job": "pick", "events": 450}


def test_no_rows_are_wrong_usage(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    _worked(home, "1")
    status, out, err = run(capsys, "journal", "--last", "0")
    assert (status, out) == (2, "")
    assert "'--last': 0 is not in the range" in err


def test_stores_of_a_token_are_harmless_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    _print_tokens([TokenInfo("T1", "dock", "staff", ("00\x9b2J01",), "2026-03-02", None, None, None)])
    assert capsys.readouterr().out.rstrip("\n").isprintable()


def test_a_closed_pipe_is_no_traceback(home: Path) -> None:
    command = f"{sys.executable} -m aisle api list | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("list-customer-orders")
    assert "Traceback" not in done.stderr


def test_every_named_command_exists(capsys: pytest.CaptureFixture[str]) -> None:
    source = Path(aisle.__file__).parent
    files = [path for path in source.rglob("*.py") if path.parent.name != "cli"]
    named = {word for path in files for word in re.findall(r"[`']aisle ([a-z]+)", path.read_text(encoding="utf-8"))}
    assert "outbox" in named
    assert [word for word in sorted(named) if f"Usage: aisle {word}" not in run(capsys, word, "--help")[1]] == []


def test_the_columns_of_the_files_of_a_load_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "load", "--columns", "people.csv")
    assert (status, out.splitlines()[0]) == (0, "people.csv")
    assert any(line.split() == ["badge", "required", "code", "0012345"] for line in out.splitlines())
    assert "\norders.csv\n" in run(capsys, "load", "--columns")[1]
    status, _, err = run(capsys, "load")
    assert (status, "aisle load --columns" in err) == (2, True)


def test_load_without_store_fills_demo_store(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Whatever command comes next: the demo store is not laid over it."""
    rows = "product_number,product_name,price\n900002,Good,2.50\n995001,New one,1.00\n"
    (tmp_path / "products.csv").write_text(rows, encoding="utf-8")
    status, out, _ = run(capsys, "load", str(tmp_path))
    assert (status, "products.csv: 2 of 2 rows" in out) == (0, True)
    found = api(capsys, "list-products", "--query", "page_size=1000")
    assert isinstance(found, dict)
    names = {row["product_number"]: (row["product_name"], row["price"]) for row in found["records"]}
    assert (names["900002"], names["995001"]) == (("Good", 2.5), ("New one", 1))
    assert len(names) > 2
    assert isinstance(stores := api(capsys, "list-stores"), dict)
    assert DEMO_STORE in {row["storeNo"] for row in stores["list"]}


def test_a_load_says_into_which_service_and_stores_it_went(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "stores.csv").write_text("store_number,store_name,is_warehouse\n0042,One,0\n0043,Two,0\n")
    (folder / "locations.csv").write_text("store_number,location_code\n0042,A\n")
    first = run(capsys, "load", str(folder))[1].splitlines()[0]
    database = next(home.rglob("service.db"))
    assert first == f"Loaded into the service built into aisle (database {database}), stores 0042, 0043."
    (folder / "stores.csv").unlink()
    (folder / "locations.csv").write_text("store_number,location_code\n9999,A\n")
    first = run(capsys, "load", str(folder))[1].splitlines()[0]
    assert first == f"Nothing was loaded into the service built into aisle (database {database})."


@pytest.mark.parametrize(
    ("file", "rows", "words"),
    [
        ("products.csv", [f"N{at},x{at}" for at in range(25)], "products.csv:26: price 'x24' is no number"),
        ("products.csv", [f"N{at},{at}.5-" for at in range(1, 23)], "products.csv:23: the service refused"),
        ("products.csv", [f"N{at},{'0' * (at % 2)}2.5" for at in range(70)], "61, 63, 65, 67, 69, 71): price: zeros"),
        ("prices.csv", [f"X{at},2.5" for at in range(1, 23)], "prices.csv:23: "),
        ("stores.csv", [f"{at},Store,0" for at in range(1, 13)], "stores 1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9"),
    ],
)
def test_rows_that_the_report_does_not_list_stand_in_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path, file: str, rows: list[str], words: str
) -> None:
    header = "store_number,store_name,is_warehouse" if file == "stores.csv" else "product_number,price"
    (tmp_path / file).write_text("\n".join((header, *rows, "")), encoding="utf-8")
    out = run(capsys, "load", str(tmp_path))[1]
    [report] = home.rglob("*.report.txt")
    assert out.splitlines()[-1].startswith(f"Lists above are shortened; {report} has each row")
    assert words in report.read_text(encoding="utf-8")
    assert words not in out
    report.unlink()
    (tmp_path / file).write_text("\n".join((header, rows[0], "")), encoding="utf-8")
    assert "shortened" not in run(capsys, "load", str(tmp_path))[1]
    assert not report.exists()


def test_a_token_that_somebody_keeps_in_the_home_stays(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    """That of the embedded store has a name of its own: a service shows a token but once."""
    home.mkdir(mode=0o700, exist_ok=True)
    kept = home / "token"
    kept.write_text("of another service", encoding="ascii")
    kept.chmod(0o600)
    api(capsys, "list-stores")
    assert kept.read_text(encoding="ascii") == "of another service"
