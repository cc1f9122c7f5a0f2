"""Evaluate a formula as it stands in the paper's LaTeX source."""

import re

import numpy as np

#: Commands that only say how a formula looks.
_LOOKS = re.compile(r"\\(?:left|right|[bB]igg?|qquad|quad|[,!; ])|&|\\\\")
_TOKEN = re.compile(r"\s*(@\d+|\\[A-Za-z]+|\d+|[A-Za-z]|[-+/^(){}|])")
_FUNCTIONS = {"\\log": np.log, "\\exp": np.exp}


def evaluate(latex, symbols):
    """Give the value of a formula, with the values of its symbols by their LaTeX; no symbol may be left over.

    >>> float(evaluate(r"\\frac{1}{2} \\sqrt{2 x_i^2}/\\tau - |1-3|^{1/2}", {"x_i": 4.0, r"\\tau": 2.0}))
    0.0
    """
    values = []
    for name in sorted(symbols, key=len, reverse=True):  # the longest first, so that \sigma_i is not \sigma
        before = r"(?<![A-Za-z\\])" if name[0].isalpha() else ""  # a letter of its own, not one of a command
        after = "(?![A-Za-z])" if name[-1].isalpha() else ""
        latex = re.sub(before + re.escape(name) + after, f" @{len(values)} ", latex)
        values.append(symbols[name])
    tokens, position = [], 0
    latex = _LOOKS.sub(" ", latex).strip()
    while position < len(latex):
        match = _TOKEN.match(latex, position)
        if match is None:
            raise ValueError(f"cannot read {latex[position:]!r}")
        tokens.append(match[1])
        position = match.end()
        while position < len(latex) and latex[position].isspace():
            position += 1
    reader = _Reader(tokens, values)
    value = reader.sum()
    if reader.tokens:
        raise ValueError(f"left over: {reader.tokens}")
    return value


class _Reader:
    def __init__(self, tokens, values):
        self.tokens, self.values = list(tokens), values

    def next_is(self, *tokens):
        return bool(self.tokens) and self.tokens[0] in tokens

    def take(self, *expected):
        token = self.tokens.pop(0)
        if expected and token not in expected:
            raise ValueError(f"expected {expected}, found {token!r}")
        return token

    def sum(self):
        sign = -1 if self.next_is("-") and self.take() else 1
        value = sign * self.product()
        while self.next_is("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self):
        value = self.power()
        while self.tokens and not self.next_is("+", "-", ")", "}", "|"):
            if self.next_is("/"):
                self.take()
                value = value / self.power()
            elif self.next_is("\\cdot", "\\times"):
                self.take()
            else:
                value = value * self.power()
        return value

    def power(self):
        value = self.atom()
        if self.next_is("^"):
            self.take()
            value = value ** self.atom()
        return value

    def atom(self):
        token = self.take()
        if token.isdigit():
            return float(token)
        if token.startswith("@"):
            return self.values[int(token[1:])]
        if token in "({|":
            value = self.sum()
            self.take({"(": ")", "{": "}", "|": "|"}[token])
            return abs(value) if token == "|" else value
        if token in ("\\frac", "\\tfrac"):
            return self.atom() / self.atom()
        if token == "\\sqrt":
            return np.sqrt(self.atom())
        if token == "\\brr":
            return self.atom()
        if token in _FUNCTIONS:
            return _FUNCTIONS[token](self.atom())
        raise ValueError(f"no value for {token!r}")
