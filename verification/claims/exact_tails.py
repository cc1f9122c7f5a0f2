"""Lemmas 1 and 2, Proposition 1 and Theorem 1 by their exact probabilities, to delta = 1e-12.

Each statistic is a sum of weighted chi-squares, or its error event is one (S > (1 + b) S' for Theorem 1).
Their tails come from :mod:`verification.statistics.quadratic_forms`. A second claim compares what the
simulations of the statements draw with these distributions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from lslmatch import theory
from verification.claims import lemma_1, lemma_2, proposition_1, theorem_1
from verification.claims.conditions import DELTA, THEOREM_1
from verification.claims.definition import Claim, Condition, Control, Trial
from verification.engine.studies import Cell, Parameters, Setup
from verification.engine.tally import Values
from verification.statistics.binomial import decide_events
from verification.statistics.decisions import CellCount, Decision
from verification.statistics.quadratic_forms import QuadraticForm, centred_sum_of_squares
from verification.statistics.slopes import equality_decision

#: P(statistic > multiple * bound), from the state of a claim's trials.
Exceeds = Callable[[Any, float], float]


def _lemma_1_form(state: lemma_1.State) -> QuadraticForm:
    weights = state.weights[state.weights > 0]
    return QuadraticForm(weights, np.ones(len(weights)), np.zeros(len(weights)))


def _lemma_1_upper(state: lemma_1.State, multiple: float) -> float:
    return _lemma_1_form(state).above(float(state.weights.sum()) + multiple * state.bounds.upper)


def _lemma_1_lower(state: lemma_1.State, multiple: float) -> float:
    return _lemma_1_form(state).below(float(state.weights.sum()) + multiple * state.bounds.lower)


def _lemma_2(state: lemma_2.State, multiple: float) -> float:
    deviation = math.sqrt(float(((state.vectors * state.noise[:, None]) ** 2).sum()))
    return math.erfc(multiple * state.bound / deviation / math.sqrt(2))


def _sum(state: proposition_1.State) -> QuadraticForm:
    return centred_sum_of_squares(state.features - state.features.mean(axis=0), state.noise)


def _proposition_1_upper(state: proposition_1.State, multiple: float) -> float:
    return _sum(state).above(state.centre + multiple * (state.bounds.upper - state.centre))


def _proposition_1_lower(state: proposition_1.State, multiple: float) -> float:
    return _sum(state).below(state.centre - multiple * (state.centre - state.bounds.lower))


def _theorem_1(state: theorem_1.State, multiple: float) -> float:
    truth, bound = state.truth, multiple * state.bound
    form = centred_sum_of_squares(truth.features - truth.features.mean(axis=0), truth.noise)
    too_small = form.minus(form, 1 - bound).below(0.0) if bound < 1 else 0.0
    return form.minus(form, 1 + bound).above(0.0) + too_small


def _sharp_setup(parameters: Parameters, rng: np.random.Generator) -> theorem_1.State:
    """Set Theorem 1 up with the bound that its proof gives."""
    state = theorem_1.setup(parameters, rng)
    features, noise = state.truth.features, state.truth.noise
    bound = theory.scale_error_bound(
        *features.shape,
        relative_noise=theory.relative_noise(noise),
        distortion=theory.distortion_to_noise(features, noise),
        delta=parameters["delta"],
        constants="sharp",
    )
    return state._replace(bound=bound)


class Statement(NamedTuple):
    """A statement, with what its own claim makes of a cell's parameters and of a trial."""

    exceeds: Exceeds
    setup: Setup
    trial: Trial
    column: str
    allowed: float
    """The probability that it allows, in units of delta."""


STATEMENTS = {
    "Lemma 1, upper": Statement(_lemma_1_upper, lemma_1.setup, lemma_1.upper_trial, "T / bound", 1),
    "Lemma 1, lower": Statement(_lemma_1_lower, lemma_1.setup, lemma_1.lower_trial, "T / bound", 1),
    "Lemma 2": Statement(_lemma_2, lemma_2.setup, lemma_2.trial, "T / bound", 1),
    "Proposition 1, upper": Statement(
        _proposition_1_upper, proposition_1.setup, proposition_1.upper_trial, "deviation / bound", 1
    ),
    "Proposition 1, lower": Statement(
        _proposition_1_lower, proposition_1.setup, proposition_1.lower_trial, "deviation / bound", 1
    ),
    "Theorem 1": Statement(_theorem_1, theorem_1.setup, theorem_1.trial, "error / bound", 4),
    "Theorem 1, sharp": Statement(_theorem_1, _sharp_setup, theorem_1.trial, "error / bound", 4),
}


#: For each statement a multiple of its bound that is false.
_FALSE = {
    "Lemma 1, upper": 2 / 3,
    "Lemma 1, lower": 2 / 3,
    "Lemma 2": 0.75,
    "Proposition 1, upper": 2 / 3,
    "Proposition 1, lower": 2 / 3,
    "Theorem 1": 0.25,
    "Theorem 1, sharp": 0.5,
}


def sharp_multiple(statement: Statement, state: Any, delta: float) -> float:
    """Give the multiple of the bound at which the probability is exactly the allowed one."""

    def excess(log_multiple: float) -> float:
        found = statement.exceeds(state, math.exp(log_multiple))
        return math.log(max(found, 1e-300) / (statement.allowed * delta))

    least, most = math.log(1e-3), math.log(1e3)
    if excess(least) <= 0:
        return 0.0
    return math.exp(brentq(excess, least, most, xtol=1e-6)) if excess(most) < 0 else math.inf


def _setup(parameters: Parameters, rng: np.random.Generator) -> tuple[Statement, Any, float]:
    statement = STATEMENTS[parameters["statement"]]
    return statement, statement.setup(parameters, rng), parameters["delta"]


def probability_trial(state: tuple[Statement, Any, float], rng: np.random.Generator) -> Values:
    """Compute the exact probability at the bound and at the controls' false ones; nothing is drawn."""
    statement, inner, delta = state
    values: dict[str, bool | float] = {"sharp multiple": sharp_multiple(statement, inner, delta)}
    for name, factor in {"": 1.0, **_FALSE}.items():
        passed = statement.exceeds(inner, factor) > statement.allowed * delta
        values[_passed(name)] = passed and (not name or STATEMENTS[name] is statement)
    return values


def _passed(name: str) -> str:
    return f"{name}: {_FALSE[name]:.3g} of it is passed" if name else "allowed probability is passed"


def decide_exactly(counts: Sequence[CellCount], column: str) -> Decision:
    """Decide the exact statement, and say at which multiple each bound would be exactly right."""
    decision = decide_events(counts, column)
    sharp = {item.cell.name: item.tally.mean("sharp multiple") for item in counts}
    most: dict[str, float] = {}
    for item in counts:
        name = item.cell.parameters["statement"]
        most[name] = max(most.get(name, 0.0), sharp[item.cell.name])
    listed = ", ".join(f"{value:.2f} of {name}" for name, value in most.items())
    return replace(
        decision,
        detail=f"{decision.detail}; just enough at the smallest δ: {listed}",
        cells=tuple({**row, "sharp_multiple": sharp[row["name"]]} for row in decision.cells),
    )


class Simulated(NamedTuple):
    """What the trials of a cell of the second claim share."""

    statement: Statement
    inner: Any
    at: float
    """The multiple of the bound that is passed with probability :data:`_SHARE`."""
    further: float
    """A point a quarter further out."""


_SHARE = 0.3


def _simulated_setup(parameters: Parameters, rng: np.random.Generator) -> Simulated:
    statement, inner, _ = _setup(parameters, rng)
    at = float(brentq(lambda m: statement.exceeds(inner, m) - _SHARE, *_bracket(statement, inner), xtol=1e-9))
    return Simulated(statement, inner, at, 1.25 * at if at > 0 else at + 0.05)


def _bracket(statement: Statement, inner: Any) -> tuple[float, float]:
    two_sided = statement.exceeds in (_lemma_2, _theorem_1)  # statistics that are never negative
    return (1e-6 if two_sided else -1.0), 1.5


def simulated_trial(state: Simulated, rng: np.random.Generator) -> Values:
    """Run the statement's own trial, and give its event over the probability that it should have."""
    value = state.statement.trial(state.inner, rng)[state.statement.column]
    return {
        "event / its probability": float(value > state.at) / _SHARE,
        "event a quarter further out": float(value > state.further) / _SHARE,
    }


def _cell(statement: str, words: str, tier: str, trials: tuple[int, int, int], **parameters: Any) -> Cell:
    delta = parameters["delta"]
    return Cell(
        f"{statement}: {words} delta={delta:g}",
        {"statement": statement, **parameters},
        0.0,
        trials,
        tier,
    )


def _probability_cells() -> tuple[Cell, ...]:
    cells, once = [], (1, 1, 1)
    for k, delta in enumerate((0.1, 1e-2, 1e-3, 1e-6, 1e-9, 1e-12)):
        tier = "smoke" if k in (1, 3, 5) else "quick"
        chi = {"x": math.log(1 / delta), "delta": delta}
        for side in ("upper", "lower"):
            name = f"Lemma 1, {side}"
            cells.append(_cell(name, "one n=8", tier, once, weights="one", n=8, **chi))
            cells.append(_cell(name, "equal n=1000", tier, once, weights="equal", n=1000, **chi))
        cells.append(_cell("Lemma 2", "n=8 d=2", tier, once, n=8, d=2, noise="equal", delta=delta))
        aligned = {"n": 20, "noise": "dominating", "features": "aligned", "delta": delta}
        for side in ("upper", "lower"):
            name = f"Proposition 1, {side}"
            cells.append(_cell(name, "aligned", tier, once, d=3, distortion=1000.0, **aligned))
        # The smallest delta needs d >= 224 log(4 / delta) where one noise dominates.
        d = 224 * math.ceil(math.log(4 / delta)) + 224
        for name in ("Theorem 1", "Theorem 1, sharp"):
            cells.append(_cell(name, f"aligned d={d}", tier, once, d=d, distortion=1e4, **aligned))
    return tuple(cells)


def _simulated_cells() -> tuple[Cell, ...]:
    trials = (6000, 8000, 40000)
    chi = {"x": math.log(10), "delta": 0.1}
    spread = {"noise": "spread", "distortion": 2.0, "delta": 0.1}
    found = [
        _cell("Lemma 1, upper", "geometric n=30", "smoke", trials, weights="geometric", n=30, **chi),
        _cell("Lemma 1, lower", "geometric n=30", "smoke", trials, weights="geometric", n=30, **chi),
        _cell("Lemma 2", "spread n=10", "smoke", trials, n=10, d=3, noise="spread", delta=0.1),
        _cell("Proposition 1, upper", "spread n=10", "smoke", trials, n=10, d=4, **spread),
        _cell("Proposition 1, lower", "spread n=10", "smoke", trials, n=10, d=4, **spread),
        _cell("Theorem 1", "spread n=10", "smoke", trials, n=10, d=4, scale=3.0, **spread),
    ]
    return tuple(cell._replace(allowed=None) for cell in found)


def _is_asked_of_theorem_1(condition: Condition) -> Condition:
    def holds(parameters: Parameters) -> bool:
        return not parameters["statement"].startswith("Theorem 1") or condition.holds(parameters)

    return condition._replace(holds=holds)


_CONDITIONS = (DELTA, *map(_is_asked_of_theorem_1, THEOREM_1))

CLAIMS = (
    Claim(
        id="exact-tails",
        kind="audit",
        source="Lemmas 1 and 2, Proposition 1, Theorem 1",
        statement="The exact probability of passing the bound is at most the allowed one (also with the "
        "sharp constants of Theorem 1's proof), for δ down to 10⁻¹², on configurations for which the "
        "bounds have the least room.",
        formula="P(statistic > bound) ≤ δ (4δ for Theorem 1), computed, not simulated",
        cells=_probability_cells(),
        conditions=(*_CONDITIONS,),
        setup=_setup,
        trial=probability_trial,
        column=_passed(""),
        decide=decide_exactly,
        controls=tuple(
            Control(f"{factor:.3g} of the bound of {name}", _passed(name)) for name, factor in _FALSE.items()
        ),
        picture="bars",
        axes=("", "1 where the bound is passed too often"),
        batch=1,
        remark="The sharp multiple of a cell is the factor at which its bound would be exactly right. The "
        "configurations have all features on the noisiest point, or one weight, which makes the bounds "
        "nearly Gaussian tails; that these are the worst is not proven.",
    ),
    Claim(
        id="simulated-tails",
        kind="rate",
        source="Lemmas 1 and 2, Proposition 1, Theorem 1",
        statement="What the simulations of these statements draw has the distribution that is computed "
        "exactly.",
        formula=f"P(statistic > x) = {_SHARE:g} as simulated, at the x where it is {_SHARE:g} as computed",
        cells=_simulated_cells(),
        conditions=(
            DELTA,
            Condition("a law that is computed", lambda p: p["statement"] in STATEMENTS),
        ),
        setup=_simulated_setup,
        trial=simulated_trial,
        column="event / its probability",
        decide=equality_decision(0.15),
        controls=(Control("a point a quarter further out", "event a quarter further out"),),
        picture="means",
        axes=("", "observed / exact"),
        batch=1000,
        remark="A statistic or an estimator that moves a probability of 0.3 by a tenth is found here, "
        "however loose the bound is. The sampler alone is held to a per cent by sampler-moments.",
    ),
)
