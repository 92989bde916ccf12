"""French messages: PIN of a supervisor."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "home.pin": ("Code PIN", "Donner son code PIN"),
    "pin.title": ("Code PIN", "Son code PIN"),
    "pin.prompt": ("Code PIN", "Taper son code PIN"),
    "pin.prompt_wait": ("Patienter", "Attendre la réponse"),
    "pin.prompt_late": ("Numéro ou b", "Choisir un numéro, ou b pour revenir"),
    "pin.note": ("Une fois pour tout.", "Réservé aux responsables. Le PIN est demandé une fois et gardé nulle part."),
    "pin.note_waiting": ("{count} l'attendent", "{count:action l'attend|actions l'attendent}"),
    "pin.note_asked": ("Demande", "Le serveur est interrogé"),
    "pin.enter_pin": ("PIN, svp", "Le PIN, svp : ensuite ce sera fait"),
    "pin.asked": ("Demandé", "Le serveur est interrogé"),
    "pin.no_pin": ("4 à 12 chiffres", "Un code PIN a 4 à 12 chiffres"),
    "pin.wrong": ("PIN faux", "Ce PIN est faux : rien n'a été fait"),
    "pin.locked": ("Pas maintenant", "Pas fait, réessayer plus tard : {why:~}"),
    "pin.scanned": ("Taper, pas scanner", "Un scan n'est pas un PIN : taper touche par touche"),
    "pin.wait_for_it": ("Patienter", "Le serveur est interrogé : attendre la réponse"),
    "pin.role": ("Responsable seul", "Pas fait : le serveur ne connaît pas ici de responsable"),
    "pin.not_sent": ("Pas de réponse", "Le serveur n'a pas été joint : {why:~}"),
    "pin.no_answer": ("Pas de réponse", "Le serveur n'a pas répondu à temps"),
    "pin.again": ("Encore", "Taper encore le PIN"),
    "pin.save_without_pin": ("Noter", "Noter maintenant ; envoyé dès que le PIN est donné"),
    "pin.done": ("PIN correct", "Le PIN est correct, {name:~}"),
    "pin.twice": ("PIN déjà correct", "Le PIN était déjà correct : rien n'a été fait de ceci"),
    "pin.early": ("D'abord le nom", "Personne ne s'appelle ainsi. D'abord le badge ou le nom, puis le PIN"),
    "pin.elsewhere": ("Le PIN ? . PIN", "Rien ici ne s'appelle ainsi. Le PIN ? Taper . et choisir PIN"),
    "pin.left": ("Pas de PIN", "PIN non donné ; ce qui l'attend continue d'attendre"),
    "pin.not_needed": ("PIN inutile", "Rien ici n'a besoin du PIN"),
    "pin.saved": (
        "Attend : . PIN",
        "Attend le PIN : . puis PIN",
        "{said} : attend le PIN (. puis PIN)",
        "{said} : attend le PIN (. puis PIN, quand le serveur est revenu)",
    ),
    "pin.waits": ("{count} en attente : .", "{count:action attend|actions attendent} le PIN : taper . et choisir PIN"),
}
