"""How the documentation is built: ``tox -e docs``, or ``sphinx-build -W docs docs/_build/html``."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import latex2mathml.converter
from docutils.nodes import SkipNode

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
sys.path.insert(0, str(CHECKOUT))

import lslmatch  # noqa: E402

project = "lslmatch"
author = "the lslmatch developers"
copyright = author
version = release = lslmatch.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings give types and shapes in words
numpydoc_show_class_members = False  # the template of classes lists the fields

myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"  # what browsers draw by themselves, see the end of this file
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
nb_execution_mode = "off"  # outputs are committed; `tox -e notebooks` runs them
nb_ipywidgets_js = {}  # nothing is loaded from elsewhere

smartquotes = False  # option names are quoted as they are typed

html_theme = "furo"
html_title = f"lslmatch {release}"
html_static_path = ["_static"]
html_css_files = ["lslmatch.css"]
html_copy_source = False
html_show_sphinx = False
# System fonts; every page is readable without a network.
html_theme_options = {"navigation_with_keys": False}


def _copy_notebooks() -> None:
    """Bring the notebooks under the source folder, where Sphinx looks for pages."""
    target = HERE / "notebooks"
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted((CHECKOUT / "notebooks").glob("*.ipynb")):
        target.mkdir(exist_ok=True)
        shutil.copy(path, target)


def _write_help() -> None:
    """Ask the command line for its help, so that the reference quotes it as it is."""
    command = [sys.executable, "-m", "lslmatch", "match", "--help"]
    environment = os.environ | {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    target = HERE / "generated" / "help.txt"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(
        subprocess.run(command, cwd=CHECKOUT, env=environment, check=True, capture_output=True).stdout
    )


def _add_formula(translator: Any, node: Any, display: str) -> None:
    """Write a formula as MathML, which needs no script and nothing from elsewhere."""
    translator.body.append(latex2mathml.converter.convert(node.astext().strip(), display=display))
    raise SkipNode


#: What separates the two ends of an interval, as it is written in tables.
_WITHIN_INTERVAL = re.compile("(?<=[0-9],) (?=[-\N{MINUS SIGN}]?[0-9.]+\\])")


def _keep_intervals(app: Any, page: str, source: list[str]) -> None:
    """Keep the two ends of an interval on one line where the columns of a table are narrow."""
    lines = source[0].split("\n")
    kept = [
        _WITHIN_INTERVAL.sub("\N{NO-BREAK SPACE}", line) if line.startswith("|") else line for line in lines
    ]
    source[0] = "\n".join(kept)


def setup(app: Any) -> None:
    """Tell Sphinx how formulas are written, and which words stay together."""
    app.connect("source-read", _keep_intervals)
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(lambda translator, node: _add_formula(translator, node, "inline"), None),
        block_renderers=(lambda translator, node: _add_formula(translator, node, "block"), None),
    )


_copy_notebooks()
_write_help()
