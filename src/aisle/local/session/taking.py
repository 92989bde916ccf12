"""What a session makes of one input: a line is understood and goes to the job, or to a page of the house.

A part of aisle.local.session.session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aisle.code_forms import checks, lookup_keys
from aisle.jobs.base import Event, Heard, Start, listens, passes
from aisle.jobs.view import ASK, INFO, WRONG, ListWindow, Msg, Verdict, msg
from aisle.jobs.view import raw as raw_text
from aisle.jobs.window import LETTERS
from aisle.local.session import astray, how_much
from aisle.local.session.alike import told_apart
from aisle.local.session.asking import NOTHING, Asking, answered, fairly, page_of, priced, question
from aisle.local.session.ear import detour, is_guess
from aisle.local.session.hearing import heard
from aisle.local.session.house import PAGES, hidden, is_house, leads_back, meant, opening, page_called, pressed
from aisle.local.session.open_line import means_else, meant_for, not_taken
from aisle.local.session.rights import is_early, is_out_of_place, is_said_twice, minded
from aisle.local.session.screen import frame
from aisle.local.session.stack import Outcome
from aisle.local.session.terms import ALIASES, CURSOR
from aisle.scan.decoder import LONGEST_LINE
from aisle.scan.faults import CODE_NUMBER
from aisle.scan.grammar import COMMANDS, PRINTED_LETTERS, aim_of, is_lookup
from aisle.scan.inputs import BY_HAND_S, Decoded, Key, Line, Typed
from aisle.scan.meaning import (
    PERSON,
    PRODUCT,
    Back,
    Choice,
    Command,
    Echo,
    Either,
    Meaning,
    Move,
    Open,
    Quantity,
    Refused,
    Said,
    Text,
    Thing,
    Times,
    Unknown,
)
from aisle.scan.restricted import looks_store_made

SHORTEST_NUMBER = 6
"""Digits of the shortest code of digits alone (UPC-E): fewer are a number."""

SHORTEST_KNOWN = 4
"""Characters of the shortest code that is a scan by itself among others because the store knows it."""

FEWEST = 5
"""Characters of a scan: fewer are a part of something that somebody looks for."""

FAST_S = 0.02
"""Seconds between the digits of a number below which nobody has typed them."""

FEWEST_PACED = 3
"""Digits of a number that may be a code cut off by its scanner; of fewer, keys may come together over a slow link."""

LEFT = 3
"""Letters that somebody leaves on the line without an Enter at most: more are a word."""

if TYPE_CHECKING:
    from aisle.local.session.desk import Desk


def lose(desk: Desk, rest: Sequence[Decoded]) -> None:
    """What came after an input that could not be kept was meant for a page that never came: it does not happen. How
    much is to be scanned again is said: whoever has scanned on sees one answer to all of it."""
    lines = sum(isinstance(item, Line) for item in rest)
    desk._serial += lines
    count = desk._queue.unkept + lines
    if desk._verdict and (lines or count > 1):
        desk._verdict = Verdict(WRONG, msg("session.rest_lost", count=count, why=dict(desk._verdict.text.args)["why"]))


def take_one(desk: Desk, item: Decoded, at: float) -> None:
    """Applies one input; what came of it is durable with the rest of its queue."""
    match item:
        case Typed(text):
            _echo(desk, desk._line.stands(text))
        case Line():
            take_line(desk, end_line(desk, item), at)
        case Key(name) if name != "back" and listens(desk._stack.top.job):
            _listen(desk, Heard(key=name), name)
        case Key(name) if (said := meant(name, desk._terms.keys, ALIASES)) is not None:
            if isinstance(said, Command) and said.letter in PAGES:
                _turn_to(desk, PAGES[said.letter])
            else:
                _leave_for(desk, said)
                _hear(desk, said, name)
        case Key(name) if name in CURSOR:
            _see(desk)
            _absorb(desk, Move(name), name)


def end_line(desk: Desk, item: Line) -> Line | None:
    """A line without what was typed for another page; None where nothing is left of it. Its echo is gone."""
    if desk._line.text:
        _echo(desk, "")
    own = desk._line.ended(item.text)
    if own is None:
        return None
    return item._replace(text=own, apart=max(0, item.apart - (len(item.text) - len(own))))


def take_line(desk: Desk, item: Line | None, at: float) -> None:
    """Applies a line that has ended, as `end_line` has it."""
    desk._serial += 1
    if item is None:
        return
    desk._queue = desk._queue._replace(unkept=desk._queue.unkept + 1)
    if _has_number_left(desk, item):
        refuse_lines(desk, (item,), msg(CODE_NUMBER), at, is_secret=False)
        return
    left = _left_there(desk, item)
    _take_line(desk, item._replace(text=item.text[left:]), at)
    if left:
        desk._verdict = not_taken(item.text[:left], desk._verdict)


def is_code(desk: Desk, text: str, *, is_one: bool = False) -> bool:
    """Whether a text is a scan by itself: a code of the store, one with a right check digit or an AIM prefix, or a
    printed command. A bare number is none, unless it is all that was scanned (`is_one`) and the number of something;
    nor is anything where a secret is asked."""
    text = text.strip(" ")
    if hidden(desk._stack.levels, text) or is_lookup(text):
        return False
    aim = aim_of(text)
    if aim.symbol or checks(text) or text.upper() in (*COMMANDS, *PRINTED_LETTERS):
        return True
    is_number = not is_one and len(text) < SHORTEST_NUMBER and text.isdecimal()
    return not is_number and isinstance(_understand(desk, text), Thing | Either)


def is_known_code(desk: Desk, text: str) -> bool:
    """Whether the store knows exactly this code, which is too long for a quantity that somebody types in between."""
    text = text.strip(" ")
    if len(text) < SHORTEST_KNOWN or hidden(desk._stack.levels, text) or is_lookup(text):
        return False
    return bool(desk._rooms.reads.find(lookup_keys(text)))


def is_plain_code(desk: Desk, text: str) -> bool:
    """Whether a code is so long that no line of another code is likely to be the same."""
    return len(text.strip(" ")) >= FEWEST and is_code(desk, text)


def refuse_lines(desk: Desk, lines: Sequence[Line], why: Msg, at: float, *, is_secret: bool) -> None:
    """Tells that a scan of several lines is unknown; what a page asks, and what was said before, stays as it was."""
    desk._serial += 1
    if desk._line.text:
        _echo(desk, "")  # the list has followed the next of these lines
    text = "" if is_secret else "\n".join(line.text for line in lines)[:LONGEST_LINE]
    unknown = Unknown(text)
    _say(desk, Verdict(WRONG, why), unknown, text)
    _weigh(desk, unknown)
    _trace(desk, lines[-1]._replace(text=text), unknown, at)


def _label(desk: Desk, item: Line) -> str:
    """The one sign that this line is, where it stands on something the step asks for; empty for all else."""
    sign = item.text.strip(" ")
    return sign if len(sign) == 1 and sign in desk._open().labels else ""


def _take_line(desk: Desk, item: Line, at: float) -> None:
    """A label that is scanned is what it stands on; typed, it is the command that it was."""
    whole = _whole(desk, item)
    if whole is None:
        _refuse_cut(desk, item, at)
        return
    item = whole
    top, sign = desk._stack.top, _label(desk, item)
    if sign and item.gap < BY_HAND_S:
        label, kept = Unknown(sign), desk._asking
        desk._asking = NOTHING
        _hear(desk, label, item.text)
        _weigh(desk, label)
        desk._asking = kept.on(desk._stack.levels)  # `12*` is for what goes into that tote
        _trace(desk, item, label, at)
        return
    item = item._replace(text=pressed(item.text, desk._terms.keys, top))
    secret, page = hidden(desk._stack.levels, item.text), page_called(item.text, top)
    said = Command(item.text.strip(" ").lower()) if page else _understand(desk, item.text)
    if page:
        _turn_to(desk, page)
        _weigh(desk, said)
    else:
        if _leave_for(desk, said):
            said = _understand(desk, item.text)
        paced, desk._paced = desk._paced, None
        is_sure = False
        if paced and item.text.strip(" ").lower() == "y" and paced[0] == meant_for(desk._stack.levels):
            is_sure, said = True, paced[1]
        if not secret and is_said_twice(desk, item.text, said):
            secret = True
            desk._tell(Verdict(INFO, msg("pin.twice")))
        elif not secret and is_early(desk, item, said):
            secret = True
            desk._tell(Verdict(ASK, msg("pin.early")))
        elif not secret and is_out_of_place(desk, item, said):
            secret = True
            desk._tell(Verdict(ASK, msg("pin.elsewhere")))
        elif isinstance(said, Quantity) and not is_sure and _is_paced(item):
            desk._paced = meant_for(desk._stack.levels), said
            _say(desk, Verdict(ASK, msg("input.paced", text=item.text.strip(" "))), Unknown(item.text), item.text)
        elif _is_early(desk, item, said):
            _say(desk, Verdict(WRONG, msg("session.unknown_yet", text=item.text.strip(" "))), said, item.text)
        elif listens(desk._stack.top.job) and not isinstance(said, Back):
            _listen(desk, heard(item, said), "" if secret else item.text)
        else:
            _hear(desk, said, "" if secret and not isinstance(said, Back) else item.text)
            _weigh(desk, said)
            if sign and isinstance(said, Back):
                _tell_of_label(desk, sign)
    if secret and not (page or isinstance(said, Back)):
        item, said = item._replace(text=""), Unknown("")
    _trace(desk, item, said, at)


def _trace(desk: Desk, item: Line, said: Said, at: float) -> None:
    if desk._trace:
        desk._trace.saw(item, said, desk._stack.top, desk._verdict, at)


def _whole(desk: Desk, item: Line) -> Line | None:
    """A line with all of its characters: a key that was cut off right before a code takes what looks like its end. None
    where nobody can tell, for what was scanned must not be another code. What a person types, and whatever is for a
    page that listens, stays as it came."""
    by_hand = item.pace >= BY_HAND_S or len(item.text) < 2  # one character has no pace, and is hardly ever a code
    if not item.lead or by_hand or listens(desk._stack.top.job):
        return item
    means = not isinstance(_understand(desk, item.text), Unknown | Text | Refused)
    longer = [text for text in item.ways if isinstance(said := _understand(desk, text), Thing) and not is_guess(said)]
    if longer:
        return None if means else item._replace(text=longer[0], lead="")
    is_code = " " not in item.text and any(map(str.isdigit, item.text))
    return item if means or not is_code else None


def _refuse_cut(desk: Desk, item: Line, at: float) -> None:
    """A scan in pieces is told, and is nothing; a secret among them is kept no more than a whole one."""
    item = item._replace(text="" if hidden(desk._stack.levels, item.text) else item.text)
    cut = Unknown(item.text)
    _say(desk, Verdict(WRONG, msg("input.cut")), cut, item.text)
    _weigh(desk, cut)
    _trace(desk, item, cut, at)


def _left_there(desk: Desk, item: Line) -> int:
    """How many letters were left on the line before somebody scanned: they are none of the code, where all of it means
    nothing and the rest is one. Never by time alone: what is known as a whole is that."""
    left, code = item.text[: item.apart], item.text[item.apart :]
    if not left.isalpha() or len(left) > LEFT or len(code) < FEWEST or listens(desk._stack.top.job):
        return 0
    if not isinstance(_understand(desk, item.text), Unknown | Text | Refused):
        return 0
    return len(left) if isinstance(_understand(desk, code), Thing | Either) else 0


def _has_number_left(desk: Desk, item: Line) -> bool:
    """Whether digits were left on the line before somebody scanned: a zero makes another code of a code."""
    left, code = item.text[: item.apart].strip(" "), item.text[item.apart :]
    if not (left.isascii() and left.isdigit()) or len(code) < FEWEST or listens(desk._stack.top.job):
        return False
    return isinstance(_understand(desk, code), Thing | Either)


def _tell_of_label(desk: Desk, label: str) -> None:
    """Whoever typed what stands on a tote and was led back hears how that is typed."""
    said = desk._verdict
    told = msg("session.label_back", label=label, said=said.text) if said else msg("session.label", label=label)
    desk._verdict = Verdict(ASK if said and said.kind == ASK else INFO, told)


def _is_early(desk: Desk, item: Line, said: Said) -> bool:
    """Whether that is a scan which nobody can know yet, on a page where unknown words are looked for: a badge, or
    anything else of a store that was never read whole, is no search."""
    if not isinstance(said, Text | Unknown):
        return False
    code, open_ = item.text.strip(" "), desk._open()
    if open_.text or not (open_.search or open_.finds):
        return False
    scanned = item.pace < BY_HAND_S and len(code) >= FEWEST and " " not in code and any(map(str.isdigit, code))
    return scanned and not is_lookup(code) and not desk._rooms.reads.is_complete()


def _is_paced(item: Line) -> bool:
    """Whether digits came at the pace of a scanner: a code that was cut off, as likely as a quantity."""
    text = item.text.strip(" ")
    return bool(item.scan) and 0 < item.pace < FAST_S and text.isdecimal() and len(text) >= FEWEST_PACED


def _weigh(desk: Desk, said: Said) -> None:
    """Whether a line was taken: what comes after it in one queue must not hide that it was not."""
    desk._astray = astray.after(desk._astray, said, desk._verdict, desk._stack.levels)
    queue = desk._queue
    desk._queue = queue._replace(covered=queue.covered.after(said, desk._verdict, desk._open().choices))


def _turn_to(desk: Desk, name: str) -> None:
    """Opens a page of the house over the job; one that is open already stays, and only help opens over another."""
    desk._verdict, asking = None, desk._asking
    top = desk._stack.top
    if top.job.name == name:
        return
    if is_house(top) and name != "help":
        _leave(desk)
    tuned, whole = (desk._terms.language, desk._terms.theme), _is_whole(desk)
    start = opening(name, desk._stack.levels, desk._terms.shown, tuned, colours=desk.has_themes, whole=whole)
    desk._absorb(desk._stack.open(start, desk._context()), "")
    desk._verdict = asking.dropped(Command(""), "", asking.passed_over(Command(""), desk._verdict), name)


def _leave_for(desk: Desk, said: Said) -> bool:
    """Pages of the house leave for what is said to the job below; whether one has."""
    left = False
    while passes(desk._stack.top.job, desk._stack.top.state, said):
        _leave(desk)
        left = True
    return left


def _leave(desk: Desk) -> None:
    name = desk._stack.top.job.name
    while desk._stack.top.job.name == name:
        desk._absorb(desk._stack.feed(Back(), desk._context()), "")


def _echo(desk: Desk, text: str) -> None:
    desk._absorb(desk._stack.feed(Echo(text), desk._context()), "")


def _listen(desk: Desk, heard: Heard, raw: str) -> None:
    """A job that listens gets an input as it came, whatever it means elsewhere."""
    desk._verdict = None
    _absorb(desk, heard, raw)


def _absorb(desk: Desk, event: Event, raw: str) -> None:
    desk._absorb(minded(desk, event, lambda: desk._stack.feed(event, desk._context())), raw)


def _understand(desk: Desk, text: str) -> Said:
    top = desk._stack.top
    asking, open_, prefers = desk._asking, desk._open(), top.job.prefers(top.state)
    said = desk._ear.understand(text, open_, prefers)
    if asking.multiplies(said, text):
        said = desk._ear.understand(asking.typed(text.strip(" ")), open_, prefers)
    said = asking.takes_back(told_apart(desk._stack.levels, said))
    if open_.by_hand and isinstance(said, Choice) and not _was_seen(desk):
        return Refused("input.by_hand", text)  # it came with what opened the question: a scan in two pieces
    if isinstance(said, Choice | Quantity) and desk._queue.covered.is_scan_refused and not open_.text:
        return Refused("input.after", text)  # it was meant for that scan; where words are asked for, it was none
    if not asking.pending and means_else(said, open_, desk._stack.levels, desk._queue.seen):
        return Refused("input.moved", text)
    return said


def _was_seen(desk: Desk) -> bool:
    """Whether what is asked now was on the screen before this queue."""
    now, before = desk._asking, desk._queue.asked
    is_same = (now.doubt, now.ways, now.first) == (before.doubt, before.ways, before.first)
    return is_same and meant_for(desk._stack.levels) == desk._queue.seen


def _hear(desk: Desk, said: Said, raw: str) -> None:
    """What a person said, by whatever way; a multiplier that this has no use for is not dropped in silence."""
    asking, wants_goods = desk._asking, _wants_goods(desk)
    _heed(desk, said, raw)
    _tell_layout(desk, said)
    _tell_guess(desk, said)
    if asking.is_asked and desk._asking is not asking:
        desk._verdict = asking.passed_over(said, desk._verdict)
        if desk._asking.is_asked and not isinstance(said, Choice | Quantity | Back):
            desk._asking = desk._asking._replace(passed=asking.passed + 1)
    if desk._asking.pending:
        return
    if asking.is_kept(said, raw, desk._verdict, desk._stack.levels):
        desk._asking, desk._verdict = asking, asking.kept(desk._verdict)
    else:
        desk._verdict = asking.dropped(said, raw, desk._verdict, desk._stack.top.job.name)
    if wants_goods and isinstance(said, Unknown) and looks_store_made(said.code, desk._terms.restricted):
        desk._verdict = _more(desk._verdict, msg("session.store_label"))


def _wants_goods(desk: Desk) -> bool:
    """Whether the page on the screen has a use for a product's code."""
    return bool(desk._who.user) and PRODUCT in desk._stack.top.job.prefers(desk._stack.top.state)


def _more(verdict: Verdict | None, more: Msg) -> Verdict:
    """Add what else has to be known to the answer to an input, where it says no more yet."""
    if verdict is None:
        return Verdict(INFO, more)
    return verdict if verdict.more else verdict._replace(more=more)


def _tell_layout(desk: Desk, said: Said) -> None:
    """Says once that a scanner's keyboard layout is not the terminal's, and how its code was read."""
    meaning = said.meanings[0] if isinstance(said, Thing) else None
    if meaning is None or not meaning.layout or desk.is_layout_told:
        return
    desk.is_layout_told = True
    verdict = desk._verdict or Verdict(INFO, raw_text(meaning.label or meaning.key))
    desk._verdict = verdict._replace(text=msg("session.layout", code=meaning.code, said=verdict.text))


def _tell_guess(desk: Desk, said: Said) -> None:
    """Says of each code once that it is none of the store's, and what it was read as."""
    meaning = said.meanings[0] if isinstance(said, Thing) and not said.lookup else None
    if meaning is None or not meaning.is_guess or meaning.code in desk.guesses_told:
        return
    desk.guesses_told.add(meaning.code)
    label = meaning.label or meaning.key
    verdict = desk._verdict or Verdict(INFO, raw_text(label))
    told = msg("session.guessed", code=meaning.code, label=label, said=verdict.text)
    desk._verdict = verdict._replace(text=told)


def _heed(desk: Desk, said: Said, raw: str) -> None:
    """The same; what the session itself keeps in mind comes before the job."""
    if isinstance(said, Command) and said.letter in LETTERS:
        _see(desk)
    desk._verdict = None
    asking, desk._asking = desk._asking, NOTHING
    if asking.pending and isinstance(said, Back):
        _say(desk, Verdict(INFO, msg("session.dropped")), said, raw)
        return
    if asking.doubt and asking.label and said == Choice(2):
        desk._asking = asking._replace(doubt=None, number=None)
        _say(desk, Verdict(ASK, how_much.question(asking.label)), said, raw)
        return
    found = how_much.number_of(desk._rooms.reads, said) if asking.label and isinstance(said, Quantity) else None
    if asking.label and found and isinstance(said, Quantity):
        desk._asking = asking._replace(doubt=said, number=found)
        told = msg("session.is_number", text=raw.strip(" "), said=how_much.question(asking.label))
        _say(desk, Verdict(ASK, told), said, raw)
        return
    if leafed := asking.leafed(said):
        desk._asking = leafed
        _say(desk, Verdict(ASK, question(leafed.ways)), said, raw)
        return
    said = asking.chosen(said)
    if asking.label and isinstance(said, Back):
        _say(desk, Verdict(INFO, msg("session.dropped")), said, raw)
        return
    back = astray.question(desk._astray, raw.strip(" "), desk._stack.levels) if isinstance(said, Quantity) else None
    if back:
        desk._asking, desk._astray = asking, astray.NOTHING
        _say(desk, back, said, raw)
        return
    said = how_much.weighed(desk._rooms.reads, desk._stack.levels, said)
    asked = detour(said, raw) if desk._who.user else None
    match said:
        case Either(ways):
            desk._asking = Asking(page_of(desk._stack.levels), ways=ways)
            _say(desk, Verdict(ASK, question(ways)), said, raw)
        case Times(number) if desk._who.user:
            desk._asking = Asking(page_of(desk._stack.levels), times=number)
            _say(desk, Verdict(INFO, msg("session.times", times=number)), said, raw)
        case Times(number):
            _say(desk, Verdict(WRONG, msg("input.times", text=f"{number}*")), said, raw)
        case _ if asked:
            _look_up(desk, *asked, said, raw)
        case Thing(meanings) if _is_own_badge(desk, meanings):
            desk._asking = asking
            name = meanings[0].label or meanings[0].key
            _say(desk, Verdict(INFO, msg("sign_in.already", name=name)), said, raw)
        case Thing() if how_much.is_asked(desk._stack.levels, said) and _is_of_use(desk, said):
            desk._asking = Asking(page_of(desk._stack.levels), label=said)
            _say(desk, Verdict(ASK, how_much.question(said)), said, raw)
        case Refused("input.by_hand" as why, text):
            desk._asking = asking  # what was asked stands
            _say(desk, Verdict(WRONG, Msg(why, (("text", text),))), said, raw)
        case Refused("input.choice", text):
            why = "input.choice" if leads_back(desk._stack.top) else "input.no_choice"
            _say(desk, Verdict(WRONG, msg(why, text=text), more=_to_type(desk._open())), said, raw)
        case Refused(why, text):
            _say(desk, Verdict(WRONG, Msg(why, (("text", text),))), said, raw)
        case _:
            _hearken(desk, minded(desk, said, lambda: _answered(desk, said)), said, raw)


def _to_type(open_: Open) -> Msg | None:
    """What chooses something on the page, where numbers do."""
    last = "" if open_.choices < 2 else f"-{open_.choices}"
    return msg("input.type", keys=f"1{last}") if open_.choices else None


def _is_of_use(desk: Desk, said: Said) -> bool:
    """Whether the job on the screen does not refuse what was said; it is let try, and put back."""
    before = list(desk._stack.levels)
    verdict = desk._stack.feed(said, desk._context()).verdict
    desk._stack.levels[:] = before
    return verdict is None or verdict.kind != WRONG


def _see(desk: Desk) -> None:
    """Whoever leads through a list goes on from what he sees of it."""
    if desk.in_sight is not None and desk._size.rows:
        shown, context = frame(desk), desk._context()
        size = max(context.rows, len(shown.view.rows) if isinstance(shown.view, ListWindow) else 0)
        seen = desk.in_sight(shown, *desk._size, size)
        if seen < size:
            desk._known = context._replace(sight=seen)


def _is_whole(desk: Desk) -> bool:
    """Whether all of the page is on the screen, as far as anybody can tell."""
    return desk.is_whole is not None and bool(desk._size.rows) and desk.is_whole(frame(desk), *desk._size)


def _is_own_badge(desk: Desk, meanings: Sequence[Meaning]) -> bool:
    """Whether whoever is signed in has scanned his own badge on a page of work that has no use for one."""
    top, own = desk._stack.top, (PERSON, desk._who.user)
    return PERSON not in top.job.prefers(top.state) and all((each.kind, each.key) == own for each in meanings)


def _answered(desk: Desk, said: Said) -> Outcome:
    return answered(desk._stack, said, desk._context(), desk._rooms.reads)


def _hearken(desk: Desk, outcome: Outcome, said: Said, raw: str) -> None:
    """What came of what a person said, as far as this host can know it."""
    desk._absorb(priced(fairly(outcome, said, desk._rooms.reads.is_complete), said), raw)


def _look_up(desk: Desk, start: Start, told: Event, said: Said, raw: str) -> None:
    """What was asked about with `?` opens on top of the job on the screen, or on the page that is there already."""
    is_there = desk._stack.top.job.name == start.job
    if not is_there:
        _hearken(desk, desk._stack.open(start, desk._context()), said, raw)
    if is_there or not start.args:
        _hearken(desk, desk._stack.feed(told, desk._context()), said, raw if is_there else "")


def _say(desk: Desk, verdict: Verdict, said: Said, raw: str) -> None:
    """The session's own answer, which no job hears of."""
    desk._verdict = verdict
    desk._keeper.say(said, desk._queue.at, raw, desk._context(), verdict)
    desk._ring(verdict)
