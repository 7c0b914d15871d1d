"""What people read is English that an editor would leave alone: the guides, the messages, the help and the pages'
words hold none of the turns that this project slips into."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("ai", "api", "ledger", "policy", "retrieval")
DOCUMENTED = (*PACKAGES, "deploy")
"""Folders whose docstrings open with what a thing is or does."""
TICS: Mapping[str, str] = {
    r"(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|better\b)": "`is not a ...`, `has no ...`",
    r"\b(?:that|which) (?:is|are) none\b|\bis none of\b": "`is not one of ...`",
    r"\bstands?\b(?! (?:for|in for|side by side)\b)": "`is`, `hangs`",
    r"\b(?:is|are|was|were) told\b(?! (?:what|which|why|how|that|to)\b)": "`is shown`, `is reported`",
    r"\btells? of\b|\btells? how\b": "`reports`, `shows`",
    r"\banew\b": "`again`",
    r"\b(?:gone|goes) on with\b": "`resumed`",
    r"\b(?:taken|takes nothing|takes documents) in\b(?! (?:turns?|order|place)\b)": "`ingested`",
    r"\bwhoever\b": "`anyone who`, `the holder`",
    r"\bfor ever\b": "`forever`",
    r"\bany more\b(?! than\b)": "`no longer`",
    r"\bdeterministic shell\b": "`core` (docs/glossary.md)",
}
"""Turns that an English-speaking engineer stumbles over, and what to write."""
GUIDES = (*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")))
WORDED = {"help", "short_help", "description", "summary", "text"}
"""Keyword arguments that are shown: help of options, descriptions of fields and routes."""


def tics(text: str) -> list[str]:
    """The turns in a text, each with what to write."""
    found = [(match[0], advice) for tic, advice in TICS.items() for match in re.finditer(tic, text, re.I)]
    return [f"{words!r}: {advice}" for words, advice in found]


def prose(text: str) -> str:
    """A guide without blocks of code and words in backquotes."""
    blocks = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "`x`", blocks)


def messages(source: str) -> Iterator[tuple[int, str]]:
    """The literals of a module that people read, with their lines: what is raised, and what options, fields and routes
    say of themselves."""
    for node in ast.walk(ast.parse(source)):
        shown: list[ast.expr] = []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            shown = [*node.exc.args, *(each.value for each in node.exc.keywords)]
        elif isinstance(node, ast.Call):
            shown = [each.value for each in node.keywords if each.arg in WORDED]
            if isinstance(node.func, ast.Name) and node.func.id in {"CodeMeaning", "Finding", "note"}:
                shown += node.args
        for expression in shown:
            for part in ast.walk(expression):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


def commands(source: str) -> Iterator[tuple[int, str]]:
    """The help of commands: the documentation of public functions of `api/cli`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and (text := ast.get_docstring(node)):
            yield node.lineno, text


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """The docstrings of a module, its classes and functions, and those behind a constant or a field, with their
    lines."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                text = statement.value.value
                if isinstance(text, str):
                    yield statement.lineno, text


def opens_as_a_clause(docstring: str) -> bool:
    """True if it begins with a clause (`What ...`) instead of saying what a thing is or does."""
    return re.match(r"\s*(?:what|whether|who)\b", docstring, re.I) is not None


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_a_guide_reads_as_english(guide: Path) -> None:
    assert tics(prose(guide.read_text("utf-8"))) == []


def test_what_is_raised_and_what_options_say_reads_as_english() -> None:
    found = []
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        source = path.read_text("utf-8")
        said = [*messages(source), *(commands(source) if "cli" in path.parts else ())]
        found += [f"{path.relative_to(ROOT)}:{line}: {tic}" for line, text in said for tic in tics(text)]
    assert found == []


def test_the_words_of_the_pages_read_as_english() -> None:
    catalogue = json.loads((ROOT / "api" / "web" / "static" / "strings.json").read_text("utf-8"))
    said = {f"{part}.{name}": text for part, words in catalogue.items() for name, text in words.items()}
    assert {name: tics(text) for name, text in said.items() if tics(text)} == {}


def test_a_docstring_says_what_a_thing_is_or_does() -> None:
    found = []
    for path in (path for package in DOCUMENTED for path in sorted((ROOT / package).rglob("*.py"))):
        said = docstrings(path.read_text("utf-8"))
        found += [f"{path.relative_to(ROOT)}:{line}: {text[:60]}" for line, text in said if opens_as_a_clause(text)]
    assert found == []


def test_the_docstrings_of_every_kind_of_definition_are_read() -> None:
    source = '''"""Who asks."""
LIMIT = 1
"""What is left."""
class A:
    """Whether it runs."""
    field: int = 0
    """What it holds."""
    async def work(self):
        """ What it does."""
'''
    found = list(docstrings(source))
    assert [line for line, text in found if opens_as_a_clause(text)] == [1, 3, 5, 7, 9]
    assert not any(map(opens_as_a_clause, ("Whatever is held.", "Whole files.", "The file, and what it holds.")))


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=lambda path: path.name)
def test_the_title_of_a_decision_reads_as_english(path: Path) -> None:
    assert tics(path.read_text("utf-8").splitlines()[0]) == []


@pytest.mark.parametrize(
    "text",
    [
        "extra is no JSON",
        "These are no keys.",
        "a name that is none",
        "The unit stands in the header.",
        "further sheets are told as a note",
        "the row is read anew",
        "the job is gone on with by a worker",
        "the file was not taken in",
        "Whoever holds the folder reads it.",
        "kept for ever",
        "a row is not held any more",
    ],
)
def test_a_slip_is_found(text: str) -> None:
    assert tics(text) != []


@pytest.mark.parametrize(
    "text",
    [
        "there is no key with that id",
        "The file is no longer there; a key is no more than 32 bytes.",
        "U+FFFD stands for a byte that is not UTF-8.",
        "The model is told what was dropped and why.",
        "Rooms take turns; actions are taken in order.",
        "No more than eight wait.",
    ],
)
def test_plain_english_is_left_alone(text: str) -> None:
    assert tics(text) == []
