"""What a session makes of one input: a line is understood and goes to the job, or to a page of the house.

A part of aisle.session.session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aisle.barcode_keys import has_valid_check_digit, lookup_keys
from aisle.jobs.job import Event, RawInput, Start
from aisle.jobs.pages import PAGE_LETTERS
from aisle.jobs.view import ASK, INFO, WRONG, ListView, Msg, Verdict, msg
from aisle.jobs.view import raw as raw_text
from aisle.scan.decoder import MAX_LINE
from aisle.scan.grammar import PRINTED_COMMANDS, PRINTED_LETTERS, asks_look_up, parse_aim_prefix
from aisle.scan.in_store_codes import is_unknown_in_store_code
from aisle.scan.inputs import TYPING_PAUSE_S, DecodedInput, Key, Line, OpenLine
from aisle.scan.meaning import (
    NUMBER_BESIDE_CODE,
    PERSON,
    PRODUCT,
    Accepts,
    Ambiguous,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Meaning,
    Multiplier,
    Quantity,
    RefusedInput,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.session import ask_quantity, input_batch
from aisle.session.frame import build_frame
from aisle.session.job_stack import (
    PAGE_BY_LETTER,
    JobResult,
    apply_key_names,
    has_back_key,
    help_page_start,
    is_help_page,
    is_secret_text,
    meaning_of_key,
    page_of_line,
)
from aisle.session.meaning_resolver import choose_product, is_guess, look_up_of
from aisle.session.pending_question import (
    NO_QUESTION,
    PendingQuestion,
    add_price,
    choice_question,
    feed_or_search,
    page_key,
    unless_incomplete,
)
from aisle.session.permissions import is_early_pin, is_misplaced_pin, is_repeated_pin, require_pin
from aisle.session.profile import CURSOR_KEYS, MEANING_BY_KEY
from aisle.session.query_answers import raw_input
from aisle.session.typed_line import has_changed_meaning, page_identity, typed_text_dropped

MIN_CODE_DIGITS = 6
"""Digits of the shortest code of digits alone (UPC-E): fewer are a number."""

MIN_KNOWN_CODE = 4
"""Characters of the shortest code that is a scan by itself among others because the store knows it."""

MIN_SCAN = 5
"""Characters of a scan: fewer are a part of something that somebody looks for."""

FAST_S = 0.02
"""Seconds between the digits of a number below which nobody has typed them."""

FEWEST_PACED = 3
"""Digits of a number that may be a code cut off by its scanner; of fewer, keys may come together over a slow link."""

MAX_LEFTOVER_LETTERS = 3
"""Letters that somebody leaves on the line without an Enter at most: more are a word."""

if TYPE_CHECKING:
    from aisle.session.session_base import SessionBase


def reject_rest(session: SessionBase, rest: Sequence[DecodedInput]) -> None:
    """What came after an input that could not be kept was meant for a page that never came: it does not happen. How
    much is to be scanned again is said: whoever has scanned on sees one answer to all of it."""
    lines = sum(isinstance(item, Line) for item in rest)
    session._serial += lines
    count = session._batch.uncommitted + lines
    if session._verdict and (lines or count > 1):
        session._verdict = Verdict(
            WRONG, msg("session.rest_lost", count=count, why=dict(session._verdict.text.args)["why"])
        )


def apply_item(session: SessionBase, item: DecodedInput, at: float) -> None:
    """Applies one input; what came of it is durable with the rest of its queue."""
    match item:
        case OpenLine(text):
            _apply_open_line(session, session._typed_line.update(text))
        case Line():
            apply_line(session, take_own_line(session, item), at)
        case Key(name) if name != "back" and session._stack.top.job.raw_input:
            _apply_raw_input(session, RawInput(key=name), name)
        case Key(name) if (said := meaning_of_key(name, session._profile.letter_by_key, MEANING_BY_KEY)) is not None:
            if isinstance(said, Command) and said.letter in PAGE_BY_LETTER:
                _open_help_page(session, PAGE_BY_LETTER[said.letter])
            else:
                _close_help_pages_for(session, said)
                _apply_meaning(session, said, name)
        case Key(name) if name in CURSOR_KEYS:
            _measure_rows_in_view(session)
            _feed(session, CursorKey(name), name)


def take_own_line(session: SessionBase, item: Line) -> Line | None:
    """A line without what was typed for another page; None where nothing is left of it. Its echo is gone."""
    if session._typed_line.text:
        _apply_open_line(session, "")
    own = session._typed_line.end(item.text)
    if own is None:
        return None
    return item._replace(text=own, before_pause=max(0, item.before_pause - (len(item.text) - len(own))))


def apply_line(session: SessionBase, item: Line | None, at: float) -> None:
    """Applies a line that has ended, as `end_line` has it."""
    session._serial += 1
    if item is None:
        return
    session._batch = session._batch._replace(uncommitted=session._batch.uncommitted + 1)
    if _has_leftover_digits(session, item):
        refuse_lines(session, (item,), msg(NUMBER_BESIDE_CODE), at, is_secret=False)
        return
    left = _count_leftover_letters(session, item)
    _apply_line(session, item._replace(text=item.text[left:]), at)
    if left:
        session._verdict = typed_text_dropped(item.text[:left], session._verdict)


def is_code(session: SessionBase, text: str, *, is_one: bool = False) -> bool:
    """Whether a text is a scan by itself: a code of the store, one with a right check digit or an AIM prefix, or a
    printed command. A bare number is none, unless it is all that was scanned (`is_one`) and the number of something;
    nor is anything where a secret is asked."""
    text = text.strip(" ")
    if is_secret_text(session._stack.jobs, text) or asks_look_up(text):
        return False
    aim = parse_aim_prefix(text)
    if aim.symbol or has_valid_check_digit(text) or text.upper() in (*PRINTED_COMMANDS, *PRINTED_LETTERS):
        return True
    is_number = not is_one and len(text) < MIN_CODE_DIGITS and text.isdecimal()
    return not is_number and isinstance(_resolve(session, text), Scan | Ambiguous)


def is_known_code(session: SessionBase, text: str) -> bool:
    """Whether the store knows exactly this code, which is too long for a quantity that somebody types in between."""
    text = text.strip(" ")
    if len(text) < MIN_KNOWN_CODE or is_secret_text(session._stack.jobs, text) or asks_look_up(text):
        return False
    return bool(session._store.reader.find(lookup_keys(text)))


def is_long_code(session: SessionBase, text: str) -> bool:
    """Whether a code is so long that no line of another code is likely to be the same."""
    return len(text.strip(" ")) >= MIN_SCAN and is_code(session, text)


def refuse_lines(session: SessionBase, lines: Sequence[Line], reason: Msg, at: float, *, is_secret: bool) -> None:
    """Tells that a scan of several lines is unknown; what a page asks, and what was said before, stays as it was."""
    session._serial += 1
    if session._typed_line.text:
        _apply_open_line(session, "")  # the list has followed the next of these lines
    text = "" if is_secret else "\n".join(line.text for line in lines)[:MAX_LINE]
    unknown = UnknownCode(text)
    _answer(session, Verdict(WRONG, reason), unknown, text)
    _record_verdict(session, unknown)
    _trace_line(session, lines[-1]._replace(text=text), unknown, at)


def _scanned_label(session: SessionBase, item: Line) -> str:
    """The one sign that this line is, where it stands on something the step asks for; empty for all else."""
    sign = item.text.strip(" ")
    return sign if len(sign) == 1 and sign in session._accepts().labels else ""


def _apply_line(session: SessionBase, item: Line, at: float) -> None:
    """A label that is scanned is what it stands on; typed, it is the command that it was."""
    whole = _complete_line(session, item)
    if whole is None:
        _refuse_incomplete(session, item, at)
        return
    item = whole
    top, sign = session._stack.top, _scanned_label(session, item)
    if sign and item.longest_pause < TYPING_PAUSE_S:
        label, kept = UnknownCode(sign), session._question
        session._question = NO_QUESTION
        _apply_meaning(session, label, item.text)
        _record_verdict(session, label)
        session._question = kept.still_on_page(session._stack.jobs)  # `12*` is for what goes into that tote
        _trace_line(session, item, label, at)
        return
    item = item._replace(text=apply_key_names(item.text, session._profile.letter_by_key, top))
    secret, page = is_secret_text(session._stack.jobs, item.text), page_of_line(item.text, top)
    said = Command(item.text.strip(" ").lower()) if page else _resolve(session, item.text)
    if page:
        _open_help_page(session, page)
        _record_verdict(session, said)
    else:
        if _close_help_pages_for(session, said):
            said = _resolve(session, item.text)
        paced, session._paced = session._paced, None
        is_sure = False
        if paced and item.text.strip(" ").lower() == "y" and paced[0] == page_identity(session._stack.jobs):
            is_sure, said = True, paced[1]
        if not secret and is_repeated_pin(session, item.text, said):
            secret = True
            session._show_verdict(Verdict(INFO, msg("pin.twice")))
        elif not secret and is_early_pin(session, item, said):
            secret = True
            session._show_verdict(Verdict(ASK, msg("pin.early")))
        elif not secret and is_misplaced_pin(session, item, said):
            secret = True
            session._show_verdict(Verdict(ASK, msg("pin.elsewhere")))
        elif isinstance(said, Quantity) and not is_sure and _is_paced(item):
            session._paced = page_identity(session._stack.jobs), said
            _answer(
                session, Verdict(ASK, msg("input.paced", text=item.text.strip(" "))), UnknownCode(item.text), item.text
            )
        elif _is_unknown_yet(session, item, said):
            _answer(session, Verdict(WRONG, msg("session.unknown_yet", text=item.text.strip(" "))), said, item.text)
        elif session._stack.top.job.raw_input and not isinstance(said, Back):
            _apply_raw_input(session, raw_input(item, said), "" if secret else item.text)
        else:
            _apply_meaning(session, said, "" if secret and not isinstance(said, Back) else item.text)
            _record_verdict(session, said)
            if sign and isinstance(said, Back):
                _explain_label(session, sign)
    if secret and not (page or isinstance(said, Back)):
        item, said = item._replace(text=""), UnknownCode("")
    _trace_line(session, item, said, at)


def _trace_line(session: SessionBase, item: Line, meaning: Meaning, at: float) -> None:
    if session._trace:
        session._trace.add(item, meaning, session._stack.top, session._verdict, at)


def _complete_line(session: SessionBase, item: Line) -> Line | None:
    """A line with all of its characters: a key that was cut off right before a code takes what looks like its end. None
    where nobody can tell, for what was scanned must not be another code. What a person types, and whatever is for a
    page that listens, stays as it came."""
    by_hand = (
        item.median_pause >= TYPING_PAUSE_S or len(item.text) < 2
    )  # one character has no pace, and is hardly ever a code
    if not item.possible_prefix or by_hand or session._stack.top.job.raw_input:
        return item
    means = not isinstance(_resolve(session, item.text), UnknownCode | Text | RefusedInput)
    longer = [
        text for text in item.longer_texts if isinstance(said := _resolve(session, text), Scan) and not is_guess(said)
    ]
    if longer:
        return None if means else item._replace(text=longer[0], possible_prefix="")
    is_code = " " not in item.text and any(map(str.isdigit, item.text))
    return item if means or not is_code else None


def _refuse_incomplete(session: SessionBase, item: Line, at: float) -> None:
    """A scan in pieces is told, and is nothing; a secret among them is kept no more than a whole one."""
    item = item._replace(text="" if is_secret_text(session._stack.jobs, item.text) else item.text)
    cut = UnknownCode(item.text)
    _answer(session, Verdict(WRONG, msg("input.cut")), cut, item.text)
    _record_verdict(session, cut)
    _trace_line(session, item, cut, at)


def _count_leftover_letters(session: SessionBase, item: Line) -> int:
    """How many letters were left on the line before somebody scanned: they are none of the code, where all of it means
    nothing and the rest is one. Never by time alone: what is known as a whole is that."""
    left, code = item.text[: item.before_pause], item.text[item.before_pause :]
    if (
        not left.isalpha()
        or len(left) > MAX_LEFTOVER_LETTERS
        or len(code) < MIN_SCAN
        or session._stack.top.job.raw_input
    ):
        return 0
    if not isinstance(_resolve(session, item.text), UnknownCode | Text | RefusedInput):
        return 0
    return len(left) if isinstance(_resolve(session, code), Scan | Ambiguous) else 0


def _has_leftover_digits(session: SessionBase, item: Line) -> bool:
    """Whether digits were left on the line before somebody scanned: a zero makes another code of a code."""
    left, code = item.text[: item.before_pause].strip(" "), item.text[item.before_pause :]
    if not (left.isascii() and left.isdigit()) or len(code) < MIN_SCAN or session._stack.top.job.raw_input:
        return False
    return isinstance(_resolve(session, code), Scan | Ambiguous)


def _explain_label(session: SessionBase, label: str) -> None:
    """Whoever typed what stands on a tote and was led back hears how that is typed."""
    said = session._verdict
    told = msg("session.label_back", label=label, said=said.text) if said else msg("session.label", label=label)
    session._verdict = Verdict(ASK if said and said.kind == ASK else INFO, told)


def _is_unknown_yet(session: SessionBase, item: Line, meaning: Meaning) -> bool:
    """Whether that is a scan which nobody can know yet, on a page where unknown words are looked for: a badge, or
    anything else of a store that was never read whole, is no search."""
    if not isinstance(meaning, Text | UnknownCode):
        return False
    code, open_ = item.text.strip(" "), session._accepts()
    if open_.text or not (open_.search or open_.follows_typing):
        return False
    scanned = (
        item.median_pause < TYPING_PAUSE_S and len(code) >= MIN_SCAN and " " not in code and any(map(str.isdigit, code))
    )
    return scanned and not asks_look_up(code) and not session._store.reader.is_complete()


def _is_paced(item: Line) -> bool:
    """Whether digits came at the pace of a scanner: a code that was cut off, as likely as a quantity."""
    text = item.text.strip(" ")
    return bool(item.scan_number) and 0 < item.median_pause < FAST_S and text.isdecimal() and len(text) >= FEWEST_PACED


def _record_verdict(session: SessionBase, meaning: Meaning) -> None:
    """Whether a line was taken: what comes after it in one queue must not hide that it was not."""
    session._rejected_scan = input_batch.remember_rejected_scan(
        session._rejected_scan, meaning, session._verdict, session._stack.jobs
    )
    queue = session._batch
    session._batch = queue._replace(refused=queue.refused.add(meaning, session._verdict, session._accepts().choices))


def _open_help_page(session: SessionBase, name: str) -> None:
    """Opens a page of the house over the job; one that is open already stays, and only help opens over another."""
    session._verdict, asking = None, session._question
    top = session._stack.top
    if top.job.name == name:
        return
    if is_help_page(top) and name != "help":
        _close_page(session)
    tuned, whole = (session._profile.language, session._profile.theme), _is_page_fully_shown(session)
    start = help_page_start(
        name,
        session._stack.jobs,
        session._profile.names_by_letter,
        tuned,
        colours=session.has_themes,
        is_fully_shown=whole,
    )
    session._apply_result(session._stack.open(start, session._context()), "")
    session._verdict = asking.multiplier_dropped(
        Command(""), "", asking.add_unanswered(Command(""), session._verdict), name
    )


def _close_help_pages_for(session: SessionBase, meaning: Meaning) -> bool:
    """Pages of the house leave for what is said to the job below; whether one has."""
    left = False
    while session._stack.top.job.passes_to_below(session._stack.top.state, meaning):
        _close_page(session)
        left = True
    return left


def _close_page(session: SessionBase) -> None:
    name = session._stack.top.job.name
    while session._stack.top.job.name == name:
        session._apply_result(session._stack.feed(Back(), session._context()), "")


def _apply_open_line(session: SessionBase, text: str) -> None:
    session._apply_result(session._stack.feed(TypedText(text), session._context()), "")


def _apply_raw_input(session: SessionBase, heard: RawInput, raw: str) -> None:
    """A job that listens gets an input as it came, whatever it means elsewhere."""
    session._verdict = None
    _feed(session, heard, raw)


def _feed(session: SessionBase, event: Event, raw: str) -> None:
    session._apply_result(require_pin(session, event, lambda: session._stack.feed(event, session._context())), raw)


def _resolve(session: SessionBase, text: str) -> Meaning:
    top = session._stack.top
    asking, open_, prefers = session._question, session._accepts(), top.job.prefers(top.state)
    said = session._resolver.resolve(text, open_, prefers)
    if asking.multiplies(said, text):
        said = session._resolver.resolve(asking.with_multiplier(text.strip(" ")), open_, prefers)
    said = asking.apply_undo(choose_product(session._stack.jobs, said))
    if open_.typed_only and isinstance(said, Choice) and not _was_on_screen(session):
        return RefusedInput("input.by_hand", text)  # it came with what opened the question: a scan in two pieces
    if isinstance(said, Choice | Quantity) and session._batch.refused.is_scan_refused and not open_.text:
        return RefusedInput("input.after", text)  # it was meant for that scan; where words are asked for, it was none
    if not asking.is_pending and has_changed_meaning(said, open_, session._stack.jobs, session._batch.page_before):
        return RefusedInput("input.moved", text)
    return said


def _was_on_screen(session: SessionBase) -> bool:
    """Whether what is asked now was on the screen before this queue."""
    now, before = session._question, session._batch.question_before
    is_same = (now.doubtful_quantity, now.scans, now.first) == (before.doubtful_quantity, before.scans, before.first)
    return is_same and page_identity(session._stack.jobs) == session._batch.page_before


def _apply_meaning(session: SessionBase, meaning: Meaning, raw: str) -> None:
    """What a person said, by whatever way; a multiplier that this has no use for is not dropped in silence."""
    asking, wants_goods = session._question, _accepts_products(session)
    _apply_with_question(session, meaning, raw)
    _report_layout(session, meaning)
    _report_guess(session, meaning)
    if asking.is_asked and session._question is not asking:
        session._verdict = asking.add_unanswered(meaning, session._verdict)
        if session._question.is_asked and not isinstance(meaning, Choice | Quantity | Back):
            session._question = session._question._replace(passed=asking.passed + 1)
    if session._question.is_pending:
        return
    if asking.keeps_multiplier(meaning, raw, session._verdict, session._stack.jobs):
        session._question, session._verdict = asking, asking.multiplier_kept(session._verdict)
    else:
        session._verdict = asking.multiplier_dropped(meaning, raw, session._verdict, session._stack.top.job.name)
    if (
        wants_goods
        and isinstance(meaning, UnknownCode)
        and is_unknown_in_store_code(meaning.code, session._profile.in_store_patterns)
    ):
        session._verdict = _add_detail(session._verdict, msg("session.store_label"))


def _accepts_products(session: SessionBase) -> bool:
    """Whether the page on the screen has a use for a product's code."""
    return bool(session._user.user) and PRODUCT in session._stack.top.job.prefers(session._stack.top.state)


def _add_detail(verdict: Verdict | None, detail: Msg) -> Verdict:
    """Add what else has to be known to the answer to an input, where it says no more yet."""
    if verdict is None:
        return Verdict(INFO, detail)
    return verdict if verdict.detail else verdict._replace(detail=detail)


def _report_layout(session: SessionBase, said: Meaning) -> None:
    """Says once that a scanner's keyboard layout is not the terminal's, and how its code was read."""
    meaning = said.matches[0] if isinstance(said, Scan) else None
    if meaning is None or not meaning.layout or session.is_layout_reported:
        return
    session.is_layout_reported = True
    verdict = session._verdict or Verdict(INFO, raw_text(meaning.label or meaning.key))
    session._verdict = verdict._replace(text=msg("session.layout", code=meaning.code, said=verdict.text))


def _report_guess(session: SessionBase, said: Meaning) -> None:
    """Says of each code once that it is none of the store's, and what it was read as."""
    meaning = said.matches[0] if isinstance(said, Scan) and not said.is_look_up else None
    if meaning is None or not meaning.is_guess or meaning.code in session.reported_guesses:
        return
    session.reported_guesses.add(meaning.code)
    label = meaning.label or meaning.key
    verdict = session._verdict or Verdict(INFO, raw_text(label))
    told = msg("session.guessed", code=meaning.code, label=label, said=verdict.text)
    session._verdict = verdict._replace(text=told)


def _apply_with_question(session: SessionBase, meaning: Meaning, raw: str) -> None:
    """The same; what the session itself keeps in mind comes before the job."""
    if isinstance(meaning, Command) and meaning.letter in PAGE_LETTERS:
        _measure_rows_in_view(session)
    session._verdict = None
    asking, session._question = session._question, NO_QUESTION
    if asking.is_pending and isinstance(meaning, Back):
        _answer(session, Verdict(INFO, msg("session.dropped")), meaning, raw)
        return
    if asking.doubtful_quantity and asking.measured_scan and meaning == Choice(2):
        session._question = asking._replace(doubtful_quantity=None, number_match=None)
        _answer(session, Verdict(ASK, ask_quantity.quantity_question(asking.measured_scan)), meaning, raw)
        return
    found = (
        ask_quantity.find_number(session._store.reader, meaning)
        if asking.measured_scan and isinstance(meaning, Quantity)
        else None
    )
    if asking.measured_scan and found and isinstance(meaning, Quantity):
        session._question = asking._replace(doubtful_quantity=meaning, number_match=found)
        told = msg("session.is_number", text=raw.strip(" "), said=ask_quantity.quantity_question(asking.measured_scan))
        _answer(session, Verdict(ASK, told), meaning, raw)
        return
    if leafed := asking.next_page(meaning):
        session._question = leafed
        _answer(session, Verdict(ASK, choice_question(leafed.scans)), meaning, raw)
        return
    meaning = asking.apply_choice(meaning)
    if asking.measured_scan and isinstance(meaning, Back):
        _answer(session, Verdict(INFO, msg("session.dropped")), meaning, raw)
        return
    back = (
        input_batch.ask_if_for_rejected_scan(session._rejected_scan, raw.strip(" "), session._stack.jobs)
        if isinstance(meaning, Quantity)
        else None
    )
    if back:
        session._question, session._rejected_scan = asking, input_batch.NO_REJECTED_SCAN
        _answer(session, back, meaning, raw)
        return
    meaning = ask_quantity.ask_if_measured(session._store.reader, session._stack.jobs, meaning)
    asked = look_up_of(meaning, raw) if session._user.user else None
    match meaning:
        case Ambiguous(ways):
            session._question = PendingQuestion(page_key(session._stack.jobs), scans=ways)
            _answer(session, Verdict(ASK, choice_question(ways)), meaning, raw)
        case Multiplier(number) if session._user.user:
            session._question = PendingQuestion(page_key(session._stack.jobs), multiplier=number)
            _answer(session, Verdict(INFO, msg("session.times", times=number)), meaning, raw)
        case Multiplier(number):
            _answer(session, Verdict(WRONG, msg("input.times", text=f"{number}*")), meaning, raw)
        case _ if asked:
            _open_look_up(session, *asked, meaning, raw)
        case Scan(meanings) if _is_own_badge(session, meanings):
            session._question = asking
            name = meanings[0].label or meanings[0].key
            _answer(session, Verdict(INFO, msg("sign_in.already", name=name)), meaning, raw)
        case Scan() if ask_quantity.is_quantity_needed(session._stack.jobs, meaning) and _is_accepted_by_job(
            session, meaning
        ):
            session._question = PendingQuestion(page_key(session._stack.jobs), measured_scan=meaning)
            _answer(session, Verdict(ASK, ask_quantity.quantity_question(meaning)), meaning, raw)
        case RefusedInput("input.by_hand" as why, text):
            session._question = asking  # what was asked stands
            _answer(session, Verdict(WRONG, Msg(why, (("text", text),))), meaning, raw)
        case RefusedInput("input.choice", text):
            why = "input.choice" if has_back_key(session._stack.top) else "input.no_choice"
            _answer(session, Verdict(WRONG, msg(why, text=text), detail=_choice_hint(session._accepts())), meaning, raw)
        case RefusedInput(why, text):
            _answer(session, Verdict(WRONG, Msg(why, (("text", text),))), meaning, raw)
        case _:
            _store_result(
                session, require_pin(session, meaning, lambda: _feed_or_search(session, meaning)), meaning, raw
            )


def _choice_hint(accepts: Accepts) -> Msg | None:
    """What chooses something on the page, where numbers do."""
    last = "" if accepts.choices < 2 else f"-{accepts.choices}"
    return msg("input.type", keys=f"1{last}") if accepts.choices else None


def _is_accepted_by_job(session: SessionBase, meaning: Meaning) -> bool:
    """Whether the job on the screen does not refuse what was said; it is let try, and put back."""
    before = list(session._stack.jobs)
    verdict = session._stack.feed(meaning, session._context()).verdict
    session._stack.jobs[:] = before
    return verdict is None or verdict.kind != WRONG


def _measure_rows_in_view(session: SessionBase) -> None:
    """Whoever leads through a list goes on from what he sees of it."""
    if session.rows_in_view is not None and session._screen_size.rows:
        shown, context = build_frame(session), session._context()
        size = max(context.window_rows, len(shown.view.rows) if isinstance(shown.view, ListView) else 0)
        seen = session.rows_in_view(shown, *session._screen_size, size)
        if seen < size:
            session._cached_context = context._replace(visible_rows=seen)


def _is_page_fully_shown(session: SessionBase) -> bool:
    """Whether all of the page is on the screen, as far as anybody can tell."""
    return (
        session.is_fully_shown is not None
        and bool(session._screen_size.rows)
        and session.is_fully_shown(build_frame(session), *session._screen_size)
    )


def _is_own_badge(session: SessionBase, matches: Sequence[Match]) -> bool:
    """Whether whoever is signed in has scanned his own badge on a page of work that has no use for one."""
    top, own = session._stack.top, (PERSON, session._user.user)
    return PERSON not in top.job.prefers(top.state) and all((each.kind, each.key) == own for each in matches)


def _feed_or_search(session: SessionBase, meaning: Meaning) -> JobResult:
    return feed_or_search(session._stack, meaning, session._context(), session._store.reader)


def _store_result(session: SessionBase, result: JobResult, meaning: Meaning, raw: str) -> None:
    """What came of what a person said, as far as this host can know it."""
    session._apply_result(
        add_price(unless_incomplete(result, meaning, session._store.reader.is_complete), meaning), raw
    )


def _open_look_up(session: SessionBase, start: Start, event: Event, meaning: Meaning, raw: str) -> None:
    """What was asked about with `?` opens on top of the job on the screen, or on the page that is there already."""
    is_there = session._stack.top.job.name == start.job
    if not is_there:
        _store_result(session, session._stack.open(start, session._context()), meaning, raw)
    if is_there or not start.args:
        _store_result(session, session._stack.feed(event, session._context()), meaning, raw if is_there else "")


def _answer(session: SessionBase, verdict: Verdict, meaning: Meaning, raw: str) -> None:
    """The session's own answer, which no job hears of."""
    session._verdict = verdict
    session._unit_of_work.add_answer(meaning, session._batch.at, raw, session._context(), verdict)
    session._ring_bell(verdict)
