"""Options of the same kind that several commands have."""

from __future__ import annotations

import argparse


def add_number(parser: argparse._ActionsContainer, name: str, default: int, meaning: str) -> None:
    """Add an option that takes a whole number."""
    parser.add_argument(name, default=default, metavar="N", type=int, help=f"{meaning} (default: {default})")
