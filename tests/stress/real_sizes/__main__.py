"""Run as ``python -m tests.stress.real_sizes`` in the checkout, which need not be installed."""

import sys

from tests.stress.real_sizes.command_line import main

if __name__ == "__main__":  # worker processes import this module, too
    sys.exit(main())
