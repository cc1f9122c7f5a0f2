"""Run as ``python -m tests.stress.fuzz`` in the checkout, which is tried whether or not it is installed."""

import sys

from tests.stress.fuzz.command_line import main

sys.exit(main())
