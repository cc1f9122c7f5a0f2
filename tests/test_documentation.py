"""The pages of docs/: each can be reached, its examples print what it says, its links lead somewhere."""

import contextlib
import fnmatch
import importlib
import inspect
import io
import json
import re
from pathlib import Path

import pytest

import lslmatch
from tests.benchmarks import distribution, scale
from tests.support.reference import SMALL

CHECKOUT = Path(__file__).parents[1]
DOCS = CHECKOUT / "docs"
#: Pages that were written; what a build leaves behind is not among them.
PAGES = {
    path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted([*DOCS.glob("*.md"), *DOCS.glob("howto/*.md")])
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


# ------------------------------------------------------------------------------------ pages


def table_of_contents():
    """Give the entries of all toctrees of the first page."""
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```$", PAGES["index.md"], re.MULTILINE | re.DOTALL)
    return [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]


def unlisted(pages, entries):
    """Give the pages that no entry leads to."""
    return [
        page
        for page in pages
        if page != "index.md" and not any(fnmatch.fnmatch(page.removesuffix(".md"), e) for e in entries)
    ]


def test_every_page_is_in_the_table_of_contents():
    assert unlisted(PAGES, table_of_contents()) == []


def test_a_forgotten_page_is_noticed():
    assert unlisted(["index.md", "howto/forgotten.md"], table_of_contents()) == ["howto/forgotten.md"]


@pytest.mark.parametrize("entry", [entry for entry in table_of_contents() if "*" not in entry])
def test_entry_of_the_table_of_contents_is_a_page(entry):
    assert f"{entry}.md" in PAGES


# --------------------------------------------------------------------------------- examples


def run_examples(name, text):
    """Run the Python blocks of a page in order, in one namespace; give what was said and what was printed."""
    namespace, pairs, printed = {}, [], None
    for language, content in BLOCK.findall(text):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(content, name, "exec"), namespace)
            if printed:
                pairs.append(("", printed))  # printed, and not shown
            printed = output.getvalue()
        elif language == "text" and printed is not None:
            pairs.append((content, printed))
            printed = None
    return pairs + ([("", printed)] if printed else [])


@pytest.mark.skipif(SMALL, reason="the examples are too large for kernels as plain Python")
@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if "```python" in text])
def test_examples_print_what_the_page_says(name):
    for said, printed in run_examples(name, PAGES[name]):
        assert printed == said


def test_a_wrong_example_is_noticed():
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n```python\nprint('unsaid')\n```\n"
    assert run_examples("page", page) == [("3\n", "2\n"), ("", "unsaid\n")]


# ------------------------------------------------------------------------------------ links


def links(text):
    """Give the targets of the links and pictures of a page, without those in code."""
    prose = re.sub(r"`[^`\n]*`", "", FENCED.sub("", text))
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def anchors(text):
    """Give the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def resolves(page, target):
    path, _, anchor = target.partition("#")
    found = (DOCS / page).parent / path if path else DOCS / page
    return found.is_file() and (not anchor or anchor in anchors(found.read_text(encoding="utf-8")))


@pytest.mark.parametrize(("page", "target"), [(page, t) for page, text in PAGES.items() for t in links(text)])
def test_link_leads_to_a_file_of_the_checkout(page, target):
    assert resolves(page, target)


@pytest.mark.parametrize("target", ["missing.md", "theory.md#missing", "figures", "https://example.org/"])
def test_a_broken_or_outside_link_is_noticed(target):
    assert not resolves("index.md", target)


# --------------------------------------------------------------- files, modules and commands

#: What is written by a command or, in an example, by the reader; why it is named though it is not in a clone.
NOT_IN_A_CLONE = {
    "docs/_build/html/index.html": "tox -e docs writes it",
    "tests/benchmarks/results/latest.json": "tox -e bench writes it",
    "verification/claims/largest_noise.py": "the example of a claim",
    "lslmatch/objectives/energy.py": "the example of an objective",
    "lslmatch/alignment/medians.py": "the example of an alignment",
    "verification/figures/shift_error.py": "the example of a figure",
}
TEXTS = {f"docs/{name}": text for name, text in PAGES.items()} | {
    name: (CHECKOUT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")
}


#: In code spans: a path, a file name, a dotted name.
PATH = r"(?:lslmatch|verification|tests|docs|notebooks)(?:/[\w.*-]+)+"
FILE = r"[\w-]+\.(?:py|md|cfg|toml|ini|cff)"
MODULE = r"(?:lslmatch|verification|tests)(?:\.\w+)+"


def named_in(text):
    """Give the paths, file names and dotted names that a text has as code, and what its commands start."""
    spans = re.findall(r"`([^`\n]+)`", FENCED.sub("", text))
    yield from (span for span in spans if re.fullmatch(f"{PATH}|{FILE}|{MODULE}", span))
    yield from re.findall(r"python3? -m ((?:lslmatch|verification|tests)[\w.]*)", text)
    yield from re.findall(r"(?:python3?|pytest) ((?:tests|docs|verification)/[\w./]+)", text)


def exists(name):
    """Say whether a path of the checkout, the name of a file anywhere in it, or a dotted name is there."""
    if re.fullmatch(PATH, name):
        return any(CHECKOUT.glob(name))
    if re.fullmatch(FILE, name):
        folders = [CHECKOUT / folder for folder in ("lslmatch", "verification", "tests", "docs")]
        return (CHECKOUT / name).is_file() or any(any(folder.rglob(name)) for folder in folders)
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        path = CHECKOUT.joinpath(*parts[:k])
        if path.is_dir() or path.with_suffix(".py").is_file():
            missing = parts[k:]
            module = importlib.import_module(".".join(parts[:k])) if missing else None
            return not missing or (len(missing) == 1 and hasattr(module, missing[0]))
    return False


@pytest.mark.parametrize(
    ("page", "name"), sorted({(page, name) for page, text in TEXTS.items() for name in named_in(text)})
)
def test_what_a_page_names_exists(page, name):
    assert exists(name) or name in NOT_IN_A_CLONE


def test_names_that_are_not_in_a_clone_are_named():
    assert {name for text in TEXTS.values() for name in named_in(text)} >= set(NOT_IN_A_CLONE)


def test_a_name_of_something_that_is_gone_is_noticed():
    text = """
`lslmatch/gone.py`, `gone.py`, `lslmatch.gone`, `lslmatch.costs.gone`, `lslmatch.costs`, `costs.py`,
`README.md`, `lslmatch/co*.py`, `lslmatch.model.Configuration`

```sh
python -m verification.gone --list
.venv/bin/python tests/gone --seconds 1
```
"""
    gone = {name for name in named_in(text) if not exists(name)}
    assert gone == {
        "lslmatch/gone.py",
        "gone.py",
        "lslmatch.gone",
        "lslmatch.costs.gone",
        "verification.gone",
        "tests/gone",
    }
    assert len(set(named_in(text))) == len(gone) + 5


def test_citation_for_programs_is_that_of_the_readme():
    citation = (CHECKOUT / "CITATION.cff").read_text(encoding="utf-8")
    readme = TEXTS["README.md"].partition("## Citing")[2]
    title = re.search(r"title     = \{(.*)\}", readme)[1]
    authors = [
        f"    - family-names: {family}\n      given-names: {given}\n"
        for family, given in re.findall(r"(\w+), (\w+)", re.search(r"author    = \{(.*)\}", readme)[1])
    ]
    assert f"  title: {title}\n" in citation
    assert len(authors) == 3
    assert "  authors:\n" + "".join(authors) in citation
    assert f"  year: {re.search(r'year      = {(.*)}', readme)[1]}\n" in citation
    assert f"version: {lslmatch.__version__}\n" in citation


# ------------------------------------------------------------------------------- glossary


def words_of(text):
    """Give the words that a glossary explains."""
    entries = re.findall(r"^- \*\*([^*]+)\*\*: ", text, re.MULTILINE)
    return [word for entry in entries for word in entry.split(", ")]


def test_glossary_explains_each_word_once():
    words = words_of(PAGES["glossary.md"])
    assert len(words) > 40
    assert sorted(set(words)) == sorted(words)


def test_a_word_with_two_meanings_is_noticed():
    assert words_of("- **point**: a row\n- **set, point**: all rows\n") == ["point", "set", "point"]


# -------------------------------------------------------------------------------- reference


def in_the_reference():
    """Give (module, name) of everything that the reference lists."""
    module = "lslmatch"
    for line in PAGES["api.md"].splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            yield module, line.strip()


def public_names(module):
    found = importlib.import_module(module)
    return {
        name
        for name, value in vars(found).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and (module == "lslmatch" or value.__module__ == module)
    }


@pytest.mark.parametrize("module", ["lslmatch", "lslmatch.model", "lslmatch.plot", "lslmatch.theory"])
def test_reference_lists_every_public_name(module):
    assert {name for of, name in in_the_reference() if of == module} == public_names(module)


def test_audit_figures_of_the_theory_page_are_those_of_the_audit():
    audit = pytest.importorskip("verification.audit")
    page = PAGES["theory.md"]
    table = page.partition("### The twenty findings")[2].partition("###")[0]
    lines = [int(line) for line in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)]
    assert sorted(lines) == sorted(listed.line for listed in audit.FINDINGS.values())
    assert f"| **proved** | {len(audit.STEPS) - len(lines)} |" in page
    assert f"| **refuted** | {len(lines)} |" in page


# ------------------------------------------------------------------------------ large sets


def planted_points(power=2.0, error=0.0):
    """Make measurements that follow the laws, with the sizes that are checked off by a relative error."""
    return [
        {
            "kind": stage.kind,
            "n": n,
            "bytes": 1000 * n,
            key: 1e-9 * n**power * (1 + error * (n in scale.CHECKED[stage.kind])),
        }
        for key, stage in scale.STAGES.items()
        for n in scale.FITTED[stage.kind] + scale.CHECKED[stage.kind]
    ]


def test_tables_of_large_sets_are_those_of_the_stored_run():
    stored = json.loads((CHECKOUT / "tests/benchmarks/results/scale.json").read_text(encoding="utf-8"))
    for kind in scale.FITTED:
        sizes = {*scale.FITTED[kind], *scale.CHECKED[kind]}
        assert {point["n"] for point in stored["points"] if point["kind"] == kind} == sizes
    for line in scale.tables(stored["points"]).splitlines():
        assert line in PAGES["scale.md"].splitlines()
    assert f"load of {stored['load']}" in " ".join(PAGES["scale.md"].split())


def test_the_table_of_what_distributes_is_that_of_the_stored_run():
    stored = json.loads((CHECKOUT / "tests/benchmarks/results/distribution.json").read_text(encoding="utf-8"))
    assert [(row["n"], row["d"], row["name"]) for row in stored["rows"]] == [
        (n, d, name) for n, d, _, _, name in distribution.ROWS
    ]
    assert distribution.table(stored["rows"]) in PAGES["scale.md"]


def test_what_distributes_is_modelled_by_shares_and_bytes():
    row = {"match": 8.0, "match_tasks": 6.0, "certificate": 4.0, "certificate_tasks": 4.0}
    row |= {"shared_bytes": 5 * 10**8, "own_bytes": 0}
    assert distribution.seconds_with(row, 1) == 12.0
    assert distribution.seconds_with(row, 2) == 7.0
    assert distribution.seconds_with(row, 16) == pytest.approx(2.0 + 10.0 / 16 + 0.8)


def test_a_played_cluster_computes_every_share_and_counts_its_bytes():
    counting = distribution.Counting()
    assert counting.map(divmod, (7,), [(2,), (3,)]) == [(3, 1), (2, 1)]
    assert counting.shared_bytes > 0
    assert counting.own_bytes > 0


def test_laws_find_what_was_planted():
    expected, free = scale.laws(planted_points(), "solve")
    assert expected.constant == pytest.approx(1e-9)
    assert free.power == pytest.approx(2.0)
    assert free(10**6) == pytest.approx(1000.0)
    assert scale.bytes_per_point(planted_points(), "above") == pytest.approx(1000.0)


def test_sizes_that_are_not_fitted_on_tell_a_wrong_law():
    assert "+100 %" in scale.tables(planted_points(error=-0.5))
    assert "+100 %" not in scale.tables(planted_points())


def test_power_is_checked_against_the_expected_one():
    expected, free = scale.laws(planted_points(power=2.5), "solve")
    assert (expected.power, free.power) == (2.0, pytest.approx(2.5))


def test_documented_version_is_that_of_the_library():
    configuration = (DOCS / "conf.py").read_text(encoding="utf-8")
    assert "version = release = lslmatch.__version__" in configuration
    assert lslmatch.__version__
