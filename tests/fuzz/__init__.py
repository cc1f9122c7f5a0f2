"""Hostile input for the public functions and the command line; see ``python tests/fuzz --help``."""
