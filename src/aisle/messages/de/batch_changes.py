"""German messages: supervisors' changes to batches, and their notifications."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    # Before sign-out
    "home.in_hand": (
        "{count} in Hand. Doch?",
        "{count} nicht abgelegt. Noch einmal meldet ab",
        "Gepickt und nicht abgelegt: {count} von Auftrag {orders:~}. Noch einmal dasselbe meldet ab.",
    ),
    "home.in_hand_unsent": (
        "{count} in Hand. Doch?",
        "{count} nicht abgelegt, {unsent} nicht gesendet. Noch einmal meldet ab",
        "Nicht abgelegt: {count} von Auftrag {orders:~}; nicht gesendet: {unsent}. Noch einmal dasselbe meldet ab.",
    ),
    # Orders that were assigned
    "home.given": ("{order} kommt", "{order} kommt von {who:~}", "Auftrag {order} kommt von {who:~}; zuerst zu picken"),
    "home.given_many": (
        "{count} dazu",
        "{count} Aufträge dazu",
        "{count} Aufträge kommen von {who:~}; zuerst zu picken",
    ),
    "home.yours": ("dazu", "von {who:~}", "dazu, von {who:~}", "dazu, von {who:~} {due}"),
    "home.urgent": ("zuerst", "zuerst {due}"),
    "walk.given": (
        "{count} von {who:~}",
        "{order} kommt von {who:~}",
        "{who:~} gibt {count:Auftrag|Aufträge}, {order} zuerst",
    ),
    "pick.given": (
        "{order} auch?",
        "{order} kommt von {who:~}",
        "Auftrag {order} kommt von {who:~}. In diese Runde nehmen?",
    ),
    "pick.way_later": ("Später", "Später, aus der Liste"),
    "pick.given_now": ("{who:~} pickt", "{order} geht an {who:~}", "Auftrag {order} wurde {who:~} gegeben"),
    "pick.out_given": (
        "{tote}: {who:~}",
        "{tote} geht an {who:~}",
        "Kiste {tote}, {order}, wurde {who:~} gegeben; der Rest geht weiter",
    ),
    "pick.note_back_given": (
        "{count} übergeben",
        "Die Kiste mit {count} dem geben, der den Auftrag jetzt hat, oder für ihn ablegen und den Platz scannen.",
    ),
    "pick.urgent": ("Eilig", "{order} ist eilig", "Auftrag {order} ist eilig, sagt {who:~}"),
    "pick.urgent_round": (
        "{tote} zuerst",
        "{tote} geht vor: {who:~}",
        "Kiste {tote}, {order}, geht nach diesem Halt vor ({who:~})",
    ),
    "pick.not_urgent": ("Nicht eilig", "{order}: nicht eilig", "Auftrag {order} ist nicht mehr eilig"),
    "pick.released": (
        "{order} ist frei",
        "{order} ist freigegeben",
        "Auftrag {order} ist freigegeben; der nächste Pick nimmt ihn wieder",
    ),
    "orders.urgent": ("1. {state}", "zuerst, {state}"),
    "order.in_walk": ("Bei {who:~}", "Jetzt gerade bei {who:~}"),
    "order.given_to": ("Für {who:~}", "{who:~} gegeben, noch nicht geöffnet"),
    "order.urgent": ("Geht vor", "Geht vor: {who:~}", "Geht auf diesem Rechner vor, sagt {who:~}"),
    "act.urgent": ("Vorziehen", "Vorziehen", "Vorziehen in der Runde und in den Listen"),
    "act.calm": ("Nicht vor", "Nicht mehr vorziehen"),
    "act.split": ("Teilen…", "Anderem geben", "Runde teilen: einem anderen geben"),
    "act.split_to": ("An {name:~}", "An {name:~} geben"),
    "act.warn_split": (
        "Alle {count}?",
        "Sie verlassen ihre Runde, mit dem Gepickten in ihren Kisten. Beide erfahren es.",
    ),
    "act.told_urgent": ("Geht vor", "{order} geht vor", "{order} geht vor, auf jedem Schirm dieses Rechners"),
    "act.told_calm": ("Nicht vor", "{order} ist wieder normal dran"),
    "act.told_split": ("An {name:~}", "{order} geht an {name:~}", "{order} geht an {name:~}; beide erfahren es"),
    "deed.is_picked": ("Schon gepickt", "Auftrag {order} ist schon gepickt"),
    "deed.already_urgent": ("Schon vorn", "Auftrag {order} geht schon vor"),
    "deed.not_urgent": ("Nicht vorn", "Auftrag {order} ging nicht vor"),
    "deed.in_no_walk": ("In keiner Runde", "Auftrag {order} ist hier in keiner Runde; jemandem zuweisen"),
    "deed.walks_already": ("{name:~} hat ihn", "{name:~} hat Auftrag {order} schon"),
    "order.past_at": ("{what}, {place:~}",),
    "count.to_recounts": ("{count} verlangt", "{count:Nachzählung|Nachzählungen} verlangt"),
    "pick.left_lying": (
        "{count} in Hand!",
        "{order}: {count} in der Hand",
        "Auftrag {order} ist gepickt, aber {count:davon liegt|davon liegen} an keinem Abholplatz",
    ),
    "pick.left_lying_round": (
        "{count} in Hand!",
        "{totes}: {count} in der Hand",
        "Alles gepickt; an keinem Abholplatz: {count} in Kiste {totes}",
    ),
    "pick.no_pickup": (
        "{code:~}? 1?",
        "Kein Platz {code:~}; {place}?",
        "Es gibt keinen Platz {code:~}. Das sind die Abholplätze:",
    ),
    "pick.no_pickup_more": (
        "{code:~}? 1?",
        "Kein Platz {code:~}; {place}?",
        "Kein Platz {code:~}. {shown} von {count} Abholplätzen:",
        "Es gibt keinen Platz {code:~}. Das sind {shown} von {count} Abholplätzen:",
    ),
    "pick.no_place_at_all": (
        "Kein {code:~}",
        "Kein Platz {code:~}",
        "Es gibt keinen Platz {code:~}; das Etikett eines Platzes scannen",
    ),
    "pick.put_refused": (
        "Nicht: {place:~}",
        "Nicht an {place:~}",
        "Nicht gebucht an {place:~}, {order} ist wieder in der Hand: {why:~}",
    ),
    "pick.open_again": (
        "{order} ist offen",
        "{order} ist wieder offen",
        "Auftrag {order} ist wieder offen, nichts gepickt; {count} zurücklegen, dann neu picken",
    ),
    "pick.note_back_reopened": (
        "{count} zurück",
        "Der Auftrag ist wieder offen, nichts gepickt: {count} zurücklegen, dann neu picken.",
    ),
    "home.open_again": (
        "{order} ist offen",
        "{order} ist wieder offen",
        "Auftrag {order} ist wieder offen, nichts gepickt",
    ),
    "pick.told_both": ("{what}", "{what} · {more}"),
    # Other people with the same order open
    "pick.changed_asked": (
        "Auftrag geändert",
        "{order} geändert: die Frage entfällt",
        "Auftrag {order} wurde anderswo geändert: was hier gefragt war, entfällt",
    ),
    "pick.beside": (
        "{who:~} auch",
        "{who:~} pickt {order} auch",
        "{who:~} pickt Auftrag {order} auch; was ihr beide nehmt, wird addiert",
    ),
    "pick.beside_maybe": (
        "{who:~} hatte ihn",
        "{who:~} pickt {order} vielleicht noch",
        "{who:~} hatte Auftrag {order} und pickt vielleicht noch; was ihr beide nehmt, wird addiert",
    ),
    "pick.beside_left": (
        "{who:~} ist raus",
        "{who:~} hat {order} verlassen",
        "{who:~} hat Auftrag {order} verlassen; es geht allein weiter",
    ),
    "pick.beside_left_hand": (
        "{who:~} weg: {count}",
        "{who:~} ist raus mit {count} in der Hand",
        "{who:~} hat Auftrag {order} mit {count} davon in der Hand verlassen; es geht allein weiter",
    ),
    "pick.note_beside": ("Mit {who:~}", "{who} pickt ihn auch"),
    "pick.note_beside_tote": ("{tote}: mit {who:~}", "Kiste {tote}: {who} pickt ihn auch"),
    # Goods of orders that somebody else picks now
    "pick.way_handed_over": ("Übergeben", "Es ist übergeben"),
    "pick.way_is_back": ("Liegt wieder", "Es liegt wieder, wo es war"),
    "pick.handed_over": ("Übergeben", "{count} übergeben", "Übergeben: {count}, das bleibt gepickt"),
    "pick.note_others": ("{count} anderswo", "In der Hand von jemand anderem: {count}."),
    "pick.ahead_hand": ("In der Hand", "In deiner Hand"),
    "pick.order_passed_on": ("Bei anderen", "Jemand anders pickt diesen Auftrag"),
    "home.lying": (
        "{count} in Hand",
        "{count} in Hand, ablegen",
        "{count} in Hand, ablegen",
        "{count} in Hand, ablegen {due}",
    ),
    "pick.in_place_again": ("An {place}", "Zurück: wieder an {place}", "Zurück: {label:~} wieder von {place}"),
    "pick.back_settled": ("Erledigt", "Woanders erledigt", "Was zu viel war, ist woanders erledigt"),
    "pick.prompt_laid": ("Dort ablegen, y", "An {place} ablegen, dann y"),
    "pick.way_is_laid": ("Liegt dort", "Es liegt jetzt dort"),
    "pick.laid_there": ("Liegt dort", "Alles liegt, wo es gebucht ist"),
    "pick.note_back_laid": (
        "{count} dort ablegen",
        "Jemand anders hat {count} davon schon dort gebucht: dort ablegen, was du in der Hand hast.",
    ),
    "pick.back_laid": (
        "An {place}? {count}",
        "{count} an {place} gebucht",
        "Jemand hat {count} von Auftrag {order} aus deiner Hand an {place} gebucht: dort ablegen",
    ),
    "pick.prompt_laid_unsaid": ("Fragen wo, dann y", "Fragen wo, dort ablegen, dann y"),
    "pick.note_back_laid_unsaid": (
        "Fragen, wo {count:liegt|liegen}",
        "Jemand anders hat {count} davon abgelegt, wo, weiß hier niemand: fragen, und dort ablegen, was du hast.",
    ),
    "pick.back_laid_unsaid": (
        "Abgelegt? {count}",
        "{count} als abgelegt gebucht",
        "Jemand hat {count} von Auftrag {order} aus deiner Hand abgelegt, ohne bekannten Platz: fragen, wo",
    ),
    "pick.back_not_laid": (
        "Wieder in Hand",
        "{order} wieder in Hand",
        "Auftrag {order} ist an keinem Platz mehr abgelegt",
    ),
    "pick.put_others": (
        "Nicht bei dir",
        "Nicht in deiner Hand: {count}",
        "Nichts in deiner Hand, {count} bei jemand anders. Liegt es an {place}?",
    ),
    "pick.way_put_others": ("An {key}: ja", "Ja, alles liegt an {key}"),
}
