"""The choice between aligning and not aligning, by the likelihood and the parameters that it takes."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.alignment.fit import Fit, fit_geometry
from lslmatch.alignment.profile import fit_profile
from lslmatch.assignment.orientation import smaller_as_rows
from lslmatch.assignment.streamed import exceeds
from lslmatch.costs import log_rule
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.results import Affine


def fit_best(x: FloatArray, y: FloatArray, workers: int) -> Fit:
    """Compare the likelihood at the identity, after standardising, and at its minimum; return the best.

    The identity has no free parameter and the others d + 1, whose price is that of Akaike: 1 each in the
    log-likelihood of the residuals, which is -d / 2 times f.
    """
    d = x.shape[1]
    # The search begins at the standardised sets, so they need no fit of their own.
    profile = best = fit_profile(x, y, workers)
    limit = best.value + 2 * (d + 1) / d
    identity = Affine(1.0, np.zeros(d))
    geometry = common_coordinates(x, y, identity)
    # Sets that do differ by a map are far apart without it: such sets take long to match, but one pass
    # over the pairs shows that no matching of them can be good enough.
    if not exceeds(*smaller_as_rows(geometry, log_rule(geometry)), limit, workers=workers):
        fit = fit_geometry(geometry, identity, workers)
        best = fit if fit.value < limit else best
    return best._replace(curve=profile.curve)
