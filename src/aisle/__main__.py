"""`python -m aisle` runs the command `aisle`."""

import sys

from aisle.cli import main

if __name__ == "__main__":
    sys.exit(main())
