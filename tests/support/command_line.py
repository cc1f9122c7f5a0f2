"""The command line: its input files, a run of it, and what it prints and writes."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lslmatch.cli import main as command_line

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def points():
    rng = np.random.default_rng(7)
    features = rng.normal(scale=10.0, size=(24, 3))
    y = features[rng.permutation(24)] + 0.01 * rng.normal(size=(24, 3))
    return 3.0 * features + [1.0, -2.0, 5.0], y


@pytest.fixture
def saved(points, tmp_path):
    """The paths of x.npy and y.npy, as strings."""
    paths = []
    for name, values in zip("xy", points, strict=True):
        np.save(tmp_path / f"{name}.npy", values)
        paths.append(str(tmp_path / f"{name}.npy"))
    return paths


def run(*arguments, **options):
    """Run the program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "lslmatch", *map(str, arguments)],
        cwd=CHECKOUT,
        text=True,
        capture_output=True,
        timeout=300,
        **options,
    )


def table(text):
    """The rows that the program printed, by name."""
    return dict(line.split("  ", 1) for line in text.splitlines())


def complaints(err):
    """What stands on standard error, but for the line that says that kernels are compiled."""
    return "".join(line for line in err.splitlines(keepends=True) if "lslmatch: compiling, " not in line)


def read_pairs(path):
    with open(path, newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header[:2] == ["x", "y"]
    distance = header.index("distance")
    return (
        [int(row[0]) for row in rows],
        [int(row[1]) for row in rows],
        [float(row[distance]) for row in rows],
    )


def assert_refused(capsys, directory, *arguments, because):
    """One line on standard error, exit code 2, no file left behind."""
    before = sorted(directory.iterdir())
    try:
        code = command_line.main(list(map(str, arguments)))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    err = complaints(err)
    assert code == 2
    assert out == ""
    assert err.startswith("lslmatch: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert because in err
    assert sorted(directory.iterdir()) == before
