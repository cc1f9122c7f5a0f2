"""The pages about the experiments quote the committed tables, and nothing else."""

import json
import re
from pathlib import Path

import pytest

from verification.engine.tables import read_table

DOCS = Path(__file__).parents[3] / "docs"
PAGES = tuple(DOCS / name for name in ("paper-comparison.md", "real-data.md", "beyond-the-paper.md"))
TEXT = "".join(page.read_text(encoding="utf-8") for page in PAGES).replace("−", "-")
NUMBER = r"(-?\d+(?:\.\d+)?)"
QUOTES = re.findall(rf"{NUMBER} \[{NUMBER}, {NUMBER}\]", TEXT)


def measured(decimals):
    """Every estimate with its limits in the committed tables, rounded like a quotation."""
    found = set()
    for path in (DOCS / "figures").glob("*.csv"):
        for row in read_table(path):
            for name in row:
                if f"{name}_low" in row:
                    values = (row[name], row[f"{name}_low"], row[f"{name}_high"])
                    found.add(tuple(f"{value:.{decimals}f}" for value in values))
    return found


@pytest.mark.parametrize("quote", QUOTES, ids=str)
def test_a_quoted_interval_is_in_a_table(quote):
    decimals = len(quote[0].partition(".")[2])
    assert quote in measured(decimals)


def test_the_pages_quote_intervals():
    assert len(QUOTES) >= 8


def test_an_invented_interval_is_found_out():
    assert ("0.123", "0.111", "0.135") not in measured(3)


@pytest.mark.parametrize("name", re.findall(r"\]\(figures/([^)]+)\)", TEXT))
def test_a_picture_of_a_page_is_there_with_its_origin(name):
    assert (DOCS / "figures" / name).is_file()
    origin = json.loads((DOCS / "figures" / name).with_suffix(".json").read_text(encoding="utf-8"))
    assert {"seed", "versions", "revision", "seconds", "profile"} <= set(origin)
