"""Dutch messages: help, and the list of commands."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "hint.help": "Hulp",
    "help.title": "Hulp",
    "help.prompt": ("Lees, of ga verder", "Lees, of ga verder met het werk"),
    "help.purpose": ("Nu", "Wat er te doen is"),
    "help.accepts": ("Scan, typ", "Scannen of typen"),
    "help.letters": ("Tekens", "Letters, elk met Enter"),
    "help.always": ("Altijd", "Op elke pagina"),
    "help.letter": "{letter}: {text}",
    "help.look_up_key": "? voor een scan zoekt op",
    "help.palette_key": "{key} toont alle opdrachten",
    "help.back": "{key}, Backspace of Esc: terug",
    "help.product": "een artikel",
    "help.location": "een plek",
    "help.order": "een order",
    "help.delivery": "een levering of een container ervan",
    "help.badge": "een badge",
    "help.number": "een nummer uit de lijst",
    "help.choice_letter": "de letter van een keuze",
    "help.quantity": "hoeveel, of 3*4",
    "help.times": "12* en een scan: twaalf",
    "help.text": "woorden",
    "help.anything": "wat de pagina vraagt",
    "help.sign_in": "Scan je badge, of typ je naam of een deel ervan. Wat nog openstond, gaat open bij dezelfde stap.",
    "help.pin": (
        "Wat alleen de leiding mag, vraagt de eigen pincode: eenmaal, daarna een tijd niet. Typ die toets voor toets; "
        "een scan is er geen. Zonder server wordt het genoteerd en wacht het. {b} laat het ongedaan."
    ),
    "help.home": (
        "Alles begint hier. Scan een order om te picken, een artikel om het op te zoeken, een plek om te zien wat "
        "er ligt, of een levering om te ontvangen. Woorden vinden orders en artikelen. Nummers zijn het werk. "
        "{u} maakt ongedaan wat je het laatst deed."
    ),
    "help.pick_wait": "De regels van deze order worden opgehaald. Wacht even, of ga terug en neem een andere order.",
    "help.pick_location": (
        "Ga naar de plek op het scherm en scan die. Is die leeg of versperd, dan meldt {s} dat en toont andere plekken."
    ),
    "help.pick_product": (
        "Pak het artikel dat het scherm noemt en scan elk stuk, of scan er een en typ hoeveel in totaal: dat is "
        "een getal altijd. Letters beantwoorden een vraag. Een verkeerd artikel verandert niets. Is de regel "
        "klaar, dan komt de volgende vanzelf."
    ),
    "help.pick_done": (
        "Hier valt niets meer te picken. Zet wat gepickt is op de afhaalplek en scan die plek, of scan de volgende "
        "order."
    ),
    "help.pick_return": (
        "Deze goederen heb je in de hand en pick je voor geen order meer. Leg ze terug waar ze lagen, of geef ze "
        "aan wie de order nu pickt; de letter die je typt zegt welke van de twee."
    ),
    "help.batch": (
        "Doe meerdere orders in één ronde: scan ze, of typ hoeveel. Elk krijgt een bak met een letter; bij een "
        "nummer dat geen order is wordt gevraagd of het een bak is. {g} begint de ronde in looproute."
    ),
    "help.look_up_list": (
        "Zoek een artikel: scan het, of typ twee of meer letters van de naam, het nummer of het eind van de "
        "barcode. Een nummer opent het."
    ),
    "help.look_up_product": (
        "Alles wat bekend is van dit artikel: waar het ligt, hoeveel, en wat winkels in de buurt hebben. Een scan "
        "toont het volgende; nummers en letters beginnen er werk mee."
    ),
    "help.locations_list": (
        "De plekken van de winkel in looproute. Scan er een, typ een deel van de code, of kies het nummer om te "
        "zien wat er ligt."
    ),
    "help.locations_location": (
        "Wat op deze plek hoort te liggen. {n} en {p} gaan naar de plekken ernaast; een gescand artikel wordt "
        "getoond als het hier hoort."
    ),
    "help.note": "Wat de klant schreef, in zijn geheel. {b} gaat terug naar het werk.",
    "help.move_from": "Waar liggen de goederen nu? Scan die plek, of scan het artikel en kies de plek.",
    "help.move_take": (
        "Scan wat je hier weghaalt; elke scan is er een meer, een getal zet het aantal, letters beantwoorden een "
        "vraag. Scan daarna de plek waar het heen gaat."
    ),
    "help.move_load": "Laad de kar: scan plek en artikelen, zoveel je wilt. {d} begint met inruimen.",
    "help.move_put": "Breng het naar zijn plek en scan die; een artikel ervoor zegt wat hier wordt neergelegd.",
    "help.move_question": (
        "Er ontbreekt nog iets voor de goederen verplaatst kunnen worden. Kies wat op de pagina staat; {b} laat de"
        " vraag vallen."
    ),
    "help.count_start": (
        "Wat moet geteld worden? Scan een plek om alles daar te tellen, of een artikel. De nummers leiden naar "
        "wat te tellen is, naar derving, en naar wat geteld is."
    ),
    "help.count_list": (
        "Tel wat de lijst noemt, van boven naar beneden of zoals het uitkomt: scan een plek of artikel, of kies "
        "het nummer."
    ),
    "help.count": (
        "Scan elk stuk, of scan er een en typ hoeveel er zijn: dat is een getal altijd, en het laatste geldt. "
        "Letters beantwoorden een vraag. Het volgende artikel of de volgende plek sluit dit af; {u} maakt de "
        "laatste stap ongedaan."
    ),
    "help.count_recount": (
        "Dit wijkt sterk af van het systeem. Tel nog een keer; de tweede telling geldt, wat het ook is."
    ),
    "help.count_summary": "Wat geteld is en hoe het verschilt. Scan de volgende plek, of ga terug.",
    "help.adjust": (
        "Meld wat verloren of gevonden is: scan het artikel, zeg hoeveel en kies waarom. Een getal is altijd "
        "hoeveel, letters beantwoorden een vraag. De voorraad volgt meteen."
    ),
    "help.shortage": (
        "Hier is te weinig. Kies een andere plek, of zeg waarom de regel tekort blijft; de reden gaat met de order mee."
    ),
    "help.my_entries": (
        "Wat je telde en meldde, en wat ervan werd. Een nummer opent een boeking; daar kan die worden ingetrokken."
    ),
    "help.scanner_test": (
        "Scan wat je wilt: deze pagina toont wat de scanner stuurt en wat het zou betekenen. Met de winkel "
        "gebeurt niets."
    ),
    "help.unconfirmed": (
        "Wat niet zonder jou geregeld kan worden. Een nummer opent er een en toont wat beide kanten zeggen."
    ),
    "help.unconfirmed_entry": (
        "Lees wat bedoeld was en wat de server zegt, kijk zo nodig bij de goederen, en kies een uitweg met het nummer."
    ),
    "help.orders": (
        "Alle orders van de winkel. Woorden en scans vinden er een, een nummer opent. {f} filtert en sorteert, "
        "{v} heeft weergaven, {m} kiest er meer, {d} doet er iets mee."
    ),
    "help.orders_filter": "Kies wat het bord toont: een nummer wijzigt een filter. {b} gaat terug naar het bord.",
    "help.orders_views": "Filters die onder een naam bewaard zijn. Een nummer neemt er een.",
    "help.order_page": (
        "Eén order met klant, regels, picks en geschiedenis. Nummers doen er iets mee: vrijgeven, afwijzen, "
        "meegeven, aan iemand toewijzen."
    ),
    "help.order_actions": (
        "Kies wat er met deze orders moet gebeuren, en waarom als dat gevraagd wordt. Voor de laatste vraag "
        "gebeurt er niets."
    ),
    "help.order_actions_results": "Wat er van elke order is geworden. {u} neemt terug wat terug kan.",
    "help.exceptions": (
        "Wat een leidinggevende moet regelen: verschillen, onmogelijke voorraad, orders die vastzitten. Een "
        "nummer opent een soort, dan het geval."
    ),
    "help.receive_delivery": "Welke levering is er? Scan het nummer of een container ervan, of kies uit de lijst.",
    "help.receive_goods": (
        "Scan wat uit de levering komt; elke scan is er een meer, een getal zet het aantal, letters beantwoorden "
        "een vraag. Scan een plek om het daar te leggen, of het volgende artikel."
    ),
    "help.receive_check": (
        "Wat er kwam en wat verschilt. Bekijk de verschillen en kies dan: verder, afsluiten, of later."
    ),
    "help.deliveries": (
        "Leveringen die verwacht worden of er zijn, en hun ontvangsten. Een scan of nummer opent er een; {v} wisselt "
        "wat er staat."
    ),
    "help.log": (
        "Wat er met de goederen gebeurde, nieuwste eerst. {f} filtert, {e} schrijft de lijst naar een bestand, "
        "{g} tekent de derving; een nummer opent een boeking."
    ),
    "help.log_filter": "Kies op welk veld het logboek filtert, dan de waarde: uit de lijst, met een scan, of getypt.",
    "help.log_export": "Typ de naam van het bestand voor de lijst. Bestaat het al, dan wordt dat eerst gevraagd.",
    "help.stores": "De winkels van de keten. Woorden vinden er een, een nummer opent de pagina.",
    "help.stores_change": (
        "Kies de winkel waar deze terminal voortaan werkt. Wat hier open of niet verzonden is, blijft hier en "
        "wordt verzonden."
    ),
    "help.products": (
        "De catalogus van de keten. Woorden en scans vinden artikelen, {v} {c} en {s} filteren; een nummer opent "
        "alles wat van een artikel bekend is."
    ),
    "help.clearance": "Kies welk klantgoed geruimd wordt. Niets wordt geruimd voordat het getypt bevestigd is.",
    "help.clearance_request": "Dit kan niet terug. Typ precies wat het scherm vraagt; {b} laat alles zoals het is.",
    "help.clearance_request_done": (
        "Wat geruimd is, en welke goederen nu verplaatst moeten worden. Ze staan op de lijst van te verplaatsen "
        "goederen."
    ),
    "help.clearance_tasks": (
        "Goederen die na het ruimen verplaatst moeten worden. Kies er een met het nummer, of scan plek of "
        "artikel, en breng het weg."
    ),
    "help.today": "Hoe de dag gaat: orders, mensen, plekken, terminals. Een nummer toont er meer van.",
    "help.store_product": (
        "Wat deze winkel voor het artikel heeft ingesteld, en de cijfers. Een nummer wijzigt een waarde, zover je "
        "rol dat toelaat."
    ),
    "help.store_product_value": (
        "Typ de nieuwe waarde, of kies er een. Ze wordt nog eens getoond voor ze verzonden wordt; {b} laat de "
        "oude staan."
    ),
    "help.help": "Deze pagina vertelt waar de pagina eronder voor is. Ga verder met het werk, of ga terug.",
    "help.palette": (
        "Alles wat vanaf hier kan. Typ een woord ervan, dan het nummer. Een scan gaat naar het werk alsof deze "
        "pagina er niet is."
    ),
    "palette.title": "Opdrachten",
    "palette.prompt": ("Nummer of woorden", "Typ het nummer, of woorden om te zoeken"),
    "palette.head": "Opdracht",
    "palette.head_key": ("Toets", "Toets hier"),
    "palette.empty": "Geen opdracht heet zo.",
    "palette.no_such": ("Niet gevonden", "Geen opdracht “{text:~}”"),
    "palette.language": ("{name}", "Taal: {name}"),
    "palette.theme": ("{name}", "Kleuren: {name}"),
    "palette.language_set": ("{what}", "{what}, ook de volgende keer"),
    "palette.preference_set": ("{what}", "{what}, tot het afmelden"),
    "theme.lean": "van de terminal",
    "theme.light": "licht",
    "theme.dark": "donker",
    "theme.contrast": "hoog contrast",
}
