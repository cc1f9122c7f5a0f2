"""Tools that people use to find partners, each as its documentation suggests, in one form.

All but those that look for a motion themselves get both sets standardised, which is the least that a user who
knows of an unknown scale and shift would do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

import lslmatch
from lslmatch._types import FloatArray, IntArray
from verification.data.installed import require

EXTRA = "tools"


class Task(NamedTuple):
    """Two sets, the truth, and some pairs that are known beforehand, to those who can use them."""

    x: FloatArray
    y: FloatArray
    partner: IntArray
    """(n,): the true partner in y of each point of x, -1 if it has none."""
    known: IntArray
    """The points of x whose partner is known; no tool is judged by them."""


#: From a task to a partner for each point of x, -1 for none.
Tool = Callable[[Task], IntArray]


def nearest(task: Task) -> IntArray:
    """Give each point its nearest one, by a k-d tree: two may get the same."""
    found: IntArray = cKDTree(lslmatch.standardize(task.y)).query(lslmatch.standardize(task.x))[1]
    return found


def least_squares(task: Task) -> IntArray:
    """Minimise the sum of squared distances."""
    return _assigned(cdist(lslmatch.standardize(task.x), lslmatch.standardize(task.y), "sqeuclidean"))


def gromov_wasserstein(task: Task) -> IntArray:
    """Compare the distances within the sets, and take the pairs that hold most of the plan."""
    within = [cdist(points, points) for points in (task.x, task.y)]
    plan = require("ot", EXTRA).gromov.gromov_wasserstein(*(part / part.max() for part in within))
    return _assigned(-np.asarray(plan))


def coherent_point_drift(task: Task) -> IntArray:
    """Fit a motion by mixtures, and take the most probable pairs.

    The motion is rigid with a scale where the package has that, in two and three dimensions, else affine.
    An affine motion is not determined by fewer points than dimensions: no pairs then.
    """
    package = require("pycpd", EXTRA)
    kind = package.RigidRegistration if task.x.shape[1] <= 3 else package.AffineRegistration
    drift = kind(X=lslmatch.standardize(task.x), Y=lslmatch.standardize(task.y))
    try:
        drift.register()
    except np.linalg.LinAlgError:
        return np.full(len(task.x), -1, np.intp)
    return _assigned(-np.asarray(drift.P).T)


def canonical_correlation(task: Task) -> IntArray:
    """Learn from the known pairs which combinations of coordinates go together, and match those."""
    decomposition = require("sklearn.decomposition", EXTRA)
    size = max(1, min(10, task.x.shape[1], len(task.known) // 3))
    x, y = (decomposition.PCA(size).fit_transform(points) for points in (task.x, task.y))
    model = require("sklearn.cross_decomposition", EXTRA).CCA(size, max_iter=5000)
    model.fit(x[task.known], y[task.partner[task.known]])
    return _assigned(cdist(*model.transform(x, y), "sqeuclidean"))


def paper(task: Task) -> IntArray:
    """Match as the paper does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lslmatch.ColumnScaleWarning)
        return lslmatch.match(task.x, task.y).permutation


def automatic(task: Task) -> IntArray:
    """Let the library choose alignment, covariance and pairs."""
    return lslmatch.match(task.x, task.y, alignment="auto", covariance="auto", pairs="auto").permutation


def known_pairs(task: Task) -> IntArray:
    """Learn a linear map from the known pairs and from all that follow from them."""
    known = np.stack([task.known, task.partner[task.known]], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lslmatch.AlignmentWarning)
        found = lslmatch.match(task.x, task.y, alignment="linear", pairs="auto", known=known)
    return found.permutation


TOOLS: Mapping[str, Tool] = {
    "k-d tree": nearest,
    "least squares": least_squares,
    "Gromov-Wasserstein (POT)": gromov_wasserstein,
    "coherent point drift": coherent_point_drift,
    "CCA, a quarter known": canonical_correlation,
    "match(x, y)": paper,
    "match, all on auto": automatic,
    "match, a quarter known": known_pairs,
}
#: Those of this library, which get all sets as they are.
OURS = ("match(x, y)", "match, all on auto", "match, a quarter known")
#: Those that were given a quarter of the pairs.
KNOWING = ("CCA, a quarter known", "match, a quarter known")


def _assigned(costs: NDArray[Any]) -> IntArray:
    found = np.full(len(costs), -1, np.intp)
    rows, cols = linear_sum_assignment(costs)
    found[rows] = cols
    return found
