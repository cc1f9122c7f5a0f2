"""The choice between several alignments and none, by the likelihood and the parameters that it takes."""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.alignment.fit import Alignment, AlignmentRow, fit_at
from lslmatch.alignment.moments import affine_of_moments
from lslmatch.alignment.profile import fit_profile
from lslmatch.alignment.robust import improve_moments
from lslmatch.alignment.without_map import CLEARLY, is_worse
from lslmatch.assignment.orientation import smaller_as_rows
from lslmatch.assignment.plan import plan_from_points
from lslmatch.assignment.streamed import least_costs
from lslmatch.costs import log_rule
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.results import Affine

#: By how much the mean log squared distance must be less where pairs do not stand out. Spectra whose moments
#: are sound had 0.02, those with one failed reading or more 0.27 to 3.7.
_CLEARLY_BETTER = 0.1
#: One row in 4 is looked at first, if that gives at least 32 rows.
_SAMPLED, _FEWEST = 4, 32


def fit_best(x: FloatArray, y: FloatArray, workers: int) -> Alignment:
    """Compare the likelihood at the identity, at its minimum near the moments, and at robust estimates.

    The identity has no free parameter and the others d + 1, whose price is that of Akaike: 1 each in the
    log-likelihood of the residuals, which is -d / 2 times f. Robust estimates compete only if they let pairs
    stand out more than the moments do. Where they stand out no more than chance would give, most pairs are
    wrong, and the likelihood of wrong pairs is no guide: it must be clearly better.
    """
    d = x.shape[1]
    # The search begins at the standardised sets, so they need no fit of their own.
    profile = fit_profile(x, y, workers)
    fits = {"the profile likelihood": profile}
    robust = improve_moments(x, y, profile.moments or affine_of_moments(x, y))
    if robust.affine is not None:
        fit = fit_at(x, y, robust.affine, workers)
        clearly = profile.value - _CLEARLY_BETTER * min(len(x), len(y))
        if robust.beyond_chance or fit.value < clearly:
            fits["robust estimates"] = fit
    name = min(fits, key=lambda name: fits[name].value)
    limit = fits[name].value + 2 * fits[name].affine.parameters / d
    identity = Affine(1.0, np.zeros(d))
    small = bool(plan_from_points(x.shape, len(y), "lsl"))
    may_reach = not is_worse(x, y, limit, not small)
    if may_reach and (small or _may_reach(common_coordinates(x, y, identity), limit, workers)):
        fit = fit_at(x, y, identity, workers)
        if fit.value < limit:
            fits["no alignment"] = fit
            name = "no alignment"
    values = ", ".join(f"{fit.value:.6g} by {other}" for other, fit in fits.items())
    chosen = f"alignment: {name}, of the likelihoods f = {values}"
    return fits[name].alignment()._replace(curve=profile.curve, decision=chosen)


def _may_reach(geometry: Geometry, limit: float, workers: int) -> bool:
    """Tell whether the objective of LSL may be below a limit.

    Sets that do differ by a map are far apart without it. Such sets take long to match, but one pass over the
    pairs of some of the rows shows that no matching can be good enough.
    """
    geometry, rule = smaller_as_rows(geometry, log_rule(geometry))
    n, m = geometry.shape
    if n >= _SAMPLED * _FEWEST:
        some = least_costs(geometry.taken(np.arange(0, n, _SAMPLED), np.arange(m)), rule, workers=workers)
        if some.mean() - CLEARLY * some.std() / math.sqrt(some.size) > limit / n:
            return False
    return bool(least_costs(geometry, rule, workers=workers).sum() <= limit)


AUTO = AlignmentRow("auto", "whichever of these predicts the pairs best", align=fit_best)
