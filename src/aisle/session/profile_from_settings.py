"""Profile of a terminal: its settings, made into what a session uses.

Changes while it runs: `profile_in_force`.
"""

from collections.abc import Mapping
from typing import NamedTuple

from aisle.errors import SettingsError
from aisle.jobs.job import Policy
from aisle.scan.in_store_codes import InStorePattern, compile_patterns
from aisle.settings.setting_definitions import (
    ENGLISH,
    REASONS_BY_LANGUAGE,
    Settings,
    effective_language,
    parse_pool_names,
)
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

    def with_settings(self, profile: "Profile") -> "Profile":
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
