"""What stands for whoever asks over a network, where it is counted how often he does."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

_HOME_BITS: Final = 64


def address_key(host: str) -> str:
    """What stands for whoever asks from an address: of the newer kind everybody has as many as he likes, all with the
    same beginning."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ip_network((int(address) >> _HOME_BITS << _HOME_BITS, _HOME_BITS)))
    return str(address)
