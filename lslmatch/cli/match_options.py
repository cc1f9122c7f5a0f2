"""The arguments of ``lslmatch match``, and its help."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lslmatch.cli.defaults import fill_in
from lslmatch.cli.options import add_number
from lslmatch.results import FalseShare
from lslmatch.tables import ALIGNMENTS, COVARIANCES, OBJECTIVES

_DESCRIPTION = """\
Match the points of X with the points of Y.

X and Y hold one point a row, in any order. If both have names of columns, columns
are paired by name, in any order; names that do not agree are an error. If one set
is larger, some of its points stay without a partner.

The result is the scale (or one for each column), the shift and the pairs for which
    x[i]  is about  scale * y[j] + shift
with the smallest possible sum of costs over all matchings. That it is the smallest is
proven, and checked over every pair (the greedy matching has no proof). It is no
evidence that pairs are right: how many are is estimated, and said first.
"""


def listed(table: Mapping[str, Any], default: str | None = None, **more: str) -> str:
    """List the names of a table and what they mean, one below the other."""
    entries = {name: row.help + " (the default)" * (name == default) for name, row in table.items()} | more
    width = max(map(len, entries)) + 5
    lines = []
    for name, text in entries.items():
        start = f"  {name}".ljust(width)
        lines.append(textwrap.fill(text, 88, initial_indent=start, subsequent_indent=" " * width))
    return "\n".join(lines)


def _names(table: Mapping[str, Any], last: str = "") -> str:
    """List the names of a table in a line."""
    *names, final = [*table, last] if last else list(table)
    return f"{', '.join(names)} or {final}"


EXAMPLES = f"""\
files:
  .csv .tsv .txt      text: commas, semicolons, tabs or blanks; quotes; decimal commas
                      if the separator is no comma; a first line of names is recognised
  .npy .npz           NumPy's; of several arrays in a .npz file --array names one
  .parquet .feather   need pyarrow: pip install 'lslmatch[files]'
  .xlsx               the first sheet; needs pandas and openpyxl: the same extra
  .gz                 after any of these suffixes; "-" is standard input or output
  Columns are called by their names, or by their numbers from 0 if they have none.
  What unpacks to more than 2 GB, or to more than 16 million lines, is refused, and so
  are pickles and devices.

objectives (the cost of a pair at distance r):
{listed(OBJECTIVES)}

alignments (where scale and shift come from):
{listed(ALIGNMENTS, "auto")}

covariances (of the noise, between the coordinates of X):
{listed(COVARIANCES, "auto", FILE="known: a (d, d) matrix or d variances; only its shape counts")}

pairs (how many are matched):
  auto        those that are more probably true than of points without a partner
              (the default)
  all         every point of the smaller set gets a partner
  NUMBER      this number of pairs, those that cost least together
  P%          as many as have at most P percent of false ones among them, by estimate
  "P% proven" the same by a theorem: pairs are made without a look at which set a point
              is from, and have no certificate

  What was chosen automatically, and why, is in the output. Other objectives than lsl
  have the defaults of --paper; so have points that are many, and the output says so:
  the alignment above 67 million pairs of points, the number of pairs above 4 million,
  the covariance above 1 million or 134 million numbers (pairs times coordinates).

  The cross-entropy in the output says how badly pairs are predicted, each without
  itself: 0 is certain. The certificate proves that the pairs are optimal under the
  covariance that was learned, not that this covariance is the best one.

examples:
  lslmatch match x.csv y.csv --out pairs.csv
  lslmatch match x.csv y.csv --id sample --columns height,weight --out pairs.csv
  lslmatch match x.npy y.npy --paper --out pairs.csv
  lslmatch match x.npy y.npy --pairs all --out pairs.csv
  lslmatch match x.npy y.npy --covariance noise.npy
  lslmatch match x.csv y.csv --objective lss --quiet --out pairs.csv
  lslmatch match x.npy y.npy --objective lsns --noise-x sx.npy --noise-y sy.npy
  lslmatch match x.npy y.npy --margins exact --json
  lslmatch match x.csv y.csv --id sample --report match.html
  lslmatch match x.csv y.csv --id sample --group sex --known pairs.csv
  lslmatch match x.npy y.npy --alignment linear --known pairs.csv
  lslmatch match stars.csv plate.csv --turned --out pairs.csv

The pairs have the columns x and y (row numbers from 0), x_label and y_label if rows
have names, distance (after alignment, in the units of X, whatever the covariance),
noise (the estimated level of x), margin (how much the objective rises if the pair is
forbidden) and confidence (the probability that it is right; left out above 16 million
pairs of points, and then the output says so). The greedy matching has no margins and
confidences, and with --no-check there is nothing after distance.

Known pairs and forbidden ones are in tables of text: the names of rows if they have
some, or row numbers from 0, of X and then of Y; or a file that --out has written. Known
pairs are in the answer and teach scale and shift; 10 or more say how many others are
right. With --alignment linear, X and Y may have other columns, and not as many.

The report is one file that opens in a browser without a network: what was found in
words, the points, a table of pairs to sort and search, and both rows of a pair side
by side. Up to 5,000 pairs are in it; above that, the doubtful ones and a sample.
"""


def add_command(commands: Any, run: Any) -> None:
    """Add the command to a parser's subparsers."""
    parser = commands.add_parser(
        "match",
        help="match two files of points",
        description=_DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("x", metavar="X", type=Path, help='the file of the first set, or "-"')
    parser.add_argument("y", metavar="Y", type=Path, help='the file of the second set, or "-"')
    _add_reading(parser)
    _add_matching(parser)
    _add_output(parser)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is read")
    group.add_argument(
        "--columns",
        metavar="A,B,...",
        help="the columns that are coordinates, or common: those of numbers that both files have (default: "
        "all but --id)",
    )
    group.add_argument(
        "--id", metavar="NAME", help="the column that names the rows; or NAME_X,NAME_Y, or NAME_X, for X only"
    )
    group.add_argument("--array", metavar="NAME", help="which array of a .npz file to take")


def _add_matching(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how it is matched")
    group.add_argument(
        "--objective",
        default="lsl",
        metavar="NAME",
        help=f"{_names(OBJECTIVES)}, explained below (default: lsl)",
    )
    group.add_argument(
        "--alignment",
        metavar="NAME",
        help=f"{_names(ALIGNMENTS)}, explained below (default: auto)",
    )
    group.add_argument(
        "--turned",
        action="store_true",
        help="one set may be turned or mirrored as a whole: --alignment similarity",
    )
    group.add_argument(
        "--covariance",
        metavar="NAME|FILE",
        help=f"{_names(COVARIANCES, 'a file')}, explained below (default: auto)",
    )
    group.add_argument(
        "--pairs",
        metavar="NUMBER",
        help="all, auto, a number, or P%%: as many as have P percent of false ones (default: auto)",
    )
    group.add_argument(
        "--paper",
        action="store_true",
        help="as in the paper, unless asked: alignment standardize, covariance isotropic, all pairs",
    )
    for name, meaning in (
        ("--noise-x", "noise level of every point of X"),
        ("--noise-y", "noise level of every point of Y"),
    ):
        group.add_argument(name, metavar="FILE", type=Path, help=meaning)
    for name, meaning in (
        ("--known", "pairs that are right for certain, a row of X and one of Y in each line"),
        ("--forbidden", "pairs that must not be"),
    ):
        group.add_argument(name, metavar="FILE", type=Path, help=meaning)
    group.add_argument(
        "--group", metavar="NAME", help="the column of both files whose value partners have in common"
    )
    add_number(group, "--workers", 1, "threads to use")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what comes out")
    group.add_argument("--out", metavar="FILE", type=Path, help='where to write the pairs, .csv or "-"')
    group.add_argument(
        "--report", metavar="FILE", type=Path, help="where to write a page about the match, .html"
    )
    group.add_argument(
        "--margins", metavar="NAME", help="bound (quick) or exact, for each pair (default: bound)"
    )
    group.add_argument(
        "--no-check", action="store_true", help="neither verify the certificate nor estimate what is right"
    )
    group.add_argument("--json", action="store_true", help="print everything as one JSON object")
    group.add_argument(
        "--verbose", action="store_true", help="also say how it was found, with the numbers behind it"
    )
    group.add_argument("--quiet", action="store_true", help="print nothing but errors")
    # Since it is always done, an option that older commands may have.
    parser.add_argument("--diagnose", action="store_true", help=argparse.SUPPRESS)


def pairs_of(options: argparse.Namespace) -> str | int | FalseShare:
    """Give what `match` is to be told about the number of pairs."""
    text = str(options.pairs).strip()
    share = text.removesuffix("proven").rstrip()
    if share.endswith("%"):
        try:
            return FalseShare(float(share[:-1]) / 100.0, proof=share != text)
        except ValueError:
            raise ValueError(
                f"--pairs must be all, auto, a number, or a share such as 5%; got {text!r}"
            ) from None
    return int(text) if text.isdecimal() else text


def check_options(options: argparse.Namespace) -> None:
    """Refuse options that contradict each other, and fill in those that were not given."""
    if options.turned:
        if options.alignment not in (None, "similarity"):
            raise ValueError(f"--turned contradicts --alignment {options.alignment}")
        options.alignment = "similarity"
    fill_in(options)
    if (options.noise_x is None) != (options.noise_y is None):
        raise ValueError("--noise-x and --noise-y must be given together")
    for name, given in (("--margins", options.margins is not None), ("--diagnose", options.diagnose)):
        if options.no_check and given:
            raise ValueError(f"{name} contradicts --no-check")
    if options.quiet and options.verbose:
        raise ValueError("--verbose contradicts --quiet")
    if options.json and (options.quiet or str(options.out) == "-"):
        raise ValueError("--json needs standard output for itself: not with --quiet, nor with --out -")
    if options.report is not None and str(options.report) == "-":
        raise ValueError("--report needs the name of a file; '-' is for --out")
    standard = [path for path in (options.x, options.y, options.noise_x, options.noise_y) if str(path) == "-"]
    if len(standard) > 1:
        raise ValueError("standard input can be one file only; got '-' more than once")
