"""``python -m tests.stress.fuzz``: hostile input for the public functions and the command line."""

import argparse
import warnings

from lslmatch import AlignmentWarning
from tests.stress.fuzz.engines import ENGINES
from tests.stress.fuzz.session import fuzz
from tests.stress.fuzz.targets import TARGETS


def main(argv=None):
    """Fuzz; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress.fuzz", description=__doc__)
    parser.add_argument("--engine", choices=list(ENGINES), default="hypothesis", help="what finds the bytes")
    parser.add_argument("--target", choices=list(TARGETS), help="only this one (default: all in turn)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of processor time in all (default: 60)")
    parser.add_argument(
        "--replay", metavar="HEX", type=bytes.fromhex, help="try only these bytes of a finding"
    )
    options = parser.parse_args(argv)
    if options.replay is not None:
        if options.target is None:
            parser.error("--replay needs --target")
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AlignmentWarning)  # an answer, not a fault
        TARGETS[options.target](options.replay)
        return 0
    names = [options.target] if options.target else list(TARGETS)
    clean = [fuzz(name, options.engine, options.seconds / len(names)) for name in names]
    return 0 if all(clean) else 1
