"""The same weather stations in two periods: temperatures in and around Colorado, read from R's fields.

An object is a station. It is described by its mean daily minimum and its mean daily maximum in each
month of the year, averaged over 1931 to 1960 in the first set and over 1961 to 1990 in the second. Stations
were moved and the climate changed in between.

What was chosen, and why:

- the two periods are the standard ones of the World Meteorological Organization that the data cover;
- a mean counts if at least 24 of its 30 years are there, that organization's rule of 80 percent;
- degrees Celsius as they are. Precipitation is left out: millimetres are not comparable with degrees.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lslmatch._types import FloatArray, IntArray
from verification.data.installed import require
from verification.data.pairs import Pairs, answerable_pairs
from verification.data.r_packages import LIBRARY, require_r_file

EXTRA = "held-out"

PERIODS = ((1931, 1960), (1961, 1990))
LEAST_YEARS = 24


def load_stations(library: Path = LIBRARY) -> Pairs:
    """Give 76 stations by 24 temperatures (twelve minima, twelve maxima) in two periods of 30 years.

    Parameters
    ----------
    library : Path
        Where R's packages are.
    """
    path = require_r_file("fields", "COmonthlyMet.rda", library)
    variables = require("rdata", EXTRA).read_rda(path)
    years = np.asarray(variables["CO.years"]).astype(np.intp)
    # Of shape (years, months, stations) each.
    temperatures = [np.asarray(variables[name], dtype=np.float64) for name in ("CO.tmin", "CO.tmax")]
    readings = np.concatenate(temperatures, axis=1)
    return answerable_pairs(*(period_means(readings, years, *period) for period in PERIODS))


def period_means(readings: FloatArray, years: IntArray, start: int, end: int) -> FloatArray:
    """Average over the years of a period, of shape (stations, months).

    Parameters
    ----------
    readings : array of shape (years, months, stations)
        NaN where nothing was read.
    years : array of shape (years,)
    start, end : int
        The first and the last year of the period.

    Returns
    -------
    array of shape (stations, months)
        NaN where fewer than `LEAST_YEARS` years were read.
    """
    within = readings[(years >= start) & (years <= end)]
    read = np.isfinite(within)
    counts = read.sum(axis=0)
    means = np.where(read, within, 0.0).sum(axis=0) / np.maximum(counts, 1)
    return np.where(counts >= LEAST_YEARS, means, np.nan).T
