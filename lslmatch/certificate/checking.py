"""An independent check that a matching is optimal, without any code of the solver or of its costs."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lslmatch._cluster import lent_cluster, row_shares
from lslmatch._threads import over_rows
from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import (
    as_real_array,
    check_affine,
    check_count,
    check_matching,
    check_noise,
    check_option,
    check_point_pair,
    check_positive,
    check_result_parts,
)
from lslmatch.certificate.allowed import Part, is_forbidden, parts_of
from lslmatch.certificate.coincident import ordinary_share, share_of_sets, typical_point
from lslmatch.certificate.columns import ColumnSets, column_sets, has_columns, metric_sets
from lslmatch.certificate.criteria import CRITERIA, Frame
from lslmatch.certificate.everywhere import turn_violation
from lslmatch.certificate.exact import exact_product, exact_sum
from lslmatch.certificate.left_out import LeftOutCosts
from lslmatch.certificate.products import find_doubtful
from lslmatch.certificate.regression import RegressionCosts
from lslmatch.certificate.tree import Need
from lslmatch.given import Given
from lslmatch.maps import Similarity
from lslmatch.results import MatchResult

#: Entries of the largest temporary array, and of those that should stay in the processor's cache.
_BLOCK_ENTRIES, _CACHED_ENTRIES = 1 << 18, 1 << 13
#: Number of pairs from which on not all of them are looked at. (Fewer are not worth a kernel's compilation.)
_TREE_PAIRS = 1 << 20
#: What the square that a pair needs is raised by, relatively: much more than its rounding errors.
_MARGIN = 1e-9
#: Squares below this share of others are not told from 0.
_COINCIDENT = 2.0**-84
#: Coordinates are far out above 2**10 times the size of most points' greatest ones; the unit is at least
#: 2**-400 of the greatest of all, so that squares stay in range.
_FAR, _WIDEST = 2.0**10, 2.0**-400
#: If the sets are those that were matched, pairs cost what the duals say up to this share of the greatest.
_SAME_SETS = 1e-6
#: Mean squared difference of coordinates below which what they lost in rounding counts.
_CLOSE = 2.0**-8
#: Coordinates are near zero below this share of a greater one.
_NEAR_ZERO = 2.0**-19


def check_certificate(
    x: Any,
    y: Any,
    result: MatchResult,
    *,
    atol: float | None = None,
    workers: int = 1,
    everywhere: bool | None = None,
) -> float:
    """Measure how far a matching is from being proven optimal by its dual variables.

    Every one of the n * m costs is bounded anew: that of a pair from a product of coordinates, less its
    rounding error, or those of a whole region of space from its distance. Where the bound does not settle
    the matter, the cost is computed by differences of coordinates. This shares no code with the solver.

    Parameters
    ----------
    x : array_like of shape (n, d)
        The first set that was matched.
    y : array_like of shape (m, d)
        The second set.
    result : MatchResult
        What :func:`match` returned for them.
    atol : float, optional
        If given, a larger violation raises an error.
    workers : int, default 1
        Threads that compute costs. The violation does not depend on it.
    everywhere : bool, optional
        Whether the proof that no other angle is better (`MatchResult.everywhere`) is checked as well. By
        default it is if the result has one. True: it must have one, as that of a match in the plane has, or
        of :func:`prove_everywhere`.

    Returns
    -------
    float
        The largest violation: of ``row_dual[i] + col_dual[j] <= cost(i, j)`` over all pairs, of
        equality over the matched pairs, and, where one set is larger, of its duals being at most
        0, and 0 where unmatched. If not all were to be matched, the price is added to the sum of the duals,
        and those of both sets are at most 0, and 0 where unmatched. The matching costs at most
        ``2 * (n + m)`` times this more than the optimum of as many pairs. If pairs were chosen out of the
        matching of all points (`MatchResult.chosen_from`), it is that one which is checked: then no other
        way to pair up the chosen points costs less. What was given beforehand (`MatchResult.given`) limits
        what is proven: known pairs are taken as they are, and the optimum is that of all other points; with
        groups it is that of each group, and forbidden pairs are none of those that might be cheaper.
        In units of the cost: for "lsl", of the logarithm. If all angles are checked, no turn has a
        matching whose sum is less than `TurnProof.bound` by more than the violation, nor another turn one
        that is less than `TurnProof.other_bound` by more; this holds in spite of rounding.

    Raises
    ------
    ValueError
        If the result has no certificate ("greedy"), does not fit `x` and `y`, fits them in the other order
        only, is not a matching, or violates its certificate by more than `atol`.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import check_certificate, match
    >>> x = np.random.default_rng(1).normal(size=(50, 3))
    >>> check_certificate(x, 2.0 * x[::-1] + 1.0, match(x, 2.0 * x[::-1] + 1.0)) < 1e-9
    True
    """
    check_result_parts(result)
    x, y = check_point_pair(x, y, result.matrix_map, result.columns)
    workers = check_count(workers, "workers", 1)
    n, m = x.shape[0], y.shape[0]
    if result.row_dual is None or result.col_dual is None:
        raise ValueError(
            f"result must carry dual variables; criterion {result.criterion!r} has no certificate"
        )
    u, v = (
        as_real_array(result.row_dual, "result.row_dual").astype(np.float64),
        as_real_array(result.col_dual, "result.col_dual").astype(np.float64),
    )
    if result.chosen_from is not None:
        result = _as_chosen_from(result)
    permutation = np.asarray(result.permutation)
    if permutation.shape != (n,) or u.shape != (n,) or v.shape != (m,):
        other = permutation.shape == u.shape == (m,) and v.shape == (n,)
        raise ValueError(
            f"result must fit x and y of {n} and {m} points; got shapes {permutation.shape}, {u.shape} and "
            f"{v.shape}{': are x and y in the wrong order?' if other else ''}"
        )
    partial = result.price is not None
    given = result.given
    permutation = check_matching(permutation, "result.permutation", n, m, partial or given is not None)
    rows = np.flatnonzero(permutation >= 0)
    partners = permutation[rows]
    parts = parts_of(given, permutation, m)
    if not partial and given is not None:
        enough = len(given.known) + sum(part.pairs for part in parts)
        if rows.size != enough:
            raise ValueError(f"result must match all {enough} points that it can; got {rows.size} pairs")
    worst = max((_worst_sign(part, permutation, u, v, partial) for part in parts), default=0.0)
    if result.price is not None:
        price = as_real_array(result.price, "result.price")
        if price.ndim != 0:
            raise ValueError(f"result.price must be one number; got shape {price.shape}")
        with np.errstate(all="ignore"):
            u = u + float(price)
    # Costs or duals that are out of range give an infinite violation, or NaN: neither is a proof.
    with np.errstate(all="ignore"):
        costs = _costs(x, y, result)
        unequal = np.abs(costs.slack(rows, partners, u, v)).max(initial=0.0)
        worst = float(np.max([worst, unequal]))
    is_gross = n == m and unequal > _SAME_SETS * max(np.abs(u).max(), np.abs(v).max())
    if is_gross and _are_exchanged(x, y, result._replace(permutation=permutation), u, v):
        raise ValueError("x and y must be in the order of the result, which is that of y and x")
    found = [_worst_lack(costs, part, u, v, (permutation, given), workers) for part in parts]
    # A NaN anywhere must surface as a violation: numpy's max keeps it, Python's would not.
    worst = float(np.max([worst, *found, _everywhere(x, y, result, everywhere, workers)]))
    if atol is not None and not worst <= check_positive(atol, "atol"):
        raise ValueError(f"result violates its certificate by {worst:.3g}, more than atol = {atol:.3g}")
    return worst + 0.0  # and never -0.0


def _everywhere(
    x: FloatArray, y: FloatArray, result: MatchResult, everywhere: bool | None, workers: int
) -> float:
    """Say how far the proof for all angles is from what it claims; infinite if it is of another map."""
    proof, found = result.everywhere, result.matrix_map
    if everywhere is False or (everywhere is None and proof is None):
        return 0.0
    if proof is None:
        raise ValueError(
            "result must carry a proof for all angles: prove_everywhere(x, y, result) gives it one"
        )
    if not isinstance(found, Similarity) or found.scale != proof.scale:
        return math.inf
    centre, reach = found.apply(proof.y_centre[None])[0], np.abs(proof.x_centre).max() + proof.floor
    reach += found.scale * np.abs(proof.y_centre).max() + np.abs(found.shift).max()
    if not np.abs(centre - proof.x_centre).max() <= _MARGIN * reach:
        return math.inf
    return turn_violation(x, y, proof, workers)


def _worst_sign(part: Part, permutation: IntArray, u: FloatArray, v: FloatArray, partial: bool) -> float:
    """Say how far duals are from being at most 0, and 0 where unmatched, on a side with points left over."""
    n, m = part.rows.size, part.cols.size
    matched = permutation[part.rows] >= 0
    taken = np.isin(part.cols, permutation[part.rows[matched]])
    worst = 0.0
    for duals, is_matched, may_stay in (
        (u[part.rows], matched, partial or n > m),
        (v[part.cols], taken, partial or n < m),
    ):
        if may_stay:
            stays = np.abs(duals[~is_matched]).max(initial=0.0)
            worst = float(np.max([worst, duals.max(initial=0.0), stays]))
    return worst


def _worst_lack(
    costs: _Costs | LeftOutCosts | RegressionCosts,
    part: Part,
    u: FloatArray,
    v: FloatArray,
    pairs: tuple[IntArray, Given | None],
    workers: int,
) -> float:
    """Say by how much any pair of a part costs less than its duals, but for the matched ones."""
    cluster = lent_cluster(part.rows.size * part.cols.size)
    if cluster is None or part.rows.size < u.size or part.cols.size < v.size or not isinstance(costs, _Costs):
        return _lack_of_rows(costs, u, v, pairs, part, workers)
    shares = row_shares(u.size, 1, cluster.shares)
    parts = [(part._replace(rows=part.rows[first:last]),) for first, last in shares]
    return float(np.max(cluster.map(_lack_of_rows, (costs, u, v, pairs), parts), initial=-np.inf))


def _lack_of_rows(
    costs: _Costs | LeftOutCosts | RegressionCosts,
    u: FloatArray,
    v: FloatArray,
    pairs: tuple[IntArray, Given | None],
    part: Part,
    workers: int = 1,
) -> float:
    permutation, given = pairs
    found = [-np.inf]

    def judge(i: IntArray, j: IntArray) -> None:
        others = (permutation[i] != j) & ~is_forbidden(given, v.size, i, j)
        i, j = i[others], j[others]
        with np.errstate(all="ignore"):
            for start in range(0, i.size, _BLOCK_ENTRIES):
                some = slice(start, start + _BLOCK_ENTRIES)
                found.append(-float(costs.slack(i[some], j[some], u, v).min()))

    _visit_part(costs, part, u, v, judge, workers)
    return float(np.max(found))


def _visit_part(
    costs: _Costs | LeftOutCosts | RegressionCosts,
    part: Part,
    u: FloatArray,
    v: FloatArray,
    judge: Callable[[IntArray, IntArray], None],
    workers: int,
) -> None:
    """Have all doubtful pairs of some points judged."""
    rows, cols = part
    if not part.pairs:
        return
    if rows.size == u.size and cols.size == v.size:
        _visit_doubtful(costs, u, v, judge, workers)
        return

    def judge_in_part(i: IntArray, j: IntArray) -> None:
        judge(rows[i], cols[j])

    _visit_doubtful(costs.taken(rows, cols), u[rows], v[cols], judge_in_part, workers)


def _are_exchanged(x: FloatArray, y: FloatArray, result: MatchResult, u: FloatArray, v: FloatArray) -> bool:
    """Tell whether all matched pairs cost what the duals say in the other order, and not in this one.

    Only that is certain: where neither order fits, the sets may be others, or the result may be wrong, which
    is what the violation is there to say.
    """
    try:
        return misfit(y, x, result, u, v) <= _SAME_SETS < misfit(x, y, result, u, v)
    except ValueError:
        return False  # as noise, or what a covariance was learned from, may not fit the other order


def _as_chosen_from(result: MatchResult) -> MatchResult:
    """Give the matching of all points out of which the pairs of a result were chosen."""
    every, some = np.asarray(result.chosen_from), np.asarray(result.permutation)
    if every.shape != some.shape or not np.array_equal(some[some >= 0], every[some >= 0]):
        raise ValueError("result must have pairs of the matching in result.chosen_from only")
    return result._replace(permutation=every, chosen_from=None)


def _visit_doubtful(
    costs: _Costs | LeftOutCosts | RegressionCosts,
    u: FloatArray,
    v: FloatArray,
    judge: Callable[[IntArray, IntArray], None],
    workers: int,
) -> None:
    """Have all pairs judged, some at a time, whose costs are not certainly above the sum of their duals."""
    need = costs.need(u, v) if isinstance(costs, _Costs) and u.size * v.size >= _TREE_PAIRS else None
    if need is not None:
        assert isinstance(costs, _Costs)
        x, y = costs.x, costs.y
        if not costs.is_tame:
            # Moved into the cube around the others, points that are far out come no farther from each other.
            x, y = np.clip(x, -1.0, 1.0), np.clip(y, -1.0, 1.0)
        find_doubtful(x, y, need, judge, workers)
        return

    def run(worker: int, first: int, last: int) -> None:
        with np.errstate(all="ignore"):
            i, j = np.nonzero(~costs.suffice(slice(first, last), u, v))
        judge(i + first, j)

    over_rows(run, u.size, max(1, _BLOCK_ENTRIES // v.size), workers)


def misfit(x: FloatArray, y: FloatArray, result: MatchResult, u: FloatArray, v: FloatArray) -> float:
    """Say how far matched pairs are from costing the sum of their duals, as a share of the greatest dual.

    Zero but for rounding if the result is that of these sets; NaN or infinite if it is out of range.
    """
    rows = np.flatnonzero(result.permutation >= 0)
    partners = result.permutation[rows]
    if not rows.size:
        return 0.0
    with np.errstate(all="ignore"):
        costs = _costs(x, y, result)
        # A logarithm is as exact as a ratio of distances, however near to 0 it is. Squares of partners that
        # coincide are rounding errors, beside those of other pairs, and of the points that are farthest out.
        least, coincident = 1.0, CRITERIA[result.criterion].coincident
        if coincident is not None:
            far = [np.full(rows.size, np.abs(points).max(axis=1).argmax()) for points in (x, y)]
            others = ((rows, np.roll(partners, 1)), (rows, far[1]), (far[0], partners))
            greatest = max(float(costs.of(*pairs).max()) for pairs in others)
            least = max(float(np.finfo(float).tiny), greatest * coincident)
        slack = costs.slack(rows, partners, u, v)
        return float(np.abs(slack).max() / max(np.abs(u).max(), np.abs(v).max(), least))


def _costs(x: FloatArray, y: FloatArray, result: MatchResult) -> _Costs | LeftOutCosts | RegressionCosts:
    """Give the costs of the pairs under the regression or the covariance of the result, if it has one."""
    if result.regression is not None:
        return RegressionCosts(x, y, result.regression, result.criterion)
    covariance = result.covariance
    if covariance is None or covariance.is_isotropic:
        return _Costs(x, y, result)
    if covariance.reference is None and covariance.is_diagonal:
        return _Costs(x, y, result)
    if covariance.reference is None:
        share = 1.0
        if not has_columns(result):
            affine = check_affine((result.scale, result.shift), "result", x.shape[1])
            share = share_of_sets(x, y, *affine)
        return _Costs(x, y, result, _COINCIDENT, share, metric_sets(x, y, result))
    return LeftOutCosts(x, y, result)


def _origin(x: FloatArray) -> FloatArray:
    """Give a typical point, but 0 where that is so far out that points near zero would lose digits."""
    origin, sizes = typical_point(x), np.abs(x).max(axis=1)
    if sizes.min(where=sizes > 0.0, initial=np.inf) >= _NEAR_ZERO * sizes.max():
        return origin
    costs_digits = (np.abs(x) < _NEAR_ZERO * np.abs(origin)).any(axis=0)
    return np.where(costs_digits, 0.0, origin)


class _Costs:
    """The costs of the pairs by their definition.

    Coordinates are divided by one power of two that keeps squares in range, and each is held as a
    double and the rest that the double could not hold, so that coincident points show their true
    distance and a large common offset costs no digits.
    """

    def __init__(
        self,
        x: FloatArray,
        y: FloatArray,
        result: MatchResult,
        coincident: float = 2.0**-104,
        share: float | None = None,
        columns: ColumnSets | None = None,
    ) -> None:
        if columns is None and has_columns(result):
            columns = column_sets(x, y, result)
        if columns is not None:
            self.x, self.x_rest, self.y, self.y_rest, self.exponent = columns[:5]
            fraction, power = math.frexp(result.map.scale)
        else:
            fraction, power, shift = self._map_by_one_scale(x, y, result)
        # Beside a large common offset all this may be very small: choose the unit by what is left.
        # So it may be beside points that are far out; those are larger than the unit then.
        greatest = max(float(np.abs(self.x).max()), float(np.abs(self.y).max()))
        ordinary = max(_ordinary_size(self.x), _ordinary_size(self.y)) * _FAR
        self.is_tame = greatest <= ordinary
        extent = greatest if self.is_tame else max(ordinary, greatest * _WIDEST)
        shrunk = math.frexp(extent)[1] if extent > 0 else 0
        self.exponent += shrunk
        for part in (self.x, self.y, self.x_rest, self.y_rest):
            _times_power(part, -shrunk, out=part)
        self.x_norms, self.y_norms = (np.einsum("ij,ij->i", part, part) for part in (self.x, self.y))
        kind = CRITERIA[check_option(result.criterion, "result.criterion", tuple(CRITERIA))]
        noisy = [name for name, other in CRITERIA.items() if other.needs_noise]
        noise = check_noise(result.noise, result.criterion, noisy, len(x), len(y))
        if noise is not None:
            y_noise = fraction * np.ldexp(noise[1], power - self.exponent)
            noise = np.ldexp(noise[0], -self.exponent), y_noise

        def floor() -> float:
            centre = self.x.mean(axis=0)
            spread = ((self.x - centre) ** 2).sum() + ((self.y - centre) ** 2).sum()
            mean_square, some = spread / (len(x) + len(y)), share
            if some is None and mean_square > 0.0:
                if columns is not None:
                    some = columns.share(mean_square, shrunk)
                else:
                    sets = (x, 1.0, -self.exponent), (y, fraction, power - self.exponent)
                    some = ordinary_share(mean_square, sets, np.ldexp(shift, -shrunk))
            return float(mean_square * coincident * (some or 1.0))

        self.criterion = kind(Frame(self.exponent, floor, noise))

    def _map_by_one_scale(
        self, x: FloatArray, y: FloatArray, result: MatchResult
    ) -> tuple[float, int, FloatArray]:
        """Map y, and give the scale as a fraction and a power of two, and the shift in the present unit."""
        scale, shift = check_affine((result.scale, result.shift), "result", x.shape[1])
        fraction, power = math.frexp(scale)
        extents = [(np.abs(x).max(), 0), (np.abs(y).max(), power), (np.abs(shift).max(), 0)]
        self.exponent = 2 + max((math.frexp(size)[1] + p for size, p in extents if size > 0), default=0)
        origin, shift = np.ldexp(_origin(x), -self.exponent), np.ldexp(shift, -self.exponent)
        offset, offset_rest = exact_sum(shift, -origin)
        self.x, self.x_rest = np.empty_like(x), np.empty_like(x)
        self.y, self.y_rest = np.empty_like(y), np.empty_like(y)
        for block in _cached_blocks(x):
            self.x[block], self.x_rest[block] = exact_sum(_times_power(x[block], -self.exponent), -origin)
        for block in _cached_blocks(y):
            product, rest = exact_product(fraction, _times_power(y[block], power - self.exponent))
            mapped, lost = exact_sum(product, offset)
            # Where these cancelled, what they lost may be as large as what is left: round the sum once more.
            self.y[block], self.y_rest[block] = exact_sum(mapped, lost + (rest + offset_rest))
        return fraction, power, shift

    def taken(self, rows: IntArray, cols: IntArray) -> _Costs:
        """Take some points of each set; units and the floor stay those of all."""
        some = copy.copy(self)
        some.x, some.x_rest, some.x_norms = self.x[rows], self.x_rest[rows], self.x_norms[rows]
        some.y, some.y_rest, some.y_norms = self.y[cols], self.y_rest[cols], self.y_norms[cols]
        some.criterion = self.criterion.taken(rows, cols)
        return some

    def need(self, u: FloatArray, v: FloatArray) -> Need | None:
        """Say which squared distances make costs exceed the duals; None if not all numbers are finite."""
        need = self.criterion.need(u, v)
        if need is None or not all(np.isfinite(part).all() for part in (*need, self.x, self.y)):
            return None
        return need

    def suffice(self, block: slice, u: FloatArray, v: FloatArray) -> NDArray[np.bool_]:
        """Say for which pairs of some rows the cost is certainly not below the sum of the duals."""
        norms = self.x_norms[block, None] + self.y_norms
        needed = self.criterion.needed(block, u, v)
        if needed is None:
            return np.zeros(norms.shape, np.bool_)
        least = norms - 2.0 * (self.x[block] @ self.y.T)
        least -= norms * (4.0 * (self.x.shape[1] + 8) * np.finfo(float).eps)
        least = np.maximum(least, self.criterion.floor)
        # In this form a NaN does not suffice.
        enough: NDArray[np.bool_] = least > needed + _MARGIN * np.abs(needed)
        return enough

    def slack(self, i: IntArray, j: IntArray, u: FloatArray, v: FloatArray) -> FloatArray:
        """Compute by how much the pairs (i[k], j[k]) cost more than the sum of their duals."""
        return self.of(i, j) - u[i] - v[j]

    def of(self, i: IntArray, j: IntArray) -> FloatArray:
        """Compute the costs of the pairs (i[k], j[k])."""
        squares = np.empty(i.size)
        step = max(1, _BLOCK_ENTRIES // self.x.shape[1])
        for start in range(0, i.size, step):
            row, col = i[start : start + step], j[start : start + step]
            differences = self.x[row] - self.y[col]
            some = np.einsum("ij,ij->i", differences, differences)
            # (In this form what is not a number counts as close. So does all beside points that are far out.)
            close = np.flatnonzero(~((some > _CLOSE * self.x.shape[1]) & self.is_tame))
            if close.size:
                row, col = row[close], col[close]
                differences = differences[close] + (self.x_rest[row] - self.y_rest[col])
                some[close] = np.einsum("ij,ij->i", differences, differences)
            squares[start : start + step] = some
        return self.criterion.costs(squares, i, j)


def _ordinary_size(points: FloatArray) -> float:
    """Give the greatest coordinate that most of some points have; that of all if it is 0."""
    some = np.abs(points[:: len(points) // 500 + 1]).max(axis=1)
    return float(np.median(some)) or float(np.abs(points).max())


def _cached_blocks(points: FloatArray) -> list[slice]:
    """Cut the rows into blocks on which several steps follow each other in the processor's cache."""
    step = max(1, _CACHED_ENTRIES // points.shape[1])
    return [slice(start, start + step) for start in range(0, len(points), step)]


def _times_power(values: FloatArray, exponent: int, out: FloatArray | None = None) -> FloatArray:
    """Multiply by a power of two, quickly if it is in the range of doubles."""
    if abs(exponent) < 1000:
        return np.multiply(values, math.ldexp(1.0, exponent), out=out)
    return np.ldexp(values, exponent, out=out)
