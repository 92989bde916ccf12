"""What is shown of the log of today: the list, and one entry."""

from __future__ import annotations

from aisle.jobs import window
from aisle.jobs.count.log_state import Entry, Log
from aisle.jobs.fate import WORDS
from aisle.jobs.told import words
from aisle.jobs.view import BACK, Fact, Hint, Line, ListWindow, Msg, Row, Step, View, amount, msg, raw, signed


def view(state: Log) -> View:
    """The list, or one entry."""
    return _list(state) if state.entry is None else _one(state, state.entry)


def choices(state: Log) -> tuple[Msg, ...]:
    """What the page of an entry leads to."""
    if state.entry is None or not state.entry.undoable:
        return ()
    return (msg("count_log.take_back"), msg("count_log.keep")) if state.asking else (msg("count_log.undo"),)


def _list(state: Log) -> ListWindow:
    label = msg("count_log.title_mine" if state.mine else "count_log.title_all")
    if state.product:
        label = msg("count_log.title_product", label=state.label)
    text = state.typed or state.search
    return window.shown(
        state,
        "count_log",
        label,
        msg("count_log.prompt"),
        (msg("head.product"), msg("head.state"), msg("head.counted"), msg("head.place"), msg("head.time")),
        tuple(_row(entry) for entry in state.rows),
        Hint("e", msg("count_log.whose")),
        empty=msg("count_log.none", text=text) if text else msg("count_log.empty"),
    )


def _row(entry: Entry) -> Row:
    return Row(
        entry.key,
        (
            raw(entry.label),
            _state(entry),
            _amount(entry),
            raw(entry.place),
            msg("clock", at=entry.at),
        ),
    )


def _amount(entry: Entry) -> Msg:
    if entry.difference is None:
        return amount(entry.counted)
    by = signed(entry.difference)
    return by if entry.counted is None else msg("count_log.counted", counted=entry.counted, difference=by)


def _state(entry: Entry) -> Msg:
    return msg("word.taken_back") if entry.undone else msg(WORDS[entry.word])


def _one(state: Log, entry: Entry) -> Step:
    lines = [Line("place", msg("count.place", place=entry.place) if entry.place else msg("count.nowhere"))]
    lines += [Line("product", raw(entry.label)), Line("quantity", _amount(entry))]
    if entry.why:
        lines.append(Line("note", words(entry.why)))
    facts = [Fact(msg("head.state"), _state(entry)), Fact(msg("head.time"), msg("clock", at=entry.at))]
    facts.append(Fact(msg("head.user"), raw(entry.user)))
    if entry.reason:
        facts.append(Fact(msg("head.reason"), raw(entry.reason)))
    if entry.pool:
        facts.append(Fact(msg("fact.pool"), msg("number", value=entry.pool)))
    facts.append(Fact(msg("fact.product_number"), raw(entry.product)))
    return Step(
        name="count_log.undo" if state.asking else "count_log.entry",
        title=msg("count_log.title_entry"),
        prompt=msg("count.prompt_number" if choices(state) else "count_log.prompt_entry"),
        lines=tuple(lines),
        facts=tuple(facts),
        choices=choices(state),
        hints=(BACK,),
    )
