"""German messages: help, and the list of commands."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "hint.help": "Hilfe",
    "help.title": "Hilfe",
    "help.prompt": ("Lesen, oder weiter", "Lesen, oder weiterarbeiten"),
    "help.purpose": ("Jetzt", "Was zu tun ist"),
    "help.accepts": ("Eingaben", "Scannen oder tippen"),
    "help.letters": ("Tasten", "Buchstaben, je mit Enter"),
    "help.always": ("Immer", "Auf jeder Seite"),
    "help.letter": "{letter}: {text}",
    "help.look_up_key": "? vor einem Scan schlägt nach",
    "help.palette_key": "{key} zeigt alle Befehle",
    "help.back": "{key}, Rücktaste oder Esc: zurück",
    "help.product": "ein Artikel",
    "help.location": "ein Platz",
    "help.order": "ein Auftrag",
    "help.delivery": "eine Lieferung oder ihr Behälter",
    "help.badge": "ein Ausweis",
    "help.number": "eine Nummer der Liste",
    "help.choice_letter": "der Buchstabe einer Auswahl",
    "help.quantity": "wie viele, oder 3*4",
    "help.times": "12* und ein Scan: zwölf",
    "help.text": "Wörter",
    "help.anything": "was die Seite verlangt",
    "help.sign_in": (
        "Ausweis scannen, oder den Namen oder einen Teil davon tippen. Was offen blieb, öffnet sich beim selben "
        "Schritt."
    ),
    "help.pin": (
        "Was nur die Leitung darf, braucht die eigene PIN: einmal, dann eine Weile nicht. Taste für Taste tippen; ein "
        "Scan ist keine. Ohne Dienst wird es notiert und wartet. {b} lässt es ungetan."
    ),
    "help.home": (
        "Hier beginnt alles. Einen Auftrag scannen, um ihn zu picken, einen Artikel, um ihn nachzuschlagen, einen "
        "Platz, um zu sehen, was dort liegt, oder eine Lieferung, um sie anzunehmen. Wörter finden Aufträge und "
        "Artikel. Nummern sind die Arbeiten. {u} macht das Letzte rückgängig."
    ),
    "help.pick_wait": (
        "Die Positionen dieses Auftrags werden geholt. Kurz warten, oder zurück und einen anderen Auftrag nehmen."
    ),
    "help.pick_location": (
        "Zum Platz auf dem Bildschirm gehen und ihn scannen. Ist er leer oder versperrt, meldet {s} das und zeigt "
        "andere Plätze."
    ),
    "help.pick_product": (
        "Den Artikel nehmen, den der Bildschirm nennt, und jedes Stück scannen, oder eines scannen und die Menge "
        "eingeben: das ist eine Zahl immer. Buchstaben beantworten eine Frage. Ein falscher Artikel ändert nichts."
        " Ist die Position fertig, kommt die nächste von selbst."
    ),
    "help.pick_done": (
        "Hier ist nichts mehr zu picken. Was gepickt ist, am Abholplatz abstellen und den Platz scannen, oder den "
        "nächsten Auftrag scannen."
    ),
    "help.pick_return": (
        "Diese Ware ist in deiner Hand und wird hier nicht mehr gepickt. Zurücklegen, wo sie war, oder dem geben, "
        "der den Auftrag jetzt pickt; der getippte Buchstabe sagt, welches von beiden."
    ),
    "help.batch": (
        "Mehrere Aufträge in eine Runde nehmen: scannen, oder die Anzahl eingeben. Jeder bekommt eine Kiste mit "
        "einem Buchstaben; bei einer Nummer, die kein Auftrag ist, wird gefragt, ob es eine Kiste ist. {g} beginnt"
        " die Runde in der Laufreihenfolge."
    ),
    "help.look_up_list": (
        "Einen Artikel suchen: scannen, oder zwei oder mehr Buchstaben des Namens, die Nummer oder das Ende des "
        "Barcodes tippen. Eine Nummer öffnet ihn."
    ),
    "help.look_up_product": (
        "Alles über diesen Artikel: wo er liegt, wie viele, und was Filialen in der Nähe haben. Ein Scan zeigt "
        "den nächsten; Nummern und Buchstaben beginnen Arbeit damit."
    ),
    "help.locations_list": (
        "Die Plätze der Filiale in Laufreihenfolge. Einen scannen, einen Teil des Codes tippen, oder die Nummer "
        "wählen, um zu sehen, was dort liegt."
    ),
    "help.locations_location": (
        "Was an diesem Platz liegen soll. {n} und {p} führen zu den Nachbarplätzen; ein gescannter Artikel wird "
        "markiert, wenn er hierher gehört."
    ),
    "help.note": "Was der Kunde geschrieben hat, ganz. {b} führt zur Arbeit zurück.",
    "help.move_from": "Wo liegt die Ware jetzt? Den Platz scannen, oder den Artikel scannen und den Platz wählen.",
    "help.move_take": (
        "Scannen, was hier weggenommen wird; jeder Scan ist einer mehr, eine Zahl setzt die Menge, Buchstaben "
        "beantworten eine Frage. Dann den Platz scannen, wohin es kommt."
    ),
    "help.move_load": "Den Wagen laden: Platz und Artikel scannen, so viele wie nötig. {d} beginnt das Einlagern.",
    "help.move_put": "Zum Platz bringen und ihn scannen; ein Artikel davor sagt, was hier abgelegt wird.",
    "help.move_question": (
        "Vor dem Umlagern fehlt noch eine Angabe. Wählen, was auf der Seite steht; {b} verwirft die Frage."
    ),
    "help.count_start": (
        "Was ist zu zählen? Einen Platz scannen, um alles dort zu zählen, oder einen Artikel. Die Nummern führen "
        "zu dem, was zu zählen ist, zu Verlusten, und zu dem, was gezählt wurde."
    ),
    "help.count_list": (
        "Zählen, was die Liste nennt, der Reihe nach oder wie es passt: Platz oder Artikel scannen, oder die "
        "Nummer wählen."
    ),
    "help.count": (
        "Jedes Stück scannen, oder eines scannen und die Menge eingeben: das ist eine Zahl immer, und die letzte "
        "gilt. Buchstaben beantworten eine Frage. Der nächste Artikel oder Platz schließt ab; {u} macht den "
        "letzten Schritt rückgängig."
    ),
    "help.count_recount": (
        "Das weicht stark vom Buch ab. Noch einmal zählen; die zweite Zählung gilt, wie sie auch ist."
    ),
    "help.count_summary": "Was gezählt wurde und wie es abweicht. Den nächsten Platz scannen, oder zurück.",
    "help.adjust": (
        "Verlust oder Fund melden: Artikel scannen, die Menge sagen und den Grund wählen. Eine Zahl ist immer die "
        "Menge, Buchstaben beantworten eine Frage. Der Bestand folgt sofort."
    ),
    "help.shortage": (
        "Hier ist zu wenig. Einen anderen Platz wählen, oder sagen, warum etwas fehlt; der Grund geht mit dem Auftrag."
    ),
    "help.my_entries": (
        "Was gezählt und gemeldet wurde, und was daraus wurde. Eine Nummer öffnet einen Eintrag; dort kann er "
        "zurückgenommen werden."
    ),
    "help.scanner_test": (
        "Irgendetwas scannen: Diese Seite zeigt, was der Scanner sendet und was es bedeuten würde. In der Filiale "
        "geschieht nichts."
    ),
    "help.unconfirmed": (
        "Was sich nicht von selbst klären ließ. Eine Nummer öffnet einen Fall und zeigt, was beide Seiten sagen."
    ),
    "help.unconfirmed_entry": (
        "Lesen, was gemeint war und was der Dienst sagt, wenn nötig die Ware ansehen, und einen Ausweg nach "
        "Nummer wählen."
    ),
    "help.orders": (
        "Alle Aufträge der Filiale. Wörter und Scans finden einen, eine Nummer öffnet ihn. {f} filtert und "
        "sortiert, {v} hat Ansichten, {m} markiert mehrere, {d} tut etwas damit."
    ),
    "help.orders_filter": "Wählen, was die Tafel zeigt: Eine Nummer ändert einen Filter. {b} führt zur Tafel zurück.",
    "help.orders_views": "Filter, die unter einem Namen aufbewahrt sind. Eine Nummer nimmt einen davon.",
    "help.order_page": (
        "Ein Auftrag mit Kunde, Positionen, Picks und Verlauf. Nummern tun etwas damit: freigeben, ablehnen, "
        "übergeben, jemandem geben."
    ),
    "help.order_actions": (
        "Wählen, was mit diesen Aufträgen geschehen soll, und warum, wo danach gefragt wird. Vor der letzten "
        "Frage geschieht nichts."
    ),
    "help.order_actions_results": "Was aus jedem Auftrag wurde. {u} nimmt zurück, was zurückgenommen werden kann.",
    "help.exceptions": (
        "Was die Leitung klären muss: Differenzen, unmögliche Bestände, Aufträge, die hängen. Eine Nummer öffnet "
        "eine Art, dann den Fall."
    ),
    "help.receive_delivery": (
        "Welche Lieferung ist da? Ihre Nummer oder einen Behälter scannen, oder aus der Liste wählen."
    ),
    "help.receive_goods": (
        "Scannen, was aus der Lieferung kommt; jeder Scan ist einer mehr, eine Zahl setzt die Menge, Buchstaben "
        "beantworten eine Frage. Einen Platz scannen, um es dort einzulagern, oder den nächsten Artikel."
    ),
    "help.receive_check": (
        "Was kam und was abweicht. Die Abweichungen ansehen, dann wählen: weiter, abschließen, oder später."
    ),
    "help.deliveries": (
        "Lieferungen, die erwartet werden oder da sind, und ihre Eingänge. Ein Scan oder eine Nummer öffnet eine; "
        "{v} wechselt die Liste."
    ),
    "help.log": (
        "Was mit der Ware geschah, Neuestes zuerst. {f} filtert, {e} schreibt die Liste in eine Datei, {g} "
        "zeichnet die Verluste; eine Nummer öffnet einen Eintrag."
    ),
    "help.log_filter": (
        "Wählen, nach welchem Feld gefiltert wird, dann den Wert: aus der Liste, per Scan oder getippt."
    ),
    "help.log_export": "Den Namen der Datei für die Liste tippen. Gibt es sie schon, wird erst gefragt.",
    "help.stores": "Die Filialen der Kette. Wörter finden eine, eine Nummer öffnet ihre Seite.",
    "help.stores_change": (
        "Die Filiale wählen, in der dieses Gerät ab jetzt arbeitet. Was hier offen oder nicht gesendet ist, "
        "bleibt hier und wird gesendet."
    ),
    "help.products": (
        "Der Katalog der Kette. Wörter und Scans finden Artikel, {v} {c} und {s} filtern; eine Nummer öffnet "
        "alles, was bekannt ist."
    ),
    "help.clearance": ("Wählen, welche Kundenware geräumt wird. Nichts wird geräumt, bevor es getippt bestätigt ist."),
    "help.clearance_request": (
        "Das lässt sich nicht zurücknehmen. Genau tippen, was der Bildschirm verlangt; {b} lässt alles, wie es ist."
    ),
    "help.clearance_request_done": (
        "Was geräumt wird, und welche Ware jetzt umzuräumen ist. Sie steht auf der Liste der umzuräumenden Ware."
    ),
    "help.clearance_tasks": (
        "Ware, die nach einer Räumung umzuräumen ist. Eine nach Nummer wählen, oder Platz oder Artikel scannen, "
        "und wegbringen."
    ),
    "help.today": "Wie der Tag läuft: Aufträge, Leute, Plätze, Geräte. Eine Nummer zeigt mehr davon.",
    "help.store_product": (
        "Was diese Filiale für den Artikel eingestellt hat, und seine Zahlen. Eine Nummer ändert einen Wert, "
        "soweit die Rolle es erlaubt."
    ),
    "help.store_product_value": (
        "Den neuen Wert tippen oder wählen. Er wird noch einmal gezeigt, bevor er gesendet wird; {b} lässt den alten."
    ),
    "help.help": "Diese Seite sagt, wozu die Seite darunter da ist. Weiterarbeiten, oder zurück.",
    "help.palette": (
        "Alles, was von hier aus geht. Ein Wort davon tippen, dann die Nummer. Ein Scan geht an die Arbeit, als "
        "wäre diese Seite nicht da."
    ),
    "palette.title": "Befehle",
    "palette.prompt": ("Nummer oder Wörter", "Nummer tippen, oder Wörter zum Suchen"),
    "palette.head": "Befehl",
    "palette.head_key": ("Taste", "Taste hier"),
    "palette.empty": "Kein Befehl heißt so.",
    "palette.no_such": ("Nicht gefunden", "Kein Befehl „{text:~}“"),
    "palette.language": ("{name}", "Sprache: {name}"),
    "palette.theme": ("{name}", "Farben: {name}"),
    "palette.language_set": ("{what}", "{what}, auch beim nächsten Mal"),
    "palette.preference_set": ("{what}", "{what}, bis zur Abmeldung"),
    "theme.lean": "des Geräts",
    "theme.light": "hell",
    "theme.dark": "dunkel",
    "theme.contrast": "hoher Kontrast",
}
