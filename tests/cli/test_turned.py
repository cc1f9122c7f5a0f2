"""Turned sets from files: only where it is asked for."""

import numpy as np

from lslmatch.cli.main import main as command_line
from tests.support.command_line import read_pairs
from tests.support.reference import SMALL

N = 8 if SMALL else 40


def files(folder):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(N, 3))
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    order = rng.permutation(N)
    for name, points in (("x", x), ("y", (5.0 * x @ rotation + 1.0)[order])):
        np.savetxt(folder / f"{name}.csv", points, delimiter=",", header="a,b,c", comments="")
    return [str(folder / "x.csv"), str(folder / "y.csv")], np.argsort(order)


def test_turned_sets_are_matched_if_asked(tmp_path, capsys):
    both, partner = files(tmp_path)
    out = str(tmp_path / "pairs.csv")
    # Columns of the same names do not keep it from being done.
    assert command_line(["match", *both, "--turned", "--pairs", "all", "--out", out]) == 0
    said = capsys.readouterr().out
    assert "x is about y turned, then times 0.2" in said
    rows, partners, _ = read_pairs(out)
    np.testing.assert_array_equal(np.array(partners)[np.argsort(rows)], partner)


def test_another_alignment_contradicts_it(tmp_path, capsys):
    both, _ = files(tmp_path)
    assert command_line(["match", *both, "--turned", "--alignment", "robust"]) == 2
    assert "--turned contradicts --alignment robust" in capsys.readouterr().err
    assert command_line(["match", *both, "--turned", "--alignment", "similarity", "--quiet"]) == 0
