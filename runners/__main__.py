"""`python -m runners`."""

import sys

from runners.cli import main

sys.exit(main(sys.argv[1:]))
