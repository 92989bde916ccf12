"""German messages: stored reasons for refused and unconfirmed operations."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "told.order_rejected": ("{order:~} ist abgelehnt", "Jemand anders hat Auftrag {order:~} abgelehnt"),
    "told.order_finished": ("{order:~} ist fertig", "Jemand anders hat Auftrag {order:~} abgeschlossen"),
    "told.line_changed": (
        "Position {line}: nun {now:~}",
        "Position {line} von Auftrag {order:~} ist nun {now:~}, nicht {ours:~}",
    ),
    "told.setting_changed": (
        "{field:~} ist nun {now:~}",
        "{field:~} von {product:~} ist nun {now:~}, nicht {seen:~}: jemand anders hat es geändert",
    ),
    "told.too_many": (
        "{left} zurücklegen",
        "Position {line} steht bei {picked} von {of}; {left} zu viel in der Hand: zurücklegen",
    ),
    "told.too_many_by": (
        "{left} zurücklegen",
        "Position {line} steht bei {picked} von {of} ({who:~}); {left} zu viel in der Hand: zurücklegen",
    ),
    "told.not_back": (
        "{left} nicht zurück",
        "Position {line} steht bei {picked} von {of}, {moved} an einem Platz; {left} davon nicht zurückgelegt",
    ),
    "told.not_back_by": (
        "{left} nicht zurück",
        "Position {line} steht bei {picked} von {of} ({who:~}), {moved} am Platz; {left} davon nicht zurückgelegt",
    ),
    "told.courier_ended": ("Zu früh beendet", "Das Programm, das sendet, endete vor der Antwort"),
    "told.tried": ("{count} Versuche", "{count} Versuche, keiner sicher: {why:~}"),
    "told.refused_often": ("{count}-mal abgelehnt", "{count}-mal abgelehnt: {why:~}"),
    "told.unread_before": ("Nicht lesbar", "Was es ändern würde, war {count}-mal nicht lesbar: {why:~}"),
    "told.key_gone": ("Evtl. doppelt", "Es kann angekommen sein, und der Dienst erkennt es nicht mehr wieder"),
    "told.key_old": (
        "Zu lange her",
        "Es ging vor so langer Zeit ab, dass der Dienst es vielleicht nicht wiedererkennt",
    ),
    "told.restored": (
        "Dienst restauriert",
        "Der Dienst kam aus einer älteren Kopie zurück; das kann dort fehlen",
    ),
    "told.changed_later": (
        "Später geändert",
        "Der Dienst kam aus einer älteren Kopie zurück. "
        "Position {line} wurde seither geändert: das gilt, sie wird nicht wieder geschlossen",
    ),
    "told.unsaid": ("Nicht bestätigt", "Der Dienst antwortete, sagte aber nicht, dass es getan ist"),
    "told.plain": ("Nein ({status})", "Jemand unterwegs sagte nein ({status}): {why:~}"),
    "told.status_no": ("Nein ({status})", "Der Dienst sagt nein, und nicht warum ({status})"),
    "told.status_said": ("Nein ({status})", "{why:~} ({status})"),
    "told.silent": ("Keine Antwort", "Der Dienst antwortet auf diese Anfrage nicht"),
    "told.status_strange": ("Kein Dienst ({status})", "Etwas anderes als der Dienst antwortete ({status})"),
    "told.no_words": ("Nein", "Der Dienst sagt nein, und nicht warum"),
    "told.not_reached": ("Nicht erreicht", "Der Dienst war nicht zu erreichen"),
    "told.no_answer": ("Keine Antwort", "Der Dienst gab keine Antwort, die es klärt"),
    "told.unreadable": ("Antwort unlesbar", "Die Antwort des Dienstes ist nicht zu lesen"),
    "told.no_store": ("Filiale fehlt", "Diese Filiale gibt es nicht"),
    "told.no_token": ("Token fehlt", "Der Token für den Dienst ist nicht brauchbar: aisle doctor starten"),
    "told.unfit": ("Nicht sendbar", "So lässt es sich dem Dienst nicht senden: aisle doctor starten"),
    "told.denied": ("Nicht zu sehen", "Der Dienst bestätigte es, zeigt es aber nicht"),
    "told.denied_often": ("Nicht zu sehen", "Der Dienst bestätigte es {count}-mal, zeigt es aber nicht"),
    "told.absent": ("Geht nochmal", "Gesucht und nicht da: es wird nochmal gesendet"),
    "told.partly": ("Der Rest geht noch", "Gesucht und teils da: der Rest wird nochmal gesendet"),
    "told.wordless": ("Kam es an?", "Der Dienst antwortete ohne ein Wort und zeigt es nicht"),
    "told.changed_product": ("Fremde Änderung", "Jemand anders hat den Artikel inzwischen geändert"),
    "told.changed_order": ("Fremde Änderung", "Jemand anders hat den Auftrag inzwischen geändert"),
    "told.not_in_log": (
        "Kam es an?",
        "Niemand weiß, ob es ankam: das Protokoll des Dienstes zeigt es nicht, vielleicht nie",
    ),
    "told.unaskable": ("Kam es an?", "Niemand weiß, ob es ankam, und der Dienst lässt sich nicht fragen"),
    "told.put_back": (
        "Wiederhergest.",
        "outbox.db war gelöscht; ist wieder da",
        "outbox.db wurde im Betrieb gelöscht. Sie ist wieder da, mit allem, was notiert war.",
    ),
    "told.kept_beside": (
        "Gesichert: {file:~}",
        "Eine andere outbox.db liegt da. Die alte: {file:~}",
        "Im Betrieb kam eine andere outbox.db an ihre Stelle. Was bis dahin notiert war, liegt in {file:~}.",
    ),
}
