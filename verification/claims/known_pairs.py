"""What is known beforehand: known pairs cost nothing that is right, and groups are problems of their own."""

from __future__ import annotations

import warnings

import numpy as np

from lslmatch import AlignmentWarning, ColumnScaleWarning, check_certificate, match
from lslmatch._types import FloatArray, IntArray
from verification.claims.conditions import at_least
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters, keep_parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_permutation
from verification.statistics.binomial import decide_events

#: Objectives are the same up to this share.
_ROUNDING = 1e-9
#: The least difference that counts as none of rounding, in units of the cost.
_CHEAPER = 1e-6


def compare(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Match with known pairs and without, and look at one point that only one of both gets right."""
    x, y, partner = _draw(parameters, rng)
    rows = rng.permutation(np.flatnonzero(partner >= 0))[: parameters["known"]]
    rest = np.setdiff1d(np.flatnonzero(partner >= 0), rows)
    alignment = parameters["alignment"]
    plain = _matched(x, y, alignment)
    right = plain == partner
    others = partner[rng.permutation(rest)[: rows.size]]  # wrong: they take the partners of others
    events = {}
    for name, cols in (("right before only", partner[rows]), ("by wrong pairs", others)):
        found = _matched(x, y, alignment, np.stack([rows, cols], axis=1)) == partner
        changed = rest[found[rest] != right[rest]]
        events[name] = bool(changed.size and right[rng.choice(changed)])
    return events


def compare_groups(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Match within groups at once and one by one, and say whether the objectives differ."""
    x, y, partner = _draw(parameters, rng)
    group = rng.permutation(np.arange(len(x)) % parameters["groups"])
    other = rng.integers(parameters["groups"], size=len(y))
    other[partner[partner >= 0]] = group[partner >= 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = match(x, y, groups=(group, other))
        total = 0.0
        for k in np.intersect1d(group, other):
            alone = match(x[group == k], y[other == k], alignment=whole.map)
            total += alone.objective
        free = match(x, y, alignment=whole.map)
    unit = max(abs(total), 1.0)
    return {
        "objectives differ": bool(abs(whole.objective - total) > _ROUNDING * unit),
        "not proven": bool(check_certificate(x, y, whole) > _ROUNDING * unit),
        "without groups": bool(abs(free.objective - total) > _CHEAPER * unit),
        "proof without groups": bool(check_certificate(x, y, whole._replace(given=None)) > _CHEAPER * unit)
        if np.count_nonzero(whole.permutation >= 0) == min(len(x), len(y))
        else True,
    }


def _draw(parameters: Parameters, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, IntArray]:
    """Draw two sets in other units, and for each point of x its partner in y, -1 for a stranger."""
    n, d, strangers = parameters["n"], parameters["d"], parameters["strangers"]
    features = rng.standard_normal((n, d))
    x, other = (features + parameters["noise"] * rng.standard_normal((n, d)) for _ in range(2))
    if parameters["units"] == "turned":
        other = other @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    if parameters["units"] == "columns":
        other = other * np.exp(rng.uniform(-3.0, 3.0, d))
    place = draw_permutation(n, rng)
    y = np.empty_like(other)
    y[place] = other * 3.0 + 5.0
    partner = place.copy()
    lost = rng.permutation(n)[:strangers]
    y[place[lost]] = 3.0 * rng.standard_normal((strangers, d)) + 5.0 if strangers else y[place[lost]]
    partner[lost] = -1
    return x, y, partner


def _matched(x: FloatArray, y: FloatArray, alignment: str, known: IntArray | None = None) -> IntArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        warnings.simplefilter("ignore", ColumnScaleWarning)
        return match(x, y, alignment=alignment, known=known).permutation


def _cell(name: str, alignment: str, trials: tuple[int, int, int], tier: str, **setting: object) -> Cell:
    parameters = {"n": 60, "d": 4, "noise": 0.3, "known": 10, "strangers": 0, "units": "one scale"}
    parameters |= {"alignment": alignment, **setting}
    return Cell(name, parameters, 0.5, trials, tier)


def _groups(name: str, trials: tuple[int, int, int], tier: str, **setting: object) -> Cell:
    parameters = {"n": 60, "d": 3, "noise": 0.5, "strangers": 0, "units": "one scale", "groups": 4}
    return Cell(name, {**parameters, **setting}, 0.0, trials, tier)


CLAIMS = (
    Claim(
        id="known-pairs-cost-nothing",
        kind="probability",
        source="beyond the paper",
        statement="Known pairs never lower the share of right pairs among the others, beyond chance.",
        formula="P( a point, right with known pairs or without but not both, is right without only ) ≤ 1/2",
        cells=(
            _cell("one scale", "standardize", (60, 200, 1500), "smoke"),
            _cell("a fifth strangers", "robust", (40, 150, 1000), "smoke", strangers=12),
            _cell("units of columns", "columns", (0, 100, 600), "quick", units="columns", n=40),
            _cell("turned", "similarity", (0, 60, 400), "quick", units="turned", n=40),
        ),
        conditions=(
            Condition("known pairs that are right", lambda p: p["known"] <= p["n"] - p["strangers"]),
        ),
        setup=keep_parameters,
        trial=compare,
        column="right before only",
        decide=decide_events,
        controls=(Control("the known pairs are wrong ones", "by wrong pairs"),),
        picture="bars",
        axes=("", "share of changed points that were right before"),
        batch=20,
        remark="Each trial draws one of the points that known pairs change, if there are any: of a coin that "
        "is tossed for them, half would be right before. Known points themselves are not asked.",
    ),
    Claim(
        id="groups-are-problems-of-their-own",
        kind="probability",
        source="beyond the paper",
        statement="The matching within groups costs as much as the groups' own matchings together, and its "
        "certificate proves it.",
        formula="objective of all groups = sum over groups, up to rounding",
        cells=(
            _groups("four groups", (60, 200, 1000), "smoke"),
            _groups("many small ones", (40, 150, 600), "smoke", groups=20),
            _groups("strangers", (0, 100, 400), "quick", strangers=15),
        ),
        conditions=(at_least("groups", 2),),
        setup=keep_parameters,
        trial=compare_groups,
        column="objectives differ",
        decide=decide_events,
        controls=(
            Control("groups are left out of the matching", "without groups"),
            Control("groups are left out of the proof", "proof without groups"),
        ),
        picture="bars",
        axes=("", "share of matchings that differ"),
        batch=20,
        remark="The sizes of a group differ between both sets wherever strangers fell into it.",
    ),
)
