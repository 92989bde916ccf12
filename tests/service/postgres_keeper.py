"""A PostgreSQL server that lives as long as the one who holds this program's standard input.

Run as `python postgres_keeper.py BINARIES`. Its first line says where the server's socket is. It obeys `kill` (the
server dies at once) and `start` (it comes back), each answered by a line; at the end of its input it ends the server
and leaves nothing. The server listens at no port. It refuses to run as root: root's is run by `nobody`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep
from typing import Any

_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "100",
    "dynamic_shared_memory_type": "mmap",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
}
_SECONDS = 60


def main(binaries: Path) -> None:
    """Start, obey, and tidy up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = Path(tempfile.mkdtemp(prefix="aisle-pg-"))
    try:
        server = _Server(binaries, folder)
        try:
            server.start()
            print(folder, flush=True)
            for line in sys.stdin:
                server.stop(signal.SIGKILL if line.strip() == "kill" else signal.SIGINT)
                if line.strip() == "start":
                    server.start()
                print("done", flush=True)
        finally:
            server.stop(signal.SIGQUIT)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Server:
    def __init__(self, binaries: Path, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._who: dict[str, Any] = {"cwd": folder, "stdin": subprocess.DEVNULL, "env": _environment()}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            self._who |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self._binaries = self._within_reach(binaries)
        self._run("initdb", "-D", "data", "-U", "aisle", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def start(self) -> None:
        """Come up and answer; what an earlier one left behind may take a moment to be gone."""
        until = monotonic() + _SECONDS
        command = [str(self._binaries / "postgres"), "-D", "data", "-k", str(self._folder)]
        command += [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        while monotonic() < until:
            with (self._folder / "log").open("ab") as log:
                self._process = subprocess.Popen(command, stdout=log, stderr=log, **self._who)
            while self._process.poll() is None and monotonic() < until:
                if self._is_ready():
                    return
                sleep(0.02)
            sleep(0.1)
        raise RuntimeError((self._folder / "log").read_text(errors="replace")[-2000:])

    def stop(self, how: int) -> None:
        """End the server and wait for it."""
        if self._process is not None:
            if self._process.poll() is None:
                self._process.send_signal(how)
            self._process.wait(_SECONDS)
            self._process = None

    def _is_ready(self) -> bool:
        """Whether the server says so in its file, as `pg_ctl` reads it."""
        assert self._process is not None
        try:
            said = (self._folder / "data" / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return said[:1] == [str(self._process.pid)] and [line.strip() for line in said[7:8]] == ["ready"]

    def _run(self, name: str, *arguments: str) -> None:
        subprocess.run([self._binaries / name, *arguments], check=True, stdout=subprocess.DEVNULL, **self._who)

    def _within_reach(self, binaries: Path) -> Path:
        """The binaries where whoever runs them may reach them; a wheel in root's home has to be copied."""
        try:
            self._binaries = binaries
            self._run("postgres", "--version")
            return binaries
        except OSError:
            package = binaries.parent.parent
            for part in (binaries.parent, package.with_name(f"{package.name}.libs")):
                # As they lie in the wheel: the programs find their libraries from where they are.
                if part.exists():
                    shutil.copytree(part, self._folder / "server" / part.relative_to(package.parent), symlinks=True)
            return self._folder / "server" / binaries.relative_to(package.parent)


def _environment() -> dict[str, str]:
    return {"LC_ALL": "C", "TZ": "UTC", "PATH": os.environ.get("PATH", os.defpath)}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
