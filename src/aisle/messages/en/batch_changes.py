"""English messages: supervisors' changes to batches, and their notifications."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    # Before sign-out
    "home.in_hand": (
        "{count} in hand. Again?",
        "{count} not put down. The same again signs out",
        "Picked and not put down: {count} of order {orders:~}. The same once more signs out.",
    ),
    "home.in_hand_unsent": (
        "{count} in hand. Again?",
        "{count} not put down, {unsent} not sent. The same again signs out",
        "Not put down: {count} of order {orders:~}; not sent yet: {unsent}. The same once more signs out.",
    ),
    # Orders that were assigned
    "home.given": (
        "{order} is yours",
        "{who:~} gives you {order}",
        "{who:~} gives you order {order}; it is the first to pick",
    ),
    "home.given_many": (
        "{count} are yours",
        "{count} orders are yours",
        "{who:~} gives you {count} orders; they are the first to pick",
    ),
    "home.yours": ("yours", "from {who:~}", "yours, from {who:~}", "yours, from {who:~} {due}"),
    "home.urgent": ("first", "first {due}"),
    "walk.given": (
        "{count} from {who:~}",
        "{order} comes from {who:~}",
        "{who:~} gives you {count:order|orders}, {order} the first",
    ),
    "pick.given": (
        "{order} too?",
        "{who:~} gives you {order}",
        "{who:~} gives you order {order}. Take it into this round?",
    ),
    "pick.way_later": ("Later", "Later, from the list"),
    "pick.given_now": ("{who:~} has it", "{who:~} picks {order} now", "Order {order} was given to {who:~}"),
    "pick.out_given": (
        "{tote}: {who:~}",
        "{tote} goes to {who:~}",
        "Tote {tote}, {order}, was given to {who:~}; the others go on",
    ),
    "pick.note_back_given": (
        "Hand over {count}",
        "Hand the tote with {count} to whoever has the order now, or lay it down for them and scan the place.",
    ),
    "pick.urgent": ("It is urgent", "{order} is urgent", "{who:~} says that order {order} is urgent"),
    "pick.urgent_round": (
        "{tote} goes first",
        "{tote} goes first: {who:~}",
        "Tote {tote}, {order}, goes first after this stop ({who:~})",
    ),
    "pick.not_urgent": ("Not urgent", "{order} is not urgent", "Order {order} is not urgent any more"),
    "pick.released": (
        "{order} is free",
        "{order} was released",
        "Order {order} was released; what you pick next claims it again",
    ),
    "orders.urgent": ("1st {state}", "first, {state}"),
    "order.in_walk": ("With {who:~}", "With {who:~} right now"),
    "order.given_to": ("For {who:~}", "Given to {who:~}, not opened yet"),
    "order.urgent": ("Goes first", "Goes first, says {who:~}", "Goes first on this host, says {who:~}"),
    "act.urgent": ("Put first", "Put it first", "Put it first in its walk and in the lists"),
    "act.calm": ("Not first", "Not first any more"),
    "act.split": ("Split to…", "Give to another", "Split the walk: give it to another"),
    "act.split_to": ("To {name:~}", "Give to {name:~}"),
    "act.warn_split": (
        "All {count}?",
        "They leave the round that they are in, with what is picked of them in their totes. Both people are told.",
    ),
    "act.told_urgent": ("Goes first", "{order} goes first", "{order} goes first, on every screen of this host"),
    "act.told_calm": ("Not first", "{order} waits its turn again"),
    "act.told_split": ("To {name:~}", "{order} goes to {name:~}", "{order} goes to {name:~}; both are told"),
    "deed.is_picked": ("It is picked", "Order {order} is picked already"),
    "deed.already_urgent": ("Is first", "Order {order} goes first already"),
    "deed.not_urgent": ("Not first", "Order {order} was not put first"),
    "deed.in_no_walk": ("In no round", "Order {order} is in nobody's round here; claim it for somebody"),
    "deed.walks_already": ("{name:~} has it", "{name:~} has order {order} already"),
    "order.past_at": ("{what}, {place:~}",),
    "count.to_recounts": ("{count} asked", "{count:recount|recounts} asked"),
    "pick.left_lying": (
        "{count} in hand!",
        "{order}: {count} in hand",
        "Order {order} is picked, but {count:of it lies|of it lie} at no pick-up place yet",
    ),
    "pick.left_lying_round": (
        "{count} in hand!",
        "{totes}: {count} in hand",
        "All picked; at no pick-up place yet: {count} in tote {totes}",
    ),
    "pick.no_pickup": (
        "No {code:~}; 1?",
        "No place {code:~}; {place}?",
        "There is no place {code:~}. These are the pick-up places:",
    ),
    "pick.no_pickup_more": (
        "No {code:~}; 1?",
        "No place {code:~}; {place}?",
        "No place {code:~}. {shown} of {count} pick-up places:",
        "There is no place {code:~}. These are {shown} of {count} pick-up places:",
    ),
    "pick.no_place_at_all": ("No {code:~}", "No place {code:~}", "There is no place {code:~}; scan the label of one"),
    "pick.put_refused": (
        "Not at {place:~}",
        "Not put at {place:~}",
        "Not booked at {place:~}, {order} is in hand again: {why:~}",
    ),
    "pick.open_again": (
        "{order} is open",
        "{order} is open again",
        "Order {order} is open again, with nothing picked; put {count} back, then pick it anew",
    ),
    "pick.note_back_reopened": (
        "Put back {count}",
        "The order is open again, with nothing picked: put back {count}, then pick it anew.",
    ),
    "home.open_again": ("{order} is open", "{order} is open again", "Order {order} is open again, with nothing picked"),
    "pick.told_both": ("{what}", "{what} · {more}"),
    # Other people with the same order open
    "pick.changed_asked": (
        "Order changed",
        "{order} changed: the question is off",
        "Order {order} was changed elsewhere: what was asked here is off",
    ),
    "pick.beside": (
        "{who:~} too",
        "{who:~} picks {order} too",
        "{who:~} picks order {order} too; what you both take is added up",
    ),
    "pick.beside_maybe": (
        "{who:~} had it",
        "{who:~} may still pick {order}",
        "{who:~} had order {order} and may still pick it; what you both take is added up",
    ),
    "pick.beside_left": (
        "{who:~} left it",
        "{who:~} has left {order}",
        "{who:~} has left order {order}; you go on alone",
    ),
    "pick.beside_left_hand": (
        "{who:~} left {count}",
        "{who:~} left with {count} in hand",
        "{who:~} has left order {order} with {count} of it in hand; you go on alone",
    ),
    "pick.note_beside": ("With {who:~}", "{who} picks it too"),
    "pick.note_beside_tote": ("{tote}: with {who:~}", "Tote {tote}: {who} picks it too"),
    # Goods of orders that somebody else picks now
    "pick.way_handed_over": ("Handed over", "It is handed over"),
    "pick.way_is_back": ("It is back", "It is back where it was"),
    "pick.handed_over": ("Handed over", "{count} handed over", "Handed over: {count}, which stay picked"),
    "pick.note_others": ("{count} elsewhere", "In somebody else's hand: {count}."),
    "pick.ahead_hand": ("In hand", "In your hand"),
    "pick.order_passed_on": ("Not yours now", "Somebody else picks this order now"),
    "home.lying": (
        "{count} in hand",
        "{count} in hand, put down",
        "{count} in hand, put down",
        "{count} in hand, put down {due}",
    ),
    "pick.in_place_again": ("At {place}", "Undone: at {place} again", "Undone: {label:~} is taken at {place} again"),
    "pick.back_settled": ("Settled", "Settled elsewhere", "What was too many is settled elsewhere"),
    "pick.prompt_laid": ("Lay it there; y", "Lay it at {place}, then type y"),
    "pick.way_is_laid": ("It lies there", "It lies there now"),
    "pick.laid_there": ("It lies there", "All of it lies where it is booked"),
    "pick.note_back_laid": (
        "Lay {count} there",
        "Somebody else said that {count:of it lies|of it lie} there already: lay there what you have in hand.",
    ),
    "pick.back_laid": (
        "At {place}? {count}",
        "{count} booked at {place}",
        "Somebody else booked {count} of order {order} at {place}, out of your hand: lay that there",
    ),
    "pick.prompt_laid_unsaid": ("Ask where it lies; y", "Ask where, lay it there, type y"),
    "pick.note_back_laid_unsaid": (
        "Ask where {count:lies|lie}",
        "Somebody else has put {count} of it down, nobody here knows where: ask, and lay there what you have in hand.",
    ),
    "pick.back_laid_unsaid": (
        "Put down? {count}",
        "{count} booked as put down",
        "Somebody else put down {count} of order {order}, out of your hand, no place is known: ask where",
    ),
    "pick.back_not_laid": ("In hand again", "{order} is in hand again", "Order {order} is booked at no place any more"),
    "pick.put_others": (
        "Not in your hand",
        "Not in your hand: {count}",
        "Nothing in your hand, {count} in somebody else's hand. Does it lie at {place}?",
    ),
    "pick.way_put_others": ("At {key}: yes", "Yes, all of it is at {key}"),
}
