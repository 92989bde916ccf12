"""Dutch messages: supervisors' changes to batches, and their notifications."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    # Before sign-out
    "home.in_hand": (
        "{count} in hand. Toch?",
        "{count} niet neergezet. Nog eens meldt af",
        "Gepickt en niet neergezet: {count} van order {orders:~}. Nog eens hetzelfde meldt af.",
    ),
    "home.in_hand_unsent": (
        "{count} in hand. Toch?",
        "{count} niet neergezet, {unsent} niet verzonden. Nog eens meldt af",
        "Niet neergezet: {count} van order {orders:~}; niet verzonden: {unsent}. Nog eens hetzelfde meldt af.",
    ),
    # Orders that were assigned
    "home.given": ("{order} erbij", "{order} komt van {who:~}", "Order {order} komt van {who:~}; eerst te picken"),
    "home.given_many": ("{count} erbij", "{count} orders erbij", "{count} orders komen van {who:~}; eerst te picken"),
    "home.yours": ("erbij", "van {who:~}", "erbij, van {who:~}", "erbij, van {who:~} {due}"),
    "home.urgent": ("eerst", "eerst {due}"),
    "walk.given": (
        "{count} van {who:~}",
        "{order} komt van {who:~}",
        "{who:~} geeft {count:order|orders}, {order} als eerste",
    ),
    "pick.given": (
        "{order} ook?",
        "{order} komt van {who:~}",
        "Order {order} komt van {who:~}. Meenemen in deze ronde?",
    ),
    "pick.way_later": ("Later", "Later, uit de lijst"),
    "pick.given_now": ("{who:~} pickt", "{order} gaat naar {who:~}", "Order {order} is aan {who:~} gegeven"),
    "pick.out_given": (
        "{tote}: {who:~}",
        "{tote} gaat naar {who:~}",
        "Bak {tote}, {order}, is aan {who:~} gegeven; de rest gaat door",
    ),
    "pick.note_back_given": (
        "Geef {count} over",
        "Geef de bak met {count} aan wie de order nu heeft, of leg het voor hem neer en scan de plek.",
    ),
    "pick.urgent": ("Heeft haast", "{order} heeft haast", "Order {order} heeft haast, volgens {who:~}"),
    "pick.urgent_round": (
        "{tote} gaat voor",
        "{tote} gaat voor: {who:~}",
        "Bak {tote}, {order}, gaat na deze stop voor ({who:~})",
    ),
    "pick.not_urgent": ("Geen haast", "{order}: geen haast", "Order {order} heeft geen haast meer"),
    "pick.released": (
        "{order} is vrij",
        "{order} is vrijgegeven",
        "Order {order} is vrijgegeven; de volgende pick neemt hem weer",
    ),
    "orders.urgent": ("1e {state}", "eerst, {state}"),
    "order.in_walk": ("Bij {who:~}", "Op dit moment bij {who:~}"),
    "order.given_to": ("Voor {who:~}", "Gegeven aan {who:~}, nog niet geopend"),
    "order.urgent": ("Gaat voor", "Gaat voor: {who:~}", "Gaat voor op dit toestel, volgens {who:~}"),
    "act.urgent": ("Voorop", "Zet hem voorop", "Zet hem voorop in ronde en lijsten"),
    "act.calm": ("Niet voorop", "Niet meer voorop"),
    "act.split": ("Splits…", "Geef aan ander", "Splits de ronde: geef aan een ander"),
    "act.split_to": ("Naar {name:~}", "Geef aan {name:~}"),
    "act.warn_split": (
        "Alle {count}?",
        "Ze gaan uit hun ronde, met wat er van gepickt is in hun bakken. Beiden zien het.",
    ),
    "act.told_urgent": ("Gaat voor", "{order} gaat voor", "{order} gaat voor, op elk scherm van dit toestel"),
    "act.told_calm": ("Niet voorop", "{order} wacht weer op zijn beurt"),
    "act.told_split": ("Naar {name:~}", "{order} gaat naar {name:~}", "{order} gaat naar {name:~}; beiden zien het"),
    "deed.is_picked": ("Al gepickt", "Order {order} is al gepickt"),
    "deed.already_urgent": ("Al voorop", "Order {order} gaat al voor"),
    "deed.not_urgent": ("Niet voorop", "Order {order} stond niet voorop"),
    "deed.in_no_walk": ("In geen ronde", "Order {order} zit hier in geen ronde; wijs hem toe aan iemand"),
    "deed.walks_already": ("{name:~} heeft hem", "{name:~} heeft order {order} al"),
    "order.past_at": ("{what}, {place:~}",),
    "count.to_recounts": ("{count} gevraagd", "{count:hertelling|hertellingen} gevraagd"),
    "pick.left_lying": (
        "{count} in de hand!",
        "{order}: {count} in de hand",
        "Order {order} is gepickt, maar {count} ervan nog op geen afhaalplek",
    ),
    "pick.left_lying_round": (
        "{count} in de hand!",
        "{totes}: {count} in de hand",
        "Alles gepickt, maar {count} in bak {totes} nog op geen afhaalplek",
    ),
    "pick.no_pickup": (
        "Geen {code:~}; 1?",
        "Geen plek {code:~}; {place}?",
        "Er is geen plek {code:~}. Dit zijn de afhaalplekken:",
    ),
    "pick.no_pickup_more": (
        "Geen {code:~}; 1?",
        "Geen plek {code:~}; {place}?",
        "Geen plek {code:~}. {shown} van {count} afhaalplekken:",
        "Er is geen plek {code:~}. Dit zijn {shown} van {count} afhaalplekken:",
    ),
    "pick.no_place_at_all": (
        "Geen {code:~}",
        "Geen plek {code:~}",
        "Er is geen plek {code:~}; scan het etiket van een plek",
    ),
    "pick.put_refused": (
        "Niet op {place:~}",
        "Niet geboekt: {place:~}",
        "Niet geboekt op {place:~}, {order} is weer in de hand: {why:~}",
    ),
    "pick.open_again": (
        "{order} is open",
        "{order} is weer open",
        "Order {order} is weer open, niets gepickt; leg {count} terug en pick opnieuw",
    ),
    "pick.note_back_reopened": (
        "Leg {count} terug",
        "De order is weer open, niets gepickt: leg {count} terug en pick opnieuw.",
    ),
    "home.open_again": ("{order} is open", "{order} is weer open", "Order {order} is weer open, niets gepickt"),
    "pick.told_both": ("{what}", "{what} · {more}"),
    # Other people with the same order open
    "pick.changed_asked": (
        "Order gewijzigd",
        "{order} gewijzigd: vraag vervalt",
        "Order {order} is elders gewijzigd: wat hier gevraagd werd, vervalt",
    ),
    "pick.beside": (
        "{who:~} ook",
        "{who:~} pickt {order} ook",
        "{who:~} pickt order {order} ook; wat jullie beiden pakken, telt samen",
    ),
    "pick.beside_maybe": (
        "{who:~} had hem",
        "{who:~} pickt {order} misschien nog",
        "{who:~} had order {order} en pickt misschien nog; wat jullie beiden pakken, telt samen",
    ),
    "pick.beside_left": (
        "{who:~} is weg",
        "{who:~} heeft {order} verlaten",
        "{who:~} heeft order {order} verlaten; het gaat alleen verder",
    ),
    "pick.beside_left_hand": (
        "{who:~} weg: {count}",
        "{who:~} weg, met {count} in de hand",
        "{who:~} heeft order {order} verlaten met {count} ervan in de hand; het gaat alleen verder",
    ),
    "pick.note_beside": ("Met {who:~}", "{who} pickt hem ook"),
    "pick.note_beside_tote": ("{tote}: met {who:~}", "Bak {tote}: {who} pickt hem ook"),
    # Goods of orders that somebody else picks now
    "pick.way_handed_over": ("Overgedragen", "Het is overgedragen"),
    "pick.way_is_back": ("Ligt terug", "Het ligt weer op zijn plek"),
    "pick.handed_over": ("Overgedragen", "{count} overgedragen", "Overgedragen: {count}, dat blijft gepickt"),
    "pick.note_others": ("{count} elders", "In de hand van een ander: {count}."),
    "pick.ahead_hand": ("In de hand", "In jouw hand"),
    "pick.order_passed_on": ("Van een ander", "Iemand anders pickt deze order nu"),
    "home.lying": ("{count} vast", "{count} vast, leg neer", "{count} vast, leg neer", "{count} vast, leg neer {due}"),
    "pick.in_place_again": ("Op {place}", "Ongedaan: weer op {place}", "Ongedaan: {label:~} weer van {place}"),
    "pick.back_settled": ("Afgehandeld", "Elders afgehandeld", "Wat te veel was, is elders afgehandeld"),
    "pick.prompt_laid": ("Leg het daar; y", "Leg het op {place}, typ dan y"),
    "pick.way_is_laid": ("Het ligt er", "Het ligt er nu"),
    "pick.laid_there": ("Het ligt er", "Alles ligt waar het geboekt is"),
    "pick.note_back_laid": (
        "Leg er {count} neer",
        "Iemand anders zei dat er al {count} van ligt: leg daar neer wat je in de hand hebt.",
    ),
    "pick.back_laid": (
        "Op {place}? {count}",
        "{count} geboekt op {place}",
        "Iemand anders boekte {count} van order {order} uit jouw hand op {place}: leg het daar neer",
    ),
    "pick.prompt_laid_unsaid": ("Vraag waar; typ y", "Vraag waar, leg het daar, typ y"),
    "pick.note_back_laid_unsaid": (
        "Vraag waar {count:ligt|liggen}",
        "Iemand anders legde er {count} van neer, niemand weet hier waar: vraag het, en leg daar wat je vasthebt.",
    ),
    "pick.back_laid_unsaid": (
        "Neergelegd? {count}",
        "{count} als neergelegd geboekt",
        "Iemand anders legde {count} van order {order} uit jouw hand neer, geen plek bekend: vraag waar",
    ),
    "pick.back_not_laid": ("Weer in de hand", "{order} weer in de hand", "Order {order} is nergens meer neergelegd"),
    "pick.put_others": (
        "Niet bij jou",
        "Niet in jouw hand: {count}",
        "Niets in jouw hand, {count} bij iemand anders. Ligt het op {place}?",
    ),
    "pick.way_put_others": ("Op {key}: ja", "Ja, alles ligt op {key}"),
}
