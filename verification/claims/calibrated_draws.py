"""The draws of the lemmas: a fixed pair at a fixed scale has an exact law, however loose the bounds are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from verification.claims import lemma_1, lemma_2, lemma_3, lemma_4, proposition_1, zeta_1
from verification.claims.conditions import DELTA, EPSILON
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import noise_levels
from verification.statistics.binomial import decide_events
from verification.statistics.slopes import equality_decision

Noise = tuple[FloatArray, FloatArray]


class Lemma(NamedTuple):
    """A lemma about a supremum, with what its own claim draws and computes."""

    setup: Callable[[Parameters, np.random.Generator], Any]
    draw: Callable[[Any, np.random.Generator], Noise]
    supremum: Callable[[Any, FloatArray, FloatArray], float]
    pairs: Callable[[Any, FloatArray, FloatArray, FloatArray, float], FloatArray]
    """What the supremum is over, at one scale: an (n, n) array, from the variances of the rows of noise."""


def _linear(state: lemma_3.State, eta: FloatArray, other: FloatArray, v: FloatArray, a: float) -> FloatArray:
    along = np.einsum("ijk,ik->ij", state.directions, eta)
    along -= a * np.einsum("ijk,jk->ij", state.directions, other)
    return along / np.sqrt(v[:, None] + a * a * v)


def _quadratic(
    state: lemma_4.State, eta: FloatArray, other: FloatArray, v: FloatArray, a: float
) -> FloatArray:
    squares: FloatArray = ((eta[:, None] - a * other) ** 2).sum(axis=2) / (v[:, None] + a * a * v)
    return squares


def _moving(state: zeta_1.State, eta: FloatArray, other: FloatArray, v: FloatArray, a: float) -> FloatArray:
    direction = state.mu[:, None] - a * state.mu
    along = (direction * (eta[:, None] - a * other)).sum(axis=2)
    return along / (np.linalg.norm(direction, axis=2) * np.sqrt(v[:, None] + a * a * v))


_LEMMAS = {
    "Lemma 3": Lemma(lemma_3.setup, lemma_3.draw, lemma_3.supremum, _linear),
    "Lemma 4": Lemma(lemma_4.setup, lemma_4.draw, lemma_4.supremum, _quadratic),
    "zeta_1": Lemma(zeta_1.setup, zeta_1.draw, zeta_1.supremum, _moving),
}


class State(NamedTuple):
    """What the trials of a cell share."""

    lemma: Lemma
    inner: Any
    """The state of the lemma's own claim."""
    variances: FloatArray
    """Of the rows of its noise, by the definition of the centred noise."""
    d: int
    epsilon: float


def setup_lemma(parameters: Parameters, rng: np.random.Generator) -> State:
    """Set the lemma's own claim up, and find the variances of its noise anew."""
    lemma, n = _LEMMAS[parameters["statement"]], parameters["n"]
    inner = lemma.setup(parameters, rng)
    is_moving = isinstance(inner, zeta_1.State)
    noise = inner.truth.noise if is_moving else noise_levels(parameters["noise"], n)
    centring = np.eye(n) - 1 / n
    return State(lemma, inner, (centring**2) @ noise**2, parameters["d"], parameters["epsilon"])


# -------------------------------------------------------------------------- laws of single pairs


def _normal_square(state: State, eta: FloatArray, other: FloatArray, a: float) -> float:
    return float((state.lemma.pairs(state.inner, eta, other, state.variances, a) ** 2).mean())


def _normal_fourth(state: State, eta: FloatArray, other: FloatArray, a: float) -> float:
    return float((state.lemma.pairs(state.inner, eta, other, state.variances, a) ** 4).mean()) / 3


def _chi_mean(state: State, eta: FloatArray, other: FloatArray, a: float) -> float:
    return float(state.lemma.pairs(state.inner, eta, other, state.variances, a).mean()) / state.d


def _chi_variance(state: State, eta: FloatArray, other: FloatArray, a: float) -> float:
    squares = state.lemma.pairs(state.inner, eta, other, state.variances, a)
    return float(((squares - state.d) ** 2).mean()) / (2 * state.d)


_LAWS = {
    "square of a normal": _normal_square,
    "its fourth power": _normal_fourth,
    "chi-square": _chi_mean,
    "its variance": _chi_variance,
}

#: The other statements: what their claims draw, over its expectation.
_PLAIN: dict[str, tuple[Callable[[Parameters, np.random.Generator], Any], Callable[[Any, Any], float]]] = {
    "Lemma 1": (
        lemma_1.setup,
        lambda state, rng: lemma_1.draw(state, rng) ** 2 / (2 * float((state.weights**2).sum())),
    ),
    "Lemma 2": (
        lemma_2.setup,
        lambda state, rng: (
            lemma_2.draw(state, rng) ** 2 / float(((state.vectors * state.noise[:, None]) ** 2).sum())
        ),
    ),
    "Proposition 1": (
        proposition_1.setup,
        lambda state, rng: proposition_1.draw_sum(state, rng) / _expected_sum(state),
    ),
    "directions of Lemma 3": (lambda parameters, rng: parameters, lambda state, rng: _turns(state, rng)),
}


def _expected_sum(state: proposition_1.State) -> float:
    n, d = state.features.shape
    mu = state.features - state.features.mean(axis=0)
    return float((mu**2).sum() + d * (n - 1) / n * (state.noise**2).sum())


def _turns(parameters: Parameters, rng: np.random.Generator) -> float:
    """Give d times the mean squared cosine between the directions of different pairs, drawn anew."""
    directions = lemma_3.setup(parameters, rng).directions
    unit = directions.reshape(-1, directions.shape[2])
    products = unit @ unit.T
    count = len(unit)
    return float((products**2).sum() - count) / (count * (count - 1)) * unit.shape[1]


def setup(parameters: Parameters, rng: np.random.Generator) -> Any:
    """Set up the claim whose draws are calibrated."""
    if parameters["statement"] in _PLAIN:
        begin, statistic = _PLAIN[parameters["statement"]]
        return begin(parameters, rng), statistic
    return setup_lemma(parameters, rng), _LAWS[parameters["law"]]


def trial(state: Any, rng: np.random.Generator) -> Values:
    """Give a statistic of the draws of a claim, over its exact expectation."""
    inner, statistic = state
    if not isinstance(inner, State):
        value = statistic(inner, rng)
        return {"observed": value, "smaller": 0.81 * value, "same": value}
    eta, other = inner.lemma.draw(inner.inner, rng)
    a = 1 + 0.8 * inner.epsilon
    return {
        "observed": statistic(inner, eta, other, a),
        "smaller": statistic(inner, eta, 0.9 * other, a),
        "same": statistic(inner, eta, eta, a),
    }


# ------------------------------------------------------------------------- the range of the suprema


def reach_trial(state: State, rng: np.random.Generator) -> Values:
    """Say whether the supremum falls short of a value at an end of its range, for some pair."""
    eta, other = state.lemma.draw(state.inner, rng)

    def most(a: float) -> float:
        values = state.lemma.pairs(state.inner, eta, other, state.variances, a)
        centre = state.d if state.lemma.pairs is _quadratic else 0
        return float(np.abs(values - centre).max())

    needed = max(most(1 - state.epsilon), most(1 + state.epsilon)) * (1 - 1e-9)
    value = state.lemma.supremum(state.inner, eta, other)
    half = state.lemma.supremum(state.inner._replace(epsilon=state.epsilon / 2), eta, other)
    return {"falls short": value < needed, "half of the range falls short": half < needed}


def _parameters(statement: str, n: int, d: int, noise: str, epsilon: float, **more: Any) -> dict[str, Any]:
    parameters = {"statement": statement, "n": n, "d": d, "noise": noise, "epsilon": epsilon, "delta": 0.1}
    if statement == "zeta_1":
        parameters |= {"features": "close", "distortion": 3.0}
    return parameters | more


def _law_cells() -> tuple[Cell, ...]:
    cells = []
    for statement, laws in (
        ("Lemma 3", ("square of a normal", "its fourth power")),
        ("Lemma 4", ("chi-square", "its variance")),
        ("zeta_1", ("square of a normal", "its fourth power")),
    ):
        for noise, tier in (("spread", "smoke"), ("equal", "quick"), ("noisy-3", "quick")):
            for law in laws:
                parameters = _parameters(statement, 16, 4, noise, 0.49, law=law)
                trials = (6000, 12000, 50000) if law.startswith("its") else (2500, 8000, 40000)
                cells.append(Cell(f"{statement}: {law}, {noise}", parameters, None, trials, tier))
    plain: dict[str, dict[str, Any]] = {
        "Lemma 1": {"weights": "geometric", "x": 1.0, "epsilon": 0.1},
        "Lemma 2": {"noise": "spread", "epsilon": 0.1},
        "Proposition 1": {"noise": "spread", "distortion": 1.0, "epsilon": 0.1},
        "directions of Lemma 3": {"noise": "equal", "epsilon": 0.1},
    }
    sizes = {"directions of Lemma 3": (600, 2000, 8000), "Proposition 1": (4000, 12000, 60000)}
    for statement, more in plain.items():
        parameters = {"statement": statement, "n": 8, "d": 4, "delta": 0.1, **more}
        trials = sizes.get(statement, (100000, 200000, 400000))
        cells.append(Cell(statement, parameters, None, trials))
    return tuple(cells)


CLAIMS = (
    Claim(
        id="calibrated-draws",
        kind="rate",
        source="Lemmas 1 to 4, Proposition 1, ζ₁",
        statement="A fixed pair at a fixed scale is exactly N(0, 1) in Lemma 3 and in ζ₁, and chi-square "
        "with d degrees of freedom in Lemma 4, as drawn by their claims; the sums of Lemmas 1 and 2 and of "
        "Proposition 1 have their exact second moments and means, and the directions of Lemma 3 are spread "
        "evenly.",
        formula="E[z²] = 1, E[z⁴] = 3   and   E[q] = d, E[(q − d)²] = 2d   at a = 1 + 0.8ε",
        cells=_law_cells(),
        conditions=(
            DELTA,
            EPSILON,
            Condition("an exact law", lambda p: p["statement"] in {*_LEMMAS, *_PLAIN}),
        ),
        setup=setup,
        trial=trial,
        column="observed",
        decide=equality_decision(0.06),
        controls=(
            Control("the second noise, or a sum, nine tenths of itself", "smaller"),
            Control("the same noise twice", "same"),
        ),
        picture="means",
        axes=("", "observed / exact"),
        batch=500,
        remark="The bounds of these lemmas are loose, so that a draw which is wrong by a tenth would pass "
        "them. The means are over all pairs of a draw, each of which has the stated law.",
    ),
    Claim(
        id="suprema-reach",
        kind="audit",
        source="Lemmas 3 and 4, ζ₁",
        statement="The suprema that the claims of Lemmas 3 and 4 and of ζ₁ compare with their bounds are "
        "over the whole range of scales: none is below a value at an end of it.",
        formula="Φ ≥ max over all pairs at a = 1 − ε and at a = 1 + ε",
        cells=tuple(
            Cell(
                f"{statement} eps={epsilon:g}",
                _parameters(statement, 8, 3, "spread", epsilon),
                0.0,
                (150, 1000, 10000),
            )
            for statement in _LEMMAS
            for epsilon in (0.49, 0.1)
        ),
        conditions=(DELTA, EPSILON),
        setup=setup_lemma,
        trial=reach_trial,
        column="falls short",
        decide=decide_events,
        controls=(Control("half of the range", "half of the range falls short"),),
        picture="bars",
        axes=("", "share of suprema that fall short"),
        batch=250,
        remark="That they are the largest in between as well is in definitions, where a fine grid looks.",
    ),
)
