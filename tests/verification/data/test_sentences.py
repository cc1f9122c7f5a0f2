"""Sentences of catalogues: which are taken, and the vectors that are stored."""

import struct

import numpy as np
import pytest

from verification.data import catalogues
from verification.data.catalogues import Message
from verification.data.sentences import load_sentences, save_sentences


def write_catalogue(path, texts):
    """Write a file of messages as gettext reads it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = {"": "Content-Type: text/plain; charset=UTF-8\n"}
    pairs = [(key.encode(), text.encode()) for key, text in sorted((header | texts).items())]
    n, parts = len(pairs), []
    offset = 28 + 16 * n
    for side in range(2):
        for pair in pairs:
            parts.append((len(pair[side]), offset, pair[side]))
            offset += len(pair[side]) + 1
    head = struct.pack("<7I", 0x950412DE, 0, n, 28, 28 + 8 * n, 0, 0)
    table = b"".join(struct.pack("<2I", length, start) for length, start, _ in parts)
    path.write_bytes(head + table + b"".join(text + b"\0" for *_, text in parts))


ENGLISH = "Open this pattern as an image"
TEXTS = {
    ENGLISH: "Ouvrir le motif en tant qu'image",
    "Cannot open the file %s for reading": "Impossible d'ouvrir le fichier %s",
    "Open": "Ouvrir",
    "menu\x04Choose the colour of a line": "Choisir la couleur d'une ligne",
    "Open this Pattern as an image!": "Ouvrir le motif comme une image",
}


def test_plain_sentences_of_catalogues_are_read_with_their_places(tmp_path):
    write_catalogue(tmp_path / "a/fr/LC_MESSAGES/first.mo", TEXTS)
    write_catalogue(tmp_path / "b/ja/LC_MESSAGES/first.mo", {ENGLISH: "パターンファイルを画像として開きます"})
    french, japanese = (catalogues.read_catalogues(tmp_path, language) for language in ("fr", "ja"))
    assert set(french) == {"Choose the colour of a line", ENGLISH, "Open this Pattern as an image!"}
    assert french[ENGLISH] == (Message("first.mo", 4), TEXTS[ENGLISH])
    assert catalogues.choose_messages([french, japanese], 5, 1) == [ENGLISH]
    # Without case and marks two are alike: one of them is taken.
    assert len(catalogues.choose_messages([french], 5, 1)) == 2
    assert len(catalogues.choose_messages([french], 1, 1)) == 1


@pytest.mark.parametrize(
    ("text", "script", "is_one"),
    [
        ("Open this pattern as an image", "latin", True),
        ("Открыть этот узор как изображение", "cyrillic", True),
        ("Открыть этот узор как изображение", "latin", False),
        ("パターンを画像として開く", "japanese", True),
        ("Open this pattern as an image", "japanese", False),
        ("Visit the page at http://example.org", "latin", False),
        ("word " * 80, "latin", False),
    ],
)
def test_what_counts_as_a_sentence(text, script, is_one):
    assert catalogues.is_sentence(text, script) == is_one


def test_stored_vectors_are_those_of_related_sentences():
    places, vectors = load_sentences()
    assert {name: array.shape for name, array in vectors.items()} == {
        "en": (2000, 384),
        "fr": (2000, 512),
        "ja": (2000, 512),
        "de": (500, 512),
        "ru": (500, 512),
    }
    assert len(set(places)) == len(places) == 2000
    for array in vectors.values():
        np.testing.assert_allclose(np.linalg.norm(array, axis=1), 1.0, atol=2e-3)
    # Similar sentences are similar under both encoders, and only in the right order.
    within = [np.corrcoef(vectors[name][:300]) for name in ("en", "fr")]
    upper = np.triu_indices(300, 1)
    assert np.corrcoef(within[0][upper], within[1][upper])[0, 1] > 0.4
    shifted = np.roll(within[1], 1, axis=(0, 1))
    assert abs(np.corrcoef(within[0][upper], shifted[upper])[0, 1]) < 0.1


def test_vectors_are_written_and_read(tmp_path):
    vectors = {"en": np.eye(3, dtype=np.float32)}
    save_sentences(tmp_path / "s.npz", [Message("a.mo", 4)] * 3, vectors)
    places, read = load_sentences(tmp_path / "s.npz")
    assert places == [Message("a.mo", 4)] * 3
    np.testing.assert_array_equal(read["en"], np.eye(3))
