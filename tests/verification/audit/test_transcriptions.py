"""The formulas of the steps against the paper's own LaTeX, at random points."""

import math
from pathlib import Path

import numpy as np
import pytest

from tests.verification.audit.latex import evaluate
from tests.verification.audit.mutants import mutants, same
from tests.verification.audit.transcriptions import TRANSCRIPTIONS
from verification.audit import STEPS
from verification.audit.search import single_points, slack_at

BY_ID = {step.id: step for step in STEPS}


def points(problem, count=25):
    """Give points at which neither delta nor a power of it is too small for a double."""
    found = single_points(problem, np.random.default_rng(0), 4 * count)
    logs = ("log_4_delta", "log_2_delta")
    usable = [p for p in found if all(p.get(name, 0) < 600 for name in logs) and p.get("epsilon", 1) > 0]
    return usable[:count]


def differences(problem, transcription):
    return [
        abs(transcription.at(point) - slack_at(problem, point)) / max(1.0, abs(slack_at(problem, point)))
        for point in points(problem)
    ]


def test_every_step_is_transcribed_from_the_paper_or_with_a_reason():
    assert set(TRANSCRIPTIONS) == set(BY_ID)
    for entry in TRANSCRIPTIONS.values():
        assert bool(entry.line) != bool(entry.reason)


def test_the_theory_page_says_how_many_are_transcribed():
    page = (Path(__file__).parents[3] / "docs" / "theory.md").read_text(encoding="utf-8")
    ours = sum(not entry.line for entry in TRANSCRIPTIONS.values())
    told = f"{len(TRANSCRIPTIONS) - ours} with the paper's own LaTeX, {ours} with the statement of a repair"
    assert told in " ".join(page.split())


@pytest.mark.parametrize("key", TRANSCRIPTIONS)
def test_the_step_agrees_with_the_papers_formula(key):
    found = differences(BY_ID[key].problem, TRANSCRIPTIONS[key])
    assert len(found) >= 10
    assert max(found) < 1e-9


#: Steps whose controls keep the formula and widen the region.
WIDENED = {"lemma-3-half", "thm-1-quotient", "thm-2-quadratic", "thm-2-thirteen", "thm-2-rounding"}
WIDENED |= {"thm-2-half", "thm-2-half-by-kappa", "thm-2-five", "thm-1-h-nonnegative", "thm-2-jensen"}
WIDENED |= {"sharp-178", "thm-2-monotone", "thm-2-chain"}
#: The control divides by one power of the scale too many, where the step divides by one too few.
MIRRORED = {"section-4-cross-expectation"}


@pytest.mark.parametrize("key", [key for key in TRANSCRIPTIONS if key not in WIDENED | MIRRORED])
def test_a_falsified_step_does_not(key):
    problem = next(iter(BY_ID[key].controls.values()))
    assert max(differences(problem, TRANSCRIPTIONS[key])) > 1e-6


@pytest.mark.parametrize("key", TRANSCRIPTIONS)
def test_a_mutated_formula_does_not(key):
    """Each integer of the formula of a step, one larger, is noticed, unless it changes nothing."""
    problem, entry = BY_ID[key].problem, TRANSCRIPTIONS[key]
    some = points(problem, 60)
    right = np.array([entry.at(point) for point in some])
    survivors = 0
    for mutant in mutants(problem.slack):
        try:
            if same(mutant, problem.slack, problem):
                continue
            found = [slack_at(problem._replace(slack=mutant), point) for point in some]
        except (ArithmeticError, IndexError, TypeError, ValueError):
            continue  # it cannot even be evaluated
        survivors += not (abs(right - found) > 1e-9 * np.maximum(1, abs(right))).any()
    assert survivors == 0


def test_formulas_are_read_as_they_are_meant():
    values = {"x": 3.0, r"\sigma_i": 5.0, r"\sigma": 7.0}
    cases = {
        r"\frac{1}{2}x^2": 4.5,
        r"4/x - \sigma_i\sigma": 4 / 3 - 35,
        r"-x^2 + |1 - x|": -7,
        r"\sqrt{x + 6}\log(x/\sigma)": 3 * math.log(3 / 7),
        r"(x)^{1/4} \times 2": 2 * 3**0.25,
        r"24 x^3/\sigma": 24 * 27 / 7,
    }
    for latex, value in cases.items():
        assert float(evaluate(latex, values)) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("latex", [r"\frac{1}{y}", "x +", r"\tau x", "(x", "x)"])
def test_what_cannot_be_read_is_refused(latex):
    with pytest.raises((ValueError, IndexError)):
        evaluate(latex, {"x": 1.0})
