"""Where settings come from, and what is said when one is wrong."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aisle.client.sign_in_and_token_file import read_token
from aisle.errors import SettingsError, UsageError
from aisle.scan.codes_of_store_and_suppliers import compile_patterns
from aisle.session.profile import profile_from_settings
from aisle.settings.load_settings import load_settings
from aisle.settings.parse_settings_file import LAST_VALID_FILE, load_last_valid, read_settings_file, save_last_valid
from aisle.settings.setting_definitions import (
    EMBEDDED,
    Settings,
    effective_language,
    parse_pool_names,
    service_url,
    validate_setting,
)
from aisle.settings.settings_files_and_folders import file_stamps, find_data_folder
from aisle.settings.terminal_name import terminal_assigned_at, terminal_name


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a settings file."""
    (tmp_path / "settings.toml").write_text('store = "0042"\nverified = true\nrestricted_codes = ["28IIIIIWWWWWC"]\n')
    return tmp_path


def test_without_anything_the_embedded_store_is_used(tmp_path: Path) -> None:
    loaded = load_settings({}, {"AISLE_HOME": str(tmp_path)})
    assert loaded.settings == Settings()
    assert service_url(loaded.settings) == EMBEDDED
    assert loaded.data_folder == tmp_path


def test_the_command_line_beats_variables_and_these_beat_the_file(home: Path) -> None:
    environ = {"AISLE_HOME": str(home), "AISLE_USER": "ann", "AISLE_VERIFIED": "no"}
    assert load_settings({}, {"AISLE_HOME": str(home)}).settings[:1] == ("0042",)
    settings = load_settings({"user": "bob", "store": None}, environ).settings
    assert (settings.store, settings.user, settings.verified) == ("0042", "bob", False)
    assert settings.restricted_codes == ("28IIIIIWWWWWC",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stoer = '1'", "did you mean 'store'"),
        ("store = 1", "it takes a text"),
        ("verified = 'yes'", "it takes true or false"),
        ("language = 'german'", "it takes en, nl, de, fr."),
        ("restricted_codes = 'x'", "it takes a list of texts"),
        ("store = ", "cannot be read"),
        ("weight_tolerance = 51", "weight_tolerance in .* is 51; it takes a number from 0 to 50"),
        ("recount_units = -1", "recount_units in .* is -1; it takes a number from 0 on"),
    ],
)
def test_a_wrong_settings_file_is_named_with_its_key(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(SettingsError, match=says) as raised:
        load_settings({}, {"AISLE_HOME": str(tmp_path)})
    assert str(tmp_path / "settings.toml") in str(raised.value)


SECTIONS = """
verified = false
pools = ["1 Shop"]
[store]
number = "0042"
[store."0042"]
verified = true
blind = true
[store."0043"]
recount_units = 3
[device."handheld-*"]
bell_good = true
blind = false
[device."handheld-7"]
recount_units = 7
[device."handheld-?"]
recount_units = 1
[device."till"]
store = "0043"
[device."ssh-10.1.*"]
rich = true
[terminals]
"10.9.0.1" = "handheld-9"
"""


@pytest.fixture
def sections(tmp_path: Path) -> Path:
    """A folder with a settings file of all sections."""
    (tmp_path / "settings.toml").write_text(SECTIONS)
    return tmp_path


def test_the_device_beats_the_store_and_the_store_the_top(sections: Path) -> None:
    file, environ = sections / "settings.toml", {"AISLE_HOME": str(sections)}
    loaded = load_settings({"terminal": "handheld-7"}, environ)
    settings = loaded.settings
    assert (settings.store, settings.verified, settings.blind, settings.bell_good) == ("0042", True, False, True)
    assert settings.recount_units == 7  # an exact name beats patterns, wherever it stands
    assert settings.pools == ("1 Shop",)
    assert loaded.sources == {
        "terminal": "the command line",
        "store": str(file),
        "pools": str(file),
        "verified": f'{file} [store."0042"]',
        "bell_good": f'{file} [device."handheld-*"]',
        "blind": f'{file} [device."handheld-*"]',
        "recount_units": f'{file} [device."handheld-7"]',
    }
    assert load_settings({"terminal": "handheld-8"}, environ).settings.recount_units == 1
    assert load_settings({"terminal": "dock"}, environ).settings.blind
    beaten = load_settings({"blind": False}, {**environ, "AISLE_VERIFIED": "no"})
    assert (beaten.settings.blind, beaten.settings.verified) == (False, False)
    assert beaten.sources["verified"] == "AISLE_VERIFIED"


def test_a_store_and_a_device_say_whether_totes_are_verified(tmp_path: Path) -> None:
    environ = {"AISLE_HOME": str(tmp_path)}
    (tmp_path / "settings.toml").write_text(
        '[store]\nnumber = "0042"\n[store."0042"]\nverify_totes = true\n[device."desk"]\nverify_totes = false\n'
    )
    assert not Settings().verify_totes
    assert load_settings({"terminal": "handheld-1"}, environ).settings.verify_totes
    assert not load_settings({"terminal": "desk"}, environ).settings.verify_totes
    assert load_settings({"terminal": "desk"}, {**environ, "AISLE_VERIFY_TOTES": "true"}).settings.verify_totes
    profile = profile_from_settings(load_settings({"terminal": "handheld-1"}, environ).settings)
    assert profile.policy.verify_totes


def test_a_device_may_say_its_store_and_then_has_that_stores_section(sections: Path) -> None:
    settings = load_settings({"terminal": "till"}, {"AISLE_HOME": str(sections)}).settings
    assert (settings.store, settings.verified, settings.recount_units) == ("0043", False, Decimal(3))
    settings = load_settings({"terminal": "till", "store": "0042"}, {"AISLE_HOME": str(sections)}).settings
    assert (settings.store, settings.verified) == ("0042", True)


def test_terminals_are_known_by_the_address_of_their_client(sections: Path) -> None:
    environ = {"AISLE_HOME": str(sections), "SSH_CLIENT": "10.9.0.1 5000 22"}
    loaded = load_settings({}, environ)
    assert terminal_name(loaded.settings, environ) == "handheld-9"
    assert loaded.sources["terminal"] == f"{sections / 'settings.toml'} [terminals]"
    assert loaded.settings.bell_good
    assert load_settings({"terminal": "till"}, environ).settings.terminal == "till"
    environ["SSH_CLIENT"] = "10.1.2.3 5000 22"
    unnamed = load_settings({}, environ)
    assert (unnamed.settings.terminal, unnamed.settings.rich) == ("", True)


def test_the_users_file_beats_the_sites_on_each_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site, user = tmp_path / "site.toml", tmp_path / "user.toml"
    site.write_text('verified = true\n[store."0042"]\nblind = true\n')
    user.write_text('store = "0042"\nverified = false\nblind = false\n')
    monkeypatch.setattr("aisle.settings.load_settings.settings_files", lambda environ: (site, user))
    loaded = load_settings({}, {})
    assert (loaded.settings.verified, loaded.settings.blind) == (False, True)
    assert loaded.sources == {"store": str(user), "verified": str(user), "blind": f'{site} [store."0042"]'}
    with user.open("a") as stream:
        stream.write('[device."x"]\nblind = false\n')
    assert not load_settings({"terminal": "x"}, {}).settings.blind


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '[store."0042"]\nverifed = true',
            r'\[store."0042"\] has the unknown key \'verifed\'; did you mean \'verified\'',
        ),
        ('[devise."x"]\nblind = true', "has the unknown section 'devise'; did you mean 'device'"),
        ('[store."0042"]\nstore = "1"', "store cannot be set in"),
        ('[device."x"]\nterminal = "y"', "terminal cannot be set in"),
        ('[device."x"]\nbase_url = "https://y"', "base_url cannot be set in"),
        ('[device."x"]\nblind = 1', r'blind in .*\[device."x"\] is 1; it takes true or false'),
        ("[device]\nblind = true", r"has 'blind' in \[device\]"),
        ("[store]\nblind = true", r"has 'blind' in \[store\]"),
        ("[store]\nnumber = 42", "it takes a text"),
        ('[terminals]\n"10.1.2.3" = 7', "it takes a name"),
        ("terminals = 3", "it is a table"),
        pytest.param('store = "1"\n[store."1"]\nblind = true', 'write number = "…" under', marks=pytest.mark.drawn),
        ("pools = ['Shop']", "pools in .* has 'Shop'; it takes texts such as '1 Shop'"),
        ("pools = ['11 Shop']", "has '11 Shop'"),
        ("reasons = ['1 - Broken', 'Lost']", "has 'Lost'; it takes texts such as '1 - Damaged'"),
        ("blnd = true\nverifed = true", r"'blind'.*\(1 more: aisle doctor\)"),
    ],
)
def test_errors_in_a_section_are_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(SettingsError, match=says) as raised:
        load_settings({}, {"AISLE_HOME": str(tmp_path)})
    assert str(tmp_path / "settings.toml") in str(raised.value)


def test_sections_of_other_stores_are_checked_and_all_errors_found(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('blind = true\nx = 1\n[store."7"]\ny = 1\n[device."7"]\nverified = 1\nrich = true\n')
    found = read_settings_file(file)
    assert len(found.problems) == 3
    assert found.top == {"blind": True}
    assert found.devices == {"7": {"rich": True}}
    assert read_settings_file(tmp_path / "none.toml").problems[0].startswith(f"{tmp_path / 'none.toml'} cannot be read")


def test_lenient_load_keeps_valid_settings(tmp_path: Path) -> None:
    environ = {"AISLE_HOME": str(tmp_path)}
    (tmp_path / "settings.toml").write_text('blnd = true\nverified = true\n[terminals]\n"1.2.3.4" = 5\n')
    loaded = load_settings({"store": "7"}, environ, strict=False)
    assert (loaded.settings.verified, loaded.settings.store) == (True, "7")
    (tmp_path / "settings.toml").write_text("verified = ")
    assert not load_settings({}, environ, strict=False).settings.verified
    with pytest.raises(SettingsError, match="AISLE_RICH"):
        load_settings({}, {**environ, "AISLE_RICH": "maybe"}, strict=False)


GOOD = 'base_url = "https://store.example"\n[store]\nnumber = "0042"\n[store."0042"]\nverified = true\n'


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "verified = \n",
        GOOD.replace("verified", "verifed"),
        GOOD + "[",
        "\udce9",
        'restricted_codes = ["28"]',
        'base_url = "store.example"',
    ],
)
def test_a_file_with_an_error_changes_nothing(tmp_path: Path, text: str, strict: bool) -> None:
    environ, file = {"AISLE_HOME": str(tmp_path)}, tmp_path / "settings.toml"
    file.write_text(GOOD)
    right = load_settings({}, environ)
    save_last_valid(right)
    file.write_bytes(text.encode(errors="surrogateescape"))
    loaded = load_settings({}, environ, strict=strict)
    assert (loaded.settings, loaded.sources) == (right.settings, right.sources)
    assert loaded.settings.store == "0042"
    (problem,) = loaded.problems
    assert str(file) in problem
    save_last_valid(loaded)
    assert load_last_valid(tmp_path) == {str(file): GOOD}
    file.write_text(GOOD.replace("0042", "0043"))
    mended = load_settings({}, environ)
    assert (mended.settings.store, mended.problems) == ("0043", ())
    save_last_valid(mended)
    assert stat.S_IMODE((tmp_path / LAST_VALID_FILE).stat().st_mode) == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {LAST_VALID_FILE, file.name}
    file.write_text(text, errors="surrogateescape")
    assert load_settings({}, environ).settings.store == "0043"


def test_broken_file_after_no_file_counts_as_none(tmp_path: Path) -> None:
    environ = {"AISLE_HOME": str(tmp_path)}
    save_last_valid(load_settings({}, environ))
    (tmp_path / "settings.toml").write_text('store = "0042"\nverified = ')
    loaded = load_settings({}, environ)
    assert loaded.settings == Settings()
    assert "(at line 2, the last)" in loaded.problems[0]


@pytest.mark.parametrize("known", ["", "[]", '{"%s": 1}', '{"%s": "verified = "}'])
def test_broken_file_without_last_valid_is_an_error(tmp_path: Path, known: str) -> None:
    """The demo store, in place of the one that nobody can read of, would be somebody's day of work in the wrong one."""
    environ, file = {"AISLE_HOME": str(tmp_path)}, tmp_path / "settings.toml"
    file.write_text("verified = ")
    if known:
        (tmp_path / LAST_VALID_FILE).write_text(known.replace("%s", str(file)))
    with pytest.raises(SettingsError, match=r"line 1.*Mend the file or move it away"):
        load_settings({}, environ)


def test_settings_changed_since_reading_are_not_saved(tmp_path: Path) -> None:
    environ, file = {"AISLE_HOME": str(tmp_path)}, tmp_path / "settings.toml"
    file.write_text(GOOD)
    loaded = load_settings({}, environ)
    file.write_text("verified = ")
    save_last_valid(loaded)
    assert load_last_valid(tmp_path) is None


@given(st.text("28IWPNXC:3\u0663\n", max_size=16) | st.from_regex(r"[1-3IWX]{10,13}C(:2)?", fullmatch=True))
@example("28IIIIIWWWWWC")
@example("21IIIIIPPPPPC:2")
@example("2IIIIINC")
@example("28IIIIWWWC:2")
@example("28IIIIWWWWC:3")
@example("2IIIIIWC\n")
def test_a_pattern_of_codes_fits_a_file_where_a_session_can_use_it(text: str) -> None:
    try:
        compile_patterns((text,))
    except ValueError:
        with pytest.raises(SettingsError, match="it takes texts such as"):
            validate_setting("restricted_codes", (text,), "settings.toml")
    else:
        assert validate_setting("restricted_codes", (text,), "settings.toml") == (text,)


def test_pools_in_use() -> None:
    assert parse_pool_names(("1 Shop", " 10  Cold store")) == {1: "Shop", 10: "Cold store"}
    assert parse_pool_names(()) == {}


def test_a_changed_file_is_seen_without_opening_it(tmp_path: Path) -> None:
    environ = {"AISLE_HOME": str(tmp_path)}
    loaded = load_settings({}, environ)
    assert loaded.stamps == file_stamps(loaded.files)
    (tmp_path / "settings.toml").write_text("blind = true")
    assert file_stamps(loaded.files) != loaded.stamps
    assert load_settings({}, environ).settings.blind


def test_without_a_file_nothing_that_reads_one_is_loaded(tmp_path: Path) -> None:
    program = (
        "import sys; from aisle.settings.load_settings import load_settings; load_settings({})\n"
        "assert not {'tomllib', 'difflib', 'aisle.settings.parse_settings_file'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"AISLE_HOME": str(tmp_path)})


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="AISLE_RICH is 'maybe'"):
        load_settings({}, {"AISLE_HOME": str(tmp_path), "AISLE_RICH": "maybe"})


def test_a_token_is_read_from_a_file_that_nobody_else_can_read(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("secret\n")
    path.chmod(0o600)
    assert read_token(str(path)) == "secret"
    path.chmod(0o640)
    with pytest.raises(SettingsError, match="chmod 600"):
        read_token(str(path))
    path.chmod(0o600)
    path.write_text("\n")
    with pytest.raises(SettingsError, match="is empty"):
        read_token(str(path))
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(SettingsError, match="cannot be opened"):
        read_token(str(link))
    path.write_bytes(b"sec\xffret\n")
    with pytest.raises(SettingsError, match="no text"):
        read_token(str(path))
    with pytest.raises(SettingsError, match="cannot be read"):
        read_token(str(tmp_path))


def test_a_pipe_in_the_place_of_the_token_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "token"
    os.mkfifo(path, 0o600)
    with pytest.raises(SettingsError, match="is a pipe or a device"):
        read_token(str(path))


def test_a_folder_in_the_place_of_the_token_costs_no_descriptor(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(SettingsError, match="Is a directory"):
            read_token(str(tmp_path))
    assert len(os.listdir("/proc/self/fd")) == before, "a courier asks again and again"


def test_terminals_have_names() -> None:
    def none() -> str:
        raise OSError(25, "Inappropriate ioctl for device")

    assert terminal_name(Settings(), {}, none) == "console"
    assert terminal_name(Settings(), {}, lambda: "/dev/console") == "console"
    assert terminal_name(Settings(), {}, lambda: "/dev/tty1") == "tty1"
    assert terminal_name(Settings(), {}, lambda: "/dev/pts/3") == "pts-3"
    assert terminal_name(Settings(), {"SSH_CLIENT": "10.0.0.7 51234 22"}) == "ssh-10.0.0.7"
    assert terminal_name(Settings(terminal="dock 3"), {"SSH_CLIENT": "10.0.0.7 51234 22"}) == "dock 3"


def test_a_number_that_is_given_out_again_is_a_name_from_then_on_alone() -> None:
    (near, far) = os.openpty()
    try:
        name = os.ttyname(far)
        made = os.stat(name).st_ctime
        os.write(near, b"read and written\n")
        os.read(far, 20)
        assert terminal_assigned_at(Settings(), {}, lambda: name) == made > 0
        assert terminal_assigned_at(Settings(), {"SSH_CLIENT": "10.0.0.7 51234 22"}, lambda: name) == 0
        assert terminal_assigned_at(Settings(terminal="dock 3"), {}, lambda: name) == 0
    finally:
        os.close(near)
        os.close(far)
    assert terminal_assigned_at(Settings(), {}, lambda: "/dev/tty1") == 0
    assert terminal_assigned_at(Settings(), {}, lambda: "/dev/pts/nobody") == 0


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, ""),
        ({"LANG": "C.UTF-8"}, ""),
        ({"LANG": "de_AT.UTF-8"}, "de"),
        ({"LANG": "nl_BE@euro"}, "nl"),
        ({"LANG": "fr"}, "fr"),
        ({"LANG": "dede_DE.UTF-8"}, ""),
        ({"LANG": "da_DK.UTF-8"}, ""),
        ({"LC_MESSAGES": "nl_NL.UTF-8", "LANG": "de_DE.UTF-8"}, "nl"),
        ({"LC_ALL": "en_GB.UTF-8", "LC_MESSAGES": "nl_NL.UTF-8", "LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8"}, ""),
        ({"LC_ALL": "", "LANG": "de_DE.UTF-8"}, "de"),
    ],
)
def test_the_language_is_that_of_the_environment_where_none_is_set(environ: dict[str, str], language: str) -> None:
    assert effective_language(Settings(), environ) == language
    assert effective_language(Settings(language="fr"), environ) == "fr"


def test_an_address_without_a_scheme_is_refused() -> None:
    with pytest.raises(UsageError, match=r"service\.example"):
        service_url(Settings(base_url="service.example"))
    assert service_url(Settings(base_url="https://service.example/")) == "https://service.example"


def test_data_lies_where_platformdirs_says_or_under_one_folder(tmp_path: Path) -> None:
    assert find_data_folder({"AISLE_HOME": str(tmp_path)}) == tmp_path
    assert find_data_folder({}).name == "aisle"


@pytest.mark.parametrize("zone", ["Europe/Amsterdam", "America/Los_Angeles", "Pacific/Kiritimati", "UTC", ""])
def test_the_time_zone_of_the_store_is_a_setting(zone: str, aisle_home: Path) -> None:
    assert load_settings({"time_zone": zone}, {"AISLE_HOME": str(aisle_home)}).settings.time_zone == zone
    assert load_settings({}, {"AISLE_HOME": str(aisle_home), "AISLE_TIME_ZONE": zone}).settings.time_zone == zone


@pytest.mark.parametrize("zone", ["Amsterdam", "CET+1", "Europe/Nowhere", "/etc/passwd", "../UTC", "europe amsterdam"])
def test_what_is_no_time_zone_is_refused(zone: str, aisle_home: Path) -> None:
    with pytest.raises(SettingsError, match=r"time_zone in AISLE_TIME_ZONE is .*Europe/Amsterdam"):
        load_settings({}, {"AISLE_HOME": str(aisle_home), "AISLE_TIME_ZONE": zone})


def test_each_store_has_its_own_time_zone(aisle_home: Path) -> None:
    aisle_home.mkdir(exist_ok=True)
    (aisle_home / "settings.toml").write_text(
        'time_zone = "Europe/Amsterdam"\n[store."0042"]\ntime_zone = "America/Los_Angeles"\n'
    )
    environ = {"AISLE_HOME": str(aisle_home)}
    assert load_settings({"store": "0001"}, environ).settings.time_zone == "Europe/Amsterdam"
    assert load_settings({"store": "0042"}, environ).settings.time_zone == "America/Los_Angeles"
