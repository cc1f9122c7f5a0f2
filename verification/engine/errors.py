"""What is said of an error that no claim is about: its kind, its words and the line it comes from."""

from __future__ import annotations

import traceback
from pathlib import Path


def explain(error: BaseException) -> str:
    """Give an error in one line, with the last line of our own code, or of a claim's file, that it passed.

    Examples
    --------
    >>> explain(ValueError("n must be at least 8;  got 3"))
    'ValueError: n must be at least 8; got 3'
    """
    words = " ".join(str(error).split())
    said = f"{type(error).__name__}: {words}" if words else type(error).__name__
    if isinstance(error, SyntaxError):  # its words name the file and the line
        return said
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename and frame.filename[:1] != "<"]
    return f"{said} ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else said
