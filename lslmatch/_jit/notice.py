"""Warnings that a process is given once."""

from __future__ import annotations

import warnings

_said: set[str] = set()


def warn_once(topic: str, text: str) -> None:
    """Warn, unless this process was warned of the topic before."""
    if topic not in _said:
        _said.add(topic)
        warnings.warn(text, RuntimeWarning, stacklevel=3)
