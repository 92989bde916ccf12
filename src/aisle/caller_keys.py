"""Keys of network addresses, by which requests of one caller are counted."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

_HOME_BITS: Final = 64


def address_key(host: str) -> str:
    """Return the key of a caller's address: an IPv4 address as it is, the /64 network of an IPv6 address.

    A caller has as many IPv6 addresses as it likes, all in one /64 network. Text that is no address is its own key.
    """
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ip_network((int(address) >> _HOME_BITS << _HOME_BITS, _HOME_BITS)))
    return str(address)
