"""Second sets that have nothing in common with the first: what is found in them is chance.

Of each two successive principal components of y one is turned over, chosen at random. All distances within y
stay, and the sizes of the components; who is whose partner is lost. (One of two: if signs were all random,
the first components, which decide most, might keep theirs.)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lslmatch._types import FloatArray

#: How many such sets there are of many points and of fewer, of which chance makes more; and what their signs
#: follow from.
_SETS, _MANY, _SETS_OF_FEW, _SEED = 3, 100, 9, 291


def unrelated_sets(y: FloatArray) -> Iterator[FloatArray]:
    """Give sets like y."""
    mean = y.mean(axis=0)
    centred = y - mean
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    scores = centred @ axes.T
    rng = np.random.default_rng((_SEED, *y.shape))
    for _ in range(_SETS if len(y) >= _MANY else _SETS_OF_FEW):
        turned = np.zeros(len(axes) + 1, np.bool_)
        first = 2 * np.arange((len(axes) + 1) // 2)
        turned[first + rng.integers(2, size=first.size)] = True
        change = scores * turned[: len(axes)]
        yield y - 2.0 * (change @ axes)
