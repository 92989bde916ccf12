"""German messages: several goods in one message."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "goods.one": "{quantity} × {label:~}",
    "goods.and": "{first}, {rest}",
    "goods.many": ("{count:Artikel|Artikel}", "{count:Artikel|Artikel}", "{count:Artikel|Artikel}: {list}"),
    "goods.at": ", {place}",
    "home.nothing_to_undo": ("Nichts rückgängig", "Hier ist nichts von dir rückgängig zu machen"),
    "home.not_undone": (
        "Bleibt: {what}",
        "{what} ist hier nicht rückgängig",
        "Das Letzte, an {what}, ist hier nicht rückgängig zu machen",
    ),
    "home.partly_received": ("Weiter {delivery:~}", "Weiter mit {delivery:~}"),
    "home.partly_received_many": ("Weiter: {count}", "{count} Lieferungen halb"),
    "home.none_partly_received": ("Nichts halb", "Keine Lieferung blieb halb liegen"),
}
