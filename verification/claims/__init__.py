"""The claims, one small file a statement of the paper; a new file is found by being here.

A module of this package gives its claims as ``CLAIMS``, a tuple. ``ORDER`` only says in which order they are
read: modules that it does not name come last, by name. ``SHARED`` names the modules that hold no claim.
"""

from __future__ import annotations

import sys
from functools import cache

from verification.claims.definition import Claim
from verification.engine import registry

ORDER = ("lemma_1", "lemma_2", "lemma_3", "lemma_4", "proposition_1", "theorem_1", "theorem_2", "zeta_1")
SHARED = ("checking", "conditions", "definition", "outcomes", "own", "sampling")


_BROKEN: dict[str, str] = {}


@cache
def load() -> dict[str, Claim]:
    """Give every claim by its id."""
    _BROKEN.clear()
    return registry.load(sys.modules[__name__], "CLAIMS", order=ORDER, shared=SHARED, broken=_BROKEN)


def broken() -> dict[str, str]:
    """Give the files that hold no claim because they cannot be imported, and why."""
    load()
    return dict(_BROKEN)


def get(name: str) -> Claim:
    """Give the claim of an id."""
    return load()[name]
