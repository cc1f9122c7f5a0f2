"""The option ``--covariance``: names, files, what is printed, and what is refused."""

import math

import numpy as np
import pytest

from lslmatch import check_certificate, match
from lslmatch.cli import main as command_line
from lslmatch.cli.covariance import describe_covariance
from lslmatch.results import Covariance
from tests.support.command_line import assert_refused, read_pairs, table
from tests.support.planted import draw, strong_direction
from tests.support.reference import SMALL

COVARIANCE = strong_direction(4)
N = 14 if SMALL else 30


@pytest.fixture
def correlated(tmp_path):
    """Two sets whose noise is correlated, and the paths of their files."""
    x, y, _ = draw(COVARIANCE, N, 1.0, np.random.default_rng(3))
    paths = []
    for name, values in (("x", x), ("y", y)):
        np.save(tmp_path / f"{name}.npy", values)
        paths.append(str(tmp_path / f"{name}.npy"))
    return x, y, paths


def printed(capsys):
    return {name: value.strip() for name, value in table(capsys.readouterr().out).items()}


@pytest.mark.parametrize("name", ["estimate", "auto"])
def test_a_learned_covariance_is_that_of_match(name, correlated, tmp_path, capsys):
    x, y, paths = correlated
    out = tmp_path / "pairs.csv"
    assert (
        command_line.main(["match", "--verbose", *paths, "--paper", "--covariance", name, "--out", str(out)])
        == 0
    )
    result = match(x, y, covariance=name)
    assert read_pairs(out)[1] == result.permutation.tolist()
    rows, found = printed(capsys), result.covariance
    assert found.rounds > 0
    violation = check_certificate(x, y, result)
    proven = f"to within {2 * N * violation:.1e} (largest violation {violation:.1e})"
    if found.reason:
        assert rows["covariance"].endswith(found.reason)
        assert rows["certificate"].startswith(f"cheapest {proven}")
    else:
        assert f"learned in {found.rounds} rounds, not proven best" in rows["covariance"]
        assert f"cross-entropy {found.cross_entropy:.3g} (isotropic" in rows["covariance"]
        assert f"guessing {2.0 * math.log(N):.3g}, certain 0)" in rows["covariance"]
        assert rows["certificate"].startswith(f"cheapest under this covariance {proven}")


@pytest.mark.parametrize(
    ("values", "suffix"),
    [
        (COVARIANCE, "npy"),
        (COVARIANCE, "csv"),
        (np.diag(COVARIANCE) * [1, 2, 3, 4], "npy"),
        (np.diag(COVARIANCE) * [1, 2, 3, 4], "csv"),
        (np.diag(COVARIANCE)[None] * [1, 2, 3, 4], "csv"),
    ],
    ids=["matrix", "matrix in text", "variances", "a column", "a row"],
)
def test_a_known_covariance_is_read_from_a_file(values, suffix, correlated, tmp_path, capsys):
    x, y, paths = correlated
    file, out = tmp_path / f"noise.{suffix}", tmp_path / "pairs.csv"
    if suffix == "npy":
        np.save(file, values)
    else:
        np.savetxt(file, values, delimiter=",")
    assert (
        command_line.main(
            ["match", "--verbose", *paths, "--paper", "--covariance", str(file), "--out", str(out)]
        )
        == 0
    )
    result = match(x, y, covariance=values[0] if values.shape == (1, 4) else values)
    assert read_pairs(out)[1] == result.permutation.tolist()
    rows = printed(capsys)
    assert rows["covariance"] == f"given, from {file}"
    assert rows["certificate"].startswith("cheapest to within ")


def test_as_in_the_paper_noise_is_isotropic_and_nothing_is_said(saved, capsys):
    assert command_line.main(["match", "--verbose", *saved, "--paper"]) == 0
    without = printed(capsys)
    assert command_line.main(["match", "--verbose", *saved, "--paper", "--covariance", "isotropic"]) == 0
    named = printed(capsys)
    for name in ("seconds", "time"):
        del without[name], named[name]
    assert "covariance" not in without
    assert named == without


def test_with_another_objective_it_is_learned_by_lsl(correlated, capsys):
    x, y, paths = correlated
    assert (
        command_line.main(["match", "--verbose", *paths, "--covariance", "estimate", "--objective", "lss"])
        == 0
    )
    found, rows = match(x, y, covariance="estimate", objective="lss").covariance, printed(capsys)
    assert rows["covariance"].startswith(f"learned by lsl in {found.rounds} rounds, not proven best; ")
    assert rows["covariance"].endswith("certain 0)")
    assert rows["certificate"].startswith("cheapest under this covariance ")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            Covariance(np.empty((0, 2)), 1.0, reason="a covariance needs at least 4 pairs"),
            "isotropic, a covariance needs at least 4 pairs",
        ),
        (
            Covariance(np.empty((0, 2)), 1.0, reason="isotropic noise predicts the pairs as well", rounds=1),
            "isotropic, estimate of 1 round not kept: isotropic noise predicts the pairs as well",
        ),
        (
            Covariance(np.eye(2), 0.1, np.arange(9), np.ones(9), False, 0.5, 2.0, 3, 2),
            "learned in 3 rounds, not proven best; cross-entropy 0.5 (isotropic 2, guessing 4.39, certain 0)"
            "; no pair was left out, which might change 2 partners",
        ),
    ],
    ids=["not learned", "not kept", "nothing left out"],
)
def test_what_is_said(found, said):
    assert describe_covariance("auto", found, 81) == said


@pytest.mark.parametrize(
    ("option", "because"),
    [
        (
            "estimat",
            "--covariance must be isotropic, diagonal, estimate, auto or a file (.csv, .tsv, .txt, .npy",
        ),
        ("noise.doc", "--covariance must be isotropic, diagonal, estimate, auto or a file (.csv, .tsv"),
        ("missing.npy", "missing.npy: no such file or directory"),
    ],
)
def test_what_is_neither_a_name_nor_a_file_is_refused(option, because, saved, tmp_path, capsys):
    assert_refused(capsys, tmp_path, "match", *saved, "--covariance", option, because=because)


@pytest.mark.parametrize(
    ("values", "because"),
    [
        (np.eye(2), "covariance must have shape (3,) or (3, 3); got shape (2, 2)"),
        (np.zeros(3), "covariance must have positive variances"),
        (np.diag([1.0, 1.0, -1.0]), "covariance must be positive definite"),
        (np.full((3, 3), np.nan), "covariance"),
    ],
)
def test_a_bad_covariance_is_refused(values, because, saved, tmp_path, capsys):
    np.save(tmp_path / "noise.npy", values)
    assert_refused(capsys, tmp_path, "match", *saved, "--covariance", tmp_path / "noise.npy", because=because)


def test_the_output_never_overwrites_the_covariance(saved, tmp_path, capsys):
    np.savetxt(tmp_path / "noise.csv", np.eye(3), delimiter=",")
    options = ["--covariance", tmp_path / "noise.csv", "--out", tmp_path / "noise.csv"]
    assert_refused(capsys, tmp_path, "match", *saved, *options, because="would overwrite an input")
