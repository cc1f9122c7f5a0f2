"""Section 4: LSL minimises tr(M P_pi), with the 1 of each column of P_pi in the row of the partner."""

from __future__ import annotations

import itertools

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.model import Configuration, random_configuration
from verification.claims.conditions import N_AT_LEAST_2, SEPARATION
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.recovery import certified_match
from verification.statistics.binomial import decide_events

_LARGEST = 6


def setup(parameters: Parameters, rng: np.random.Generator) -> Configuration:
    """Draw a configuration so close that the minimiser need not be the truth."""
    n, d, separation = (parameters[key] for key in ("n", "d", "separation"))
    truth = random_configuration(n, d, separation=separation, noise_ratio=4.0, scale=3.0, shift=2.0, rng=rng)
    return truth._replace(permutation=draw_permutation(n, rng))


def trial(truth: Configuration, rng: np.random.Generator) -> Values:
    """Compare the matching with the least trace of all permutation matrices, in both directions."""
    x, y = truth.sample(rng)
    found = certified_match(x, y)
    scale = np.sqrt(((x - x.mean(axis=0)) ** 2).sum() / ((y - y.mean(axis=0)) ** 2).sum())
    z, other = x - x.mean(axis=0), scale * (y - y.mean(axis=0))
    costs = np.log(((z[:, None] - other) ** 2).sum(axis=2))
    columns, rows = _least(costs, transpose=False), _least(costs, transpose=True)
    return {
        "another matching": not np.array_equal(found.permutation, columns),
        "another matching by the transpose": not np.array_equal(found.permutation, rows),
    }


def _least(costs: FloatArray, transpose: bool) -> tuple[int, ...]:
    """Give the permutation whose matrix P has the least tr(M P); P[pi(i), i] = 1, or P[i, pi(i)] = 1."""
    n = len(costs)

    def trace(permutation: tuple[int, ...]) -> float:
        matrix = np.zeros((n, n))
        for i, j in enumerate(permutation):
            matrix[(i, j) if transpose else (j, i)] = 1
        return float(np.trace(costs @ matrix))

    return min(itertools.permutations(range(n)), key=trace)


def _cell(n: int, d: int, separation: float, tier: str) -> Cell:
    parameters = {"n": n, "d": d, "separation": separation}
    return Cell(f"n={n} d={d} kappa={separation:g}", parameters, 0.0, (10, 60, 600), tier)


CLAIMS = (
    Claim(
        id="trace-form",
        kind="audit",
        source="section 4",
        statement="The matching of LSL minimises tr(M P_π) over all permutation matrices, where M has the "
        "logarithms of the squared distances and column i of P_π its 1 in row π(i).",
        formula="π̂ = argmin tr(M P_π),   M_ij = log‖Zᵢ − τ̂Z#ⱼ‖²,   (P_π)_ji = 1 if j = π(i)",
        cells=(_cell(5, 2, 1.0, "smoke"), _cell(4, 3, 3.0, "smoke"), _cell(6, 3, 0.5, "quick")),
        conditions=(
            N_AT_LEAST_2,
            SEPARATION,
            Condition(f"n ≤ {_LARGEST}, for all permutations to be tried", lambda p: p["n"] <= _LARGEST),
        ),
        setup=setup,
        trial=trial,
        column="another matching",
        decide=decide_events,
        controls=(Control("the transposed permutation matrix", "another matching by the transpose"),),
        picture="bars",
        axes=("", "share of other matchings"),
        batch=20,
    ),
)
