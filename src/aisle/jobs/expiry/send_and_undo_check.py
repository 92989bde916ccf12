"""What an expiry check sends, and its undo. Interface: Update store products.

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
    uncount_label,
)
from aisle.jobs.expiry.report_refused_checks import find_refusal, refusal_message
from aisle.jobs.job import Context, Json, Query, Turn, Write, format_number
from aisle.jobs.supervisor.parse_and_format_store_product_values import format_day_as_datetime, update_write
from aisle.jobs.view import GOOD, WRONG, Msg, Verdict, msg, undo_verdict
from aisle.row_values import to_decimal
from aisle.store_product_settings import LABEL_CHECK, LABEL_EXPIRY, UNDONE_EXPIRY

if TYPE_CHECKING:
    from aisle.jobs.row_types.products import StoreProductRow


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
