"""match itself against every allowed matching: what was given reaches the solver, whatever it is."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lslmatch import check_certificate, match
from tests.allowed.naive import least_total, problem


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_no_allowed_matching_costs_less_than_that_of_match(seed):
    x, y, objective, noise, known, groups, forbidden = parts = problem(seed)
    least = least_total(*parts)
    options = {"objective": objective, "noise": noise, "known": known, "groups": groups}
    if groups is not None and not np.intersect1d(*groups).size:
        with pytest.raises(ValueError, match="groups must have one with points of both sets"):
            match(x, y, alignment="identity", **options, forbidden=forbidden)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if least is None:
            with pytest.raises(
                ValueError, match="forbidden must leave every point of the smaller set a partner"
            ):
                match(x, y, alignment="identity", **options, forbidden=forbidden)
            return
        result = match(x, y, alignment="identity", **options, forbidden=forbidden)
    assert result.objective == pytest.approx(least, rel=1e-9, abs=1e-9)
    assert check_certificate(x, y, result) < 1e-9
