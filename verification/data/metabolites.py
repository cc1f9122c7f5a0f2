"""The same metabolites in other plants: Arabidopsis in the cold, read from R's pcaMethods.

Plants were harvested before the cold and 1, 4, 12, 24, 48 and 96 hours into it, six to eight each time
(Scholz and others, 2005). An object is one of 154 metabolites. It is described by its mean level at each
of the seven times: in the first set over one half of the plants of that time, in the second set over the
other half.

What was chosen, and why:

- means over the plants of a time, which is how a course over time is reported;
- halves by turns (first, third, ... and second, fourth, ... column of a time), as repeated
  measurements are split to see how reliable they are;
- levels as the package has them: they lie on both sides of zero, so they are logarithms of ratios already;
- the complete matrix, not the one from which values were removed to try methods for missing ones.

The package's manual calls the rows observations and the columns metabolites; the names inside the matrix
say that it is the other way round.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lslmatch._types import FloatArray
from verification.data.installed import require
from verification.data.pairs import Pairs, answerable_pairs
from verification.data.r_packages import LIBRARY, require_r_file

EXTRA = "held-out"

MATRIX = "metaboliteDataComplete"


def load_metabolites(library: Path = LIBRARY) -> Pairs:
    """Give 154 metabolites by their mean levels at seven times, from two halves of the plants.

    Parameters
    ----------
    library : Path
        Where R's packages are.
    """
    path = require_r_file("pcaMethods", f"{MATRIX}.RData", library)
    # The names do not say how they are encoded; all are plain.
    matrix = require("rdata", EXTRA).read_rda(path, default_encoding="ASCII")[MATRIX]
    names = [str(name) for name in np.asarray(matrix.coords["dim_1"])]
    return split_plants(np.asarray(matrix, dtype=np.float64), names)


def split_plants(levels: FloatArray, names: Sequence[str]) -> Pairs:
    """Average over every other plant of each time.

    Parameters
    ----------
    levels : array of shape (metabolites, plants)
    names : sequence of str
        Of the plants: their time, then a point and a number for all but the first of a time.
    """
    plants: defaultdict[str, list[int]] = defaultdict(list)
    for column, name in enumerate(names):
        plants[name.partition(".")[0]].append(column)
    halves = (
        np.stack([levels[:, columns[start::2]].mean(axis=1) for columns in plants.values()], axis=1)
        for start in (0, 1)
    )
    return answerable_pairs(*halves)
