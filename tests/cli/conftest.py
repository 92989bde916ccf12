"""What all tests of commands have: a demo store that no command makes anew."""

from pathlib import Path

import pytest

from aisle.cli import embedded_service
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.db.database_interface import DatabaseMonitor
from aisle.service.open_service_and_admin_token import Service, open_service
from tests.service.world import prepare


@pytest.fixture(autouse=True)
def _demo_stores_are_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new embedded service of this process gets a copy of the demo store; to make it takes a second."""

    def opened(path: Path, options: ServiceOptions, *, demo: bool, monitor: DatabaseMonitor) -> Service:
        if demo and not path.exists():
            prepare(path, demo=True)
        return open_service(path, options, demo=demo, monitor=monitor)

    monkeypatch.setattr(embedded_service, "open_service", opened)
