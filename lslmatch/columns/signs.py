"""Which columns may run the other way in the second set: guesses from moments, which need no pairs.

Moments of the columns are the same in both sets whatever the order of the rows, but for the signs: the
correlation of two columns changes with the product of their signs, and the mean of ``z_k**2 z_l`` with that
of column l. Signs that make these agree best, over all columns at once, are a quadratic form in them. Its
greatest eigenvector is rounded, and improved one column at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.columns.standard import Standard

#: Up to so many columns all signs are tried.
_FEW = 2
#: What third moments count beside correlations: their sampling errors are the greater by the root of 6.
_OF_THIRD = 1.0 / 6.0


def guess_signs(sets: Standard) -> Iterator[FloatArray]:
    """Give vectors of 1 and -1 for the columns of the second set, each once: first that nothing is turned."""
    d = sets.a.shape[1]
    seen: set[bytes] = set()
    for signs in _all_signs(d) if d <= _FEW else _guesses(sets):
        if signs.tobytes() not in seen:
            seen.add(signs.tobytes())
            yield signs


def _all_signs(d: int) -> Iterator[FloatArray]:
    for signs in itertools.product((1.0, -1.0), repeat=d):
        yield np.array(signs)


def _guesses(sets: Standard) -> Iterator[FloatArray]:
    """Give guesses by all rows, by rows of one length, as noisy ones may be far out, and by skewness."""
    yield np.ones(sets.a.shape[1])
    a, b = _scores(sets.a), _scores(sets.b)
    for first, second in ((a, b), (_of_one_length(a), _of_one_length(b))):
        found = _agreeing_signs(first, second)
        yield found
        yield -found
    skewness = np.sign((a**3).mean(axis=0) * (b**3).mean(axis=0))
    found = np.where(skewness == 0.0, 1.0, skewness)
    yield found
    yield -found


def _agreeing_signs(a: FloatArray, b: FloatArray) -> FloatArray:
    """Give the signs under which second and third moments agree best; the first entry stands for +1."""
    d = a.shape[1]
    form = np.zeros((d + 1, d + 1))
    form[1:, 1:] = (a.T @ a / len(a)) * (b.T @ b / len(b))
    third = [(part**2).T @ part / len(part) for part in (a, b)]
    form[0, 1:] = form[1:, 0] = _OF_THIRD * (third[0] * third[1]).sum(axis=0)
    np.fill_diagonal(form, 0.0)
    leading = np.linalg.eigh(form)[1][:, -1]
    signs = np.where(leading < 0.0, -1.0, 1.0)
    signs *= signs[0]
    for _ in range(2 * d):  # each change raises the form, so that this ends
        gains = -signs * (form @ signs)
        gains[0] = 0.0
        best = int(gains.argmax())
        if not gains[best] > 1e-12 * np.abs(form).max():
            break
        signs[best] = -signs[best]
    return signs[1:]


def _scores(points: FloatArray) -> FloatArray:
    return points - points.mean(axis=0)


def _of_one_length(points: FloatArray) -> FloatArray:
    length = np.sqrt((points**2).sum(axis=1, keepdims=True))
    shorter: FloatArray = points / np.where(length > 0.0, length, 1.0) * np.sqrt(points.shape[1])
    return _scores(shorter)
