"""What is there and cannot be read is not the same as nothing: nobody works in the demo store by mistake."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aisle.cli import main
from aisle.errors import SettingsError
from aisle.settings.load_settings import load_settings
from aisle.settings.parse_settings_file import read_settings_file, save_last_valid
from aisle.settings.settings_files_and_folders import find_data_folder

GOOD = 'store = "0042"\nverified = true\n'


def _loop(file: Path) -> None:
    file.symlink_to(file)


def _dangling(file: Path) -> None:
    file.symlink_to(file.with_name("not-mounted"))


def _folder(file: Path) -> None:
    file.mkdir()


@pytest.mark.parametrize("make", [_loop, _dangling, _folder])
def test_a_file_that_nobody_can_look_at_may_say_anything(tmp_path: Path, make: Callable[[Path], None]) -> None:
    environ, file = {"AISLE_HOME": str(tmp_path)}, tmp_path / "settings.toml"
    make(file)
    with pytest.raises(SettingsError, match=r"cannot be (read|trusted)") as raised:
        load_settings({}, environ)
    assert str(file) in str(raised.value)
    assert load_settings({}, environ, strict=False).settings.store == "0001"
    file.unlink() if file.is_symlink() else file.rmdir()
    file.write_text(GOOD)
    save_last_valid(load_settings({}, environ))
    file.unlink()
    make(file)
    loaded = load_settings({}, environ)
    assert (loaded.settings.store, loaded.settings.verified) == ("0042", True), "it is as it was"
    assert "cannot be read" in loaded.problems[0] or "cannot be trusted" in loaded.problems[0]


def test_inaccessible_folder_is_reported_with_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.toml"

    def shut(path: object, *_args: object, **_options: object) -> object:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "stat", shut)
    monkeypatch.setattr(Path, "read_text", shut)
    with pytest.raises(SettingsError, match=r"Permission denied\. Let this account read it"):
        load_settings({}, {"AISLE_HOME": str(tmp_path)})
    assert str(file) in read_settings_file(file).problems[0]


def test_byte_order_mark_and_crlf_are_accepted(tmp_path: Path) -> None:
    environ, file = {"AISLE_HOME": str(tmp_path)}, tmp_path / "settings.toml"
    file.write_text(GOOD.replace("\n", "\r\n"), encoding="utf-8-sig", newline="")
    loaded = load_settings({}, environ)
    assert (loaded.settings.store, loaded.settings.verified) == ("0042", True)
    save_last_valid(loaded)
    file.write_text("verified = ")
    assert load_settings({}, environ).settings.store == "0042"


def test_a_file_in_another_encoding_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('store = "0042"\npools = ["1 Größe"]\n', encoding="latin-1")
    with pytest.raises(SettingsError, match=r"not in UTF-8 \(at line 2\). Save it in UTF-8"):
        load_settings({}, {"AISLE_HOME": str(tmp_path)})


def test_a_store_without_a_number_is_none(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('store = ""')
    environ = {"AISLE_HOME": str(tmp_path)}
    with pytest.raises(SettingsError, match=r"store in .*settings.toml is empty; it takes the number of a store"):
        load_settings({}, environ)
    with pytest.raises(SettingsError, match="store in the command line is empty"):
        load_settings({"store": " "}, environ)


def test_a_home_that_nobody_knows_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="AISLE_HOME is '~nobody-has-this-name/x', and nobody knows"):
        load_settings({}, {"AISLE_HOME": "~nobody-has-this-name/x"})

    def none(*_args: object, **_options: object) -> Path:
        raise RuntimeError("could not determine the home directory")

    for find in (none, lambda *_args, **_options: Path("~/.local/share/aisle")):
        monkeypatch.setattr("platformdirs.user_data_path", find)
        with pytest.raises(SettingsError, match=r"no home for its settings and its data\. Set AISLE_HOME"):
            find_data_folder({})


@pytest.mark.parametrize("command", [[], ["doctor"], ["outbox"]])
def test_a_home_that_nobody_knows_is_no_traceback(
    command: list[str], aisle_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AISLE_HOME", "~nobody-has-this-name/x")
    assert main(command) == 2
    assert "Set AISLE_HOME to a folder" in capsys.readouterr().err
