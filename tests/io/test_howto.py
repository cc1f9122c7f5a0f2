"""The page about files: for each file of its table the command line says what stands there."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lslmatch.cli import main as command_line

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "files.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", PAGE.partition("<!-- files -->")[2], re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the table is about."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(8)
    x = pd.DataFrame(rng.normal(size=(12, 3)) + [1.5, 70.5, 40.5], columns=["height", "weight", "age"])
    y = (x.iloc[::-1] / 2 + 1e-3 * rng.normal(size=x.shape)).reset_index(drop=True)[
        ["age", "height", "weight"]
    ]
    x.to_csv(folder / "x.csv", index=False)
    y.to_csv(folder / "y.csv", index=False)
    y.rename(columns={"weight": "mass"}).to_csv(folder / "mass.csv", index=False)
    y[list(x)].to_csv(folder / "plain.csv", index=False, header=False)
    x.to_csv(folder / "index.csv")
    x.set_axis([f"person {k}" for k in range(12)]).to_csv(folder / "people.csv")
    x.assign(sample=[f"s{k}" for k in range(12)]).to_csv(folder / "sample.csv", index=False)
    missing = x.copy()
    missing.loc[1, "weight"] = missing.loc[6, "weight"] = missing.loc[6, "age"] = np.nan
    missing.to_csv(folder / "missing.csv", index=False)
    x.to_csv(folder / "german.csv", index=False, sep=";", decimal=",")
    y.to_csv(folder / "y.tsv", index=False, sep="\t")
    x.to_csv(folder / "x.csv.gz", index=False)
    np.savez(folder / "two.npz", first=x.to_numpy(), second=y.to_numpy())
    np.savez(folder / "y.npz", y[list(x)].to_numpy())
    np.savetxt(folder / "x.txt", x.to_numpy())
    (folder / "book.ods").write_bytes(b"PK")
    return folder, x, y


def test_the_table_has_a_dozen_files():
    assert len(ROWS) >= 12


@pytest.mark.parametrize(("command", "said"), ROWS)
def test_the_command_line_says_what_stands_there(command, said, folder, monkeypatch, capsys):
    folder, x, y = folder
    if ".parquet" in command:
        pytest.importorskip("pyarrow")
        x.to_parquet(folder / "x.parquet")
        y.to_feather(folder / "y.feather")
    monkeypatch.chdir(folder)
    command_line.main(["match", *command.split(), "--verbose"])
    printed = capsys.readouterr()
    assert said in printed.out + printed.err
