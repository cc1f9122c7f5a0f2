"""The same regions of the brain in different people: functional connectivity, read from brainspace.

An object is one of the 200 regions of the left hemisphere in the atlas of Schaefer with 400 regions. It
is described by how its activity at rest correlates with that of each of the 200 regions of the right.
The package has the means over two groups of people (those of Vos de Wael and others, 2018, who used one
to find and the other to confirm), and matrices of single persons. Whether such a person is one of those of
a group, and so a small part of its mean, is not said.

What was chosen, and why:

- the finest of the package's four resolutions;
- rows of the left and columns of the right hemisphere: a whole matrix has each region's correlation with
  itself, 1, in the column of that region, which would give the answer away;
- Fisher's transformation, artanh, which is usual before correlations are averaged or compared: it makes
  their error about equally large everywhere;
- the person whose file is named "median", the middle of the three that the package has at this resolution.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lslmatch._types import FloatArray
from verification.data.installed import package_folder
from verification.data.pairs import Pairs, answerable_pairs

EXTRA = "held-out"

#: The matrices of shape (400, 400), by whom they describe.
FILES = {
    "main": "main_group/schaefer_400_mean_connectivity_matrix.csv",
    "holdout": "holdout_group/schaefer_400_mean_connectivity_matrix.csv",
    "person": "individual/HCP_169949_median_schaefer_400.csv",
}


def load_regions(first: str, second: str, folder: Path | None = None) -> Pairs:
    """Give the regions of the left hemisphere by their connectivity to the right, (200, 200) each.

    Parameters
    ----------
    first, second : {"main", "holdout", "person"}
        Whose brains.
    folder : Path, optional
        Where the folder of each kind of matrix is, if not inside the installed package.
    """
    where = folder or package_folder("brainspace", EXTRA) / "datasets" / "matrices"
    return answerable_pairs(*(_left_to_right(where / FILES[name]) for name in (first, second)))


def _left_to_right(path: Path) -> FloatArray:
    correlations = np.loadtxt(path, delimiter=",", dtype=np.float64, ndmin=2)
    left = len(correlations) // 2  # the regions of the left hemisphere come first
    return np.arctanh(correlations[:left, left:])
