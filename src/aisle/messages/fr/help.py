"""French messages: help, and the list of commands."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "hint.help": "Aide",
    "help.title": "Aide",
    "help.prompt": ("Lire, ou continuer", "Lire, ou continuer le travail"),
    "help.purpose": ("Ici", "Ce qu'il faut faire"),
    "help.accepts": ("À scanner", "Scanner ou taper"),
    "help.letters": ("Lettres", "Lettres, puis Entrée"),
    "help.always": ("Toujours", "Sur chaque page"),
    "help.letter": "{letter} : {text}",
    "help.look_up_key": "? avant un scan : voir la fiche",
    "help.palette_key": "{key} montre toutes les commandes",
    "help.back": "{key}, Retour arrière ou Échap : retour",
    "help.product": "un article",
    "help.location": "un emplacement",
    "help.order": "une commande",
    "help.delivery": "une livraison ou son conteneur",
    "help.badge": "un badge",
    "help.number": "un numéro de la liste",
    "help.choice_letter": "la lettre d'un choix",
    "help.quantity": "combien, ou 3*4",
    "help.times": "12* et un scan : douze",
    "help.text": "des mots",
    "help.anything": "ce que la page demande",
    "help.sign_in": "Scanner le badge, ou taper le nom ou une partie. Ce qui est resté ouvert reprend à la même étape.",
    "help.pin": (
        "Ce qui est réservé aux responsables demande le PIN : une fois, puis plus pendant un temps. Le taper touche "
        "par touche, pas de scan. Sans serveur c'est noté, et cela attend. {b} n'en fait rien."
    ),
    "help.home": (
        "Tout commence ici. Scanner une commande pour la préparer, un article pour le voir, un emplacement pour "
        "voir ce qui s'y trouve, ou une livraison pour la recevoir. Les mots trouvent commandes et articles. Les "
        "numéros sont les travaux. {u} annule la dernière action."
    ),
    "help.pick_wait": (
        "Les lignes de cette commande arrivent. Attendre un peu, ou revenir et prendre une autre commande."
    ),
    "help.pick_location": (
        "Aller à l'emplacement affiché et le scanner. S'il est vide ou bloqué, {s} le signale et montre d'autres "
        "emplacements."
    ),
    "help.pick_product": (
        "Prendre l'article affiché et scanner chaque pièce, ou en scanner une et taper combien en tout : un nombre"
        " l'est toujours. Les lettres répondent aux questions. Un mauvais article ne change rien. La ligne finie, "
        "la suivante vient toute seule."
    ),
    "help.pick_done": (
        "Rien ne reste à préparer ici. Poser ce qui est préparé au lieu de retrait et scanner ce lieu, ou scanner la "
        "commande suivante."
    ),
    "help.pick_return": (
        "Ces articles sont en main et ne se préparent plus ici. Les remettre à leur place, ou les donner à qui "
        "prépare la commande ; la lettre tapée dit lequel des deux."
    ),
    "help.batch": (
        "Mettre plusieurs commandes dans une tournée : les scanner, ou taper combien. Chacune a un bac avec une "
        "lettre ; un numéro qui n'est pas une commande n'est un bac que si on le confirme. {g} commence la tournée"
        " dans l'ordre du parcours."
    ),
    "help.look_up_list": (
        "Trouver un article : le scanner, ou taper au moins deux lettres du nom, le numéro ou la fin du "
        "code-barres. Un numéro l'ouvre."
    ),
    "help.look_up_product": (
        "Tout ce qui est connu de cet article : où il est, combien, et ce qu'ont les magasins proches. Un scan "
        "montre le suivant ; numéros et lettres commencent un travail."
    ),
    "help.locations_list": (
        "Les emplacements du magasin dans l'ordre du parcours. En scanner un, taper une partie du code, ou "
        "choisir le numéro pour voir ce qui s'y trouve."
    ),
    "help.locations_location": (
        "Ce qui doit être à cet emplacement. {n} et {p} mènent aux voisins ; un article scanné est marqué s'il "
        "est à sa place."
    ),
    "help.note": "Ce que le client a écrit, en entier. {b} revient au travail.",
    "help.move_from": (
        "Où sont les articles maintenant ? Scanner l'emplacement, ou scanner l'article et choisir l'emplacement."
    ),
    "help.move_take": (
        "Scanner ce qui est pris ici ; chaque scan en ajoute un, un nombre fixe la quantité, les lettres répondent"
        " aux questions. Puis scanner l'emplacement d'arrivée."
    ),
    "help.move_load": (
        "Charger le chariot : scanner emplacement et articles, autant qu'il faut. {d} commence le rangement."
    ),
    "help.move_put": "L'apporter à l'emplacement et le scanner ; un article avant dit ce qui est posé ici.",
    "help.move_question": (
        "Il manque une réponse avant de déplacer. Choisir ce que la page propose ; {b} abandonne la question."
    ),
    "help.count_start": (
        "Que faut-il compter ? Scanner un emplacement pour tout y compter, ou un article. Les numéros mènent à ce "
        "qui est à compter, aux pertes, et à ce qui a été compté."
    ),
    "help.count_list": (
        "Compter ce que dit la liste, dans l'ordre ou au passage : scanner un emplacement ou un article, ou "
        "choisir le numéro."
    ),
    "help.count": (
        "Scanner chaque pièce, ou en scanner une et taper combien il y en a : un nombre l'est toujours, et le "
        "dernier compte. Les lettres répondent aux questions. L'article ou l'emplacement suivant termine ; {u} "
        "annule la dernière étape."
    ),
    "help.count_recount": "L'écart est grand. Compter encore une fois ; le second compte fait foi, quel qu'il soit.",
    "help.count_summary": "Ce qui a été compté et les écarts. Scanner l'emplacement suivant, ou revenir.",
    "help.adjust": (
        "Signaler ce qui est perdu ou trouvé : scanner l'article, dire combien et choisir pourquoi. Un nombre dit "
        "toujours combien, les lettres répondent aux questions. Le stock suit aussitôt."
    ),
    "help.shortage": (
        "Il n'y a pas assez ici. Choisir un autre emplacement, ou dire pourquoi il en manque ; la raison suit la "
        "commande."
    ),
    "help.my_entries": (
        "Ce qui a été compté et signalé, et la suite. Un numéro ouvre une entrée ; elle peut y être annulée."
    ),
    "help.scanner_test": (
        "Scanner n'importe quoi : cette page montre ce que le lecteur envoie et ce que cela voudrait dire. Rien "
        "ne change dans le magasin."
    ),
    "help.unconfirmed": (
        "Ce qui ne peut être réglé tout seul. Un numéro ouvre un cas et montre ce que disent les deux côtés."
    ),
    "help.unconfirmed_entry": (
        "Lire ce qui était voulu et ce que dit le serveur, regarder les articles au besoin, et choisir une issue "
        "par son numéro."
    ),
    "help.orders": (
        "Toutes les commandes du magasin. Mots et scans en trouvent une, un numéro l'ouvre. {f} filtre et trie, "
        "{v} a les vues, {m} en coche plusieurs, {d} agit sur elles."
    ),
    "help.orders_filter": "Choisir ce que montre le tableau : un numéro change un filtre. {b} revient au tableau.",
    "help.orders_views": "Des filtres gardés sous un nom. Un numéro en prend un.",
    "help.order_page": (
        "Une commande avec client, lignes, prises et historique. Les numéros agissent : libérer, rejeter, "
        "remettre, confier à quelqu'un."
    ),
    "help.order_actions": (
        "Choisir ce qu'il faut faire de ces commandes, et pourquoi si c'est demandé. Rien ne se passe avant la "
        "dernière question."
    ),
    "help.order_actions_results": "Ce qu'il est advenu de chaque commande. {u} annule ce qui peut l'être.",
    "help.exceptions": (
        "Ce qu'un responsable doit régler : écarts, stocks impossibles, commandes bloquées. Un numéro ouvre une "
        "sorte, puis le cas."
    ),
    "help.receive_delivery": (
        "Quelle livraison est arrivée ? Scanner son numéro ou un conteneur, ou choisir dans la liste."
    ),
    "help.receive_goods": (
        "Scanner ce qui sort de la livraison ; chaque scan en ajoute un, un nombre fixe la quantité, les lettres "
        "répondent aux questions. Scanner un emplacement pour l'y ranger, ou l'article suivant."
    ),
    "help.receive_check": (
        "Ce qui est arrivé et ce qui diffère. Voir les écarts, puis choisir : continuer, clore, ou plus tard."
    ),
    "help.deliveries": (
        "Livraisons attendues ou arrivées, et leurs réceptions. Un scan ou numéro en ouvre une ; {v} change la liste."
    ),
    "help.log": (
        "Ce qui est arrivé aux articles, le plus récent d'abord. {f} filtre, {e} écrit la liste dans un fichier, "
        "{g} trace les pertes ; un numéro ouvre une entrée."
    ),
    "help.log_filter": "Choisir le champ à filtrer, puis la valeur : dans la liste, par un scan, ou tapée.",
    "help.log_export": "Taper le nom du fichier pour la liste. S'il existe déjà, la question est posée d'abord.",
    "help.stores": "Les magasins de la chaîne. Les mots en trouvent un, un numéro ouvre sa page.",
    "help.stores_change": (
        "Choisir le magasin où ce poste travaille désormais. Ce qui est ouvert ou non envoyé reste ici, et sera envoyé."
    ),
    "help.products": (
        "Le catalogue de la chaîne. Mots et scans trouvent des articles, {v} {c} et {s} filtrent ; un numéro "
        "ouvre tout ce qui est connu."
    ),
    "help.clearance": "Choisir ce qui est à dégager. Rien n'est dégagé avant d'être confirmé en le tapant.",
    "help.clearance_request": (
        "Ceci ne peut être annulé. Taper exactement ce qui est demandé ; {b} laisse tout en l'état."
    ),
    "help.clearance_request_done": (
        "Ce qui a été dégagé, et les articles à déplacer maintenant. Ils sont sur la liste des articles à déplacer."
    ),
    "help.clearance_tasks": (
        "Des articles à déplacer après un dégagement. En choisir un par numéro, ou scanner l'emplacement ou "
        "l'article, et l'apporter."
    ),
    "help.today": "Où en est la journée : commandes, personnes, emplacements, postes. Un numéro en montre plus.",
    "help.store_product": (
        "Ce que ce magasin a réglé pour l'article, et ses chiffres. Un numéro change une valeur, dans les limites "
        "du rôle."
    ),
    "help.store_product_value": (
        "Taper la nouvelle valeur, ou en choisir une. Elle est montrée encore une fois avant l'envoi ; {b} garde "
        "l'ancienne."
    ),
    "help.help": "Cette page dit à quoi sert la page du dessous. Continuer le travail, ou revenir.",
    "help.palette": (
        "Tout ce qui peut se faire d'ici. Taper un mot, puis le numéro. Un scan va au travail comme si cette page "
        "n'existait pas."
    ),
    "palette.title": ("Actions", "Commandes d'aisle"),
    "palette.prompt": ("Numéro ou mots", "Taper le numéro, ou des mots pour trouver"),
    "palette.head": "Action",
    "palette.head_key": ("Touche", "Touche ici"),
    "palette.empty": "Aucune action ne s'appelle ainsi.",
    "palette.no_such": ("Introuvable", "Aucune action « {text:~} »"),
    "palette.language": ("{name}", "Langue : {name}"),
    "palette.theme": ("{name}", "Couleurs : {name}"),
    "palette.language_set": ("{what}", "{what}, la prochaine fois aussi"),
    "palette.preference_set": ("{what}", "{what}, jusqu'à la déconnexion"),
    "theme.lean": "du poste",
    "theme.light": "clair",
    "theme.dark": "sombre",
    "theme.contrast": "contraste fort",
}
