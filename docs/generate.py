"""Write what the documents take from the code: the reference of the boundaries (docs/reference/), the rooms with
their imports (docs/rooms.md), and the forms of questions (docs/question-forms.md). `python docs/generate.py` writes,
`--check` compares.

The reference holds the modules that others build on: values (`model.py`), errors, every module with a Protocol, and the
facades below.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp

sys.path.insert(0, str(Path(__file__).parents[1]))

from ai.intent.lexicon import ENGLISH, Role
from ai.intent.planning.plans import READERS
from ai.intent.words import CHANGES_NOTHING

ROOT = Path(__file__).parents[1]
PACKAGES = ("ai", "retrieval", "policy", "ledger")
ROOMED = ("ai", "api")
FACADES = frozenset(
    [
        "ai/focus_pipeline.py",
        "ai/retrieve.py",
        "ai/replay/replay.py",
        "retrieval/ingest/pipeline.py",
        "retrieval/bundle.py",
        "policy/points.py",
        "policy/bundles/bundle.py",
        "ledger/ledger.py",
        "ledger/entry/leaf.py",
        "ledger/proofs/receipt.py",
        "ledger/verification/verify.py",
    ]
)
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
NOTE = "<!-- Made from the code by `make docs`; do not edit. -->\n\n"


def pages() -> Mapping[str, str]:
    """Every generated page by its path below docs/."""
    made = {f"reference/{package}.md": reference(package) for package in PACKAGES}
    return made | {"rooms.md": rooms(), "question-forms.md": question_forms()}


def question_forms() -> str:
    """The forms of questions with their examples, and the words of English that they may use."""
    text = f"{NOTE}# Forms and words of questions\n\n"
    text += "[Questions that are understood](questions.md) has the rules. A question is read by one form, and each of"
    text += " its words has a part in it.\n\n## Forms\n| form | for example |\n|---|---|\n"
    for reader in READERS:
        told = " ".join((inspect.getdoc(reader) or "").split())
        examples, form = told.rsplit("`: ", 1)
        text += f"| {form.rstrip('.')} | {examples}` |\n"
    text += "\n## Words\nThe kinds of place, measures, units and relations of the corpus come with these.\n\n"
    text += "| part | words |\n|---|---|\n"
    for role, words in ENGLISH.items():
        if role is not Role.NOTHING:
            text += f"| {role} | {', '.join(sorted(words) if isinstance(words, frozenset) else words)} |\n"
    text += "\n## Words that change nothing\n| words | because |\n|---|---|\n"
    reasons: dict[str, list[str]] = {}
    for word, reason in CHANGES_NOTHING.items():
        reasons.setdefault(reason, []).append(word)
    return text + "".join(f"| {', '.join(words)} | {reason} |\n" for reason, words in reasons.items())


def reference(package: str) -> str:
    """The boundaries of a package: each module with its docstring, and its public definitions."""
    text = f"{NOTE}# Reference: `{package}`\n"
    for path in sorted((ROOT / package).rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        if _is_boundary(path, tree):
            name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
            text += f"\n## `{name}`\n{_docstring(tree)}"
            text += "".join(_entry(each) for each in _public(tree.body))
    return text


def rooms() -> str:
    """The rooms of `ai` and `api`, and which of them import which."""
    graph = grimp.build_graph(*ROOMED, *PACKAGES[1:], "prompt_templates")
    text = f"{NOTE}# The rooms and what they import\n\n"
    text += "An arrow is an import; one that a longer way gives too is left out. CONTRIBUTING.md says what each room is"
    text += " for.\n"
    for package in ROOMED:
        arrows = {
            (one, other)
            for module in graph.modules
            for imported in graph.find_modules_directly_imported_by(module)
            if (one := _room(module, package)) and (other := _room(imported, package)) and one != other
        }
        lines = "".join(f"    {one} --> {other}\n" for one, other in sorted(arrows) if not _implied(one, other, arrows))
        text += f"\n## `{package}`\n```mermaid\nflowchart TD\n{lines}```\n"
    return text


def _implied(one: str, other: str, arrows: set[tuple[str, str]]) -> bool:
    """True if another way leads from one room to the other."""
    seen, ahead = set[str](), [to for start, to in arrows if start == one and to != other]
    while ahead:
        room = ahead.pop()
        if room == other:
            return True
        if room not in seen:
            seen.add(room)
            ahead += [to for start, to in arrows if start == room]
    return False


def _room(module: str, package: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == package and len(parts) > 1 else None


def _is_boundary(path: Path, tree: ast.Module) -> bool:
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef)]
    protocol = any("Protocol" in ast.unparse(base) for each in classes for base in each.bases)
    return path.name in ("model.py", "errors.py") or protocol or path.relative_to(ROOT).as_posix() in FACADES


def _public(body: list[ast.stmt]) -> Iterator[Definition]:
    for each in body:
        if isinstance(each, Definition) and not each.name.startswith("_"):
            yield each


def _entry(node: Definition, level: str = "###") -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        fields = [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign)]
        shown = "".join(f"- `{field}`\n" for field in fields)
        methods = "".join(_entry(each, "####") for each in _public(node.body))
        heading = f"\n{level} `{node.name}{f'({bases})' if bases else ''}`\n"
        return f"{heading}{_docstring(node)}{shown and chr(10) + shown}{methods}"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    kind = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"\n{level} `{kind}{node.name}({ast.unparse(node.args)}){returns}`\n{_docstring(node)}"


def _docstring(node: ast.Module | Definition) -> str:
    found = ast.get_docstring(node)
    if not found:
        return ""
    return f"```text\n{found}\n```\n" if "\n    " in found or "├" in found else f"{found}\n"


def main(arguments: list[str]) -> int:
    """0 written or equal, 1 different."""
    made = pages()
    stale = [
        name
        for name, text in made.items()
        if not (ROOT / "docs" / name).exists() or (ROOT / "docs" / name).read_text("utf-8") != text
    ]
    if arguments == ["--check"]:
        if stale:
            sys.stderr.write(f"of another state of the code, run `make docs`: {', '.join(stale)}\n")
        return int(bool(stale))
    for name in stale:
        (ROOT / "docs" / name).parent.mkdir(exist_ok=True)
        (ROOT / "docs" / name).write_text(made[name], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
