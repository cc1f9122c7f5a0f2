"""Beyond the paper: which pairs of a partly wrong matching are right, judged by margin and confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import mannwhitneyu

import lslmatch
from lslmatch._types import FloatArray
from lslmatch.model import Configuration, random_configuration
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.recovery import certified_match
from verification.statistics import intervals
from verification.style import COLOURS, DASHES, INK, error_line

#: What may point to wrong pairs, in words. The last is the negative control.
SCORES = {
    "bound": "lower bound of the margin",
    "exact": "exact margin",
    "confidence": "confidence",
    "shuffled": "shuffled margins (control)",
}

#: Ways to turn them into a probability, in words.
PROBABILITIES = {
    "confidence": "confidence",
    "margin": "likelihood ratio of the margin alone",
    "fitted": "logistic curve of the margin, fitted in other dimensions",
}

#: Colours, dashes and markers: the same for what is made of the same.
_STYLES = {"bound": 0, "exact": 1, "margin": 1, "confidence": 2, "fitted": 3, "shuffled": 6}

_PARAMETERS = ("family", "n", "d", "noise_ratio", "separation", "noise")
#: From this confidence on a pair counts as sure.
_SURE = 0.9
_LIMITS = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.98, 1])


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Match one draw and give, for its pairs, whether they are right, and every score."""
    truth = _draw_truth(parameters, rng)
    x, y = truth.sample(rng)
    result = certified_match(x, y)
    bound, exact = lslmatch.diagnose(x, y, result), lslmatch.diagnose(x, y, result, margins="exact")
    scores: dict[str, Any] = {"bound": bound.margin, "exact": exact.margin, "confidence": exact.confidence}
    scores["shuffled"] = rng.permutation(np.asarray(exact.margin))
    right = result.permutation == truth.permutation
    return [
        {"right": right.tolist(), **{name: np.round(value, 6).tolist() for name, value in scores.items()}}
    ]


def _draw_truth(parameters: Parameters, rng: np.random.Generator) -> Configuration:
    """Draw a configuration of the usual kind, or of a family that nothing here was made for."""
    n, d, family = parameters["n"], parameters["d"], parameters["family"]
    if family == "gaussian":
        return random_configuration(
            n, d, separation=parameters["separation"], noise_ratio=parameters["noise_ratio"], rng=rng
        )
    features, noise = rng.standard_normal((n, d)), np.full(n, float(parameters["noise"]))
    if family == "clusters":
        features = 3 * rng.standard_normal((10, d))[rng.integers(0, 10, n)] + 0.6 * features
    elif family == "rank 3":
        features = features[:, :3] @ rng.standard_normal((3, d))
    elif family == "heavy-tailed noise":
        noise *= np.exp(1.2 * rng.standard_t(3, n)).clip(0.05, 50)
    return Configuration(features, noise, 1.0, np.zeros(d), rng.permutation(n))


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the areas under the curves by cell, the curves, and how well the probabilities are calibrated."""
    every = [
        {"d": cell.parameters["d"], **{name: np.array(values) for name, values in row.items()}}
        for cell, rows in cells
        for row in rows
        if cell.parameters["family"] == "gaussian"
    ]
    curves = {d: _fit_curve([row for row in every if row["d"] != d]) for d in {row["d"] for row in every}}
    for row in every:
        odds = row["d"] / 2 * row["exact"]
        slope, intercept = curves[row["d"]]
        row["margin"], row["fitted"] = expit(odds), expit(slope * odds + intercept)
    return {
        "": [_areas(cell, rows) for cell, rows in cells],
        "roc": _roc(every),
        "calibration": [_calibration(d, every, curves[d]) for d in sorted(curves)],
        "reliability": [line for method in PROBABILITIES for line in _reliability(method, every)],
    }


def _areas(cell: Cell, rows: Sequence[Row]) -> Row:
    """Give the mean area under the curve over the trials that have right and wrong pairs."""
    parted = [row for row in rows if 0 < sum(row["right"]) < len(row["right"])]
    areas = {name: [_area(np.array(row[name]), np.array(row["right"])) for row in parted] for name in SCORES}
    right, confidence = (np.array([row[name] for row in rows]) for name in ("right", "confidence"))
    sure = confidence >= _SURE
    return {
        **{name: cell.parameters.get(name, "") for name in _PARAMETERS},
        "trials": len(parted),
        **intervals.mean(right.mean(axis=1), "recovered"),
        **{key: value for name in SCORES for key, value in intervals.mean(areas[name], name).items()},
        **intervals.mean(confidence.mean(axis=1), "mean_confidence"),
        "sure": int(sure.sum()),
        **intervals.ratio((right & sure).sum(axis=1), sure.sum(axis=1), "right_if_sure"),
    }


def _area(score: FloatArray, right: Any) -> float:
    """Give the probability that a right pair scores above a wrong one, ties counting half."""
    above = mannwhitneyu(score[right], score[~right], method="asymptotic").statistic
    return float(above / (right.sum() * (~right).sum()))


def _roc(every: Sequence[Row]) -> list[Row]:
    """Give the share of wrong pairs found at each share of right ones suspected, in the mean over trials."""
    suspected = np.linspace(0, 1, 41)
    parted = [row for row in every if 0 < row["right"].sum() < row["right"].size]
    lines: list[Row] = []
    for name in SCORES:
        found = []
        for row in parted:
            limits = np.concatenate([[-np.inf], np.unique(row[name])])
            right, wrong = (
                np.searchsorted(np.sort(row[name][part]), limits, side="right") / part.sum()
                for part in (row["right"], ~row["right"])
            )
            found.append(np.interp(suspected, right, wrong))
        for share, values in zip(suspected, np.transpose(found), strict=True):
            lines.append({"score": name, "suspected": float(share), **intervals.mean(values, "found")})
    return lines


def _fit_curve(every: Sequence[Row]) -> FloatArray:
    """Fit the slope and the intercept of the log-odds of a right pair in d / 2 times its margin."""
    odds = np.concatenate([row["d"] / 2 * row["exact"] for row in every])
    sign = np.concatenate([np.where(row["right"], -1.0, 1.0) for row in every])

    def loss(curve: FloatArray) -> float:
        return float(np.logaddexp(0, sign * (curve[0] * odds + curve[1])).mean())

    fitted: FloatArray = minimize(loss, np.array([1.0, 0.0])).x
    return fitted


def _calibration(d: int, every: Sequence[Row], curve: FloatArray) -> Row:
    """Give the Brier scores in one dimension, also of the true share of right pairs as a constant."""
    rows = [row for row in every if row["d"] == d]
    own = _fit_curve(rows)
    line = {
        "d": d,
        "trials": len(rows),
        **intervals.mean([row["right"].mean() for row in rows], "right"),
        **intervals.mean([row["confidence"].mean() for row in rows], "mean_confidence"),
        "slope_here": float(own[0]),
        "intercept_here": float(own[1]),
        "slope_elsewhere": float(curve[0]),
        "intercept_elsewhere": float(curve[1]),
    }
    share = float(np.mean([row["right"].mean() for row in rows]))
    for name in ("constant", *PROBABILITIES):
        errors = [row.get(name, share) - row["right"] for row in rows]
        line |= intervals.mean([float((error**2).mean()) for error in errors], f"brier_{name}")
    return line


def _reliability(method: str, every: Sequence[Row]) -> list[Row]:
    """Give the share of right pairs by predicted probability; pairs of one trial depend on each other."""
    lines: list[Row] = []
    for low, high in zip(_LIMITS, _LIMITS[1:], strict=False):
        inside = [(row[method] >= low) & ((row[method] < high) | (high == 1)) for row in every]
        count = np.array([part.sum() for part in inside])
        right = np.array([(part & row["right"]).sum() for part, row in zip(inside, every, strict=True)])
        if count.sum() < 20:
            continue
        predicted = (
            sum(row[method][part].sum() for part, row in zip(inside, every, strict=True)) / count.sum()
        )
        lines.append(
            {
                "method": method,
                "pairs": int(count.sum()),
                "predicted": float(predicted),
                **intervals.ratio(right, count, "right"),
            }
        )
    return lines


def draw(figure: Any, tables: Tables) -> None:
    """Draw what the scores find, and what their probabilities are worth."""
    left, right = figure.subplots(1, 2)
    for name, words in SCORES.items():
        style = _STYLES[name]
        rows = [row for row in tables["roc"] if row["score"] == name]
        area = np.mean([row[name] for row in tables[""] if row["family"] == "gaussian"])
        left.plot(
            [row["suspected"] for row in rows],
            [row["found"] for row in rows],
            color=COLOURS[style],
            linestyle=DASHES[style],
            label=f"{words}: area {area:.2f}",
        )
    left.set(xlabel="share of the right pairs that are suspected", ylabel="share of the wrong pairs found")
    left.set_title("Small margins point to wrong pairs")
    left.legend(loc="lower right")
    right.plot([0, 1], [0, 1], color=INK, linewidth=0.8)
    for method, words in PROBABILITIES.items():
        style = _STYLES[method]
        rows = [row for row in tables["reliability"] if row["method"] == method]
        error_line(right, [row["predicted"] for row in rows], rows, "right", style, words)
    right.set(
        xlabel="predicted probability that a pair is right", ylabel="share of such pairs that are right"
    )
    right.set_title("Confidences err a little low, margins alone far too high")
    right.legend(loc="upper left")
    for axes in (left, right):
        axes.set(xlim=(0, 1), ylim=(0, 1.02))
    trials = sum(int(row["trials"]) for row in tables["calibration"])
    figure.suptitle(
        f"Which pairs of a partly wrong matching can be trusted ({trials} trials, 95 % intervals)",
        fontweight="bold",
    )


def _cell(n: int, d: int, noise_ratio: float, separation: float, trials: tuple[int, int, int]) -> Cell:
    parameters = {"n": n, "d": d, "noise_ratio": noise_ratio, "separation": separation}
    name = f"n={n} d={d} rho={noise_ratio:g} kappa={separation:g}"
    return Cell(name, {"family": "gaussian", **parameters}, trials=trials)


def _foreign_cell(family: str, d: int, noise: float) -> Cell:
    parameters = {"family": family, "n": 200, "d": d, "noise": noise}
    return Cell(f"{family} d={d} noise={noise:g}", parameters, trials=(0, 20, 100))


#: By dimension: separations at which equal and unequal noise leave 30 to 90 % of the pairs right.
_SEPARATIONS = {
    2: {1.0: (0.1, 0.2), 25.0: (0.08, 0.15)},
    5: {1.0: (0.6, 0.9), 25.0: (0.4, 0.7)},
    20: {1.0: (2.0, 2.6), 25.0: (1.0, 1.7)},
    100: {1.0: (4.0, 4.6), 25.0: (1.8, 2.8)},
}

#: The same by noise level, for families on which nothing was tuned.
_FAMILIES = {
    "clusters": {5: (0.2, 0.4), 30: (0.7, 0.9)},
    "rank 3": {5: (0.2, 0.4), 30: (0.4, 0.7)},
    "heavy-tailed noise": {5: (0.1, 0.3), 30: (0.3, 1.0)},
}

STUDY = Study(
    id="margins",
    cells=(_cell(40, 5, 1.0, 0.8, (3, 0, 0)), _cell(40, 20, 9.0, 1.8, (3, 0, 0)))
    + tuple(
        _cell(200, d, noise_ratio, separation, (0, 20, 100))
        for d, by_ratio in _SEPARATIONS.items()
        for noise_ratio, separations in by_ratio.items()
        for separation in separations
    )
    + tuple(
        _foreign_cell(family, d, noise)
        for family, by_dimension in _FAMILIES.items()
        for d, levels in by_dimension.items()
        for noise in levels
    ),
    trial=trial,
    batch=5,
)

FIGURES = (Figure("margins", "beyond the paper", STUDY, tabulate, draw, (9.6, 4.4)),)
