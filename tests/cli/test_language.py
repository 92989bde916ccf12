"""The courier asks for names in one language for all terminals of its host."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.cli.service_client import client_factory, host_language
from aisle.client import Response
from aisle.settings.load_settings import load_settings


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "fr"),
        ('language = "de"', "de"),
        ('language = "de"\n[store."0001"]\nlanguage = "nl"', "nl"),
        ('[device."dock"]\nlanguage = "nl"', "fr"),
        ('language = "de"\n[device."dock"]\nlanguage = "nl"', "de"),
    ],
)
def test_host_language_comes_from_store_or_host_not_device(
    aisle_home: Path, monkeypatch: pytest.MonkeyPatch, text: str, language: str
) -> None:
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    (aisle_home / "settings.toml").write_text(text, encoding="utf-8")
    assert host_language(load_settings({"terminal": "dock", "store": "0001"})) == language


async def test_names_come_in_it(aisle_home: Path) -> None:
    """From our own service: a product whose name it has in two languages, at a place."""
    (aisle_home / "settings.toml").write_text('language = "nl"', encoding="utf-8")

    def nothing(answer: Response) -> None:
        """Nobody looks at the answers."""

    async with client_factory(load_settings({}))(nothing) as client:
        lying = [
            entry
            for place in (await client.call("list-locations", store_number="0001"))["list"]
            for entry in place.get("stock") or ()
        ]
        number = str(lying[0]["product_number"])
        field = {"sort_order": 1, "key": "product_name.nl", "value": "Thee"}
        await client.call(
            "create-or-update-products", {"products": [{"product_number": number, "free_fields": [field]}]}
        )
        places = (await client.call("list-locations", store_number="0001"))["list"]
    named = {
        entry["product_description"]
        for place in places
        for entry in place.get("stock") or ()
        if entry["product_number"] == number
    }
    assert named == {"Thee"} != {lying[0]["product_description"]}
