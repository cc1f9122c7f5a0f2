"""``lslmatch match``: match two files of points."""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lslmatch import Diagnosis, check_certificate, diagnose, make_report, match
from lslmatch._rows import count_repeated
from lslmatch._types import IntArray
from lslmatch._validation import check_point_pair
from lslmatch.cli import match_options
from lslmatch.cli.defaults import keep_quick
from lslmatch.cli.match_details import say_details
from lslmatch.cli.match_json import as_json
from lslmatch.cli.match_reading import check_files, read_inputs, set_name
from lslmatch.cli.match_words import Answer, say
from lslmatch.cli.output import print_lines, print_text
from lslmatch.cli.progress import Progress
from lslmatch.diagnosis.columns import units_of
from lslmatch.geometry.distances import pair_distances
from lslmatch.io.sources import is_standard
from lslmatch.io.writing import write_csv, write_text
from lslmatch.results import Labels

#: Seconds of compiling that are worth a word.
_COMPILED = 0.1


def add_command(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    match_options.add_command(commands, run)


def run(options: argparse.Namespace) -> None:
    """Read two files, match their points, say what came out, and write the pairs."""
    match_options.check_options(options)
    check_files(options)
    with Progress(announce=not options.quiet) as progress:
        answer = find_answer(options, progress)
        columns = pair_columns(answer)
        if options.out is not None:
            progress.stage("writing")
            write_csv(options.out, columns)
        if options.report is not None:
            progress.stage("writing the report")
            write_text(options.report, _report(answer, options))
    if options.json:
        print_text(as_json(answer, columns, options))
    elif not options.quiet:
        to_stdout = options.out is None or not is_standard(options.out)
        lines = say(answer, options)
        if options.verbose:
            lines += say_details(answer, options)
        print_lines(lines, to_stdout)


def find_answer(options: argparse.Namespace, progress: Progress) -> Answer:
    """Match, check the certificate, and estimate how many pairs are right."""
    seconds: dict[str, float] = {}
    progress.stage("reading")
    inputs = read_inputs(options)
    x, y = inputs.x, inputs.y
    points = check_point_pair(x, y, options.alignment)
    limits = keep_quick(options, len(x), *points[1].shape)
    if not isinstance(inputs.covariance, np.ndarray):
        inputs = inputs._replace(covariance=options.covariance)

    progress.stage("matching")
    clock = _Clock(progress, seconds)
    with clock.measured("matching"), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = match(
            x,
            y,
            objective=options.objective,
            alignment=options.alignment,
            covariance=inputs.covariance,
            pairs=match_options.pairs_of(options),
            noise=inputs.noise,
            known=inputs.known,
            groups=inputs.groups,
            forbidden=inputs.forbidden,
            workers=options.workers,
        )._replace(labels=inputs.labels)
    result = result._replace(decisions=(*limits, *result.decisions))
    rows = np.flatnonzero(result.permutation >= 0)
    distance = pair_distances(*points, result.map, rows, result.permutation[rows], units_of(result))

    violation = diagnosis = None
    if not options.no_check:
        if result.row_dual is not None:
            progress.stage("checking the certificate")
            with clock.measured("certificate"):
                violation = check_certificate(x, y, result, workers=options.workers)
        if rows.size > 1:  # one pair says nothing about others
            progress.stage("estimating what is right")
            with clock.measured("trust"):
                margins = options.margins or "bound"
                diagnosis = diagnose(x, y, result, margins=margins, workers=options.workers)
    if progress.compiling >= _COMPILED:
        seconds["compiling"] = progress.compiling
    said = tuple(str(warning.message) for warning in heard)
    repeated = count_repeated(points[0]), count_repeated(points[1])
    return Answer(inputs, result, rows, distance, violation, diagnosis, seconds, said, repeated)


class _Clock:
    """Seconds of each step without those of compiling, which come once after an installation."""

    def __init__(self, progress: Progress, seconds: dict[str, float]) -> None:
        self._progress, self._seconds = progress, seconds

    @contextmanager
    def measured(self, step: str) -> Iterator[None]:
        """Put down the seconds of the block."""
        start, compiling = time.perf_counter(), self._progress.compiling
        yield
        self._seconds[step] = time.perf_counter() - start - (self._progress.compiling - compiling)


def _report(answer: Answer, options: argparse.Namespace) -> str:
    """Make the page of the match."""
    return make_report(
        answer.inputs.x,
        answer.inputs.y,
        answer.result,
        answer.diagnosis,
        names=(set_name(options.x), set_name(options.y)),
        columns=answer.inputs.columns,
        command=options.command,
        violation=math.nan if answer.violation is None else answer.violation,
    )


def pair_columns(answer: Answer) -> dict[str, NDArray[Any]]:
    """Give the columns that are written, a row for each pair."""
    rows, labels = answer.rows, answer.inputs.labels or Labels(None, None)
    cols = answer.result.permutation[rows]
    columns: dict[str, NDArray[Any] | None] = {
        "x": rows,
        "y": cols,
        "x_label": None if labels.x is None else labels.x[rows],
        "y_label": None if labels.y is None else labels.y[cols],
        "distance": answer.distance,
        **_trust_columns(answer.diagnosis, rows),
    }
    return {name: values for name, values in columns.items() if values is not None}


def _trust_columns(found: Diagnosis | None, rows: IntArray) -> dict[str, NDArray[Any] | None]:
    if found is None:
        return {}
    columns = {"noise": found.noise, "margin": found.margin, "confidence": found.confidence}
    return {name: None if values is None else values[rows] for name, values in columns.items()}
