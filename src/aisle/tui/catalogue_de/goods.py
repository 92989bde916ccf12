"""What aisle says in German: several goods in one message."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "goods.one": "{quantity} × {label:~}",
    "goods.and": "{first}, {rest}",
    "goods.many": ("{count:Artikel|Artikel}", "{count:Artikel|Artikel}: {list}"),
    "goods.at": ", {place}",
}
