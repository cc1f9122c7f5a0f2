import numpy as np
import pytest

from verification.data.warped import WarpedPair, partners_of
from verification.engine.samples import Samples
from verification.figures import descriptors, making


def test_partners_are_mutually_nearest_and_near():
    first = np.array([[0.0, 0.0], [10.0, 0.0], [20.0, 0.0], [20.5, 0.0], [40.0, 0.0]])
    second = np.array([[20.1, 0.0], [0.0, 1.0], [13.0, 0.0], [60.0, 0.0]])
    partners, lonely_x, lonely_y = partners_of(first, second)
    assert partners.tolist() == [[0, 1], [2, 0]]
    assert lonely_x.tolist() == [4]
    assert lonely_y.tolist() == [3]


@pytest.fixture
def pair():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(400, 8))
    return WarpedPair(
        points[:250],
        np.concatenate([points[:150], points[250:]]),
        np.stack([np.arange(150)] * 2, axis=1),
        np.arange(150, 250),
        np.arange(150, 300),
    )


def test_without_noise_the_number_known_finds_all_and_matching_all_does_not(pair, monkeypatch, tmp_path):
    methods = {name: find for name, find in descriptors.METHODS.items() if "least squares" in name}
    monkeypatch.setattr(descriptors, "METHODS", methods)
    rows = {row["method"]: row for row in descriptors.trial((pair, 60), np.random.default_rng(4))}
    known, everything = rows["least squares, number known"], rows["least squares, all matched"]
    assert (known["recall"], known["false"], known["pairs"]) == (1.0, 0.0, 60)
    assert everything["pairs"] == 100
    assert everything["false"] >= 0.4
    (figure,) = descriptors.FIGURES
    samples = {}
    for cell in figure.study.cells:
        samples[cell.name] = Samples()
        samples[cell.name].add(list(rows.values()))
    making.write(figure, samples, {}, tmp_path)
    table = making.read_tables(figure, tmp_path)[""]
    assert len(table) == 3 * (len(descriptors.PICTURES) + 1) * len(methods)
    assert (tmp_path / "descriptors.png").is_file()
