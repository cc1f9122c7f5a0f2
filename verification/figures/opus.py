"""The paper's own sentence matching, on OPUS-100; it runs where its vectors were made first."""

from __future__ import annotations

from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from verification.data import opus
from verification.engine.studies import Cell, Parameters, Study
from verification.figures import method_shares, sentences
from verification.figures.definition import Figure, Tables
from verification.scenarios.side_by_side import REFERENCE


def load_pair(parameters: Parameters, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, int]:
    """Give the vectors of the translations, of the English sentences, and the number to draw."""
    pairs = opus.load_pairs(parameters["language"])
    return pairs.foreign, pairs.english, parameters["n"]


def draw(figure: Any, tables: Tables) -> None:
    """Draw the shares by language, with the scale below."""
    axes = figure.subplots()
    method_shares.draw_shares(axes, tables[""])
    scales = {row["data"]: row["scale"] for row in tables[""] if row["method"] == REFERENCE}
    labels = [f"{name}\nscale {scale:.1f}" for name, scale in scales.items()]
    axes.set_xticks(axes.get_xticks(), labels)
    axes.legend(loc="best")
    figure.suptitle(
        f"OPUS-100: {tables[''][0]['n']:.0f} sentences matched with their translations", fontweight="bold"
    )


def missing() -> str:
    """Say how to make the vectors, if they are not there."""
    if opus.FILE.is_file():
        return ""
    return f"{opus.FILE.name} is not there; make it with: python -m verification.data.opus"


def _cell(language: str, n: int, trials: tuple[int, int, int]) -> Cell:
    parameters = {"pair": f"en-{language}", "language": language, "n": n}
    return Cell(f"en-{language}, n={n}", parameters, trials=trials)


STUDY = Study(
    id="opus",
    cells=(
        *(_cell(language, 500, (0, 12, 24)) for language in opus.LANGUAGES),
        *(_cell(language, 12, (2, 0, 0)) for language in opus.LANGUAGES),
    ),
    setup=load_pair,
    trial=sentences.trial,
    batch=4,
)

FIGURES = (
    Figure("opus", "supplement, sentence matching", STUDY, sentences.tabulate, draw, (8.4, 3.8), missing),
)
