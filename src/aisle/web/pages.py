"""Pages of the web application: sign-in, the page around the screen, and their content policies.

Nothing is loaded from other servers: script, style and font come from the package of textual-serve.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Final

import textual_serve

Words = Callable[[str], str]
"""Function that returns the sentence of a message id."""

STATIC: Final = Path(textual_serve.__file__).parent / "static"

FILES: Final = {
    "textual.js": (STATIC / "js" / "textual.js", "text/javascript"),
    "aisle.js": (Path(__file__).with_name("aisle.js"), "text/javascript"),
    "xterm.css": (STATIC / "css" / "xterm.css", "text/css"),
    "mono.ttf": (STATIC / "fonts" / "RobotoMono-VariableFont_wght.ttf", "font/ttf"),
}
"""Files of the screen's page, by their name below /static/."""

_LOOK: Final = """
@font-face { font-family: "Roboto Mono"; src: url("/static/mono.ttf"); font-weight: 100 700; }
html, body { margin: 0; height: 100%; background: #14181d; color: #eee; overflow: hidden; }
.xterm .xterm-viewport { overflow: hidden !important; background-color: #14181d !important; }
body, button { font: 16px "Roboto Mono", monospace; }
.textual-terminal { width: 100vw; height: 100vh; }
.first { position: absolute; visibility: hidden; }
.over { display: none; position: absolute; inset: 0; z-index: 10; background: #14181d; text-align: center; }
.-closed .over { display: block; }
.over p { margin-top: 30vh; }
button { padding: .7em 2em; margin: .5em; }
"""
_LOADS: Final = """<link rel="preload" href="/static/mono.ttf" as="font" type="font/ttf" crossorigin>
<link rel="stylesheet" href="/static/xterm.css">
<script src="/static/aisle.js"></script><script src="/static/textual.js"></script>
"""
_PLAIN: Final = """
html { background: #14181d; color: #eee; font: 18px system-ui, sans-serif; }
form { max-width: 20em; margin: 12vh auto; }
label, input, button, p { display: block; width: 100%; box-sizing: border-box; margin: .6em 0; font: inherit; }
input, button { padding: .6em; }
.wrong { color: #ff8080; min-height: 1.5em; }
"""


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_ALWAYS: Final = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
SIGN_IN_POLICY: Final = f"{_ALWAYS}; style-src {_hash(_PLAIN)}"


def screen_policy(socket_origin: str) -> str:
    """Return the content policy of the screen's page. xterm.js adds inline styles."""
    return (
        f"{_ALWAYS}; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:;"
        f" connect-src 'self' {socket_origin}"
    )


HEADERS: Final[Mapping[str, str]] = {
    "Server": "aisle",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # With no-referrer the form would send no origin.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""Headers of every answer."""


def sign_in_page(words: Words, language: str, wrong: str = "") -> str:
    """Return the sign-in form. `wrong` is the message id of the last error."""
    message = escape(words(wrong)) if wrong else ""
    return _page(
        words,
        language,
        _PLAIN,
        "",
        f"""<form method="post" action="/sign-in" autocomplete="off">
<h1>aisle</h1>
<p>{escape(words("web.for_supervisors"))}</p>
<label for="who">{escape(words("web.who"))}</label>
<input id="who" name="who" maxlength="100" required autofocus autocapitalize="none">
<label for="pin">{escape(words("web.pin"))}</label>
<input id="pin" name="pin" type="password" inputmode="numeric" maxlength="12" required>
<p class="wrong" role="alert">{message}</p>
<button>{escape(words("web.sign_in"))}</button>
</form>""",
    )


def screen_page(words: Words, language: str, socket_url: str) -> str:
    """Return the page with the terminal. An overlay appears when the session has ended.

    The hidden words load the font before the terminal measures it.
    """
    return _page(
        words,
        language,
        _LOOK,
        _LOADS,
        f"""<div class="over"><p role="alert">{escape(words("web.session_ended"))}</p>
<form method="get" action="/"><button>{escape(words("web.go_on"))}</button></form>
<form method="post" action="/sign-out"><button>{escape(words("web.sign_out"))}</button></form></div>
<div class="first">aisle <b>aisle</b></div>
<div id="terminal" class="textual-terminal" data-font-size="16"
 data-session-websocket-url="{escape(socket_url)}"></div>""",
    )


def _page(words: Words, language: str, style: str, more: str, body: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="{escape(language)}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(words("web.title"))}</title>
{more}<style>{style}</style></head>
<body>{body}</body></html>
"""
