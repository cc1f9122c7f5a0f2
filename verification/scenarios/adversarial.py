"""The adversarial family of section 5.2 in closed form, and the threshold that the paper predicts on it."""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.optimize import brentq

from lslmatch import theory

#: C of the paper, which leaves it open. The obstruction grows with C until the adversarial pairs dominate the
#: sum of squares, and falls like 1 / C from there; near the noise floor 2 is about the worst for the method.
STRENGTH = 2.0

#: Where a cell lies: below the noise floor, between it and the predicted threshold, or above both.
BELOW, BAND, ABOVE = REGIONS = ("below the floor", "in the band", "above the curve")


class ClosedForm(NamedTuple):
    """The adversarial family for one R, in closed form: nothing here is fitted to a success rate."""

    n: int
    d: int
    root: float
    """R."""
    spacing: float
    """Radius of the inflators over kappa(Z) s, set by how close n random directions come."""

    @property
    def noise_floor(self) -> float:
        """The paper's nf."""
        return theory.noise_floor(self.n, self.d)

    def obstruction(self, separation: float) -> float:
        """Give obstr(R, kappa) = eps max ||mu_i|| / s_i, with eps the expected error of tau-hat.

        tau-hat is the root of the ratio of two independent sums of squares with expectation E and
        variance V = 2 d sum sigma^4 + 4 sum sigma^2 ||mu||^2 (these are Proposition 1's two terms), so that
        to first order its error is normal with deviation sqrt(V / 2) / E, and eps is that times
        sqrt(2 / pi).
        """
        n, d, inflators = self.n, self.d, self.n - 4
        squares = 4 + inflators * self.root**2  # ||sigma||^2
        quiet, loud = (math.sqrt(v * (1 - 2 / n) + squares / n**2) for v in (1.0, self.root**2))  # s_i
        offset = STRENGTH * self.root * math.sqrt(n * d)
        end = offset + math.sqrt(2) * quiet * separation
        radius = self.spacing * separation * loud
        pairs = 2 * (offset**2 + end**2)
        expected = pairs + inflators * radius**2 + d * (n - 1) / n * squares
        variance = 2 * d * (4 + inflators * self.root**4) + 4 * (
            pairs + inflators * (self.root * radius) ** 2
        )
        error = math.sqrt(2 / math.pi) * math.sqrt(variance / 2) / expected
        return error * max(end / quiet, radius / loud)

    def region(self, separation: float) -> str:
        """Say where a separation lies."""
        if separation < self.noise_floor:
            return BELOW
        return BAND if separation < self.predicted_threshold() else ABOVE

    def predicted_threshold(self) -> float:
        """Give the paper's kappa* = nf + obstr(R, kappa*); the largest, should there be several."""

        def excess(separation: float) -> float:
            return separation - self.noise_floor - self.obstruction(separation)

        # Far up the obstruction falls like 1 / kappa; from there down to the last change of sign.
        upper = 100 * self.noise_floor
        lower = upper
        while excess(lower) > 0:
            upper, lower = lower, 0.98 * lower
        return float(brentq(excess, lower, upper))
