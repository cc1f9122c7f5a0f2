"""Each claim says what the second table says: nobody can allow more, or hold a laxer bound, unnoticed."""

import importlib
import inspect
from dataclasses import replace

import pytest

from tests.verification.claims import second_table
from tests.verification.claims.second_table import CONSTANTS, EXACT, TABLE
from verification import claims
from verification.claims import exact_tails
from verification.engine.seeds import SETUP, generator
from verification.statistics import binomial

EVERY = claims.load()


def differences(claim, row):
    """Say in what a claim departs from its row."""
    found = [] if row.source in claim.source else [f"source {claim.source}"]
    name, _, _ = claim.decide.__qualname__.partition(".")
    made_with = inspect.getclosurevars(claim.decide).nonlocals
    if name != row.decides or {**made_with} != {**row.constants}:
        found.append(f"decided by {name} with {made_with}")
    for cell in claim.cells:
        allowed = row.allowed(cell.parameters) if callable(row.allowed) else row.allowed
        same = cell.allowed is allowed is None or cell.allowed == pytest.approx(allowed, rel=1e-9)
        if not same:
            found.append(f"{cell.name} allows {cell.allowed}, not {allowed}")
    return found


def wrong_bounds(claim, row, most=3000):
    """Say which bounds of a claim's states are not the paper's."""
    found = []
    for cell in claim.cells:
        p = cell.parameters
        if cell.allowed is not None and cell.allowed >= 1 or p["n"] * p.get("d", 1) > most:
            continue
        state = claim.setup(p, generator(7, claim.id, cell.name, SETUP))
        found += [
            f"{cell.name}: {used} for {paper}"
            for used, paper in row.bounds(p, state)
            if used != pytest.approx(paper, rel=1e-6)
        ]
    return found


def test_every_claim_has_a_row():
    assert set(TABLE) == set(EVERY)


@pytest.mark.parametrize("name", TABLE)
def test_a_claim_is_as_in_the_second_table(name):
    assert differences(EVERY[name], TABLE[name]) == []


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.bounds is not None])
def test_the_bounds_of_a_claim_are_those_of_the_paper(name):
    assert wrong_bounds(EVERY[name], TABLE[name]) == []


def test_the_constants_of_modules_are_those_of_the_second_table():
    for module, constants in CONSTANTS.items():
        found = importlib.import_module(f"verification.claims.{module}")
        assert {name: getattr(found, name) for name in constants} == constants


def test_exact_tails_hold_each_statement_to_its_rate():
    assert {name: statement.allowed for name, statement in exact_tails.STATEMENTS.items()} == {
        name: allowed for name, (allowed, _) in EXACT.items()
    }
    assert {name: false for name, (_, false) in EXACT.items()} == exact_tails._FALSE


def test_the_error_budget_is_that_of_the_second_table():
    assert pytest.approx(second_table.CLAIM_LEVEL) == binomial.CLAIM_LEVEL
    assert binomial.SUITE_ERROR == 1e-3


# ------------------------------------------------------------------------------ what is found


def _holding_to(claim, factor):
    cells = [cell._replace(allowed=factor * cell.allowed) for cell in claim.cells]
    return replace(claim, cells=tuple(cells))


@pytest.mark.parametrize(
    ("name", "factor"), [("theorem-2", 1.5), ("lemma-3", 4), ("lemma-1-upper", 2), ("known-covariance", 1.25)]
)
def test_a_claim_held_to_more_than_it_says_is_found(name, factor):
    assert differences(_holding_to(EVERY[name], factor), TABLE[name])


def test_a_laxer_margin_or_another_slope_is_found():
    rate, homogeneous = EVERY["theorem-1-rate-alpha"], EVERY["theorem-1-homogeneous"]
    assert differences(replace(rate, decide=homogeneous.decide), TABLE["theorem-1-rate-alpha"])
    assert differences(replace(rate, decide=EVERY["s_i"].decide), TABLE["theorem-1-rate-alpha"])


@pytest.mark.parametrize("name", ["lemma-3", "lemma-4", "theorem-1", "proposition-1-upper", "rare-suprema"])
def test_a_bound_at_another_delta_is_found(name):
    claim = EVERY[name]

    def lax(parameters, rng):
        return claim.setup({**parameters, "delta": parameters["delta"] / 2}, rng)

    assert wrong_bounds(replace(claim, setup=lax), TABLE[name])
