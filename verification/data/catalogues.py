"""Sentences in several languages out of the catalogues of messages that Debian's packages hold.

They are read from unpacked packages (``apt-get download PACKAGE; dpkg-deb -x FILE FOLDER``): blender-data,
gimp-data and libreoffice-l10n-fr, -ja, -de and -ru of Debian 12. The licences of the texts are mixed, so only
their vectors are stored, and where each stands.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

#: The languages, with the letters that most of a text in one of them is made of.
LANGUAGES = {"fr": "latin", "ja": "japanese", "de": "latin", "ru": "cyrillic"}
_LETTERS = {
    "latin": re.compile("[A-Za-zÀ-ÿœŒß]"),
    "cyrillic": re.compile("[Ѐ-ӿ]"),
    "japanese": re.compile("[぀-ヿ一-鿿]"),
}
#: What is no plain sentence: formats, markup, addresses, paths, keys and ends of lines.
_TECHNICAL = re.compile(r"%|\$|\\|<|>|\{|\}|://|@|_|\n|~|\||=|#|&|\.\.\.|…")
#: English words at least, and characters of either side at least and at most.
_WORDS, _SHORTEST, _LONGEST = 4, 20, 250
#: A Japanese sentence says as much in fewer characters.
_SHORTEST_JAPANESE = 8


class Message(NamedTuple):
    """Where an English message stands: the number among the sorted messages of a catalogue."""

    catalogue: str
    number: int


def read_catalogues(folder: Path, language: str) -> dict[str, tuple[Message, str]]:
    """Give the translation of every plain English sentence of a folder of unpacked packages."""
    found: dict[str, tuple[Message, str]] = {}
    for path in sorted(folder.rglob(f"{language}/LC_MESSAGES/*.mo")):
        for number, (english, other) in enumerate(_messages(path)):
            if is_sentence(english, "latin") and is_sentence(other, LANGUAGES[language]):
                found.setdefault(english, (Message(path.name, number), other))
    return found


def choose_messages(
    translations: Sequence[dict[str, tuple[Message, str]]], count: int, seed: int
) -> list[str]:
    """Draw English sentences that have a translation in every language, no two alike on any side."""
    common = sorted(set.intersection(*(set(texts) for texts in translations)))
    order = np.random.default_rng(seed).permutation(len(common))
    seen: list[set[str]] = [set() for _ in range(len(translations) + 1)]
    chosen: list[str] = []
    for k in order.tolist():
        sides = [common[k], *(texts[common[k]][1] for texts in translations)]
        keys = [_key(text) for text in sides]
        if any(key in before for key, before in zip(keys, seen, strict=True)):
            continue
        for key, before in zip(keys, seen, strict=True):
            before.add(key)
        chosen.append(common[k])
        if len(chosen) == count:
            break
    return chosen


def is_sentence(text: str, script: str) -> bool:
    """Say whether a text is a plain sentence in a script."""
    shortest = _SHORTEST_JAPANESE if script == "japanese" else _SHORTEST
    if not shortest <= len(text) <= _LONGEST or _TECHNICAL.search(text):
        return False
    letters = len(_LETTERS[script].findall(text))
    plain = sum(not character.isspace() for character in text)
    return 2 * letters > plain and (script != "latin" or len(text.split()) >= _WORDS)


def _key(text: str) -> str:
    """Give what near copies have in common: letters, without case, numbers and marks."""
    return "".join(character for character in text.lower() if character.isalpha())


def _messages(path: Path) -> Iterator[tuple[str, str]]:
    """Give the messages of a catalogue and their translations, in the order of the messages."""
    with path.open("rb") as stream:
        catalogue = gettext.GNUTranslations(stream)
    held: dict[object, str] = catalogue._catalog  # type: ignore[attr-defined]
    texts = {key: other for key, other in held.items() if isinstance(key, str)}
    for key in sorted(texts):
        yield key.rpartition("\x04")[2], texts[key]
