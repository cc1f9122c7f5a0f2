"""Files that are read or refused, and the one that is written."""

import contextlib
import csv
import os
import pickle
import stat
import sys
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings

from lslmatch.cli import main as command_line
from lslmatch.io import points as files
from lslmatch.io.choice import Choice
from lslmatch.io.sources import FileError
from tests.support.command_line import assert_refused

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
    values, columns, labels, _ = files.read_points(path)
    np.testing.assert_array_equal(values, x)
    assert values.dtype == np.float64
    header = before.strip("\n\ufeff")
    assert columns == (tuple(next(csv.reader([header]))) if header else None)
    assert labels is None


@pytest.mark.parametrize(
    ("name", "content", "because"),
    [
        ("x.ods", b"1,2\n", "the suffix must be one of .csv, .tsv, .txt, .npy"),
        ("x.ods", b"1,2\n", "save the sheet as .csv"),
        ("x.xlsx", b"PK", "not a readable .xlsx file"),
        ("x", b"", "the suffix must be one of .csv"),
        ("x.gz", b"", "the suffix must be one of .csv"),
        ("x.npy", b"", "not a readable .npy array"),
        ("x.npy", b"1,2,3\n4,5,6\n", "not a readable .npy array"),
        ("x.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8' ", "not a readable .npy array"),
        ("x.npy", pickle.dumps([1, 2]), "not a readable .npy array"),
        ("x.csv", b"", "holds no numbers"),
        ("x.csv", b"a,b,c\n", "holds no numbers"),
        ("x.csv", b"1,2,3\n4,5\n", "line 2 has 2 values, not 3"),
        ("x.csv", b"a,b\n\n1,2,3,4\n", "line 3 has 4 values, not 2"),
        ("x.csv", b"1,2,3\n4,five,6\n", "line 2: 'five' is not a number"),
        (
            "x.csv",
            b"1,2,3\n4,,6\n",
            "1 value missing, in 1 of 2 rows: 1 in column 1 (first in line 2); leave out",
        ),
        ("x.csv", b"1,,3\n4,5,6\n", "1 value missing, in 1 of 2 rows: 1 in column 1 (first in line 1)"),
        ("x.csv", b"1,2\n3," + b"x" * 90, "line 2: '" + "x" * 40 + "'... is not a number"),
        ("x.csv", b"1,2\n3,\xff\xfe\n", "not a text file in UTF-8"),
        ("x.csv", b"1,2\n3," + b"4" * 200_000, "line 2: field larger than field limit"),
        ("x.csv", b"1,2,3\n4,nan,6\n", "1 value missing, in 1 of 2 rows: 1 in column 1"),
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
    with contextlib.suppress(FileError):
        files.read_points(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.one_of(st.binary(max_size=60), st.text('0123.,"\n\r ea\x00', max_size=40).map(str.encode)))
def test_any_bytes_as_csv_give_numbers_or_an_error(content, tmp_path):
    path = tmp_path / "any.csv"
    path.write_bytes(content)
    with contextlib.suppress(FileError):
        values = files.read_points(path).values
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


@pytest.mark.skipif(os.name != "posix", reason="needs modes")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o700])
def test_a_file_that_is_overwritten_keeps_its_mode(mode, saved, tmp_path):
    out = tmp_path / "pairs.csv"
    out.touch()
    out.chmod(mode)
    assert command_line.main(["match", *saved, "--out", str(out)]) == 0
    assert stat.S_IMODE(out.stat().st_mode) == mode
    assert out.read_text().startswith("x,y,")


@pytest.mark.skipif(os.name != "posix", reason="needs modes")
def test_what_is_written_is_never_readable_to_more_people_than_before(saved, tmp_path, monkeypatch):
    out = tmp_path / "pairs.csv"
    out.touch()
    out.chmod(0o600)
    modes = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: modes.append(os.fstat(file).st_mode) or fsync(file))
    assert command_line.main(["match", *saved, "--out", str(out)]) == 0
    assert [stat.S_IMODE(mode) for mode in modes] == [0o600]


def test_a_write_protected_file_is_not_replaced(saved, tmp_path, capsys, monkeypatch):
    out = tmp_path / "pairs.csv"
    out.write_text("old")
    # Asked of the system, the answer would depend on who runs the tests.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != out)
    assert_refused(capsys, tmp_path, "match", *saved, "--out", out, because="is write-protected")
    assert out.read_text() == "old"


def test_the_longest_name_that_a_file_can_have_is_written(saved, tmp_path):
    out = tmp_path / ("l" * 251 + ".csv")
    assert command_line.main(["match", *saved, "--out", str(out)]) == 0
    assert out.exists()


def test_what_a_killed_run_left_is_not_in_the_way(saved, tmp_path):
    # In a container each run has the same number.
    out = tmp_path / "pairs.csv"
    (tmp_path / f".pairs.csv.{os.getpid()}.tmp").touch()
    assert command_line.main(["match", *saved, "--out", str(out)]) == 0
    assert out.exists()


def test_a_sheet_is_read_as_its_text_is(tmp_path):
    pytest.importorskip("openpyxl")
    people = pd.DataFrame({"id": ["a", "b", "c"], "height": [1.5, 1.75, 2.0], "age": [30, 41, 52]})
    people.to_excel(tmp_path / "x.xlsx", index=False)
    people.to_csv(tmp_path / "x.csv", index=False)
    sheet, text = (files.read_points(tmp_path / name, Choice(id="id")) for name in ("x.xlsx", "x.csv"))
    np.testing.assert_array_equal(sheet.values, text.values)
    assert sheet.columns == text.columns == ("height", "age")
    assert list(sheet.labels) == list(text.labels)


def test_a_sheet_without_its_packages_is_refused_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(FileError, match="need pandas and openpyxl"):
        files.read_points(tmp_path / "x.xlsx")


def test_a_sheet_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    pd.DataFrame({"height": [1.5, 1.75]}).to_excel(tmp_path / "x.xlsx", index=False)
    monkeypatch.setattr("lslmatch.io.sheets.MOST_BYTES", 10)
    with pytest.raises(FileError, match="when unpacked"):
        files.read_points(tmp_path / "x.xlsx")
