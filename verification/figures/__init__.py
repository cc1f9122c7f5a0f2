"""The figures, one small file each; a new file is found by being here.

A module of this package gives its figures as ``FIGURES``, a tuple. Figures that share a
:class:`verification.engine.studies.Study` share its trials. ``SHARED`` names the modules that hold no figure.
"""

from __future__ import annotations

import sys
from functools import cache

from verification.engine import registry
from verification.engine.studies import Study
from verification.figures.definition import Figure

ORDER = ("step_by_step", "scale_error", "heat_map", "slices", "comparison", "untuned_families", "margins")
SHARED = ("adversarial_study", "definition", "making", "method_shares")


@cache
def load() -> dict[str, Figure]:
    """Give every figure by its id."""
    return registry.load(sys.modules[__name__], "FIGURES", order=ORDER, shared=SHARED)


def get_study(name: str) -> Study:
    """Give the study of an id."""
    return next(figure.study for figure in load().values() if figure.study.id == name)
