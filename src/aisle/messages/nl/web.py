"""Dutch messages: pages of `aisle web` around the screens."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "web.title": "aisle: de winkel in de hand",
    "web.who_may": "Voor leidinggevenden.",
    "web.who": "Badge of gebruikersnaam",
    "web.pin": "Pincode",
    "web.sign_in": "Aanmelden",
    "web.sign_out": "Afmelden",
    "web.wrong": "Badge, naam of pincode klopt niet.",
    "web.later": "Te veel foute pogingen. Een paar minuten wachten.",
    "web.wrong_person": "Alleen leidinggevenden werken in een browser.",
    "web.no_people": "Deze server kent geen pincodes; hier kan niemand zich aanmelden.",
    "web.no_answer": "De server antwoordt nu niet. Opnieuw proberen.",
    "web.session_ended": "Dit scherm is gesloten. Er is niets verloren: het werk gaat verder bij dezelfde stap.",
    "web.again": "Verder",
}
