"""French messages: supervisors' changes to batches, and their notifications."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    # Before sign-out
    "home.in_hand": (
        "{count} en main. Encore ?",
        "{count:pas posé|pas posés}. Encore une fois déconnecte",
        "Prélevé et pas posé : {count} de la commande {orders:~}. La même touche encore une fois déconnecte.",
    ),
    "home.in_hand_unsent": (
        "{count} en main. Encore ?",
        "{count:pas posé|pas posés}, {unsent:non envoyé|non envoyés}. Encore une fois déconnecte",
        "Pas posé : {count} de la cde {orders:~} ; pas envoyé : {unsent}. La même touche encore une fois déconnecte.",
    ),
    # Orders that were assigned
    "home.assigned": (
        "{order} : à faire",
        "{order} vient de {who:~}",
        "La commande {order} vient de {who:~} ; à préparer d'abord",
    ),
    "home.assigned_many": (
        "{count} de plus",
        "{count} commandes de plus",
        "{count} commandes viennent de {who:~} ; à préparer d'abord",
    ),
    "home.assigned_by": ("donnée", "de {who:~}", "donnée, de {who:~}", "donnée, de {who:~} {due}"),
    "home.priority": ("d'abord", "d'abord {due}"),
    "batch.assigned": (
        "{count} de {who:~}",
        "{order} vient de {who:~}",
        "{who:~} donne {count:commande|commandes}, {order} d'abord",
    ),
    "pick.assigned": (
        "{order} aussi ?",
        "{order} vient de {who:~}",
        "La commande {order} vient de {who:~}. La prendre dans cette tournée ?",
    ),
    "pick.choice_later": ("Plus tard", "Plus tard, dans la liste"),
    "pick.reassigned": ("{who:~} l'a", "{order} va à {who:~}", "La commande {order} a été donnée à {who:~}"),
    "pick.removed_reassigned": (
        "{tote} : {who:~}",
        "{tote} va à {who:~}",
        "Bac {tote}, {order}, donné à {who:~} ; les autres continuent",
    ),
    "pick.note_return_reassigned": (
        "Donner {count}",
        "Donner le bac avec {count} à qui a la commande maintenant, ou le poser pour lui et scanner le lieu.",
    ),
    "pick.priority": ("Urgent", "{order} est urgent", "La commande {order} est urgente, selon {who:~}"),
    "pick.priority_batch": (
        "{tote} d'abord",
        "{tote} d'abord : {who:~}",
        "Bac {tote}, {order}, passe d'abord après cet arrêt ({who:~})",
    ),
    "pick.no_priority": ("Pas urgent", "{order} : pas urgent", "La commande {order} n'est plus urgente"),
    "pick.released": (
        "{order} est libre",
        "{order} est libérée",
        "La commande {order} est libérée ; le prochain article la reprend",
    ),
    "orders.priority": ("1er {state}", "d'abord, {state}"),
    "order.in_batch_of": ("Chez {who:~}", "Chez {who:~} en ce moment"),
    "order.assigned_to": ("Pour {who:~}", "Donnée à {who:~}, pas encore ouverte"),
    "order.priority": ("D'abord", "D'abord : {who:~}", "D'abord sur cette machine, selon {who:~}"),
    "order_actions.priority": ("D'abord", "Mettre d'abord", "Mettre d'abord dans la tournée et les listes"),
    "order_actions.no_priority": ("Pas d'abord", "Plus d'abord"),
    "order_actions.split": ("Diviser…", "Donner à un autre", "Diviser la tournée : donner à un autre"),
    "order_actions.split_to": ("À {name:~}", "Donner à {name:~}"),
    "order_actions.warn_split": (
        "Les {count} ?",
        "Elles quittent leur tournée, avec ce qui est prélevé dans leurs bacs. Les deux personnes le voient.",
    ),
    "order_actions.done_priority": (
        "D'abord",
        "{order} passe d'abord",
        "{order} passe d'abord, sur chaque écran de cette machine",
    ),
    "order_actions.done_no_priority": ("Pas d'abord", "{order} attend de nouveau son tour"),
    "order_actions.done_split": ("À {name:~}", "{order} va à {name:~}", "{order} va à {name:~} ; les deux le voient"),
    "order_actions.order_picked": ("Déjà prête", "La commande {order} est déjà prête"),
    "order_actions.already_priority": ("Déjà d'abord", "La commande {order} passe déjà d'abord"),
    "order_actions.not_priority": ("Pas d'abord", "La commande {order} ne passait pas d'abord"),
    "order_actions.not_in_batch": ("Sans tournée", "La commande {order} n'est ici dans aucune tournée ; la confier"),
    "order_actions.already_picker": ("{name:~} l'a", "{name:~} a déjà la commande {order}"),
    "order.event_at": ("{what}, {place:~}",),
    "count.to_recounts": ("{count:demandé|demandés}", "{count:recomptage|recomptages} à faire"),
    "pick.left_not_put_down": (
        "{count} en main !",
        "{order} : {count} en main",
        "La commande {order} est prête, mais {count} pas encore à un lieu de retrait",
    ),
    "pick.left_not_put_down_batch": (
        "{count} en main !",
        "{totes} : {count} en main",
        "Tout est prêt, mais {count} du bac {totes} pas encore à un lieu de retrait",
    ),
    "pick.no_pickup": (
        "Pas {code:~} ; 1 ?",
        "Pas de {code:~} ; {place} ?",
        "Il n'y a pas d'emplacement {code:~}. Voici les lieux de retrait :",
    ),
    "pick.no_pickup_more": (
        "Pas {code:~} ; 1 ?",
        "Pas de {code:~} ; {place} ?",
        "Pas de {code:~}. {shown} lieux de retrait sur {count} :",
        "Il n'y a pas d'emplacement {code:~}. Voici {shown} lieux de retrait sur {count} :",
    ),
    "pick.no_location_at_all": (
        "Pas de {code:~}",
        "Pas de lieu {code:~}",
        "Il n'y a pas d'emplacement {code:~} ; scanner son étiquette",
    ),
    "pick.put_down_refused": (
        "Pas à {place:~}",
        "Pas déposé : {place:~}",
        "Pas noté à {place:~}, {order} est de nouveau en main : {why:~}",
    ),
    "pick.reopened_order": (
        "{order} ouverte",
        "{order} de nouveau ouverte",
        "La commande {order} est de nouveau ouverte, rien de prélevé ; replacer {count}, puis reprendre",
    ),
    "pick.note_return_reopened": (
        "Replacer {count}",
        "La commande est de nouveau ouverte, rien de prélevé : replacer {count}, puis reprendre.",
    ),
    "home.reopened": (
        "{order} ouverte",
        "{order} de nouveau ouverte",
        "La commande {order} est de nouveau ouverte, rien de prélevé",
    ),
    "pick.join": ("{what}", "{what} · {more}"),
    # Other people with the same order open
    "pick.changed_asked": (
        "Cde modifiée",
        "{order} modifiée : question levée",
        "La commande {order} a été modifiée ailleurs : la question posée ici tombe",
    ),
    "pick.other_picker": (
        "{who:~} aussi",
        "{who:~} prépare aussi {order}",
        "{who:~} prépare aussi la commande {order} ; vos prises s'additionnent",
    ),
    "pick.other_picker_maybe": (
        "{who:~} l'avait",
        "{who:~} y est peut-être encore",
        "{who:~} avait la commande {order} et y est peut-être encore ; vos prises s'additionnent",
    ),
    "pick.other_picker_left": (
        "{who:~} est parti",
        "{who:~} a quitté {order}",
        "{who:~} a quitté la commande {order} ; la suite se fait seul",
    ),
    "pick.other_picker_left_goods": (
        "{who:~} parti : {count}",
        "{who:~} parti avec {count} en main",
        "{who:~} a quitté la commande {order} avec {count} en main ; la suite se fait seul",
    ),
    "pick.note_other_pickers": ("Avec {who:~}", "{who} la prépare aussi"),
    "pick.note_other_pickers_tote": ("{tote} : avec {who:~}", "Bac {tote} : {who} la prépare aussi"),
    # Goods of orders that somebody else picks now
    "pick.choice_handed_over": ("Remis", "C'est remis au collègue"),
    "pick.choice_returned": ("Replacé", "C'est replacé à sa place"),
    "pick.handed_over": ("Remis", "{count} remis au collègue", "Remis au collègue : {count}, qui restent prélevés"),
    "pick.note_others": ("{count} ailleurs", "Dans les mains d'un autre : {count}."),
    "pick.upcoming_goods_for_others": ("En main", "Ici, en main"),
    "pick.order_of_other_picker": ("À un collègue", "Un autre prépare cette commande"),
    "home.not_put_down": (
        "{count} en main",
        "{count} en main, à poser",
        "{count} en main, à poser",
        "{count} en main, à poser {due}",
    ),
    "pick.move_stop_undone": ("À {place}", "Annulé : de nouveau à {place}", "Annulé : {label:~} de nouveau à {place}"),
    "pick.return_resolved": ("Réglé", "Réglé ailleurs", "Ce qui était de trop est réglé ailleurs"),
    "pick.prompt_check_at": ("Le poser là ; y", "Poser à {place}, puis taper y"),
    "pick.choice_lies_there": ("C'est là", "C'est posé là"),
    "pick.lies_there": ("C'est posé", "Tout est là où c'est noté"),
    "pick.note_return_put_down_by_other_at": (
        "Poser {count} là",
        "Un autre en a noté {count} là : y poser ce qui est en main.",
    ),
    "pick.put_down_by_other_at": (
        "À {place} ? {count}",
        "{count} noté à {place}",
        "Un autre a noté à {place} {count} de la commande {order}, encore en main ici : les y poser",
    ),
    "pick.prompt_check": ("Demander où ; y", "Demander où, y poser, taper y"),
    "pick.note_return_put_down_by_other": (
        "Demander où : {count}",
        "Un autre en a posé {count}, personne ici ne sait où : demander, et y poser ce qui est en main.",
    ),
    "pick.put_down_by_other": (
        "Posé ? {count}",
        "{count} noté comme posé",
        "Un autre a posé {count} de la commande {order}, encore en main ici, lieu inconnu : demander où",
    ),
    "pick.not_put_down_by_other": (
        "Encore en main",
        "{order} encore en main",
        "La commande {order} n'est plus posée nulle part",
    ),
    "pick.goods_of_others": (
        "Pas en main ici",
        "Pas en main ici : {count}",
        "Rien en main ici, {count} chez un autre. Est-ce à {place} ?",
    ),
    "pick.choice_put_down_others": ("À {key} : oui", "Oui, tout est à {key}"),
}
