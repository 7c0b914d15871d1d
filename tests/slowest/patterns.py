"""Every regular expression of the product, and inputs that make a backtracking engine go back as far as it can."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from re import _constants as sre  # the parsed form of a pattern has no public name
from re import _parser as parser
from types import ModuleType
from typing import Any

PRODUCT = ("ai", "api", "ledger", "policy", "prompt_templates", "retrieval")
CALLS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
ROOT = Path(__file__).parents[2]
OWN_TEXTS = (
    ROOT / "api" / "measure"
)  # benchmarks and figures read texts that they made, or that somebody chose to measure


@dataclass(frozen=True, slots=True)
class Found:
    """A regular expression in the source, with the ways in which it is asked for matches; `pattern` is None where it is
    put together while the program runs."""

    module: str
    line: int
    source: str
    pattern: re.Pattern[str] | None
    uses: tuple[str, ...]


def expressions() -> Iterator[Found]:
    """Each use of `re` in the product with its pattern."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in _sources()}
    everywhere = _uses(trees.values())
    for path, tree in trees.items():
        here = _uses([tree])
        names = {
            id(node.value): _name(target)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
        }
        calls = [node for node in ast.walk(tree) if _is_use(node)]
        if calls:
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            module = importlib.import_module(name)
            for call in calls:
                name = names.get(id(call), "")
                yield _found(call, module, (here if name.startswith("_") else everywhere).get(name, set()))


def _uses(trees: Iterable[ast.AST]) -> dict[str, set[str]]:
    """The methods that are called on each name."""
    uses: dict[str, set[str]] = {}
    for node in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)):
        if node.attr in CALLS:
            uses.setdefault(_name(node.value), set()).add(node.attr)
    return uses


def _sources() -> list[Path]:
    paths = [path for package in PRODUCT for path in sorted((ROOT / package).rglob("*.py"))]
    return [path for path in paths if OWN_TEXTS not in path.parents]


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_use(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in CALLS
    )


def _found(call: Any, module: ModuleType, uses: set[str]) -> Found:
    given, flags = call.args[0], _flags(call)
    try:
        names = {"re": re, **vars(module)}
        pattern = eval(compile(ast.Expression(given), "<pattern>", "eval"), names)
        if isinstance(pattern, bytes):
            pattern = pattern.decode("latin-1")
        flag = eval(compile(ast.Expression(flags), "<flags>", "eval"), names) if flags is not None else 0
        compiled = pattern if isinstance(pattern, re.Pattern) else re.compile(pattern, flag)
    except NameError:
        compiled = None
    asked = ({call.func.attr} if call.func.attr != "compile" else uses) or {"search", "fullmatch"}
    ways = {way if way in {"match", "fullmatch", "search"} else "finditer" for way in asked}
    return Found(module.__name__, call.lineno, ast.unparse(given)[:120], compiled, tuple(sorted(ways)))


def _flags(call: Any) -> Any:
    for keyword in call.keywords:
        if keyword.arg == "flags":
            return keyword.value
    place = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2}.get(call.func.attr)
    return call.args[place] if place is not None and len(call.args) > place else None


@dataclass(frozen=True, slots=True)
class Pump:
    """A text that grows: `before`, then `pumped` again and again, then `after`."""

    before: str
    pumped: str
    after: str

    def __call__(self, chars: int) -> str:
        times = max(1, (chars - len(self.before) - len(self.after)) // max(1, len(self.pumped)))
        return self.before + self.pumped * times + self.after


AFTER = ("", "\x00", "\n", "!", " ", "a")


def pumps(pattern: re.Pattern[str], most: int = 400) -> Iterator[Pump]:
    """Texts for each repeat of the pattern: what leads to it, what it repeats, what makes it fail."""
    seen: set[Pump] = set()
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    for before, pumped in islice(_repeats(list(tree), ""), most):
        for after in AFTER:
            for pump in (Pump(before, pumped, after), Pump("", before + pumped, after)):
                if pump.pumped and pump not in seen:
                    seen.add(pump)
                    yield pump


def _repeats(items: list[Any], before: str) -> Iterator[tuple[str, str]]:
    """Each repeat with what leads to it, and what it repeats; the ends of two neighbours repeat together."""
    led = before
    for place, (kind, value) in enumerate(items):
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            _, high, body = value
            for sample in _samples(list(body)):
                if high is sre.MAXREPEAT or high > 8:
                    yield led, sample
                    for following in islice(_samples(items[place + 1 :]), 2):
                        yield led, sample + following
                yield from _repeats(list(body), led)
        for part in _inner(kind, value):
            yield from _repeats(part, led)
        led += next(iter(_samples([(kind, value)])), "")


def _inner(kind: Any, value: Any) -> list[list[Any]]:
    if kind is sre.SUBPATTERN:
        return [list(value[3])]
    if kind is sre.BRANCH:
        return [list(branch) for branch in value[1]]
    if kind in (sre.ASSERT, sre.ASSERT_NOT):
        return [list(value[1])]
    if kind is sre.ATOMIC_GROUP:
        return [list(value)]
    return []


def _samples(items: list[Any], most: int = 3) -> list[str]:
    """A few texts that the parts match."""
    texts = [""]
    for kind, value in items:
        texts = [text + more for text in texts for more in _one(kind, value)][:most]
    return list(dict.fromkeys(texts))


def _one(kind: Any, value: Any) -> list[str]:  # noqa: PLR0911 - one line for each kind of part
    match kind:
        case sre.LITERAL:
            return [chr(value)]
        case sre.NOT_LITERAL:
            return ["a" if value != ord("a") else "b"]
        case sre.ANY:
            return ["a", " "]
        case sre.IN:
            return _of_class(value)
        case sre.BRANCH:
            return [next(iter(_samples(list(branch))), "") for branch in value[1]][:4]
        case sre.SUBPATTERN:
            return _samples(list(value[3]))
        case sre.ATOMIC_GROUP:
            return _samples(list(value))
        case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
            low, _, body = value
            return [text * max(1, min(low, 12)) for text in _samples(list(body))] or [""]
        case _:
            return [""]


CATEGORIES = {
    sre.CATEGORY_DIGIT: "1",
    sre.CATEGORY_NOT_DIGIT: "a",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_NOT_SPACE: "a",
    sre.CATEGORY_WORD: "a",
    sre.CATEGORY_NOT_WORD: " ",
}


CLASSES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}
PROBES = "a1 .-" + "".join(map(chr, range(33, 127)))


def _of_class(members: list[Any]) -> list[str]:
    """Up to four characters of a class."""
    negated = bool(members) and members[0][0] is sre.NEGATE
    if negated:
        free = [char for char in PROBES if not any(_holds(member, char) for member in members[1:])]
        return free[:3] or ["é"]
    found = []
    for kind, value in members:
        match kind:
            case sre.LITERAL:
                found.append(chr(value))
            case sre.RANGE:
                found.append(chr(value[0]))
            case sre.CATEGORY:
                found.append(CATEGORIES[value])
    return list(dict.fromkeys(found))[:4]


def _holds(member: Any, char: str) -> bool:
    kind, value = member
    match kind:
        case sre.LITERAL:
            return bool(ord(char) == value)
        case sre.RANGE:
            return bool(value[0] <= ord(char) <= value[1])
        case sre.CATEGORY:
            return re.match(CLASSES[value], char) is not None
    return False
