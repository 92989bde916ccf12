"""French messages: stored reasons for refused and unconfirmed operations."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "told.order_rejected": ("{order:~} est rejetée", "Quelqu'un d'autre a rejeté la commande {order:~}"),
    "told.order_finished": ("{order:~} est terminée", "Quelqu'un d'autre a terminé la commande {order:~}"),
    "told.line_changed": (
        "Ligne {line} : {now:~}",
        "La ligne {line} de la commande {order:~} est maintenant {now:~}, pas {ours:~}",
    ),
    "told.setting_changed": (
        "{field:~} : {now:~}",
        "{field:~} de {product:~} est maintenant {now:~}, pas {seen:~} : quelqu'un d'autre l'a changé",
    ),
    "told.too_many": (
        "Replacer {left}",
        "La ligne {line} est à {picked} sur {of} ; {left} de trop en main : à replacer",
    ),
    "told.too_many_by": (
        "Replacer {left}",
        "La ligne {line} est à {picked} sur {of} ({who:~}) ; {left} de trop en main : à replacer",
    ),
    "told.not_back": (
        "{left} à replacer",
        "La ligne {line} est à {picked} sur {of}, {moved} à un emplacement ; pas replacé : {left}",
    ),
    "told.not_back_by": (
        "{left} à replacer",
        "La ligne {line} est à {picked} sur {of} ({who:~}), {moved} à un emplacement ; pas replacé : {left}",
    ),
    "told.courier_ended": ("Arrêt trop tôt", "Le programme qui envoie s'est arrêté avant la réponse"),
    "told.tried": ("{count} essais", "{count} essais, aucun sûr : {why:~}"),
    "told.refused_often": ("Refusé {count} fois", "Refusé {count} fois : {why:~}"),
    "told.unread_before": ("Illisible", "Ce qui serait changé était illisible {count} fois : {why:~}"),
    "told.key_gone": ("Double possible", "C'est peut-être arrivé, et le serveur ne le reconnaîtrait plus"),
    "told.key_old": ("Trop ancien", "Envoyé il y a si longtemps que le serveur ne le reconnaît peut-être plus"),
    "told.restored": ("Serveur restauré", "Le serveur a été restauré d'une copie ancienne ; cela peut y manquer"),
    "told.changed_later": (
        "Changé depuis",
        "Le serveur a été restauré d'une copie ancienne. "
        "La ligne {line} a changé depuis : cela reste, elle n'est pas refermée",
    ),
    "told.unsaid": ("Non confirmé", "Le serveur a répondu sans dire que c'était fait"),
    "told.plain": ("Non ({status})", "Quelqu'un en route a dit non ({status}) : {why:~}"),
    "told.status_no": ("Non ({status})", "Le serveur dit non, sans dire pourquoi ({status})"),
    "told.status_said": ("Non ({status})", "{why:~} ({status})"),
    "told.silent": ("Pas de réponse", "Le serveur ne répond pas à cette demande"),
    "told.status_strange": ("Pas le serveur ({status})", "Autre chose que le serveur a répondu ({status})"),
    "told.no_words": ("Non", "Le serveur dit non, sans dire pourquoi"),
    "told.not_reached": ("Non joint", "Le serveur n'a pas pu être joint"),
    "told.no_answer": ("Pas de réponse", "Le serveur n'a pas donné de réponse sûre"),
    "told.unreadable": ("Réponse illisible", "La réponse du serveur est illisible"),
    "told.no_store": ("Magasin inconnu", "Ce magasin n'existe pas"),
    "told.no_token": ("Jeton absent", "Le jeton pour le serveur est inutilisable : lancer aisle doctor"),
    "told.unfit": ("Impossible à envoyer", "Impossible à envoyer ainsi au serveur : lancer aisle doctor"),
    "told.denied": ("Pas visible", "Le serveur l'a confirmé mais ne le montre pas"),
    "told.denied_often": ("Pas visible", "Le serveur l'a confirmé {count} fois mais ne le montre pas"),
    "told.absent": ("À renvoyer", "Cherché et introuvable : c'est renvoyé"),
    "told.partly": ("Le reste repart", "Cherché et trouvé en partie : le reste est renvoyé"),
    "told.wordless": ("Est-ce arrivé ?", "Le serveur a répondu sans un mot et ne le montre pas"),
    "told.changed_product": ("Changé ailleurs", "Quelqu'un d'autre a changé l'article entre-temps"),
    "told.changed_order": ("Changé ailleurs", "Quelqu'un d'autre a changé la commande entre-temps"),
    "told.not_in_log": (
        "Est-ce arrivé ?",
        "Personne ne sait si c'est arrivé : le journal du serveur ne le montre pas, et peut-être jamais",
    ),
    "told.unaskable": ("Est-ce arrivé ?", "Personne ne sait si c'est arrivé, et on ne peut pas le demander au serveur"),
    "told.put_back": (
        "Fichiers remis",
        "outbox.db effacé, puis remis",
        "outbox.db a été effacé pendant le travail. Il est remis, avec tout ce qui était noté.",
    ),
    "told.kept_beside": (
        "Gardé : {file:~}",
        "Un autre outbox.db est là. L'ancien : {file:~}",
        "Un autre outbox.db a été mis en place pendant le travail. Ce qui était noté est gardé dans {file:~}.",
    ),
}
