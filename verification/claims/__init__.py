"""The claims, one small file a statement of the paper; a new file is found by being here.

A module of this package gives its claims as ``CLAIMS``, a tuple. ``ORDER`` only says in which order they are
read: modules that it does not name come last, by name.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from verification.claim import Claim

ORDER = ("lemma_1", "lemma_2", "lemma_3", "lemma_4", "proposition_1", "theorem_1", "theorem_2", "zeta_1")


@cache
def load() -> dict[str, Claim]:
    """Give every claim by its id."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    names.sort(key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
    found: dict[str, Claim] = {}
    for name in names:
        for claim in importlib.import_module(f"{__name__}.{name}").CLAIMS:
            if claim.id in found:
                raise ValueError(f"claim ids must be unique; {claim.id!r} came twice, again in {name}")
            found[claim.id] = claim
    return found


def get(name: str) -> Claim:
    """Give the claim of an id."""
    return load()[name]
