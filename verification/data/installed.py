"""Files and modules of packages that an extra installs, and a clear word if it is missing."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any


class MissingExtraError(ImportError):
    """A package that one of the extras brings is not installed."""


def require(module: str, extra: str) -> Any:
    """Import a module that an extra brings."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise _missing(module, extra) from error


def package_folder(package: str, extra: str) -> Path:
    """Give the folder of an installed package without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise _missing(package, extra)
    return Path(spec.submodule_search_locations[0])


def _missing(package: str, extra: str) -> MissingExtraError:
    return MissingExtraError(f"{package} is not installed; get it with: pip install 'lslmatch[{extra}]'")
