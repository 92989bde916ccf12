"""German messages: PIN of a supervisor."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "home.pin": ("PIN geben", "Eigene PIN geben"),
    "pin.title": ("Die PIN", "Eigene PIN"),
    "pin.prompt": ("Eigene PIN", "Eigene PIN tippen"),
    "pin.prompt_wait": ("Warten", "Auf Antwort warten"),
    "pin.prompt_late": ("Nummer oder b", "Nummer wählen, oder b für zurück"),
    "pin.note": (
        "Einmal für alles.",
        "Das darf nur die Leitung. Nach der PIN wird einmal gefragt; sie wird nirgends gespeichert.",
    ),
    "pin.note_waiting": ("{count} warten darauf", "{count:Aktion wartet|Aktionen warten} darauf"),
    "pin.note_asked": ("Gefragt", "Der Dienst wird gefragt"),
    "pin.enter_pin": ("Bitte die PIN", "Bitte die PIN: dann geschieht es"),
    "pin.asked": ("Gefragt", "Der Dienst wird gefragt"),
    "pin.no_pin": ("4 bis 12 Ziffern", "Eine PIN hat 4 bis 12 Ziffern"),
    "pin.wrong": ("PIN falsch", "Diese PIN stimmt nicht: nichts wurde getan"),
    "pin.locked": ("Jetzt nicht", "Nicht getan, später wieder: {why:~}"),
    "pin.scanned": ("Tippen, kein Scan", "Ein Scan ist keine PIN: Taste für Taste tippen"),
    "pin.wait_for_it": ("Bitte warten", "Der Dienst wird gefragt: auf die Antwort warten"),
    "pin.role": ("Nur Leitung", "Nicht getan: laut Dienst gehörst du nicht zur Leitung"),
    "pin.not_sent": ("Keine Antwort", "Der Dienst war nicht erreichbar: {why:~}"),
    "pin.no_answer": ("Keine Antwort", "Der Dienst hat nicht rechtzeitig geantwortet"),
    "pin.again": ("Noch einmal", "PIN noch einmal tippen"),
    "pin.save_without_pin": ("Notieren", "Jetzt notieren; gesendet wird, sobald die PIN da ist"),
    "pin.done": ("PIN stimmt", "Die PIN stimmt, {name:~}"),
    "pin.twice": ("PIN stimmte schon", "Die PIN stimmte schon: damit ist nichts getan"),
    "pin.early": ("Erst der Name", "So heißt niemand. Erst Ausweis oder Name, dann die PIN"),
    "pin.elsewhere": ("Deine PIN? . PIN", "So heißt hier nichts. Deine PIN? . tippen und PIN wählen"),
    "pin.left": ("Keine PIN", "Keine PIN gegeben; was darauf wartet, wartet weiter"),
    "pin.not_needed": ("Keine PIN nötig", "Nichts hier braucht deine PIN"),
    "pin.saved": (
        "Wartet: . PIN",
        "Wartet auf deine PIN: . und PIN",
        "{said}: wartet auf deine PIN (. und PIN)",
        "{said}: wartet auf deine PIN (. und PIN, sobald der Dienst wieder da ist)",
    ),
    "pin.waits": ("{count} warten: .", "{count:Aktion wartet|Aktionen warten} auf deine PIN: . tippen und PIN wählen"),
}
