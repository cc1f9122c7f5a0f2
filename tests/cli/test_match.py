"""The command ``match``: what it prints and writes is what the library returns."""

import csv

import numpy as np
import pytest

from lslmatch import check_certificate, diagnose, match
from lslmatch.cli import main as command_line
from tests.support.command_line import complaints, read_pairs, table

# Matching.


@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns", "greedy"])
@pytest.mark.parametrize("alignment", ["standardize", "identity", "profile", "auto"])
def test_output_is_what_match_returns(objective, alignment, points, saved, tmp_path, capsys):
    x, y = points
    noise = (np.linspace(1, 2, 24), np.linspace(2, 3, 24)) if objective == "lsns" else None
    options = ["--paper", "--objective", objective, "--alignment", alignment]
    if noise is not None:
        np.save(tmp_path / "noise.npy", noise[0])
        np.savetxt(tmp_path / "noise.csv", noise[1], header="sigma", comments="")
        options += ["--noise-x", str(tmp_path / "noise.npy"), "--noise-y", str(tmp_path / "noise.csv")]
    assert (
        command_line.main(["match", "--verbose", *saved, "--out", str(tmp_path / "pairs.csv"), *options]) == 0
    )

    result = match(x, y, objective=objective, alignment=alignment, noise=noise)
    rows, cols, distances = read_pairs(tmp_path / "pairs.csv")
    assert rows == list(range(24))
    assert cols == result.permutation.tolist()
    aligned = result.scale * y[result.permutation] + result.shift
    np.testing.assert_allclose(distances, np.linalg.norm(x - aligned, axis=1), rtol=1e-9)

    printed = table(capsys.readouterr().out)
    assert printed["objective"].strip() == f"{result.objective:.10g} ({objective})"
    if objective == "greedy":
        assert printed["certificate"].strip() == "none"
    else:
        violation = check_certificate(x, y, result)
        proven = f"cheapest to within {48 * violation:.1e} (largest violation {violation:.1e})"
        assert printed["certificate"].strip().startswith(proven)


@pytest.mark.parametrize(("n", "m"), [(10, 24), (24, 10)])
def test_points_without_a_partner_are_left_out(n, m, points, tmp_path, capsys):
    x, y = points[0][:n], points[1][:m]
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    out = tmp_path / "pairs.csv"
    assert (
        command_line.main(
            ["match", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), "--paper", "--out", str(out)]
        )
        == 0
    )
    permutation = match(x, y).permutation
    rows, cols, _ = read_pairs(out)
    assert rows == np.flatnonzero(permutation >= 0).tolist()
    assert cols == permutation[permutation >= 0].tolist()
    assert len(set(cols)) == 10
    printed = table(capsys.readouterr().out)
    assert "10 pairs, " in printed["answer"]
    assert printed["written"].strip() == str(out)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ([], ["noise", "margin", "confidence"]),
        (["--margins", "exact"], ["noise", "margin", "confidence"]),
        (["--objective", "greedy"], ["noise"]),
    ],
)
def test_diagnosis_is_printed_and_written(options, names, points, saved, tmp_path, capsys):
    out = tmp_path / "pairs.csv"
    assert command_line.main(["match", "--verbose", *saved, "--paper", "--out", str(out), *options]) == 0
    with open(out, newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["x", "y", "distance", *names]
    objective = "greedy" if "greedy" in options else "lsl"
    result = match(*points, objective=objective)
    expected = diagnose(*points, result, margins="exact" if "exact" in options else "bound")
    for name, *written in zip(header, *rows, strict=True):
        if name in names:
            assert [float(value) for value in written] == getattr(expected, name).tolist()
    printed = table(capsys.readouterr().out)
    assert expected.verdict.endswith(printed["rows"].strip())
    assert ("margin" in printed) == ("margin" in names)
    assert float(printed["separation"].split()[0]) == pytest.approx(expected.separation, rel=1e-3)


def test_without_an_output_only_the_summary_is_printed(saved, tmp_path, capsys):
    before = sorted(tmp_path.iterdir())
    assert command_line.main(["match", "--verbose", *saved]) == 0
    assert "24 pairs, " in table(capsys.readouterr().out)["answer"]
    assert sorted(tmp_path.iterdir()) == before


def test_a_long_shift_is_abridged(tmp_path, capsys):
    x = np.random.default_rng(1).normal(size=(12, 40))
    np.save(tmp_path / "x.npy", x)
    assert (
        command_line.main(["match", str(tmp_path / "x.npy"), str(tmp_path / "x.npy"), "--paper", "--verbose"])
        == 0
    )
    out = capsys.readouterr().out
    assert len(table(out)["shift"].split()) == 6
    assert max(map(len, out.replace(str(tmp_path), "").splitlines())) < 100


def test_distances_of_points_that_the_alignment_takes_out_of_range(tmp_path, capsys):
    x, y = np.zeros((8, 1)), np.zeros((8, 1))
    x[:2, 0], y[0] = (1.7e308, -1.7e308), 3.0
    for name, values in (("x", x), ("y", y)):
        np.save(tmp_path / f"{name}.npy", values)
    paths = [str(tmp_path / name) for name in ("x.npy", "y.npy")]
    assert (
        command_line.main(["match", "--verbose", *paths, "--paper", "--out", str(tmp_path / "pairs.csv")])
        == 0
    )
    assert complaints(capsys.readouterr().err) == ""
    result, half = match(x, y), 2.0**-1
    aligned = half * result.scale * y[result.permutation] + half * result.shift
    expected = np.abs(half * x - aligned)[:, 0]
    np.testing.assert_allclose(half * np.array(read_pairs(tmp_path / "pairs.csv")[2]), expected, rtol=1e-12)


def test_distances_neither_overflow_nor_underflow(points, tmp_path):
    x, y = points
    for factor in (1e200, 1e-200):
        np.save(tmp_path / "x.npy", factor * x)
        np.save(tmp_path / "y.npy", factor * y)
        paths = [str(tmp_path / name) for name in ("x.npy", "y.npy")]
        assert (
            command_line.main(["match", "--verbose", *paths, "--paper", "--out", str(tmp_path / "pairs.csv")])
            == 0
        )
        distances = np.array(read_pairs(tmp_path / "pairs.csv")[2])
        result = match(x, y)
        expected = np.linalg.norm(x - (result.scale * y[result.permutation] + result.shift), axis=1)
        np.testing.assert_allclose(distances / factor, expected, rtol=1e-6)


def test_an_unprintable_path_is_escaped(points, tmp_path, capsys, monkeypatch):
    paths = []
    for name, values in zip(("x\udcff.npy", "y.npy"), points, strict=True):
        paths.append(str(tmp_path / name))
        try:
            np.save(paths[-1], values)
        except (OSError, UnicodeError):
            pytest.skip("this file system takes no such name")
    assert command_line.main(["match", "--verbose", *paths]) == 0
    assert "x\\udcff.npy" in capsys.readouterr().out


# Files that are read.


def test_summary_tells_of_the_columns(points, tmp_path, capsys):
    for name, values in zip("xy", points, strict=True):
        np.savetxt(tmp_path / f"{name}.csv", values, delimiter=",", header="a,b,c", comments="")
    assert command_line.main(["match", str(tmp_path / "x.csv"), str(tmp_path / "y.csv"), "--verbose"]) == 0
    assert table(capsys.readouterr().out)["x"].strip() == (
        f"24 points from {tmp_path / 'x.csv'}, 3 columns: a, b, c"
    )
