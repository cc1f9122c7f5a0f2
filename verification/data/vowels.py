"""The same speakers heard twice: the vowels of Peterson and Barney (1952), read from praat-parselmouth.

76 men, women and children said each of ten English vowels two times. An object is a speaker. The first
set describes the speaker by the first time, the second set by the second.

What was chosen, and why:

- all four frequencies of every vowel (the pitch F0 and the formants F1, F2, F3), as the table has them;
- their natural logarithms, because the ear and the methods that compare speakers work on ratios of
  frequencies: a longer vocal tract divides all formants by about the same factor.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from verification.data.installed import require
from verification.data.pairs import Pairs, answerable_pairs

EXTRA = "held-out"

_FREQUENCIES = ("F0", "F1", "F2", "F3")


def load_vowels() -> Pairs:
    """Give 76 speakers by 40 logarithms of frequencies (ten vowels by F0 to F3), the two times apart."""
    praat = require("parselmouth", EXTRA).praat
    table = praat.call("Create formant table (Peterson & Barney 1952)")
    rows = praat.call(table, "List", False).splitlines()
    return pair_repetitions(csv.DictReader(rows, delimiter="\t"))


def pair_repetitions(rows: Iterable[Mapping[str, str]]) -> Pairs:
    """Put each speaker's first repetitions of all vowels into one row, and the second ones into another.

    Parameters
    ----------
    rows : iterable of mappings
        One utterance each, with its Speaker, its Vowel and the frequencies. The repetitions of a vowel
        stand in the order in which they were said.
    """
    said: defaultdict[str, defaultdict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        said[row["Speaker"]][row["Vowel"]].append([float(row[name]) for name in _FREQUENCIES])
    vowels = sorted({vowel for utterances in said.values() for vowel in utterances})
    # Two of every vowel, or this fails: a table of another shape is not this one.
    frequencies = np.array([[said[speaker][vowel] for vowel in vowels] for speaker in said])
    first, second = np.moveaxis(np.log(frequencies), 2, 0)
    return answerable_pairs(first.reshape(len(said), -1), second.reshape(len(said), -1))
