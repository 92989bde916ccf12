"""English messages: several goods in one message."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "goods.one": "{quantity} of {label:~}",
    "goods.and": "{first}, {rest}",
    "goods.many": ("{count:product|products}", "{count:product|products}", "{count:product|products}: {list}"),
    "goods.at": ", {place}",
    "home.nothing_to_undo": ("Nothing to undo", "You have done nothing here that can be undone"),
    "home.not_undone": (
        "Not undone: {what}",
        "{what} cannot be undone here",
        "What was done last, to {what}, cannot be undone here",
    ),
    "home.partly_received": ("Go on {delivery:~}", "Go on with {delivery:~}"),
    "home.partly_received_many": ("Go on: {count}", "{count} deliveries half way"),
    "home.none_partly_received": ("None half way", "No delivery was left half way"),
}
