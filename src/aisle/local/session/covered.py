"""What of one drained queue was not taken, and would be covered by the answer to what came after it: a screen has room
for one verdict, and whoever scans several things in a row sees only the last.

A part of aisle.local.session.session.
"""

from __future__ import annotations

from aisle.jobs.view import ASK, WRONG, Msg, Verdict, msg
from aisle.scan.meaning import Either, Said, Text, Thing, Unknown
from aisle.tuples import NamedTuple


class Covered(NamedTuple):
    """How many lines of a queue were refused, and why the first of them was."""

    lines: int = 0
    why: Msg | None = None
    is_last: bool = False
    """Whether the last line was one of them: its own words are on the screen."""
    question: Msg | None = None
    """What a scan was answered with that still waits for a number, with so many choices."""
    choices: int = 0
    is_scan_refused: bool = False
    """Whether the last scan was refused: a number after it was meant for that."""

    def after(self, said: Said, verdict: Verdict | None, choices: int) -> Covered:
        """One more line, what it was answered with, and how many choices there are now. A question that another scan
        has taken the place of leaves its own scan untaken."""
        kind = verdict.kind if verdict else ""
        is_scan = isinstance(said, Thing | Unknown | Text)
        known, question = self._replace(is_last=False), None
        if is_scan or isinstance(said, Either):
            known = known._replace(is_scan_refused=kind == WRONG)
        if self.question and is_scan and (kind == ASK or choices != self.choices):
            known = known._with(self.question)
        if verdict and kind == WRONG:
            known = known._with(verdict.text)._replace(is_last=True)
            question = self.question if choices == self.choices else None
        elif verdict and kind == ASK and choices and is_scan:
            question = verdict.text
        return known._replace(question=question, choices=choices)

    def over(self, verdict: Verdict | None) -> Verdict | None:
        """What the screen says at the end of the queue: the last refusal first where choices are open, for they are its
        own."""
        if not self.why or self.lines == int(self.is_last):
            return verdict
        if verdict is None or verdict == Verdict(WRONG, self.why):  # the same is not said twice
            return Verdict(WRONG, msg("session.not_taken", count=self.lines, why=self.why))
        if verdict.kind == ASK and not self.is_last:  # what is asked now comes first
            return verdict._replace(text=msg("session.taken_not", count=self.lines, why=self.why, said=verdict.text))
        told = msg("session.not_all", count=self.lines, why=self.why, said=verdict.text)
        if self.is_last and self.choices:
            told = msg("session.not_all", count=self.lines, why=verdict.text, said=self.why)
        return Verdict(ASK if verdict.kind == ASK else WRONG, told)

    def _with(self, why: Msg) -> Covered:
        return self._replace(lines=self.lines + 1, why=self.why or why)
