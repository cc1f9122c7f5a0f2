"""The picture of a learned covariance: its tables say what was planted, and it is drawn from them alone."""

import numpy as np
import pytest

from tests.support.planted import strong_direction
from verification.figures import learned_step_by_step
from verification.figures.definition import CellRows
from verification.style import draw_figure


@pytest.fixture(scope="module")
def tables():
    """The tables of planted sets, in the order of the samples, with one strong direction of noise."""
    rng = np.random.default_rng(0)
    factor = np.linalg.cholesky(strong_direction(8))
    features = 1.1 * rng.normal(size=(60, 8))
    x, y = (features + rng.normal(size=(60, 8)) @ factor.T for _ in range(2))
    rows = learned_step_by_step.trial((x, y / 2.0), np.random.default_rng(1))
    return learned_step_by_step.tabulate([CellRows(learned_step_by_step.STUDY.cells[0], rows)])


def test_the_strong_direction_is_found_and_more_pairs_are_right(tables):
    start, end = tables[""]
    assert end["recovered"] > start["recovered"] + 0.1
    assert end["cross_entropy"] < start["cross_entropy"]
    assert end["share_1"] > 0.8
    for kind in ("learned", "true"):
        direction = np.array([row[f"{kind}_1"] for row in tables["directions"]])
        assert direction.sum() / np.sqrt(8) > 0.97  # the cosine with the planted one


def test_shares_are_those_of_the_pairs(tables):
    for row in tables[""]:
        right = [pair[row["stage"]] == pair["sample"] for pair in tables["pairs"]]
        assert row["recovered"] == np.mean(right)
        assert row["recovered_low"] < row["recovered"] <= row["recovered_high"]


def test_pairs_and_directions_are_drawn(tables):
    figure = learned_step_by_step.FIGURES[0]
    picture = draw_figure(lambda sheet: figure.draw(sheet, tables), figure.size)
    assert [len(axes.lines) for axes in picture.axes] == [6, 9, 4]
