import json
import math

import numpy as np
import pytest

from verification.engine.tally import MULTIPLES, ONE, Tally


def fill(values):
    tally = Tally(1)
    for value in values:
        tally.add([value])
    return tally


def test_one_is_among_the_multiples():
    assert MULTIPLES[ONE] == 1.0


def test_a_value_at_the_bound_is_no_violation():
    tally = fill([1.0, np.nextafter(1.0, 2.0), 0.5, math.inf])
    assert tally.violations() == 2
    assert tally.violations(multiple=0) == 4


def test_mean_and_variance():
    values = np.random.default_rng(0).exponential(size=500)
    tally = fill(values)
    assert tally.mean() == pytest.approx(values.mean(), rel=1e-10)
    assert tally.variance() == pytest.approx(values.var(ddof=1), rel=1e-9)
    assert tally.standard_error() == pytest.approx(values.std(ddof=1) / math.sqrt(500), rel=1e-9)


def test_any_grouping_gives_the_same_bits():
    values = np.random.default_rng(1).lognormal(sigma=3, size=300)
    whole, parts = fill(values), Tally(1)
    for part in np.array_split(np.random.default_rng(2).permutation(values), 7):
        parts.merge(fill(part))
    assert whole.to_json() == parts.to_json()


def test_json_round_trip():
    tally = fill([0.1, 2.0, -3.0, math.inf])
    tally.fail("no certificate")
    stored = json.loads(json.dumps(tally.to_json()))
    again = Tally.from_json(stored)
    assert again.to_json() == tally.to_json()
    np.testing.assert_array_equal(again.above, tally.above)
    assert (again.errors, again.error) == (1, "no certificate")


def test_wrong_values_are_refused():
    with pytest.raises(ValueError, match="must return 1 values; got 2"):
        fill([1.0]).add([1.0, 2.0])
    with pytest.raises(ValueError, match="NaN"):
        fill([math.nan])
