"""`aisle courier`: the process that sends and fetches for this host, and whoever waits behind it.

Who waits keeps what is imported here, so what the work needs is imported when somebody is in office.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from aisle.cli.options import settings_of
from aisle.courier.heir import reign
from aisle.local.host.home import Home
from aisle.local.host.lock import whole
from aisle.local.host.program import PROGRAM
from aisle.settings import Loaded, base_url

if TYPE_CHECKING:
    from aisle.local.host.lock import Election


def run(arguments: argparse.Namespace) -> int:
    """Is the courier until nobody needs it; 0 also when another one is in office.

    Nobody sees what it would say of a wrong settings file, and what was noted has to go out: it goes by what is right.
    """
    loaded = settings_of(arguments, strict=False)
    home = Home(loaded.root, base_url(loaded.settings), loaded.settings.store)
    return reign(home, PROGRAM, partial(_work, loaded, home), whole(loaded.settings.token_file))


def _work(loaded: Loaded, home: Home, election: Election) -> None:
    from aisle.cli.compose import care_of, connector, load_client
    from aisle.cli.words import in_words
    from aisle.cli.zones import ZoneWatch
    from aisle.courier.run import Term, serve

    load_client(loaded)
    term = Term(care=care_of(loaded), say=in_words, zone_set=ZoneWatch(loaded).is_another)
    serve(home, connector(loaded), election, term)
