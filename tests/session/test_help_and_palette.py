"""Help, the list of commands, and keys with other names: over any job, and nothing is taken from it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.errors import SettingsError, StorageError
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs import JOBS
from aisle.jobs.job import Write
from aisle.jobs.shell.help import HELP_TEXTS, help_text
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, DetailView, Frame, ListView, Msg, msg
from aisle.messages.messages_of_language import load_messages
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import CREATE_MOVEMENT, UPDATE_ORDER, Intent
from aisle.scan.inputs_and_line_grouping import ROW_KEY, Key, OpenLine
from aisle.session.session import Session, open_session
from aisle.settings.key_bindings import BINDABLE_LETTERS, COMMAND_LETTERS, validate_keys
from aisle.settings.load_settings import load_settings
from aisle.settings.setting_definitions import LANGUAGES, Settings
from aisle.tui.layout.screen import fits_whole
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.samples.registry import SAMPLES
from tests.session.test_session import BARCODES, ORDER, at, home, say, sent, told
from tests.writes import ANNA

__all__ = ["home"]

STEPS = sorted({step for job in JOBS.values() for step in job.steps})


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_step_of_every_job_has_help(language: str) -> None:
    for step in STEPS:
        said = MessageWriter(language=language).write(help_text(step))
        assert help_text(step).id in list(load_messages(language)), step
        assert len(said) > 40, (step, said)
    assert {step for step in HELP_TEXTS if "." in step} <= set(STEPS)


def spoken(message: Msg, language: str) -> str:
    """All that a message says."""
    return MessageWriter(language=language).write(message)


def picking(session: Session) -> Frame:
    """In the middle of an order."""
    return say(session, "4101", BARCODES[0], BARCODES[1])


@pytest.mark.parametrize(("size", "turns"), [((100, 45), False), ((40, 10), True)], ids=["one page", "several"])
def test_help_names_the_letters_that_turn_pages_where_there_are_several(
    home: StoreFolder, size: tuple[int, int], turns: bool
) -> None:
    with at(home, user="U1") as session:
        session.terminal.fits_screen = fits_whole
        session.resize(*size)
        say(session, f"?{BARCODES[1]}")
        view = say(session, "h").view
        assert isinstance(view, DetailView)
        letters = {dict(row[0].args)["name"] for block in view.blocks for row in block.rows if row[0].id == "pair"}
        assert "e" in letters
        assert ({"n", "p"} <= letters) is turns
        assert bool({"n", "p"} & letters) is turns


@pytest.mark.parametrize("asked", ["h", "H", "AISLE:HELP"])
def test_help_leads_back_to_the_same_step(home: StoreFolder, asked: str) -> None:
    with at(home, user="U1") as session:
        before = picking(session).view
        view = say(session, asked).view
        assert isinstance(view, DetailView)
        assert help_text("pick.product").id in str(view.blocks)
        assert say(session, "n").view.name == "help"
        assert say(session, asked).view.name == "help"
        assert say(session, "b").view == before


def test_f1_asks_for_help_and_f5_for_commands(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        before = picking(session).view
        assert session.take([Key("f1")], 0.0).view.name == "help"
        assert session.take([Key("f5")], 0.0).view.name == "palette"
        assert session.take([Key("back")], 0.0).view == before


@pytest.mark.parametrize("page", ["h", "."])
def test_a_scan_goes_on_with_the_job(home: StoreFolder, page: str) -> None:
    with at(home, user="U1") as session:
        picking(session)
        frame = say(session, page, BARCODES[1], page, BARCODES[2])
        assert told(frame) == (GOOD, "pick.picked")
        assert frame.view.name == "pick.product"
        wrong = say(session, page, "87654321")
        assert (wrong.view.name, told(wrong)) == ("pick.product", (WRONG, "count.unknown"))
    assert sent(home) == {1: 1, 2: 2, 3: 1}


@pytest.mark.parametrize("page", ["h", "."])
def test_what_was_taken_in_the_same_read_is_known_on_the_way_back(home: StoreFolder, page: str) -> None:
    with at(home, user="U1") as session:
        session.poll()  # The person gets the name of the list.
        slowly = [say(session, "4101"), say(session, f"3*{BARCODES[1]}"), say(session, page), say(session, BARCODES[1])]
        say(session, "u", "u")
        at_once = say(session, f"3*{BARCODES[1]}", page, BARCODES[1])
        assert at_once.verdict == slowly[-1].verdict
        assert session.poll(notified=True) in (None, at_once)
    assert sent(home) == {2: 4}


def test_what_is_typed_on_help_is_said_below(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        picking(session)
        assert told(say(session, "h", "5")) == (WRONG, "input.no_choice"), "the page of the job is not in sight"
        assert told(say(session, "h", "u")) == told(say(session, "u"))
        assert told(say(session, "h", "y")) == (WRONG, "input.no_command")


@pytest.mark.parametrize("path", [(), ("4101",), ("3",), ("4",), ("7", "3"), ("7", "6"), ("7", "9", "4")])
def test_both_pages_open_everywhere(home: StoreFolder, path: tuple[str, ...]) -> None:
    with at(home, user="U1") as session:
        before = say(session, *path).view if path else session.frames.build().view
        for page, name in (("h", "help"), (".", "palette")):
            assert say(session, page).view.name == name
            assert say(session, "b").view.name == before.name


def test_nobody_is_signed_in_and_there_is_help_all_the_same(home: StoreFolder) -> None:
    with at(home) as session:
        assert say(session, "h").view.name == "help"
        entries = rows(say(session, "."))
        assert "palette.language" in entries
        assert "home.log" not in entries
        assert say(session, "b").view.name == "sign_in"


def rows(frame: Frame) -> list[str]:
    """The ids of the commands on the page."""
    assert isinstance(frame.view, ListView)
    return [row.cells[0].id for row in frame.view.rows]


def test_commands_are_found_by_words_and_run_by_number(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        session.terminal.message_text = spoken
        session.resize(80, 24)
        picking(session)
        listed = rows(say(session, "."))
        assert listed[0].startswith("hint.")
        assert rows(session.take([OpenLine("del")], 0.0)) == []
        assert rows(session.take([OpenLine("rece")], 0.0)) == ["home.receive"]
        session.take([OpenLine("")], 0.0)
        assert told(say(session, "hoover")) == (WRONG, "input.no_command")
        assert say(session, "receive goods").view.name == "receive.delivery"
        assert say(session, "b").view.name == "pick.product"
        undo = rows(say(session, ".")).index("hint.undo") + 1
        assert told(say(session, str(undo)))[1].startswith("pick.")
        assert session.frames.build().view.name == "pick.product"


@pytest.mark.parametrize("typed", ["2", "12"])
def test_number_after_a_refused_command_chooses_nothing(home: StoreFolder, typed: str) -> None:
    with at(home, user="U1") as session:
        session.terminal.message_text = spoken
        session.resize(80, 24)
        picking(session)
        assert rows(say(session, ".", "hoover")) == []
        frame = say(session, typed)
        assert (frame.view.name, told(frame)) == ("palette", (WRONG, "input.no_command"))
        assert rows(say(session, "b")), "the list is whole again"


@pytest.mark.parametrize("command", ["today", "exceptions", "all orders"])
def test_command_of_an_open_page_closes_what_is_above_it(home: StoreFolder, command: str) -> None:
    with at(home, user="U1") as session:
        session.terminal.message_text = spoken
        session.resize(120, 40)
        for page in ("today", "exceptions", "all orders", command):
            say(session, ".", page)
        names = [stacked.job.name for stacked in session.stack.jobs]
        assert names[-1] == {"all orders": "orders"}.get(command, command)
        assert len(names) == len(set(names))


@pytest.mark.parametrize("typed", ["francais", "Français", "FRANÇ", "fran"])
def test_commands_are_found_without_their_accents(home: StoreFolder, typed: str) -> None:
    with at(home, user="U1") as session:
        session.terminal.message_text = spoken
        session.resize(80, 24)
        say(session, ".")
        assert rows(session.take([OpenLine(typed)], 0.0)) == ["palette.language"]
        session.take([OpenLine("")], 0.0)
        assert say(session, typed).language == "fr"


def test_a_number_that_is_not_listed_is_no_quantity_below(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        picking(session)
        frame = say(session, ".", "99")
        assert (frame.view.name, told(frame)[0]) == ("palette", WRONG)


def test_what_is_taken_over_or_rejected_is_in_nobodys_hand_who_signs_out(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        picking(session)
        say(session, "b")
        with ExitStack() as stack:
            other = open_session(home, Settings(terminal="t2", user="U2"))
            stack.callback(other.close)
            other.start()
            say(other, "4101", "1")
        assert told(say(session, "o")) == (ASK, "home.unsent")


def beside(session: Session, home: StoreFolder, stack: ExitStack) -> Session:
    """A colleague who takes something for the same order, and may."""
    picking(session)
    other = open_session(home, Settings(terminal="t2", user="U2"))
    stack.callback(other.close)
    other.start()
    say(other, "4101", "1", BARCODES[1])
    session.poll(notified=True)
    assert told(say(session, "y")) == (GOOD, "pick.both_pick")
    return other


def test_sign_out_asks_about_own_goods_in_shared_order(home: StoreFolder) -> None:
    with at(home, user="U1") as session, ExitStack() as stack:
        other = beside(session, home, stack)
        say(session, "b")
        frame = say(session, "o")
        assert (told(frame), frame.view.name) == ((ASK, "home.in_hand_unsent"), "home")
        assert frame.verdict is not None
        assert dict(frame.verdict.text.args)["count"] == 2
        assert "pick.other_picker_left_goods" in str(other.poll(notified=True))


def test_put_down_goods_leave_own_hand_whatever_colleague_holds(home: StoreFolder) -> None:
    with at(home, user="U1") as session, ExitStack() as stack:
        beside(session, home, stack)
        say(session, "b")
        outbox = OperationQueue(open_outbox(home.folder))
        (mine,) = [op for op in outbox.unfinished() if op.app_user == "U1" and op.operation == UPDATE_ORDER]
        lines = mine.body["orders"]["order_lines"]
        held = [{"customer_order_number": "4101", "customer_order_line_number": line["line_number"]} for line in lines]
        items = [
            {
                "product_number": line["product_number"],
                "quantity": line["picked_quantity"],
                "from_location": end,
                "to_location": {**end, "location_code": "PU-01"},
            }
            for line, end in zip(lines, held, strict=True)
        ]
        write = Write(CREATE_MOVEMENT, ("order/4101",), {"store_number": "0001"}, {"AppUserName": "U1"}, items)
        with transaction(outbox._db):
            outbox.enqueue([Intent(write, occurred_at="2026-03-02T08:00:00Z")], ANNA)
        outbox._db.close()
        assert told(say(session, "o")) == (ASK, "home.unsent")


@pytest.mark.parametrize("own", [0, 2])
def test_goods_in_colleagues_hand_of_unclaimed_order_are_not_asked_about(home: StoreFolder, own: int) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", f"{own}*{BARCODES[1]}" if own else "n")
        say(session, "b")
        outbox = OperationQueue(open_outbox(home.folder))
        for op in outbox.unfinished():
            outbox.begin_sending(op.op_id, b"{}")
            outbox.confirm(op.op_id)
            outbox.mark_read_back(op.op_id)
        lines = [{**line, "picked_quantity": own + 3 if line["line_number"] == 2 else 0} for line in ORDER["lines"]]
        cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
        cache.write_orders([{**ORDER, "lines": lines}], lines_known=True, read_began=4e9)
        frame = say(session, "o")
        if not own:
            assert frame.view.name == "sign_in"
        else:
            assert frame.verdict is not None
            assert (frame.verdict.text.id, dict(frame.verdict.text.args)["count"]) == ("home.in_hand", own)


def test_the_list_of_commands_signs_nobody_out_unaware_either(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        session.terminal.message_text = spoken
        assert picking(session).view.name == "pick.product"
        frame = say(session, ".", "sign out")
        assert (told(frame), frame.view.name) == ((ASK, "home.in_hand_unsent"), "palette")
        assert say(session, "b").view.name == "pick.product"
        assert told(say(session, ".", "sign out")) == (ASK, "home.in_hand_unsent")
        assert say(session, "sign out").view.name == "sign_in"


def test_the_list_of_commands_asks_before_it_signs_out(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        session.terminal.message_text = spoken
        frame = say(session, ".", "sign out")
        assert (told(frame), rows(frame)) == ((ASK, "palette.sign_out_again"), ["home.sign_out"])
        assert say(session, "1").view.name == "sign_in"


def test_back_is_named_where_there_is_one(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        assert told(say(session, "0")) == (WRONG, "input.no_choice")
        assert told(say(session, "7", "0")) == (WRONG, "input.no_choice_back")


def test_a_number_that_chooses_nothing_is_told_what_does(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = say(session, "0")
        assert frame.verdict is not None
        last = session.page.accepts().choices
        assert last > 1
        assert frame.verdict.detail == msg("input.type", keys=f"1-{last}")
        frame = say(session, "?P1", "0")
        assert frame.view.name.startswith("look_up")
        assert session.page.accepts().choices == 1
        assert frame.verdict is not None
        assert frame.verdict.detail == msg("input.type", keys="1")


def test_language_and_colours_change_at_once(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        session.terminal.message_text, session.terminal.has_themes = spoken, True
        frame = say(session, ".", "deutsch")
        assert (frame.language, told(frame)) == ("de", (INFO, "palette.language_set"))
        assert say(session, ".", "kontrast").theme == "contrast"
        assert (frame.language, say(session, "o").language) == ("de", "en")
        assert session.frames.build().theme == ""


def test_what_somebody_has_of_his_own_is_his_alone(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever scans his badge over another's home has what the settings say; who could not sign out still has his."""
    with at(home, user="U1") as session:
        session.terminal.message_text, session.terminal.has_themes = spoken, True
        assert say(session, ".", "deutsch", ".", "kontrast").language == "de"
        with monkeypatch.context() as full:
            full.setattr(session.store.journal, "commit", no_room)
            frame = say(session, "o")
        assert (told(frame), frame.language, frame.theme) == ((WRONG, "session.not_saved"), "de", "contrast")
        assert say(session, "BADGE-U1").language == "de"
        frame = say(session, "BADGE-U2")
        assert (frame.user, frame.language, frame.theme) == ("Anna Berg", "en", "")


def test_a_language_comes_back_with_whoever_chose_it(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        session.terminal.message_text = spoken
        assert say(session, ".", "deutsch").language == "de"
        assert say(session, "BADGE-U2").language == "en"
        assert say(session, ".", "fran").language == "fr"
        assert say(session, "BADGE-U1").language == "de"
        assert (say(session, "o").language, say(session, "BADGE-U2").language) == ("en", "fr")
    with at(home) as session:
        session.terminal.message_text = spoken
        assert say(session, "BADGE-U1", ".", "english").language == "en"
        assert say(session, "BADGE-U2", "BADGE-U1").language == "en"


def no_room(_: object) -> None:
    """Nothing can be kept."""
    raise StorageError("The disk is full.")


def test_themes_are_for_terminals_that_have_the_colours(home: StoreFolder) -> None:
    with at(home, user="U1", theme="dark") as session:
        session.resize(200, 50)
        assert session.frames.build().theme == ""
        assert "palette.theme" not in rows(say(session, "."))
        session.terminal.has_themes = True
        assert session.frames.build().theme == "dark"


def test_a_theme_stays_with_the_person(home: StoreFolder) -> None:
    for typed in ((".", "dark"), ()):
        with at(home, user="U1") as session:
            session.resize(200, 50)
            session.terminal.has_themes = True
            session.terminal.message_text = spoken
            for text in typed:
                say(session, text)
            assert session.frames.build().theme == "dark"
    with at(home, user="U2") as session:
        session.terminal.has_themes = True
        assert session.frames.build().theme == ""


def test_every_page_of_home_is_among_the_commands(home: StoreFolder) -> None:
    from aisle.jobs.shell.home_orders_and_menu import MENU_TEXTS, MORE_MENU, STORE_MENU

    with at(home, user="U1") as session:
        session.resize(200, 50)
        listed = rows(say(session, "."))
        wanted = {*MENU_TEXTS, *(text.id for text, _ in (*MORE_MENU, *STORE_MENU))}
        assert wanted <= set(listed)


START = """
import sys
from pathlib import Path
import aisle.tui.app
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_record import CREATE_MOVEMENT, UPDATE_ORDER, Intent
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.session.session import open_session
from aisle.settings.setting_definitions import Settings
session = open_session(StoreFolder(Path(sys.argv[1]), "embedded", "0001"), Settings(terminal="dock", user="U1"))
session.start()
session.resize(40, 20)
session.close()
print(*sys.modules)
"""


def test_a_start_pays_for_none_of_it(home: StoreFolder) -> None:
    command = [sys.executable, "-c", START, str(home.root)]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert {"aisle.session.session", "aisle.jobs.shell.home_orders_and_menu"} <= loaded
    late = {"aisle.jobs.shell.help", "aisle.jobs.shell.palette", "aisle.settings.key_bindings"}
    assert not late & loaded


# Keys


def test_keys_mean_what_the_settings_say_and_the_page_shows_it(home: StoreFolder) -> None:
    keys = validate_keys({"z": "undo", "F8": "commands", "/": "help"}, "x")
    with at(home, user="U1", keys=keys) as session:
        frame = picking(session)
        assert [hint.letter for hint in frame.view.key_hints if hint.text.id == "hint.undo"] == ["z"]
        assert session.take([Key("f8")], 0.0).view.name == "palette"
        assert say(session, "/").view.name == "help"
        assert ("u", "z") in session.stack.top.state.keys
        assert told(say(session, "b", "b", "z"))[1].startswith("pick.undone")


def test_a_page_that_takes_text_has_its_own_commands_and_no_others(home: StoreFolder) -> None:
    keys = validate_keys({"z": "undo", "y": "quit", "j": "help"}, "x")
    with at(home, keys=keys) as session:
        assert [hint.letter for hint in session.frames.build().view.key_hints] == ["y"]
        assert told(say(session, "z"))[1] == "sign_in.name_too_short"
        assert say(session, "j").view.name == "help"
        say(session, "b", "y")
        assert session.is_ending


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"z": "undoo"}, ("'z'", "'undoo'", "did you mean 'undo'?")),
        ({"f13": "undo"}, ("unknown key 'f13'",)),
        ({"5": "undo"}, ("unknown key '5'",)),
        ({"F5": "undo", "f5": "next"}, ("'f5' twice",)),
        ({"a": "undo"}, ("'a' is the letter of another command",)),
        ("z", ("it is a table",)),
    ],
)
def test_what_is_wrong_with_keys_is_said_with_file_and_key(table: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError) as wrong:
        validate_keys(table, "settings.toml")
    assert all(word in str(wrong.value) for word in ("settings.toml", *words))


def test_letters_can_be_exchanged() -> None:
    assert validate_keys({"u": "next", "n": "undo"}, "x") == ("u = next", "n = undo")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[keys]\nz = "undoo"\n', ("keys in", "settings.toml", "'z'")),
        ('[keys]\nz = "undo"\nz = "next"\n', ("settings.toml", "The key z is there twice")),
        ('[device."dock".keys]\nf13 = "undo"\n', ('settings.toml [device."dock"]', "'f13'")),
    ],
)
def test_a_file_with_wrong_keys_is_refused(aisle_home: Path, text: str, words: tuple[str, ...]) -> None:
    (aisle_home / "settings.toml").write_text(text)
    with pytest.raises(SettingsError) as wrong:
        load_settings({"terminal": "dock"})
    assert all(word in str(wrong.value) for word in words)


def test_a_device_has_its_own_keys(aisle_home: Path) -> None:
    (aisle_home / "settings.toml").write_text('[keys]\nz = "undo"\n[device."do*".keys]\nf8 = "undo"\n')
    assert load_settings({"terminal": "dock"}).settings.keys == ("f8 = undo",)
    assert load_settings({"terminal": "till"}).settings.keys == ("z = undo",)


def test_every_letter_of_a_page_is_known_to_the_settings() -> None:
    used = {hint.letter for sample in SAMPLES for hint in sample.build("").view.key_hints if sample.state != "keys"}
    used |= {letter for job in JOBS.values() for letter in job.accepts(job.begin()).command_letters}
    assert used <= set(BINDABLE_LETTERS)
    assert set(COMMAND_LETTERS.values()) <= set(BINDABLE_LETTERS)


def test_picked_order_is_listed_and_offered_until_put_down(home: StoreFolder) -> None:
    number = "4103"
    picked = service_rows.order(
        number, service_rows.line(1, "P1", 1, preferred_location_code="A-1"), customer_name="Mr Lund"
    )
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_orders([picked], lines_known=True, read_began=2.0)

    def listed(frame: Frame) -> list[tuple[str, str]]:
        assert isinstance(frame.view, ListView)
        return [(each.key, each.cells[1].id) for each in frame.view.rows]

    with at(home, user="U1") as session:
        say(session, number)
        assert told(say(session, BARCODES[0])) == (GOOD, "pick.all_picked")
        assert told(say(session, "b")) == (INFO, "pick.left_not_put_down")
        assert listed(session.frames.build())[0] == (number, "home.not_put_down")
        assert dict(say(session, "1").view.title.args)["order"] != number, "the next is one to be picked"
        say(session, "b")
        say(session, "o")
        say(session, "o")
    with at(home, user="U2") as session:
        assert number not in dict(listed(session.frames.build()))
        assert say(session, "lund").view.name in ("pick.done", "pick.wait"), "whoever looks for it finds it"
        say(session, "b")
    with at(home, user="U1") as session:
        assert listed(session.frames.build())[0] == (number, "home.not_put_down")
        outbox = OperationQueue(open_outbox(home.folder))
        for op in outbox.unfinished():
            outbox.begin_sending(op.op_id, b"{}")
            outbox.confirm(op.op_id)
            outbox.mark_read_back(op.op_id)
        lines = [{**line, "picked_quantity": 1, "is_picked": True} for line in picked["lines"]]
        cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
        cache.write_orders([{**picked, "lines": lines, "is_picked": True}], lines_known=True, read_began=4e9)
        session.poll()
        assert listed(session.frames.build())[0] == (number, "home.not_put_down"), "the service knows that it is picked"
        found = session.take([OpenLine("lund")], 0.0)
        assert listed(found) == [(number, "home.not_put_down")]
        session.take([OpenLine("")], 0.0)
        say(session, number)
        say(session, "A-2")
        if told(session.frames.build())[1].startswith("pick.put_down_at"):
            say(session, "1")
        assert told(session.frames.build()) == (GOOD, "pick.put_down")
        say(session, "b")
        assert number not in dict(listed(session.frames.build()))


@pytest.mark.parametrize(("moved", "place", "in_hand"), [(0, "A-1", 1), (1, "A-1", 0), (0, "", 0)])
@pytest.mark.parametrize("search", ["lund", "4103", "06 1234-5678", "+31 6 12345678", "345678"])
def test_order_picked_elsewhere_is_found_with_its_location(
    home: StoreFolder, search: str, moved: int, place: str, in_hand: int
) -> None:
    held = {"location_code": "PU-1", "quantity": 1, "customer_order_number": "4103", "customer_order_line_number": 1}
    at_place: dict[str, Any] = {
        "preferred_location_code": place,
        "picked_quantity": 1,
        "moved_quantity": moved,
        "is_picked": True,
        "store_locations": [held] * moved,
    }
    own = {"customer_name": "Mr Lund", "aisle": {"customer_phone": "0031 6 12 34 56 78"}}
    order = service_rows.order("4103", service_rows.line(1, "P9", 1, **at_place), is_picked=True, **own)
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_orders([order], lines_known=True, read_began=2.0)
    args = {"search": search, "user": "U1", "not_put_down": True}
    reads = CacheReader(home, open_outbox(home.folder))
    found = [(row["order_number"], row["not_put_down"], row["put_down_at"]) for row in reads.query("orders", args)[0]]
    assert found == [("4103", in_hand, ["PU-1"] * moved)]
    assert reads.query("orders", {**args, "not_put_down": False}) == ([], 0), "no round gathers it"
    board, _ = reads.query("order_board", {"search": search})
    assert [row["put_down_at"] for row in board] == [["PU-1"] * moved]
    records, _ = reads.query("records", {"search": search, "now": "2026-03-05T09:00:00Z"})
    assert [row["label"] for row in records] == [", ".join(["Mr Lund", *["PU-1"] * moved])]


def found_records(session: Session, text: str) -> list[str]:
    """Keys of the records that the palette lists while this is typed."""
    frame = session.take([OpenLine(text)], 1.0)
    assert isinstance(frame.view, ListView)
    return [row.key for row in frame.view.rows if "/" in row.key]


@pytest.mark.parametrize(
    ("typed", "record"),
    [
        ("4101", "order/4101"),
        ("oka", "order/4101"),
        ("okq", "order/4101"),
        ("okafro", "order/4101"),
        ("elsewhere", "product/P9"),
        ("elz", "product/P9"),
        ("lesewhere", "product/P9"),
    ],
)
def test_the_palette_finds_records_and_forgives_one_typing_error(home: StoreFolder, typed: str, record: str) -> None:
    with at(home, user="U1") as session:
        say(session, ".")
        assert record in found_records(session, typed)
        if typed.isdecimal():
            return  # the page below takes a known code
        say(session, typed)
        assert session.stack.top.job.name == record.partition("/")[0].replace("product", "look_up")


def test_the_palette_lists_commands_before_records_and_records_only_from_three_letters(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, ".")
        assert found_records(session, "pr") == []
        frame = session.take([OpenLine("pro")], 1.0)
        assert isinstance(frame.view, ListView)
        kinds = ["/" in row.key for row in frame.view.rows]
        assert kinds == sorted(kinds)
        assert {row.key for row in frame.view.rows} >= {"product/P1", "product/P2", "product/P3"}
        assert found_records(session, "zzz") == []


def test_nobody_searches_records_before_the_sign_in(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, ".")
        assert found_records(session, "4101") == []


@pytest.mark.parametrize(
    ("typed", "ended_by"),
    [("elsewhere", "line"), ("elz", "line"), ("4101", "line"), ("oka", "click"), ("4101", "click")],
)
def test_cursor_chooses_among_the_hits_while_their_words_are_typed(
    home: StoreFolder, typed: str, ended_by: str
) -> None:
    with at(home, user="U1") as session:
        say(session, ".")
        found_records(session, typed)
        view = session.take([Key("end")], 2.0).view
        assert isinstance(view, ListView)
        assert view.numbered_rows == 0, "a number would be one more of these words"
        if ended_by == "line":
            frame = say(session, typed)
        else:
            frame = session.take([Key(f"{ROW_KEY}{view.cursor}"), Key("enter")], 3.0)
            assert session.take([OpenLine(f"{typed}x")], 4.0).typed == "x"
        assert session.stack.top.job.name in ("order", "look_up")
        assert frame.typed == ""


def test_a_scan_after_a_row_was_chosen_is_for_the_page_below(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, ".")
        found_records(session, "oka")
        session.take([Key("end"), OpenLine("")], 2.0)
        assert say(session, "4101").view.name.startswith("pick")


@pytest.mark.parametrize("found", ["number", "words"])
def test_quit_is_asked_about_and_stands_behind_records(home: StoreFolder, found: str) -> None:
    with at(home, user="U1") as session:
        session.terminal.message_text = spoken
        session.resize(90, 60)
        frame = say(session, ".")
        frame = say(session, "quit" if found == "words" else str(rows(frame).index("hint.quit") + 1))
        assert (told(frame), session.is_ending) == ((ASK, "palette.quit_again"), False)
        assert rows(frame) == ["hint.quit"]
        say(session, "1")
        assert session.is_ending
