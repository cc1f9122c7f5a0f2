"""Modules of a package are found by being there, and must define what they are there for."""

import sys
import textwrap

import pytest

from verification.engine import registry


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Give a function that writes a package of these modules and imports it."""
    folder = tmp_path / "made_up_package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)

    def make(**modules):
        for name, source in modules.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(source))
        return __import__("made_up_package")

    yield make
    for name in [name for name in sys.modules if name.startswith("made_up_package")]:
        del sys.modules[name]


ITEM = """
    from types import SimpleNamespace
    ITEMS = tuple(SimpleNamespace(id=name) for name in {names})
"""


def test_everything_is_found_in_the_order_asked_for(package):
    made = package(
        a=ITEM.format(names=("a1", "a2")),
        b=ITEM.format(names=("b1",)),
        last=ITEM.format(names=("l1",)),
        shared="",
    )
    found = registry.load(made, "ITEMS", order=("b",), shared=("shared",))
    assert list(found) == ["b1", "a1", "a2", "l1"]


def test_ids_are_unique(package):
    made = package(a=ITEM.format(names=("one",)), b=ITEM.format(names=("one",)))
    with pytest.raises(ValueError, match="'one' came twice, again in b"):
        registry.load(made, "ITEMS")


def test_a_module_that_defines_nothing_is_an_error(package):
    with pytest.raises(AttributeError, match="ITEMS"):
        registry.load(package(a="ITEM = ()"), "ITEMS")
