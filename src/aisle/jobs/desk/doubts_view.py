"""The pages of the list of what is not settled."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import window
from aisle.jobs.base import AGAIN, BY_HAND
from aisle.jobs.chain.store_product_view import label, shown
from aisle.jobs.desk.doubts_state import Doubt, Doubts, Item, Side, ways_of
from aisle.jobs.fate import WORDS
from aisle.jobs.told import is_ours, words
from aisle.jobs.view import BACK, ON, Block, Detail, Line, ListWindow, Msg, Row, Step, View, msg, raw

HOW = ("counted", "corrected", "nothing")
"""How something was settled by hand, as it is kept; anything else is said in words."""

_HOW = (msg("doubts.how_counted"), msg("doubts.how_corrected"), msg("doubts.how_nothing"))

_WAYS = {
    "arrived": "doubts.way_arrived",
    "again": "doubts.way_again",
    "by_hand": "doubts.way_by_hand",
    "overage": "doubts.way_overage",
    "difference": "doubts.way_difference",
    "put_back": "doubts.way_put_back",
    "other_order": "doubts.way_other_order",
    "first": "doubts.way_first",
    "count": "doubts.way_count",
    "look": "doubts.way_look",
    "setting": "doubts.way_setting",
}
_WHAT = {"move": "doubts.what_move", "count": "doubts.what_count", "change": "doubts.what_change"}
_NOTES = {"noted": "doubts.note_noted", "sent": "doubts.note_sent", "confirmed": "doubts.note_confirmed"}
_LOOKS = {
    "there": "doubts.looks_there",
    "not_there": "doubts.looks_not_there",
    "mixed": "doubts.looks_mixed",
}


def page_of(state: Doubts, at: str) -> View:
    """The page that this state shows."""
    if state.entry is None:
        return _list(state)
    return _question(state, state.entry, at) if state.asking else _entry(state, state.entry)


def choices_of(state: Doubts) -> tuple[Msg, ...]:
    """What the numbers of an entry's page do."""
    if state.asking == AGAIN:
        return (msg("doubts.again_yes"), msg("doubts.again_no"))
    if state.asking == BY_HAND:
        return _HOW
    doubt = state.entry
    if doubt is None:
        return ()
    return tuple(msg(_WAYS[way], place=doubt.place, order=doubt.order) for way in ways_of(doubt))


def _list(state: Doubts) -> ListWindow:
    return window.shown(
        state,
        "doubts",
        msg("doubts.title"),
        msg("doubts.prompt") if state.total else msg("doubts.prompt_none"),
        (msg("doubts.head_state"), msg("doubts.head_what"), msg("doubts.head_who"), msg("doubts.head_at")),
        tuple(_row(doubt) for doubt in state.rows),
        empty=msg("doubts.empty"),
    )


def _row(doubt: Doubt) -> Row:
    who = msg("doubts.who_pin", name=doubt.pin) if doubt.pin else raw(doubt.who)
    cells = (msg(WORDS[doubt.word]), what(doubt), who, msg("moment", at=doubt.at))
    return Row(doubt.op_id, cells)


def what(doubt: Doubt) -> Msg:
    """What was meant, in a line."""
    first = doubt.items[0] if doubt.items else None
    if doubt.kind == "setting" and first is not None:
        return msg("doubts.what_setting", label=first.label or first.product)
    if doubt.kind not in _WHAT or first is None:
        return msg("doubts.what_pick", order=doubt.order) if doubt.order else raw(doubt.operation)
    said = _said(doubt, first)
    return msg("doubts.what_more", what=said, count=len(doubt.items) - 1) if len(doubt.items) > 1 else said


def _said(doubt: Doubt, item: Item) -> Msg:
    quantity = "?" if item.quantity is None else item.quantity
    return msg(
        _WHAT[doubt.kind],
        quantity=quantity,
        label=item.label or item.product,
        source=item.source or msg("doubts.no_place"),
        target=item.target or msg("doubts.no_place"),
    )


def _entry(state: Doubts, doubt: Doubt) -> Detail:
    blocks = []
    if doubt.sides:
        blocks.append(Block(msg("doubts.sides"), tuple(_side(doubt, side) for side in doubt.sides)))
    if len(doubt.items) > 1 or (doubt.items and doubt.kind == "pick"):
        blocks.append(Block(msg("doubts.parts"), tuple(_part(item) for item in doubt.items)))
    blocks.append(
        Block(
            msg("doubts.about"),
            (
                (msg("doubts.head_who"), raw(doubt.who)),
                *(((msg("doubts.head_as"), raw(doubt.principal)),) if doubt.principal else ()),
                (msg("doubts.head_at"), msg("moment", at=doubt.at)),
                (msg("doubts.number"), raw(doubt.op_id)),
            ),
        )
    )
    return Detail(
        name="doubts.entry",
        title=msg(WORDS[doubt.word]),
        prompt=msg("doubts.choose") if choices_of(state) else msg("doubts.look"),
        lines=(Line("product", what(doubt)), *(Line("note", note) for note in _notes(doubt))),
        blocks=tuple(blocks),
        page=state.page,
        choices=choices_of(state),
        hints=(ON, BACK),
    )


def _notes(doubt: Doubt) -> tuple[Msg, ...]:
    """What became of it, and what it looks like."""
    if doubt.word == "refused":
        return (msg("doubts.note_why" if is_ours(doubt.why) else "doubts.note_refused", why=words(doubt.why)),)
    if doubt.waits_for:
        return (msg("doubts.note_first"),)
    if doubt.pin:
        return (msg("doubts.note_pin", name=doubt.pin),)
    if doubt.word != "unclear":
        return (msg(_NOTES[doubt.word]),)
    if not doubt.asked:
        first = msg("doubts.note_checking")
    elif doubt.verdict == "changed":
        first = msg("doubts.note_changed")
    else:
        first = msg("doubts.note_unknown") if doubt.verdict else msg("doubts.note_why", why=words(doubt.why))
    return (first, msg(_LOOKS[doubt.looks])) if doubt.looks else (first,)


_FIELDS = {
    "is_active": "doubts.field_active",
    "is_claimed": "doubts.field_claimed",
    "is_picked": "doubts.field_picked",
    "is_rejected": "doubts.field_rejected",
}
_FLAGS = {"yes": "doubts.yes", "no": "doubts.no"}


def _setting(side: Side) -> tuple[Msg, ...]:
    """What both sides say of a product in this store."""
    was, ours, now = (
        msg("doubts.nobody_knows") if value is None else shown(side.of, value)
        for value in (side.before, side.ours, side.after)
    )
    return (label(side.of), msg("doubts.side", before=was, after=now), msg("doubts.meant", ours=ours))


def _field(side: Side) -> tuple[Msg, ...]:
    """What both sides say of the order as a whole."""
    was, ours, now = (
        msg(_FLAGS.get(value or "", "doubts.nobody_knows")) for value in (side.before, side.ours, side.after)
    )
    return (msg(_FIELDS[side.of]), msg("doubts.side", before=was, after=now), msg("doubts.meant", ours=ours))


def _side(doubt: Doubt, side: Side) -> tuple[Msg, ...]:
    if side.of in _FIELDS:
        return _field(side)
    if doubt.kind == "setting":
        return _setting(side)
    label = next((item.label for item in doubt.items if item.product == side.of), side.of)
    alone = len({each.of for each in doubt.sides}) == 1
    where = side.place if side.place and alone else f"{label} {side.place}".strip()
    said = msg("doubts.side", before=_figure(side.before or "?"), after=_figure(side.after or "?"))
    return (raw(where), said, *((msg("doubts.meant", ours=_figure(side.ours)),) if side.ours else ()))


def _figure(text: str) -> str | Decimal | Msg:
    """A quantity with decimals as people write it, its sign or `=` before it; anything else as it is."""
    sign = text[0] if text[0] in "+=" else ""
    try:
        value = Decimal(text.removeprefix(sign))
    except ArithmeticError:
        return text
    if value == value.to_integral_value():
        return text
    return msg("count.signed", sign=sign, value=value) if sign else value


def _part(item: Item) -> tuple[Msg, ...]:
    quantity = raw("?") if item.quantity is None else msg("number", value=item.quantity)
    ends = [raw(place) for place in (item.source, item.target) if place]
    return (raw(item.label or item.product), quantity, *ends)


def _question(state: Doubts, doubt: Doubt, at: str) -> Step:
    note = msg("doubts.note_again") if state.asking == AGAIN else msg("doubts.note_by_hand")
    return Step(
        name=at,
        title=msg(WORDS[doubt.word]),
        prompt=msg("doubts.choose") if state.asking == AGAIN else msg("doubts.choose_how"),
        lines=(Line("product", what(doubt)), Line("note", note)),
        choices=choices_of(state),
        hints=(BACK,),
    )
