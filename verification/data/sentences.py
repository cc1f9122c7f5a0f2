"""The committed vectors of English sentences and of their translations, by two encoders that share nothing.

English is by all-MiniLM-L6-v2 (384 numbers), the translations by the multilingual Universal Sentence Encoder,
version 3 (512 numbers). The texts are messages of programs: see :mod:`verification.data.catalogues`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray
from verification.data.catalogues import Message

FILE = Path(__file__).with_name("sentences.npz")
#: The language that the others are translations of.
ENGLISH = "en"


class Sentences(NamedTuple):
    """Sentences and their vectors; row i of every array is sentence i."""

    places: list[Message]
    vectors: dict[str, FloatArray]
    """By language: "en" of shape (sentences, 384); "fr", "ja", "de" and "ru" of shape (some of them, 512)."""


def load_sentences(path: Path = FILE) -> Sentences:
    """Read the vectors."""
    with np.load(path) as stored:
        places = zip(stored["place/catalogue"].tolist(), stored["place/number"].tolist(), strict=True)
        vectors = {
            name.removeprefix("vector/"): stored[name].astype(np.float64)
            for name in stored.files
            if name.startswith("vector/")
        }
    return Sentences([Message(*place) for place in places], vectors)


def save_sentences(path: Path, places: Sequence[Message], vectors: Mapping[str, NDArray[np.float32]]) -> None:
    """Write vectors in half precision: their rounding is a thousandth of the noise between encoders."""
    columns: dict[str, Any] = {
        "place/catalogue": np.array([place.catalogue for place in places]),
        "place/number": np.array([place.number for place in places], np.int32),
    }
    halves: dict[str, Any] = {f"vector/{name}": array.astype(np.float16) for name, array in vectors.items()}
    np.savez_compressed(path, **columns, **halves)
