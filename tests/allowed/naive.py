"""References: every matching that is allowed is tried, and a result made of the parts under test."""

import itertools

import numpy as np

from lslmatch import Affine
from lslmatch.allowed.checking import check_given
from lslmatch.allowed.solving import assign_allowed_points
from lslmatch.assignment.orientation import partners
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.objectives.table import make_rule
from lslmatch.results import MatchResult
from tests.support.reference import costs


def problem(seed, most=6):
    """Two small sets of some objective with known pairs, groups and forbidden pairs, each or none of them."""
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(2, most + 1), rng.integers(2, most + 1), rng.integers(1, 4)
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    if rng.random() < 0.2:
        x, y = np.round(x), np.round(y)
    groups = (rng.integers(0, 2, n), rng.integers(0, 2, m)) if rng.random() < 0.5 else None
    k = int(rng.integers(0, min(n, m)))
    known = np.stack([rng.permutation(n)[:k], rng.permutation(m)[:k]], axis=1)
    if groups is not None:
        known = known[groups[0][known[:, 0]] == groups[1][known[:, 1]]]
    forbidden = rng.random((n, m)) < rng.choice([0.0, 0.2, 0.5])
    forbidden[known[:, 0], known[:, 1]] = False
    objective = str(rng.choice(["lsl", "lss", "lsns"]))
    noise = (rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, m)) if objective == "lsns" else None
    return x, y, objective, noise, known, groups, forbidden


def least_total(x, y, objective, noise, known, groups, forbidden):
    """The least cost of a matching of as many points as possible, group by group; None if there is none."""
    cost = costs(objective, x, y, 1.0, np.zeros(x.shape[1]), noise)
    n, m = cost.shape
    groups = groups or (np.zeros(n, int), np.zeros(m, int))
    total = sum(cost[i, j] for i, j in known)
    for group in {*groups[0].tolist()} & {*groups[1].tolist()}:
        rows = [i for i in range(n) if groups[0][i] == group and i not in known[:, 0]]
        cols = [j for j in range(m) if groups[1][j] == group and j not in known[:, 1]]
        few, many = (rows, cols) if len(rows) <= len(cols) else (cols, rows)
        best = None
        for chosen in itertools.permutations(many, len(few)):
            pairs = list(zip(few, chosen, strict=True))
            pairs = pairs if few is rows else [(i, j) for j, i in pairs]
            if not any(forbidden[i, j] for i, j in pairs):
                value = sum(cost[i, j] for i, j in pairs)
                best = value if best is None else min(best, value)
        if best is None:
            return None
        total += best
    return total


def solved(x, y, objective, noise, known, groups, forbidden):
    """The result of the parts under test at scale 1."""
    given = check_given(known, groups, forbidden, len(x), len(y))
    affine = Affine(1.0, np.zeros(x.shape[1]))
    geometry = common_coordinates(x, y, affine)
    found = assign_allowed_points(geometry, make_rule(objective, geometry, 1.0, noise), given)
    return MatchResult(
        partners(len(x), found.row_ind, found.col_ind),
        *affine,
        found.objective,
        found.row_dual,
        found.col_dual,
        objective,
        noise,
        given=given,
    )
