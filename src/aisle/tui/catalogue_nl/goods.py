"""What aisle says in Dutch: several goods in one message."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "goods.one": "{quantity} van {label:~}",
    "goods.and": "{first}, {rest}",
    "goods.many": ("{count:artikel|artikelen}", "{count:artikel|artikelen}: {list}"),
    "goods.at": ", {place}",
}
