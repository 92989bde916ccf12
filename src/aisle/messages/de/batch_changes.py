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
    "home.assigned": (
        "{order} kommt",
        "{order} kommt von {who:~}",
        "Auftrag {order} kommt von {who:~}; zuerst zu picken",
    ),
    "home.assigned_many": (
        "{count} dazu",
        "{count} Aufträge dazu",
        "{count} Aufträge kommen von {who:~}; zuerst zu picken",
    ),
    "home.assigned_by": ("dazu", "von {who:~}", "dazu, von {who:~}", "dazu, von {who:~} {due}"),
    "home.priority": ("zuerst", "zuerst {due}"),
    "batch.assigned": (
        "{count} von {who:~}",
        "{order} kommt von {who:~}",
        "{who:~} gibt {count:Auftrag|Aufträge}, {order} zuerst",
    ),
    "pick.assigned": (
        "{order} auch?",
        "{order} kommt von {who:~}",
        "Auftrag {order} kommt von {who:~}. In diese Runde nehmen?",
    ),
    "pick.choice_later": ("Später", "Später, aus der Liste"),
    "pick.reassigned": ("{who:~} pickt", "{order} geht an {who:~}", "Auftrag {order} wurde {who:~} gegeben"),
    "pick.removed_reassigned": (
        "{tote}: {who:~}",
        "{tote} geht an {who:~}",
        "Kiste {tote}, {order}, wurde {who:~} gegeben; der Rest geht weiter",
    ),
    "pick.note_return_reassigned": (
        "{count} übergeben",
        "Die Kiste mit {count} dem geben, der den Auftrag jetzt hat, oder für ihn ablegen und den Platz scannen.",
    ),
    "pick.priority": ("Eilig", "{order} ist eilig", "Auftrag {order} ist eilig, sagt {who:~}"),
    "pick.priority_batch": (
        "{tote} zuerst",
        "{tote} geht vor: {who:~}",
        "Kiste {tote}, {order}, geht nach diesem Halt vor ({who:~})",
    ),
    "pick.no_priority": ("Nicht eilig", "{order}: nicht eilig", "Auftrag {order} ist nicht mehr eilig"),
    "pick.released": (
        "{order} ist frei",
        "{order} ist freigegeben",
        "Auftrag {order} ist freigegeben; der nächste Pick nimmt ihn wieder",
    ),
    "orders.priority": ("1. {state}", "zuerst, {state}"),
    "order.in_batch_of": ("Bei {who:~}", "Jetzt gerade bei {who:~}"),
    "order.assigned_to": ("Für {who:~}", "{who:~} gegeben, noch nicht geöffnet"),
    "order.priority": ("Geht vor", "Geht vor: {who:~}", "Geht auf diesem Rechner vor, sagt {who:~}"),
    "order_actions.priority": ("Vorziehen", "Vorziehen", "Vorziehen in der Runde und in den Listen"),
    "order_actions.no_priority": ("Nicht vor", "Nicht mehr vorziehen"),
    "order_actions.split": ("Teilen…", "Anderem geben", "Runde teilen: einem anderen geben"),
    "order_actions.split_to": ("An {name:~}", "An {name:~} geben"),
    "order_actions.warn_split": (
        "Alle {count}?",
        "Sie verlassen ihre Runde, mit dem Gepickten in ihren Kisten. Beide erfahren es.",
    ),
    "order_actions.done_priority": (
        "Geht vor",
        "{order} geht vor",
        "{order} geht vor, auf jedem Schirm dieses Rechners",
    ),
    "order_actions.done_no_priority": ("Nicht vor", "{order} ist wieder normal dran"),
    "order_actions.done_split": (
        "An {name:~}",
        "{order} geht an {name:~}",
        "{order} geht an {name:~}; beide erfahren es",
    ),
    "order_actions.order_picked": ("Schon gepickt", "Auftrag {order} ist schon gepickt"),
    "order_actions.already_priority": ("Schon vorn", "Auftrag {order} geht schon vor"),
    "order_actions.not_priority": ("Nicht vorn", "Auftrag {order} ging nicht vor"),
    "order_actions.not_in_batch": ("In keiner Runde", "Auftrag {order} ist hier in keiner Runde; jemandem zuweisen"),
    "order_actions.already_picker": ("{name:~} hat ihn", "{name:~} hat Auftrag {order} schon"),
    "order.event_at": ("{what}, {place:~}",),
    "count.to_recounts": ("{count} verlangt", "{count:Nachzählung|Nachzählungen} verlangt"),
    "pick.left_not_put_down": (
        "{count} in Hand!",
        "{order}: {count} in der Hand",
        "Auftrag {order} ist gepickt, aber {count:davon liegt|davon liegen} an keinem Abholplatz",
    ),
    "pick.left_not_put_down_batch": (
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
    "pick.no_location_at_all": (
        "Kein {code:~}",
        "Kein Platz {code:~}",
        "Es gibt keinen Platz {code:~}; das Etikett eines Platzes scannen",
    ),
    "pick.put_down_refused": (
        "Nicht: {place:~}",
        "Nicht an {place:~}",
        "Nicht gebucht an {place:~}, {order} ist wieder in der Hand: {why:~}",
    ),
    "pick.reopened_order": (
        "{order} ist offen",
        "{order} ist wieder offen",
        "Auftrag {order} ist wieder offen, nichts gepickt; {count} zurücklegen, dann neu picken",
    ),
    "pick.note_return_reopened": (
        "{count} zurück",
        "Der Auftrag ist wieder offen, nichts gepickt: {count} zurücklegen, dann neu picken.",
    ),
    "home.reopened": (
        "{order} ist offen",
        "{order} ist wieder offen",
        "Auftrag {order} ist wieder offen, nichts gepickt",
    ),
    "pick.join": ("{what}", "{what} · {more}"),
    # Other people with the same order open
    "pick.changed_asked": (
        "Auftrag geändert",
        "{order} geändert: die Frage entfällt",
        "Auftrag {order} wurde anderswo geändert: was hier gefragt war, entfällt",
    ),
    "pick.other_picker": (
        "{who:~} auch",
        "{who:~} pickt {order} auch",
        "{who:~} pickt Auftrag {order} auch; was ihr beide nehmt, wird addiert",
    ),
    "pick.other_picker_maybe": (
        "{who:~} hatte ihn",
        "{who:~} pickt {order} vielleicht noch",
        "{who:~} hatte Auftrag {order} und pickt vielleicht noch; was ihr beide nehmt, wird addiert",
    ),
    "pick.other_picker_left": (
        "{who:~} ist raus",
        "{who:~} hat {order} verlassen",
        "{who:~} hat Auftrag {order} verlassen; es geht allein weiter",
    ),
    "pick.other_picker_left_goods": (
        "{who:~} weg: {count}",
        "{who:~} ist raus mit {count} in der Hand",
        "{who:~} hat Auftrag {order} mit {count} davon in der Hand verlassen; es geht allein weiter",
    ),
    "pick.note_other_pickers": ("Mit {who:~}", "{who} pickt ihn auch"),
    "pick.note_other_pickers_tote": ("{tote}: mit {who:~}", "Kiste {tote}: {who} pickt ihn auch"),
    # Goods of orders that somebody else picks now
    "pick.choice_handed_over": ("Übergeben", "Es ist übergeben"),
    "pick.choice_returned": ("Liegt wieder", "Es liegt wieder, wo es war"),
    "pick.handed_over": ("Übergeben", "{count} übergeben", "Übergeben: {count}, das bleibt gepickt"),
    "pick.note_others": ("{count} anderswo", "In der Hand von jemand anderem: {count}."),
    "pick.upcoming_goods_for_others": ("In der Hand", "In deiner Hand"),
    "pick.order_of_other_picker": ("Bei anderen", "Jemand anders pickt diesen Auftrag"),
    "home.not_put_down": (
        "{count} in Hand",
        "{count} in Hand, ablegen",
        "{count} in Hand, ablegen",
        "{count} in Hand, ablegen {due}",
    ),
    "pick.move_stop_undone": ("An {place}", "Zurück: wieder an {place}", "Zurück: {label:~} wieder von {place}"),
    "pick.return_resolved": ("Erledigt", "Woanders erledigt", "Was zu viel war, ist woanders erledigt"),
    "pick.prompt_check_at": ("Dort ablegen, y", "An {place} ablegen, dann y"),
    "pick.choice_lies_there": ("Liegt dort", "Es liegt jetzt dort"),
    "pick.lies_there": ("Liegt dort", "Alles liegt, wo es gebucht ist"),
    "pick.note_return_put_down_by_other_at": (
        "{count} dort ablegen",
        "Jemand anders hat {count} davon schon dort gebucht: dort ablegen, was du in der Hand hast.",
    ),
    "pick.put_down_by_other_at": (
        "An {place}? {count}",
        "{count} an {place} gebucht",
        "Jemand hat {count} von Auftrag {order} aus deiner Hand an {place} gebucht: dort ablegen",
    ),
    "pick.prompt_check": ("Fragen wo, dann y", "Fragen wo, dort ablegen, dann y"),
    "pick.note_return_put_down_by_other": (
        "Fragen, wo {count:liegt|liegen}",
        "Jemand anders hat {count} davon abgelegt, wo, weiß hier niemand: fragen, und dort ablegen, was du hast.",
    ),
    "pick.put_down_by_other": (
        "Abgelegt? {count}",
        "{count} als abgelegt gebucht",
        "Jemand hat {count} von Auftrag {order} aus deiner Hand abgelegt, ohne bekannten Platz: fragen, wo",
    ),
    "pick.not_put_down_by_other": (
        "Wieder in Hand",
        "{order} wieder in Hand",
        "Auftrag {order} ist an keinem Platz mehr abgelegt",
    ),
    "pick.goods_of_others": (
        "Nicht bei dir",
        "Nicht in deiner Hand: {count}",
        "Nichts in deiner Hand, {count} bei jemand anders. Liegt es an {place}?",
    ),
    "pick.choice_put_down_others": ("An {key}: ja", "Ja, alles liegt an {key}"),
}
