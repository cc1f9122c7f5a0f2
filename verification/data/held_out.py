"""The sets that judge a method at the end, each from a field of its own.

No method was developed or tuned on them. What describes their objects was fixed beforehand by what is
usual in each field, see the loaders, and not by how well anything matches.

``python -m verification.data.held_out`` shows which sets are installed and that their rows correspond.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from verification.data.brain_regions import load_regions
from verification.data.counties import load_counties
from verification.data.installed import MissingExtraError
from verification.data.metabolites import load_metabolites
from verification.data.pairs import Pairs, partner_correlations
from verification.data.questionnaires import load_questionnaires
from verification.data.stations import load_stations
from verification.data.stereo import load_stereo
from verification.data.vowels import load_vowels

#: The loaders by the names of their sets.
SETS: dict[str, Callable[[], Pairs]] = {
    "vowels": load_vowels,
    "brain regions, two groups": lambda: load_regions("main", "holdout"),
    "brain regions, person and group": lambda: load_regions("person", "main"),
    "stereo": load_stereo,
    "stations": load_stations,
    "questionnaires": load_questionnaires,
    "counties": load_counties,
    "metabolites": load_metabolites,
}


def describe_set(name: str) -> str:
    """Say in one line how large a set is and how alike its partners are, or why it cannot be read."""
    try:
        pairs = SETS[name]()
    except MissingExtraError as error:
        return f"{name}: left out, {error}"
    partners, shuffled = partner_correlations(pairs, np.random.default_rng(0))
    n, d = pairs.x.shape
    return (
        f"{name}: n = {n}, d = {d}, correlation of partners {partners:.3f}, of shuffled rows {shuffled:.3f}"
    )


if __name__ == "__main__":
    for each in SETS:
        print(describe_set(each))
