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
    "home.assigned": (
        "{order} is yours",
        "{who:~} gives you {order}",
        "{who:~} gives you order {order}; it is the first to pick",
    ),
    "home.assigned_many": (
        "{count} are yours",
        "{count} orders are yours",
        "{who:~} gives you {count} orders; they are the first to pick",
    ),
    "home.assigned_by": ("yours", "from {who:~}", "yours, from {who:~}", "yours, from {who:~} {due}"),
    "home.priority": ("first", "first {due}"),
    "batch.assigned": (
        "{count} from {who:~}",
        "{order} comes from {who:~}",
        "{who:~} gives you {count:order|orders}, {order} the first",
    ),
    "pick.assigned": (
        "{order} too?",
        "{who:~} gives you {order}",
        "{who:~} gives you order {order}. Take it into this round?",
    ),
    "pick.choice_later": ("Later", "Later, from the list"),
    "pick.reassigned": ("{who:~} has it", "{who:~} picks {order} now", "Order {order} was given to {who:~}"),
    "pick.removed_reassigned": (
        "{tote}: {who:~}",
        "{tote} goes to {who:~}",
        "Tote {tote}, {order}, was given to {who:~}; the others go on",
    ),
    "pick.note_return_reassigned": (
        "Hand over {count}",
        "Hand the tote with {count} to whoever has the order now, or lay it down for them and scan the place.",
    ),
    "pick.priority": ("It is urgent", "{order} is urgent", "{who:~} says that order {order} is urgent"),
    "pick.priority_batch": (
        "{tote} goes first",
        "{tote} goes first: {who:~}",
        "Tote {tote}, {order}, goes first after this stop ({who:~})",
    ),
    "pick.no_priority": ("Not urgent", "{order} is not urgent", "Order {order} is not urgent any more"),
    "pick.released": (
        "{order} is free",
        "{order} was released",
        "Order {order} was released; what you pick next claims it again",
    ),
    "orders.priority": ("1st {state}", "first, {state}"),
    "order.in_batch_of": ("With {who:~}", "With {who:~} right now"),
    "order.assigned_to": ("For {who:~}", "Given to {who:~}, not opened yet"),
    "order.priority": ("Goes first", "Goes first, says {who:~}", "Goes first on this host, says {who:~}"),
    "order_actions.priority": ("Put first", "Put it first", "Put it first in its walk and in the lists"),
    "order_actions.no_priority": ("Not first", "Not first any more"),
    "order_actions.split": ("Split to…", "Give to another", "Split the walk: give it to another"),
    "order_actions.split_to": ("To {name:~}", "Give to {name:~}"),
    "order_actions.warn_split": (
        "All {count}?",
        "They leave the round that they are in, with what is picked of them in their totes. Both people are told.",
    ),
    "order_actions.done_priority": (
        "Goes first",
        "{order} goes first",
        "{order} goes first, on every screen of this host",
    ),
    "order_actions.done_no_priority": ("Not first", "{order} waits its turn again"),
    "order_actions.done_split": ("To {name:~}", "{order} goes to {name:~}", "{order} goes to {name:~}; both are told"),
    "order_actions.order_picked": ("It is picked", "Order {order} is picked already"),
    "order_actions.already_priority": ("Is first", "Order {order} goes first already"),
    "order_actions.not_priority": ("Not first", "Order {order} was not put first"),
    "order_actions.not_in_batch": ("In no round", "Order {order} is in nobody's round here; claim it for somebody"),
    "order_actions.already_picker": ("{name:~} has it", "{name:~} has order {order} already"),
    "order.event_at": ("{what}, {place:~}",),
    "count.to_recounts": ("{count} asked", "{count:recount|recounts} asked"),
    "pick.left_not_put_down": (
        "{count} in hand!",
        "{order}: {count} in hand",
        "Order {order} is picked, but {count:of it lies|of it lie} at no pick-up place yet",
    ),
    "pick.left_not_put_down_batch": (
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
    "pick.no_location_at_all": (
        "No {code:~}",
        "No place {code:~}",
        "There is no place {code:~}; scan the label of one",
    ),
    "pick.put_down_refused": (
        "Not at {place:~}",
        "Not put at {place:~}",
        "Not booked at {place:~}, {order} is in hand again: {why:~}",
    ),
    "pick.reopened_order": (
        "{order} is open",
        "{order} is open again",
        "Order {order} is open again, with nothing picked; put {count} back, then pick it anew",
    ),
    "pick.note_return_reopened": (
        "Put back {count}",
        "The order is open again, with nothing picked: put back {count}, then pick it anew.",
    ),
    "home.reopened": ("{order} is open", "{order} is open again", "Order {order} is open again, with nothing picked"),
    "pick.join": ("{what}", "{what} · {more}"),
    # Other people with the same order open
    "pick.changed_asked": (
        "Order changed",
        "{order} changed: the question is off",
        "Order {order} was changed elsewhere: what was asked here is off",
    ),
    "pick.other_picker": (
        "{who:~} too",
        "{who:~} picks {order} too",
        "{who:~} picks order {order} too; what you both take is added up",
    ),
    "pick.other_picker_maybe": (
        "{who:~} had it",
        "{who:~} may still pick {order}",
        "{who:~} had order {order} and may still pick it; what you both take is added up",
    ),
    "pick.other_picker_left": (
        "{who:~} left it",
        "{who:~} has left {order}",
        "{who:~} has left order {order}; you go on alone",
    ),
    "pick.other_picker_left_goods": (
        "{who:~} left {count}",
        "{who:~} left with {count} in hand",
        "{who:~} has left order {order} with {count} of it in hand; you go on alone",
    ),
    "pick.note_other_pickers": ("With {who:~}", "{who} picks it too"),
    "pick.note_other_pickers_tote": ("{tote}: with {who:~}", "Tote {tote}: {who} picks it too"),
    # Goods of orders that somebody else picks now
    "pick.choice_handed_over": ("Handed over", "It is handed over"),
    "pick.choice_returned": ("It is back", "It is back where it was"),
    "pick.handed_over": ("Handed over", "{count} handed over", "Handed over: {count}, which stay picked"),
    "pick.note_others": ("{count} elsewhere", "In somebody else's hand: {count}."),
    "pick.upcoming_goods_for_others": ("In hand", "In your hand"),
    "pick.order_of_other_picker": ("Not yours now", "Somebody else picks this order now"),
    "home.not_put_down": (
        "{count} in hand",
        "{count} in hand, put down",
        "{count} in hand, put down",
        "{count} in hand, put down {due}",
    ),
    "pick.move_stop_undone": ("At {place}", "Undone: at {place} again", "Undone: {label:~} is taken at {place} again"),
    "pick.return_resolved": ("Settled", "Settled elsewhere", "What was too many is settled elsewhere"),
    "pick.prompt_check_at": ("Lay it there; y", "Lay it at {place}, then type y"),
    "pick.choice_lies_there": ("It lies there", "It lies there now"),
    "pick.lies_there": ("It lies there", "All of it lies where it is booked"),
    "pick.note_return_put_down_by_other_at": (
        "Lay {count} there",
        "Somebody else said that {count:of it lies|of it lie} there already: lay there what you have in hand.",
    ),
    "pick.put_down_by_other_at": (
        "At {place}? {count}",
        "{count} booked at {place}",
        "Somebody else booked {count} of order {order} at {place}, out of your hand: lay that there",
    ),
    "pick.prompt_check": ("Ask where it lies; y", "Ask where, lay it there, type y"),
    "pick.note_return_put_down_by_other": (
        "Ask where {count:lies|lie}",
        "Somebody else has put {count} of it down, nobody here knows where: ask, and lay there what you have in hand.",
    ),
    "pick.put_down_by_other": (
        "Put down? {count}",
        "{count} booked as put down",
        "Somebody else put down {count} of order {order}, out of your hand, no place is known: ask where",
    ),
    "pick.not_put_down_by_other": (
        "In hand again",
        "{order} is in hand again",
        "Order {order} is booked at no place any more",
    ),
    "pick.goods_of_others": (
        "Not in your hand",
        "Not in your hand: {count}",
        "Nothing in your hand, {count} in somebody else's hand. Does it lie at {place}?",
    ),
    "pick.choice_put_down_others": ("At {key}: yes", "Yes, all of it is at {key}"),
}
