"""Run as ``python tests/benchmarks``; the checkout is measured, whether or not it is installed."""

import sys
from pathlib import Path

sys.path[:1] = [str(Path(__file__).resolve().parents[up]) for up in (1, 2)]

from benchmarks.command_line import main  # noqa: E402

sys.exit(main())
