"""What the pages on adding an objective and an alignment say is done, in a copy of the library, and used."""

import re
import shutil
from pathlib import Path

import pytest

import lslmatch
from tests.support.processes import run_python

LIBRARY = Path(lslmatch.__file__).parent
PAGES = LIBRARY.parent / "docs" / "howto"
USE = """
import warnings
import numpy as np
from lslmatch import Matcher, check_certificate, diagnose, match, match_many, match_path
from lslmatch.cli.match_options import EXAMPLES

warnings.simplefilter("ignore")
rng = np.random.default_rng(1)
points = 3.0 * rng.normal(size=(8, 2))
x, y = points + 0.01 * rng.normal(size=(8, 2)), (points[::-1] - 5.0) / 2.0
options = {OPTIONS}
result = match(x, y, **options)
assert result.permutation.tolist() == list(range(8))[::-1], result
assert check_certificate(x, y, result) < 1e-9
assert check_certificate(x, y, result._replace(permutation=np.roll(result.permutation, 1))) > 1e-3
assert match_many([x], [y], **options)[0].objective == result.objective
matcher = Matcher(**{"alignment": "standardize", **options}, covariance="isotropic", pairs="all").fit(x, y)
assert matcher.result_.objective == result.objective
assert abs(match_path(x, y, **options).objective[-1] - result.objective) < 1e-9
assert check_certificate(x, y, match(x, y, pairs=5, **options)) < 1e-9
judged = diagnose(x, y, result)
assert (judged.margin >= 0.0).all() and (judged.confidence > 0.5).mean() > 0.5
for option, name in options.items():
    assert f" {name} " in " ".join(EXAMPLES.split()), "the help of the command line has it"
    try:
        match(x, y, **{option: "nothing"})
    except ValueError as error:
        assert repr(name) in str(error), error
{MORE}
print("done")
"""
MORE = {
    "objective": """
least = match(x, y, alignment=result.map, objective="lss").objective
assert abs(result.objective - least / 2.0) < 1e-12
squares = ((x - result.map.apply(y)[result.permutation]) ** 2).sum()
assert abs(result.objective - squares / 2.0) < 1e-12
""",
    "alignment": """
wild = x.copy()
wild[0] = 1e6
# One wild point of eight moves medians by a place, and the moments by 1e5.
assert 1.0 < match(wild, y, **options).scale < 10.0
assert match(wild, y).scale > 1e4
""",
}


def follow(page, folder):
    """Write the files of a page and make its changes; say which files they are."""
    done = []
    for name, content in re.findall(r"`(lslmatch/\S+\.py)`:\n\n```python\n(.*?)```", page, re.DOTALL):
        assert not (folder / name).exists(), "a file of its own"
        (folder / name).write_text(content, encoding="utf-8")
        done.append(name)
    for name, change in re.findall(r"```diff\n--- (\S+)\n(.*?)```", page, re.DOTALL):
        path, lines = folder / name, change.splitlines()
        text = path.read_text(encoding="utf-8")
        # A line that stays ends a change.
        start = 0
        for stop in [k for k in range(1, len(lines) + 1) if k == len(lines) or is_new(lines, k)]:
            part = lines[start:stop]
            before, after = ("\n".join(line[1:] for line in part if line[0] in kept) for kept in (" -", " +"))
            assert text.count(before) == 1, f"{name} has this once: {before}"
            text, start = text.replace(before, after), stop
        path.write_text(text, encoding="utf-8")
        done.append(name)
    return done


def is_new(lines, k):
    """Say whether a change begins with line k: one that stays or goes, after one that was added."""
    return lines[k][0] in " -" and lines[k - 1][0] == "+"


@pytest.mark.parametrize(
    ("name", "options", "files"),
    [
        ("objective", {"objective": "energy"}, 3),
        ("alignment", {"alignment": "medians"}, 2),
    ],
)
def test_what_the_page_says_is_all_there_is_to_do(name, options, files, tmp_path):
    shutil.copytree(LIBRARY, tmp_path / "lslmatch", ignore=shutil.ignore_patterns("__pycache__"))
    assert len(follow((PAGES / f"{name}.md").read_text(encoding="utf-8"), tmp_path)) == files
    program = USE.replace("{OPTIONS}", repr(options)).replace("{MORE}", MORE[name])
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    done = run_python("-c", program, folder=tmp_path, **environment)
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr[-3000:]
