"""Help page: the help text of a step, its inputs and its letters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aisle.jobs.job import Args, Context, Turn
from aisle.jobs.list_cursor_and_search import PAGE_LETTERS
from aisle.jobs.pages_and_page_job import DetailPage, PageJob
from aisle.jobs.view import Block, KeyHint, Msg, msg
from aisle.scan.grammar_and_meaning_types import (
    DELIVERY,
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Accepts,
    Back,
    Command,
    CursorKey,
    Meaning,
    TypedText,
)

HELP_TEXTS = {
    "sign_in": "help.sign_in",
    "pin": "help.pin",
    "home": "help.home",
    "pick.wait": "help.pick_product",
    "pick.location": "help.pick_location",
    "pick.product": "help.pick_product",
    "pick.tote": "help.pick_tote",
    "pick.done": "help.pick_done",
    "pick.return": "help.pick_return",
    "batch": "help.batch",
    "look_up.list": "help.look_up_list",
    "look_up.product": "help.look_up_product",
    "locations.list": "help.locations_list",
    "locations.location": "help.locations_location",
    "note": "help.note",
    "move.from": "help.move_from",
    "move.load": "help.move_load",
    "move.put": "help.move_put",
    "move": "help.move_take",
    "count.start": "help.count_start",
    "count.list": "help.count_list",
    "count": "help.count",
    "adjust": "help.adjust",
    "expiry": "help.expiry",
    "expiry.date": "help.expiry_date",
    "expiry.confirm": "help.expiry_date",
    "expiry.price": "help.expiry_price",
    "hand_over": "help.hand_over",
    "hand_over.order": "help.hand_over_order",
    "hand_over.goods": "help.hand_over_put_back",
    "hand_over.quantity": "help.hand_over_put_back",
    "hand_over.location": "help.hand_over_put_back",
    "hand_over.confirm": "help.hand_over_order",
    "shortage": "help.shortage",
    "my_entries": "help.my_entries",
    "scanner_test": "help.scanner_test",
    "unconfirmed.entry": "help.unconfirmed_entry",
    "unconfirmed": "help.unconfirmed",
    "orders": "help.orders",
    "order": "help.order_page",
    "order_actions": "help.order_actions",
    "exceptions": "help.exceptions",
    "receive.delivery": "help.receive_delivery",
    "receive.goods": "help.receive_goods",
    "receive": "help.receive_check",
    "deliveries": "help.deliveries",
    "log": "help.log",
    "stores": "help.stores",
    "stores.change": "help.stores_change",
    "products": "help.products",
    "clearance": "help.clearance",
    "clearance_request": "help.clearance_request",
    "clearance_tasks": "help.clearance_tasks",
    "today": "help.today",
    "store_product": "help.store_product",
    "store_product.value": "help.store_product_value",
    "store_product.confirm": "help.store_product_value",
    "help": "help.help",
    "palette": "help.palette",
}
"""Message ids by step; a step without an entry has the text of its job."""

TEXT_LETTERS = "bcdefglmnpsuvw"
"""Letters that these texts may name."""


def help_text(step: str, keys: Mapping[str, str] | None = None) -> Msg:
    """Return the help text of a step; `keys` has the keys of letters that are bound to another one."""
    shown = keys or {}
    args = tuple((letter, shown.get(letter, letter)) for letter in TEXT_LETTERS)
    return Msg(HELP_TEXTS.get(step) or HELP_TEXTS[step.partition(".")[0]], args)


KIND_TEXTS = {
    PRODUCT: "help.product",
    LOCATION: "help.location",
    ORDER: "help.order",
    REFERENCE: "help.order",
    DELIVERY: "help.delivery",
    PERSON: "help.badge",
}
"""Message ids of the kinds of codes that can be scanned."""


class HelpState(NamedTuple):
    """Step that help was opened for, and its inputs."""

    step: str = ""
    inputs: tuple[str, ...] = ()
    """Message ids of the inputs."""
    letters: tuple[KeyHint, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    """Letters bound to another key: (letter, key)."""
    page: int = 0
    is_at_once: bool = False
    """True if the letters of the step act without Enter."""


_SIGNS = Block(msg("help.signs"), ((msg("help.sign_estimate"),), (msg("help.sign_changed"),), (msg("help.sign_late"),)))
"""Signs of the lists of a desk."""


class HelpPage(DetailPage[HelpState]):
    """Page on a step: what it asks for, then its inputs and letters."""

    name = "help"
    title_text = msg("hint.help")
    prompt_text = msg("order.prompt_read")

    def blocks(self, state: HelpState) -> tuple[Block, ...]:
        keys = dict(state.keys)
        always = (
            (msg("help.look_up_key"),),
            (msg("help.palette_key", key=keys.get(".", ".")),),
            (msg("help.back", key=keys.get("b", "b")),),
        )
        letters = tuple((msg("pair", name=hint.letter, value=hint.text),) for hint in state.letters)
        return (
            Block(msg("help.purpose"), ((help_text(state.step, keys),),)),
            Block(msg("help.accepts"), tuple((Msg(id_),) for id_ in state.inputs)),
            Block(msg("help.letters_at_once" if state.is_at_once else "help.letters"), letters),
            Block(msg("help.always"), always),
            *((_SIGNS,) if state.is_at_once else ()),
        )


PAGE = HelpPage()


class HelpJob(PageJob[HelpState]):
    """Job for a page to read, above any other job. Scans and letters are for the job below."""

    name = "help"
    lists = ()
    state_type = HelpState
    steps: tuple[str, ...] = ("help",)
    journalled = False

    def page(self, state: HelpState) -> HelpPage:
        return PAGE

    def passes_to_below(self, state: HelpState, meaning: Meaning) -> bool:
        """Return True for all inputs except those that turn the page or go back."""
        return not (
            isinstance(meaning, Back | CursorKey | TypedText)
            or (isinstance(meaning, Command) and meaning.letter in PAGE_LETTERS)
        )

    def handle_opened(self, state: HelpState, args: Args, context: Context) -> Turn[HelpState]:
        inputs = list_inputs(args["open"], args["prefers"], raw_input=bool(args.get("listens")))
        state = HelpState(str(args["step"]), inputs, tuple(args["letters"]), tuple(args.get("keys", ())))
        return Turn(state._replace(is_at_once=bool(args.get("at_once"))))


def list_inputs(accepts: Accepts, kinds: Iterable[str], *, raw_input: bool = False) -> tuple[str, ...]:
    """Return the inputs of a step as message ids; scans come first."""
    if raw_input:
        return ("help.anything",)
    inputs = [KIND_TEXTS[kind] for kind in kinds if kind in KIND_TEXTS]
    if accepts.choices:
        inputs.append("help.choice_letter" if accepts.choice_letters else "help.number")
    if accepts.quantity:
        inputs += ["help.quantity", "help.times"]
    if accepts.text or accepts.date or accepts.search:
        inputs.append("help.text")
    return tuple(dict.fromkeys(inputs))
