"""Dutch messages: stored reasons for refused and unconfirmed operations."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "told.order_rejected": ("{order:~} is afgewezen", "Iemand anders heeft order {order:~} afgewezen"),
    "told.order_finished": ("{order:~} is afgerond", "Iemand anders heeft order {order:~} afgerond"),
    "told.line_changed": (
        "Regel {line} is nu {now:~}",
        "Regel {line} van order {order:~} is nu {now:~}, niet {ours:~}",
    ),
    "told.setting_changed": (
        "{field:~} is nu {now:~}",
        "{field:~} van {product:~} is nu {now:~}, niet {seen:~}: iemand anders heeft het gewijzigd",
    ),
    "told.too_many": (
        "Leg {left} terug",
        "Regel {line} staat op {picked} van {of}; {left} te veel in de hand: leg terug",
    ),
    "told.too_many_by": (
        "Leg {left} terug",
        "Regel {line} staat op {picked} van {of} ({who:~}); {left} te veel in de hand: leg terug",
    ),
    "told.not_back": (
        "{left} niet terug",
        "Regel {line} staat op {picked} van {of}, {moved} op een plek; {left} daarvan ligt niet terug",
    ),
    "told.not_back_by": (
        "{left} niet terug",
        "Regel {line} staat op {picked} van {of} ({who:~}), {moved} op een plek; {left} daarvan ligt niet terug",
    ),
    "told.courier_ended": ("Te vroeg gestopt", "Het programma dat verzendt stopte voor het antwoord kwam"),
    "told.tried": ("{count} keer gestuurd", "{count} keer gestuurd en nooit zeker: {why:~}"),
    "told.refused_often": ("{count} keer geweigerd", "{count} keer geweigerd: {why:~}"),
    "told.unread_before": ("Niet te lezen", "Wat het wijzigt was {count} keer niet te lezen: {why:~}"),
    "told.key_gone": ("Misschien dubbel", "Het kan aangekomen zijn, en de server herkent het niet meer"),
    "told.key_old": ("Te lang geleden", "Het is zo lang geleden gestuurd dat de server het misschien niet herkent"),
    "told.restored": ("Server hersteld", "De server is teruggezet naar een eerdere kopie; dit kan daar ontbreken"),
    "told.changed_later": (
        "Later gewijzigd",
        "De server is teruggezet naar een eerdere kopie. "
        "Regel {line} is sindsdien gewijzigd: dat blijft zo, hij wordt niet weer gesloten",
    ),
    "told.unsaid": ("Niet bevestigd", "De server antwoordde, maar zei niet dat het gedaan is"),
    "told.plain": ("Nee ({status})", "Iets onderweg zei nee ({status}): {why:~}"),
    "told.status_no": ("Nee ({status})", "De server zegt nee, en niet waarom ({status})"),
    "told.status_said": ("Nee ({status})", "{why:~} ({status})"),
    "told.silent": ("Geen antwoord", "De server geeft hierop geen antwoord"),
    "told.status_strange": ("Geen server ({status})", "Iets anders dan de server antwoordde ({status})"),
    "told.no_words": ("Nee", "De server zegt nee, en niet waarom"),
    "told.not_reached": ("Niet bereikt", "De server was niet te bereiken"),
    "told.no_answer": ("Geen antwoord", "De server gaf geen antwoord dat zekerheid geeft"),
    "told.unreadable": ("Onleesbaar antwoord", "Het antwoord van de server is niet te lezen"),
    "told.no_store": ("Winkel onbekend", "Deze winkel bestaat niet"),
    "told.no_token": ("Token ontbreekt", "Het token voor de server is niet te gebruiken: start aisle doctor"),
    "told.unfit": ("Niet te sturen", "Zo is het niet naar de server te sturen: start aisle doctor"),
    "told.denied": ("Niet te zien", "De server bevestigde het, maar laat het niet zien"),
    "told.denied_often": ("Niet te zien", "De server bevestigde het {count} keer, maar laat het niet zien"),
    "told.absent": ("Gaat opnieuw", "Gezocht en niet gevonden: het gaat opnieuw"),
    "told.partly": ("Rest gaat opnieuw", "Gezocht en deels gevonden: de rest gaat opnieuw"),
    "told.wordless": ("Kwam het aan?", "De server antwoordde zonder iets te zeggen, en laat het niet zien"),
    "told.changed_product": ("Elders gewijzigd", "Iemand anders heeft het artikel intussen gewijzigd"),
    "told.changed_order": ("Elders gewijzigd", "Iemand anders heeft de order intussen gewijzigd"),
    "told.not_in_log": (
        "Kwam het aan?",
        "Niemand weet of het aankwam: het logboek van de server laat het niet zien, en doet dat misschien nooit",
    ),
    "told.unaskable": ("Kwam het aan?", "Niemand weet of het aankwam, en de server kan er niets over zeggen"),
    "told.put_back": (
        "Bestanden terug",
        "outbox.db was gewist; hij is terug",
        "outbox.db werd gewist terwijl aisle liep. Hij is terug, met alles wat genoteerd was.",
    ),
    "told.kept_beside": (
        "Bewaard: {file:~}",
        "Er staat een ander outbox.db. Het oude: {file:~}",
        "Tijdens het werk kwam er een ander outbox.db. Wat tot dan toe genoteerd was, staat in {file:~}.",
    ),
}
