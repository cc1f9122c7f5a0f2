"""The warning that the pairs contradict the moments: when it comes, and when it does not."""

import itertools
import math
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from lslmatch import AlignmentWarning, match
from lslmatch.alignment import doubt
from tests.support.reference import SMALL
from verification.scenarios.strangers import LIKE, draw_partly_common


def drawn(kind, pairs, strangers, d=5, seed=0):
    rng = np.random.default_rng([seed, d])
    return draw_partly_common(
        kind, "normal", pairs=pairs, strangers=strangers, d=d, separation=8.0, noise_ratio=9.0, rng=rng
    )


@pytest.mark.parametrize(("kind", "strangers"), [("one far cluster", 1), ("wide", 6), ("heavy-tailed", 12)])
def test_wild_points_of_one_set_are_told(kind, strangers):
    sets = drawn(kind, 60, (strangers, 0))
    y = np.vstack([sets.y, sets.y[:strangers]])  # of equal size, as where readings fail
    with pytest.warns(AlignmentWarning, match=r"the pairs contradict the (scale|shift): residuals of"):
        match(sets.x, y)


@pytest.mark.parametrize("d", [1, 2, 5, 30])
def test_noise_alone_is_no_reason(d):
    with warnings.catch_warnings():
        warnings.simplefilter("error", AlignmentWarning)
        for seed in range(3 if SMALL else 20):
            sets = drawn(LIKE, 40, (0, 0), d, seed)
            match(sets.x, sets.y)


def test_only_the_moments_are_doubted():
    sets = drawn("one far cluster", 60, (6, 6))
    with pytest.warns(AlignmentWarning):
        match(sets.x, sets.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AlignmentWarning)
        match(sets.x, sets.y, alignment="robust")
        match(sets.x, sets.y, alignment=sets.affine)


def test_rounding_errors_are_not_doubted():
    y = np.random.default_rng(0).standard_normal((40, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error", AlignmentWarning)
        match(3.0 * y[::-1] + 1e9, y)
        match(y[::-1], y)


# ---------------------------------------------------------------------------- the two looks


def spoiled(seed):
    """Pairs under a map whose shift or scale is off by more or less; some of them are exact."""
    rng = np.random.default_rng([18, seed])
    n, d = int(rng.integers(11, 40)), int(rng.integers(1, 7))
    y, permutation = 2.0 * rng.standard_normal((n, d)), rng.permutation(n)
    y[:2] *= 30.0
    noise = rng.standard_normal((n, d)) * np.exp(rng.standard_normal((n, 1)))
    noise[: int(rng.integers(0, 14))] = 0.0
    offset = rng.standard_normal(d) * (seed % 2) * rng.uniform(0.0, 1.2)
    factor = 1.0 + (seed // 2 % 2) * rng.uniform(-0.6, 0.6)
    x = 1.5 * y[permutation] * factor + 0.7 + offset + noise
    return x, y, permutation, 1.5, np.full(d, 0.7)


def pairs_of(x, y, permutation, scale, shift):
    mapped = scale * y[permutation] + shift
    residual, middle = x - mapped, x + mapped
    length = np.linalg.norm(residual, axis=1)
    return residual, middle, length, length > 2.0**-30 * np.abs(x).max()


def first_look(x, y, permutation, scale, shift):
    residual, middle, length, seen = pairs_of(x, y, permutation, scale, shift)
    centre = middle.mean(axis=0)
    for _ in range(2):
        weight = 1.0 / np.linalg.norm(middle - centre, axis=1)
        centre = weight @ middle / weight.sum()
    n, d = int(seen.sum()), x.shape[1]
    if n < 12:
        return False
    direction, position = residual[seen] / length[seen, None], middle[seen] - centre
    sideways = float((direction.mean(axis=0) ** 2).sum())
    if sideways > 0.03 and n * sideways - 1.0 > 2.0 * math.sqrt(2.0 / d):
        return True
    cosine = (direction * position).sum(axis=1) / np.linalg.norm(position, axis=1)
    outwards = abs(cosine.mean())
    return outwards > 0.05 and outwards > 2.0 * cosine.std() / math.sqrt(n)


def second_look(x, y, permutation, scale, shift):
    residual, middle, length, seen = pairs_of(x, y, permutation, scale, shift)
    n = int(seen.sum())
    if n < 12:
        return ""
    direction, half = residual[seen] / length[seen, None], n // 2
    sideways = float((direction.mean(axis=0) ** 2).sum())
    trace = np.mean([(direction[k] @ direction[half + k]) ** 2 for k in range(half)])
    deviation = (n * sideways - 1.0) / math.sqrt(2.0 * trace)
    if deviation > 4.0 and sideways > 0.03:
        return f"the shift: residuals of {n} pairs point to one side, beyond chance by {deviation:.0f} sigma"
    position = middle[seen] - np.median(middle[seen], axis=0)
    norms = np.maximum(np.linalg.norm(position, axis=1), 1e-300)
    cosine = (direction * position).sum(axis=1) / norms
    deviation = abs(cosine.mean()) / (cosine.std() / math.sqrt(n) + 1e-12)
    if deviation > 4.0 and abs(cosine.mean()) > 0.1:
        where = "outwards" if cosine.mean() > 0 else "inwards"
        return f"the scale: residuals of {n} pairs point {where}, beyond chance by {deviation:.0f} sigma"
    return ""


def test_both_looks_say_what_their_definitions_say():
    seen = []
    for seed in range(320):
        sets = spoiled(seed)
        found = doubt.may_contradict(*sets), doubt._contradiction(*sets)
        assert found == (first_look(*sets), second_look(*sets)), seed
        seen.append((found[0], re.sub(r"\d+", "", found[1])))
    # All outcomes occur, also a first look that the second one does not confirm.
    assert {where for _, where in seen} == {
        "",
        "the shift: residuals of  pairs point to one side, beyond chance by  sigma",
        "the scale: residuals of  pairs point outwards, beyond chance by  sigma",
        "the scale: residuals of  pairs point inwards, beyond chance by  sigma",
    }
    assert {(True, ""), (False, "")} <= set(seen)


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_the_unit_does_not_matter(unit):
    for seed in range(12):
        x, y, permutation, scale, shift = spoiled(seed)
        sets, others = (
            (x, y, permutation, scale, shift),
            (unit * x, unit * y, permutation, scale, unit * shift),
        )
        assert doubt.may_contradict(*sets) == doubt.may_contradict(*others)
        assert doubt._contradiction(*sets) == doubt._contradiction(*others)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_residuals_below_the_rounding_of_the_coordinates_say_nothing(sign):
    y = sign * (1e6 + np.random.default_rng(0).standard_normal((20, 2)))
    y[0, 0] = 1e-3 * sign
    for shift, told in ((1e-6, False), (1.0, True)):
        sets = y + shift, y, np.arange(20), 1.0, np.zeros(2)
        assert doubt.may_contradict(*sets) == told
        assert bool(doubt._contradiction(*sets)) == told


def test_residuals_that_all_agree_are_beyond_any_chance():
    y = np.vstack([np.eye(12), -np.eye(12)])
    outwards = 1.2 * y, y, np.arange(24), 1.0, np.zeros(12)
    assert doubt.may_contradict(*outwards)
    assert doubt._contradiction(*outwards).startswith("the scale: residuals of 24 pairs point outwards")
    # The first half to one side, the second to another one: not a cosine between them differs from 0.
    sideways = np.repeat(np.eye(2), 8, axis=0)
    places = np.random.default_rng(0).standard_normal((16, 2))
    found = doubt._contradiction(places + sideways, places, np.arange(16), 1.0, np.zeros(2))
    assert found.startswith("the shift: residuals of 16 pairs point to one side")


def test_pairs_in_the_very_centre_point_neither_outwards_nor_inwards():
    x = np.vstack([np.eye(8), -np.eye(8)])
    assert not doubt.may_contradict(x, -x, np.arange(16), 1.0, np.zeros(8))


def few_pairs(n):
    x = np.linspace(-1.0, 1.0, n)[:, None] * [1.0, 0.5] + 0.2 * np.random.default_rng(n).standard_normal(
        (n, 2)
    )
    return x + 3.0, x


@pytest.mark.parametrize(("n", "told"), [(11, False), (12, True), (513, True), (700, True)])
def test_a_dozen_pairs_are_needed_and_of_many_some_are_asked(n, told):
    x, y = few_pairs(n)
    result = SimpleNamespace(permutation=np.arange(n), scale=1.0, shift=np.zeros(2))
    said = doubt.doubt_moments(x, y, result)
    assert said.startswith("the shift: residuals of") == told
    if told:
        assert f"residuals of {min(n, 512)} pairs" in said


@pytest.mark.parametrize("ready", [True, False])
def test_the_first_look_is_taken_once_it_is_compiled_or_worth_it(ready, monkeypatch):
    calls = []
    monkeypatch.setattr(doubt, "is_ready", lambda kernel: ready)
    monkeypatch.setattr(doubt, "_without", itertools.count(1))
    monkeypatch.setattr(doubt, "may_contradict", lambda *arguments: bool(calls.append(arguments)))
    x = np.random.default_rng(0).normal(size=(20, 2))
    result = match(x, x)
    calls.clear()
    monkeypatch.setattr(doubt, "_without", itertools.count(1))
    for _ in range(doubt._MANY + 2):
        assert doubt.doubt_moments(x, x, result) == ""
    assert len(calls) == (doubt._MANY + 2 if ready else 2)
