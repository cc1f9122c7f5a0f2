"""What the commands print: lines for people, and complaints of one line."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

from lslmatch.io.sources import FileError
from lslmatch.summary import printable

#: Text is not wrapped narrower than this, nor wider than a page.
_NARROWEST, _WIDEST = 60, 100


def print_table(rows: dict[str, str]) -> None:
    """Print names and values in two columns."""
    print_lines(list(rows.items()))


def print_lines(lines: Sequence[tuple[str, str]], to_stdout: bool = True) -> None:
    """Print names and texts in two columns, wrapped on a terminal only: elsewhere a line is a fact.

    What a terminal would obey is escaped: names out of a file neither move its cursor nor begin a line.
    """
    stream = sys.stdout if to_stdout else sys.stderr
    width = max(len(name) for name, _ in lines)
    room = None
    if stream.isatty():
        room = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
    text = []
    for name, value in lines:
        line = printable(f"{name:<{width}}  {value}")
        indent = " " * (width + 2)
        text.append(textwrap.fill(line, room, subsequent_indent=indent) if room else line)
    print_text("\n".join(text), to_stdout)


def print_text(text: str, to_stdout: bool = True) -> None:
    """Print a text; what the terminal's encoding lacks is escaped."""
    stream = sys.stdout if to_stdout else sys.stderr
    encoding = stream.encoding or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
    except OSError as error:
        # Python would complain once more when it flushes at exit, so give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise FileError(f"standard output: {(error.strerror or str(error)).lower()}") from None


def complain(message: str, code: int = 2) -> int:
    """Print one line to standard error, and return the exit code."""
    print("lslmatch:", printable(" ".join(message.split())), file=sys.stderr)
    return code
