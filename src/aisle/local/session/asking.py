"""What a session itself has asked or keeps in mind: two readings to choose from, `12*` for the next scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aisle.jobs import COUNTING, numbers
from aisle.jobs.base import Context, Start
from aisle.jobs.base import priced as as_price
from aisle.jobs.choice_keys import MOST, keys_of
from aisle.jobs.numbers import prompt_letter, way_other
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Detail, Msg, Step, Verdict, View, msg, unnumbered
from aisle.jobs.view import raw as as_it_came
from aisle.local.reads.reads import Reads
from aisle.local.session import how_much
from aisle.local.session.ear import name_of
from aisle.local.session.house import is_house
from aisle.local.session.stack import Level, Outcome, Stack
from aisle.scan.meaning import (
    PRODUCT,
    Back,
    Choice,
    Command,
    Either,
    Meaning,
    Open,
    Quantity,
    Said,
    Text,
    Thing,
    Times,
    Unknown,
)
from aisle.scan.spelling import is_multiplied
from aisle.tuples import NamedTuple

MORE = "m"
"""The letter for more of what is asked about."""

ANSWERS = "yx"
"""The letters that answer whether the number of something is a quantity all the same."""


class Asking(NamedTuple):
    """One thing kept in mind, for the page that it was said on."""

    page: tuple[int, str, str] = (0, "", "")
    ways: tuple[Thing, ...] = ()
    """Two readings are left of an input, or several products have its code: which?"""
    first: int = 0
    """So many of them stand on pages before this one."""
    times: str = ""
    """The next scan is so many of it."""
    passed: int = 0
    """So many scans before this one were asked about, and nobody has answered."""
    label: Thing | None = None
    """What was scanned, sold by measure, whose label does not say how much there is: how much?"""
    doubt: Quantity | None = None
    """What was typed for that and is the number of something: `y` takes it all the same, `x` does not."""
    number: Meaning | None = None
    """What that is the number of."""

    @property
    def pending(self) -> bool:
        """Whether there is anything to keep in mind."""
        return bool(self.ways or self.times or self.label)

    @property
    def is_asked(self) -> bool:
        """Whether a scan waits for an answer."""
        return bool(self.ways or self.label)

    def on(self, levels: Sequence[Level]) -> Asking:
        """What is left of it now: nothing, once its page is gone."""
        return self if self.page == page_of(levels) else NOTHING

    def open(self, open_: Open) -> Open:
        """What an input may be: a choice of the readings while they are asked, or a quantity where that is. Where a
        quantity is open below, letters choose, and a number is none."""
        if self.label:
            keys = ANSWERS if self.doubt else ""
            return Open(quantity=True, decimals=True, choices=len(keys), letters="u", by_hand=bool(keys), keys=keys)
        if not self.ways:
            return open_
        choices = len(self._shown) + self._is_paged
        return Open(choices=choices, by_hand=self._is_paged, keys=self._keys(open_))

    @property
    def _is_paged(self) -> bool:
        """Whether there are more readings than are asked about at once."""
        return len(self.ways) > MOST

    @property
    def _shown(self) -> tuple[Thing, ...]:
        """The readings that are asked about now."""
        return self.ways[self.first : self.first + MOST - 1] if self._is_paged else self.ways

    def _keys(self, open_: Open) -> str:
        """A letter for each of them, where a quantity is open below, and always the same one for the next of them."""
        if not (open_.quantity or open_.keys):
            return ""
        return keys_of(("" for _ in self._shown), MORE) + MORE * self._is_paged

    def leafed(self, said: Said) -> Asking | None:
        """The next readings, or the first ones after the last; None where nobody asks for them."""
        if not self._is_paged or said != Choice(len(self._shown) + 1):
            return None
        first = self.first + MOST - 1
        return self._replace(first=first if first < len(self.ways) else 0)

    def chosen(self, said: Said) -> Said:
        """The reading of that number, where one was asked for; so much of what was scanned, where that was."""
        if self.doubt and said == Choice(1):
            said = self.doubt
        if self.label and isinstance(said, Quantity):
            return how_much.measured(self.label, said.value) if said.value else Back()
        if isinstance(said, Choice) and said.number <= len(self._shown):
            return self._shown[said.number - 1]
        return said

    def takes_back(self, said: Said) -> Said:
        """An undo while it is asked how much there is: the number that was typed is none, or the label goes."""
        if not self.label or said != Command("u"):
            return said
        return Choice(2) if self.doubt else Back()

    def remembered(self) -> Either | Times | Thing | None:
        """What has to be kept of it for whoever goes on after an end in mid-work."""
        if self.label:
            return self.label
        if self.ways:
            return Either(self.ways)
        return Times(self.times) if self.times else None

    def multiplies(self, said: Said, text: str) -> bool:
        """Whether that is the code or number that the multiplier waits for, no look and no multiplier of its own."""
        is_code = isinstance(said, Unknown | Either | Quantity) or (isinstance(said, Thing) and not said.lookup)
        return bool(self.times) and is_code and not text.lstrip().startswith("?") and not is_multiplied(text)

    def passed_over(self, said: Said, verdict: Verdict | None) -> Verdict | None:
        """What is said where it was asked what a scan is, and nobody has answered: the answer to what was said since,
        which may be a question of its own, and then that this scan is not taken."""
        if not self.is_asked or isinstance(said, Choice | Quantity | Back):
            return verdict
        count, why = self.passed + 1, how_much.named(self.label) if self.label else question(self.ways)
        if verdict is None:
            return Verdict(WRONG, msg("session.not_taken", count=count, why=why))
        kind = verdict.kind if verdict.kind in (GOOD, ASK) else WRONG
        return verdict._replace(kind=kind, text=msg("session.taken_not", count=count, why=why, said=verdict.text))

    def is_kept(self, said: Said, raw: str, verdict: Verdict | None, levels: Sequence[Level]) -> bool:
        """Whether the multiplier still waits: it was neither used nor taken back, and its page is still there."""
        if not self.times or self.on(levels) != self or isinstance(said, Quantity | Back | Times):
            return False
        is_goods = isinstance(said, Thing) and any(each.kind == PRODUCT for each in said.meanings)
        is_taken = verdict is not None and verdict.kind != WRONG and (is_goods or is_multiplied(raw))
        return not is_taken

    def kept(self, verdict: Verdict | None) -> Verdict:
        """What is said where the multiplier still waits."""
        if verdict is None:
            return Verdict(INFO, msg("session.times", times=self.times))
        return verdict._replace(text=msg("session.times_kept", times=self.times, said=verdict.text))

    def dropped(self, said: Said, raw: str, verdict: Verdict | None, job: str) -> Verdict | None:
        """What is said where the multiplier was for nothing, and is gone: so many are taken of goods alone, by a job
        that counts them (`job`: the one on the screen now). A multiplier of its own is the younger one."""
        is_goods = isinstance(said, Thing) and any(each.kind == PRODUCT for each in said.meanings)
        took = is_goods and verdict is not None and verdict.kind in (GOOD, ASK) and job in COUNTING
        if not self.times or took or isinstance(said, Quantity | Back | Times) or is_multiplied(raw):
            return verdict
        if verdict is None:
            return Verdict(INFO, msg("session.times_dropped", times=self.times))
        kind = INFO if verdict.kind == GOOD else verdict.kind
        return Verdict(kind, msg("session.times_unused", times=self.times, said=verdict.text))

    def typed(self, text: str) -> str:
        """The open line as a person has it in mind: `12*` stands before what is typed now."""
        return f"{self.times}*{text}" if self.times else text

    def over(self, view: View, open_: Open = Open()) -> View:  # noqa: B008 - a tuple
        """The page, which has this open, with the question on it."""
        if self.label:
            plain = unnumbered(view)
            plain = plain._replace(keys="") if isinstance(plain, Step | Detail) else plain
            if not self.doubt or not self.number or not isinstance(plain, Step | Detail):
                return plain._replace(choices=(), prompt=how_much.prompt(self.label))
            ways = (msg("count.way_quantity", quantity=self.doubt.value), way_other(self.number))
            return plain._replace(choices=ways, keys=ANSWERS, prompt=numbers.prompt(ANSWERS, scans=False))
        if not self.ways:
            return view
        choices, keys = tuple(as_it_came(name_of(way)) for way in self._shown), self._keys(open_)
        if self._is_paged:
            choices = *choices, msg("session.more_ways", count=len(self.ways) - len(choices))
        view = unnumbered(view)
        if isinstance(view, Step | Detail):
            prompt = prompt_letter(keys, scans=False) if keys else msg("session.choose")
            return view._replace(choices=choices, keys=keys, prompt=prompt)
        return view._replace(choices=choices, prompt=msg("session.choose"))


NOTHING = Asking()


def page_of(levels: Sequence[Level]) -> tuple[int, str, str]:
    """Which job stands on the screen, told from all others before and after it."""
    return len(levels), levels[-1].job.name, levels[-1].ref


def asked_again(said: Either | Times | Thing, levels: Sequence[Level]) -> tuple[Asking, Verdict]:
    """What is kept in mind again after an end in mid-work, and what is said of it."""
    if isinstance(said, Either):
        return Asking(page_of(levels), ways=said.ways), Verdict(ASK, question(said.ways))
    if isinstance(said, Thing):
        return Asking(page_of(levels), label=said), Verdict(ASK, how_much.question(said))
    return Asking(page_of(levels), times=said.number), Verdict(INFO, msg("session.times", times=said.number))


def question(ways: Sequence[Thing]) -> Msg:
    """Which of these readings is meant?"""
    if len(ways) > 2:
        return msg("session.either_of", count=len(ways))
    return msg("session.either", **{f"way{number}": name_of(way) for number, way in enumerate(ways, 1)})


def answered(stack: Stack, said: Said, context: Context, reads: Reads) -> Outcome:
    """What the job on the screen makes of it. Words that it has no use for open the page of what they find, on top of
    it, as if a `?` stood before them; where they find nothing, the job's own answer stands."""
    before = list(stack.levels)
    outcome = stack.feed(said, context)
    if not isinstance(said, Text) or not context.user or is_house(before[-1]):
        return outcome
    if not _is_unused(outcome, before, stack.levels):
        return outcome
    if not reads.query("search", {"search": said.text, "size": 1})[1]:
        return outcome
    stack.levels[:] = before
    return stack.open(Start("lookup", {"search": said.text}), context)


_UNUSED = (".unknown", "pick.waiting", "pick.answer_first", "pick.put_back_first")
"""How the verdict of a job ends that could do nothing with words."""


def _is_unused(outcome: Outcome, before: Sequence[Level], after: Sequence[Level]) -> bool:
    """Whether a job has said that it knows no such thing, or has not stirred at all."""
    if outcome.verdict:
        return outcome.verdict.kind == WRONG and outcome.verdict.text.id.endswith(_UNUSED)
    return before == after and not any(note.writes or note.settles for note in outcome.notes)


def fairly(outcome: Outcome, said: Said, is_complete: Callable[[], bool]) -> Outcome:
    """Nobody is told that there is no such thing while the store has never been read whole."""
    before = outcome.verdict
    after = before and _not_yet(before, said)
    if after == before or is_complete():
        return outcome
    notes = tuple(note._replace(verdict=after) if note.verdict == before else note for note in outcome.notes)
    return outcome._replace(notes=notes, verdict=after)


def priced(outcome: Outcome, said: Said) -> Outcome:
    """A label whose price could not be turned into a quantity is answered with that price before all else."""
    price = said.meanings[0].price if isinstance(said, Thing) else None
    if price is None or outcome.verdict is None:
        return outcome
    told = msg("session.priced", price=as_price(price), said=outcome.verdict.text)
    return outcome._replace(verdict=outcome.verdict._replace(text=told))


def _not_yet(verdict: Verdict, said: Said) -> Verdict:
    """What a verdict on something unknown becomes; others as they are."""
    id_, asked = verdict.text.id, str(verdict.text.args[0][1]) if verdict.text.args else ""
    if id_ == "sign_in.unknown":
        return verdict._replace(text=msg("sign_in.unknown_yet", asked=asked))
    if isinstance(said, Thing) or not id_.endswith((".unknown", ".not_found")):
        return verdict
    return verdict._replace(text=msg("session.unknown_yet", text=asked))
