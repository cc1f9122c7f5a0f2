"""match_many gives what match gives, whatever the problems and the workers."""

import numpy as np
import pytest

from lslmatch import Affine, match, match_many, matching_many
from lslmatch.assignment import small_sets
from tests.support.sets import draw


def assert_same(result, expected):
    """Equal to the last bit."""
    assert result._fields == expected._fields
    for name, part in result._asdict().items():
        if isinstance(part, np.ndarray):
            other = getattr(expected, name)
            assert part.dtype == other.dtype
            np.testing.assert_array_equal(part, other)
        elif name not in ("noise", "profile", "covariance"):
            assert part == getattr(expected, name), name


def problems(seed=0):
    sizes = [(5, 5, 2), (9, 4, 2), (3, 7, 1), (5, 5, 2), (12, 12, 3), (2, 2, 2), (6, 6, 1)]
    xs = [draw(n, d, seed + k) for k, (n, _, d) in enumerate(sizes)]
    ys = [4.0 * draw(m, d, seed + k + 50) + 1.0 for k, (_, m, d) in enumerate(sizes)]
    xs[3] = np.round(xs[3])
    ys[3] = np.round(ys[3])
    return xs, ys


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"objective": "lss"},
        {"objective": "greedy"},
        {"alignment": "identity"},
        {"objective": "lsns", "noise": (1.0, 2.0)},
        {"pairs": 2},
        {"covariance": "isotropic", "pairs": "all", "noise": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("workers", [1, 3])
def test_each_result_is_that_of_match(options, workers):
    xs, ys = problems()
    results = match_many(xs, ys, workers=workers, **options)
    for x, y, result in zip(xs, ys, results, strict=True):
        assert_same(result, match(x, y, **options))


def test_groups_of_any_size_give_the_same(monkeypatch):
    xs, ys = problems(seed=7)
    expected = match_many(xs, ys)
    for size, coordinates, alone in ((1, 1 << 20, 1 << 20), (2, 60, 40), (256, 1, 1 << 20), (256, 99, 0)):
        monkeypatch.setattr(matching_many, "_GROUP_SIZE", size)
        monkeypatch.setattr(matching_many, "_GROUP_COORDINATES", coordinates)
        monkeypatch.setattr(matching_many, "_ALONE", alone)
        for one, other in zip(match_many(xs, ys, workers=2), expected, strict=True):
            assert_same(one, other)


def test_a_map_is_given_for_all_problems():
    xs, ys = [draw(6, 2, k) for k in range(3)], [draw(6, 2, k + 9) for k in range(3)]
    affine = Affine(0.5, np.array([1.0, -1.0]))
    for x, y, result in zip(xs, ys, match_many(xs, ys, alignment=affine), strict=True):
        assert_same(result, match(x, y, alignment=affine))


def test_what_is_not_plain_or_not_ordinary_is_matched_all_the_same():
    x, y = draw(6, 2), draw(6, 2, 1)
    locked = x.copy()
    locked.flags.writeable = False
    xs = [x.tolist(), np.asfortranarray(x), x.astype(np.float32), locked, 1e200 * x, x, x[::-1]]
    ys = [y, y.tolist(), y, y, y, y[::-1], 1e-200 * y]
    for x, y, result in zip(xs, ys, match_many(xs, ys), strict=True):
        assert_same(result, match(x, y))


def test_results_share_no_memory():
    xs, ys = problems()
    first, *others = match_many(xs, ys)
    kept = [other.row_dual.copy() for other in others]
    first.row_dual[:] = 7.0
    assert not any(np.shares_memory(first.row_dual, other.row_dual) for other in others)
    for other, before in zip(others, kept, strict=True):
        np.testing.assert_array_equal(other.row_dual, before)


def test_small_problems_are_solved_together(monkeypatch):
    calls = []
    solve = small_sets.match_small
    monkeypatch.setattr(matching_many, "match_small", lambda *a: calls.append(len(a[2])) or solve(*a))
    xs, ys = problems()
    match_many(xs, ys)
    assert sorted(calls) == [1, 2, 4]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stack_of_sets_is_read_as_a_list_of_them(workers):
    xs, ys = draw(5 * 6, 2).reshape(5, 6, 2), draw(5 * 8, 2, 1).reshape(5, 8, 2)
    xs[3] *= 1e200
    for one, other in zip(match_many(xs, ys, workers=workers), match_many(list(xs), list(ys)), strict=True):
        assert_same(one, other)
    xs[2, 1, 0] = np.nan
    with pytest.raises(ValueError, match="problem 2: x must be finite"):
        match_many(xs, ys)
    with pytest.raises(ValueError, match="problem 0: x and y must have the same number of columns"):
        match_many(xs, np.zeros((5, 6, 3)))
    assert match_many(xs[:0], ys[:0]) == []


def test_no_problems_have_no_results():
    assert match_many([], []) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda xs, ys: xs[2].fill(np.nan), "problem 2: x must be finite"),
        (lambda xs, ys: ys[1].fill(1.0), "problem 1: y must have a positive total variance"),
        (lambda xs, ys: ys.pop(), "xs and ys must be equally many sets; got 7 and 6"),
        (lambda xs, ys: ys.__setitem__(4, ys[0]), "problem 4: x and y must have the same number of columns"),
    ],
)
def test_the_problem_at_fault_is_named(change, message):
    xs, ys = problems()
    change(xs, ys)
    with pytest.raises(ValueError, match=message):
        match_many(xs, ys)


def test_options_are_those_of_match():
    xs, ys = problems()
    with pytest.raises(ValueError, match="problem 0: objective must be one of"):
        match_many(xs, ys, objective="none")
    with pytest.raises(ValueError, match="problem 0: noise must be a pair"):
        match_many(xs, ys, objective="lsns")
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        match_many(xs, ys, nothing=1)


@pytest.mark.parametrize("workers", [1, 2])
def test_sets_of_one_shape_are_matched_as_they_are_one_by_one_however_they_lie_in_memory(workers):
    xs, ys = [draw(6, 2, k) for k in range(9)], [draw(6, 2, k + 9) for k in range(9)]
    xs[1], xs[2], ys[3] = np.asfortranarray(xs[1]), np.repeat(xs[2], 2, axis=0)[::2], ys[3].astype(">f8")
    xs[4].flags.writeable = False
    before = [x.copy() for x in xs]
    for some in (slice(None), slice(3)):
        results = match_many(xs[some], ys[some], workers=workers)
        for x, y, result in zip(xs[some], ys[some], results, strict=True):
            assert_same(result, match(x, y))
    for x, kept in zip(xs, before, strict=True):
        np.testing.assert_array_equal(x, kept)


def test_each_problem_has_known_pairs_of_its_own():
    rng = np.random.default_rng(3)
    xs = [rng.normal(size=(n, 2)) for n in (6, 7)]
    ys = [x[::-1] * 2.0 for x in xs]
    known = [[(0, 5)], None]
    results = match_many(xs, ys, known=known, forbidden=[None, [(1, 5)]])
    for k, result in enumerate(results):
        alone = match(xs[k], ys[k], known=known[k], forbidden=[None, [(1, 5)]][k])
        assert result == alone
    assert results[0].given.known.tolist() == [[0, 5]]
    assert results[1].permutation[1] != 5
    with pytest.raises(ValueError, match="known must have an entry for each of 2 problems; got 1"):
        match_many(xs, ys, known=[None])
