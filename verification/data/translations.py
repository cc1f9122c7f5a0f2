"""Verses of the King James and the World English Bible, both in the public domain.

They are read with pysword from the SWORD modules of the Debian packages sword-text-kjv and
sword-text-web.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from verification.data.distinct import distinct_rows
from verification.data.installed import require

EXTRA = "sentences"

#: The translations by their short names, with the names of their SWORD modules.
MODULES = {"KJV": "engKJV2006eb", "WEB": "engWEB2015eb"}

#: Where Debian's packages put the modules.
SWORD = Path("/usr/share/sword")


class Verse(NamedTuple):
    """Where a verse stands."""

    book: str
    chapter: int
    number: int


def read_translation(name: str, folder: Path = SWORD) -> dict[Verse, str]:
    """Give the text of every verse of a translation, without titles, notes and marks."""
    modules = require("pysword.modules", EXTRA).SwordModules(str(folder))
    modules.parse_modules()
    bible = modules.get_bible_from_module(MODULES[name])
    texts = {}
    for books in bible.get_structure().get_books().values():
        for book in books:
            for chapter, length in enumerate(book.chapter_lengths, start=1):
                for number in range(1, length + 1):
                    raw = bible.get([book.name], [chapter], [number], clean=False)
                    texts[Verse(book.name, chapter, number)] = plain_text(raw)
    return texts


def plain_text(markup: str) -> str:
    """Give the words of a verse in OSIS markup.

    pysword's own cleaning joins the words on both sides of a note.
    """
    text = re.sub(r"<(note|title)\b[^>]*>.*?</\1>", " ", markup)
    text = re.sub(r"<[^>]*>", "", text).replace("¶", " ")
    return re.sub(r" (?=[,.;:!?’”)])", "", " ".join(text.split()))


def choose_verses(
    texts: Mapping[str, Mapping[Verse, str]], count: int, rng: np.random.Generator
) -> list[Verse]:
    """Draw verses, in the order of the book, that every translation has and words in its own way.

    Verses that another one repeats are left out, and so are those on which the translations agree word by
    word: one encoder would give them the same vector, without any noise.
    """
    common = [
        verse
        for verse in next(iter(texts.values()))
        if all(verse in text for text in texts.values())
        and len({text[verse].casefold() for text in texts.values()}) == len(texts)
    ]
    eligible = distinct_rows(*([text[verse] for verse in common] for text in texts.values()))
    chosen = rng.choice(eligible, size=count, replace=False)
    return [common[row] for row in np.sort(chosen)]
