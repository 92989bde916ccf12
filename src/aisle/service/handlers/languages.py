"""Names of products in the language that somebody asks for (README: Locations)."""

from __future__ import annotations

from collections.abc import Iterable

from aisle.service.context import Context
from aisle.service.handlers.products import known_products

_MOST = 10
_PREFIX = "product_name."


def wanted(text: str) -> list[str]:
    """The languages of `accept_language`, best first: `nl-BE, en;q=0.5` is nl-be, nl, en."""
    weighed: list[tuple[float, str]] = []
    for part in text.split(",")[:_MOST]:
        name, _, options = part.partition(";")
        weight = options.strip().lower().removeprefix("q=")
        try:
            weighed.append((-float(weight or 1), name.strip().lower()))
        except ValueError:
            continue
    found: list[str] = []
    for _, name in sorted(weighed, key=lambda one: one[0]):
        found += [name, name.partition("-")[0]]
    return [name for name in dict.fromkeys(found) if name and name != "*"]


async def names(ctx: Context, text: str | None, numbers: Iterable[str]) -> dict[str, str]:
    """The names of those products that have one in a language of `text`."""
    languages = wanted(text or "")
    if not languages:
        return {}
    found: dict[str, str] = {}
    for number, item in (await known_products(ctx, numbers)).items():
        fields = {(field.get("key") or "").lower(): field.get("value") for field in item.get("free_fields") or ()}
        name = next((fields[_PREFIX + one] for one in languages if fields.get(_PREFIX + one)), None)
        if name:
            found[number] = name
    return found
