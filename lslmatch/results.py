"""What the public functions return: plain named tuples, one line of documentation a field."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray


class Affine(NamedTuple):
    """The scalar affine map ``y -> scale * y + shift`` that takes the second set onto the first."""

    scale: float
    """tau, a positive number."""
    shift: FloatArray
    """beta, of shape (d,)."""


class Assignment(NamedTuple):
    """An optimal assignment of a cost matrix, with the dual variables that prove it optimal."""

    row_ind: IntArray
    """Matched rows, ascending, of shape (min(n, m),)."""
    col_ind: IntArray
    """``col_ind[k]`` is the partner of ``row_ind[k]``."""
    row_dual: FloatArray
    """u of shape (n,): ``u[i] + v[j] <= cost[i, j]`` for every pair, with equality on the matched ones."""
    col_dual: FloatArray
    """v of shape (m,). On the longer side the duals are at most 0, and 0 where unmatched."""
    objective: float
    """The sum of the matched costs. (When maximising, every inequality is reversed.)"""


class ProfileCurve(NamedTuple):
    """The profile likelihood f of the scale, as far as the search for its minimum saw it.

    f(tau) is the least sum of ``log(r**2) - log(tau)`` over the pairs, with both sets centred as the search
    ended. To it is added what fitting the scale costs, the change of ``log(sum(w))`` with w the information
    that a pair holds about the scale: without that, one pair alone could lower f at will.
    """

    scale: FloatArray
    """Scales tau, ascending, of shape (k,); those of the window that was searched, closer at the minima."""
    value: FloatArray
    """The least value among the matchings that were solved; at the best scale it is f, exactly."""


class Covariance(NamedTuple):
    """The covariance of the noise under which points were matched, with all that their costs are made of.

    Only its shape counts: costs use the squared distance under its inverse, times the d-th root of its
    determinant, so that a multiple of the identity gives the costs of the paper.
    """

    factor: FloatArray
    """(k, d): the covariance is ``factor.T @ factor + ridge * I``."""
    ridge: float
    """What was added in all directions: Ledoit and Wolf's shrinkage; 0 for a covariance that was given."""
    reference: IntArray | None = None
    """(n,): the matching that the covariance was learned from, -1 where x has no partner; None if given."""
    weight: FloatArray | None = None
    """(n,): ``factor.T @ factor`` is the sum of ``weight[i] * r_i r_i^T``, r the reference's residuals."""
    leave_out: bool = False
    """Whether the pair that is judged was left out: then each pair has a metric of its own."""
    cross_entropy: float = float("nan")
    """How badly the matching predicts its own pairs, each left out, in nats a pair; 0 is best."""
    isotropic_cross_entropy: float = float("nan")
    """The same of the matching with isotropic noise; about ``2 log n`` says that nothing fits."""
    rounds: int = 0
    """How many matchings were tried."""
    undecided: int = 0
    """Where nothing was left out: for how many points leaving out might change the partner; else 0."""
    reason: str = ""
    """Why nothing was learned, or the estimate was not kept: the costs are those of isotropic noise then."""

    @property
    def matrix(self) -> FloatArray:
        """The covariance of the difference of partners, of shape (d, d), in squared units of x."""
        return self.factor.T @ self.factor + self.ridge * np.eye(self.factor.shape[1])

    @property
    def is_isotropic(self) -> bool:
        """Whether costs are those of isotropic noise."""
        return self.factor.shape[0] == 0


class Labels(NamedTuple):
    """The names of the points, such as the index of a DataFrame."""

    x: NDArray[Any] | None
    """(n,): the name of each row of x; None if they had none."""
    y: NDArray[Any] | None
    """(m,): the name of each row of y; None if they had none."""


class MatchResult(NamedTuple):
    """A matching of two sets of points, with the certificate that proves it optimal."""

    permutation: IntArray
    """``y[permutation[i]]`` is the partner of ``x[i]``; -1 for an ``x[i]`` without one (only if n > m)."""
    scale: float
    """tau: ``x[i]`` is about ``scale * y[permutation[i]] + shift``."""
    shift: FloatArray
    """beta, of shape (d,)."""
    objective: float
    """The sum of the costs of the matched pairs, at its minimum (of the greedy pairs for "greedy")."""
    row_dual: FloatArray | None
    """u of shape (n,): ``u[i] + v[j] <= cost(i, j)``, equal on the matched pairs; None for "greedy"."""
    col_dual: FloatArray | None
    """v of shape (m,). On the larger set the duals are at most 0, and 0 where unmatched."""
    criterion: str
    """Which cost was summed: "lsl", "lss", "lsns" or "greedy"."""
    noise: tuple[FloatArray, FloatArray] | None
    """The noise levels that "lsns" was given."""
    profile: ProfileCurve | None = None
    """The profile likelihood that was searched, for the alignments "profile" and "auto"."""
    covariance: Covariance | None = None
    """The covariance of the noise that was given or learned; None for isotropic noise."""
    price: float | None = None
    """If not all were to be matched: ``u[i] + v[j] + price <= cost(i, j)``, duals <= 0, 0 where unmatched."""
    labels: Labels | None = None
    """The names of the rows of x and of y, if they came with names."""
    decisions: tuple[str, ...] = ()
    """What was chosen automatically, and why: a line each for alignment, covariance and pairs."""

    @property
    def affine(self) -> Affine:
        """The alignment that was used, ready to be passed to another call."""
        return Affine(self.scale, self.shift)
