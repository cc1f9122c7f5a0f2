"""The sets that judge a method at the end, each from a field of its own.

No method was developed or tuned on them. What describes their objects was fixed beforehand by what is
usual in each field, see the loaders, and not by how well anything matches.

``python -m verification.data.held_out`` shows which sets are installed and that their rows correspond.
The folder of R's packages may follow, if it is not Debian's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from verification.data.brain_regions import load_regions
from verification.data.counties import load_counties
from verification.data.installed import MissingExtraError
from verification.data.metabolites import load_metabolites
from verification.data.pairs import Pairs, partner_correlations
from verification.data.questionnaires import load_questionnaires
from verification.data.r_packages import LIBRARY
from verification.data.stations import load_stations
from verification.data.stereo import load_stereo
from verification.data.vowels import load_vowels

#: The sets inside Python packages, by name.
IN_PYTHON: dict[str, Callable[[], Pairs]] = {
    "vowels": load_vowels,
    "brain regions, two groups": lambda: load_regions("main", "holdout"),
    "brain regions, person and group": lambda: load_regions("person", "main"),
    "stereo": load_stereo,
    "counties": load_counties,
}

#: The sets inside R's packages, by name.
IN_R: dict[str, Callable[[Path], Pairs]] = {
    "stations": load_stations,
    "questionnaires": load_questionnaires,
    "metabolites": load_metabolites,
}

SETS = (*IN_PYTHON, *IN_R)


def load_set(name: str, library: Path = LIBRARY) -> Pairs:
    """Give the two arrays of a set; row i of both is the same object.

    Parameters
    ----------
    name : str
        One of `SETS`.
    library : Path
        Where R's packages are.
    """
    return IN_R[name](library) if name in IN_R else IN_PYTHON[name]()


def describe_set(name: str, library: Path = LIBRARY) -> str:
    """Say in one line how large a set is and how alike its partners are, or why it cannot be read."""
    try:
        pairs = load_set(name, library)
    except MissingExtraError as error:
        return f"{name}: left out, {error}"
    partners, shuffled = partner_correlations(pairs, np.random.default_rng(0))
    n, d = pairs.x.shape
    return (
        f"{name}: n = {n}, d = {d}, correlation of partners {partners:.3f}, of shuffled rows {shuffled:.3f}"
    )


if __name__ == "__main__":
    for each in SETS:
        print(describe_set(each, *map(Path, sys.argv[1:2])))
