"""Address of the client, with or without trusted proxies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def is_loopback(host: str) -> bool:
    """Return True if the name or address means this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def sender(remote: str, forwarded: Sequence[str], proxies: Collection[Network]) -> str:
    """Return the client's address: `remote`, or the one it forwards for if it is a trusted proxy.

    `forwarded` are the X-Forwarded-For headers. They are read from the end and only as far as proxies wrote them, since
    a client can send any value before.
    """
    forwarded_for = [each.strip() for line in forwarded for each in line.split(",")]
    address = remote
    while forwarded_for and _is_one_of(address, proxies):
        before = _address(forwarded_for.pop())
        if before is None:
            break
        address = str(before)
    return address


def _is_one_of(text: str, proxies: Collection[Network]) -> bool:
    address = _address(text)
    return address is not None and any(address in each for each in proxies)


def _address(text: str) -> Address | None:
    """Parse an address with or without a port. An IPv4 address mapped to IPv6 becomes IPv4."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        return found.ipv4_mapped
    return found
