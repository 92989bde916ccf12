"""The certificate of a server: until when it is good, said once when that changes.

A renewed one is taken while the server runs.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable
from pathlib import Path
from time import time

from aisle.errors import UsageError

log = logging.getLogger("aisle.server")

SOON_DAYS = 14
_DAY = 86400.0


def good_until(certificate: Path, private_key: Path | None) -> float:
    """Tell until when a certificate is good, in seconds since 1970, by a handshake that trusts it alone.

    Raises OSError (ssl.SSLError is one) for files that cannot be used, and for a certificate that has ended.
    """
    here = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _load(here, certificate, private_key)
    there = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    there.check_hostname = False
    there.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    there.load_verify_locations(certificate)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = here.wrap_bio(to_server, to_client, server_side=True)
    client = there.wrap_bio(to_client, to_server)
    for side in (client, server, client):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    found = client.getpeercert() or {}
    return ssl.cert_time_to_seconds(str(found["notAfter"]))


def tls_context(certificate: Path, private_key: Path | None) -> ssl.SSLContext:
    """Make the context of a server for https. Raises UsageError for files that cannot be used."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        _load(context, certificate, private_key)
    except (OSError, ValueError) as problem:
        files = f"{certificate} and {private_key}" if private_key else str(certificate)
        raise UsageError(f"{files} cannot be used for TLS: {problem}.") from problem
    return context


def renewed(certificate: Path, private_key: Path | None) -> bool:
    """Tell whether the files hold a certificate that can be served; one line of the log says so, or why not."""
    try:
        until = good_until(certificate, private_key)
    except (OSError, KeyError, ValueError) as problem:
        log.error("certificate refused, the old one stays: %s", _words(problem))
        return False
    log.warning("certificate taken: it is good for %d days", (until - time()) / _DAY)
    return True


def stamp_of(*files: Path | None) -> tuple[object, ...]:
    """What is different once one of the files was written anew or replaced."""
    return tuple(_stamp(file) for file in files if file is not None)


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def take(context: ssl.SSLContext, certificate: Path, private_key: Path | None) -> None:
    """Load what `renewed` found good, for new connections; those that are open keep the old one."""
    try:
        _load(context, certificate, private_key)
    except OSError as problem:
        log.error("certificate lost: %s", _words(problem))


def _load(context: ssl.SSLContext, certificate: Path, private_key: Path | None) -> None:
    """Load the files. Raises ssl.SSLError for a key with a password, too: nobody is there to say it."""
    context.load_cert_chain(certificate, private_key, password="")


class CertificateWatch:
    """Watch of a certificate: `figure` hears until when it is good at each `look`, 0 where it is not."""

    def __init__(self, look: Callable[[], float], figure: Callable[[float], None], clock: Callable[[], float] = time):
        self._look = look
        self._figure = figure
        self._clock = clock
        self._said = ""

    def look(self) -> bool:
        """Say what has changed since the last time, in one line; whether the files hold a good one."""
        try:
            until = self._look()
        except (OSError, KeyError, ValueError) as problem:
            self._figure(0.0)
            self._say(f"certificate lost: {_words(problem)}")
            return False
        self._figure(until)
        days = (until - self._clock()) / _DAY
        if days > SOON_DAYS:
            if self._said:
                log.warning("certificate regained: it is good for %d days", days)
            self._said = ""
        elif not self._said.startswith("certificate ends"):
            self._say(f"certificate ends in {days:.0f} days")
        return True

    def _say(self, text: str) -> None:
        if text != self._said:
            self._said = text
            log.error("%s", text)


def _words(problem: Exception) -> str:
    """Say why, without any path."""
    if isinstance(problem, ssl.SSLCertVerificationError):
        return problem.verify_message
    return (problem.strerror if isinstance(problem, OSError) else "") or type(problem).__name__
