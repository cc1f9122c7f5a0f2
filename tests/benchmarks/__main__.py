"""Run as ``python -m tests.benchmarks`` in the checkout, which is measured whether or not it is installed."""

import sys

from tests.benchmarks.command_line import main

sys.exit(main())
