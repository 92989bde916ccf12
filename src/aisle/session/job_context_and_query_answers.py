"""Facts that jobs decide on, results of their queries, and raw inputs for the jobs that want them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from aisle.cache.reader import CacheReader
from aisle.jobs.job import Context, Export, ExportList, FileEffect, PrintTable, Query, RawInput, Rows, SignIn
from aisle.scan.grammar_and_meaning_types import Meaning
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.profile import Profile, ProfileInForce
from aisle.session.terminal_screen_and_keys import MessageText, Terminal, terminal_properties


class _Snapshot(NamedTuple):
    user: SignIn
    cached: Context | None


class SessionContext:
    """Person and moment of a session, and the `Context` that jobs are given of them."""

    def __init__(self, profile: ProfileInForce, terminal: Terminal, clock: Callable[[], float]) -> None:
        self._profile = profile
        self._terminal = terminal
        self.clock = clock
        self.at = 0.0
        """Moment of all inputs of the current batch, in seconds since 1970."""
        self.user = SignIn("", "")
        self._cached: Context | None = None

    def start_batch(self) -> None:
        """Read the clock: all that a batch holds happens at one moment."""
        self.at = self.clock()
        self._cached = None

    def sign_in(self, user: SignIn) -> None:
        """Set the person, or nobody."""
        self.user = user
        self._cached = None

    def forget(self) -> None:
        """Build the context anew when it is needed next."""
        self._cached = None

    def set_visible_rows(self, rows: int) -> None:
        """Tell jobs for the rest of the batch how many rows of their list are visible."""
        self._cached = self.current()._replace(visible_rows=rows)

    def current(self) -> Context:
        """Return the facts for the jobs, the same object until one of them changes."""
        if self._cached is None:
            profile, size = self._profile.current, self._terminal.size
            self._cached = Context(
                store=profile.store,
                user=self.user.user,
                person_name=self.user.name,
                now=iso_time(self.at),
                policy=profile.policy,
                window_rows=size.list_rows,
                terminal=profile.terminal,
                extra_rows=size.extra_list_rows,
                has_pane=size.has_pane,
                pane_rows=size.pane_rows,
                is_desk=size.is_desk,
            )
        return self._cached

    def snapshot(self) -> _Snapshot:
        """Return the state to go back to with `restore`."""
        return _Snapshot(self.user, self._cached)

    def restore(self, snapshot: _Snapshot) -> None:
        """Go back to a snapshot."""
        self.user, self._cached = snapshot


def iso_time(at: float) -> str:
    """Return seconds since 1970 as ISO 8601 UTC with milliseconds."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def raw_input(line: Line, meaning: Meaning) -> RawInput:
    """Return a line with all that the decoder knows of it, and its meaning."""
    pace = round(line.median_pause * 1000)
    return RawInput(line.text, line.terminator, round(line.longest_pause * 1000), line.dropped, meaning, pace_ms=pace)


def answer_query(
    query: Query | FileEffect, reader: CacheReader, profile: Profile, terminal: Terminal, at: float
) -> Rows:
    """Return the rows of a query, or the outcome of an export, which is named after the moment `at`."""
    if isinstance(query, ExportList):
        from aisle.session.files_for_people import export_list  # rarely needed

        return export_list(query, reader, profile, terminal, at)
    if isinstance(query, PrintTable):
        from aisle.session.files_for_people import print_table  # rarely needed

        return print_table(query, profile, terminal, at)
    if isinstance(query, Export):
        from aisle.cache.write_csv_file import write_csv  # rarely needed

        return write_csv(reader.query, query, allowed=profile.may_export)
    if query.name == "file":
        from aisle.cache.write_csv_file import check_export_file

        return check_export_file(query, allowed=profile.may_export)
    if query.name == "terminal":
        return Rows(query.id, (terminal_properties(*terminal.size),), 1)
    if query.name == "message_texts":
        return _message_texts(query, profile.language, terminal.message_text)
    rows, total, is_partial = reader.query_window(query.name, query.args)
    return Rows(query.id, tuple(rows), total, is_partial)


def _message_texts(query: Query, language: str, message_text: MessageText | None) -> Rows:
    """Return the rows of the query `message_texts`: the full texts of messages, for search."""
    texts = (message_text(each, language) if message_text else each.id for each in query.args["messages"])
    rows = tuple({"text": text} for text in texts)
    return Rows(query.id, rows, len(rows))
