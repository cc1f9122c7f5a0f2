"""Small changes of a module's functions: each operator, comparison, number and condition in turn."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}


class Mutant(NamedTuple):
    """A function with one change."""

    function: str
    """Its qualified name."""
    line: int
    change: str
    code: CodeType
    """The code of the whole function."""


def mutants(source: str, path: str) -> list[Mutant]:
    """Give all mutants of the functions and methods of a module.

    Left out are annotations, docstrings, defaults and decorators, which are evaluated when the module is
    imported, and the texts of messages, which the tests compare only in part.
    """
    return [
        Mutant(name, node.lineno, change, code)
        for name, function in _functions(ast.parse(source))
        for node, change, code in _changed(source, path, name, function)
    ]


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def _changed(
    source: str, path: str, name: str, function: ast.FunctionDef
) -> Iterator[tuple[ast.expr | ast.stmt, str, CodeType]]:
    places = [node for statement in function.body for node in _walk(statement)]
    for k, place in enumerate(places):
        for variant in range(2):
            tree = ast.parse(source)
            twin = dict(_functions(tree))[name]
            node = [node for statement in twin.body for node in _walk(statement)][k]
            change = _change(node, variant)
            if change:
                ast.fix_missing_locations(tree)
                yield place, change, code_of(compile(tree, path, "exec"), name)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Give the nodes of a statement that may be changed."""
    if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr)):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _change(node: ast.AST, variant: int) -> str:
    """Change a node in place, in one of at most two ways, and say how; "" if there is no such way."""
    before = ast.unparse(copy.deepcopy(node)) if isinstance(node, (ast.expr, ast.stmt)) else ""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            node.value = not node.value
        elif isinstance(node.value, (int, float)):
            if variant and node.value == 1:
                return ""  # twice 1 is 1 more
            node.value = node.value + 1 if variant else node.value * 2 + (node.value == 0) * -1
        else:
            return ""
        return f"{before} -> {node.value}" if variant or not isinstance(node.value, bool) else ""
    if variant:
        return ""
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in _OPERATORS:
        node.op = _OPERATORS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _OPERATORS:
        node.ops[0] = _OPERATORS[type(node.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else _Truth.of(node)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        node.value = ast.Constant(None)
    elif isinstance(node, ast.Call) and _name(node) in _FUNCTIONS:
        _rename(node, _FUNCTIONS[_name(node)])
    else:
        return ""
    return f"{before.splitlines()[0]} -> {ast.unparse(node).splitlines()[0]}"


_FUNCTIONS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
}


def _name(node: ast.Call) -> str:
    function = node.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _rename(node: ast.Call, name: str) -> None:
    if isinstance(node.func, ast.Name):
        node.func.id = name
    else:
        node.func.attr = name  # type: ignore[attr-defined]


class _Truth:
    @staticmethod
    def of(node: ast.UnaryOp) -> ast.unaryop:
        """Take a "not" away, by a second one inside."""
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
        return ast.Not()


def code_of(module: CodeType, name: str) -> CodeType:
    """Find the code of a function, by its qualified name, in that of its module."""
    for constant in module.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == name:
                return constant
            if name.startswith(f"{constant.co_qualname}."):
                return code_of(constant, name)
    raise LookupError(name)
