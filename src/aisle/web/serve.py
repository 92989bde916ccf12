"""The door on a socket, until somebody ends it."""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from aisle.errors import UsageError
from aisle.web.door import Door

GRACE_S = 5.0


def tls(certificate: Path, private_key: Path) -> ssl.SSLContext:
    """What is needed for https. Raises UsageError for files that are none of that."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, private_key)
    except (OSError, ValueError) as problem:
        raise UsageError(f"{certificate} and {private_key} cannot be used for TLS: {problem}.") from problem
    return context


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
