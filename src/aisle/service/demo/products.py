"""Products of the demo store: the catalogue of a small shop as create bodies. Brands are invented.

Barcodes are in GS1's ranges for examples (952) and restricted circulation (2), so none belongs to a real product.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any, NamedTuple

from aisle.barcode_keys import check_digit

Body = dict[str, Any]


class Category(NamedTuple):
    code: str
    name: str
    zone: str
    is_expiration: bool


# A line with `=` is a category: code; name; zone of its locations; `dates` if dates are watched. Each other line is a
# family of products: brand; name; variants, each a product; size; price; marks. Marks: case=N and pack=N add a case or
# multipack barcode, twin two more barcodes, ean8 a short one, att=CODE an attention code, kg sale by weight.
_CATALOGUE_TEXT = """
= 110; Breakfast; A; dates
Hillmoor; Müsli; Berry, Nut, Apple and cinnamon, No added sugar, Seeds; 500 g; 3.49; case=8
Hillmoor; Porridge oats; Fine, Jumbo, Gluten free; 1 kg; 2.29; case=10
Sunny Bowl; Corn flakes; Plain, Honey, Chocolate; 375 g; 2.79; case=12 twin
Sunny Bowl; Rice puffs; Plain, Cocoa; 300 g; 2.59;
Orchard Row; Jam; Strawberry, Apricot, Raspberry, Blackcurrant, Rhubarb, Quince; 340 g; 2.95; case=6
Beekeeper's; Honey; Set, Runny, Heather; 250 g; 4.80; case=6
= 120; Baking; A; dates
Old Mill; Flour; Plain, Self-raising, Strong white, Wholemeal, Rye, Spelt; 1.5 kg; 1.65; case=10
Old Mill; Sugar; Caster, Icing, Demerara, Dark brown; 500 g; 1.35; case=15
Old Mill; Dried fruit; Raisins, Currants, Apricots, Dates; 250 g; 2.05; case=12
Dr Lindqvist; Baking powder; Plain, Gluten free; 170 g; 1.20; ean8
Dr Lindqvist; Extract; Vanilla, Almond; 60 ml; 3.10; ean8
Pepperhouse; Spice jar; Cinnamon, Paprika, Cumin, Jalapeño flakes, Herbes de Provence, Nutmeg; 40 g; 1.85; case=6
Pepperhouse; Whole spices; Cloves, Peppercorns, Star anise; 30 g; 1.95; case=6
= 130; Coffee and tea; A; dates
Kettle & Co; Tea; English breakfast, Earl Grey, Peppermint, Camomile, Green, Rooibos, Fennel; 80 bags; 3.15; case=6
Café Brûlerie; Ground coffee; Mild, Medium, Dark, Décaféiné; 250 g; 4.45; case=12 twin
Café Brûlerie; Coffee beans; House, Espresso, Crema; 1 kg; 13.90; case=6
Morning Post; Instant coffee; Classic, Gold; 200 g; 5.25;
= 140; Pasta, rice and tins; B; dates
Pastificio Rosa; Pasta; Spaghetti, Penne, Fusilli, Farfalle, Lasagne, Orzo, Rigatoni; 500 g; 1.25; case=24 pack=3
Golden Delta; Rice; Basmati, Jasmine, Risotto, Long grain; 1 kg; 2.60; case=10
Harbour; Tuna chunks; In brine, In oil; 145 g; 1.55; case=24 pack=4
Field & Vine; Chopped tomatoes; Plain, Basil, Garlic; 400 g; 0.85; case=24 pack=4
Field & Vine; Beans; Kidney, Butter, Black, Chickpeas, Cannellini, Borlotti; 400 g; 0.75; case=24
Field & Vine; Soup; Tomato, Lentil, Leek and potato, Mushroom, Pumpkin; 400 ml; 1.40; case=12
= 150; Sauces and oils; B; dates
Casa Verde; Olive oil; Mild, Extra virgin; 500 ml; 6.95; case=6 att=FRAGILE
Casa Verde; Pesto; Basil, Red pepper; 190 g; 2.35;
Casa Verde; Olives; Green, Black, Stuffed; 290 g; 2.15;
Tall Chimney; Ketchup; Classic, Less sugar; 500 ml; 2.10; case=10
Tall Chimney; Mustard; Mild, Dijon, Wholegrain; 200 g; 1.60;
Fuego; Hot sauce; Jalapeño, Chipotle, Habañero; 150 ml; 2.75;
Old Mill; Vinegar; Malt, Cider, Balsamic; 350 ml; 1.45; case=12
= 160; Biscuits and sweets; B; dates
Copper Tin; Biscuits; Shortbread, Ginger, Oat, Digestive, Custard cream, Wafer, Almond, Lemon; 200 g; 1.30; case=18
Chocolaterie Noé; Chocolate; Milk, Dark 70%, Hazelnut, Sea salt, Crème brûlée; 100 g; 2.20; case=20
Fizz & Fudge; Sweets; Fruit gums, Liquorice, Mints, Toffees, Sherbet, Jelly bears; 150 g; 1.10; ean8
Crisp Lane; Crisps; Salted, Vinegar, Paprika, Jalapeño and cheese; 150 g; 1.95; case=12
= 170; Soft drinks; C; dates
Clearwell; Spring water; Still, Sparkling, Lemon; 1.5 l; 0.69; case=6 pack=6
Orchard Row; Juice; Apple, Orange, Pear, Grape, Cranberry; 1 l; 1.99; case=8
Tonicum; Mixer; Tonic, Ginger ale, Bitter lemon, Cola; 330 ml; 0.95; case=24 pack=6
Hillmoor; Oat drink; Original, Barista, Chocolate; 1 l; 1.85; case=8
= 180; Beer and wine; C;
Two Locks; Beer; Pale ale, Stout, Lager, Wheat; 440 ml; 2.15; case=24 pack=4 att=AGE18
Château Petit Pont; Wine; Red, White, Rosé, Crémant; 750 ml; 8.50; case=6 att=AGE18
Kirschgarten; Liqueur; Cherry, Elderflower; 500 ml; 16.90; att=AGE18
= 200; Fruit and vegetables; PR; dates
Market Stall; Apples; Red, Green, Cooking; kg; 2.40; kg
Market Stall; Vegetables; Carrots, Onions, Leeks, Parsnips, Beetroot; kg; 1.20; kg
Market Stall; Potatoes; New, Baking; kg; 1.10; kg
Market Stall; Mushrooms; White, Chestnut; kg; 5.60; kg
Green Crate; Salad bag; Rocket, Spinach, Mixed leaves; 120 g; 1.50;
Green Crate; Herb pot; Basil, Parsley, Chives, Coriander, Mint; 1 pot; 1.75;
= 210; Dairy and chilled; FR; dates
Long Meadow; Milk; Whole, Semi-skimmed, Skimmed; 1 l; 1.15; case=12 att=CHILLED
Long Meadow; Butter; Salted, Unsalted; 250 g; 2.30; case=20 att=CHILLED
Long Meadow; Yoghurt; Plain, Strawberry, Vanilla, Peach, Blueberry, Cherry; 150 g; 0.80; case=12 pack=4 att=CHILLED
Long Meadow; Crème fraîche; Full fat, Half fat; 200 ml; 1.25; att=CHILLED
Fromagerie Aubrac; Cheese; Cheddar, Gruyère, Brie, Feta, Blue; 200 g; 3.60; att=CHILLED
Farmgate; Eggs; Free range, Organic; 6 eggs; 2.45; att=FRAGILE
Le Petit Pot; Dessert; Crème brûlée, Chocolate mousse, Tiramisù; 2 pots; 2.95; att=CHILLED
= 220; Frozen; FZ; dates
Northern Star; Ice cream; Vanilla, Chocolate, Strawberry, Pistachio; 900 ml; 4.20; att=FROZEN
Northern Star; Vegetables; Peas, Sweetcorn, Spinach; 750 g; 2.05; att=FROZEN
Harbour; Fish fingers; Cod, Salmon; 10 pieces; 3.95; att=FROZEN
= 300; Drugstore; D;
Lindén; Shampoo; Normal, Dry hair, Anti-dandruff, Colour; 300 ml; 3.25; case=6
Lindén; Conditioner; Normal, Dry hair, Colour; 300 ml; 3.25; case=6
Lindén; Shower gel; Citrus, Almond, Sea, Lavender; 250 ml; 2.15; case=6
Lindén; Soap bar; Olive, Rose, Lavender, Unscented; 100 g; 1.25; case=24 ean8
Lindén; Hand cream; Unscented, Chamomile; 75 ml; 2.45; ean8
White Cliff; Toothpaste; Mint, Whitening, Sensitive, Children's; 75 ml; 1.85; case=12 twin
White Cliff; Toothbrush; Soft, Medium, Children's; 1 piece; 1.95;
Softly; Tissues; Box, Pocket, Balsam; 90 sheets; 1.40; pack=3
Plaster & Co; Plasters; Assorted, Waterproof; 20 pieces; 2.60; ean8
Sólo; Sun cream; SPF 15, SPF 30, SPF 50; 200 ml; 7.95;
= 310; Baby; D;
Bärchen; Nappies; Size 1, Size 2, Size 3, Size 4; 30 pieces; 8.95; case=4
Bärchen; Wipes; Unscented, Aloe; 64 pieces; 1.75; case=12 pack=4
Little Spoon; Baby food; Carrot, Pear, Banana and oat, Pumpkin; 120 g; 1.15; case=12
= 400; Cleaning; E;
Brightwell; Washing-up liquid; Lemon, Original, Sensitive; 500 ml; 1.45; case=12
Brightwell; Laundry liquid; Colour, White, Wool; 1.3 l; 6.75; case=6
Brightwell; All-purpose cleaner; Citrus, Pine; 750 ml; 2.20; case=10
Brightwell; Bleach; Thick; 750 ml; 1.10; att=HAZARD case=12
Softly; Toilet paper; Classic, Recycled; 9 rolls; 4.95; case=6
Softly; Kitchen roll; Plain, Printed; 2 rolls; 2.35;
Scrubbit; Sponges; Soft, Scouring; 3 pieces; 1.25;
Scrubbit; Bin bags; 20 l, 35 l, 60 l; 20 pieces; 1.95;
= 410; Kitchen and light; E;
Hearth; Storage box; 0.5 l, 1 l, 2 l; 1 piece; 3.50;
Hearth; Mug; Blue, White, Green, Speckled; 1 piece; 4.25; att=FRAGILE
Hearth; Plate; Blue, White, Green, Speckled; 1 piece; 5.95; att=FRAGILE
Hearth; Wooden spoon; Short, Long, Slotted, Fork; 1 piece; 2.95;
Hearth; Tea towel; Stripe, Check, Linen; 1 piece; 3.95;
Volta; Battery; AA, AAA, C, 9 V; 4 pieces; 4.95; case=10
Volta; LED bulb; E27 warm, E27 cool, E14 warm, GU10 warm; 1 piece; 3.75; att=FRAGILE
Volta; Extension lead; 2 m, 5 m; 1 piece; 9.50;
Lumière; Candle; Ivory, Red, Tea light, Citronella, Pillar; 4 pieces; 3.20; case=12
= 420; Pets; E;
Barkley; Dog food; Chicken, Beef, Lamb; 800 g; 2.10; case=12
Barkley; Dog treats; Bone, Stick, Training; 150 g; 2.40;
Whisker; Cat food; Tuna, Salmon, Turkey, Rabbit; 400 g; 1.30; case=24
Whisker; Cat litter; Clumping, Wood; 10 l; 5.80; att=HEAVY
= 500; Garden; F;
Spade & Son; Seeds; Tomato, Lettuce, Radish, Sunflower, Sweet pea, Jalapeño, Chives; 1 packet; 1.95;
Spade & Son; Bulbs; Tulip, Daffodil, Crocus, Snowdrop; 10 pieces; 3.95;
Spade & Son; Compost; All-purpose, Seed; 20 l; 6.50; att=HEAVY
Spade & Son; Gloves; Small, Medium, Large; 1 pair; 4.95;
Spade & Son; Plant pot; 10 cm, 15 cm, 20 cm; 1 piece; 2.75; att=FRAGILE
Rainmaker; Watering can; 5 l, 10 l; 1 piece; 8.95;
Rainmaker; Hose connector; 1/2 inch, 3/4 inch; 1 piece; 3.25; ean8
= 600; Toys; F;
Tumble; Jigsaw; Farm, Harbour, Space, Castle; 100 pieces; 7.95;
Tumble; Card game; Snap, Happy families, Rummy; 1 pack; 4.50;
Bärchen; Soft toy; Bear, Rabbit, Fox, Owl, Hedgehog, Mouse; 1 piece; 12.95;
Rollo; Toy car; Red, Blue, Fire engine, Tractor, Bus, Taxi; 1 piece; 3.95;
Rollo; Wooden train; Engine, Wagon, Track set; 1 piece; 9.95; att=SMALLPARTS
Inkwell; Colouring set; Crayons, Felt tips, Chalk, Paints; 1 pack; 4.95;
= 700; Stationery; F;
Inkwell; Ballpoint pen; Black, Blue, Red, Green; 1 piece; 1.25; case=50 pack=10 ean8
Inkwell; Pencil; HB, 2B, 4B; 1 piece; 0.65; case=72 pack=12
Inkwell; Notebook; A5 ruled, A5 plain, A4 ruled, A4 squared; 1 piece; 3.45; case=10
Inkwell; Ring binder; Black, Blue, Red, White; 1 piece; 2.85; case=10
Inkwell; Envelopes; C6, DL, C5; 25 pieces; 2.15;
Sticky Fox; Tape; Clear, Parcel, Double-sided, Masking, Glue stick; 1 roll; 1.95; case=24
Sticky Fox; Greetings card; Birthday, Thank you, Congratulations, Get well, New home; 1 piece; 2.50;
"""

# Sold, but not kept in stock.
_SERVICES = (("Paper carrier bag", 0.25), ("Crate deposit", 3.00), ("Home delivery fee", 4.50), ("Gift wrapping", 2.00))


def demo_products() -> list[Body]:
    """Return all catalogue items with the required fields (interface: Product)."""
    products = list(_products())
    successor = next(body for body in products if body["product_name"] == "Chocolaterie Noé Chocolate Milk 100 g")
    return [*products, *_services(), _deprecated(successor)]


def categories() -> Iterator[tuple[Category, list[str]]]:
    """Yield the categories in catalogue order, each with its lines of families."""
    for block in _CATALOGUE_TEXT.split("\n= ")[1:]:
        head, *families = block.strip().splitlines()
        code, name, zone, dates = (part.strip() for part in head.split(";"))
        yield Category(code, name, zone, dates == "dates"), families


def _products() -> Iterator[Body]:
    for category, families in categories():
        sequence = 0
        for line in families:
            brand, name, variants, size, price, marks = (part.strip() for part in line.split(";"))
            for variant in variants.split(", "):
                sequence += 1
                number = f"{category.code}{sequence:03d}"
                words = [brand, name, variant] + ([] if size == "kg" or size.startswith("1 p") else [size])
                own = {
                    "product_name": " ".join(words),
                    "category_code": category.code,
                    "brand_code": _brand_code(brand),
                    "brand_description": brand,
                    "is_expiration": category.is_expiration,
                    "free_fields": [{"sort_order": 1, "key": "category_name", "value": category.name}],
                }
                yield _product(number, float(price)) | own | _unit_price(size) | _fields_of_marks(number, marks.split())


def _brand_code(brand: str) -> str:
    letters = unicodedata.normalize("NFKD", brand.upper())
    return "".join(letter for letter in letters if "A" <= letter <= "Z")


def _product(number: str, price: float) -> Body:
    """Return the required fields of a product (interface: Product), with a barcode made from its number."""
    return {
        "product_number": number,
        "barcode": _ean13(number),
        "price": price,
        "purchase_price": round(price * 0.64, 2),
        "base_unit_name": "piece",
        "allow_decimal": False,
        "is_active": True,
        "is_stock": True,
        "carrier_item_quantity": 0.0,
        "edit_min_max_percentage": 50,
        "price_compare_multiplier": 1.0,
        "shelf_label_quantity": 1,
    }


def _ean13(number: str, series: int = 0) -> str:
    stem = f"952{series:03d}{number}"
    return stem + check_digit(stem)


def _unit_price(size: str) -> Body:
    """Return the unit price per kg, litre or piece, as a factor on the price."""
    amount, _, unit = size.partition(" ")
    factors = {"g": ("kg", 1000.0), "kg": ("kg", 1.0), "ml": ("l", 1000.0), "l": ("l", 1.0)}
    if not unit:
        return {"price_compare_unit": "kg"}
    name, factor = factors.get(unit, ("piece", 1.0))
    return {"price_compare_unit": name, "price_compare_multiplier": round(factor / float(amount), 4)}


def _fields_of_marks(number: str, marks: list[str]) -> Body:
    body: Body = {}
    for mark in marks:
        name, _, value = mark.partition("=")
        if name == "case":
            stem = f"1952000{number}"
            body["purchase_unit_barcode"] = stem + check_digit(stem)
            body["purchase_unit_quantity"] = float(value)
            body["purchase_unit_name"] = f"case of {value}"
        elif name == "pack":
            unit = {"unit_quantity": float(value), "unit_barcode": _ean13(number, 300), "unit_name": f"pack of {value}"}
            body["units"] = [unit]
        elif name == "twin":
            body["barcodes_array"] = f"{_ean13(number, 100)},{_ean13(number, 200)}"
        elif name == "ean8":
            body["barcode"] = "2" + number + check_digit("2" + number)
        elif name == "att":
            body["attention_code"] = value
        elif name == "kg":
            # Labels of a scale have the weight in place of these zeros.
            stem = f"28{number[-4:]}000000"
            body |= {"barcode": stem + check_digit(stem), "allow_decimal": True, "base_unit_name": "kg"}
    return body


def _services() -> Iterator[Body]:
    for index, (name, price) in enumerate(_SERVICES, 1):
        yield _product(f"9000{index:02d}", price) | {"product_name": name, "category_code": "900", "is_stock": False}


def _deprecated(successor: Body) -> Body:
    """Return a discontinued product whose old label leads to its successor."""
    return _product(f"{successor['category_code']}099", 2.10) | {
        "product_name": successor["product_name"].replace("100 g", "90 g"),
        "category_code": successor["category_code"],
        "is_active": False,
        "deprecation_date": "20250630",
        "referral_product_id": successor["product_number"],
    }


_WEEKS_OF_HISTORY, _WEEKS_OF_FORECAST = 12, 4
"""Weeks of sales history, and weeks of forecast."""


def store_product_bodies(products: Iterable[Body], today: date) -> list[Body]:
    """Return the items of create store products for the shop's range. Services and inactive products have no levels.

    interface: Create store products.
    """
    rng = random.Random(60)
    return [_store_product_body(rng, product, today) for product in products]


def _store_product_body(rng: random.Random, product: Body, today: date) -> Body:
    item: Body = {"product_number": product["product_number"]}
    if not product["is_stock"] or not product["is_active"]:
        return item
    usual = rng.choice((2, 4, 6, 9, 14, 22))
    sold = [max(0, round(usual * rng.uniform(0.4, 1.7))) for _ in range(_WEEKS_OF_HISTORY)]
    mean = round(sum(sold) / _WEEKS_OF_HISTORY, 1)
    case = int(product.get("purchase_unit_quantity", 1))
    return item | {
        "min": usual,
        "max": usual * 3 + case,
        "order_level": usual + 1,
        "is_replenishment": rng.random() < 0.8,
        "history_array": sold,
        "history_keys": list(_weeks(today, -_WEEKS_OF_HISTORY, 0)),
        "average_array": [mean] * _WEEKS_OF_HISTORY,
        "average_keys": list(_weeks(today, -_WEEKS_OF_HISTORY, 0)),
        "forecast_array": [max(1, round(mean * rng.uniform(0.8, 1.3))) for _ in range(_WEEKS_OF_FORECAST)],
        "forecast_keys": list(_weeks(today, 0, _WEEKS_OF_FORECAST)),
    }


def _weeks(today: date, first: int, end: int) -> Iterator[str]:
    for week in range(first, end):
        yield f"W{(today + timedelta(weeks=week)).isocalendar().week}"
