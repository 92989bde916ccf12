"""`python -m tests.bench [start scan burst bytes …] [--long] [--json | --results] [--short]`: each beside its floor.

Exit status 0 when everything could be measured, whatever the verdicts; 1 when something was lost; 2 for bad usage.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from subprocess import CalledProcessError

from tests.bench import (  # noqa: F401 - they register their rows
    rows_cache,
    rows_cache_changes,
    rows_chain,
    rows_courier,
    rows_desk,
    rows_growth,
    rows_handhelds,
    rows_outbox,
    rows_pages,
    rows_path,
    rows_safety,
    rows_service,
    rows_session,
    rows_sessions,
    rows_slow_link,
    rows_stores,
    rows_sync,
    rows_syncs,
)
from tests.bench.bench import Bench
from tests.bench.machine import machine
from tests.bench.table import GROUPS, LONG, Finding, lines, markdown, run


def main(argv: Sequence[str] | None = None) -> int:
    """Measures the groups asked for and prints the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.partition("\n")[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}; all when none is named")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--results", action="store_true", help="print the table of RESULTS.md: what has a budget")
    parser.add_argument(
        "--short", action="store_true", help="a few seconds: proves that it runs, its figures mean little"
    )
    parser.add_argument("--long", action="store_true", help=f"{', '.join(LONG)} too: growth and load, an hour")
    parser.add_argument("--minutes", type=float, default=10, metavar="N", help="how long load is kept up, 10")
    parser.add_argument("--floor-only", action="store_true", help="leave aisle out")
    parser.add_argument("--work", type=Path, metavar="DIR", help="prepare the store here, and use it again next time")
    asked = parser.parse_args(argv)
    if unknown := [name for name in asked.groups if name not in GROUPS]:
        parser.error(f"no such group: {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    before = machine()
    try:
        findings, curves = measure(asked)
    except (AssertionError, CalledProcessError) as error:
        print(f"tests.bench: {error}", file=sys.stderr)
        return 1
    if asked.json:
        print(json.dumps({"machine": before, "rows": [each.as_json() for each in findings], "drawn": curves}, indent=1))
        return 0
    if asked.results:
        print("\n".join(markdown(findings)))
    else:
        print("\n".join([*lines(findings), *curves]))
    print("\n" + "\n".join(f"{name}: {value}" for name, value in before.items()))
    return 0


def measure(asked: argparse.Namespace) -> tuple[list[Finding], list[str]]:
    """Measures what was asked for, group by group, and says so on stderr; the findings, and curves to be printed."""
    findings: list[Finding] = []
    usual = [name for name in GROUPS if asked.long or name not in LONG]
    with Bench(short=asked.short, work=asked.work, minutes=asked.minutes) as bench:
        if not asked.floor_only:
            print(f"preparing a store with {bench.products:,} products …", file=sys.stderr, flush=True)
            bench.prepare()
        for name in asked.groups or usual:
            print(f"measuring {name} …", file=sys.stderr, flush=True)
            began = time.monotonic()
            findings += run(GROUPS[name], bench)
            print(f"… {name} took {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        return findings, bench.curves


if __name__ == "__main__":
    sys.exit(main())
