"""A service of its own for the rows that need one, and homes that work with it."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.bench.bench import Bench
from tests.bench.prepare import door, environment


class Service(NamedTuple):
    """A running service: its address, a token, and the number of its process."""

    url: str
    token: str
    pid: int

    def used_ms(self) -> float:
        """Milliseconds of processor that it has used so far, on all its threads."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6


def elsewhere(bench: Bench, service: Service, name: str) -> Mapping[str, str | None]:
    """The environment of a home of this name that works with the service."""
    assert bench.aisle is not None
    token = bench.scratch / "token"
    token.touch(mode=0o600)
    token.write_text(service.token, encoding="ascii")
    return {
        **bench.aisle.env,
        "AISLE_HOME": str(bench.scratch / name),
        "AISLE_BASE_URL": service.url,
        "AISLE_TOKEN_FILE": str(token),
    }


@contextmanager
def served(bench: Bench, env: Mapping[str, str | None] | None = None) -> Iterator[Service]:
    """`aisle serve` over the prepared store, or the one of another home, in a process of its own."""
    assert bench.aisle is not None
    env = env or bench.aisle.env
    name = f"bench-{os.getpid()}-{time.monotonic_ns()}"
    token = door(env, "token", "add", name, "--role", "admin", "--stores", "*").split()[-1]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # All clients of a row have one token: it is measured how many requests are answered, not how many it may send.
    command = [sys.executable, "-m", "aisle", "serve", "--host", "127.0.0.1", "--port", str(port), "--rate", "0"]
    laid, lifeline = environment(env)
    with subprocess.Popen(command, env=laid, pass_fds=lifeline, stdout=subprocess.DEVNULL) as server:
        try:
            until(lambda: _listens(port), server)
            yield Service(f"http://127.0.0.1:{port}", token, server.pid)
        finally:
            server.terminate()


def until(condition: Callable[[], bool], process: subprocess.Popen[bytes], timeout_s: float = 30) -> None:
    """Waits for what this process is to bring about. Raises AssertionError when it ends or takes too long."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"{process.args!r} does not come up; its exit status is {process.returncode}")
        time.sleep(0.05)


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
