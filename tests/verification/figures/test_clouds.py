"""The clouds lie apart when raw, and on each other when aligned."""

import numpy as np

from tests.verification.support import planted
from verification import figures
from verification.figures.definition import CellRows
from verification.style import draw_figure

_CLOUDS = ("first", "second")


def test_clouds_are_apart_when_raw_and_lie_on_each_other_when_aligned():
    figure = figures.load()["sentence-clouds"]
    rows = figure.study.trial(planted(), np.random.default_rng(0))

    def distance(stage):
        both = [[[row[f"{stage}_{name}_{axis}"] for axis in (1, 2)] for row in rows] for name in _CLOUDS]
        return np.linalg.norm(np.subtract(*both), axis=1).mean()

    assert distance("aligned") < 0.1 < 50.0 < distance("raw")
    tables = figure.tabulate([CellRows(figure.study.cells[0], rows)])
    picture = draw_figure(lambda sheet: figure.draw(sheet, tables), figure.size)
    assert [len(axes.lines) for axes in picture.axes] == [2, 2]
