"""French messages: pages of `aisle web` around the screens."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "web.title": "aisle : le magasin en main",
    "web.who_may": "Pour les responsables.",
    "web.who": "Badge ou nom d'utilisateur",
    "web.pin": "Code PIN",
    "web.sign_in": "Se connecter",
    "web.sign_out": "Se déconnecter",
    "web.wrong": "Badge, nom ou code PIN erroné.",
    "web.later": "Trop d'essais erronés. Attendre quelques minutes.",
    "web.wrong_person": "Seuls les responsables travaillent dans un navigateur.",
    "web.no_people": "Ce serveur ne connaît aucun code PIN ; personne ne peut se connecter ici.",
    "web.no_answer": "Le serveur ne répond pas pour le moment. Réessayer.",
    "web.session_ended": "Cet écran est fermé. Rien n'est perdu : le travail reprend à la même étape.",
    "web.again": "Continuer",
}
