"""Whatever the input is: the least cost, or an error with a reason."""

import functools
import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lslmatch import Affine, check_certificate, match
from tests.support.matching import PROVEN, assert_is_matching, noise_of
from tests.support.reference import costs, least_cost, squared_distances
from tests.support.solver import set_solver

_coordinates = (
    st.integers(-3, 3) | st.integers(-(2**30), 2**30).map(lambda k: k / 2**27) | st.sampled_from([0.1, 0.3])
)


@st.composite
def point_sets(draw, elements=_coordinates):
    d = draw(st.integers(1, 3))
    return [draw(hnp.arrays(float, (draw(st.integers(2, 5)), d), elements=elements)) for _ in "xy"]


@given(
    points=point_sets(),
    objective=st.sampled_from(PROVEN),
    affine=st.none() | st.tuples(st.sampled_from([1.0, 0.1, 3.0]), st.sampled_from([0.0, 0.1, -1e9])),
    exponent=st.sampled_from([0, 0, 300, -300]),
    pairs=st.sampled_from([0, 100]),
)
def test_ties_and_duplicates_are_matched_at_the_least_cost(points, objective, affine, exponent, pairs):
    x, y = (np.ldexp(part, exponent) for part in points)
    noise = noise_of(objective, len(x), len(y))
    noise = noise and tuple(np.ldexp(levels, exponent) for levels in noise)
    alignment = "standardize"
    if affine is not None:
        alignment = Affine(affine[0], np.ldexp(np.full(x.shape[1], affine[1]), exponent))
    elif min(np.ptp(x, axis=0).max(), np.ptp(y, axis=0).max()) == 0.0:
        with pytest.raises(ValueError, match="must have a positive total variance"):
            match(x, y, objective=objective, noise=noise)
        return
    with pytest.MonkeyPatch.context() as patch:
        set_solver(patch, dense_pairs=pairs, list_size=3)
        result = match(x, y, objective=objective, alignment=alignment, noise=noise)
    assert_is_matching(result, len(x), len(y))
    if objective == "lsl" and not any(map(any, squared_distances(x, y, result.scale, result.shift))):
        return  # all points in one place: no unit to measure costs in
    cost = costs(objective, x, y, result.scale, result.shift, noise)
    unit = np.abs(cost).max()
    assert result.objective == pytest.approx(float(least_cost(cost)), rel=1e-10, abs=1e-11 * unit)
    assert check_certificate(x, y, result) <= 1e-11 * unit


@given(
    points=point_sets(
        st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, 1e200, 1e-200])
    ),
    objective=st.sampled_from([*PROVEN, "greedy"]),
    alignment=st.sampled_from(["standardize", "identity"]),
)
def test_any_finite_points_are_matched_or_refused_for_a_reason(points, objective, alignment):
    x, y = points
    try:
        result = match(
            x, y, objective=objective, alignment=alignment, noise=noise_of(objective, len(x), len(y))
        )
    except ValueError as error:
        assert str(error).startswith(("x ", "y ", "x and y ", "noise"))  # noqa: PT017
        return
    assert_is_matching(result, len(x), len(y))
    assert math.isfinite(result.objective)
    if objective != "greedy":
        assert check_certificate(x, y, result) <= 1e-9 * max(1.0, abs(result.objective))


_anything = st.recursive(
    st.none() | st.floats() | st.booleans() | st.text(max_size=2), functools.partial(st.lists, max_size=3)
)


@given(
    x=_anything | hnp.arrays(float, (3, 2)), y=_anything | hnp.arrays(np.float32, (2, 2)), alignment=_anything
)
def test_anything_else_raises_only_type_and_value_errors(x, y, alignment):
    try:
        assert_is_matching(match(x, y, alignment=alignment), len(x), len(y))
    except (TypeError, ValueError):
        return
