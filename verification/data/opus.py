"""The paper's corpus: English sentences of OPUS-100 and their translations, by the paper's two encoders.

``python -m verification.data.opus`` downloads the corpus and the encoders, and writes the vectors to
`opus.npz`, from which the experiment runs. It needs the extra ``sentences`` and the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray
from verification.data.distinct import distinct_rows
from verification.data.encode import Encoder, sentence_encoder
from verification.data.installed import require
from verification.data.translations import EXTRA

CORPUS = "Helsinki-NLP/opus-100"
LANGUAGES = ("fr", "hy", "my", "kk", "ka", "ky", "ja")
ENGLISH_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
FOREIGN_ENCODER = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"

FILE = Path(__file__).with_name("opus.npz")

#: Pairs of each language: five draws of 500 without overlap, as many as the paper has.
COUNT = 2500
SEED = 20_261


class Pairs(NamedTuple):
    """Vectors of sentences; row i of both arrays says the same."""

    english: FloatArray
    foreign: FloatArray


def load_sentences(
    language: str, count: int, rng: np.random.Generator, corpus: str = CORPUS
) -> tuple[list[str], list[str]]:
    """Draw English sentences and their translations.

    The draw is from the part for training: Armenian has no other.
    """
    rows = require("datasets", EXTRA).load_dataset(corpus, f"en-{language}", split="train")["translation"]
    english, foreign = ([row[key].strip() for row in rows] for key in ("en", language))
    chosen = rng.choice(distinct_rows(english, foreign), size=count, replace=False)
    return [english[row] for row in chosen], [foreign[row] for row in chosen]


def encode_pairs(
    english: list[str], foreign: list[str], english_encoder: Encoder, foreign_encoder: Encoder
) -> dict[str, NDArray[np.float16]]:
    """Encode both sides, in half precision."""
    return {
        "english": english_encoder(english).astype(np.float16),
        "foreign": foreign_encoder(foreign).astype(np.float16),
    }


def save_pairs(path: Path, languages: Mapping[str, Mapping[str, NDArray[np.float16]]]) -> None:
    """Write the vectors of several languages."""
    arrays: dict[str, Any] = {
        f"{language}/{side}": array for language, sides in languages.items() for side, array in sides.items()
    }
    np.savez_compressed(path, **arrays)


def load_pairs(language: str, path: Path | None = None) -> Pairs:
    """Read the vectors of one language."""
    with np.load(path or FILE) as stored:
        english, foreign = (stored[f"{language}/{side}"].astype(np.float64) for side in Pairs._fields)
    return Pairs(english, foreign)


def main() -> None:
    """Encode the sentences of all languages, and save the vectors."""
    encoders = sentence_encoder(ENGLISH_ENCODER), sentence_encoder(FOREIGN_ENCODER)
    generators = np.random.default_rng(SEED).spawn(len(LANGUAGES))
    languages = {
        language: encode_pairs(*load_sentences(language, COUNT, rng), *encoders)
        for language, rng in zip(LANGUAGES, generators, strict=True)
    }
    save_pairs(FILE, languages)
    print(f"{FILE}: {len(languages)} languages, {FILE.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
