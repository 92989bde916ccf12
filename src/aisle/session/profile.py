"""What a session is given: its rooms, the terms of its terminal, and what the keys of a terminal stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from aisle.cache.reader import CacheReader
from aisle.errors import SettingsError
from aisle.host.notify_sockets import SessionSocket
from aisle.jobs.job import Policy, SetPreference
from aisle.jobs.view import INFO, Msg, Verdict, msg
from aisle.outbox.journal import Journal
from aisle.outbox.operation_queue import OperationQueue
from aisle.scan.in_store_codes import InStorePattern, compile_patterns
from aisle.scan.meaning import Back, Command, Meaning
from aisle.settings import (
    ENGLISH,
    LANGUAGES,
    LOSS_REASONS,
    SHORTAGE_REASONS,
    LoadedSettings,
    Settings,
    effective_language,
    file_stamps,
    load_settings,
    parse_pool_names,
    terminal_assigned_at,
    terminal_name,
)
from aisle.settings.time_zone import set_process_zone

MEANING_BY_KEY: dict[str, Meaning] = {
    "back": Back(),
    "f1": Command("h"),
    "f2": Command("n"),
    "f3": Back(),
    "f4": Command("u"),
    "f5": Command("."),
}
"""Keys that stand for a command, unless the settings say otherwise; F9 is left out on purpose, some scanners send
it before a code."""

CURSOR_KEYS = frozenset({"up", "down", "pageup", "pagedown", "home", "end", "enter"})

_ROWS_BESIDE_LIST = ((22, 14), (17, 13), (11, 11), (0, 6))
"""(rows of the screen from which, rows that a list screen needs for all but the list)."""

_FOOTER_ROWS = 3
"""Of those, the ones for the commands under a list."""

_MIN_WIDE_COLUMNS, _MIN_WIDE_ROWS = 102, 20
"""From so many columns on they stand beside it; on fewer rows there is nothing to be won."""


class StoreAccess(NamedTuple):
    """What a session works with; opened by aisle.session.session."""

    reader: CacheReader
    journal: Journal
    operations: OperationQueue
    socket: SessionSocket


class ScreenSize(NamedTuple):
    """Columns and rows of a screen, once they are known."""

    columns: int = 0
    rows: int = 0

    @property
    def list_rows(self) -> int:
        """How many rows of a list it shows."""
        return list_height(self.rows) if any(self) else 12

    @property
    def extra_list_rows(self) -> int:
        """How many more of them it shows where commands stand beside the list."""
        return _FOOTER_ROWS if self.columns >= _MIN_WIDE_COLUMNS and self.rows >= _MIN_WIDE_ROWS else 0


class Profile(NamedTuple):
    """What is settled for this terminal before anybody works on it."""

    store: str
    terminal: str
    user: str = ""
    policy: Policy = Policy()
    rings_when_good: bool = False
    in_store_patterns: tuple[InStorePattern, ...] = ()
    """In-store codes that carry weight or price."""
    pools: Mapping[int, str] = {}
    """Stock pools in use, with their names; empty for those that the store names."""
    token_file: str = ""
    """Where the service's token is; empty where the store makes its own."""

    may_export: bool = True
    """Files may be written from here; not at a terminal that shows nothing else than aisle."""

    language: str = ENGLISH
    """What people read here."""

    time_zone: str = ""
    """The zone of the store; empty for that of the host."""

    theme: str = ""
    """How it is coloured; empty for the sixteen colours of the terminal."""

    terminal_since: float = 0.0
    """From when on the terminal's name is that of this one: whoever signed in before then sat at another one."""

    letter_by_key: Mapping[str, str] = {}
    """Keys that were given a command: the letter of it by the key."""

    names_by_letter: Mapping[str, str] = {}
    """The letters that are called otherwise here, with what they are called."""

    def with_settings(self, profile: Profile) -> Profile:
        """The same terminal, store and person, on the terms of new settings."""
        return self._replace(
            policy=profile.policy,
            rings_when_good=profile.rings_when_good,
            in_store_patterns=profile.in_store_patterns,
            pools=profile.pools,
            language=profile.language,
            time_zone=profile.time_zone,
            theme=profile.theme,
            letter_by_key=profile.letter_by_key,
            names_by_letter=profile.names_by_letter,
        )


def list_height(rows: int) -> int:
    """How many rows of a list a screen of so many rows has room for."""
    return max(1, rows - next(used for height, used in _ROWS_BESIDE_LIST if rows >= height))


def iso_time(at: float) -> str:
    """Seconds since 1970 as ISO 8601 UTC, with milliseconds."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def set_preference(
    profile: Profile, overridden: Mapping[str, Any], preference: SetPreference
) -> tuple[Profile, dict[str, Any]]:
    """Another language or other colours, for whoever is here now; and what the settings say of all he has changed."""
    named: dict[str, Any] = {preference.name: preference.value}
    return profile._replace(**named), {preference.name: getattr(profile, preference.name), **overridden}


def set_language(profile: Profile, overridden: Mapping[str, Any], language: str) -> tuple[Profile, dict[str, Any]]:
    """The same in the language that this person chose when he was here last, where it is one of ours."""
    return (
        set_preference(profile, overridden, SetPreference("language", language))
        if language in LANGUAGES
        else (profile, dict(overridden))
    )


def move_preferences(
    profile: Profile, overridden: Mapping[str, Any], new_profile: Profile
) -> tuple[Profile, dict[str, Any]]:
    """The same at the same terminal in another store, whose settings may say something else."""
    mine = {name: getattr(profile, name) for name in overridden}
    return new_profile._replace(terminal=profile.terminal, **mine), {
        name: getattr(new_profile, name) for name in overridden
    }


_POLICY_SETTINGS = (
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
)
"""The setting of each field of `Policy`, in the order of its fields."""

APPLIED_AT_ONCE = (
    *_POLICY_SETTINGS,
    "bell_good",
    "restricted_codes",
    "pools",
    "language",
    "time_zone",
    "theme",
    "keys",
)
"""Settings that are in force as soon as they are read; all others are from the next start on."""

_SWITCH_MESSAGES = {
    "verified": ("settings.verified_on", "settings.verified_off"),
    "blind": ("settings.blind_on", "settings.blind_off"),
    "bell_good": ("settings.bell_on", "settings.bell_off"),
}
_RECOUNT_PREFIX = "recount_"


class ProfileChange(NamedTuple):
    """What a changed file comes to."""

    verdict: Verdict
    profile: Profile | None = None
    """None where the old ones stay in force."""


def profile_from_settings(settings: Settings, sources: Mapping[str, str] | None = None) -> Profile:
    """What these settings mean for a session. Raises SettingsError for a pattern of in-store codes that is none."""
    try:
        table = compile_patterns(settings.restricted_codes)
    except ValueError as error:
        where = (sources or {}).get("restricted_codes", "")
        raise SettingsError(f"restricted_codes{' in ' * bool(where)}{where}: {error}.") from error
    language = effective_language(settings) or ENGLISH
    profile = Profile(
        store=settings.store,
        terminal=terminal_name(settings),
        terminal_since=terminal_assigned_at(settings),
        user=settings.user,
        policy=_policy_from_settings(settings, language),
        rings_when_good=settings.bell_good,
        in_store_patterns=table,
        pools=parse_pool_names(settings.pools),
        token_file=settings.token_file,
        may_export=not settings.kiosk,
        language=language,
        time_zone=settings.time_zone,
        theme=settings.theme,
    )
    return _with_key_bindings(profile, settings.keys)


def _with_key_bindings(profile: Profile, texts: tuple[str, ...]) -> Profile:
    """Add the keys that have another command; the parser is loaded only if there are any."""
    if not texts:
        return profile
    from aisle.settings.key_bindings import keys_by_letter, letters_by_key

    return profile._replace(letter_by_key=letters_by_key(texts), names_by_letter=keys_by_letter(texts))


def _policy_from_settings(settings: Settings, language: str) -> Policy:
    """How this store wants its jobs done; reasons that nobody has set are said in the language of the terminal."""
    policy = Policy(*(getattr(settings, name) for name in _POLICY_SETTINGS))
    if language == ENGLISH:
        return policy
    from aisle.settings.default_reasons import REASONS_BY_LANGUAGE

    if policy.adjustment_reasons == LOSS_REASONS:
        policy = policy._replace(adjustment_reasons=REASONS_BY_LANGUAGE[language].losses)
    return (
        policy._replace(short_reasons=REASONS_BY_LANGUAGE[language].shortages)
        if policy.short_reasons == SHORTAGE_REASONS
        else policy
    )


class SettingsWatch:
    """Looks after the files of these settings. `again` reads them anew, as at the start."""

    def __init__(
        self, loaded: LoadedSettings, reload: Callable[[Mapping[str, Any]], LoadedSettings] = load_settings
    ) -> None:
        self._loaded = loaded
        self._reload = reload
        self._stamp = loaded.stamps
        self._is_error_reported = False
        """Whether the file, as it is, has an error that was told."""
        self.unreported: Verdict | None = None
        """What came of the last look, until there is room for it on the screen."""

    def check(self) -> ProfileChange | None:
        """What has changed since the last look, if anything has that a person should know; at the first, too, whether
        a file has an error."""
        if self._loaded.problems and not self._is_error_reported:
            return self._report_error(self._loaded.problems[0])
        stamp = file_stamps(self._loaded.files)
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        try:
            loaded = self._reload(self._loaded.command_line_values)
            terms = profile_from_settings(loaded.settings, loaded.sources)
            if not loaded.problems:
                set_process_zone(terms.time_zone)
        except SettingsError as error:
            return self._report_error(str(error))
        if loaded.problems:
            return self._report_error(loaded.problems[0])
        from aisle.settings.files import save_last_valid  # hardly ever, and no start pays for it

        save_last_valid(loaded)
        told = _describe_changes(self._loaded.settings, loaded.settings)
        mended, self._is_error_reported = self._is_error_reported, False
        self._loaded = loaded
        if not told and not mended:
            return None
        return ProfileChange(Verdict(INFO, told or msg("settings.mended")), terms)

    def _report_error(self, error: str) -> ProfileChange:
        self._is_error_reported = True
        return ProfileChange(Verdict(INFO, msg("settings.wrong", file=self._file_and_line(error))))

    def _file_and_line(self, error: str) -> str:
        """Which file is wrong, by its name, and in which line; what is wrong in it, `aisle doctor` says."""
        named = next((path.name for path in self._loaded.files if str(path) in error), "settings.toml")
        line = re.search(r"\(at\sline\s(\d+)", error)
        return f"{named}:{line[1]}" if line else named


def _describe_changes(old: Settings, new: Settings) -> Msg | None:
    """What is different, in a sentence."""
    changed = [name for name in Settings._fields if getattr(old, name) != getattr(new, name)]
    parts = list(
        dict.fromkeys(_describe_change(name, bool(getattr(new, name))) for name in changed if name in APPLIED_AT_ONCE)
    )
    late = ", ".join(name for name in changed if name not in APPLIED_AT_ONCE)
    if late:
        parts.append(msg("settings.restart", names=late))
    if not parts:
        return None
    what = parts.pop()
    for part in reversed(parts):
        what = msg("settings.and", one=part, other=what)
    return msg("settings.changed", what=what)


def _describe_change(name: str, on: bool) -> Msg:
    if name in _SWITCH_MESSAGES:
        return msg(_SWITCH_MESSAGES[name][0 if on else 1])
    if name == "language":
        return msg("settings.language")
    return msg("settings.recounts") if name.startswith(_RECOUNT_PREFIX) else msg("settings.table", name=name)


class OpenedStore(NamedTuple):
    """Another store, opened."""

    store_access: StoreAccess
    profile: Profile
    settings_watch: SettingsWatch | None
    start_courier: Callable[[], None]
    configured_store: str
    """The store that this terminal works in when nobody changes it."""


OpenStore = Callable[[str], OpenedStore]
"""Opens a store by its number. Raises AisleError."""
