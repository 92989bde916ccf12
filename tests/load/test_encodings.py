"""Encoding of files that are not UTF-8: Windows-1252 wherever its reading is plausible, and a word of it shown."""

from pathlib import Path

import pytest

from aisle.client.csv_load.csv_dialect import detect_dialect
from aisle.client.csv_load.report import BadRow
from tests.load.test_spreadsheets import Found, Write, write

__all__ = ["write"]

WORDS = """
en: café naïve £5 façade résumé jalapeño piñata entrée Brontë Beyoncé Siobhán Seán O’Brien O’Neill Zoë 50¢ 20°C Chloë
de: Müller Äpfel Öl Übung Straße Weiße Füße Grüße Käse Möhren Brötchen Kürbis Rübe größer Spaß süß Maß Öfen äh §5 µg 5€
de: ältere örtlich überall Nüsse Nuss­kuchen Rock´n Löwe Jürgen Jörg Götz Strauß Weiß Fuß Schloß heiß „Wort“ Bio–Käse
fr: L'Haÿ-les-Roses Ÿves Crème brûlée Pâté Bière Thé Maïs Noël Forêt Épices Île Être à où ç Ça garçon œuf Œufs cœur Où
fr: Hélène François Benoît Jérôme Agnès Loïc Anaïs Gaëlle Mickaël Rhône Saône Nîmes Orléans Évry goût août dû mûre d’été
fr: 1½ N° l’œuvre Aÿ Louÿs forêt fenêtre théâtre château hôtel côte maître aîné naître connaître Égalité «à la» Raphaël
nl: één België Zoë ideeën knieën reünie geïnd coördinatie crème façade Daniël Israël Citroën Curaçao ruïne Anatoliës hè
es: Núñez Rioja Márquez Atún Turrón Jamón Piña España Español Azúcar María García Rodríguez López González Sánchez
es: Pérez Gómez Jiménez Ruiz Muñoz Ángel Íker Óscar Úrsula Ñora José Concepción plátano melón limón maíz ¿Qué? ¡Olé!
es: Nº 5 1ª Cuánto Suárez Güell cigüeña pingüino niño año mañana señor Peña Ibáñez Málaga Cádiz León Álava Ávila Mária
pt: João Pão Guaraná Conceição São Açaí Limões Pães Coração Maçã Feijão Água Ângela Antônio Avó Avô Você Inês Luís Tomé
pt: Gonçalves Araújo Simões Magalhães Guimarães irmã lã pêssego câmara português açúcar requeijão camarão Moët Verão
it: caffè tiramisù però perché più città qualità Niccolò Cefalù ragù così lunedì È virtù Forlì Cantù Nicolò papà menù tè
da: Søren Øl Ærø Århus Åse æble ønske år Ægir Kærgård brød rugbrød smør fløde Jørgen Bjørn Håkon Lærke Åben på grå ø
pl: Škoda Miloš Željko Rožmberk Aleš
"""
"""Words of Western languages."""
NAMES = [(line[:2], word) for line in WORDS.strip().splitlines() for word in line[4:].split()]
PHRASES = ["Pedro Núñez", "Rioja Núñez 5 €", "Nº 5", "1\u00a0234", "5 €", "© Bio", "• Reis", "Crème (brûlée)", "ƒ 12"]


def said_of(path: Path, word: str, encoding: str) -> tuple[str, str]:
    """Return the encoding in which a file with one word is read, and the assumption that the report shows."""
    path.write_bytes(f"product_number,product_name\r\nP,{word}\r\nQ,Brot\r\n".encode(encoding))
    dialect = detect_dialect(path, lambda name: name.startswith("product_"))
    return dialect.encoding, " ".join(dialect.assumptions)


@pytest.mark.parametrize("language", sorted({language for language, _ in NAMES}))
def test_a_single_word_of_windows_is_read_as_such(language: str, tmp_path: Path) -> None:
    words = [word for its, word in NAMES if its == language and not word.isascii()]
    found = {word: said_of(tmp_path / "products.csv", word, "cp1252") for word in words}
    assert {word: said for word, said in found.items() if said[0] != "cp1252"} == {}


@pytest.mark.parametrize("phrase", PHRASES)
def test_phrases_of_windows_are_read_and_shown(phrase: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,product_name", f"P,{phrase}", encoding="cp1252")
    found = Found(tmp_path)
    assert found.bodies[0]["product_name"] == phrase
    shown = phrase.replace("\u00a0", " ")
    assert any(repr(word) in found.notes[0] for word in (shown, *shown.replace("(", "").replace(")", "").split()))


@pytest.mark.parametrize("encoding", ["cp850", "mac_roman"])
def test_a_word_of_dos_or_macintosh_is_read_right_or_shown(encoding: str, tmp_path: Path) -> None:
    wrong: dict[str, str] = {}
    for _, word in NAMES:
        is_of_letters = not word.isascii() and all(
            char.isalpha() and char not in "ºª" for char in word if not char.isascii()
        )
        if not is_of_letters or word.encode(encoding, "replace").decode(encoding) != word:
            continue
        name, said = said_of(tmp_path / "products.csv", word, encoding)
        if name != encoding:
            wrong[word] = word.encode(encoding).decode(name)
            assert wrong[word].split("\u00a0")[0].strip('()/;|"') in said or repr(word) in said, (word, said)
    assert len(wrong) < len(NAMES) / 4, wrong


def test_words_that_another_encoding_reads_too_are_shown(tmp_path: Path) -> None:
    words = ["Thé", "Käse", "Möhre", "Brühe", "ångela"]
    rows = "".join(f"P{at},{word}\r\n" for at, word in enumerate(words))
    (tmp_path / "products.csv").write_bytes(f"product_number,product_name\r\n{rows}".encode("cp1252"))
    (note,) = detect_dialect(tmp_path / "products.csv", lambda name: name.startswith("product_")).assumptions
    assert "'Thé'" in note
    assert "'ångela'" in note


def test_a_file_whose_only_other_character_is_a_blank_shows_its_text(tmp_path: Path) -> None:
    name, said = said_of(tmp_path / "products.csv", "1\u00a0234", "cp1252")
    assert name == "cp1252"
    assert "('1 234'; if they are wrong, save it as UTF-8)" in said


ACCENTS = ["Käse", "Möhre", "Brühe", "Crème"]


@pytest.mark.parametrize("word", ["Café", "Thé Ávila", "5 €", "‘a’", "Ý"])
@pytest.mark.parametrize("at", [0, 2, 4])
def test_one_row_in_utf_8_blames_no_other(word: str, at: int, tmp_path: Path) -> None:
    rows = [f"P{index},{name}\r\n".encode("cp1252") for index, name in enumerate(ACCENTS)]
    rows.insert(at, f"X,{word}\r\n".encode())
    (tmp_path / "products.csv").write_bytes(b"product_number,product_name\r\n" + b"".join(rows))
    found = Found(tmp_path)
    assert [body["product_name"] for body in found.bodies] == ACCENTS
    assert found.bad == {at + 2: f"product_name {word!r} is in UTF-8, unlike the rest of the file; write it anew"}
    assert "Windows-1252" in found.notes[0]


@pytest.mark.parametrize("column", ["product_name", "price", "barcode", "is_active", "barcodes_array"])
def test_one_row_of_windows_in_utf_8_is_named_without_surrogates(column: str, tmp_path: Path) -> None:
    rows = [f"P{index},{name},\r\n".encode() for index, name in enumerate(ACCENTS)]
    rows.insert(1, b"X,x,5 \x80\r\n")
    header = f"product_number,product_name,{column}" if column != "product_name" else "product_number,size,product_name"
    (tmp_path / "products.csv").write_bytes(f"{header}\r\n".encode() + b"".join(rows))
    found = Found(tmp_path)
    assert len(found.bodies) == len(ACCENTS)
    assert found.bad == {3: f"{column} is not UTF-8; save the file in that encoding"}


def test_bytes_of_another_encoding_in_a_reason_are_shown_as_such() -> None:
    shown = str(BadRow("orders.csv", 2, f"order {chr(0xDC80)!r} is there, not {chr(0xDC80)}"))
    assert shown == "orders.csv:2: order '\ufffd' is there, not \ufffd"


POLISH = "Żółty Łosoś Masło Kiełbasa Pączki Jabłka Śledź Gęś Ćwikła Źródło Bułka Kość"


@pytest.mark.parametrize("encoding", ["cp1250", "iso8859_2", "cp852"])
def test_a_polish_file_is_read_as_such_or_refused(encoding: str, write: Write, tmp_path: Path) -> None:
    words = POLISH.split()
    write(
        "products.csv",
        "product_number,product_name",
        *(f"P{at},{word} ser" for at, word in enumerate(words)),
        encoding=encoding,
    )
    found = Found(tmp_path)
    assert [body["product_name"] for body in found.bodies] == [f"{word} ser" for word in words]
    assert "the encoding" in found.notes[0]


ENDS = [("mac_roman", "\r"), ("mac_roman", "\r\n"), ("cp858", "\r\n"), ("cp1252", "\r\n")]


@pytest.mark.parametrize(
    ("cells", "prices"),
    [
        (["1\u00a0234,50"], ["1234.50"]),
        (["1\u00a0234,50 €", "2,50 €"], ["1234.50", "2.50"]),
        (["1\u00a0234,50\u00a0€"], ["1234.50"]),
        (["€\u00a01\u00a0234,50"], ["1234.50"]),
        (["€1,50", "2,50"], ["1.50", "2.50"]),
        (["1\u2019234,50"], ["1234.50"]),
        (["12\u00a0345\u00a0678,90"], ["12345678.90"]),
        (["2,50 €", "3,50 €", "4,50 €"], ["2.50", "3.50", "4.50"]),
        (["€ 2,50", "€ 3,50"], ["2.50", "3.50"]),
        (["2,50€", "3,50€"], ["2.50", "3.50"]),
        (["€2,50"], ["2.50"]),
        (["€ 12,-", "-2,50 €"], ["12.00", "-2.50"]),
        (["2,50\u00a0€"], ["2.50"]),
        (["€\u00a02,50", "€\u00a01\u00a0234,00"], ["2.50", "1234.00"]),
    ],
)
@pytest.mark.parametrize(("encoding", "end"), ENDS)
def test_figures_alone_show_their_encoding(
    cells: list[str], prices: list[str], encoding: str, end: str, write: Write, tmp_path: Path
) -> None:
    rows = [f"P{at};{cell}" for at, cell in enumerate(cells)]
    if "\u2019" in cells[0] and encoding == "cp858":
        return  # it has no apostrophe of print
    write("prices.csv", "product_number;price", *rows, encoding=encoding, end=end)
    found = Found(tmp_path)
    assert (found.bad, [f"{body['price']:f}" for body in found.bodies]) == ({}, prices)


@pytest.mark.parametrize("name", ["Prix 12 €", "5 €", "€ 5", "ab 9 €/kg"])
@pytest.mark.parametrize("encoding", ["mac_roman", "cp858", "cp1252"])
def test_a_euro_in_a_text_shows_its_encoding(name: str, encoding: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number;product_name", f"P;{name}", encoding=encoding)
    assert [body["product_name"] for body in Found(tmp_path).bodies] == [name]
