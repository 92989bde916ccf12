"""Definitions of all settings: names, defaults, accepted values. The value in force: `load_settings`."""

import os
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.errors import SettingsError, UsageError
from aisle.settings.process_time_zone import parse_zone

EMBEDDED = "embedded"
"""Base URL of the service that is part of aisle."""


DEMO_STORE = "0001"
"""Store number of the embedded service's demo store."""


LOSS_REASONS = ("1 - Damaged", "2 - Expired", "3 - Theft", "4 - Own use", "5 + Found")
"""Default reasons of losses and finds: code, sign of the stock change, text."""


SHORTAGE_REASONS = ("20 0 Location is empty", "21 Not found", "22 Damaged", "23 Expired", "24 Not enough")
"""Default reasons of shortages: code, 0 if the location is empty, text."""


REJECTION_REASONS = ("30 Not collected", "31 Cancelled by the customer", "32 Ordered twice", "33 Not paid")
"""Default reasons to reject an order: code, text. Those of shortages are offered too."""


class DefaultReasons(NamedTuple):
    """Default reasons in one language; codes and signs are the same in all."""

    adjustment_reasons: tuple[str, ...]
    short_reasons: tuple[str, ...]
    rejection_reasons: tuple[str, ...]


REASONS_BY_LANGUAGE = {
    "en": DefaultReasons(LOSS_REASONS, SHORTAGE_REASONS, REJECTION_REASONS),
    "nl": DefaultReasons(
        ("1 - Beschadigd", "2 - Over de datum", "3 - Diefstal", "4 - Eigen gebruik", "5 + Gevonden"),
        ("20 0 Locatie is leeg", "21 Niet gevonden", "22 Beschadigd", "23 Over de datum", "24 Niet genoeg"),
        ("30 Niet opgehaald", "31 Geannuleerd door de klant", "32 Dubbel besteld", "33 Niet betaald"),
    ),
    "de": DefaultReasons(
        ("1 - Beschädigt", "2 - Abgelaufen", "3 - Diebstahl", "4 - Eigenbedarf", "5 + Gefunden"),
        ("20 0 Platz ist leer", "21 Nicht gefunden", "22 Beschädigt", "23 Abgelaufen", "24 Nicht genug"),
        ("30 Nicht abgeholt", "31 Vom Kunden storniert", "32 Doppelt bestellt", "33 Nicht bezahlt"),
    ),
    "fr": DefaultReasons(
        ("1 - Abîmé", "2 - Périmé", "3 - Vol", "4 - Usage propre", "5 + Retrouvé"),
        ("20 0 Emplacement vide", "21 Introuvable", "22 Abîmé", "23 Périmé", "24 Pas assez"),
        ("30 Non retirée", "31 Annulée par le client", "32 Commandée deux fois", "33 Non payée"),
    ),
}


RECOUNT_UNITS, RECOUNT_VALUE = Decimal(10), Decimal(50)
"""Differences above this many units, or this value, are counted again."""


LARGE_QUANTITY = Decimal(1000)
"""Typed quantity from which a confirmation is asked where no stock is expected."""


STUCK_MINUTES = Decimal(60)
"""Minutes without a change after which an order in progress is stuck."""


WEIGHT_TOLERANCE = Decimal(5)
"""Per cent of the ordered quantity that a weighed line may lack."""

_GREATEST = {"weight_tolerance": 50}
"""Greatest values of numbers that are limited."""


EXPIRY_CHECK_DAYS, EXPIRY_FAR_DAYS = Decimal(3), Decimal(1096)
"""Days between a check and the expiry date, and days ahead from which that date has to be confirmed."""

PICKUP_DAYS = Decimal(3)
"""Days that a picked order may wait for its customer."""

KEEP_DAYS, KEEP_LONG_DAYS = Decimal(400), Decimal(800)
"""Default retention in days: of most data, and of data that is often needed late."""


_TEXT_PATTERNS = {
    "pools": (r"\s*(10|[1-9]) +\S.*", "'1 Shop': a number from 1 to 10 and a name"),
    "reasons": (r"\s*\d+\s*[+-]\s*\S.*", "'1 - Damaged' (takes from the stock) or '5 + Found' (adds to it)"),
    "reject_reasons": (r"\s*\d+\s+\S.*", "'30 Not collected'"),
    "short_reasons": (r"\s*\d+\s+\S.*", "'22 Damaged' or '20 0 Location is empty' (nothing is left there)"),
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
    verify_totes: bool = False
    """True if a batch requires a scan of the tote after each take."""
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
    weight_tolerance: Decimal = WEIGHT_TOLERANCE
    """Per cent that a weighed line of an order or delivery may lack and be complete; 0 for nothing."""
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
    check_hand_over: bool = False
    """True if each product of an order is scanned before it is handed over."""
    pickup_days: Decimal = PICKUP_DAYS
    """Days after which a picked order that nobody has collected is an exception; 0 for never."""
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
    """Patterns of in-store codes with weight or price, see aisle.scan.codes_of_store_and_suppliers."""
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


def settings_from_values(values: Mapping[str, object]) -> Settings:
    """Return settings with these valid values, and the defaults of the others."""
    return Settings._make({**Settings._field_defaults, **values}.values())


def setting_type(key: str) -> type:
    """Return the type of a setting, derived from its default; evaluating type hints would be slow."""
    return type(Settings._field_defaults[key])


def validate_setting(key: str, value: Any, where: str) -> Any:
    """Return the validated value of a setting. Raise SettingsError with the error, its place and the accepted
    values.
    """
    if key == "keys" and value:
        from aisle.settings.key_bindings import validate_keys

        return validate_keys(value, where)
    kind = setting_type(key)
    if key == "base_url" and type(value) is str and not _is_service_url(value):
        raise SettingsError(f"base_url in {where} is {value!r}; {_ADDRESS_RULE}")
    if key == "store" and type(value) is str and not value.strip():
        raise SettingsError(f"store in {where} is empty; it takes the number of a store.")
    if key == "time_zone" and value and type(value) is str:
        try:
            parse_zone(value)
        except SettingsError as error:
            raise SettingsError(str(error).replace("time_zone is", f"time_zone in {where} is", 1)) from None
    if kind in (str, bool) and type(value) is kind:
        if value not in _CHOICES.get(key, (value,)):
            raise SettingsError(f"{key} in {where} is {value!r}; it takes {', '.join(filter(None, _CHOICES[key]))}.")
        return value
    if kind is Decimal and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = Decimal(str(value))
        if number.is_finite() and 0 <= number <= _GREATEST.get(key, number):
            return number
    plain = (str, bool, Decimal)
    if kind not in plain and isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return _validate_texts(key, tuple(value), where)
    numbers = f"a number from 0 to {_GREATEST[key]}" if key in _GREATEST else "a number from 0 on"
    expected = {str: "a text", bool: "true or false", Decimal: numbers}.get(kind, "a list of texts")
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


def service_url(settings: Settings) -> str:
    """Return the address of the service without a trailing slash. Raise UsageError if it is invalid."""
    if not _is_service_url(settings.base_url):
        raise UsageError(f"base_url is {settings.base_url!r}; {_ADDRESS_RULE}")
    return settings.base_url.rstrip("/")


def _is_service_url(text: str) -> bool:
    return text.rstrip("/") == EMBEDDED or text.startswith(("http://", "https://"))


def effective_language(settings: Settings, environ: Mapping[str, str] = os.environ) -> str:
    """Return the language set, else that of LC_ALL, LC_MESSAGES or LANG; empty if aisle does not have it."""
    locale = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    language = re.split(r"[_.@-]", locale)[0].lower()
    return settings.language or (language if language in LANGUAGES else "")
