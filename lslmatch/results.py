"""What the public functions return: plain named tuples, one line of documentation a field."""

from __future__ import annotations

from typing import NamedTuple

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

    @property
    def affine(self) -> Affine:
        """The alignment that was used, ready to be passed to another call."""
        return Affine(self.scale, self.shift)
