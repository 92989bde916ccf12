"""French messages: stored reasons for refused and unconfirmed operations."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "stored_reason.order_rejected": ("{order:~} est rejetée", "Quelqu'un d'autre a rejeté la commande {order:~}"),
    "stored_reason.order_finished": ("{order:~} est terminée", "Quelqu'un d'autre a terminé la commande {order:~}"),
    "stored_reason.line_changed": (
        "Ligne {line} : {now:~}",
        "La ligne {line} de la commande {order:~} est maintenant {now:~}, pas {ours:~}",
    ),
    "stored_reason.setting_changed": (
        "{field:~} : {now:~}",
        "{field:~} de {product:~} est maintenant {now:~}, pas {seen:~} : quelqu'un d'autre l'a changé",
    ),
    "stored_reason.surplus": (
        "Replacer {left}",
        "La ligne {line} est à {picked} sur {of} ; {left} de trop en main : à replacer",
    ),
    "stored_reason.surplus_by": (
        "Replacer {left}",
        "La ligne {line} est à {picked} sur {of} ({who:~}) ; {left} de trop en main : à replacer",
    ),
    "stored_reason.not_put_back": (
        "{left} à replacer",
        "La ligne {line} est à {picked} sur {of}, {moved} à un emplacement ; pas replacé : {left}",
    ),
    "stored_reason.not_put_back_by": (
        "{left} à replacer",
        "La ligne {line} est à {picked} sur {of} ({who:~}), {moved} à un emplacement ; pas replacé : {left}",
    ),
    "stored_reason.courier_ended": ("Arrêt trop tôt", "Le programme qui envoie s'est arrêté avant la réponse"),
    "stored_reason.attempts": ("{count} essais", "{count} essais, aucun sûr : {why:~}"),
    "stored_reason.refused_repeatedly": ("Refusé {count} fois", "Refusé {count} fois : {why:~}"),
    "stored_reason.earlier_value_unknown": ("Illisible", "Ce qui serait changé était illisible {count} fois : {why:~}"),
    "stored_reason.key_gone": ("Double possible", "C'est peut-être arrivé, et le serveur ne le reconnaîtrait plus"),
    "stored_reason.key_old": (
        "Trop ancien",
        "Envoyé il y a si longtemps que le serveur ne le reconnaît peut-être plus",
    ),
    "stored_reason.restored": (
        "Serveur restauré",
        "Le serveur a été restauré d'une copie ancienne ; cela peut y manquer",
    ),
    "stored_reason.changed_later": (
        "Changé depuis",
        "Le serveur a été restauré d'une copie ancienne. "
        "La ligne {line} a changé depuis : cela reste, elle n'est pas refermée",
    ),
    "stored_reason.not_stated": ("Non confirmé", "Le serveur a répondu sans dire que c'était fait"),
    "stored_reason.text": ("Non ({status})", "Quelqu'un en route a dit non ({status}) : {why:~}"),
    "stored_reason.status_rejected": ("Non ({status})", "Le serveur dit non, sans dire pourquoi ({status})"),
    "stored_reason.status_with_text": ("Non ({status})", "{why:~} ({status})"),
    "stored_reason.no_answer_in_time": ("Pas de réponse", "Le serveur ne répond pas à cette demande"),
    "stored_reason.status_unexpected": ("Pas le serveur ({status})", "Autre chose que le serveur a répondu ({status})"),
    "stored_reason.no_text": ("Non", "Le serveur dit non, sans dire pourquoi"),
    "stored_reason.not_reached": ("Non joint", "Le serveur n'a pas pu être joint"),
    "stored_reason.no_answer": ("Pas de réponse", "Le serveur n'a pas donné de réponse sûre"),
    "stored_reason.unreadable": ("Réponse illisible", "La réponse du serveur est illisible"),
    "stored_reason.no_store": ("Magasin inconnu", "Ce magasin n'existe pas"),
    "stored_reason.no_token": ("Jeton absent", "Le jeton pour le serveur est inutilisable : lancer aisle doctor"),
    "stored_reason.not_valid": ("Impossible à envoyer", "Impossible à envoyer ainsi au serveur : lancer aisle doctor"),
    "stored_reason.denied": ("Pas visible", "Le serveur l'a confirmé mais ne le montre pas"),
    "stored_reason.denied_repeatedly": ("Pas visible", "Le serveur l'a confirmé {count} fois mais ne le montre pas"),
    "stored_reason.absent": ("À renvoyer", "Cherché et introuvable : c'est renvoyé"),
    "stored_reason.partly": ("Le reste repart", "Cherché et trouvé en partie : le reste est renvoyé"),
    "stored_reason.empty_answer": ("Est-ce arrivé ?", "Le serveur a répondu sans un mot et ne le montre pas"),
    "stored_reason.product_changed": ("Changé ailleurs", "Quelqu'un d'autre a changé l'article entre-temps"),
    "stored_reason.order_changed": ("Changé ailleurs", "Quelqu'un d'autre a changé la commande entre-temps"),
    "stored_reason.not_in_log": (
        "Est-ce arrivé ?",
        "Personne ne sait si c'est arrivé : le journal du serveur ne le montre pas, et peut-être jamais",
    ),
    "stored_reason.cannot_be_looked_up": (
        "Est-ce arrivé ?",
        "Personne ne sait si c'est arrivé, et on ne peut pas le demander au serveur",
    ),
    "stored_reason.put_back": (
        "Fichiers remis",
        "outbox.db effacé, puis remis",
        "outbox.db a été effacé pendant le travail. Il est remis, avec tout ce qui était noté.",
    ),
    "stored_reason.file_kept": (
        "Gardé : {file:~}",
        "Un autre outbox.db est là. L'ancien : {file:~}",
        "Un autre outbox.db a été mis en place pendant le travail. Ce qui était noté est gardé dans {file:~}.",
    ),
}
