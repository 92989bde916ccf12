"""`aisle courier`: runs the process that talks to the service for this host, or waits as standby for its leader.

A standby keeps all modules imported here, so the modules of a leader are imported only when it leads.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from aisle.cli.options import SettingValues, setting_options, settings_from_options
from aisle.courier.standby import run_with_standby
from aisle.host.leader_lock import PROGRAM_VERSION, absolute_path
from aisle.host.store_and_database_folders import StoreFolder
from aisle.settings.setting_definitions import service_url
from aisle.settings.settings_files_and_folders import LoadedSettings, trusted_data_folder

if TYPE_CHECKING:
    from aisle.host.leader_lock import LeaderLock


@click.command()
@setting_options
def courier(setting_values: SettingValues) -> int:
    """Run the background process that sends and reads for this host.

    The exit status is 0 also if another courier leads. An invalid settings file does not stop the courier: queued
    operations must be sent. Valid parts of the file apply. A data folder that other accounts may change does stop it.
    """
    trusted_data_folder()
    loaded = settings_from_options(setting_values, strict=False)
    store_folder = StoreFolder(loaded.data_folder, service_url(loaded.settings), loaded.settings.store)
    return run_with_standby(
        store_folder, PROGRAM_VERSION, partial(_lead, loaded, store_folder), absolute_path(loaded.settings.token_file)
    )


def _lead(loaded: LoadedSettings, store_folder: StoreFolder, lock: LeaderLock) -> None:
    from aisle.cli.print_rows_and_messages import reason_text
    from aisle.cli.service_client import client_factory, preload_client, push_settings_of
    from aisle.cli.time_zones_of_host_and_stores import ZoneWatch
    from aisle.courier.leader_process import LeaderOptions, run_process

    preload_client(loaded)
    options = LeaderOptions(
        push_settings=push_settings_of(loaded), translate=reason_text, is_zone_changed=ZoneWatch(loaded).has_changed
    )
    run_process(store_folder, client_factory(loaded), lock, options)
