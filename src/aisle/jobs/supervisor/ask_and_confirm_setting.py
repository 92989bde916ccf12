"""Pages that ask for a new value of a product's setting, check it, and show it beside the current one to be confirmed.

`store_product` sends the change.
"""

from __future__ import annotations

from aisle.jobs import choice_letters
from aisle.jobs.job import Context, Event, Json, Turn, reply
from aisle.jobs.pages_and_page_job import Action, FormPage, refuse
from aisle.jobs.supervisor.parse_and_format_store_product_values import (
    LEVELS,
    field_label,
    format_day_as_datetime,
    format_value,
    parse_codes,
    parse_day,
    parse_level_range,
)
from aisle.jobs.supervisor.store_product_limits_and_objections import (
    StoreProduct,
    change_message,
    is_write_only,
    objection,
    price_warnings,
)
from aisle.jobs.supervisor.store_product_page import (
    CONFIRM,
    FIRST_PAGE,
    PAGE,
    VALUE,
    Result,
    StoreProductState,
    product_of,
    propose_changes,
    query_product,
)
from aisle.jobs.view import ASK, INFO, WRONG, Line, Msg, Verdict, View, msg, raw
from aisle.scan.foreign_qr_codes import is_foreign_qr_code
from aisle.scan.grammar_and_meaning_types import (
    Accepts,
    Choice,
    Command,
    CursorKey,
    Quantity,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.store_product_settings import CODES, DAY, FIELD_BY_NAME, FLAG, MONEY, NUMBER, NUMERIC, parse_update_values

Actions = tuple[Action[StoreProductState], ...]

_INPUT_PROMPTS = {
    "whole": "store_product.how_number",
    "number": "store_product.how_number",
    "money": "store_product.how_number",
    "codes": "store_product.how_codes",
    "day": "store_product.how_day",
    "flag": "unconfirmed.choose",
}
"""Prompts for a value of each kind."""


def input_prompt(name: str) -> Msg:
    """Return the prompt that says how to type a value of the field."""
    return msg("store_product.how_levels" if name in LEVELS else _INPUT_PROMPTS[FIELD_BY_NAME[name].kind])


class FieldPage(FormPage[StoreProductState]):
    """Question about a field. At a desk it is asked on the page of the product, in the row of the field."""

    choice_letters = ""
    """Letters of its choices; empty if they are numbered."""

    def view(self, state: StoreProductState) -> View:
        """Return the question, with the letters of its choices."""
        step = self.step(state)._replace(choice_letters=self.choice_letters)
        if not state.is_desk:
            return step
        return FIRST_PAGE.view(state)._replace(
            name=self.name,
            prompt=step.prompt,
            choices=step.choices,
            choice_letters=step.choice_letters,
            key_hints=step.key_hints,
        )

    def accepts(self, state: StoreProductState) -> Accepts:
        """Accept a value of the kind of the field, and the choices."""
        kind, letters = FIELD_BY_NAME[state.field].kind, self.choice_letters
        values = super().accepts(state)._replace(quantity=kind in NUMERIC, decimals=kind in (NUMBER, MONEY))
        return values._replace(text=kind in (CODES, DAY), choice_letters=letters)


class ValuePage(FieldPage):
    """Question for a value of the field: a number, a day, codes, or yes and no."""

    name = "store_product.value"

    def title(self, state: StoreProductState) -> Msg:
        return field_label(state.field)

    def prompt(self, state: StoreProductState) -> Msg:
        return input_prompt(state.field)

    def lines(self, state: StoreProductState) -> tuple[Line, ...]:
        product, field = product_of(state), state.field
        value = format_value(field, product.value(field))
        now = msg("store_product.current_value", what=field_label(field), value=value)
        lines = [Line("product", raw(product.name)), Line("quantity", now)]
        lines += [Line("note", _range_message(product, field))] if product.level_range(field) else []
        lines += [Line("note", msg("store_product.write_only"))] if is_write_only(product, field) else []
        return tuple(lines)

    def actions(self, state: StoreProductState) -> Actions:
        kind, field = FIELD_BY_NAME[state.field].kind, state.field
        if kind == CODES:
            none = msg("store_product.no_codes")
            return (Action(none, lambda state, context: propose_changes(state, {field: []}, context)),)
        if kind != FLAG:
            return ()
        return (
            Action(msg("unconfirmed.yes"), lambda state, context: propose_changes(state, {field: True}, context)),
            Action(msg("unconfirmed.no"), lambda state, context: propose_changes(state, {field: False}, context)),
        )

    def handle_other_input(self, state: StoreProductState, event: Event, context: Context) -> Result:
        match event:
            case Quantity(value) if FIELD_BY_NAME[state.field].kind in NUMERIC:
                return propose_changes(state, {state.field: value}, context)
            case TypedText(text):
                return Turn(state._replace(typed=text))
            case Choice() | Command() | CursorKey() | Quantity():
                return refuse(state, input_prompt(state.field))
        return super().handle_other_input(state, event, context)

    def handle_text(self, state: StoreProductState, text: str, context: Context) -> Result:
        if FIELD_BY_NAME[state.field].kind == CODES and is_foreign_qr_code(text):
            return refuse(state, msg("input.qr_payload", text=text))
        changes = parse_text_value(state.field, text, context.now)
        if changes:
            return propose_changes(state, changes, context)
        return _refuse_text(state, text, input_prompt(state.field))

    def go_back(self, state: StoreProductState, context: Context) -> Result:
        return Turn(state._replace(phase=PAGE, field="", page=0))


def _refuse_text(state: StoreProductState, text: str, what_to_do: Msg) -> Result:
    """Refuse a text that is no value of the field, and name it."""
    return Turn(state, (), Verdict(WRONG, msg("count.unknown", code=text), detail=what_to_do))


def _range_message(product: StoreProduct, name: str) -> Msg:
    allowed = product.level_range(name)
    if allowed is None:
        return msg("store_product.unknown")
    low, high, start, percentage = allowed
    return msg("store_product.range_reason", low=low, high=high, start=start, percentage=percentage)


def parse_text_value(field: str, text: str, now: str) -> dict[str, Json]:
    """Return the changes that the text means; empty if it is invalid. `6-24` sets both levels."""
    kind = FIELD_BY_NAME[field].kind
    if kind == CODES and (codes := parse_codes(text)):
        return {field: codes}
    if kind == DAY and (day := parse_day(text, now)):
        return {field: format_day_as_datetime(day)}
    if field in LEVELS and (both := parse_level_range(text)):
        return dict(zip(LEVELS, both, strict=True))
    return {}


def check_changes(state: StoreProductState) -> Result:
    """Ask for confirmation beside the current values, or say at once why the changes are impossible."""
    product, changes = state.product, dict(state.changes)
    if product is None or state.phase != VALUE:
        return Turn(state)
    why = objection(product, changes)
    if why is not None:
        return Turn(state._replace(changes=()), (), Verdict(WRONG, why))
    values = parse_update_values(changes)
    changed = {name: changes[name] for name in changes if product.value(name) != values[name]}
    if not changed:
        return reply(
            state._replace(phase=PAGE, field="", changes=()),
            INFO,
            "store_product.unchanged",
            what=field_label(state.field),
        )
    warnings = price_warnings(product, changed)
    verdict = Verdict(ASK, warnings[0]) if warnings else None
    return Turn(state._replace(phase=CONFIRM, changes=tuple(changed.items())), (), verdict)


class ConfirmPage(FieldPage):
    """Question before the changes are sent. Another number is a new value to confirm."""

    name = "store_product.confirm"
    title_text = msg("store_product.title_confirm")
    prompt_text = msg("store_product.prompt_confirm")
    typed_only = True
    choice_letters = choice_letters.YES

    def lines(self, state: StoreProductState) -> tuple[Line, ...]:
        product, changes = product_of(state), dict(state.changes)
        values = parse_update_values(changes)
        first, *more = [change_message(name, product.value(name), text) for name, text in values.items()]
        ranges = [_range_message(product, name) for name in values if product.level_range(name)]
        return (
            Line("product", raw(product.name)),
            Line("note" if state.field == "attention_codes" else "quantity", first),
            *(Line("note", note) for note in (*more, *price_warnings(product, changes), *ranges[:1])),
        )

    def actions(self, state: StoreProductState) -> Actions:
        send = Action[StoreProductState](
            msg("count.send"), lambda state, context: Turn(state, (query_product(state, "chosen", context),))
        )
        return (send,)

    def handle_other_input(self, state: StoreProductState, event: Event, context: Context) -> Result:
        """Take another value as the new one. Any other input is answered, so that none is ignored silently."""
        match event:
            case Quantity(value) if FIELD_BY_NAME[state.field].kind in NUMERIC:
                kept = dict(state.changes)  # the other level stays
                return propose_changes(state._replace(phase=VALUE), {**kept, state.field: value}, context)
            case Text(text) | UnknownCode(text) if changes := self._typed_values(state, text, context):
                return propose_changes(state._replace(phase=VALUE), changes, context)
            case TypedText():
                return Turn(state)
        name, waiting = next(iter(parse_update_values(dict(state.changes)).items()))
        what_to_do = msg("store_product.confirm_or_back", value=format_value(name, waiting))
        if isinstance(event, Text | UnknownCode):
            return _refuse_text(state, event.text if isinstance(event, Text) else event.code, what_to_do)
        return refuse(state, what_to_do)

    def _typed_values(self, state: StoreProductState, text: str, context: Context) -> dict[str, Json]:
        """Return the changes that a text means; empty if it is no value of the field."""
        is_foreign = FIELD_BY_NAME[state.field].kind == CODES and is_foreign_qr_code(text)
        return {} if is_foreign else parse_text_value(state.field, text, context.now)

    def go_back(self, state: StoreProductState, context: Context) -> Result:
        return Turn(state._replace(phase=VALUE, changes=()))
