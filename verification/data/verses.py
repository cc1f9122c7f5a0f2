"""The committed vectors of verses: two translations, each by two encoders, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray
from verification.data.translations import Verse

FILE = Path(__file__).with_name("verses.npz")


class Verses(NamedTuple):
    """Verses and their vectors; row i of every array is verse i."""

    places: list[Verse]
    vectors: dict[str, FloatArray]
    """By translation and encoder: "KJV-L6", "WEB-L6", "KJV-L3", "WEB-L3", each of shape (verses, 384)."""


def load_verses(path: Path = FILE) -> Verses:
    """Read the vectors."""
    with np.load(path) as stored:
        columns = (stored[f"place/{field}"].tolist() for field in Verse._fields)
        places = [Verse(*place) for place in zip(*columns, strict=True)]
        vectors = {
            name.removeprefix("vector/"): stored[name].astype(np.float64)
            for name in stored.files
            if name.startswith("vector/")
        }
    return Verses(places, vectors)


def save_verses(path: Path, places: Sequence[Verse], vectors: Mapping[str, NDArray[np.float32]]) -> None:
    """Write vectors in half precision: their rounding is a thousandth of the noise between encoders."""
    columns: dict[str, Any] = {
        f"place/{field}": np.array([getattr(place, field) for place in places]) for field in Verse._fields
    }
    halves: dict[str, Any] = {f"vector/{name}": array.astype(np.float16) for name, array in vectors.items()}
    np.savez_compressed(path, **columns, **halves)
