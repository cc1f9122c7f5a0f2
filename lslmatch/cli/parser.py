"""The arguments that the program takes."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from lslmatch import __version__
from lslmatch.cli import compile_command, demo_command, match_command
from lslmatch.cli.output import complain

_DESCRIPTION = """\
Match two sets of points that differ by an unknown order, scale and shift.
"""

EXAMPLES = """\
examples:
  lslmatch demo                                     see what it does, on built-in data
  lslmatch match x.npy y.npy --out pairs.csv        match two files
  lslmatch match x.csv y.csv --alignment identity   no scale or shift between the two
  lslmatch match x.npy y.npy --covariance auto      learn how the noise is correlated
  lslmatch compile                                  compile all kernels ahead of time
  lslmatch match --help                             the files and the options explained
"""


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of the program and its commands; `run` of what it returns is the command."""
    parser = _Parser(
        prog="lslmatch",
        description=_DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    match_command.add_command(commands)
    demo_command.add_command(commands)
    compile_command.add_command(commands)
    return parser


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        sys.exit(complain(f"{message} (see {self.prog} --help)"))
