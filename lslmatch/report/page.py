"""The page of a match: sentences, the clouds, a table of pairs, the proof, and how to repeat it.

The file holds all that it needs and asks for nothing: its own content security policy allows no request, and
no script or style but those that are named there by their hash. Words from the data stand in it as text only.
"""

from __future__ import annotations

import base64
import hashlib
import html
import platform
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib import import_module
from importlib.resources import files
from typing import Any

from lslmatch._frames import column_names
from lslmatch._validation import check_matching, check_point_pair
from lslmatch.certificate.checking import check_certificate
from lslmatch.diagnosis.outcome import Diagnosis
from lslmatch.report import words
from lslmatch.report.data import as_script, page_data
from lslmatch.report.listing import list_pairs
from lslmatch.results import MatchResult

_PACKAGES = ("lslmatch", "numpy", "scipy", "numba")


def make_report(
    x: Any,
    y: Any,
    result: MatchResult,
    diagnosis: Diagnosis | None = None,
    *,
    names: tuple[str, str] = ("x", "y"),
    columns: Sequence[str] | None = None,
    command: str | None = None,
    violation: float | None = None,
) -> str:
    """Make an HTML page about a match, in one file that needs no network.

    It says in words what was found, draws both sets with their pairs, lists the pairs in a table that can be
    sorted and searched, shows the rows of a pair side by side, and ends with the certificate and the
    versions. Up to 5,000 pairs are listed; above that, the doubtful ones and a sample.

    Parameters
    ----------
    x, y : array_like of shapes (n, d) and (m, d)
        The sets that were matched.
    result : MatchResult
        What :func:`match` returned for them.
    diagnosis : Diagnosis, optional
        What :func:`diagnose` said of it; without it no pair is called doubtful.
    names : tuple of two str, default ("x", "y")
        What the sets are called, such as the names of their files.
    columns : sequence of str, optional
        The names of the coordinates; those of the columns of x unless given.
    command : str, optional
        The command that repeats the match, to be shown.
    violation : float, optional
        What :func:`check_certificate` returned; computed unless given. NaN if it is not to be checked.

    Returns
    -------
    str
        The page. Write it as UTF-8.

    Examples
    --------
    >>> from lslmatch import diagnose, make_report, match
    >>> from lslmatch.model import random_configuration
    >>> x, y = random_configuration(30, 4, separation=3.0, rng=0).sample(rng=1)
    >>> result = match(x, y)
    >>> page = make_report(x, y, result, diagnose(x, y, result))
    >>> page.startswith("<!doctype html>"), "30 pairs" in page
    (True, True)
    """
    columns = result.columns or column_names(x, "x") if columns is None else tuple(columns)
    x, y = check_point_pair(x, y, result.matrix_map, result.columns)
    permutation = check_matching(result.permutation, "result.permutation", len(x), len(y), partial=True)
    result = result._replace(permutation=permutation)
    if violation is None and result.row_dual is not None:
        violation = check_certificate(x, y, result)
    listing = list_pairs(result, diagnosis)
    data = page_data(x, y, result, diagnosis, listing, columns)
    style, script = _part("page.css"), _part("page.js")
    values = {
        "policy": f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}",
        "style": style,
        "script": script,
        "data": as_script(data),
        "title": _text(f"{names[0]} and {names[1]}, matched"),
        "x": _text(names[0]),
        "y": _text(names[1]),
        "found": _text(words.found(x, y, result, names)),
        "trust": _text(words.trust(diagnosis)),
        "listed": _text(words.listed(result, listing)),
        "proof": _text(words.proof(result, violation, max(len(x), len(y)))),
        "facts": "".join(
            f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>"
            for name, value in words.facts(result, diagnosis)
        ),
        "command": "" if command is None else f"<p>To repeat it:</p><pre><code>{_text(command)}</code></pre>",
        "versions": _text(_versions()),
    }
    page = _part("page.html")
    # Each name once, from the template alone: what is filled in is not looked at again.
    pieces = page.split("{{")
    return pieces[0] + "".join(values[name] + rest for name, rest in (p.split("}}", 1) for p in pieces[1:]))


def _part(name: str) -> str:
    return (files("lslmatch.report") / name).read_text(encoding="utf-8")


def _text(value: str) -> str:
    """Give text that is text in HTML too, and in every encoding."""
    return html.escape(value.encode("utf-8", "backslashreplace").decode())


def _hash(part: str) -> str:
    digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _versions() -> str:
    found = ", ".join(f"{package} {import_module(package).__version__}" for package in _PACKAGES)
    day = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return f"Made on {day} by {found}, Python {platform.python_version()}."
