"""Beyond the paper: one real pair of sets before and after the covariance of the noise is learned.

The samples of corn by two instruments: affine LSL as the start, the directions in which the learned noise is
greatest, and the matching at the end. It is a set that the method was developed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from verification.engine.samples import Row
from verification.engine.studies import Cell, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.figures.instruments import load_pair, missing
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.recovery import certified_match
from verification.statistics import intervals
from verification.style import COLOURS, INK

#: The covariance of each stage, by the name of the stage.
STAGES = {"start": "isotropic", "end": "auto"}

_PAIR = "corn m5, mp5"
#: Directions of the noise that are shown.
_DIRECTIONS = 3


def trial(state: tuple[FloatArray, FloatArray], rng: np.random.Generator) -> list[Row]:
    """Match the shuffled samples at both stages; give the partners, the evidence and the directions."""
    x, ordered = state
    truth = draw_permutation(len(x), rng)
    y = np.empty_like(ordered)
    y[truth] = ordered
    results = {stage: certified_match(x, y, covariance=name) for stage, name in STAGES.items()}
    sample = np.argsort(truth)  # the sample that a row of y shows
    pairs = [
        {"table": "pairs", "sample": i} | {s: int(sample[r.permutation[i]]) for s, r in results.items()}
        for i in range(len(x))
    ]
    learned = results["end"].covariance
    assert learned is not None
    variances, axes = _principal(learned.matrix)
    residuals = x - (results["end"].scale * ordered + results["end"].shift)
    true_axes = _principal(residuals.T @ residuals)[1]
    signs = np.sign(np.einsum("ij,ij->j", axes, true_axes))
    directions = [
        {"table": "directions", "coordinate": k}
        | {f"learned_{j + 1}": float(axes[k, j]) for j in range(_DIRECTIONS)}
        | {f"true_{j + 1}": float(signs[j] * true_axes[k, j]) for j in range(_DIRECTIONS)}
        for k in range(x.shape[1])
    ]
    evidence: Row = {
        "table": "",
        "start": learned.isotropic_cross_entropy,
        "end": learned.cross_entropy,
        "rounds": learned.rounds,
    } | {f"share_{j + 1}": float(variances[j]) for j in range(_DIRECTIONS)}
    return [*pairs, *directions, evidence]


def _principal(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the shares of the greatest variances of a covariance, and their axes as columns."""
    variances, axes = np.linalg.eigh(matrix)
    leading = axes[:, ::-1][:, :_DIRECTIONS]
    # An axis has no sign: the greatest entry is to be positive.
    leading = leading * np.sign(leading[np.abs(leading).argmax(axis=0), range(_DIRECTIONS)])
    return variances[::-1][:_DIRECTIONS] / variances.sum(), leading


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the share right at each stage, the partners, and the directions of the noise."""
    rows = cells[0].rows
    tables = {
        name: [{k: v for k, v in row.items() if k != "table"} for row in rows if row["table"] == name]
        for name in ("pairs", "directions", "")
    }
    evidence = tables[""][0]
    shares: list[Row] = []
    for stage in STAGES:
        right = [float(row[stage] == row["sample"]) for row in tables["pairs"]]
        shares.append(
            {"data": cells[0].cell.name, "n": len(right), "stage": stage, "covariance": STAGES[stage]}
            | intervals.proportion(right, "recovered")
            | {"cross_entropy": evidence[stage], "rounds": evidence["rounds"] if stage == "end" else 0}
            | {key: evidence[key] for key in evidence if key.startswith("share_")}
        )
    return {"": shares, "pairs": tables["pairs"], "directions": tables["directions"]}


def draw(figure: Any, tables: Tables) -> None:
    """Draw the pairs at the start, the directions of the learned noise, and the pairs at the end."""
    start, middle, end = figure.subplots(1, 3, width_ratios=(1, 1.15, 1))
    for axes, row, name in zip((start, end), tables[""], ("affine LSL", "learned covariance"), strict=True):
        _draw_pairs(axes, tables["pairs"], row["stage"])
        axes.set_title(
            f"{name}: {100 * row['recovered']:.0f} % right\n"
            f"[{100 * row['recovered_low']:.0f}, {100 * row['recovered_high']:.0f}], "
            f"{row['recovered'] * row['n']:.0f} of {row['n']:.0f} pairs"
        )
    start.set_ylabel("sample")
    start.plot([], [], color=COLOURS[2], label="right pair")
    start.plot([], [], color=COLOURS[6], linewidth=0.8, label="wrong pair")
    _draw_directions(middle, tables["directions"], tables[""][1])
    labels = [axes.get_legend_handles_labels() for axes in (start, middle)]
    figure.legend(
        *(sum(parts, []) for parts in zip(*labels, strict=True)), loc="outside lower center", ncols=4
    )
    figure.suptitle(
        "80 corn samples by two instruments: learning how the noise is correlated finds every pair\n"
        "(a set that the method was developed on)",
        fontweight="bold",
    )


def _draw_pairs(axes: Any, pairs: Sequence[Row], stage: str) -> None:
    for right, colour, width in ((False, COLOURS[6], 0.8), (True, COLOURS[2], 1.6)):
        kept = [row for row in pairs if (row[stage] == row["sample"]) == right]
        ends = np.full((len(kept), 3, 2), np.nan)  # a gap after each pair
        ends[:, 0] = [(0, row["sample"]) for row in kept] or np.empty((0, 2))
        ends[:, 1] = [(1, row[stage]) for row in kept] or np.empty((0, 2))
        axes.plot(*ends.reshape(-1, 2).T, color=colour, linewidth=width)
    for side, colour, marker in ((0, COLOURS[0], "o"), (1, COLOURS[1], "s")):
        samples = [row["sample"] for row in pairs]
        axes.plot([side] * len(samples), samples, marker, color=colour, markersize=2)
    axes.set(xlim=(-0.2, 1.2), yticks=[], xlabel="instrument")
    axes.set_xticks((0, 1), ("m5", "mp5"))
    axes.grid(False)


def _draw_directions(axes: Any, directions: Sequence[Row], shares: Row) -> None:
    coordinate = [row["coordinate"] for row in directions]
    reach = max(
        abs(row[f"{kind}_{j + 1}"]) for row in directions for kind in _KINDS for j in range(_DIRECTIONS)
    )
    for j in range(_DIRECTIONS):
        level = -1.6 * reach * j
        axes.axhline(level, color=INK, linewidth=0.4)
        for kind, style in _KINDS.items():
            values = [row[f"{kind}_{j + 1}"] + level for row in directions]
            axes.plot(coordinate, values, **style, label=None if j else f"noise direction, {_SOURCES[kind]}")
        axes.text(
            1.03 * len(directions),
            level,
            f"{100 * shares[f'share_{j + 1}']:.1f} %\nof the noise",
            va="center",
        )
    total = sum(shares[f"share_{j + 1}"] for j in range(_DIRECTIONS))
    isotropic = 100 * _DIRECTIONS / len(directions)
    axes.set(yticks=[], xlabel="wavelength (number)", xlim=(0, 1.32 * len(directions)))
    axes.set_xticks(range(0, len(directions) + 1, 100))
    axes.set_title(
        f"what was learned: {100 * total:.0f} % of the noise has {_DIRECTIONS} shapes\n"
        f"(isotropic noise: {isotropic:.1f} %)"
    )
    axes.grid(False)


_KINDS: dict[str, dict[str, Any]] = {
    "learned": {"color": COLOURS[3], "linewidth": 2.2},
    "true": {"color": INK, "linewidth": 0.9, "linestyle": "--"},
}
_SOURCES = {"learned": "learned", "true": "of the true pairs"}

STUDY = Study(
    id="learned-step-by-step",
    cells=(Cell(_PAIR, {"pair": _PAIR}, trials=(0, 1, 1)),),
    setup=load_pair,
    trial=trial,
    batch=1,
)

FIGURES = (
    Figure(
        "learned-step-by-step",
        "beyond the paper: correlated noise, development data",
        STUDY,
        tabulate,
        draw,
        (9.6, 4.4),
        missing,
    ),
)
