"""Settings of a terminal, and the folders and files they come from.

Precedence: command line, AISLE_* variables, sections of the device, sections of the store, top level of settings.toml.
On each level the user's file overrides the site's. Files are where platformdirs puts them; `AISLE_HOME` moves
everything into one folder. Start with `Settings` and `load_settings`. `parse_settings_file.py` parses settings.toml
and is loaded only if a file exists, so that starting stays fast. Nothing here knows jobs, sessions, the courier or the
service.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from aisle.errors import SettingsError, UsageError
from aisle.settings.process_time_zone import parse_zone
from aisle.untrusted_files import untrusted_error

EMBEDDED = "embedded"
"""Base URL of the service that is part of aisle."""

DEMO_STORE = "0001"
"""Store number of the embedded service's demo store."""

LOSS_REASONS = ("1 - Damaged", "2 - Expired", "3 - Theft", "4 - Own use", "5 + Found")
"""Default reasons of losses and finds: code, sign of the stock change, text."""

SHORTAGE_REASONS = ("20 0 Place is empty", "21 Not on the shelf", "22 Damaged", "23 Expired", "24 Not enough")
"""Default reasons of shortages: code, 0 if the location is empty, text."""

REJECTION_REASONS = ("30 Not collected", "31 Cancelled by the customer", "32 Ordered twice", "33 Not paid")
"""Default reasons to reject an order: code, text. Those of shortages are offered too."""

RECOUNT_UNITS, RECOUNT_VALUE = Decimal(10), Decimal(50)
"""Differences above this many units, or this value, are counted again."""

LARGE_QUANTITY = Decimal(1000)
"""Typed quantity from which a confirmation is asked where no stock is expected."""

STUCK_MINUTES = Decimal(60)
"""Minutes without a change after which an order in progress is stuck."""

EXPIRY_CHECK_DAYS, EXPIRY_FAR_DAYS = Decimal(3), Decimal(1096)
"""Days between a check and the expiry date, and days ahead from which that date has to be confirmed."""

KEEP_DAYS, KEEP_LONG_DAYS = Decimal(400), Decimal(800)
"""Default retention in days: of most data, and of data that is often needed late."""

_TEXT_PATTERNS = {
    "pools": (r"\s*(10|[1-9]) +\S.*", "'1 Shop': a number from 1 to 10 and a name"),
    "reasons": (r"\s*\d+\s*[+-]\s*\S.*", "'1 - Damaged' (takes from the stock) or '5 + Found' (adds to it)"),
    "reject_reasons": (r"\s*\d+\s+\S.*", "'30 Not collected'"),
    "short_reasons": (r"\s*\d+\s+\S.*", "'22 Damaged' or '20 0 Place is empty' (nothing is left there)"),
    "restricted_codes": (
        r"(?=(?:[^:]{8}|[^:]{12,14})(?::\d)?\Z)(?=[^:]*I)\d+[\dIX]*(?:W[\dIXW]*|P[\dIXP]*|N[\dIXN]*)C(?::\d)?",
        "'28IIIIIWWWWWC' (weight) or '21IIIIIPPPPPC:2' (price)",
    ),
}
"""Pattern of the texts in a list setting, and an example for error messages."""

ENGLISH = "en"

LANGUAGES = (ENGLISH, "nl", "de", "fr")
"""Languages that aisle has messages in."""

THEMES = ("light", "dark", "contrast")
"""Themes with their own colours, beside the colours of the terminal."""

_HOME_ADVICE = "Set AISLE_HOME to a folder, from / on."

_ADDRESS_RULE = "it has to begin with https:// or http://."

_CHOICES = {"client_reference": ("reference", "source", "off"), "language": ("", *LANGUAGES), "theme": ("", *THEMES)}
"""Accepted values of text settings that do not take every text."""


class Settings(NamedTuple):
    """All settings. Names are the keys of settings.toml and, as AISLE_NAME, of the variables."""

    store: str = DEMO_STORE
    """Store of this terminal (store_number)."""
    user: str = ""
    """App user who is signed in at the start; empty to ask."""
    base_url: str = EMBEDDED
    """Address of the Store Operations Service, without /api/v2/public."""
    token_file: str = ""
    """File (mode 0600) with the bearer token."""
    token_header: str = "Bearer {token}"
    """Value of the Authorization header."""
    terminal: str = ""
    """Name of this terminal; empty for the address of the SSH client or the name of the device, such as `tty1`."""
    language: str = ""
    """Language: en, nl, de or fr; empty for that of the environment, else English."""
    time_zone: str = ""
    """Time zone of the store (IANA), such as Europe/Amsterdam, for its days and all displayed times; empty for that of
    the host.
    """
    verified: bool = False
    """True if picking requires a scan of each location."""
    blind: bool = False
    """True if a count hides expected quantities until it is done."""
    known_people_only: bool = False
    """True if only people known to the service can sign in."""
    recount_units: Decimal = RECOUNT_UNITS
    """Difference in units above which a recount is needed; 0 for never, here and below."""
    recount_share: Decimal = Decimal(0)
    """The same in per cent of the expected quantity."""
    recount_value: Decimal = RECOUNT_VALUE
    """The same in money at the price of the product."""
    large_quantity: Decimal = LARGE_QUANTITY
    """Typed quantity that has to be confirmed where the expected quantity is unknown; 0 for never.

    More than ten times the expected quantity, and seven digits, always have to be confirmed.
    """
    stuck_minutes: Decimal = STUCK_MINUTES
    """Minutes without a change after which an order in progress is stuck."""
    reasons: tuple[str, ...] = LOSS_REASONS
    """Reasons of losses and corrections: `code - text` subtracts from stock, `code + text` adds to it."""
    short_reasons: tuple[str, ...] = SHORTAGE_REASONS
    """Reasons to close a line short or to reject an order: `code text`.

    `code 0 text` means that the location is empty; a count of it is then offered.
    """
    reject_reasons: tuple[str, ...] = REJECTION_REASONS
    """Reasons to reject an order, before those of shortages: `code text`."""
    receiving_place: str = ""
    """Code of the location for received goods that are not put away elsewhere; empty for no location."""
    expiry_check_days_before: Decimal = EXPIRY_CHECK_DAYS
    """Days before its expiry date on which a product is checked next, unless the product has its own number of days."""
    expiry_far_days: Decimal = EXPIRY_FAR_DAYS
    """Days ahead from which a typed expiry date has to be confirmed."""
    expiry_discount_days: Decimal = Decimal(0)
    """Days before its expiry date from which a discount price is asked at a check; 0 for never."""
    rich: bool = False
    """True for softer colours than the sixteen of the terminal."""
    theme: str = ""
    """Theme on terminals with 256 colours: light, dark or contrast; empty for the colours of the terminal."""
    keys: tuple[str, ...] = ()
    """Key bindings such as `z = undo`; in a file the table `[keys]`. See aisle.settings.key_bindings."""
    bell_good: bool = False
    """True to ring the bell once for an accepted scan; a wrong one always rings three times."""
    trace: str = ""
    """File that gets one JSON line for each input."""
    ca_file: str = ""
    """Certificates to trust instead of the system's."""
    allow_plain_http: bool = False
    """True to allow http:// to other hosts."""
    pools: tuple[str, ...] = ()
    """Stock pools in use, such as `1 Shop`; empty for those of the service. Names from the service take precedence."""
    restricted_codes: tuple[str, ...] = ()
    """Patterns of in-store codes with weight or price, see aisle.scan.in_store_codes."""
    client_reference: str = "reference"
    """Field for the id of an operation at a service without idempotency keys: `reference`, `source`, or `off`."""
    settle_seconds: Decimal = Decimal(120)
    """Seconds in which an unanswered request may still arrive at such a service; longer than any proxy keeps one."""
    keep_ledger_days: Decimal = KEEP_DAYS
    """Days of the service's ledger that `aisle purge` keeps; 0 for all, here and below."""
    keep_log_days: Decimal = KEEP_DAYS
    """Days of the log that are kept."""
    keep_changes_days: Decimal = Decimal(60)
    """Days of the change feed that are kept."""
    keep_orders_days: Decimal = KEEP_DAYS
    """Days that finished orders and their lines are kept."""
    keep_deliveries_days: Decimal = KEEP_DAYS
    """Days that received deliveries and their lines are kept."""
    keep_audit_days: Decimal = KEEP_LONG_DAYS
    """Days of the audit log that are kept."""
    keep_answers_days: Decimal = Decimal(30)
    """Days that the service keeps idempotency keys with their responses, and announces to hosts; at least 30."""
    keep_operations_days: Decimal = Decimal(30)
    """Days that a host keeps finished operations; at least 30, because a restored service may ask for them."""
    keep_journal_days: Decimal = Decimal(35)
    """Days of the journal that are kept until it is archived; at least 7."""
    keep_archive_days: Decimal = KEEP_LONG_DAYS
    """Days of the archive that are kept; its daily totals stay."""
    in_process: bool = False
    """True to run the courier inside the session, on hosts that allow no background process."""
    kiosk: bool = False
    """True if no files named by a user are written. Only on the command line, so that no file can revoke it."""


COMMAND_LINE_ONLY = frozenset({"kiosk"})
"""Settings that neither a file nor a variable can set."""


FileStamps = tuple[tuple[int, int, int], ...]
"""State of the settings files, to notice changes; an absent file has `MISSING_FILE`."""

MISSING_FILE = (0, 0, 0)
UNREADABLE_FILE = (0, 0, 1)
"""State of a file that this account cannot access: it may exist, with any content."""


class LoadedSettings(NamedTuple):
    """Settings with their sources, and the data folder of this host."""

    settings: Settings
    data_folder: Path
    """Folder of databases, locks and sockets."""
    sources: Mapping[str, str] = {}
    """Source of each key without its default: a file and section, a variable, or the command line."""
    files: tuple[Path, ...] = ()
    """Settings files, present or not, in ascending precedence."""
    stamps: FileStamps = ()
    """State of the files before they were read."""
    command_line_values: Mapping[str, object] = {}
    """Values from the command line."""
    problems: tuple[str, ...] = ()
    """Errors in the files; for those files the last valid version is in force."""


def find_data_folder(environ: Mapping[str, str]) -> Path:
    """Return the data folder of this host: AISLE_HOME, else the user's data folder. Raise SettingsError if there is
    none.
    """
    if home := environ.get("AISLE_HOME"):
        try:
            return Path(home).expanduser().absolute()
        except (RuntimeError, OSError) as error:  # unknown user in the path, or the working directory was deleted
            raise SettingsError(f"AISLE_HOME is {home!r}, and nobody knows where that is. {_HOME_ADVICE}") from error
    return _account_folder(_platform_folders().user_data_path)


def trusted_data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the data folder of this host. Raise SettingsError if there is none, or if other accounts may change it."""
    folder = find_data_folder(environ)
    if why := untrusted_error(folder, folder=True):
        raise SettingsError(why)
    return folder


def _platform_folders() -> ModuleType:
    import platformdirs  # loads much, and AISLE_HOME or a command may do without

    return platformdirs


def _account_folder(find: Callable[..., Path]) -> Path:
    """Return a folder of this account.

    Raise SettingsError if the account has no home; a relative path would differ between processes.
    """
    try:
        folder = find("aisle", appauthor=False)
    except RuntimeError:
        folder = Path()
    if not folder.is_absolute():
        raise SettingsError(f"This account has no home for its settings and its data. {_HOME_ADVICE}")
    return folder


def settings_files(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the settings files in ascending precedence."""
    if environ.get("AISLE_HOME"):
        return (find_data_folder(environ) / "settings.toml",)
    platform = _platform_folders()
    folders = (platform.site_config_path("aisle", appauthor=False), _account_folder(platform.user_config_path))
    return tuple(folder / "settings.toml" for folder in folders)


def file_stamps(files: tuple[Path, ...]) -> FileStamps:
    """Return the state of the settings files; none of them is opened."""
    return tuple(map(_file_stamp, files))


def _file_stamp(path: Path) -> tuple[int, int, int]:
    try:
        status = os.stat(path)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError) and not path.is_symlink()
        return MISSING_FILE if is_missing else UNREADABLE_FILE
    return status.st_mtime_ns, status.st_size, status.st_ino


def load_settings(
    command_line_values: Mapping[str, object], environ: Mapping[str, str] = os.environ, *, strict: bool = True
) -> LoadedSettings:
    """Return the settings in force; `command_line_values` has the values of the command line.

    A file with an error has no effect: its last valid version is in force. Without one, raise SettingsError with the
    file, the section and the key; if `strict` is False, ignore invalid values instead. Also raise it for an invalid
    variable, and for a data folder that other accounts may change.
    """
    files = settings_files(environ)
    if strict:
        trusted_data_folder(environ)
    stamps = file_stamps(files)
    given = {key: value for key, value in command_line_values.items() if value is not None}
    if "store" in given:
        validate_setting("store", given["store"], "the command line")
    from_command_line = {"the command line": given}
    variables = _settings_from_environ(environ)
    levels: dict[str, Mapping[str, object]] = {}
    problems: tuple[str, ...] = ()
    if any(found != MISSING_FILE for found in stamps):
        from aisle.settings.parse_settings_file import read_valid_files, setting_levels

        valid_files, problems = read_valid_files(files, find_data_folder(environ), strict=strict)
        levels = setting_levels(valid_files, {**variables, **given}, environ)
    levels |= {_variable_name(key): {key: value} for key, value in variables.items()} | from_command_line
    values: dict[str, object] = {}
    sources: dict[str, str] = {}
    for source, level in levels.items():
        values.update(level)
        sources.update(dict.fromkeys(level, source))
    return LoadedSettings(
        settings_from_values(values), find_data_folder(environ), sources, files, stamps, given, problems
    )


def settings_from_values(values: Mapping[str, object]) -> Settings:
    """Return settings with these valid values, and the defaults of the others."""
    return Settings._make({**Settings._field_defaults, **values}.values())


def _settings_from_environ(environ: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for key in Settings._fields:
        name = _variable_name(key)
        text = environ.get(name)
        if text and key not in COMMAND_LINE_ONLY:
            values[key] = validate_setting(key, _parse_variable(_setting_type(key), text, name), name)
    return values


def _variable_name(key: str) -> str:
    return f"AISLE_{key.upper()}"


def _setting_type(key: str) -> type:
    """Return the type of a setting, derived from its default; evaluating type hints would be slow."""
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
    """Return the validated value of a setting. Raise SettingsError with the error, its place and the accepted
    values.
    """
    if key == "keys" and value:
        from aisle.settings.key_bindings import validate_keys

        return validate_keys(value, where)
    setting_type = _setting_type(key)
    if key == "base_url" and type(value) is str and not _is_service_url(value):
        raise SettingsError(f"base_url in {where} is {value!r}; {_ADDRESS_RULE}")
    if key == "store" and type(value) is str and not value.strip():
        raise SettingsError(f"store in {where} is empty; it takes the number of a store.")
    if key == "time_zone" and value and type(value) is str:
        try:
            parse_zone(value)
        except SettingsError as error:
            raise SettingsError(str(error).replace("time_zone is", f"time_zone in {where} is", 1)) from None
    if setting_type in (str, bool) and type(value) is setting_type:
        if value not in _CHOICES.get(key, (value,)):
            raise SettingsError(f"{key} in {where} is {value!r}; it takes {', '.join(filter(None, _CHOICES[key]))}.")
        return value
    if setting_type is Decimal and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = Decimal(str(value))
        if number.is_finite() and number >= 0:
            return number
    plain = (str, bool, Decimal)
    if setting_type not in plain and isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return _validate_texts(key, tuple(value), where)
    expected = {str: "a text", bool: "true or false", Decimal: "a number from 0 on"}.get(
        setting_type, "a list of texts"
    )
    raise SettingsError(f"{key} in {where} is {value!r}; it takes {expected}.")


def _validate_texts(key: str, texts: tuple[str, ...], where: str) -> tuple[str, ...]:
    """Return the texts of a list setting. Raise SettingsError if one does not match its pattern."""
    form, like = _TEXT_PATTERNS.get(key, ("", ""))
    wrong = next((text for text in texts if form and not re.fullmatch(form, text)), None)
    if wrong is not None:
        raise SettingsError(f"{key} in {where} has {wrong!r}; it takes texts such as {like}.")
    return texts


def parse_pool_names(pools: tuple[str, ...]) -> dict[int, str]:
    """Return the names of the pools in use by number; empty if not set."""
    return {int(number): name.strip() for number, _, name in (text.strip().partition(" ") for text in pools)}


def read_token(path: str) -> str:
    """Return the token in a file that only its owner can read. Clients read it anew for each request.

    Raise SettingsError if the file is missing, a link, no text, readable by others, or empty.
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
        os.close(handle)  # no stream closes it, also not that of a directory
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
"""Prefix of pseudo-terminals, whose numbers are reused."""


def terminal_name(
    settings: Settings, environ: Mapping[str, str] = os.environ, tty: Callable[[], str] | None = None
) -> str:
    """Return the name of this terminal: the setting, the address of the SSH client, or the name of the device.

    `tty` returns the device of stdin (`/dev/tty1` becomes `tty1`, `/dev/pts/3` `pts-3`); without one the name is
    `console`.
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
    """Return the time since which this terminal has its name, in seconds since 1970; 0.0 for always.

    Numbers of `/dev/pts` are reused: a window opened today may have the name of one closed yesterday, with another
    user.
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
    """Return the language set, else that of LC_ALL, LC_MESSAGES or LANG; empty if aisle does not have it."""
    locale = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    language = re.split(r"[_.@-]", locale)[0].lower()
    return settings.language or (language if language in LANGUAGES else "")


def service_url(settings: Settings) -> str:
    """Return the address of the service without a trailing slash. Raise UsageError if it is invalid."""
    if not _is_service_url(settings.base_url):
        raise UsageError(f"base_url is {settings.base_url!r}; {_ADDRESS_RULE}")
    return settings.base_url.rstrip("/")


def _is_service_url(text: str) -> bool:
    return text.rstrip("/") == EMBEDDED or text.startswith(("http://", "https://"))
