"""The files that people write: settings and the token."""

from __future__ import annotations

from collections.abc import Iterable

from aisle.cli.doctor.report import Finding, ok, plural, wrong
from aisle.errors import SettingsError
from aisle.local.session.watch import terms_of
from aisle.settings import EMBEDDED, GONE, Loaded, base_url, read_token, stamp_of
from aisle.settings.files import read


def settings(loaded: Loaded) -> Iterable[Finding]:
    """Each settings file, with all that is wrong in it; then what needs more than one look to be judged."""
    found = zip(loaded.files, stamp_of(loaded.files), strict=True)
    there = [path for path, stamp in found if stamp != GONE]
    for path in there:
        file = read(path, linked=path.parent != loaded.root)
        for problem in file.problems:
            yield wrong("settings", problem, "What the file said before is in force." * (problem in loaded.wrong))
        if not file.problems:
            sections = plural(len(file.stores) + len(file.devices), "section")
            yield ok("settings", f"{path}, {sections}", file=str(path))
    if not there:
        yield ok("settings", f"no file: {', '.join(str(path) for path in loaded.files) or 'none is looked for'}")
    try:
        terms_of(loaded.settings, loaded.sources)
    except SettingsError as error:
        yield wrong("settings", str(error))


def token(loaded: Loaded) -> Iterable[Finding]:
    """The file with the token; what is in it is shown to nobody."""
    path = loaded.settings.token_file
    if base_url(loaded.settings) == EMBEDDED:
        yield ok("token", "the embedded store makes its own")
    elif not path:
        yield wrong("token", "there is none", "The service asks for one.", "Set token_file to a file of mode 0600.")
    else:
        try:
            read_token(path)
        except SettingsError as error:
            yield wrong("token", str(error), file=path)
        else:
            yield ok("token", f"{path}, for this account alone", file=path)
