"""Components import lower ones only: the tables of docs/architecture.md against the code of both packages."""

import importlib.util
import shutil
import sys
from itertools import pairwise
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]


def load(name):
    """Import a program of docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, CHECKOUT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


graph = load("import_graph")
RULES = graph.read_rules(graph.PAGE.read_text(encoding="utf-8"))


def test_tables_are_read():
    assert list(RULES.layers) == ["lslmatch", "verification"]
    for layers in RULES.layers.values():
        components = [component for layer in layers for component in layer.components]
        assert len(layers) > 5
        assert len(set(components)) == len(components) > 9


def test_code_keeps_to_its_layers():
    assert graph.violations(CHECKOUT, RULES) == []


def test_stored_edges_are_those_of_the_code():
    stored = graph.EDGES.read_text(encoding="utf-8")
    assert stored == graph.edge_table(CHECKOUT, RULES), "run python docs/import_graph.py"


def test_library_needs_its_three_packages_only():
    # (llvmlite is a part of Numba that is installed beside it.)
    assert graph.read_packages(CHECKOUT, "lslmatch") - {"llvmlite"} == {"numba", "numpy", "scipy"}


# ------------------------------------------------------------------- what is wrong is found

TABLE = """
<!-- layers: house -->
| layer | components | what is there |
|---|---|---|
| above | `roof` | |
| between | `__init__`, `kitchen`, `stairs` | |
| below | `cellar` | |
"""

EXCEPTIONS = """
<!-- exceptions -->
| importer | imported | reason |
|---|---|---|
| `house.cellar` | `house.roof` | rain |
"""


@pytest.fixture
def house(tmp_path):
    """Make a small package that keeps to its layers."""
    (tmp_path / "house" / "stairs").mkdir(parents=True)
    files = {
        "__init__.py": "",
        "roof.py": "import house.cellar\nfrom house.kitchen import sink\nfrom . import stairs\n",
        "kitchen.py": "import os\nfrom house.cellar import wine\n",
        "stairs/__init__.py": "",
        "stairs/first.py": "from .second import step\nfrom ..cellar import wine\n",
        "stairs/second.py": "",
        "cellar.py": "",
    }
    for name, text in files.items():
        (tmp_path / "house" / name).write_text(text)
    return tmp_path


def violations(root, text=TABLE):
    return graph.violations(root, graph.read_rules(text))


def test_orderly_house_has_no_violation(house):
    assert violations(house) == []
    assert graph.edges_between_components(house, "house") == [
        ("kitchen", "cellar"),
        ("roof", "cellar"),
        ("roof", "kitchen"),
        ("roof", "stairs"),
        ("stairs", "cellar"),
    ]


@pytest.mark.parametrize(
    ("file", "line", "found"),
    [
        ("cellar.py", "from house import roof", "house.cellar imports house.roof, upwards"),
        ("cellar.py", "from . import roof", "house.cellar imports house.roof, upwards"),
        ("cellar.py", "from house.roof import tile", "house.cellar imports house.roof, upwards"),
        ("cellar.py", "def dig():\n    import house.roof", "house.cellar imports house.roof, upwards"),
        (
            "cellar.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.stairs.second import step",
            "house.cellar imports house.stairs.second, upwards",
        ),
        (
            "cellar.py",
            "import importlib\nimportlib.import_module('house.roof')",
            "house.cellar imports house.roof, upwards",
        ),
        ("cellar.py", "import house", "house.cellar imports house, upwards"),
        ("kitchen.py", "from house import stairs", "house.kitchen imports house.stairs, sideways"),
        (
            "stairs/second.py",
            "from ..kitchen import sink",
            "house.stairs.second imports house.kitchen, sideways",
        ),
        ("attic.py", "", "house: the component attic is in no layer"),
    ],
)
def test_breach_is_found(house, file, line, found):
    with (house / "house" / file).open("a") as stream:
        stream.write(line + "\n")
    assert found in violations(house)


def test_room_that_does_not_exist_is_found(house):
    assert violations(house, TABLE.replace("`cellar`", "`cellar`, `pool`")) == [
        "house: the component pool does not exist"
    ]


def test_modules_of_one_room_may_import_each_other_but_not_in_a_circle(house):
    (house / "house/stairs/second.py").write_text("from house.stairs import first\n")
    (message,) = violations(house)
    assert message.startswith("modules import each other: house.stairs.")


def test_exception_must_be_used_and_have_a_reason(house):
    unused = "house.cellar does not import house.roof: the exception is unused"
    assert violations(house, TABLE + EXCEPTIONS) == [unused]
    (house / "house/cellar.py").write_text("import house.roof\n")
    assert violations(house, TABLE + EXCEPTIONS) == []
    assert violations(house, TABLE + EXCEPTIONS.replace("rain", "")) == [
        "the exception of house.cellar has no reason"
    ]


def test_upward_import_in_a_copy_of_the_library_is_found(tmp_path):
    for package in RULES.layers:
        shutil.copytree(CHECKOUT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    before = graph.edge_table(tmp_path, RULES)
    assert graph.violations(tmp_path, RULES) == []
    with (tmp_path / "lslmatch/costs.py").open("a", encoding="utf-8") as stream:
        stream.write("\n\ndef later():\n    from lslmatch.matching import match\n")
    assert "lslmatch.costs imports lslmatch.matching, upwards" in graph.violations(tmp_path, RULES)
    assert graph.edge_table(tmp_path, RULES) != before


# -------------------------------------------------------------------------------- the picture


@pytest.fixture
def picture(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(CHECKOUT / "docs"))
    yield load("import_picture")
    sys.modules.pop("import_picture", None)


def test_boxes_of_a_storey_do_not_overlap_and_none_is_forgotten(picture):
    for package, layers in RULES.layers.items():
        groups = picture.group(layers, RULES.storeys[package])
        named = [name for names in groups.values() for name in names]
        assert named == [name for layer in layers for name in layer.components]
        for names in groups.values():
            boxes = picture.arrange(names)
            for left, right in pairwise(boxes):
                assert right.line == left.line + 1 or right.left >= left.left + left.width
            assert max(box.left + box.width for box in boxes) <= picture.WIDTH


def test_layer_without_a_storey_is_noticed(picture):
    layers = RULES.layers["lslmatch"]
    with pytest.raises(AssertionError, match="no storey has"):
        picture.group(layers, {"all": layers[-2].components[0]})


def test_picture_is_the_same_twice(picture, tmp_path):
    for name in ("one", "two"):
        picture.draw(RULES.layers["lslmatch"], RULES.storeys["lslmatch"], tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
