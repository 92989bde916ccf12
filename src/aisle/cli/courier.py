"""`aisle courier`: the process that sends and fetches for this host, and whoever waits behind it.

Who waits keeps what is imported here, so what the work needs is imported when somebody is in office.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from aisle.cli.options import settings_from_arguments
from aisle.courier.standby import run_with_standby
from aisle.host.leader_lock import absolute_path
from aisle.host.program_version import PROGRAM_VERSION
from aisle.host.store_folder import StoreFolder
from aisle.settings import LoadedSettings, service_url

if TYPE_CHECKING:
    from aisle.host.leader_lock import LeaderLock


def run(arguments: argparse.Namespace) -> int:
    """Is the courier until nobody needs it; 0 also when another one is in office.

    Nobody sees what it would say of a wrong settings file, and what was noted has to go out: it goes by what is right.
    """
    loaded = settings_from_arguments(arguments, strict=False)
    home = StoreFolder(loaded.data_folder, service_url(loaded.settings), loaded.settings.store)
    return run_with_standby(
        home, PROGRAM_VERSION, partial(_lead, loaded, home), absolute_path(loaded.settings.token_file)
    )


def _lead(loaded: LoadedSettings, store_folder: StoreFolder, lock: LeaderLock) -> None:
    from aisle.cli.reason_texts import reason_text
    from aisle.cli.service_client import client_factory, preload_client, push_settings_of
    from aisle.cli.time_zones import ZoneWatch
    from aisle.courier.leader import LeaderOptions, run_process

    preload_client(loaded)
    term = LeaderOptions(
        push_settings=push_settings_of(loaded), translate=reason_text, is_zone_changed=ZoneWatch(loaded).has_changed
    )
    run_process(store_folder, client_factory(loaded), lock, term)
