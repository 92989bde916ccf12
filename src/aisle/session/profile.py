"""Profile of a terminal: made from its settings, in force for its user and store, remade when the files change."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aisle.errors import SettingsError
from aisle.jobs.job import Policy, SetPreference
from aisle.jobs.view import INFO, Msg, Verdict, msg
from aisle.scan.codes_of_store_and_suppliers import InStorePattern, compile_patterns
from aisle.settings.load_settings import load_settings
from aisle.settings.process_time_zone import set_process_zone
from aisle.settings.setting_definitions import (
    ENGLISH,
    LANGUAGES,
    REASONS_BY_LANGUAGE,
    THEMES,
    Settings,
    effective_language,
    parse_pool_names,
)
from aisle.settings.settings_files_and_folders import LoadedSettings, file_stamps
from aisle.settings.terminal_name import terminal_assigned_at, terminal_name


class Profile(NamedTuple):
    """Settings of one terminal as a session uses them."""

    store: str
    terminal: str
    user: str = ""
    policy: Policy = Policy()
    rings_when_good: bool = False
    in_store_patterns: tuple[InStorePattern, ...] = ()
    """In-store codes that carry weight or price."""
    pools: Mapping[int, str] = {}
    """Names of the stock pools in use; empty where the store names them."""
    token_file: str = ""
    """Path of the service's token; empty where the store issues its own."""

    may_export: bool = True
    """Whether files may be written; not at a terminal that shows nothing but aisle."""

    language: str = ENGLISH
    """Language of the screen."""

    time_zone: str = ""
    """Time zone of the store; empty for that of the host."""

    theme: str = ""
    """Name of the colour theme; empty for the sixteen colours of the terminal."""

    terminal_since: float = 0.0
    """Moment when this terminal got its name: earlier sign-ins under the name were at another one."""

    letter_by_key: Mapping[str, str] = {}
    """Command letters by the keys that were assigned to them."""

    names_by_letter: Mapping[str, str] = {}
    """Key names by the command letters that have another key here."""

    def with_settings(self, profile: Profile) -> Profile:
        """Return this profile with the settings of another one that may change while a session runs."""
        return profile._replace(
            store=self.store,
            terminal=self.terminal,
            terminal_since=self.terminal_since,
            user=self.user,
            token_file=self.token_file,
            may_export=self.may_export,
        )


POLICY_SETTINGS = (
    "verified",
    "blind",
    "known_people_only",
    "recount_units",
    "recount_share",
    "recount_value",
    "large_quantity",
    "stuck_minutes",
    "reasons",
    "short_reasons",
    "receiving_place",
    "reject_reasons",
    "expiry_check_days_before",
    "expiry_far_days",
    "expiry_discount_days",
    "check_hand_over",
    "pickup_days",
    "weight_tolerance",
    "verify_totes",
)
"""Settings of the fields of `Policy`, in their order."""


def profile_from_settings(settings: Settings, sources: Mapping[str, str] | None = None) -> Profile:
    """Return the profile of these settings. Raise SettingsError for an invalid pattern of in-store codes."""
    try:
        patterns = compile_patterns(settings.restricted_codes)
    except ValueError as error:
        source = (sources or {}).get("restricted_codes", "")
        raise SettingsError(f"restricted_codes{' in ' * bool(source)}{source}: {error}.") from error
    language = effective_language(settings) or ENGLISH
    profile = Profile(
        store=settings.store,
        terminal=terminal_name(settings),
        terminal_since=terminal_assigned_at(settings),
        user=settings.user,
        policy=_policy_from_settings(settings, language),
        rings_when_good=settings.bell_good,
        in_store_patterns=patterns,
        pools=parse_pool_names(settings.pools),
        token_file=settings.token_file,
        may_export=not settings.kiosk,
        language=language,
        time_zone=settings.time_zone,
        theme=settings.theme,
    )
    return _with_key_bindings(profile, settings.keys)


def _with_key_bindings(profile: Profile, texts: tuple[str, ...]) -> Profile:
    """Add the keys that are assigned to another command; load their parser only if there are any."""
    if not texts:
        return profile
    from aisle.settings.key_bindings import keys_by_letter, letters_by_key

    return profile._replace(letter_by_key=letters_by_key(texts), names_by_letter=keys_by_letter(texts))


def _policy_from_settings(settings: Settings, language: str) -> Policy:
    """Return the policy of the store; default reasons are in the language of the terminal."""
    policy = Policy(*(getattr(settings, name) for name in POLICY_SETTINGS))
    if language == ENGLISH:
        return policy
    own = REASONS_BY_LANGUAGE[language]._asdict().items()
    defaults = REASONS_BY_LANGUAGE[ENGLISH]
    return policy._replace(**{name: text for name, text in own if getattr(policy, name) == getattr(defaults, name)})


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
