"""Dutch messages: several goods in one message."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "goods.one": "{quantity} van {label:~}",
    "goods.and": "{first}, {rest}",
    "goods.many": ("{count:artikel|artikelen}", "{count:artikel|artikelen}", "{count:artikel|artikelen}: {list}"),
    "goods.at": ", {place}",
    "home.nothing_to_undo": ("Niets te herstellen", "Je hebt hier niets gedaan dat ongedaan kan"),
    "home.not_undone": (
        "Blijft: {what}",
        "{what} kan hier niet terug",
        "Het laatste, aan {what}, kan hier niet ongedaan worden gemaakt",
    ),
    "home.partly_received": ("Verder {delivery:~}", "Verder met {delivery:~}"),
    "home.partly_received_many": ("Verder: {count}", "{count} leveringen half"),
    "home.none_partly_received": ("Niets half", "Geen levering bleef half staan"),
}
