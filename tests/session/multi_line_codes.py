"""Codes of several lines, as they are met in a store, and random ones of their kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.scan.test_barcode_kinds import BARCODES, sent

PAYMENT = "BCD\n002\n1\nSCT\n\nMuster Verein\nDE33100205000001194700\nEUR1\n\n\nSpende\n"
"""The payment code of an invoice (EPC 069-12)."""

PAYLOADS = {
    "EPC payment": PAYMENT,
    "EPC payment, CRLF": PAYMENT.replace("\n", "\r\n"),
    "EPC payment, CR": PAYMENT.replace("\n", "\r"),
    "EPC payment, TAB at its end": PAYMENT.removesuffix("\n") + "\t",
    "Swiss QR bill": "SPC\n0200\n1\nCH4431999123000889012\nS\nMax\nGasse\n7\n8000\nZurich\nCH"
    + "\n" * 8
    + "50.00\nCHF\nS\nAnna\nWeg\n1\n9000\nSt. Gallen\nCH\nQRR\n210000000003139471430009017\n\nEPD\n",
    "vCard": "BEGIN:VCARD\nVERSION:3.0\nN:Doe;Jo\nTEL:12\nEND:VCARD\n",
    "calendar": "BEGIN:VEVENT\nSUMMARY:Stock\nDTSTART:20261127T0800\nEND:VEVENT\n",
    "numbers": "1\n2\n3\n",
    "one number twice": "1\n1\n",
    "letters": "y\nd\nn\nu\nb\nk\ns\nq\no\n",
    "blank lines, then a number": "\n\n1\n",
    "a number, then blank lines and a number": "12\n\n\n3\n",
    "words": "milk\nbread\n2\n",
    "an unknown code and a number": "4000000000006\n2\n",
    "a number and a known code": "3\n4006381333931\n",
    "a known code and a number": "4006381333931\n3\n",
    "a known code, a lot and a date": "4006381333931\nLOT 7\n2026-11-27\n",
    "several known codes and words": "4006381333931\n5901234123457\nthe end\n",
    "a location and a number": "A-1\n5\n",
    "a command and words": "AISLE:DONE\nwords\n",
    "a multiplier": "12*\n4006381333931\n",
    "a look-up": "?A-1\n1\n",
    "zeros": "0\n0\n",
    "JSON": '{\n  "id": 7,\n  "qty": 1\n}\n1\n',
    "controls": "\x07\n\x08\n1\n\x7f\n",
    "keys": "1\n\x1b[A\n\x1b[B2\n",
    "a digital link and a number": "https://id.gs1.org/01/09520123456788/10/ABC\n1\n",
    "an AIM prefix": "]Q1BCD\n002\n1\n",
    "a supplier's label with CR for its separators": "[)>\r06\rPP4\r1PA-1\rQ12\r7Q3EA\r\r",
    "a boarding pass": "M1DOE/JO            EABC123 ZRHLHRLX 0316 331Y012A0001 100\n1\n",
}
"""Each is one scan; none of its lines means anything by itself."""


def wifi(dice: Random) -> list[str]:
    """A network's name and password; `P:` alone is on lines of its own in some."""
    return [f"WIFI:T:WPA;S:{dice.randint(1, 99)};P:{dice.randint(1, 9)};;", str(dice.randint(0, 99))]


def epc(dice: Random) -> list[str]:
    """EPC 069-12, with fields left out at random."""
    name = dice.choice(("Verein", "1", "A-1", "Muster GmbH"))
    return [
        "BCD",
        dice.choice(("001", "002")),
        "1",
        "SCT",
        "",
        name,
        "DE33100205000001194700",
        f"EUR{dice.randint(1, 99)}",
    ]


def swiss(dice: Random) -> list[str]:
    """A bill of the Swiss QR standard, cut somewhere."""
    address = ["S", "Max", "Weg", str(dice.randint(1, 20)), str(dice.randint(1000, 9999)), "Bern", "CH"]
    return ["SPC", "0200", "1", "CH4431999123000889012", *address, *[""] * 7, "5.00", "CHF", *address][
        : dice.randint(3, 27)
    ]


def card(dice: Random) -> list[str]:
    """A vCard."""
    lines = [f"N:{dice.randint(0, 9)}", f"TEL:{dice.randint(1, 999)}", str(dice.randint(0, 99)), "ORG:A-1"]
    return ["BEGIN:VCARD", *dice.sample(lines, dice.randint(1, 4)), "END:VCARD"]


def link(dice: Random) -> list[str]:
    """A digital link of GS1 with something behind it."""
    return [
        f"https://id.gs1.org/01/0952012345678{dice.randint(0, 9)}/21/{dice.randint(1, 99)}",
        str(dice.randint(0, 9)),
    ]


def json_lines(dice: Random) -> list[str]:
    """An object, a field a line."""
    return ["{", f'"qty": {dice.randint(0, 9)},', str(dice.randint(0, 9)), "}"]


def boarding(dice: Random) -> list[str]:
    """A boarding pass (IATA 792), as some scanners break it."""
    return ["M1DOE/JO            EABC123 ZRHLHRLX 0316", f"{dice.randint(100, 365)}Y012A", str(dice.randint(1, 99))]


def supplier_label(dice: Random) -> list[str]:
    """A label of ISO/IEC 15434 whose record separators, or all separators, came as ends of lines."""
    fields = [f"P{dice.randint(1, 9)}", f"1P{dice.choice(('A-1', '1', 'P4'))}", f"Q{dice.randint(1, 99)}"]
    sign = dice.choice(("\x1d", "\r"))
    return ["[)>", *sign.join([dice.choice(("05", "06", "12")), *fields]).split("\r"), "\x04"]


def numbers(dice: Random) -> list[str]:
    """Small numbers, which choose and count."""
    return [str(dice.choice((0, 1, 2, 3, 9, 12, 40, 999))) for _ in range(dice.randint(2, 5))]


def letters(dice: Random) -> list[str]:
    """Letters, which command."""
    return [dice.choice("abcdefghijklmnopqrstuvwxyz.?") for _ in range(dice.randint(2, 5))]


def rubbish(dice: Random) -> list[str]:
    """Any printable characters."""
    drawn = ["".join(chr(dice.randint(33, 126)) for _ in range(dice.randint(0, 9))) for _ in range(dice.randint(2, 6))]
    return [*drawn, str(dice.randint(0, 9)), "#"]


PRINTED = (
    *(text for row in BARCODES for text in sent(row)),
    "https://id.gs1.org/01/09506000134352/10/ABC123?17=261231",
    "]J109506000134352",
    "]d28110106141416543213150110000310123196000",
    "]C18003095060001343521234",
    "]C1253950600013435900012",
    "]I1095060001343528",
    "]e0010950600013435239320978625",
    "]Q38200http://example.com",
)
"""Examples of GS1's specifications, as scanners send them: of each symbology and of each way to say a quantity."""


def damaged(dice: Random, text: str) -> str:
    """Lose, double or change one character, or cut the text off at either end."""
    at = dice.randrange(len(text))
    other = chr(dice.choice((dice.randint(48, 57), dice.randint(33, 126))))
    return dice.choice(
        (
            text[:at] + text[at + 1 :],
            text[: at + 1] + text[at:],
            text[:at] + other + text[at + 1 :],
            text[:at],
            text[at:],
        )
    )


def single(dice: Random, codes: Sequence[str]) -> str:
    """A printed code, or one of the store, that may be damaged."""
    text = dice.choice((*PRINTED, *codes) if dice.random() < 0.7 else codes)
    return damaged(dice, text) if text in codes or dice.random() < 0.7 else text


def printed(dice: Random) -> list[str]:
    """Codes that are printed somewhere, whole or damaged, and words."""
    lines = [single(dice, PRINTED) for _ in range(dice.randint(1, 2))]
    return [*(line for line in lines if line.strip()), dice.choice(("the end", "LOT 7", "no 12", "Muster GmbH"))]


KINDS: Sequence[Callable[[Random], list[str]]] = (
    *(wifi, epc, swiss, card, link, json_lines, boarding, supplier_label, numbers, letters, rubbish, printed, printed),
)


def drawn(dice: Random, codes: Sequence[str]) -> str:
    """A random scan of several lines, of which at least one is no code; `codes` are codes of the store."""
    lines = dice.choice(KINDS)(dice)
    for _ in range(dice.choice((0, 0, 1, 2))):
        lines.insert(dice.randint(0, len(lines)), dice.choice(codes))
    end = dice.choice(("\n", "\n", "\r", "\r\n", "\t"))
    return end.join(lines) + end
