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
from lslmatch.assignment.all_or_some import PricedAssignment, assign_sets
from lslmatch.assignment.orientation import partners
from lslmatch.costs import CostRule
from lslmatch.covariance.isotropic import match_isotropic
from lslmatch.covariance.leave_out import WHITE_COINCIDENT
from lslmatch.geometry.columns import column_weights, mapped_coordinates
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.geometry.magnitudes import typical_centre
from lslmatch.maps import MATRIX_MAPS, Affine, ColumnMap, LinearMap, Similarity, as_column_map
from lslmatch.objectives.table import make_rule
from lslmatch.request import Request
from lslmatch.results import Covariance, MatchResult

#: Entries that should be equal by symmetry may differ by this share of the greatest entry.
_ASYMMETRY = 1e-8
#: Alignments that may leave the sets as they are.
_WITH_IDENTITY = ("identity", "auto")
#: A shift is as it was found if rounding moved it by no more than this share of the least distance of a pair.
_MOVED = 1e-10


def match_known(x: FloatArray, y: FloatArray, request: Request) -> MatchResult:
    """Match two checked sets in coordinates where noise of the covariance that was given is isotropic.

    Each set is taken relative to a point of its own among its points, so that a large offset costs no digits;
    to the same one where the identity must stay so.
    """
    covariance, alignment = check_covariance(request.covariance, x.shape[1]), request.alignment
    linear, origin = known_map(covariance), typical_centre(x)[0]
    is_same = isinstance(alignment, str) and alignment in _WITH_IDENTITY
    other = origin if is_same else typical_centre(y)[0]
    if isinstance(alignment, tuple):
        scale, shift = check_affine(alignment, "alignment", x.shape[1])
        alignment = Affine(scale, linear.forward(shift + (scale * other - origin)))
    white = request._replace(alignment=alignment, covariance="isotropic")
    result = match_isotropic(linear.forward(x - origin), linear.forward(y - other), white)
    shift = linear.backward(result.shift) + (origin - result.scale * other)
    factor = np.ascontiguousarray(np.linalg.cholesky(covariance).T)
    known = result._replace(shift=shift, covariance=Covariance(factor, 0.0))
    if result.row_dual is None:
        return known
    geometry, rule = known_problem(x, y, known)
    if _is_as_found(geometry, result, linear.forward(seen_from(origin, other, known.affine))):
        return known
    # What is returned is what the certificate knows: match by that.
    return with_pairs(known, assign_sets(geometry, rule, request.pairs, request.workers))


def known_problem(x: FloatArray, y: FloatArray, result: MatchResult) -> tuple[Geometry, CostRule]:
    """Give the points and the rule of the costs of a result under a covariance that is known."""
    assert result.covariance is not None
    covariance, found, coincident = result.covariance, result.map, WHITE_COINCIDENT
    weights = column_weights(covariance.units, x.shape[1])
    linear = known_map(covariance._replace(units=None).matrix)
    if isinstance(found, MATRIX_MAPS):
        x, y = mapped_sets(x, y, found, covariance.units)
        affine = Affine(1.0, np.zeros(x.shape[1]))
        geometry = common_coordinates(linear.forward(x), linear.forward(y), affine)._replace(least=math.inf)
        return geometry, make_rule(result.criterion, geometry, found.scale, result.noise, coincident)
    if isinstance(found, Affine):
        coincident *= common_coordinates(x, y, found).ordinary_share()
    origin, other = typical_centre(x)[0], typical_centre(y)[0]
    affine = Affine(found.scale, linear.forward(weights * seen_from(origin, other, found)))
    x, y = weights * (x - origin), weights * (y - other)
    if isinstance(found, ColumnMap):  # what is not common to all columns
        y *= found.scales / found.scale
    geometry = common_coordinates(linear.forward(x), linear.forward(y), affine)
    geometry = geometry._replace(least=math.inf)
    return geometry, make_rule(result.criterion, geometry, affine.scale, result.noise, coincident)


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


def _is_as_found(geometry: Geometry, result: MatchResult, shift: FloatArray) -> bool:
    """Say whether rounding changed nothing: neither the shift that is returned nor partners that coincide."""
    least = geometry.mean_square() * WHITE_COINCIDENT
    rows = np.flatnonzero(result.permutation >= 0)
    pairs = geometry.taken(rows, result.permutation[rows])
    residuals = pairs.residuals()
    squares = np.einsum("ij,ij->i", residuals, residuals)
    moved = np.ldexp(shift - result.shift, -geometry.exponent)
    # A shift that moves no pair by more than this share of its distance moves no cost by more than twice it.
    near = _MOVED * math.sqrt(max(float(squares.min()), least))
    return bool(squares.min() > least or result.criterion != "lsl") and float(np.linalg.norm(moved)) <= near


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
    try:
        np.linalg.cholesky(_in_range(matrix))
    except np.linalg.LinAlgError:
        raise ValueError(
            f"covariance must be positive definite; its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(matrix).min():.3g}, its greatest {np.linalg.eigvalsh(matrix).max():.3g}"
        ) from None
    return matrix


def _in_range(covariance: FloatArray) -> FloatArray:
    """Divide by a power of two such that no square over- or underflows."""
    return np.ldexp(covariance, -math.frexp(float(np.abs(covariance).max()) or 1.0)[1])
