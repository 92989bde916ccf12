"""Dutch messages: PIN of a supervisor."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "home.pin": ("Pincode", "Pincode geven"),
    "pin.title": ("Pincode", "Eigen pincode"),
    "pin.prompt": ("Eigen pincode", "Typ de eigen pincode"),
    "pin.prompt_wait": ("Wachten", "Wachten op antwoord"),
    "pin.prompt_late": ("Nummer of b", "Kies een nummer, of b voor terug"),
    "pin.note": (
        "Eenmaal voor alles.",
        "Dit mag alleen de leiding. De pincode wordt eenmaal gevraagd en nergens bewaard.",
    ),
    "pin.note_waiting": ("{count} wachten erop", "{count:actie wacht|acties wachten} erop"),
    "pin.note_asked": ("Vragen", "De server wordt gevraagd"),
    "pin.enter_pin": ("Pincode a.u.b.", "Pincode a.u.b.: dan gebeurt het"),
    "pin.asked": ("Gevraagd", "De server wordt gevraagd"),
    "pin.no_pin": ("4 tot 12 cijfers", "Een pincode heeft 4 tot 12 cijfers"),
    "pin.wrong": ("Pincode fout", "Die pincode klopt niet: er is niets gedaan"),
    "pin.locked": ("Nu niet", "Niet gedaan, later opnieuw: {why:~}"),
    "pin.scanned": ("Typen, niet scannen", "Een scan is geen pincode: typ die toets voor toets"),
    "pin.wait_for_it": ("Even wachten", "De server wordt gevraagd: wacht op het antwoord"),
    "pin.role": ("Alleen leiding", "Niet gedaan: de server kent deze persoon niet als leiding"),
    "pin.not_sent": ("Geen antwoord", "De server is niet bereikt: {why:~}"),
    "pin.no_answer": ("Geen antwoord", "De server heeft niet op tijd geantwoord"),
    "pin.again": ("Nog eens", "Typ de pincode nog eens"),
    "pin.save_without_pin": ("Noteren", "Nu noteren; gaat weg zodra de pincode er is"),
    "pin.done": ("Pincode klopt", "De pincode klopt, {name:~}"),
    "pin.twice": ("Pincode klopte al", "De pincode klopte al: hiermee is niets gedaan"),
    "pin.early": ("Eerst je naam", "Zo heet niemand. Eerst je badge of naam, dan de pincode"),
    "pin.elsewhere": ("Pincode? Typ .", "Zo heet hier niets. Pincode bedoeld? Typ . en kies pincode"),
    "pin.left": ("Geen pincode", "Geen pincode gegeven; wat erop wacht blijft wachten"),
    "pin.not_needed": ("Niet nodig", "Niets hier heeft een pincode nodig"),
    "pin.saved": (
        "Wacht: . pincode",
        "Wacht op de pincode: . en pincode",
        "{said}: wacht op de pincode (. en pincode)",
        "{said}: wacht op de pincode (. en pincode, als de server er weer is)",
    ),
    "pin.waits": ("{count} wachten: .", "{count:actie wacht|acties wachten} op de pincode: typ . en kies pincode"),
}
