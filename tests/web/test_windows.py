"""Windows of `aisle web`: what a page finds again after a cut or a restart, and what is taken once."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from aisle.browser_addresses_and_packets import PageAddress, parse_address
from aisle.web import windows
from aisle.web.app_process import Start
from aisle.web.windows import (
    ELSEWHERE,
    LEFT,
    MAX_WINDOWS,
    PAGE_IS_GONE,
    SERVER_STOPS,
    TOO_MANY,
    Opening,
    _parse_message,
)
from tests.web.test_app import APP, House, Visitor, end, read, said, screen, sign_in

CUT = 3000
"""Close code that a test sends in place of a cut: any but those of a page that is closed."""
TELLS = APP.replace(
    "while True:",
    'told = b\'{"type": "page", "address": "/orders/4104", "title": "Order 4104"}\'\n'
    'sys.stdout.buffer.write(b"M" + len(told).to_bytes(4, "big") + told)\nsys.stdout.buffer.flush()\nwhile True:',
)
"""The small program, which also says which page it shows."""


@pytest.fixture
def house() -> House:
    return House()


async def window(client: Visitor, key: str, more: str = "") -> tuple[ClientWebSocketResponse, dict[str, Any]]:
    """The page of a window, and what the server says of it."""
    socket = await screen(client, f"&window={key}{more}")
    return socket, await said(socket, "window")


async def test_a_page_that_was_cut_off_finds_its_app_and_each_input_is_taken_once(house: House) -> None:
    async with house.open(keep_s=30) as client:
        await sign_in(client)
        first, told = await window(client, "a")
        assert told == {"number": 1, "taken": 0, "new": True}
        assert await read(first) == b"ann 1  --columns=100 --rows=7"
        for number, text in ((1, "x"), (2, "y")):
            await first.send_json(["input", number, text])
            assert await read(first) == b"D" + text.encode()
            assert await said(first, "taken") == number
        await first.close(code=CUT)
        second, told = await window(client, "a")
        assert told == {"number": 1, "taken": 2, "new": False}
        assert b'"attach"' in await read(second), "it draws all again"
        for number, text in ((1, "x"), (2, "y"), (3, "z"), (4, "!")):
            await second.send_json(["input", number, text])
        assert [await said(second, "taken"), await said(second, "taken")] == [3, 4]


async def test_an_input_is_taken_when_the_app_says_so(house: House) -> None:
    is_mark = "if b'\"mark\"' in data"
    deaf = APP.replace(is_mark, f"{is_mark} and b'1' not in data:\n        continue\n    {is_mark}")
    house.start = lambda opening: Start([sys.executable, "-c", deaf], {})  # type: ignore[method-assign]
    async with house.open(keep_s=30) as client:
        await sign_in(client)
        first, _ = await window(client, "a")
        for number, text in ((1, "x"), (2, "y")):
            await first.send_json(["input", number, text])
        assert await said(first, "taken") == 1
        await first.close(code=CUT)
        _, told = await window(client, "a")
        assert told == {"number": 1, "taken": 1, "new": False}, "the second one is not known to be taken"


@pytest.mark.parametrize(("code", "is_kept"), [(CUT, True), (PAGE_IS_GONE, True), (LEFT, False)])
async def test_an_app_waits_for_its_page_unless_the_page_ends_it(house: House, code: int, is_kept: bool) -> None:
    async with house.open(keep_s=30) as client:
        await sign_in(client)
        first, _ = await window(client, "a")
        await read(first)
        await first.close(code=code)
        _, told = await window(client, "a")
        assert told["new"] is not is_kept


async def test_a_new_page_goes_on_where_one_was_closed_but_not_where_one_was_cut_off(house: House) -> None:
    async with house.open(keep_s=30) as client:
        await sign_in(client)
        for code, is_new in ((PAGE_IS_GONE, False), (CUT, True)):
            last, _ = await window(client, f"last {code}")
            await read(last)
            await last.close(code=code)
            _, told = await window(client, f"next {code}")
            assert told["new"] is is_new


async def test_windows_of_a_person_have_numbers_and_an_end(house: House) -> None:
    async with house.open(keep_s=30) as client:
        await sign_in(client)
        opened = [await window(client, str(n), "&number=5" if n == 1 else "") for n in range(MAX_WINDOWS)]
        assert [told["number"] for _, told in opened] == [1, 5, 2, 3, 4, 6, 7, 8]
        further = await screen(client, "&window=further")
        assert await end(further) == TOO_MANY
        await opened[2][0].close(code=CUT)
        _, told = await window(client, "further")
        assert told == {"number": 2, "taken": 0, "new": True}, "one without a page ends for it"
        copy, _ = await window(client, "0")
        assert await end(opened[0][0]) == ELSEWHERE
        await copy.send_json(["input", 1, "still"])
        assert await said(copy, "taken") == 1


async def test_many_pages_at_once_are_no_more_windows(house: House) -> None:
    start, started = house.start, list[int]()

    def count(opening: Opening) -> Start:
        started.append(opening.number)
        return start(opening)

    house.start = count  # type: ignore[method-assign]
    async with house.open(keep_s=30) as client:
        await sign_in(client)
        opened = [await window(client, str(n)) for n in range(MAX_WINDOWS)]
        await opened[2][0].close(code=CUT)
        further = await asyncio.gather(*(screen(client, f"&window=further{n}") for n in range(12)))
        ends = asyncio.as_completed([end(one) for one in further])
        assert [await next(ends) for _ in range(11)] == [TOO_MANY] * 11
        async with asyncio.timeout(30):
            while len(started) <= MAX_WINDOWS:  # noqa: ASYNC110 - another process ends before
                await asyncio.sleep(0.01)
        assert started == [1, 2, 3, 4, 5, 6, 7, 8, 3]
        await opened[0][0].send_json(["stdin", "x"])
        assert await read(opened[0][0])


@pytest.mark.parametrize("text", ["a" * 100_000, '"\\\n\u20ac' * 9_000, "[" * 9_000])
@pytest.mark.parametrize("start", [["stdin"], ["input", 7]])
def test_a_long_message_is_typed_text(start: list[object], text: str) -> None:
    message = [*start, text]
    for written in (json.dumps(message), json.dumps(message, separators=(",", ":"), ensure_ascii=False)):
        assert _parse_message(written) == message
        assert _parse_message(f"{written[:-1]},1]") is None
        assert _parse_message(written[:-1]) is None


def test_long_lists_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "loads", lambda text: pytest.fail("it is parsed"))
    for text in (
        "[" * 5_000 + "]" * 5_000,
        '["stdin",' + "[]," * 5_000 + "1]",
        '["input",1,{"a":"' + "b" * 5_000 + '"}]',
    ):
        assert _parse_message(text) is None


async def test_an_app_that_does_not_answer_is_replaced(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "RESPONSE_S", 0.2)
    monkeypatch.setattr("aisle.web.app_process.LEAVING_S", 0.2)
    deaf = "import time\nprint('__GANGLION__', flush=True)\ntime.sleep(600)"
    programs = iter([deaf, APP])
    house.start = lambda opening: Start([sys.executable, "-c", next(programs)], {})  # type: ignore[method-assign]
    async with house.open(keep_s=30) as client:
        await sign_in(client)
        first, _ = await window(client, "a")
        await first.close(code=CUT)
        second = await screen(client, "&window=a")
        assert [(await said(second, "window"))["new"] for _ in range(2)] == [False, True]
        await read(second)


async def test_a_page_is_told_the_address_and_opens_others(house: House) -> None:
    house.start = lambda opening: Start([sys.executable, "-c", TELLS, *opening[2:]], {})  # type: ignore[method-assign]
    page = {"address": "/orders/4104", "title": "Order 4104"}
    async with house.open(keep_s=30) as client:
        await sign_in(client)
        first, _ = await window(client, "a", "&address=/orders/4104")
        assert (await read(first)).startswith(b"/orders/4104 ")
        assert await said(first, "page") == page
        for wrong in ("//elsewhere.test", "orders", "/etc/passwd", "/orders\n", "x" * 400):
            await first.send_json(["open", wrong])
        await first.send_json(["open", "/orders?due=late"])
        assert await read(first) == b'M{"type": "open", "address": "/orders?due=late"}'
        await first.close(code=CUT)
        second, _ = await window(client, "a")
        assert await said(second, "page") == page


async def test_a_page_gets_the_files_of_its_app_until_it_has_saved_them(house: House) -> None:
    piece = {"type": "file", "name": "orders.csv", "content": "YQ==", "is_last": True}
    program = TELLS.replace('{"type": "page", "address": "/orders/4104", "title": "Order 4104"}', json.dumps(piece))
    house.start = lambda opening: Start([sys.executable, "-c", program], {})  # type: ignore[method-assign]
    async with house.open(keep_s=30) as client:
        await sign_in(client)
        for is_saved in (False, True):
            page, _ = await window(client, "a")
            assert await said(page, "file") == piece
            if is_saved:
                await page.send_json(["saved"])
                await page.send_json(["ping", ""])
                assert await said(page, "pong") == ""
            await page.close(code=CUT)
        page, _ = await window(client, "a")
        await page.send_json(["ping", ""])
        kinds: list[str] = []
        while not kinds or kinds[-1] != "pong":
            message = await page.receive(timeout=30)
            if message.type is WSMsgType.TEXT:
                kinds.append(json.loads(message.data)[0])
        assert "file" not in kinds


@pytest.mark.parametrize(
    ("asked", "location"),
    [
        ("/orders/4104", "/orders/4104"),
        ("/orders?due=late", "/orders?due=late"),
        ("//elsewhere.test/orders", "/"),
        ("https://elsewhere.test/orders", "/"),
        ("/\\elsewhere.test", "/"),
        ("/orders\r\nSet-Cookie: a=b", "/"),
        ("/static/xterm.mjs", "/"),
        ("", "/"),
    ],
)
async def test_signing_in_leads_to_the_page_that_was_asked_for_and_nowhere_else(
    house: House, asked: str, location: str
) -> None:
    async with house.open() as client:
        form = {"who": "ann", "pin": "2468", "address": asked}
        headers = {"Origin": f"http://127.0.0.1:{client.port}"}
        answer = await client.post("/sign-in", data=form, headers=headers, allow_redirects=False)
        assert (answer.status, answer.headers["Location"]) == (303, location)


async def test_an_address_is_kept_through_the_sign_in(house: House) -> None:
    async with house.open() as client:
        for path in ("/orders/4104", "/products/AB%2F1", "/today", "/deliveries/7003"):
            page = await (await client.get(path)).text()
            assert f'name="address" value="{path}"' in page
        assert (await client.get("/settings")).status == 404
        assert (await client.get("/signed-in")).status == 401
        await sign_in(client)
        assert (await client.get("/signed-in")).status == 204
        assert "data-websocket-url" in await (await client.get("/orders/4104")).text()


async def test_a_sign_in_outlives_the_server_without_cookie_or_token_in_its_file(house: House, tmp_path: Path) -> None:
    file = tmp_path / "sign-ins.json"
    async with ClientSession() as other:
        async with house.open(sign_in_file=file) as client:
            cookie = (await sign_in(client)).cookies["aisle"].value
            headers = {"Cookie": f"aisle={cookie}", "Origin": f"http://127.0.0.1:{client.port}"}
            socket = await other.ws_connect(client.make_url("/ws"), headers=headers)
            await read(socket)
            ending = asyncio.create_task(end(socket))
        assert await ending == SERVER_STOPS
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert cookie not in file.read_text()
    headers = {"Cookie": f"aisle={cookie}"}
    async with house.open(sign_in_file=file) as client:
        assert (await client.get("/signed-in", headers=headers)).status == 204
        assert await read(await screen(client, **headers)) == b"ann 1  --columns=100 --rows=7"
        house.let_in.clear()
        while (await client.get("/signed-in", headers=headers)).status == 204:
            await house.rounds.acquire()
    house.let_in.add("ann")
    async with house.open(sign_in_file=file) as client:
        assert (await client.get("/signed-in", headers=headers)).status == 401


@pytest.mark.parametrize("content", ["", "[1]", '{"a": 1}', '{"a": {"user": 1}}', "\xff"])
async def test_a_broken_file_of_sign_ins_signs_nobody_in(house: House, tmp_path: Path, content: str) -> None:
    file = tmp_path / "sign-ins.json"
    file.write_text(content, "latin-1")
    async with house.open(sign_in_file=file) as client:
        assert (await client.get("/signed-in")).status == 401
        assert (await sign_in(client)).status == 303


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("/", PageAddress("")),
        ("/orders", PageAddress("orders")),
        ("/orders/4104", PageAddress("orders", "4104")),
        ("/products/AB%2F%20%C3%A9", PageAddress("products", "AB/ é")),
        ("/orders?due=late&state=to_pick", PageAddress("orders", "", (("due", "late"), ("state", "to_pick")))),
        *(
            (none, None)
            for none in ("", "orders", "//orders", "/etc", "/orders#x", "/orders/%1b", "/orders?a=%00", "/é")
        ),
    ],
)
def test_an_address_names_a_page(text: str, address: PageAddress | None) -> None:
    assert parse_address(text) == address
    if address is not None:
        assert parse_address(str(address)) == address
