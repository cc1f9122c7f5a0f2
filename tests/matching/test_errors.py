"""Errors name the argument, the rule and what came."""

import math

import numpy as np
import pandas as pd
import pytest

from lslmatch import Affine, estimate_affine, match, standardize
from tests.support.sets import draw

X, Y = draw(4, 2), draw(5, 2, 1)

NAN, NEGATIVE = X.copy(), Y.copy()

NAN[1, 0], NEGATIVE[4, 1] = math.nan, -math.inf

MASKED = np.ma.masked_equal(X, X[2, 1])

RAGGED = [[1.0, 2.0], [3.0]]

BAD_POINTS = [
    (dict(x=[1.0, 2.0]), ValueError, r"x must be 2-dimensional, with points as rows; got shape \(2,\)"),
    (
        dict(y=np.ones((2, 2, 2))),
        ValueError,
        r"y must be 2-dimensional, with points as rows; got shape \(2, 2, 2\)",
    ),
    (dict(x=3.0), ValueError, r"x must be 2-dimensional, with points as rows; got shape \(\)"),
    (dict(x=[]), ValueError, r"x must be 2-dimensional, with points as rows; got shape \(0,\)"),
    (dict(x=np.empty((0, 2))), ValueError, r"x must have at least 2 points; got shape \(0, 2\)"),
    (dict(y=[[1.0, 2.0]]), ValueError, r"y must have at least 2 points; got shape \(1, 2\)"),
    (dict(y=np.empty((3, 0))), ValueError, r"y must have at least one column; got shape \(3, 0\)"),
    (dict(y=draw(4, 3)), ValueError, r"x and y must have the same number of columns; got 2 and 3"),
    (dict(x=NAN), ValueError, r"x must be finite, without NaN or inf; x\[1, 0\] is nan"),
    (dict(y=NEGATIVE), ValueError, r"y must be finite, without NaN or inf; y\[4, 1\] is -inf"),
    (dict(x=X * 1j), TypeError, r"x must be real numbers; got dtype complex128"),
    (dict(y=Y.astype(object)), TypeError, r"y must be real numbers; got dtype object"),
    (dict(x=X.astype(str)), TypeError, r"x must be real numbers; got dtype <U"),
    (dict(x=X.astype("M8[s]")), TypeError, r"x must be real numbers; got dtype datetime64"),
    (dict(x=None), TypeError, r"x must be real numbers; got dtype object"),
    (
        dict(x=pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]})),
        TypeError,
        r"x must be real numbers; these columns are not: 'b' \(text, different in every row\)",
    ),
    (dict(x=RAGGED), ValueError, r"x must be convertible to an array: .*inhomogeneous"),
    (dict(x=MASKED), ValueError, r"x must not have masked entries; fill or drop them first"),
    (
        dict(x=np.ones((4, 2))),
        ValueError,
        r"x must have a positive total variance, .* all its 4 points coincide",
    ),
    (
        dict(y=np.zeros((3, 2))),
        ValueError,
        r"y must have a positive total variance, .* all its 3 points coincide",
    ),
    (dict(x=1e200 * X, y=1e-200 * Y), ValueError, r"x and y must have comparable units"),
]

BAD_OPTIONS = [
    (
        dict(objective="LSL"),
        ValueError,
        r"objective must be one of 'lsl', 'lss', 'lsns', 'distance', 'greedy'; got 'LSL'",
    ),
    (dict(objective=None), ValueError, r"objective must be one of .*; got None"),
    (dict(objective=("lsl",)), ValueError, r"objective must be one of .*; got \('lsl',\)"),
    (
        dict(alignment="affine"),
        ValueError,
        r"alignment must be one of 'standardize', 'identity',.*; got 'affine'",
    ),
    (dict(alignment=None), ValueError, r"alignment must be one of .*; got None"),
    (dict(alignment=2.0), ValueError, r"alignment must be one of .*; got 2\.0"),
    (dict(alignment=Affine(0.0, np.zeros(2))), ValueError, r"alignment\.scale must be positive; got 0\.0"),
    (dict(alignment=Affine(-1.0, np.zeros(2))), ValueError, r"alignment\.scale must be positive; got -1\.0"),
    (dict(alignment=Affine(math.nan, np.zeros(2))), ValueError, r"alignment\.scale must be finite; got nan"),
    (
        dict(alignment=Affine([1.0, 2.0], np.zeros(2))),
        ValueError,
        r"alignment\.scale must be one number; got shape \(2,\)",
    ),
    (
        dict(alignment=Affine(1.0, np.zeros(3))),
        ValueError,
        r"alignment\.shift must have shape \(2,\); got shape \(3,\)",
    ),
    (
        dict(alignment=Affine(1.0, 0.0)),
        ValueError,
        r"alignment\.shift must have shape \(2,\); got shape \(\)",
    ),
    (
        dict(alignment=Affine(1.0, [0.0, math.inf])),
        ValueError,
        r"alignment\.shift must be finite, .*shift\[1\] is inf",
    ),
    (
        dict(alignment=Affine("1", np.zeros(2))),
        TypeError,
        r"alignment\.scale must be real numbers; got dtype <U1",
    ),
    (
        dict(alignment=(1.0, 2.0, 3.0)),
        TypeError,
        r"alignment must be an Affine\(scale, shift\); got \(1\.0, 2\.0, 3\.0\)",
    ),
    (dict(workers=0), ValueError, r"workers must be at least 1; got 0"),
    (dict(workers=-2), ValueError, r"workers must be at least 1; got -2"),
    (dict(workers=1.5), TypeError, r"workers must be a whole number; got 1\.5"),
    (dict(workers="2"), TypeError, r"workers must be a whole number; got '2'"),
    (dict(workers=True), TypeError, r"workers must be a whole number; got True"),
    (dict(workers=None), TypeError, r"workers must be a whole number; got None"),
    (
        dict(noise=(1.0, 1.0)),
        ValueError,
        r"noise is only used by objective 'lsns'; got it with objective 'lsl'",
    ),
]

BAD_NOISE = [
    (None, ValueError, r"noise must be a pair \(levels of x, levels of y\) for objective 'lsns'; got None"),
    (1.0, ValueError, r"noise must be a pair .*; got 1\.0"),
    ((1.0,), ValueError, r"noise must be a pair .*; got \(1\.0,\)"),
    ((1.0, 1.0, 1.0), ValueError, r"noise must be a pair .*; got \(1\.0, 1\.0, 1\.0\)"),
    ((np.ones(5), 1.0), ValueError, r"noise\[0\] must have shape \(4,\); got shape \(5,\)"),
    ((1.0, np.ones((5, 1))), ValueError, r"noise\[1\] must have shape \(5,\); got shape \(5, 1\)"),
    ((0.0, 1.0), ValueError, r"noise\[0\] must be positive; its smallest value is 0\.0"),
    (
        (1.0, [1.0, 1.0, -0.5, 1.0, 1.0]),
        ValueError,
        r"noise\[1\] must be positive; its smallest value is -0\.5",
    ),
    ((math.nan, 1.0), ValueError, r"noise\[0\] must be finite, without NaN or inf; noise\[0\]\[0\] is nan"),
    (
        (1.0, [1.0, math.inf, 1.0, 1.0, 1.0]),
        ValueError,
        r"noise\[1\] must be finite, .*; noise\[1\]\[1\] is inf",
    ),
    ((1j, 1.0), TypeError, r"noise\[0\] must be real numbers; got dtype complex128"),
    (("1", 1.0), TypeError, r"noise\[0\] must be real numbers; got dtype <U1"),
]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        *BAD_POINTS,
        *BAD_OPTIONS,
        *((dict(objective="lsns", noise=noise), *rest) for noise, *rest in BAD_NOISE),
    ],
)
def test_errors_name_the_argument_the_rule_and_what_came(change, error, message):
    arguments = {"x": X, "y": Y, **change}
    with pytest.raises(error, match=message):
        match(**arguments)


@pytest.mark.parametrize("function", [estimate_affine, standardize])
@pytest.mark.parametrize(("change", "error", "message"), BAD_POINTS)
def test_every_function_of_points_refuses_the_same_input(function, change, error, message):
    points = {"x": X, "y": Y, **change}
    if function is standardize:
        if "x" not in change or "y" in change:
            return  # it has one argument only
        del points["y"]
    with pytest.raises(error, match=message):
        function(**points)


def test_options_are_given_by_name():
    with pytest.raises(TypeError, match="positional argument"):
        match(X, Y, "lsl")
