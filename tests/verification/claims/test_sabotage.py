"""The run goes red if the library is wrong: the point of the whole laboratory."""

import dataclasses
import functools

import numpy as np
import pytest

import lslmatch
from lslmatch import theory
from lslmatch.alignment import moments
from lslmatch.assignment import small_sets
from lslmatch.assignment.small_coordinates import UNKNOWN
from lslmatch.assignment.small_dense import SCALE, SHIFT
from lslmatch.results import Affine
from tests.support.solver import set_solver
from tests.verification.support import exit_code, verdicts
from verification import claims


def tenth(function):
    @functools.wraps(function)
    def sabotaged(*arguments, **options):
        value = function(*arguments, **options)
        return theory.Bounds(value.lower / 10, value.upper / 10) if isinstance(value, tuple) else value / 10

    return sabotaged


@pytest.mark.parametrize(
    ("bound", "claim"),
    [
        ("chi_square_deviation_bounds", "lemma-1-lower"),
        ("gaussian_tail", "lemma-2"),
        ("sum_of_squares_bounds", "proposition-1-upper"),
        ("frobenius_bounds", "proposition-1-frobenius"),
        ("scale_error_bound", "theorem-1"),
        ("recovery_threshold", "right-hand-sides"),
        ("linear_supremum_bound", "lemma-3"),
        ("linear_supremum_bound", "zeta-1"),
        ("quadratic_supremum_bound", "lemma-4"),
    ],
)
def test_a_tenth_of_a_bound_is_refuted(bound, claim, monkeypatch, tmp_path):
    monkeypatch.setattr(theory, bound, tenth(getattr(theory, bound)))
    assert exit_code(tmp_path, "--only", claim) == 1
    assert verdicts(tmp_path)[claim]["verdict"] == "refuted"


def forgets_to_centre(x, y):
    scale = float(np.linalg.norm(x) / np.linalg.norm(y))
    return Affine(scale, np.mean(x, axis=0) - scale * np.mean(y, axis=0))


match_all = small_sets._match_all


def forgets_to_centre_all(x, y, sizes, logarithm, most_pairs, numbers, *arrays):
    x_end, y_end = np.cumsum(sizes, axis=0).T
    for k, (n, m) in enumerate(sizes):
        if numbers[k, SCALE] == UNKNOWN:
            found = forgets_to_centre(x[x_end[k] - n : x_end[k]], y[y_end[k] - m : y_end[k]])
            numbers[k, SCALE], numbers[k, SHIFT:] = found
    return match_all(x, y, sizes, logarithm, most_pairs, numbers, *arrays)


@pytest.mark.parametrize(
    ("module", "name", "claim"),
    [
        (lslmatch, "estimate_affine", "theorem-1"),
        (moments, "estimate_affine", "standardisation-invariance"),
        (moments, "affine_of_moments", "standardisation-invariance"),
        (small_sets, "_match_all", "standardisation-invariance"),
    ],
)
def test_a_scale_estimator_that_forgets_to_centre_is_refuted(module, name, claim, monkeypatch, tmp_path):
    wrong = forgets_to_centre if module is not small_sets else forgets_to_centre_all
    monkeypatch.setattr(module, name, wrong)
    if name == "affine_of_moments":  # which small sets do not come to
        set_solver(monkeypatch, routes=("matrix",))
    assert exit_code(tmp_path, "--only", claim) == 1
    assert verdicts(tmp_path)[claim]["verdict"] == "refuted"


def test_a_greedy_solver_is_no_evidence_about_a_theorem(monkeypatch, tmp_path, capsys):
    honest = lslmatch.match

    def greedy(x, y, **options):
        return honest(x, y, **(options | {"objective": "greedy"}))

    monkeypatch.setattr(lslmatch, "match", greedy)
    assert exit_code(tmp_path, "--only", "naive-lsl-fails") == 1
    assert verdicts(tmp_path)["naive-lsl-fails"]["verdict"] == "inconclusive"
    assert "no certificate" in capsys.readouterr().out


def test_a_greedy_solver_with_a_forged_certificate_is_found_out(monkeypatch, tmp_path):
    honest = lslmatch.match

    def forged(x, y, **options):
        optimal, greedy = honest(x, y, **options), honest(x, y, **(options | {"objective": "greedy"}))
        return optimal._replace(permutation=greedy.permutation)

    monkeypatch.setattr(lslmatch, "match", forged)
    assert exit_code(tmp_path, "--only", "mild-heteroscedasticity") == 1


def test_a_surviving_control_turns_the_run_red(monkeypatch, tmp_path, capsys):
    claim = claims.get("lemma-2")

    def blind_trial(state, rng):
        values = claim.trial(state, rng)
        return dict.fromkeys(values, values[claim.column])

    blind = dataclasses.replace(claim, trial=blind_trial)
    monkeypatch.setitem(claims.load(), "lemma-2", blind)
    assert exit_code(tmp_path, "--only", "lemma-2") == 1
    assert verdicts(tmp_path)["lemma-2"]["verdict"] == "supported"
    assert "CONTROL SURVIVED" in capsys.readouterr().out
