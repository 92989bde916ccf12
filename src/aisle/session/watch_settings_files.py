"""Watcher of the settings files of a terminal, and what it says about a change."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aisle.errors import SettingsError
from aisle.jobs.view import INFO, Msg, Verdict, msg
from aisle.session.profile_from_settings import POLICY_SETTINGS, Profile, profile_from_settings
from aisle.settings.load_settings import load_settings
from aisle.settings.process_time_zone import set_process_zone
from aisle.settings.setting_definitions import Settings
from aisle.settings.settings_files_and_folders import LoadedSettings, file_stamps

APPLIED_AT_ONCE = (
    *POLICY_SETTINGS,
    "bell_good",
    "restricted_codes",
    "pools",
    "language",
    "time_zone",
    "theme",
    "keys",
)
"""Settings that take effect as soon as they are read; all others at the next start."""

_SWITCH_MESSAGES = {
    "verified": ("settings.verified_on", "settings.verified_off"),
    "blind": ("settings.blind_on", "settings.blind_off"),
    "bell_good": ("settings.bell_on", "settings.bell_off"),
}

_RECOUNT_PREFIX = "recount_"


class ProfileChange(NamedTuple):
    """Effect of a changed settings file."""

    verdict: Verdict
    profile: Profile | None = None
    """None where the current profile stays in force."""


class SettingsWatch:
    """Watcher of the files that settings were loaded from. `reload` loads them again."""

    def __init__(
        self, loaded: LoadedSettings, reload: Callable[[Mapping[str, Any]], LoadedSettings] = load_settings
    ) -> None:
        self._loaded = loaded
        self._reload = reload
        self._stamps = loaded.stamps
        self._is_error_reported = False
        """Whether the error of the current file was reported."""
        self.unreported: Verdict | None = None
        """Verdict on the last change until it is shown."""

    def check(self) -> ProfileChange | None:
        """Return what has changed since the last check if people should know it. The first one reports errors too."""
        if self._loaded.problems and not self._is_error_reported:
            return self._report_error(self._loaded.problems[0])
        stamps = file_stamps(self._loaded.files)
        if stamps == self._stamps:
            return None
        self._stamps = stamps
        try:
            loaded = self._reload(self._loaded.command_line_values)
            profile = profile_from_settings(loaded.settings, loaded.sources)
            if not loaded.problems:
                set_process_zone(profile.time_zone)
        except SettingsError as error:
            return self._report_error(str(error))
        if loaded.problems:
            return self._report_error(loaded.problems[0])
        from aisle.settings.parse_settings_file import save_last_valid  # hardly ever, and no start pays for it

        save_last_valid(loaded)
        changes = _describe_changes(self._loaded.settings, loaded.settings)
        is_repaired, self._is_error_reported = self._is_error_reported, False
        self._loaded = loaded
        if not changes and not is_repaired:
            return None
        return ProfileChange(Verdict(INFO, changes or msg("settings.fixed")), profile)

    def _report_error(self, error: str) -> ProfileChange:
        self._is_error_reported = True
        return ProfileChange(Verdict(INFO, msg("settings.wrong", file=self._file_and_line(error))))

    def _file_and_line(self, error: str) -> str:
        """Return the name of the file with the error, and its line; `aisle doctor` says what is wrong."""
        named = next((path.name for path in self._loaded.files if str(path) in error), "settings.toml")
        line = re.search(r"\(at\sline\s(\d+)", error)
        return f"{named}:{line[1]}" if line else named


def _describe_changes(old: Settings, new: Settings) -> Msg | None:
    """Return a sentence on what has changed; None if nothing has."""
    changed = [name for name in Settings._fields if getattr(old, name) != getattr(new, name)]
    parts = list(
        dict.fromkeys(_describe_change(name, bool(getattr(new, name))) for name in changed if name in APPLIED_AT_ONCE)
    )
    at_restart = ", ".join(name for name in changed if name not in APPLIED_AT_ONCE)
    if at_restart:
        parts.append(msg("settings.restart", names=at_restart))
    if not parts:
        return None
    text = parts.pop()
    for part in reversed(parts):
        text = msg("store_product.join", one=part, other=text)
    return msg("settings.changed", what=text)


def _describe_change(name: str, on: bool) -> Msg:
    if name in _SWITCH_MESSAGES:
        return msg(_SWITCH_MESSAGES[name][0 if on else 1])
    if name == "language":
        return msg("settings.language")
    return msg("settings.recounts") if name.startswith(_RECOUNT_PREFIX) else msg("settings.new_value", name=name)
