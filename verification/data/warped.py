"""Descriptors of a photograph and of a warped copy of it, whose partners the warp tells.

They stand in for the photographs of landmarks that Galstyan, Minasyan and Dalalyan (2022) and Minasyan,
Galstyan, Hunanyan and Dalalyan (2023) use, which cannot be had from a package. The photographs are those
inside scikit-image. What was chosen, and why:

- the copy is turned, smaller, slightly tilted and noisy: enough that one detection in two is lost;
- detector and descriptor (SIFT) with the settings of scikit-image, on grey values;
- two detections show the same point if each is the other's nearest, and within 1.5 pixels, once the warp
  is undone; a detection with none within 5 pixels has no partner. The others are not used.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from lslmatch._types import FloatArray, IntArray
from verification.data.installed import require

EXTRA = "held-out"

PICTURES = ("astronaut", "camera", "chelsea", "coffee", "rocket")
SAME, APART = 1.5, 5.0


class WarpedPair(NamedTuple):
    """Descriptors of two pictures, and which of them belong together."""

    x: FloatArray  # (n, 128)
    y: FloatArray  # (m, 128)
    partners: IntArray  # (pairs, 2): rows of x and of y that show the same point
    lonely_x: IntArray  # rows of x without a partner
    lonely_y: IntArray


@cache
def load_warped(name: str) -> WarpedPair:
    """Give the descriptors of a photograph and of its warped copy; it takes some seconds."""
    transform, feature = require("skimage.transform", EXTRA), require("skimage.feature", EXTRA)
    picture = getattr(require("skimage.data", EXTRA), name)()
    grey = require("skimage.color", EXTRA).rgb2gray(picture) if picture.ndim == 3 else picture / 255.0
    centre = np.array(grey.shape[::-1]) / 2
    turn = transform.SimilarityTransform(scale=0.85, rotation=np.radians(12)).params
    tilt = np.array([[1.0, 0.05, 0.0], [0.0, 1.0, 0.0], [2e-4, 1e-4, 1.0]])
    move, back = np.eye(3), np.eye(3)
    move[:2, 2], back[:2, 2] = -centre, centre
    warp = transform.ProjectiveTransform(matrix=back @ tilt @ turn @ move)
    copy = transform.warp(grey, warp.inverse, mode="reflect")
    noise = np.random.default_rng(PICTURES.index(name)).standard_normal(copy.shape)
    found = []
    for view in (grey, np.clip(copy + 0.02 * noise, 0.0, 1.0)):
        sift = feature.SIFT()
        sift.detect_and_extract(view)
        found.append((sift.positions[:, ::-1].astype(np.float64), sift.descriptors.astype(np.float64)))
    (first, x), (second, y) = found
    return WarpedPair(x, y, *partners_of(np.asarray(warp(first)), second))


def partners_of(first: FloatArray, second: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Find the partners and those without one among positions in the same picture, (points, 2) each."""
    far_x, near_y = cKDTree(second).query(first)
    far_y, near_x = cKDTree(first).query(second)
    rows = np.flatnonzero((near_x[near_y] == np.arange(len(first))) & (far_x < SAME))
    return (
        np.stack([rows, near_y[rows]], axis=1),
        np.flatnonzero(far_x > APART),
        np.flatnonzero(far_y > APART),
    )
