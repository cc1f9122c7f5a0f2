"""The last rounds, with all points: the exact matching under the map, and the map of its pairs again."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.alignment.fit import fit_at
from lslmatch.maps import Affine
from lslmatch.similarity.climbing import pair_weights
from lslmatch.similarity.procrustes import FLOOR, Rules, fit_pairs
from lslmatch.similarity.units import Turn

#: Rounds, passes of weights and fits in each, at most; and the change of squared distances, in units of their
#: median, that ends the passes. So the map hangs on the pairs, and no more on where the search came from.
_ROUNDS, _PASSES, _SETTLED = 6, 60, 1e-7


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
        for _ in range(_PASSES):
            fit, last = fit_pairs(a, b, partner, pair_weights(own), rules), own
            own = fit.squares_of_pairs()
            if not np.abs(own - last).max() > _SETTLED * float(np.median(own)) + FLOOR:
                break
        if not np.isfinite(own).all():
            break
        turn = fit.turn
    return turn
