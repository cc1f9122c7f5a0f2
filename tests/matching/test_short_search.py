"""Small sets whose alignment is searched for, as plain arrays and as what has to be taken apart first."""

import numpy as np
import pytest

from lslmatch import ColumnMap, match
from tests.support.alignment import draw, estimates


@estimates
@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize(("n", "m"), [(30, 30), (20, 30), (30, 20)])
def test_lists_are_matched_as_arrays_are(alignment, objective, n, m):
    x, y = draw(n, m, 3)
    plain = match(x, y, alignment=alignment, objective=objective)
    other = match(x.tolist(), y.tolist(), alignment=alignment, objective=objective)
    assert plain == other
    assert plain.decisions == other.decisions
    assert (plain.profile is None) == (alignment == "robust" or isinstance(plain.map, ColumnMap))


@estimates
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(alignment, bad):
    x, y = draw(12, 12, 3)
    for points, name in ((x, "x"), (y, "y")):
        kept, points[3, 1] = points[3, 1], bad
        with pytest.raises(ValueError, match=rf"{name} must be finite.*{name}\[3, 1\]"):
            match(x, y, alignment=alignment)
        points[3, 1] = kept


@estimates
@pytest.mark.parametrize("workers", [0, 1.5, "2"])
def test_so_are_workers_that_are_none(alignment, workers):
    with pytest.raises((ValueError, TypeError), match="workers"):
        match(*draw(12, 12, 3), alignment=alignment, workers=workers)
