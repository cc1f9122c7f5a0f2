"""Real data matched in several ways side by side: which pairs each of them gets right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray
from lslmatch.results import Affine, MatchResult
from verification.engine.samples import Row
from verification.scenarios.recovery import certified_match


class Method(NamedTuple):
    """A way to match: what is minimised, after which alignment, which covariance and how many pairs."""

    objective: str
    alignment: Callable[[FloatArray, FloatArray], str | Affine]
    covariance: str = "isotropic"
    pairs: str = "all"


#: Least squares needs no alignment: with sets of equal size, no shift or scale changes its answer.
METHODS: Mapping[str, Method] = {
    "plain LSL": Method("lsl", lambda x, y: "identity"),
    "least squares": Method("lss", lambda x, y: "identity"),
    "centring only": Method("lsl", lambda x, y: Affine(1.0, x.mean(axis=0) - y.mean(axis=0))),
    "affine LSL": Method("lsl", lambda x, y: "standardize"),
    "profile": Method("lsl", lambda x, y: "profile"),
    "auto": Method("lsl", lambda x, y: "auto"),
    "learned covariance": Method("lsl", lambda x, y: "standardize", "estimate"),
    "learned or isotropic": Method("lsl", lambda x, y: "standardize", "auto"),
}

#: The method that the others are compared with. It is alignment="standardize", by its name in the tables.
REFERENCE = "affine LSL"


def compare(
    x: FloatArray,
    y: FloatArray,
    rng: np.random.Generator,
    counted: NDArray[np.bool_] | None = None,
    methods: Mapping[str, Method] = METHODS,
) -> list[Row]:
    """Match `x` with a shuffled `y`, row i of one being the partner of row i of the other.

    Only the `counted` rows have a partner to be found; by default all. The reference is among the methods.

    Returns
    -------
    list of Row
        For each method the pairs that it gives (``given``) and those that it gets right, those of them that
        the reference gets wrong (``lost``), those that only the reference gets right (``gained``), and the
        scale.
    """
    place = rng.permutation(len(y))
    shuffled = np.empty_like(y)
    shuffled[place] = y
    results = {name: run_method(method, x, shuffled) for name, method in methods.items()}
    kept = np.ones(len(x), bool) if counted is None else counted
    right = {name: (result.permutation == place)[kept] for name, result in results.items()}
    return [
        {
            "method": name,
            "pairs": len(hits),
            "given": int((results[name].permutation >= 0).sum()),
            "scale": results[name].scale,
            **_counts(hits, right[REFERENCE]),
        }
        for name, hits in right.items()
    ]


def run_method(method: Method, x: FloatArray, y: FloatArray) -> MatchResult:
    """Match two sets in one way, and insist on the certificate."""
    alignment = method.alignment(x, y)
    return certified_match(
        x,
        y,
        objective=method.objective,
        alignment=alignment,
        covariance=method.covariance,
        pairs=method.pairs,
    )


def _counts(right: NDArray[np.bool_], reference: NDArray[np.bool_]) -> dict[str, int]:
    return {
        "right": int(right.sum()),
        "gained": int((reference & ~right).sum()),
        "lost": int((right & ~reference).sum()),
    }
