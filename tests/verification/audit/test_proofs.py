"""The proofs: stored trees, arithmetic of the checker, and that false statements have none."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.verification.audit.mutants import mutants, same
from verification.audit import KNOWN_FAILURES, STEPS
from verification.audit.proofs import making
from verification.audit.proofs.intervals import BITS, INTERVALS, Interval, Unbounded
from verification.audit.proofs.kernel import Goal, Proof, bounded, failures, unsettled
from verification.audit.proofs.polynomials import is_nonnegative, over_orthant
from verification.audit.proofs.registry import PROOFS, WITNESSES, stored_trees
from verification.audit.proofs.trees import check_tree
from verification.audit.proofs.witnesses import doubts

BY_ID = {step.id: step for step in STEPS}


def stored(key):
    return stored_trees().get(key, {})


def test_every_step_has_a_proof_or_a_witness_and_no_other():
    assert set(WITNESSES) == set(KNOWN_FAILURES)
    assert set(PROOFS) | set(WITNESSES) >= set(BY_ID)
    assert not set(PROOFS) & set(WITNESSES)


@pytest.mark.parametrize("key", PROOFS)
def test_the_stored_proof_stands(key):
    assert failures(BY_ID[key].problem, PROOFS[key], stored(key)) == []


@pytest.mark.parametrize("key", WITNESSES)
def test_the_witness_is_allowed_and_violates_the_step(key):
    assert doubts(BY_ID[key].problem, WITNESSES[key]) == []


@pytest.mark.parametrize("key", PROOFS)
def test_a_proof_does_not_prove_the_falsified_versions_of_its_step(key):
    for problem in BY_ID[key].controls.values():
        assert failures(problem, PROOFS[key], stored(key), points=60)


@pytest.mark.parametrize("key", PROOFS)
def test_a_mutated_formula_makes_its_proof_fail(key):
    step, proof = BY_ID[key], PROOFS[key]
    survivors = 0
    for mutant in mutants(step.problem.slack):
        problem = step.problem._replace(slack=mutant)
        try:
            found = same(mutant, step.problem.slack, problem) or failures(
                problem, proof, stored(key), points=10
            )
        except (ArithmeticError, IndexError, TypeError, ValueError):
            continue
        survivors += not found
    # A proof that only bounds the slack from below also proves what is weaker.
    assert survivors == 0 or proof.bound


def test_steps_on_which_proofs_rest_are_proved_and_not_in_a_circle():
    def below(key, path=()):
        assert key not in path
        assert key in PROOFS
        for other in PROOFS[key].uses:
            below(other, (*path, key))

    for key in PROOFS:
        below(key)


def test_what_a_person_argued_is_a_sentence():
    for key, proof in PROOFS.items():
        assert not proof.reduction or proof.reduction.endswith("."), key


# ------------------------------------------------------------------ the checker itself


def enclosed(interval, low, high):
    return Fraction(interval.low, 2**BITS) <= low <= high <= Fraction(interval.high, 2**BITS)


@pytest.mark.parametrize("value", [1e-6, 0.3, 1.0, 2.0, 12345.678, 1e9])
def test_intervals_enclose_the_functions(value):
    """By integers alone: a root by its square, exp and log by the product formula and by each other."""
    x = Interval.exactly(value)
    root = INTERVALS.sqrt(x)
    assert Fraction(root.low, 2**BITS) ** 2 <= Fraction(value) <= Fraction(root.high, 2**BITS) ** 2
    log = INTERVALS.log(x)
    assert (log + INTERVALS.log(1 / x)).encloses(0)
    assert INTERVALS.exp(log).encloses(Fraction(value))
    assert float(log) == pytest.approx(math.log(value), rel=1e-14, abs=1e-15)
    assert log.high - log.low < 2 ** (BITS - 200)


def test_intervals_enclose_the_arithmetic_of_every_point_inside():
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b = (np.sort(rng.normal(size=2)) for _ in range(2))
        x, y = Interval.between(*a), Interval.between(*b)
        p, q = (Fraction(float(end[0] + (end[1] - end[0]) * rng.random())) for end in (a, b))
        p, q = min(max(p, Fraction(a[0])), Fraction(a[1])), min(max(q, Fraction(b[0])), Fraction(b[1]))
        assert (x + y).encloses(p + q)
        assert (x - y).encloses(p - q)
        assert (x * y).encloses(p * q)
        assert (x**3).encloses(p**3)
        assert (x**2).encloses(p**2)
        assert abs(x).encloses(abs(p))
        if b[0] * b[1] > 0:
            assert (x / y).encloses(p / q)


def test_intervals_refuse_what_has_no_enclosure():
    around = Interval.between(-1, 1)
    for operation in (
        lambda: 1 / around,
        lambda: INTERVALS.log(around),
        lambda: INTERVALS.sqrt(-1 + around - 1),
    ):
        with pytest.raises(Unbounded):
            operation()


@pytest.mark.parametrize(
    "tree",
    ["", "p", "0p", "0pp", "00pp00pppp", "00pp00ppx", "1pp", "o", "00op00ppp"],
    ids=[
        "empty",
        "unsplit",
        "cut off",
        "too coarse",
        "left over",
        "unknown",
        "no such coordinate",
        "not outside",
        "o",
    ],
)
def test_a_tree_that_proves_nothing_is_refused(tree):
    def goal(m, u):
        return u.x * u.x - u.x + Fraction(1, 2)

    assert check_tree("00pp00ppp", goal, (), {"x": (0, 1)})
    assert not check_tree(tree, goal, (), {"x": (0, 1)})


def test_a_false_goal_has_no_tree():
    def goal(m, u):
        return m.sqrt(u.x) - u.x  # 0 at both ends

    for tree in ("p", "0pp", "00pp0pp"):
        assert not check_tree(tree, goal, (), {"x": (0, 1)})


def test_coefficients_decide_only_what_they_can():
    ranges = {"x": (0, 1), "y": (None, None)}
    u = over_orthant(ranges)
    assert is_nonnegative(1 - u.x, ranges)
    assert not is_nonnegative(u.x - Fraction(1, 2), ranges)
    assert not is_nonnegative(u.y, ranges)  # it may be negative
    assert (u.y - u.y).is_zero


def test_a_coordinate_out_of_its_range_and_a_wrong_sign_are_noticed():
    step = BY_ID["thm-2-thirteen"]
    proof = PROOFS["thm-2-thirteen"]
    narrow = proof._replace(ranges={"nu": (0, Fraction(1, 9))})
    assert any("is above" in wrong for wrong in failures(step.problem, narrow, {}))
    negative = Proof(
        {"nu": (0, 1)}, proof.coordinates, (Goal(lambda m, u: u.nu),), lambda m, p, g: -g[0], bound=True
    )
    assert any("negative though no goal is" in wrong for wrong in failures(step.problem, negative, {}))
    flipped = proof._replace(goals=(Goal(lambda m, u: 144 - 169 * (1 - u.nu)),))
    assert unsettled(flipped, {}) == [0]


# ------------------------------------------------------------------ making proofs, with the extra


def test_proofs_made_anew_are_the_stored_ones():
    pytest.importorskip("flint")
    for key, trees in stored_trees().items():
        proof = PROOFS[key]
        grown = {
            k: making.grow(goal.function, goal.conditions, bounded(proof.ranges))
            for k, goal in enumerate(proof.goals)
            if goal.kind == "boxes"
        }
        assert grown == trees


def test_the_solver_agrees_with_the_signs_of_coefficients():
    pytest.importorskip("z3")
    for proof in PROOFS.values():
        for goal in proof.goals:
            if goal.kind in ("algebra", "zero"):
                assert making.ask_solver(goal, proof.ranges) == "unsat"
    assert making.ask_solver(Goal(lambda m, u: u.x - 1), {"x": (0, None)}) == "sat"


def test_witnesses_are_certified_in_ball_arithmetic_too():
    pytest.importorskip("flint")
    for key, witness in WITNESSES.items():
        assert not doubts(
            BY_ID[key].problem, witness, making.balls(), lambda value: making.ball(value, value)
        )
