"""Why the judged pair is left out: a covariance learned with it confirms the matching that it came from."""

from __future__ import annotations

import numpy as np

from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters, keep_parameters
from verification.engine.tally import Values
from verification.scenarios.climbing import corrupt, in_sample, leave_pair_out
from verification.scenarios.correlated_noise import (
    LEVELS,
    autoregressive_covariance,
    correlated_configuration,
)
from verification.statistics.binomial import decide_events

#: The share of right pairs at the start, and the share that counts as recovered.
_START, _RECOVERED = 0.5, 0.9


def trial(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Start from a matching that is half wrong, and say whether each way recovers nearly all pairs."""
    covariance = autoregressive_covariance(parameters["d"], 0.9)
    truth = correlated_configuration(covariance, parameters["n"], level=LEVELS["above"], rng=rng)
    x, y = truth.sample(rng)
    start = corrupt(truth.permutation, _START, rng)
    values: dict[str, bool] = {}
    for name, way in (("leave-pair-out", leave_pair_out), ("in-sample whitening", in_sample)):
        share = float((way(x, y, start) == truth.permutation).mean())
        values[f"{name} recovers"] = share >= _RECOVERED
        values[f"{name} does not recover"] = share < _RECOVERED
    return values


def _cell(n: int, d: int, tier: str) -> Cell:
    return Cell(f"AR(1) n={n} d={d}", {"n": n, "d": d}, 0.15, trials=(80, 200, 1000), tier=tier)


_CELLS = (_cell(100, 100, "smoke"), _cell(150, 150, "full"))
_AS_MANY = Condition("as many dimensions as pairs", lambda p: p["n"] == p["d"])
_SETTING = (
    f"As many dimensions as pairs; AR(1) noise with correlation 0.9; points are twice the noise floor apart. "
    f"Recovered means {_RECOVERED:.0%} of the pairs, and at the start {_START:.0%} are right. The setting "
    "was chosen after others had been looked at, so this shows that the effect exists, not how general it "
    "is: with one strong direction in-sample whitening recovered, too, in 1304 of 1356 trials at n = d = 30 "
    "and in 361 of 1356 at n = d = 60, and with many more pairs than dimensions both ways recover."
)

CLAIMS = (
    Claim(
        id="leave-pair-out-climbs",
        kind="probability",
        source="beyond the paper",
        statement="From a matching that is half wrong, learning the covariance with the judged pair left out "
        "recovers nearly all pairs.",
        formula="P( share right at the end < 0.9 ) ≤ 0.15",
        cells=_CELLS,
        conditions=(_AS_MANY,),
        setup=keep_parameters,
        trial=trial,
        column="leave-pair-out does not recover",
        decide=decide_events,
        controls=(Control("in-sample whitening recovers them, too", "in-sample whitening does not recover"),),
        picture="bars",
        axes=("", "share of trials that do not recover"),
        batch=20,
        remark=_SETTING,
    ),
    Claim(
        id="in-sample-confirms",
        kind="probability",
        source="beyond the paper",
        statement="From a matching that is half wrong, a covariance learned with the judged pairs in it does "
        "not lead to nearly all pairs: it makes the present ones cheap.",
        formula="P( share right at the end ≥ 0.9 ) ≤ 0.15",
        cells=_CELLS,
        conditions=(_AS_MANY,),
        setup=keep_parameters,
        trial=trial,
        column="in-sample whitening recovers",
        decide=decide_events,
        controls=(Control("leave-pair-out does not lead there, either", "leave-pair-out recovers"),),
        picture="bars",
        axes=("", "share of trials that recover"),
        batch=20,
        remark=_SETTING,
    ),
)
