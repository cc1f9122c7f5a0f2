"""--columns common: what both files have, however they are written."""

import json

import numpy as np
import pandas as pd
import pytest

from lslmatch.cli.main import main

RNG = np.random.default_rng(1)
FEATURES = RNG.normal(size=(30, 3)).round(4)
ORDER = RNG.permutation(30)
NAMES = [f"p{i}" for i in range(30)]


def write(folder, suffix=".csv", label="who"):
    """Write two files with names of rows, three columns in common, and others."""
    x = pd.DataFrame(FEATURES, columns=["a", "b", "c"]).assign(only=1.0, note="word")
    y = pd.DataFrame(FEATURES[ORDER][:, ::-1], columns=["c", "b", "a"]).assign(note="other")
    x.insert(0, label, NAMES)
    y.insert(0, label, [NAMES[i] for i in ORDER])
    for name, frame in (("x", x), ("y", y)):
        path = folder / (name + suffix)
        if suffix == ".csv":
            frame.to_csv(path, index=False)
        else:
            pytest.importorskip("pyarrow")
            frame.set_index(label).to_parquet(path) if suffix == ".parquet" else frame.to_feather(path)
    return str(folder / f"x{suffix}"), str(folder / f"y{suffix}")


@pytest.mark.parametrize(("suffix", "more"), [(".csv", []), (".csv", ["--id", "who"]), (".parquet", [])])
def test_columns_of_numbers_that_both_files_have_are_matched(tmp_path, capsys, suffix, more):
    files = write(tmp_path, suffix)
    main(["match", *files, "--columns", "common", "--paper", "--json", *more])
    said = json.loads(capsys.readouterr().out)
    assert said["columns"] == ["a", "b", "c"]
    assert said["pairs"]["y"] == np.argsort(ORDER).tolist()
    assert said["names"] == {"in_common": 30, "agree": 30}
    assert said["repeated_rows"] == {"x": 0, "y": 0}
    assert any("3 that both have; only" in note for note in said["notes"])


def test_names_and_repeated_rows_are_said(tmp_path, capsys):
    x, y = write(tmp_path)
    frame = pd.read_csv(x)
    frame.loc[4, ["a", "b", "c"]] = frame.loc[3, ["a", "b", "c"]].to_numpy()
    frame.to_csv(x, index=False)
    main(["match", x, y, "--columns", "common", "--paper"])
    said = " ".join(capsys.readouterr().out.split())
    assert "names 30 names in common, 30 agree" in said or "names 30 names in common, 28 agree" in said
    assert "1 row of x repeats another" in said


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("1,2\n3,4\n", "--columns common needs names of columns"),
        ("d,e\n3,4\n5,6\n", "must have a column in common"),
        ("", "--columns common needs names of columns"),
    ],
)
def test_files_without_common_columns_are_refused(tmp_path, capsys, lines, said):
    x, _ = write(tmp_path)
    other = tmp_path / "other.csv"
    other.write_text(lines)
    assert main(["match", x, str(other), "--columns", "common"]) != 0
    assert said in capsys.readouterr().err


def test_standard_input_is_read_once(tmp_path, capsys):
    x, _ = write(tmp_path)
    assert main(["match", "-", x, "--columns", "common"]) != 0
    assert "--columns common needs names of columns, which standard input has not" in capsys.readouterr().err


def test_names_of_rows_as_r_writes_them(tmp_path, capsys):
    rows = "\n".join(f"{name} {a} {b} {c}" for name, (a, b, c) in zip(NAMES, FEATURES.tolist(), strict=True))
    path = tmp_path / "x.txt"
    path.write_text(f"a b c\n{rows}\n")
    _, y = write(tmp_path)
    main(["match", str(path), y, "--columns", "common", "--paper", "--json"])
    assert json.loads(capsys.readouterr().out)["names"]["agree"] == 30
