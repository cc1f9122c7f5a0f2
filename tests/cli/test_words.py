"""What ``lslmatch match`` says: the answer first, doubt before proof, and the same for machines."""

import contextlib
import csv
import json
import sys

import numpy as np
import pytest

from lslmatch import diagnose, match
from lslmatch.cli import main as command_line
from lslmatch.cli.match_words import _about
from lslmatch.results import Labels
from lslmatch.summary import percent
from tests.support.command_line import assert_refused, table
from tests.support.reference import SMALL


def said(capsys, *arguments, details=True):
    more = ["--verbose"] if details else []
    assert command_line.main(["match", *map(str, arguments), *more]) == 0
    return {name: text.strip() for name, text in table(capsys.readouterr().out).items()}


@pytest.fixture
def unrelated(tmp_path):
    """Two sets that have nothing to do with each other."""
    rng = np.random.default_rng(2)
    paths = [str(tmp_path / f"{name}.npy") for name in "xy"]
    for path in paths:
        np.save(path, rng.normal(size=(12 if SMALL else 40, 2)))
    return paths


def test_the_answer_comes_first_and_is_that_of_the_diagnosis(points, saved, capsys):
    found = diagnose(*points, match(*points))
    lines = said(capsys, *saved, "--paper")
    assert list(lines)[:6] == ["answer", "paired", "look at", "rows", "units", "proof"]
    low, high = found.expected_right_interval
    interval = f"(95 % interval {percent(low)} to {percent(high)})"
    assert lines["answer"] == f"24 pairs, {_about(found.expected_right)} right {interval}"
    assert lines["look at"] == "no pair: all have a confidence of 90% or more"
    assert lines["scale"] == f"{match(*points).scale:.6g} (standard error {found.scale_error:.2g})"
    assert lines["shift"].endswith(", with standard errors")
    assert "ratio" not in lines["noise"]
    assert lines["noise"].endswith("may be equal for all points")


def test_ten_lines_say_it_without_a_word_of_statistics(saved, tmp_path, capsys):
    out = tmp_path / "pairs.csv"
    lines = said(capsys, *saved, "--paper", "--out", out, details=False)
    assert list(lines) == ["answer", "paired", "look at", "rows", "units", "proof", "time", "written"]
    assert lines["paired"] == "all 24 rows"
    assert lines["rows"] == "even the most similar rows can be told apart"
    assert lines["units"].startswith("x is about y times ")
    assert not {"likelihood", "entropy", "covariance", "kappa"} & set(" ".join(lines.values()).split())


@pytest.mark.parametrize(
    ("n", "m", "options", "paired"),
    [
        (10, 16, [], "all 10 rows of x; 6 rows of y have no partner"),
        (16, 10, [], "all 10 rows of y; 6 rows of x have no partner"),
        (12, 16, ["--pairs", "8"], "8 rows; 4 rows of x and 8 of y have no partner"),
    ],
)
def test_who_has_a_partner_is_said_in_numbers(n, m, options, paired, tmp_path, capsys):
    points = np.random.default_rng(3).normal(size=(16, 3))
    np.save(tmp_path / "x.npy", points[:n])
    np.save(tmp_path / "y.npy", points[:m] + 1e-3)
    arguments = (tmp_path / "x.npy", tmp_path / "y.npy", "--paper", *options)
    assert said(capsys, *arguments, details=False)["paired"] == paired


@pytest.mark.skipif(SMALL, reason="many matchings")
def test_without_pairs_it_is_said_what_to_try(unrelated, capsys):
    for details in (False, True):
        lines = said(capsys, *unrelated, details=details)
        assert lines["answer"] == "no pairs: no row seems to have a partner in the other file"
        assert lines["try"].startswith("--pairs all ")
        assert not {"units", "scale", "shift", "proof", "certificate", "objective"} & set(lines)


def test_a_matrix_has_no_scale_of_a_column(tmp_path, capsys):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(40, 2))
    np.save(tmp_path / "x.npy", points + 1e-3 * rng.normal(size=points.shape))
    np.save(tmp_path / "y.npy", points[rng.permutation(40)] @ np.array([[0.6, -0.8], [0.8, 0.6]]))
    lines = said(
        capsys, tmp_path / "x.npy", tmp_path / "y.npy", "--alignment", "similarity", "--pairs", "all"
    )
    assert lines["units"].startswith("x is about y turned, then times ")


def test_doubt_is_told_before_proof(unrelated, capsys):
    lines = said(capsys, *unrelated, "--paper")
    assert lines["answer"].startswith(f"doubtful: {12 if SMALL else 40} pairs, of which only about ")
    names = list(lines)
    assert names.index("answer") < names.index("proof")
    assert lines["proof"] == "cheapest matching, proven; this is not evidence that pairs are right"
    assert "rows of x, the most doubtful first: " in lines["look at"]
    x, y = map(np.load, unrelated)
    found = diagnose(x, y, match(x, y))
    first = lines["look at"].rpartition(": ")[2].split(", ")[0]
    assert int(first) == found.doubtful()[0]


def test_unequal_noise_has_a_bound(tmp_path, capsys):
    rng = np.random.default_rng(4)
    features = 100.0 * rng.normal(size=(20, 30))
    noise = np.geomspace(0.01, 1.0, 20)[:, None]
    for name in "xy":
        np.save(tmp_path / f"{name}.npy", features + noise * rng.normal(size=(20, 30)))
    lines = said(capsys, tmp_path / "x.npy", tmp_path / "y.npy", "--paper")
    # Quiet points contradict a scale that noisy ones blur.
    assert lines["answer"].startswith("doubtful, see the warning: 20 pairs, ")
    assert "the pairs contradict the " in lines["warning"]
    assert lines["warning"].endswith("try --alignment robust or auto")
    noise_line = lines["noise"]
    low = float(noise_line.partition("by a factor of ")[2].split()[0])
    assert 1.0 < low < 1e4  # the truth
    assert noise_line.endswith(" at least")  # the error of the scale hides how quiet the quietest are


def test_too_many_pairs_for_confidences_are_told(saved, capsys, monkeypatch):
    monkeypatch.setattr("lslmatch.diagnosis.judging.MOST_PAIRS", 100)
    lines = said(capsys, *saved)
    assert lines["answer"].startswith(
        "24 pairs; how many are right was not estimated: of more than 16 million"
    )
    assert lines["look at"] == "pairs with small margins: there are no confidences"


def test_greedy_pairs_have_no_share(saved, capsys):
    lines = said(capsys, *saved, "--objective", "greedy")
    assert lines["answer"] == "24 pairs; how many are right is not known of the greedy matching"
    assert lines["certificate"] == "none"


def test_nothing_is_checked_if_one_says_so(saved, tmp_path, capsys):
    out = tmp_path / "pairs.csv"
    lines = said(capsys, *saved, "--no-check", "--out", out)
    assert lines["answer"] == "24 pairs; how many are right was not estimated (--no-check)"
    assert lines["certificate"] == "not checked (--no-check)"
    assert [step.split()[0] for step in lines["seconds"].split(", ")][0] == "matching"
    assert "trust" not in lines["seconds"]
    assert out.read_text().splitlines()[0] == "x,y,distance"


def test_quiet_is_quiet(saved, tmp_path, capsys):
    assert command_line.main(["match", *saved, "--quiet", "--out", str(tmp_path / "pairs.csv")]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "pairs.csv").exists()


def test_a_number_of_pairs(saved, points, capsys):
    lines = said(capsys, *saved, "--paper", "--pairs", "10")
    assert "10 pairs, " in lines["answer"]
    assert float(lines["objective"].split()[0]) == pytest.approx(match(*points, pairs=10).objective)
    for pairs in ("1", "auto", "5%"):
        chosen = said(capsys, *saved, "--pairs", pairs, "--alignment", "robust")
        assert "pair" in chosen["answer"]
    assert "pairs" in chosen  # the decision


def test_a_share_with_a_proof(saved, capsys):
    lines = said(
        capsys, *saved, "--pairs", "30% proven", "--alignment", "robust", "--covariance", "isotropic"
    )
    assert "the limit for false ones is proven" in lines["answer"]
    assert lines["certificate"] == "none: blind pairs are no cheapest matching"
    assert "At most 0.3 of the pairs are false in expectation" in lines["pairs"]


@pytest.mark.parametrize(
    ("options", "because"),
    [
        (["--json", "--quiet"], "--json needs standard output for itself"),
        (["--quiet", "--verbose"], "--verbose contradicts --quiet"),
        (["--json", "--out", "-"], "--json needs standard output for itself"),
        (["--pairs", "some"], "pairs must be"),
        (["--pairs", "few%"], "--pairs must be all, auto, a number, or a share such as 5%; got 'few%'"),
        (["--pairs", "99"], "pairs must be at most 24"),
        (["--columns", "0,0"], "--columns must name each column once"),
        (["--columns", "0,"], "--columns must be names with commas between them"),
        (["--id", "a,b,c"], "--id must be one name, or one for X and one for Y"),
        (["--columns", "0,1", "--id", "1"], "--columns must not have the column of --id"),
    ],
)
def test_options_that_contradict_are_refused(options, because, saved, tmp_path, capsys):
    assert_refused(capsys, tmp_path, "match", *saved, *options, because=because)


def test_standard_input_is_one_file_only(tmp_path, capsys):
    assert_refused(capsys, tmp_path, "match", "-", "-", because="standard input can be one file only")


def test_machines_get_the_same(points, saved, capsys):
    assert command_line.main(["match", *saved, "--paper", "--json"]) == 0
    text = capsys.readouterr().out
    assert text.count("\n") == 1
    found, result = json.loads(text), match(*points)
    expected = diagnose(*points, result)
    assert found["pairs"]["y"] == result.permutation.tolist()
    assert found["pairs"]["confidence"] == expected.confidence.tolist()
    assert found["scale"] == {"value": result.scale, "standard_error": expected.scale_error}
    assert found["shift"]["standard_error"] == expected.shift_error.tolist()
    assert found["trust"]["expected_right"] == expected.expected_right
    assert found["trust"]["doubtful"] is False
    assert found["trust"]["look_at"] == []
    assert found["trust"]["threshold"] is None  # Theorem 2 does not apply: not infinite, which JSON lacks
    assert found["certificate"]["gap"] >= 0
    assert set(found["seconds"]) - {"compiling"} == {"matching", "certificate", "trust"}


def test_machines_are_told_that_nothing_was_checked(saved, capsys):
    assert command_line.main(["match", *saved, "--json", "--no-check"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["trust"] is None
    assert found["certificate"] == {"violation": None, "gap": None}


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.5, "50 %"),
        (1.0, "100 %"),
        (0.9999, "over 99.9 %"),
        (0.996, "99.6 %"),
        (0.0, "0 %"),
        (1e-5, "under 0.1 %"),
    ],
)
def test_nothing_is_certain_by_rounding(share, text):
    assert percent(share) == text


def test_exact_copies_have_a_certificate_without_a_sign(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.arange(12.0).reshape(6, 2) ** 2)
    lines = said(capsys, tmp_path / "x.npy", tmp_path / "x.npy")
    assert "-0" not in lines["certificate"].replace("e-0", "")


# Names out of a file, which may hold what a terminal obeys.

CLEAR, NEXT_LINE, REVERSED = "\x1b[2J", "\nanswer  all right", "\u202e"


@pytest.fixture
def hostile(points, tmp_path):
    """Two files whose columns and rows have names that clear the screen, begin a line and turn it around."""
    names = [f"a{CLEAR}", f"b{NEXT_LINE}", f"c{REVERSED}\x9b"]
    for name, values in zip("xy", points, strict=True):
        rows = [["id", *names], *([f"r{CLEAR}{k}", *row] for k, row in enumerate(values.tolist()))]
        with open(tmp_path / f"{name}.csv", "w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows(rows)
    return [str(tmp_path / f"{name}.csv") for name in "xy"]


def is_harmless(text):
    return not any(ch in text for ch in ("\x1b", "\x9b", REVERSED))


def test_names_reach_the_terminal_as_text_only(hostile, capsys):
    assert command_line.main(["match", *hostile, "--id", "id", "--verbose"]) == 0
    out = capsys.readouterr().out
    assert is_harmless(out)
    assert r"a\x1b[2J" in out
    assert sum(line.startswith("answer ") for line in out.splitlines()) == 1


def test_complaints_hold_no_escape_bytes(hostile, tmp_path, capsys):
    path = tmp_path / f"x{CLEAR}.csv"
    path.write_text("1,2\n3,x\n")
    for arguments in (
        [str(path), hostile[1]],
        [*hostile, "--columns", f"z{CLEAR}"],
        [*hostile, f"--{CLEAR}"],
    ):
        with contextlib.suppress(SystemExit):
            assert command_line.main(["match", *arguments]) == 2
        out, err = capsys.readouterr()
        assert is_harmless(out + err)
        assert err.count("\n") == 1
        assert "x1b[2J" in err


def test_a_terminal_gets_labels_escaped_and_a_pipe_as_they_are(hostile, capsys, monkeypatch):
    written = {}
    for is_terminal in (False, True):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)  # noqa: B023
        assert command_line.main(["match", *hostile, "--id", "id", "--out", "-", "--quiet"]) == 0
        written[is_terminal] = capsys.readouterr().out
    assert is_harmless(written[True])
    assert CLEAR in written[False]
    assert written[False].replace(CLEAR, r"\x1b[2J") == written[True]


def test_summaries_hold_no_escape_bytes(points):
    x, y = points
    labels = Labels(np.array([f"r{CLEAR}{k}" for k in range(len(x))]), None)
    result = match(x, y)._replace(labels=labels, decisions=(f"columns: a{REVERSED}",))
    assert is_harmless(str(result.summary(diagnose(x, y, result))))
