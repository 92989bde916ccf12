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
    "home.assigned": ("{order} erbij", "{order} komt van {who:~}", "Order {order} komt van {who:~}; eerst te picken"),
    "home.assigned_many": (
        "{count} erbij",
        "{count} orders erbij",
        "{count} orders komen van {who:~}; eerst te picken",
    ),
    "home.assigned_by": ("erbij", "van {who:~}", "erbij, van {who:~}", "erbij, van {who:~} {due}"),
    "home.priority": ("eerst", "eerst {due}"),
    "batch.assigned": (
        "{count} van {who:~}",
        "{order} komt van {who:~}",
        "{who:~} geeft {count:order|orders}, {order} als eerste",
    ),
    "pick.assigned": (
        "{order} ook?",
        "{order} komt van {who:~}",
        "Order {order} komt van {who:~}. Meenemen in deze ronde?",
    ),
    "pick.choice_later": ("Later", "Later, uit de lijst"),
    "pick.reassigned": ("{who:~} pickt", "{order} gaat naar {who:~}", "Order {order} is aan {who:~} gegeven"),
    "pick.removed_reassigned": (
        "{tote}: {who:~}",
        "{tote} gaat naar {who:~}",
        "Bak {tote}, {order}, is aan {who:~} gegeven; de rest gaat door",
    ),
    "pick.note_return_reassigned": (
        "Geef {count} over",
        "Geef de bak met {count} aan wie de order nu heeft, of leg het voor hem neer en scan de plek.",
    ),
    "pick.priority": ("Heeft haast", "{order} heeft haast", "Order {order} heeft haast, volgens {who:~}"),
    "pick.priority_batch": (
        "{tote} gaat voor",
        "{tote} gaat voor: {who:~}",
        "Bak {tote}, {order}, gaat na deze stop voor ({who:~})",
    ),
    "pick.no_priority": ("Geen haast", "{order}: geen haast", "Order {order} heeft geen haast meer"),
    "pick.released": (
        "{order} is vrij",
        "{order} is vrijgegeven",
        "Order {order} is vrijgegeven; de volgende pick neemt hem weer",
    ),
    "orders.priority": ("1e {state}", "eerst, {state}"),
    "order.in_batch_of": ("Bij {who:~}", "Op dit moment bij {who:~}"),
    "order.assigned_to": ("Voor {who:~}", "Gegeven aan {who:~}, nog niet geopend"),
    "order.priority": ("Gaat voor", "Gaat voor: {who:~}", "Gaat voor op dit toestel, volgens {who:~}"),
    "order_actions.priority": ("Voorop", "Zet hem voorop", "Zet hem voorop in ronde en lijsten"),
    "order_actions.no_priority": ("Niet voorop", "Niet meer voorop"),
    "order_actions.split": ("Splits…", "Geef aan ander", "Splits de ronde: geef aan een ander"),
    "order_actions.split_to": ("Naar {name:~}", "Geef aan {name:~}"),
    "order_actions.warn_split": (
        "Alle {count}?",
        "Ze gaan uit hun ronde, met wat er van gepickt is in hun bakken. Beiden zien het.",
    ),
    "order_actions.done_priority": (
        "Gaat voor",
        "{order} gaat voor",
        "{order} gaat voor, op elk scherm van dit toestel",
    ),
    "order_actions.done_no_priority": ("Niet voorop", "{order} wacht weer op zijn beurt"),
    "order_actions.done_split": (
        "Naar {name:~}",
        "{order} gaat naar {name:~}",
        "{order} gaat naar {name:~}; beiden zien het",
    ),
    "order_actions.order_picked": ("Al gepickt", "Order {order} is al gepickt"),
    "order_actions.already_priority": ("Al voorop", "Order {order} gaat al voor"),
    "order_actions.not_priority": ("Niet voorop", "Order {order} stond niet voorop"),
    "order_actions.not_in_batch": ("In geen ronde", "Order {order} zit hier in geen ronde; wijs hem toe aan iemand"),
    "order_actions.already_picker": ("{name:~} heeft hem", "{name:~} heeft order {order} al"),
    "order.event_at": ("{what}, {place:~}",),
    "count.to_recounts": ("{count} gevraagd", "{count:hertelling|hertellingen} gevraagd"),
    "pick.left_not_put_down": (
        "{count} in de hand!",
        "{order}: {count} in de hand",
        "Order {order} is gepickt, maar {count} ervan nog op geen afhaalplek",
    ),
    "pick.left_not_put_down_batch": (
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
    "pick.no_location_at_all": (
        "Geen {code:~}",
        "Geen plek {code:~}",
        "Er is geen plek {code:~}; scan het etiket van een plek",
    ),
    "pick.put_down_refused": (
        "Niet op {place:~}",
        "Niet geboekt: {place:~}",
        "Niet geboekt op {place:~}, {order} is weer in de hand: {why:~}",
    ),
    "pick.reopened_order": (
        "{order} is open",
        "{order} is weer open",
        "Order {order} is weer open, niets gepickt; leg {count} terug en pick opnieuw",
    ),
    "pick.note_return_reopened": (
        "Leg {count} terug",
        "De order is weer open, niets gepickt: leg {count} terug en pick opnieuw.",
    ),
    "home.reopened": ("{order} is open", "{order} is weer open", "Order {order} is weer open, niets gepickt"),
    "pick.join": ("{what}", "{what} · {more}"),
    # Other people with the same order open
    "pick.changed_asked": (
        "Order gewijzigd",
        "{order} gewijzigd: vraag vervalt",
        "Order {order} is elders gewijzigd: wat hier gevraagd werd, vervalt",
    ),
    "pick.other_picker": (
        "{who:~} ook",
        "{who:~} pickt {order} ook",
        "{who:~} pickt order {order} ook; wat jullie beiden pakken, telt samen",
    ),
    "pick.other_picker_maybe": (
        "{who:~} had hem",
        "{who:~} pickt {order} misschien nog",
        "{who:~} had order {order} en pickt misschien nog; wat jullie beiden pakken, telt samen",
    ),
    "pick.other_picker_left": (
        "{who:~} is weg",
        "{who:~} heeft {order} verlaten",
        "{who:~} heeft order {order} verlaten; het gaat alleen verder",
    ),
    "pick.other_picker_left_goods": (
        "{who:~} weg: {count}",
        "{who:~} weg, met {count} in de hand",
        "{who:~} heeft order {order} verlaten met {count} ervan in de hand; het gaat alleen verder",
    ),
    "pick.note_other_pickers": ("Met {who:~}", "{who} pickt hem ook"),
    "pick.note_other_pickers_tote": ("{tote}: met {who:~}", "Bak {tote}: {who} pickt hem ook"),
    # Goods of orders that somebody else picks now
    "pick.choice_handed_over": ("Overgedragen", "Het is overgedragen"),
    "pick.choice_returned": ("Ligt terug", "Het ligt weer op zijn plek"),
    "pick.handed_over": ("Overgedragen", "{count} overgedragen", "Overgedragen: {count}, dat blijft gepickt"),
    "pick.note_others": ("{count} elders", "In de hand van een ander: {count}."),
    "pick.upcoming_goods_for_others": ("In de hand", "In jouw hand"),
    "pick.order_of_other_picker": ("Van een ander", "Iemand anders pickt deze order nu"),
    "home.not_put_down": (
        "{count} vast",
        "{count} vast, leg neer",
        "{count} vast, leg neer",
        "{count} vast, leg neer {due}",
    ),
    "pick.move_stop_undone": ("Op {place}", "Ongedaan: weer op {place}", "Ongedaan: {label:~} weer van {place}"),
    "pick.return_resolved": ("Afgehandeld", "Elders afgehandeld", "Wat te veel was, is elders afgehandeld"),
    "pick.prompt_check_at": ("Leg het daar; y", "Leg het op {place}, typ dan y"),
    "pick.choice_lies_there": ("Het ligt er", "Het ligt er nu"),
    "pick.lies_there": ("Het ligt er", "Alles ligt waar het geboekt is"),
    "pick.note_return_put_down_by_other_at": (
        "Leg er {count} neer",
        "Iemand anders zei dat er al {count} van ligt: leg daar neer wat je in de hand hebt.",
    ),
    "pick.put_down_by_other_at": (
        "Op {place}? {count}",
        "{count} geboekt op {place}",
        "Iemand anders boekte {count} van order {order} uit jouw hand op {place}: leg het daar neer",
    ),
    "pick.prompt_check": ("Vraag waar; typ y", "Vraag waar, leg het daar, typ y"),
    "pick.note_return_put_down_by_other": (
        "Vraag waar {count:ligt|liggen}",
        "Iemand anders legde er {count} van neer, niemand weet hier waar: vraag het, en leg daar wat je vasthebt.",
    ),
    "pick.put_down_by_other": (
        "Neergelegd? {count}",
        "{count} als neergelegd geboekt",
        "Iemand anders legde {count} van order {order} uit jouw hand neer, geen plek bekend: vraag waar",
    ),
    "pick.not_put_down_by_other": (
        "Weer in de hand",
        "{order} weer in de hand",
        "Order {order} is nergens meer neergelegd",
    ),
    "pick.goods_of_others": (
        "Niet bij jou",
        "Niet in jouw hand: {count}",
        "Niets in jouw hand, {count} bij iemand anders. Ligt het op {place}?",
    ),
    "pick.choice_put_down_others": ("Op {key}: ja", "Ja, alles ligt op {key}"),
}
