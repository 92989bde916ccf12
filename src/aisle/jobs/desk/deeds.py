"""What a supervisor can do to an order, decided on what the order stands at. Interface: Update customer order.

A line is rejected by closing it with what is picked of it, and saying why: that is the same at every service. One of
which nothing is picked is rejected in so many words where the service takes that (`line-rejection`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.base import Remark, Write
from aisle.jobs.pick.write import claim, reject, why_of, write_order
from aisle.jobs.view import Msg, msg
from aisle.tuples import NamedTuple

CLAIM, RELEASE, REJECT, TAKE_BACK, FINISH = "claim", "release", "reject", "take_back", "finish"
LINE_REJECTION = "line-rejection"
"""The word by which a service announces that it takes rejections of lines."""

URGENT, CALM, SPLIT = "urgent", "calm", "split"
CLOSE_LINE, OPEN_LINE = "close_line", "open_line"

OF_ORDERS = (CLAIM, RELEASE, REJECT, TAKE_BACK, FINISH, URGENT, CALM, SPLIT)
"""What can be done to one order or to many."""

OF_LINES = (CLOSE_LINE, OPEN_LINE)

FOR_SOMEBODY = (CLAIM, SPLIT)
"""What asks for whom."""

REASONED = (REJECT, CLOSE_LINE)
"""What nobody does without a reason."""

LOSING = (REJECT, TAKE_BACK, FINISH)
"""What nobody does by one number alone: of the order as it was something is gone."""


class Deed(NamedTuple):
    """One thing to be done to one order."""

    kind: str
    user: str = ""
    """Whose the order becomes; empty for nobody in particular."""
    name: str = ""
    code: str = ""
    words: str = ""
    """Why."""
    line: int = 0


class Done(NamedTuple):
    """What came of it: what is to be written and how it is undone, or why it cannot be."""

    writes: tuple[Write | Remark, ...] = ()
    undo: Deed | None = None
    """None where nothing leads back."""
    why: Msg | None = None


def decide(
    order: str, row: Mapping[str, Any] | None, deed: Deed, store: str, *, rejects: bool = False, by: str = ""
) -> Done:
    """What a deed comes to, on an order as it is now (None: nobody here knows it); too late is said plainly.

    All of it is a supervisor's, who is `by`. `rejects`: the service takes rejections of lines.
    """
    done = _decided(order, row, deed, store, rejects, by)
    told = any(isinstance(each, Write) for each in done.writes)
    return done._replace(writes=tuple(_supervised(each, told) for each in done.writes))


def _supervised(each: Write | Remark, told: bool) -> Write | Remark:
    """A supervisor's; `told`: the service is told of the deed, and what is remarked of it mirrors that."""
    if isinstance(each, Remark):
        return each._replace(supervises=True, mirrors=told)
    return each._replace(supervises=True)


def _decided(order: str, row: Mapping[str, Any] | None, deed: Deed, store: str, rejects: bool, by: str) -> Done:
    if row is None:
        return Done(why=msg("deed.gone", order=order))
    if not row.get("is_active", True):
        return Done(why=msg("deed.is_finished", order=order))
    if deed.kind == TAKE_BACK:
        return _take_back(order, row, store)
    if row.get("is_rejected"):
        already = deed.kind == REJECT
        return Done(why=msg("deed.already_rejected" if already else "deed.is_rejected", order=order))
    if deed.kind == REJECT:
        return Done((reject(order, deed.code, deed.words, store),), Deed(TAKE_BACK))
    if deed.kind in (CLAIM, RELEASE):
        return _claim(order, row, deed, store, by)
    if deed.kind in (URGENT, CALM, SPLIT) and row.get("is_picked"):
        return Done(why=msg("deed.is_picked", order=order))
    if deed.kind in (URGENT, CALM):
        return _urgent(order, row, deed)
    if deed.kind == SPLIT:
        return _split(order, row, deed, store)
    if deed.kind == FINISH:
        return _finish(order, row, store)
    return _line(order, row, deed, store, rejects)


def _take_back(order: str, row: Mapping[str, Any], store: str) -> Done:
    if not row.get("is_rejected"):
        return Done(why=msg("deed.not_rejected", order=order))
    before = Deed(
        REJECT,
        code=str(row.get("rejection_reason_code") or ""),
        words=str(row.get("rejection_reason_code_description") or ""),
    )
    return Done((write_order(order, {"order_number": order, "is_rejected": False}, store),), before)


def _claim(order: str, row: Mapping[str, Any], deed: Deed, store: str, me: str) -> Done:
    """Whose it becomes is told of it as of an order of somebody else's walk, unless he does it himself."""
    claimed, by = bool(row.get("is_claimed")), str(row.get("claimed_by") or "")
    if deed.kind == RELEASE:
        if not claimed:
            return Done(why=msg("deed.not_claimed", order=order))
        back = Deed(CLAIM, by, str(row.get("claimed_name") or by))
        freed = Remark("claim", order, ""), Remark("given", order, ""), Remark("released", order, "1")
        return Done((claim(order, store, claimed=False), *freed), back)
    if claimed and by == deed.user:
        return Done(why=msg("deed.already_claimed", order=order, name=deed.name or deed.user))
    undo = Deed(CLAIM, by, str(row.get("claimed_name") or by)) if claimed and by else Deed(RELEASE)
    kept = Remark("claim", order, deed.user), Remark("given", order, deed.user if deed.user != me else "")
    return Done((claim(order, store)._replace(user=deed.user), *kept), undo)


def _urgent(order: str, row: Mapping[str, Any], deed: Deed) -> Done:
    """It goes before all others, in the lists and in whose round it is; or no more so."""
    first = deed.kind == URGENT
    if bool(row.get("urgent")) == first:
        return Done(why=msg("deed.already_urgent" if first else "deed.not_urgent", order=order))
    return Done((Remark("urgent", order, "1" if first else ""),), Deed(CALM if first else URGENT))


def _split(order: str, row: Mapping[str, Any], deed: Deed, store: str) -> Done:
    """It leaves the round that it is in, and becomes somebody else's; both are told by what is kept here."""
    walks = str(row.get("walker") or row.get("given_to") or "")
    name = str((row.get("walker_name") if row.get("walker") else row.get("given_name")) or walks)
    if not walks:
        return Done(why=msg("deed.in_no_walk", order=order))
    if walks == deed.user:
        return Done(why=msg("deed.walks_already", order=order, name=deed.name or deed.user))
    kept = Remark("claim", order, deed.user), Remark("given", order, deed.user)
    return Done((claim(order, store)._replace(user=deed.user), *kept), Deed(SPLIT, walks, name))


def _finish(order: str, row: Mapping[str, Any], store: str) -> Done:
    if number(row.get("picked_quantity")) <= 0 and not row.get("is_picked"):
        return Done(why=msg("deed.nothing_picked", order=order))
    return Done((write_order(order, {"order_number": order, "is_active": False}, store),))


def _line(order: str, row: Mapping[str, Any], deed: Deed, store: str, rejects: bool) -> Done:
    """A line closed with what is picked of it, or opened again; what is picked stays."""
    line = next((line for line in row.get("lines") or () if line.get("line_number") == deed.line), None)
    if line is None:
        return Done(why=msg("deed.no_line", order=order))
    label, picked = (
        str(line.get("description") or line.get("product_number") or ""),
        number(line.get("picked_quantity")),
    )
    if picked >= number(line.get("quantity")):
        return Done(why=msg("deed.line_full", label=label))
    closing = deed.kind == CLOSE_LINE
    if bool(line.get("is_picked")) == closing:
        return Done(why=msg("deed.line_closed" if closing else "deed.line_open", label=label))
    code, words = str(line.get("rejection_reason_code") or ""), str(line.get("rejection_reason_code_description") or "")
    undo = Deed(OPEN_LINE, line=deed.line) if closing else Deed(CLOSE_LINE, "", "", code, words, deed.line)
    if rejects and not picked and ((deed.code or deed.words) if closing else line.get("is_rejected")):
        return Done((_rejection(order, deed, store),), undo)
    body: dict[str, Any] = {"line_number": deed.line, "product_number": str(line.get("product_number") or "")}
    body |= {"base_picked_quantity": picked, "picked_quantity": picked, "is_picked": closing}
    if closing:
        body |= why_of(deed.code, deed.words)
    write = write_order(order, {"order_number": order, "order_lines": [body]}, store)
    return Done((write,), undo)


def _rejection(order: str, deed: Deed, store: str) -> Write:
    """One line rejected for itself, or taken up again. Beyond the interface: `line-rejection`."""
    closing = deed.kind == CLOSE_LINE
    line = {"line_number": deed.line, "is_rejected": closing, **(why_of(deed.code, deed.words) if closing else {})}
    body = {"order_number": order, "lines": [line]}
    return Write("reject-lines", (f"order/{order}",), {"store_number": store}, {}, body)
