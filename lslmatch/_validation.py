"""Every input check and every error message: each names the argument, the rule and what came."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection
from typing import Any

import numpy as np

from lslmatch._arrays import as_array, is_sparse
from lslmatch._frames import as_frame, in_row_order, listed, pair_columns
from lslmatch._shared_columns import take_those_of
from lslmatch._types import FloatArray
from lslmatch.given import Given
from lslmatch.maps import MATRIX_MAPS, Affine, AnyMap, ColumnMap, LinearMap, Similarity
from lslmatch.results import Covariance, FalseShare, Labels, MatchResult, Regression

#: By how much the products of the columns of a rotation may differ from 0 and 1.
_NOT_ORTHOGONAL = 1e-6

#: What the parts of a result may be, besides None.
_PARTS: dict[str, tuple[type, ...]] = {
    "column_map": (ColumnMap,),
    "matrix_map": MATRIX_MAPS,
    "covariance": (Covariance,),
    "given": (Given,),
    "regression": (Regression,),
}


def as_kernel_array(values: np.ndarray) -> FloatArray:
    """Give `values` the one memory layout that kernels are compiled for, copying only if needed."""
    return np.require(values, np.float64, ["C", "A", "W", "E"])


def shown(value: Any) -> str:
    """Show what came in one line that is not long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # other packages, and whole numbers of thousands of digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:100]}..."


def check_points(points: Any, name: str) -> FloatArray:
    """Return `points` as a C-contiguous float64 array of shape (n, d), n >= 2 and d >= 1."""
    points, columns, _ = as_frame(points, name)
    array = as_real_array(points, name)
    if array.ndim != 2:
        raise ValueError(f"{name} must be 2-dimensional, with points as rows; got shape {array.shape}")
    if array.shape[1] < 1:
        raise ValueError(f"{name} must have at least one column; got shape {array.shape}")
    if array.shape[0] < 2:
        raise ValueError(f"{name} must have at least 2 points; got shape {array.shape}")
    array = as_kernel_array(array)
    check_finite(array, name, columns)
    return array


def check_point_pair(
    x: Any, y: Any, found: Any = None, columns: tuple[str, ...] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Check both sets and that they live in the same space; columns with names are paired by them.

    If a linear map was given, or is asked for by its name, both have spaces of their own, and nothing is
    paired by names. If sets have more than the `columns` that were matched, these are taken.
    """
    if isinstance(found, LinearMap) or (isinstance(found, str) and found == "linear"):
        return check_points(x, "x"), check_points(y, "y")
    x, y = pair_columns(take_those_of(x, columns), take_those_of(y, columns))
    x, y = check_points(x, "x"), check_points(y, "y")
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"x and y must have the same number of columns; got {x.shape[1]} and {y.shape[1]}")
    return x, y


def check_vector(values: Any, name: str, length: int | None = None) -> FloatArray:
    """Return `values` as a finite float64 vector of the given length, or of any length but 0."""
    array = as_real_array(values, name)
    if length is None:
        if array.ndim != 1 or not array.size:
            raise ValueError(f"{name} must be a vector of at least one number; got shape {array.shape}")
    elif array.shape != (length,):
        raise ValueError(f"{name} must have shape ({length},); got shape {array.shape}")
    array = as_kernel_array(array)
    check_finite(array, name)
    return array


def check_filled_vector(values: Any, name: str, length: int) -> FloatArray:
    """Return `values` as a vector of the given length; one number stands for all of them."""
    array = as_real_array(values, name)
    return check_vector(np.full(length, array) if array.ndim == 0 else array, name, length)


def check_positive_vector(values: Any, name: str, length: int | None = None) -> FloatArray:
    """Return `values` as a vector of positive numbers; one number stands for all `length` of them."""
    vector = check_vector(values, name) if length is None else check_filled_vector(values, name, length)
    if vector.size and not vector.min() > 0:
        raise ValueError(f"{name} must be positive; its smallest value is {vector.min()}")
    return vector


def check_weights(values: Any, name: str) -> FloatArray:
    """Return `values` as a vector of numbers that are not negative, of any length but 0."""
    vector = check_vector(values, name)
    if not vector.min() >= 0:
        raise ValueError(f"{name} must not be negative; its smallest value is {vector.min()}")
    return vector


def check_number(value: Any, name: str) -> float:
    """Return `value` as one finite number."""
    array = as_real_array(value, name)
    if array.ndim != 0:
        raise ValueError(f"{name} must be one number; got shape {array.shape}")
    number = float(array)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite; got {number}")
    return number


def check_positive(value: Any, name: str) -> float:
    """Return `value` as one positive, finite number."""
    number = check_number(value, name)
    if not number > 0:
        raise ValueError(f"{name} must be positive; got {number}")
    return number


def check_at_least(value: Any, name: str, least: float) -> float:
    """Return `value` as one finite number that is not below `least`."""
    number = check_number(value, name)
    if not number >= least:
        raise ValueError(f"{name} must be at least {least:g}; got {number}")
    return number


def check_probability(value: Any, name: str) -> float:
    """Return `value` as one number strictly between 0 and 1."""
    return check_between(value, name, 0, 1)


def check_between(value: Any, name: str, low: float, high: float) -> float:
    """Return `value` as one number strictly between `low` and `high`."""
    number = check_number(value, name)
    if not low < number < high:
        raise ValueError(f"{name} must lie strictly between {low:g} and {high:g}; got {number}")
    return number


def check_count(value: Any, name: str, least: int) -> int:
    """Return `value` as a whole number that is not below `least`."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number; got {shown(value)}") from None
    if count < least:
        raise ValueError(f"{name} must be at least {least}; got {count}")
    return count


def check_option(value: Any, name: str, options: tuple[str, ...]) -> str:
    """Return `value` if it is one of `options`."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {shown(value)}")
    return value


def check_noise(
    noise: Any, objective: str, noisy: Collection[str], n: int, m: int, labels: Labels | None = None
) -> tuple[FloatArray, FloatArray] | None:
    """Return the noise levels of both sets, which only the `noisy` objectives take, and need."""
    if objective not in noisy:
        if noise is not None:
            users = " and ".join(map(repr, noisy))
            raise ValueError(f"noise is only used by objective {users}; got it with objective {objective!r}")
        return None
    if not isinstance(noise, (tuple, list)) or len(noise) != 2:
        raise ValueError(
            f"noise must be a pair (levels of x, levels of y) for objective {objective!r}; got {shown(noise)}"
        )
    of_x, of_y = noise
    if labels is not None:
        of_x, of_y = in_row_order(of_x, labels.x, "noise[0]"), in_row_order(of_y, labels.y, "noise[1]")
    return check_positive_vector(of_x, "noise[0]", n), check_positive_vector(of_y, "noise[1]", m)


def check_affine(affine: Any, name: str, dimension: int) -> Affine:
    """Return `affine` as an :class:`Affine` with a positive scale and a shift of length `dimension`."""
    if not isinstance(affine, tuple) or len(affine) != 2 or isinstance(affine, (ColumnMap, LinearMap)):
        raise TypeError(f"{name} must be an Affine(scale, shift); got {shown(affine)}")
    scale = check_positive(affine[0], f"{name}.scale")
    return Affine(scale, check_vector(affine[1], f"{name}.shift", dimension))


def check_map(given: Any, name: str, dimension: int, other: int | None = None) -> AnyMap:
    """Return a map that was given, of whatever family, to a space of `dimension` from one of `other`."""
    if isinstance(given, MATRIX_MAPS):
        return _check_matrix_map(given, name, dimension, dimension if other is None else other)
    if not isinstance(given, ColumnMap):
        return check_affine(given, name, dimension)
    scales = check_vector(given.scales, f"{name}.scales", dimension)
    if not scales.all():
        raise ValueError(f"{name}.scales must not be 0; got {scales}")
    return ColumnMap(scales, check_vector(given.shift, f"{name}.shift", dimension))


def _check_matrix_map(
    given: Similarity | LinearMap, name: str, dimension: int, other: int
) -> Similarity | LinearMap:
    shift = check_vector(given.shift, f"{name}.shift", dimension)
    if isinstance(given, LinearMap):
        return LinearMap(_check_matrix(given.matrix, f"{name}.matrix", (dimension, other)), shift)
    scale = check_positive(given.scale, f"{name}.scale")
    rotation = _check_matrix(given.rotation, f"{name}.rotation", (dimension, dimension))
    with np.errstate(over="ignore", invalid="ignore"):
        worst = float(np.abs(rotation.T @ rotation - np.eye(dimension)).max())
    if not worst <= _NOT_ORTHOGONAL:
        raise ValueError(
            f"{name}.rotation must be orthogonal; its transpose times itself differs from 1 by {worst:.3g}"
        )
    return Similarity(scale, rotation, shift)


def _check_matrix(values: Any, name: str, shape: tuple[int, int]) -> FloatArray:
    array = as_real_array(values, name)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; got shape {array.shape}")
    array = as_kernel_array(array)
    check_finite(array, name)
    return array


def check_units(units: Any, name: str, dimension: int) -> FloatArray:
    """Return the units of columns, positive numbers."""
    return check_positive_vector(units, name, dimension)


def check_permutation(permutation: Any, name: str, length: int) -> np.ndarray:
    """Return `permutation` as an array that holds each of 0, ..., length - 1 once."""
    array = np.asarray(permutation)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold whole numbers; got dtype {array.dtype}")
    if array.shape != (length,) or not np.array_equal(np.sort(array), np.arange(length)):
        raise ValueError(f"{name} must hold each of 0, ..., {length - 1} once; got shape {array.shape}")
    return array.astype(np.intp)


def check_pairs(
    pairs: Any, objective: str, chosen_from: Collection[str], minimised: Collection[str], n: int, m: int
) -> int | FalseShare | str | None:
    """Return how many pairs of n and m points are to be matched; None for all, which is min(n, m).

    "auto" and a checked :class:`FalseShare` are returned as they are. Which objectives they are for is in
    `chosen_from`, and which have cheapest pairs in `minimised`.
    """
    if isinstance(pairs, (str, FalseShare)):
        if isinstance(pairs, FalseShare):
            pairs = FalseShare(check_probability(pairs.share, "pairs.share"), _check_proof(pairs.proof))
        elif check_option(pairs, "pairs", ("all", "auto")) == "all":
            return None
        if objective not in chosen_from:
            able = " and ".join(map(repr, chosen_from))
            raise ValueError(
                f"pairs can be chosen for objective {able} only; got {pairs!r} with {objective!r}"
            )
        return pairs
    count = check_count(pairs, "pairs", 1)
    if count > min(n, m):
        raise ValueError(
            f"pairs must be at most {min(n, m)}, the number of points of the smaller set; got {count}"
        )
    if objective not in minimised:
        raise ValueError(
            f"pairs must be 'all' for objective {objective!r}, which has no best pairs; got {count}"
        )
    return None if count == min(n, m) else count


def _check_proof(proof: Any) -> bool:
    if not isinstance(proof, (bool, np.bool_)):
        raise TypeError(f"pairs.proof must be True or False; got {proof!r}")
    return bool(proof)


def check_matching(permutation: Any, name: str, n: int, m: int, partial: bool = False) -> np.ndarray:
    """Return `permutation` as an array that gives min(n, m) of n points partners among m, -1 to others.

    If it is `partial`, fewer may have partners.
    """
    array = np.asarray(permutation)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold whole numbers; got dtype {array.dtype}")
    if array.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one entry a point of x; got shape {array.shape}")
    partners = array[array != -1]
    in_range = partners.size == 0 or (partners.min() >= 0 and partners.max() < m)
    enough = partners.size == min(n, m) or partial
    if not in_range or not enough or np.unique(partners).size != partners.size:
        number = "some" if partial else f"{min(n, m)}"
        raise ValueError(f"{name} must match {number} points of x to different points of y")
    return array.astype(np.intp)


def check_result_parts(result: MatchResult) -> None:
    """Refuse a result that holds something else where it has a map, a covariance or what was given."""
    for name, kinds in _PARTS.items():
        part = getattr(result, name)
        if part is not None and not isinstance(part, kinds):
            allowed = ", ".join(["None", *(kind.__name__ for kind in kinds[:-1])])
            raise TypeError(f"result.{name} must be {allowed} or {kinds[-1].__name__}; got {shown(part)}")


def check_indices(values: Any, name: str, length: int) -> np.ndarray:
    """Return `values` as a vector of indices of a sequence of the given length."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} must be 'bound', 'exact' or whole numbers; got {shown(values)}")
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector of indices; got shape {array.shape}")
    if array.size and not (array.min() >= 0 and array.max() < length):
        raise ValueError(
            f"{name} must hold indices from 0 to {length - 1}; got {array.min()} to {array.max()}"
        )
    return array.astype(np.intp)


def check_cost_matrix(cost_matrix: Any, maximize: Any) -> FloatArray:
    """Return `cost_matrix` as a C-contiguous float64 matrix; +inf (-inf if maximising) forbids a pair.

    The wording of the errors is SciPy's, whose callers may look for it.
    """
    # (What a sparse matrix leaves out is no cost of 0.)
    array = np.asarray(cost_matrix) if is_sparse(cost_matrix) else as_array(cost_matrix, "cost_matrix")
    if array.ndim != 2:
        raise ValueError(f"expected a matrix (2-D array), got a {array.ndim}-D array as cost_matrix")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"cost_matrix: Cannot cast array data from dtype('{array.dtype}') to float64")
    with np.errstate(over="ignore"):
        array = as_kernel_array(array)
    forbidden = -np.inf if maximize else np.inf
    least = array.max(initial=forbidden) if maximize else array.min(initial=forbidden)
    if np.isnan(least) or least == -forbidden:
        raise ValueError(f"cost_matrix contains invalid numeric entries: NaN or {-forbidden}")
    return array


def check_finite(array: FloatArray, name: str, columns: tuple[str, ...] | None = None) -> None:
    """Raise if any entry is NaN or infinite, naming the first one and, of points, the columns."""
    # A sum is finite only if all terms are, and takes one pass without a temporary; an overflow
    # of finite terms merely sends us to the slow test.
    with np.errstate(over="ignore", invalid="ignore"):
        if math.isfinite(array.sum()):
            return
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(k) for k in np.argwhere(bad)[0])
        place = ", ".join(map(str, where))
        message = f"{name} must be finite, without NaN or inf; {name}[{place}] is {array[where]}"
        if array.ndim == 2:
            message += _describe_missing(bad, int(np.isnan(array).sum()), columns)
        raise ValueError(message)


def _describe_missing(bad: np.ndarray, missing: int, columns: tuple[str, ...] | None) -> str:
    """Count what is missing or infinite, by column, and say what can be done about it."""
    counts = bad.sum(axis=0)
    where = np.flatnonzero(counts)
    names = [int(k) if columns is None else columns[k] for k in where]
    rows = int(bad.any(axis=1).sum())
    kind = "missing (NaN)" if missing == counts.sum() else "missing or infinite"
    return (
        f". In all {int(counts.sum())} of {bad.size} values are {kind}, in {rows} of {len(bad)} rows and "
        f"column{'s' * (len(names) > 1)} {listed(names)}: leave out these rows or columns, or fill them in"
    )


def as_real_array(values: Any, name: str) -> np.ndarray:
    """Return `values` as an array of real numbers of at most double precision, whatever its shape."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} must not have masked entries; fill or drop them first")
    array = as_array(values, name)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be real numbers; got dtype {array.dtype}")
    if array.dtype.itemsize > 8 and array.dtype.kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            array = array.astype(np.float64)
    return array
