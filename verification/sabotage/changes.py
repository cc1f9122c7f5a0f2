"""Small changes of a module's functions: each operator, operand, comparison, number and condition in turn."""

from __future__ import annotations

import ast
import copy
import importlib
from collections.abc import Iterator
from operator import attrgetter
from types import CodeType
from typing import Any, NamedTuple

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


class Change(NamedTuple):
    """What a mutant differs in, before it is compiled."""

    function: str
    line: int
    change: str
    place: int
    """The number of the node among those of the function that may be changed."""
    changed: ast.AST


def mutants(source: str, path: str) -> list[Mutant]:
    """Give all mutants of the functions and methods of a module.

    Left out are annotations, docstrings, defaults and decorators, which are evaluated when the module is
    imported, and the texts of messages, which the tests compare only in part. A constant of the module is
    changed where it is used.
    """
    return [compiled(source, path, change) for change in changes(source)]


def changes(source: str) -> list[Change]:
    """Give what all mutants of a module differ in, in little time."""
    tree = ast.parse(source)
    numbers = _numbers(tree)
    return [
        Change(name, place.lineno, f"{_first_line(place)} -> {_first_line(changed)}", k, changed)
        for name, function in _functions(tree)
        for k, place in enumerate(_places(function))
        for changed in _variants(place, numbers)
    ]


def compiled(source: str, path: str, change: Change) -> Mutant:
    """Compile a mutant."""
    tree = ast.parse(source)
    twin = dict(_functions(tree))[change.function]
    _Replacing(_places(twin)[change.place], change.changed).visit(twin)
    ast.fix_missing_locations(tree)
    code = code_of(compile(tree, path, "exec"), change.function)
    return Mutant(change.function, change.line, change.change, code)


def _places(function: ast.FunctionDef) -> list[Any]:
    return [node for statement in function.body for node in _walk(statement)]


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def _numbers(tree: ast.Module) -> dict[str, float]:
    """Give the constants of a module whose values are arithmetic of literal numbers."""
    numbers = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            pairs = [(node.targets[0], node.value)]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(node.targets[0].elts, node.value.elts, strict=True))
            for name, value in pairs:
                if isinstance(name, ast.Name) and name.id.isupper() and _is_arithmetic(value):
                    numbers[name.id] = eval(ast.unparse(value), {})
    return numbers


def _is_arithmetic(node: ast.expr) -> bool:
    allowed = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    return all(isinstance(part, allowed) for part in ast.walk(node)) and not any(
        isinstance(part, ast.Constant) and not isinstance(part.value, (int, float)) for part in ast.walk(node)
    )


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0]


class _Replacing(ast.NodeTransformer):
    """Put one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace the node, or look below it."""
        return self._new if node is self._old else self.generic_visit(node)


def _walk(node: ast.AST) -> Iterator[Any]:
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


def _variants(node: ast.AST, numbers: dict[str, float]) -> list[ast.AST]:
    """Give what a node may be changed into, each a tree of its own."""
    found: list[ast.AST] = []
    if isinstance(node, ast.Constant):
        found = _other_constants(node.value)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in numbers:
        # What is a little above 1 is a factor against rounding errors.
        factor = "0.99" if 1.0 <= numbers[node.id] < 1.1 and isinstance(numbers[node.id], float) else "2"
        found = [_parsed(f"{factor} * {node.id}")]
    elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in _OPERATORS:
        found = [_with(node, op=_OPERATORS[type(node.op)]()), *_parts(node)]
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _OPERATORS:
        others = [_OPERATORS[type(node.ops[0])]()]
        if isinstance(node.ops[0], ast.Eq):
            others.append(ast.GtE())
        found = [_with(node, ops=[other, *node.ops[1:]]) for other in others]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = [_with(node, op=ast.UAdd())]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        found = [_with(node, operand=ast.UnaryOp(ast.Not(), node.operand))]
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        found = [_with(node, test=ast.UnaryOp(ast.Not(), node.test))]
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        found = [ast.Return(ast.Constant(None))]
    elif isinstance(node, ast.Call) and _name(node) in _FUNCTIONS:
        found = [_with(node, func=_renamed(node.func, _FUNCTIONS[_name(node)]))]
    elif isinstance(node, ast.Call) and _name(node) in _LEFT_OUT and len(node.args) == 1:
        found = [node.args[0]]
    elif type(node) in _OPERATORS and isinstance(node, ast.stmt):
        found = [_OPERATORS[type(node)]()]
    return [copy.deepcopy(changed) for changed in found]


def _other_constants(value: object) -> list[ast.AST]:
    """Double a number, add 1 to it, or take 0 for it."""
    if isinstance(value, bool):
        return [ast.Constant(not value)]
    if not isinstance(value, (int, float)):
        return []
    others = [value * 2 + (value == 0) * -1]
    if value != 1:  # twice 1 is 1 more
        others.append(value + 1)
    if isinstance(value, float) and value != 0.0:
        others.append(0.0)
    return [ast.Constant(other) for other in others]


def _parts(node: ast.BinOp | ast.BoolOp | ast.AugAssign) -> list[ast.AST]:
    """Give what is left of an operation without one of its operands."""
    if isinstance(node, ast.AugAssign):
        return [ast.Pass()]
    if isinstance(node, ast.BoolOp):
        return [
            _with(node, values=rest) if len(rest) > 1 else rest[0]
            for k in range(len(node.values))
            for rest in [[*node.values[:k], *node.values[k + 1 :]]]
        ]
    right: ast.expr = ast.UnaryOp(ast.USub(), node.right) if isinstance(node.op, ast.Sub) else node.right
    if isinstance(node.op, (ast.Add, ast.Mult, ast.Sub)) and ast.unparse(right) != ast.unparse(node.left):
        return [node.left, right]
    return [node.left]


def _with(node: ast.AST, **changes: object) -> ast.AST:
    """Copy a node, but for some fields."""
    fields = {**dict(ast.iter_fields(node)), **changes}
    return type(node)(**fields)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


_FUNCTIONS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
}
#: Functions of one argument, which takes their place.
_LEFT_OUT = {"sqrt", "exp", "log", "log1p", "abs", "square", "sort"}


def _name(node: ast.Call) -> str:
    function = node.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _renamed(function: ast.expr, name: str) -> ast.AST:
    return _with(function, id=name) if isinstance(function, ast.Name) else _with(function, attr=name)


def code_of(module: CodeType, name: str) -> CodeType:
    """Find the code of a function, by its qualified name, in that of its module."""
    for constant in module.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == name:
                return constant
            if name.startswith(f"{constant.co_qualname}."):
                return code_of(constant, name)
    raise LookupError(name)


#: What properties, methods of classes and decorators keep the function under.
_LAYERS = ("fget", "__func__", "__wrapped__")


def function_of(module: str, name: str) -> Any:
    """Give the function of a qualified name, below properties, caches and compilation."""
    found = _attribute(module, name)
    while inner := next(filter(None, (getattr(found, layer, None) for layer in _LAYERS)), None):
        found = inner
    return found


def is_compiled(module: str, name: str) -> bool:
    """Say whether a function is a kernel, which goes on as it was compiled whatever its code becomes."""
    return hasattr(_attribute(module, name), "py_func")


def _attribute(module: str, name: str) -> Any:
    found: Any = importlib.import_module(module)
    for step in name.split("."):
        found = vars(found)[step] if step in vars(found) else attrgetter(step)(found)
    return found
