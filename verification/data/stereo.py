"""The same points of a scene in two photographs: descriptors of the Motorcycle pair, from scikit-image.

Left and right view of the stereo benchmark of Middlebury College (Scharstein and others, 2014), with
the disparity of the pixels of the left view, measured by structured light. An object is a point of
the scene that the detector of SIFT finds in both views, described by the 128 numbers of SIFT.

What was chosen, and why:

- detector and descriptor with the settings of scikit-image, on grey values, Euclidean as published;
- two detections show the same point if the right one lies within 1.5 pixels of where the disparity puts
  the left one, their sizes differ by less than a factor of 1.25 and their orientations by less than a
  sixteenth of a turn, and each is the other's nearest among those. Evaluations of descriptors
  define the truth in this way, by geometry alone: descriptors have no part in it;
- the disparity is that of the pixel of the left view: column c there is column c minus disparity in the
  right view. The manual of scikit-image reads as if it were that of the right view, but grey values agree
  better so (correlation 0.94 against 0.86);
- points of the left view that something nearer hides from the right camera are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from verification.data.installed import require
from verification.data.pairs import Pairs, answerable_pairs

EXTRA = "held-out"

PIXELS = 1.5
SIZE_RATIO = 1.25
TURN = 2 * np.pi / 16


class Detections(NamedTuple):
    """What a detector found in one photograph, and how each point looks."""

    positions: FloatArray  # (points, 2): row and column
    sizes: FloatArray
    orientations: FloatArray  # in radians
    descriptors: FloatArray


def load_stereo() -> Pairs:
    """Give the descriptors of the points that are found in both views, (points, 128) each.

    It takes about ten seconds.
    """
    left, right, disparity = require("skimage.data", EXTRA).stereo_motorcycle()
    found_left, found_right = _detect(left), _detect(right)
    in_left, in_right = same_points(found_left, found_right, disparity)
    return answerable_pairs(found_left.descriptors[in_left], found_right.descriptors[in_right])


def same_points(left: Detections, right: Detections, disparity: FloatArray) -> tuple[IntArray, IntArray]:
    """Find which detections show the same point of the scene.

    Parameters
    ----------
    left, right : Detections
    disparity : array of shape (rows, columns)
        By how many columns a pixel of the left view lies further left in the right view; not finite
        where it is unknown.

    Returns
    -------
    tuple of two arrays of shape (pairs,)
        The numbers of the detections of the left and of the right view.
    """
    last = np.array(disparity.shape) - 1
    row, column = np.minimum(np.rint(left.positions), last).astype(np.intp).T
    known = disparity_of_visible(disparity)[row, column]
    expected = left.positions - np.stack([np.zeros_like(known), known], axis=1)
    distances = np.linalg.norm(expected[:, None] - right.positions[None], axis=2)
    ratios = np.abs(np.log(left.sizes[:, None] / right.sizes[None]))
    turns = np.abs((left.orientations[:, None] - right.orientations[None] + np.pi) % (2 * np.pi) - np.pi)
    # A comparison with NaN is false: where the disparity is unknown, nothing is a candidate.
    candidates = (distances < PIXELS) & (ratios < np.log(SIZE_RATIO)) & (turns < TURN)
    distances = np.where(candidates, distances, np.inf)
    nearest_right, nearest_left = distances.argmin(axis=1), distances.argmin(axis=0)
    numbers = np.arange(len(distances))
    mutual = candidates[numbers, nearest_right] & (nearest_left[nearest_right] == numbers)
    return numbers[mutual], nearest_right[mutual]


def disparity_of_visible(disparity: FloatArray) -> FloatArray:
    """Replace the disparity by NaN where the right camera does not see the pixel of the left view.

    Of the pixels that fall on the same one of the right view, the nearest to the cameras, with the largest
    disparity, hides those that are behind it by more than a pixel's worth of disparity.
    """
    targets = np.rint(np.arange(disparity.shape[1]) - disparity)
    rows, columns = np.nonzero(np.isfinite(targets) & (targets >= 0))
    reached = targets[rows, columns].astype(np.intp)
    shown = disparity[rows, columns]
    nearest = np.full(disparity.shape, -np.inf)
    np.maximum.at(nearest, (rows, reached), shown)
    visible = shown >= nearest[rows, reached] - 1
    result = np.full(disparity.shape, np.nan)
    result[rows[visible], columns[visible]] = shown[visible]
    return result


def _detect(picture: NDArray[np.uint8]) -> Detections:
    sift = require("skimage.feature", EXTRA).SIFT()
    sift.detect_and_extract(require("skimage.color", EXTRA).rgb2gray(picture))
    return Detections(
        positions=sift.positions,
        sizes=sift.sigmas,
        orientations=sift.orientations,
        descriptors=sift.descriptors.astype(np.float64),
    )
