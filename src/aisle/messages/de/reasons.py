"""German messages: stored reasons for refused and unconfirmed operations."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "stored_reason.order_rejected": ("{order:~} ist abgelehnt", "Jemand anders hat Auftrag {order:~} abgelehnt"),
    "stored_reason.order_finished": ("{order:~} ist fertig", "Jemand anders hat Auftrag {order:~} abgeschlossen"),
    "stored_reason.line_changed": (
        "Position {line}: nun {now:~}",
        "Position {line} von Auftrag {order:~} ist nun {now:~}, nicht {ours:~}",
    ),
    "stored_reason.setting_changed": (
        "{field:~} ist nun {now:~}",
        "{field:~} von {product:~} ist nun {now:~}, nicht {seen:~}: jemand anders hat es geändert",
    ),
    "stored_reason.surplus": (
        "{left} zurücklegen",
        "Position {line} steht bei {picked} von {of}; {left} zu viel in der Hand: zurücklegen",
    ),
    "stored_reason.surplus_by": (
        "{left} zurücklegen",
        "Position {line} steht bei {picked} von {of} ({who:~}); {left} zu viel in der Hand: zurücklegen",
    ),
    "stored_reason.not_put_back": (
        "{left} nicht zurück",
        "Position {line} steht bei {picked} von {of}, {moved} an einem Platz; {left} davon nicht zurückgelegt",
    ),
    "stored_reason.not_put_back_by": (
        "{left} nicht zurück",
        "Position {line} steht bei {picked} von {of} ({who:~}), {moved} am Platz; {left} davon nicht zurückgelegt",
    ),
    "stored_reason.courier_ended": ("Zu früh beendet", "Das Programm, das sendet, endete vor der Antwort"),
    "stored_reason.attempts": ("{count} Versuche", "{count} Versuche, keiner sicher: {why:~}"),
    "stored_reason.refused_repeatedly": ("{count}-mal abgelehnt", "{count}-mal abgelehnt: {why:~}"),
    "stored_reason.earlier_value_unknown": (
        "Nicht lesbar",
        "Was es ändern würde, war {count}-mal nicht lesbar: {why:~}",
    ),
    "stored_reason.key_gone": ("Evtl. doppelt", "Es kann angekommen sein, und der Dienst erkennt es nicht mehr wieder"),
    "stored_reason.key_old": (
        "Zu lange her",
        "Es ging vor so langer Zeit ab, dass der Dienst es vielleicht nicht wiedererkennt",
    ),
    "stored_reason.restored": (
        "Dienst restauriert",
        "Der Dienst kam aus einer älteren Kopie zurück; das kann dort fehlen",
    ),
    "stored_reason.changed_later": (
        "Später geändert",
        "Der Dienst kam aus einer älteren Kopie zurück. "
        "Position {line} wurde seither geändert: das gilt, sie wird nicht wieder geschlossen",
    ),
    "stored_reason.not_stated": ("Nicht bestätigt", "Der Dienst antwortete, sagte aber nicht, dass es getan ist"),
    "stored_reason.text": ("Nein ({status})", "Jemand unterwegs sagte nein ({status}): {why:~}"),
    "stored_reason.status_rejected": ("Nein ({status})", "Der Dienst sagt nein, und nicht warum ({status})"),
    "stored_reason.status_with_text": ("Nein ({status})", "{why:~} ({status})"),
    "stored_reason.no_answer_in_time": ("Keine Antwort", "Der Dienst antwortet auf diese Anfrage nicht"),
    "stored_reason.status_unexpected": ("Kein Dienst ({status})", "Etwas anderes als der Dienst antwortete ({status})"),
    "stored_reason.no_text": ("Nein", "Der Dienst sagt nein, und nicht warum"),
    "stored_reason.not_reached": ("Nicht erreicht", "Der Dienst war nicht zu erreichen"),
    "stored_reason.no_answer": ("Keine Antwort", "Der Dienst gab keine Antwort, die es klärt"),
    "stored_reason.unreadable": ("Antwort unlesbar", "Die Antwort des Dienstes ist nicht zu lesen"),
    "stored_reason.no_store": ("Filiale fehlt", "Diese Filiale gibt es nicht"),
    "stored_reason.no_token": ("Token fehlt", "Der Token für den Dienst ist nicht brauchbar: aisle doctor starten"),
    "stored_reason.not_valid": ("Nicht sendbar", "So lässt es sich dem Dienst nicht senden: aisle doctor starten"),
    "stored_reason.denied": ("Nicht zu sehen", "Der Dienst bestätigte es, zeigt es aber nicht"),
    "stored_reason.denied_repeatedly": ("Nicht zu sehen", "Der Dienst bestätigte es {count}-mal, zeigt es aber nicht"),
    "stored_reason.absent": ("Geht nochmal", "Gesucht und nicht da: es wird nochmal gesendet"),
    "stored_reason.partly": ("Der Rest geht noch", "Gesucht und teils da: der Rest wird nochmal gesendet"),
    "stored_reason.empty_answer": ("Kam es an?", "Der Dienst antwortete ohne ein Wort und zeigt es nicht"),
    "stored_reason.product_changed": ("Fremde Änderung", "Jemand anders hat den Artikel inzwischen geändert"),
    "stored_reason.order_changed": ("Fremde Änderung", "Jemand anders hat den Auftrag inzwischen geändert"),
    "stored_reason.not_in_log": (
        "Kam es an?",
        "Niemand weiß, ob es ankam: das Protokoll des Dienstes zeigt es nicht, vielleicht nie",
    ),
    "stored_reason.cannot_be_looked_up": (
        "Kam es an?",
        "Niemand weiß, ob es ankam, und der Dienst lässt sich nicht fragen",
    ),
    "stored_reason.put_back": (
        "Wiederhergest.",
        "outbox.db war gelöscht; ist wieder da",
        "outbox.db wurde im Betrieb gelöscht. Sie ist wieder da, mit allem, was notiert war.",
    ),
    "stored_reason.file_kept": (
        "Gesichert: {file:~}",
        "Eine andere outbox.db liegt da. Die alte: {file:~}",
        "Im Betrieb kam eine andere outbox.db an ihre Stelle. Was bis dahin notiert war, liegt in {file:~}.",
    ),
}
