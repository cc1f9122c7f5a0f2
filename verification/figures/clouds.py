"""What the transformation is: two sets in their first two principal components, raw and aligned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import lslmatch
from lslmatch._types import FloatArray
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Setup, Study
from verification.figures import instruments, sentences
from verification.figures.definition import CellRows, Figure, Tables
from verification.style import COLOURS

#: The second set as it is, and with the first one's mean and scale.
_STAGES = {"raw": "as they are", "aligned": "with one mean and one scale"}


def flatten(state: tuple[Any, ...], rng: np.random.Generator) -> list[Row]:
    """Draw points, and give them in the plane of each stage; partners share a line."""
    x, y = state[:2]
    drawn = rng.choice(len(x), size=min(len(x), 500), replace=False)
    x, y = x[drawn], y[drawn]
    affine = lslmatch.estimate_affine(x, y)
    moved = (y, affine.scale * y + affine.shift)
    flat = {stage: _project(x, second) for stage, second in zip(_STAGES, moved, strict=True)}
    return [
        {
            f"{stage}_{name}_{axis + 1}": float(points[row, axis])
            for stage, pair in flat.items()
            for name, points in zip(("first", "second"), pair, strict=True)
            for axis in range(2)
        }
        for row in range(len(x))
    ]


def _project(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give both sets in the plane of their joint principal components."""
    together = np.concatenate([x, y])
    centre = together.mean(axis=0)
    plane = np.linalg.svd(together - centre, full_matrices=False)[2][:2].T
    return (x - centre) @ plane, (y - centre) @ plane


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the points."""
    return {"": cells[0].rows}


def drawing(names: tuple[str, str], headline: str) -> Callable[[Any, Tables], None]:
    """Give the function that draws one panel a stage."""

    def draw(figure: Any, tables: Tables) -> None:
        for axes, (stage, title) in zip(figure.subplots(1, 2), _STAGES.items(), strict=True):
            first, second = (
                np.array([[row[f"{stage}_{name}_{axis}"] for axis in (1, 2)] for row in tables[""]])
                for name in ("first", "second")
            )
            axes.plot(*first.T, "o", color=COLOURS[0], markersize=2.5, alpha=0.6, label=names[0])
            axes.plot(*second.T, "x", color=COLOURS[1], markersize=3, alpha=0.8, label=names[1])
            axes.set(title=title, xticks=[], yticks=[], xlabel="first principal component", aspect="equal")
            axes.grid(False)
        figure.axes[0].set_ylabel("second principal component")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figure.suptitle(headline, fontweight="bold")

    return draw


def _study(name: str, load: Setup, parameters: Parameters) -> Study:
    return Study(id=name, cells=(Cell("picture", parameters, trials=(0, 1, 1)),), setup=load, trial=flatten)


FIGURES = (
    Figure(
        "sentence-clouds",
        "supplement, principal components",
        _study("sentence-clouds", sentences.load_pair, {"pair": next(iter(sentences.PAIRS)), "n": 500}),
        tabulate,
        drawing(
            ("WEB by L3", "KJV by L6"),
            "Two encoders: one cloud is almost four times as wide as the other",
        ),
        (7.2, 3.8),
    ),
    Figure(
        "spectra-clouds",
        "beyond the paper: real data",
        _study("spectra-clouds", instruments.load_pair, {"pair": "corn mp5, mp6"}),
        tabulate,
        drawing(
            ("mp5", "mp6"),
            "Two instruments: the clouds differ by a shift and hardly by a scale",
        ),
        (7.2, 3.8),
        instruments.missing,
    ),
)
