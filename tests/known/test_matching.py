import warnings

import numpy as np
import pytest

from lslmatch import (
    Affine,
    AlignmentWarning,
    ColumnMap,
    FalseShare,
    Similarity,
    _progress,
    check_certificate,
    diagnose,
    load,
    match,
)
from lslmatch.known import climbing, families, misfits


def planted(seed, n=40, m=40, d=3, noise=0.1, units=None, turn=False):
    """Two sets of partners in other units: x[i] is y[order[i]], or nobody's partner where that is -1."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(max(n, m), d))
    x = features[:n] + noise * rng.normal(size=(n, d))
    other = features + noise * rng.normal(size=features.shape)
    if turn:
        other = other @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    order = rng.permutation(max(n, m))
    y = np.empty_like(features)
    y[order] = other * (np.ones(d) if units is None else units) * 4.0 - 7.0
    kept = np.sort(rng.permutation(max(n, m))[:m])
    place = np.full(max(n, m), -1)
    place[kept] = np.arange(m)
    return x, y[kept], place[order[:n]]


def pairs_of(order, count):
    rows = np.flatnonzero(order >= 0)[:count]
    return np.stack([rows, order[rows]], axis=1)


def share(result, order, known):
    rest = np.setdiff1d(np.flatnonzero(order >= 0), known[:, 0])
    return (result.permutation == order)[rest].mean()


@pytest.mark.parametrize("alignment", ["standardize", "robust", "profile", "auto"])
def test_known_pairs_teach_one_scale_where_strangers_hide_it(alignment):
    x, y, order = planted(1, 30, 40)
    y[:6] += 400.0  # strangers that are far out, of which no known pair is one
    order = np.where(order < 6, -1, order)
    known = pairs_of(order, 6)
    result = match(x, y, alignment=alignment, known=known)
    assert share(result, order, known) > 0.8
    assert result.scale == pytest.approx(0.25, rel=0.1)
    assert check_certificate(x, y, result) < 1e-9
    if alignment == "standardize":
        assert share(match(x, y), order, known) < 0.5
        assert "6 known pairs" in result.decisions[0]


def test_known_pairs_teach_columns_and_their_signs():
    x, y, order = planted(2, 24, 24, units=[1e-3, -50.0, 2e4])
    known = pairs_of(order, 8)
    result = match(x, y, alignment="columns", known=known)
    assert share(result, order, known) > 0.9
    assert np.sign(result.map.scales).tolist() == [1.0, -1.0, 1.0]
    assert share(match(x, y, alignment="auto", known=known), order, known) > 0.9


@pytest.mark.parametrize("alignment", ["similarity", "rotation", "rigid"])
def test_known_pairs_teach_a_turn(alignment):
    x, y, order = planted([3, 5], d=6, n=20, m=20, turn=True)
    if alignment == "rigid":
        y /= 4.0
    known = pairs_of(order, 7)
    result = match(x, y, alignment=alignment, known=known)
    rotation = result.map.rotation
    mirrored = np.linalg.det(rotation) < 0
    assert not mirrored or alignment == "similarity"
    if not mirrored:
        assert alignment != "rigid" or result.scale == 1.0
    best = match(x, y, alignment="similarity", known=known)
    assert share(best, order, known) > 0.9
    assert "7 known pairs" in best.decisions[0]


def test_few_known_pairs_leave_the_turn_to_the_search():
    x, y, order = planted(4, d=3, n=30, m=30, noise=0.02, turn=True)
    known = pairs_of(order, 2)
    result = match(x, y, alignment="similarity", known=known)
    assert share(result, order, known) > 0.9


def test_a_search_that_cannot_tell_warns():
    x, y, order = planted(5, d=4, n=6, m=6, noise=1.0)
    with pytest.warns(AlignmentWarning, match="cannot tell"):
        match(x, y, alignment="similarity", known=pairs_of(order, 1))


@pytest.mark.parametrize("covariance", ["diagonal", "estimate", "auto", [1.0, 25.0, 1.0]])
def test_known_pairs_teach_noise(covariance):
    x, y, order = planted(6, 60, 60)
    x[:, 1] += 3.0 * np.random.default_rng(6).normal(size=60)
    known = pairs_of(order, 10)
    result = match(x, y, covariance=covariance, known=known)
    assert check_certificate(x, y, result) < 1e-8
    plain = match(x, y, known=known)
    assert share(result, order, known) >= share(plain, order, known)
    variances = np.diag(result.covariance.matrix)
    assert variances[1] > 3.0 * max(variances[0], variances[2])


def test_noise_that_cannot_be_learned_is_isotropic_and_says_why():
    x, y, order = planted(7, 12, 12, d=1)
    for covariance in ("estimate", "auto"):
        result = match(x, y, covariance=covariance, known=pairs_of(order, 3))
        assert result.covariance.is_isotropic
        assert result.covariance.reason
    result = match(x, y, covariance="diagonal", known=pairs_of(order, 3))
    assert "two columns" in result.covariance.reason
    same = match(x, x, covariance="estimate", known=[(0, 0)])
    assert same.permutation.tolist() == list(range(12))
    x, y, order = planted(7, 12, 12)
    for points in (x[:3], 1e300 * x):
        result = match(points, points[::-1], covariance="estimate", forbidden=[(0, 0)])
        assert result.covariance.reason
    few = match(x, x, covariance="diagonal", known=[(0, 0)])
    assert few.covariance.is_isotropic


@pytest.mark.parametrize("family", [Affine(0.25, np.full(3, 1.75)), None])
def test_a_map_that_is_given_or_none_stays(family):
    x, y, order = planted(8)
    alignment = "identity" if family is None else family
    result = match(x, y, alignment=alignment, known=pairs_of(order, 5))
    assert result.map == (Affine(1.0, np.zeros(3)) if family is None else family)


def test_a_known_pair_that_does_not_fit_is_named_and_not_forced_on_the_map():
    x, y, order = planted(9, noise=0.02)
    known = pairs_of(order, 12)
    known[[0, 1], 1] = known[[1, 0], 1]
    frames = pytest.importorskip("pandas").DataFrame
    first, second = (
        frames(x, index=[f"a{i}" for i in range(40)]),
        frames(y, index=[f"b{i}" for i in range(40)]),
    )
    named = [(f"a{i}", f"b{j}") for i, j in known]
    with pytest.warns(AlignmentWarning, match=r"2 of 12 known pairs do not fit the others: \(a0, b"):
        result = match(first, second, known=dict(named))
    assert result.permutation[:2].tolist() == known[:2, 1].tolist()
    assert share(result, order, known) == 1.0
    assert "known: 2 of 12" in result.decisions[-1]
    assert result.scale == pytest.approx(0.25, rel=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        match(x, y, known=pairs_of(order, 12))


def test_a_known_pair_that_does_not_fit_a_linear_map_is_named():
    rng = np.random.default_rng(10)
    x = rng.normal(size=(40, 4))
    y = x @ rng.normal(size=(4, 6)) + 0.02 * rng.normal(size=(40, 6))
    known = np.stack([np.arange(14)] * 2, axis=1)
    known[0, 1], known[1, 1] = 1, 0
    with pytest.warns(AlignmentWarning, match="2 of 14 known pairs do not fit"):
        result = match(x, y, alignment="linear", known=known)
    assert (result.permutation == np.arange(40))[2:].all()


def test_few_pairs_say_nothing_of_each_other():
    x, y, order = planted(11, 5, 5)
    result = match(x, y, known=pairs_of(order, 2))
    assert misfits.misfits(x, y, result).size == 0
    assert misfits.say_misfits(result, np.empty(0, int)) == ""


@pytest.mark.parametrize("pairs", ["auto", FalseShare(0.1)])
@pytest.mark.parametrize("alignment", ["robust", "linear"])
def test_pairs_that_are_chosen_hold_the_known_ones(alignment, pairs):
    x, y, order = planted(12, 40, 48)
    y[np.delete(np.arange(48), order)] = np.random.default_rng(1).normal(size=(8, 3)) * 4.0 - 7.0
    known = pairs_of(order, 8)
    result = match(x, y, alignment=alignment, known=known, groups=(order % 2, np.arange(48) % 2), pairs=pairs)
    kept = result.permutation >= 0
    assert kept[known[:, 0]].all()
    assert (result.confidence[known[:, 0]] == 1.0).all()
    assert (result.permutation == order)[kept].mean() > 0.8
    assert check_certificate(x, y, result) < 1e-9


def test_strangers_leave_the_known_pairs():
    rng = np.random.default_rng(13)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = match(x, y, known=[(0, 5), (1, 9)], pairs="auto")
    assert result.permutation[:2].tolist() == [5, 9]
    assert (result.permutation >= 0).sum() < 60


def test_a_proof_against_false_pairs_takes_what_is_known_but_nothing_forbidden():
    x, y, order = planted(14)
    limit = FalseShare(0.1, proof=True)
    found = match(x, y, known=pairs_of(order, 2), pairs=limit)
    assert (found.permutation == order)[pairs_of(order, 2)[:, 0]].all()
    with pytest.raises(ValueError, match="takes no forbidden pairs"):
        match(x, y, forbidden=[(0, 1)], pairs=limit)


def test_empty_arguments_are_none():
    x, y, _ = planted(15)
    assert match(x, y, known=[], forbidden=[]).given is None


def test_groups_equal_the_union_of_matchings_of_their_own():
    x, y, order = planted(16, 36, 40)
    groups = np.arange(36) % 3, np.full(40, 3)
    groups[1][order] = groups[0]
    groups[1][np.delete(np.arange(40), order)] = [0, 1, 2, 0]
    result = match(x, y, alignment=Affine(0.25, np.full(3, 1.75)), groups=groups)
    total = 0.0
    for group in range(3):
        rows, cols = (np.flatnonzero(side == group) for side in groups)
        alone = match(x[rows], y[cols], alignment=result.map)
        assert result.permutation[rows].tolist() == cols[alone.permutation].tolist()
        total += alone.objective
    assert result.objective == pytest.approx(total, rel=1e-12)


def test_results_with_what_was_given_are_stored(tmp_path):
    x, y, order = planted(17)
    result = match(x, y, known=pairs_of(order, 4), groups=(order % 2, np.arange(40) % 2), forbidden=[(5, 5)])
    result.save(tmp_path / "match.npz")
    again = load(tmp_path / "match.npz")
    assert again == result
    assert again.given.alignment == "standardize"
    assert check_certificate(x, y, again) < 1e-9
    assert "4 known pairs" in str(result.summary())
    assert "2 groups" in str(result.summary())
    assert "1 forbidden pair" in str(result.summary())


def test_a_certificate_holds_for_what_was_given_only():
    x, y, order = planted(18)
    known = pairs_of(order, 4)
    result = match(x, y, known=known)
    swapped = result.permutation.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    with pytest.raises(ValueError, match="must have its known pairs"):
        check_certificate(x, y, result._replace(permutation=swapped))
    worse = result.permutation.copy()
    worse[[10, 11]] = worse[[11, 10]]
    assert check_certificate(x, y, result._replace(permutation=worse)) > 0.01


def test_known_pairs_that_are_left_out_say_how_many_are_right():
    x, y, order = planted(19, noise=0.02)
    known = pairs_of(order, 12)
    found = diagnose(x, y, match(x, y, known=known))
    assert found.known_again.found == found.known_again.asked == 12
    assert found.verdict.startswith("12 of 12 known pairs found again when left out; about 100 %")
    assert found.expected_right_interval[0] == pytest.approx(0.025 ** (1 / 12))
    strangers = np.random.default_rng(19).normal(size=(40, 3)) * 4.0 - 7.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = match(x, strangers, known=known)
        found = diagnose(x, strangers, result)
    assert found.known_again.share < 0.4
    assert found.expected_right == found.known_again.share
    few = diagnose(x, y, match(x, y, known=known[:4]))
    assert few.known_again.asked == 4
    assert not few.verdict.startswith("4 of 4")
    assert "Known pairs: 4 of 4" in str(few.summary())


def test_known_pairs_are_left_out_under_what_was_given_too(monkeypatch):
    x, y, order = planted(20, noise=0.02)
    known = pairs_of(order, 5)
    result = match(
        x, y, known=known, alignment=ColumnMap(np.full(3, 0.25), np.full(3, 1.75)), covariance=np.eye(3)
    )
    found = diagnose(x, y, result, margins="exact")
    assert found.known_again.found == 5
    assert (found.margin[5:] > 0.0).all()
    from lslmatch.diagnosis import known_again

    monkeypatch.setattr(known_again, "_MOST_ENTRIES", 100)
    assert diagnose(x, y, result).known_again is None


def test_margins_within_groups_are_those_of_the_groups():
    x, y, order = planted(21, 16, 16)
    groups = np.arange(16) % 2, np.empty(16, int)
    groups[1][order] = groups[0]
    fixed = Affine(0.25, np.full(3, 1.75))
    result = match(x, y, alignment=fixed, groups=groups)
    found = diagnose(x, y, result, margins="exact")
    for group in range(2):
        rows, cols = (np.flatnonzero(side == group) for side in groups)
        alone = match(x[rows], y[cols], alignment=fixed)
        assert found.margin[rows] == pytest.approx(diagnose(x[rows], y[cols], alone, margins="exact").margin)
    partial = match(x, y, alignment=fixed, groups=groups, known=[(0, order[0])], pairs=10)
    found = diagnose(x, y, partial)
    assert np.isinf(found.margin[0])
    assert np.isfinite(found.confidence[partial.permutation >= 0]).all()


def test_families_keep_what_pairs_do_not_tell():
    flat, points = np.ones((4, 2)), np.arange(8.0).reshape(4, 2)
    weight, before = np.ones(4), ColumnMap(np.array([2.0, -3.0]), np.zeros(2))
    assert families.ONE_SCALE.fit(flat, points, weight, None) is None
    assert families.TURNED.fit(flat, points, weight, None) is None
    assert families.EACH_COLUMN.fit(flat, points, weight, None) is None
    assert families.EACH_COLUMN.fit(flat, points, weight, before).scales.tolist() == [2.0, -3.0]
    turned = families.RIGID.fit(points, points[:, ::-1] * [1, -1], weight, None)
    assert isinstance(turned, Similarity)
    assert turned.scale == 1.0


def test_start_from_known_needs_spread():
    x, y, _ = planted(22)
    x[:3] = x[0]
    y[:3] = y[0]
    from lslmatch.given import Given

    sets = climbing.Sets(x, y, Given(np.array([[0, 0], [1, 1], [2, 2]])), None, 1)
    assert climbing.start_from_known(sets, families.ONE_SCALE, None) is None


def test_long_runs_say_in_the_log_how_far_they_are(monkeypatch, caplog):
    monkeypatch.setattr(_progress, "PAUSE", 0.0)
    x, y, order = planted(23, 16, 16)
    with caplog.at_level("INFO", "lslmatch"):
        match(x, y, alignment="linear", known=pairs_of(order, 5))
    assert "pairs grown: 5 of 16" in caplog.messages
    caplog.clear()
    match(x, y, alignment="linear", known=pairs_of(order, 5))
    assert not caplog.messages
