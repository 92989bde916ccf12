"""Where a request comes from: who is on this machine, and whom a proxy speaks for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def is_loopback(host: str) -> bool:
    """Whether nobody on another machine is meant by this name or address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def network(text: str) -> Network:
    """An address, or a network of them (10.0.0.0/8). Raises ValueError."""
    return ip_network(text, strict=False)


def sender(remote: str, forwarded: Sequence[str], proxies: Collection[Network]) -> str:
    """The address that a request comes from: `remote`, which is connected to us, or whom it says it speaks for.

    Only what a named proxy says counts, and it counts from the end: whoever asks can write what he likes before that.
    `forwarded` are the X-Forwarded-For headers.
    """
    said = [each.strip() for line in forwarded for each in line.split(",")]
    at = remote
    while said and _is_one_of(at, proxies):
        before = _address(said.pop())
        if before is None:
            break
        at = str(before)
    return at


def _is_one_of(text: str, proxies: Collection[Network]) -> bool:
    address = _address(text)
    return address is not None and any(address in each for each in proxies)


def _address(text: str) -> Address | None:
    """An address, with or without a port; one of the older kind is the same in the clothes of the newer."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
