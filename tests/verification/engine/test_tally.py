import json
import math

import numpy as np
import pytest

from verification.engine.tally import MULTIPLES, ONE, Tally


def fill(values):
    tally = Tally()
    for value in values:
        tally.add({"ratio": value})
    return tally


def test_one_is_among_the_multiples():
    assert MULTIPLES[ONE] == 1.0


def test_a_value_at_the_bound_is_no_violation():
    tally = fill([1.0, np.nextafter(1.0, 2.0), 0.5, math.inf])
    assert tally.violations("ratio") == 2
    assert tally.violations("ratio", multiple=0) == 4


def test_mean_and_variance():
    values = np.random.default_rng(0).exponential(size=500)
    tally = fill(values)
    assert tally.mean("ratio") == pytest.approx(values.mean(), rel=1e-10)
    assert tally.variance("ratio") == pytest.approx(values.var(ddof=1), rel=1e-9)
    assert tally.standard_error("ratio") == pytest.approx(values.std(ddof=1) / math.sqrt(500), rel=1e-9)


def test_any_grouping_gives_the_same_bits():
    values = np.random.default_rng(1).lognormal(sigma=3, size=300)
    whole, parts = fill(values), Tally()
    for part in np.array_split(np.random.default_rng(2).permutation(values), 7):
        parts.merge(fill(part))
    assert whole.to_json() == parts.to_json()


def test_json_round_trip():
    tally = fill([0.1, 2.0, -3.0, math.inf])
    tally.fail("no certificate")
    stored = json.loads(json.dumps(tally.to_json()))
    again = Tally.from_json(stored)
    assert again.to_json() == tally.to_json()
    np.testing.assert_array_equal(again.columns["ratio"].above, tally.columns["ratio"].above)
    assert (again.errors, again.error) == (1, "no certificate")


def test_wrong_values_are_refused():
    with pytest.raises(ValueError, match=r"must return the columns \['ratio'\]; got \['other', 'ratio'\]"):
        fill([1.0]).add({"other": 1.0, "ratio": 2.0})
    with pytest.raises(ValueError, match="NaN"):
        fill([math.nan])


def test_an_event_is_a_violation_whatever_the_multiple():
    tally = Tally()
    for event in (True, False, np.True_, np.False_, True):
        tally.add({"recovered": event})
    assert tally.violations("recovered") == tally.violations("recovered", multiple=MULTIPLES.size - 1) == 3
    assert tally.mean("recovered") == 0.6
    again = Tally.from_json(json.loads(json.dumps(tally.to_json())))
    assert again.violations("recovered") == 3


def test_columns_have_the_names_that_trials_gave_them():
    assert Tally().violations("anything") == 0
    tally = fill([1.0])
    with pytest.raises(KeyError, match="no trial returned a column 'rato'"):
        tally.mean("rato")
    other = Tally()
    other.add({"other": 1.0})
    with pytest.raises(ValueError, match="tallies must have the same columns"):
        tally.merge(other)
