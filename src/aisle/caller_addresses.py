"""Network addresses of callers: their keys, by which requests of one caller are counted, and trusted proxies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Network = IPv4Network | IPv6Network
_HOME_BITS: Final = 64


def address_key(host: str) -> str:
    """Return the key of a caller's address: an IPv4 address as it is, the /64 network of an IPv6 address.

    A caller has as many IPv6 addresses as it likes, all in one /64 network. Text that is no address is its own key.
    """
    address = _parse_address(host)
    if isinstance(address, IPv6Address):
        return str(ip_network((int(address) >> _HOME_BITS << _HOME_BITS, _HOME_BITS)))
    return str(address or host)


def is_loopback(host: str) -> bool:
    """Return True if the name or address means this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_in(host: str, networks: Collection[Network]) -> bool:
    """Return True if an address is in one of the networks."""
    address = _parse_address(host)
    return address is not None and any(address in network for network in networks)


def sender(remote: str, forwarded: Sequence[str], proxies: Collection[Network]) -> str:
    """Return the client's address: `remote`, or the one it forwards for if it is a trusted proxy.

    `forwarded` are the X-Forwarded-For headers. They are read from the end and only as far as proxies wrote them, since
    a client can send any value before.
    """
    forwarded_for = [each.strip() for line in forwarded for each in line.split(",")]
    address = remote
    while forwarded_for and is_in(address, proxies):
        before = _parse_address(_without_port(forwarded_for.pop()))
        if before is None:
            break
        address = str(before)
    return address


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def _parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address of a text, if it is one. An IPv4 address mapped to IPv6 becomes IPv4."""
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
