"""Hostile input for the public functions and the command line; see ``python -m tests.stress.fuzz --help``."""
