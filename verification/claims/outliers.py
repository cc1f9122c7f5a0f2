"""Points without a partner: two theorems of the authors' earlier papers, scale and shift known.

Minasyan, Galstyan, Hunanyan and Dalalyan, *Matching map recovery with an unknown number of outliers* (2023),
whose abstract states the separation that is tested here; and Galstyan, Minasyan and Dalalyan, *Optimal
detection of the feature matching map in presence of noise and outliers* (2022), whose abstract gives orders.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from lslmatch import solve_assignment
from lslmatch._types import FloatArray, IntArray
from verification.claims.conditions import between
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.recovery import certified_match
from verification.statistics.binomial import decide_events


class State(NamedTuple):
    """Two sets of features and noise levels, in no common order."""

    x: FloatArray
    y: FloatArray
    noise_x: FloatArray
    noise_y: FloatArray
    partner: IntArray
    """(n,): the partner of each point of x, -1 if it has none."""
    price: float
    """The squared distance, in units of twice the noise variance, above which no pair is made."""

    def sample(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw both sets."""
        x, y = (
            features + noise[:, None] * rng.standard_normal(features.shape)
            for features, noise in ((self.x, self.noise_x), (self.y, self.noise_y))
        )
        return x, y


# ------------------------------------------------------------------ the number of partners is unknown


def separated_strangers(parameters: Parameters, rng: np.random.Generator) -> State:
    """Draw sets of n and m points, k of them partners, all others as far apart as the theorem asks for.

    No two points of different objects are closer than `multiple` times the threshold, and two are as close.
    """
    n, m, k, d, alpha = (parameters[key] for key in ("n", "m", "k", "d", "alpha"))
    level = math.sqrt(d * math.log(4 * n * m / alpha))
    separation = parameters.get("multiple", 1.0) * 5 * math.sqrt(level)
    objects = rng.standard_normal((n + m - k, d))
    objects *= math.sqrt(2) * separation / _least_distance(objects)
    place = draw_permutation(m, rng)
    y = np.empty((m, d))
    y[place] = np.concatenate([objects[:k], objects[n:]])
    partner = np.concatenate([place[:k], np.full(n - k, -1)])
    # Between what partners cost at most and what others cost at least: d + 4 level is the first of them.
    return State(objects[:n], y, np.ones(n), np.ones(m), partner, d + 6 * level)


def recover_some(state: State, rng: np.random.Generator) -> Values:
    """Match the pairs that are worth their price, and say whether they are all partners and no others."""
    x, y = state.sample(rng)
    costs = cdist(x, y, "sqeuclidean") / 2
    found = solve_assignment(costs, unmatched=state.price)
    everything = solve_assignment(costs)
    return {
        "not recovered": not _is_truth(found.row_ind, found.col_ind, state.partner),
        "not recovered, all matched": not _is_truth(everything.row_ind, everything.col_ind, state.partner),
    }


def _is_truth(rows: IntArray, cols: IntArray, partner: IntArray) -> bool:
    return len(rows) == int((partner >= 0).sum()) and np.array_equal(partner[rows], cols)


def _least_distance(points: FloatArray) -> float:
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    return float(distances.min())


# ---------------------------------------------------------------- noise levels are unknown and differ


def quiet_strangers(parameters: Parameters, rng: np.random.Generator) -> State:
    """Draw n partners far apart, and beside some of them a stranger in y that has next to no noise.

    A stranger is `reach` times sqrt(d) away from its partner-less neighbour, in units of the noise of both.
    """
    n, strangers, d = parameters["n"], parameters["strangers"], parameters["d"]
    quiet = 0.01
    features = rng.standard_normal((n, d))
    features *= 20 * math.sqrt(d) / _least_distance(features)
    directions = rng.standard_normal((strangers, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    reach = parameters["reach"] * d ** parameters.get("power", 0.5) * math.sqrt(1 + quiet**2)
    place = draw_permutation(n + strangers, rng)
    y, noise_y = np.empty((n + strangers, d)), np.empty(n + strangers)
    y[place] = np.concatenate([features, features[:strangers] + reach * directions])
    noise_y[place] = np.repeat([1.0, quiet], [n, strangers])
    return State(features, y, np.ones(n), noise_y, place[:n], np.nan)


def recover_all(state: State, rng: np.random.Generator) -> Values:
    """Match every point of x by LSL without alignment, and say whether all got their partners."""
    x, y = state.sample(rng)
    found = certified_match(x, y, alignment="identity").permutation
    return {"not recovered": not np.array_equal(found, state.partner)}


def _strangers_cell(d: int, reach: float, tier: str, role: str = "claim", power: float = 0.5) -> Cell:
    parameters = {"n": 20, "strangers": 5, "d": d, "reach": reach, "power": power}
    return Cell(f"d={d} {reach:g} d^{power:g}", parameters, 0.05, tier=tier, role=role)


def _unknown_cell(
    n: int, m: int, k: int, d: int, alpha: float, tier: str, multiple: float = 1.0, role: str = "claim"
) -> Cell:
    parameters = {"n": n, "m": m, "k": k, "d": d, "alpha": alpha, "multiple": multiple}
    return Cell(
        f"n={n} m={m} k={k} d={d} alpha={alpha:g} x {multiple:g}", parameters, alpha, tier=tier, role=role
    )


_CLOSE = "an eighth of the separation"
_QUARTER = "outliers at a distance of order d^(1/4)"

CLAIMS = (
    Claim(
        id="unknown-number-of-outliers",
        kind="probability",
        source="Minasyan, Galstyan, Hunanyan and Dalalyan (2023), abstract",
        statement="With equal noise, scale and shift known, least squares with a choice of the pairs "
        "recovers all partners, and leaves out all points without one, with probability at least 1 − α.",
        formula="κ ≥ 5 (d log(4nm/α))^¼   ⟹   P(π̂ = π*) ≥ 1 − α,   d ≥ 64 log(4nm/α)",
        cells=(
            _unknown_cell(12, 12, 9, 640, 0.1, "smoke"),
            _unknown_cell(12, 18, 6, 680, 0.1, "quick"),
            _unknown_cell(20, 20, 2, 700, 0.1, "quick"),
            _unknown_cell(30, 20, 15, 800, 0.05, "full"),
            _unknown_cell(12, 12, 9, 640, 0.1, "smoke", 0.125, _CLOSE),
        ),
        conditions=(
            between("alpha", 0, 1, "α"),
            Condition("k ≤ min(n, m)", lambda p: 0 < p["k"] <= min(p["n"], p["m"])),
            Condition("κ ≥ its threshold", lambda p: p.get("multiple", 1.0) >= 1),
        ),
        setup=separated_strangers,
        trial=recover_some,
        column="not recovered",
        decide=decide_events,
        controls=(
            Control(_CLOSE, own_cells=True),
            Control("every point matched", "not recovered, all matched"),
        ),
        picture="bars",
        axes=("", "failure probability"),
        batch=50,
        remark="κ is the least distance of two different objects, in units of the noise of both points, and "
        "exactly the threshold. Pairs are made up to a price between what partners and others cost at that "
        "separation; the paper chooses their number in a way of its own. The range of d is where the "
        "abstract's 'high-dimensional setting' makes the fourth root the larger term.",
    ),
    Claim(
        id="outliers-of-unknown-noise",
        kind="probability",
        source="Galstyan, Minasyan and Dalalyan (2022), abstract",
        statement="With noise levels that differ and are unknown, outliers have to be at a distance of order "
        "√d, and that is enough for LSL: 2√d with outliers that have no noise of their own.",
        formula="κ_in-out = 2 √d   ⟹   P(π̂ = π*) ≥ 0.95,   and not for 2 d^¼",
        cells=(
            _strangers_cell(25, 2.0, "smoke"),
            _strangers_cell(100, 2.0, "quick"),
            _strangers_cell(400, 2.0, "full"),
            _strangers_cell(100, 2.0, "smoke", _QUARTER, 0.25),
            _strangers_cell(400, 2.0, "full", _QUARTER, 0.25),
        ),
        conditions=(
            Condition(
                "strangers are not nearer than twice what suffices",
                lambda p: p["reach"] >= 2 and p.get("power", 0.5) >= 0.5,
            ),
        ),
        setup=quiet_strangers,
        trial=recover_all,
        column="not recovered",
        decide=decide_events,
        controls=(Control(_QUARTER, own_cells=True),),
        picture="bars",
        axes=("", "failure probability"),
        batch=50,
        remark="The abstract gives orders, and no constants. Without noise of its own an outlier at distance "
        "κ is as far from x as the partner is when κ = √d; the claim has twice that, and the control falls "
        "short of it as d grows.",
    ),
)
