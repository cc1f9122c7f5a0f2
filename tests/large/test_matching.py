"""Large sets against the usual routes: the same optimum, proven, in whatever precision the points come."""

import logging
import warnings

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, match
from lslmatch.alignment.doubt import AlignmentWarning
from lslmatch.columns.doubt import ColumnScaleWarning
from lslmatch.large import matching, nearest, outlook, points
from lslmatch.large.matching import are_large, match_large
from lslmatch.request import Request
from tests.support.reference import SMALL

N = 60 if SMALL else 400


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch):
    monkeypatch.setattr(matching, "LEAST_PAIRS", 1000)
    monkeypatch.setattr(points, "_BLOCK", 1 << 12)


def planted(n=N, d=40, noise=0.02, dtype=np.float64, seed=0, power=0.5):
    rng = np.random.default_rng([seed, n, d])
    features = rng.normal(size=(n, d)) * np.arange(1, d + 1) ** -power
    order = rng.permutation(n)
    x, y = features + noise * rng.normal(size=(n, d)), np.empty((n, d))
    y[order] = (features + noise * rng.normal(size=(n, d)) - 1.0) / 2.0
    return x.astype(dtype), y.astype(dtype), order


@pytest.fixture
def solved(caplog):
    """Tell which way each matching went."""
    caplog.set_level(logging.DEBUG, "lslmatch")

    def outcomes():
        found = [record.getMessage() for record in caplog.records if "large" in record.getMessage()]
        caplog.clear()
        return found

    return outcomes


@pytest.mark.parametrize("objective", ["lsl", "lss", "distance"])
@pytest.mark.parametrize("left_out", ["none", "x", "y"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_optimum_is_that_of_the_usual_routes(objective, left_out, dtype, solved, monkeypatch):
    x, y, order = planted(dtype=dtype)
    if left_out == "x":
        x, order = x[:-7].copy(), order[:-7]
    if left_out == "y":
        y = y[:-7].copy()
        order = np.where(order < len(y), order, -1)
    found = match(x, y, objective=objective, workers=2)
    (outcome,) = solved()
    assert outcome.endswith("solved by large")
    monkeypatch.setattr(matching, "LEAST_PAIRS", 10**9)
    expected = match(x, y, objective=objective)
    np.testing.assert_array_equal(found.permutation, order)
    np.testing.assert_array_equal(found.permutation, expected.permutation)
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)
    assert found.scale == pytest.approx(expected.scale, rel=1e-13)
    assert check_certificate(x, y, found) < 1e-11
    assert found.criterion == objective


@pytest.mark.parametrize("alignment", ["identity", Affine(2.0, np.full(40, 1.0))])
def test_a_map_may_be_given(alignment, solved):
    x, y, order = planted()
    if alignment == "identity":
        y = 2.0 * y + 1.0
    found = match(x, y, alignment=alignment)
    assert solved()[0].endswith("solved by large")
    np.testing.assert_array_equal(found.permutation, order)
    assert found.scale == (1.0 if alignment == "identity" else 2.0)
    assert check_certificate(x, y, found) < 1e-11


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_points_may_be_where_they_are(dtype, tmp_path, solved):
    x, y, order = planted(dtype=dtype)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "xy"]
    found, expected = match(*mapped), match(x, y)
    assert all(outcome.endswith("solved by large") for outcome in solved())
    for part, other in zip(found[:6], expected[:6], strict=True):
        np.testing.assert_array_equal(part, other)
    np.testing.assert_array_equal(found.permutation, order)


def test_rows_that_few_coordinates_do_not_settle_are_looked_at_by_more(solved, monkeypatch):
    x, y, order = planted(noise=0.06, power=0.0)
    stages = []
    plain = matching.find_among
    monkeypatch.setattr(
        matching, "find_among", lambda rows, *rest: stages.append(rows.points.shape) or plain(rows, *rest)
    )
    look = matching.look
    sizes = (1, 3, 15, 0)
    monkeypatch.setattr(nearest, "_SETTLED", 0.0)
    monkeypatch.setattr(matching, "look", lambda sets: look(sets)._replace(sizes=sizes))
    found = match(x, y)
    assert solved()[0].endswith("solved by large")
    np.testing.assert_array_equal(found.permutation, order)
    numbers, coordinates = zip(*stages, strict=True)
    assert coordinates[:2] == (2, 4)
    assert list(numbers) == sorted(numbers, reverse=True)
    assert numbers[0] == N > numbers[-1]
    assert check_certificate(x, y, found) < 1e-11


@pytest.mark.parametrize("kind", ["clashes", "too few coordinates", "no signal", "fill", "nan"])
def test_what_is_not_solved_goes_the_usual_way(kind, solved, monkeypatch):
    x, y, _ = planted()
    if kind == "clashes":
        x[3] = x[4]
        x[3, 0] += 1e-9
    if kind == "too few coordinates":
        monkeypatch.setattr(matching, "look", lambda sets: outlook.look(sets)._replace(sizes=(1,)))
    if kind == "no signal":
        y = np.random.default_rng(1).normal(size=y.shape)
    if kind == "fill":
        y[7] = 1e20
    if kind == "nan":
        x[3, 2] = np.nan
        with pytest.raises(ValueError, match=r"x must be finite.*x\[3, 2\] is nan"):
            match(x, y)
        return
    assert match_large(x, y, Request()) is None
    if SMALL and kind in ("no signal", "fill"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = match(x, y)
    assert not any(outcome.endswith("solved by large") for outcome in solved())
    assert check_certificate(x, y, found) < 1e-9 * max(1.0, abs(found.objective))


def test_other_requests_are_not_for_large_sets():
    x, y, _ = planted()
    assert match_large(x, y, Request("greedy")) is None
    assert match_large(x, y, Request(alignment="robust")) is None


@pytest.mark.parametrize(
    ("change", "large"),
    [
        (lambda x: x, True),
        (lambda x: x.astype("f2"), True),
        (lambda x: x.astype(np.longdouble), np.longdouble(0).itemsize == 8),
        (lambda x: x.astype(int), False),
        (lambda x: x.tolist(), False),
        (lambda x: x[:, :12], False),
        (lambda x: x[:2], False),
        (lambda x: x[0], False),
        (lambda x: np.ma.masked_array(x), False),
    ],
)
def test_large_sets_are_plain_arrays_of_floats(change, large):
    x, y, _ = planted()
    assert are_large(change(x), y) == large
    assert are_large(y, change(x)) == large


def test_maps_are_doubted_by_some_pairs(solved, monkeypatch):
    monkeypatch.setattr(matching, "_SAMPLED", 60)
    x, y, order = planted(noise=0.003, power=0.0)
    y[:, 0] *= 1.05
    with pytest.warns(ColumnScaleWarning, match="column 0") as caught:
        found = match(x, y)
    assert caught[0].filename == __file__
    assert solved()[0].endswith("solved by large")
    x, y, order = planted(noise=0.003)
    y += np.linspace(0.1, 0.0, N)[:, None] > 0.09
    with pytest.warns(AlignmentWarning):
        found = match(x, y)
    assert (found.permutation == order).mean() > 0.5
