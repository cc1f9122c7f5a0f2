"""The figures on units of columns: what units change, and that the pictures are drawn from the tables."""

import numpy as np
import pytest

from verification.data.pairs import Pairs
from verification.engine.samples import Samples
from verification.figures import column_units, making


@pytest.fixture
def pairs():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 4))
    return Pairs(*(features + 0.02 * rng.normal(size=(30, 4)) for _ in range(2)))


def test_units_disturb_one_scale_and_nothing_else(pairs):
    units = np.array([1e-2, 1.0, 30.0, 1e2])
    rows = column_units.compare(pairs, units, np.random.default_rng(1))
    right = {row["method"]: row["right"] for row in rows}
    assert right.pop("match(x, y)") < 0.5
    assert min(right.values()) > 0.9


def test_planted_tables_of_equal_units_are_the_paper_s(pairs):
    rows = column_units.planted_trial({"decades": 0.0, "level": 3.0}, np.random.default_rng(2))
    right = {row["method"]: row["right"] for row in rows}
    assert right["match(x, y)"] == right["match(x, y), own units"] > 0.9


def test_sets_that_are_not_installed_are_named_and_loaded_otherwise(monkeypatch, pairs):
    def absent():
        raise column_units.MissingExtraError("get it")

    monkeypatch.setattr(column_units, "SETS", {"some": lambda: pairs})
    assert column_units.missing() == ""
    assert column_units.load_set({"set": "some"}, np.random.default_rng(0)) is pairs
    assert len(column_units.real_trial(pairs, np.random.default_rng(3))) == 5
    monkeypatch.setattr(column_units, "SETS", {"some": absent})
    assert column_units.missing() == "get it"


@pytest.mark.parametrize("figure", column_units.FIGURES, ids=lambda figure: figure.id)
def test_pictures_are_drawn(figure, tmp_path):
    methods = [column_units._BEFORE, *column_units.METHODS]
    rows = [{"method": name, "right": 0.5} for name in methods for _ in range(2)]
    samples = {}
    for cell in figure.study.cells:
        samples[cell.name] = Samples()
        samples[cell.name].rows.extend(rows)
    making.write(figure, samples, {}, tmp_path)
    assert (tmp_path / f"{figure.id}.png").is_file()
