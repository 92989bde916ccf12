"""What a command line is told and tells: no control character reaches a terminal, half a character is no traceback."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aisle.cli import main
from aisle.service.http.run_server import ServerOptions
from aisle.terminal_text import clean

EVIL = "\x1b]0;owned\x07\x9b31m\u202eevil\u2028\x7f"


@pytest.mark.parametrize(
    "arguments",
    [
        [f"--{EVIL}"],
        ["api", EVIL],
        ["outbox", f"--{EVIL}"],
        ["token", "add", "x", "--role", EVIL, "--stores", "1"],
        [EVIL],
    ],
)
def test_usage_errors_are_cleaned(aisle_home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        sys.exit(main(arguments))
    assert left.value.code == 2
    said = capsys.readouterr()
    lines = (said.out + said.err).splitlines()
    assert lines
    assert all(line == clean(line) for line in lines)


HALF_IN_QUERY = ["api", "list-stores", "--query", "secondary_key=\udcff"]
HALF_IN_URL = ["sync", "--base-url", "http://\udcff"]


@pytest.mark.parametrize("arguments", [HALF_IN_QUERY, HALF_IN_URL])
def test_half_a_character_is_an_error(
    aisle_home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(arguments) in (1, 2)
    assert capsys.readouterr().err.startswith("aisle: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["outbox", "--store", "\udcff"],
        pytest.param(["doctor", "--user", "\udcff"], marks=pytest.mark.full),
        pytest.param(["journal", "--terminal", "a\udcffb"], marks=pytest.mark.full),
        pytest.param(HALF_IN_QUERY, marks=pytest.mark.full),
        pytest.param(["api", "list-stores", "--key", "\udcff"], marks=pytest.mark.full),
        pytest.param(HALF_IN_URL, marks=pytest.mark.full),
        pytest.param(["people", "set", "\udcff", "--name", "\udcff", "--user-name", "\udcff"], marks=pytest.mark.full),
        pytest.param(["token", "add", "\udcff", "--stores", "*"], marks=pytest.mark.full),
    ],
)
def test_half_a_character_is_no_traceback(aisle_home: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aisle", *map(os.fsencode, arguments)], capture_output=True, timeout=60, check=False
    )
    assert b"Traceback" not in done.stderr + done.stdout
    assert done.returncode in (0, 1, 2)


@asynccontextmanager
async def answering(body: bytes, head: bytes = b"") -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n" % (head, len(body)) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


DEEP = b"[" * 100_000 + b"]" * 100_000
HALF_ROW = b'{"people": [{"user": "\\ud800"}], "audit": [{"number": 1, "before": "\\ud800"}], "more": false}'


@pytest.mark.parametrize("command", [("people", "list"), ("people", "remove", "B"), ("audit",)], ids=" ".join)
@pytest.mark.parametrize(
    "body", [DEEP, b'{"audit":' + DEEP + b',"people":' + DEEP + b"}", HALF_ROW, b'{"audit":[{}],"more":true}', b"7"]
)
async def test_odd_answer_to_a_command_is_an_error(
    aisle_home: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], body: bytes
) -> None:
    async with answering(body, b"Aisle-Features: people, audit\r\n") as url:
        status = await asyncio.to_thread(main, [*command, "--base-url", url, "--store", "1"])
    said = capsys.readouterr()
    assert status in (1, 2) or said.out == "\t\ufffd\t\t-\t\n"
    assert not status or said.err.startswith("aisle: ")


async def printed(output: pytest.CaptureFixture[bytes], body: bytes, *more: str) -> bytes:
    """What `aisle api` prints for this answer."""
    async with answering(body) as url:
        await asyncio.to_thread(main, ["api", "list-stores", "--base-url", url, *more])
    return output.readouterr().out


async def piped(body: bytes, *more: str) -> bytes:
    """What `aisle api` as a process writes into a pipe for this answer."""
    async with answering(body) as url:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "aisle", "api", "list-stores", "--base-url", url, *more,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, err = await asyncio.wait_for(process.communicate(), 60)
    assert b"Traceback" not in err
    return out


async def test_number_beyond_a_float_is_printed_as_it_came(
    aisle_home: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert await printed(capsysbinary, b'{"list": [1e999]}') == b'{"list": [1e999]}\n'


@pytest.mark.parametrize("more", [(), ("--all",)])
async def test_piped_output_has_no_control_characters(
    aisle_home: Path, capsysbinary: pytest.CaptureFixture[bytes], more: tuple[str, ...]
) -> None:
    row = {"storeNo": "1", "storeName": EVIL + "Zoë 店"}
    out = (await printed(capsysbinary, json.dumps({"list": [row]}, ensure_ascii=False).encode(), *more)).decode()
    assert all(line.isprintable() for line in out.splitlines())
    assert "Zoë 店" in out
    said: Any = json.loads(out)
    assert (said if more else said["list"][0]) == row


async def test_non_json_output_is_cleaned_unless_raw(
    aisle_home: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    body = f"<p>{EVIL}</p>\nnext".encode()
    out = (await printed(capsysbinary, body)).decode()
    assert out.splitlines()[-1] == "next"
    assert all(line == clean(line) for line in out.splitlines())
    assert await piped(body, "--raw") == body


async def test_half_a_character_of_a_service_is_spelled(
    aisle_home: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    out = await printed(capsysbinary, b'{"list": [{"storeNo": "1", "storeName": "\\ud800"}]}')
    assert b'"\\ud800"' in out


@pytest.mark.parametrize(
    ("proxies", "client"), [((), "127.0.0.1"), (("127.0.0.1/32",), "9.9.9.9"), (("10.0.0.0/8",), "127.0.0.1")]
)
async def test_only_named_proxies_may_forward_addresses(proxies: tuple[str, ...], client: str) -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])

    service: Any = SimpleNamespace(app=app)
    at = ServerOptions("", port=0, proxies=[ip_network(proxy) for proxy in proxies])
    config = at.config(service)
    config.load()
    headers = [(b"x-forwarded-for", b"9.9.9.9"), (b"x-forwarded-proto", b"https")]
    scope = {
        "type": "http",
        "scheme": "http",
        "client": ("127.0.0.1", 5),
        "headers": headers,
        "path": "/",
        "method": "GET",
    }
    await config.loaded_app(scope, None, None)
    assert seen == [client]


def test_a_proxy_is_an_address(aisle_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--proxy", "everybody"]) == 2
    assert "10.0.0.0/24" in capsys.readouterr().err
