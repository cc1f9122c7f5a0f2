"""Who imports whom: the layers of both packages, checked against the code and drawn from it.

    python docs/import_graph.py            # check, then write docs/architecture/ anew
    python docs/import_graph.py --check    # check only; exit code 1 if a rule is broken or a file is stale

The layers and the exceptions are tables in ``architecture.md``: nothing here repeats them. A component is a
module or a folder directly inside a package. A component may import components of lower layers only.
"""

from __future__ import annotations

import argparse
import ast
import csv
import io
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
PAGE = HERE / "architecture.md"
FOLDER = HERE / "architecture"
EDGES = FOLDER / "imports.csv"


# ------------------------------------------------------------------------------ what is declared


class Layer(NamedTuple):
    """Components that do not import each other."""

    title: str
    components: list[str]


class Rules(NamedTuple):
    """What `architecture.md` declares."""

    layers: dict[str, list[Layer]]  # for each package, the highest layer first
    storeys: dict[str, dict[str, str]]  # titles, and a component of each one's last layer
    exceptions: dict[tuple[str, str], str]  # (importing module, imported module): the reason


def read_rules(text: str) -> Rules:
    """Read the tables below the comments ``<!-- layers: package -->``, storeys and exceptions."""
    layers = {
        package: [Layer(cells[0], re.findall(r"`([^`]+)`", cells[1])) for cells in _rows(table)]
        for package, table in re.findall(r"<!-- layers: (\w+) -->\n((?:\|.*\n)+)", text)
    }
    exceptions = {}
    for table in re.findall(r"<!-- exceptions -->\n((?:\|.*\n)+)", text):
        for cells in _rows(table):
            exceptions[cells[0].strip("`"), cells[1].strip("`")] = cells[2]
    storeys = {
        package: {title: last.strip("`") for title, last in _rows(table)}
        for package, table in re.findall(r"<!-- storeys: (\w+) -->\n((?:\|.*\n)+)", text)
    }
    return Rules(layers, storeys, exceptions)


def _rows(table: str) -> list[list[str]]:
    lines = table.splitlines()[2:]  # without the heading and its rule
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


# ---------------------------------------------------------------------------- what the code does


class Import(NamedTuple):
    """One module imports another one of the same package."""

    importer: str
    imported: str


def read_imports(root: Path, package: str) -> tuple[set[str], set[Import]]:
    """Return the modules of a package, and which of them imports which.

    Imports count wherever they stand: at the top, inside a function, or for type checkers only.
    """
    files = {_module_name(root, path): path for path in sorted((root / package).rglob("*.py"))}
    found = set()
    for name, path in files.items():
        is_package = path.name == "__init__.py"
        for target in _targets(ast.parse(path.read_text(encoding="utf-8")), name, is_package):
            imported = _owner(target, set(files))
            if imported is not None and imported != name:
                found.add(Import(name, imported))
    return set(files), found


def read_packages(root: Path, package: str) -> set[str]:
    """Return the names of the packages outside Python's own library that a package imports."""
    names = set()
    for path in (root / package).rglob("*.py"):
        for target in _targets(ast.parse(path.read_text(encoding="utf-8")), package, True):
            names.add(target.partition(".")[0])
    return names - sys.stdlib_module_names - {package}


def _module_name(root: Path, path: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _targets(tree: ast.Module, name: str, is_package: bool) -> Iterator[str]:
    """Yield every dotted name that is imported; of ``from a import b`` the name ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = name.split(".") if is_package else name.split(".")[:-1]
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join([*parts, base] if base else parts)
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (str(part.value) for part in node.args[:1] if isinstance(part, ast.Constant))


def _owner(target: str, modules: set[str]) -> str | None:
    """Return the module that a dotted name is, or is defined in; None if it is of another package."""
    while target and target not in modules:
        target = target.rpartition(".")[0]
    return target or None


def component_of(module: str) -> str:
    """Return the module or folder directly inside the package that a module is or lies in."""
    return [*module.split("."), "__init__"][1]


# ----------------------------------------------------------------------------- whether they agree


def violations(root: Path, rules: Rules) -> list[str]:
    """Return a sentence for everything in the code that the tables do not allow, or list without need."""
    found, unused = [], set(rules.exceptions)
    for package, layers in rules.layers.items():
        modules, imports = read_imports(root, package)
        height = {component: -level for level, layer in enumerate(layers) for component in layer.components}
        components = {component_of(module) for module in modules}
        found += [
            f"{package}: the component {component} is in no layer"
            for component in sorted(components - set(height))
        ]
        found += [
            f"{package}: the component {component} does not exist"
            for component in sorted(set(height) - components)
        ]
        for edge in sorted(imports):
            above, below = component_of(edge.importer), component_of(edge.imported)
            if above == below or not {above, below} <= set(height) or height[above] > height[below]:
                continue
            if edge in rules.exceptions:
                unused.discard(edge)
            else:
                way = "sideways" if height[above] == height[below] else "upwards"
                found.append(f"{edge.importer} imports {edge.imported}, {way}")
        found += _cycles(imports - set(map(Import._make, rules.exceptions)))
    found += [
        f"{importer} does not import {imported}: the exception is unused"
        for importer, imported in sorted(unused)
    ]
    found += [
        f"the exception of {pair[0]} has no reason" for pair, reason in rules.exceptions.items() if not reason
    ]
    return found


def _cycles(imports: set[Import]) -> list[str]:
    graph: dict[str, set[str]] = {}
    for edge in imports:
        graph.setdefault(edge.importer, set()).add(edge.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [f"modules import each other: {', '.join(error.args[1])}"]
    return []


def edges_between_components(root: Path, package: str) -> list[tuple[str, str]]:
    """Return which component imports which."""
    pairs = {
        (component_of(edge.importer), component_of(edge.imported)) for edge in read_imports(root, package)[1]
    }
    return sorted((above, below) for above, below in pairs if above != below)


def edge_table(root: Path, rules: Rules) -> str:
    """Return the imports between components as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["package", "importer", "imported"])
    for package in rules.layers:
        writer.writerows([package, *edge] for edge in edges_between_components(root, package))
    return text.getvalue()


# ------------------------------------------------------------------------------------ the command


def main(arguments: list[str] | None = None) -> int:
    """Check the code against the tables; unless only asked to check, write the edges and the pictures."""
    parser = argparse.ArgumentParser(description="Check which component imports which, and draw it.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if the stored edges are stale"
    )
    options = parser.parse_args(arguments)
    rules = read_rules(PAGE.read_text(encoding="utf-8"))
    found = violations(CHECKOUT, rules)
    table = edge_table(CHECKOUT, rules)
    if options.check:
        if not EDGES.is_file() or EDGES.read_text(encoding="utf-8") != table:
            found.append(f"{EDGES.relative_to(CHECKOUT)} is stale: run python docs/import_graph.py")
    else:
        from import_picture import draw  # matplotlib is needed for the pictures only

        FOLDER.mkdir(exist_ok=True)
        EDGES.write_text(table, encoding="utf-8")
        for package, layers in rules.layers.items():
            draw(layers, rules.storeys[package], FOLDER / package)
    print("\n".join(found) or "the code keeps to its layers")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
