"""Settings that change while a session runs: seen with the next look, said once, applied where that can be."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import date
from itertools import count
from pathlib import Path

import pytest

from aisle.barcode_numbers import check_digit
from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.errors import SettingsError, StorageError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs import store_time
from aisle.jobs.view import GOOD, INFO, WRONG, Frame, Verdict, msg
from aisle.outbox.operation_queue import open_outbox
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.profile import SettingsWatch, profile_from_settings
from aisle.session.session import Session, open_session
from aisle.settings.load_settings import load_settings
from aisle.settings.parse_settings_file import save_last_valid
from aisle.settings.setting_definitions import LANGUAGES, LOSS_REASONS, REJECTION_REASONS, SHORTAGE_REASONS, Settings
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.copied_databases import copied_home
from tests.session.polling import rested
from tests.session.test_help_and_palette import spoken

EAN, OTHER = "4006381333931", "5901234123457"
CHEESE = "281234501234" + check_digit("281234501234")
_moments = count(1)


def filled(cache: CacheWriter) -> None:
    """A home with two orders in its cache, and a store that names one pool."""
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cache.write_products(
        [
            service_rows.product("P1", "Tea", EAN),
            service_rows.product("P2", "Milk", OTHER),
            service_rows.product("P3", "Cheese", "2812345000007", allow_decimal=True),
        ]
    )
    cache.write_stock([service_rows.stock(f"P{n}", 20, places={f"A-{n}": 20}) for n in (1, 2, 3)])
    cache.write_locations([service_rows.location(f"A-{n}", n) for n in (1, 2, 3)])
    cache.write_stores([{"storeName": "One", "storeNo": "0001", "storeStockPool1": "Floor"}])
    lines = [service_rows.line(n, f"P{n}", 2, preferred_location_code=f"A-{n}") for n in (1, 2)]
    cache.write_orders(
        [service_rows.order("4101", *lines), service_rows.order("4102", *lines)], lines_known=True, read_began=1.0
    )
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


def write(home: StoreFolder, text: str) -> None:
    """Changes the settings file, at a moment of its own."""
    path = home.root / "settings.toml"
    path.write_text(text)
    at = next(_moments) * 1_000_000_000
    os.utime(path, ns=(at, at))


@contextmanager
def at(home: StoreFolder) -> Iterator[Session]:
    """A session of Anna's with the settings of the file."""
    loaded = load_settings({"user": "U1", "terminal": "dock"})
    session = open_session(home, loaded.settings, loaded=loaded)
    try:
        session.start()
        yield session
    finally:
        session.close()


def say(session: Session, *texts: str) -> Frame:
    """Lines in one drained queue."""
    return session.take([Line(text, "cr", 0.0, 0.0, 0.0) for text in texts], 0.0)


def told(frame: Frame | None) -> tuple[str, str]:
    """Kind of the verdict and its sentence."""
    assert frame is not None
    return (frame.verdict.kind, MessageWriter().write(frame.verdict.text)) if frame.verdict else ("", "")


def test_what_has_changed_is_said_once_and_in_force_at_once(home: StoreFolder) -> None:
    with at(home) as session:
        before = told(session.poll())
        write(home, "verified = true\n")
        assert told(session.poll()) == (INFO, "Settings changed: verified picking is on")
        assert session.bells == 0
        frame = say(session, "4101")
        assert frame.view.name == "pick.location"
        assert told(session.poll()) == told(frame) != before
        write(home, 'verified = true\nblind = true\nreasons = ["7 - Lost"]\nrecount_units = 3\nrecount_value = 0\n')
        assert told(session.poll()) == told(frame), "what a scan was just answered with is not hidden"
        text = told(rested(session))[1]
        assert text.startswith("Settings changed: blind counts are on; new limits for recounts; new reasons · ")
        assert text.endswith(told(frame)[1])
        write(home, "")
        assert "verified picking is off; blind counts are off" in told(session.poll())[1]


def test_a_language_is_spoken_as_soon_as_it_is_set(home: StoreFolder) -> None:
    with at(home) as session:
        assert say(session).language == "en"
        write(home, 'language = "de"\n')
        frame = session.poll()
        assert frame is not None
        assert frame.verdict is not None
        assert frame.language == "de"
        assert MessageWriter(language="de").write(frame.verdict.text) == "Einstellungen geändert: auf Deutsch"
        assert say(session, "4101").language == "de"
        write(home, 'language = "de"\n[device."dock"]\nlanguage = "nl"\n')
        assert session.poll().language == "nl"  # type: ignore[union-attr]
    with at(home) as session:
        assert say(session).language == "nl"


def test_chosen_language_survives_restart_and_settings_change(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether somebody signs in or the terminal is his already; where it cannot be read, in that of the settings."""
    with at(home) as session:
        session.terminal.message_text = spoken
        assert say(session, ".", "deutsch").language == "de"
    with at(home) as session:
        assert say(session).language == "de"
        write(home, 'language = "nl"\nverified = true\n')
        assert (session.poll() or say(session)).language == "de"
        assert say(session, "o").language == "nl"
    with at(home) as session:
        assert say(session).language == "de"
    with monkeypatch.context() as broken, at(home) as session:
        broken.setattr(session.store.reader, "query", unread)
        session.sign_in.use_preferences_of("U1")
    with closing(open_outbox(home.folder)) as outbox:
        outbox.execute("UPDATE local_note SET text = 'tlh' WHERE topic = 'language'")
    with at(home) as session:
        assert say(session).language == "nl"


def unread(*_: object) -> None:
    """Nothing can be read."""
    raise StorageError("The disk is broken.")


def test_default_reasons_use_terminal_language() -> None:
    """Codes and what they do to the stock are the same; a store's own words stay as they are."""
    for language in LANGUAGES[1:]:
        policy = profile_from_settings(Settings(language=language)).policy
        for ours, known in (
            (policy.adjustment_reasons, LOSS_REASONS),
            (policy.short_reasons, SHORTAGE_REASONS),
            (policy.rejection_reasons, REJECTION_REASONS),
        ):
            assert [_coded(text) for text in ours] == [_coded(text) for text in known]
            assert not set(ours) & set(known)
        own = profile_from_settings(
            Settings(language=language, reasons=("7 - Lost",), short_reasons=("30 Gone",))
        ).policy
        assert (own.adjustment_reasons, own.short_reasons) == (("7 - Lost",), ("30 Gone",))
    assert profile_from_settings(Settings()).policy.adjustment_reasons == LOSS_REASONS


def _coded(text: str) -> str:
    found = re.match(r"\d+( [-+0])?(?= )", text)
    assert found, text
    return found[0]


def test_a_device_hears_of_its_own_section_only(home: StoreFolder) -> None:
    with at(home) as session:
        write(home, '[device."till"]\nverified = true\n[store."0002"]\nblind = true\n')
        assert "Settings" not in told(session.poll())[1]
        write(home, '[device."do*"]\nverified = true\n')
        assert told(session.poll())[1] == "Settings changed: verified picking is on"


def test_what_needs_a_new_start_is_said_and_left_alone(home: StoreFolder) -> None:
    with at(home) as session:
        write(home, 'store = "0002"\nrich = true\nblind = true\n')
        assert told(session.poll()) == (
            INFO,
            "Settings changed: blind counts are on; after a restart: store, rich",
        )
        assert session.frames.build().store == "0001"
        assert say(session, "4101").view.name == "pick.product"


def test_another_time_zone_of_the_store_is_in_force_at_once(home: StoreFolder, in_zone: Callable[[str], None]) -> None:
    in_zone("UTC")
    now = "2026-11-27T17:00:00Z"
    with at(home) as session:
        for text, day in (('time_zone = "Asia/Tokyo"\n', date(2026, 11, 28)), ("", date(2026, 11, 27))):
            write(home, text)
            assert told(session.poll()) == (INFO, "Settings changed: new time_zone")
            assert store_time.day_in_store(now) == day
        write(home, 'time_zone = "Asia/Tokyo"\n[store."0001"]\ntime_zone = "America/Los_Angeles"\n')
        session.poll()
        assert str(store_time.parse_time(now)) == "2026-11-27 09:00:00-08:00"
        write(home, 'time_zone = "Asia/Nowhere"\n')
        assert "settings.toml" in told(session.poll())[1]
        assert str(store_time.parse_time(now)) == "2026-11-27 09:00:00-08:00"


@pytest.mark.parametrize("wrong", ["verifed = true", "verified = 1", "verified = ", 'restricted_codes = ["28"]'])
def test_a_file_with_an_error_changes_nothing_and_is_told_once(home: StoreFolder, wrong: str) -> None:
    write(home, "verified = true\n")
    with at(home) as session:
        write(home, wrong)
        kind, text = told(session.poll())
        assert kind == INFO
        assert text.startswith("Settings not changed: ")
        assert "settings.toml" in text
        assert str(home.root) not in text
        frame = say(session, "4101")
        assert frame.view.name == "pick.location"
        assert told(session.poll()) == told(frame)
        write(home, "verified = true\n")
        kind, text = told(rested(session))
        assert (kind, text.split(" · ")[0]) == (INFO, "The settings file is correct again")


def test_what_is_wrong_or_asked_stays_until_somebody_does_something(home: StoreFolder) -> None:
    write(home, "verified = true\n")
    with at(home) as session:
        asked = told(say(session, "4101", EAN, "rubbish"))
        assert asked[0] == WRONG
        write(home, "verified = ")
        assert told(rested(session)) == asked
        assert told(rested(session)) == asked
        assert told(say(session, "A-1"))[0] == GOOD
        assert told(rested(session))[1].startswith("Settings not changed: ")
        write(home, "verified = true\n")
        asked = told(say(session, "rubbish"))
        assert told(rested(session)) == asked
        say(session, EAN)
        assert told(rested(session))[1].startswith("The settings file is correct again")


def test_a_file_that_goes_leaves_the_defaults(home: StoreFolder) -> None:
    write(home, "blind = true")
    with at(home) as session:
        (home.root / "settings.toml").unlink()
        assert told(session.poll())[1] == "Settings changed: blind counts are off"


def test_only_a_changed_file_is_read(home: StoreFolder) -> None:
    read: list[object] = []

    def again(given: object) -> LoadedSettings:
        read.append(given)
        raise SettingsError("wrong")

    write(home, "blind = true")
    watch = SettingsWatch(load_settings({"user": "U1"}), again)
    assert [watch.check() for _ in range(3)] == [None, None, None]
    write(home, "blind = false")
    assert watch.check() is not None
    assert watch.check() is None
    assert read == [{"user": "U1"}]


def test_in_store_codes_are_read_by_the_new_table(home: StoreFolder) -> None:
    with at(home) as session:
        assert told(say(session, "?" + CHEESE))[0] == WRONG
        write(home, 'restricted_codes = ["28IIIIIWWWWWC"]')
        assert told(rested(session))[0] == WRONG, "what was wrong stays on the screen"
        assert say(session, "?" + CHEESE).view.name.startswith("look_up")
        assert told(rested(session))[1].startswith("Settings changed: new restricted_codes")


def test_the_bell_of_good_scans_is_turned_on(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "4101")
        assert session.bells == 0
        write(home, "bell_good = true")
        session.poll()
        say(session, EAN)
        assert session.bells == 1


def pools_of(session: Session) -> list[str]:
    """The pools that a job is told of."""
    rows, _ = session.store.reader.query("store", {})
    return [f"{number} {name}" for number, name in rows[0]["pools"].items()] if rows else []


def test_pools_in_use_have_the_names_that_the_store_gives_them(home: StoreFolder) -> None:
    with at(home) as session:
        assert pools_of(session) == ["1 Floor"]
        write(home, 'pools = ["1 Shop", "2 Backroom"]')
        assert told(session.poll())[1] == "Settings changed: new pools"
        assert pools_of(session) == ["1 Floor", "2 Backroom"]
    with at(home) as session:
        assert pools_of(session) == ["1 Floor", "2 Backroom"]
        reads = session.store.reader
        assert reads.query("store", {"store_number": "0009"}) == ([], 0)


def test_a_store_that_nobody_has_read_yet_has_the_pools_of_the_settings(home: StoreFolder) -> None:
    write(home, 'pools = ["3 Web"]')
    (home.folder / "cache.db").unlink()
    with at(home) as session:
        assert session.store.reader.query("store", {})[0][0]["pools"] == {"3": "Web"}


def test_a_look_names_pools_by_the_store_then_by_the_settings(home: StoreFolder) -> None:
    write(home, 'pools = ["1 Shop", "2 Backroom"]')
    with closing(open_cache(home.folder, writer=True)) as cache:
        CacheWriter(cache, "0001").write_stock(
            [service_rows.stock("P1", 9, most_likely_pool_1=4, most_likely_pool_2=3, most_likely_pool_5=2)]
        )
    with at(home) as session:
        rows, _ = session.store.reader.query("product", {"product_number": "P1"})
        assert [(pool["pool"], pool["name"]) for pool in rows[0]["pools"]] == [(1, "Floor"), (2, "Backroom"), (5, "")]


def test_session_starting_with_wrong_settings_file_reports_and_works(home: StoreFolder) -> None:
    write(home, "verified = true\n")
    save_last_valid(load_settings({}))
    write(home, "blind = true\nverified = \n")
    with at(home) as session:
        assert told(session.poll()) == (
            INFO,
            "Settings not changed: settings.toml:2 has a mistake. aisle doctor says where",
        )
        assert told(session.poll())[0] == INFO
        say(session, "4101")
        assert session.frames.build().view.name == "pick.location", "verified, as before"
        write(home, "verified = true\n")
        assert told(rested(session))[1].startswith("The settings file is correct again")
    write(home, "verified = false\nx = 1\n")
    assert load_settings({}).settings.verified


def test_what_was_right_while_a_session_ran_is_what_the_next_begins_with(home: StoreFolder) -> None:
    write(home, "verified = false\n")
    with at(home) as session:
        write(home, "verified = true\n")
        session.poll()
    write(home, "verified = ")
    with at(home) as session:
        say(session, "4101")
        assert session.frames.build().view.name == "pick.location"


def test_a_date_far_from_the_day_of_the_session_has_its_year(home: StoreFolder) -> None:
    with at(home) as session:
        before, frame = date.today(), say(session)
        assert frame.today in (before, date.today())
        for day, words in (("2099-12-31", "31 Dec 2099"), (before.isoformat(), f"{before:%-d %b}")):
            shown = layout_screen(frame._replace(verdict=Verdict(INFO, msg("moment", at=day))), 80, 24)
            assert any(line.strip().endswith(words) for line in plain_lines(shown))
