"""What ``lslmatch match --json`` prints: one object for machines."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

import numpy as np

from lslmatch import __version__
from lslmatch.cli.match_words import Answer


def as_json(answer: Answer, columns: dict[str, Any], options: argparse.Namespace) -> str:
    """Give everything as one line of JSON; what is not known, NaN or infinite is null.

    `columns` are those of the pairs, as they are written to a file.
    """
    result, found, inputs = answer.result, answer.diagnosis, answer.inputs
    doubtful = answer.to_look_at
    said: dict[str, Any] = {
        "lslmatch": __version__,
        "x": {"file": str(options.x), "points": len(inputs.x)},
        "y": {"file": str(options.y), "points": len(inputs.y)},
        "columns": inputs.columns,
        "notes": inputs.notes,
        "warnings": answer.warnings,
        "decisions": result.decisions,
        "names": dict(zip(("in_common", "agree"), result.names_in_common, strict=True)),
        "repeated_rows": {"x": answer.repeated[0], "y": answer.repeated[1]},
        "objective": {"name": result.criterion, "value": result.objective},
        "scale": {"value": result.scale, "standard_error": None if found is None else found.scale_error},
        "shift": {
            "value": result.shift,
            "standard_error": None if found is None else found.shift_error,
        },
        "columns_map": _columns(answer),
        "certificate": {"violation": answer.violation, "gap": answer.gap},
        "trust": None,
        "seconds": answer.seconds,
        "pairs": columns,
    }
    if found is not None:
        said["trust"] = {
            "doubtful": answer.is_doubtful,
            "verdict": found.verdict,
            "expected_right": found.expected_right,
            "expected_right_interval": found.expected_right_interval,
            "look_at": doubtful,
            "separation": found.separation,
            "noise_floor": found.noise_floor,
            "threshold": found.threshold,
            "noise_ratio_interval": found.noise_ratio_interval,
            "known": None,
        }
        if found.known_again is not None:
            said["trust"]["known"] = {
                "found": found.known_again.found,
                "left_out": found.known_again.asked,
                "interval": found.known_again.interval,
            }
    return json.dumps(_plain(said), allow_nan=False)


def _columns(answer: Answer) -> dict[str, Any] | None:
    """Give the scale and the shift of each column, and how much partners differ in it."""
    result, found = answer.result, answer.diagnosis
    report = None if found is None else found.columns_report
    if result.column_map is None and report is None:
        return None
    said = {"scales": np.broadcast_to(getattr(result.map, "scales", result.scale), result.shift.shape)}
    said["shift"] = result.shift
    if report is not None:
        said |= {
            "scales_error": report.factor_error,
            "shift_error": report.shift_error,
            "noise": report.noise,
        }
    return said


def _plain(value: Any) -> Any:
    """Make something of plain types that JSON has."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)
