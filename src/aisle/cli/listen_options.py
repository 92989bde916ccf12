"""Options of a command that listens for connections: address, TLS, proxies, connections."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, NamedTuple

import click

from aisle.cli.options import FILE, Decorator, option_group
from aisle.errors import UsageError


class ListenOptions(NamedTuple):
    """Values of the options."""

    host: str
    port: int
    certificate: Path | None
    private_key: Path | None
    allow_plain_http: bool
    proxies: Sequence[IPv4Network | IPv6Network]
    connections_per_address: int | None


def listen_options(port: int) -> Decorator:
    """Return a decorator that adds the options, with this default of `--port`; they are passed as `listen`."""
    options = (
        click.option("--host", default="127.0.0.1", help="Address to listen at."),
        click.option(
            "--port", type=click.IntRange(0, 65535), default=port, help="Port to listen at, 0 for any free one."
        ),
        click.option("--certificate", type=FILE, metavar="FILE", help="TLS certificate (PEM)."),
        click.option("--private-key", type=FILE, metavar="FILE", help="Private key of the certificate (PEM)."),
        click.option(
            "--allow-plain-http", is_flag=True, help="Listen beyond this machine without TLS, behind a proxy of yours."
        ),
        click.option(
            "--proxy",
            "proxies",
            multiple=True,
            metavar="ADDRESS",
            help="Address or network of a proxy whose X-Forwarded-For is believed; repeatable. Without it, all clients"
            " of the proxy count as one.",
        ),
        click.option(
            "--connections-per-address",
            type=click.IntRange(min=0),
            metavar="N",
            show_default="a quarter of all",
            help="Connections that one address may have, 0 for any number; a proxy may have any number.",
        ),
    )
    return option_group("listen", _parse, dict(zip(ListenOptions._fields, options, strict=True)))


def _parse(certificate: str | None, private_key: str | None, proxies: Sequence[str], **values: Any) -> ListenOptions:
    """Return the values of the options. Raise UsageError."""
    if (certificate is None) != (private_key is None):
        raise UsageError("--certificate and --private-key belong together.")
    try:
        networks = [ip_network(each, strict=False) for each in proxies]
    except ValueError as problem:
        raise UsageError(f"--proxy: {problem}; it takes an address, or a network like 10.0.0.0/24.") from problem
    return ListenOptions(
        certificate=Path(certificate) if certificate else None,
        private_key=Path(private_key) if private_key else None,
        proxies=networks,
        **values,
    )
