"""The steps of the proofs: verdicts, controls, repairs."""

import json
import math

import pytest

from verification.audit import KNOWN_FAILURES, STEPS, AuditStep, run_audit
from verification.audit.auditing import audit
from verification.audit.lemma_3 import STEPS as LEMMA_3_STEPS
from verification.audit.proofs.registry import PROOFS
from verification.audit.search import EFFORTS, Effort

SMOKE = EFFORTS["smoke"]


def test_ids_are_unique_and_every_step_has_controls():
    assert len({step.id for step in STEPS}) == len(STEPS)
    assert all(step.controls for step in STEPS)


def test_known_failures_are_the_refuted_steps(results):
    assert {key for key, step in results.items() if step.verdict == "refuted"} == set(KNOWN_FAILURES)


def test_every_other_step_is_proved(results):
    assert {step.verdict for key, step in results.items() if key not in KNOWN_FAILURES} == {"proved"}


def test_a_failure_is_certified_at_an_exact_witness(results):
    for key in KNOWN_FAILURES:
        assert results[key].method == "exact witness"
        assert results[key].exact_witness


def test_a_step_without_a_proof_that_stands_is_searched_only(monkeypatch):
    monkeypatch.setattr("verification.audit.auditing.stored_trees", dict)
    step = {step.id: step for step in STEPS}["thm-2-fifty-two"]
    result = audit(step, 0, Effort(100, 1, 5))
    assert result.verdict == "searched only"
    assert "goal 0 is not settled" in result.explanation


def test_a_proof_falls_with_the_step_on_which_it_rests(monkeypatch):
    monkeypatch.setattr(
        "verification.audit.STEPS", [s for s in STEPS if s.id in ("log-tangent", "thm-2-jensen")]
    )
    monkeypatch.setitem(EFFORTS, "smoke", Effort(10, 1, 5))
    assert {step.verdict for step in run_audit("smoke", 0)} == {"proved"}
    monkeypatch.delitem(PROOFS, "log-tangent")
    found = {step.id: step for step in run_audit("smoke", 0)}
    assert found["thm-2-jensen"].verdict == "searched only"
    assert "log-tangent" in found["thm-2-jensen"].method


def test_a_search_of_a_constant_says_so(results):
    assert "Nothing varies" in results["thm-2-probability-repaired"].explanation
    assert "Nothing varies" not in results["thm-2-half"].explanation


def test_every_control_is_refuted(results):
    survivors = [
        (key, c["name"]) for key, step in results.items() for c in step.controls if c["verdict"] != "refuted"
    ]
    assert survivors == []


def test_every_failure_has_a_repair_and_every_step_an_explanation(results):
    for key, step in results.items():
        assert isinstance(step, AuditStep)
        assert step.explanation
        assert bool(step.repair) or key not in KNOWN_FAILURES


def test_the_repairs_name_steps_that_exist_and_are_proved(results):
    named = [
        "section-4-scale-minimiser-repaired",
        "prop-1-one-sided-tail",
        "thm-1-recentred",
        "thm-1-logarithm",
    ]
    named += ["lemma-3-mean-value", "zeta-1-plane", "zeta-1-plane-bound", "thm-2-probability-repaired"]
    text = " ".join(step.repair + step.explanation for step in results.values())
    for name in named:
        assert results[name].verdict == "proved"
        assert name in text or name.endswith("repaired")


def test_witnesses_are_flat_numbers_that_json_can_hold(results):
    for step in results.values():
        assert all(isinstance(value, float) and math.isfinite(value) for value in step.witness.values())
        json.dumps(step.witness, allow_nan=False)


def test_the_numbers_depend_on_the_seed_and_the_step_alone():
    step = STEPS[len(STEPS) // 2]
    assert audit(step, 3, SMOKE) == audit(step, 3, SMOKE)
    alone = audit(LEMMA_3_STEPS[3], 5, SMOKE)
    among = run_audit("smoke", 5, only={alone.id, "thm-2-half", "lemma-3-derivative"})
    assert alone == {step.id: step for step in among}[alone.id]


def test_progress_names_each_step_once_and_unknown_profiles_are_refused(monkeypatch):
    monkeypatch.setitem(EFFORTS, "smoke", Effort(10, 1, 5))
    seen = []
    run_audit("smoke", 1, progress=seen.append)
    assert seen == [step.id for step in STEPS]
    with pytest.raises(ValueError, match="profile must be one of smoke, quick, full, got 'fast'"):
        run_audit("fast", 0)
