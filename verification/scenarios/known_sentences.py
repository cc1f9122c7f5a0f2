"""Sentences in two languages by two encoders, of which a few pairs are known.

``python -m verification.scenarios.known_sentences fr,ja 500 10,20 3`` takes languages, sentences, numbers of
known pairs and draws. It prints for each draw the share of the other pairs that each tool found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import lslmatch
from lslmatch._types import FloatArray, IntArray
from verification.data.sentences import ENGLISH, load_sentences
from verification.scenarios.other_tools import Task, canonical_correlation


def procrustes(task: Task) -> IntArray:
    """Turn the known pairs onto each other, with zeros for the coordinates that one set lacks."""
    a = task.x - task.x[task.known].mean(axis=0)
    b = task.y - task.y[task.partner[task.known]].mean(axis=0)
    a = np.pad(a, ((0, 0), (0, b.shape[1] - a.shape[1])))
    turn = orthogonal_procrustes(b[task.partner[task.known]], a[task.known])[0]
    return _assigned(a, b @ turn)


def ridge(task: Task) -> IntArray:
    """Regress x on y over the known pairs, with a penalty of their mean square."""
    a, b = task.x - task.x.mean(axis=0), task.y - task.y.mean(axis=0)
    known = b[task.partner[task.known]]
    penalty = float((known**2).sum()) / len(known)
    inner = known @ known.T + penalty * np.eye(len(known))
    return _assigned(a, b @ (known.T @ np.linalg.solve(inner, a[task.known])))


def linear_map(task: Task) -> IntArray:
    """Learn a linear map from the known pairs and from all that follow from them."""
    known = np.stack([task.known, task.partner[task.known]], axis=1)
    return lslmatch.match(task.x, task.y, alignment="linear", known=known).permutation


TOOLS: Mapping[str, Callable[[Task], IntArray]] = {
    "orthogonal Procrustes": procrustes,
    "CCA": canonical_correlation,
    "ridge, once": ridge,
    "match, linear": linear_map,
}


def draw_task(language: str, count: int, known: int, draw: int) -> Task:
    """Draw sentences, an order of their translations, and pairs that are known."""
    vectors = load_sentences().vectors
    rng = np.random.default_rng([30, 4, count, known, draw])
    rows = rng.choice(len(vectors[language]), count, replace=False)
    partner = rng.permutation(count)
    y = np.empty((count, vectors[language].shape[1]))
    y[partner] = vectors[language][rows]
    return Task(vectors[ENGLISH][rows], y, partner, rng.choice(count, known, replace=False))


def share_found(task: Task, found: IntArray) -> float:
    """Give the share of the pairs that were not known."""
    rest = np.setdiff1d(np.arange(len(task.x)), task.known)
    return float((found == task.partner)[rest].mean())


def main(languages: str, count: str, known: str, draws: str) -> None:
    """Measure, and print a line for each draw."""
    for language in languages.split(","):
        for pairs in known.split(","):
            for draw in range(int(draws)):
                task = draw_task(language, int(count), int(pairs), draw)
                shares = (f"{name} {share_found(task, tool(task)):.3f}" for name, tool in TOOLS.items())
                print(f"{language}, {count} sentences, {pairs} known: {', '.join(shares)}", flush=True)


def _assigned(a: FloatArray, b: FloatArray) -> IntArray:
    cols: IntArray = linear_sum_assignment(cdist(a, b, "cosine"))[1]
    return cols


if __name__ == "__main__":
    main(*sys.argv[1:])
