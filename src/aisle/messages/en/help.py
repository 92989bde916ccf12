"""English messages: help, and the list of commands."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "hint.help": "Help",
    "help.title": "Help",
    "help.prompt": ("Read, or go on", "Read, or go on with the job"),
    "help.purpose": ("Now", "What is to be done"),
    "help.accepts": ("Scan, type", "Scan or type"),
    "help.letters": ("Letters", "Letters, each with Enter"),
    "help.always": ("Always", "On every page"),
    "help.letter": "{letter}: {text}",
    "help.look_up_key": "? before a scan looks it up",
    "help.palette_key": "{key} lists all commands",
    "help.back": "{key}, Backspace or Esc: back",
    "help.product": "a product",
    "help.location": "a place",
    "help.order": "an order",
    "help.delivery": "a delivery or its container",
    "help.badge": "a badge",
    "help.number": "a number of the list",
    "help.choice_letter": "the letter of a choice",
    "help.quantity": "how many, or 3*4",
    "help.times": "12* and a scan: twelve",
    "help.text": "words",
    "help.anything": "what the page asks for",
    "help.sign_in": (
        "Scan your badge, or type your name or a part of it. What you left open opens again on the same step."
    ),
    "help.pin": (
        "What only a supervisor does needs your PIN: once, then not for a while. Type it key by key; a scan is none. "
        "Without the service it is noted, and waits. {b} leaves it undone."
    ),
    "help.home": (
        "Everything starts here. Scan an order to pick it, a product to look it up, a place to see what lies "
        "there, or a delivery to receive it. Words find orders and products. Numbers are the jobs. "
        "{u} undoes what you did last."
    ),
    "help.pick_wait": "The lines of this order are being fetched. Wait a moment, or go back and take another order.",
    "help.pick_location": (
        "Go to the place on the screen and scan it. If it is empty or blocked, {s} says so and shows other places."
    ),
    "help.pick_product": (
        "Take the product that the screen names and scan each piece, or scan one and type how many in all: a "
        "number is always that. Letters answer what is asked. A wrong product changes nothing. When the line is "
        "complete, the next one comes by itself."
    ),
    "help.pick_done": (
        "Nothing is left to pick here. Put what was picked down where the customer gets it and scan that place, "
        "or scan the next order."
    ),
    "help.pick_return": (
        "These goods are in your hands, and you pick them for no order now. Put them back where they were, or hand"
        " them to whoever picks the order; the letter you type says which."
    ),
    "help.batch": (
        "Put several orders into one round: scan them, or type how many. Each gets a tote with a letter; a number "
        "that is no order is asked about before it is a tote's. {g} starts the round in the order of your steps."
    ),
    "help.look_up_list": (
        "Find a product: scan it, or type two or more letters of its name, its number or the end of its barcode. "
        "Numbers open it."
    ),
    "help.look_up_product": (
        "All that is known of this product: where it lies, how many, what the stores around have. Another scan "
        "shows the next product; numbers and letters start work with it."
    ),
    "help.locations_list": (
        "The places of the store in walking order. Scan one, type a part of its code, or choose its number to see "
        "what lies there."
    ),
    "help.locations_location": (
        "What should lie at this place. {n} and {p} lead to the places beside it; a scanned product is marked if "
        "it belongs here."
    ),
    "help.note": "What the customer wrote, whole. {b} goes back to the job.",
    "help.move_from": "Where do the goods lie now? Scan that place, or scan the product and choose the place.",
    "help.move_take": (
        "Scan what you take from here; each scan is one more, a number sets how many, letters answer what is "
        "asked. Then scan the place where it goes."
    ),
    "help.move_load": "Load the cart: scan place and products, as many as you like. {d} starts putting them away.",
    "help.move_put": (
        "Bring it to its place and scan that place; a product before it says which of the goods is put down here."
    ),
    "help.move_question": (
        "One thing is missing before the goods can be moved. Choose what stands on the page; {b} drops the question."
    ),
    "help.count_start": (
        "What is to be counted? Scan a place to count all that lies there, or a product. The numbers lead to what "
        "is to be counted, to losses, and to what was counted."
    ),
    "help.count_list": (
        "Count what the list names, from top to bottom or as you come by: scan a place or a product, or choose "
        "its number."
    ),
    "help.count": (
        "Scan every piece, or scan one and type how many there are: a number is always that, and the last one "
        "stands. Letters answer what is asked. The next product or place closes this one; {u} takes the last step "
        "back."
    ),
    "help.count_recount": (
        "This differs much from the books. Count it once more; the second count stands, whatever it is."
    ),
    "help.count_summary": "What was counted and how it differs. Scan the next place, or go back.",
    "help.adjust": (
        "Say what was lost or found: scan the product, say how many and choose why. A number is always how many, "
        "letters answer what is asked. The stock follows at once."
    ),
    "help.shortage": (
        "There is not enough here. Choose another place to go to, or say why the line stays short; the reason "
        "goes along with the order."
    ),
    "help.my_entries": (
        "What you counted and wrote, and what became of it. A number opens an entry; there it can be taken back."
    ),
    "help.scanner_test": (
        "Scan anything: this page shows what the scanner sends and what it would mean. Nothing happens to the store."
    ),
    "help.unconfirmed": "What could not be settled without you. A number opens one and shows what both sides say.",
    "help.unconfirmed_entry": (
        "Read what was meant and what the service says, look at the goods if need be, and choose a way out by its "
        "number."
    ),
    "help.orders": (
        "All orders of the store. Words and scans find one, a number opens it. {f} filters and sorts, {v} has "
        "views, {m} marks several, {d} does something with them."
    ),
    "help.orders_filter": "Choose what the board shows: a number changes a filter. {b} goes back to the board.",
    "help.orders_views": "Filters that are kept under a name. A number takes one of them.",
    "help.order_page": (
        "One order with its customer, lines, picks and history. Numbers do something with it: release, reject, "
        "hand over, give to somebody."
    ),
    "help.order_actions": (
        "Choose what is to be done with these orders, and why where that is asked. Nothing happens before the "
        "last question."
    ),
    "help.order_actions_results": "What became of each order. {u} takes back what can be taken back.",
    "help.exceptions": (
        "What a supervisor has to settle: differences, stock that cannot be, orders that are stuck. A number "
        "opens a kind, then the case, where it can be settled."
    ),
    "help.receive_delivery": (
        "Which delivery has come? Scan its number or a container of it, or choose it from the list."
    ),
    "help.receive_goods": (
        "Scan what comes out of the delivery; each scan is one more, a number sets how many, letters answer what "
        "is asked. Scan a place to put it away there, or the next product to leave it standing."
    ),
    "help.receive_check": (
        "What came and what differs. Look at the differences, then choose: go on, close it, or leave it for later."
    ),
    "help.deliveries": (
        "Deliveries that are expected or came, and their receipts. A scan or a number opens one; {v} changes what "
        "is listed."
    ),
    "help.log": (
        "What happened to the goods, newest first. {f} filters, {e} writes the list to a file, {g} draws the "
        "losses; a number opens an entry."
    ),
    "help.log_filter": (
        "Choose by which field the log is filtered, then the value: from the list, by a scan, or typed."
    ),
    "help.log_export": (
        "Type the name of the file that the list is written to. A file that is there already is asked about first."
    ),
    "help.stores": "The stores of the chain. Words find one, a number opens its page.",
    "help.stores_change": (
        "Choose the store that this terminal works in from now on. What is open or not sent here stays here, and "
        "is sent."
    ),
    "help.products": (
        "The catalogue of the chain. Words and scans find products, {v} {c} and {s} filter them; a number opens "
        "all that is known of one."
    ),
    "help.clearance": (
        "Choose which goods that wait for customers are to be cleared. Nothing is cleared before it is confirmed "
        "by typing."
    ),
    "help.clearance_request": (
        "This cannot be taken back. Type what the screen asks for, letter by letter; {b} leaves everything as it is."
    ),
    "help.clearance_request_done": (
        "What was cleared, and which goods are to be moved now. They are on the list of goods to move."
    ),
    "help.clearance_tasks": (
        "Goods that a clearance wants moved. Choose one by number, or scan its place or the product, and bring it "
        "where it belongs."
    ),
    "help.today": "How the day goes: orders, people, places, terminals. A number shows more of one of them.",
    "help.store_product": (
        "What this store has set for the product, and its figures. A number changes a value, within what your "
        "role allows."
    ),
    "help.store_product_value": (
        "Type the new value, or choose one. It is shown once more before it is sent; {b} leaves the old one."
    ),
    "help.help": "This page tells what the page below is for. Go on with the job, or go back.",
    "help.palette": (
        "All that can be done from here. Type a word of it, then its number. A scan goes to the job as if this "
        "page were not there."
    ),
    "palette.title": "Commands",
    "palette.prompt": ("Number or words", "Type its number, or words to find it"),
    "palette.head": "Command",
    "palette.head_key": ("Key", "Key here"),
    "palette.empty": "No command is called so.",
    "palette.no_such": ("Not found", "No command “{text:~}”"),
    "palette.language": ("{name}", "Language: {name}"),
    "palette.theme": ("{name}", "Colours: {name}"),
    "palette.language_set": ("{what}", "{what}, the next time too"),
    "palette.preference_set": ("{what}", "{what}, until you sign out"),
    "theme.lean": "of the terminal",
    "theme.light": "light",
    "theme.dark": "dark",
    "theme.contrast": "high contrast",
}
