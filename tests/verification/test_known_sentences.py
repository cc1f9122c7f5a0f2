"""Tools that learn from known pairs of sentences: right where the map is a turn, and judged by the others."""

import numpy as np
import pytest

from verification.scenarios import known_sentences as sentences
from verification.scenarios.other_tools import Task


@pytest.mark.parametrize("tool", [sentences.procrustes, sentences.ridge])
def test_tools_find_sentences_that_are_turned(tool):
    rng = np.random.default_rng(1)
    x, partner = rng.normal(size=(40, 6)), rng.permutation(40)
    y = np.empty((40, 8))
    y[partner] = np.pad(x, ((0, 0), (0, 2))) @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    task = Task(x, y, partner, np.arange(20))
    assert sentences.share_found(task, tool(task)) > 0.9
    assert sentences.share_found(task, np.roll(partner, 1)) == 0.0


def test_draws_hold_sentences_and_their_translations():
    task = sentences.draw_task("fr", 50, 10, 0)
    assert task.x.shape == (50, 384)
    assert task.y.shape == (50, 512)
    assert len(set(task.known.tolist())) == 10
    other = sentences.draw_task("fr", 50, 10, 1)
    assert not np.array_equal(task.x, other.x)


def test_a_line_is_printed_for_each_draw(monkeypatch, capsys):
    monkeypatch.setattr(sentences, "TOOLS", {"none": lambda task: np.full(len(task.x), -1)})
    sentences.main("fr,ja", "30", "5", "2")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0] == "fr, 30 sentences, 5 known: none 0.000"
