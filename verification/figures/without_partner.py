"""Points without a partner: which pairs are found if their number is not known.

Rules were developed on some kinds of strangers and features and are judged on others; the split is in
`verification.scenarios.strangers`, and the seeds follow from the names here. One peer knows scale, shift
and the number of pairs. Another knows scale and shift, sums squares, and takes the number of pairs by the
rule of 2023, which is made for equal noise (`verification.scenarios.rule_of_2023`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import lslmatch
from lslmatch.results import FalseShare, MatchResult
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.recovery import require_certificate
from verification.scenarios.rule_of_2023 import number_of_pairs
from verification.scenarios.strangers import (
    DEVELOPMENT,
    FEATURES,
    HELD_OUT,
    LIKE,
    PartlyCommon,
    draw_partly_common,
)
from verification.statistics import intervals
from verification.style import error_line

KNOWN, CHOSEN, TARGET, RULE, ALL = (
    "scale and number known",
    "number chosen",
    "5 % false allowed",
    "scale known, rule of 2023",
    "all matched",
)
METHODS = (KNOWN, CHOSEN, TARGET, RULE, ALL)

#: The typical separation in each dimension: where nearly all pairs are found if everything is known.
SEPARATIONS = {2: 8.0, 5: 5.0, 20: 6.0, 100: 8.0}
#: A share of false pairs that should not be exceeded where the peer that knows all stays below it.
_GOAL = 0.05


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Give recall, share of false pairs, error of their number and expected share of false ones."""
    pairs = parameters["pairs"]
    sets = draw_partly_common(
        parameters["kind"],
        parameters["features"],
        pairs=pairs,
        strangers=(parameters["x_strangers"], parameters["y_strangers"]),
        d=parameters["d"],
        separation=SEPARATIONS[parameters["d"]],
        noise_ratio=parameters["noise_ratio"],
        rng=rng,
    )
    x, y = sets.x, sets.y
    results = {
        CHOSEN: lslmatch.match(x, y, alignment="robust", pairs="auto"),
        TARGET: lslmatch.match(x, y, alignment="robust", pairs=FalseShare(_GOAL)),
        RULE: _by_rule(sets),
        ALL: lslmatch.match(x, y, alignment="robust"),
    }
    if pairs:
        results[KNOWN] = lslmatch.match(x, y, alignment=sets.affine, pairs=pairs)
    return [_row(name, sets, result) for name, result in results.items()]


def _by_rule(sets: PartlyCommon) -> MatchResult:
    path = lslmatch.match_path(sets.x, sets.y, alignment=sets.affine, objective="lss")
    n, d = max(len(sets.x), len(sets.y)), sets.x.shape[1]
    return path.matching(number_of_pairs(path.increments, n, d))


def _row(name: str, sets: PartlyCommon, result: MatchResult) -> Row:
    require_certificate(sets.x, sets.y, result, "lss" if name == RULE else "lsl")
    recall, false, error = sets.score(result.permutation)
    expected = np.nan
    if result.confidence is not None:
        kept = result.confidence[result.permutation >= 0]
        expected = 1.0 - float(kept.mean()) if kept.size else 0.0
    return {"method": name, "recall": recall, "false": false, "error": error, "expected": expected}


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give a line for each cell and method, means over the shares of strangers, and how the goals are met."""
    frame = pd.DataFrame([{**cell.parameters, **row} for cell, rows in cells for row in rows])
    keys = ["split", "kind", "features", "share", "x_strangers", "y_strangers", "d", "noise_ratio", "method"]
    lines = [_line(keys, place, part) for place, part in frame.groupby(keys, sort=False)]
    pooled = ["split", "share", "method"]
    shares = [_line(pooled, place, part) for place, part in frame.groupby(pooled, sort=False)]
    return {"": lines, "shares": shares, "goals": _goals(lines)}


def _line(keys: Sequence[str], place: Any, part: pd.DataFrame) -> Row:
    means = [intervals.mean(part[name].tolist(), name) for name in ("recall", "false", "error")]
    return {
        **dict(zip(keys, place, strict=True)),
        "trials": len(part),
        **means[0],
        **means[1],
        **means[2],
        "expected": float(part["expected"].mean()),
    }


def _goals(lines: Sequence[Row]) -> list[Row]:
    """Count the cells in which a method has too many false pairs, or too few right ones, beside the peer."""
    cells: dict[tuple[Any, ...], dict[str, Row]] = {}
    for line in lines:
        place = tuple(
            line[key] for key in ("split", "kind", "features", "share", "x_strangers", "d", "noise_ratio")
        )
        cells.setdefault((*place, line["y_strangers"]), {})[str(line["method"])] = line
    rows: list[Row] = []
    for split in dict.fromkeys(line["split"] for line in lines):
        part = [cell for place, cell in cells.items() if place[0] == split and KNOWN in cell]
        achievable = [cell for cell in part if cell[KNOWN]["false"] < _GOAL]
        for name in (CHOSEN, TARGET, RULE):
            rows.append(
                {
                    "split": split,
                    "method": name,
                    "cells": len(part),
                    "achievable": len(achievable),
                    "too_many_false": sum(cell[name]["false"] >= _GOAL for cell in achievable),
                    "recall_behind_by_3_points": sum(
                        cell[name]["recall"] < cell[KNOWN]["recall"] - 0.03 for cell in achievable
                    ),
                }
            )
    return rows


def draw(figure: Any, tables: Tables) -> None:
    """Draw recall and share of false pairs against the share of strangers, for both parts."""
    splits = list(dict.fromkeys(row["split"] for row in tables["shares"]))
    panels = figure.subplots(2, len(splits), sharex=True, sharey="row", squeeze=False)
    for column, split in enumerate(splits):
        for style, name in enumerate(METHODS):
            rows = [row for row in tables["shares"] if row["split"] == split and row["method"] == name]
            rows = sorted((row for row in rows if row["share"] < 1.0), key=lambda row: row["share"])
            for axes, value in zip(panels[:, column], ("recall", "false"), strict=True):
                error_line(axes, [row["share"] for row in rows], rows, value, style, name)
        panels[0, column].set_title(split)
        panels[1, column].set_xlabel("share of points without a partner")
    panels[0, 0].set(ylabel="share of true pairs found", ylim=(0.58, 1.01))
    panels[1, 0].set(ylabel="share of pairs that are false", ylim=(-0.02, 0.62))
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle("Most strangers are left alone without being told how many there are", fontweight="bold")


def _cells() -> list[Cell]:
    cells: list[Cell] = []
    for split, (kinds, features) in (("development", DEVELOPMENT), ("held out", HELD_OUT)):
        for kind in kinds:
            for name in features:
                for share in (0.1, 0.3, 0.5):
                    strangers = round(share * 120)
                    for other in (strangers, strangers // 2):
                        cells += _both_noises(split, kind, name, share, 120 - strangers, (strangers, other))
        for name in features:
            cells += _both_noises(split, LIKE, name, 0.0, 120, (0, 0))
            cells += _both_noises(split, LIKE, name, 1.0, 0, (120, 120))
    return cells


def _both_noises(
    split: str, kind: str, features: str, share: float, pairs: int, strangers: tuple[int, int]
) -> list[Cell]:
    place = f"{split}, {kind}, {features}, {pairs} and {strangers[0]}, {strangers[1]}"
    return [
        Cell(
            f"{place}, d={d}, noise={ratio:g}",
            {
                "split": split,
                "kind": kind,
                "features": features,
                "share": share,
                "pairs": pairs,
                "x_strangers": strangers[0],
                "y_strangers": strangers[1],
                "d": d,
                "noise_ratio": ratio,
            },
            trials=(1 if d == 2 and kind == "wide" and ratio == 1.0 else 0, 3, 40),
        )
        for d in SEPARATIONS
        for ratio in (1.0, 100.0)
    ]


assert set(HELD_OUT[1]) | set(DEVELOPMENT[1]) == set(FEATURES), "every kind of features is in one part"

STUDY = Study(id="without-partner", cells=tuple(_cells()), trial=trial, batch=8)

FIGURES = (Figure("without-partner", "beyond the paper", STUDY, tabulate, draw, (7.4, 6.0)),)
