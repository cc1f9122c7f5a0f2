"""What the commands print: tables for people, and complaints of one line."""

from __future__ import annotations

import os
import sys

from lslmatch.io.tables import FileError


def print_table(rows: dict[str, str]) -> None:
    """Print names and values in two columns."""
    width = max(map(len, rows))
    text = "\n".join(f"{name:<{width}}  {value}" for name, value in rows.items())
    # A path need not be printable in the terminal's encoding.
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except OSError as error:
        # Python would complain once more when it flushes at exit, so give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise FileError(f"standard output: {(error.strerror or str(error)).lower()}") from None


def complain(message: str, code: int = 2) -> int:
    """Print one line to standard error, and return the exit code."""
    print("lslmatch:", " ".join(message.split()), file=sys.stderr)
    return code
