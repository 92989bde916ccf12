"""What aisle says in French: several goods in one message."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "goods.one": "{quantity} de {label:~}",
    "goods.and": "{first}, {rest}",
    "goods.many": ("{count:article|articles}", "{count:article|articles} : {list}"),
    "goods.at": ", {place}",
}
