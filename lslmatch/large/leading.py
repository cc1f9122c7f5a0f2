"""Leading coordinates: few numbers of a point that bound all its distances from below.

A point p of d coordinates is measured along k directions q, the columns of Q, and by the length of what these
leave: A(p) = (Q^T p, |p - Q Q^T p|). Directions in which points differ most tell most.

**Statement.** Let w = 2**-24 and v = 2**-53, d <= 2**12, k <= 2**10, and let the Frobenius norm of
``Q^T Q - 1`` be at most 2**-36. For coordinates computed in double precision there is an exact map L with
``|L(p) - L(q)| <= |p - q|``, ``|L(p)| = |p|`` and ``|A(p) - L(p)| <= 2**-34 |p|``. So the square that is
expanded in single precision from A(p) and A(q), of K = k + 1 coordinates, lowered by ``relative * N +
underflow``, is no more than the squared distance of points whose coordinates were rounded once. Both terms
are those of :mod:`lslmatch.geometry.expansion` for K coordinates.

**Proof.**

1. *The exact map.* R = Q (Q^T Q)^(-1/2) has orthonormal columns, and |Q - R| is the greatest |s - 1| for the
   singular values s of Q, which is at most |s^2 - 1| <= 2**-36. L(p) = (R^T p, |p - R R^T p|) keeps lengths
   (Pythagoras). Lengths of differences become no greater, as ``||a| - |b|| <= |a - b|`` for the rest.
2. *The products.* A sum of d products errs by at most ``g |q| |p|``, g = d v / (1 - d v) < 2**-40.9, in
   whatever order it is added up; k of them by 2**5 times that. With 1, Q^T p is off R^T p by at most
   ``(2**-35.8 + 2**-36) |p| < 2**-34.9 |p|``.
3. *The rest.* ``p - Q c`` for the computed c adds up k products in each coordinate, with an error of at most
   ``2**10 v |Q|_F |c| <= 2**-37.9 |p|``. It is off p - R R^T p by no more than that, the errors of c and of
   Q: ``(2**-34.8 + 2**-36 + 2**-37.9 + 2 v) |p| < 2**-34.2 |p|``. Its length is rounded by less than
   2**-40 |p|. Both together are at most ``(2**-69.8 + 2**-68.3)^(1/2) |p| < 2**-34 |p|``.
4. *The bound.* In the proof of the expansion, step 2 has rounding errors of coordinates of at most
   ``(w + 5 v)(|A| + |B|)``, which cost ``4 (w + 5 v) N``. Here they are ``(w + 2**-34 + v) (|A| + |B|)`` to
   first order, which cost ``4.01 w N``, and h = 0. The factor 3 K + 16 leaves room for 1.6. QED

If Q is None, A(p) are all coordinates, as in :mod:`lslmatch.geometry.tiles`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch.geometry.expansion import relative_error, underflow_error
from lslmatch.geometry.panels import PANEL
from lslmatch.geometry.tiles import LANES, TILE_COLS, Tiles, empty_in_line
from lslmatch.large.frame import LargeSets
from lslmatch.large.points import blocks

#: Greatest numbers of coordinates and of directions for which the bound is proven, and how far directions
#: may be from orthonormal.
MOST_COORDINATES, _MOST_DIRECTIONS, _NOT_ORTHONORMAL = 1 << 12, 1 << 10, 2.0**-36
#: Points of each set whose directions are looked for, and steps that are taken towards them.
_SAMPLED, _STEPS = 1024, 2
#: Operations of a product below which no BLAS starts threads: threads are ours to give.
_SMALL_PRODUCT = 1 << 17


class Directions(NamedTuple):
    """Orthonormal directions, those first in which points differ most; None: the coordinates themselves."""

    matrix: FloatArray | None  # (d, k)

    def leading(self, count: int) -> Directions:
        """Take the first of them."""
        return Directions(None if self.matrix is None else np.ascontiguousarray(self.matrix[:, :count]))

    def measure(self, points: FloatArray) -> FloatArray:
        """Give the leading coordinates of points, and how long what is left of them is."""
        if self.matrix is None:
            return points
        measured = np.empty((len(points), self.matrix.shape[1] + 1))
        along = product(points, self.matrix)
        rest = points - product(along, np.ascontiguousarray(self.matrix.T))
        measured[:, :-1] = along
        np.sqrt(np.einsum("ij,ij->i", rest, rest), out=measured[:, -1])
        return measured


#: All coordinates.
EVERY = Directions(None)


def product(p: FloatArray, q: FloatArray) -> FloatArray:
    """Multiply matrices, a few rows at a time."""
    step = max(_SMALL_PRODUCT // q.size, 1)
    whole = len(p) - len(p) % step
    out = np.empty((len(p), q.shape[1]))
    np.matmul(p[:whole].reshape(-1, step, p.shape[1]), q, out=out[:whole].reshape(-1, step, q.shape[1]))
    np.matmul(p[whole:], q, out=out[whole:])
    return out


def find_directions(sets: LargeSets, count: int) -> Directions:
    """Find directions in which some points of both sets differ most, by steps of the power method."""
    n, m = sets.shape
    sample = np.concatenate(
        [
            side(np.linspace(0, size - 1, min(size, _SAMPLED)).astype(np.intp))[0]
            for size, side in ((n, sets.rows), (m, sets.cols))
        ]
    )
    d = sample.shape[1]
    if d > MOST_COORDINATES or not 0 < count < d:
        return EVERY
    directions = np.random.default_rng(0).normal(size=(d, min(count, _MOST_DIRECTIONS)))
    turned = np.ascontiguousarray(sample.T)
    for _ in range(_STEPS):
        directions = np.linalg.qr(product(turned, product(sample, directions)))[0]
    # Within what they span, from the one with the greatest variance on.
    along = product(sample, directions)
    order = np.linalg.eigh(product(np.ascontiguousarray(along.T), along))[1][:, ::-1]
    matrix = np.linalg.qr(product(directions, np.ascontiguousarray(order)))[0]
    return Directions(np.ascontiguousarray(matrix)) if is_orthonormal(matrix) else EVERY


def is_orthonormal(matrix: FloatArray) -> bool:
    """Say whether directions are so near to orthonormal that the bound holds."""
    defect = product(np.ascontiguousarray(matrix.T), np.ascontiguousarray(matrix)) - np.eye(matrix.shape[1])
    # (Its own rounding errors are far below.)
    return bool(np.linalg.norm(defect) < _NOT_ORTHONORMAL / 2.0)


class Lead(NamedTuple):
    """Leading coordinates of one set in single precision, with squared norms that rounding cannot raise."""

    points: NDArray[np.float32]
    squares: NDArray[np.float32]


def lead_rows(sets: LargeSets, directions: Directions, rows: IntArray | None) -> Lead:
    """Measure rows (None: all of them), times -2 as products want them."""
    size = sets.shape[0] if rows is None else rows.size
    d = sets.x.shape[1]
    points: NDArray[np.float32] | None = None
    squares = np.empty(size, np.float32)
    for some in blocks(size, d):
        measured = directions.measure(sets.rows(some if rows is None else rows[some])[0])
        if points is None:
            points = np.empty((size, measured.shape[1]), np.float32)
        np.multiply(measured, -2.0, out=points[some], casting="same_kind")
        squares[some] = _lowered_squares(measured, underflow_error(measured.shape[1]))
    assert points is not None, "there are rows"
    return Lead(points, squares)


def lead_cols(sets: LargeSets, directions: Directions, columns: int = TILE_COLS) -> Lead:
    """Measure all columns, in tiles and panels, the last of them filled up by points at infinity."""
    m, d = sets.shape[1], sets.x.shape[1]
    columns = max(min(columns, 1 << (m - 1).bit_length()), LANES)
    tiles = -(-m // columns)
    panels: NDArray[np.float32] | None = None
    squares = empty_in_line((tiles * columns,), np.float32)
    squares[m:] = np.inf
    for some in blocks(m, d, PANEL):
        measured = directions.measure(sets.cols(some)[0])
        if panels is None:
            panels = empty_in_line((tiles * columns // PANEL, measured.shape[1], PANEL), np.float32)
        squares[some] = _lowered_squares(measured, 0.0)
        first, whole = some.start // PANEL, len(measured) // PANEL
        block = measured[: whole * PANEL].reshape(whole, PANEL, measured.shape[1])
        panels[first : first + whole] = block.transpose(0, 2, 1)
        if whole * PANEL < len(measured):
            panels[first + whole :] = 0.0
            panels[first + whole, :, : len(measured) - whole * PANEL] = measured[whole * PANEL :].T
        elif some.stop == m:
            panels[first + whole :] = 0.0
    assert panels is not None, "there are columns"
    shape = tiles, columns // PANEL, panels.shape[1], PANEL
    return Lead(panels.reshape(shape), squares.reshape(tiles, columns))


def tiles_of(rows: Lead, cols: Lead) -> Tiles:
    """Put rows and columns together. No square of theirs is computed anew: all are low enough."""
    a_limits = np.full(len(rows.squares), -np.inf, np.float32)
    b_limits = np.zeros(cols.squares.shape, np.float32)
    return Tiles(rows.points, cols.points, rows.squares, cols.squares, a_limits, b_limits, 1.0)


def _lowered_squares(measured: FloatArray, lost: float) -> FloatArray:
    # A little more than the bound, as the norms are lowered before they are rounded.
    share = 1.0 - 1.01 * relative_error(measured.shape[1])
    squares: FloatArray = share * np.einsum("ij,ij->i", measured, measured) - lost
    return squares
