"""The command line: ``lslmatch match`` for files, ``lslmatch demo`` for built-in data."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

from lslmatch.cli.output import complain
from lslmatch.cli.parser import make_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of the process unless given.

    Returns
    -------
    int
        The exit code: 0, or 2 if the arguments or the files cannot be used, or 130 after Ctrl-C.
        (Wrong usage and ``--help`` leave through `SystemExit`, as is argparse's way.)
    """
    try:
        options = make_parser().parse_args(argv)
        options.command = shlex.join(["lslmatch", *(sys.argv[1:] if argv is None else argv)])
        options.run(options)
    except KeyboardInterrupt:
        return complain("interrupted", code=130)
    except BrokenPipeError:
        return 1  # The reader of our output left, as `head` does.
    except (ValueError, TypeError) as error:
        return complain(str(error))
    except MemoryError:
        return complain("not enough memory for this many points")
    return 0


if __name__ == "__main__":
    sys.exit(main())
