"""Exactness at real sizes on nasty input; see ``python -m tests.stress.real_sizes --help``."""
