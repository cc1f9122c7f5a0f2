"""Starts by an annealed Gromov-Wasserstein relaxation: pairs whose distances within the sets agree.

From soft pairs by profiles on, each step sharpens the pairs a little: ``P <- Sinkhorn(K_x P K_y / T)`` with
centred kernels of the distances within each set, and T falling.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lslmatch._types import FloatArray, SingleArray

#: Steps, by how much each cools, and rounds of balancing in each.
_STEPS, _COOLING, _BALANCE = 40, 0.9, 8
#: Widths of the kernel in median distances, and first temperatures, in the order in which they are tried.
_RUNS = ((0.7, 0.7), (0.5, 0.5), (1.0, 0.7), (0.4, 1.0), (0.7, 1.0), (0.5, 0.7))


def relaxed_plans(a: FloatArray, b: FloatArray, costs: SingleArray, runs: int) -> Iterator[SingleArray]:
    """Give plans (n, m) whose rows are probabilities, from the costs of profiles on."""
    middle = max(float(np.median(costs.min(axis=1))), 1e-12)
    soft = _balanced(-costs / middle)
    for width, hot in _RUNS[:runs]:
        yield _anneal(_kernel(a, width), _kernel(b, width), soft, hot)


def _anneal(
    a_kernel: SingleArray, b_kernel: SingleArray, plan: SingleArray, temperature: float
) -> SingleArray:
    for _ in range(_STEPS):
        gain: SingleArray = np.matmul(np.matmul(a_kernel, plan), b_kernel, dtype=np.float32)
        gain -= gain.mean(axis=0)
        gain -= gain.mean(axis=1, keepdims=True)
        spread = float(gain.std())
        if not spread > 0.0:
            break
        gain *= np.float32(1.0 / (spread * temperature))
        plan = _balanced(gain)
        temperature *= _COOLING
    return plan


def _balanced(logarithms: SingleArray) -> SingleArray:
    """Bring exponentials to equal sums of columns, and then to sums 1 of rows."""
    plan = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    share = len(plan) / plan.shape[1]
    for _ in range(_BALANCE):
        plan /= np.maximum(plan.sum(axis=0), np.float32(1e-30)) / np.float32(share)
        plan /= np.maximum(plan.sum(axis=1, keepdims=True), np.float32(1e-30))
    return plan


def _kernel(points: FloatArray, width: float) -> SingleArray:
    """Give a centred Gaussian kernel of the distances within a set."""
    some = points.astype(np.float32)
    squares = np.einsum("ij,ij->i", some, some)
    distances = np.maximum(squares[:, None] + squares - 2.0 * (some @ some.T), 0.0)
    unit = max(float(np.median(distances)), 1e-12)
    kernel: SingleArray = np.exp(-distances / np.float32(2.0 * width * width * unit))
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1, keepdims=True)
    return kernel
