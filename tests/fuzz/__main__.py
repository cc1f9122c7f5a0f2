"""Run as ``python tests/fuzz``; the checkout is tried, whether or not it is installed."""

import sys
from pathlib import Path

sys.path[:1] = [str(Path(__file__).resolve().parents[up]) for up in (1, 2)]

from fuzz.command_line import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
