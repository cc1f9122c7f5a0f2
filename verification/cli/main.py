"""Choose the command: the claims, or with ``figures``, ``prove`` or ``sabotage`` one of these."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from verification.cli.stops import PROGRAM_ERROR


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and give its exit code; an error that nobody expected is told with its traceback."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except Exception:
        traceback.print_exc()
        return PROGRAM_ERROR


def _run(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] == "sabotage":
        from verification.cli import sabotage_command

        return sabotage_command.main(arguments[1:])
    if arguments and arguments[0] == "figures":
        from verification.cli import figures_command

        return figures_command.main(arguments[1:])
    if arguments and arguments[0] == "prove":
        from verification.cli import prove_command

        return prove_command.main(arguments[1:])
    from verification.cli import claims_command

    return claims_command.main(arguments)
