"""Translations of the default reasons of losses, shortages and rejections: Dutch, German and French.

Codes and signs equal those of `LOSS_REASONS`, `SHORTAGE_REASONS` and `REJECTION_REASONS`. Loaded only if one of these
languages is in use.
"""

from __future__ import annotations

from typing import NamedTuple


class DefaultReasons(NamedTuple):
    """Default reasons in one language."""

    losses: tuple[str, ...]
    shortages: tuple[str, ...]
    rejections: tuple[str, ...]


REASONS_BY_LANGUAGE = {
    "nl": DefaultReasons(
        ("1 - Beschadigd", "2 - Over de datum", "3 - Diefstal", "4 - Eigen gebruik", "5 + Gevonden"),
        ("20 0 Plek is leeg", "21 Niet op de plek", "22 Beschadigd", "23 Over de datum", "24 Niet genoeg"),
        ("30 Niet opgehaald", "31 Geannuleerd door de klant", "32 Dubbel besteld", "33 Niet betaald"),
    ),
    "de": DefaultReasons(
        ("1 - Beschädigt", "2 - Abgelaufen", "3 - Diebstahl", "4 - Eigenbedarf", "5 + Gefunden"),
        ("20 0 Platz ist leer", "21 Nicht im Regal", "22 Beschädigt", "23 Abgelaufen", "24 Nicht genug"),
        ("30 Nicht abgeholt", "31 Vom Kunden storniert", "32 Doppelt bestellt", "33 Nicht bezahlt"),
    ),
    "fr": DefaultReasons(
        ("1 - Abîmé", "2 - Périmé", "3 - Vol", "4 - Usage propre", "5 + Retrouvé"),
        ("20 0 Lieu vide", "21 Pas en rayon", "22 Abîmé", "23 Périmé", "24 Pas assez"),
        ("30 Non retirée", "31 Annulée par le client", "32 Commandée deux fois", "33 Non payée"),
    ),
}
