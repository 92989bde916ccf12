"""Units of measure of labels and products, and their conversion."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

MAX_DECIMALS: Final = 3
"""Greatest number of decimal places of a quantity."""

_WEIGHT, _LENGTH, _AREA, _VOLUME = "weight", "length", "area", "volume"

_POUND: Final = Decimal("0.45359237")
_FOOT: Final = Decimal("0.3048")
_GALLON: Final = Decimal("3.785411784")

_UNIT_SIZES: Final[dict[str, tuple[str, Decimal]]] = {
    "kg": (_WEIGHT, Decimal(1)),
    "hg": (_WEIGHT, Decimal("0.1")),
    "dag": (_WEIGHT, Decimal("0.01")),
    "g": (_WEIGHT, Decimal("0.001")),
    "mg": (_WEIGHT, Decimal("0.000001")),
    "t": (_WEIGHT, Decimal(1000)),
    "lb": (_WEIGHT, _POUND),
    "oz": (_WEIGHT, _POUND / 16),
    "ozt": (_WEIGHT, Decimal("0.0311034768")),
    "m": (_LENGTH, Decimal(1)),
    "dm": (_LENGTH, Decimal("0.1")),
    "cm": (_LENGTH, Decimal("0.01")),
    "mm": (_LENGTH, Decimal("0.001")),
    "km": (_LENGTH, Decimal(1000)),
    "in": (_LENGTH, _FOOT / 12),
    "ft": (_LENGTH, _FOOT),
    "yd": (_LENGTH, _FOOT * 3),
    "m2": (_AREA, Decimal(1)),
    "dm2": (_AREA, Decimal("0.01")),
    "cm2": (_AREA, Decimal("0.0001")),
    "mm2": (_AREA, Decimal("0.000001")),
    "in2": (_AREA, (_FOOT / 12) ** 2),
    "ft2": (_AREA, _FOOT**2),
    "yd2": (_AREA, (_FOOT * 3) ** 2),
    "l": (_VOLUME, Decimal(1)),
    "hl": (_VOLUME, Decimal(100)),
    "dl": (_VOLUME, Decimal("0.1")),
    "cl": (_VOLUME, Decimal("0.01")),
    "ml": (_VOLUME, Decimal("0.001")),
    "m3": (_VOLUME, Decimal(1000)),
    "gal": (_VOLUME, _GALLON),
    "qt": (_VOLUME, _GALLON / 4),
    "pt": (_VOLUME, _GALLON / 8),
    "floz": (_VOLUME, _GALLON / 128),
    "in3": (_VOLUME, (_FOOT * 10 / 12) ** 3),
    "ft3": (_VOLUME, (_FOOT * 10) ** 3),
    "yd3": (_VOLUME, (_FOOT * 30) ** 3),
}
"""Dimension of each unit, and its size in kg, m, m² or l.

Gallons and ounces are those of the United States, as in the GS1 General Specifications.
"""

_UNIT_NAMES: Final = """
kg kgs kgm kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes
hg hgm
dag dkg
g gr grs grm gram grams gramm gramme grammes
mg mgm milligram milligrams milligramm milligramme milligrammes
t tne tonne tonnes
lb lbs lbr pound pounds
oz ozs onz ounce ounces
ozt apz troyounce troyounces ouncetroy troyoz oztr
m mtr mtrs mt meter meters metre metres mètre mètres
dm dmt decimeter decimetre
cm cmt centimeter centimeters centimetre centimetres zentimeter centimètre centimètres
mm mmt millimeter millimeters millimetre millimetres millimètre millimètres
km kmt kilometer kilometers kilometre kilometres
in inh inch inches
ft fot foot feet
yd yds yrd yard yards
m2 m² qm sqm mtk squaremeter squaremeters squaremetre squaremetres vierkantemeter quadratmeter mètrecarré mètrescarrés
dm2 dm² dmk
cm2 cm² qcm sqcm cmk
mm2 mm² mmk
in2 in² sqin ink squareinch squareinches
ft2 ft² sqft ftk squarefoot squarefeet
yd2 yd² sqyd ydk squareyard squareyards
l lt ltr ltrs liter liters litre litres
hl hlt hectoliter hectolitre
dl dlt deciliter decilitre
cl clt centiliter centilitre
ml mlt milliliter milliliters millilitre millilitres
m3 m³ cbm mtq cubicmeter cubicmeters cubicmetre cubicmetres kubiekemeter kubikmeter mètrecube mètrescubes
gal gals gll gallon gallons
qt qts qtl quart quarts
pt pts ptl pint pints
floz flozs oza fluidounce fluidounces
in3 in³ cuin inq cubicinch cubicinches
ft3 ft³ cuft ftq cubicfoot cubicfeet
yd3 yd³ cuyd ydq cubicyard cubicyards
"""
_UNITS: Final = {name: line.split()[0] for line in _UNIT_NAMES.strip().splitlines() for name in line.split()}
_COUNT_AND_UNIT: Final = r"(?a)(\d+(?:[.,]\d+)?)?\s*(\D.*)"
_TYPED_AMOUNT: Final = r"(\d+(?:[.,]\d*)?|[.,]\d+) *([^\W\d][^\d]*[²³23]?)"
_DISPLAY_NAMES: Final = {"floz": "fl oz", "ozt": "oz t"}
_METRIC_WEIGHTS: Final = frozenset({"kg", "hg", "dag", "g", "mg", "t"})


def parse_unit(name: str) -> tuple[str, Decimal] | None:
    """Return the unit in a product's base unit name and its number per base unit, or None: `100 g` is (`g`, 100)."""
    found = re.fullmatch(_COUNT_AND_UNIT, name.strip().casefold())
    if found is None:
        return None
    unit = _UNITS.get(re.sub(r"[\s._\-]", "", found[2]))
    many = Decimal((found[1] or "1").replace(",", "."))
    return (unit, many) if unit and many else None


def is_unit_of_measure(name: str) -> bool:
    """Return whether a product with this base unit name is counted by weight, length, area or volume."""
    return parse_unit(name) is not None


def parse_amount(text: str) -> tuple[Decimal, str] | None:
    """Return the number and the word after it, as people type a quantity with its unit; None for another text."""
    found = re.fullmatch(_TYPED_AMOUNT, text.strip())
    return (Decimal(found[1].replace(",", ".").rstrip(".")), found[2].strip()) if found else None


def convert_typed(text: str, name: str) -> Decimal | None:
    """Return a quantity that was typed with a unit (`1,5 kg`) in base units of that name; None if unknown."""
    parsed = parse_amount(text)
    if parsed is None or not name.strip():
        return None
    amount, word = parsed
    if word.casefold() == name.strip().casefold():
        return amount
    unit = parse_unit(word)
    return convert(amount * unit[1], unit[0], name) if unit else None


def convert(amount: Decimal, unit: str, name: str) -> Decimal | None:
    """Return an amount in a label's unit in base units of that name; None if unknown.

    It is unknown if the name is empty, no unit, or measures something else.
    """
    target = parse_unit(name)
    if target is None or unit not in _UNIT_SIZES:
        return None
    if unit == "oz" and target[0] == "floz":  # an identifier has ounces, of weight or of volume
        return amount / target[1]
    (kind, size), (to_kind, to_size) = _UNIT_SIZES[unit], _UNIT_SIZES[target[0]]
    return amount * size / (to_size * target[1]) if kind == to_kind else None


def convert_scale_weight(amount: Decimal, decimals: int, name: str) -> Decimal | None:
    """Return an amount printed by the store's own scale in base units of that name; None if unknown.

    A scale weighs in kg, and in pounds for goods counted in pounds. An amount without decimals is in the goods' own
    unit.
    """
    target = parse_unit(name)
    if not decimals or not name.strip() or target == ("lb", Decimal(1)):
        return amount
    return convert(amount, "kg", name) if target and target[0] in _METRIC_WEIGHTS else None


def round_quantity(amount: Decimal) -> Decimal:
    """Return the amount with the decimal places of a quantity, however exact a label is."""
    near = amount.quantize(Decimal(1).scaleb(-MAX_DECIMALS), ROUND_HALF_UP)
    return amount if amount == near else near


def display_unit(unit: str) -> str:
    """Return a unit as people write it."""
    return _DISPLAY_NAMES.get(unit) or unit.replace("2", "²").replace("3", "³")
