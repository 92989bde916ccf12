"""A product as this store keeps it: levels, replenishment, attention, expiry, promotion, prices, moments and figures.

What the interface can write has a number: a value is typed, shown beside what it stands at, and sent. What the page
shows is live; what is decided goes by a row that is asked for just then and kept, so that a value in hand is there
again after a kill. Interface: Update store products.
"""

from __future__ import annotations

from collections.abc import Mapping

from aisle.jobs import choice_keys
from aisle.jobs.base import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Json,
    Opened,
    Query,
    Resumed,
    Rows,
    Start,
    Turn,
    Wish,
)
from aisle.jobs.chain import store_product_view
from aisle.jobs.chain.store_product_fields import (
    BY_NAME,
    CODES,
    DAY,
    FLAG,
    LEVELS,
    MONEY,
    NUMBER,
    NUMERIC,
    both_levels,
    codes_of,
    day_of,
    moment_of,
    said_of,
    write,
)
from aisle.jobs.chain.store_product_sheet import StoreProduct, doubts, objection, store_product, why_not
from aisle.jobs.chain.store_product_state import CHART, PAGE, SURE, VALUE, Page
from aisle.jobs.numbers import what_is
from aisle.jobs.sheet import coming
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, View, msg
from aisle.jobs.window import LETTERS, leafed
from aisle.scan.meaning import PRODUCT, Back, Choice, Command, Echo, Meaning, Move, Open, Quantity, Text, Thing, Unknown

Result = Turn[Page]


class StoreProductJob:
    """From a product's number to what the store says of it, and says anew."""

    name = "store_product"
    steps: tuple[str, ...] = ("store_product", "store_product.value", "store_product.sure", "store_product.chart")
    version = 3
    journalled = True
    shows_written = True

    def begin(self) -> Page:
        """No product yet."""
        return Page()

    def open(self, state: Page) -> Open:
        """Fields are numbered; a number, a day or codes are typed."""
        if state.phase == VALUE:
            kind = BY_NAME[state.field].kind
            choices = len(store_product_view.choices(state))
            return Open(kind in NUMERIC, kind in (NUMBER, MONEY), choices, text=kind in (CODES, DAY))
        if state.phase == SURE:
            kind = BY_NAME[state.field].kind
            return Open(kind in NUMERIC, kind in (NUMBER, MONEY), 1, by_hand=True, keys=choice_keys.YES)
        if state.phase == CHART:
            return Open(letters=LETTERS)
        letters = LETTERS + ("g" if store_product_view.has_figures(state) else "") + ("d" if state.refused else "")
        return Open(choices=len(store_product_view.numbered(state)), letters=letters)

    def prefers(self, state: Page) -> tuple[str, ...]:
        """Another product."""
        return (PRODUCT,)

    def at(self, state: Page) -> str:
        """One of `steps`."""
        return self.name if state.phase == PAGE else f"{self.name}.{state.phase}"

    def view(self, state: Page) -> View:
        """The page that is open."""
        return store_product_view.view(state)

    def step(self, state: Page, event: Event, context: Context) -> Result:
        """A number opens a field, a value and a yes send it."""
        match event:
            case Opened(args):
                return _show(str(args["product_number"]), str(args.get("label") or ""), context)
            case Rows():
                return _answered(state, event, context)
            case Changed() | Closed():
                return Turn(state, _look(state.number, context))
            case Resumed():
                return Turn(state, (*_look(state.number, context), Wish("product", state.number)))
            case Back():
                return _back(state)
            case Thing(meanings):
                return _thing(state, meanings[0], context)
        match state.phase:
            case "value":
                return _typed(state, event, context)
            case "sure":
                return _asked(state, event, context)
            case "chart":
                return _leaf(state, event)
        return _page(state, event, context)


def _show(product: str, label: str, context: Context) -> Result:
    """What the cache has of it is there at once; the service is asked what it says now."""
    return Turn(Page(product, label), (*_look(product, context), Wish("product", product)))


def _look(product: str, context: Context) -> tuple[Effect, ...]:
    args = {"product_number": product, "user": context.user}
    brings = Query("coming", "coming", {"product_number": product}, live=True)
    return (Query("product", "store_product", args, live=True), brings)


def _answered(state: Page, answer: Rows, context: Context) -> Result:
    if answer.id == "coming":
        return Turn(state._replace(coming=coming(answer.rows, context.now)))
    found = store_product(answer.rows[0], context.now) if answer.rows else None
    match answer.id.partition("/"):
        case ("chosen", _, _):
            return _send_now(state, found, context)
        case ("field", _, name):
            return Turn(_grounded(state._replace(product=found, phase=VALUE, field=name, changes=())))
        case ("meant", _, _):
            return _weighed(_grounded(state._replace(product=found)))
    fresh = state._replace(loaded=True, product=found, label=found.name if found else state.label)
    return Turn(_grounded(fresh), (), _news(state.product, found))


def _grounded(state: Page) -> Page:
    """A page that has nothing to stand on any more gives way to the product's."""
    product, in_hand = state.product, state.phase in (VALUE, SURE)
    if product is not None and (product.is_ranged if in_hand else product.series or state.phase == PAGE):
        return state
    return state._replace(phase=PAGE, field="", changes=())


def _news(before: StoreProduct | None, now: StoreProduct | None) -> Verdict | None:
    """What the service has said of a change since the last look: done, or not; it may be faster than any look."""
    if before is None or now is None:
        return None
    words = {said.op_id: said.word for said in before.said}
    for said in now.said:
        if words.get(said.op_id) != said.word:
            what = store_product_view.change_text(said)
            if said.word == "confirmed":
                return Verdict(GOOD, msg("store_product.confirmed", what=what))
            if said.word == "refused":
                return Verdict(WRONG, store_product_view.refused(said))
    return None


def _back(state: Page) -> Result:
    if state.phase == PAGE:
        return Turn(state, (Close(),))
    if state.phase == SURE:
        return Turn(state._replace(phase=VALUE, changes=()))
    return Turn(state._replace(phase=PAGE, field="", page=0))


def _thing(state: Page, meaning: Meaning, context: Context) -> Result:
    """Another product is shown; not while a value is in hand, which would be lost."""
    label = meaning.label or meaning.key
    if meaning.kind != PRODUCT:
        return Turn(state, (), Verdict(WRONG, msg("store_product.not_this", what=what_is(meaning))))
    if state.phase in (VALUE, SURE):
        return Turn(state, (), Verdict(WRONG, msg("store_product.in_hand", what=label)))
    return _show(meaning.key, label, context)._replace(verdict=Verdict(INFO, msg("lookup.shown", label=label)))


def _page(state: Page, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice) if choice <= len(store_product_view.numbered(state)):
            field = store_product_view.numbered(state)[choice - 1]
            return Turn(state, (_kept(state, f"field/{field.name}", context),))
        case Command("g") if not state.loaded or store_product_view.has_figures(state):
            return Turn(state._replace(phase=CHART, page=0))
        case Command("d") if state.refused:
            return Turn(state, (Start("doubts", {}),))
    return _leaf(state, event)


def _leaf(state: Page, event: Event) -> Result:
    match event:
        case Command("n" | "p" as key) | Move(key):
            return Turn(state._replace(page=leafed(state.page, key)))
        case Text(text) | Unknown(text):
            return Turn(state, (), Verdict(WRONG, msg("logs.unknown", code=text)))
    return Turn(state)


# A value


def _typed(state: Page, event: Event, context: Context) -> Result:
    """What was typed or chosen for the field."""
    kind = BY_NAME[state.field].kind
    match event:
        case Choice(choice) if kind == FLAG:
            return _meant(state, {state.field: choice == 1}, context)
        case Choice() if kind == CODES:
            return _meant(state, {state.field: []}, context)
        case Quantity(value) if kind in NUMERIC:
            return _meant(state, {state.field: value}, context)
        case Text(text) | Unknown(text):
            return _words(state, text, context)
        case Echo():
            return Turn(state)
    return Turn(state, (), Verdict(WRONG, store_product_view.how(state.field)))


def _words(state: Page, text: str, context: Context) -> Result:
    kind = BY_NAME[state.field].kind
    if kind == CODES and (codes := codes_of(text)):
        return _meant(state, {state.field: codes}, context)
    if kind == DAY and (day := day_of(text, context.now)):
        return _meant(state, {state.field: moment_of(day)}, context)
    if state.field in LEVELS and (both := both_levels(text)):
        return _meant(state, dict(zip(LEVELS, both, strict=True)), context)
    return Turn(state, (), Verdict(WRONG, store_product_view.how(state.field)))


def _meant(state: Page, changes: Mapping[str, Json], context: Context) -> Result:
    """What it stands at decides whether that can be."""
    return Turn(state._replace(changes=tuple(changes.items())), (_kept(state, "meant", context),))


def _weighed(state: Page) -> Result:
    """Asked once more, with what it stands at; what cannot be is said at once."""
    product, changes = state.product, dict(state.changes)
    if product is None or state.phase != VALUE:
        return Turn(state)
    why = objection(product, changes)
    if why is not None:
        return Turn(state._replace(changes=()), (), Verdict(WRONG, why))
    said = said_of(changes)
    changed = {name: changes[name] for name in changes if product.value(name) != said[name]}
    if not changed:
        same = msg("store_product.same", what=store_product_view.label(state.field))
        return Turn(state._replace(phase=PAGE, field="", changes=()), (), Verdict(INFO, same))
    doubtful = doubts(product, changed)
    told = Verdict(ASK, doubtful[0]) if doubtful else None
    return Turn(state._replace(phase=SURE, changes=tuple(changed.items())), (), told)


def _asked(state: Page, event: Event, context: Context) -> Result:
    """A yes sends it; another number is another value, and is asked about too."""
    match event:
        case Choice(1):
            return _send(state, context)
        case Quantity(value) if BY_NAME[state.field].kind in NUMERIC:
            return _meant(state._replace(phase=VALUE), {state.field: value}, context)
    return _not_sent(state, event)


def _not_sent(state: Page, event: Event) -> Result:
    """Nothing but a yes sends it, and nothing that was said is passed over in silence."""
    if isinstance(event, Echo):
        return Turn(state)
    name, text = next(iter(said_of(dict(state.changes)).items()))
    value = store_product_view.shown(name, text)
    return Turn(state, (), Verdict(WRONG, msg("store_product.yes_or_back", value=value)))


def _send(state: Page, context: Context) -> Result:
    """How it stands at this moment; the answer decides."""
    return Turn(state, (_kept(state, "chosen", context),))


def _kept(state: Page, name: str, context: Context) -> Query:
    """How the product stands at this moment; the answer is part of the journal."""
    return Query(name, "store_product", {"product_number": state.number, "user": context.user})


def _send_now(state: Page, now: StoreProduct | None, context: Context) -> Result:
    """What has changed under the hand is told instead of being written over."""
    changes = dict(state.changes)
    fresh = _grounded(state._replace(product=now))
    if now is None or fresh.phase != SURE:
        return Turn(fresh)
    barred = (why_not(now, BY_NAME[name]) for name in changes)
    why: Msg | None = next((each for each in barred if each), None) or objection(now, changes)
    if why is not None:
        return Turn(fresh._replace(phase=VALUE, changes=()), (), Verdict(WRONG, why))
    op = write(state.number, context.store, changes, dict(now.values))
    done = fresh._replace(phase=PAGE, field="", changes=(), page=0)
    told = Verdict(GOOD, msg("store_product.noted", what=store_product_view.changed(now, changes)))
    return Turn(done, (op, *_look(state.number, context)), told)
