"""Text without the signs of Markdown, and blocks of code in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_SIGNS = r"\[\^[^\]\s]{1,40}\]:?|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|^#{1,6}[ \t]+"
_MARKDOWN = re.compile(_SIGNS, re.MULTILINE)
_OUTSIDE_CODE = re.compile(rf"(?P<code>`[^`\n]+`)|{_SIGNS}", re.MULTILINE)
_FENCED = re.compile(
    r"^[ \t>]*+(?P<fence>`{3,}+|~{3,}+)[^\n`]*+\n"
    r"(?P<lines>(?:(?![ \t>]*+(?P=fence))[^\n]*+\n)*+)(?:[ \t>]*+(?P=fence)[`~]*+[ \t]*+(?:\n|\Z)|(?P<rest>[^\n]*+)\Z)",
    re.MULTILINE,
)
"""A block of code between fences; one without its last fence ends with the text."""
_LANGUAGE = re.compile(r"^(?P<fence>[ \t>]*+(?:`{3,}+|~{3,}+))[ \t]*+[\w+#.-]{1,20}+[ \t]*$", re.MULTILINE)
_INDENTED = re.compile(r"(?<=\S\n)[ \t]*+\n(?P<lines>(?:(?: {4}|\t)[ \t]*+\S[^\n]*+(?:\n|\Z)){1,10}+)(?=[ \t]*+\n|\Z)")
"""Lines set in behind a paragraph."""
_LIKE_CODE = re.compile(r"[a-z$>#./~{\[<@\"'(]|[A-Z]{2}")
_A_SENTENCE = re.compile(r"[.!?:,]\Z")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines of code from `start` to `end` of a text, fences included."""

    start: int
    end: int
    lines: tuple[str, ...]


@lru_cache(maxsize=512)
def code_blocks(text: str) -> tuple[CodeBlock, ...]:
    """The blocks of code of a text, in order: between fences, or lines like code that are set in by four
    spaces."""
    found = [*_FENCED.finditer(text)] if "```" in text or "~~~" in text else []
    blocks = [_block(m, f"{m['lines']}{m['rest'] or ''}") for m in found]
    for match in _INDENTED.finditer(text) if "\n    " in text or "\n\t" in text else ():
        block = _block(match, match["lines"])
        if all(map(_is_code, block.lines)) and not any(b.start < block.end and block.start < b.end for b in blocks):
            blocks.append(block)
    return tuple(sorted(blocks, key=lambda block: block.start))


def _block(found: re.Match[str], code: str) -> CodeBlock:
    lines = (line.strip(" \t>" if "fence" in found.re.groupindex else " \t") for line in code.split("\n"))
    return CodeBlock(found.start(), found.end(), tuple(line for line in lines if line))


def _is_code(line: str) -> bool:
    return _LIKE_CODE.match(line) is not None and _A_SENTENCE.search(line) is None


def plain(text: str, *, coded: bool = True) -> str:
    """`text` without the signs of Markdown that say nothing: emphasis, heading marks, footnote references. `coded`: in
    code they are what it says (`*.log`), and each line of a block is code in its line."""
    if coded:
        text = unfenced(text)
    if not ("*" in text or "#" in text or "[^" in text):
        return text
    return _OUTSIDE_CODE.sub(lambda found: found["code"] or "", text) if coded else _MARKDOWN.sub("", text)


def without_languages(text: str) -> str:
    """`text` without the one word behind a fence that says in what language the code is."""
    return _LANGUAGE.sub(lambda found: found["fence"], text) if "```" in text or "~~~" in text else text


def unfenced(text: str) -> str:
    """`text` with each line of a block of code as code in its line: a block of two lines is `` `cd app` `make` ``."""
    return slice_of(text, 0, len(text))


def slice_of(text: str, start: int, end: int) -> str:
    """Characters `start` to `end` of `text`, blocks of code that begin there as code in their lines."""
    parts: list[str] = []
    last = start
    for block in code_blocks(text):
        if last <= block.end and block.start < end and start < block.end:
            lines = (f"`` {line} ``" if "`" in line else f"`{line}`" for line in block.lines)
            parts += [text[last : max(last, block.start)], *(f"{line}\n" for line in lines)]
            last = block.end
    return "".join((*parts, text[last:end])) if parts else text[start:end]
