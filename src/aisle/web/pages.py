"""Pages of the web application: sign-in, the page around the screen, and their content policies.

Nothing is loaded from other servers: scripts, styles and the font lie in the folder `static`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Final

Words = Callable[[str], str]
"""Function that returns the sentence of a message id."""

STATIC: Final = Path(__file__).with_name("static")

FILES: Final = {
    "screen.js": (STATIC / "screen.js", "text/javascript"),
    "socket.js": (STATIC / "socket.js", "text/javascript"),
    "history.js": (STATIC / "history.js", "text/javascript"),
    "find.js": (STATIC / "find.js", "text/javascript"),
    "sound.js": (STATIC / "sound.js", "text/javascript"),
    "screen.css": (STATIC / "screen.css", "text/css"),
    "xterm.mjs": (STATIC / "xterm" / "xterm.mjs", "text/javascript"),
    "addon-fit.mjs": (STATIC / "xterm" / "addon-fit.mjs", "text/javascript"),
    "addon-unicode11.mjs": (STATIC / "xterm" / "addon-unicode11.mjs", "text/javascript"),
    "xterm.css": (STATIC / "xterm" / "xterm.css", "text/css"),
    "roboto-mono.ttf": (STATIC / "roboto-mono.ttf", "font/ttf"),
}
"""Files of the screen's page, by their name below /static/."""

_LOADS: Final = """<link rel="preload" href="/static/roboto-mono.ttf" as="font" type="font/ttf" crossorigin>
<link rel="stylesheet" href="/static/xterm.css"><link rel="stylesheet" href="/static/screen.css">
<script type="module" src="/static/screen.js"></script>
"""
_PLAIN: Final = """
html { background: #14181d; color: #eee; font: 18px system-ui, sans-serif; }
form { max-width: 20em; margin: 12vh auto; padding: 0 1em; }
label, input, button, p { display: block; width: 100%; box-sizing: border-box; margin: .6em 0; font: inherit; }
input, button { padding: .6em; }
.demo { color: #7ee787; }
.wrong { color: #ff8080; min-height: 1.5em; }
"""

_SCREEN_WORDS: Final = (
    "web.title",
    "web.no_link",
    "web.server_stopped",
    "web.inputs_wait",
    "web.not_taken",
    "web.ended",
    "web.elsewhere",
    "web.too_many_windows",
    "web.failed",
    "web.sign_in",
    "web.go_on_here",
    "web.open_again",
    "web.nothing_found",
    "web.find_all",
)
"""Messages of the sentences that the scripts show."""


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


def sign_in_page(words: Words, language: str, wrong: str = "", address: str = "", *, is_demo: bool = False) -> str:
    """Return the sign-in form. `wrong` says what the last error was; `address` is the page to open then.

    With `is_demo` it says whom to sign in as.
    """
    hint = f'\n<p class="demo">{escape(words("web.demo"))}</p>' if is_demo else ""
    return _page(
        words,
        language,
        f"<style>{_PLAIN}</style>",
        f"""<form method="post" action="/sign-in" autocomplete="off">
<h1>aisle</h1>
<p>{escape(words("web.for_supervisors"))}</p>{hint}
<label for="who">{escape(words("web.who"))}</label>
<input id="who" name="who" maxlength="100" required autofocus autocapitalize="none">
<label for="pin">{escape(words("web.pin"))}</label>
<input id="pin" name="pin" type="password" inputmode="numeric" maxlength="12" required>
<input type="hidden" name="address" value="{escape(address)}">
<p class="wrong" role="alert">{escape(wrong)}</p>
<button>{escape(words("web.sign_in"))}</button>
</form>""",
    )


def screen_page(words: Words, language: str, socket_url: str) -> str:
    """Return the page with the terminal, and what stands over it: the state of the link, a search, and the end."""
    sentences = json.dumps({id_.removeprefix("web."): words(id_) for id_ in _SCREEN_WORDS}, ensure_ascii=False)
    find = escape(words("web.find"))
    return _page(
        words,
        language,
        _LOADS,
        f"""<main id="screen" data-websocket-url="{escape(socket_url)}" data-words="{escape(sentences)}"></main>
<div id="link" role="status" hidden></div>
<form id="find" role="search" hidden><input type="search" aria-label="{find}" placeholder="{find}" autocomplete="off">
<output></output></form>
<section id="over" role="alertdialog" aria-labelledby="why" hidden><p id="why"></p>
<button id="again"></button>
<form method="post" action="/sign-out"><button>{escape(words("web.sign_out"))}</button></form></section>""",
    )


def _page(words: Words, language: str, head: str, body: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="{escape(language)}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<title>{escape(words("web.title"))}</title>
{head}</head>
<body>{body}</body></html>
"""
