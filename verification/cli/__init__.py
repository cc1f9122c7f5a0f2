"""The command line: ``python -m verification``, and ``python -m verification figures``."""
