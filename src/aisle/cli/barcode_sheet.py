"""`aisle sheet`: prints commands as barcodes, for use with a scanner and no keyboard, and labels of totes."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from html import escape
from itertools import groupby
from pathlib import Path

import click

from aisle.cli.options import FILE
from aisle.errors import StorageError
from aisle.scan.grammar import PRINTED_COMMANDS, PRINTED_LETTERS

MODULE_MM = 0.33
"""Width of the narrowest bar in mm: readable by any scanner, printable by any office printer."""
QUIET_ZONE = 10
"""Quiet zone on both sides in modules, the minimum of Code 128."""
HEIGHT = 40
"""Height of the bars in modules."""

COMMAND_LABELS = {
    "BACK": "Back",
    "NEXT": "Next",
    "UNDO": "Undo",
    "DONE": "Done",
    "SHORT": "Short: not enough here",
    "HELP": "Help",
    "SIGNOFF": "Sign out",
    "QUIT": "Leave aisle",
    "OK": "OK (Enter)",
}
"""Labels of the commands by name; numbers and letters select a choice and have no label here."""

MAX_TOTES = 999
"""Most labels of totes on one sheet."""

COMMANDS_TITLE = "commands to scan"
COMMANDS_NOTE = "Scan one instead of typing it; a screen takes those that it offers."
TOTES_TITLE = "labels of totes"
TOTES_NOTE = "Put one on each tote. In a batch scan an order, then the label of its tote."

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>aisle: {title}</title>
<style>
@page {{ margin: 10mm; }}
body {{ margin: 0; color: #000; background: #fff; font: 10pt sans-serif; }}
h1 {{ font-size: 13pt; margin: 0 0 2mm; }}
p {{ margin: 0 0 4mm; }}
ul {{ display: grid; grid-template-columns: 1fr 1fr; gap: 5mm 6mm; margin: 0; padding: 0; list-style: none; }}
li {{ break-inside: avoid; }}
svg {{ display: block; }}
b {{ margin-left: {quiet}mm; font-size: 11pt; }}
</style>
</head>
<body>
<h1>aisle: {title}</h1>
<p>Print at 100 %. {note}</p>
<ul>
{items}
</ul>
</body>
</html>
"""


@click.command("sheet")
@click.option("--out", type=FILE, metavar="FILE", help="File to write the page to.", show_default="standard output")
@click.option(
    "--totes", type=click.IntRange(1, MAX_TOTES), metavar="N", help="Print labels for N totes instead of the commands."
)
def print_barcodes(out: str | None, totes: int | None) -> int:
    """Print a page (HTML) with the commands, or labels of totes, as barcodes to scan."""
    text = totes_html(totes) if totes else sheet_html()
    if out is None:
        print(text, end="")
        return 0
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{out} cannot be written: {error.strerror}. Name another file.") from error
    print(f"Written to {out}. Open it in a browser and print it at 100 %.", file=sys.stderr)
    return 0


def sheet_html() -> str:
    """Return the sheet of commands as one self-contained HTML document."""
    items = (
        f"{_barcode_svg(code)}<b>{escape(_command_label(code))}</b> <small>{escape(code)}</small>"
        for code in (*PRINTED_COMMANDS, *PRINTED_LETTERS)
    )
    return _page_html(COMMANDS_TITLE, COMMANDS_NOTE, items)


def totes_html(count: int) -> str:
    """Return the sheet of tote labels; a batch takes each as the label of a tote."""
    labels = (f"TOTE-{number}" for number in range(1, count + 1))
    return _page_html(TOTES_TITLE, TOTES_NOTE, (f"{_barcode_svg(label)}<b>{label}</b>" for label in labels))


def _page_html(title: str, note: str, items: Iterable[str]) -> str:
    quiet = f"{QUIET_ZONE * MODULE_MM:.1f}"
    return _PAGE.format(title=title, note=note, quiet=quiet, items="\n".join(f"<li>{item}</li>" for item in items))


def _command_label(code: str) -> str:
    name = code.partition(":")[2]
    if name.isdigit():
        return f"Number {name}"
    return f"Letter {name.lower()}" if len(name) == 1 else COMMAND_LABELS[name]


def _barcode_svg(code: str) -> str:
    """Return the code as a Code 128 drawing in SVG, with one module as unit."""
    from barcode import Code128

    modules = Code128(code).build()[0]
    rects, at = [], QUIET_ZONE
    for bar, run_ in groupby(modules):
        width = len(list(run_))
        if bar == "1":
            rects.append(f'<rect x="{at}" y="0" width="{width}" height="{HEIGHT}"/>')
        at += width
    wide = at + QUIET_ZONE
    size = f'width="{wide * MODULE_MM:.2f}mm" height="{HEIGHT * MODULE_MM:.2f}mm"'
    drawing = f'<svg {size} viewBox="0 0 {wide} {HEIGHT}" shape-rendering="crispEdges" role="img"'
    return f'{drawing} aria-label="{escape(code)}">{"".join(rects)}</svg>'
