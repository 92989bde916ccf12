"""Argument parsers of all commands except the app. Each names its function, whose module is imported when it runs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module

from aisle.cli.options import CommandParser, add_parent_options, add_setting_options
from aisle.settings import LANGUAGES


def run_command(arguments: Sequence[str]) -> int:
    """Run one command and return the exit status."""
    parsed = create_parser().parse_args(arguments)
    module, _, function = parsed.does.partition(":")
    status: int = getattr(import_module(f"aisle.cli.{module}"), function)(parsed)
    return status


def create_parser() -> CommandParser:
    """Return the parser of all commands."""
    parser = CommandParser(prog="aisle")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=CommandParser)
    _add_serve(commands)
    _add_token(commands)
    _add_backup(commands)
    _add_load(commands)
    _add_api(commands)
    _add_assignments(commands)
    _add_people(commands)
    _add_audit(commands)
    _add_purge(commands)
    _add_courier(commands)
    _add_outbox(commands)
    _add_doctor(commands)
    _add_sheet(commands)
    _add_web(commands)
    _add_completion(commands)
    return parser


_Subparsers = argparse._SubParsersAction  # argparse has no public name for it


def _add_command(commands: _Subparsers[CommandParser], name: str, handler: str, text: str) -> CommandParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(does=handler)
    return parser


def _add_serve(commands: _Subparsers[CommandParser]) -> None:
    parser = _add_command(commands, "serve", "serve:serve", "Run the Store Operations Service for other hosts.")
    parser.add_argument(
        "--database",
        metavar="URL",
        help="sqlite:///FILE (sqlite:////FILE from the root) or postgresql://HOST/NAME (default: the embedded store's)",
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that answer (default: 1)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8480, help="port to listen at (default: %(default)s)")
    parser.add_argument("--certificate", metavar="FILE", help="TLS certificate (PEM)")
    parser.add_argument("--private-key", metavar="FILE", help="its private key (PEM)")
    parser.add_argument(
        "--allow-plain-http",
        action="store_true",
        help="listen beyond this machine without TLS, behind a proxy of yours",
    )
    parser.add_argument(
        "--rate", type=float, default=300.0, help="requests a second for each token, 0 for any number (default: 300)"
    )
    parser.add_argument(
        "--rate-bytes",
        type=float,
        default=8.0 * (1 << 20),
        metavar="BYTES",
        help="bytes of bodies a second for each token, 0 for any number, as with --rate 0 (default: 8 MiB)",
    )
    parser.add_argument(
        "--access-log", metavar="FILE", help="a line of JSON for each request, without secrets; - for standard error"
    )
    parser.add_argument(
        "--time-zone", metavar="ZONE", help="zone of dates and times that name none (default: as set, else the host's)"
    )
    parser.add_argument("--json-logs", action="store_true", help="what it says of itself as lines of JSON")
    parser.add_argument(
        "--proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="address of a proxy before it, whose X-Forwarded-For is believed (more than once: of several)",
    )
    _add_per_address(parser)
    parser.add_argument(
        "--drain-seconds",
        type=float,
        default=0.0,
        metavar="S",
        help="so long it answers on after SIGTERM, and /ready says that it is leaving; a balancer needs twice the time"
        " between two of its questions (default: 0)",
    )
    parser.add_argument(
        "--lenient",
        action="store_true",
        help="ignore unknown query parameters, which are refused otherwise",
    )
    store = parser.add_mutually_exclusive_group()
    store.add_argument(
        "--demo",
        action="store_true",
        default=None,
        help="put the demo store in where there is no store yet; without --database that is so anyway",
    )
    store.add_argument(
        "--empty", dest="demo", action="store_false", help="no demo store; with --database that is so anyway"
    )


def _add_per_address(parser: CommandParser) -> None:
    parser.add_argument(
        "--connections-per-address",
        type=_connections,
        metavar="N",
        help="connections that one address may have, 0 for any number (default: a quarter of all; a --proxy has any)",
    )


def _connections(text: str) -> int:
    """Return a number of connections. Raise ArgumentTypeError."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text} is no number of them; 0 is for any number.")
    return int(text)


def _add_token(commands: _Subparsers[CommandParser]) -> None:
    parser = _add_command(commands, "token", "serve:token", "Tokens of the service: who may call it.")
    parser.add_argument(
        "--database",
        metavar="URL",
        help="sqlite:///FILE (sqlite:////FILE from the root) or postgresql://HOST/NAME (default: the embedded store's)",
    )
    actions = parser.add_subparsers(dest="action", required=True, parser_class=CommandParser)
    add = actions.add_parser("add", help="make a token and print it once")
    add.add_argument("name", help="what it is for, for instance handhelds-0042")
    add.add_argument("--role", choices=("staff", "supervisor", "integration", "admin", "metrics"), default="staff")
    add.add_argument("--stores", required=True, help="store numbers, separated by commas; * for all")
    add.add_argument("--days", type=int, help="days until it expires (default: never)")
    actions.add_parser("list", help="all tokens, without their secrets")
    actions.add_parser("revoke", help="end a token at once").add_argument("name", help="its name or id")
    add_parent_options(actions.choices.values(), parser)


def _add_backup(commands: _Subparsers[CommandParser]) -> None:
    backup = _add_command(commands, "backup", "backup:backup", "Copy the service's SQLite database while it is in use.")
    backup.add_argument("file", metavar="FILE", help="where the copy goes (mode 0600)")
    backup.add_argument("--replace", action="store_true", help="FILE may be there already")
    restore = _add_command(
        commands, "restore", "backup:restore_backup", "Put such a copy back, also while the service runs."
    )
    restore.add_argument("file", metavar="FILE", help="the copy")
    restore.add_argument("--yes", action="store_true", help="what the database has beyond the copy may go")
    for parser in (backup, restore):
        parser.add_argument("--database", metavar="URL", help="sqlite:///FILE (default: the embedded store's)")


def _add_load(commands: _Subparsers[CommandParser]) -> None:
    parser = _add_command(
        commands, "load", "load:run", "Load a shop or a chain from CSV files, as a spreadsheet saves them."
    )
    parser.add_argument(
        "directory",
        metavar="DIR",
        nargs="?",
        help="folder with any of stores, products, attributes, free_fields, prices,"
        " discount_prices, locations, people, store_products, stock, orders, deliveries (.csv);"
        " an empty cell leaves the value that is there, and (empty) takes it away",
    )
    parser.add_argument(
        "--columns", metavar="FILE", nargs="?", const="", help="print the columns of FILE, or of all files, and end"
    )
    parser.add_argument("--strict", action="store_true", help="stop at the first bad row")
    parser.add_argument("--recount", action="store_true", help="count stock again that was loaded or counted before")
    add_setting_options(parser)


def _add_api(commands: _Subparsers[CommandParser]) -> None:
    parser = _add_command(
        commands, "api", "api:run", "Run one operation of the interface and print its answer as JSON."
    )
    parser.add_argument("operation", metavar="OPERATION", help="its heading in kebab case; 'list' prints all")
    parser.add_argument(
        "--query",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter by its wire name, wherever it travels (path, query or header); repeatable",
    )
    parser.add_argument("--body", metavar="FILE", help="JSON file with the body, - for standard input")
    parser.add_argument("--all", action="store_true", help="every page of a list, one JSON object a line")
    parser.add_argument(
        "--raw", action="store_true", help="the answer's very bytes, into a file or pipe (else no control characters)"
    )
    parser.add_argument("--key", metavar="KEY", help="Idempotency-Key of a write (default: a new one)")
    parser.add_argument("--yes", action="store_true", help="do what would otherwise be asked about (flush, delete)")
    add_setting_options(parser)


def _add_assignments(commands: _Subparsers[CommandParser]) -> None:
    text = "What clearances want moved in this store and is still held where it was, in walking order."
    parser = _add_command(commands, "assignments", "assignments:run", text)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    add_setting_options(parser)


def _add_people(commands: _Subparsers[CommandParser]) -> None:
    people = _add_command(
        commands, "people", "people:run", "Who works in the store, with which rights, and their PINs."
    )
    add_setting_options(people)
    actions = people.add_subparsers(dest="action", required=True, parser_class=CommandParser)
    listed = actions.add_parser("list", help="badge, user name, role, whether there is a PIN, name")
    listed.add_argument("--json", action="store_true", help="one JSON object a line")
    person = actions.add_parser("set", help="add somebody, or change what is named")
    person.add_argument("badge", help="what is on the badge")
    person.add_argument("--user-name", help="under which work is noted")
    person.add_argument("--name", help="the person's name")
    person.add_argument("--role", choices=("staff", "supervisor"), help="default for somebody new: staff")
    pin = person.add_mutually_exclusive_group()
    pin.add_argument("--pin", action="store_true", help="ask for a PIN (from a script: a line of standard input)")
    pin.add_argument("--no-pin", action="store_true", help="take the PIN away")
    actions.add_parser("remove", help="somebody works here no more").add_argument("badge", help="what is on the badge")
    add_parent_options(actions.choices.values(), people)


def _add_purge(commands: _Subparsers[CommandParser]) -> None:
    text = "Let what is old leave the service's database while it is in use; sums stay as they are."
    purge = _add_command(commands, "purge", "purge:run", text)
    purge.add_argument(
        "--before", metavar="TIME", help="a day or moment, or so many days ago: 400d (default: as keep_…_days are set)"
    )
    parts = ("ledger", "log", "changes", "orders", "deliveries", "answers", "audit", "outbox", "archive")
    purge.add_argument("--only", action="append", choices=parts, help="this alone (default: all)")
    purge.add_argument("--database", metavar="URL", help="as for aisle serve (default: the embedded store's)")


def _add_audit(commands: _Subparsers[CommandParser]) -> None:
    text = "Who changed prices, settings, orders, locations, people, PINs and tokens, when, from what to what."
    audit = _add_command(commands, "audit", "audit:run", text)
    audit.add_argument("--chain", action="store_true", help="catalogue, stores and tokens instead of the store")
    audit.add_argument("--since", metavar="TIME", help="from this day or moment on, for instance 2026-11-26T18:00")
    subjects = ("product", "store product", "store", "location", "order", "person", "token")
    audit.add_argument("--subject", choices=subjects)
    form = audit.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="for a spreadsheet, with a header")
    form.add_argument("--json", action="store_true", help="one JSON object a line")
    add_setting_options(audit)


def _add_courier(commands: _Subparsers[CommandParser]) -> None:
    courier = _add_command(commands, "courier", "courier:run", "Be the process that sends and fetches for this host.")
    add_setting_options(courier)
    sync = _add_command(commands, "sync", "sync:sync", "Bring the cache of the store up to date now.")
    sync.add_argument("--full", action="store_true", help="read everything anew")
    add_setting_options(sync)


def _add_outbox(commands: _Subparsers[CommandParser]) -> None:
    outbox = _add_command(
        commands, "outbox", "outbox:outbox", "What is waiting to be sent, and what became of the rest."
    )
    outbox.add_argument("--all", action="store_true", help="also what is done")
    add_setting_options(outbox)
    actions = outbox.add_subparsers(dest="action", parser_class=CommandParser)
    show = actions.add_parser("show", help="one operation: what was meant, and what both sides say")
    show.add_argument("id", metavar="ID", help="its id, or the beginning of it")
    settle = actions.add_parser("settle", help="say what became of one that nobody else can settle")
    settle.add_argument("id", metavar="ID", help="its id, or the beginning of it")
    hows = ("arrived", "again", "overage", "difference", "by-hand")
    settle.add_argument("how", choices=hows, help="as `outbox show` says that it can be settled")
    settle.add_argument("--by", default="", metavar="WHO", help="who says so (default: the account of this shell)")
    settle.add_argument("--note", default="", metavar="TEXT", help="how it was settled")
    replay = actions.add_parser("replay", help="after a restore of the service: send again what it confirmed")
    replay.add_argument(
        "--since",
        metavar="WHEN",
        help="what was confirmed since then: 2026-11-26T18:00 by the time of the store, 12h or 3d ago (default: as"
        " far back as the service keeps keys, 29 days)",
    )
    add_parent_options(actions.choices.values(), outbox)
    journal = _add_command(commands, "journal", "outbox:journal", "What was scanned, youngest last.")
    journal.add_argument("--last", type=int, default=50, metavar="N", help="how many (default: %(default)s)")
    journal.add_argument("--json", action="store_true", help="one JSON object a line")
    journal.add_argument("--archive", action="store_true", help="how much is archived, by day, person and job")
    add_setting_options(journal)


def _add_doctor(commands: _Subparsers[CommandParser]) -> None:
    doctor = _add_command(
        commands, "doctor", "doctor:run", "Look at all that work on this host stands on; change nothing."
    )
    doctor.add_argument(
        "--settings", action="store_true", help="print the settings in force, and where each comes from"
    )
    doctor.add_argument("--database", metavar="URL", help="tell the sizes of this one, too; named as for aisle serve")
    doctor.add_argument("--json", action="store_true", help="for programs")
    doctor.add_argument("--terminal", help="look with the settings of this terminal")
    add_setting_options(doctor)


def _add_sheet(commands: _Subparsers[CommandParser]) -> None:
    sheet = _add_command(
        commands, "sheet", "barcode_sheet:run", "Print a page (HTML) with the commands as barcodes to scan."
    )
    sheet.add_argument("--out", metavar="FILE", help="write it to FILE (default: standard output)")


def _add_completion(commands: _Subparsers[CommandParser]) -> None:
    text = "Print a script that has a shell complete commands, options and operations."
    completion = _add_command(commands, "completion", "completion:run", text)
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell it is for")


def _add_web(commands: _Subparsers[CommandParser]) -> None:
    text = "The same screens in a browser, for supervisors who sign in with their PIN (needs the extra aisle[web])."
    web = _add_command(commands, "web", "web:run", text)
    web.add_argument("--host", default="127.0.0.1", help="address to listen at (default: %(default)s)")
    web.add_argument("--port", type=int, default=8490, help="port to listen at, 0 for any (default: %(default)s)")
    web.add_argument("--certificate", metavar="FILE", help="TLS certificate (PEM)")
    web.add_argument("--private-key", metavar="FILE", help="its private key (PEM)")
    web.add_argument(
        "--allow-plain-http",
        dest="allow_plain_web",
        action="store_true",
        help="listen beyond this machine without TLS, behind a proxy of yours",
    )
    web.add_argument("--origin", metavar="URL", help="what browsers call it, where a proxy stands before it")
    web.add_argument(
        "--proxy",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="address of that proxy, whose X-Forwarded-For is believed; else wrong tries by it count as one person's",
    )
    _add_per_address(web)
    web.add_argument("--language", choices=LANGUAGES, help="what people read; else that of the environment")
    add_setting_options(web)
