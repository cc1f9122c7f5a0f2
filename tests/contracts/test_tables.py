"""What every row of the tables of alignments, objectives and covariances is held to, whatever it is."""

import re
import warnings

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from lslmatch import Matcher, check_certificate, diagnose, match, match_many, match_path
from lslmatch.certificate.criteria import CRITERIA
from lslmatch.cli.match_options import EXAMPLES
from lslmatch.tables import ALIGNMENTS, COVARIANCES, OBJECTIVES

MINIMISED = [name for name, row in OBJECTIVES.items() if row.is_minimised]
SHAPES = [(7, 7), (5, 8), (8, 5)]
#: Costs of squared distances and noise variances by their definition; of an objective that is not here, the
#: certificate alone is asked.
NAIVE = {
    "lsl": lambda squares, variance: np.log(squares),
    "lss": lambda squares, variance: squares,
    "lsns": lambda squares, variance: squares / variance,
    "distance": lambda squares, variance: np.sqrt(squares),
}

alignments = pytest.mark.parametrize("alignment", list(ALIGNMENTS))
objectives = pytest.mark.parametrize("objective", list(OBJECTIVES))
minimised = pytest.mark.parametrize("objective", MINIMISED)
covariances = pytest.mark.parametrize("covariance", list(COVARIANCES))


def sets(n, m, d=2):
    """Two sets in different units, with some noise, and their noise levels."""
    rng = np.random.default_rng([n, m, d])
    features = rng.normal(size=(max(n, m), d)) * 3.0
    x, y = (features + 0.3 * rng.normal(size=features.shape) for _ in range(2))
    return x[:n], (y[::-1][:m] - 5.0) / 2.0, (rng.uniform(1.0, 2.0, n), rng.uniform(1.0, 2.0, m))


def options_of(objective, levels, **options):
    """What a row needs beside its name."""
    return {"objective": objective, **options} | (
        {"noise": levels} if OBJECTIVES[objective].needs_noise else {}
    )


def run(call, *arguments, **options):
    """Call without warnings, of which these few points give some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **options)


def assert_keeps_contract(x, y, result, objective):
    n, m = len(x), len(y)
    partners = result.permutation[result.permutation >= 0]
    assert result.permutation.shape == (n,)
    assert np.unique(partners).size == partners.size == min(n, m)
    assert partners.max() < m
    assert result.criterion == objective
    assert result.map.apply(y).shape == (m, x.shape[1])
    assert result.scale == pytest.approx(result.map.scale)
    assert np.isfinite(result.objective)
    assert repr(result).startswith("<MatchResult")
    if OBJECTIVES[objective].is_minimised:
        unit = max(1.0, np.abs(result.row_dual).max(), np.abs(result.col_dual).max())
        assert check_certificate(x, y, result) <= 1e-9 * unit
    else:
        assert result.row_dual is None


@alignments
@objectives
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_alignment_and_objective_give_a_proven_matching(alignment, objective, n, m):
    x, y, levels = sets(n, m)
    result = run(match, x, y, **options_of(objective, levels, alignment=alignment))
    assert_keeps_contract(x, y, result, objective)
    if result.covariance is not None or result.regression is not None or objective not in NAIVE:
        return
    squares = ((x[:, None] - result.map.apply(y)) ** 2).sum(axis=2)
    variance = levels[0][:, None] ** 2 + (result.scale * levels[1]) ** 2
    cost = NAIVE[objective](squares, variance)
    assert result.objective == pytest.approx(cost[linear_sum_assignment(cost)].sum(), abs=1e-9)


@covariances
@objectives
def test_covariance_and_objective_give_a_proven_matching(covariance, objective):
    x, y, levels = sets(9, 8, 3)
    result = run(match, x, y, **options_of(objective, levels, covariance=covariance))
    assert_keeps_contract(x, y, result, objective)


@covariances
@alignments
def test_alignment_and_covariance_give_a_proven_matching(covariance, alignment):
    x, y, _ = sets(8, 9)
    assert_keeps_contract(x, y, run(match, x, y, alignment=alignment, covariance=covariance), "lsl")


@alignments
@minimised
def test_a_worse_matching_violates_its_certificate(alignment, objective):
    x, y, levels = sets(7, 7)
    result = run(match, x, y, **options_of(objective, levels, alignment=alignment))
    worse = result.permutation.copy()
    worse[:2] = worse[1::-1]
    assert check_certificate(x, y, result._replace(permutation=worse)) > 1e-3


@alignments
@objectives
def test_a_map_that_was_found_can_be_given(alignment, objective):
    x, y, levels = sets(6, 7)
    found = run(match, x, y, **options_of(objective, levels, alignment=alignment))
    again = run(match, x, y, **options_of(objective, levels, alignment=found.map))
    assert_keeps_contract(x, y, again, objective)
    np.testing.assert_array_equal(again.map.matrix, found.map.matrix)


@alignments
@minimised
@pytest.mark.parametrize("pairs", ["all", 6])
def test_what_is_known_is_in_a_proven_matching_of_what_is_allowed(alignment, objective, pairs):
    x, y, levels = sets(10, 9, 3)
    known, forbidden = [(0, 8), (1, 7), (2, 6), (9, 0)], [(4, 4), (3, 5)]
    groups = np.arange(10) // 5, 1 - np.arange(9) // 5
    groups[1][[0, 7, 8]] = 1, 0, 0
    given = {"known": known, "groups": groups, "forbidden": forbidden}
    result = run(match, x, y, **options_of(objective, levels, alignment=alignment, pairs=pairs, **given))
    assert {tuple(pair) for pair in known} <= {tuple(pair) for pair in result.pairs.tolist()}
    assert not {tuple(pair) for pair in forbidden} & {tuple(pair) for pair in result.pairs.tolist()}
    assert (groups[0][result.pairs[:, 0]] == groups[1][result.pairs[:, 1]]).all()
    assert len(result.pairs) == (pairs if pairs == 6 else result.given.most_pairs(10, 9))
    unit = max(1.0, np.abs(result.row_dual).max(), np.abs(result.col_dual).max())
    assert check_certificate(x, y, result) <= 1e-9 * unit
    if objective != "lsl" or pairs != "all":
        return  # all else is diagnosed in the same way
    found = run(diagnose, x, y, result)
    assert np.isinf(found.margin[[0, 1, 2, 9]]).all()
    assert found.known_again.asked == 4


@covariances
@alignments
def test_what_is_known_teaches_every_covariance(covariance, alignment):
    x, y, _ = sets(10, 9)
    known = [(k, 8 - k) for k in range(4)]
    result = run(match, x, y, alignment=alignment, covariance=covariance, known=known)
    assert_keeps_contract(x, y, result, "lsl")
    assert result.permutation[:4].tolist() == [8, 7, 6, 5]


@pytest.mark.parametrize("objective", sorted(OBJECTIVES.keys() - set(MINIMISED)))
def test_what_is_not_minimised_takes_nothing_that_is_known(objective):
    x, y, levels = sets(6, 5)
    with pytest.raises(ValueError, match=f"objective '{objective}' takes no known pairs"):
        match(x, y, **options_of(objective, levels, known=[(0, 0)]))


@minimised
def test_all_numbers_of_pairs_have_cheapest_matchings(objective):
    x, y, levels = sets(6, 5)
    path = run(match_path, x, y, **options_of(objective, levels))
    for k in (1, 3, 5):
        result = run(match, x, y, **options_of(objective, levels, pairs=k))
        assert result.objective == pytest.approx(path.objective[k], abs=1e-9)
        assert check_certificate(x, y, result) <= 1e-9
        assert check_certificate(x, y, path.matching(k)) <= 1e-9


@pytest.mark.parametrize("objective", sorted(OBJECTIVES.keys() - set(MINIMISED)))
def test_what_is_not_minimised_has_no_cheapest_pairs(objective):
    x, y, levels = sets(6, 5)
    with pytest.raises(ValueError, match=f"pairs must be 'all' for objective '{objective}'"):
        match(x, y, **options_of(objective, levels, pairs=2))
    with pytest.raises(ValueError, match="objective must be one of"):
        match_path(x, y, objective=objective)


@alignments
@objectives
def test_many_problems_and_the_estimator_find_the_same(alignment, objective):
    problems = [sets(5, 6), sets(6, 4)]
    for x, y, levels in problems:
        options = options_of(objective, levels, alignment=alignment)
        result = run(match, x, y, **options)
        (one,) = run(match_many, [x], [y], **options)
        estimator = run(Matcher(**options, covariance="isotropic", pairs="all").fit, x, y)
        for other in (one, estimator.result_):
            np.testing.assert_array_equal(other.permutation, result.permutation)
            assert other.objective == result.objective


@minimised
def test_a_diagnosis_has_margins_and_confidences_if_there_is_a_likelihood(objective):
    x, y, levels = sets(8, 8)
    result = run(match, x, y, **options_of(objective, levels))
    found = run(diagnose, x, y, result)
    assert (found.margin >= 0.0).all()
    if OBJECTIVES[objective].rate is None:
        assert found.confidence is None
    else:
        assert ((found.confidence >= 0.0) & (found.confidence <= 1.0)).all()


@pytest.mark.parametrize(
    ("option", "table"),
    [("objective", OBJECTIVES), ("alignment", ALIGNMENTS), ("covariance", COVARIANCES)],
)
def test_names_are_those_of_the_table_everywhere(option, table):
    x, y, _ = sets(4, 4)
    names = ", ".join(map(repr, table))
    with pytest.raises(ValueError, match=re.escape(f"{option} must be one of {names}; got 'nothing'")):
        match(x, y, **{option: "nothing"})
    words = " ".join(EXAMPLES.split())
    for name, row in table.items():
        assert row.name == name
        assert f'"{name}"' in match.__doc__, "the docstring of match tells all names"
        assert f" {name} {row.help}" in words, "and so does the command line, with the row's own words"


def test_an_objective_that_is_minimised_has_costs_of_its_own_in_the_certificate():
    assert sorted(MINIMISED) == sorted(CRITERIA)
    assert {name for name, kind in CRITERIA.items() if kind.needs_noise} == {
        name for name, row in OBJECTIVES.items() if row.needs_noise
    }


def test_an_alignment_either_aligns_or_matches():
    assert all((row.align is None) != (row.match is None) for row in ALIGNMENTS.values())
