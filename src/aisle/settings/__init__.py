"""Settings: the command line beats AISLE_* variables, these beat the sections of the device, these those of the store,
these what stands at the top of settings.toml. On each of these levels the user's file beats the site's.

All files lie where platformdirs says; `AISLE_HOME` moves everything under one folder. What a file may say is in
`aisle.settings.files`, which is loaded only where there is one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from aisle.errors import SettingsError, UsageError
from aisle.file_ownership import untrusted_error

EMBEDDED = "embedded"
"""The base URL of the store that aisle brings along."""

DEMO_STORE = "0001"
"""Store number of the embedded service's demo store."""

LOSS_REASONS = ("1 - Damaged", "2 - Expired", "3 - Theft", "4 - Own use", "5 + Found")
"""Why goods are lost or found, unless the store says otherwise: code, what it does to the stock, words."""

SHORTAGE_REASONS = ("20 0 Place is empty", "21 Not on the shelf", "22 Damaged", "23 Expired", "24 Not enough")
"""Why something cannot be picked, unless the store says otherwise: code, 0 where nothing is left there, words."""

RECOUNT_UNITS, RECOUNT_VALUE = Decimal(10), Decimal(50)
"""Differences beyond this many units, or beyond this value, are counted again."""

LARGE_QUANTITY = Decimal(1000)
"""A typed quantity of so many is asked back where nothing is expected."""

STUCK_MINUTES = Decimal(60)
"""So long nothing may happen to an order that somebody has begun."""

KEEP_DAYS, KEEP_LONG_DAYS = Decimal(400), Decimal(800)
"""So many days most of what grows with time is kept, and what is asked for late."""

_TEXT_PATTERNS = {
    "pools": (r"\s*(10|[1-9]) +\S.*", "'1 Shop': a number from 1 to 10 and a name"),
    "reasons": (r"\s*\d+\s*[+-]\s*\S.*", "'1 - Damaged' (takes from the stock) or '5 + Found' (adds to it)"),
    "short_reasons": (r"\s*\d+\s+\S.*", "'22 Damaged' or '20 0 Place is empty' (nothing is left there)"),
    "restricted_codes": (
        r"(?=(?:[^:]{8}|[^:]{12,14})(?::\d)?\Z)(?=[^:]*I)\d+[\dIX]*(?:W[\dIXW]*|P[\dIXP]*|N[\dIXN]*)C(?::\d)?",
        "'28IIIIIWWWWWC' (weight) or '21IIIIIPPPPPC:2' (price)",
    ),
}
"""The form of the texts in a list, and what they look like, where there is one."""

ENGLISH = "en"

LANGUAGES = (ENGLISH, "nl", "de", "fr")
"""What aisle can say everything in."""

THEMES = ("light", "dark", "contrast")
"""Colours of their own, beside those of the terminal."""

_HOME_ADVICE = "Set AISLE_HOME to a folder, from / on."

_ADDRESS_RULE = "it has to begin with https:// or http://."

_CHOICES = {"client_reference": ("reference", "source", "off"), "language": ("", *LANGUAGES), "theme": ("", *THEMES)}
"""The words that a text may be, where not every text goes."""


class Settings(NamedTuple):
    """Everything that can be set. Names are the keys of settings.toml and, as AISLE_NAME, of the variables."""

    store: str = DEMO_STORE
    """The store that this terminal works in (store_number)."""
    user: str = ""
    """The app user who is signed in at the start; empty asks."""
    base_url: str = EMBEDDED
    """Address of the Store Operations Service, without /api/v2/public."""
    token_file: str = ""
    """File (mode 0600) that holds the bearer token."""
    token_header: str = "Bearer {token}"
    """Value of the Authorization header."""
    terminal: str = ""
    """Name of this terminal; empty takes the address of the SSH client, or the name of the device: `tty1`."""
    language: str = ""
    """What people read here: en, nl, de or fr; empty takes that of the environment, else English."""
    time_zone: str = ""
    """The zone of the store (IANA), such as Europe/Amsterdam: its days and the times that people read; empty for
    that of the host."""
    verified: bool = False
    """Picking asks for a scan of each place."""
    blind: bool = False
    """A count does not show what the books expect until it is done."""
    known_people_only: bool = False
    """Only people whom the store's service knows sign in."""
    recount_units: Decimal = RECOUNT_UNITS
    """A difference of more units than this is counted again; 0 never asks, here and below."""
    recount_share: Decimal = Decimal(0)
    """The same, in per cent of what was expected."""
    recount_value: Decimal = RECOUNT_VALUE
    """The same, in money at the price of the product."""
    large_quantity: Decimal = LARGE_QUANTITY
    """A typed quantity of so many is asked back where nobody knows how many to expect; 0 never asks. More than ten
    times what is expected, and seven digits, are always asked back."""
    stuck_minutes: Decimal = STUCK_MINUTES
    """An order that somebody has begun and of which nothing was heard for so many minutes is stuck."""
    reasons: tuple[str, ...] = LOSS_REASONS
    """Reasons of losses and corrections: `code - words` takes from the stock, `code + words` adds to it."""
    short_reasons: tuple[str, ...] = SHORTAGE_REASONS
    """Reasons why a line is closed short or an order rejected: `code words`; `code 0 words` says that nothing at all is
    left at the place, so that a count of it is offered."""
    receiving_place: str = ""
    """Code of the place where goods go that come in and that nobody brings anywhere else; empty: to no place."""
    rich: bool = False
    """The wide desktop look instead of the lean one."""
    theme: str = ""
    """Colours of its own, where the terminal has 256 of them: light, dark or contrast; empty: those of the terminal."""
    keys: tuple[str, ...] = ()
    """Keys with another command: `z = undo`; in a file a table `[keys]`. See aisle.settings.key_bindings."""
    bell_good: bool = False
    """One bell for an accepted scan (three for a wrong one always)."""
    trace: str = ""
    """File that gets one JSON line per input."""
    ca_file: str = ""
    """Certificates to trust instead of the system's."""
    allow_plain_http: bool = False
    """Allow http:// beyond this machine."""
    pools: tuple[str, ...] = ()
    """Stock pools in use: `1 Shop`. Empty for those that the store names; names of the store win over these."""
    restricted_codes: tuple[str, ...] = ()
    """Patterns of in-store codes with weight or price, see aisle.scan.in_store_codes."""
    client_reference: str = "reference"
    """Where the id of an operation goes at a service that keeps no keys: `reference`, `source`, or `off`."""
    settle_seconds: Decimal = Decimal(120)
    """So long, at such a service, a request that nobody answered may still arrive; longer than any hop keeps one."""
    keep_ledger_days: Decimal = KEEP_DAYS
    """What `aisle purge` leaves of the ledger of a service; 0 keeps it for ever, here and below."""
    keep_log_days: Decimal = KEEP_DAYS
    """The same of the log."""
    keep_changes_days: Decimal = Decimal(60)
    """The same of the feed of changes."""
    keep_orders_days: Decimal = KEEP_DAYS
    """The same of finished orders, with their lines."""
    keep_deliveries_days: Decimal = KEEP_DAYS
    """The same of received deliveries, with their lines."""
    keep_audit_days: Decimal = KEEP_LONG_DAYS
    """The same of the audit."""
    keep_answers_days: Decimal = Decimal(30)
    """So long a service remembers the keys of requests with their answers, and tells hosts so; at least 30."""
    keep_operations_days: Decimal = Decimal(30)
    """What a host keeps of operations that are over; at least 30, for a restored service may ask for them."""
    keep_journal_days: Decimal = Decimal(35)
    """The same of the journal, until it goes to the archive; at least 7."""
    keep_archive_days: Decimal = KEEP_LONG_DAYS
    """The same of the archive; its totals by day stay."""
    in_process: bool = False
    """Run the courier inside the session, for odd hosts."""
    kiosk: bool = False
    """Nothing is written to files that a person names. Said on the command line alone, so that nobody unsays it."""


COMMAND_LINE_ONLY = frozenset({"kiosk"})
"""Settings that neither a file nor a variable can say."""


FileStamps = tuple[tuple[int, int, int], ...]
"""What tells a state of the settings files from an earlier one; a file that is not there is `GONE`."""

MISSING_FILE = (0, 0, 0)
UNREADABLE_FILE = (0, 0, 1)
"""One that this account cannot look at: it may be there, and say anything."""


class LoadedSettings(NamedTuple):
    """Settings, where they come from, and the folder that this host's data live in."""

    settings: Settings
    data_folder: Path
    """Data of this host: databases, locks, sockets."""
    sources: Mapping[str, str] = {}
    """Where each key comes from that has not its default: a file and its section, a variable, the command line."""
    files: tuple[Path, ...] = ()
    """The settings files, there or not, weakest first."""
    stamps: FileStamps = ()
    """The state of the files before they were read."""
    command_line_values: Mapping[str, Any] = {}
    """What the command line said."""
    problems: tuple[str, ...] = ()
    """What is wrong in the files, of which what they said before is in force."""


def find_data_folder(environ: Mapping[str, str]) -> Path:
    """The folder of this host's data: AISLE_HOME, else the user's data folder. Raises SettingsError for none."""
    if told := environ.get("AISLE_HOME"):
        try:
            return Path(told).expanduser().absolute()
        except (RuntimeError, OSError) as error:  # nobody has that name; the folder that this one is in is gone
            raise SettingsError(f"AISLE_HOME is {told!r}, and nobody knows where that is. {_HOME_ADVICE}") from error
    from platformdirs import user_data_path

    return _account_folder(user_data_path)


def _account_folder(find: Callable[..., Path]) -> Path:
    """A folder of this account. Raises SettingsError where it has none, or each process would have another one."""
    try:
        folder = find("aisle", appauthor=False)
    except RuntimeError:
        folder = Path()
    if not folder.is_absolute():
        raise SettingsError(f"This account has no home for its settings and its data. {_HOME_ADVICE}")
    return folder


def settings_files(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The settings files, weakest first."""
    if environ.get("AISLE_HOME"):
        return (find_data_folder(environ) / "settings.toml",)
    from platformdirs import site_config_path, user_config_path

    folders = (site_config_path("aisle", appauthor=False), _account_folder(user_config_path))
    return tuple(folder / "settings.toml" for folder in folders)


def file_stamps(files: tuple[Path, ...]) -> FileStamps:
    """The state of the settings files; a look at each, none is opened."""
    return tuple(map(_file_stamp, files))


def _file_stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = os.stat(path)
    except OSError as error:
        is_gone = isinstance(error, FileNotFoundError | NotADirectoryError) and not path.is_symlink()
        return MISSING_FILE if is_gone else UNREADABLE_FILE
    return found.st_mtime_ns, found.st_size, found.st_ino


def load_settings(
    command_line_values: Mapping[str, Any], environ: Mapping[str, str] = os.environ, *, strict: bool = True
) -> LoadedSettings:
    """The settings in force; `given` holds what the command line said.

    A file with an error changes nothing: what it said when a session began last is in force. Where nobody knows that,
    raises SettingsError that names the file, the section and the key; not strict, what is wrong is left out. Raises it
    for a variable, too, and for a home that others may change.
    """
    files = settings_files(environ)
    if strict and (why := untrusted_error(find_data_folder(environ), folder=True)):
        raise SettingsError(why)
    stamp = file_stamps(files)
    said = {key: value for key, value in command_line_values.items() if value is not None}
    if "store" in said:
        validate_setting("store", said["store"], "the command line")
    above = {"the command line": said}
    variables = _settings_from_environ(environ)
    levels: dict[str, Mapping[str, Any]] = {}
    wrong: tuple[str, ...] = ()
    if any(found != MISSING_FILE for found in stamp):
        from aisle.settings.files import read_valid_files, setting_levels

        told, wrong = read_valid_files(files, find_data_folder(environ), strict=strict)
        levels = setting_levels(told, {**variables, **said}, environ)
    levels |= {_variable_name(key): {key: value} for key, value in variables.items()} | above
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for source, level in levels.items():
        values.update(level)
        sources.update(dict.fromkeys(level, source))
    return LoadedSettings(Settings(**values), find_data_folder(environ), sources, files, stamp, said, wrong)


def _settings_from_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key in Settings._fields:
        name = _variable_name(key)
        text = environ.get(name)
        if text and key not in COMMAND_LINE_ONLY:
            values[key] = validate_setting(key, _parse_variable(_setting_type(key), text, name), name)
    return values


def _variable_name(key: str) -> str:
    return f"AISLE_{key.upper()}"


def _setting_type(key: str) -> type:
    """What a setting is, told from its default, because reading type hints takes a while."""
    return type(Settings._field_defaults[key])


def _parse_variable(setting_type: Any, text: str, where: str) -> Any:
    if setting_type is bool:
        yes, no = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
        if text.casefold() not in yes + no:
            raise SettingsError(f"{where} is {text!r}; it takes true or false.")
        return text.casefold() in yes
    if setting_type is Decimal:
        try:
            return Decimal(text)
        except ArithmeticError:
            raise SettingsError(f"{where} is {text!r}; it takes a number.") from None
    return text if setting_type is str else tuple(part for part in text.split("|") if part)


def validate_setting(key: str, value: Any, where: str) -> Any:
    """The value of a setting. Raises SettingsError that says what is wrong, where, and what it takes."""
    if key == "keys" and value:
        from aisle.settings.key_bindings import validate_keys

        return validate_keys(value, where)
    hint = _setting_type(key)
    if key == "base_url" and type(value) is str and not _is_service_url(value):
        raise SettingsError(f"base_url in {where} is {value!r}; {_ADDRESS_RULE}")
    if key == "store" and type(value) is str and not value.strip():
        raise SettingsError(f"store in {where} is empty; it takes the number of a store.")
    if key == "time_zone" and value and type(value) is str:
        from aisle.settings.time_zone import parse_zone

        try:
            parse_zone(value)
        except SettingsError as error:
            raise SettingsError(str(error).replace("time_zone is", f"time_zone in {where} is", 1)) from None
    if hint in (str, bool) and type(value) is hint:
        if value not in _CHOICES.get(key, (value,)):
            raise SettingsError(f"{key} in {where} is {value!r}; it takes {', '.join(filter(None, _CHOICES[key]))}.")
        return value
    if hint is Decimal and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = Decimal(str(value))
        if number.is_finite() and number >= 0:
            return number
    plain = (str, bool, Decimal)
    if hint not in plain and isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return _validate_texts(key, tuple(value), where)
    wanted = {str: "a text", bool: "true or false", Decimal: "a number from 0 on"}.get(hint, "a list of texts")
    raise SettingsError(f"{key} in {where} is {value!r}; it takes {wanted}.")


def _validate_texts(key: str, texts: tuple[str, ...], where: str) -> tuple[str, ...]:
    """A list whose texts have a form, each of them in it."""
    form, like = _TEXT_PATTERNS.get(key, ("", ""))
    wrong = next((text for text in texts if form and not re.fullmatch(form, text)), None)
    if wrong is not None:
        raise SettingsError(f"{key} in {where} has {wrong!r}; it takes texts such as {like}.")
    return texts


def parse_pool_names(pools: tuple[str, ...]) -> dict[int, str]:
    """The pools in use by number, with their names; empty where nobody said."""
    return {int(number): name.strip() for number, _, name in (text.strip().partition(" ") for text in pools)}


def read_token(path: str) -> str:
    """The token in a file that only its owner can read.

    Raises SettingsError when the file is missing, a link, no text, readable by others, or empty.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise SettingsError(f"The token file {path} cannot be opened: {error.strerror}. Set token_file.") from error
    try:
        token = _read_token_text(handle, path)
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"The token file {path} holds bytes that are no text. Write the token of your service into it."
        ) from error
    except OSError as error:
        raise SettingsError(f"The token file {path} cannot be read: {error.strerror}. Set token_file.") from error
    finally:
        os.close(handle)  # also that of a folder, which no stream takes over
    if not token:
        raise SettingsError(f"The token file {path} is empty. Write the token of your service into it.")
    return token


def _read_token_text(handle: int, path: str) -> str:
    with open(handle, encoding="utf-8", closefd=False) as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise SettingsError(f"The token file {path} is a pipe or a device, not a file. Set token_file.")
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o077:
            raise SettingsError(f"The token file {path} has mode {mode:04o}; others may read it. Run: chmod 600 {path}")
        return stream.read().strip()


_PTY_PREFIX = "/dev/pts/"
"""Devices that come and go, and have whatever number is free."""


def terminal_name(
    settings: Settings, environ: Mapping[str, str] = os.environ, tty: Callable[[], str] | None = None
) -> str:
    """The name under which this terminal is remembered: set, or the SSH client's address, or the device's name.

    `tty` names the device of stdin (`/dev/tty1` is `tty1`, `/dev/pts/3` is `pts-3`); without one it is `console`.
    """
    client = environ.get("SSH_CLIENT", "").split(" ")[0]
    if settings.terminal or client:
        return settings.terminal or f"ssh-{client}"
    try:
        return (tty or _tty)().removeprefix("/dev/").replace("/", "-") or "console"
    except OSError:
        return "console"


def terminal_assigned_at(
    settings: Settings, environ: Mapping[str, str] = os.environ, tty: Callable[[], str] | None = None
) -> float:
    """Since when the terminal's name is that of this one, in seconds since 1970; 0.0: as long as anybody knows.

    The numbers of `/dev/pts` are given out again: a window that is opened today has the name of one that was closed
    yesterday, and somebody else sits there.
    """
    if settings.terminal or environ.get("SSH_CLIENT"):
        return 0.0
    try:
        device = (tty or _tty)()
        return os.stat(device).st_ctime if device.startswith(_PTY_PREFIX) else 0.0
    except OSError:
        return 0.0


def _tty() -> str:
    return os.ttyname(0)


def effective_language(settings: Settings, environ: Mapping[str, str] = os.environ) -> str:
    """The language that is set, else that of LC_ALL, LC_MESSAGES or LANG; empty where that is none of ours."""
    told = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    spoken = re.split(r"[_.@-]", told)[0].lower()
    return settings.language or (spoken if spoken in LANGUAGES else "")


def service_url(settings: Settings) -> str:
    """The service's address without a trailing slash; UsageError if it is none."""
    if not _is_service_url(settings.base_url):
        raise UsageError(f"base_url is {settings.base_url!r}; {_ADDRESS_RULE}")
    return settings.base_url.rstrip("/")


def _is_service_url(text: str) -> bool:
    return text.rstrip("/") == EMBEDDED or text.startswith(("http://", "https://"))
