"""Profile in force at a terminal: its settings, what its user chose, and the settings of another store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.jobs.job import SetPreference
from aisle.session.profile_from_settings import Profile
from aisle.settings.process_time_zone import set_process_zone
from aisle.settings.setting_definitions import LANGUAGES, THEMES

if TYPE_CHECKING:
    from aisle.session.watch_settings_files import SettingsWatch


class _Snapshot(NamedTuple):
    current: Profile
    overridden: Mapping[str, Any]
    watch: SettingsWatch | None


class ProfileInForce:
    """Profile of the terminal with the language and theme that its user chose, and the watcher of its settings."""

    def __init__(self, profile: Profile, watch: SettingsWatch | None = None) -> None:
        self.current = profile
        self.watch = watch
        self._overridden: Mapping[str, Any] = {}
        """Values from the settings of what the user has changed."""
        set_process_zone(profile.time_zone)

    @property
    def personal_values(self) -> Mapping[str, str]:
        """Return the settings that the user chose, by name."""
        return {name: getattr(self.current, name) for name in self._overridden}

    def personalise(self, preference: SetPreference) -> None:
        """Change a setting for the user who is signed in."""
        name = preference.name
        values: dict[str, Any] = {name: preference.value}
        self._overridden = {name: getattr(self.current, name), **self._overridden}
        self.current = self.current._replace(**values)

    def use_preferences(self, language: str, theme: str) -> None:
        """Use the language and the theme that the user chose earlier, if there still are any of these names."""
        if language in LANGUAGES:
            self.personalise(SetPreference("language", language))
        if theme in THEMES:
            self.personalise(SetPreference("theme", theme))

    def reset_personal(self) -> None:
        """Go back to the settings: another person uses the terminal."""
        self.current, self._overridden = self.current._replace(**self._overridden), {}

    def apply_settings(self, profile: Profile) -> None:
        """Apply new settings, which replace the user's choices."""
        self.current, self._overridden = self.current.with_settings(profile), {}

    def move_to(self, profile: Profile, watch: SettingsWatch | None) -> None:
        """Use the settings of another store at the same terminal; the user's choices stay."""
        values = {name: getattr(self.current, name) for name in self._overridden}
        self._overridden = {name: getattr(profile, name) for name in self._overridden}
        self.current = profile._replace(terminal=self.current.terminal, **values)
        self.watch = watch
        set_process_zone(self.current.time_zone)

    def snapshot(self) -> _Snapshot:
        """Return the state to go back to with `restore`."""
        return _Snapshot(self.current, self._overridden, self.watch)

    def restore(self, snapshot: _Snapshot) -> None:
        """Go back to a snapshot."""
        self.current, self._overridden, self.watch = snapshot
        set_process_zone(self.current.time_zone)
