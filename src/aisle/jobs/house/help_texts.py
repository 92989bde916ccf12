"""Which help text belongs to which step: one for a job, or for a step of it that asks for something of its own."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.jobs.view import Msg

TEXTS = {
    "sign_in": "help.sign_in",
    "pin": "help.pin",
    "home": "help.home",
    "pick.wait": "help.pick_wait",
    "pick.place": "help.pick_place",
    "pick.product": "help.pick_product",
    "pick.done": "help.pick_done",
    "pick.back": "help.pick_back",
    "walk": "help.walk",
    "lookup.list": "help.lookup_list",
    "lookup.product": "help.lookup_product",
    "browse.list": "help.browse_list",
    "browse.place": "help.browse_place",
    "note": "help.note",
    "move.from": "help.move_from",
    "move.take": "help.move_take",
    "move.load": "help.move_load",
    "move.put": "help.move_put",
    "move": "help.move_ask",
    "count.start": "help.count_start",
    "count.list": "help.count_list",
    "count.recount": "help.count_recount",
    "count.summary": "help.count_summary",
    "count": "help.count",
    "loss": "help.loss",
    "short": "help.short",
    "count_log": "help.count_log",
    "doctor": "help.doctor",
    "doubts.entry": "help.doubts_entry",
    "doubts": "help.doubts",
    "orders": "help.orders",
    "orders.filter": "help.orders_filter",
    "orders.field": "help.orders_filter",
    "orders.views": "help.orders_views",
    "orders.name": "help.orders_views",
    "order": "help.board_order",
    "act": "help.act",
    "act.results": "help.act_results",
    "exceptions": "help.exceptions",
    "receive.delivery": "help.receive_delivery",
    "receive.goods": "help.receive_goods",
    "receive": "help.receive_check",
    "deliveries": "help.deliveries",
    "logs": "help.logs",
    "logs.filter": "help.logs_filter",
    "logs.value": "help.logs_filter",
    "logs.export": "help.logs_export",
    "logs.sure": "help.logs_export",
    "stores": "help.stores",
    "stores.change": "help.stores_change",
    "products": "help.products",
    "clearance": "help.clearance",
    "clear": "help.clear",
    "clear.done": "help.clear_done",
    "tasks": "help.tasks",
    "today": "help.today",
    "store_product": "help.store_product",
    "store_product.value": "help.store_product_value",
    "store_product.sure": "help.store_product_value",
    "help": "help.help",
    "commands": "help.palette",
}
"""Message ids by steps; a step that is not here has the text of its job."""

LETTERS = "bcdefglmnpsuvw"
"""The letters that these texts may speak of."""


def text_of(step: str, keys: Mapping[str, str] | None = None) -> Msg:
    """What is said of a step; `keys` are those of letters that were given another one."""
    shown = keys or {}
    args = tuple((letter, shown.get(letter, letter)) for letter in LETTERS)
    return Msg(TEXTS.get(step) or TEXTS[step.partition(".")[0]], args)
