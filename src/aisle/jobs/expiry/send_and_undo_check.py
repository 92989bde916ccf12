"""What an expiry check sends, its undo, and reports of refused checks and of dates that other people gave.

The interface does not say what an update does to fields that it leaves out; as on the product's page, only what changes
is sent. Prices are set with the rights of a supervisor, so that a discount is an operation of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.expiry.expiry_state import (
    CHECK,
    DISCOUNT,
    EXPIRY,
    MAX_UNDO,
    CheckedProduct,
    ExpiryState,
    Result,
    SentCheck,
    back_to_list,
    day_message,
    in_hand,
    is_discount_due,
    next_check,
    parse_checked_product,
    standing_date,
    today_of,
    uncount_label,
)
from aisle.jobs.job import Context, Json, Query, Turn, Write, format_number
from aisle.jobs.log_writes_and_refusals import new_refusals, with_reported
from aisle.jobs.supervisor.service_fields_and_values import UPDATE, format_day_as_datetime, update_write
from aisle.jobs.view import GOOD, WRONG, Msg, Verdict, msg, undo_verdict
from aisle.row_values import to_decimal
from aisle.store_product_settings import LABEL_CHECK, LABEL_EXPIRY, UNDONE_EXPIRY, parse_update_values
from aisle.stored_messages import is_stored_message, read_message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow
    from aisle.jobs.row_types.products import ExpiryCheckRow, PendingChangeRow, StoreProductRow


def send_check(
    state: ExpiryState, day: date | None, context: Context, discount: Decimal | None = None
) -> tuple[ExpiryState, tuple[Write, ...], Verdict]:
    """Return the state back at the list, the operations of the check, and the verdict. Without a `day` there were no
    goods to check."""
    product, check = in_hand(state), next_check(in_hand(state), day, context).isoformat()
    after = {EXPIRY: day.isoformat(), CHECK: check} if day else {CHECK: check}
    if discount is not None:
        after[DISCOUNT] = format_number(discount)
    before = {name: product.value(name) for name in after}
    sent = SentCheck(product.number, product.label, tuple(before.items()), tuple(after.items()))
    done = back_to_list(state)._replace(sent=(*state.sent, sent)[-MAX_UNDO:])
    verdict = Verdict(GOOD, _saved(product, after), detail=_detail(product, day, context))
    standing = standing_date(state, context)
    is_nearest = day is not None and (not standing or day.isoformat() <= standing)
    return done, setting_writes(product.number, after, before, context, is_nearest=is_nearest), verdict


def send_label(state: ExpiryState, day: date, standing: str, context: Context) -> tuple[ExpiryState, tuple[Write, ...]]:
    """Return the state back at the list, and what is sent of a label later than the date that stands.

    Our own service keeps it, so that it stands once the nearer date is undone.
    """
    product = in_hand(state)
    stands = () if product.keeps_all else ((EXPIRY, standing), (CHECK, product.value(CHECK)))
    label = SentCheck(product.number, product.label, (), stands, label_day=day.isoformat())
    kept = back_to_list(state)._replace(sent=(*state.sent, label)[-MAX_UNDO:])
    dates = {LABEL_EXPIRY: day.isoformat(), LABEL_CHECK: next_check(product, day, context).isoformat()}
    return kept, _given_dates_write(product, dates, context)


def _given_dates_write(product: CheckedProduct, days: Mapping[str, str], context: Context) -> tuple[Write, ...]:
    """Return the operation that tells our own service which dates were given, or are undone."""
    if not product.keeps_all:
        return ()
    more: dict[str, Json] = {name: _date_value(day) for name, day in days.items()}
    return (update_write(product.number, context.store, {}, {}, needs_supervisor=False, more=more),)


def _detail(product: CheckedProduct, day: date | None, context: Context) -> Msg | None:
    """Return what is left: a date that nobody replaced, or a discount for others to set."""
    if day is None:
        known = product.known_expiry
        return msg("expiry.date_stays", day=msg("store_product.day", at=known)) if known else None
    is_for_others = is_discount_due(product, day, context) and not product.may_discount
    return msg("expiry.discount_due") if is_for_others else None


def _saved(product: CheckedProduct, after: Mapping[str, str]) -> Msg:
    check = msg("store_product.day", at=after[CHECK])
    if EXPIRY not in after:
        return msg("expiry.saved_none", label=product.label, check=check)
    return msg("expiry.saved", day=msg("store_product.day", at=after[EXPIRY]), label=product.label, check=check)


def setting_writes(
    product: str,
    after: Mapping[str, str],
    before: Mapping[str, str],
    context: Context,
    *,
    is_nearest: bool = False,
    undone: str = "",
) -> tuple[Write, ...]:
    """Return the operations that set these fields from their plain text: dates, and prices by themselves.

    `is_nearest`: the date may replace a later one that somebody else set since. `undone`: the given date that these
    values replace, unless another one was given.
    """
    more: dict[str, Json] = {UNDONE_EXPIRY: _date_value(undone)} if undone else {}
    dates: dict[str, Json] = {name: _date_value(after[name]) for name in after if name != DISCOUNT}
    prices: dict[str, Json] = {name: to_decimal(after[name]) for name in after if name == DISCOUNT}
    return tuple(
        update_write(
            product,
            context.store,
            changes,
            before,
            needs_supervisor=is_price,
            is_nearest=is_nearest and not is_price,
            more=None if is_price else more,
        )
        for changes, is_price in ((dates, False), (prices, True))
        if changes
    )


def _date_value(day: str) -> str:
    return format_day_as_datetime(day) if day else ""


# Undo

UNDO_QUERY = "undo"


def query_undo(state: ExpiryState, context: Context) -> Query:
    """Return the query for the product of the last check."""
    return Query(UNDO_QUERY, "store_product", {"product_number": state.sent[-1].product, "user": context.user})


def undo_check(state: ExpiryState, row: StoreProductRow | None, context: Context) -> Result:
    """Give back the values before the last check, unless it was refused or they are no longer as it left them."""
    if not state.sent:
        return Turn(state)
    sent, state = state.sent[-1], state._replace(sent=state.sent[:-1])
    product = parse_checked_product(row) if row else None
    if sent.label_day:
        return _undo_label(state, sent, product, context)
    if row and (why := find_refusal(row.get("said") or (), sent)) is not None:
        return Turn(state, (), Verdict(WRONG, refusal_message(why, sent)))
    if product is None or product.number != sent.product or _is_changed(product, sent):
        return Turn(state, (), Verdict(WRONG, msg("expiry.changed_since", label=sent.label)))
    values = _values_to_restore(product, sent)
    if not values:
        return Turn(state, (), Verdict(WRONG, msg("expiry.none_before", label=sent.label)))
    is_whole = values.keys() == dict(sent.before).keys()
    text = msg("expiry.undone" if is_whole else "expiry.undone_partly", label=sent.label)
    now = {name: product.value(name) for name in values}
    undone = dict(sent.after).get(EXPIRY, "") if product.keeps_all else ""
    return Turn(state, setting_writes(sent.product, values, now, context, undone=undone), undo_verdict(text))


def _undo_label(state: ExpiryState, sent: SentCheck, product: CheckedProduct | None, context: Context) -> Result:
    """Undo a label that changed nothing, and name the date that stands now."""
    undone = uncount_label(state, sent.product)
    day = product.known_expiry if product and product.keeps_all else dict(sent.after).get(EXPIRY, "")
    if product is None or not day:
        return Turn(undone, (), Verdict(WRONG, msg("expiry.changed_since", label=sent.label)))
    writes = _given_dates_write(product, {UNDONE_EXPIRY: sent.label_day}, context)
    days = {"undone": day_message(sent.label_day), "day": day_message(day)}
    text = msg("expiry.label_undone", label=sent.label, **days)
    if day == sent.label_day:  # it stands, because the nearer date was undone
        text = msg("expiry.undone", label=sent.label)
    return Turn(undone, writes, undo_verdict(text))


def _is_changed(product: CheckedProduct, sent: SentCheck) -> bool:
    """Return True if the service, or an operation under way, has other values than the check left.

    Another service may return only the day of the next check as it was sent.
    """
    return any(product.value(name) != value for name, value in sent.after if product.keeps_all or name == CHECK)


def _values_to_restore(product: CheckedProduct, sent: SentCheck) -> dict[str, str]:
    """Return the values before, as far as they are known.

    Only our own service is known to return the expiry date, and to take an empty date for none. No service is known to
    take an empty price.
    """
    if not product.keeps_all:
        return {name: value for name, value in sent.before if value and name == CHECK}
    return {name: value for name, value in sent.before if value or name != DISCOUNT}


STANDING_QUERY = "standing"
"""Id of the query for the dates that stand."""


def query_standing(state: ExpiryState, context: Context) -> tuple[Query, ...]:
    """Return the query for the products whose date was given here; none if no date was."""
    products = [sent.product for sent in _last_dates(state, context)]
    return (Query(STANDING_QUERY, "checked_products", {"products": products}, is_live=True),) if products else ()


def _last_dates(state: ExpiryState, context: Context) -> list[SentCheck]:
    """Return the last check of each product that gave it a date, else its last label, unless its next check is due."""
    last = {sent.product: sent for sent in state.sent if sent.label_day}
    last |= {sent.product: sent for sent in state.sent if sent.before}
    today = today_of(context).isoformat()
    return [sent for sent in last.values() if EXPIRY in (after := dict(sent.after)) and after[CHECK] > today]


def _is_other(sent: SentCheck, row: ExpiryCheckRow, today: str) -> bool:
    """Return True if another date stands. A label that changed nothing counts again once the check is due."""
    if sent.label_day:
        return row["due"] <= today
    return row["expiry"] not in ("", dict(sent.after)[EXPIRY])


def report_other_dates(state: ExpiryState, rows: tuple[ExpiryCheckRow, ...], context: Context) -> Result:
    """Report the products whose date is not the one given here, each date once, the last one in words."""
    given, today = {sent.product: sent for sent in _last_dates(state, context)}, today_of(context).isoformat()
    others = [row for row in rows if (sent := given.get(row["product_number"])) and _is_other(sent, row, today)]
    fresh = [row for row in others if (row["product_number"], row["expiry"]) not in state.reported_dates]
    reported = state._replace(reported_dates=tuple((row["product_number"], row["expiry"]) for row in others))
    if not fresh:
        return Turn(reported)
    row, sent = fresh[-1], given[fresh[-1]["product_number"]]
    if sent.label_day:  # the check with the nearer date was undone
        return Turn(reported, (), Verdict(WRONG, msg("expiry.not_checked", label=sent.label)))
    days = {"day": day_message(row["expiry"]), "given": day_message(dict(sent.after)[EXPIRY])}
    return Turn(reported, (), Verdict(WRONG, msg("expiry.other_date", label=sent.label, **days)))


REFUSED_CHECKS = "refused_checks"


def query_refused(since: str) -> Query:
    """Return the query for checks that were refused since then."""
    return Query(REFUSED_CHECKS, "refused_operations", {"operation": UPDATE, "since": since}, is_live=True)


def report_refused(state: ExpiryState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Report the checks of this person that were refused and not reported yet, the latest one in words."""
    fresh = new_refusals(state.reported_refusals, rows, context.user)
    found = [(row, sent) for row in fresh if (sent := _sent_check(state, row))]
    if not found:
        return Turn(state)
    reported = state._replace(reported_refusals=with_reported(state.reported_refusals, (row for row, _ in found)))
    row, sent = found[-1]
    return Turn(reported, (), Verdict(WRONG, refusal_message(row["why"], sent)))


def _sent_check(state: ExpiryState, row: RefusedOperationsRow) -> SentCheck | None:
    """Return the check that an operation was sent for; None if it is another change of the product."""
    for item in row["body"]:
        values = parse_update_values(item).items()
        for sent in state.sent:
            if sent.product == str(item.get("product_number")) and values <= dict(sent.after).items():
                return sent
    return None


def find_refusal(changes: Iterable[PendingChangeRow], sent: SentCheck) -> str | None:
    """Return why the latest change that this check sent was refused; None if it was not."""
    values = dict(sent.after).items()
    for change in changes:
        if {(name, after) for name, _, after in change["fields"]} <= values:
            return change["why"] if change["outcome"] == "refused" else None
    return None


def refusal_message(why: str, sent: SentCheck) -> Msg:
    """Return the reason of a refusal: that of the service, or that somebody else was faster."""
    reason = read_message(why)
    if is_stored_message(why):
        return msg("raw.cut", text=reason)
    return msg("receive.refused", why=reason, label=sent.label)
