"""What the notebooks must be to be read without running them; `tox -e notebooks` runs them."""

import ast
import importlib
import json
import re
from pathlib import Path

import pytest

import lslmatch

CHECKOUT = Path(__file__).parents[1]
NOTEBOOKS = sorted((CHECKOUT / "notebooks").glob("*.ipynb"))
PUBLIC_MODULES = ("lslmatch", "lslmatch.model", "lslmatch.theory")


def cells(path, kind):
    return [cell for cell in load(path)["cells"] if cell["cell_type"] == kind]


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def outputs(path):
    return [output for cell in cells(path, "code") for output in cell["outputs"]]


def code(path):
    return ast.parse("\n".join("".join(cell["source"]) for cell in cells(path, "code")))


def test_notebooks_are_numbered_without_a_gap():
    numbers = [int(re.match(r"(\d\d)-[a-z0-9-]+$", path.stem)[1]) for path in NOTEBOOKS]
    assert numbers == list(range(1, len(NOTEBOOKS) + 1))
    assert len(numbers) >= 8


def test_the_page_of_notebooks_names_every_one():
    page = (CHECKOUT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    numbers = [int(number) for number in re.findall(r"^\| (\d+)\. ", page, re.MULTILINE)]
    assert numbers == [int(path.stem[:2]) for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestNotebook:
    def test_opens_with_what_the_reader_will_know(self, path):
        opening = "".join(load(path)["cells"][0]["source"])
        assert opening.startswith(f"# {int(path.stem[:2])}. ")
        assert "**What you will know at the end:**" in opening

    def test_runs_in_any_python_kernel(self, path):
        notebook = load(path)
        assert notebook["nbformat"] == 4
        assert notebook["metadata"]["kernelspec"]["name"] == "python3"

    def test_shows_pictures_and_no_errors_or_warnings(self, path):
        found = outputs(path)
        assert sum("image/png" in output.get("data", {}) for output in found) >= 2
        assert {output["output_type"] for output in found} <= {"stream", "execute_result", "display_data"}
        assert all(output.get("name", "stdout") == "stdout" for output in found)

    def test_was_run_from_top_to_bottom(self, path):
        counts = [cell["execution_count"] for cell in cells(path, "code")]
        assert counts == list(range(1, len(counts) + 1))

    def test_is_small_and_names_no_place_on_a_disk(self, path):
        assert path.stat().st_size < 500_000
        texts = [output.get("text", []) for output in outputs(path)]
        texts += [output.get("data", {}).get("text/plain", []) for output in outputs(path)]
        texts += [cell["source"] for cell in load(path)["cells"]]
        for text in texts:
            assert not re.search(r"""(?:^|[\s"'(])(?:/|~/|[A-Z]:\\)\w+""", "".join(text))

    def test_uses_public_names_alone(self, path):
        tree = code(path)
        imported = [
            (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ]
        for module, name in imported:
            if module.split(".")[0] == "lslmatch":
                assert module in PUBLIC_MODULES
                assert module != "lslmatch" or name in lslmatch.__all__
            if module.split(".")[0] in ("lslmatch", "verification"):
                assert not name.startswith("_")
                found = importlib.import_module(module)
                assert hasattr(found, name) or importlib.import_module(f"{module}.{name}")
        used = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        assert [name for name in used if name.startswith("_") and name != "_replace"] == []
