"""The paper's experiments, one small file a figure; a new file is found by being here.

A module of this package gives its figures as ``FIGURES``, a tuple. Figures that share a
:class:`verification.figure.Study` share its trials.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from verification.figure import Figure, Study

ORDER = ("step_by_step", "scale_error", "heat_map", "slices", "comparison", "families", "margins")


@cache
def load() -> dict[str, Figure]:
    """Give every figure by its id."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    names.sort(key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
    found: dict[str, Figure] = {}
    for name in names:
        for figure in getattr(importlib.import_module(f"{__name__}.{name}"), "FIGURES", ()):
            if figure.id in found:
                raise ValueError(f"figure ids must be unique; {figure.id!r} came twice, again in {name}")
            found[figure.id] = figure
    return found


def get_study(name: str) -> Study:
    """Give the study of an id."""
    return next(figure.study for figure in load().values() if figure.study.id == name)
