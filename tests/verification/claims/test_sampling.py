"""Trials are added until claim and controls are decided, and the exit code has the stated rate."""

import functools

import numpy as np
import pytest
from scipy.stats import binom

from verification.claims.checking import try_claim
from verification.claims.definition import Claim, Control
from verification.claims.sampling import Sampling, largest_plan, plan
from verification.engine.studies import Cell, keep_parameters
from verification.engine.trials import run_trials
from verification.statistics.binomial import Count, decide_counts, decide_probability
from verification.statistics.decisions import Decision
from verification.statistics.looks import level_of_look


def trial(parameters, rng):
    return {
        "true": rng.random() < parameters["rate"],
        "false": rng.random() < parameters["false rate"],
        "on the edge": rng.random() < parameters["allowed"],
    }


def made_up(rates, *, allowed=0.1, false_rate=0.2, column="true", control="false"):
    """A claim whose rates are known: those of its cells, and that of its control in the first of them."""
    cells = [
        Cell(f"cell {k}", {"rate": rate, "false rate": 0.0 if k else false_rate, "allowed": allowed}, allowed)
        for k, rate in enumerate(rates)
    ]
    return Claim(
        id="made up",
        kind="probability",
        source="",
        statement="",
        formula="",
        cells=tuple(cells),
        trial=trial,
        column=column,
        decide=decide_probability,
        setup=keep_parameters,
        controls=(Control("twice as often", control),),
        picture="bars",
    )


def is_green(outcome):
    return not outcome.is_red and not outcome.is_undecided


@pytest.mark.parametrize("seed", range(3))
def test_a_true_claim_at_half_the_rate_and_a_control_at_twice_are_decided_with_every_seed(seed):
    # Each is green but with a probability of less than 1e-4; smoke's first look is often not enough.
    assert is_green(try_claim(made_up([0.05, 0.05, 0.0]), profile="smoke", seed=seed))


def test_the_first_look_is_not_enough_for_them():
    claim, undecided = made_up([0.05, 0.05, 0.0]), 0
    for seed in range(4):
        course = Sampling(claim, "smoke", seed)
        course.look({batch: run_trials(claim, batch) for batch in course.batches})
        undecided += bool(course.batches)
    assert undecided > 2


def test_a_rate_on_the_edge_is_undecided_and_neither_green_nor_red():
    outcome = try_claim(made_up([0.1], column="on the edge"), profile="smoke", seed=1)
    assert outcome.is_undecided
    assert not outcome.is_red
    assert outcome.decision.more_trials is None or outcome.decision.more_trials > 0


def test_a_control_on_the_edge_is_undecided():
    outcome = try_claim(made_up([0.01], control="on the edge"), profile="smoke", seed=1)
    assert outcome.decision.verdict == "supported"
    assert outcome.is_undecided


def test_a_decided_cell_gets_no_more_trials():
    outcome = try_claim(made_up([0.0, 0.06], false_rate=1.0), profile="smoke", seed=3)
    easy, hard = (item.tally.trials for item in outcome.counts)
    assert hard > easy == plan(outcome.claim, "smoke")["cell 0"]


def test_patience_goes_on_from_the_same_trials():
    claim = made_up([0.1], column="on the edge")
    courses = [Sampling(claim, "smoke", 2, patience) for patience in (1, 2)]
    batches = []
    for course in courses:
        seen = []
        while course.batches:
            seen += course.batches
            course.look({batch: run_trials(claim, batch) for batch in course.batches})
        batches.append(seen)
    assert batches[1][: len(batches[0])] == batches[0]
    largest = largest_plan(claim, "smoke")["cell 0"]
    assert [course.outcome.counts[0].tally.trials for course in courses] == [largest, 2 * largest]


def wrong(rng, cells, level, first, doublings):
    """Whether cells with exactly the allowed rate are ever refuted, or ever supported, on the way."""
    counts = np.zeros(cells, int)
    trials = 0
    for look in range(doublings + 1):
        more = (first << look) - trials
        counts += rng.binomial(more, 0.1, cells)
        trials += more
        if decide_counts([Count(int(k), trials, 0.1) for k in counts], level)[0] != "inconclusive":
            return True
    return False


def test_over_many_runs_looking_again_keeps_the_level():
    # At a level of 0.05 in place of CLAIM_LEVEL, so that some hundred runs can measure it.
    rng, runs = np.random.default_rng(5), 150
    found = sum(wrong(rng, 3, 0.05, 60, 5) for _ in range(runs))
    assert found <= binom.isf(1e-4, runs, 2 * 0.05)  # refuted or supported, each at the level


def test_the_looks_at_a_mean_spend_less_than_the_level_together():
    class At:
        def __init__(self, look):
            self.look = look

    assert sum(level_of_look([At(look)]) for look in range(1000)) <= level_of_look([At(0)]) * 2


def test_an_exact_control_that_was_not_caught_gets_more_trials():
    def decide(counts, column):
        wrong = sum(item.tally.violations(column) for item in counts)
        names = tuple(item.cell.name for item in counts)
        return Decision("refuted") if wrong else Decision("supported", undecided=names)

    cell = Cell("cell", {"rate": 0.0, "false rate": 0.02, "allowed": 0.0}, 0.0, trials=(20, 20, 20))
    claim = made_up([0.0])
    claim = functools.partial(Claim, **{**vars(claim), "cells": (cell,), "decide": decide})()
    caught = [try_claim(claim, profile="smoke", seed=seed).controls[0].verdict for seed in range(8)]
    assert caught.count("refuted") > 5  # 20 trials would catch one of three
