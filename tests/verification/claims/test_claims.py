import dataclasses
import textwrap

import pytest

from lslmatch import theory
from tests.support.reference import SMALL
from verification import claims
from verification.audit import outcomes
from verification.claims.definition import ConditionError
from verification.claims.sampling import plan
from verification.engine.seeds import SETUP, generator
from verification.engine.studies import CLAIM_ROLE, PROFILES
from verification.engine.trials import Batch, run_batch
from verification.statistics.binomial import CONTROLS, STATEMENTS

EVERY = claims.load()

TABLES = [
    "lemma-1-upper",
    "lemma-1-lower",
    "lemma-2",
    "lemma-3",
    "lemma-4",
    "proposition-1-upper",
    "proposition-1-lower",
    "proposition-1-frobenius",
    "theorem-1",
    "theorem-2",
    "zeta-1",
    "theorem-1-rate-alpha",
    "theorem-1-rate-lambda-d",
    "theorem-1-homogeneous",
    "tau-bias",
    "standardisation-invariance",
    "lss-scale-free",
    "s_i",
    "E|Z|^2",
    "mild-heteroscedasticity",
    "sqrt-rho-necessity",
    "naive-lsl-fails",
]


def test_every_statement_of_the_paper_is_a_claim():
    assert set(TABLES) <= set(EVERY)


def test_ids_differ_from_those_of_the_audit():
    assert not set(EVERY) & set(outcomes.step_ids())


def test_the_error_budget_covers_all_claims_and_controls():
    assert len(EVERY) <= STATEMENTS
    assert sum(len(claim.controls) for claim in EVERY.values()) <= CONTROLS


@pytest.mark.parametrize("claim", EVERY.values(), ids=EVERY)
def test_a_claim_is_complete(claim):
    assert claim.kind in ("probability", "rate", "audit")
    assert claim.controls
    names = [cell.name for cell in claim.cells]
    assert len(set(names)) == len(names)
    roles = {cell.role for cell in claim.cells}
    for control in claim.controls:
        assert (control.name in roles) == control.own_cells
    for profile in PROFILES:
        planned = plan(claim, profile)
        for cell in claim.cells_of(profile, CLAIM_ROLE):
            assert planned[cell.name] > 0 or cell.allowed >= 1


def _kinds(claim):
    return dict.fromkeys((cell.tier, cell.role) for cell in claim.cells)


@pytest.mark.parametrize("claim", EVERY.values(), ids=EVERY)
def test_the_ends_of_every_grid_run(claim):
    """The first and the last cell of each profile and role; the whole grids are run by the command.

    Without compilation those of the smallest profile only: others take minutes there.
    """
    groups = [[cell for cell in claim.cells if (cell.tier, cell.role) == key] for key in _kinds(claim)]
    for cell in {id(group[k]): group[k] for group in groups for k in (0, -1)}.values():
        if (cell.allowed is None or cell.allowed < 1) and not (SMALL and cell.tier != "smoke"):
            tally = run_batch(claims.get, Batch(claim.id, cell.name, 0, 1, 5))[1]
            assert (tally.trials, tally.errors) == (1, 0)
            used = {claim.column, *(control.column or claim.column for control in claim.controls)}
            assert used <= set(tally.columns)


def states(name):
    claim = EVERY[name]
    for cell in claim.cells:
        if (
            cell.allowed < 1
            and cell.role == CLAIM_ROLE
            and cell.parameters["n"] * cell.parameters["d"] < 20000
        ):
            yield cell, claim.setup(cell.parameters, generator(20260, claim.id, cell.name, SETUP))


def test_cells_of_theorem_1_meet_its_conditions():
    for cell, state in states("theorem-1"):
        n, d = state.truth.features.shape
        alpha = theory.relative_noise(state.truth.noise)
        assert n >= 8
        assert cell.parameters["delta"] >= theory.scale_error_smallest_delta(d, relative_noise=alpha)
        assert cell.allowed == 4 * cell.parameters["delta"]


def test_cells_of_theorem_2_meet_its_conditions_at_the_threshold():
    for cell, state in states("theorem-2"):
        n, d = state.truth.features.shape
        alpha, ratio = theory.relative_noise(state.truth.noise), theory.noise_ratio(state.truth.noise)
        delta = cell.parameters["delta"]
        assert n >= max(8, d)
        assert delta >= theory.recovery_smallest_delta(d, relative_noise=alpha)
        threshold = theory.recovery_threshold(n, d, noise_ratio=ratio, delta=delta)
        assert theory.separation(state.truth.features, state.truth.noise) == pytest.approx(
            threshold, rel=1e-6
        )


@pytest.mark.parametrize("claim", EVERY.values(), ids=EVERY)
def test_every_cell_meets_the_conditions_of_its_claim(claim):
    assert claim.conditions
    claim.require_conditions("full", 5)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("theorem-2", {"multiple": 0.99}, "κ"),
        ("theorem-2", {"n": 59}, "n ≥ d"),
        ("theorem-2", {"delta": 0.1}, "1024"),
        ("theorem-1", {"n": 7}, "n ≥ 8"),
        ("theorem-1", {"delta": 1e-9}, "224"),
        ("lemma-3", {"epsilon": 0.6}, "ε"),
        ("mild-heteroscedasticity", {"noise_ratio": 400.0}, "ρ"),
        ("theorem-2-rare", {"delta": 1e-8}, "1024"),
    ],
)
def test_a_cell_outside_of_the_conditions_is_an_error(name, change, said):
    claim = EVERY[name]
    first = claim.cells_of("smoke", CLAIM_ROLE)[0]
    outside = first._replace(parameters={**first.parameters, **change})
    with pytest.raises(ConditionError, match=said):
        dataclasses.replace(claim, cells=(outside,)).require_conditions("smoke", 5)


def test_a_new_file_is_a_new_claim(tmp_path, monkeypatch):
    source = """
        from dataclasses import replace
        from verification.claims.lemma_2 import CLAIMS as OLD
        CLAIMS = (replace(OLD[0], id="added"),)
    """
    (tmp_path / "added.py").write_text(textwrap.dedent(source))
    monkeypatch.setattr(claims, "__path__", [*claims.__path__, str(tmp_path)])
    assert "added" in claims.load.__wrapped__()
