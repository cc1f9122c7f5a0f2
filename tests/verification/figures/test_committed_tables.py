"""The pages about the experiments quote the committed tables, and nothing else."""

import functools
import importlib.util
import json
import re
from pathlib import Path

import pytest

from verification.engine.tables import read_table

DOCS = Path(__file__).parents[3] / "docs"
PAGES = tuple(
    DOCS / f"{name}.md"
    for name in ("paper-comparison", "real-data", "beyond-the-paper", "howto/without-partner")
)
TEXT = "".join(page.read_text(encoding="utf-8") for page in PAGES).replace("−", "-")
NUMBER = r"(-?\d+(?:\.\d+)?)"
QUOTES = re.findall(rf"{NUMBER} \[{NUMBER}, {NUMBER}\]", TEXT)


@functools.cache
def measured(decimals):
    """Every estimate with its limits in the committed tables, rounded like a quotation."""
    found = set()
    for path in (DOCS / "figures").glob("*.csv"):
        for row in read_table(path):
            for name in row:
                if f"{name}_low" in row:
                    values = (row[name], row[f"{name}_low"], row[f"{name}_high"])
                    found.add(tuple(f"{round(value, decimals) + 0.0:.{decimals}f}" for value in values))
    return found


@pytest.mark.parametrize("quote", QUOTES, ids=str)
def test_a_quoted_interval_is_in_a_table(quote):
    decimals = len(quote[0].partition(".")[2])
    assert quote in measured(decimals)


def test_the_pages_quote_intervals():
    assert len(QUOTES) >= 8


def test_an_invented_interval_is_found_out():
    assert ("0.123", "0.111", "0.135") not in measured(3)


@pytest.mark.parametrize("name", re.findall(r"\]\((?:\.\./)?figures/([^)]+)\)", TEXT))
def test_a_picture_of_a_page_is_there_with_its_origin(name):
    assert (DOCS / "figures" / name).is_file()
    origin = json.loads((DOCS / "figures" / name).with_suffix(".json").read_text(encoding="utf-8"))
    assert {"seed", "versions", "revision", "seconds", "profile"} <= set(origin)


@pytest.fixture(scope="module")
def measured_tables():
    path = DOCS / "measured_tables.py"
    spec = importlib.util.spec_from_file_location("measured_tables", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_whole_tables_are_those_of_their_figures(measured_tables):
    assert measured_tables.main(["--check"]) == 0, "run python docs/measured_tables.py"


def test_a_changed_number_in_a_whole_table_is_noticed(measured_tables, tmp_path, monkeypatch):
    table = measured_tables.TABLES[-1]
    page = tmp_path / table.page.name
    text = table.page.read_text(encoding="utf-8")
    first = re.search(r"\| (\d\.\d{3}) \[", text)[1]
    page.write_text(text.replace(f"| {first} [", "| 0.999 [", 1), encoding="utf-8")
    monkeypatch.setattr(measured_tables, "TABLES", (table._replace(page=page),))
    assert measured_tables.main(["--check"]) == 1
    assert measured_tables.main([]) == 0
    assert page.read_text(encoding="utf-8") == text
