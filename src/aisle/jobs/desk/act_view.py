"""The pages on which something is done to orders."""

from __future__ import annotations

from aisle.jobs import window
from aisle.jobs.desk.act_state import Acting, Outcome
from aisle.jobs.desk.deeds import CLAIM, FOR_SOMEBODY, OF_ORDERS, REASONED, SPLIT, TAKE_BACK, Deed
from aisle.jobs.fate import WORDS
from aisle.jobs.view import BACK, PAGES, Hint, Line, ListWindow, Msg, Row, Step, View, msg, raw

NAMES = {
    "claim": "act.claim",
    "release": "act.release",
    "reject": "act.reject",
    "take_back": "act.take_back",
    "finish": "act.finish",
    "urgent": "act.urgent",
    "calm": "act.calm",
    "split": "act.split",
    "close_line": "act.close_line",
    "open_line": "act.open_line",
}
"""What each deed is called."""

_TOLD = {
    "claim": "act.told_claim",
    "release": "act.told_release",
    "reject": "act.told_reject",
    "take_back": "act.told_take_back",
    "finish": "act.told_finish",
    "urgent": "act.told_urgent",
    "calm": "act.told_calm",
    "split": "act.told_split",
    "close_line": "act.told_close_line",
    "open_line": "act.told_open_line",
}

_PROMPTS = {
    "what": "act.prompt_what",
    "why": "act.prompt_why",
    "who": "act.prompt_who",
    "sure": "act.prompt_sure",
    "wait": "act.prompt_wait",
}


def told(order: str, deed: Deed, label: str) -> Msg:
    """What was done to one order."""
    if deed.kind == CLAIM and not deed.user:
        return msg("act.told_claim_nobody", order=order)
    return msg(_TOLD[deed.kind], order=order, name=deed.name or deed.user, label=label)


def done(state: Acting) -> str:
    """The message that says to how many it was done; what was rejected comes back as it was not before."""
    if any(deed.kind == TAKE_BACK for _, deed in state.plan):
        return "act.done_take_back"
    return "act.undone" if state.undoing else "act.done"


def choices(state: Acting) -> tuple[Msg, ...]:
    """What the numbers of a page do."""
    match state.page:
        case "what":
            return tuple(msg(NAMES[kind]) for kind in OF_ORDERS)
        case "why":
            return tuple(raw(reason.words) for reason in state.reasons[state.top : state.top + state.page_rows])
        case "who":
            return tuple(raw(person.name) for person in state.people[state.top : state.top + state.page_rows])
        case "sure":
            return (msg("act.yes"), msg("act.no"))
    return ()


def has_more(state: Acting) -> bool:
    """Whether there are more people or reasons than a page has."""
    return len(listed(state)) > len(choices(state))


def listed(state: Acting) -> tuple[object, ...]:
    """What the numbers of a page choose from, where that may be of any length."""
    return state.people if state.page == "who" else state.reasons if state.page == "why" else ()


def view(state: Acting) -> View:
    """The page of this state."""
    if state.page == "results":
        return _results(state)
    return Step(
        name=f"act.{state.page}",
        title=_title(state),
        prompt=msg(_PROMPTS[state.page]),
        lines=_lines(state),
        choices=choices(state),
        hints=(*PAGES, BACK) if has_more(state) else (BACK,),
        first=state.top,
        of=max(len(listed(state)), state.known if state.page == "who" else 0),
    )


def _title(state: Acting) -> Msg:
    return msg(NAMES[state.kind]) if state.kind else msg("act.title")


def _lines(state: Acting) -> tuple[Line, ...]:
    """Which orders, and how far they are."""
    about = [Line("product", _sure(state) if state.page == "sure" else _which(state))]
    if state.line:
        about.append(Line("note", msg("act.of_line", label=state.label)))
    elif state.of:
        about.append(Line("note", msg("act.stands", done=state.picked, total=state.of)))
    if state.page == "sure":
        why = next((deed.words or deed.code for _, deed in state.plan), "") if state.kind in REASONED else ""
        about += [Line("note", msg("act.because", why=why))] if why else []
        about.insert(1, Line("note", _warning(state)))
    return tuple(about)


def _sure(state: Acting) -> Msg:
    """What is to be done, to which orders, and for whom."""
    what = msg(NAMES[state.kind])
    name = next((deed.name or deed.user for _, deed in state.plan), "") if state.kind in FOR_SOMEBODY else ""
    if name:
        what = msg("act.split_to" if state.kind == SPLIT else "act.for_whom", name=name)
    return msg("act.sure_of", what=what, which=_which(state))


def _which(state: Acting) -> Msg:
    if len(state.orders) == 1:
        return msg("act.one_order", order=state.orders[0])
    return msg("act.orders", count=len(state.orders), first=state.orders[0] if state.orders else "")


def _warning(state: Acting) -> Msg:
    """What one has to know before one says yes."""
    if state.kind == "finish":
        left = state.of - state.picked
        return msg("act.warn_finish_short", left=left) if left > 0 else msg("act.warn_finish")
    if state.kind == "take_back":
        return msg("act.warn_take_back")
    if state.kind == "split":
        return msg("act.warn_split", count=len(state.orders))
    return msg("act.warn_reject") if state.kind == "reject" else msg("act.warn", count=len(state.orders))


def _results(state: Acting) -> ListWindow:
    return ListWindow(
        name="act.results",
        title=msg("act.results_undone" if state.undoing else "act.results"),
        prompt=msg("act.prompt_results"),
        heads=(msg("head.order"), msg("act.head_result"), msg("act.head_why")),
        rows=tuple(_row(row) for row in state.rows),
        first=state.first,
        total=state.total,
        cursor=state.cursor,
        hints=(*window.page_hints(state), *((Hint("u", msg("hint.undo")),) if state.undo else ()), BACK),
    )


def _row(row: Outcome) -> Row:
    word = msg(WORDS.get(row.word, "word.unclear")) if row.word else msg("act.not_done")
    return Row(row.order, (raw(row.order), word, row.why or raw("")))
