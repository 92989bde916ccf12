"""What aisle says in English: several goods in one message."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "goods.one": "{quantity} of {label:~}",
    "goods.and": "{first}, {rest}",
    "goods.many": ("{count:product|products}", "{count:product|products}: {list}"),
    "goods.at": ", {place}",
}
