"""The robust alignment alone, all points matched: beside the known scale, and beside moments.

Of 200 points two fifths have no partner, on one side or on both, for every kind of strangers and of features.
Without strangers the same features are matched near the noise floor, above it and far above it, and so are
the families that no alignment was made for.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import lslmatch
from lslmatch.results import Affine
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.figures.without_partner import SEPARATIONS
from verification.scenarios.families import FAMILIES, draw_family
from verification.scenarios.recovery import require_certificate
from verification.scenarios.strangers import FEATURES, KINDS, LIKE, PartlyCommon, draw_partly_common
from verification.statistics import intervals
from verification.style import COLOURS, INK, MARKERS

KNOWN, ROBUST, MOMENTS = "scale known", "robust", "standardize"
METHODS = (KNOWN, ROBUST, MOMENTS)
STRANGERS, CLEAN, UNTUNED, LARGE = "strangers", "none", "none, families", "large"

#: By how many points "robust" may be behind: the known scale with strangers, moments without.
GOALS = {STRANGERS: (KNOWN, 3.0), CLEAN: (MOMENTS, 1.0), UNTUNED: (MOMENTS, 1.0)}

_N = 200
#: The sizes at which times are taken.
_SIZES = (1000, 3000)
#: How many of a set are strangers.
_SHARE = 0.4


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Give the share of partners that each alignment finds, and the processor time of its match."""
    sets = _draw(parameters, rng)
    row: dict[str, float] = {}
    for name in METHODS:
        started = time.process_time()
        found = lslmatch.match(sets.x, sets.y, alignment=sets.affine if name == KNOWN else name)
        row[f"seconds {name}"] = time.process_time() - started
        require_certificate(sets.x, sets.y, found)
        row[f"right {name}"] = sets.score(found.permutation)[0]
    return [row]


def _draw(parameters: Parameters, rng: np.random.Generator) -> PartlyCommon:
    kind, separation = parameters["kind"], parameters["separation"]
    if parameters["group"] == UNTUNED:
        truth = draw_family(kind, parameters["n"], separation=separation, rng=rng)
        x, y = truth.sample(rng)
        known = Affine(truth.scale, x.mean(axis=0) - truth.scale * y.mean(axis=0))
        return PartlyCommon(x, y, truth.permutation, known)
    strangers = parameters["x_strangers"], parameters["y_strangers"]
    return draw_partly_common(
        kind,
        parameters["features"],
        pairs=parameters["n"] - strangers[1],
        strangers=strangers,
        d=parameters["d"],
        separation=separation,
        noise_ratio=parameters["noise_ratio"],
        rng=rng,
    )


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give a line for each cell, how many cells of each group meet the goal, and times of large sets."""
    frames = [(cell.parameters, pd.DataFrame(rows)) for cell, rows in cells]
    lines = [_line(*frame) for frame in frames if frame[0]["group"] in GOALS]
    times = [_times(*frame) for frame in frames if frame[0]["group"] == LARGE]
    return {"": lines, "goals": _goals(lines), "times": times}


def _times(parameters: Parameters, rows: pd.DataFrame) -> Row:
    ratio = rows[f"seconds {ROBUST}"] / rows[f"seconds {MOMENTS}"]
    return {
        **{key: parameters[key] for key in ("kind", "n", "x_strangers", "d", "separation")},
        "trials": len(rows),
        **{name: float(rows[f"right {name}"].mean()) for name in METHODS},
        **intervals.mean(ratio.tolist(), "times_standardize"),
    }


def _line(parameters: Parameters, rows: pd.DataFrame) -> Row:
    shown = ("group", "kind", "features", "x_strangers", "y_strangers", "d", "noise_ratio", "separation")
    peer, _ = GOALS[parameters["group"]]
    ahead = 100 * (rows[f"right {ROBUST}"] - rows[f"right {peer}"])
    moments = 100 * (rows[f"right {MOMENTS}"] - rows[f"right {KNOWN}"])
    return {
        **{key: parameters[key] for key in shown},
        "trials": len(rows),
        **{name: float(rows[f"right {name}"].mean()) for name in METHODS},
        **intervals.mean(ahead.tolist(), "ahead"),
        "moments_ahead_of_known": float(moments.mean()),
    }


def _goals(lines: Sequence[Row]) -> list[Row]:
    found: list[Row] = []
    for group, (peer, goal) in GOALS.items():
        part = [line for line in lines if line["group"] == group]
        if not part:
            continue
        worst = min(part, key=lambda line: float(line["ahead"]))
        found.append(
            {
                "group": group,
                "peer": peer,
                "goal": goal,
                "cells": len(part),
                "met": sum(line["ahead"] >= -goal for line in part),
                "surely_missed": sum(line["ahead_high"] < -goal for line in part),
                **intervals.mean([line["ahead"] for line in part], "mean_ahead"),
                **{f"worst{end}": worst[f"ahead{end}"] for end in ("", "_low", "_high")},
                "moments_met": sum(line["moments_ahead_of_known"] >= -goal for line in part),
            }
        )
    return found


def draw(figure: Any, tables: Tables) -> None:
    """Draw each cell by how many points "robust" is ahead of its peer, a line for each kind."""
    panels = figure.subplots(1, 2, width_ratios=(1.15, 1))
    strangers = [row for row in tables[""] if row["group"] == STRANGERS]
    clean = [row for row in tables[""] if row["group"] != STRANGERS]
    _draw_cells(panels[0], strangers, "moments_ahead_of_known", 1, MOMENTS, 0.2)
    _draw_cells(panels[0], strangers, "ahead", 0, ROBUST, -0.2)
    _draw_cells(panels[1], clean, "ahead", 0, ROBUST, 0.0)
    titles = "two fifths are strangers", "no strangers"
    for axes, rows, title in zip(panels, (strangers, clean), titles, strict=True):
        if rows:
            peer, goal = GOALS[rows[0]["group"]]
            axes.axvline(-goal, color=INK, linewidth=0.8, linestyle=":")
            axes.set_xlabel(f'points ahead of "{peer}"' if peer == MOMENTS else f"points ahead of {peer}")
            axes.set_title(f"{title}: {len(rows)} cells of {rows[0]['trials']:.0f} draws")
            axes.axvline(0, color=INK, linewidth=0.8)
    panels[0].set_xscale("symlog", linthresh=3)
    panels[0].set_xticks([-100, -30, -10, -3, 0, 3], ["−100", "−30", "−10", "−3", "0", "3"])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(
        "Strangers do not spoil the robust alignment, and without them it costs little", fontweight="bold"
    )


def _draw_cells(axes: Any, rows: Sequence[Row], value: str, style: int, label: str, aside: float) -> None:
    names = list(dict.fromkeys(_label(row) for row in rows))
    places = np.array([names.index(_label(row)) for row in rows]) + aside
    # Cells of one kind lie beside each other, in their own order.
    spread = np.linspace(-0.16, 0.16, max(len(rows) // max(len(names), 1), 1))
    places = places + np.array([spread[k % spread.size] for k in range(len(rows))])
    axes.plot(
        [row[value] for row in rows],
        places,
        linestyle="",
        marker=MARKERS[style],
        color=COLOURS[style],
        markersize=2.5,
        alpha=0.6,
        label=label,
    )
    axes.set_yticks(range(len(names)), names, fontsize=7.5)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(False, axis="y")


def _label(row: Row) -> str:
    return str(row["features"] if row["group"] == CLEAN else row["kind"])


def _cell(group: str, kind: str, trials: tuple[int, int, int], **rest: Any) -> Cell:
    usual = {"features": "", "n": _N, "x_strangers": 0, "y_strangers": 0, "d": 0, "noise_ratio": 0.0}
    parameters = {**usual, **rest, "group": group, "kind": kind}
    place = ", ".join(f"{key}={value}" for key, value in rest.items())
    return Cell(f"{group}, {kind}, {place}", parameters, trials=trials)


STUDY = Study(
    id="robust-alignment",
    cells=(
        *(
            _cell(
                STRANGERS,
                kind,
                (1 if d == 5 and features == "normal" and ratio == 1.0 else 0, 4, 40),
                features=features,
                x_strangers=x_strangers,
                y_strangers=round(_SHARE * _N),
                d=d,
                noise_ratio=ratio,
                separation=separation,
            )
            for kind in (LIKE, *KINDS)
            for features in FEATURES
            for x_strangers in (round(_SHARE * _N), 0)
            for d, separation in SEPARATIONS.items()
            for ratio in (1.0, 100.0)
        ),
        *(
            _cell(
                CLEAN,
                LIKE,
                (1 if d == 5 and ratio == 1.0 and factor == 1.0 else 0, 16, 80),
                features=features,
                d=d,
                noise_ratio=ratio,
                separation=factor * separation,
            )
            for features in FEATURES
            for d, separation in SEPARATIONS.items()
            for ratio in (1.0, 100.0)
            for factor in (0.5, 1.0, 2.0)
        ),
        *(
            _cell(UNTUNED, family, (0, 16, 80), separation=separation)
            for family in FAMILIES
            for separation in (0.7, 1.5, 3.0, 6.0, 12.0)
        ),
        *(
            _cell(
                LARGE,
                kind,
                (0, 0, 10),
                features="normal",
                n=n,
                x_strangers=strangers,
                y_strangers=strangers,
                d=d,
                noise_ratio=1.0,
                separation=separation,
            )
            for n in _SIZES
            for kind, strangers in ((LIKE, 0), (LIKE, round(_SHARE * n)), ("wide", round(_SHARE * n)))
            for d, separation in SEPARATIONS.items()
        ),
    ),
    trial=trial,
    batch=8,
)

FIGURES = (Figure("robust-alignment", "beyond the paper", STUDY, tabulate, draw, (9.6, 5.4)),)
