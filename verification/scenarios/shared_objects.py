"""Objects described twice, of which each set has only a part: who is in both, and who in one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from verification.scenarios.strangers import score_pairs

HALVES, ONE_SET = "two halves", "one set"
#: Ways to leave objects out: by which share of either set has no partner, or by name.
PARTS: dict[str, float] = {
    "none": 0.0,
    "10 %": 0.1,
    "30 %": 0.3,
    "50 %": 0.5,
    ONE_SET: 0.3,
    HALVES: 0.5,
    "all": 1.0,
}


class PartlyShared(NamedTuple):
    """Two sets in random order, and the truth about them."""

    x: FloatArray
    y: FloatArray
    partner: IntArray  # (n,): the true partner of each x, -1 if it has none

    @property
    def common(self) -> int:
        """The number of objects that are in both sets."""
        return int((self.partner >= 0).sum())

    def score(self, permutation: IntArray) -> tuple[float, float, int]:
        """Give recall, share of false pairs, and error of the number of pairs."""
        return score_pairs(self.partner, permutation)


def leave_out(x: FloatArray, y: FloatArray, part: str, rng: np.random.Generator) -> PartlyShared:
    """Leave objects out of both sets; row i of `x` and of `y` is the same object.

    With a share, as many objects as possible are used, each in one set or in both. In "two halves" either
    set is a half of the objects, drawn on its own. In "one set" only `y` has objects without a partner.
    """
    total, share = len(x), PARTS[part]
    if part == HALVES:
        in_x, in_y = (rng.permutation(total)[: total // 2] for _ in range(2))
    elif part == ONE_SET:
        in_x, in_y = rng.permutation(total)[: round((1 - share) * total)], rng.permutation(total)
    else:
        size = int(total / (1 + share))
        common = round((1 - share) * size)
        order = rng.permutation(total)
        in_x = rng.permutation(order[:size])
        in_y = rng.permutation(np.concatenate([order[:common], order[size : 2 * size - common]]))
    place = np.full(total, -1, np.intp)
    place[in_y] = np.arange(len(in_y))
    return PartlyShared(x[in_x], y[in_y], place[in_x])
