"""What the pages of a clearance show."""

from __future__ import annotations

from aisle.jobs import window
from aisle.jobs.desk.clearance_state import Category, Clear, Clearance, Tag, asked_for
from aisle.jobs.desk.tasks_view import quantity_of
from aisle.jobs.told import words
from aisle.jobs.view import BACK, PAGES, Block, Detail, Hint, Line, ListWindow, Msg, Row, Step, View, msg, raw

OUTCOMES = {
    "refused": "clear.refused",
    "role": "clear.role",
    "not_sent": "clear.not_sent",
    "expired": "clear.expired",
    "unknown": "clear.unknown",
}


def view(state: Clearance) -> ListWindow:
    """Tags, or the categories of what is held at the places of one."""
    heads: tuple[str, ...] = (
        "clearance.head_category",
        "clearance.head_lines",
        "clearance.head_held",
        "clearance.head_chosen",
    )
    if not state.tag:
        heads = ("clearance.head_tag", "clearance.head_places")
    return window.shown(
        state,
        "clearance.categories" if state.tag else "clearance",
        msg("clearance.title_of", tag=state.tag) if state.tag else msg("clearance.title"),
        msg("clearance.prompt_category") if state.tag else msg("clearance.prompt_tag"),
        tuple(msg(id_) for id_ in heads),
        tuple(_row(state, each) for each in state.rows),
        *((Hint("d", msg("clearance.go_on")),) if state.tag else ()),
        empty=_empty(state),
    )


def _empty(state: Clearance) -> Msg:
    if not state.known:
        return msg("clearance.unheard")
    if not state.may:
        return msg("clearance.denied")
    return msg("clearance.no_categories") if state.tag else msg("clearance.no_tags")


def _row(state: Clearance, each: Tag | Category) -> Row:
    if not state.tag:
        return Row(each.key, (raw(each.key), msg("number", value=each[1])))
    key, lines, quantity = each.key, each[1], each[2] if len(each) > 2 else 0
    name = raw(key) if key else msg("clearance.no_category")
    mark = msg("clearance.chosen") if key in state.chosen else raw("")
    return Row(key, (name, msg("number", value=lines), msg("number", value=quantity), mark))


def choices(state: Clear) -> tuple[Msg, ...]:
    """What the last page leads to."""
    if state.phase != "done":
        return ()
    return (msg("clear.look"),) if state.how == "done" else (msg("clear.look"), msg("clear.again"))


def page(state: Clear) -> View:
    """The page of this phase."""
    return _done(state) if state.phase == "done" else _step(state)


def outcome(state: Clear) -> Msg:
    """What became of it."""
    if state.how == "done":
        return msg("clear.fresh", tag=state.tag, count=state.fresh) if state.fresh >= 0 else msg("clear.done")
    return msg(OUTCOMES.get(state.how, "clear.unknown"), why=words(state.why))


def _scope(state: Clear) -> Msg:
    if state.categories:
        return msg("clear.of_categories", what=", ".join(state.categories))
    return msg("clear.of_all")


def _step(state: Clear) -> Step:
    place = Line("place", raw(state.tag))
    if state.phase == "wait":
        note = msg("clear.note_begun") if state.begun else msg("clear.note_asked")
        return _shown("clear.wait", msg("clear.prompt_wait"), place, Line("note", note))
    known = (Line("quantity", msg("clear.lines", count=state.lines)),) if state.lines else ()
    note = msg("clear.note_sure") if state.people else msg("clear.note_token")
    lines = (place, Line("product", _scope(state)), *known, Line("note", note))
    return _shown("clear.sure", msg("clear.prompt_sure", tag=asked_for(state.tag)), *lines)


def _shown(name: str, prompt: Msg, *lines: Line) -> Step:
    return Step(name=name, title=msg("clear.title"), prompt=prompt, lines=lines, hints=(BACK,))


def _done(state: Clear) -> Detail:
    """What was created, goods by goods; where the service does not list it, what is known."""
    asked = [(msg("clear.head_tag"), raw(state.tag)), (msg("clear.head_what"), _scope(state))]
    asked.append((msg("clear.head_asked"), msg("logs.at", at=state.at)))
    if state.lines:
        asked.append((msg("clear.head_lines"), msg("number", value=state.lines)))
    blocks = [Block(msg("clear.about"), tuple(asked), tight=True)]
    if state.how == "unknown":
        ways = "clear.find_out" if state.listed else "clear.find_out_there"
        blocks.insert(0, Block(msg("clear.to_find_out"), ((msg(ways, tag=state.tag),),)))
    if state.listed:
        rows = tuple(
            (
                raw(each.task.label),
                raw(each.task.place),
                quantity_of(each.task.quantity, each.task.unit if each.task.decimal else ""),
                raw(each.task.order),
            )
            for each in state.tasks
        )
        title = msg("clear.to_move", count=state.total)
        blocks.append(Block(title, rows or ((msg("clear.nothing_to_move"),),)))
    else:
        blocks.append(Block(msg("clear.to_move_plain"), ((msg("tasks.unlisted"),),)))
    return Detail(
        name="clear.done",
        title=msg("clear.title"),
        prompt=msg("clear.prompt_done"),
        lines=(Line("product", outcome(state)),),
        blocks=tuple(blocks),
        page=state.page,
        choices=choices(state),
        hints=(*PAGES, BACK),
    )
