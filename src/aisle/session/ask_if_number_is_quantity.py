"""Question of the session about a number typed too fast, or after a refused scan: is it a quantity, or a choice?

`jobs/quantity_or_record` asks another question: is it a quantity, or the number of a product?

While it is asked it is the only question: its choices replace those of the page, whose question is shown again later.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from aisle.jobs.choice_letters import DROP, YES, is_total_asked, letter_prompt, quantity_prompt
from aisle.jobs.quantity_or_record import name_of
from aisle.jobs.view import ASK, DetailView, ListView, Msg, Step, Verdict, View, msg, without_row_numbers
from aisle.scan.grammar_and_meaning_types import Choice, Match, Quantity

CONFIRM_FAST_NUMBER: Final = "input.confirm_fast_number"
"""Message id of the question whether a number at the pace of a scanner is a quantity."""

AFTER_REFUSED_SCAN: Final = "input.number_after_refused_scan"
"""Message id of the question whether a number was meant for the scan that was refused before it."""

CHOICE_AFTER_REFUSED_SCAN: Final = "input.choice_after_refused_scan"
"""Message id of the question whether a number is a choice, or was meant for the scan that was refused before it."""

QUESTIONS_AFTER_REFUSED_SCAN: Final = (AFTER_REFUSED_SCAN, CHOICE_AFTER_REFUSED_SCAN)

RECORD_OR_VALUE: Final = "input.record_or_value"
"""Message id of the question whether a number is a value, or was scanned as that of something in the store."""

NUMBER_QUESTIONS: Final = (CONFIRM_FAST_NUMBER, *QUESTIONS_AFTER_REFUSED_SCAN, RECORD_OR_VALUE)


class AskedNumber(NamedTuple):
    """Number that waits for `y` on its page, or to be typed again."""

    text: str = ""
    quantity: Quantity | None = None
    """Quantity that `y` takes; None for a choice, or if it has to be typed again."""
    page: tuple[Any, ...] = ()
    label: str = ""
    """Name of the goods that it would count, after a refused scan; empty for a number at the pace of a scanner."""
    record: Match | None = None
    """What has this number, if it came a little slower than by a scanner."""
    choice: Msg | None = None
    """Choice that `y` takes, in words; None for a quantity."""

    @property
    def answer(self) -> Quantity | Choice | None:
        """Return what `y` takes; None if the number has to be typed again."""
        if self.choice:
            return Choice(int(self.text))
        return self.quantity.confirmed if self.quantity else None

    @property
    def question(self) -> Verdict:
        """Return the question."""
        text = self.text.strip(" ")
        if self.choice:
            return Verdict(ASK, msg(CHOICE_AFTER_REFUSED_SCAN, text=text, choice=self.choice))
        if self.label:
            return Verdict(ASK, msg(AFTER_REFUSED_SCAN, text=text, label=self.label))
        if self.record:
            return Verdict(ASK, msg(RECORD_OR_VALUE, text=text, record=name_of(self.record)))
        return Verdict(ASK, msg(CONFIRM_FAST_NUMBER, text=text))

    @property
    def letters(self) -> str:
        """Return the letters of its answers."""
        return YES + DROP if self.answer else DROP

    def show_on(self, view: View) -> View:
        """Return the page with the answers to this question in place of its own choices."""
        plain = without_row_numbers(view)
        if not isinstance(plain, Step | DetailView | ListView):
            return view
        drop = msg("input.choice_drop_number", text=self.text.strip(" "))
        answers: tuple[Msg, ...] = (drop,)
        if self.choice:
            answers = (self.choice, drop)
        elif self.quantity:
            answers = (msg("count.choice_quantity", quantity=self.quantity.value), drop)
        is_total = is_total_asked(plain.prompt)
        prompt = (
            letter_prompt(self.letters, scans=False)
            if self.choice
            else quantity_prompt(self.letters, is_total=is_total)
        )
        return plain._replace(choices=answers, choice_letters=self.letters, prompt=prompt)


NO_NUMBER = AskedNumber()
