"""The language of specifications: an expression says what a question asks, and plain Python computes it.

    top(counties, 3, by('population', 1930))
    count(border(counties, 'Riley County') - only('Geary County'))

An expression is parsed and walked, never evaluated by Python: calls of the words below, texts, numbers and the set
operators `|`, `&`, `-`. Where careful people read a question in more than one way (is a county near when its border is, or
its centre?) the expression is computed once for each reading, and each gives a gold of its own.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tests.golden.questions.gold import ABSTAIN, Gold
from tests.golden.questions.words import Words
from tests.golden.questions.world import World

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.BitOr: lambda a, b: a.joined(b),
    ast.BitAnd: lambda a, b: a.common(b),
    ast.Sub: lambda a, b: a.without(b),
}


class BadSpecification(Exception):
    """An expression outside the language."""


def golds(world: World, expressions: Sequence[str]) -> tuple[Gold, ...]:
    """Every right answer, one or more an expression; ABSTAIN alone for `abstain`."""
    found: list[Gold] = []
    for expression in expressions:
        found += _readings(world, expression)
    return tuple(found)


def _readings(world: World, expression: str) -> list[Gold]:
    if expression == "abstain":
        return [ABSTAIN]
    tree = ast.parse(expression, mode="eval").body
    first = Words(world, {})
    found = [first.gold(_walk(tree, first))]
    names = list(first.choices)
    for values in itertools.product(*(first.choices[n] for n in names)):
        words = Words(world, dict(zip(names, values, strict=True)))
        gold = words.gold(_walk(tree, words))
        if gold not in found:
            found.append(gold)
    return found


def _walk(node: ast.expr, words: Words) -> Any:
    match node:
        case ast.Constant(value=str() | int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_walk(operand, words)
        case ast.Name(id=name):
            return words.word(name)()
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            given = [_walk(a, words) for a in args]
            return words.word(name)(*given, **{str(k.arg): _walk(k.value, words) for k in keywords})
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_walk(left, words), _walk(right, words))
        case _:
            raise BadSpecification(ast.unparse(node))
