"""What the command line does by default: all on auto, with a line for each choice, if that is quick."""

import argparse

import numpy as np
import pytest

from lslmatch import match
from lslmatch.cli import main as command_line
from lslmatch.cli.defaults import fill_in, keep_quick
from tests.support.command_line import read_pairs, table
from tests.support.reference import SMALL


def options(**given):
    usual = {"objective": "lsl", "paper": False, "alignment": None, "covariance": None, "pairs": None}
    filled = argparse.Namespace(**usual | given)
    fill_in(filled)
    return filled


def settings(filled):
    return filled.alignment, filled.covariance, filled.pairs


def test_all_is_chosen_automatically_unless_one_asks_otherwise():
    assert settings(options()) == ("auto", "auto", "auto")
    assert settings(options(pairs="all")) == ("auto", "auto", "all")
    assert settings(options(paper=True)) == ("standardize", "isotropic", "all")
    assert settings(options(paper=True, alignment="robust")) == ("robust", "isotropic", "all")
    assert settings(options(objective="lss")) == ("standardize", "isotropic", "all")


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((1000, 1000, 10), ("auto", "auto", "auto")),
        ((1000, 1000, 1000), ("auto", "isotropic", "auto")),
        ((2000, 2000, 10), ("auto", "isotropic", "auto")),
        ((5000, 5000, 10), ("auto", "isotropic", "all")),
        ((20000, 20000, 10), ("standardize", "isotropic", "all")),
    ],
)
def test_many_points_are_matched_quickly_and_that_is_said(shape, expected):
    filled = options()
    lines = keep_quick(filled, *shape)
    assert settings(filled) == expected
    changed = [name for name, value in zip(("alignment", "covariance", "pairs"), expected, strict=True)]
    changed = [name for name in changed if getattr(filled, name) != "auto"]
    assert [line.partition(":")[0] for line in lines] == changed
    assert all(f"--{name} auto" in line for name, line in zip(changed, lines, strict=True))


def test_what_is_asked_for_is_done_however_long_it_takes():
    filled = options(alignment="auto", covariance="auto", pairs="auto")
    assert keep_quick(filled, 20000, 20000, 10) == []
    assert settings(filled) == ("auto", "auto", "auto")


@pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning")
def test_each_choice_has_a_line_and_strangers_stay_alone(tmp_path, capsys):
    rng = np.random.default_rng(5)
    pairs, strangers = (24, 6) if SMALL else (40, 10)
    x = rng.standard_normal((pairs + strangers, 6))
    y = 2.0 * x + 0.1 * rng.standard_normal(x.shape)
    y[pairs:] = 30.0 * rng.standard_normal((strangers, 6))
    paths = [str(tmp_path / f"{name}.npy") for name in "xy"]
    for path, values in zip(paths, (x, y), strict=True):
        np.save(path, values)
    assert command_line.main(["match", "--verbose", *paths, "--out", str(tmp_path / "pairs.csv")]) == 0
    lines = table(capsys.readouterr().out)
    assert {"alignment", "covariance", "pairs"} <= set(lines)
    assert f"{pairs} pairs, " in lines["answer"]
    rows, cols, _ = read_pairs(tmp_path / "pairs.csv")
    assert rows == cols == list(range(pairs))
    chosen = match(x, y, alignment="auto", covariance="auto", pairs="auto")
    assert rows == np.flatnonzero(chosen.permutation >= 0).tolist()
    # The control: as in the paper, all points get a partner.
    assert (
        command_line.main(["match", "--verbose", *paths, "--paper", "--out", str(tmp_path / "pairs.csv")])
        == 0
    )
    assert len(read_pairs(tmp_path / "pairs.csv")[0]) == pairs + strangers
