"""Dutch messages: stored reasons for refused and unconfirmed operations."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "stored_reason.order_rejected": ("{order:~} is afgewezen", "Iemand anders heeft order {order:~} afgewezen"),
    "stored_reason.order_finished": ("{order:~} is afgerond", "Iemand anders heeft order {order:~} afgerond"),
    "stored_reason.line_changed": (
        "Regel {line} is nu {now:~}",
        "Regel {line} van order {order:~} is nu {now:~}, niet {ours:~}",
    ),
    "stored_reason.setting_changed": (
        "{field:~} is nu {now:~}",
        "{field:~} van {product:~} is nu {now:~}, niet {seen:~}: iemand anders heeft het gewijzigd",
    ),
    "stored_reason.surplus": (
        "Leg {left} terug",
        "Regel {line} staat op {picked} van {of}; {left} te veel in de hand: leg terug",
    ),
    "stored_reason.surplus_by": (
        "Leg {left} terug",
        "Regel {line} staat op {picked} van {of} ({who:~}); {left} te veel in de hand: leg terug",
    ),
    "stored_reason.not_put_back": (
        "{left} niet terug",
        "Regel {line} staat op {picked} van {of}, {moved} op een plek; {left} daarvan ligt niet terug",
    ),
    "stored_reason.not_put_back_by": (
        "{left} niet terug",
        "Regel {line} staat op {picked} van {of} ({who:~}), {moved} op een plek; {left} daarvan ligt niet terug",
    ),
    "stored_reason.courier_ended": ("Te vroeg gestopt", "Het programma dat verzendt stopte voor het antwoord kwam"),
    "stored_reason.attempts": ("{count} keer gestuurd", "{count} keer gestuurd en nooit zeker: {why:~}"),
    "stored_reason.refused_repeatedly": ("{count} keer geweigerd", "{count} keer geweigerd: {why:~}"),
    "stored_reason.earlier_value_unknown": ("Niet te lezen", "Wat het wijzigt was {count} keer niet te lezen: {why:~}"),
    "stored_reason.key_gone": ("Misschien dubbel", "Het kan aangekomen zijn, en de server herkent het niet meer"),
    "stored_reason.key_old": (
        "Te lang geleden",
        "Het is zo lang geleden gestuurd dat de server het misschien niet herkent",
    ),
    "stored_reason.restored": (
        "Server hersteld",
        "De server is teruggezet naar een eerdere kopie; dit kan daar ontbreken",
    ),
    "stored_reason.changed_later": (
        "Later gewijzigd",
        "De server is teruggezet naar een eerdere kopie. "
        "Regel {line} is sindsdien gewijzigd: dat blijft zo, hij wordt niet weer gesloten",
    ),
    "stored_reason.not_stated": ("Niet bevestigd", "De server antwoordde, maar zei niet dat het gedaan is"),
    "stored_reason.text": ("Nee ({status})", "Iets onderweg zei nee ({status}): {why:~}"),
    "stored_reason.status_rejected": ("Nee ({status})", "De server zegt nee, en niet waarom ({status})"),
    "stored_reason.status_with_text": ("Nee ({status})", "{why:~} ({status})"),
    "stored_reason.no_answer_in_time": ("Geen antwoord", "De server geeft hierop geen antwoord"),
    "stored_reason.status_unexpected": ("Geen server ({status})", "Iets anders dan de server antwoordde ({status})"),
    "stored_reason.no_text": ("Nee", "De server zegt nee, en niet waarom"),
    "stored_reason.not_reached": ("Niet bereikt", "De server was niet te bereiken"),
    "stored_reason.no_answer": ("Geen antwoord", "De server gaf geen antwoord dat zekerheid geeft"),
    "stored_reason.unreadable": ("Onleesbaar antwoord", "Het antwoord van de server is niet te lezen"),
    "stored_reason.no_store": ("Winkel onbekend", "Deze winkel bestaat niet"),
    "stored_reason.no_token": ("Token ontbreekt", "Het token voor de server is niet te gebruiken: start aisle doctor"),
    "stored_reason.not_valid": ("Niet te sturen", "Zo is het niet naar de server te sturen: start aisle doctor"),
    "stored_reason.denied": ("Niet te zien", "De server bevestigde het, maar laat het niet zien"),
    "stored_reason.denied_repeatedly": (
        "Niet te zien",
        "De server bevestigde het {count} keer, maar laat het niet zien",
    ),
    "stored_reason.absent": ("Gaat opnieuw", "Gezocht en niet gevonden: het gaat opnieuw"),
    "stored_reason.partly": ("Rest gaat opnieuw", "Gezocht en deels gevonden: de rest gaat opnieuw"),
    "stored_reason.empty_answer": (
        "Kwam het aan?",
        "De server antwoordde zonder iets te zeggen, en laat het niet zien",
    ),
    "stored_reason.product_changed": ("Elders gewijzigd", "Iemand anders heeft het artikel intussen gewijzigd"),
    "stored_reason.order_changed": ("Elders gewijzigd", "Iemand anders heeft de order intussen gewijzigd"),
    "stored_reason.not_in_log": (
        "Kwam het aan?",
        "Niemand weet of het aankwam: het logboek van de server laat het niet zien, en doet dat misschien nooit",
    ),
    "stored_reason.cannot_be_looked_up": (
        "Kwam het aan?",
        "Niemand weet of het aankwam, en de server kan er niets over zeggen",
    ),
    "stored_reason.put_back": (
        "Bestanden terug",
        "outbox.db was gewist; hij is terug",
        "outbox.db werd gewist terwijl aisle liep. Hij is terug, met alles wat genoteerd was.",
    ),
    "stored_reason.file_kept": (
        "Bewaard: {file:~}",
        "Er staat een ander outbox.db. Het oude: {file:~}",
        "Tijdens het werk kwam er een ander outbox.db. Wat tot dan toe genoteerd was, staat in {file:~}.",
    ),
}
