"""``python -m verification``; see :mod:`verification.cli`."""

import sys

from verification.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
