"""The last rounds, with all points: the exact matching under the map, and the map of its pairs again."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.alignment.fit import fit_at
from lslmatch.maps import Affine
from lslmatch.similarity.climbing import pair_weights
from lslmatch.similarity.procrustes import FLOOR, Rules, fit_pairs
from lslmatch.similarity.units import Turn

#: Rounds, at most.
_ROUNDS = 6


def polish(a: FloatArray, b: FloatArray, turn: Turn, rules: Rules, workers: int) -> Turn:
    """Fit a map to the pairs of all points, until they stay the same; `a` is not larger than `b`."""
    nothing = Affine(1.0, np.zeros(a.shape[1]))
    before = None
    for _ in range(_ROUNDS):
        mapped = turn.apply(b)
        partner = fit_at(a, mapped, nothing, workers).assignment.col_ind
        if before is not None and np.array_equal(before, partner):
            break
        before = partner
        own = np.maximum(((a - mapped[partner]) ** 2).sum(axis=1), FLOOR)
        for _ in range(2):
            fit = fit_pairs(a, b, partner, pair_weights(own), rules)
            own = fit.squares_of_pairs()
        turn = fit.turn
    return turn
