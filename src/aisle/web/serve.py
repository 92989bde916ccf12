"""The door on a socket, until somebody ends it."""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import Callable

from aiohttp import web

from aisle.errors import UsageError
from aisle.web.door import Door

GRACE_S = 5.0


async def serve(
    door: Callable[[], Door],
    host: str,
    port: int,
    context: ssl.SSLContext | None,
    ready: Callable[[str], None],
    follow: Callable[[Callable[[], None]], object],
) -> None:
    """Serves until SIGINT, SIGTERM or what `follow` waits for; every session has ended then.

    `ready` hears the URL when requests are answered. Raises UsageError for an address that cannot be listened at.
    """
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, over.set)
    runner = web.AppRunner(door().app, access_log=None, handle_signals=False, shutdown_timeout=GRACE_S)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port, ssl_context=context).start()
        except OSError as problem:
            raise UsageError(f"Nobody can listen at {host}, port {port}: {problem.strerror}.") from problem
        name, taken = runner.addresses[0][:2]
        ready(f"{'https' if context else 'http'}://{f'[{name}]' if ':' in name else name}:{taken}")

        def leave() -> None:
            loop.call_soon_threadsafe(over.set)

        follow(leave)
        await over.wait()
    finally:
        await runner.cleanup()
