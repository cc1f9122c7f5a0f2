import contextlib
import csv
import os
import pickle
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import lslmatch
from lslmatch import __main__ as command_line
from lslmatch.io import tables as files
from lslmatch import check_certificate, diagnose, match
from lslmatch.cli import demo_command, match_command, parser
from lslmatch.cli.progress import Progress

CHECKOUT = Path(__file__).parents[1]


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


def read_pairs(path):
    with open(path, newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["x", "y", "distance"]
    return [int(row[0]) for row in rows], [int(row[1]) for row in rows], [float(row[2]) for row in rows]


def assert_refused(capsys, directory, *arguments, because):
    """One line on standard error, exit code 2, no file left behind."""
    before = sorted(directory.iterdir())
    try:
        code = command_line.main(list(map(str, arguments)))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert code == 2
    assert out == ""
    assert err.startswith("lslmatch: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert because in err
    assert sorted(directory.iterdir()) == before


# The program as a user runs it.


def test_program_matches_two_files(points, saved, tmp_path):
    out = tmp_path / "pairs.csv"
    done = run("match", *saved, "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    expected = match(*points)
    rows = {name: value.strip() for name, value in table(done.stdout).items()}
    assert list(rows) == ["x", "y", "pairs", "scale", "shift", "objective", "certificate", "seconds"]
    assert rows["pairs"] == f"24, written to {out}"
    assert rows["certificate"].startswith("optimal, proven")
    assert float(rows["scale"]) == pytest.approx(expected.scale, rel=1e-5)
    assert float(rows["objective"].split()[0]) == pytest.approx(expected.objective, rel=1e-9)
    assert float(rows["seconds"]) >= 0
    assert read_pairs(out)[1] == expected.permutation.tolist()


def test_program_demonstrates_itself():
    done = run("demo", "--n", 60, "--d", 5)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(table(done.stdout)) == ["n", "d", "scale", "plain LSL", "affine LSL", "seconds"]


def test_program_complains_in_one_line(tmp_path):
    done = run("match", tmp_path / "x.npy", tmp_path / "y.npy")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"lslmatch: {tmp_path / 'x.npy'}: no such file or directory\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_program_stops_at_an_interrupt(tmp_path):
    pipe = tmp_path / "x.csv"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "lslmatch", "match", str(pipe), str(tmp_path / "y.csv")]
    with subprocess.Popen(command, cwd=CHECKOUT, stderr=subprocess.PIPE, text=True) as process:
        # The pipe can be opened once the program has opened it too: it is surely at work then.
        writing = None
        while writing is None and process.poll() is None:
            with contextlib.suppress(OSError):
                writing = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, "lslmatch: interrupted\n")
    os.close(writing)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_output_without_room_is_told_in_one_line(saved):
    command = [sys.executable, "-m", "lslmatch", "match", *saved]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=CHECKOUT, stdout=full, stderr=subprocess.PIPE, timeout=300)
    assert (done.returncode, done.stderr) == (2, b"lslmatch: standard output: no space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX pipes")
def test_program_is_silent_when_its_reader_leaves(saved):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "lslmatch", "match", *saved]
    with os.fdopen(writing, "w") as stdout:
        done = subprocess.run(command, cwd=CHECKOUT, stdout=stdout, stderr=subprocess.PIPE, timeout=300)
    assert (done.returncode, done.stderr) == (1, b"")


# Matching.


@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns", "greedy"])
@pytest.mark.parametrize("alignment", ["standardize", "identity", "profile", "auto"])
def test_output_is_what_match_returns(objective, alignment, points, saved, tmp_path, capsys):
    x, y = points
    noise = (np.linspace(1, 2, 24), np.linspace(2, 3, 24)) if objective == "lsns" else None
    options = ["--objective", objective, "--alignment", alignment]
    if noise is not None:
        np.save(tmp_path / "noise.npy", noise[0])
        np.savetxt(tmp_path / "noise.csv", noise[1], header="sigma", comments="")
        options += ["--noise-x", str(tmp_path / "noise.npy"), "--noise-y", str(tmp_path / "noise.csv")]
    assert command_line.main(["match", *saved, "--out", str(tmp_path / "pairs.csv"), *options]) == 0

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
        assert printed["certificate"].strip() == (
            f"optimal, proven to within {48 * violation:.1e} (largest violation {violation:.1e})"
        )


@pytest.mark.parametrize(("n", "m"), [(10, 24), (24, 10)])
def test_points_without_a_partner_are_left_out(n, m, points, tmp_path, capsys):
    x, y = points[0][:n], points[1][:m]
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    out = tmp_path / "pairs.csv"
    assert (
        command_line.main(["match", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), "--out", str(out)]) == 0
    )
    permutation = match(x, y).permutation
    rows, cols, _ = read_pairs(out)
    assert rows == np.flatnonzero(permutation >= 0).tolist()
    assert cols == permutation[permutation >= 0].tolist()
    assert len(set(cols)) == 10
    assert table(capsys.readouterr().out)["pairs"].strip() == f"10, written to {out}"


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
    assert command_line.main(["match", *saved, "--out", str(out), "--diagnose", *options]) == 0
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
    assert printed["verdict"].strip() == expected.verdict
    assert [name for name in ("noise", "margin", "confidence") if name in printed] == names
    assert float(printed["separation"].split()[0]) == pytest.approx(expected.separation, rel=1e-3)


def test_without_an_output_only_the_summary_is_printed(saved, tmp_path, capsys):
    before = sorted(tmp_path.iterdir())
    assert command_line.main(["match", *saved]) == 0
    assert table(capsys.readouterr().out)["pairs"].strip() == "24"
    assert sorted(tmp_path.iterdir()) == before


def test_a_long_shift_is_abridged(tmp_path, capsys):
    x = np.random.default_rng(1).normal(size=(12, 40))
    np.save(tmp_path / "x.npy", x)
    assert command_line.main(["match", str(tmp_path / "x.npy"), str(tmp_path / "x.npy")]) == 0
    out = capsys.readouterr().out
    assert len(table(out)["shift"].split()) == 6
    assert max(map(len, out.replace(str(tmp_path), "").splitlines())) < 100


def test_distances_of_points_that_the_alignment_takes_out_of_range(tmp_path, capsys):
    x, y = np.zeros((8, 1)), np.zeros((8, 1))
    x[:2, 0], y[0] = (1.7e308, -1.7e308), 3.0
    for name, values in (("x", x), ("y", y)):
        np.save(tmp_path / f"{name}.npy", values)
    paths = [str(tmp_path / name) for name in ("x.npy", "y.npy")]
    assert command_line.main(["match", *paths, "--out", str(tmp_path / "pairs.csv")]) == 0
    assert capsys.readouterr().err == ""
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
        assert command_line.main(["match", *paths, "--out", str(tmp_path / "pairs.csv")]) == 0
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
    assert command_line.main(["match", *paths]) == 0
    assert "x\\udcff.npy" in capsys.readouterr().out


# Files that are read.


@pytest.mark.parametrize(
    ("before", "separator", "newline"),
    [
        ("", ",", "\n"),
        ("a,b,c\n", ",", "\n"),
        ("1,2,c\n", ",", "\n"),
        ("1_1,1_2,1_3\n", ",", "\n"),
        ('"a, b",,\n', ",", "\n"),
        ("\ufeff", ",", "\r\n"),
        ("\n\n", " , ", "\n \n"),
    ],
    ids=["bare", "header", "numbers in the header", "digits as names", "quotes", "Windows", "blanks"],
)
def test_csv_reads_as_npy(before, separator, newline, points, tmp_path):
    x = points[0]
    lines = [separator.join(map(repr, row)) for row in x.tolist()]
    path = tmp_path / "x.CSV"
    path.write_text(before + newline.join(lines) + newline, encoding="utf-8", newline="")
    values, has_header = files.read_table(path)
    np.testing.assert_array_equal(values, x)
    assert values.dtype == np.float64
    assert has_header == bool(before.strip("\n\ufeff"))


def test_summary_tells_of_the_header(points, tmp_path, capsys):
    for name, values in zip("xy", points, strict=True):
        np.savetxt(tmp_path / f"{name}.csv", values, delimiter=",", header="a,b,c", comments="")
    assert command_line.main(["match", str(tmp_path / "x.csv"), str(tmp_path / "y.csv")]) == 0
    assert table(capsys.readouterr().out)["x"].strip() == (
        f"24 points, d = 3, from {tmp_path / 'x.csv'}, after a header"
    )


@pytest.mark.parametrize(
    ("name", "content", "because"),
    [
        ("x.txt", b"1,2\n", "the suffix must be .npy or .csv"),
        ("x", b"", "the suffix must be .npy or .csv"),
        ("x.npy", b"", "not a readable .npy array"),
        ("x.npy", b"1,2,3\n4,5,6\n", "not a readable .npy array"),
        ("x.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8' ", "not a readable .npy array"),
        ("x.npy", pickle.dumps([1, 2]), "not a readable .npy array"),
        ("x.csv", b"", "holds no numbers"),
        ("x.csv", b"a,b,c\n", "holds no numbers"),
        ("x.csv", b"1,2,3\n4,5\n", "line 2 has 2 values, not 3"),
        ("x.csv", b"a,b\n\n1,2,3\n", "line 3 has 3 values, not 2"),
        ("x.csv", b"1,2,3\n4,five,6\n", "line 2: 'five' is not a number"),
        ("x.csv", b"1,2,3\n4,,6\n", "line 2: '' is not a number"),
        ("x.csv", b"1,,3\n4,5,6\n", "line 1: '' is not a number"),
        ("x.csv", b"1,2\n3," + b"x" * 90, "line 2: '" + "x" * 40 + "'... is not a number"),
        ("x.csv", b"1,2\n3,\xff\xfe\n", "not a text file in UTF-8"),
        ("x.csv", b"1,2\n3," + b"4" * 200_000, "line 2: field larger than field limit"),
        ("x.csv", b"1,2,3\n4,nan,6\n", "x must be finite"),
        ("x.csv", b"1,2,3\n4,inf,6\n", "x must be finite"),
        ("x.csv", b"1,2,3\n", "x must have at least 2 points"),
        ("x.csv", b"1,2\n3,4\n", "the same number of columns"),
    ],
)
def test_bad_input_is_refused(name, content, because, saved, tmp_path, capsys):
    (tmp_path / name).write_bytes(content)
    out = tmp_path / "pairs.csv"
    assert_refused(capsys, tmp_path, "match", tmp_path / name, saved[1], "--out", out, because=because)


@pytest.mark.parametrize(
    ("values", "because"),
    [
        (np.zeros(3), "x must be 2-dimensional"),
        (np.float64(1), "x must be 2-dimensional"),
        (np.zeros((0, 3)), "x must have at least 2 points"),
        (np.zeros((5, 3), dtype=complex), "x must be real numbers"),
        (np.array([["a", "b"]]), "x must be real numbers"),
        (np.full((5, 3), np.nan), "x must be finite"),
        (np.zeros((5, 4)), "the same number of columns"),
    ],
)
def test_unusable_array_is_refused(values, because, saved, tmp_path, capsys):
    np.save(tmp_path / "bad.npy", values)
    assert_refused(capsys, tmp_path, "match", tmp_path / "bad.npy", saved[1], because=because)


class Trap:
    """Leaves a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_pickles_are_never_loaded(saved, tmp_path, capsys):
    objects = np.empty((2, 2), dtype=object)
    objects[:] = Trap(tmp_path / "sprung")
    np.save(tmp_path / "array.npy", objects, allow_pickle=True)
    (tmp_path / "bare.npy").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    for name in ("array.npy", "bare.npy"):
        assert_refused(
            capsys, tmp_path, "match", tmp_path / name, saved[1], because="not a readable .npy array"
        )


@pytest.mark.parametrize("name", ["missing.npy", "missing.csv"])
def test_missing_input_is_refused(name, saved, tmp_path, capsys):
    assert_refused(capsys, tmp_path, "match", saved[0], tmp_path / name, because="no such file or directory")


@pytest.mark.parametrize("name", ["folder.npy", "folder.csv"])
def test_directory_as_input_is_refused(name, saved, tmp_path, capsys):
    (tmp_path / name).mkdir()
    assert_refused(capsys, tmp_path, "match", tmp_path / name, saved[1], because="is a directory")


def test_truncated_array_is_refused(saved, tmp_path, capsys):
    whole, cut = Path(saved[0]).read_bytes(), tmp_path / "cut.npy"
    for length in range(0, len(whole), 7):
        cut.write_bytes(whole[:length])
        assert_refused(capsys, tmp_path, "match", cut, saved[1], because="not a readable .npy")


def test_array_beyond_memory_is_refused(saved, tmp_path, capsys):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000), }".ljust(117) + b"\n"
    (tmp_path / "vast.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    assert_refused(capsys, tmp_path, "match", tmp_path / "vast.npy", saved[1], because="vast.npy: ")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_damaged_array_never_gives_a_traceback(data, saved, tmp_path):
    damaged = bytearray(Path(saved[0]).read_bytes())
    # Most of the damage goes to the header, which is where the reader can be led astray.
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, 130))] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged.npy"
    path.write_bytes(damaged)
    # Whatever was left readable is fine; any other exception than this one is not.
    with contextlib.suppress(files.FileError):
        files.read_table(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.one_of(st.binary(max_size=60), st.text('0123.,"\n\r ea\x00', max_size=40).map(str.encode)))
def test_any_bytes_as_csv_give_numbers_or_an_error(content, tmp_path):
    path = tmp_path / "any.csv"
    path.write_bytes(content)
    with contextlib.suppress(files.FileError):
        values = files.read_table(path).values
        assert values.ndim == 2
        assert values.size > 0


# The file that is written.


def test_unusable_output_is_refused(saved, tmp_path, capsys):
    (tmp_path / "folder.csv").mkdir()
    refused = [
        (tmp_path / "folder.csv", "is a directory"),
        (tmp_path / "nowhere" / "pairs.csv", "does not exist"),
        (tmp_path / "x.npy" / "pairs.csv", "does not exist"),
        (tmp_path / "pairs.txt", "the suffix of the output must be .csv"),
        (tmp_path / "pairs", "the suffix of the output must be .csv"),
        (tmp_path / ("long" * 100 + ".csv"), "file name too long"),
    ]
    for out, because in refused:
        assert_refused(capsys, tmp_path, "match", *saved, "--out", out, because=because)


def test_output_never_overwrites_an_input(points, tmp_path, capsys):
    path = tmp_path / "x.csv"
    np.savetxt(path, points[0], delimiter=",")
    before = path.read_bytes()
    roundabout = tmp_path / ".." / tmp_path.name / "x.csv"
    for out in (path, roundabout):
        assert_refused(
            capsys, tmp_path, "match", path, path, "--out", out, because="would overwrite an input"
        )
    assert path.read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
@pytest.mark.parametrize("name", ["x.csv", "x.npy"])
def test_device_is_not_read(name, saved, tmp_path, capsys):
    (tmp_path / "link").mkdir()
    link = tmp_path / "link" / name
    link.symlink_to("/dev/zero")
    assert_refused(capsys, tmp_path, "match", link, saved[1], because="is a device")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_output_must_be_a_regular_file(saved, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.csv")
    assert_refused(
        capsys, tmp_path, "match", *saved, "--out", tmp_path / "pipe.csv", because="is not a regular file"
    )


def test_directory_without_permission_is_refused(saved, tmp_path, capsys, monkeypatch):
    # Asked of the system, the answer would depend on who runs the tests.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    out = tmp_path / "pairs.csv"
    assert_refused(capsys, tmp_path, "match", *saved, "--out", out, because="cannot be written to")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failed_write_leaves_the_old_file(step, saved, tmp_path, capsys, monkeypatch):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    out = tmp_path / "pairs.csv"
    out.write_text("old")
    monkeypatch.setattr(os, step, fail)
    assert_refused(capsys, tmp_path, "match", *saved, "--out", out, because="no space left on device")
    assert out.read_text() == "old"


def test_write_goes_through_a_link_and_keeps_the_usual_permissions(saved, tmp_path):
    (tmp_path / "usual").touch()
    (tmp_path / "link.csv").symlink_to(tmp_path / "target.csv")
    assert command_line.main(["match", *saved, "--out", str(tmp_path / "link.csv")]) == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "target.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


# Options.


@pytest.mark.parametrize(
    ("options", "because"),
    [
        (["--objective", "lsns"], "noise"),
        (["--objective", "best"], "objective must be one of"),
        (["--alignment", "best"], "alignment must be"),
        (["--workers", "0"], "workers must be at least 1"),
        (["--workers", "two"], "--workers"),
        (["--noise-x", "missing.npy"], "--noise-x and --noise-y must be given together"),
        (["--noise-y", "missing.npy"], "--noise-x and --noise-y must be given together"),
        (["--noise-x", "missing.npy", "--noise-y", "missing.npy"], "no such file or directory"),
        (["--margins", "exact"], "--margins needs --diagnose"),
        (["--diagnose", "--margins", "best"], "margins must be one of"),
        (["--fast"], "unrecognized arguments: --fast"),
    ],
)
def test_bad_option_is_refused(options, because, saved, tmp_path, capsys):
    assert_refused(capsys, tmp_path, "match", *saved, *options, because=because)


@pytest.mark.parametrize("noise", [np.ones(23), np.zeros(24), np.ones((24, 2))])
def test_bad_noise_is_refused(noise, saved, tmp_path, capsys):
    path = tmp_path / "noise.npy"
    np.save(path, noise)
    options = ["--objective", "lsns", "--noise-x", path, "--noise-y", path]
    assert_refused(capsys, tmp_path, "match", *saved, *options, because="noise")


@pytest.mark.parametrize("arguments", [[], ["match"], ["match", "x.npy"], ["mate"], ["demo", "--n", "many"]])
def test_wrong_usage_points_to_the_help(arguments, tmp_path, capsys):
    assert_refused(capsys, tmp_path, *arguments, because="--help)")


@pytest.mark.parametrize("option", ["--n", "--d", "--seed"])
def test_demo_refuses_a_negative_number(option, tmp_path, capsys):
    assert_refused(capsys, tmp_path, "demo", option, "-1", because="-1" if option != "--seed" else "negative")


@pytest.mark.parametrize("arguments", [["--help"], ["match", "--help"], ["demo", "--help"]])
def test_help_fits_a_terminal(arguments, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        command_line.main(arguments)
    assert stop.value.code == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 88


def test_examples_of_the_help_are_understood(capsys):
    examples = [
        line.split("   ")[0].split()[1:]
        for text in (parser.EXAMPLES, match_command.EXAMPLES, demo_command.EXAMPLES)
        for line in map(str.strip, text.splitlines())
        if line.startswith("lslmatch ") and "--help" not in line
    ]
    assert len(examples) >= 5
    for example in examples:
        assert callable(parser.make_parser().parse_args(example).run)


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        command_line.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"lslmatch {lslmatch.__version__}\n"


# The demonstration.


def test_demo_shows_what_alignment_is_for(capsys):
    assert command_line.main(["demo", "--n", "80", "--seed", "3"]) == 0
    rows = {name: value.strip() for name, value in table(capsys.readouterr().out).items()}
    assert (rows["n"], rows["d"]) == ("80", "3")
    estimated, true = (float(part.split()[0]) for part in rows["scale"].split(", "))
    assert true == 3
    assert estimated == pytest.approx(3, rel=0.05)
    plain, affine = (float(rows[name].split("%")[0]) for name in ("plain LSL", "affine LSL"))
    assert plain < 50 < 95 < affine <= 100


def test_demo_is_reproducible(capsys):
    printed = []
    for seed in ("5", "5", "6"):
        assert command_line.main(["demo", "--n", "20", "--d", "4", "--seed", seed]) == 0
        printed.append(capsys.readouterr().out.partition("seconds")[0])
    assert printed[0] == printed[1] != printed[2]


# Trouble while at work.


@pytest.mark.parametrize(
    ("trouble", "code", "because"),
    [(KeyboardInterrupt, 130, "interrupted"), (MemoryError, 2, "not enough memory")],
)
@pytest.mark.parametrize("command", ["match", "demo"])
def test_trouble_is_told_in_one_line(command, trouble, code, because, saved, capsys, monkeypatch):
    def fail(*arguments, **options):
        raise trouble

    monkeypatch.setattr(match_command if command == "match" else demo_command, "match", fail)
    assert command_line.main([command, *saved] if command == "match" else [command]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"lslmatch: {because}")
    assert err.count("\n") == 1


# Progress.


@pytest.fixture
def terminal():
    """A stream that is a terminal, and a function that waits for what appears on its screen."""
    pty = pytest.importorskip("pty")
    screen, slave = pty.openpty()

    def read():
        assert select.select([screen], [], [], 60)[0], "nothing appeared on the screen"
        return os.read(screen, 1000)

    with os.fdopen(slave, "w") as stream:
        yield stream, read
    os.close(screen)


def test_progress_on_a_terminal_is_shown_and_erased(terminal):
    stream, read = terminal
    progress = Progress(stream, delay=0.0)
    progress.stage("matching")
    shown = b""
    with progress:
        while not shown.endswith(b" s"):
            shown += read()
    assert re.match(rb"\r+matching, \d+ s", shown)
    last_line = shown.rpartition(b"\r")[2]
    blank = b"\r" + b" " * len(last_line) + b"\r"
    while not shown.endswith(blank):
        shown += read()


def test_short_run_on_a_terminal_shows_no_progress(terminal):
    stream, read = terminal
    with Progress(stream, delay=3600.0):
        pass
    stream.write("nothing before this")
    stream.flush()
    assert read() == b"nothing before this"


def test_progress_elsewhere_is_silent(tmp_path):
    with open(tmp_path / "log", "w+") as stream:
        with Progress(stream, delay=0.0) as progress:
            progress.stage("matching")
        stream.seek(0)
        assert stream.read() == ""
