"""The sampler again, pooled over all trials: moments and correlations across rows, columns and sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.model import Configuration, adversarial_configuration, random_configuration
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import CLAIM_ROLE, Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios import configurations
from verification.statistics.slopes import equality_decision

_N, _D = 60, 20
#: What every configuration is asked for, and is read back from the samples.
_SCALE, _SHIFT, _DISTORTION, _RATIO = 3.0, 7.0, 2.0, 9.0

Pair = tuple[FloatArray, FloatArray]


class Drawn(NamedTuple):
    """One draw: what should be two independent standard normal arrays, and what they were recovered from."""

    noise: Pair
    truth: Configuration | None = None
    sets: Pair | None = None


def _observations(truth: Configuration, rng: np.random.Generator) -> Drawn:
    """Recover the noise of both sets from a sample, by the definition of the model and what was asked for."""
    x, y = truth.sample(rng)
    level, partner = truth.noise[:, None], y[truth.permutation]
    first = (x - truth.features) / level
    return Drawn((first, (_SCALE * partner + _SHIFT - truth.features) / level), truth, (x, partner))


def _drawn(rng: np.random.Generator) -> Drawn:
    parameters = {"n": _N, "d": _D, "noise": "spread", "distortion": _DISTORTION}
    parameters |= {"scale": _SCALE, "shift": _SHIFT}
    return _observations(configurations.draw_configuration(parameters, rng), rng)


def _random(rng: np.random.Generator) -> Drawn:
    truth = random_configuration(
        _N, _D, separation=3.0, noise_ratio=_RATIO, scale=_SCALE, shift=_SHIFT, rng=rng
    )
    return _observations(truth, rng)


def _adversarial(rng: np.random.Generator) -> Drawn:
    truth = adversarial_configuration(_N, _D, noise_ratio=_RATIO, separation=3.0, rng=rng)
    permutation = configurations.draw_permutation(_N, rng)
    return _observations(
        truth._replace(scale=_SCALE, shift=np.full(_D, _SHIFT), permutation=permutation), rng
    )


def _centred(rng: np.random.Generator) -> Drawn:
    """Give two draws of the lemmas' centred noise, as contrasts that are independent standard normals."""
    n = _N + 1
    contrasts = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:].T
    first, second = (contrasts @ configurations.centred_noise(np.ones(n), _D, rng) for _ in range(2))
    return Drawn((first, second))


_DRAWS = {
    "features of any kind": _drawn,
    "random": _random,
    "adversarial": _adversarial,
    "centred noise": _centred,
}
#: The draws that take little time; the sampler of the others is the same.
_CHEAP = ("features of any kind", "centred noise")


def _others(products: FloatArray) -> float:
    """Give the mean square of what is off the diagonal."""
    size = len(products)
    return float(((products**2).sum() - (np.diag(products) ** 2).sum()) / (size * (size - 1)))


#: Statistics of two independent standard normal (n, d) arrays whose means are 1, with their deviations.
_STATISTICS: dict[str, tuple[Callable[[FloatArray, FloatArray], float], float]] = {
    "mean of x": (lambda x, y: 1 + float(x.mean()), 0.03),
    "mean of y": (lambda x, y: 1 + float(y.mean()), 0.03),
    "variance of x": (lambda x, y: float((x**2).mean()), 0.042),
    "variance of y": (lambda x, y: float((y**2).mean()), 0.042),
    "fourth power of x": (lambda x, y: float((x**4).mean()) / 3, 0.096),
    "fourth power of y": (lambda x, y: float((y**4).mean()) / 3, 0.096),
    "partners": (lambda x, y: 1 + float((x * y).mean()), 0.03),
    "a row and the next": (lambda x, y: 1 + float((x * np.roll(y, 1, axis=0)).mean()), 0.03),
    "neighbouring rows of x": (lambda x, y: 1 + float((x[1:] * x[:-1]).mean()), 0.03),
    "neighbouring rows of y": (lambda x, y: 1 + float((y[1:] * y[:-1]).mean()), 0.03),
    "neighbouring columns of x": (lambda x, y: 1 + float((x[:, 1:] * x[:, :-1]).mean()), 0.03),
    "neighbouring columns of y": (lambda x, y: 1 + float((y[:, 1:] * y[:, :-1]).mean()), 0.03),
    # Squares see any two rows that belong together, whichever they are.
    "rows across the sets": (lambda x, y: float(((x @ y.T) ** 2).mean()) / x.shape[1], 0.068),
    "columns across the sets": (lambda x, y: float(((x.T @ y) ** 2).mean()) / x.shape[0], 0.094),
    "rows of x": (lambda x, y: _others(x @ x.T) / x.shape[1], 0.097),
    "rows of y": (lambda x, y: _others(y @ y.T) / x.shape[1], 0.097),
    "columns of x": (lambda x, y: _others(x.T @ x) / x.shape[0], 0.127),
    "columns of y": (lambda x, y: _others(y.T @ y) / x.shape[0], 0.127),
}

Read = Callable[[Configuration, Pair], float]


def _scale(truth: Configuration, sets: Pair) -> float:
    """Give the scale of the partners over the one asked for, along the features."""
    mu = truth.features - truth.features.mean(axis=0)
    return _SCALE * float((sets[1] * mu).sum() / (mu**2).sum())


def _shift(truth: Configuration, sets: Pair) -> float:
    """Give the shift of the partners over the one asked for."""
    return float((truth.features.mean(axis=0) - _SCALE * sets[1].mean(axis=0)).mean()) / _SHIFT


def _distortion(truth: Configuration, sets: Pair) -> float:
    """Give lambda^2 from the sum of squares of x, over the one asked for."""
    (n, d), total = sets[0].shape, float((truth.noise**2).sum())
    squares = float(((sets[0] - sets[0].mean(axis=0)) ** 2).sum())
    return (squares - d * (n - 1) / n * total) / (_DISTORTION**2 * total)


def _ratio(truth: Configuration, sets: Pair) -> float:
    """Give the noise of the noisiest rows over what rho and the quietest noise make it."""
    noise, least = truth.noise, truth.noise.min()
    noisiest = noise == noise.max()
    return float(((sets[0] - truth.features)[noisiest] ** 2).mean()) / (_RATIO * least**2)


#: What is read back from samples, and from which draws; the deviations are those of one trial, rounded up.
_READ: dict[str, tuple[Read, dict[str, float]]] = {
    "scale": (_scale, {"features of any kind": 0.1, "random": 0.025, "adversarial": 0.008}),
    "shift": (_shift, {"features of any kind": 0.03, "random": 0.01, "adversarial": 0.013}),
    "lambda": (_distortion, {"features of any kind": 0.36}),
    "rho": (_ratio, {"adversarial": 0.05}),  # of random ones: in definitions, exactly
}

#: Variances of the controls; the claim must tell the last from 1 in the quick profile.
_WRONG = {"five": 1.05, "three": 1.03, "one": 1.01}
_ONE = "the noise of y with a variance one per cent too large"
_THREE = "the noise of y with a variance three per cent too large"


def setup(parameters: Parameters, rng: np.random.Generator) -> tuple[str, str]:
    """Leave all drawing to the trials."""
    return parameters["draw"], parameters["statistic"]


def trial(state: tuple[str, str], rng: np.random.Generator) -> Values:
    """Draw once, and give one statistic: of the draw, and of draws that are wrong on purpose."""
    drawn, statistic = _DRAWS[state[0]](rng), state[1]
    if statistic in _READ:
        assert drawn.truth is not None
        assert drawn.sets is not None
        value = _READ[statistic][0](drawn.truth, drawn.sets)
        # What a scale, a shift, a lambda or a rho that is squared by mistake would be read back as.
        squared = (
            value * {"scale": 1 / _SCALE, "shift": _SHIFT, "lambda": _DISTORTION**2, "rho": _RATIO}[statistic]
        )
        return {"observed": value, "squared": squared, "rolled": value} | dict.fromkeys(_WRONG, value)
    of = _STATISTICS[statistic][0]
    first, second = drawn.noise
    value = of(first, second)
    wrong = {name: of(first, math.sqrt(variance) * second) for name, variance in _WRONG.items()}
    return {
        "observed": value,
        "squared": value,
        "rolled": of(first, np.roll(first, 1, axis=0)),
        **wrong,
    }


def _trials(deviation: float) -> tuple[int, int, int]:
    """Give trials whose standard errors are 0.0033, 0.0011 and 0.0006: a ninth of 3 %, of 1 %, and less."""
    smoke, quick, full = (math.ceil((deviation / error) ** 2) for error in (0.0033, 0.0011, 0.0006))
    return smoke, quick, full


def _cell(draw: str, statistic: str, deviation: float, role: str = CLAIM_ROLE, tier: str = "smoke") -> Cell:
    name = f"{draw}: {statistic}" + (f", {role}" if role != CLAIM_ROLE else "")
    parameters = {"draw": draw, "statistic": statistic, "n": _N, "d": _D}
    return Cell(name, parameters, None, _trials(deviation), tier, role)


CLAIMS = (
    Claim(
        id="sampler-moments",
        kind="rate",
        source="the model, eq. 1 and 2",
        statement="Pooled over all trials, the noise of both sets has mean 0, variance 1 and the fourth "
        "moment of a normal, is uncorrelated across rows, columns and sets, and the scale, the shift, "
        "λ and ρ that samples show are those that were asked for.",
        formula="E[statistic] = 1 for each statistic of independent N(0, I) noise of both sets",
        cells=tuple(
            _cell(draw, statistic, deviation)
            for draw in _DRAWS
            for statistic, (_, deviation) in _STATISTICS.items()
            if draw in _CHEAP or statistic.startswith("variance")
        )
        + tuple(
            _cell(draw, statistic, deviation)
            for statistic, (_, draws) in _READ.items()
            for draw, deviation in draws.items()
        )
        + tuple(_cell(draw, "variance of y", 0.042, _THREE) for draw in _CHEAP)
        + tuple(_cell(draw, "variance of y", 0.042, _ONE, "quick") for draw in _CHEAP),
        setup=setup,
        trial=trial,
        column="observed",
        decide=equality_decision(0.03),
        controls=(
            Control("the noise of y with a variance five per cent too large", "five"),
            Control("the noise of y that of x, rolled by a row", "rolled"),
            Control("scale, shift, lambda or rho squared", "squared"),
            Control(_THREE, "three", own_cells=True),
            Control(_ONE, "one", own_cells=True),
        ),
        picture="means",
        axes=("", "observed / as stated"),
        batch=400,
        remark="Standard errors are a ninth of 3 % in the smoke profile and of 1 % in the quick one, so that "
        "these are told from 1 at the level of the suite with all cells together.",
        conditions=(
            Condition("a statistic whose mean is known", lambda p: p["statistic"] in {*_STATISTICS, *_READ}),
        ),
    ),
)
