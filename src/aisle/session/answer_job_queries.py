"""Results of the queries of jobs, and raw inputs for the jobs that want them."""

from __future__ import annotations

from aisle.cache.reader import CacheReader
from aisle.jobs.job import Export, ExportList, FileEffect, PrintTable, Query, RawInput, Rows
from aisle.scan.grammar_and_meaning_types import Meaning
from aisle.scan.inputs import Line
from aisle.session.profile_from_settings import Profile
from aisle.session.screen_size_and_terminal import MessageText, Terminal, terminal_properties


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
