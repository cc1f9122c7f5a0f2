"""Partial matchings by their definitions: every one tried, and the conditions that prove one optimal."""

import itertools
import math

import numpy as np


def least_costs(cost):
    """The least costs of 0, 1, 2, ... pairs by trying all; infinite where none is allowed."""
    n, m = cost.shape
    found = []
    for k in range(min(n, m) + 1):
        choices = itertools.product(itertools.combinations(range(n), k), itertools.permutations(range(m), k))
        found.append(min(math.fsum(cost[i, j] for i, j in zip(*c, strict=True)) for c in choices))
    return found


def partial_violation(cost, row_ind, col_ind, row_dual, col_dual, price):
    """How far duals and price are from proving that no other pairs have a lower sum of ``cost - price``."""
    assert len({*row_ind.tolist()}) == len({*col_ind.tolist()}) == len(row_ind) == len(col_ind)
    slack = cost - row_dual[:, None] - col_dual - price
    return max(
        0.0,
        -slack.min(initial=0.0),
        np.abs(slack[row_ind, col_ind]).max(initial=0.0),
        row_dual.max(initial=0.0),
        col_dual.max(initial=0.0),
        np.abs(np.delete(row_dual, row_ind)).max(initial=0.0),
        np.abs(np.delete(col_dual, col_ind)).max(initial=0.0),
    )


def padded(cost, price):
    """A square matrix in which every row and every column may stay alone at half the price."""
    n, m = cost.shape
    square = np.full((n + m, n + m), np.inf)
    square[:n, :m] = cost
    square[np.arange(n), m + np.arange(n)] = square[n + np.arange(m), np.arange(m)] = price / 2
    square[n:, m:] = 0.0
    return square
