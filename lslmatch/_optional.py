"""Packages that only some functions need: imported when such a function is called, with a clear message."""

from __future__ import annotations

import importlib
from typing import Any


def load(module: str, extra: str, purpose: str) -> Any:
    """Import a module, or say which of the library's extras brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # it is there, and lacks something of its own
        raise ModuleNotFoundError(
            f"{purpose} needs {package}: pip install {package}, or pip install 'lslmatch[{extra}]'",
            name=package,
        ) from None
