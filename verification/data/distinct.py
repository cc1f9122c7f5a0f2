"""Which pairs of sentences have an answer: both sides say something, and no other pair repeats it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def distinct_rows(*columns: Sequence[str]) -> list[int]:
    """Give the rows whose text is not empty and not repeated, in every column.

    Where two rows say the same in the same words, nobody can tell which of them is the partner.
    """
    counts = [Counter(column) for column in columns]
    return [
        row
        for row, texts in enumerate(zip(*columns, strict=True))
        if all(text and count[text] == 1 for text, count in zip(texts, counts, strict=True))
    ]
