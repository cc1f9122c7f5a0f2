"""A covariance that is known: a linear map of the coordinates, and nothing else changes.

With ``covariance = L @ L.T``, noise of that covariance becomes isotropic in the coordinates ``L^-1 x``.
Only the shape is used: L is divided by the d-th root of its determinant, so that volumes, and with them
the units of the objective, stay those of `x`, and a multiple of the identity is the same as no covariance
at all.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch._validation import as_kernel_array, as_real_array, check_affine, check_finite
from lslmatch.alignment.fit import Alignment
from lslmatch.alignment.registry import align
from lslmatch.assignment.all_or_some import PricedAssignment
from lslmatch.assignment.orientation import partners
from lslmatch.costs import COINCIDENT, CostRule
from lslmatch.covariance.isotropic import match_aligned
from lslmatch.covariance.leave_out import WHITE_COINCIDENT
from lslmatch.geometry.columns import column_weights, mapped_coordinates, multiplied
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.geometry.magnitudes import typical_centre
from lslmatch.maps import Affine, AnyMap, ColumnMap, LinearMap, Similarity, as_column_map
from lslmatch.objectives.table import make_rule
from lslmatch.request import Request
from lslmatch.results import Covariance, MatchResult

#: Entries that should be equal by symmetry may differ by this share of the greatest entry.
_ASYMMETRY = 1e-8
#: Alignments that may leave the sets as they are.
_WITH_IDENTITY = ("identity", "auto")


def match_known(x: FloatArray, y: FloatArray, request: Request) -> MatchResult:
    """Match two checked sets in coordinates where noise of the covariance that was given is isotropic.

    A map is found in these coordinates, but where the identity must stay so, or one was given.
    """
    covariance = known_covariance(request.covariance, x.shape[1])
    found = _align(x, y, request, covariance)
    if covariance.is_diagonal:
        geometry, coincident = mapped_coordinates(x, y, found.affine, covariance.units), COINCIDENT
    else:
        geometry, coincident = _in_metric(x, y, found.affine, covariance)
    rule = make_rule(request.objective, geometry, found.affine.scale, request.noise, coincident)
    return match_aligned(geometry, rule, found, request)._replace(covariance=covariance)


def _align(x: FloatArray, y: FloatArray, request: Request, covariance: Covariance) -> Alignment:
    """Find the map, each set being seen from a point of its own, so that a large offset costs no digits."""
    alignment, d = request.alignment, x.shape[1]
    if isinstance(alignment, tuple):
        return Alignment(Affine(*check_affine(alignment, "alignment", d)))
    weights, linear = column_weights(covariance.units, d), known_map(covariance._replace(units=None).matrix)
    origin = typical_centre(x)[0]
    other = origin if alignment in _WITH_IDENTITY else typical_centre(y)[0]
    a, b = linear.forward(weights * (x - origin)), linear.forward(weights * (y - other))
    found = align(a, b, alignment, request.workers)
    scale, shift = found.affine
    affine = Affine(scale, linear.backward(shift) / weights + (origin - scale * other))
    return found._replace(affine=affine, assignment=None)


def known_problem(x: FloatArray, y: FloatArray, result: MatchResult) -> tuple[Geometry, CostRule]:
    """Give the points and the rule of the costs of a result under a covariance that is known."""
    assert result.covariance is not None
    geometry, coincident = _in_metric(x, y, result.map, result.covariance)
    return geometry, make_rule(result.criterion, geometry, result.scale, result.noise, coincident)


def _in_metric(x: FloatArray, y: FloatArray, found: AnyMap, covariance: Covariance) -> tuple[Geometry, float]:
    """Bring two sets into coordinates where a covariance is the identity; also say when points coincide."""
    geometry = mapped_coordinates(x, y, found, covariance.units)
    linear = known_map(covariance._replace(units=None).matrix)
    coincident = WHITE_COINCIDENT
    if isinstance(found, Affine):
        coincident *= common_coordinates(x, y, found).ordinary_share()
    return multiplied(geometry, linear.forward(np.eye(x.shape[1])).T), coincident


def mapped_sets(
    x: FloatArray, y: FloatArray, found: Similarity | LinearMap, units: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Give both sets in the units of x, from a point among those of x on, once y is mapped by a matrix."""
    geometry = mapped_coordinates(x, y, found, units)
    return np.ldexp(geometry.a, geometry.exponent), np.ldexp(geometry.b, geometry.exponent)


def with_pairs(result: MatchResult, priced: PricedAssignment) -> MatchResult:
    """Put other pairs and their proof into a result."""
    (rows, cols, row_dual, col_dual, objective), price = priced
    return result._replace(
        permutation=partners(row_dual.size, rows, cols),
        objective=objective,
        row_dual=row_dual,
        col_dual=col_dual,
        price=price,
    )


def seen_from(origin: FloatArray, point: FloatArray, found: Affine | ColumnMap) -> FloatArray:
    """Give ``scale * point + shift - origin``, in rationals: its terms may cancel."""
    factors = [Fraction(scale) for scale in as_column_map(found).scales.tolist()]
    terms = zip(factors, origin.tolist(), point.tolist(), found.shift.tolist(), strict=True)
    return np.array([float(a * Fraction(p) + Fraction(b) - Fraction(o)) for a, o, p, b in terms])


class Whitening(NamedTuple):
    """The map ``point -> L^-1 point`` with the lower triangular L of determinant 1."""

    factor: FloatArray  # L, of shape (d, d)

    def forward(self, points: FloatArray) -> FloatArray:
        """Map points, one a row, or one vector."""
        from scipy.linalg import solve_triangular  # takes longer than the rest of the import

        mapped = solve_triangular(self.factor, points.T, lower=True, check_finite=False)
        return np.ascontiguousarray(mapped.T)

    def backward(self, vector: FloatArray) -> FloatArray:
        """Undo the map for one vector."""
        return self.factor @ vector


def known_covariance(covariance: Any, dimension: int) -> Covariance:
    """Describe a covariance that was given, with the units of the columns apart from their correlations."""
    matrix = check_covariance(covariance, dimension)
    logarithms = np.log(np.diag(matrix))
    mean = float(logarithms.mean())
    units = np.exp((logarithms - mean) / 2.0)
    if np.count_nonzero(matrix) == dimension:
        return Covariance(np.empty((0, dimension)), math.exp(mean), units=units)
    correlation = matrix / units[:, None] / units
    return Covariance(np.ascontiguousarray(np.linalg.cholesky(correlation).T), 0.0, units=units)


def known_map(covariance: FloatArray) -> Whitening:
    """Give the map under which noise of a checked covariance is isotropic."""
    factor = np.linalg.cholesky(_in_range(covariance)).astype(np.float64)
    return Whitening(factor * math.exp(-float(np.log(np.diag(factor)).mean())))


def check_covariance(covariance: Any, dimension: int) -> FloatArray:
    """Return a covariance given as variances or as a matrix as a matrix, or say what is wrong with it."""
    array = as_real_array(covariance, "covariance")
    if array.shape not in ((dimension,), (dimension, dimension)):
        raise ValueError(
            f"covariance must have shape ({dimension},) or ({dimension}, {dimension}); "
            f"got shape {array.shape}"
        )
    matrix = as_kernel_array(array)
    check_finite(matrix, "covariance")
    if matrix.ndim == 1:
        if not matrix.min() > 0.0:
            raise ValueError(f"covariance must have positive variances; its smallest value is {matrix.min()}")
        matrix = np.diag(matrix)
    greatest = float(np.abs(matrix).max())
    if not np.abs(matrix - matrix.T).max() <= _ASYMMETRY * greatest:
        row, col = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
        raise ValueError(
            f"covariance must be symmetric; covariance[{row}, {col}] is {matrix[row, col]} and "
            f"covariance[{col}, {row}] is {matrix[col, row]}"
        )
    matrix = matrix / 2.0 + matrix.T / 2.0
    # Columns in units of their own first: variances may be as far apart as they like.
    units = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).smallest_subnormal))
    try:
        np.linalg.cholesky(matrix / units[:, None] / units)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"covariance must be positive definite; its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(matrix).min():.3g}, its greatest {np.linalg.eigvalsh(matrix).max():.3g}"
        ) from None
    return matrix


def _in_range(covariance: FloatArray) -> FloatArray:
    """Divide by a power of two such that no square over- or underflows."""
    return np.ldexp(covariance, -math.frexp(float(np.abs(covariance).max()) or 1.0)[1])
