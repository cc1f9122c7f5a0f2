"""Lists, frames, arrays of any type and layout: read alike, and never changed."""

import numpy as np
import pandas as pd
import pytest

from lslmatch import Affine, match
from tests.support.matching import noise_of, objectives
from tests.support.processes import start_python
from tests.support.sets import draw


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


KINDS = {
    "list": np.ndarray.tolist,
    "tuples": lambda points: tuple(map(tuple, points)),
    "Fortran order": np.asfortranarray,
    "every other column": lambda points: np.repeat(points, 2, axis=1)[:, ::2],
    "reversed": lambda points: points[::-1, ::-1].copy()[::-1, ::-1],
    "read only": read_only,
    "float16": lambda points: points.astype(np.float16),
    "float32": lambda points: points.astype(np.float32),
    "long double": lambda points: points.astype(np.longdouble),
    "int16": lambda points: points.astype(np.int16),
    "big-endian float": lambda points: points.astype(">f8"),
    "big-endian integer": lambda points: points.astype(">i8"),
    "unmasked": np.ma.asarray,
    "DataFrame": pd.DataFrame,
    "labelled DataFrame": lambda points: pd.DataFrame(
        points, index=range(90, 90 - len(points), -1)
    ).add_prefix("c"),
    "integer DataFrame": lambda points: pd.DataFrame(points.astype(int)),
}


@objectives
@pytest.mark.parametrize("kind", KINDS)
def test_kind_and_layout_of_the_input_do_not_matter(objective, kind):
    rng = np.random.default_rng(0)
    x, y = rng.integers(-50, 50, (6, 3)).astype(float), rng.integers(-50, 50, (6, 3)).astype(float)
    noise = noise_of(objective, 6, 6)
    expected = match(x, y, objective=objective, noise=noise)
    given_x, given_y = KINDS[kind](x), KINDS[kind](y)
    before = np.array(given_x), np.array(given_y)
    result = match(given_x, given_y, objective=objective, noise=noise)
    for found, wanted in zip(result[:6], expected[:6], strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.array(given_x), before[0])
    np.testing.assert_array_equal(np.array(given_y), before[1])


def test_booleans_are_coordinates_of_zero_and_one():
    x = np.array([[False, True], [True, True], [False, False]])
    np.testing.assert_array_equal(match(x, ~x).permutation, match(x.astype(float), 1.0 - x).permutation)


def test_noise_levels_are_not_changed_and_may_be_series():
    x, y = draw(5, 2), draw(5, 2, 1)
    levels = pd.Series(np.linspace(1.0, 2.0, 5), index=list("abcde"))
    kept = levels.copy()
    result = match(x, y, objective="lsns", noise=(levels, levels))
    pd.testing.assert_series_equal(levels, kept)
    assert (
        result.objective == match(x, y, objective="lsns", noise=(kept.to_numpy(), kept.to_numpy())).objective
    )


def test_results_are_the_callers_own():
    x, y = draw(5, 2), draw(5, 2, 1)
    shift = np.zeros(2)
    first = match(x, y, alignment=Affine(1.0, shift))
    expected = first.permutation.copy()
    for part in (first.permutation, first.row_dual, first.col_dual):
        part[:] = 99
    np.testing.assert_array_equal(match(x, y, alignment=Affine(1.0, shift)).permutation, expected)


def test_the_library_never_imports_pandas_by_itself():
    child = start_python(
        """
        import sys, lslmatch
        lslmatch.match([[0, 1], [2, 3], [5, 5]], [[5, 5], [2, 3], [0, 1]])
        print({"pandas", "matplotlib", "statsmodels", "joblib", "verification"} & set(sys.modules))
        """
    )
    out, err = child.communicate(timeout=300)
    assert (out, err) == ("set()\n", "")
