"""``lslmatch demo``: match built-in data, and compare with the truth."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from lslmatch import match
from lslmatch.cli.options import add_number
from lslmatch.cli.output import print_table
from lslmatch.cli.progress import Progress
from lslmatch.model import random_configuration
from lslmatch.results import MatchResult

_DESCRIPTION = """\
Match built-in random data: n points in d dimensions and their copies, three times
smaller, shifted and shuffled, both observed with noise whose level differs between
points. Plain LSL ignores the scale and the shift; affine LSL estimates both first.
"""

EXAMPLES = """\
examples:
  lslmatch demo
  lslmatch demo --d 20             in many dimensions, plain LSL suffers less
  lslmatch demo --n 3000 --seed 1

The first run after installing also compiles, which takes some seconds.
"""

# Points far enough apart for affine LSL, moved by about as much as they are spread.
_SEPARATION = 4.0
_NOISE_RATIO = 25.0
_SCALE = 3.0
_SHIFT = 1000.0


def add_command(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    demo = commands.add_parser(
        "demo",
        help="match built-in data and compare with the truth",
        description=_DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    demo.set_defaults(run=run)
    add_number(demo, "--n", 1000, "points in each set")
    add_number(demo, "--d", 3, "dimensions")
    add_number(demo, "--seed", 0, "seed of the random data")


def run(options: argparse.Namespace) -> None:
    """Draw two sets, match them with and without alignment, and count the pairs recovered."""
    start = time.perf_counter()
    with Progress() as progress:
        progress.stage("drawing the data")
        rng = np.random.default_rng(options.seed)
        truth = random_configuration(
            options.n,
            options.d,
            separation=_SEPARATION,
            noise_ratio=_NOISE_RATIO,
            scale=_SCALE,
            shift=_SHIFT,
            rng=rng,
        )
        x, y = truth.sample(rng)
        progress.stage("matching without alignment")
        plain = match(x, y, alignment="identity")
        progress.stage("matching")
        before_affine = time.perf_counter()
        affine = match(x, y)
        finish = time.perf_counter()

    def recovered(result: MatchResult) -> str:
        return f"{np.mean(result.permutation == truth.permutation):.1%} of the pairs recovered"

    print_table(
        {
            "n": f"{options.n}",
            "d": f"{options.d}",
            "scale": f"{affine.scale:.4f} estimated, {truth.scale:.4f} true",
            "plain LSL": recovered(plain),
            "affine LSL": recovered(affine),
            "seconds": f"{finish - start:.3f} (affine LSL {finish - before_affine:.3f})",
        }
    )
