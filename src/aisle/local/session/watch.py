"""Settings that change while people work: seen by their files' moments, applied where nothing has to start anew for it.

A look costs a stat of each file, at the beats that a session has anyway; only a changed file is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from aisle.errors import SettingsError
from aisle.jobs.base import Policy
from aisle.jobs.view import INFO, Msg, Verdict, msg
from aisle.local.session.terms import Terms
from aisle.scan.restricted import patterns
from aisle.settings import (
    ENGLISH,
    REASONS,
    SHORT_REASONS,
    Loaded,
    Settings,
    language_of,
    load,
    pool_names,
    stamp_of,
    terminal_name,
    terminal_since,
)
from aisle.settings.time_zone import enter
from aisle.tuples import NamedTuple

AT_ONCE = (*Policy._fields, "bell_good", "restricted_codes", "pools", "language", "time_zone", "theme", "keys")
"""Settings that are in force as soon as they are read; all others are from the next start on."""

_SWITCHES = {
    "verified": ("settings.verified_on", "settings.verified_off"),
    "blind": ("settings.blind_on", "settings.blind_off"),
    "bell_good": ("settings.bell_on", "settings.bell_off"),
}
_THRESHOLDS = "recount_"


class Retuned(NamedTuple):
    """What a changed file comes to."""

    verdict: Verdict
    terms: Terms | None = None
    """None where the old ones stay in force."""


def terms_of(settings: Settings, sources: Mapping[str, str] | None = None) -> Terms:
    """What these settings mean for a session. Raises SettingsError for a pattern of in-store codes that is none."""
    try:
        table = patterns(settings.restricted_codes)
    except ValueError as error:
        where = (sources or {}).get("restricted_codes", "")
        raise SettingsError(f"restricted_codes{' in ' * bool(where)}{where}: {error}.") from error
    language = language_of(settings) or ENGLISH
    return Terms(
        store=settings.store,
        terminal=terminal_name(settings),
        since=terminal_since(settings),
        user=settings.user,
        policy=_policy(settings, language),
        bell_good=settings.bell_good,
        restricted=table,
        pools=pool_names(settings.pools),
        token_file=settings.token_file,
        exports=not settings.kiosk,
        language=language,
        time_zone=settings.time_zone,
        theme=settings.theme,
        **_keys(settings.keys),
    )


def _keys(texts: tuple[str, ...]) -> dict[str, Mapping[str, str]]:
    """Which keys have another command; nothing is loaded where none has."""
    if not texts:
        return {}
    from aisle.settings.keys import pressed, shown

    return {"keys": pressed(texts), "shown": shown(texts)}


def _policy(settings: Settings, language: str) -> Policy:
    """How this store wants its jobs done; reasons that nobody has set are said in the language of the terminal."""
    policy = Policy(**{name: getattr(settings, name) for name in Policy._fields})
    if language == ENGLISH:
        return policy
    from aisle.settings.reasons import SPOKEN

    if policy.reasons == REASONS:
        policy = policy._replace(reasons=SPOKEN[language].losses)
    return policy._replace(short_reasons=SPOKEN[language].shorts) if policy.short_reasons == SHORT_REASONS else policy


class Watch:
    """Looks after the files of these settings. `again` reads them anew, as at the start."""

    def __init__(self, loaded: Loaded, again: Callable[[Mapping[str, Any]], Loaded] = load) -> None:
        self._loaded = loaded
        self._again = again
        self._stamp = loaded.stamp
        self._wrong = False
        """Whether the file, as it is, has an error that was told."""
        self.untold: Verdict | None = None
        """What came of the last look, until there is room for it on the screen."""

    def look(self) -> Retuned | None:
        """What has changed since the last look, if anything has that a person should know; at the first, too, whether
        a file has an error."""
        if self._loaded.wrong and not self._wrong:
            return self._told_wrong(self._loaded.wrong[0])
        stamp = stamp_of(self._loaded.files)
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        try:
            loaded = self._again(self._loaded.given)
            terms = terms_of(loaded.settings, loaded.sources)
            if not loaded.wrong:
                enter(terms.time_zone)
        except SettingsError as error:
            return self._told_wrong(str(error))
        if loaded.wrong:
            return self._told_wrong(loaded.wrong[0])
        from aisle.settings.kept import keep  # hardly ever, and no start pays for it

        keep(loaded)
        told = _told(self._loaded.settings, loaded.settings)
        mended, self._wrong = self._wrong, False
        self._loaded = loaded
        if not told and not mended:
            return None
        return Retuned(Verdict(INFO, told or msg("settings.mended")), terms)

    def _told_wrong(self, why: str) -> Retuned:
        self._wrong = True
        return Retuned(Verdict(INFO, msg("settings.wrong", file=self._file(why))))

    def _file(self, why: str) -> str:
        """Which file is wrong, by its name, and in which line; what is wrong in it, `aisle doctor` says."""
        named = next((path.name for path in self._loaded.files if str(path) in why), "settings.toml")
        line = re.search(r"\(at\sline\s(\d+)", why)
        return f"{named}:{line[1]}" if line else named


def _told(old: Settings, new: Settings) -> Msg | None:
    """What is different, in a sentence."""
    changed = [name for name in Settings._fields if getattr(old, name) != getattr(new, name)]
    parts = list(dict.fromkeys(_part(name, bool(getattr(new, name))) for name in changed if name in AT_ONCE))
    late = ", ".join(name for name in changed if name not in AT_ONCE)
    if late:
        parts.append(msg("settings.restart", names=late))
    if not parts:
        return None
    what = parts.pop()
    for part in reversed(parts):
        what = msg("settings.and", one=part, other=what)
    return msg("settings.changed", what=what)


def _part(name: str, on: bool) -> Msg:
    if name in _SWITCHES:
        return msg(_SWITCHES[name][0 if on else 1])
    if name == "language":
        return msg("settings.language")
    return msg("settings.recounts") if name.startswith(_THRESHOLDS) else msg("settings.table", name=name)
