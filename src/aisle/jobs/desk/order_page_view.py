"""What the page of an order shows to a supervisor."""

from __future__ import annotations

from aisle.jobs import goods
from aisle.jobs.desk.act_view import NAMES
from aisle.jobs.desk.order_page_state import Happened, Line, Page
from aisle.jobs.desk.orders_rows import Listed
from aisle.jobs.desk.orders_view import STATUS
from aisle.jobs.told import words
from aisle.jobs.view import BACK, PAGES, Block, Detail, Hint, Msg, msg, raw
from aisle.jobs.view import Line as Told

_FIELDS = {
    "customer_name": "head.customer",
    "reference": "orders.head_reference",
    "description": "order.description",
    "comment": "fact.comment",
    "order_type_description": "order.type",
    "sales_order_id": "order.sales_order",
    "stores_allowed": "order.stores",
    "customer_address": "order.address",
    "delivery_address": "order.delivery_address",
    "customer_phone": "order.phone",
    "customer_email": "order.email",
    "customer_number": "order.customer_number",
    "file_name": "order.file",
}

_PAST = {
    "pick": "order.past_pick",
    "unpick": "order.past_unpick",
    "movement": "order.past_movement",
    "short": "order.past_short",
    "count": "order.past_count",
    "receipt": "order.past_receipt",
    "opened": "order.past_opened",
    "claimed": "order.past_claimed",
    "released": "order.past_released",
    "rejected": "order.past_rejected",
    "taken_back": "order.past_taken_back",
    "finished": "order.past_finished",
    "finish": "order.past_finish",
    "reopened": "order.past_reopened",
}

_WORDS = {
    "noted": "order.word_noted",
    "sent": "order.word_sent",
    "refused": "order.word_refused",
    "unclear": "order.word_unclear",
}
"""What becomes of what was said of it, where it is not over."""

_LAST = {
    "noted": "order.last_noted",
    "sent": "order.last_sent",
    "refused": "order.last_refused",
    "unclear": "order.last_unclear",
}


def view(state: Page) -> Detail:
    """All of it, or its lines to choose from."""
    return Detail(
        name="order.lines" if state.choosing else "order",
        title=msg("order.title", order=state.number),
        prompt=_prompt(state),
        lines=_lines(state),
        blocks=(_line_block(state, numbered=True),) if state.choosing else _blocks(state),
        page=state.page,
        choices=() if state.choosing else tuple(msg(NAMES.get(way, "order.pick")) for way in state.ways),
        hints=_hints(state),
    )


def _prompt(state: Page) -> Msg:
    if state.choosing:
        return msg("order.prompt_lines")
    return msg("order.prompt") if state.ways else msg("order.prompt_read")


def _hints(state: Page) -> tuple[Hint, ...]:
    closed = state.order is None or state.order.status in ("rejected", "finished")
    lines = () if closed or state.choosing or not state.lines else (Hint("l", msg("order.choose_line")),)
    undo = (Hint("u", msg("hint.undo")),) if state.undo and not state.choosing else ()
    return (
        *lines,
        *undo,
        *PAGES,
        BACK,
    )


def _lines(state: Page) -> tuple[Told, ...]:
    """Who it is for, how far it is, and what stands in its way."""
    order = state.order
    if order is None:
        return (Told("product", msg("act.one_order", order=state.number)), Told("note", _not_here(state)))
    head = (
        msg("order.who", order=order.number, who=order.who) if order.who else msg("act.one_order", order=order.number)
    )
    far = msg("order.far", state=msg(STATUS[order.status]), done=order.picked, total=order.of, due=order.due)
    told = [Told("product", head), Told("quantity", far)]
    told += [Told("note", each) for each in (claim(order), _walk(order), _first(order)) if each]
    if order.status == "rejected" and order.why:
        told.append(Told("note", msg("order.rejected_why", why=order.why)))
    if places := dict.fromkeys(place for line in state.lines for place, _ in line.kept):
        told.append(Told("note", msg("order.waits_at", place=goods.places(places))))
    if state.word in _LAST:
        told.append(Told("note", msg(_LAST[state.word], why=words(state.why))))
    return tuple(told)


def _not_here(state: Page) -> Msg:
    """Whether the service has been heard on it."""
    return msg("order.absent", order=state.number) if state.absent else msg("order.unknown")


def claim(order: Listed) -> Msg | None:
    """Who works on it, while there is something to pick."""
    if order.status not in ("open", "partial"):
        return None
    silent = order.silent >= 0
    if order.claimed and order.left:
        return msg("order.left_by", who=order.by, at=order.left)
    if order.claimed and order.by:
        args = {"who": order.by, "seconds": str(order.silent)}
        return msg("order.claimed_silent", **args) if silent else msg("order.claimed_by", who=order.by)
    if order.claimed:
        return msg("order.claimed")
    return msg("order.silent", seconds=str(order.silent)) if silent else None


def _walk(order: Listed) -> Msg | None:
    """In whose round it is, or who is to take it into his."""
    if order.status not in ("open", "partial"):
        return None
    if order.walker:
        return msg("order.in_walk", who=order.walker)
    return msg("order.given_to", who=order.given) if order.given else None


def _first(order: Listed) -> Msg | None:
    if not order.urgent or order.status not in ("open", "partial"):
        return None
    return msg("order.urgent", who=order.urgent_by)


def _blocks(state: Page) -> tuple[Block, ...]:
    facts = [(msg(_FIELDS[name]), raw(value)) for name, value in state.customer]
    if state.order and state.order.seen >= 0:
        facts.append((msg("orders.head_seen"), msg("orders.silent", seconds=str(state.order.seen))))
    past = tuple(_event(each) for each in state.past)
    blocks = (
        _line_block(state),
        Block(msg("order.about"), tuple(facts)),
        Block(msg("order.past"), past or ((msg("order.no_past"),),)),
    )
    return tuple(block for block in blocks if block.rows) if state.order else ()


def _line_block(state: Page, *, numbered: bool = False) -> Block:
    rows = tuple(_line(line) for line in state.lines)
    if not rows and not numbered:
        rows = ((msg("order.lines_coming") if not state.lines_known else msg("order.no_lines"),),)
    count = len(state.lines)
    return Block(msg("order.lines_title", count=count), rows, numbered=count if numbered else 0)


def _line(line: Line) -> tuple[Msg, ...]:
    cells = [raw(line.label), msg("progress.of", done=line.picked, total=line.of), _stands(line)]
    where = ", ".join(place for place, _ in line.kept) or ", ".join(line.places[:2])
    told = msg("order.lies_at", place=where) if line.kept else raw(where)
    return (*cells, told, raw(line.by))


def _stands(line: Line) -> Msg:
    if line.full:
        return msg("order.line_full")
    if line.closed:
        return msg("order.line_short_why", why=line.why) if line.why else msg("order.line_short")
    return msg("order.line_open")


def _event(past: Happened) -> tuple[Msg, ...]:
    what = msg(_PAST.get(past.what, "order.past_other"), what=past.what, quantity=past.quantity, label=past.label)
    if past.place:
        what = msg("order.past_at", what=what, place=past.place)
    if past.why:
        what = msg("order.past_why", what=what, why=words(past.why))
    word = msg(_WORDS[past.word]) if past.word in _WORDS else raw("")
    return (what, raw(past.who), msg("moment", at=past.at), word)
