"""French messages: several goods in one message."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "goods.one": "{quantity} de {label:~}",
    "goods.and": "{first}, {rest}",
    "goods.many": ("{count:article|articles}", "{count:article|articles}", "{count:article|articles} : {list}"),
    "goods.at": ", {place}",
    "home.nothing_to_undo": ("Rien à annuler", "Vous n'avez rien fait ici qui s'annule"),
    "home.not_undone": (
        "Reste : {what}",
        "{what} ne s'annule pas ici",
        "La dernière action, sur {what}, ne s'annule pas ici",
    ),
    "home.partly_received": ("Suite {delivery:~}", "Continuer {delivery:~}"),
    "home.partly_received_many": ("Suite : {count}", "{count} livraisons à moitié"),
    "home.none_partly_received": ("Rien à moitié", "Aucune livraison laissée à moitié"),
}
