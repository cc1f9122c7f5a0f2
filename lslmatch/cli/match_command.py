"""``lslmatch match``: match two files of points."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from lslmatch import Diagnosis, check_certificate, diagnose, match
from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_point_pair
from lslmatch.cli.covariance import covariance_file, describe_covariance, read_covariance
from lslmatch.cli.options import add_number
from lslmatch.cli.output import print_table
from lslmatch.cli.progress import Progress
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.io.tables import Table, check_output, read_table, write_csv
from lslmatch.results import MatchResult

_DESCRIPTION = """\
Match the points of X with the points of Y.

X and Y hold one point a row, in any order, with the same number of columns:
a 2-dimensional array in a .npy file, or comma-separated numbers in a .csv file,
whose first line is taken for a header if a word stands in it. If one set is
larger, some of its points stay without a partner.

The result is the scale, the shift and the pairs for which
    x[i]  is about  scale * y[j] + shift
with the smallest possible sum of costs over all matchings. The certificate is a
proof of that, checked over every pair; the greedy matching has none.
"""

EXAMPLES = """\
objectives (the cost of a pair at distance r):
  lsl      log r^2; for noise of unknown level that differs between points
  lss      r^2; for noise of the same level everywhere
  lsns     r^2 over the noise variance of the pair; needs --noise-x and --noise-y
  greedy   every point in turn takes the nearest one that is left; for comparison

alignments (where scale and shift come from):
  standardize   the means and the mean squares of X and Y
  identity      there are none: scale 1, shift 0
  profile       the likelihood; for noise of very different levels
  auto          whichever of the three the likelihood prefers

covariances (of the noise, between the coordinates of X):
  isotropic   equal in all directions, uncorrelated
  estimate    learned from the pairs; each pair is judged by the others, without itself
  auto        learned, and kept only if it predicts pairs clearly better than isotropic
  FILE        known: a (d, d) matrix or d variances, .npy or .csv; only its shape counts

  The cross-entropy in the output says how badly pairs are predicted, each without
  itself: 0 is certain. The certificate proves that the pairs are optimal under the
  covariance that was learned, not that this covariance is the best one.

examples:
  lslmatch match x.npy y.npy --out pairs.csv
  lslmatch match x.npy y.npy --alignment auto --out pairs.csv
  lslmatch match x.npy y.npy --covariance auto --out pairs.csv
  lslmatch match x.npy y.npy --covariance noise.npy
  lslmatch match x.csv y.csv --objective lss --out pairs.csv
  lslmatch match x.npy y.npy --objective lsns --noise-x sx.npy --noise-y sy.npy

  lslmatch match x.npy y.npy --diagnose --margins exact --out pairs.csv

The output has the columns x, y (row numbers from 0) and distance (after alignment,
in the units of X, whatever the covariance).
With --diagnose also noise (the estimated level of x), margin (how much the objective
rises if the pair is forbidden) and confidence (the probability that it is right; left
out above 16 million pairs of points). The greedy matching has the first one only.
"""


def add_command(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    matching = commands.add_parser(
        "match",
        help="match two files of points",
        description=_DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    matching.set_defaults(run=run)
    matching.add_argument("x", metavar="X", type=Path, help="the first set, .npy or .csv")
    matching.add_argument("y", metavar="Y", type=Path, help="the second set, .npy or .csv")
    for name, default, meaning in (
        ("--objective", "lsl", "lsl, lss, lsns or greedy, explained below"),
        ("--alignment", "standardize", "standardize, identity, profile or auto, explained below"),
    ):
        matching.add_argument(name, default=default, metavar="NAME", help=f"{meaning} (default: {default})")
    matching.add_argument(
        "--covariance",
        default="isotropic",
        metavar="NAME|FILE",
        help="isotropic, estimate, auto or a file, explained below (default: isotropic)",
    )
    for name, meaning in (
        ("--noise-x", "noise level of every point of X, .npy or .csv"),
        ("--noise-y", "noise level of every point of Y, .npy or .csv"),
        ("--out", "where to write the pairs, .csv"),
    ):
        matching.add_argument(name, metavar="FILE", type=Path, help=meaning)
    matching.add_argument(
        "--diagnose", action="store_true", help="estimate how far the result can be trusted"
    )
    matching.add_argument(
        "--margins", metavar="NAME", help="with --diagnose: bound (quick) or exact (default: bound)"
    )
    add_number(matching, "--workers", 1, "threads to use")


def run(options: argparse.Namespace) -> None:
    """Read two files, match their points, and write the pairs."""
    with_noise = options.noise_x is not None
    if with_noise != (options.noise_y is not None):
        raise ValueError("--noise-x and --noise-y must be given together")
    more_paths = [options.noise_x, options.noise_y] if with_noise else []
    matrix_path = covariance_file(options.covariance)
    if matrix_path is not None:
        more_paths.append(matrix_path)
    if options.out is not None:
        check_output(options.out, [options.x, options.y, *more_paths])
    if options.margins is not None and not options.diagnose:
        raise ValueError("--margins needs --diagnose")

    with Progress() as progress:
        progress.stage("reading")
        x, y = read_table(options.x), read_table(options.y)
        noise = (_read_levels(options.noise_x), _read_levels(options.noise_y)) if with_noise else None
        covariance = read_covariance(options.covariance)

        progress.stage("matching")
        start = time.perf_counter()
        result = match(
            x.values,
            y.values,
            objective=options.objective,
            alignment=options.alignment,
            covariance=covariance,
            noise=noise,
            workers=options.workers,
        )
        seconds = time.perf_counter() - start

        progress.stage("checking the certificate")
        certificate = _certify(x.values, y.values, result, options.workers)
        pairs = _pairs(x.values, y.values, result)
        columns: dict[str, np.ndarray[Any, Any]] = dict(zip(("x", "y", "distance"), pairs, strict=True))
        diagnosis = {}
        if options.diagnose:
            progress.stage("diagnosing")
            found = diagnose(
                x.values, y.values, result, margins=options.margins or "bound", workers=options.workers
            )
            columns |= _diagnosed_columns(found, pairs[0])
            diagnosis = _describe_diagnosis(found, pairs[0])
        if options.out is not None:
            write_csv(options.out, tuple(columns), tuple(columns.values()))

    noise_shape = {}
    if result.covariance is not None:
        both = len(x.values) * len(y.values)
        noise_shape["covariance"] = describe_covariance(options.covariance, result.covariance, both)
    print_table(
        {
            "x": _describe(options.x, x),
            "y": _describe(options.y, y),
            "pairs": f"{len(pairs[0])}" + (f", written to {options.out}" if options.out else ""),
            "scale": f"{result.scale:.6g}",
            "shift": _abridge(result.shift),
            **noise_shape,
            "objective": f"{result.objective:.10g} ({result.criterion})",
            "certificate": certificate,
            "seconds": f"{seconds:.3f}",
            **diagnosis,
        }
    )


def _read_levels(path: Path) -> np.ndarray[Any, Any]:
    """Read a vector, which in a .csv file is a column."""
    values = read_table(path).values
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _certify(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], result: MatchResult, workers: int) -> str:
    if result.row_dual is None:
        return "none"
    violation = check_certificate(x, y, result, workers=workers)
    # Weak duality: with every condition met up to `violation`, no matching of n and m points costs
    # less than this one by more than 2 max(n, m) times as much.
    gap = 2 * max(len(x), len(y)) * violation
    found = result.covariance
    learned = found is not None and found.rounds > 0 and not found.is_isotropic
    under = " under this covariance" if learned else ""
    return f"optimal{under}, proven to within {gap:.1e} (largest violation {violation:.1e})"


def _pairs(
    x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], result: MatchResult
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the matched rows of both sets, and how far apart they are after alignment."""
    rows = np.flatnonzero(result.permutation >= 0)
    cols = result.permutation[rows]
    # In units in which neither very large or small values nor a common offset do any harm.
    pairs = common_coordinates(*check_point_pair(x, y), result.affine).taken(rows, cols)
    difference = (pairs.a - pairs.b) + (pairs.a_low - pairs.b_low)
    unit = np.abs(difference).max() or 1.0
    with np.errstate(over="ignore"):
        return rows, cols, np.ldexp(unit * np.linalg.norm(difference / unit, axis=1), pairs.exponent)


def _diagnosed_columns(found: Diagnosis, rows: IntArray) -> dict[str, FloatArray]:
    columns = {"noise": found.noise, "margin": found.margin, "confidence": found.confidence}
    return {name: values[rows] for name, values in columns.items() if values is not None}


def _describe_diagnosis(found: Diagnosis, rows: IntArray) -> dict[str, str]:
    theorem = (
        f"Theorem 2 needs {found.threshold:.4g}"
        if np.isfinite(found.threshold)
        else "Theorem 2 does not apply"
    )
    described = {
        "verdict": found.verdict,
        "separation": f"{found.separation:.4g} (noise floor {found.noise_floor:.4g}, {theorem})",
        "noise": f"{np.median(found.noise[rows]):.4g} median, ratio of variances {found.noise_ratio:.4g}",
    }
    if found.margin is not None:
        described["margin"] = (
            f"{found.margin[rows].min():.4g} least, {np.median(found.margin[rows]):.4g} median"
        )
    if found.confidence is not None:
        confidence = found.confidence[rows]
        described["confidence"] = (
            f"{confidence.mean():.1%} mean, below 90% for {np.sum(confidence < 0.9)} of {rows.size} pairs"
        )
    return described


def _describe(path: Path, table: Table) -> str:
    points, dimensions = table.values.shape
    header = ", after a header" if table.has_header else ""
    return f"{points} points, d = {dimensions}, from {path}{header}"


def _abridge(shift: FloatArray) -> str:
    values = [f"{value:.4g}" for value in shift]
    if len(values) > 6:
        values[3:-2] = ["..."]
    return " ".join(values)
