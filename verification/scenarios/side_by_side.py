"""Real data matched in several ways side by side: which pairs each of them gets right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import lslmatch
from lslmatch._types import FloatArray
from lslmatch.results import Affine, MatchResult
from verification.engine.samples import Row
from verification.scenarios.recovery import CERTIFICATE_TOLERANCE, UncertifiedError, certified_match


class Method(NamedTuple):
    """A way to match: what is minimised, and after which alignment."""

    objective: str
    alignment: Callable[[FloatArray, FloatArray], str | Affine]


#: Least squares needs no alignment: with sets of equal size, no shift or scale changes its answer.
METHODS: Mapping[str, Method] = {
    "plain LSL": Method("lsl", lambda x, y: "identity"),
    "least squares": Method("lss", lambda x, y: "identity"),
    "centring only": Method("lsl", lambda x, y: Affine(1.0, x.mean(axis=0) - y.mean(axis=0))),
    "affine LSL": Method("lsl", lambda x, y: "standardize"),
    "profile": Method("lsl", lambda x, y: "profile"),
    "auto": Method("lsl", lambda x, y: "auto"),
}

#: The method that the others are compared with.
REFERENCE = "affine LSL"


def compare(
    x: FloatArray, y: FloatArray, rng: np.random.Generator, counted: NDArray[np.bool_] | None = None
) -> list[Row]:
    """Match `x` with a shuffled `y`, row i of one being the partner of row i of the other.

    Only the `counted` rows have a partner to be found; by default all.

    Returns
    -------
    list of Row
        For each method the pairs that it gets right, those of them that the reference gets wrong
        (``lost``), those that only the reference gets right (``gained``), and the scale.
    """
    place = rng.permutation(len(y))
    shuffled = np.empty_like(y)
    shuffled[place] = y
    results = {name: run_method(method, x, shuffled) for name, method in METHODS.items()}
    kept = np.ones(len(x), bool) if counted is None else counted
    right = {name: (result.permutation == place)[kept] for name, result in results.items()}
    return [
        {"method": name, "pairs": len(hits), "scale": results[name].scale, **_counts(hits, right[REFERENCE])}
        for name, hits in right.items()
    ]


def run_method(method: Method, x: FloatArray, y: FloatArray) -> MatchResult:
    """Match two sets in one way, and insist on the certificate."""
    alignment = method.alignment(x, y)
    if method.objective == "lsl":
        return certified_match(x, y, alignment=alignment)
    result = lslmatch.match(x, y, objective=method.objective, alignment=alignment)
    violation = _squares_violation(x, y, result)
    if not violation <= CERTIFICATE_TOLERANCE:
        raise UncertifiedError(f"the certificate of {method.objective} is violated by {violation:g}")
    return result


def _squares_violation(x: FloatArray, y: FloatArray, result: MatchResult) -> float:
    """Give what `check_certificate` gives for "lss", over the mean square of `x`: squares have units."""
    if result.row_dual is None or result.col_dual is None:
        raise UncertifiedError("least squares must come with dual variables")
    centre = x.mean(axis=0)
    first, second = x - centre, result.scale * y + result.shift - centre
    slack = (first**2).sum(axis=1)[:, None] - 2 * first @ second.T + (second**2).sum(axis=1)
    slack -= np.add.outer(result.row_dual, result.col_dual)
    tightness = np.abs(slack[np.arange(len(x)), result.permutation]).max()
    return float(max(tightness, -slack.min()) / (first**2).sum(axis=1).mean())


def _counts(right: NDArray[np.bool_], reference: NDArray[np.bool_]) -> dict[str, int]:
    return {
        "right": int(right.sum()),
        "gained": int((reference & ~right).sum()),
        "lost": int((right & ~reference).sum()),
    }


def by_method(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Sort what :func:`compare` returned over several trials by method."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(row["method"]), []).append(row)
    return found
