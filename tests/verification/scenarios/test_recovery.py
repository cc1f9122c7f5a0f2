import numpy as np
import pytest

import lslmatch
from lslmatch.model import random_configuration
from verification.scenarios import recovery


def test_the_compiled_check_agrees_with_the_library():
    truth = random_configuration(60, 4, separation=1.0, noise_ratio=9.0, scale=3.0, shift=50.0, rng=0)
    x, y = truth.sample(1)
    result = lslmatch.match(x, y)
    assert recovery.certificate_violation(x, y, result) == pytest.approx(0, abs=1e-9)
    tampered = result._replace(row_dual=result.row_dual + 0.25)
    expected = lslmatch.check_certificate(x, y, tampered)
    assert recovery.certificate_violation(x, y, tampered) == pytest.approx(expected, abs=1e-9)
    swapped = result._replace(permutation=np.roll(result.permutation, 1))
    expected = lslmatch.check_certificate(x, y, swapped)
    assert recovery.certificate_violation(x, y, swapped) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_the_compiled_check_raises_coincident_points_to_the_library_s_floor(spread):
    rng = np.random.default_rng(0)
    x = 3.0 + spread * rng.standard_normal((12, 3))
    x[5:8] = x[4]
    y = x[rng.permutation(12)]
    result = lslmatch.match(x, y, alignment="identity")
    assert recovery.certificate_violation(x, y, result) == pytest.approx(0, abs=1e-9)
    for change in (1.0, -1.0):
        tampered = result._replace(row_dual=result.row_dual + change)
        assert recovery.certificate_violation(x, y, tampered) == pytest.approx(1.0, abs=1e-9)
        assert lslmatch.check_certificate(x, y, tampered) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("alignment", ["standardize", "profile"])
def test_a_matching_without_noise_is_certified_although_rounding_hides_its_distances(alignment):
    rng = np.random.default_rng(1)
    y = rng.standard_normal((20, 3))
    x = 3.0 * y[rng.permutation(20)] + 50.0
    result = recovery.certified_match(x, y, alignment=alignment)
    with pytest.raises(recovery.UncertifiedError, match="violated"):
        recovery.require_certificate(x, y, result._replace(row_dual=result.row_dual + 1e-3))


def test_an_uncertified_matching_is_an_error(monkeypatch):
    x, y = random_configuration(10, 2, separation=3.0, rng=0).sample(1)
    assert recovery.certified_match(x, y).criterion == "lsl"
    good = lslmatch.match(x, y)
    for bad in (
        good._replace(row_dual=good.row_dual + 1.0),
        good._replace(row_dual=None, col_dual=None, criterion="greedy"),
        good._replace(permutation=np.zeros(10, np.intp)),
    ):
        monkeypatch.setattr(lslmatch, "match", lambda x, y, bad=bad: bad)
        with pytest.raises(recovery.UncertifiedError, match="certificate"):
            recovery.certified_match(x, y)


def test_a_matching_by_another_objective_has_no_certificate_for_this_one():
    x, y = random_configuration(10, 3, separation=1.0, rng=0).sample(1)
    squares = lslmatch.match(x, y, objective="lss")
    recovery.require_certificate(x, y, squares, "lss")
    with pytest.raises(recovery.UncertifiedError, match="no certificate for 'lsl': it is by 'lss'"):
        recovery.require_certificate(x, y, squares)
    with pytest.raises(recovery.UncertifiedError, match="violated"):
        recovery.require_certificate(x, y, squares._replace(criterion="lsl"))


def test_a_matching_of_some_points_is_certified_however_many_there_are():
    truth = random_configuration(20, 4, separation=3.0, scale=3.0, shift=50.0, rng=0)
    x, y = truth.sample(1)
    result = recovery.certified_match(x, y, pairs=15)
    assert (result.permutation < 0).sum() == 5
    with pytest.raises(recovery.UncertifiedError, match="violated"):
        recovery.require_certificate(x, y, result._replace(price=result.price - 1.0))
