"""The same people asked twice: the Eysenck Personality Inventory, read from R's psychTools.

474 students answered its 57 questions with yes or no, and again some weeks later, in four studies. An
object is a person. The first set has the answers of the first time, the second those of the second.

What was chosen, and why:

- the answers to all 57 questions, not the scores of the three scales, which are sums of them;
- people who left a question open at either time are left out: filling in would make up an answer;
- the coding as it is (1 and 2), all questions in the same units.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from verification.data.pairs import Pairs, answerable_pairs
from verification.data.r_packages import LIBRARY, read_variable

EXTRA = "held-out"

QUESTIONS = tuple(f"V{number}" for number in range(1, 58))


def load_questionnaires(library: Path = LIBRARY) -> Pairs:
    """Give the people who answered in full by their 57 answers, the first and the second time.

    Parameters
    ----------
    library : Path
        Where R's packages are.
    """
    return pair_times(read_variable("psychTools", "epiR", EXTRA, library))


def pair_times(table: Any) -> Pairs:
    """Put the answers of the same person at time 1 and at time 2 into rows of the same number.

    Parameters
    ----------
    table : data frame
        One row for each person and time, with the columns study, id (unique within a study only), time
        and the questions.
    """
    asked: dict[float, dict[tuple[str, float], FloatArray]] = {1.0: {}, 2.0: {}}
    answers = table[list(QUESTIONS)].to_numpy(dtype=np.float64, na_value=np.nan)
    for study, person, time, row in zip(table["study"], table["id"], table["time"], answers, strict=True):
        if (study, person) in asked[time]:
            raise ValueError(f"person {person:g} of study {study} has two rows at time {time:g}")
        asked[time][study, person] = row
    first, second = asked.values()
    people = [person for person in first if person in second]
    return answerable_pairs([first[person] for person in people], [second[person] for person in people])
