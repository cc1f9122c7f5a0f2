"""The loaders of real data, on small files of the same layout made here; nothing is downloaded."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.io import savemat

from verification.data import encode, instruments, opus, translations, verses
from verification.data.distinct import distinct_rows
from verification.data.installed import MissingExtraError, package_folder, require
from verification.data.translations import Verse


@pytest.mark.parametrize("name", instruments.SETS)
def test_spectra_are_stacked_in_the_same_order_for_every_instrument(name, tmp_path):
    path, names = instruments.SETS[name]
    sizes = {"cal": 4, "trans": 2, "test": 3}
    rng = np.random.default_rng(0)
    samples = {part: rng.standard_normal((size, 6)) for part, size in sizes.items()}
    variables = {
        f"X{part}{number}": number * spectra
        for part, spectra in samples.items()
        for number in range(1, len(names) + 1)
    }
    (tmp_path / path).parent.mkdir(parents=True)
    savemat(tmp_path / path, variables)
    spectra = instruments.load_spectra(name, tmp_path)
    assert tuple(spectra) == names
    stacked = np.concatenate([samples[part] for part in ("cal", "trans", "test")])
    for number, instrument in enumerate(names, start=1):
        np.testing.assert_array_equal(spectra[instrument], number * stacked)


def test_a_missing_package_is_named_with_its_extra():
    with pytest.raises(MissingExtraError, match=r"no_such_package .* pip install 'lslmatch\[sentences\]'"):
        require("no_such_package", "sentences")
    with pytest.raises(MissingExtraError, match=r"no_such_package .* pip install 'lslmatch\[instruments\]'"):
        package_folder("no_such_package", "instruments")


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        (
            "<w>In</w> the <w>beginning</w>, God<note>Elohim.</note><w>created</w> ",
            "In the beginning, God created",
        ),
        ("<title type='psalm'>A <w>Psalm</w>.</title> <l/> ¶ The LORD", "The LORD"),
        ("Jesus wept<note>or cried</note>.", "Jesus wept."),
        ("<note>one</note>a<note>two</note>b", "a b"),
    ],
)
def test_markup_leaves_the_words_of_the_verse(markup, words):
    assert translations.plain_text(markup) == words


def test_translations_are_read_verse_by_verse(monkeypatch):
    book = SimpleNamespace(name="Jude", chapter_lengths=[2, 1])
    bible = SimpleNamespace(
        get_structure=lambda: SimpleNamespace(get_books=lambda: {"nt": [book]}),
        get=lambda books, chapters, numbers, clean: f"<w>{books[0]}</w> {chapters[0]}:{numbers[0]} ",
    )
    modules = SimpleNamespace(parse_modules=dict, get_bible_from_module={"engWEB2015eb": bible}.__getitem__)
    monkeypatch.setitem(sys.modules, "pysword", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "pysword.modules", SimpleNamespace(SwordModules=lambda folder: modules))
    texts = translations.read_translation("WEB")
    assert texts == {
        Verse("Jude", 1, 1): "Jude 1:1",
        Verse("Jude", 1, 2): "Jude 1:2",
        Verse("Jude", 2, 1): "Jude 2:1",
    }


def test_rows_that_are_empty_or_repeated_have_no_answer():
    assert distinct_rows(["yes", "no", "no", "why?"], ["oui", "non", "nenni", ""]) == [0]


def test_verses_without_an_answer_are_not_chosen():
    places = [Verse("Jude", 1, number) for number in range(1, 8)]
    first = dict(zip(places, ["a", "b", "b", "d", "", "f", "g"], strict=True))
    second = dict(zip(places[:-1], ["aa", "bb", "cc", "dd", "ee", "F"], strict=True))
    chosen = translations.choose_verses({"first": first, "second": second}, 2, np.random.default_rng(0))
    assert chosen == [places[0], places[3]]


def test_saved_verses_come_back_in_half_precision(tmp_path):
    places = [Verse("Jude", 1, 1), Verse("Jude", 1, 2)]
    vectors = np.random.default_rng(0).standard_normal((2, 5)).astype(np.float32)
    verses.save_verses(tmp_path / "verses.npz", places, {"WEB-L3": vectors})
    loaded = verses.load_verses(tmp_path / "verses.npz")
    assert loaded.places == places
    np.testing.assert_array_equal(loaded.vectors["WEB-L3"], vectors.astype(np.float16))


def test_the_committed_verses_are_what_their_description_says():
    places, vectors = verses.load_verses()
    assert len(set(places)) == len(places) == encode.COUNT
    assert set(vectors) == {f"{text}-{model}" for text in translations.MODULES for model in encode.ENCODERS}
    for name, array in vectors.items():
        assert array.shape == (encode.COUNT, 384)
        lengths = np.linalg.norm(array, axis=1)
        if name.endswith("L6"):
            np.testing.assert_allclose(lengths, 1.0, atol=1e-3)  # half precision
        assert lengths.min() > 0.5
    for model in encode.ENCODERS:
        same = (vectors[f"KJV-{model}"] == vectors[f"WEB-{model}"]).all(axis=1)
        assert not same.any()


def _tiny_corpus(folder):
    """Write a data set of the layout of OPUS-100: a folder a pair of languages, a line a sentence."""
    sentences = [("one", "un"), (" two ", "deux"), ("two", "deux fois"), ("three", "trois"), ("four", "")]
    (folder / "en-fr").mkdir(parents=True)
    lines = [json.dumps({"translation": {"en": english, "fr": french}}) for english, french in sentences]
    (folder / "en-fr" / "train.jsonl").write_text("\n".join(lines))
    (folder / "README.md").write_text(
        "---\nconfigs:\n- config_name: en-fr\n"
        "  data_files:\n  - split: train\n    path: en-fr/train.jsonl\n---\n"
    )


def test_opus_is_read_with_the_real_library(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # read when the library is first imported
    datasets = pytest.importorskip("datasets", reason="needs the extra 'sentences'")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    _tiny_corpus(tmp_path / "opus-100")
    rng = np.random.default_rng(0)
    english, french = opus.load_sentences("fr", 2, rng, corpus=str(tmp_path / "opus-100"))
    assert sorted(zip(english, french, strict=True)) == [("one", "un"), ("three", "trois")]


def test_opus_asks_for_the_pair_of_languages_and_the_part_for_training(monkeypatch):
    asked = []

    def load_dataset(*names, split):
        asked.append((*names, split))
        return {"translation": [{"en": "one", "ky": "bir"}, {"en": "two", "ky": "eki"}]}

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    english, kyrgyz = opus.load_sentences("ky", 2, np.random.default_rng(0))
    assert asked == [("Helsinki-NLP/opus-100", "en-ky", "train")]
    assert dict(zip(english, kyrgyz, strict=True)) == {"one": "bir", "two": "eki"}


def test_opus_vectors_keep_partners_in_the_same_row(tmp_path):
    def letters(sentences):
        return np.array([[len(text), text.count("e")] for text in sentences], np.float32)

    english, foreign = ["one", "two", "three"], ["een", "twee", "drie"]
    pairs = opus.encode_pairs(english, foreign, letters, lambda texts: 3 * letters(texts))
    opus.save_pairs(tmp_path / "opus.npz", {"nl": pairs})
    loaded = opus.load_pairs("nl", tmp_path / "opus.npz")
    np.testing.assert_array_equal(loaded.english, [[3, 1], [3, 0], [5, 2]])
    np.testing.assert_array_equal(loaded.foreign, [[9, 6], [12, 6], [12, 3]])


def test_sentence_encoders_run_on_the_processor_in_single_precision(monkeypatch):
    made = []

    class SentenceTransformer:
        def __init__(self, name, device):
            made.append((name, device))

        def encode(self, sentences, batch_size):
            return [[float(len(sentence))] for sentence in sentences]

    library = SimpleNamespace(SentenceTransformer=SentenceTransformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    vectors = encode.sentence_encoder("some/model")(("a", "bcd"))
    assert made == [("some/model", "cpu")]
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1.0], [3.0]]
