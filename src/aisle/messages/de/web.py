"""German messages: pages of `aisle web` around the screens."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "web.title": "aisle: der Laden in der Hand",
    "web.who_may": "Für die Filialleitung.",
    "web.who": "Ausweis oder Benutzername",
    "web.pin": "PIN",
    "web.sign_in": "Anmelden",
    "web.sign_out": "Abmelden",
    "web.wrong": "Ausweis, Name oder PIN ist falsch.",
    "web.later": "Zu viele falsche Versuche. Einige Minuten warten.",
    "web.wrong_person": "Nur die Filialleitung arbeitet im Browser.",
    "web.no_people": "Dieser Dienst kennt keine PINs; hier kann sich niemand anmelden.",
    "web.no_answer": "Der Dienst antwortet gerade nicht. Noch einmal versuchen.",
    "web.session_ended": (
        "Dieser Bildschirm ist beendet. Nichts ist verloren: Die Arbeit geht beim selben Schritt weiter."
    ),
    "web.again": "Weiter",
}
