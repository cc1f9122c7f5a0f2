"""What ``python -m lslmatch`` runs."""

import sys

from lslmatch.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
