"""Known pairs, groups and forbidden pairs from files, and sets with other columns."""

import json

import numpy as np
import pytest

from lslmatch.cli import main as command_line
from lslmatch.io.pairs import read_pairs
from lslmatch.io.sources import FileError
from lslmatch.results import Labels
from tests.support.command_line import assert_refused, table


@pytest.fixture
def tables(tmp_path):
    """Two tables with names of rows, a column of groups, and coordinates that have nothing in common."""
    rng = np.random.default_rng(30)
    features, order = rng.normal(size=(30, 3)), rng.permutation(30)
    x = features @ rng.normal(size=(3, 4)) + 0.03 * rng.normal(size=(30, 4))
    y = np.empty((30, 3))
    y[order] = features + 0.03 * rng.normal(size=(30, 3))
    sex = np.where(rng.random(30) < 0.5, "f", "m")
    partner = np.empty(30, object)
    partner[order] = sex
    for name, values, group, columns in (("x", x, sex, "abcd"), ("y", y, partner, "pqr")):
        lines = [f"sample,sex,{','.join(columns)}"]
        lines += [f"{name}{i},{group[i]},{','.join(map(str, values[i]))}" for i in range(30)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "known.csv").write_text("".join(f"x{i},y{order[i]}\n" for i in range(11)))
    return tmp_path, order, sex


def run(folder, *options):
    files = [str(folder / "x.csv"), str(folder / "y.csv"), "--id", "sample", "--group", "sex"]
    return command_line.main(["match", *files, *map(str, options)])


def test_known_pairs_and_groups_of_tables_with_other_columns(tables, capsys):
    folder, order, _ = tables
    options = "--alignment", "linear", "--known", folder / "known.csv"
    assert run(folder, *options, "--out", folder / "pairs.csv", "--pairs", "all") == 0
    said = table(capsys.readouterr().out)
    assert said["known"].strip() == "11 of 11 known pairs found again when left out"
    assert "besides 11 known pairs, within groups, proven" in said["proof"]
    assert "a linear map of y, from 3 columns to 4" in said["units"]
    labels = Labels(*(np.array([f"{name}{i}" for i in range(30)], object) for name in "xy"))
    written = read_pairs(folder / "pairs.csv", labels)
    assert written == [(f"x{i}", f"y{order[i]}") for i in range(30)]
    assert read_pairs(folder / "pairs.csv", None) == [(i, order[i]) for i in range(30)]
    (folder / "numbers.csv").write_text("x,y\n" + "".join(f"{i},{order[i]}\n" for i in range(11)))
    assert run(folder, *options[:3], folder / "numbers.csv", "--json", "--no-check") == 0
    assert json.loads(capsys.readouterr().out)["pairs"]["y"] == order.tolist()


def test_forbidden_pairs_are_left_out(tables, capsys):
    folder, order, _ = tables
    (folder / "not.csv").write_text(f"x12;y{order[12]}\nx13;y{order[13]}\n")
    options = "--alignment", "linear", "--known", folder / "known.csv", "--forbidden", folder / "not.csv"
    assert run(folder, *options, "--json", "--pairs", "all", "--no-check") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pairs"]["y"][12] != order[12]


def test_groups_need_no_names_of_columns(tmp_path, capsys):
    rng = np.random.default_rng(1)
    x = np.column_stack([np.arange(12) % 2, rng.normal(size=(12, 2))])
    for name, values in (("x", x), ("y", x[::-1])):
        np.savetxt(tmp_path / f"{name}.csv", values, delimiter=",")
        np.save(tmp_path / f"{name}.npy", values)
    for suffix in ("csv", "npy"):
        files = [str(tmp_path / f"{name}.{suffix}") for name in "xy"]
        assert command_line.main(["match", *files, "--group", "0", "--json", "--no-check", "--paper"]) == 0
        assert json.loads(capsys.readouterr().out)["pairs"]["y"] == list(range(11, -1, -1))


def test_groups_in_columnar_files(tmp_path, capsys):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rng = np.random.default_rng(2)
    x = pandas.DataFrame({"site": ["a", "b"] * 6, "p": rng.normal(size=12), "q": rng.normal(size=12)})
    for name, frame in (("x", x), ("y", x[::-1].reset_index(drop=True))):
        frame.to_parquet(tmp_path / f"{name}.parquet")
    files = [str(tmp_path / f"{name}.parquet") for name in "xy"]
    assert command_line.main(["match", *files, "--group", "site", "--json", "--no-check", "--paper"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"]["y"] == list(range(11, -1, -1))


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("x0,z9\n", "known must name rows of y; got 'z9', which none is called"),
        ("x,y\n0,one\n", "known must name rows of y; got 'one', which none is called"),
        ("x0\n", "must have two columns, a row of X and a row of Y"),
        ("", "must have two columns"),
        ("x0,y0\nx0,y1\n", "known must have each point once; row 0 of x ('x0') is in 2 pairs"),
    ],
)
def test_pairs_that_cannot_be_are_refused(tables, capsys, text, because):
    folder = tables[0]
    (folder / "bad.csv").write_text(text)
    files = folder / "x.csv", folder / "y.csv", "--id", "sample", "--group", "sex", "--alignment", "linear"
    assert_refused(capsys, folder, "match", *files, "--known", folder / "bad.csv", because=because)


def test_files_of_pairs_are_text_in_utf8(tmp_path):
    np.save(tmp_path / "pairs.npy", np.zeros((2, 2)))
    with pytest.raises(FileError, match=r"the suffix of a file of pairs must be one of \.csv"):
        read_pairs(tmp_path / "pairs.npy", None)
    (tmp_path / "pairs.csv").write_text("x,y\n0,one\n")
    with pytest.raises(FileError, match="pair 1 has 'one', which is no row number from 0"):
        read_pairs(tmp_path / "pairs.csv", None)
    (tmp_path / "pairs.csv").write_bytes(b"\xff\xfe\x00,1\n")
    with pytest.raises(FileError, match="not a text file in UTF-8"):
        read_pairs(tmp_path / "pairs.csv", None)


def test_groups_are_no_coordinate_and_no_standard_input(tables, capsys, monkeypatch, tmp_path):
    folder = tables[0]
    files = folder / "x.csv", folder / "y.csv", "--id", "sample", "--group", "sex"
    because = "--columns must not have the column of --group"
    assert_refused(capsys, folder, "match", *files, "--columns", "sex,a", because=because)
    from lslmatch.cli import match_reading

    monkeypatch.setattr(match_reading, "is_standard", lambda path: True)
    because = "--group must have files: standard input is read once only"
    assert_refused(capsys, folder, "match", *files, "--alignment", "linear", because=because)
