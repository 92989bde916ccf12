"""The page of notes: what is scanned there and wanted by nobody is answered."""

from __future__ import annotations

from aisle.jobs.job import Close, Context
from aisle.jobs.shell.customer_comments import NoteJob
from aisle.jobs.view import WRONG, Verdict, msg
from aisle.scan.grammar_and_meaning_types import ORDER, PRODUCT, Back, Match, Scan

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z")


def test_scan_refused_by_job_below_keeps_page() -> None:
    job = NoteJob()
    for kind, key, label, said in ((PRODUCT, "P1", "Oat drink", "Oat drink"), (ORDER, "4102", "", "4102")):
        turn = job.handle(job.begin(), Scan((Match(kind, key, label, code=key),)), CONTEXT)
        assert turn.verdict == Verdict(WRONG, msg("note.not_wanted", what=said))
        assert turn.effects == ()
    assert job.handle(job.begin(), Back(), CONTEXT).effects == (Close(),)
