import numpy as np
import pytest

from verification.data.held_out import SETS
from verification.data.installed import MissingExtraError
from verification.data.pairs import Pairs
from verification.engine.samples import Samples
from verification.figures import held_out, making


@pytest.fixture
def pairs():
    x = np.random.default_rng(0).normal(size=(12, 3))
    return Pairs(x, x + 1e-3)


def test_every_set_is_shown_with_every_method(pairs, tmp_path):
    (figure,) = held_out.FIGURES
    samples = {}
    for seed, cell in enumerate(figure.study.cells):
        samples[cell.name] = Samples()
        samples[cell.name].add(held_out.trial(pairs, np.random.default_rng(seed)))
    making.write(figure, samples, {}, tmp_path)
    tables = making.read_tables(figure, tmp_path)
    assert {row["data"] for row in tables[""]} == set(SETS)
    assert all(row["recovered"] == 1.0 and row["n"] == 12 and row["d"] == 3 for row in tables[""])
    assert len(tables["differences"]) == len(tables[""]) - len(SETS)
    assert (tmp_path / "held-out.png").is_file()


def test_a_set_that_is_not_installed_is_named(pairs, monkeypatch):
    monkeypatch.setattr(held_out, "load_set", lambda name: pairs)
    assert held_out.missing() == ""

    def absent(name):
        raise MissingExtraError(f"{name} is not installed")

    monkeypatch.setattr(held_out, "load_set", absent)
    assert held_out.missing() == f"{SETS[0]} is not installed"
